/* Weighs a box: its contacts are made here with feedback, which holds the forces of the step when it ends. */
#include <plugins/physics.h>

#define MOST 10

static dGeomID weight, ground;
static dJointFeedback feedbacks[2][MOST];
static int counts[2], now, steps;

DLLEXPORT void webots_physics_init(void)
{
    weight = dWebotsGetGeomFromDEF("WEIGHT");
    ground = dWebotsGetGeomFromDEF("FLOOR");
    counts[0] = counts[1] = now = steps = 0;
}

/* Contacts found in one step act in the next: two sets take turns. */
DLLEXPORT void webots_physics_step(void)
{
    now = 1 - now;
    counts[now] = 0;
}

DLLEXPORT int webots_physics_collide(dGeomID g1, dGeomID g2)
{
    if (!(dAreGeomsSame(g1, weight) && dAreGeomsSame(g2, ground))
        && !(dAreGeomsSame(g2, weight) && dAreGeomsSame(g1, ground)))
        return 0;
    dContact contacts[MOST];
    const int count = dCollide(g1, g2, MOST, &contacts[0].geom, sizeof(dContact));
    const dWorldID world = dBodyGetWorld(dGeomGetBody(weight));
    for (int i = 0; i < count; i++) {
        contacts[i].surface.mode = dContactBounce | dContactSoftCFM;
        contacts[i].surface.mu = 1;
        contacts[i].surface.bounce = 0;
        contacts[i].surface.bounce_vel = 0;
        contacts[i].surface.soft_cfm = 1e-5;
        const dJointID joint = dJointCreateContact(world, dWebotsGetContactJointGroup(), &contacts[i]);
        dJointAttach(joint, dGeomGetBody(g1), dGeomGetBody(g2));
        dJointSetFeedback(joint, &feedbacks[now][counts[now]++]);
    }
    return 1;
}

DLLEXPORT void webots_physics_step_end(void)
{
    double force = 0;
    for (int i = 0; i < counts[1 - now]; i++)
        force += feedbacks[1 - now][i].f1[2];
    if (++steps % 100 == 0)
        dWebotsConsolePrintf("%.0f ms: %.2f N from %d contacts\n", dWebotsGetTime(), force < 0 ? -force : force,
                             counts[1 - now]);
}

DLLEXPORT void webots_physics_cleanup(void) {}
