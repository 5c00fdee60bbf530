// Scale of physical things.
//
// Until R2023a a Solid had a `scale`, and a Transform with scale could hold Solids or stand in a bounding object. Now
// scale is for looks alone, so it becomes part of the numbers below: lengths times s, masses s^3, inertia s^5, torques
// of motors s^5, forces s^4. A scale that is not the same along all axes is replaced by its geometric mean, with a
// warning. What cannot be scaled by numbers (meshes from files) is put into a Transform with the scale.
//
// A node that is used both inside and outside of what is scaled must not change outside: first every USE that crosses
// the border becomes a copy.
#include "formats/upgrade/upgrade_internal.h"

#include "assets/geometry.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Type (with all below it), field, and the power of the scale that multiplies its numbers. Lengths of geometries are in
// their rows.
static const struct ScaleRow {
    const char *type, *field;
    int power;
} scale_rows[] = {
    { "Pose", "translation", 1 },
    { "Skin", "translation", 1 },
    { "Skin", "scale", 1 },
    { "Coordinate", "point", 1 },
    { "Physics", "mass", 3 },
    { "Physics", "centerOfMass", 1 },
    { "Physics", "inertiaMatrix", 5 },
    { "HingeJointParameters", "anchor", 1 },
    { "BallJointParameters", "anchor", 1 },
    { "RotationalMotor", "maxTorque", 5 },
    { "LinearMotor", "maxForce", 4 },
    { "LinearMotor", "minPosition", 1 },
    { "LinearMotor", "maxPosition", 1 },
    { "Muscle", "startOffset", 1 },
    { "Muscle", "endOffset", 1 },
    { "Muscle", "volume", 3 },
    { "Propeller", "centerOfThrust", 1 },
    { "TrackWheel", "position", 1 },
    { "TrackWheel", "radius", 1 },
    { "PointLight", "location", 1 },
    { "SpotLight", "location", 1 },
};
static const char *const slider_fields[] = { "position", "minStop", "maxStop" };

typedef struct ScaleJob {
    Upgrade *upgrade;
    double scale;
    bool in_tree;  // of an instance: connected fields have their values, and change without their parameters
} ScaleJob;

// Changes the number in place, so that no parameter is written to.
static void scale_connected(SceneField *field, double factor)
{
    int numbers = field_kind_doubles(field->type->kind);
    if (field_kind_is_list(field->type->kind))
        return;
    double *v = numbers == 1 ? &field->value.f : field->value.v;
    for (int i = 0; i < numbers; i++)
        v[i] *= factor;
}

// Sizes that no world can have would not be read back: better unscaled than lost.
static bool stays_in_range(const double *numbers, int64_t count, double factor)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(numbers[i] * factor) <= LIMIT_COORDINATE) || (numbers[i] != 0.0 && numbers[i] * factor == 0.0))
            return false;
    return true;
}

static void report_out_of_range(ScaleJob *job, SceneNode *node, const char *name, double factor)
{
    upgrade_warning(job->upgrade, node, node->pos, "%s is not scaled by %g: it would leave every sensible range", name,
                    factor);
}

// A field that is left at its default has to be written out when the default is a size.
static void scale_field(ScaleJob *job, SceneNode *node, const char *name, int power)
{
    const FieldType *type = schema_field(node->type, name);
    double factor = pow(job->scale, power);
    if (upgrade_is_connected(node, name)) {
        if (job->in_tree)
            scale_connected(upgrade_own(node, name), factor);
        else
            upgrade_warning(job->upgrade, node, node->pos,
                            "%s comes from a parameter of a PROTO and is not scaled by %g", name, factor);
        return;
    }
    int numbers = field_kind_doubles(type->kind);
    if (field_kind_is_list(type->kind)) {
        const FieldList *old = scene_list(node, name);
        if (old->count == 0)
            return;
        if (!stays_in_range(old->numbers, (int64_t)old->count * numbers, factor)) {
            report_out_of_range(job, node, name, factor);
            return;
        }
        FieldList *list = scene_list_edit(job->upgrade->scene, node, name);
        for (int64_t i = 0; i < (int64_t)list->count * numbers; i++)
            list->numbers[i] *= factor;
        return;
    }
    FieldValue value = scene_value(node, type);
    if (numbers == 1 && value.f < 0.0 && !strcmp(type->preset, "-1"))
        return;  // -1 means "not given"
    double *v = numbers == 1 ? &value.f : value.v;
    bool is_zero = true;
    if (!stays_in_range(v, numbers, factor)) {
        report_out_of_range(job, node, name, factor);
        return;
    }
    for (int i = 0; i < numbers; i++) {
        is_zero = is_zero && v[i] == 0.0;
        v[i] *= factor;
    }
    if (!is_zero)
        scene_set_value(job->upgrade->scene, node, type, value);
}

static void put_in_transform(ScaleJob *job, SceneNode *node)
{
    SceneNode *outer = upgrade_wrap(job->upgrade, node, "Transform");
    if (outer)
        scene_set_vec3(job->upgrade->scene, outer, "scale", vec3(job->scale, job->scale, job->scale));
}

// A mesh from a file, or a Shape with one.
static bool is_from_file(const SceneNode *node)
{
    if (upgrade_is_plain(node, "Shape"))
        node = scene_child(node, "geometry");
    return upgrade_is_plain(node, "Mesh") || upgrade_is_plain(node, "CadShape");
}

static void scale_node(ScaleJob *job, SceneNode *node);

static void scale_below(ScaleJob *job, SceneNode *node)
{
    for (int i = 0; i < node->field_count; i++) {
        SceneField *field = &node->fields[i];
        if (field->parameter_index >= 0)
            continue;
        if (field->type->kind == FIELD_SF_NODE)
            scale_node(job, field->value.node);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int k = 0; k < field->value.list->count; k++)
                scale_node(job, field->value.list->nodes[k]);
    }
}

// Appearances have no size.
static bool has_size(const NodeType *type)
{
    return schema_type_is(type, "Group") || schema_type_is(type, "Geometry") || schema_type_is(type, "Shape")
           || schema_type_is(type, "Joint") || schema_type_is(type, "CadShape");
}

static void scale_instance(ScaleJob *job, SceneNode *node)
{
    assert_debug(node->kind == SCENE_NODE_INSTANCE);
    SceneNode *actual = scene_actual(node);
    const NodeType *type = actual ? actual->type : node->proto->base_type;
    if (type ? !has_size(type) : !node->parent || !schema_type_is(node->parent->type, "Group"))
        return;
    upgrade_warning(job->upgrade, node, node->pos,
                    "the size of a PROTO inside of a scaled Solid is not part of its parameters%s",
                    actual ? ": a saved world has it unscaled" : "; it stays unscaled");
    const SceneField *field = upgrade_own(node, "translation");
    if (field && field->type->kind == FIELD_SF_VEC3F) {
        FieldValue value = field->value;
        for (int k = 0; k < 3; k++)
            value.v[k] *= job->scale;
        scene_set_value(job->upgrade->scene, node, field->type, value);
    }
    ScaleJob inside = *job;
    inside.in_tree = true;
    if (actual && node->kind == SCENE_NODE_INSTANCE && !schema_type_is(actual->type, "Group"))
        scale_node(&inside, actual);
    else if (actual)
        scale_below(&inside, actual);
}

static void scale_node(ScaleJob *job, SceneNode *node)
{
    if (!node || node->kind == SCENE_NODE_UNKNOWN)
        return;
    if (node->kind == SCENE_NODE_USE) {
        // What a USE repeats is inside too, or has become a copy; but the Transform around a mesh is not part of it.
        if (is_from_file(node->target))
            put_in_transform(job, node);
        return;
    }
    if (node->kind == SCENE_NODE_INSTANCE) {
        scale_instance(job, node);
        return;
    }
    if (is_from_file(node)) {
        put_in_transform(job, node);
        return;
    }
    const GeometryType *form = node->type ? geometry_type(node->type->name) : NULL;
    for (int i = 0; form && i < COUNT_OF(form->lengths) && form->lengths[i]; i++)
        scale_field(job, node, form->lengths[i], 1);
    for (int i = 0; i < COUNT_OF(scale_rows); i++)
        if (schema_type_is(node->type, scale_rows[i].type))
            scale_field(job, node, scale_rows[i].field, scale_rows[i].power);
    for (int i = 0; upgrade_is_plain(node, "JointParameters") && upgrade_is_plain(node->parent, "SliderJoint")
                    && i < COUNT_OF(slider_fields);
         i++)
        scale_field(job, node, slider_fields[i], 1);
    scale_below(job, node);
}

// ---- sharing ----

static bool is_inside(const SceneNode *node, const SceneNode *top)
{
    while (node && node != top)
        node = node->parent;
    return node == top;
}

static void cut_shared(Upgrade *upgrade, SceneNode *top)
{
    upgrade_collect(upgrade);
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind != SCENE_NODE_USE || !node->target || is_inside(node, top) == is_inside(node->target, top))
            continue;
        SceneNode *copy = upgrade_copy(upgrade, node->target);
        upgrade_replace(node, copy);
    }
}

// ---- who scales ----

static bool finds_body(const SceneNode *node)
{
    const SceneNode *actual = scene_actual(node);
    if (!actual)
        return node && node->kind == SCENE_NODE_INSTANCE && node->proto->base_type
               && schema_type_is(node->proto->base_type, "Solid");
    if (schema_type_is(actual->type, "Solid") || schema_type_is(actual->type, "Joint"))
        return true;
    const SceneField *children = schema_type_is(actual->type, "Group") ? upgrade_own(actual, "children") : NULL;
    for (int i = 0; children && i < children->value.list->count; i++)
        if (finds_body(children->value.list->nodes[i]))
            return true;
    return false;
}

static bool is_physical(const SceneNode *node)
{
    if (schema_type_is(node->type, "Solid") || schema_type_is(node->type, "Fluid"))
        return true;
    return upgrade_is_plain(node, "Transform") && (node->in_bounding || finds_body(node));
}

// A Transform that is looked at and used as bounding object as well is scaled like one that is in it.
static void mark_used_in_bounding(Upgrade *upgrade)
{
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        if (node->kind == SCENE_NODE_USE && node->in_bounding && upgrade_is_plain(node->target, "Transform")
            && !node->target->in_bounding && upgrade_own(node->target, "scale")) {
            SceneNode *copy = upgrade_copy(upgrade, node->target);
            copy->in_bounding = true;
            upgrade_replace(node, copy);
        }
    }
}

static void bake(Upgrade *upgrade, SceneNode *node, bool in_tree)
{
    SceneField *field = upgrade_own(node, "scale");
    assert_debug(field && field->type->kind == FIELD_SF_VEC3F);
    SourcePos pos = field->pos;
    Vec3 scale = vec3(field->value.v[0], field->value.v[1], field->value.v[2]);
    upgrade_drop(node, field);
    if (vec3_is_equal(scale, vec3(1, 1, 1)))
        return;
    double product = fabs(scale.x * scale.y * scale.z);
    if (!(product > 0.0) || !isfinite(product)) {
        diag_error(upgrade->diags, pos, "scale %g %g %g is not possible; it is ignored", scale.x, scale.y, scale.z);
        diag_node(upgrade->diags, scene_node_path(node, scene_arena(upgrade->scene)));
        return;
    }
    double mean = cbrt(product);
    double max = fmax(fabs(scale.x - mean), fmax(fabs(scale.y - mean), fabs(scale.z - mean)));
    if (max > 1e-9 * mean)
        upgrade_warning(upgrade, node, pos,
                        "physical things cannot be scaled differently along their axes; using %g for all", mean);
    else
        upgrade_note(upgrade, node, pos, "scale %g of a %s is now part of the sizes and masses inside", mean,
                     node->type->name);
    cut_shared(upgrade, node);
    ScaleJob job = { upgrade, max > 1e-9 * mean ? mean : scale.x, in_tree };
    scale_below(&job, node);
}

void upgrade_scale(Upgrade *upgrade)
{
    mark_used_in_bounding(upgrade);
    upgrade_collect(upgrade);
    // Gathered apart: baking gathers again for itself.
    int count = 0, capacity = 0;
    SceneNode **scaled = NULL;
    for (int i = 0; i < upgrade->count; i++) {
        SceneNode *node = upgrade->nodes[i];
        const SceneField *field = node->kind == SCENE_NODE_PLAIN && schema_type_is(node->type, "Pose")
                                      ? upgrade_own(node, "scale")
                                      : NULL;
        if (!field || field->parameter_index >= 0 || !is_physical(node))
            continue;
        *memory_push(scaled, count, capacity) = node;
    }
    for (int i = 0; i < count; i++)
        bake(upgrade, scaled[i], false);
    free(scaled);
}

// The tree of an instance: scales that are connected to parameters have their values only now.
static void scale_tree(Upgrade *upgrade, SceneNode *node)
{
    if (!node || node->kind == SCENE_NODE_USE || node->kind == SCENE_NODE_UNKNOWN || node->kind == SCENE_NODE_INSTANCE)
        return;
    const SceneField *field = schema_type_is(node->type, "Pose") ? upgrade_own(node, "scale") : NULL;
    if (field && field->parameter_index >= 0 && is_physical(node))
        bake(upgrade, node, true);
    if (schema_type_is(node->type, "Robot"))
        upgrade_arguments(upgrade, node, upgrade->top->parent);
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *held = &node->fields[i];
        if (held->parameter_index >= 0)
            continue;
        if (held->type->kind == FIELD_SF_NODE)
            scale_tree(upgrade, held->value.node);
        for (int k = 0; held->type->kind == FIELD_MF_NODE && k < held->value.list->count; k++)
            scale_tree(upgrade, held->value.list->nodes[k]);
    }
}

void upgrade_instance(Scene *scene, SceneNode *instance, DiagSink *diags)
{
    if (!instance->proto || instance->proto->release >= RELEASE_R2023B)
        return;
    Upgrade upgrade = { .scene = scene, .diags = diags, .release = instance->proto->release, .top = instance->target };
    scale_tree(&upgrade, instance->target);
    free(upgrade.nodes);
}
