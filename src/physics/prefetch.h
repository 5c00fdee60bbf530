// prefetch.h - fetching what the next world of a batch reads while this one is stepped. For the folder alone.
#ifndef TALUS_PHYSICS_PREFETCH_H
#define TALUS_PHYSICS_PREFETCH_H

#include "physics/physics_internal.h"

// The worlds that this thread steps after this one, NULL: none.
typedef struct PrefetchPlan {
    const Physics *next, *after;
} PrefetchPlan;

// What the stepper of a world has: itself, the solver that it points to, what that remembers.
typedef enum StepperPart { STEPPER_ITSELF, STEPPER_SOLVER, STEPPER_MEMORY } StepperPart;
void stepper_talus_prefetch(const Physics *next, StepperPart part);

// A part in each phase. Each follows pointers that the one before has fetched.
void prefetch_at_prestep(const Physics *next);
void prefetch_at_read(const Physics *next);
// Rows [begin, end) of its states, a few beside each constraint of this world: of what is asked for at once much is
// forgotten.
void prefetch_at_constraints(const Physics *next, int begin, int end);
void prefetch_at_solve(const Physics *next);
void prefetch_at_write(const Physics *next);
void prefetch_at_collide(const Physics *next, const Physics *after);

// The world to fetch, NULL: none.
static inline const Physics *prefetch_next(const Physics *physics)
{
    return physics->plan ? physics->plan->next : NULL;
}

#endif
