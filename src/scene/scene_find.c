// Searching, walking and naming.
#include "scene/scene.h"

#include "base/hash.h"
#include "base/memory.h"
#include "scene/scene_internal.h"

#include <stdlib.h>
#include <string.h>

// Walks what a file writes: parameters of an instance, not the tree it makes. Stops at the first node for which `visit`
// returns false and returns it.
static SceneNode *walk_written(SceneNode *node, bool (*visit)(SceneNode *node, const void *context),
                               const void *context)
{
    if (!node)
        return NULL;
    if (!visit(node, context))
        return node;
    if (node->kind == SCENE_NODE_USE)
        return NULL;
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        SceneNode *found = NULL;
        if (field->type->kind == FIELD_SF_NODE) {
            found = walk_written(field->value.node, visit, context);
        } else if (field->type->kind == FIELD_MF_NODE) {
            for (int j = 0; j < field->value.list->count && !found; j++)
                found = walk_written(field->value.list->nodes[j], visit, context);
        }
        if (found)
            return found;
    }
    return NULL;
}

typedef struct DefSearch {
    const SceneNode *top;
    const char *name;
    size_t length;
} DefSearch;

static bool lacks_def(SceneNode *node, const void *context)
{
    const DefSearch *search = context;
    return node == search->top || node->kind == SCENE_NODE_USE || !node->def
           || strncmp(node->def, search->name, search->length) != 0 || node->def[search->length] != '\0';
}

SceneNode *scene_find_def_below(const SceneNode *top, const char *path)
{
    SceneNode *node = (SceneNode *)top;
    while (node) {
        const char *dot = strchr(path, '.');
        size_t length = dot ? (size_t)(dot - path) : strlen(path);
        if (length == 0)
            return NULL;
        const DefSearch search = { node, path, length };
        node = walk_written(node, lacks_def, &search);
        if (!dot)
            break;
        path = dot + 1;
    }
    SceneNode *actual = scene_actual(node);
    return actual ? actual : node;
}

void scene_names_forget(Scene *scene)
{
    scene->structure++;
    free(scene->names.slots);
    scene->names = (SceneNames){ 0 };
}

static SceneNode **name_slot(const SceneNames *names, const char *name, size_t length)
{
    assert_debug(names->slots && (names->mask & (names->mask + 1)) == 0);
    int slot = (int)(hash_bytes(name, length, 0) & (uint64_t)names->mask);
    while (names->slots[slot]
           && (strncmp(names->slots[slot]->def, name, length) != 0 || names->slots[slot]->def[length] != '\0'))
        slot = (slot + 1) & names->mask;
    return &names->slots[slot];
}

static bool enter_name(SceneNode *node, const void *context)
{
    const SceneNames *names = context;
    if (node->kind != SCENE_NODE_USE && node->def) {
        SceneNode **slot = name_slot(names, node->def, strlen(node->def));
        if (!*slot)
            *slot = node;
    }
    return true;
}

static void names_build(Scene *scene)
{
    assert_debug(!scene->names.slots);
    int size = 16;
    while (size < 2 * scene_node_count(scene) && size < 1 << 30)
        size *= 2;
    scene->names.slots = memory_alloc_array((size_t)size, sizeof *scene->names.slots);
    scene->names.mask = size - 1;
    walk_written(scene->root, enter_name, &scene->names);
}

bool scene_node_is_gone(const SceneNode *node)
{
    for (const SceneNode *at = node; at; at = at->parent)
        if (at->is_removed)
            return true;
    return false;
}

bool scene_node_place(const SceneNode *node, const char **field, int *index)
{
    assert_debug(node && field && index);
    const SceneNode *holder = node->parent;
    for (int i = 0; holder && i < holder->field_count; i++) {
        const SceneField *given = &holder->fields[i];
        *field = given->type->name;
        *index = -1;
        if (given->type->kind == FIELD_SF_NODE && given->value.node == node)
            return true;
        for (int k = 0; given->type->kind == FIELD_MF_NODE && k < given->value.list->count; k++)
            if (given->value.list->nodes[k] == node) {
                *index = k;
                return true;
            }
    }
    return false;
}

SceneNode *scene_find_top(const Scene *scene, const char *type)
{
    assert_debug(schema_type(type));
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        SceneNode *node = scene_list_node(nodes, i);
        if (node && !node->is_removed && scene_node_is(node, type))
            return node;
    }
    return NULL;
}

SceneNode *scene_find_def(Scene *scene, const char *path)
{
    assert_debug(path);
    enum { OFTEN = 8 };
    if (scene->is_frozen || (!scene->names.slots && scene->names.asked++ < OFTEN))
        return scene_find_def_below(scene->root, path);
    if (!scene->names.slots)
        names_build(scene);
    size_t length = strcspn(path, ".");
    SceneNode *node = length ? *name_slot(&scene->names, path, length) : NULL;
    if (node && path[length] == '.')
        return scene_find_def_below(node, path + length + 1);
    SceneNode *actual = scene_actual(node);
    return actual ? actual : node;
}

typedef struct SolidSearch {
    const char *name;
    SceneNode *found;
} SolidSearch;

static bool is_other_solid(SceneNode *node, void *context)
{
    SolidSearch *search = context;
    if (!schema_type_is(node->type, "Solid") || strcmp(scene_string(node, "name"), search->name) != 0)
        return true;
    search->found = node;
    return false;
}

static SceneNode *find_solid_below(SceneNode *top, const char *name)
{
    SolidSearch search = { name, NULL };
    const FieldList *children = schema_field(top->type, "children") ? scene_list(top, "children") : NULL;
    for (int i = 0; children && i < children->count && !search.found; i++)
        if (children->nodes[i])
            scene_walk(children->nodes[i], false, is_other_solid, &search);
    return search.found;
}

SceneNode *scene_find_solid(const Scene *scene, const char *name)
{
    assert(name);
    SceneNode *found = find_solid_below(scene->root, name);
    char part[256];
    // A path of names: each solid below the one before.
    SceneNode *at = strchr(name, ':') && !found ? scene->root : NULL;
    for (const char *from = name; at; from = strchr(from, ':') + 1) {
        size_t length = strcspn(from, ":");
        if (length >= sizeof part)
            return NULL;
        memcpy(part, from, length);
        part[length] = '\0';
        at = find_solid_below(at, part);
        if (!from[length])
            return at;
    }
    return found;
}

bool scene_walk(SceneNode *node, bool into_use, SceneVisit visit, void *context)
{
    if (!node || (node->kind == SCENE_NODE_USE && !into_use))
        return true;
    node = scene_actual(node);
    if (!node)
        return true;
    if (!visit(node, context))
        return false;
    // The visitor may add fields and items; what it adds behind is visited too.
    for (int i = 0; i < node->field_count; i++) {
        FieldKind kind = node->fields[i].type->kind;
        if (kind == FIELD_SF_NODE && !scene_walk(node->fields[i].value.node, into_use, visit, context))
            return false;
        if (kind == FIELD_MF_NODE)
            for (int j = 0; i < node->field_count && j < node->fields[i].value.list->count; j++)
                if (!scene_walk(node->fields[i].value.list->nodes[j], into_use, visit, context))
                    return false;
    }
    return true;
}

// "children[2]" or "geometry": the place of the node in its holder, "" when it is not there.
static const char *place_in_parent(const SceneNode *node, Arena *arena)
{
    assert_debug(node->parent);
    const SceneNode *parent = node->parent;
    for (int i = 0; i < parent->field_count; i++) {
        const SceneField *field = &parent->fields[i];
        if (field->type->kind == FIELD_SF_NODE && field->value.node == node)
            return field->type->name;
        if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                if (field->value.list->nodes[j] == node)
                    return arena_printf(arena, "%s[%d]", field->type->name, j);
    }
    return "";
}

static const char *node_label(const SceneNode *node, Arena *arena)
{
    const char *type = node->kind == SCENE_NODE_INSTANCE ? node->proto->name : node->type ? node->type->name : "?";
    if (!node->def)
        return type;
    return node->kind == SCENE_NODE_USE ? arena_printf(arena, "USE %s", node->def)
                                        : arena_printf(arena, "DEF %s %s", node->def, type);
}

const char *scene_node_path(const SceneNode *node, Arena *arena)
{
    enum { PARTS_MAX = 32 };  // the innermost say enough
    if (!node)
        return "";
    const char *path = NULL;
    for (int parts = 0; node && parts < PARTS_MAX; parts++) {
        if (!node->parent && node->id == 0)
            break;  // the root goes without saying
        bool is_tree_root = node->parent && node->parent->kind == SCENE_NODE_INSTANCE && node->parent->target == node;
        if (!is_tree_root) {
            const char *label = node_label(node, arena);
            path = path ? arena_printf(arena, "%s.%s", label, path) : label;
            if (node->parent && node->parent->id != 0)
                path = arena_printf(arena, "%s %s", place_in_parent(node, arena), path);
        }
        node = node->parent;
    }
    return path ? path : "";
}
