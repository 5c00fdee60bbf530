// check_inputs.c - what a plugin gave to ODE's objects that is not finite is dropped before a step, and said.
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"
#include "physics/ode/layout.h"

static bool vector_is_finite(const dReal *v) { return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]); }

static bool force_is_sound(const Body *body)
{
    return vector_is_finite(dBodyGetForce(body->ode)) && vector_is_finite(dBodyGetTorque(body->ode));
}

static bool motion_is_sound(const Body *body)
{
    const dReal *q = dBodyGetQuaternion(body->ode);
    return vector_is_finite(dBodyGetPosition(body->ode)) && vector_is_finite(dBodyGetLinearVel(body->ode))
           && vector_is_finite(dBodyGetAngularVel(body->ode)) && vector_is_finite(q) && isfinite(q[3]);
}

static void check_input(Physics *physics, int i)
{
    assert_debug(i >= 0 && i < physics->body_count);
    const Body *body = &physics->bodies[i];
    if (!body->is_alive)
        return;
    if (!force_is_sound(body)) {
        dBodySetForce(body->ode, 0, 0, 0);
        dBodySetTorque(body->ode, 0, 0, 0);
        finite_reject(physics, i, "force or torque");
    }
    if (!motion_is_sound(body)) {
        mirror_body_state(physics, i);
        finite_reject(physics, i, "pose or velocity");
    }
}

static void input_range(int begin, int end, int worker, void *context)
{
    SleepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const Body *body = &work->physics->bodies[work->awake[i]];
        if (body->is_alive && !(force_is_sound(body) && motion_is_sound(body)))
            atomic_store(&work->has_left, true);
    }
}

static void check_world(Physics *physics)
{
    dVector3 gravity;
    dWorldGetGravity(physics->world, gravity);
    if (vector_is_finite(gravity) && isfinite(dWorldGetERP(physics->world)) && isfinite(dWorldGetCFM(physics->world)))
        return;
    diag_error(
        physics->diags, physics->info ? physics->info->pos : (SourcePos){ 0 },
        "gravity, ERP or CFM, as the physics plugin has set it, is not finite at %g s; those of the file are taken",
        (double)physics->step * physics->dt);
    mirror_settings(physics);
    physics->has_failed |= physics->nan_policy == PHYSICS_NAN_STOP;
}

// ODE's own steps do not survive a contact of numbers that are not finite.
static bool contact_is_finite(const dContact *contact)
{
    const dSurfaceParameters *surface = &contact->surface;
    return vector_is_finite(contact->geom.pos) && vector_is_finite(contact->geom.normal)
           && isfinite(contact->geom.depth) && !isnan(surface->mu)
           && (!(surface->mode & dContactMu2) || !isnan(surface->mu2))
           && (!(surface->mode & dContactFDir1) || vector_is_finite(contact->fdir1));
}

static void check_contact_joint(Physics *physics, dJointID joint, const OdeLayout *inside)
{
    if (dJointGetType(joint) != dJointTypeContact || !dJointIsEnabled(joint)
        || contact_is_finite((const dContact *)((const char *)joint + inside->contact)))
        return;
    dJointDisable(joint);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive
            && (physics->bodies[i].ode == dJointGetBody(joint, 0) || physics->bodies[i].ode == dJointGetBody(joint, 1)))
            finite_reject(physics, i, "contact");
}

static void check_contact_joints(Physics *physics)
{
    const OdeLayout *inside = ode_layout();
    if (inside->problem)
        return;
    for (dJointID joint = ode_layout_pointer(physics->world, inside->first_joint); joint;
         joint = ode_layout_pointer(joint, inside->next_joint))
        check_contact_joint(physics, joint, inside);
}

// What sleeps got nothing from us; a plugin may have given it anything.
void mirror_check_inputs(Physics *physics)
{
    if (physics->plugin_holds_ode) {
        check_world(physics);
        check_contact_joints(physics);
    }
    bool is_all = physics->plugin_holds_ode || !physics->sleep->is_valid;
    if (!is_all && !sleep_for_awake(physics, input_range))
        return;
    int count = is_all ? physics->body_count : physics->sleep->awake_count;
    for (int i = 0; i < count; i++)
        check_input(physics, is_all ? i : physics->sleep->awake[i]);
}
