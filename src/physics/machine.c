// machine.c - what is neither a body nor a plain joint: tracks, propellers, connectors, vacuum grippers, touch sensors.
// Tracks and propellers are joints of one axis that no solver sees (motor.c moves them); connectors and grippers hold
// by a fixed joint that comes and goes; a touch sensor that measures forces reads the feedback of its own weld.
#include "physics/machine.h"

#include "physics/motor.h"
#include "physics/physics_internal.h"

#include "base/memory.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

// What a connector or gripper holds. Plain bytes: part of snapshots.
typedef struct HoldState {
    int32_t is_on;           // locked, or sucking
    int32_t peer;            // solid held, -1
    int32_t first;           // 1: this one made the joint (of two connectors one does)
    int32_t wants_lock;      // autoLock, or locked from the start: tried in every step
    Pose anchored[2];        // poses of both bodies when the joint was made
} HoldState;

typedef struct Holder {
    SceneNode *node;
    int solid;
    bool is_gripper;         // a VacuumGripper or the Holder of a body
    bool is_body_holder;
    dJointID joint;          // only where state.first
    dJointFeedback feedback;
} Holder;

typedef struct Driven {      // a track or a propeller
    SceneNode *node;
    int solid;               // the track; of a propeller the solid it hangs on
    int joint;
    Pose frame;              // of a propeller, in the solid's frame
    int helix[2];            // solids that turn, -1
    bool is_track;
    bool is_surface;     // a track of a body: its whole surface moves
    double shown;        // travelled distance at which its wheels were last turned
} Driven;

typedef struct Touch {
    int solid;
    dJointFeedback feedback;
} Touch;

typedef struct Machines {
    Holder *holders;
    HoldState *holds;
    int holder_count, holder_capacity, hold_capacity;
    Driven *driven;
    int driven_count, driven_capacity;
    Touch *touches;
    int touch_count, touch_capacity;
    int built_holders, built_driven, built_touches;  // how many machines_built has dealt with
} Machines;

static Machines *machines_of(Physics *physics)
{
    if (!physics->machines)
        physics->machines = memory_alloc(sizeof *physics->machines);
    return physics->machines;
}

static int body_above(const Physics *physics, int solid)
{
    while (solid >= 0 && physics->solids[solid].body < 0)
        solid = physics->solids[solid].parent;
    return solid >= 0 ? physics->solids[solid].body : -1;
}

static dBodyID ode_body(const Physics *physics, int body)
{
    return body >= 0 ? physics->bodies[body].ode : NULL;
}

// ---- build ----

// The field that says whether it is on at the start.
static const char *hold_field(const SceneNode *node)
{
    return scene_node_is(node, "Holder") ? "on" : scene_node_is(node, "VacuumGripper") ? "isOn" : "isLocked";
}

static void add_holder(Machines *machines, SceneNode *node, int solid, bool is_gripper)
{
    memory_grow(&machines->holders, &machines->holder_capacity, machines->holder_count + 1, sizeof *machines->holders);
    memory_grow(&machines->holds, &machines->hold_capacity, machines->holder_count + 1, sizeof *machines->holds);
    bool is_body_holder = scene_node_is(node, "Holder"), is_on = scene_bool(node, hold_field(node));
    machines->holders[machines->holder_count] = (Holder){ .node = node, .solid = solid, .is_gripper = is_gripper, .is_body_holder = is_body_holder };
    machines->holds[machines->holder_count++] = (HoldState){ .is_on = is_on, .peer = -1, .wants_lock = is_on };
}

static void add_driven(Machines *machines, SceneNode *node, int solid, Pose frame, bool is_track)
{
    memory_grow(&machines->driven, &machines->driven_capacity, machines->driven_count + 1, sizeof *machines->driven);
    machines->driven[machines->driven_count++] =
        (Driven){ .node = node, .solid = solid, .joint = -1, .frame = frame, .helix = { -1, -1 }, .is_track = is_track,
                  .is_surface = is_track && scene_node_is(node, "BodyTrack") };
}

void machines_add(Physics *physics, SceneNode *node, int solid, Pose frame)
{
    if (scene_node_is(node, "Track")) {
        add_driven(machines_of(physics), node, solid, frame, true);
    } else if (scene_node_is(node, "Propeller")) {
        add_driven(machines_of(physics), node, solid, frame, false);
    } else if (scene_node_is(node, "Conveyor")) {
        machines_of(physics);
        if (physics->solids[solid].parent >= 0)
            physics->solids[physics->solids[solid].parent].conveyor = solid;
    } else if (scene_node_is(node, "Connector")) {
        add_holder(machines_of(physics), node, solid, false);
    } else if (scene_node_is(node, "VacuumGripper") || scene_node_is(node, "Holder")) {
        add_holder(machines_of(physics), node, solid, true);
    } else if (scene_node_is(node, "TouchSensor") && !scene_node_is(node, "ForceTorqueSensor")) {
        Machines *machines = machines_of(physics);
        memory_grow(&machines->touches, &machines->touch_capacity, machines->touch_count + 1, sizeof *machines->touches);
        machines->touches[machines->touch_count++] = (Touch){ .solid = solid };
    }
}

static int add_joint_row(Physics *physics, const Driven *driven)
{
    int index = physics->joint_count++;
    memory_grow(&physics->joints, &physics->joint_capacity, physics->joint_count, sizeof *physics->joints);
    memory_grow(&physics->joint_states, &physics->joint_state_capacity, physics->joint_count, sizeof *physics->joint_states);
    physics->joints[index] = (PhysicsJoint){
        .node = driven->node,
        .kind = driven->is_track ? PHYSICS_JOINT_TRACK : PHYSICS_JOINT_PROPELLER,
        .parent = driven->solid,
        .child = driven->is_track ? driven->solid : -1,
        .is_reference = true,
        .body = { -1, -1 },
        .is_alive = true,
        .frame = driven->frame,
    };
    physics->joint_states[index] = (PhysicsJointState){ 0 };
    joint_read(physics, index);
    return index;
}

static void build_driven(Physics *physics, Driven *driven)
{
    driven->joint = add_joint_row(physics, driven);
    PhysicsJoint *row = &physics->joints[driven->joint];
    if (driven->is_track) {
        physics->solids[driven->solid].track = (int)(driven - physics->machines->driven);
        return;
    }
    Vec3 axis = vec3_normalized(scene_vec3(driven->node, "shaftAxis"));
    if (vec3_length2(axis) < 0.5) {
        diag_warning(physics->diags, scene_field_pos(driven->node, "shaftAxis"), "the shaft axis has no direction; using 1 0 0");
        axis = vec3(1, 0, 0);
    }
    row->axes[0].axis = axis;
    physics->joint_states[driven->joint].axes[0].mode = MOTOR_VELOCITY;
    physics->joint_states[driven->joint].axes[0].target_velocity = 0.0;
    static const char *const fields[2] = { "fastHelix", "slowHelix" };
    for (int i = 0; i < 2; i++) {
        const SceneNode *helix = scene_child(driven->node, fields[i]);
        driven->helix[i] = helix ? physics_solid_of(physics, helix) : -1;
    }
    if (driven->solid < 0 || body_above(physics, driven->solid) < 0)
        diag_warning(physics->diags, driven->node->pos, "a Propeller needs a Solid with physics above it; it gives no thrust");
}

static void build_touch(Physics *physics, Touch *touch)
{
    const PhysicsSolid *solid = &physics->solids[touch->solid];
    bool is_force = strcmp(scene_string(solid->node, "type"), "bumper") != 0;
    if (is_force && solid->weld >= 0)
        dJointSetFeedback(physics->welds[solid->weld].ode, &touch->feedback);
    else if (is_force)
        diag_warning(physics->diags, solid->node->pos, "a touch sensor of type \"%s\" needs physics and a boundingObject to measure a force",
                     scene_string(solid->node, "type"));
}

void machines_built(Physics *physics)
{
    Machines *machines = physics->machines;
    if (machines) {
        for (; machines->built_driven < machines->driven_count; machines->built_driven++)
            build_driven(physics, &machines->driven[machines->built_driven]);
        // The array may have moved as it grew, and ODE keeps pointers into it.
        for (int i = 0; i < machines->touch_count; i++)
            if (physics->solids[machines->touches[i].solid].is_alive)
                build_touch(physics, &machines->touches[i]);
        for (int i = 0; i < machines->holder_count; i++)
            if (machines->holders[i].joint)
                dJointSetFeedback(machines->holders[i].joint, &machines->holders[i].feedback);
    }
    motors_couple(physics);
}

void machines_destroy(Physics *physics)
{
    Machines *machines = physics->machines;
    if (!machines)
        return;
    free(machines->holders);
    free(machines->holds);
    free(machines->driven);
    free(machines->touches);
    free(machines);
    physics->machines = NULL;
}

// ---- tracks ----

static void step_track(Physics *physics, const Driven *driven, double dt)
{
    PhysicsAxisState *state = &physics->joint_states[driven->joint].axes[0];
    const PhysicsAxis *axis = &physics->joints[driven->joint].axes[0];
    int body = body_above(physics, driven->solid);
    double velocity = 0.0;
    if (axis->motor && (body >= 0 || scene_node_is(driven->node, "BodyTrack"))) {
        if (state->mode == MOTOR_FORCE)
            velocity = body < 0 ? 0.0 : (state->force_command - state->brake_damping * state->velocity) * dt / physics->bodies[body].mass;
        else
            velocity = motor_velocity(physics, driven->joint, 0, dt);
    }
    state->velocity = velocity;
    state->position += velocity * dt;
    if (velocity != 0.0 && body >= 0)
        body_wake(physics, body);
}

static Vec3 velocity_at(const Physics *physics, int body, Vec3 point)
{
    if (body < 0)
        return VEC3_ZERO;
    const BodyState *state = &physics->body_states[body];
    return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, state->position)));
}

// A contact's motion is that of its first body against the second. ODE takes a body that touches what has none as the first.
static double motion_sign(const PhysicsContact *contact, int side)
{
    int first = contact->body[0] < 0 ? 1 : 0;
    return side == first ? 1.0 : -1.0;
}

static const double sticking_speed = 1e-4;  // m/s: slower slip is static friction, the bound of Choreonoid's simulator

// The surface of one side moves along by itself. Friction acts against the direction in which the surfaces slip now, so that its two
// directions together know one limit: a track that slips along gives way sideways.
static void move_surface(const Physics *physics, PhysicsContact *contact, int side, Vec3 surface)
{
    if (vec3_length(surface) < 1e-9 && contact->body[0] < 0 && contact->body[1] < 0)
        return;
    Vec3 wanted = vec3_scale(surface, -motion_sign(contact, side));
    Vec3 velocities[2] = { velocity_at(physics, contact->body[0], contact->point), velocity_at(physics, contact->body[1], contact->point) };
    bool is_swapped = contact->body[0] < 0;
    Vec3 relative = vec3_sub(velocities[is_swapped], velocities[!is_swapped]), normal = is_swapped ? vec3_neg(contact->normal) : contact->normal;
    Vec3 slip = vec3_sub(relative, wanted);
    slip = vec3_mad(slip, normal, -vec3_dot(slip, normal));
    double slipping = vec3_length(slip), speed = vec3_length(surface);
    Vec3 direction = slipping > sticking_speed ? vec3_normalized(slip) : speed > 1e-9 ? vec3_scale(surface, 1.0 / speed) : vec3_orthogonal(normal);
    contact->mode |= dContactMotion1 | dContactMotion2 | dContactFDir1 | dContactMu2;
    contact->friction2 = contact->friction * fmin(1.0, sticking_speed / fmax(slipping, 1e-9));
    contact->direction = direction;
    contact->motion = vec3_dot(wanted, direction);
    contact->motion2 = vec3_dot(wanted, vec3_cross(normal, direction));
}

// The surface of a body's track moves along axis x n everywhere, n pointing out of the track.
static void move_track(const Physics *physics, PhysicsContact *contact, int side, const Driven *driven)
{
    Vec3 axis = quat_rotate(physics->solid_world[contact->solid[side]].q, vec3_normalized(scene_vec3(driven->node, "axis")));
    Vec3 outwards = side == 0 ? vec3_neg(contact->normal) : contact->normal, along = vec3_cross(axis, outwards);
    if (vec3_length(along) > 1e-6)
        move_surface(physics, contact, side, vec3_scale(vec3_normalized(along), physics->joint_states[driven->joint].axes[0].velocity));
}

// A Conveyor moves the surface of the link that holds it: along its axis, or turning about it.
static void move_conveyor(const Physics *physics, PhysicsContact *contact, int side)
{
    int solid = physics->solids[contact->solid[side]].conveyor;
    const SceneNode *node = physics->solids[solid].node;
    if (!physics->solids[solid].is_alive || physics->solid_states[solid].is_off)
        return;
    Pose pose = physics->solid_world[solid];
    Vec3 velocity = vec3_scale(quat_rotate(pose.q, vec3_normalized(scene_vec3(node, "axis"))), scene_float(node, "speed"));
    if (!strcmp(scene_string(node, "type"), "rotary"))
        velocity = vec3_cross(velocity, vec3_sub(contact->point, pose.t));
    velocity = vec3_mad(velocity, contact->normal, -vec3_dot(velocity, contact->normal));
    move_surface(physics, contact, side, velocity);
}

// The belt's own speed against what it touches. Without it a track is an ordinary shape.
static void move_belt(Physics *physics, PhysicsContact *contact, int side)
{
    int solid = contact->solid[side];
    const Driven *driven = &physics->machines->driven[physics->solids[solid].track];
    if (driven->is_surface) {
        move_track(physics, contact, side, driven);
        return;
    }
    double velocity = physics->joint_states[driven->joint].axes[0].velocity;
    Quat frame = physics->solid_world[solid].q;
    Vec3 along = quat_rotate(frame, vec3(1, 0, 0)), up = quat_rotate(frame, vec3(0, 0, 1));
    Vec3 normal = side == 0 ? contact->normal : vec3_neg(contact->normal);
    double facing = double_clamp(vec3_dot(normal, up), -1.0, 1.0);
    // Full speed where the belt lies flat on the other surface, none at its flanks.
    double share = fabs(acos(facing) - M_PI_2) / M_PI_2;
    Vec3 direction = facing < 0.0 ? vec3_neg(along) : along;
    double sign = motion_sign(contact, side);
    contact->mode |= dContactMotion1 | dContactFDir1;
    contact->direction = direction;
    contact->motion = velocity * share * sign;
}

void machines_contact(Physics *physics, PhysicsContact *contact)
{
    if (!physics->machines)
        return;
    for (int side = 0; side < 2; side++) {
        if (contact->solid[side] < 0)
            continue;
        if (physics->solids[contact->solid[side]].track >= 0)
            move_belt(physics, contact, side);
        else if (physics->solids[contact->solid[side]].conveyor >= 0)
            move_conveyor(physics, contact, side);
    }
}

// ---- propellers ----

static void turn_helices(Physics *physics, const Driven *driven)
{
    const PhysicsJoint *row = &physics->joints[driven->joint];
    double angle = physics->joint_states[driven->joint].axes[0].position;
    for (int i = 0; i < 2; i++) {
        int helix = driven->helix[i];
        if (helix < 0 || !physics->solids[helix].is_alive)
            continue;
        Pose at_rest = pose_mul(driven->frame, scene_pose(physics->solids[helix].node));
        Pose turned = pose_mul(at_rest, (Pose){ VEC3_ZERO, quat_from_axis_angle(quat_unrotate(scene_pose(physics->solids[helix].node).q, row->axes[0].axis), angle) });
        solid_move(physics, helix, pose_mul(physics->solid_world[driven->solid], turned));
    }
}

static void step_propeller(Physics *physics, const Driven *driven, double dt)
{
    const PhysicsAxis *axis = &physics->joints[driven->joint].axes[0];
    const PhysicsAxisState *state = &physics->joint_states[driven->joint].axes[0];
    int body = body_above(physics, driven->solid);
    if (!axis->motor || body < 0)
        return;
    motor_move_kinematic(physics, driven->joint, 0, dt);
    turn_helices(physics, driven);
    double w = state->velocity;
    if (w == 0.0)
        return;
    Pose frame = pose_mul(physics->solid_world[driven->solid], driven->frame);
    Vec3 shaft = quat_rotate(frame.q, axis->axis);
    Vec3 point = pose_apply(frame, scene_vec3(driven->node, "centerOfThrust"));
    const BodyState *motion = &physics->body_states[body];
    Vec3 velocity = vec3_add(motion->linear, vec3_cross(motion->angular, vec3_sub(point, motion->position)));
    double advance = vec3_dot(velocity, shaft);
    Vec2 thrust_constants = scene_vec2(driven->node, "thrustConstants"), torque_constants = scene_vec2(driven->node, "torqueConstants");
    double thrust = thrust_constants.x * w * fabs(w) - thrust_constants.y * fabs(w) * advance;
    double torque = torque_constants.x * w * fabs(w) - torque_constants.y * fabs(w) * advance;
    torque = double_clamp(torque, -axis->motor_max_force, axis->motor_max_force);
    if (!isfinite(thrust) || !isfinite(torque))
        return;
    body_wake(physics, body);
    Vec3 force = vec3_scale(shaft, thrust);
    dBodyAddForceAtPos(ode_body(physics, body), force.x, force.y, force.z, point.x, point.y, point.z);
    dBodyAddTorque(ode_body(physics, body), -torque * shaft.x, -torque * shaft.y, -torque * shaft.z);
}

// ---- holding ----

static int holder_index(const Physics *physics, int solid)
{
    for (int i = 0; physics->machines && i < physics->machines->holder_count; i++)
        if (physics->machines->holders[i].solid == solid)
            return i;
    assert(false && "the solid is a connector or a gripper");
    return -1;
}

static int holder_of_peer(const Physics *physics, int peer)
{
    for (int i = 0; i < physics->machines->holder_count; i++)
        if (physics->machines->holders[i].solid == peer && !physics->machines->holders[i].is_gripper)
            return i;
    return -1;
}

static void wake_both(Physics *physics, int a, int b)
{
    int bodies[2] = { body_above(physics, a), body_above(physics, b) };
    for (int i = 0; i < 2; i++)
        if (bodies[i] >= 0)
            body_wake(physics, bodies[i]);
}

// Makes the fixed joint as if body `b` stood at `target`.
static void make_hold(Physics *physics, int index, int peer, Pose target)
{
    Holder *holder = &physics->machines->holders[index];
    HoldState *hold = &physics->machines->holds[index];
    int a = body_above(physics, holder->solid), b = body_above(physics, peer);
    hold->peer = peer;
    hold->first = 1;
    hold->anchored[0] = a >= 0 ? body_pose(physics, a) : POSE_IDENTITY;
    hold->anchored[1] = target;
    holder->joint = dJointCreateFixed(physics->world, NULL);
    dJointAttach(holder->joint, ode_body(physics, a), ode_body(physics, b));
    dJointSetFeedback(holder->joint, &holder->feedback);
    memset(&holder->feedback, 0, sizeof holder->feedback);
    int moved[2] = { a, b };
    for (int i = 0; i < 2; i++) {
        if (moved[i] < 0)
            continue;
        const Pose *pose = &hold->anchored[i];
        dBodySetPosition(ode_body(physics, moved[i]), pose->t.x, pose->t.y, pose->t.z);
        dBodySetQuaternion(ode_body(physics, moved[i]), (dQuaternion){ pose->q.w, pose->q.x, pose->q.y, pose->q.z });
    }
    dJointSetFixed(holder->joint);
    for (int i = 0; i < 2; i++)
        if (moved[i] >= 0)
            body_write(physics, moved[i]);
    wake_both(physics, holder->solid, peer);
}

static void release(Physics *physics, int index)
{
    Holder *holder = &physics->machines->holders[index];
    HoldState *hold = &physics->machines->holds[index];
    int peer = hold->peer;
    if (peer < 0)
        return;
    if (!hold->first && !holder->is_gripper) {
        int other = holder_of_peer(physics, peer);
        if (other >= 0 && physics->machines->holds[other].first) {
            release(physics, other);
            return;
        }
    }
    if (holder->joint)
        dJointDestroy(holder->joint);
    holder->joint = NULL;
    hold->peer = -1;
    hold->first = 0;
    int other = holder->is_gripper ? -1 : holder_of_peer(physics, peer);
    if (other >= 0)
        physics->machines->holds[other].peer = -1;
    wake_both(physics, holder->solid, peer);
}

// ---- connectors ----

static bool types_fit(const SceneNode *a, const SceneNode *b)
{
    const char *x = scene_string(a, "type"), *y = scene_string(b, "type");
    if (strcmp(scene_string(a, "model"), scene_string(b, "model")))
        return false;
    if (!strcmp(x, "symmetric") || !strcmp(y, "symmetric"))
        return !strcmp(x, y);
    return strcmp(x, y) != 0;
}

// Angle about a's x axis from where b would sit face to face with equal z axes to where it sits now.
static double twist_between(Pose a, Pose b)
{
    Vec3 x = quat_rotate(a.q, vec3(1, 0, 0)), from = quat_rotate(a.q, vec3(0, 0, 1)), to = quat_rotate(b.q, vec3(0, 0, 1));
    to = vec3_mad(to, x, -vec3_dot(x, to));
    return atan2(vec3_dot(x, vec3_cross(from, to)), vec3_dot(from, to));
}

static double nearest_twist(double twist, int rotations)
{
    if (rotations <= 0)
        return twist;
    double part = 2.0 * M_PI / rotations;
    return part * round(twist / part);
}

static bool is_aligned(const Physics *physics, const SceneNode *node, int solid, int peer)
{
    Pose a = physics->solid_world[solid], b = physics->solid_world[peer];
    if (vec3_distance(a.t, b.t) > scene_float(node, "distanceTolerance"))
        return false;
    Vec3 x = quat_rotate(a.q, vec3(1, 0, 0)), y = quat_rotate(b.q, vec3(1, 0, 0));
    if (acos(double_clamp(vec3_dot(x, y), -1.0, 1.0)) < M_PI - scene_float(node, "axisTolerance"))
        return false;
    int rotations = scene_int(node, "numberOfRotations");
    double twist = twist_between(a, b);
    return rotations <= 0 || fabs(twist - nearest_twist(twist, rotations)) <= scene_float(node, "rotationTolerance");
}

static int find_peer(const Physics *physics, int index)
{
    const Machines *machines = physics->machines;
    const Holder *holder = &machines->holders[index];
    int body = body_above(physics, holder->solid), nearest = -1;
    double least = INFINITY;
    for (int i = 0; i < machines->holder_count; i++) {
        const Holder *other = &machines->holders[i];
        if (i == index || other->is_gripper || machines->holds[i].peer >= 0 || !physics->solids[other->solid].is_alive)
            continue;
        if (body_above(physics, other->solid) == body || !types_fit(holder->node, other->node))
            continue;
        double distance = vec3_distance(physics->solid_world[holder->solid].t, physics->solid_world[other->solid].t);
        if (distance < least && is_aligned(physics, holder->node, holder->solid, other->solid)) {
            nearest = i;
            least = distance;
        }
    }
    return nearest;
}

// Where the peer's body would be with both connectors exactly face to face.
static Pose snapped_pose(const Physics *physics, const Holder *holder, int peer)
{
    int body = body_above(physics, peer);
    Pose current = body >= 0 ? body_pose(physics, body) : POSE_IDENTITY;
    if (!scene_bool(holder->node, "snap"))
        return current;
    Pose a = physics->solid_world[holder->solid], b = physics->solid_world[peer];
    double twist = nearest_twist(twist_between(a, b), scene_int(holder->node, "numberOfRotations"));
    Quat face = quat_mul(quat_from_axis_angle(vec3(1, 0, 0), twist), quat_from_axis_angle(vec3(0, 0, 1), M_PI));
    Pose target = { a.t, quat_mul(a.q, face) };
    return pose_mul(target, pose_mul(pose_inverse(b), current));
}

static void try_lock(Physics *physics, int index)
{
    Machines *machines = physics->machines;
    HoldState *hold = &machines->holds[index];
    if (hold->peer >= 0 || !strcmp(scene_string(machines->holders[index].node, "type"), "passive"))
        return;
    int other = find_peer(physics, index);
    if (other < 0)
        return;
    if (!scene_bool(machines->holders[index].node, "unilateralLock") && !machines->holds[other].is_on)
        return;
    const Holder *holder = &machines->holders[index];
    int peer = machines->holders[other].solid;
    bool peer_is_static = body_above(physics, peer) < 0;
    if (peer_is_static) {  // the joint is made from the side that can move
        if (body_above(physics, holder->solid) < 0)
            return;
        make_hold(physics, other, holder->solid, snapped_pose(physics, &machines->holders[other], holder->solid));
        machines->holds[index].peer = peer;
    } else {
        make_hold(physics, index, peer, snapped_pose(physics, holder, peer));
        machines->holds[other].peer = holder->solid;
    }
}

static double strength(const SceneNode *node, const char *field, bool is_on)
{
    double value = scene_float(node, field);
    return !is_on ? 0.0 : value < 0.0 ? DBL_MAX / 2 : value;
}

static void check_rupture(Physics *physics, int index)
{
    Machines *machines = physics->machines;
    const Holder *holder = &machines->holders[index];
    const HoldState *hold = &machines->holds[index];
    if (!holder->joint || holder->is_body_holder)
        return;
    int other = holder->is_gripper ? -1 : holder_of_peer(physics, hold->peer);
    double tensile = strength(holder->node, "tensileStrength", hold->is_on), shear = strength(holder->node, "shearStrength", hold->is_on);
    if (other >= 0) {
        tensile += strength(machines->holders[other].node, "tensileStrength", machines->holds[other].is_on);
        shear += strength(machines->holders[other].node, "shearStrength", machines->holds[other].is_on);
    }
    if (tensile >= DBL_MAX / 2 && shear >= DBL_MAX / 2)
        return;
    // Feedback on the first body that exists: pulled towards the other along its own connector's axis.
    bool is_own = body_above(physics, holder->solid) >= 0;
    const dReal *f = holder->feedback.f1;
    Vec3 force = vec3(f[0], f[1], f[2]);
    Vec3 axis = quat_rotate(physics->solid_world[holder->solid].q, vec3(1, 0, 0));
    double axial = vec3_dot(axis, force) * (is_own ? 1.0 : -1.0);
    double across = sqrt(fmax(vec3_length2(force) - axial * axial, 0.0));
    if (fmax(axial, 0.0) > tensile || across > shear)
        release(physics, index);
}

static void step_holder(Physics *physics, int index)
{
    Machines *machines = physics->machines;
    HoldState *hold = &machines->holds[index];
    if (!physics->solids[machines->holders[index].solid].is_alive) {
        release(physics, index);
        return;
    }
    if (hold->peer >= 0 && !physics->solids[hold->peer].is_alive)
        release(physics, index);
    bool was_held = hold->peer >= 0;
    check_rupture(physics, index);
    if (machines->holders[index].is_gripper)
        return;
    bool automatic = scene_bool(machines->holders[index].node, "autoLock");
    // What has just been torn apart gets one step to move away.
    if (hold->is_on && hold->peer < 0 && !was_held && (automatic || hold->wants_lock))
        try_lock(physics, index);
    hold->wants_lock = 0;
}

bool physics_connector_is_locked(const Physics *physics, int solid)
{
    return physics->machines->holds[holder_index(physics, solid)].is_on;
}

int physics_connector_peer(const Physics *physics, int solid)
{
    return physics->machines->holds[holder_index(physics, solid)].peer;
}

int physics_connector_presence(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    if (!strcmp(scene_string(physics->machines->holders[index].node, "type"), "passive"))
        return -1;
    return physics->machines->holds[index].peer >= 0 || find_peer(physics, index) >= 0;
}

void physics_connector_lock(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    physics->machines->holds[index].is_on = 1;
    try_lock(physics, index);
}

void physics_connector_unlock(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    HoldState *hold = &physics->machines->holds[index];
    hold->is_on = 0;
    hold->wants_lock = 0;
    if (hold->peer < 0)
        return;
    int other = holder_of_peer(physics, hold->peer);
    if (scene_bool(physics->machines->holders[index].node, "unilateralUnlock") || other < 0 || !physics->machines->holds[other].is_on)
        release(physics, index);
}

// ---- grippers ----

// The solid that touches the gripper deepest, of those with enough points.
static int find_graspable(const Physics *physics, const Holder *gripper)
{
    int wanted = scene_int(gripper->node, "contactPoints"), best = -1;
    double best_depth = -INFINITY;
    int own = body_above(physics, gripper->solid);
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        int side = contact->solid[0] == gripper->solid ? 0 : contact->solid[1] == gripper->solid ? 1 : -1;
        if (side < 0 || contact->depth <= best_depth)
            continue;
        int other = contact->solid[1 - side];
        if (other < 0 || body_above(physics, other) == own)
            continue;
        int points = 0;
        for (int k = 0; k < physics->contact_count; k++)
            points += (physics->contacts[k].solid[0] == gripper->solid && physics->contacts[k].solid[1] == other) ||
                      (physics->contacts[k].solid[1] == gripper->solid && physics->contacts[k].solid[0] == other);
        if (points < wanted)
            continue;
        best = other;
        best_depth = contact->depth;
    }
    return best;
}

static void step_gripper_end(Physics *physics, int index)
{
    const Holder *holder = &physics->machines->holders[index];
    HoldState *hold = &physics->machines->holds[index];
    if (!holder->is_gripper || !hold->is_on || hold->peer >= 0 || !physics->solids[holder->solid].is_alive)
        return;
    // The Holder of a body looks around once, when it is switched on.
    if (holder->is_body_holder && !hold->wants_lock)
        return;
    hold->wants_lock = 0;
    int peer = holder->is_body_holder ? body_holder_target(physics, holder->node, holder->solid) : find_graspable(physics, holder);
    if (peer < 0)
        return;
    int body = body_above(physics, peer);
    if (body >= 0 || body_above(physics, holder->solid) >= 0)
        make_hold(physics, index, peer, body >= 0 ? body_pose(physics, body) : POSE_IDENTITY);
}

bool physics_gripper_is_on(const Physics *physics, int solid)
{
    return physics->machines->holds[holder_index(physics, solid)].is_on;
}

int physics_gripper_held(const Physics *physics, int solid)
{
    return physics->machines->holds[holder_index(physics, solid)].peer;
}

void physics_gripper_turn(Physics *physics, int solid, bool on)
{
    int index = holder_index(physics, solid);
    physics->machines->holds[index].wants_lock = on && !physics->machines->holds[index].is_on;
    physics->machines->holds[index].is_on = on;
    if (!on)
        release(physics, index);
}

// ---- touch sensors ----

Vec3 physics_touch_force(const Physics *physics, int solid)
{
    for (int i = 0; physics->machines && i < physics->machines->touch_count; i++) {
        const Touch *touch = &physics->machines->touches[i];
        if (touch->solid != solid || physics->solids[solid].weld < 0)
            continue;
        // The feedback is that of the weld's first body: the mount, or without one the sensor itself.
        int parent = physics->solids[solid].parent;
        double sign = parent >= 0 && physics->solids[parent].body >= 0 ? 1.0 : -1.0;
        Vec3 force = vec3_scale(vec3(touch->feedback.f1[0], touch->feedback.f1[1], touch->feedback.f1[2]), sign);
        return quat_unrotate(physics->solid_world[solid].q, force);
    }
    return VEC3_ZERO;
}

bool physics_touch_is_touching(const Physics *physics, int solid)
{
    return physics->solid_states[solid].is_touching;
}

// ---- the step, state, saving ----

void machines_prestep(Physics *physics, double dt)
{
    Machines *machines = physics->machines;
    if (!machines)
        return;
    for (int i = 0; i < machines->driven_count; i++) {
        const Driven *driven = &machines->driven[i];
        if (driven->solid >= 0 && !physics->solids[driven->solid].is_alive)
            continue;
        if (driven->is_track)
            step_track(physics, driven, dt);
        else
            step_propeller(physics, driven, dt);
    }
    for (int i = 0; i < machines->holder_count; i++)
        step_holder(physics, i);
}

void machines_poststep(Physics *physics, double dt)
{
    (void)dt;
    for (int i = 0; physics->machines && i < physics->machines->holder_count; i++)
        step_gripper_end(physics, i);
}

static bool holds_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->machines->holder_count; i++) {
        HoldState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        if (state.peer < -1 || state.peer >= physics->solid_count || (state.peer >= 0 && !physics->solids[state.peer].is_alive))
            return false;
        for (int k = 0; state.first && state.peer >= 0 && k < 2; k++)
            if (!state_pose_is_sound(state.anchored[k]))
                return false;
    }
    return true;
}

int machines_state(Physics *physics, StateBlock *blocks)
{
    Machines *machines = physics->machines;
    if (!machines || !machines->holder_count)
        return 0;
    blocks[0] = (StateBlock){ "holds", machines->holds, (size_t)machines->holder_count * sizeof *machines->holds, true, holds_are_sound };
    return 1;
}

void machines_restored(Physics *physics)
{
    Machines *machines = physics->machines;
    for (int i = 0; machines && i < machines->holder_count; i++) {
        Holder *holder = &machines->holders[i];
        HoldState kept = machines->holds[i];
        if (holder->joint)
            dJointDestroy(holder->joint);
        holder->joint = NULL;
        if (!kept.first || kept.peer < 0)
            continue;
        int a = body_above(physics, holder->solid);
        Pose target = kept.anchored[1];
        BodyState state = { 0 };
        if (a >= 0) {  // the joint is made with both bodies where they stood then
            state = physics->body_states[a];
            physics->body_states[a].position = kept.anchored[0].t;
            physics->body_states[a].orientation = kept.anchored[0].q;
        }
        make_hold(physics, i, kept.peer, target);
        if (a >= 0) {
            physics->body_states[a] = state;
            body_write(physics, a);
        }
        machines->holds[i] = kept;
    }
}

// The wheels that a belt runs around turn with it, those that press on it from outside against it.
static void turn_wheels(Physics *physics, Driven *driven, double travelled)
{
    double more = travelled - driven->shown;
    if (more == 0.0)
        return;
    driven->shown = travelled;
    const FieldList *children = scene_list(driven->node, "children");
    for (int i = 0; i < children->count; i++) {
        SceneNode *wheel = scene_list_node(children, i);
        if (!wheel || !scene_node_is(wheel, "TrackWheel") || !(scene_float(wheel, "radius") > 0.0))
            continue;
        double angle = more / scene_float(wheel, "radius") * (scene_bool(wheel, "inner") ? 1.0 : -1.0);
        Quat turned = quat_mul(quat_from_axis_angle(vec3(0, 1, 0), angle), quat_from_rotation(scene_rotation(wheel, "rotation")));
        scene_set_rotation(physics->scene, wheel, "rotation", quat_to_rotation(turned));
    }
}

static bool has_wheels(const Physics *physics, const Driven *driven)
{
    return driven->is_track && !driven->is_surface && physics->solids[driven->solid].is_alive;
}

void physics_rest_wheels(Physics *physics)
{
    Machines *machines = physics->machines;
    for (int i = 0; machines && i < machines->driven_count; i++)
        if (has_wheels(physics, &machines->driven[i]))
            turn_wheels(physics, &machines->driven[i], 0.0);
}

void machines_sync_scene(Physics *physics)
{
    body_switches_sync_scene(physics);
    Machines *machines = physics->machines;
    for (int i = 0; machines && i < machines->driven_count; i++)
        if (has_wheels(physics, &machines->driven[i]))
            turn_wheels(physics, &machines->driven[i], physics->joint_states[machines->driven[i].joint].axes[0].position);
    for (int i = 0; machines && i < machines->holder_count; i++) {
        const char *field = hold_field(machines->holders[i].node);
        if (scene_bool(machines->holders[i].node, field) != (machines->holds[i].is_on != 0))
            scene_set_bool(physics->scene, machines->holders[i].node, field, machines->holds[i].is_on);
    }
}
