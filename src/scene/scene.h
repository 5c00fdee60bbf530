// scene.h - the world as typed nodes, exactly as the file says it, in the newest schema.
// Belongs here: nodes, fields, DEF/USE, PROTO instances, search. Not here: parsing text, ODE, anything that moves.
// A Scene owns every node and string in it; pointers stay valid until scene_destroy(), also those of removed nodes.
// Once it runs, what edits bring and take away again goes with the next sweep (scene_sweep below).
//
// The tree has wrappers: a USE node stands for the node it names, a PROTO instance for the tree that its PROTO makes of
// its parameters. Both are kept for saving. scene_actual() goes through them; whoever simulates asks it for every node
// it meets, and climbs with scene_parent(), which never stops at a wrapper.
#ifndef TALUS_SCENE_SCENE_H
#define TALUS_SCENE_SCENE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/vec.h"
#include "scene/schema.h"

typedef struct Scene Scene;
typedef struct SceneProto SceneProto;

typedef enum SceneNodeKind {
    SCENE_NODE_PLAIN,     // a base node
    SCENE_NODE_USE,       // `target` is the node it repeats
    SCENE_NODE_INSTANCE,  // of a PROTO: fields are parameters, `target` is the root of what it makes (NULL if that
                          // failed)
    SCENE_NODE_UNKNOWN,   // ignored but for saving: kept as text, or as `target`, a node where none of its kind may be
} SceneNodeKind;

// A field that was given a value (or, in the tree of a PROTO, connected to a parameter).
typedef struct SceneField {
    const FieldType *type;
    FieldValue value;
    SourcePos pos;
    int16_t parameter_index;  // of the parameter that an IS connected it to, -1 when none
    bool is_default;  // of an instance: a copy of the parameter's default, made because a USE may name what is in it
    uint32_t instance_id;  // of the instance whose parameter that is; 0 in the definition of a PROTO
} SceneField;

// A field whose numbers are turned: what is stored is left * (the file's) * right of a rotation, map * (the file's) of
// a vector, and the sizes of that of a size. For files from before R2022a, in today's axes.
typedef enum SceneTurnKind { SCENE_TURN_ROTATION, SCENE_TURN_VECTOR, SCENE_TURN_SIZE } SceneTurnKind;
typedef struct SceneTurn {
    const char *field;
    SceneTurnKind kind;
    Quat left, right;
    Mat3 map;
    const struct SceneTurn *next;
} SceneTurn;

struct SceneNode {
    const NodeType *type;  // base type; for an instance that of its target; NULL for unknown nodes
    SceneNode *parent;     // holder; the root of an instance's tree has the instance as parent, and a node given as a
                           // parameter the node of that tree whose field is connected to it (the instance when none is)
    SceneNode *target;     // see the kinds above
    SceneProto *proto;     // of an instance, else NULL
    const char *def;       // DEF name or NULL; for a USE node the name it uses
    SceneField *fields;    // only those set, in file order
    uint16_t field_count;
    uint16_t field_capacity;
    uint32_t id;  // unique in the scene for ever, in file order from 1; the root is 0
    SourcePos pos;
    const SceneTurn *turns;  // NULL for nearly all
    uint8_t kind;            // SceneNodeKind
    bool is_removed;         // taken out at run time; memory stays
    bool in_bounding;        // somewhere below a boundingObject field
    bool is_upgraded;        // has been brought to the newest schema (formats/upgrade/upgrade.c)
    bool is_inserted;  // a Pose of our own around what an old file has, its only child; supervisors look through it
    bool in_proto;     // inside the tree of an instance and not given by the user as a parameter
};

struct SceneProto {
    const char *name;
    const char *path;       // file it came from
    const char *origin;     // how it was found: "project", "declared", "path", "library", "cache"
    int release;            // of the file's header
    FieldType *parameters;  // declared, with default values
    int parameter_count;
    const NodeType *base_type;  // of the node it makes, NULL while unknown
    bool is_template;
    bool is_placeholder;  // not found: keeps what the file says and makes nothing
    void *definition;     // the reader's own data
};

Scene *scene_create(void);
void scene_destroy(Scene *scene);  // NULL is fine; the last one who shares it frees it
Scene *scene_share(Scene *scene);  // one more owner of it
// The whole scene once more, ids included; without watcher and not frozen. PROTOs and what was attached stay those of
// `origin`, which lives on as long.
Scene *scene_copy(Scene *origin);
void scene_freeze(Scene *scene);  // from now on it is read alone, by any number of threads
bool scene_is_frozen(const Scene *scene);
Arena *scene_arena(Scene *scene);  // what is made with nodes lives here: data of the file, or of the piece that is open

// Memory of a world that runs (scene_memory.c). After scene_run() nodes that are made between begin and end of a piece,
// and values that are written, live as long as something refers to them: a node of the file, another one that lives, or
// a keeper. Keepers are those who remember pointers over edits; each is asked at every sweep and calls scene_keep() for
// any pointer that it will look through again.
void scene_run(Scene *scene);
void scene_piece_begin(Scene *scene);
void scene_piece_end(Scene *scene);
typedef void SceneKeeper(void *context, Scene *scene);
void scene_add_keeper(Scene *scene, SceneKeeper *keep, void *context);
void scene_remove_keeper(Scene *scene, const void *context);
void scene_keep(Scene *scene, const void *pointer);  // a node, a string, a list; NULL is fine
void scene_keep_value(Scene *scene, const FieldType *type, const FieldValue *value);
// Nodes with higher ids do not come back once they were removed; a reset may bring back those up to it.
void scene_set_lasting(Scene *scene, uint32_t id);
bool scene_node_is_lost(const Scene *scene, const SceneNode *node);  // removed, and never to come back
bool scene_sweep_is_due(const Scene *scene);
void scene_sweep(Scene *scene);  // between edits alone: what was made and is in no field yet would go

// Gives the scene something else to own; destroyed, last given first, after everything of the scene itself.
void scene_attach(Scene *scene, void *data, void (*destroy)(void *data));
void *scene_attached(const Scene *scene, void (*destroy)(void *data));  // what was given last with this, or NULL

// The root is a Group whose children are the top-level nodes of the file.
SceneNode *scene_root(const Scene *scene);
int scene_node_count(const Scene *scene);                      // that there are, removed ones included
uint32_t scene_last_id(const Scene *scene);                    // no node has a higher one
SceneNode *scene_node_after(const Scene *scene, uint32_t id);  // the one with the next higher id, NULL: none
uint64_t scene_structure(
    const Scene *scene);  // another number whenever nodes came, went or moved to another place in the tree
int scene_release(const Scene *scene);  // of the file it came from
void scene_set_release(Scene *scene, int release);
const char *scene_path(const Scene *scene);  // of the file, "" when there is none
void scene_set_path(Scene *scene, const char *path);

// Building
SceneNode *scene_node_create(Scene *scene, const NodeType *type, SourcePos pos);
SceneNode *scene_node_create_use(Scene *scene, SceneNode *target, const char *name, SourcePos pos);
SceneNode *scene_node_create_instance(Scene *scene, SceneProto *proto, SourcePos pos);
SceneNode *scene_node_create_unknown(Scene *scene, const char *type_name, const char *text, SourcePos pos);
SceneNode *scene_node_clone(Scene *scene, const SceneNode *node);  // deep; USE inside follows into the copy
// The same for the definition of a PROTO: `body` may belong to another scene that lives at least as long. Strings and
// lists of numbers are shared, fields connected to parameters now name `instance`, which becomes the parent and gets
// the copy as its target. Instances inside are copied without a target of their own when they had none.
SceneNode *scene_node_clone_body(Scene *scene, const SceneNode *body, SceneNode *instance);
SceneField *scene_field_add(Scene *scene, SceneNode *node, const FieldType *type,
                            SourcePos pos);  // or the one there is
// Gives a node that has none yet exactly these fields (copied). Children in them get the node as their parent.
void scene_node_set_fields(Scene *scene, SceneNode *node, const SceneField *fields, int count);
const char *scene_unknown_type(const Scene *scene, const SceneNode *node);
const char *scene_unknown_text(const Scene *scene, const SceneNode *node);

// What the file held beside fields, kept for saving: comment lines before a node or field, unknown fields as text.
typedef struct SceneExtra {
    const char *text;    // of a comment: the lines with '#'; of a field: "name value" as written
    const char *before;  // name of the field a comment stands before, NULL: before the node, "": after the last field
    bool is_comment;
    struct SceneExtra *next;
} SceneExtra;
void scene_extra_add(Scene *scene, const SceneNode *node, bool is_comment, const char *before, const char *text);
const SceneExtra *scene_extras(const Scene *scene, const SceneNode *node);  // in file order
// `to` takes the place of `from` inside it: all but the comments before the node become its own.
void scene_extras_move_inside(Scene *scene, const SceneNode *from, const SceneNode *to);
// State that Webots saves with an instance as lines "hidden translation_1 0 0 1": of the nodes inside it.
typedef struct SceneHidden {
    const char *name;
    FieldKind kind;
    double v[4];
    const FieldList *list;  // of kinds that are lists, in the arena of the scene
    SourcePos pos;
    struct SceneHidden *next;
} SceneHidden;
void scene_hidden_add(Scene *scene, const SceneNode *node, const SceneHidden *hidden);
void scene_hidden_clear(Scene *scene, const SceneNode *node);
const SceneHidden *scene_hidden(const Scene *scene, const SceneNode *node);  // in file order
// Lines between the header and the first node (EXTERNPROTO and so on), as written.
typedef struct SceneExtern {
    const char *url;
    bool is_importable;
    SourcePos pos;
} SceneExtern;
void scene_extern_add(Scene *scene, const char *url, bool is_importable, SourcePos pos);
int scene_extern_count(const Scene *scene);
const SceneExtern *scene_extern_at(const Scene *scene, int index);

// Through wrappers
SceneNode *scene_actual(const SceneNode *node);  // NULL for NULL, unknown nodes and failed instances
SceneNode *scene_parent(const SceneNode *node);  // nearest real node above; NULL at the root
SceneNode *scene_instance(
    const SceneNode *node);  // the outermost PROTO instance whose root this node is, or the node itself
bool scene_node_is(const SceneNode *node,
                   const char *type_name);  // of the actual node, descendants of the type included

// Reading. The name must be a field of the node's type (asserted). What is not set has its default. Wrappers are
// followed.
const SceneField *scene_field(const SceneNode *node, const char *name);  // NULL when it has its default
bool scene_bool(const SceneNode *node, const char *name);
int scene_int(const SceneNode *node, const char *name);
double scene_float(const SceneNode *node, const char *name);
Vec2 scene_vec2(const SceneNode *node, const char *name);
Vec3 scene_vec3(const SceneNode *node, const char *name);  // SFVec3f, SFColor
Rotation scene_rotation(const SceneNode *node, const char *name);
const char *scene_string(const SceneNode *node, const char *name);
// What a Slot holds, through Slots in it; the node itself when it is none.
SceneNode *scene_behind_slots(SceneNode *node);
SceneNode *scene_child(const SceneNode *node, const char *name);  // SFNode, through wrappers; NULL when NULL
const FieldList *scene_list(const SceneNode *node, const char *name);
SceneNode *scene_list_node(const FieldList *list, int index);  // through wrappers
Pose scene_pose(const SceneNode *node);  // translation and rotation fields of a Pose, place and turn of a TrackWheel;
                                         // identity for others
Pose scene_world_pose(const SceneNode *node);                          // of the poses above and its own
SourcePos scene_field_pos(const SceneNode *node, const char *name);    // of the field, of the node when not set
FieldValue scene_value(const SceneNode *node, const FieldType *type);  // of exactly this node, no wrapper followed

// The value as one of another kind: the same, a single value as a list of it, whole numbers as others and back.
// Anything else is asserted against.
FieldValue scene_value_as(Scene *scene, FieldValue value, FieldKind from, FieldKind to);

// Turned fields: each call adds to what there was. `to_file` gives the file's numbers for the stored ones, else the
// other way. Writes and connections of PROTO parameters go through the turns of the fields that they reach.
void scene_turn_add(Scene *scene, SceneNode *node, const SceneTurn *turn);
void scene_turn_rotation(Scene *scene, SceneNode *node, const char *field, Quat left, Quat right);
void scene_turn_vector(Scene *scene, SceneNode *node, const char *field, Mat3 map, bool is_size);
const SceneTurn *scene_turn(const SceneNode *node, const FieldType *type);                 // NULL when it has none
void scene_turn_numbers(const SceneTurn *turn, bool to_file, double *numbers, int count);  // of one item
FieldValue scene_value_turned(Scene *scene, const SceneNode *node, const FieldType *type, FieldValue value,
                              bool to_file);

// Writing: values are copied into the scene. A write to a PROTO parameter reaches the fields connected to it, and a
// write to a connected field its parameter.
void scene_set_bool(Scene *scene, SceneNode *node, const char *name, bool value);
void scene_set_int(Scene *scene, SceneNode *node, const char *name, int value);
void scene_set_float(Scene *scene, SceneNode *node, const char *name, double value);
void scene_set_vec2(Scene *scene, SceneNode *node, const char *name, Vec2 value);
void scene_set_vec3(Scene *scene, SceneNode *node, const char *name, Vec3 value);
void scene_set_rotation(Scene *scene, SceneNode *node, const char *name, Rotation value);
void scene_set_string(Scene *scene, SceneNode *node, const char *name, const char *value);
void scene_set_child(Scene *scene, SceneNode *node, const char *name, SceneNode *child);
void scene_set_value(Scene *scene, SceneNode *node, const FieldType *type, FieldValue value);
void scene_reset_field(Scene *scene, SceneNode *node, const char *name);  // back to its default
// Called before each write with the node that holds the value: for those who want to undo it. One watcher; NULL: none.
typedef void (*SceneWatch)(void *context, SceneNode *node, const FieldType *type);
void scene_watch(Scene *scene, SceneWatch watch, void *context);
FieldValue scene_value_kept(Scene *scene, const SceneNode *node,
                            const FieldType *type);  // of exactly this node, safe from later edits
FieldList *scene_list_edit(Scene *scene, SceneNode *node, const char *name);  // a list of its own that may be changed
size_t scene_item_size(FieldKind item_kind);                                  // bytes of one item in a list
FieldList *scene_list_copy(Scene *scene, const FieldList *list, FieldKind item_kind,
                           int capacity);  // placed nowhere yet
void scene_list_reserve(Scene *scene, FieldList *list, FieldKind item_kind, int count);
void scene_list_insert_node(Scene *scene, SceneNode *node, const char *name, int index, SceneNode *child);
void scene_node_remove(Scene *scene, SceneNode *node);  // out of its holder's field
// Makes `parent` the holder of a node that stands in its field already; NULL is fine.
void scene_adopt(SceneNode *child, SceneNode *parent, const FieldType *field);

bool scene_node_is_gone(const SceneNode *node);  // it or something above it was removed
// Where a node stands: the field of its holder, and its place in a list (-1: a single node). False: nowhere.
bool scene_node_place(const SceneNode *node, const char **field, int *index);

// Searching. A path is "A", or "A.B.C": B anywhere below A, C anywhere below B. Finds the first in file order.
SceneNode *scene_find_def(Scene *scene, const char *path);
SceneNode *scene_find_def_below(const SceneNode *top, const char *path);
SceneNode *scene_find_solid(const Scene *scene,
                            const char *name);  // by the `name` field, or by a path of names "robot:arm:hand"
SceneNode *scene_find_id(const Scene *scene, uint32_t id);  // NULL: gone, or never there
// The first of the type among the nodes at the root, as WorldInfo and Viewpoint are; NULL when there is none.
SceneNode *scene_find_top(const Scene *scene, const char *type);

// Calls `visit` for every actual node below and including `node`, depth first, in file order; not into what USE repeats
// unless `into_use`. Stops early and returns false when `visit` does.
typedef bool (*SceneVisit)(SceneNode *node, void *context);
bool scene_walk(SceneNode *node, bool into_use, SceneVisit visit, void *context);

// "DEF ARM Solid.children[2] Shape", for messages. Lives in `arena`.
const char *scene_node_path(const SceneNode *node, Arena *arena);

#endif
