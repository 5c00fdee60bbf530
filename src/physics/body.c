// body.c - the state of bodies and solids: forces on them, asleep and awake, moved by hand; and what others did to
// their twins in ODE.
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

static Pose solid_pose_now(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    if (solid->body >= 0)
        return pose_on_body(body_pose(physics, solid->body), solid->in_body);
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    return pose_mul(above, physics->solid_states[index].local);
}

static bool pose_equals(Pose a, Pose b)
{
    return vec3_is_equal(a.t, b.t) && a.q.w == b.q.w && a.q.x == b.q.x && a.q.y == b.q.y && a.q.z == b.q.z;
}

// Whether shapes without a body have to follow.
static bool update_solid(Physics *physics, int i, bool sleepers_too)
{
    assert_debug(i >= 0 && i < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[i];
    if (!solid->is_alive || (solid->body >= 0 && physics->body_states[solid->body].is_disabled && !sleepers_too))
        return false;
    Pose pose = solid_pose_now(physics, i);
    if (solid->body >= 0) {
        physics->solid_world[i] = pose;
        return false;
    }
    if (pose_equals(pose, physics->solid_world[i]))
        return false;
    physics->solid_world[i] = pose;
    return solid->shape_count > 0;
}

static int top_of(const Physics *physics, int body) { return physics->solids[physics->bodies[body].solid].top; }

// Shapes without a body that ride on others stand in the broad phase, which is for one thread.
static void place_riders_of(Physics *physics, int top)
{
    for (int i = top; i < physics->solids[top].end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        for (int s = 0; solid->is_alive && solid->body < 0 && solid->has_dynamic_parent && s < solid->shape_count; s++)
            if (physics->shapes[solid->first_shape + s].is_alive) {
                shape_place(physics, solid->first_shape + s);
                sleep_ride(physics, solid->first_shape + s);
            }
    }
}

void body_moved_asleep(Physics *physics, int body)
{
    int top = top_of(physics, body);
    bool follow = false;
    for (int i = top; i < physics->solids[top].end; i++)
        follow |= update_solid(physics, i, true);
    if (follow)
        place_riders_of(physics, top);
}

// ---- forces ----

void body_add_force(Physics *physics, int index, Vec3 force)
{
    assert(index >= 0 && index < physics->body_count);
    BodyState *state = &physics->body_states[index];
    if (physics->bodies[index].ode)
        mirror_body_push(physics, index, force, VEC3_ZERO);
    else
        state->force = vec3_add(state->force, force);
}

void body_add_torque(Physics *physics, int index, Vec3 torque)
{
    assert(index >= 0 && index < physics->body_count);
    BodyState *state = &physics->body_states[index];
    if (physics->bodies[index].ode)
        mirror_body_push(physics, index, VEC3_ZERO, torque);
    else
        state->torque = vec3_add(state->torque, torque);
}

void body_add_force_at(Physics *physics, int index, Vec3 force, Vec3 point)
{
    assert(index >= 0 && index < physics->body_count);
    body_add_force(physics, index, force);
    body_add_torque(physics, index, vec3_cross(vec3_sub(point, physics->body_states[index].position), force));
}

void body_set_force(Physics *physics, int index, Vec3 force, Vec3 torque)
{
    assert(index >= 0 && index < physics->body_count);
    physics->body_states[index].force = force;
    physics->body_states[index].torque = torque;
    mirror_body_force(physics, index);
}

// ---- asleep and awake ----

void body_rouse(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    solids_refresh(physics);  // of those that the last step moved: soon more are awake
    physics->body_states[index].is_disabled = 0;
    mirror_body_enabled(physics, index);
    sleep_on_wake(physics, index);
}

static bool is_slow(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    const BodyState *state = &physics->body_states[index];
    return vec3_length2(state->linear) <= physics->disable_linear * physics->disable_linear
           && vec3_length2(state->angular) <= physics->disable_angular * physics->disable_angular;
}

static bool may_tire(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    const BodyState *state = &physics->body_states[index];
    return physics->bodies[index].is_alive && !state->is_disabled && !state->is_frozen && sleep_is_held(physics, index);
}

static void tire_range(int begin, int end, int worker, void *context)
{
    SleepWork *work = context;
    Physics *physics = work->physics;
    (void)worker;
    for (int k = begin; k < end; k++) {
        int i = work->awake[k];
        BodyState *state = &physics->body_states[i];
        if (!may_tire(physics, i))
            continue;
        state->idle_left = is_slow(physics, i) ? state->idle_left - physics->dt : physics->disable_time;
        if (!(state->idle_left > 0.0))
            atomic_store(&work->has_left, true);
    }
}

// The rule of ODE's auto-disabling with one sample: a body that something touches or holds and that has been slower
// than both thresholds for the given time is disabled and loses its velocity. It runs where ODE's does: just before the
// islands are built.
void bodies_fall_asleep(Physics *physics)
{
    if (!(physics->disable_time > 0.0) || !sleep_for_awake(physics, tire_range))
        return;
    joints_refresh(physics);  // those of bodies that sleep are not read any more
    solids_refresh(physics);
    if (!mirror_is_open(physics))
        finite_check_inputs(physics);  // the stepper looks at those of awake bodies alone
    for (int k = 0; k < physics->sleep->awake_count; k++) {
        int i = physics->sleep->awake[k];
        BodyState *state = &physics->body_states[i];
        if (!may_tire(physics, i) || state->idle_left > 0.0)
            continue;
        state->linear = state->angular = VEC3_ZERO;
        state->is_disabled = 1;
        mirror_body_state(physics, i);
        mirror_body_enabled(physics, i);
        sleep_on_sleep(physics, i);
    }
}

void weld_place(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->weld_count);
    const WeldState *state = &physics->weld_states[index];
    constraint_anchor(physics, physics->welds[index].constraint,
                      &(ConstraintPlace){ .side = { state->anchored[1], state->anchored[0] } });
}

// The body belongs where the scene's numbers put it on the solid above, whatever pose forces hold it in now.
void weld_set(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->weld_count);
    const Weld *weld = &physics->welds[index];
    const PhysicsSolid *solid = &physics->solids[weld->solid];
    solids_refresh(physics);
    Pose world = pose_mul(physics->solid_world[solid->parent], physics->solid_states[weld->solid].local);
    Pose body = pose_mul(world, pose_inverse(solid_in_body(solid)));
    body.q = quat_normalized(body.q);
    physics->weld_states[index].anchored[0] = body;
    physics->weld_states[index].anchored[1] = weld->parent_body >= 0 ? body_pose(physics, weld->parent_body)
                                                                     : POSE_IDENTITY;
    weld_place(physics, index);
}

// The bodies of a tree mostly follow each other, but need not: who claims it first does all of it.
static bool claim_tree(const Physics *physics, int top)
{
    const Sleep *sleep = physics->sleep;
    return physics->solids[top].end == top + 1
           || __atomic_exchange_n(&sleep->claims[top], sleep->update, __ATOMIC_RELAXED) != sleep->update;
}

static void update_range(int begin, int end, int worker, void *context)
{
    SleepWork *work = context;
    Physics *physics = work->physics;
    (void)worker;
    for (int k = begin, done = -1; k < end; k++) {
        int top = top_of(physics, work->awake[k]);
        if (top == done || !claim_tree(physics, top))
            continue;
        done = top;
        bool follow = false;
        for (int i = top; i < physics->solids[top].end; i++)
            follow |= update_solid(physics, i, false);
        if (follow)
            atomic_store(&work->has_left, true);
    }
}

static void place_riders(Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    for (int k = 0, done = -1; k < sleep->awake_count; k++) {
        int top = top_of(physics, sleep->awake[k]);
        if (top == done)
            continue;
        done = top;
        place_riders_of(physics, top);
    }
}

// Solids without a body move by solid_move() alone, or with a body above them: whole trees of awake bodies are enough.
void solids_update(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    physics->are_poses_stale = false;
    int known = sleep->claim_capacity;
    memory_grow(&sleep->claims, &sleep->claim_capacity, physics->solid_count + 1, sizeof *sleep->claims);
    if (known < sleep->claim_capacity)
        memset(sleep->claims + known, 0, sizeof *sleep->claims * (size_t)(sleep->claim_capacity - known));
    sleep->update++;
    if (sleep_for_awake(physics, update_range))
        place_riders(physics);
}

// Whether some solid without a body stands on one that has one, as an end point without physics does: joints and shapes
// look at its pose in every step.
static bool has_riders(Physics *physics)
{
    if (physics->riders_sought == physics->solid_count && physics->riders_edit == physics->edit_count)
        return physics->has_riders;
    physics->has_riders = false;
    for (int i = 0; i < physics->solid_count; i++)
        physics->has_riders |= physics->solids[i].is_alive && physics->solids[i].body < 0
                               && physics->solids[i].has_dynamic_parent;
    physics->riders_sought = physics->solid_count;
    physics->riders_edit = physics->edit_count;
    return physics->has_riders;
}

// Machines, fluids, friction with a direction and what is at the rim read poses in the step itself.
static bool poses_may_wait(Physics *physics)
{
    return !mirror_is_open(physics) && !physics->fluids && !contact_surfaces_differ(physics) && !has_riders(physics);
}

void solids_moved(Physics *physics)
{
    physics->are_poses_stale = true;
    if (!poses_may_wait(physics))
        solids_update(physics);
}

static void place_kinematic(Physics *physics, int index, Pose pose)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    const PhysicsSolid *solid = &physics->solids[index];
    physics->is_at_rest = false;
    physics->solid_world[index] = pose;
    Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
    physics->solid_states[index].local = pose_mul(pose_inverse(above), pose);
    for (int k = 0; k < solid->shape_count; k++) {
        Shape *shape = &physics->shapes[solid->first_shape + k];
        if (!shape->is_alive)
            continue;
        shape_place(physics, solid->first_shape + k);
        shape->was_changed = true;
        physics->has_changed_shapes = true;
        physics->is_static_moved = true;
    }
}

void solid_move(Physics *physics, int top, Pose world)
{
    assert(top >= 0 && top < physics->solid_count);
    joints_refresh(physics);
    solids_refresh(physics);
    const PhysicsSolid *moved = &physics->solids[top];
    Pose motion = pose_mul(world, pose_inverse(physics->solid_world[top]));
    // A solid that shares the body of one above takes that one along.
    if (moved->body_owner >= 0 && moved->body_owner != top) {
        Pose target = pose_mul(motion, physics->solid_world[moved->body_owner]);
        solid_move(physics, moved->body_owner, target);
        return;
    }
    if (moved->weld >= 0)
        physics->solid_states[top].local = pose_mul(pose_inverse(physics->solid_world[moved->parent]), world);
    for (int i = top; i < moved->end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        if (!solid->is_alive)
            continue;
        Pose pose = i == top ? world : pose_mul(motion, physics->solid_world[i]);
        pose.q = quat_normalized(pose.q);
        if (solid->body < 0) {
            place_kinematic(physics, i, pose);
            continue;
        }
        if (solid->body_owner == i) {
            BodyState *state = &physics->body_states[solid->body];
            state->position = pose_apply(pose, physics->bodies[solid->body].com);
            state->orientation = pose.q;
            mirror_body_state(physics, solid->body);
            body_wake(physics, solid->body);
            // As in Webots the step that follows still has the contacts of where the body was: they are found after
            // each step.
        }
        physics->solid_world[i] = solid->body_owner == i ? pose : solid_pose_now(physics, i);
        for (int k = 0; k < solid->shape_count; k++)
            if (physics->shapes[solid->first_shape + k].is_alive)
                shape_update_box(physics, solid->first_shape + k);
    }
    for (int i = top; i < moved->end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        if (solid->is_alive && solid->weld >= 0)
            weld_set(physics, solid->weld);
    }
    pins_moved(physics, top, moved->end);
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        if (!joint->is_alive)
            continue;
        bool has_parent = joint->parent >= top && joint->parent < moved->end;
        bool has_child = joint->child >= top && joint->child < moved->end;
        if (has_parent || has_child)
            joint_moved(physics, i, has_parent && has_child);
    }
}
