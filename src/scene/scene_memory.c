// Memory of a world that runs: what edits take comes back when nobody refers to it any more.
// What a file brought stays until the scene goes. What comes later is taken in two ways: nodes with all that is made
// with them (an insertion, the tree of a template made anew) in pieces, each with an arena of its own; values that are
// written into fields one by one. Now and then scene_sweep() looks, from the nodes of the file and from what the
// keepers name, which of these are still referred to, by any pointer into them, and frees the others. Ids are never
// given again, so whoever holds the id of a node that is gone finds nothing.
#include "base/memory.h"
#include "scene/scene.h"
#include "scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

enum { SWEEP_BYTES = 64 * 1024 };  // garbage that is always allowed; beside it as much as was alive

// ---- taking ----

void scene_run(Scene *scene)
{
    assert(!scene->is_frozen && !scene->piece);
    scene->is_running = true;
}

static size_t piece_size(const ScenePiece *piece)
{
    return arena_bytes(piece->arena) + (size_t)piece->capacity * sizeof *piece->nodes + sizeof *piece;
}

void scene_piece_begin(Scene *scene)
{
    assert(!scene->is_frozen && !scene->piece);
    ScenePiece *piece = memory_alloc(sizeof *piece);
    piece->arena = arena_create_small();
    piece->first_id = scene->next_id;
    *memory_push(scene->pieces, scene->piece_count, scene->piece_capacity) = piece;
    scene->piece = piece;
}

void scene_piece_end(Scene *scene)
{
    assert(scene->piece);
    scene->taken += piece_size(scene->piece);
    scene->piece = NULL;
}

SceneNode *scene_piece_node(Scene *scene)
{
    ScenePiece *piece = scene->piece;
    memory_grow(&piece->nodes, &piece->capacity, piece->count + 1, sizeof *piece->nodes);
    SceneNode *node = arena_alloc(piece->arena, sizeof *node);
    node->id = scene->next_id++;
    piece->nodes[piece->count++] = node;
    assert(piece->first_id + (uint32_t)piece->count == scene->next_id);
    return node;
}

// The first piece whose ids end behind this one.
static int piece_at(const Scene *scene, uint32_t id)
{
    int low = 0, high = scene->piece_count;
    while (low < high) {
        int middle = (low + high) / 2;
        const ScenePiece *piece = scene->pieces[middle];
        if (piece->first_id + (uint32_t)piece->count <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

SceneNode *scene_piece_find(const Scene *scene, uint32_t id)
{
    int at = piece_at(scene, id);
    const ScenePiece *piece = at < scene->piece_count ? scene->pieces[at] : NULL;
    assert_debug(!piece || id < piece->first_id + (uint32_t)piece->count);
    return piece && id >= piece->first_id ? piece->nodes[id - piece->first_id] : NULL;
}

SceneNode *scene_node_after(const Scene *scene, uint32_t id)
{
    if (id + 1 < scene->block_end)
        return scene_find_id(scene, id + 1);
    for (int at = piece_at(scene, id + 1); at < scene->piece_count; at++) {
        const ScenePiece *piece = scene->pieces[at];
        uint32_t from = id + 1 > piece->first_id ? id + 1 - piece->first_id : 0;
        if (from < (uint32_t)piece->count)
            return piece->nodes[from];
    }
    return NULL;
}

void *scene_take(Scene *scene, size_t size)
{
    if (scene->piece || !scene->is_running)
        return arena_alloc(scene_arena(scene), size);
    if (scene->loose_count + 1 > scene->loose_capacity)
        memory_grow(&scene->loose, &scene->loose_capacity, scene->loose_count + 1, sizeof *scene->loose);
    char *data = memory_alloc(size ? size : 1);
    scene->loose[scene->loose_count++] = data;
    scene->taken += size + 4 * sizeof(void *);  // with what the heap and the list want for themselves
    return data;
}

const char *scene_take_string(Scene *scene, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(scene_take(scene, size), text, size);
}

void scene_memory_free(Scene *scene)
{
    assert_debug(!scene->piece && !scene->sweep);
    for (int i = 0; i < scene->piece_count; i++) {
        arena_destroy(scene->pieces[i]->arena);
        free(scene->pieces[i]->nodes);
        free(scene->pieces[i]);
    }
    for (int i = 0; i < scene->loose_count; i++)
        free(scene->loose[i]);
    free(scene->pieces);
    free(scene->loose);
    free(scene->keepers);
}

// ---- keepers ----

void scene_add_keeper(Scene *scene, SceneKeeper *keep, void *context)
{
    assert_debug(keep && !scene->is_frozen);
    *memory_push(scene->keepers, scene->keeper_count, scene->keeper_capacity) = (SceneKeeperEntry){ keep, context };
}

void scene_remove_keeper(Scene *scene, const void *context)
{
    int kept = 0;
    for (int i = 0; i < scene->keeper_count; i++)
        if (scene->keepers[i].context != context)
            scene->keepers[kept++] = scene->keepers[i];
    scene->keeper_count = kept;
}

void scene_set_lasting(Scene *scene, uint32_t id)
{
    if (!scene->is_frozen)
        scene->lasting_id = id;
}

bool scene_node_is_lost(const Scene *scene, const SceneNode *node)
{
    return node->id > scene->lasting_id && scene_node_is_gone(node);
}

// ---- sweeping ----

// A range of addresses and what it belongs to: a piece, or one value that was written.
typedef struct Range {
    const char *start, *end;
    ScenePiece *piece;  // NULL: a value
    bool is_kept;
} Range;

struct SceneSweep {
    Range *ranges;
    int count, capacity;
    ScenePiece **found;  // pieces whose nodes have not been looked at yet
    int found_count, found_capacity;
};

static int compare_ranges(const void *a, const void *b)
{
    const Range *first = a, *second = b;
    return (first->start > second->start) - (first->start < second->start);
}

static void add_range(SceneSweep *sweep, const void *start, size_t size, ScenePiece *piece)
{
    assert_debug(start && size > 0);
    *memory_push(sweep->ranges, sweep->count, sweep->capacity) = (Range){ start, (const char *)start + size, piece,
                                                                          false };
}

static void list_ranges(const Scene *scene, SceneSweep *sweep)
{
    for (int i = 0; i < scene->piece_count; i++) {
        ScenePiece *piece = scene->pieces[i];
        piece->is_kept = false;
        size_t size;
        const void *data;
        for (const void *block = NULL; (block = arena_next_block(piece->arena, block, &data, &size)) != NULL;)
            add_range(sweep, data, size, piece);
    }
    for (int i = 0; i < scene->loose_count; i++)
        add_range(sweep, scene->loose[i], 1, NULL);  // always referred to by its start
    if (sweep->count > 0)
        qsort(sweep->ranges, (size_t)sweep->count, sizeof *sweep->ranges, compare_ranges);
}

static void keep(SceneSweep *sweep, const void *pointer)
{
    int low = 0, high = sweep->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sweep->ranges[middle].start <= (const char *)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    Range *range = low > 0 ? &sweep->ranges[low - 1] : NULL;
    if (!range || (const char *)pointer >= range->end)
        return;
    range->is_kept = true;
    if (!range->piece || range->piece->is_kept)
        return;
    range->piece->is_kept = true;
    *memory_push(sweep->found, sweep->found_count, sweep->found_capacity) = range->piece;
}

void scene_keep(Scene *scene, const void *pointer)
{
    if (pointer && scene->sweep)
        keep(scene->sweep, pointer);
}

static void keep_list(SceneSweep *sweep, const FieldList *list, FieldKind item)
{
    keep(sweep, list);
    if (!list->items)
        return;
    keep(sweep, list->items);
    for (int i = 0; i < list->count && item == FIELD_SF_STRING; i++)
        keep(sweep, list->strings[i]);
    for (int i = 0; i < list->count && item == FIELD_SF_NODE; i++)
        keep(sweep, list->nodes[i]);
}

static void keep_value(SceneSweep *sweep, const FieldType *type, const FieldValue *value)
{
    if (field_kind_is_list(type->kind))
        keep_list(sweep, value->list, field_kind_item(type->kind));
    else if (type->kind == FIELD_SF_STRING)
        keep(sweep, value->s);
    else if (type->kind == FIELD_SF_NODE)
        keep(sweep, value->node);
}

void scene_keep_value(Scene *scene, const FieldType *type, const FieldValue *value)
{
    if (scene->sweep)
        keep_value(scene->sweep, type, value);
}

static void keep_rare(SceneSweep *sweep, const SceneRare *rare)
{
    for (const SceneExtra *extra = rare->extras; extra; extra = extra->next) {
        keep(sweep, extra);
        keep(sweep, extra->text);
        keep(sweep, extra->before);
    }
    for (const SceneHidden *hidden = rare->hidden; hidden; hidden = hidden->next) {
        keep(sweep, hidden);
        keep(sweep, hidden->name);
        if (field_kind_is_list(hidden->kind))
            keep_list(sweep, hidden->list, field_kind_item(hidden->kind));
    }
    keep(sweep, rare->unknown_type);
    keep(sweep, rare->unknown_text);
}

// Everything that a node refers to.
static void keep_of_node(const Scene *scene, SceneSweep *sweep, const SceneNode *node)
{
    keep(sweep, node->parent);
    keep(sweep, node->target);
    keep(sweep, node->proto);
    keep(sweep, node->def);
    keep(sweep, node->fields);
    for (const SceneTurn *turn = node->turns; turn; turn = turn->next) {
        keep(sweep, turn);
        keep(sweep, turn->field);
    }
    for (int i = 0; i < node->field_count; i++)
        keep_value(sweep, node->fields[i].type, &node->fields[i].value);
    const SceneRare *rare = scene_rare(scene, node);
    if (rare)
        keep_rare(sweep, rare);
}

static void keep_reachable(Scene *scene, SceneSweep *sweep)
{
    for (uint32_t id = 0; id < scene->block_end; id++)
        keep_of_node(scene, sweep, scene_find_id(scene, id));
    for (int i = 0; i < scene->keeper_count; i++)
        scene->keepers[i].keep(scene->keepers[i].context, scene);
    while (sweep->found_count > 0) {
        const ScenePiece *piece = sweep->found[--sweep->found_count];
        for (int i = 0; i < piece->count; i++)
            keep_of_node(scene, sweep, piece->nodes[i]);
    }
}

static void free_values(Scene *scene, const SceneSweep *sweep)
{
    scene->loose_count = 0;
    for (int i = 0; i < sweep->count; i++) {
        const Range *range = &sweep->ranges[i];
        if (range->piece)
            continue;
        if (range->is_kept)
            scene->loose[scene->loose_count++] = (char *)range->start;
        else
            free((char *)range->start);
    }
    assert_debug(scene->loose_count <= scene->loose_capacity);
}

static size_t free_pieces(Scene *scene)
{
    int kept = 0;
    size_t bytes = 0;
    for (int i = 0; i < scene->piece_count; i++) {
        ScenePiece *piece = scene->pieces[i];
        if (piece->is_kept) {
            bytes += piece_size(piece);
            scene->pieces[kept++] = piece;
            continue;
        }
        for (int k = 0; k < piece->count; k++)
            scene_rare_drop(scene, piece->nodes[k]);
        scene->node_count -= piece->count;
        assert_debug(scene->node_count >= 0);
        arena_destroy(piece->arena);
        free(piece->nodes);
        free(piece);
    }
    scene->piece_count = kept;
    return bytes;
}

bool scene_sweep_is_due(const Scene *scene)
{
    // Copies share names and comments with what they were copied from.
    return scene->taken > scene->sweep_at && atomic_load(&scene->other_users) == 0;
}

void scene_sweep(Scene *scene)
{
    assert(scene->is_running && !scene->piece && !scene->is_frozen && !scene->sweep);
    SceneSweep sweep = { 0 };
    scene->sweep = &sweep;
    list_ranges(scene, &sweep);
    keep_reachable(scene, &sweep);
    free_values(scene, &sweep);
    size_t alive = free_pieces(scene) + arena_bytes(scene->arena) + (size_t)scene->block_end * sizeof(SceneNode);
    free(sweep.ranges);
    free(sweep.found);
    scene->sweep = NULL;
    scene->taken = 0;
    scene->sweep_at = SWEEP_BYTES + alive / 2;
}
