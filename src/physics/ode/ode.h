// ode.h - ODE's objects behind solids, for the plugin host alone (it hands them to plugins).
#ifndef TALUS_PHYSICS_ODE_H
#define TALUS_PHYSICS_ODE_H

#include "physics/physics.h"

#include <ode/ode.h>

// From now on somebody may read and change what is ODE's: bodies, forces, joints and what he adds himself in any way,
// the rest as far as `reach` tells. Nothing of that is skipped or kept elsewhere. Whoever takes one of the handles
// below that are marked * without a word before reaches all.
typedef enum PhysicsReach {
    PHYSICS_REACHES_CONTACTS = 1,  // contact joints of ours: they stand in ODE from the next pass on
    PHYSICS_REACHES_SHAPES = 2,    // geoms of ours are moved or changed by him
    PHYSICS_REACHES_ALL = PHYSICS_REACHES_CONTACTS | PHYSICS_REACHES_SHAPES
} PhysicsReach;
void physics_ode_hand_out(Physics *physics, unsigned reach);
// Contacts of the last pass are no joints in ODE between the two calls, and then those that somebody reaches are.
void physics_ode_hide_contacts(Physics *physics);
void physics_ode_show_contacts(Physics *physics);
dWorldID physics_ode_world(const Physics *physics);
dSpaceID physics_ode_space(const Physics *physics);
dBodyID physics_ode_body(const Physics *physics, int solid);  // * of the merged assembly, NULL when kinematic
dGeomID physics_ode_geom(const Physics *physics, int solid);  // * the only one, or the space of several, NULL
// The form of a geom and its size (assets/geometry.h); GEOMETRY_NONE for those without a formula.
GeometryKind physics_geom_form(dGeomID geom, Vec3 *size);
// Of which solid of ours a body, geom, space or joint is part, by its label; "the world" for what all share; NULL: not
// ours.
const char *physics_ode_owner(const Physics *physics, const void *object);
// Somebody who is asked about pairs. Spaces are asked for too, once a pass: an answer other than 0 goes for all shapes
// of the two. With a hook all pairs whose boxes overlap are asked for, static and sleeping ones included, and those of
// geoms that a plugin put into the space.
typedef struct PhysicsCollideHook {
    int (*collide)(void *context, dGeomID a,
                   dGeomID b);     // before the default handling: 0 default, 1 handled, 2 handled and marked colliding
    void (*begin)(void *context);  // before every pass
    // Calls pairs(pass), which asks about pairs of ours one by one. A question may be left by a jump out of it: the
    // pass goes on with the same one when this returns.
    void (*run)(void *context, void (*pairs)(void *pass), void *pass);
    void *context;
} PhysicsCollideHook;
void physics_ode_set_collide_hook(Physics *physics, const PhysicsCollideHook *hook);  // NULL: none
// A force or torque on body `body` that is not finite: it is taken away. False when both are finite.
int physics_ode_drop_bad_force(Physics *physics);  // a body whose force was not finite and is zero now, else -1
// After somebody wrote to ODE's bodies outside a step: poses of bodies and solids are what ODE has now.
void physics_ode_take_bodies(Physics *physics);

// For a reset, before the state at load is restored: what somebody set on ODE's objects is as it was when they were
// made.
void physics_ode_take_back(Physics *physics);

// On this thread, from now on: why ODE refuses a call (it then aborts) is kept rather than printed if `is_foreign` says
// that a plugin made it. NULL: no call is a plugin's.
void physics_ode_keep_errors(bool (*is_foreign)(void));
const char *physics_ode_error(void);  // NULL: it did not refuse any

#endif
