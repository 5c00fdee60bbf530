// Names: Solids differ in theirs among the Solids that stand under the same Solid, devices within their Robot.
#include "formats/check/check_internal.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Inside of what a PROTO of the library makes: its users cannot rename that.
static bool is_of_library(const SceneNode *node)
{
    const SceneNode *instance = scene_instance(node);
    if (!instance->in_proto)
        return false;
    for (const SceneNode *above = instance->parent; above; above = above->parent)
        if (above->kind == SCENE_NODE_INSTANCE)
            return above->proto->origin && !strcmp(above->proto->origin, "library");
    return false;
}

// Where its user can give another name: in the instance, when the name is the PROTO's default.
static SourcePos name_pos(const SceneNode *node)
{
    const SceneNode *instance = scene_instance(node);
    SourcePos pos = scene_field_pos(node, "name");
    return instance != node && !instance->in_proto && pos.file != instance->pos.file ? instance->pos : pos;
}

void check_names_add(Check *check, const SceneNode *node, const Place *place)
{
    assert_debug(node && place);
    bool is_solid = schema_type_is(node->type, "Solid");
    bool is_device = (node->type->flags & NODE_DEVICE) && place->robot;
    if (!is_solid && !is_device)
        return;
    const char *name = scene_string(node, "name");
    if (is_solid && strchr(name, ':') && !is_of_library(node)) {
        check_warning(check, node, name_pos(node), "the name \"%.80s\" contains ':', which separates names in paths",
                      name);
        diag_hint(check->diags, "use another character");
    }
    // Motors of the same name are coupled: they move together.
    if (schema_type_is(node->type, "Motor"))
        return;
    *memory_push(check->names, check->name_count, check->name_capacity) = (NameEntry){ is_device      ? place->robot->id
                                                                                       : place->solid ? place->solid->id
                                                                                                      : 0,
                                                                                       is_device, name, node };
}

static int compare_names(const void *a, const void *b)
{
    const NameEntry *x = a, *y = b;
    if (x->is_device != y->is_device)
        return x->is_device ? 1 : -1;
    if (x->holder != y->holder)
        return x->holder < y->holder ? -1 : 1;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    return x->node->id < y->node->id ? -1 : x->node->id > y->node->id;
}

void check_names_report(Check *check)
{
    assert(check->name_count >= 0 && check->name_count <= check->name_capacity);
    if (check->name_count > 0)
        qsort(check->names, (size_t)check->name_count, sizeof *check->names, compare_names);
    for (int i = 1; i < check->name_count; i++) {
        const NameEntry *first = &check->names[i - 1], *entry = &check->names[i];
        if (first->is_device != entry->is_device || first->holder != entry->holder || strcmp(first->name, entry->name)
            || is_of_library(entry->node))
            continue;
        SourcePos pos = name_pos(entry->node);
        if (entry->is_device)
            check_warning(check, entry->node, pos,
                          "a second device named \"%.80s\" in the same Robot: a controller finds only one of them",
                          entry->name);
        else
            check_warning(check, entry->node, pos, "a second Solid named \"%.80s\" beside another of this name",
                          entry->name);
    }
}

// ---- free names ----

typedef struct NameSearch {
    const SceneNode *solid;  // the Solid under which names must differ, NULL: the world
    const char *name;
    bool is_taken;
} NameSearch;

static const SceneNode *solid_above(const SceneNode *node)
{
    const SceneNode *above = scene_parent(node);
    while (above && !schema_type_is(above->type, "Solid"))
        above = scene_parent(above);
    return above;
}

static bool find_name(SceneNode *node, void *context)
{
    NameSearch *search = context;
    if (schema_type_is(node->type, "Solid") && solid_above(node) == search->solid
        && !strcmp(scene_string(node, "name"), search->name))
        search->is_taken = true;
    return !search->is_taken;
}

const char *formats_free_name(const Scene *scene, const SceneNode *holder, const char *name, Arena *arena)
{
    assert_debug(name);
    const SceneNode *solid = holder;
    while (solid && !schema_type_is(solid->type, "Solid"))
        solid = scene_parent(solid);
    // "box(2)" is the second repetition of "box".
    size_t length = strlen(name);
    const char *open = strrchr(name, '(');
    if (open && open[1] && open + 1 + strspn(open + 1, "0123456789") == name + length - 1 && name[length - 1] == ')')
        length = (size_t)(open - name);
    const char *candidate = name;
    for (int i = 1;; i++) {
        NameSearch search = { solid, candidate, false };
        scene_walk(solid ? (SceneNode *)solid : scene_root(scene), false, find_name, &search);
        if (!search.is_taken)
            return candidate;
        candidate = arena_printf(arena, "%.*s(%d)", (int)length, name, i);
    }
}
