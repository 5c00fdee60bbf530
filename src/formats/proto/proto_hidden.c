// proto_hidden.c - state that Webots saved with an instance: "hidden rotation_2 0 0 1 0.5" is the rotation of the third
// Solid of its tree (depth first, the root is 0), "hidden position_2_0 0.5" the position of the first joint below it.
#include "formats/proto/proto_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct HiddenTree {
    SceneNode **solids;
    int solid_count, solid_capacity;
    struct {
        SceneNode *joint;
        int solid;
    } * joints;
    int joint_count, joint_capacity;
} HiddenTree;

// The order is Webots': solids and joints are numbered as a walk of the whole PROTO meets them, inner instances
// included.
static void collect(HiddenTree *tree, SceneNode *node, int solid)
{
    assert_debug(solid >= -1);
    if (!node || node->kind == SCENE_NODE_USE || node->kind == SCENE_NODE_UNKNOWN)
        return;
    if (node->kind == SCENE_NODE_INSTANCE) {
        collect(tree, node->target, solid);
        return;
    }
    if (schema_type_is(node->type, "Solid")) {
        solid = tree->solid_count;
        *memory_push(tree->solids, tree->solid_count, tree->solid_capacity) = node;
    } else if (schema_type_is(node->type, "Joint")) {
        memory_grow(&tree->joints, &tree->joint_capacity, tree->joint_count + 1, sizeof *tree->joints);
        tree->joints[tree->joint_count].joint = node;
        tree->joints[tree->joint_count++].solid = solid;
    }
    for (int i = 0; i < node->field_count; i++) {
        const SceneField *field = &node->fields[i];
        if (!strcmp(field->type->name, "boundingObject"))
            continue;
        if (field->type->kind == FIELD_SF_NODE)
            collect(tree, field->value.node, solid);
        else if (field->type->kind == FIELD_MF_NODE)
            for (int j = 0; j < field->value.list->count; j++)
                collect(tree, field->value.list->nodes[j], solid);
    }
}

static SceneNode *find_joint(const HiddenTree *tree, int solid, int index)
{
    for (int i = 0; i < tree->joint_count; i++)
        if (tree->joints[i].solid == solid && index-- == 0)
            return tree->joints[i].joint;
    return NULL;
}

// "position2_3_1" -> the name of the field, the Solid and the joint (-1 when there is none).
static bool split_name(const char *text, char name[32], int *solid, int *joint)
{
    const char *first = strchr(text, '_');
    if (!first || first - text >= 32)
        return false;
    memcpy(name, text, (size_t)(first - text));
    name[first - text] = '\0';
    char *after;
    long number = strtol(first + 1, &after, 10);
    *joint = -1;
    if (after == first + 1 || number < 0 || number > 1000000)
        return false;
    *solid = (int)number;
    if (*after == '_') {
        const char *second = after + 1;
        number = strtol(second, &after, 10);
        if (after == second || number < 0 || number > 1000000)
            return false;
        *joint = (int)number;
    }
    return *after == '\0';
}

static void set_vector(Scene *scene, SceneNode *node, const char *name, const SceneHidden *hidden)
{
    const FieldType *type = schema_field(node->type, name);
    FieldValue value = { 0 };
    memcpy(value.v, hidden->v, sizeof hidden->v);
    if (type && type->kind == hidden->kind)
        scene_set_value(scene, node, type, value);
}

// Positions are kept in the joint's parameters, which have one node per axis.
static bool set_position(Scene *scene, SceneNode *joint, const char *name, double position)
{
    const char *holder = !strcmp(name, "position2")   ? "jointParameters2"
                         : !strcmp(name, "position3") ? "jointParameters3"
                                                      : "jointParameters";
    const FieldType *type = schema_field(joint->type, holder);
    if (!type)
        return false;
    SceneNode *parameters = scene_child(joint, holder);
    if (!parameters) {
        const char *of = !strcmp(holder, "jointParameters2")          ? "JointParameters"
                         : !strcmp(holder, "jointParameters3")        ? "JointParameters"
                         : schema_type_is(joint->type, "SliderJoint") ? "JointParameters"
                         : schema_type_is(joint->type, "BallJoint")   ? "BallJointParameters"
                                                                      : "HingeJointParameters";
        parameters = scene_node_create(scene, schema_type(of), joint->pos);
        parameters->in_proto = joint->in_proto;
        scene_set_child(scene, joint, holder, parameters);
    }
    if (!schema_field(parameters->type, "position"))
        return false;
    scene_set_float(scene, parameters, "position", position);
    return true;
}

static bool set_list(Scene *scene, SceneNode *joint, const char *name, const FieldList *from)
{
    const FieldType *type = schema_field(joint->type, name);
    if (!type || type->kind != FIELD_MF_FLOAT || !from)
        return false;
    FieldList *list = scene_list_edit(scene, joint, name);
    scene_list_reserve(scene, list, FIELD_SF_FLOAT, from->count);
    memcpy(list->numbers, from->numbers, (size_t)from->count * sizeof *from->numbers);
    list->count = from->count;
    return true;
}

static bool apply(Scene *scene, const HiddenTree *tree, const SceneHidden *hidden)
{
    char name[32];
    int solid, joint;
    if (!split_name(hidden->name, name, &solid, &joint) || solid >= tree->solid_count)
        return false;
    assert(solid >= 0);
    if (!strncmp(name, "position", 8) || field_kind_is_list(hidden->kind)) {
        SceneNode *node = find_joint(tree, solid, joint < 0 ? 0 : joint);
        if (node && field_kind_is_list(hidden->kind))
            return set_list(scene, node, name, hidden->list);
        return node && set_position(scene, node, name, hidden->v[0]);
    }
    set_vector(scene, tree->solids[solid], name, hidden);
    return true;
}

// It hangs on a joint, or has a body that is none of the Solid above it. The others stay where the PROTO puts them.
static bool moves_by_itself(const SceneNode *solid, int index)
{
    assert(index >= 0);
    const SceneNode *above = scene_parent(solid);
    if (index > 0 && above && scene_node_is(above, "Joint"))
        return true;
    if (!scene_child(solid, "physics"))
        return false;
    while (above && !scene_node_is(above, "Solid"))
        above = scene_parent(above);
    return !above || !scene_child(above, "physics");
}

// ---- state of another structure ----
// A stand-in of the library has joints and devices of the robot it stands for, not its list of Solids. What Webots
// saved with the original would move the wrong parts of it, so it counts only where it can be the state of these very
// joints.

// A Solid on a joint stays as far from the anchor as it was, on a slider it stays on the line. The margin is for joints
// that gave way under load: 2 mm and 2 % of the arm.
static bool may_be_at(const SceneNode *solid, const SceneNode *joint, Vec3 place)
{
    static const double margin_m = 0.002, margin = 0.02;
    if (!schema_field(joint->type, "jointParameters"))
        return true;  // of Talus' own kinds: what was saved with it is ours
    const SceneNode *parameters = scene_child(joint, "jointParameters");
    Vec3 from = scene_vec3(solid, "translation"), axis = vec3(0, 0, 1), anchor = vec3(0, 0, 0);
    if (schema_type_is(joint->type, "SliderJoint")) {
        if (parameters && schema_field(parameters->type, "axis"))
            axis = scene_vec3(parameters, "axis");
        Vec3 moved = vec3_sub(place, from);
        Vec3 aside = vec3_cross(moved, axis);
        return vec3_length(aside) <= (margin_m + margin * vec3_length(moved)) * vec3_length(axis);
    }
    if (parameters && schema_field(parameters->type, "suspensionSpringConstant")
        && scene_float(parameters, "suspensionSpringConstant") > 0.0)
        return true;  // a wheel may be anywhere on its strut
    if (parameters && schema_field(parameters->type, "anchor"))
        anchor = scene_vec3(parameters, "anchor");
    double arm = vec3_length(vec3_sub(from, anchor));
    return fabs(vec3_length(vec3_sub(place, anchor)) - arm) <= margin_m + margin * arm;
}

static bool is_state_of(const HiddenTree *tree, const SceneHidden *hidden)
{
    char name[32];
    int solid, joint;
    if (!split_name(hidden->name, name, &solid, &joint) || solid >= tree->solid_count)
        return false;
    if (!strncmp(name, "position", 8))
        return find_joint(tree, solid, joint < 0 ? 0 : joint) != NULL;
    if (strcmp(name, "translation") || solid == 0)
        return true;
    const SceneNode *node = tree->solids[solid], *above = scene_parent(node);
    Vec3 place = vec3(hidden->v[0], hidden->v[1], hidden->v[2]);
    if (above && scene_node_is(above, "Joint"))
        return may_be_at(node, above, place);
    return moves_by_itself(node, solid) || vec3_length(vec3_sub(place, scene_vec3(node, "translation"))) < 0.002;
}

static bool is_of_the_whole(const SceneHidden *hidden)
{
    return !strcmp(hidden->name, "linearVelocity_0") || !strcmp(hidden->name, "angularVelocity_0");
}

void proto_apply_hidden(Scene *scene, SceneNode *instance, DiagSink *diags)
{
    assert_debug(instance->kind == SCENE_NODE_INSTANCE);
    const SceneHidden *first = scene_hidden(scene, instance);
    if (!first || !instance->target || instance->proto->is_placeholder)
        return;
    HiddenTree tree = { 0 };
    collect(&tree, instance->target, 0);
    bool is_stray = false, fits = true;
    if (instance->proto->origin && !strcmp(instance->proto->origin, "library"))
        for (const SceneHidden *hidden = first; hidden && !is_stray; hidden = hidden->next)
            is_stray = !is_state_of(&tree, hidden);
    for (const SceneHidden *hidden = first; hidden; hidden = hidden->next)
        if (!is_stray || is_of_the_whole(hidden))
            fits = apply(scene, &tree, hidden) && fits;
    if (is_stray) {
        diag_warning(diags, instance->pos,
                     "the saved hidden state is of another model of %s than the library's; its joints begin at rest",
                     instance->proto->name);
    } else if (!fits) {
        diag_warning(diags, instance->pos,
                     "saved hidden state of %s does not fit its structure; part of it is left out",
                     instance->proto->name);
    }
    free(tree.solids);
    free(tree.joints);
}

// ---- saving ----

static void keep_value(Scene *scene, const SceneNode *instance, const SceneNode *node, const char *field, int solid)
{
    const FieldType *type = schema_field(node->type, field);
    FieldValue value = scene_value(node, type);
    char name[48];
    snprintf(name, sizeof name, "%s_%d", field, solid);
    SceneHidden hidden = { .name = name, .kind = type->kind };
    memcpy(hidden.v, value.v, sizeof hidden.v);
    scene_hidden_add(scene, instance, &hidden);
}

static void keep_solid(Scene *scene, const SceneNode *instance, const SceneNode *solid, int index)
{
    assert(index >= 0);
    static const char *const places[] = { "translation", "rotation" };
    for (int i = 0; i < COUNT_OF(places) && moves_by_itself(solid, index); i++)
        if (!scene_field(solid, places[i]) || scene_field(solid, places[i])->parameter_index < 0)
            keep_value(scene, instance, solid, places[i], index);
    static const char *const velocities[] = { "linearVelocity", "angularVelocity" };
    for (int i = 0; i < COUNT_OF(velocities); i++)
        if (vec3_length2(scene_vec3(solid, velocities[i])) > 0.0)
            keep_value(scene, instance, solid, velocities[i], index);
}

static void keep_joint(Scene *scene, const SceneNode *instance, const SceneNode *joint, int solid, int number)
{
    assert_debug(solid >= 0 && number >= 0);
    static const struct {
        const char *holder, *name;
    } axes[] = { { "jointParameters", "position" },
                 { "jointParameters2", "position2" },
                 { "jointParameters3", "position3" } };
    char name[48];
    for (int i = 0; i < COUNT_OF(axes); i++) {
        const SceneNode *parameters = schema_field(joint->type, axes[i].holder) ? scene_child(joint, axes[i].holder)
                                                                                : NULL;
        // Without parameters the position is a hidden field of the joint itself.
        bool is_own = !parameters && schema_field(joint->type, axes[i].name);
        if (!is_own && (!parameters || !schema_field(parameters->type, "position")))
            continue;
        double position = is_own ? scene_float(joint, axes[i].name) : scene_float(parameters, "position");
        snprintf(name, sizeof name, "%s_%d_%d", axes[i].name, solid, number);
        if (position != 0.0)
            scene_hidden_add(scene, instance,
                             &(SceneHidden){ .name = name, .kind = FIELD_SF_FLOAT, .v = { position } });
    }
    const FieldList *motion = schema_field(joint->type, "motion") ? scene_list(joint, "motion") : NULL;
    if (!motion || motion->count == 0)
        return;
    FieldList *copy = arena_alloc(scene_arena(scene),
                                  sizeof *copy);  // the joint may be at something else when this is written
    scene_list_reserve(scene, copy, FIELD_SF_FLOAT, motion->count);
    memcpy(copy->numbers, motion->numbers, (size_t)motion->count * sizeof *motion->numbers);
    copy->count = motion->count;
    snprintf(name, sizeof name, "motion_%d_%d", solid, number);
    scene_hidden_add(scene, instance, &(SceneHidden){ .name = name, .kind = FIELD_MF_FLOAT, .list = copy });
}

void proto_keep_hidden(Scene *scene, SceneNode *instance)
{
    HiddenTree tree = { 0 };
    scene_hidden_clear(scene, instance);
    collect(&tree, instance->target, 0);
    for (int i = 0; i < tree.solid_count; i++)
        keep_solid(scene, instance, tree.solids[i], i);
    // Joints of one solid are numbered in their order; those of different solids may lie between them.
    int *counts = memory_alloc_array((size_t)tree.solid_count + 1, sizeof *counts);
    for (int i = 0; i < tree.joint_count; i++) {
        const SceneNode *joint = tree.joints[i].joint;
        int number = counts[tree.joints[i].solid]++;
        assert_debug(tree.joints[i].solid >= 0 && tree.joints[i].solid <= tree.solid_count);
        keep_joint(scene, instance, joint, tree.joints[i].solid, number);
    }
    free(counts);
    free(tree.solids);
    free(tree.joints);
}

static bool keep_state(SceneNode *node, void *context)
{
    SceneNode *instance = scene_instance(node);
    bool is_written = instance != node && instance->kind == SCENE_NODE_INSTANCE && !instance->in_proto;
    if (is_written && instance->target && !instance->proto->is_placeholder && strcmp(instance->proto->name, "Body"))
        proto_keep_hidden(context, instance);
    return true;
}

void proto_keep_state(Scene *scene) { scene_walk(scene_root(scene), false, keep_state, scene); }
