// Contacts of the plugin's own: the puck slides without friction, everything else is left to the simulator.
#include <plugins/physics.h>

static dGeomID puck, ground;
static dWorldID world;
static pthread_mutex_t mutex;

DLLEXPORT void webots_physics_init(dWorldID given_world, dSpaceID, dJointGroupID)
{
  world = given_world;
  pthread_mutex_init(&mutex, NULL);
  puck = dWebotsGetGeomFromDEF("PUCK");
  ground = dWebotsGetGeomFromDEF("FLOOR");
  if (!puck || !ground)
    dWebotsConsolePrintf("PUCK or FLOOR is missing");
}

DLLEXPORT void webots_physics_step()
{
}

static bool is_pair(dGeomID a, dGeomID b)
{
  return (dAreGeomsSame(a, puck) && dAreGeomsSame(b, ground)) || (dAreGeomsSame(b, puck) && dAreGeomsSame(a, ground));
}

DLLEXPORT int webots_physics_collide(dGeomID g1, dGeomID g2)
{
  if (!is_pair(g1, g2))
    return 0;
  dContact contacts[8];
  const int count = dCollide(g1, g2, 8, &contacts[0].geom, sizeof(dContact));
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < count; i++) {
    contacts[i].surface.mode = dContactApprox1 | dContactSoftCFM;
    contacts[i].surface.mu = 0;
    contacts[i].surface.soft_cfm = 1e-5;
    const dJointID joint = dJointCreateContact(world, dWebotsGetContactJointGroup(), &contacts[i]);
    dJointAttach(joint, dGeomGetBody(contacts[i].geom.g1), dGeomGetBody(contacts[i].geom.g2));
  }
  pthread_mutex_unlock(&mutex);
  return count > 0 ? 2 : 1;
}

DLLEXPORT void webots_physics_cleanup()
{
  pthread_mutex_destroy(&mutex);
}
