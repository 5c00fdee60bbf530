// drive.c - tracks, propellers and conveyors: what moves surfaces and air. Tracks and propellers are joints of one axis
// that no solver sees; motor.c moves them.
#include "physics/fittings/fittings_internal.h"

#include "physics/joints/motor.h"

#include "base/memory.h"

#include <string.h>

// ---- build ----

void drive_add(Physics *physics, SceneNode *node, int solid, Pose frame, bool is_track)
{
    Fittings *machines = fittings_of(physics);
    memory_grow(&machines->drive, &machines->drive_capacity, machines->drive_count + 1, sizeof *machines->drive);
    machines->drive[machines->drive_count++] = (Drive){ .node = node,
                                                        .solid = solid,
                                                        .joint = -1,
                                                        .frame = frame,
                                                        .helix = { -1, -1 },
                                                        .is_track = is_track,
                                                        .is_surface = is_track && scene_node_is(node, "BodyTrack") };
}

static int add_joint_row(Physics *physics, const Drive *drive)
{
    assert_debug(drive->solid < physics->solid_count);
    int index = physics->joint_count++;
    memory_grow(&physics->joints, &physics->joint_capacity, physics->joint_count, sizeof *physics->joints);
    memory_grow(&physics->joint_states, &physics->joint_state_capacity, physics->joint_count,
                sizeof *physics->joint_states);
    physics->joints[index] = (PhysicsJoint){
        .node = drive->node,
        .kind = drive->is_track ? PHYSICS_JOINT_TRACK : PHYSICS_JOINT_PROPELLER,
        .parent = drive->solid,
        .child = drive->is_track ? drive->solid : -1,
        .is_reference = true,
        .body = { -1, -1 },
        .is_alive = true,
        .frame = drive->frame,
    };
    physics->joint_states[index] = (PhysicsJointState){ 0 };
    joint_read(physics, index);
    return index;
}

void drive_build(Physics *physics, Drive *drive)
{
    assert(drive->joint < 0);  // once
    drive->joint = add_joint_row(physics, drive);
    PhysicsJoint *row = &physics->joints[drive->joint];
    if (drive->is_track) {
        physics->solids[drive->solid].track = (int)(drive - physics->fittings->drive);
        return;
    }
    Vec3 axis = vec3_normalized(scene_vec3(drive->node, "shaftAxis"));
    if (vec3_length2(axis) < 0.5) {
        diag_warning(physics->diags, scene_field_pos(drive->node, "shaftAxis"),
                     "the shaft axis has no direction; using 1 0 0");
        axis = vec3(1, 0, 0);
    }
    row->axes[0].axis = axis;
    physics->joint_states[drive->joint].axes[0].mode = MOTOR_VELOCITY;
    physics->joint_states[drive->joint].axes[0].target_velocity = 0.0;
    static const char *const fields[2] = { "fastHelix", "slowHelix" };
    for (int i = 0; i < 2; i++) {
        const SceneNode *helix = scene_child(drive->node, fields[i]);
        drive->helix[i] = helix ? physics_solid_of(physics, helix) : -1;
    }
    if (drive->solid < 0 || body_above(physics, drive->solid) < 0)
        diag_warning(physics->diags, drive->node->pos,
                     "a Propeller needs a Solid with physics above it; it gives no thrust");
}

// ---- tracks ----

static void step_track(Physics *physics, const Drive *drive, double dt)
{
    assert_debug(drive->is_track && drive->joint >= 0 && drive->joint < physics->joint_count);
    PhysicsAxisState *state = &physics->joint_states[drive->joint].axes[0];
    const PhysicsAxis *axis = &physics->joints[drive->joint].axes[0];
    int body = body_above(physics, drive->solid);
    double velocity = 0.0;
    if (axis->motor && (body >= 0 || scene_node_is(drive->node, "BodyTrack"))) {
        if (state->mode == MOTOR_FORCE)
            velocity = body < 0 ? 0.0
                                : (state->force_command - state->brake_damping * state->velocity) * dt
                                      / physics->masses[body].mass;
        else
            velocity = motor_velocity(physics, drive->joint, 0, dt);
    }
    state->velocity = velocity;
    state->position += velocity * dt;
    if (velocity != 0.0 && body >= 0)
        body_wake(physics, body);
}

static Vec3 velocity_at(const Physics *physics, int body, Vec3 point)
{
    assert_debug(body < physics->body_count);
    if (body < 0)
        return VEC3_ZERO;
    const BodyState *state = &physics->body_states[body];
    return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, state->position)));
}

// A contact's motion is that of its first body against the second. ODE takes a body that touches what has none as the
// first.
static double motion_sign(const PhysicsContact *contact, int side)
{
    assert_debug(side == 0 || side == 1);
    int first = contact->body[0] < 0 ? 1 : 0;
    return side == first ? 1.0 : -1.0;
}

static const double sticking_speed = 1e-4;  // m/s: slower slip is static friction, the bound of Choreonoid's simulator

// The surface of one side moves along by itself. Friction acts against the direction in which the surfaces slip now, so
// that its two directions together know one limit: a track that slips along gives way sideways.
static bool move_surface(const Physics *physics, const PhysicsContact *contact, int side, Vec3 surface,
                         PhysicsSurface *out)
{
    if (vec3_length(surface) < 1e-9 && contact->body[0] < 0 && contact->body[1] < 0)
        return false;
    Vec3 wanted = vec3_scale(surface, -motion_sign(contact, side));
    Vec3 velocities[2] = { velocity_at(physics, contact->body[0], contact->point),
                           velocity_at(physics, contact->body[1], contact->point) };
    bool is_swapped = contact->body[0] < 0;
    Vec3 relative = vec3_sub(velocities[is_swapped], velocities[!is_swapped]),
         normal = is_swapped ? vec3_neg(contact->normal) : contact->normal;
    Vec3 slip = vec3_sub(relative, wanted);
    slip = vec3_mad(slip, normal, -vec3_dot(slip, normal));
    double slipping = vec3_length(slip), speed = vec3_length(surface);
    Vec3 direction = slipping > sticking_speed ? vec3_normalized(slip)
                     : speed > 1e-9            ? vec3_scale(surface, 1.0 / speed)
                                               : vec3_orthogonal(normal);
    out->flags |= SOLVER_CONTACT_FDIR1;
    out->mu2 = out->mu * fmin(1.0, sticking_speed / fmax(slipping, 1e-9));
    out->fdir1 = direction;
    out->motion1 = vec3_dot(wanted, direction);
    out->motion2 = vec3_dot(wanted, vec3_cross(normal, direction));
    return true;
}

// The surface of a body's track moves along axis x n everywhere, n pointing out of the track.
static bool move_track(const Physics *physics, const PhysicsContact *contact, int side, const Drive *drive,
                       PhysicsSurface *out)
{
    assert_debug(drive->is_surface && contact_solid(physics, contact, side) == drive->solid);
    Vec3 axis = quat_rotate(physics->solid_world[contact_solid(physics, contact, side)].q,
                            vec3_normalized(scene_vec3(drive->node, "axis")));
    Vec3 outwards = side == 0 ? vec3_neg(contact->normal) : contact->normal, along = vec3_cross(axis, outwards);
    return vec3_length(along) > 1e-6
           && move_surface(physics, contact, side,
                           vec3_scale(vec3_normalized(along), physics->joint_states[drive->joint].axes[0].velocity),
                           out);
}

// A Conveyor moves the surface of the link that holds it: along its axis, or turning about it.
static bool move_conveyor(const Physics *physics, const PhysicsContact *contact, int side, PhysicsSurface *out)
{
    int solid = physics->solids[contact_solid(physics, contact, side)].conveyor;
    assert_debug(solid >= 0 && solid < physics->solid_count);
    const SceneNode *node = physics->solids[solid].node;
    if (!physics->solids[solid].is_alive || physics->solid_states[solid].is_off)
        return false;
    Pose pose = physics->solid_world[solid];
    Vec3 velocity = vec3_scale(quat_rotate(pose.q, vec3_normalized(scene_vec3(node, "axis"))),
                               scene_float(node, "speed"));
    if (!strcmp(scene_string(node, "type"), "rotary"))
        velocity = vec3_cross(velocity, vec3_sub(contact->point, pose.t));
    velocity = vec3_mad(velocity, contact->normal, -vec3_dot(velocity, contact->normal));
    return move_surface(physics, contact, side, velocity, out);
}

// The belt's own speed against what it touches. Without it a track is an ordinary shape.
static bool move_belt(const Physics *physics, const PhysicsContact *contact, int side, PhysicsSurface *out)
{
    int solid = contact_solid(physics, contact, side);
    assert_debug(physics->solids[solid].track < physics->fittings->drive_count);
    const Drive *drive = &physics->fittings->drive[physics->solids[solid].track];
    if (drive->is_surface)
        return move_track(physics, contact, side, drive, out);
    double velocity = physics->joint_states[drive->joint].axes[0].velocity;
    Quat frame = physics->solid_world[solid].q;
    Vec3 along = quat_rotate(frame, vec3(1, 0, 0)), up = quat_rotate(frame, vec3(0, 0, 1));
    Vec3 normal = side == 0 ? contact->normal : vec3_neg(contact->normal);
    double facing = double_clamp(vec3_dot(normal, up), -1.0, 1.0);
    // Full speed where the belt lies flat on the other surface, none at its flanks.
    double share = fabs(acos(facing) - M_PI_2) / M_PI_2;
    Vec3 direction = facing < 0.0 ? vec3_neg(along) : along;
    double sign = motion_sign(contact, side);
    out->flags |= SOLVER_CONTACT_FDIR1;
    out->fdir1 = direction;
    out->motion1 = velocity * share * sign;
    return false;
}

bool fittings_contact(const Physics *physics, const PhysicsContact *contact, PhysicsSurface *surface)
{
    bool limits_across = false;
    if (!physics->fittings)
        return false;
    for (int side = 0; side < 2; side++) {
        if (contact_solid(physics, contact, side) < 0)
            continue;
        if (physics->solids[contact_solid(physics, contact, side)].track >= 0)
            limits_across |= move_belt(physics, contact, side, surface);
        else if (physics->solids[contact_solid(physics, contact, side)].conveyor >= 0)
            limits_across |= move_conveyor(physics, contact, side, surface);
    }
    return limits_across;
}

// ---- propellers ----

static void turn_helices(Physics *physics, const Drive *drive)
{
    const PhysicsJoint *row = &physics->joints[drive->joint];
    double angle = physics->joint_states[drive->joint].axes[0].position;
    for (int i = 0; i < 2; i++) {
        int helix = drive->helix[i];
        assert_debug(helix < physics->solid_count);
        if (helix < 0 || !physics->solids[helix].is_alive)
            continue;
        Pose at_rest = pose_mul(drive->frame, scene_pose(physics->solids[helix].node));
        Pose turned = pose_mul(
            at_rest, (Pose){ VEC3_ZERO,
                             quat_from_axis_angle(
                                 quat_unrotate(scene_pose(physics->solids[helix].node).q, row->axes[0].axis), angle) });
        solid_move(physics, helix, pose_mul(physics->solid_world[drive->solid], turned));
    }
}

// Thrust and torque by the speed of the helix and by how fast it advances along its shaft.
static void step_propeller(Physics *physics, const Drive *drive, double dt)
{
    assert_debug(!drive->is_track && drive->joint >= 0 && drive->joint < physics->joint_count);
    const PhysicsAxis *axis = &physics->joints[drive->joint].axes[0];
    const PhysicsAxisState *state = &physics->joint_states[drive->joint].axes[0];
    int body = body_above(physics, drive->solid);
    if (!axis->motor || body < 0)
        return;
    motor_move_kinematic(physics, drive->joint, 0, dt);
    turn_helices(physics, drive);
    double w = state->velocity;
    if (w == 0.0)
        return;
    Pose frame = pose_mul(physics->solid_world[drive->solid], drive->frame);
    Vec3 shaft = quat_rotate(frame.q, axis->axis);
    Vec3 point = pose_apply(frame, scene_vec3(drive->node, "centerOfThrust"));
    const BodyState *motion = &physics->body_states[body];
    Vec3 velocity = vec3_add(motion->linear, vec3_cross(motion->angular, vec3_sub(point, motion->position)));
    double advance = vec3_dot(velocity, shaft);
    Vec2 thrust_constants = scene_vec2(drive->node, "thrustConstants"),
         torque_constants = scene_vec2(drive->node, "torqueConstants");
    double thrust = thrust_constants.x * w * fabs(w) - thrust_constants.y * fabs(w) * advance;
    double torque = torque_constants.x * w * fabs(w) - torque_constants.y * fabs(w) * advance;
    torque = double_clamp(torque, -axis->motor_max_force, axis->motor_max_force);
    if (!isfinite(thrust) || !isfinite(torque))
        return;
    body_wake(physics, body);
    Vec3 force = vec3_scale(shaft, thrust);
    body_add_force_at(physics, body, force, point);
    body_add_torque(physics, body, vec3_scale(shaft, -torque));
}

void drive_step(Physics *physics, const Drive *drive, double dt)
{
    assert_debug(dt > 0.0 && drive->joint >= 0);
    if (drive->solid >= 0 && !physics->solids[drive->solid].is_alive)
        return;
    if (drive->is_track)
        step_track(physics, drive, dt);
    else
        step_propeller(physics, drive, dt);
}

// ---- saving ----

// The wheels that a belt runs around turn with it, those that press on it from outside against it.
static void turn_wheels(Physics *physics, Drive *drive, double travelled)
{
    assert_debug(drive->is_track && !drive->is_surface);
    double more = travelled - drive->shown;
    if (more == 0.0)
        return;
    drive->shown = travelled;
    const FieldList *children = scene_list(drive->node, "children");
    for (int i = 0; i < children->count; i++) {
        SceneNode *wheel = scene_list_node(children, i);
        if (!wheel || !scene_node_is(wheel, "TrackWheel") || !(scene_float(wheel, "radius") > 0.0))
            continue;
        double angle = more / scene_float(wheel, "radius") * (scene_bool(wheel, "inner") ? 1.0 : -1.0);
        Quat turned = quat_mul(quat_from_axis_angle(vec3(0, 1, 0), angle),
                               quat_from_rotation(scene_rotation(wheel, "rotation")));
        scene_set_rotation(physics->scene, wheel, "rotation", quat_to_rotation(turned));
    }
}

static bool has_wheels(const Physics *physics, const Drive *drive)
{
    return drive->is_track && !drive->is_surface && physics->solids[drive->solid].is_alive;
}

void physics_rest_wheels(Physics *physics)
{
    Fittings *machines = physics->fittings;
    for (int i = 0; machines && i < machines->drive_count; i++)
        if (has_wheels(physics, &machines->drive[i]))
            turn_wheels(physics, &machines->drive[i], 0.0);
}

void drive_sync_scene(Physics *physics)
{
    Fittings *machines = physics->fittings;
    for (int i = 0; i < machines->drive_count; i++)
        if (has_wheels(physics, &machines->drive[i]))
            turn_wheels(physics, &machines->drive[i], physics->joint_states[machines->drive[i].joint].axes[0].position);
}
