// supervisor_state.c - states of nodes that supervisors keep under a name: poses and velocities of the solids below a
// node, positions and commands of its joints, and what else moves without physics (Poses, lights, the Viewpoint).
// "__init__" is the state in which a node came into the world.
#include "control/supervisor_internal.h"

#include "base/hash.h"
#include "base/memory.h"
#include "physics/joints/motor.h"

#include <stdlib.h>
#include <string.h>

#define START "__init__"

typedef struct SolidMoment {
    const SceneNode *node;
    Pose pose;
    Vec3 linear, angular;
} SolidMoment;
typedef struct JointMoment {
    const SceneNode *node;
    double positions[PHYSICS_JOINT_AXES];
    PhysicsMotor motors[PHYSICS_JOINT_AXES];
} JointMoment;
typedef struct FieldMoment {
    SceneNode *node;
    const FieldType *type;
    FieldValue value;
} FieldMoment;

// All are named by their nodes: indices in physics change when parts are made anew.
typedef struct NodeMoment {
    SolidMoment *solids;
    JointMoment *joints;
    FieldMoment *fields;
    int solid_count, joint_count, field_count, solid_capacity, joint_capacity, field_capacity;
} NodeMoment;

static bool is_below(const SceneNode *node, const SceneNode *top)
{
    const SceneNode *at = node;
    while (at && at != top)
        at = scene_parent(at);
    return at != NULL;
}

// ---- taking ----

typedef struct Taking {
    const Physics *physics;
    NodeMoment *moment;
} Taking;

static void take_solid(const Physics *physics, const SceneNode *node, int solid, NodeMoment *moment)
{
    assert(solid >= 0);
    *memory_push(moment->solids, moment->solid_count, moment->solid_capacity) =
        (SolidMoment){ node, physics_solid_pose(physics, solid), physics_solid_linear_velocity(physics, solid),
                       physics_solid_angular_velocity(physics, solid) };
}

static void take_joint(const Physics *physics, const SceneNode *node, int joint, NodeMoment *moment)
{
    assert(physics_joint_axis_count(physics, joint) <= PHYSICS_JOINT_AXES);
    assert_debug(joint >= 0);
    memory_grow(&moment->joints, &moment->joint_capacity, moment->joint_count + 1, sizeof *moment->joints);
    JointMoment *row = &moment->joints[moment->joint_count++];
    *row = (JointMoment){ .node = node };
    for (int axis = 0; axis < physics_joint_axis_count(physics, joint); axis++) {
        row->positions[axis] = physics_joint_position(physics, joint, axis);
        row->motors[axis] = physics_motor(physics, joint, axis);
    }
}

// Fields that are state although no body has them.
static const struct {
    const char *type, *field;
} state_fields[] = {
    { "Pose", "translation" }, { "Pose", "rotation" },   { "Viewpoint", "position" }, { "Viewpoint", "orientation" },
    { "Light", "on" },         { "Light", "intensity" }, { "Light", "color" },
};

static bool take_node(SceneNode *node, void *context)
{
    const Taking *taking = context;
    NodeMoment *moment = taking->moment;
    bool is_solid = scene_node_is(node, "Solid");
    int solid = is_solid ? physics_solid_of(taking->physics, node) : -1;
    int joint = scene_node_is(node, "Joint") ? physics_joint_of(taking->physics, node) : -1;
    if (solid >= 0)
        take_solid(taking->physics, node, solid, moment);
    if (joint >= 0)
        take_joint(taking->physics, node, joint, moment);
    for (int i = 0; i < COUNT_OF(state_fields) && !is_solid; i++) {
        const FieldType *type = scene_node_is(node, state_fields[i].type)
                                    ? schema_field(node->type, state_fields[i].field)
                                    : NULL;
        if (!type)
            continue;
        *memory_push(moment->fields, moment->field_count,
                     moment->field_capacity) = (FieldMoment){ node, type, scene_value(node, type) };
    }
    return true;
}

static NodeMoment *take_moment(const Physics *physics, SceneNode *top)
{
    NodeMoment *moment = memory_alloc(sizeof *moment);
    scene_walk(top, false, take_node, &(Taking){ physics, moment });
    return moment;
}

static void free_moment(void *data)
{
    NodeMoment *moment = data;
    if (!moment)
        return;
    free(moment->solids);
    free(moment->joints);
    free(moment->fields);
    free(moment);
}

// ---- putting back ----

static void put_fields(Sim *sim, const NodeMoment *moment, const SceneNode *top)
{
    for (int i = 0; i < moment->field_count; i++) {
        const FieldMoment *field = &moment->fields[i];
        FieldValue now = scene_value(field->node, field->type);
        if (!scene_node_is_gone(field->node) && is_below(field->node, top) && memcmp(&now, &field->value, sizeof now))
            sim_set_value(sim, field->node, field->type, field->value);
    }
}

static void put_joint(Physics *physics, const JointMoment *moment)
{
    int joint = physics_joint_of(physics, moment->node);
    for (int axis = 0; joint >= 0 && axis < physics_joint_axis_count(physics, joint); axis++) {
        physics_joint_set_position(physics, joint, axis, moment->positions[axis]);
        physics_motor_command(physics, joint, axis, &moment->motors[axis]);
    }
}

static void put_solid(Physics *physics, const SolidMoment *moment)
{
    int solid = physics_solid_of(physics, moment->node);
    if (solid < 0)
        return;
    physics_solid_set_pose(physics, solid, moment->pose);
    if (physics_solid_body(physics, solid) >= 0)
        physics_solid_set_velocity(physics, solid, moment->linear, moment->angular);
}

static bool has_parent_below(const Physics *physics, const SceneNode *node, const SceneNode *top)
{
    int solid = physics_solid_of(physics, node), parent = solid >= 0 ? physics_solid_parent(physics, solid) : -1;
    return parent >= 0 && is_below(physics_solid_node(physics, parent), top);
}

// Of a moment, what lies below `top`: the outermost poses first, as joints are set where their parents are.
static void put_moment(Sim *sim, const NodeMoment *moment, const SceneNode *top)
{
    assert_debug(moment && top);
    Physics *physics = sim_physics(sim);
    put_fields(sim, moment, top);
    for (int i = 0; i < moment->solid_count; i++) {
        int solid = physics_solid_of(physics, moment->solids[i].node);
        if (solid >= 0 && is_below(moment->solids[i].node, top)
            && !has_parent_below(physics, moment->solids[i].node, top))
            physics_solid_set_pose(physics, solid, moment->solids[i].pose);
    }
    for (int i = 0; i < moment->joint_count; i++)
        if (is_below(moment->joints[i].node, top))
            put_joint(physics, &moment->joints[i]);
    for (int i = 0; i < moment->solid_count; i++)
        if (is_below(moment->solids[i].node, top))
            put_solid(physics, &moment->solids[i]);
}

// ---- by name ----

static void index_states(Control *control)
{
    RowIndex *index = &control->state_index;
    int kept = 0;
    for (int row = 0; row < control->state_count; row++) {
        SceneNode *node = scene_find_id(sim_scene(control->sim), control->states[row].node);
        if (node && !scene_node_is_gone(node))
            control->states[kept++] = control->states[row];
        else
            free_moment(control->states[row].data);
    }
    control->state_count = kept;
    free(index->slots);
    while (index->capacity < 64 || 4 * (kept + 1) > index->capacity)
        index->capacity = int_max(64, 2 * index->capacity);
    index->slots = memory_alloc_array((size_t)index->capacity, sizeof *index->slots);
    assert_debug((index->capacity & (index->capacity - 1)) == 0 && 2 * kept < index->capacity);
    index->count = kept;
    for (int row = 0; row < kept; row++) {
        uint64_t slot = hash_combine(0, control->states[row].node);
        while (index->slots[slot & (uint64_t)(index->capacity - 1)])
            slot++;
        index->slots[slot & (uint64_t)(index->capacity - 1)] = row + 1;
    }
}

// The state of a node by its name. NULL when there is none; then *free is where it goes.
static SavedState *find_state(Control *control, uint32_t node, const char *name, int32_t **free_slot)
{
    assert(name);
    RowIndex *index = &control->state_index;
    if (2 * (control->state_count + 1) > index->capacity)
        index_states(control);
    uint64_t mask = (uint64_t)(index->capacity - 1), slot = hash_combine(0, node) & mask;
    for (; index->slots[slot]; slot = (slot + 1) & mask) {
        SavedState *state = &control->states[index->slots[slot] - 1];
        if (state->node == node && !strcmp(state->name, name))
            return state;
    }
    if (free_slot)
        *free_slot = &index->slots[slot];
    return NULL;
}

static void save_state(Control *control, SceneNode *node, const char *name)
{
    assert_debug(node && name);
    int32_t *slot = NULL;
    SavedState *state = find_state(control, node->id, name, &slot);
    if (!state) {
        assert(slot && *slot == 0);
        memory_grow(&control->states, &control->state_capacity, control->state_count + 1, sizeof *control->states);
        state = &control->states[control->state_count++];
        *state = (SavedState){ .node = node->id,
                               .name = strcmp(name, START) ? arena_string(control->arena, name) : START };
        *slot = control->state_count;
    }
    free_moment(state->data);
    state->data = take_moment(sim_physics(control->sim), scene_actual(node));
}

void supervisor_remember_start(Control *control, SceneNode *node)
{
    save_state(control, node ? node : scene_root(sim_scene(control->sim)), START);
}

void supervisor_keep_nodes(void *context, Scene *scene)
{
    const Control *control = context;
    for (int row = 0; row < control->state_count; row++) {
        const NodeMoment *moment = control->states[row].data;
        assert_debug(moment);
        for (int i = 0; i < moment->solid_count; i++)
            scene_keep(scene, moment->solids[i].node);
        for (int i = 0; i < moment->joint_count; i++)
            scene_keep(scene, moment->joints[i].node);
        for (int i = 0; i < moment->field_count; i++) {
            scene_keep(scene, moment->fields[i].node);
            scene_keep_value(scene, moment->fields[i].type, &moment->fields[i].value);
        }
    }
}

void supervisor_forget_states(Control *control)
{
    for (int i = 0; i < control->state_count; i++)
        free_moment(control->states[i].data);
    free(control->states);
    free(control->state_index.slots);
}

void call_node_state(const Call *call)
{
    Control *control = call->control;
    SceneNode *node = call_node(call, 0);
    const char *name = call->record->bytes;
    bool is_load = call_number(call, 1) == 1;
    const SavedState *found = node ? find_state(control, node->id, name, NULL) : NULL;
    if (node && !found && !strcmp(name, START))
        found = find_state(control, scene_root(call_scene(call))->id, START, NULL);
    if (!node || (is_load && !found)) {
        answer_failed(call, "there is no such state of this node");
        return;
    }
    if (is_load) {
        supervisor_sync(control);
        put_moment(control->sim, found->data, scene_actual(node));
        control->synced_step = 0;  // fields that are asked for now say the new poses
    } else {
        supervisor_sync(control);
        save_state(control, node, name);
    }
    answer_nothing(call);
}
