// body_io.c - the way back from the rim: what a plugin or a stepper of ODE's did to the twins of bodies becomes our
// state.
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include <assert.h>

static Vec3 from_ode(const dReal *v) { return vec3(v[0], v[1], v[2]); }

static bool has_moved(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    const dReal *p = dBodyGetPosition(ode), *q = dBodyGetQuaternion(ode);
    const BodyState *state = &physics->body_states[index];
    return p[0] != state->position.x || p[1] != state->position.y || p[2] != state->position.z
           || q[0] != state->orientation.w || q[1] != state->orientation.x || q[2] != state->orientation.y
           || q[3] != state->orientation.z;
}

static void gather(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    assert_debug(body->ode);
    BodyState *state = &physics->body_states[index];
    const dReal *q = dBodyGetQuaternion(body->ode);
    state->is_disabled = !dBodyIsEnabled(body->ode);
    state->position = from_ode(dBodyGetPosition(body->ode));
    state->orientation = (Quat){ q[0], q[1], q[2], q[3] };
    state->linear = from_ode(dBodyGetLinearVel(body->ode));
    state->angular = from_ode(dBodyGetAngularVel(body->ode));
}

static void gather_range(int begin, int end, int worker, void *context)
{
    const SleepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        gather(work->physics, work->awake[i]);
}

// A sleeping body changes only through us, unless others hold ODE's objects: then all are read, and the awake set is
// written anew if they put somebody to sleep or woke him. Who is moved in his sleep stays asleep, as in ODE.
void body_gather(Physics *physics)
{
    if (!mirror_is_open(physics))
        return;
    const Sleep *sleep = physics->sleep;
    if (sleep->is_valid && !physics->plugin_holds_ode) {
        sleep_for_awake(physics, gather_range);
        return;
    }
    bool is_right = sleep->is_valid && sleep->body_count == physics->body_count;
    for (int i = 0; i < physics->body_count; i++) {
        if (!physics->bodies[i].is_alive)
            continue;
        bool is_put = physics->body_states[i].is_disabled && has_moved(physics, i);
        gather(physics, i);
        if (is_put)
            body_moved_asleep(physics, i);
        is_right = is_right && sleep->is_listed[i] == !physics->body_states[i].is_disabled;
    }
    if (is_right)
        return;
    physics->needs_full_pass |= physics->plugin_holds_ode;
    sleep_forget(physics);
    sleep_refresh(physics);
}

void bodies_enabled_outside(Physics *physics)
{
    for (int i = 0; physics->plugin_holds_ode && i < physics->body_count; i++) {
        BodyState *state = &physics->body_states[i];
        if (physics->bodies[i].is_alive && state->is_disabled && !state->is_frozen
            && dBodyIsEnabled(physics->bodies[i].ode))
            state->idle_left = physics->disable_time;
    }
}

// ---- forces ----

void mirror_body_push(Physics *physics, int index, Vec3 force, Vec3 torque)
{
    assert(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    dBodyAddForce(ode, force.x, force.y, force.z);
    dBodyAddTorque(ode, torque.x, torque.y, torque.z);
}

void mirror_body_force(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->body_count);
    dBodyID ode = physics->bodies[index].ode;
    const BodyState *state = &physics->body_states[index];
    if (!ode)
        return;
    dBodySetForce(ode, state->force.x, state->force.y, state->force.z);
    dBodySetTorque(ode, state->torque.x, state->torque.y, state->torque.z);
}

void mirror_forces_take(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++) {
        const Body *body = &physics->bodies[i];
        if (!body->ode)
            continue;
        physics->body_states[i].force = from_ode(dBodyGetForce(body->ode));
        physics->body_states[i].torque = from_ode(dBodyGetTorque(body->ode));
    }
}
