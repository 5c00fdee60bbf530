// mirror_contact.c - contact joints of ODE's for those contacts that it needs: under its own steppers, and where a
// plugin reaches them.
#include "physics/mirror.h"

#include <assert.h>
#include <string.h>

// ODE wants to be told which of the numbers count.
static int mode_of(const PhysicsContact *contact, const PhysicsSurface *surface)
{
    static const struct {
        uint32_t flag;
        int mode;
    } modes[] = {
        { SOLVER_CONTACT_SOFT_ERP, dContactSoftERP },    { SOLVER_CONTACT_SOFT_CFM, dContactSoftCFM },
        { SOLVER_CONTACT_BOUNCE, dContactBounce },       { SOLVER_CONTACT_FDIR1, dContactFDir1 },
        { SOLVER_CONTACT_APPROX1_1, dContactApprox1_1 }, { SOLVER_CONTACT_APPROX1_2, dContactApprox1_2 },
        { SOLVER_CONTACT_APPROX1_N, dContactApprox1_N }, { SOLVER_CONTACT_ROLLING, dContactRolling },
    };
    bool has_axes = surface->mu2 != surface->mu || surface->rho2 != surface->rho || surface->rhoN != surface->rho;
    int mode = (has_axes ? dContactAxisDep : 0) | (surface->slip1 != 0.0 ? dContactSlip1 : 0)
               | (surface->slip2 != 0.0 ? dContactSlip2 : 0) | (surface->motion1 != 0.0 ? dContactMotion1 : 0)
               | (surface->motion2 != 0.0 ? dContactMotion2 : 0)
               | (contact->target_normal_speed != 0.0 ? dContactMotionN : 0);
    for (int i = 0; i < COUNT_OF(modes); i++)
        mode |= surface->flags & modes[i].flag ? modes[i].mode : 0;
    return mode;
}

static void describe(const PhysicsContact *contact, const PhysicsSurface *from, dContact *out)
{
    memset(out, 0, sizeof(*out));
    dSurfaceParameters *surface = &out->surface;
    surface->mode = mode_of(contact, from);
    surface->mu = from->mu;
    surface->mu2 = from->mu2;
    surface->rho = from->rho;
    surface->rho2 = from->rho2;
    surface->rhoN = from->rhoN;
    surface->bounce = from->bounce;
    surface->bounce_vel = from->bounce_velocity;
    surface->soft_erp = from->soft_erp;
    surface->soft_cfm = from->soft_cfm;
    surface->motion1 = from->motion1;
    surface->motion2 = from->motion2;
    surface->motionN = contact->target_normal_speed;
    surface->slip1 = from->slip1;
    surface->slip2 = from->slip2;
    memcpy(out->geom.pos, &contact->point, sizeof contact->point);
    memcpy(out->geom.normal, &contact->normal, sizeof contact->normal);
    memcpy(out->fdir1, &from->fdir1, sizeof from->fdir1);
    out->geom.depth = contact->depth;
}

static bool is_on_outside(const Physics *physics, const PhysicsContact *contact, int side)
{
    return contact->shape[side] >= 0 && physics->shapes[contact->shape[side]].is_outside;
}

static dBodyID ode_body(const Physics *physics, const PhysicsContact *contact, int side)
{
    if (is_on_outside(physics, contact, side))
        return dGeomGetBody(physics->shapes[contact->shape[side]].ode);  // it may have been destroyed since
    return contact->body[side] >= 0 ? physics->bodies[contact->body[side]].ode : NULL;
}

void mirror_contact_make(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    dContact ode;
    describe(contact, physics_contact_surface(physics, index), &ode);
    for (int i = 0; i < 2; i++)
        if (contact->shape[i] >= 0) {
            *(i == 0 ? &ode.geom.g1 : &ode.geom.g2) = physics->shapes[contact->shape[i]].ode;
        }
    dJointID joint = dJointCreateContact(physics->world, contact->is_asleep ? NULL : physics->contact_group, &ode);
    dJointAttach(joint, ode_body(physics, contact, 0), ode_body(physics, contact, 1));
    contact_set_joint(physics, index, joint);
}

void mirror_contact_destroy(Physics *physics, int index)
{
    dJointID joint = contact_joint(physics, index);
    if (joint)
        dJointDestroy(joint);
    contact_set_joint(physics, index, NULL);
}

void mirror_contacts_drop(Physics *physics)
{
    if (mirror_is_open(physics))
        dJointGroupEmpty(physics->contact_group);
}

void mirror_contact_wants_force(Physics *physics, int index, bool want)
{
    dJointSetFeedback(contact_joint(physics, index), want ? (dJointFeedback *)&physics->feedbacks[index] : NULL);
}
