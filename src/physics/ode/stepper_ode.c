// ODE's two solvers behind the stepper seam: the reference twins of our own.
#include "physics/contacts/sleep.h"

static void step_exact(void *self, Physics *physics, double dt)
{
    (void)self;
    dWorldStep(physics->world, dt);
    sleep_forget(physics);  // ODE wakes on its own
    body_gather(physics);
}

// The quick step draws from ODE's generator.
static void step_quick(void *self, Physics *physics, double dt)
{
    (void)self;
    odelib_generator_take(physics->seed + physics->step);
    dWorldQuickStep(physics->world, dt);
    odelib_generator_give();
    sleep_forget(physics);  // ODE wakes on its own
    body_gather(physics);
}

const StepperType stepper_ode_exact = {
    .name = "ode-exact",
    .help = "ODE's dWorldStep: exact, cubic in the size of an island",
    .wants_ode = true,
    .collides_with_ode = true,
    .step = step_exact,
};
const StepperType stepper_ode_quick = {
    .name = "ode-quick",
    .help = "ODE's dWorldQuickStep: iterative, for loose bodies",
    .wants_ode = true,
    .collides_with_ode = true,
    .step = step_quick,
};
