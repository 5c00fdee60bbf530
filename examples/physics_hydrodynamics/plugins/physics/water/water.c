/* Buoyancy and drag of spheres in water whose surface is at height 0. */
#include <math.h>
#include <plugins/physics.h>

#define DENSITY 1000.0
#define RADIUS 0.2
#define DRAG 0.47

static dBodyID bodies[2];

DLLEXPORT void webots_physics_init(void)
{
    bodies[0] = dWebotsGetBodyFromDEF("BALL");
    bodies[1] = dWebotsGetBodyFromDEF("STONE");
}

/* Volume of the part of a sphere that lies under the surface. */
static double immersed_volume(double height)
{
    double depth = RADIUS - height;
    if (depth <= 0)
        return 0;
    if (depth > 2 * RADIUS)
        depth = 2 * RADIUS;
    return M_PI * depth * depth * (RADIUS - depth / 3);
}

DLLEXPORT void webots_physics_step(void)
{
    for (int i = 0; i < 2; i++) {
        if (!bodies[i])
            continue;
        const double volume = immersed_volume(dBodyGetPosition(bodies[i])[2]);
        const double part = volume / (4.0 / 3.0 * M_PI * RADIUS * RADIUS * RADIUS);
        const dReal *v = dBodyGetLinearVel(bodies[i]);
        const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        const double drag = part * (0.5 * DENSITY * DRAG * M_PI * RADIUS * RADIUS * speed + 20.0);
        dBodyAddForce(bodies[i], -drag * v[0], -drag * v[1], DENSITY * 9.81 * volume - drag * v[2]);
    }
}

DLLEXPORT void webots_physics_cleanup(void) {}
