/* Lift and thrust on a glider: extra forces, the most common use of a plugin.
 * The wing lifts with the square of the speed along the body's x axis, the engine pushes along it. */
#include <plugins/physics.h>

static dBodyID glider;

DLLEXPORT void webots_physics_init(void)
{
    glider = dWebotsGetBodyFromDEF("GLIDER");
    if (!glider)
        dWebotsConsolePrintf("there is no body GLIDER");
}

DLLEXPORT void webots_physics_step(void)
{
    if (!glider)
        return;
    const dReal *velocity = dBodyGetLinearVel(glider);
    dVector3 own;
    dBodyVectorFromWorld(glider, velocity[0], velocity[1], velocity[2], own);
    const double lift = 0.5 * 1.2 * 0.4 * 1.1 * own[0] * own[0];
    const double drag = 0.5 * 1.2 * 0.4 * 0.06 * own[0] * (own[0] < 0.0 ? -own[0] : own[0]);
    dBodyAddRelForce(glider, 4.0 - drag, -5.0 * own[1], lift - 8.0 * own[2]);
    /* Tail and wing tips hold it straight. */
    const dReal *turn = dBodyGetAngularVel(glider);
    dBodyAddTorque(glider, -0.5 * turn[0], -0.5 * turn[1], -0.5 * turn[2]);
}

DLLEXPORT void webots_physics_cleanup(void) { glider = NULL; }
