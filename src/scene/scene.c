// scene.c - the scene: its nodes, their making and destroying, fields by name.
#include "scene/scene.h"

#include "base/hash.h"
#include "base/memory.h"
#include "scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

const FieldList scene_empty_list = { 0 };

Scene *scene_create(void)
{
    Scene *scene = memory_alloc(sizeof *scene);
    scene->arena = arena_create();
    scene->path = "";
    scene->root = scene_new_node(scene);
    scene->root->type = schema_type("Group");
    return scene;
}

void scene_destroy(Scene *scene)
{
    if (!scene || atomic_fetch_sub(&scene->other_users, 1) > 0)
        return;
    assert_debug(!scene->piece && !scene->sweep);
    for (int i = 0; i < scene->block_count; i++)
        free(scene->blocks[i]);
    free(scene->blocks);
    free(scene->rares);
    free(scene->externs);
    scene_memory_free(scene);
    scene_names_forget(scene);
    SceneAttachment *attachments = scene->attachments;
    while (attachments) {
        SceneAttachment attachment = *attachments;
        free(attachments);
        attachment.destroy(attachment.data);
        attachments = attachment.next;
    }
    arena_destroy(scene->arena);
    scene_destroy(scene->origin);
    free(scene);
}

Scene *scene_share(Scene *scene)
{
    atomic_fetch_add(&scene->other_users, 1);
    return scene;
}

void scene_freeze(Scene *scene) { scene->is_frozen = true; }

bool scene_is_frozen(const Scene *scene) { return scene->is_frozen; }

void scene_attach(Scene *scene, void *data, void (*destroy)(void *data))
{
    assert_debug(data && destroy);
    SceneAttachment *attachment = memory_alloc(sizeof *attachment);
    *attachment = (SceneAttachment){ .data = data, .destroy = destroy, .next = scene->attachments };
    scene->attachments = attachment;
}

void *scene_attached(const Scene *scene, void (*destroy)(void *data))
{
    for (const SceneAttachment *attachment = scene->attachments; attachment; attachment = attachment->next)
        if (attachment->destroy == destroy)
            return attachment->data;
    return scene->origin ? scene_attached(scene->origin, destroy) : NULL;
}

Arena *scene_arena(Scene *scene) { return scene->piece ? scene->piece->arena : scene->arena; }

SceneNode *scene_root(const Scene *scene) { return scene->root; }

int scene_node_count(const Scene *scene) { return scene->node_count - 1; }

uint32_t scene_last_id(const Scene *scene) { return scene->next_id - 1; }

uint64_t scene_structure(const Scene *scene) { return scene->structure; }

int scene_release(const Scene *scene) { return scene->release; }

void scene_set_release(Scene *scene, int release) { scene->release = release; }

const char *scene_path(const Scene *scene) { return scene->path; }

void scene_set_path(Scene *scene, const char *path) { scene->path = arena_string(scene->arena, path); }

SceneNode *scene_new_node(Scene *scene)
{
    assert(!scene->is_frozen);
    scene_names_forget(scene);
    scene->node_count++;
    if (scene->piece)
        return scene_piece_node(scene);
    if (scene->is_running || scene->piece_count > 0) {  // one that comes alone
        scene_piece_begin(scene);
        SceneNode *node = scene_piece_node(scene);
        scene_piece_end(scene);
        return node;
    }
    assert(scene->next_id == scene->block_end);
    uint32_t id = scene->next_id++;
    scene->block_end = scene->next_id;
    uint32_t block = id >> SCENE_BLOCK_BITS;
    assert_debug((int)block <= scene->block_count);
    if ((int)block == scene->block_count) {
        *memory_push(scene->blocks, scene->block_count, scene->block_capacity) = memory_alloc_array(SCENE_BLOCK_NODES,
                                                                                                    sizeof(SceneNode));
    }
    SceneNode *node = &scene->blocks[block][id & (SCENE_BLOCK_NODES - 1)];
    node->id = id;
    return node;
}

SceneNode *scene_find_id(const Scene *scene, uint32_t id)
{
    assert_debug(scene->block_end <= (uint32_t)scene->block_count << SCENE_BLOCK_BITS);
    if (id < scene->block_end)
        return &scene->blocks[id >> SCENE_BLOCK_BITS][id & (SCENE_BLOCK_NODES - 1)];
    return scene_piece_find(scene, id);
}

SceneNode *scene_node_create(Scene *scene, const NodeType *type, SourcePos pos)
{
    SceneNode *node = scene_new_node(scene);
    node->kind = SCENE_NODE_PLAIN;
    node->type = type;
    node->pos = pos;
    return node;
}

SceneNode *scene_node_create_use(Scene *scene, SceneNode *target, const char *name, SourcePos pos)
{
    assert_debug(target && name);
    SceneNode *node = scene_new_node(scene);
    node->kind = SCENE_NODE_USE;
    node->type = target->type;
    node->target = target;
    // Nearly always the target's own name: share it.
    node->def = target->def && !strcmp(target->def, name) ? target->def : scene_take_string(scene, name);
    node->pos = pos;
    return node;
}

SceneNode *scene_node_create_instance(Scene *scene, SceneProto *proto, SourcePos pos)
{
    assert_debug(proto);
    SceneNode *node = scene_new_node(scene);
    node->kind = SCENE_NODE_INSTANCE;
    node->type = proto->base_type;
    node->proto = proto;
    node->pos = pos;
    return node;
}

SceneNode *scene_node_create_unknown(Scene *scene, const char *type_name, const char *text, SourcePos pos)
{
    assert_debug(type_name && text);
    SceneNode *node = scene_new_node(scene);
    node->kind = SCENE_NODE_UNKNOWN;
    node->pos = pos;
    SceneRare *rare = scene_rare_add(scene, node);
    rare->unknown_type = scene_take_string(scene, type_name);
    rare->unknown_text = scene_take_string(scene, text);
    return node;
}

const char *scene_unknown_type(const Scene *scene, const SceneNode *node)
{
    const SceneRare *rare = scene_rare(scene, node);
    return rare && rare->unknown_type ? rare->unknown_type : "";
}

const char *scene_unknown_text(const Scene *scene, const SceneNode *node)
{
    const SceneRare *rare = scene_rare(scene, node);
    return rare && rare->unknown_text ? rare->unknown_text : "";
}

SceneField *scene_own_field(const SceneNode *node, const FieldType *type)
{
    for (int i = 0; i < node->field_count; i++)
        if (node->fields[i].type == type)
            return &node->fields[i];
    return NULL;
}

SceneField *scene_field_add(Scene *scene, SceneNode *node, const FieldType *type, SourcePos pos)
{
    assert(node && type);
    SceneField *field = scene_own_field(node, type);
    if (field)
        return field;
    if (node->field_count == node->field_capacity) {
        assert(node->field_capacity < UINT16_MAX / 2);
        uint16_t capacity = (uint16_t)(node->field_capacity ? node->field_capacity * 2 : 2);
        SceneField *fields = scene_take(scene, capacity * sizeof *fields);
        if (node->field_count)
            memcpy(fields, node->fields, node->field_count * sizeof *fields);
        node->fields = fields;
        node->field_capacity = capacity;
    }
    assert_debug(node->field_count < node->field_capacity);
    field = &node->fields[node->field_count++];
    *field = (SceneField){ .type = type, .value = type->value, .pos = pos, .parameter_index = -1 };
    return field;
}

// Everything below a boundingObject is marked so, however deep it was built before it was placed.
static void mark_bounding(SceneNode *node)
{
    if (!node || node->in_bounding)
        return;
    node->in_bounding = true;
    if (node->kind == SCENE_NODE_INSTANCE)
        mark_bounding(node->target);
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            mark_bounding(field->value.node);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                mark_bounding(field->value.list->nodes[j]);
    }
}

void scene_adopt(SceneNode *child, SceneNode *parent, const FieldType *field)
{
    if (!child)
        return;
    child->parent = parent;
    if (parent->in_bounding || (field->name[0] == 'b' && !strcmp(field->name, "boundingObject")))
        mark_bounding(child);
}

void scene_node_set_fields(Scene *scene, SceneNode *node, const SceneField *fields, int count)
{
    assert_debug(count >= 0 && (fields || count == 0));
    assert(node->field_count == 0 && count <= UINT16_MAX);
    if (!count)
        return;
    node->fields = scene_take(scene, (size_t)count * sizeof *fields);
    memcpy(node->fields, fields, (size_t)count * sizeof *fields);
    node->field_count = node->field_capacity = (uint16_t)count;
    for (int i = 0; i < count; i++) {
        const SceneField *field = &node->fields[i];
        if (field->type->kind == FIELD_SF_NODE)
            scene_adopt(field->value.node, node, field->type);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                scene_adopt(field->value.list->nodes[j], node, field->type);
    }
}

// ---- rare data of nodes ----

static SceneRare *rare_slot(SceneRare *rares, int slots, uint32_t key)
{
    assert_debug(slots > 0 && (slots & (slots - 1)) == 0 && key != 0);
    uint64_t slot = hash_combine(0, key);
    while (rares[slot & (uint64_t)(slots - 1)].key != 0 && rares[slot & (uint64_t)(slots - 1)].key != key)
        slot++;
    return &rares[slot & (uint64_t)(slots - 1)];
}

const SceneRare *scene_rare(const Scene *scene, const SceneNode *node)
{
    if (!scene->rare_count)
        return NULL;
    const SceneRare *rare = rare_slot(scene->rares, scene->rare_slots, node->id + 1);
    return rare->key ? rare : NULL;
}

SceneRare *scene_rare_add(Scene *scene, const SceneNode *node)
{
    if (scene->rare_count * 2 >= scene->rare_slots) {
        int slots = scene->rare_slots ? scene->rare_slots * 2 : 32;
        SceneRare *rares = memory_alloc_array((size_t)slots, sizeof *rares);
        for (int i = 0; i < scene->rare_slots; i++)
            if (scene->rares[i].key)
                *rare_slot(rares, slots, scene->rares[i].key) = scene->rares[i];
        free(scene->rares);
        scene->rares = rares;
        scene->rare_slots = slots;
    }
    SceneRare *rare = rare_slot(scene->rares, scene->rare_slots, node->id + 1);
    assert_debug(scene->rare_count < scene->rare_slots);
    if (!rare->key) {
        rare->key = node->id + 1;
        scene->rare_count++;
    }
    return rare;
}

// What comes behind it in its row of slots moves up, so that it is found again.
void scene_rare_drop(Scene *scene, const SceneNode *node)
{
    SceneRare *rare = scene->rare_count ? rare_slot(scene->rares, scene->rare_slots, node->id + 1) : NULL;
    if (!rare || !rare->key)
        return;
    int mask = scene->rare_slots - 1, at = (int)(rare - scene->rares);
    *rare = (SceneRare){ 0 };
    scene->rare_count--;
    assert_debug(scene->rare_count >= 0);
    for (int next = (at + 1) & mask; scene->rares[next].key; next = (next + 1) & mask) {
        SceneRare moved = scene->rares[next];
        scene->rares[next] = (SceneRare){ 0 };
        *rare_slot(scene->rares, scene->rare_slots, moved.key) = moved;
    }
}

static void extra_append(SceneRare *rare, SceneExtra *extra)
{
    extra->next = NULL;
    if (rare->last_extra)
        rare->last_extra->next = extra;
    else
        rare->extras = extra;
    rare->last_extra = extra;
}

void scene_extra_add(Scene *scene, const SceneNode *node, bool is_comment, const char *before, const char *text)
{
    SceneExtra *extra = scene_take(scene, sizeof *extra);
    extra->is_comment = is_comment;
    extra->before = before ? scene_take_string(scene, before) : NULL;
    extra->text = scene_take_string(scene, text);
    extra_append(scene_rare_add(scene, node), extra);
}

void scene_extras_move_inside(Scene *scene, const SceneNode *from, const SceneNode *to)
{
    assert(from != to && !scene_extras(scene, to));
    SceneExtra *extra = (SceneExtra *)scene_extras(scene, from);
    if (!extra)
        return;
    scene_rare_add(scene, to);  // may move the rows of both
    SceneRare *outer = scene_rare_add(scene, from), *inner = scene_rare_add(scene, to);
    outer->extras = outer->last_extra = NULL;
    for (SceneExtra *next; extra; extra = next) {
        next = extra->next;
        extra_append(extra->is_comment && !extra->before ? outer : inner, extra);
    }
}

const SceneExtra *scene_extras(const Scene *scene, const SceneNode *node)
{
    const SceneRare *rare = scene_rare(scene, node);
    return rare ? rare->extras : NULL;
}

void scene_hidden_add(Scene *scene, const SceneNode *node, const SceneHidden *hidden)
{
    SceneHidden *copy = scene_take(scene, sizeof *copy);
    *copy = *hidden;
    copy->name = scene_take_string(scene, hidden->name);
    copy->next = NULL;
    SceneRare *rare = scene_rare_add(scene, node);
    if (rare->last_hidden)
        rare->last_hidden->next = copy;
    else
        rare->hidden = copy;
    rare->last_hidden = copy;
}

void scene_hidden_clear(Scene *scene, const SceneNode *node)
{
    if (!scene_hidden(scene, node))
        return;
    SceneRare *rare = scene_rare_add(scene, node);
    rare->hidden = rare->last_hidden = NULL;
}

const SceneHidden *scene_hidden(const Scene *scene, const SceneNode *node)
{
    const SceneRare *rare = scene_rare(scene, node);
    return rare ? rare->hidden : NULL;
}

void scene_extern_add(Scene *scene, const char *url, bool is_importable, SourcePos pos)
{
    assert_debug(url);
    *memory_push(scene->externs, scene->extern_count, scene->extern_capacity) =
        (SceneExtern){ .url = arena_string(scene->arena, url), .is_importable = is_importable, .pos = pos };
}

int scene_extern_count(const Scene *scene) { return scene->extern_count; }

const SceneExtern *scene_extern_at(const Scene *scene, int index)
{
    assert(index >= 0 && index < scene->extern_count);
    return &scene->externs[index];
}
