// solver_ode.h - our solver as the stepper of an ODE world: what anybody did to the world through ODE's API (bodies,
// forces, joints of every type, contact joints, sleeping) acts in the same step, and ODE's bodies and joint feedback
// carry the result. Nothing is hooked: bodies and joints are found in ODE's own lists.
//
// ODE's public API names neither a world's bodies and joints nor the rows of a joint. Both are reached through the
// loaded library itself (layout.h). When it is not as expected, solver_ode_problem() says so and ODE's own steps
// remain. A plugin sees one ODE, loaded in whatever way.
#ifndef TALUS_PHYSICS_SOLVER_ODE_H
#define TALUS_PHYSICS_SOLVER_ODE_H

#include "physics/solver/solver.h"

#include <ode/ode.h>

const char *solver_ode_problem(void);  // why this ODE cannot be stepped by us, NULL when it can

typedef struct SolverOde SolverOde;
SolverOde *solver_ode_create(dWorldID world, const SolverOptions *options);  // NULL when there is a problem
// The same with a solver of the caller's, whose bodies are already numbered as the world lists them.
SolverOde *solver_ode_create_on(dWorldID world, Solver *solver, Pool *pool);
void solver_ode_destroy(SolverOde *self);  // NULL is fine; the world is the caller's

// In place of dWorldStep(). Between begin and finish contacts without an ODE joint may be added. Before them, unless
// the caller has vouched for the awake bodies, those wake that something connects to an awake one: joints, and links
// that the caller tells.
void solver_ode_begin(SolverOde *self, double dt);
bool solver_ode_wake_begin(SolverOde *self);  // false: nobody sleeps, there is nothing to be told
void solver_ode_wake_link(SolverOde *self, int body1, int body2);
void solver_ode_wake_end(SolverOde *self);
int solver_ode_body(const SolverOde *self, dBodyID body);  // index for SolverContact, -1 for NULL
// To be filled, each with its own surface; valid until more are added.
SolverContact *solver_ode_add_contacts(SolverOde *self, int count, SolverSurface **surfaces);
void solver_ode_hold(SolverOde *self, int contact, Vec3 impulse);  // what one of them begins with
// What a contact joint's data say; `sign` is -1 when it was attached to nothing first, which turns the normal round.
// Bodies by index.
void solver_ode_read_contact(const dContact *from, double sign, int body1, int body2, SolverContact *to,
                             SolverSurface *out);
// For the step after this call alone, in place of looking at every body: the caller says that the world's bodies are
// those of the last step, none falls asleep by ODE's own rule, and that just these are enabled, waking done. Indices as
// above.
void solver_ode_set_awake_list(SolverOde *self, const int32_t *awake, int count);
void solver_ode_finish(SolverOde *self);
void solver_ode_step(SolverOde *self, double dt);  // begin, wake and finish
// Contacts of the last step: those added, then those of ODE's contact joints.
const SolverContact *solver_ode_contacts(const SolverOde *self, int *count);

Solver *solver_ode_solver(SolverOde *self);
// What the solver remembered in another run of steps, for the bodies that the next step finds.
void solver_ode_restore(SolverOde *self, const void *buffer, size_t size);

#endif
