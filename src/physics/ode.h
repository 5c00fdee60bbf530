// ode.h - ODE's objects behind solids, for the plugin host alone (it hands them to plugins).
#ifndef TALUS_PHYSICS_ODE_H
#define TALUS_PHYSICS_ODE_H

#include "physics/physics.h"

#include <ode/ode.h>

// From now on somebody may read and change what is ODE's in any way: nothing is skipped or kept elsewhere. The handles below
// that are marked * say so themselves.
void physics_ode_hand_out(Physics *physics);
dWorldID physics_ode_world(const Physics *physics);
dSpaceID physics_ode_space(const Physics *physics);
dJointGroupID physics_ode_contact_group(const Physics *physics);  // *
dBodyID physics_ode_body(const Physics *physics, int solid);  // * of the merged assembly, NULL when kinematic
dGeomID physics_ode_geom(const Physics *physics, int solid);  // * the only one, or the space of several, NULL
int physics_ode_shape(const Physics *physics, dGeomID geom);  // -1 when it is not ours
// Called for every pair before the default handling: 0 default, 1 handled, 2 handled and marked colliding.
typedef int (*PhysicsCollideHook)(void *context, dGeomID a, dGeomID b);
// Spaces are asked for too, once a pass: an answer other than 0 goes for all shapes of the two. With a hook all pairs whose
// boxes overlap are asked for, static and sleeping ones included, and those of geoms that a plugin put into the space.
// `begin` (NULL: none) is called before every pass.
void physics_ode_set_collide_hook(Physics *physics, PhysicsCollideHook hook, void (*begin)(void *context), void *context);
// A force or torque on body `body` that is not finite: it is taken away. False when both are finite.
int physics_ode_drop_bad_force(Physics *physics);  // a body whose force was not finite and is zero now, else -1
// After somebody wrote to ODE's bodies outside a step: poses of bodies and solids are what ODE has now.
void physics_ode_take_bodies(Physics *physics);

// While a plugin runs on this thread: why ODE refuses a call (it then aborts) is kept rather than printed. NULL: it did not.
void physics_ode_keep_errors(bool keep);
const char *physics_ode_error(void);

#endif
