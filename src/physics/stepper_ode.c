// ODE's two solvers behind the stepper seam: the reference twins of our own.
#include "physics/physics_internal.h"

#include <pthread.h>

static void step_exact(void *self, Physics *physics, double dt)
{
    (void)self;
    dWorldStep(physics->world, dt);
    body_gather(physics);
}

// The quick step draws from ODE's one generator for the whole process, so worlds on several threads take turns.
static void step_quick(void *self, Physics *physics, double dt)
{
    (void)self;
    static pthread_mutex_t generator = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&generator);
    dRandSetSeed((unsigned long)(physics->seed + physics->step) & 0xffffffffu);
    dWorldQuickStep(physics->world, dt);
    pthread_mutex_unlock(&generator);
    body_gather(physics);
}

const StepperType stepper_ode_exact = {
    .name = "ode-exact", .help = "ODE's dWorldStep: exact, cubic in the size of an island", .wants_ode_contacts = true, .step = step_exact,
};
const StepperType stepper_ode_quick = {
    .name = "ode-quick", .help = "ODE's dWorldQuickStep: iterative, for loose bodies", .wants_ode_contacts = true, .step = step_quick,
};
