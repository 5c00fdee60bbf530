// Our own solver behind the stepper seam. ODE's bodies, joints and contact joints are read at the start of each step, so
// what a plugin did acts in it, and written at its end.
#include "physics/physics_internal.h"

#include "base/memory.h"
#include "physics/solver_ode.h"

#include <stdlib.h>

typedef struct StepperTalus {
    SolverOde *solver;  // NULL: this ODE cannot be read, its exact step is used
    Pool *pool;
} StepperTalus;

static void *talus_create(Physics *physics)
{
    StepperTalus *self = memory_alloc(sizeof *self);
    if (physics->threads > 1)
        self->pool = pool_create(physics->threads);
    self->solver = solver_ode_create(physics->world, &(SolverOptions){ .pool = self->pool });
    if (!self->solver) {
        diag_warning(physics->diags, (SourcePos){ 0 }, "the stepper 'talus' cannot work with this ODE library: %s; using 'ode-exact'",
                     solver_ode_problem());
        diag_hint(physics->diags, "Talus is made for Debian's libode 0.16, double precision");
    }
    return self;
}

static void talus_destroy(void *state)
{
    StepperTalus *self = state;
    solver_ode_destroy(self->solver);
    pool_destroy(self->pool);
    free(self);
}

static void talus_step(void *state, Physics *physics, double dt)
{
    StepperTalus *self = state;
    if (self->solver)
        solver_ode_step(self->solver, dt);
    else
        dWorldStep(physics->world, dt);
    body_gather(physics);
}

static size_t talus_state_size(void *state)
{
    const StepperTalus *self = state;
    return self->solver ? solver_state_size(solver_ode_solver(self->solver)) : 0;
}

static void talus_save(void *state, void *buffer)
{
    const StepperTalus *self = state;
    if (self->solver)
        solver_state_save(solver_ode_solver(self->solver), buffer);
}

static void talus_restore(void *state, const void *buffer, size_t size)
{
    const StepperTalus *self = state;
    if (self->solver)
        solver_state_restore(solver_ode_solver(self->solver), buffer, size);
}

const StepperType stepper_talus = {
    .name = "talus", .help = "our own: exact and linear in the size of a robot, iterative for piles", .wants_ode_contacts = true,
    .create = talus_create, .destroy = talus_destroy, .step = talus_step,
    .state_size = talus_state_size, .save = talus_save, .restore = talus_restore,
};
