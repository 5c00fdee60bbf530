/* Takes what robots send on channel 0, pushes the robot up by it, and answers on channel 1 with its height. */
#include <plugins/physics.h>
#include <string.h>

static dBodyID talker;

DLLEXPORT void webots_physics_init(void) { talker = dWebotsGetBodyFromDEF("TALKER"); }

DLLEXPORT void webots_physics_step(void)
{
    int size = 0;
    const char *bytes = (const char *)dWebotsReceive(&size);
    for (int at = 0; bytes && at + (int)sizeof(double) <= size; at += (int)sizeof(double)) {
        double force;
        memcpy(&force, bytes + at, sizeof force);
        dBodyAddForce(talker, 0, 0, force);
        const double height = dBodyGetPosition(talker)[2];
        dWebotsSend(1, &height, sizeof height);
    }
}

DLLEXPORT void webots_physics_cleanup(void) {}
