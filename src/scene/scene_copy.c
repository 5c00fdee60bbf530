// A whole scene once more, with the same ids: what clones of a world that change something of their own go on with. The
// copy keeps its origin alive, since PROTOs, the types of their parameters and comments stay where they are.
#include "base/hash.h"
#include "base/memory.h"
#include "scene/scene.h"
#include "scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct ListPair {
    const FieldList *from, *to;
} ListPair;

typedef struct Copier {
    const Scene *from;
    Scene *to;
    ListPair *pairs;  // lists that a parameter and the fields connected to it share; open addressing
    int pair_count, slot_count;
} Copier;

static SceneNode *node_there(const Copier *copier, SceneNode *node)
{
    // A node of a PROTO's definition belongs to neither scene and serves both.
    if (!node || scene_find_id(copier->from, node->id) != node)
        return node;
    return scene_find_id(copier->to, node->id);
}

static ListPair *list_slot(ListPair *pairs, int slot_count, const FieldList *from)
{
    assert_debug(from && slot_count > 0 && (slot_count & (slot_count - 1)) == 0);
    uint64_t slot = hash_combine(0, (uint64_t)(uintptr_t)from);
    while (pairs[slot & (uint64_t)(slot_count - 1)].from && pairs[slot & (uint64_t)(slot_count - 1)].from != from)
        slot++;
    return &pairs[slot & (uint64_t)(slot_count - 1)];
}

static void grow_pairs(Copier *copier)
{
    int slots = copier->slot_count ? 2 * copier->slot_count : 64;
    ListPair *pairs = memory_alloc_array((size_t)slots, sizeof *pairs);
    for (int i = 0; i < copier->slot_count; i++)
        if (copier->pairs[i].from)
            *list_slot(pairs, slots, copier->pairs[i].from) = copier->pairs[i];
    free(copier->pairs);
    copier->pairs = pairs;
    copier->slot_count = slots;
}

static const FieldList *list_there(Copier *copier, const FieldList *from, FieldKind item)
{
    if (2 * copier->pair_count >= copier->slot_count)
        grow_pairs(copier);
    ListPair *pair = list_slot(copier->pairs, copier->slot_count, from);
    if (pair->from)
        return pair->to;
    FieldList *to = scene_list_copy(copier->to, from, item, 0);
    for (int i = 0; item == FIELD_SF_NODE && i < to->count; i++)
        to->nodes[i] = node_there(copier, to->nodes[i]);
    for (int i = 0; item == FIELD_SF_STRING && i < to->count; i++)
        to->strings[i] = scene_take_string(copier->to, to->strings[i]);
    *pair = (ListPair){ from, to };
    copier->pair_count++;
    return to;
}

static FieldValue value_there(Copier *copier, const FieldType *type, FieldValue value)
{
    if (field_kind_is_list(type->kind)) {
        if (value.list != type->value.list)  // a default is nobody's own
            value.list = list_there(copier, value.list, field_kind_item(type->kind));
    } else if (type->kind == FIELD_SF_NODE) {
        value.node = node_there(copier, value.node);
    } else if (type->kind == FIELD_SF_STRING) {
        value.s = scene_take_string(copier->to, value.s);
    }
    return value;
}

static void copy_node(Copier *copier, const SceneNode *from, SceneNode *to)
{
    assert(from != to);
    *to = *from;
    to->parent = node_there(copier, from->parent);
    to->target = node_there(copier, from->target);
    to->fields = NULL;
    to->field_capacity = to->field_count;
    if (to->field_count == 0)
        return;
    to->fields = scene_take(copier->to, from->field_count * sizeof *from->fields);
    memcpy(to->fields, from->fields, from->field_count * sizeof *from->fields);
    for (int i = 0; i < to->field_count; i++)
        to->fields[i].value = value_there(copier, to->fields[i].type, to->fields[i].value);
}

// Its nodes, with nothing in them yet: others refer to them.
static void make_piece(Scene *scene, const ScenePiece *from)
{
    scene->next_id = from->first_id;
    scene_piece_begin(scene);
    for (int i = 0; i < from->count; i++)
        scene_piece_node(scene);
    scene_piece_end(scene);
}

static void copy_piece(Copier *copier, const ScenePiece *from, ScenePiece *to)
{
    assert_debug(from->count == to->count && from->first_id == to->first_id);
    copier->to->piece = to;
    for (int i = 0; i < from->count; i++)
        copy_node(copier, from->nodes[i], to->nodes[i]);
    copier->to->piece = NULL;
}

static void copy_tables(const Scene *from, Scene *to)
{
    if (from->rare_slots > 0) {
        size_t size = (size_t)from->rare_slots * sizeof *from->rares;
        to->rares = memory_alloc_raw(size);
        memcpy(to->rares, from->rares, size);
        to->rare_count = from->rare_count;
        to->rare_slots = from->rare_slots;
    }
    for (int i = 0; i < from->extern_count; i++) {
        memory_grow(&to->externs, &to->extern_capacity, i + 1, sizeof *to->externs);
        to->externs[to->extern_count++] = from->externs[i];
    }
}

// Ids stay: whoever remembers a node by its id finds it in the copy. Lists that nodes share are shared again.
Scene *scene_copy(Scene *origin)
{
    assert_debug(origin && !origin->piece);
    Scene *scene = memory_alloc(sizeof *scene);
    scene->arena = arena_create();
    scene->origin = scene_share(origin);
    scene->path = origin->path;
    scene->release = origin->release;
    scene->structure = origin->structure;
    scene->block_end = origin->block_end;
    scene->node_count = origin->node_count;
    for (int i = 0; i < origin->block_count; i++) {
        memory_grow(&scene->blocks, &scene->block_capacity, i + 1, sizeof *scene->blocks);
        scene->blocks[scene->block_count++] = memory_alloc_array(SCENE_BLOCK_NODES, sizeof(SceneNode));
    }
    for (int i = 0; i < origin->piece_count; i++)
        make_piece(scene, origin->pieces[i]);
    assert_debug(scene->piece_count == origin->piece_count && scene->block_count == origin->block_count);
    scene->next_id = origin->next_id;
    Copier copier = { .from = origin, .to = scene };
    for (uint32_t id = 0; id < scene->block_end; id++)
        copy_node(&copier, scene_find_id(origin, id), scene_find_id(scene, id));
    for (int i = 0; i < origin->piece_count; i++)
        copy_piece(&copier, origin->pieces[i], scene->pieces[i]);
    scene->root = node_there(&copier, origin->root);
    copy_tables(origin, scene);
    free(copier.pairs);
    return scene;
}
