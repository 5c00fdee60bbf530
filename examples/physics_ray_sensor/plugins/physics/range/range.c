/* A distance sensor made of a ray: a geom of the plugin's own in the world's space. webots_physics_collide() is asked
 * about it like about every other geom; the nearest hit of a step is the reading. */
#include <plugins/physics.h>

#define RANGE 10.0

static dGeomID ray, cart_geom;
static dBodyID cart;
static double nearest;

DLLEXPORT void webots_physics_init(void)
{
    cart = dWebotsGetBodyFromDEF("CART");
    cart_geom = dWebotsGetGeomFromDEF("CART");
    if (!cart || !cart_geom)
        return;
    ray = dCreateRay(dGeomGetSpace(cart_geom), RANGE);
    dGeomSetDynamicFlag(ray);
}

DLLEXPORT void webots_physics_step(void) { nearest = RANGE; }

DLLEXPORT int webots_physics_collide(dGeomID g1, dGeomID g2)
{
    if (!ray || (!dAreGeomsSame(g1, ray) && !dAreGeomsSame(g2, ray)))
        return 0;
    if (dAreGeomsSame(g1, cart_geom) || dAreGeomsSame(g2, cart_geom))
        return 1;
    /* The ray stands where the cart is now. */
    const dReal *position = dBodyGetPosition(cart);
    dVector3 ahead;
    dBodyVectorToWorld(cart, 1, 0, 0, ahead);
    dGeomRaySet(ray, position[0], position[1], position[2], ahead[0], ahead[1], ahead[2]);
    dContactGeom hit;
    if (dCollide(g1, g2, 1, &hit, sizeof hit) > 0 && hit.depth < nearest)
        nearest = hit.depth;
    return 1;
}

DLLEXPORT void webots_physics_step_end(void)
{
    static int count;
    if (count++ % 50 == 0)
        dWebotsConsolePrintf("at %.0f ms: distance %.4f, x %.4f", dWebotsGetTime(), nearest,
                             cart ? dBodyGetPosition(cart)[0] : 0.0);
}

DLLEXPORT void webots_physics_cleanup(void)
{
    if (ray)
        dGeomDestroy(ray);
    ray = NULL;
}
