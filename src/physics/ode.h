// ode.h - ODE's objects behind solids, for the plugin host alone (it hands them to plugins).
#ifndef TALUS_PHYSICS_ODE_H
#define TALUS_PHYSICS_ODE_H

#include "physics/physics.h"

#include <ode/ode.h>

dWorldID physics_ode_world(const Physics *physics);
dSpaceID physics_ode_space(const Physics *physics);
dJointGroupID physics_ode_contact_group(const Physics *physics);
dBodyID physics_ode_body(const Physics *physics, int solid);  // of the merged assembly, NULL when kinematic
dGeomID physics_ode_geom(const Physics *physics, int solid);  // the only one, or the space of several, NULL
int physics_ode_shape(const Physics *physics, dGeomID geom);  // -1 when it is not ours
// Called for every pair before the default handling: 0 default, 1 handled, 2 handled and marked colliding.
typedef int (*PhysicsCollideHook)(void *context, dGeomID a, dGeomID b);
void physics_ode_set_collide_hook(Physics *physics, PhysicsCollideHook hook, void *context);

#endif
