/* @: a physics plugin. Named by the field `physics` of a world's WorldInfo. */
#include <plugins/physics.h>

static dBodyID body;

/* When the world is loaded and after a reset. Look up bodies and geoms here; what is not found is NULL. */
DLLEXPORT void webots_physics_init(void)
{
  body = dWebotsGetBodyFromDEF("BOX");
  if (!body)
    dWebotsConsolePrintf("there is no Solid DEF BOX with Physics");
}

/* Before every step: forces that are added here act in this step. */
DLLEXPORT void webots_physics_step(void)
{
  if (body)
    dBodyAddForce(body, 100.0, 0.0, 0.0);
}

/* For every pair of geoms whose boxes overlap. 0: the simulator goes on as always. 1: handled here (make contact joints
 * with dCollide() and dWebotsGetContactJointGroup()). 2: handled, and shown as colliding. */
DLLEXPORT int webots_physics_collide(dGeomID g1, dGeomID g2)
{
  (void)g1;
  (void)g2;
  return 0;
}

/* After every step. */
DLLEXPORT void webots_physics_step_end(void)
{
}

/* Before a reset and at the end: undo what init did. */
DLLEXPORT void webots_physics_cleanup(void)
{
  body = NULL;
}
