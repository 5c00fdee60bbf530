// Numbers of fields by their path, "ARM.physics.mass": for those who change many worlds by the same names.
#include "sim/library.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_LENGTH = 128 };

// One part of a path: a name, and an index when it has one.
typedef struct PathPart {
    char name[PART_LENGTH];
    int index;  // -1: none
} PathPart;

// The place that a path names: number `index` of a field.
typedef struct PathPlace {
    TalusNode node;
    const char *field;
    int index, count;
} PathPlace;

static bool bad(const char *path, const char *what, const char *name)
{
    return library_failed("path '%s': %s '%s'", path, what, name);
}

static bool next_part(const char *path, const char **at, PathPart *part)
{
    size_t length = strcspn(*at, ".[");
    if (length == 0 || length >= sizeof part->name)
        return bad(path, "a name is missing or too long at", *at);
    assert_debug(length < PART_LENGTH);
    memcpy(part->name, *at, length);
    part->name[length] = '\0';
    part->index = -1;
    *at += length;
    if (**at == '[') {
        char *end;
        long index = strtol(*at + 1, &end, 10);
        if (end == *at + 1 || *end != ']' || index < 0 || index > INT32_MAX || !isdigit((unsigned char)(*at)[1]))
            return bad(path, "an index wants to be [0], [1], ... at", *at);
        part->index = (int)index;
        *at = end + 1;
    }
    if (**at == '.')
        return *++*at ? true : bad(path, "it ends after", part->name);
    return **at == '\0' || bad(path, "nothing can stand here:", *at);
}

static const SceneNode *top_of_type(const TalusWorld *world, const char *type)
{
    const FieldList *nodes = scene_list(scene_root(sim_scene(world->sim)), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && scene_node_is(node, type))
            return node;
    }
    return NULL;
}

// The node that the path begins with.
static const SceneNode *start_of(const TalusWorld *world, const char *path, const char **at)
{
    PathPart part;
    if (!next_part(path, at, &part))
        return NULL;
    const SceneNode *node = scene_find_def(sim_scene(world->sim), part.name);
    if (!node)
        node = scene_find_solid(sim_scene(world->sim), part.name);
    if (!node && schema_type(part.name))
        node = top_of_type(world, part.name);
    if (!node)
        bad(path, "no node has the DEF name, name or type", part.name);
    return scene_actual(node);
}

// Goes from a node along one part: to a node in a field of it, to one with that DEF name below it, or to the number
// that is meant.
static const SceneNode *follow(const char *path, const SceneNode *node, const PathPart *part, PathPlace *place)
{
    assert_debug(node && place->node == TALUS_NONE);
    const FieldType *type = node->type ? schema_field(node->type, part->name) : NULL;
    if (!type) {
        const SceneNode *below = scene_find_def_below(node, part->name);
        if (!below)
            library_failed("path '%s': %s has no field and no node '%s'", path,
                           node->type ? node->type->name : "this node", part->name);
        return scene_actual(below);
    }
    const SceneNode *next = NULL;
    if (type->kind == FIELD_SF_NODE)
        next = scene_actual(scene_child(node, part->name));
    else if (type->kind == FIELD_MF_NODE && part->index >= 0 && part->index < scene_list(node, part->name)->count)
        next = scene_list_node(scene_list(node, part->name), part->index);
    else if (type->kind != FIELD_MF_NODE)
        *place = (PathPlace){ node->id, type->name, part->index, 0 };
    if (!next && field_kind_item(type->kind) == FIELD_SF_NODE)
        bad(path, "there is no node in", part->name);
    return next;
}

static bool find_place(const TalusWorld *world, const char *path, PathPlace *place)
{
    const char *at = path;
    const SceneNode *node = start_of(world, path, &at);
    PathPart part;
    *place = (PathPlace){ .node = TALUS_NONE };
    while (node && *at && place->node == TALUS_NONE) {
        if (!next_part(path, &at, &part))
            return false;
        node = follow(path, node, &part, place);
    }
    if (place->node == TALUS_NONE)
        return node ? library_failed("path '%s' ends at a node: it wants a field", path) : false;
    if (*at)
        return bad(path, "nothing is inside of", part.name);
    place->count = talus_get_numbers(world, place->node, place->field, NULL, 0);
    if (place->count < 1)
        return library_failed("path '%s': %s has no numbers", path, place->field);
    if (place->index < 0 && place->count > 1)
        return library_failed("path '%s': %s has %d numbers: say which one, [0] to [%d]", path, place->field,
                              place->count, place->count - 1);
    place->index = place->index < 0 ? 0 : place->index;
    return place->index < place->count
           || library_failed("path '%s': %s has no number %d, only %d", path, place->field, place->index, place->count);
}

// The numbers of the field that a path leads to, in memory of the caller's. NULL: said.
static double *numbers_of(TalusWorld *world, const char *path, PathPlace *place)
{
    if (!library_given(world, path, "path") || !find_place(world, path, place))
        return NULL;
    assert_debug(place->index >= 0 && place->index < place->count);
    double *values = malloc((size_t)place->count * sizeof *values);
    if (values)
        talus_get_numbers(world, place->node, place->field, values, place->count);
    return values;
}

bool talus_get_path(TalusWorld *world, const char *path, double *value)
{
    PathPlace place;
    double *values = numbers_of(world, path, &place);
    if (values && value)
        *value = values[place.index];
    free(values);
    return values != NULL;
}

bool talus_set_path(TalusWorld *world, const char *path, double value)
{
    PathPlace place;
    double *values = library_own(world) ? numbers_of(world, path, &place) : NULL;
    if (!values)
        return false;
    values[place.index] = value;
    bool is_set = talus_set_numbers(world, place.node, place.field, values, place.count);
    free(values);
    return is_set;
}
