// mirror_contact.c - contact joints of ODE's for those contacts that it needs: under its own steppers, and where a plugin reaches them.
#include "physics/mirror.h"

#include <assert.h>
#include <string.h>

static void describe(const PhysicsContact *contact, dContact *out)
{
    memset(out, 0, sizeof(*out));
    dSurfaceParameters *surface = &out->surface;
    surface->mode = (int)contact->mode;
    surface->mu = contact->friction;
    surface->mu2 = contact->friction2;
    surface->rho = contact->rolling;
    surface->rho2 = contact->rolling2;
    surface->rhoN = contact->spinning;
    surface->bounce = contact->bounce;
    surface->bounce_vel = contact->bounce_velocity;
    surface->soft_erp = contact->soft_erp;
    surface->soft_cfm = contact->soft_cfm;
    surface->motion1 = contact->motion;
    surface->motion2 = contact->motion2;
    surface->motionN = contact->target_normal_speed;
    surface->slip1 = contact->slip;
    surface->slip2 = contact->slip2;
    out->geom.pos[0] = contact->point.x, out->geom.pos[1] = contact->point.y, out->geom.pos[2] = contact->point.z;
    out->geom.normal[0] = contact->normal.x, out->geom.normal[1] = contact->normal.y,
    out->geom.normal[2] = contact->normal.z;
    out->geom.depth = contact->depth;
    out->fdir1[0] = contact->direction.x, out->fdir1[1] = contact->direction.y, out->fdir1[2] = contact->direction.z;
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
    describe(contact, &ode);
    for (int i = 0; i < 2; i++)
        if (contact->shape[i] >= 0) {
            *(i == 0 ? &ode.geom.g1 : &ode.geom.g2) = physics->shapes[contact->shape[i]].ode;
        }
    dJointID joint = dJointCreateContact(physics->world, contact->is_asleep ? NULL : physics->contact_group, &ode);
    dJointAttach(joint, ode_body(physics, contact, 0), ode_body(physics, contact, 1));
    physics->contact_joints[index] = joint;
}

void mirror_contact_destroy(Physics *physics, int index)
{
    if (physics->contact_joints[index])
        dJointDestroy(physics->contact_joints[index]);
    physics->contact_joints[index] = NULL;
}

void mirror_contacts_drop(Physics *physics)
{
    if (mirror_is_open(physics))
        dJointGroupEmpty(physics->contact_group);
}

void mirror_contact_wants_force(Physics *physics, int index, bool want)
{
    dJointSetFeedback(physics->contact_joints[index], want ? (dJointFeedback *)&physics->feedbacks[index] : NULL);
}
