// stepper.h - the seam behind which a solver moves all bodies by one time step.
// A stepper gets the Physics between two collision passes: bodies with their states and forces, joints, contacts. It
// must leave the new state in BodyState[] and, while there are twins in ODE (mirror.h), equal to the last bit in those
// (which plugins read), fill the wrenches of constraints that want them, set the forces of contacts when wanted, and
// clear the forces it used. BodyState[] is the truth; what a plugin did to the twins was read into it by body_gather()
// before.
#ifndef TALUS_PHYSICS_STEPPER_H
#define TALUS_PHYSICS_STEPPER_H

#include "base/text.h"

typedef struct Physics Physics;

typedef struct StepperType {
    const char *name;
    const char *help;
    bool wants_ode;          // everything has its twin in ODE from the start, contacts included
    bool collides_with_ode;  // dCollide finds the contact points, not kernels of ours: nothing but ODE is at work
    void *(*create)(Physics *physics);  // NULL: no state of its own
    void (*destroy)(void *self);
    void (*step)(void *self, Physics *physics, double dt);
    // State of its own that the future depends on (warm starts). NULL: none. `size` may differ from step to step.
    size_t (*state_size)(void *self);
    void (*save)(void *self, void *buffer);
    void (*restore)(void *self, const void *buffer, size_t size);  // size 0: forget everything
    // What it chose in the last step, one line per island. NULL: nothing to choose.
    void (*explain)(void *self, Physics *physics, Text *out);
} StepperType;

const StepperType *stepper_find(const char *name);  // NULL name: the default; NULL when unknown
const char *const *stepper_names(void);             // NULL-terminated

#endif
