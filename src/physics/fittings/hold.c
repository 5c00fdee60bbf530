// hold.c - connectors, vacuum grippers and the holders of bodies: a fixed joint that comes and goes.
#include "physics/fittings/fittings_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <float.h>
#include <string.h>

// The field that says whether it is on at the start.
static const char *hold_field(const SceneNode *node)
{
    return scene_node_is(node, "Holder") ? "on" : scene_node_is(node, "VacuumGripper") ? "isOn" : "isLocked";
}

void holder_add(Physics *physics, SceneNode *node, int solid, bool is_gripper)
{
    assert(solid >= 0 && solid < physics->solid_count);
    Fittings *machines = fittings_of(physics);
    physics->solids[solid].holder = machines->holder_count;
    memory_grow(&machines->holders, &machines->holder_capacity, machines->holder_count + 1, sizeof *machines->holders);
    memory_grow(&machines->holds, &machines->hold_capacity, machines->holder_count + 1, sizeof *machines->holds);
    bool is_body_holder = scene_node_is(node, "Holder"), is_on = scene_bool(node, hold_field(node));
    machines->holders[machines->holder_count] =
        (Holder){ .node = node, .solid = solid, .is_gripper = is_gripper, .is_body_holder = is_body_holder };
    machines->holds[machines->holder_count++] = (HoldState){ .is_on = is_on, .peer = -1, .wants_lock = is_on };
}

// ---- holding ----

static int holder_index(const Physics *physics, int solid)
{
    assert_debug(solid >= 0 && solid < physics->solid_count);
    int index = physics->solids[solid].holder;
    assert(index >= 0 && "the solid is a connector or a gripper");
    return index;
}

static int holder_of_peer(const Physics *physics, int peer)
{
    assert_debug(peer >= 0 && peer < physics->solid_count);
    int index = physics->solids[peer].holder;
    return index >= 0 && !physics->fittings->holders[index].is_gripper ? index : -1;
}

static void wake_both(Physics *physics, int a, int b)
{
    int bodies[2] = { body_above(physics, a), body_above(physics, b) };
    for (int i = 0; i < 2; i++)
        if (bodies[i] >= 0)
            body_wake(physics, bodies[i]);
}

static Pose own_pose(const Physics *physics, int index)
{
    int body = body_above(physics, physics->fittings->holders[index].solid);
    return body >= 0 ? body_pose(physics, body) : POSE_IDENTITY;
}

// Makes the fixed joint as if the bodies of holder and peer stood at `own` and `target`.
static void make_hold(Physics *physics, int index, int peer, Pose own, Pose target)
{
    assert(index >= 0 && index < physics->fittings->holder_count && peer >= 0);
    assert(!physics->fittings->holders[index].joint);  // it holds one thing at a time
    Holder *holder = &physics->fittings->holders[index];
    HoldState *hold = &physics->fittings->holds[index];
    int a = body_above(physics, holder->solid), b = body_above(physics, peer);
    hold->peer = peer;
    hold->first = 1;
    hold->anchored[0] = own;
    hold->anchored[1] = target;
    if (a != b) {
        holder->joint = constraint_make(physics, CONSTRAINT_FIXED, a, b, 0, NULL);
        constraint_anchor(physics, holder->joint,
                          &(ConstraintPlace){ .side = { hold->anchored[0], hold->anchored[1] } });
        constraint_want_wrenches(holder->joint, true);
    }
    wake_both(physics, holder->solid, peer);
}

static void release(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->fittings->holder_count);
    Holder *holder = &physics->fittings->holders[index];
    HoldState *hold = &physics->fittings->holds[index];
    int peer = hold->peer;
    if (peer < 0)
        return;
    if (!hold->first && !holder->is_gripper) {
        int other = holder_of_peer(physics, peer);
        if (other >= 0 && physics->fittings->holds[other].first) {
            release(physics, other);
            return;
        }
    }
    constraint_unmake(physics, holder->joint);
    holder->joint = NULL;
    hold->peer = -1;
    hold->first = 0;
    int other = holder->is_gripper ? -1 : holder_of_peer(physics, peer);
    if (other >= 0)
        physics->fittings->holds[other].peer = -1;
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
    Vec3 x = quat_rotate(a.q, vec3(1, 0, 0)), from = quat_rotate(a.q, vec3(0, 0, 1)),
         to = quat_rotate(b.q, vec3(0, 0, 1));
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
    assert_debug(solid >= 0 && solid < physics->solid_count);
    assert_debug(peer >= 0 && peer < physics->solid_count);
    Pose a = physics->solid_world[solid], b = physics->solid_world[peer];
    Vec3 x = quat_rotate(a.q, vec3(1, 0, 0)), y = quat_rotate(b.q, vec3(1, 0, 0));
    if (acos(double_clamp(vec3_dot(x, y), -1.0, 1.0)) < M_PI - scene_float(node, "axisTolerance"))
        return false;
    int rotations = scene_int(node, "numberOfRotations");
    double twist = twist_between(a, b);
    return rotations <= 0 || fabs(twist - nearest_twist(twist, rotations)) <= scene_float(node, "rotationTolerance");
}

static int find_peer(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->fittings->holder_count);
    const Fittings *machines = physics->fittings;
    const Holder *holder = &machines->holders[index];
    int body = body_above(physics, holder->solid), nearest = -1;
    double min = INFINITY, reach = scene_float(holder->node, "distanceTolerance");
    for (int i = 0; i < machines->holder_count; i++) {
        const Holder *other = &machines->holders[i];
        if (i == index || other->is_gripper || machines->holds[i].peer >= 0 || !physics->solids[other->solid].is_alive)
            continue;
        double distance = vec3_distance(physics->solid_world[holder->solid].t, physics->solid_world[other->solid].t);
        if (distance >= min || distance > reach || body_above(physics, other->solid) == body
            || !types_fit(holder->node, other->node))
            continue;
        if (is_aligned(physics, holder->node, holder->solid, other->solid)) {
            nearest = i;
            min = distance;
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
    Fittings *machines = physics->fittings;
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
        make_hold(physics, other, holder->solid, own_pose(physics, other),
                  snapped_pose(physics, &machines->holders[other], holder->solid));
        machines->holds[index].peer = peer;
    } else {
        make_hold(physics, index, peer, own_pose(physics, index), snapped_pose(physics, holder, peer));
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
    Fittings *machines = physics->fittings;
    const Holder *holder = &machines->holders[index];
    const HoldState *hold = &machines->holds[index];
    if (!holder->joint || holder->is_body_holder)
        return;
    int other = holder->is_gripper ? -1 : holder_of_peer(physics, hold->peer);
    double tensile = strength(holder->node, "tensileStrength", hold->is_on),
           shear = strength(holder->node, "shearStrength", hold->is_on);
    if (other >= 0) {
        tensile += strength(machines->holders[other].node, "tensileStrength", machines->holds[other].is_on);
        shear += strength(machines->holders[other].node, "shearStrength", machines->holds[other].is_on);
    }
    if (tensile >= DBL_MAX / 2 && shear >= DBL_MAX / 2)
        return;
    // Feedback on the first body that exists: pulled towards the other along its own connector's axis.
    bool is_own = body_above(physics, holder->solid) >= 0;
    if (!holder->joint)
        return;
    const double *f = holder->joint->wrenches.f1;
    Vec3 force = vec3(f[0], f[1], f[2]);
    Vec3 axis = quat_rotate(physics->solid_world[holder->solid].q, vec3(1, 0, 0));
    double axial = vec3_dot(axis, force) * (is_own ? 1.0 : -1.0);
    double across = sqrt(fmax(vec3_length2(force) - axial * axial, 0.0));
    if (fmax(axial, 0.0) > tensile || across > shear)
        release(physics, index);
}

void holder_step(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->fittings->holder_count);
    Fittings *machines = physics->fittings;
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
    return physics->fittings->holds[holder_index(physics, solid)].is_on;
}

int physics_connector_peer(const Physics *physics, int solid)
{
    return physics->fittings->holds[holder_index(physics, solid)].peer;
}

int physics_connector_presence(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    if (!strcmp(scene_string(physics->fittings->holders[index].node, "type"), "passive"))
        return -1;
    return physics->fittings->holds[index].peer >= 0 || find_peer(physics, index) >= 0;
}

void physics_connector_lock(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    physics->fittings->holds[index].is_on = 1;
    try_lock(physics, index);
}

void physics_connector_unlock(Physics *physics, int solid)
{
    int index = holder_index(physics, solid);
    HoldState *hold = &physics->fittings->holds[index];
    hold->is_on = 0;
    hold->wants_lock = 0;
    if (hold->peer < 0)
        return;
    int other = holder_of_peer(physics, hold->peer);
    if (scene_bool(physics->fittings->holders[index].node, "unilateralUnlock") || other < 0
        || !physics->fittings->holds[other].is_on)
        release(physics, index);
}

// ---- grippers ----

// The solid that touches the gripper deepest, of those with enough points.
static int find_graspable(const Physics *physics, const Holder *gripper)
{
    assert_debug(gripper->is_gripper);
    int wanted = scene_int(gripper->node, "contactPoints"), best = -1;
    double best_depth = -INFINITY;
    int own = body_above(physics, gripper->solid);
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        int side = contact_solid(physics, contact, 0) == gripper->solid   ? 0
                   : contact_solid(physics, contact, 1) == gripper->solid ? 1
                                                                          : -1;
        if (side < 0 || contact->depth <= best_depth)
            continue;
        int other = contact_solid(physics, contact, 1 - side);
        if (other < 0 || body_above(physics, other) == own)
            continue;
        int points = 0;
        for (int k = 0; k < physics->contact_count; k++)
            points += (contact_solid(physics, &physics->contacts[k], 0) == gripper->solid
                       && contact_solid(physics, &physics->contacts[k], 1) == other)
                      || (contact_solid(physics, &physics->contacts[k], 1) == gripper->solid
                          && contact_solid(physics, &physics->contacts[k], 0) == other);
        if (points < wanted)
            continue;
        best = other;
        best_depth = contact->depth;
    }
    return best;
}

void holder_step_end(Physics *physics, int index)
{
    const Holder *holder = &physics->fittings->holders[index];
    HoldState *hold = &physics->fittings->holds[index];
    if (!holder->is_gripper || !hold->is_on || hold->peer >= 0 || !physics->solids[holder->solid].is_alive)
        return;
    // The Holder of a body looks around once, when it is switched on.
    if (holder->is_body_holder && !hold->wants_lock)
        return;
    hold->wants_lock = 0;
    int peer = holder->is_body_holder ? body_holder_target(physics, holder->node, holder->solid)
                                      : find_graspable(physics, holder);
    if (peer < 0)
        return;
    int body = body_above(physics, peer);
    if (body >= 0 || body_above(physics, holder->solid) >= 0)
        make_hold(physics, index, peer, own_pose(physics, index), body >= 0 ? body_pose(physics, body) : POSE_IDENTITY);
}

bool physics_gripper_is_on(const Physics *physics, int solid)
{
    return physics->fittings->holds[holder_index(physics, solid)].is_on;
}

int physics_gripper_held(const Physics *physics, int solid)
{
    return physics->fittings->holds[holder_index(physics, solid)].peer;
}

void physics_gripper_turn(Physics *physics, int solid, bool on)
{
    int index = holder_index(physics, solid);
    physics->fittings->holds[index].wants_lock = on && !physics->fittings->holds[index].is_on;
    physics->fittings->holds[index].is_on = on;
    if (!on)
        release(physics, index);
}

// ---- state, saving ----

bool holds_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->fittings->holder_count; i++) {
        HoldState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        if (state.peer < -1 || state.peer >= physics->solid_count
            || (state.peer >= 0 && !physics->solids[state.peer].is_alive))
            return false;
        for (int k = 0; state.first && state.peer >= 0 && k < 2; k++)
            if (!state_pose_is_sound(state.anchored[k]))
                return false;
    }
    return true;
}

void holders_restored(Physics *physics)
{
    Fittings *machines = physics->fittings;
    for (int i = 0; i < machines->holder_count; i++) {
        Holder *holder = &machines->holders[i];
        HoldState kept = machines->holds[i];
        constraint_unmake(physics, holder->joint);
        holder->joint = NULL;
        if (!kept.first || kept.peer < 0)
            continue;
        make_hold(physics, i, kept.peer, kept.anchored[0], kept.anchored[1]);
        machines->holds[i] = kept;
    }
}

void holders_sync_scene(Physics *physics)
{
    Fittings *machines = physics->fittings;
    for (int i = 0; i < machines->holder_count; i++) {
        const char *field = hold_field(machines->holders[i].node);
        if (scene_bool(machines->holders[i].node, field) != (machines->holds[i].is_on != 0))
            scene_set_bool(physics->scene, machines->holders[i].node, field, machines->holds[i].is_on);
    }
}

const char *fittings_joint_owner(const Physics *physics, const void *joint)
{
    const Fittings *machines = physics->fittings;
    for (int i = 0; machines && i < machines->holder_count; i++)
        if (machines->holders[i].joint && machines->holders[i].joint->ode == joint && machines->holds[i].first)
            return physics_solid_label(physics, machines->holders[i].solid);
    return NULL;
}
