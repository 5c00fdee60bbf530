/* Joints that the world has no nodes for: a ball joint to the sky, a universal joint between two bodies. */
#include <plugins/physics.h>

static dJointID ball, universal;

DLLEXPORT void webots_physics_init(void)
{
    const dBodyID upper = dWebotsGetBodyFromDEF("UPPER"), lower = dWebotsGetBodyFromDEF("LOWER");
    if (!upper || !lower)
        return;
    const dWorldID world = dBodyGetWorld(upper);
    ball = dJointCreateBall(world, 0);
    dJointAttach(ball, upper, 0);
    dJointSetBallAnchor(ball, 0, 0, 3);
    universal = dJointCreateUniversal(world, 0);
    dJointAttach(universal, upper, lower);
    dJointSetUniversalAnchor(universal, 1, 0, 3);
    dJointSetUniversalAxis1(universal, 0, 1, 0);
    dJointSetUniversalAxis2(universal, 0, 0, 1);
}

DLLEXPORT void webots_physics_step(void) {}

DLLEXPORT void webots_physics_cleanup(void)
{
    if (ball)
        dJointDestroy(ball);
    if (universal)
        dJointDestroy(universal);
    ball = universal = NULL;
}
