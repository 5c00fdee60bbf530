// prefetch.h - fetching what the next world of a batch reads while this one is stepped. For the folder alone.
#ifndef TALUS_PHYSICS_PREFETCH_H
#define TALUS_PHYSICS_PREFETCH_H

#include "physics/physics.h"

typedef enum PrefetchPart {
    PREFETCH_AT_PRESTEP,
    PREFETCH_AT_READ,
    PREFETCH_AT_SOLVE,
    PREFETCH_AT_COLLIDE,
    PREFETCH_AT_POSTSTEP
} PrefetchPart;

typedef struct PrefetchPlan {
    const Physics *next, *after;  // the worlds that this thread steps after this one, NULL: none
} PrefetchPlan;

// What the stepper of a world has: itself, the solver that it points to, what that remembers.
typedef enum StepperPart { STEPPER_ITSELF, STEPPER_SOLVER, STEPPER_MEMORY } StepperPart;
void stepper_talus_prefetch(const Physics *next, StepperPart part);

void prefetch_part(const PrefetchPlan *plan, PrefetchPart part);

#endif
