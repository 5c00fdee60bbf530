// joint.c - joints as the file describes them: fields, end point poses, kinematic motion, saving. The constraints of a
// joint are made by joint_make.c, its motors are motor.c.
#include "physics/physics_internal.h"

#include "physics/joints/motor.h"

#include <assert.h>
#include <string.h>

// ---- motion ----

static Pose turn_about(Vec3 anchor, Quat turn) { return (Pose){ vec3_sub(anchor, quat_rotate(turn, anchor)), turn }; }

Pose joint_motion(const PhysicsJoint *joint, const double positions[PHYSICS_JOINT_AXES])
{
    if (joint->kind == PHYSICS_JOINT_SLIDER)
        return (Pose){ vec3_scale(joint->axes[0].axis, positions[0]), QUAT_IDENTITY };
    Quat turn = QUAT_IDENTITY;
    for (int i = 0; i < joint->axis_count; i++)
        turn = quat_mul(turn, quat_from_axis_angle(joint->axes[i].axis, positions[i]));
    return turn_about(joint->anchor, turn);
}

static void state_positions(const PhysicsJointState *state, double positions[PHYSICS_JOINT_AXES])
{
    for (int i = 0; i < PHYSICS_JOINT_AXES; i++)
        positions[i] = state->axes[i].position;
}

static Pose holder_now(const Physics *physics, const PhysicsJoint *row)
{
    solids_refresh(physics);
    return row->parent >= 0 ? pose_mul(physics->solid_world[row->parent], row->frame) : row->frame;
}

Pose joint_end_point(const Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    double positions[PHYSICS_JOINT_AXES];
    joints_refresh((Physics *)physics);
    state_positions(&physics->joint_states[joint], positions);
    return pose_mul(joint_motion(&physics->joints[joint], positions), physics->joint_states[joint].zero);
}

void joint_put_end_point(Physics *physics, int joint, Pose local)
{
    assert(joint >= 0 && joint < physics->joint_count);
    double positions[PHYSICS_JOINT_AXES];
    joints_refresh(physics);
    state_positions(&physics->joint_states[joint], positions);
    Pose zero = pose_mul(pose_inverse(joint_motion(&physics->joints[joint], positions)), local);
    zero.q = quat_normalized(zero.q);
    physics->joint_states[joint].zero = zero;
}

void joint_close_loop(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    const PhysicsJoint *row = &physics->joints[joint];
    solids_refresh(physics);
    Pose child = row->child >= 0 ? physics->solid_world[row->child] : POSE_IDENTITY;
    joint_put_end_point(physics, joint, pose_mul(pose_inverse(holder_now(physics, row)), child));
}

void joint_pose_child(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    const PhysicsJoint *row = &physics->joints[joint];
    if (row->child < 0 || row->is_reference || row->kind >= PHYSICS_JOINT_FIXED)
        return;
    solid_move(physics, row->child, pose_mul(holder_now(physics, row), joint_end_point(physics, joint)));
}

// ---- fields ----

typedef struct AxisNames {
    const char *parameters, *devices, *position;
} AxisNames;
static const AxisNames axis_names[PHYSICS_JOINT_AXES] = {
    { "jointParameters", "device", "position" },
    { "jointParameters2", "device2", "position2" },
    { "jointParameters3", "device3", "position3" },
};

static bool has_field(const SceneNode *node, const char *name) { return node && schema_field(node->type, name); }

static void read_devices(Physics *physics, const SceneNode *node, const char *field, PhysicsAxis *axis)
{
    if (!has_field(node, field))
        return;
    bool is_list = field_kind_is_list(schema_field(node->type, field)->kind);
    const FieldList *devices = is_list ? scene_list(node, field) : NULL;
    int count = is_list ? devices->count : 1;
    for (int i = 0; i < count; i++) {
        SceneNode *device = is_list ? scene_list_node(devices, i) : scene_child(node, field);
        if (!device)
            continue;
        SceneNode **place = scene_node_is(device, "Motor")            ? &axis->motor
                            : scene_node_is(device, "PositionSensor") ? &axis->sensor
                            : scene_node_is(device, "Brake")          ? &axis->brake
                                                                      : NULL;
        if (!place)
            diag_warning(physics->diags, device->pos, "a %s cannot be a device of a joint; it is ignored",
                         device->type->name);
        else if (*place)
            diag_warning(physics->diags, device->pos, "a second %s on the same axis is ignored", device->type->name);
        else
            *place = device;
    }
}

static double position_in_file(const SceneNode *joint, const PhysicsAxis *axis, const char *field)
{
    if (has_field(joint, field) && scene_field(joint, field))
        return scene_float(joint, field);
    return axis->parameters ? scene_float(axis->parameters, "position") : 0.0;
}

static double parameter(const PhysicsAxis *axis, const char *field, double otherwise)
{
    return has_field(axis->parameters, field) ? scene_float(axis->parameters, field) : otherwise;
}

static void read_stops(Physics *physics, PhysicsAxis *axis, double position)
{
    axis->min_stop = parameter(axis, "minStop", 0.0);
    axis->max_stop = parameter(axis, "maxStop", 0.0);
    if (axis->min_stop > axis->max_stop) {
        diag_warning(physics->diags, scene_field_pos(axis->parameters, "minStop"),
                     "minStop %g is above maxStop %g; no stops are used", axis->min_stop, axis->max_stop);
        axis->min_stop = axis->max_stop = 0.0;
    }
    bool has_stops = axis->min_stop != axis->max_stop;
    static const double slack = 1e-3;  // rad or m: a joint that was saved while it leaned on its stop is not told of
    if (has_stops && (position < axis->min_stop - slack || position > axis->max_stop + slack))
        diag_warning(physics->diags, scene_field_pos(axis->parameters, "position"),
                     "position %g is outside the stops %g and %g; the joint starts by moving back", position,
                     axis->min_stop, axis->max_stop);
}

static void read_axis(Physics *physics, int joint, int index)
{
    PhysicsJoint *row = &physics->joints[joint];
    PhysicsAxis *axis = &row->axes[index];
    PhysicsAxisState *state = &physics->joint_states[joint].axes[index];
    *axis = (PhysicsAxis){ .coupled_next = -1 };
    *state = (PhysicsAxisState){ 0 };
    if (has_field(row->node, axis_names[index].parameters))
        axis->parameters = scene_child(row->node, axis_names[index].parameters);
    read_devices(physics, row->node, axis_names[index].devices, axis);
    state->position = position_in_file(row->node, axis, axis_names[index].position);
    axis->spring = parameter(axis, "springConstant", 0.0);
    axis->damping = parameter(axis, "dampingConstant", 0.0);
    axis->static_friction = parameter(axis, "staticFriction", 0.0);
    axis->stop_erp = parameter(axis, "stopERP", -1.0);
    axis->stop_cfm = parameter(axis, "stopCFM", -1.0);
    read_stops(physics, axis, state->position);
    motor_read(physics, joint, index);
}

static Vec3 axis_or(Physics *physics, const PhysicsAxis *axis, Vec3 otherwise)
{
    if (!has_field(axis->parameters, "axis"))
        return otherwise;
    Vec3 unit = vec3_normalized(scene_vec3(axis->parameters, "axis"));
    if (vec3_length2(unit) > 0.5)
        return unit;
    diag_warning(physics->diags, scene_field_pos(axis->parameters, "axis"), "the axis has no direction; using %g %g %g",
                 otherwise.x, otherwise.y, otherwise.z);
    return otherwise;
}

static bool are_parallel(Vec3 a, Vec3 b) { return vec3_length(vec3_cross(a, b)) < 1e-6; }

static void read_hinge2_axes(Physics *physics, PhysicsJoint *row)
{
    row->axes[0].axis = axis_or(physics, &row->axes[0], vec3(1, 0, 0));
    row->axes[1].axis = axis_or(physics, &row->axes[1], vec3(0, 0, 1));
    if (!are_parallel(row->axes[0].axis, row->axes[1].axis))
        return;
    diag_warning(physics->diags, row->node->pos, "the two axes of this joint are parallel; using x and z");
    row->axes[0].axis = vec3(1, 0, 0);
    row->axes[1].axis = vec3(0, 0, 1);
}

// The first and third axis are given by jointParameters2 and jointParameters3; the second stands on both.
static void read_ball_axes(Physics *physics, PhysicsJoint *row)
{
    bool has_first = row->axes[1].parameters, has_third = row->axes[2].parameters;
    Vec3 first = axis_or(physics, &row->axes[1], vec3(1, 0, 0)), third = axis_or(physics, &row->axes[2], vec3(0, 0, 1));
    if (!has_first && has_third)
        first = vec3_normalized(vec3_cross(third, are_parallel(third, vec3(0, 0, 1)) ? vec3(1, 0, 0) : vec3(0, 0, 1)));
    if (has_first && !has_third)
        third = vec3_normalized(vec3_cross(first, are_parallel(first, vec3(1, 0, 0)) ? vec3(0, 0, 1) : vec3(1, 0, 0)));
    if (are_parallel(first, third)) {
        diag_warning(physics->diags, row->node->pos,
                     "the axes of jointParameters2 and jointParameters3 are parallel; using x and z");
        first = vec3(1, 0, 0);
        third = vec3(0, 0, 1);
    }
    third = vec3_normalized(vec3_mad(third, first, -vec3_dot(first, third)));
    row->axes[0].axis = first;
    row->axes[1].axis = vec3_cross(third, first);
    row->axes[2].axis = third;
}

// One BallJointParameters alone means a spring and damper that are the same about every axis.
static void share_ball_spring(PhysicsJoint *row)
{
    if (!row->axes[0].parameters)
        return;
    for (int i = 1; i < 3; i++) {
        if (row->axes[i].parameters)
            continue;
        row->axes[i].spring = row->axes[0].spring;
        row->axes[i].damping = row->axes[0].damping;
    }
}

static void limit_middle_motor(PhysicsAxis *axis)
{
    if (!axis->motor)
        return;
    bool is_open = axis->motor_min == 0.0 && axis->motor_max == 0.0;
    axis->motor_min = is_open ? -M_PI_2 : fmax(axis->motor_min, -M_PI_2);
    axis->motor_max = is_open ? M_PI_2 : fmin(axis->motor_max, M_PI_2);
}

static void read_suspension(PhysicsJoint *row)
{
    const SceneNode *parameters = row->axes[0].parameters;
    row->suspension_spring = row->suspension_damping = 0.0;
    row->suspension_axis = row->axes[0].axis;
    if (!has_field(parameters, "suspensionSpringConstant"))
        return;
    row->suspension_spring = scene_float(parameters, "suspensionSpringConstant");
    row->suspension_damping = scene_float(parameters, "suspensionDampingConstant");
    Vec3 axis = has_field(parameters, "suspensionAxis") ? vec3_normalized(scene_vec3(parameters, "suspensionAxis"))
                                                        : VEC3_ZERO;
    if (vec3_length2(axis) > 0.5)
        row->suspension_axis = axis;
}

void joint_read(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    joints_changed(physics);
    row->axis_count = row->kind == PHYSICS_JOINT_BALL ? 3 : row->kind == PHYSICS_JOINT_HINGE2 ? 2 : 1;
    for (int i = 0; i < row->axis_count; i++)
        read_axis(physics, joint, i);
    switch (row->kind) {
    case PHYSICS_JOINT_HINGE2: read_hinge2_axes(physics, row); break;
    case PHYSICS_JOINT_BALL:
        read_ball_axes(physics, row);
        share_ball_spring(row);
        limit_middle_motor(&row->axes[1]);
        break;
    case PHYSICS_JOINT_SLIDER: row->axes[0].axis = axis_or(physics, &row->axes[0], vec3(0, 0, 1)); break;
    default: row->axes[0].axis = axis_or(physics, &row->axes[0], vec3(1, 0, 0)); break;
    }
    row->anchor = has_field(row->axes[0].parameters, "anchor") ? scene_vec3(row->axes[0].parameters, "anchor")
                                                               : VEC3_ZERO;
    if (row->kind == PHYSICS_JOINT_HINGE || row->kind == PHYSICS_JOINT_HINGE2)
        read_suspension(row);
    physics->joint_states[joint].zero = POSE_IDENTITY;
    if (row->is_reference)
        joint_close_loop(physics, joint);
    else if (row->child >= 0)
        joint_put_end_point(physics, joint, scene_pose(physics->solids[row->child].node));
}

// ---- changes and saving ----

static int axis_of_parameters(const PhysicsJoint *row, const SceneNode *node)
{
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].parameters == node)
            return i;
    return -1;
}

static bool is_pose_field(const char *field)
{
    return !strcmp(field, "position") || !strcmp(field, "position2") || !strcmp(field, "position3");
}

void joint_field_changed(Physics *physics, int joint, SceneNode *node, const char *field)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    int axis = axis_of_parameters(row, node);
    if (axis >= 0 && is_pose_field(field)) {
        physics_joint_set_position(physics, joint, axis, scene_float(node, field));
        return;
    }
    // Everything else is read again; positions, the end point's place and what the motors were told stay.
    joints_refresh(physics);
    PhysicsJointState kept = physics->joint_states[joint];
    Pose end_point = joint_end_point(physics, joint);
    joint_unmake(physics, joint);
    joint_read(physics, joint);
    bool of_motor = scene_node_is(node, "Motor");
    for (int i = 0; i < row->axis_count; i++) {
        PhysicsAxisState *state = &physics->joint_states[joint].axes[i], fresh = *state;
        *state = kept.axes[i];
        if (of_motor && row->axes[i].motor == node) {
            memcpy(state->gains, fresh.gains, sizeof state->gains);
            state->acceleration = fresh.acceleration;
            state->available_force = fresh.available_force;
            state->target_velocity = double_clamp(state->target_velocity, -fresh.target_velocity,
                                                  fresh.target_velocity);
        }
    }
    joint_put_end_point(physics, joint, end_point);
    joint_make(physics, joint);
    for (int side = 0; side < 2; side++)
        if (row->body[side] >= 0)
            body_wake(physics, row->body[side]);
}

void joint_sync_scene(Physics *physics, int joint)
{
    assert(joint >= 0 && joint < physics->joint_count);
    PhysicsJoint *row = &physics->joints[joint];
    if (row->kind >= PHYSICS_JOINT_FIXED)
        return;
    joints_refresh(physics);
    for (int i = 0; i < row->axis_count; i++) {
        double position = physics->joint_states[joint].axes[i].position;
        SceneNode *parameters = row->axes[i].parameters;
        SceneNode *holder = parameters ? parameters : row->node;
        const char *field = parameters ? "position" : axis_names[i].position;
        if (has_field(holder, field) && scene_float(holder, field) != position)
            scene_set_float(physics->scene, holder, field, position);
    }
}
