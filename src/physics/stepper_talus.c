// Our own solver behind the stepper seam. ODE's bodies, joints and contact joints are read at the start of each step, so
// what a plugin did acts in it, and written at its end.
#include "physics/physics_internal.h"

#include "base/memory.h"
#include "physics/solver_ode.h"

#include <stdlib.h>

typedef struct StepperTalus {
    SolverOde *solver;  // NULL: this ODE cannot be read, its exact step is used
} StepperTalus;

static void *talus_create(Physics *physics)
{
    StepperTalus *self = memory_alloc(sizeof *self);
    self->solver = solver_ode_create(physics->world, &(SolverOptions){ .pool = physics->pool });
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

// The solid of a body of the solver; a body that a plugin made has none.
static const char *body_label(const Physics *physics, dBodyID body)
{
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->bodies[i].ode == body)
            return solid_label(physics, physics->bodies[i].solid);
    return "a plugin's body";
}

static void talus_explain(void *state, Physics *physics, Text *out)
{
    static const char *const method_names[] = {
        [SOLVER_DIRECT] = "direct", [SOLVER_SWEPT] = "direct joints, swept contacts", [SOLVER_ITERATIVE] = "iterative"
    };
    const StepperTalus *self = state;
    if (!self->solver) {
        text_printf(out, "ode-exact: %s\n", solver_ode_problem());
        return;
    }
    const Solver *solver = solver_ode_solver(self->solver);
    const SolverStatistics *sum = solver_statistics(solver);
    const SolverIsland *islands;
    int count = solver_islands(solver, &islands);
    for (int i = 0; i < count; i++)
        text_printf(out, "island of '%s': %d bodies, %d joint rows, %d contacts: %s\n",
                    body_label(physics, solver_ode_body_at(self->solver, islands[i].first_body)), islands[i].body_count,
                    islands[i].joint_row_count, islands[i].contact_count, method_names[islands[i].method]);
    text_printf(out, "solver: %d direct, %d swept and %d iterative islands, %d rows with bounds (%d in the largest), %d pivot rounds, %d sweeps, "
                "%d solved again, %d fallbacks, %d redundant rows, %d bodies stopped\n",
                sum->direct_island_count, sum->swept_island_count, sum->iterative_island_count, sum->dense_row_count, sum->largest_dense,
                sum->pivot_round_count, sum->sweep_count,
                sum->restart_count, sum->fallback_count, sum->redundant_count, sum->body_reset_count);
}

const StepperType stepper_talus = {
    .name = "talus", .help = "our own: exact and linear in the size of a robot, iterative for piles", .wants_ode_contacts = true,
    .create = talus_create, .destroy = talus_destroy, .step = talus_step,
    .state_size = talus_state_size, .save = talus_save, .restore = talus_restore, .explain = talus_explain,
};
