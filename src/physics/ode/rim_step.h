// rim_step.h - the step of the stepper 'talus' while there are twins in ODE.
#ifndef TALUS_PHYSICS_ODE_RIM_STEP_H
#define TALUS_PHYSICS_ODE_RIM_STEP_H

#include "physics/physics_internal.h"

typedef struct RimStep RimStep;
// The solver is the caller's and outlives it. An ODE that cannot be read is told, and stepped by itself.
RimStep *rim_step_create(Physics *physics, Solver *solver);
void rim_step_destroy(RimStep *self);  // NULL is fine
void rim_step(RimStep *self, Physics *physics, double dt);
bool rim_step_can(const RimStep *self);                                    // false: ODE steps by itself
int rim_step_body(const RimStep *self, const Physics *physics, int body);  // its number among the solver's, -1
void rim_step_restore(RimStep *self, const void *buffer, size_t size);

#endif
