// stepper_talus.c - our own solver behind the stepper seam. In a plain world it works on our arrays alone: awake
// bodies, the rows of their constraints and their contacts go in, poses and velocities come out. While twins stand in
// ODE (a plugin is at work), the step is rim_step.c's, on the same solver.
#include "physics/contacts/sleep.h"

#include "base/memory.h"
#include "physics/mirror.h"
#include "physics/ode/rim_step.h"
#include "physics/ode/solver_ode.h"
#include "physics/prefetch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CONTACT_GRAIN 128  // contacts that a worker describes at a time
#define BODY_GRAIN 128     // bodies

typedef struct Resting {
    int32_t contact, place;
} Resting;  // in our records, among the solver's

typedef struct StepperTalus {
    Solver *solver;
    RimStep *rim;        // once there are twins in ODE, else NULL
    uint32_t version;    // of the awake set in the last step; 0: none
    SolverBody *bodies;  // by body, awake ones as they were after the last step
    int32_t *awake;      // of the last step
    SolverJoint *joints;
    Constraint **joined;  // beside joints
    SolverRow *rows;
    SolverContact *contacts;  // copies, in a step in which some wake,
    SolverSurface *surfaces;  // and beside them
    Resting *resting;         // contacts that fall asleep in this step
    int body_count, body_capacity, awake_count, awake_capacity, joint_count, joint_capacity, joined_capacity, row_count,
        row_capacity;
    int contact_count, contact_capacity, surface_capacity, resting_count, resting_capacity;
    int woken_count;  // contacts of ours that stand first among the solver's: they wake in this step
} StepperTalus;

// What a step fills in before it reads it, so that worlds that are stepped one after the other can use the same.
struct PhysicsScratch {
    DirectScratch *direct;
    SolverBody *bodies;
    SolverRow *rows;
    SolverJoint *joints;
    Constraint **joined;
    SolverContact *contacts;
    int body_capacity, row_capacity, joint_capacity, joined_capacity, contact_capacity;
    int body_count;  // of `bodies` that were written
    PrefetchPlan plan;
};

PhysicsScratch *physics_scratch_create(void)
{
    PhysicsScratch *scratch = memory_alloc(sizeof *scratch);
    scratch->direct = direct_scratch_create();
    return scratch;
}

void physics_scratch_destroy(PhysicsScratch *scratch)
{
    if (!scratch)
        return;
    direct_scratch_destroy(scratch->direct);
    void *owned[] = { scratch->bodies, scratch->rows, scratch->joints, scratch->joined, scratch->contacts };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(scratch);
}

void physics_lend_scratch(Physics *physics, PhysicsScratch *scratch)
{
    physics->scratch = scratch;
    physics->solved_count = 0;  // another world writes its bodies there
}

void physics_plan_next(PhysicsScratch *scratch, const Physics *next, const Physics *after)
{
    scratch->plan = (PrefetchPlan){ next, after };
}

void physics_prefetch(const Physics *physics, int part)
{
    if (physics->scratch)
        prefetch_part(&physics->scratch->plan, (PrefetchPart)part);
}

static void swap_array(void *first, int *first_capacity, void *second, int *second_capacity)
{
    void *array;
    memcpy(&array, first, sizeof array);
    memcpy(first, second, sizeof array);
    memcpy(second, &array, sizeof array);
    int capacity = *first_capacity;
    *first_capacity = *second_capacity;
    *second_capacity = capacity;
}

// Exchanges the arrays of the stepper with those that were lent: before the step, and back after it. Bodies of lent
// arrays are all read anew, which is no loss where all are awake; a world of many sleepers keeps its own.
static void swap_scratch(StepperTalus *self, PhysicsScratch *scratch, bool is_lent, bool with_bodies)
{
    swap_array(&self->rows, &self->row_capacity, &scratch->rows, &scratch->row_capacity);
    swap_array(&self->joints, &self->joint_capacity, &scratch->joints, &scratch->joint_capacity);
    swap_array(&self->joined, &self->joined_capacity, &scratch->joined, &scratch->joined_capacity);
    swap_array(&self->contacts, &self->contact_capacity, &scratch->contacts, &scratch->contact_capacity);
    if (with_bodies) {
        swap_array(&self->bodies, &self->body_capacity, &scratch->bodies, &scratch->body_capacity);
        scratch->body_count = int_max(scratch->body_count, self->body_count);
        self->body_count = is_lent ? scratch->body_count : 0;
        self->version = 0;
    }
    solver_lend_scratch(self->solver, is_lent ? scratch->direct : NULL);
}

static void *talus_create(Physics *physics)
{
    StepperTalus *self = memory_alloc(sizeof *self);
    self->solver = solver_create(&(SolverOptions){ .pool = physics->pool });
    return self;
}

static void talus_destroy(void *state)
{
    StepperTalus *self = state;
    rim_step_destroy(self->rim);
    solver_destroy(self->solver);
    void *owned[] = { self->bodies, self->awake,    self->joints,   self->joined,
                      self->rows,   self->contacts, self->surfaces, self->resting };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(self);
}

// ---- bodies ----

enum { POSE_DOUBLES = 7, MOTION_DOUBLES = 6 };
static_assert(offsetof(BodyState, linear) == POSE_DOUBLES * sizeof(double),
              "position and orientation follow each other");
static_assert(offsetof(BodyState, force) == (POSE_DOUBLES + MOTION_DOUBLES) * sizeof(double),
              "and so do the velocities");
static_assert(offsetof(SolverBody, rotation) == POSE_DOUBLES * sizeof(double), "as in the solver's bodies");

static void body_read(const Physics *physics, int index, SolverBody *to)
{
    assert(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    const BodyState *state = &physics->body_states[index];
    bool is_turned = memcmp(to->quaternion, &state->orientation, sizeof to->quaternion) != 0;
    memcpy(to->position, &state->position, POSE_DOUBLES * sizeof(double));
    memcpy(to->velocity, &state->linear, MOTION_DOUBLES * sizeof(double));
    memcpy(to->force, &state->force, MOTION_DOUBLES * sizeof(double));
    if (is_turned)
        solver_body_refresh(to);
    to->mass = body->mass;
    memcpy(to->inertia, body->inertia.m, sizeof to->inertia);
    to->max_angular_speed = SOLVER_MAX_ANGULAR_SPEED;
    to->linear_damping = body->linear_damping;
    to->angular_damping = body->angular_damping;
    to->flags = SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC | SOLVER_BODY_MAX_ANGULAR_SPEED;
    to->flags |= body->linear_damping != 0.0 ? SOLVER_BODY_LINEAR_DAMPING : 0;
    to->flags |= body->angular_damping != 0.0 ? SOLVER_BODY_ANGULAR_DAMPING : 0;
    to->flags |= state->is_disabled ? SOLVER_BODY_ASLEEP : 0;
    to->flags |= state->is_frozen ? SOLVER_BODY_KINEMATIC : 0;
}

typedef struct BodyWork {
    StepperTalus *self;
    Physics *physics;
    const int32_t *awake;
    double slow_turn2;        // rad^2/s^2, see joints_slow_turn()
    atomic_bool has_unsound;  // some state that was written is not fine
    atomic_bool has_fast;     // some body turns faster
} BodyWork;

static void read_range(int begin, int end, int worker, void *context)
{
    const BodyWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        body_read(work->physics, work->awake[i], &work->self->bodies[work->awake[i]]);
}

static void write_range(int begin, int end, int worker, void *context)
{
    BodyWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const SolverBody *body = &work->self->bodies[work->awake[i]];
        BodyState *state = &work->physics->body_states[work->awake[i]];
        if ((body->flags & SOLVER_BODY_STOPPED)
            || !finite_motion_is_fine(body->position, body->quaternion, body->velocity, body->velocity + 3)) {
            work->physics->previous[work->awake[i]] = *state;
            atomic_store(&work->has_unsound, true);
        }
        if (!(length2_of(body->velocity + 3) <= work->slow_turn2))
            atomic_store_explicit(&work->has_fast, true, memory_order_relaxed);
        memcpy(&state->position, body->position, POSE_DOUBLES * sizeof(double));
        memcpy(&state->linear, body->velocity, MOTION_DOUBLES * sizeof(double));
        memset(&state->force, 0, MOTION_DOUBLES * sizeof(double));
        if (body->flags & SOLVER_BODY_STOPPED)
            state->linear.x = NAN;  // finite_check.c finds and tells it
    }
}

// What slept in the last step is as it was, unless the awake set was written anew: then every body is looked at.
static void read_bodies(StepperTalus *self, Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    memory_grow(&self->bodies, &self->body_capacity, physics->body_count + 1, sizeof *self->bodies);
    bool is_new = self->version != sleep->version || self->body_count != physics->body_count;
    for (int i = self->body_count; i < physics->body_count; i++)
        self->bodies[i] = (SolverBody){ 0 };
    bool has_others = is_new && sleep->awake_count < physics->body_count;
    for (int i = has_others ? 0 : physics->body_count; i < physics->body_count; i++) {
        if (physics->bodies[i].is_alive) {
            body_read(physics, i, &self->bodies[i]);
            continue;
        }
        self->bodies[i] =
            (SolverBody){ .mass = 1.0, .quaternion = { 1.0 }, .flags = SOLVER_BODY_ASLEEP | SOLVER_BODY_KINEMATIC };
        solver_body_refresh(&self->bodies[i]);  // the row may be used again, by a body that stands just so
    }
    for (int i = 0; !is_new && sleep->awake_count < physics->body_count && i < self->awake_count; i++)
        self->bodies[self->awake[i]].flags |= SOLVER_BODY_ASLEEP;
    self->body_count = physics->body_count;
    self->version = sleep->version;
    memory_grow(&self->awake, &self->awake_capacity, sleep->awake_count + 1, sizeof *self->awake);
    if (sleep->awake_count > 0)  // a world without bodies has no list
        memcpy(self->awake, sleep->awake, sizeof *self->awake * (size_t)sleep->awake_count);
    self->awake_count = sleep->awake_count;
    pool_for(physics->pool, self->awake_count, BODY_GRAIN, read_range,
             &(BodyWork){ .self = self, .physics = physics, .awake = self->awake });
}

// ---- constraints ----

static bool body_acts(const Physics *physics, int body)
{
    return body >= 0 && !physics->body_states[body].is_disabled && !physics->body_states[body].is_frozen;
}

static bool is_free(const Physics *physics, int body) { return body >= 0 && !physics->body_states[body].is_frozen; }

static bool is_awake(const Physics *physics, int body) { return body >= 0 && !physics->body_states[body].is_disabled; }

// Those of sleeping bodies have no rows, but stand in the list: the tree of joints stays what it is.
static void read_constraints(StepperTalus *self, const Physics *physics, double dt)
{
    int count = physics->constraint_count;
    memory_grow(&self->joints, &self->joint_capacity, count + 1, sizeof *self->joints);
    memory_grow(&self->joined, &self->joined_capacity, count + 1, sizeof *self->joined);
    self->joint_count = self->row_count = 0;
    const ConstraintStep step = { 1.0 / dt, physics->erp, physics->cfm };
    for (int i = 0; i < count; i++) {
        Constraint *constraint = physics->constraints[i];
        const int *sides = constraint->solved;
        if (!is_free(physics, sides[0]) && !is_free(physics, sides[1]))
            continue;
        int rows = 0;
        if (is_awake(physics, sides[0]) || is_awake(physics, sides[1])) {
            memory_grow(&self->rows, &self->row_capacity, self->row_count + CONSTRAINT_ROWS_MAX, sizeof *self->rows);
            rows = constraint_rows(constraint, &step, self->bodies, &self->rows[self->row_count]);
        }
        self->joined[self->joint_count] = constraint;
        self->joints[self->joint_count++] = (SolverJoint){ sides[0], sides[1], self->row_count, rows };
        self->row_count += rows;
    }
}

static void sum_wrenches(StepperTalus *self, const Physics *physics)
{
    for (int i = 0; i < self->joint_count; i++) {
        const SolverJoint *joint = &self->joints[i];
        if (self->joined[i]->wants_wrenches && (is_awake(physics, joint->body1) || is_awake(physics, joint->body2)))
            constraint_sum_wrenches(self->joined[i], &self->rows[joint->first_row], joint->row_count);
    }
}

// ---- contacts ----

static bool contact_acts(const Physics *physics, const PhysicsContact *contact)
{
    return body_acts(physics, contact->body[0]) || body_acts(physics, contact->body[1]);
}

static void remember_resting(StepperTalus *self, int contact, int place)
{
    assert(contact >= 0 && place >= 0);
    memory_grow(&self->resting, &self->resting_capacity, self->resting_count + 1, sizeof *self->resting);
    self->resting[self->resting_count++] = (Resting){ contact, place };
}

typedef struct ContactWork {
    const Physics *physics;
    int first;
    atomic_bool has_resting;
} ContactWork;

static void look_range(int begin, int end, int worker, void *context)
{
    ContactWork *work = context;
    const PhysicsContact *contacts = work->physics->contacts + work->first;
    (void)worker;
    for (int i = begin; i < end; i++)
        if (!contact_acts(work->physics, &contacts[i]))
            atomic_store(&work->has_resting, true);
}

static void add_copy(StepperTalus *self, const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    self->contacts[self->contact_count] = physics->contacts[index];
    if (physics->contacts[index].has_own_surface)
        self->surfaces[self->contact_count] = physics->own_surfaces[index];
    self->contact_count++;
}

// Those that wake stand anywhere among the sleeping ones: the solver gets a list that begins with them.
static void copy_contacts(StepperTalus *self, const Physics *physics, const int32_t *woken, int woken_count)
{
    int room = woken_count + physics->contact_count - physics->sleeping_contact_count;
    memory_grow(&self->contacts, &self->contact_capacity, room, sizeof *self->contacts);
    memory_grow(&self->surfaces, &self->surface_capacity, room, sizeof *self->surfaces);
    self->contact_count = 0;
    for (int i = 0; i < woken_count; i++)
        if (contact_acts(physics, &physics->contacts[woken[i]]))
            add_copy(self, physics, woken[i]);
    self->woken_count = self->contact_count;
    for (int i = physics->sleeping_contact_count; i < physics->contact_count; i++)
        add_copy(self, physics, i);
}

// The contacts of the last pass as they stand in our list; behind those of sleepers that act again in the step in which
// one of their bodies woke.
static void read_contacts(StepperTalus *self, Physics *physics, SolverInput *input)
{
    int woken_count, first = physics->sleeping_contact_count, count = physics->contact_count - first;
    const int32_t *woken = sleep_woken_contacts(physics, &woken_count);
    self->woken_count = 0;
    self->contact_count = count;
    input->surfaces = physics->contact_table.surfaces;
    input->contacts = physics->contacts ? physics->contacts + first : NULL;
    input->own_surfaces = physics->own_surfaces ? physics->own_surfaces + first : NULL;
    if (woken_count > 0) {
        copy_contacts(self, physics, woken, woken_count);
        input->contacts = self->contacts;
        input->own_surfaces = self->surfaces;
    }
    input->contact_count = self->contact_count;
    ContactWork work = { physics, first, false };
    if (sleep_any_asleep(physics))
        pool_for(physics->pool, count, CONTACT_GRAIN, look_range, &work);
    for (int i = 0; work.has_resting && i < count; i++)
        if (!contact_acts(physics, &physics->contacts[first + i]))
            remember_resting(self, first + i, self->woken_count + i);
}

// A contact that falls asleep takes along what it carried, so that the step in which it wakes goes on from there.
static void keep_impulses(StepperTalus *self, Physics *physics)
{
    assert(self->resting_count >= 0);
    for (int i = 0; i < self->resting_count; i++) {
        PhysicsContact *contact = &physics->contacts[self->resting[i].contact];
        memcpy(contact->held, solver_contact_impulse(self->solver, self->resting[i].place), sizeof contact->held);
    }
    self->resting_count = 0;
}

// What did not act in the step carried nothing in it.
static void write_contact_forces(const StepperTalus *self, Physics *physics, const SolverInput *input)
{
    int first = physics->sleeping_contact_count;
    if (!physics->wants_contact_forces || physics->feedback_capacity < physics->contact_count)
        return;
    for (int i = first; i < physics->contact_count; i++)
        if (contact_acts(physics, &physics->contacts[i]))
            solver_contact_force(self->solver, input, self->woken_count + i - first, physics->feedbacks[i].f1);
        else
            memset(physics->feedbacks[i].f1, 0, 3 * sizeof(double));
}

// ---- the step ----

// Our arrays in, the solver, our arrays out; each state is looked at where it is written.
static void plain_step(StepperTalus *self, Physics *physics, double dt)
{
    assert(dt > 0.0);
    physics_prefetch(physics, PREFETCH_AT_READ);
    read_bodies(self, physics);
    read_constraints(self, physics, dt);
    physics_prefetch(physics, PREFETCH_AT_SOLVE);
    SolverInput input = { .dt = dt,
                          .gravity = { physics->gravity.x, physics->gravity.y, physics->gravity.z },
                          .erp = physics->erp,
                          .cfm = physics->cfm,
                          .contact_surface_layer = physics->contact_surface_layer,
                          .bodies = self->bodies,
                          .joints = self->joints,
                          .rows = self->rows,
                          .body_count = self->body_count,
                          .joint_count = self->joint_count,
                          .row_count = self->row_count,
                          .awake = self->awake,
                          .awake_count = self->awake_count };
    read_contacts(self, physics, &input);
    solver_step(self->solver, &input);
    sum_wrenches(self, physics);
    write_contact_forces(self, physics, &input);
    keep_impulses(self, physics);
    double slow_turn = joints_slow_turn(dt);
    BodyWork work = { .self = self, .physics = physics, .awake = self->awake, .slow_turn2 = slow_turn * slow_turn };
    pool_for(physics->pool, self->awake_count, BODY_GRAIN, write_range, &work);
    physics->has_unsound_states = work.has_unsound;
    physics->has_fast_turns = work.has_fast;
    physics->solved = self->bodies;
    physics->solved_count = self->body_count;
}

static void talus_step(void *state, Physics *physics, double dt)
{
    assert(state && dt > 0.0);
    StepperTalus *self = state;
    if (!mirror_is_open(physics)) {
        PhysicsScratch *scratch = physics->pool ? NULL : physics->scratch;
        bool with_bodies = scratch && physics->sleep->awake_count == physics->body_count;
        if (scratch)
            swap_scratch(self, scratch, true, with_bodies);
        plain_step(self, physics, dt);
        if (scratch)
            swap_scratch(self, scratch, false, with_bodies);
        return;
    }
    if (!self->rim)
        self->rim = rim_step_create(physics, self->solver);
    rim_step(self->rim, physics, dt);
}

static size_t talus_state_size(void *state)
{
    const StepperTalus *self = state;
    return solver_state_size(self->solver);
}

static void talus_save(void *state, void *buffer)
{
    const StepperTalus *self = state;
    solver_state_save(self->solver, buffer);
}

static void talus_restore(void *state, const void *buffer, size_t size)
{
    const StepperTalus *self = state;
    if (self->rim)
        rim_step_restore(self->rim, buffer, size);
    else
        solver_state_restore(self->solver, buffer, size);
}

static void explain_islands(const StepperTalus *self, const Physics *physics, Text *out)
{
    static const char *const method_names[] = {
        [SOLVER_DIRECT] = "direct", [SOLVER_SWEPT] = "direct joints, swept contacts", [SOLVER_ITERATIVE] = "iterative"
    };
    const SolverIsland *islands;
    int count = solver_islands(self->solver, &islands), max = 0;
    for (int i = 0; i < count; i++)
        max = int_max(max, islands[i].first_body);
    int32_t *solid_of = memory_alloc_array((size_t)max + 1, sizeof *solid_of);  // plus 1; 0: a body that a plugin made
    for (int i = 0; count > 0 && i < physics->body_count; i++) {
        int index = physics->bodies[i].is_alive ? (self->rim ? rim_step_body(self->rim, physics, i) : i) : -1;
        if (index >= 0 && index <= max)
            solid_of[index] = physics->bodies[i].solid + 1;
    }
    for (int i = 0; i < count; i++) {
        int solid = solid_of[islands[i].first_body] - 1;
        text_printf(out, "island of '%s': %d bodies, %d joint rows, %d contacts: %s\n",
                    solid >= 0 ? solid_label(physics, solid) : "a plugin's body", islands[i].body_count,
                    islands[i].joint_row_count, islands[i].contact_count, method_names[islands[i].method]);
    }
    free(solid_of);
}

static void talus_explain(void *state, Physics *physics, Text *out)
{
    const StepperTalus *self = state;
    if (self->rim && !rim_step_can(self->rim)) {
        text_printf(out, "ode-exact: %s\n", solver_ode_problem());
        return;
    }
    explain_islands(self, physics, out);
    const SolverStatistics *sum = solver_statistics(self->solver);
    text_printf(
        out,
        "solver: %d direct, %d swept and %d iterative islands, %d rows with bounds (%d in the largest), %d pivot rounds, %d sweeps, "
        "%d solved again, %d fallbacks, %d redundant rows, %d bodies stopped\n",
        sum->direct_island_count, sum->swept_island_count, sum->iterative_island_count, sum->dense_row_count,
        sum->largest_dense, sum->pivot_round_count, sum->sweep_count, sum->restart_count, sum->fallback_count,
        sum->redundant_count, sum->body_reset_count);
    const SolverTotals *totals = solver_totals(self->solver);
    text_printf(out,
                "all %" PRId64 " steps: %" PRId64 " solved again, %" PRId64 " fallbacks, %" PRId64
                " redundant rows, %" PRId64 " bodies stopped\n",
                totals->step_count, totals->restart_count, totals->fallback_count, totals->redundant_count,
                totals->body_reset_count);
}

const StepperType stepper_talus = {
    .name = "talus",
    .help = "our own: exact and linear in the size of a robot, iterative for piles",
    .create = talus_create,
    .destroy = talus_destroy,
    .step = talus_step,
    .state_size = talus_state_size,
    .save = talus_save,
    .restore = talus_restore,
    .explain = talus_explain,
};
