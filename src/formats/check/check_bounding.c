// A boundingObject is a geometry that can collide, a Shape or a Pose that holds one, or a Group of those.
#include "formats/check/check_internal.h"

#include "assets/geometry.h"
#include "base/text.h"

#include <string.h>

typedef struct Bounding {
    Check *check;
    SceneNode *solid;
    bool is_dynamic;  // the Solid has Physics
    int depth;
} Bounding;

// "use Box, ... or Sphere"
static void hint_colliding(DiagSink *diags)
{
    Text text = { 0 };
    const char *last = strrchr(GEOMETRY_COLLIDING, '|');
    for (const char *at = GEOMETRY_COLLIDING; *at; at++)
        if (*at == '|')
            text_add_string(&text, at == last ? " or " : ", ");
        else
            text_add(&text, at, 1);
    diag_hint(diags, "use %s", text.data);
    text_free(&text);
}

static bool check_geometry(Bounding *bounding, SceneNode *node, const SceneNode *geometry)
{
    assert_debug(schema_type_is(geometry->type, "Geometry"));
    Check *check = bounding->check;
    const char *type = geometry->type->name;
    const GeometryType *form = geometry_type(type);
    if (!form || !(form->traits & GEOMETRY_COLLIDES)) {
        check_error(check, node, node->pos, "%s cannot collide; in a boundingObject it is ignored", type);
        hint_colliding(check->diags);
        return false;
    }
    if (bounding->is_dynamic && form->traits & GEOMETRY_IS_GROUND)
        check_error(check, node, node->pos,
                    "%s is for things that do not move, but this Solid has Physics; it does not move with it", type);
    if (!strcmp(type, "ElevationGrid")
        && (scene_int(geometry, "xDimension") < 2 || scene_int(geometry, "yDimension") < 2))
        check_warning(check, node, node->pos, "an ElevationGrid of less than 2 x 2 points cannot collide");
    return true;
}

static void check_item(Bounding *bounding, SceneNode *holder, const FieldType *field, SceneNode *node);

static void check_items(Bounding *bounding, SceneNode *group, bool only_first)
{
    assert(bounding->depth > 0);
    const FieldType *field = schema_field(group->type, "children");
    const FieldList *children = scene_list(group, "children");
    int count = only_first ? int_min(1, children->count) : children->count;
    for (int i = 0; i < count; i++)
        if (children->nodes[i])
            check_item(bounding, group, field, children->nodes[i]);
    if (only_first && children->count > 1)
        check_warning(bounding->check, group, group->pos,
                      "only the first of %d children of a %s in a boundingObject counts", children->count,
                      group->type->name);
    if (children->count == 0)
        check_warning(bounding->check, group, group->pos, "an empty %s in a boundingObject collides with nothing",
                      group->type->name);
}

static bool check_shape(Bounding *bounding, SceneNode *node, const SceneNode *shape)
{
    const SceneNode *geometry = scene_child(shape, "geometry");
    if (!geometry)
        check_warning(bounding->check, node, node->pos,
                      "a Shape without geometry in a boundingObject collides with nothing");
    return !geometry || !schema_type_is(geometry->type, "Geometry") || check_geometry(bounding, node, geometry);
}

// Whether the node may stand in a boundingObject (reported), and all below it.
static bool may_collide(Bounding *bounding, SceneNode *node, SceneNode *actual)
{
    const char *type = actual->type->name;
    if (schema_type_is(actual->type, "Geometry"))
        return check_geometry(bounding, node, actual);
    if (!strcmp(type, "Shape"))
        return check_shape(bounding, node, actual);
    if (!strcmp(type, "Group") || !strcmp(type, "Pose") || !strcmp(type, "Transform")) {
        check_items(bounding, actual, strcmp(type, "Group") != 0);
        return true;
    }
    check_error(bounding->check, node, node->pos, "%s is not allowed inside of a boundingObject; it is ignored", type);
    return false;
}

static void check_item(Bounding *bounding, SceneNode *holder, const FieldType *field, SceneNode *node)
{
    enum { DEEPEST = 64 };
    SceneNode *actual = scene_actual(node);
    if (!actual || bounding->depth > DEEPEST)
        return;
    bounding->depth++;
    if (!may_collide(bounding, node, actual))
        check_forbid(bounding->check, holder, field, node);
    bounding->depth--;
}

static bool has_own_mass(const SceneNode *physics)
{
    return scene_float(physics, "mass") > 0.0 && scene_list(physics, "centerOfMass")->count == 1
           && scene_list(physics, "inertiaMatrix")->count == 2;
}

void check_bounding(Check *check, SceneNode *solid)
{
    assert_debug(schema_field(solid->type, "boundingObject"));
    SceneNode *physics = schema_field(solid->type, "physics") ? scene_child(solid, "physics") : NULL;
    const FieldType *field = schema_field(solid->type, "boundingObject");
    FieldValue value = scene_value(solid, field);
    Bounding bounding = { .check = check, .solid = solid, .is_dynamic = physics != NULL };
    if (value.node)
        check_item(&bounding, solid, field, value.node);
    else if (physics && schema_type_is(physics->type, "Physics") && !has_own_mass(physics))
        check_warning(check, solid, physics->pos,
                      "Physics without a boundingObject: nothing collides, and the inertia is that of no shape");
}

bool check_bounding_item(Check *check, SceneNode *node, SceneNode *solid)
{
    Bounding bounding = { .check = check, .solid = solid, .depth = 1 };
    bounding.is_dynamic = solid && scene_child(solid, "physics");
    return may_collide(&bounding, node, scene_actual(node));
}
