// scene_internal.h - how a scene keeps its nodes. For the files of this folder alone.
#ifndef TALUS_SCENE_SCENE_INTERNAL_H
#define TALUS_SCENE_SCENE_INTERNAL_H

#include "scene/scene.h"

#include <stdatomic.h>

// Nodes live in blocks of equal size, so a node's id is also its place.
enum { SCENE_BLOCK_BITS = 8, SCENE_BLOCK_NODES = 1 << SCENE_BLOCK_BITS };

// A few nodes have something more to remember; it stands in a table by id.
typedef struct SceneRare {
    uint32_t key;  // id + 1; 0 when the slot is free
    SceneExtra *extras, *last_extra;
    SceneHidden *hidden, *last_hidden;
    const char *unknown_type, *unknown_text;
} SceneRare;

typedef struct SceneAttachment {
    void *data;
    void (*destroy)(void *data);
    struct SceneAttachment *next;
} SceneAttachment;

// The first node of each DEF name, so that asking for many names walks the scene once. Made when somebody asks
// repeatedly while no node comes or goes, thrown away when one does.
typedef struct SceneNames {
    SceneNode **slots;  // by hash of the name; NULL: free
    int mask;
    int asked;  // since the last change
} SceneNames;

// Nodes that came while the world ran, with all that was made with them (scene_memory.c).
typedef struct ScenePiece {
    Arena *arena;
    SceneNode **nodes;  // by id, from first_id
    uint32_t first_id;
    int count, capacity;
    bool is_kept;  // by the sweep at work
} ScenePiece;

typedef struct SceneKeeperEntry {
    SceneKeeper *keep;
    void *context;
} SceneKeeperEntry;

typedef struct SceneSweep SceneSweep;

struct Scene {
    Arena *arena;
    SceneNode **blocks;
    int block_count, block_capacity;
    uint32_t block_end;  // nodes with lower ids are in blocks, those of the file; the others in pieces
    uint32_t next_id;
    int node_count;
    uint64_t structure;  // counts changes of which nodes there are and where
    SceneNode *root;
    int release;
    const char *path;
    SceneRare *rares;
    int rare_count, rare_slots;
    SceneExtern *externs;
    int extern_count, extern_capacity;
    SceneAttachment *attachments;
    SceneNames names;
    bool is_running;      // edits take memory that a sweep gives back
    ScenePiece **pieces;  // by id
    int piece_count, piece_capacity;
    ScenePiece *piece;  // that everything made now goes into, NULL: none
    char **loose;       // values that were written, each with memory of its own
    int loose_count, loose_capacity;
    SceneKeeperEntry *keepers;
    int keeper_count, keeper_capacity;
    SceneSweep *sweep;       // the one at work, else NULL
    uint32_t lasting_id;     // see scene_set_lasting
    size_t taken, sweep_at;  // bytes since the last sweep, and how many of them call for one
    SceneWatch watch;
    void *watch_context;
    Scene *origin;           // of a copy: what it was copied from; else NULL
    atomic_int other_users;  // beside the one that made it
    bool is_frozen;          // several worlds read it at once: nothing in it changes any more
};

extern const FieldList scene_empty_list;

SceneField *scene_own_field(const SceneNode *node, const FieldType *type);  // of exactly this node, NULL when not set
SceneNode *scene_new_node(Scene *scene);
SceneNode *scene_piece_node(Scene *scene);                      // in the piece that is open
SceneNode *scene_piece_find(const Scene *scene, uint32_t id);   // NULL: gone, or there was none
void *scene_take(Scene *scene, size_t size);                    // zeroed, for a value of the scene
const char *scene_take_string(Scene *scene, const char *text);  // a copy
void scene_memory_free(Scene *scene);
void scene_names_forget(Scene *scene);  // nodes came, went or moved
const SceneRare *scene_rare(const Scene *scene, const SceneNode *node);
SceneRare *scene_rare_add(Scene *scene, const SceneNode *node);
void scene_rare_drop(Scene *scene, const SceneNode *node);  // one that may be there

#endif
