// stepper_talus.c - our own solver behind the stepper seam. In a plain world it works on our arrays alone: awake
// bodies, the rows of their constraints and their contacts go in, poses and velocities come out. While twins stand in
// ODE (a plugin is at work), the step is rim_step.c's, on the same solver.
#include "physics/contacts/sleep.h"

#include "base/cpu.h"
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
#define BODY_GRAIN 64      // bodies
#define CONSTRAINT_GRAIN 32

typedef struct Resting {
    int32_t contact, place;
} Resting;  // in our records, among the solver's

// What a step fills in before it reads it. Worlds that are stepped one after the other can use the same (it is lent to
// them); what bodies are, as against how they move, stays in it as long as these are the same.
typedef struct StepArrays {
    SolverBody *bodies;  // by body
    SolverJoint *joints;
    Constraint **joined;  // beside joints
    SolverRow *rows;
    SolverHold *holds;        // in place of rows, where nothing touches bare trees
    SolverContact *contacts;  // copies, in a step in which some wake,
    SolverSurface *surfaces;  // and beside them,
    Vec3 *held;               // and what they hold, where some do
    int body_count, body_capacity, joint_count, joint_capacity, joined_capacity, row_count, row_capacity;
    int hold_capacity, contact_count, contact_capacity, surface_capacity, held_capacity;
    bool wants_wrenches;    // some constraint does
    bool is_lent;           // one world after the other uses them: rotations of bodies are those of no quaternion
    uint64_t body_version;  // Physics.body_version of the masses, inertias and dampings in `bodies`; 0: of none
} StepArrays;

typedef struct StepperTalus {
    Solver *solver;
    RimStep *rim;  // once there are twins in ODE, else NULL
    int awake_count, awake_capacity, resting_count, resting_capacity;
    int woken_count;   // contacts of ours that stand first among the solver's: they wake in this step
    uint32_t version;  // of the awake set in the last step; 0: none
    int32_t *awake;    // of the last step
    Resting *resting;  // contacts that fall asleep in this step
    StepArrays own;    // awake bodies as they were after the last step
} StepperTalus;

struct PhysicsScratch {
    DirectScratch *direct;
    StepArrays arrays;
    PrefetchPlan plan;
};

static void arrays_free(StepArrays *arrays)
{
    void *owned[] = { arrays->bodies, arrays->joints,   arrays->joined,   arrays->rows,
                      arrays->holds,  arrays->contacts, arrays->surfaces, arrays->held };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
}

PhysicsScratch *physics_scratch_create(void)
{
    PhysicsScratch *scratch = memory_alloc(sizeof *scratch);
    scratch->direct = direct_scratch_create();
    scratch->arrays.is_lent = true;
    return scratch;
}

void physics_scratch_destroy(PhysicsScratch *scratch)
{
    if (!scratch)
        return;
    direct_scratch_destroy(scratch->direct);
    arrays_free(&scratch->arrays);
    free(scratch);
}

void physics_lend_scratch(Physics *physics, PhysicsScratch *scratch)
{
    physics->scratch = scratch;
    physics->plan = scratch ? &scratch->plan : NULL;
    physics->solved_count = 0;  // another world writes its bodies there
}

void physics_plan_next(PhysicsScratch *scratch, const Physics *next, const Physics *after)
{
    scratch->plan = (PrefetchPlan){ next, after };
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
    arrays_free(&self->own);
    free(self->awake);
    free(self->resting);
    free(self);
}

// ---- bodies ----

enum { POSE_DOUBLES = 7, MOTION_DOUBLES = 6 };
static_assert(offsetof(BodyState, linear) == POSE_DOUBLES * sizeof(double),
              "position and orientation follow each other");
static_assert(offsetof(BodyState, force) == (POSE_DOUBLES + MOTION_DOUBLES) * sizeof(double),
              "and so do the velocities");
static_assert(offsetof(SolverBody, rotation) == POSE_DOUBLES * sizeof(double), "as in the solver's bodies");

enum {
    BODY_FLAGS = SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC | SOLVER_BODY_MAX_ANGULAR_SPEED
                 | SOLVER_BODY_LINEAR_DAMPING | SOLVER_BODY_ANGULAR_DAMPING  // those that say what a body is
};

static uint32_t body_flags(const SolverMass *mass)
{
    return SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC | SOLVER_BODY_MAX_ANGULAR_SPEED
           | (mass->linear_damping != 0.0 ? SOLVER_BODY_LINEAR_DAMPING : 0)
           | (mass->angular_damping != 0.0 ? SOLVER_BODY_ANGULAR_DAMPING : 0);
}

static CPU_SHARED V4 load4(const double *from) { return *(const V4 *)from; }

static CPU_SHARED V2 load2(const double *from) { return *(const V2 *)from; }

// Vectors are copied as pairs and single numbers, quaternions whole: so they were written a moment ago, and a load that
// lies across two stores waits until both have left for the cache.
static CPU_SHARED void copy3(double *to, const double *from)
{
    V2 first = load2(from);
    double last = from[2];
    *(V2 *)to = first;
    to[2] = last;
}

static CPU_SHARED void copy_pose(double *to, const double *from)
{
    V4 quaternion = load4(from + 3);
    copy3(to, from);
    *(V4 *)(to + 3) = quaternion;
}

static CPU_SHARED void copy_motion(double *to, const double *from)
{
    copy3(to, from);
    copy3(to + 3, from + 3);
}

static CPU_SHARED void read_motion(double *to, const double *from)
{
    *(V4 *)to = load4(from);
    *(V2 *)(to + 4) = load2(from + 4);
}

// `is_turned`: the rotation there need not be that of the quaternion there.
static inline void body_read(const BodyState *state, SolverBody *to, bool is_turned)
{
    V4 first = load4(&state->position.x), last = load4(&state->orientation.w);  // one number of them twice
    const I4 turn = (I4)load4(to->quaternion) ^ (I4)last;
    is_turned = is_turned || ((turn[0] | turn[1]) | (turn[2] | turn[3])) != 0;
    *(V4 *)to->position = first;
    *(V4 *)to->quaternion = last;
    read_motion(to->velocity, &state->linear.x);
    read_motion(to->force, &state->force.x);
    if (is_turned)
        solver_body_refresh(to);
    uint32_t flags = to->flags & BODY_FLAGS;
    if (state->is_disabled | state->is_frozen)
        flags |= (state->is_disabled ? SOLVER_BODY_ASLEEP : 0u) | (state->is_frozen ? SOLVER_BODY_KINEMATIC : 0u);
    to->flags = flags;
}

typedef struct BodyWork {
    StepArrays *arrays;
    Physics *physics;
    const int32_t *awake;
    atomic_bool has_unsound;    // some force that was read, or state that was written, is not fine
    _Atomic double min_cosine;  // of half the angle that a body turned by
} BodyWork;

// Where no other thread is at work nothing is exchanged: that would wait for all that was written before.
static void lower(_Atomic double *min, double value, bool is_alone)
{
    double now = atomic_load_explicit(min, memory_order_relaxed);
    if (is_alone)
        atomic_store_explicit(min, double_min(now, value), memory_order_relaxed);
    while (!is_alone && value < now
           && !atomic_compare_exchange_weak_explicit(min, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

static CPU_SHARED void read_some(int begin, int end, BodyWork *work, bool is_lent)
{
    const int32_t *awake = work->awake;
    const BodyState *states = work->physics->body_states;
    SolverBody *bodies = work->arrays->bodies;
    V4 forces = { 0.0, 0.0, 0.0, 0.0 };
    for (int i = begin; i < end; i++) {
        const BodyState *state = &states[awake[i]];
        body_read(state, &bodies[awake[i]], is_lent);
        forces += load4(&state->force.x) + load4(&state->force.x + MOTION_DOUBLES - 4);
    }
    // One that is not finite makes the sum so, and very large ones; finite_check_inputs() looks closer.
    if (!isfinite((forces[0] + forces[1]) + (forces[2] + forces[3])))
        atomic_store(&work->has_unsound, true);
}

static void read_range(int begin, int end, int worker, void *context)
{
    (void)worker;
    read_some(begin, end, context, ((const BodyWork *)context)->arrays->is_lent);
}

static CPU_WIDE void read_range_wide(int begin, int end, int worker, void *context)
{
    (void)worker;
    if (((const BodyWork *)context)->arrays->is_lent)
        read_some(begin, end, context, true);
    else
        read_some(begin, end, context, false);
}

// As finite_motion_is_fine(), with what is known of the orientation: its product with the one before the step.
static bool motion_is_fine(const SolverBody *body, double cosine)
{
    return length2_of(body->position) <= LIMIT_COORDINATE * LIMIT_COORDINATE && fabs(cosine) < 4.0
           && length2_of(body->velocity) <= FINITE_SPEED_LIMIT * FINITE_SPEED_LIMIT
           && length2_of(body->velocity + 3) <= FINITE_SPEED_LIMIT * FINITE_SPEED_LIMIT;
}

// Whether all is far from any limit, as it nearly always is. What is not finite is not.
static inline bool motion_is_moderate(const SolverBody *body)
{
    const double z = body->position[2], *v = body->velocity, *w = v + 3;
    const V2 at = load2(body->position), vxy = load2(v), wxy = load2(w);
    const V2 place = at * at, motion = vxy * vxy + wxy * wxy;
    return (place[0] + place[1] + z * z) * (1.0 / (LIMIT_COORDINATE * LIMIT_COORDINATE))
               + (motion[0] + motion[1] + (v[2] * v[2] + w[2] * w[2]))
                     * (1.0 / (FINITE_SPEED_LIMIT * FINITE_SPEED_LIMIT))
           < 0.5;
}

static inline bool is_sound(const SolverBody *body, double cosine)
{
    return !(body->flags & SOLVER_BODY_STOPPED)
           && ((motion_is_moderate(body) && fabs(cosine) < 4.0) || motion_is_fine(body, cosine));
}

// Of half the angle between the orientation before the step, which `state` still has, and after it.
static inline double turn_cosine(const SolverBody *body, const BodyState *state)
{
    const V4 products = load4(body->quaternion) * load4(&state->orientation.w);
    return ((products[0] + products[1]) + products[2]) + products[3];
}

static inline void state_write(const SolverBody *body, BodyState *state)
{
    copy_pose(&state->position.x, body->position);
    copy_motion(&state->linear.x, body->velocity);
    memset(&state->force, 0, MOTION_DOUBLES * sizeof(double));
}

static CPU_SHARED void write_some(int begin, int end, BodyWork *work)
{
    const int32_t *awake = work->awake;
    const SolverBody *bodies = work->arrays->bodies;
    BodyState *states = work->physics->body_states;
    double min_cosine = 1.0;
    for (int i = begin; i < end; i++) {
        const SolverBody *body = &bodies[awake[i]];
        BodyState *state = &states[awake[i]];
        double cosine = turn_cosine(body, state);
        min_cosine = double_min(min_cosine, cosine);
        if (is_sound(body, cosine))
            state_write(body, state);
        else
            atomic_store(&work->has_unsound, true);
    }
    lower(&work->min_cosine, min_cosine, !work->physics->pool);
}

static void write_range(int begin, int end, int worker, void *context)
{
    (void)worker;
    write_some(begin, end, context);
}

static CPU_WIDE void write_range_wide(int begin, int end, int worker, void *context)
{
    (void)worker;
    write_some(begin, end, context);
}

// What is not sound is told with the state before, which nobody else needs: room for those is made when there is one.
static void write_unsound(const BodyWork *work, int awake_count)
{
    Physics *physics = work->physics;
    memory_grow(&physics->previous, &physics->previous_capacity, physics->body_count + 1, sizeof(BodyState));
    for (int i = 0; i < awake_count; i++) {
        const SolverBody *body = &work->arrays->bodies[work->awake[i]];
        BodyState *state = &physics->body_states[work->awake[i]];
        physics->previous[work->awake[i]] = *state;
        if (is_sound(body, turn_cosine(body, state)))
            continue;
        state_write(body, state);
        if (body->flags & SOLVER_BODY_STOPPED)
            state->linear.x = NAN;  // finite_check.c finds and tells it
    }
}

// rad that no body turned more in a step: 4 asin(sqrt((1 - c) / 2)), from above.
static double turn_of(double min_cosine) { return 2.0 * M_PI * sqrt(double_max(0.5 - 0.5 * min_cosine, 0.0)); }

// Room for all bodies, and what they are, if the arrays have that of others.
static void read_body_constants(StepArrays *arrays, const Physics *physics)
{
    assert_debug(physics->body_version != 0 || physics->body_count == 0);
    if (arrays->body_version == physics->body_version && arrays->body_count == physics->body_count)
        return;
    memory_grow(&arrays->bodies, &arrays->body_capacity, physics->body_count + 1, sizeof *arrays->bodies);
    for (int i = 0; i < physics->body_count; i++) {
        arrays->bodies[i] = (SolverBody){ .quaternion = { 1.0 },
                                          .rotation = { [0] = 1, [4] = 1, [8] = 1 },
                                          .flags = SOLVER_BODY_ASLEEP | SOLVER_BODY_KINEMATIC };
        if (physics->bodies[i].is_alive)
            arrays->bodies[i].flags = body_flags(&physics->masses[i]);
    }
    arrays->body_count = physics->body_count;
    arrays->body_version = physics->body_version;
}

// What slept in the last step is as it was, unless the awake set was written anew: then every body is looked at.
static void read_sleepers(StepperTalus *self, StepArrays *arrays, const Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    bool is_new = self->version != sleep->version, has_others = sleep->awake_count < physics->body_count;
    for (int i = 0; is_new && has_others && i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            body_read(&physics->body_states[i], &arrays->bodies[i], false);
    for (int i = 0; !is_new && has_others && i < self->awake_count; i++)
        arrays->bodies[self->awake[i]].flags |= SOLVER_BODY_ASLEEP;
    self->version = sleep->version;
    memory_grow(&self->awake, &self->awake_capacity, sleep->awake_count + 1, sizeof *self->awake);
    if (sleep->awake_count > 0)  // a world without bodies has no list
        memcpy(self->awake, sleep->awake, sizeof *self->awake * (size_t)sleep->awake_count);
    self->awake_count = sleep->awake_count;
}

static void read_bodies(StepperTalus *self, StepArrays *arrays, Physics *physics)
{
    if (arrays->body_version != physics->body_version)
        self->version = 0;
    read_body_constants(arrays, physics);
    if (!arrays->is_lent)  // lent arrays hold no sleepers
        read_sleepers(self, arrays, physics);
    BodyWork work = { .arrays = arrays, .physics = physics, .awake = physics->sleep->awake };
    pool_for(physics->pool, physics->sleep->awake_count, BODY_GRAIN, cpu_has_avx2() ? read_range_wide : read_range,
             &work);
    if (!work.has_unsound)
        return;
    finite_check_inputs(physics);  // says what is wrong and drops it
    pool_for(physics->pool, physics->sleep->awake_count, BODY_GRAIN, cpu_has_avx2() ? read_range_wide : read_range,
             &work);
}

// ---- constraints ----

static bool body_acts(const Physics *physics, int body)
{
    return body >= 0 && !physics->body_states[body].is_disabled && !physics->body_states[body].is_frozen;
}

static bool is_free(const Physics *physics, int body) { return body >= 0 && !physics->body_states[body].is_frozen; }

static bool is_awake(const Physics *physics, int body) { return body >= 0 && !physics->body_states[body].is_disabled; }

typedef struct ConstraintWork {
    StepArrays *arrays;
    const Physics *physics, *next;  // NULL: no world is stepped after this one
    ConstraintStep step;
    ConstraintRows rows_of;
    bool all_act;                // then a body is enough
    atomic_bool wants_wrenches;  // some constraint does
    atomic_bool has_idle;        // some constraint holds nothing that is free
} ConstraintWork;

enum { IDLE_JOINT = -2 };  // in SolverJoint.body1, until the list is closed up

// Those of sleeping bodies have no rows, but stand in the list: the tree of joints stays what it is. Each piece has
// room for as many rows as it can have, so that no thread needs to know how many others wrote.
static void constraint_range(int begin, int end, int worker, void *context)
{
    ConstraintWork *work = context;
    StepArrays *arrays = work->arrays;
    const Physics *physics = work->physics;
    (void)worker;
    assert(begin >= 0 && end <= physics->constraint_count && end * CONSTRAINT_ROWS_MAX <= arrays->row_capacity);
    const bool all_act = work->all_act;
    bool wants_wrenches = false;
    for (int i = begin, row = begin * CONSTRAINT_ROWS_MAX; i < end; i++) {
        Constraint *constraint = physics->constraints[i];
        if (work->next)
            prefetch_at_constraints(work->next, i, i + 1);
        const int first = constraint->solved[0], second = constraint->solved[1];
        arrays->joined[i] = constraint;
        if (all_act ? (first & second) < 0 : !is_free(physics, first) && !is_free(physics, second)) {
            arrays->joints[i] = (SolverJoint){ IDLE_JOINT, IDLE_JOINT, 0, 0 };
            atomic_store(&work->has_idle, true);
            continue;
        }
        int rows = all_act || is_awake(physics, first) || is_awake(physics, second)
                       ? work->rows_of(constraint, &work->step, arrays->bodies, &arrays->rows[row])
                       : 0;
        wants_wrenches |= constraint->wants_wrenches;
        arrays->joints[i] = (SolverJoint){ first, second, row, rows };
        row += rows;
    }
    if (wants_wrenches)
        atomic_store(&work->wants_wrenches, true);
}

static void drop_idle(StepArrays *arrays)
{
    int kept = 0;
    for (int i = 0; i < arrays->joint_count; i++) {
        if (arrays->joints[i].body1 == IDLE_JOINT)
            continue;
        arrays->joints[kept] = arrays->joints[i];
        arrays->joined[kept++] = arrays->joined[i];
    }
    arrays->joint_count = kept;
}

static void read_constraints(StepArrays *arrays, const Physics *physics, double dt)
{
    const int count = physics->constraint_count;
    memory_grow(&arrays->joints, &arrays->joint_capacity, count + 1, sizeof *arrays->joints);
    memory_grow(&arrays->joined, &arrays->joined_capacity, count + 1, sizeof *arrays->joined);
    memory_grow(&arrays->rows, &arrays->row_capacity, (count + 1) * CONSTRAINT_ROWS_MAX, sizeof *arrays->rows);
    ConstraintWork work = { .arrays = arrays,
                            .physics = physics,
                            .next = prefetch_next(physics),
                            .step = { 1.0 / dt, physics->erp, physics->cfm },
                            .rows_of = constraint_rows_best(),
                            .all_act = !physics->has_frozen && !sleep_any_asleep(physics) };
    pool_for(physics->pool, count, CONSTRAINT_GRAIN, constraint_range, &work);
    if (work.next)
        prefetch_at_constraints(work.next, count, int_max(work.next->joint_count, work.next->body_count));
    arrays->joint_count = count;
    arrays->row_count = count * CONSTRAINT_ROWS_MAX;
    arrays->wants_wrenches = work.wants_wrenches;
    if (work.has_idle)
        drop_idle(arrays);
}

static void sum_wrenches(const StepArrays *arrays, const Physics *physics)
{
    for (int i = 0; arrays->wants_wrenches && i < arrays->joint_count; i++) {
        const SolverJoint *joint = &arrays->joints[i];
        if (arrays->joined[i]->wants_wrenches && (is_awake(physics, joint->body1) || is_awake(physics, joint->body2)))
            constraint_sum_wrenches(arrays->joined[i], &arrays->rows[joint->first_row], joint->row_count);
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

static void add_copy(StepArrays *arrays, const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    arrays->contacts[arrays->contact_count] = physics->contacts[index];
    if (physics->contacts[index].has_own_surface)
        arrays->surfaces[arrays->contact_count] = physics->own_surfaces[index];
    if (physics->held_count > 0)
        arrays->held[arrays->contact_count] = index < physics->held_count ? physics->held[index] : VEC3_ZERO;
    arrays->contact_count++;
}

// Those that wake stand anywhere among the sleeping ones: the solver gets a list that begins with them.
static void copy_contacts(StepperTalus *self, StepArrays *arrays, const Physics *physics, const int32_t *woken,
                          int woken_count)
{
    int room = woken_count + physics->contact_count - physics->sleeping_contact_count;
    memory_grow(&arrays->contacts, &arrays->contact_capacity, room, sizeof *arrays->contacts);
    memory_grow(&arrays->surfaces, &arrays->surface_capacity, room, sizeof *arrays->surfaces);
    if (physics->held_count > 0)
        memory_grow(&arrays->held, &arrays->held_capacity, room, sizeof *arrays->held);
    arrays->contact_count = 0;
    for (int i = 0; i < woken_count; i++)
        if (contact_acts(physics, &physics->contacts[woken[i]]))
            add_copy(arrays, physics, woken[i]);
    self->woken_count = arrays->contact_count;
    for (int i = physics->sleeping_contact_count; i < physics->contact_count; i++)
        add_copy(arrays, physics, i);
}

// The contacts of the last pass as they stand in our list; behind those of sleepers that act again in the step in which
// one of their bodies woke.
static void read_contacts(StepperTalus *self, StepArrays *arrays, Physics *physics, SolverInput *input)
{
    int woken_count = 0, first = physics->sleeping_contact_count, count = physics->contact_count - first;
    const int32_t *woken = physics->sleep->woken_count > 0 ? sleep_woken_contacts(physics, &woken_count) : NULL;
    self->woken_count = 0;
    arrays->contact_count = count;
    input->contacts = physics->contacts ? physics->contacts + first : NULL;
    input->own_surfaces = physics->own_surfaces ? physics->own_surfaces + first : NULL;
    input->held_count = int_max(physics->held_count - first, 0);
    input->held = input->held_count > 0 ? physics->held + first : NULL;
    if (woken_count > 0) {
        copy_contacts(self, arrays, physics, woken, woken_count);
        input->contacts = arrays->contacts;
        input->own_surfaces = arrays->surfaces;
        input->held = arrays->held;
        input->held_count = physics->held_count > 0 ? arrays->contact_count : 0;
    }
    input->contact_count = arrays->contact_count;
    ContactWork work = { physics, first, false };
    if (sleep_any_asleep(physics))
        pool_for(physics->pool, count, CONTACT_GRAIN, look_range, &work);
    for (int i = 0; work.has_resting && i < count; i++)
        if (!contact_acts(physics, &physics->contacts[first + i]))
            remember_resting(self, first + i, self->woken_count + i);
}

static void keep_impulses(StepperTalus *self, Physics *physics)
{
    assert(self->resting_count >= 0);
    for (int i = 0; i < self->resting_count; i++) {
        contact_hold(physics, self->resting[i].contact, solver_contact_impulse(self->solver, self->resting[i].place));
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

// All but the contacts. Every member is named: what is left out would be cleared by an instruction that takes longer to
// begin than all the rest.
static inline SolverInput solver_input(const StepArrays *arrays, const Physics *physics, double dt)
{
    return (SolverInput){ .dt = dt,
                          .gravity = { physics->gravity.x, physics->gravity.y, physics->gravity.z },
                          .erp = physics->erp,
                          .cfm = physics->cfm,
                          .contact_surface_layer = physics->contact_surface_layer,
                          .contact_max_velocity = 0.0,
                          .bodies = arrays->bodies,
                          .masses = physics->masses,
                          .extras = NULL,
                          .joints = arrays->joints,
                          .rows = arrays->rows,
                          .contacts = NULL,
                          .surfaces = physics->contact_table.surfaces,
                          .own_surfaces = NULL,
                          .surface_count = 2 * physics->contact_table.rule_count,
                          .held = NULL,
                          .held_count = 0,
                          .body_count = physics->body_count,
                          .joint_count = arrays->joint_count,
                          .row_count = arrays->row_count,
                          .contact_count = 0,
                          .awake = physics->sleep->awake,
                          .awake_count = physics->sleep->awake_count,
                          .ignores_row_forces = !arrays->wants_wrenches,
                          .ignores_rotations = arrays->is_lent };
}

// Rows, contacts, the solver, and what it found.
static void solve(StepperTalus *self, StepArrays *arrays, Physics *physics, double dt)
{
    const Physics *next = prefetch_next(physics);
    read_constraints(arrays, physics, dt);
    if (next)
        prefetch_at_solve(next);
    SolverInput input = solver_input(arrays, physics, dt);
    read_contacts(self, arrays, physics, &input);
    solver_step(self->solver, &input);
    if (next)
        prefetch_at_write(next);
    sum_wrenches(arrays, physics);
    write_contact_forces(self, physics, &input);
    keep_impulses(self, physics);
}

// The same where nothing touches trees of hinges and sliders without motors and stops, as in the last step. False: it
// does, or one has come to a stop; nothing was done.
static bool solve_bare_trees(StepperTalus *self, StepArrays *arrays, Physics *physics, double dt)
{
    const int count = physics->constraint_count;
    const Sleep *sleep = physics->sleep;
    const SolverJoint *known = physics->contact_count == 0 && sleep->woken_count == 0 && self->resting_count == 0
                                       && !physics->has_frozen && !sleep_any_asleep(physics)
                                   ? solver_tree_joints(self->solver, physics->body_count, count)
                                   : NULL;
    if (!known)
        return false;
    const Physics *next = prefetch_next(physics);
    const ConstraintStep step = { 1.0 / dt, physics->erp, physics->cfm };
    const ConstraintHold hold = constraint_hold_best();
    memory_grow(&arrays->holds, &arrays->hold_capacity, count, sizeof *arrays->holds);
    for (int i = 0; i < count; i++) {
        const Constraint *constraint = physics->constraints[i];
        if (next)
            prefetch_at_constraints(next, i, i + 1);
        if (constraint->solved[0] != known[i].body1 || constraint->solved[1] != known[i].body2
            || constraint->wants_wrenches || !hold(constraint, &step, arrays->bodies, &arrays->holds[i]))
            return false;
    }
    if (next) {
        prefetch_at_constraints(next, count, int_max(next->joint_count, next->body_count));
        prefetch_at_solve(next);
    }
    solver_trees_step(self->solver,
                      &(SolverTrees){ .dt = dt,
                                      .gravity = { physics->gravity.x, physics->gravity.y, physics->gravity.z },
                                      .bodies = arrays->bodies,
                                      .masses = physics->masses,
                                      .holds = arrays->holds,
                                      .ignores_rotations = arrays->is_lent });
    if (next)
        prefetch_at_write(next);
    return true;
}

// Our arrays in, the solver, our arrays out; each state is looked at where it is written.
static void plain_step(StepperTalus *self, StepArrays *arrays, Physics *physics, double dt)
{
    assert(dt > 0.0);
    if (prefetch_next(physics))
        prefetch_at_read(prefetch_next(physics));
    read_bodies(self, arrays, physics);
    if (!solve_bare_trees(self, arrays, physics, dt))
        solve(self, arrays, physics, dt);
    const Sleep *sleep = physics->sleep;
    BodyWork work = { .arrays = arrays, .physics = physics, .awake = sleep->awake, .min_cosine = 1.0 };
    pool_for(physics->pool, sleep->awake_count, BODY_GRAIN, cpu_has_avx2() ? write_range_wide : write_range, &work);
    if (work.has_unsound)
        write_unsound(&work, sleep->awake_count);
    physics->has_unsound_states = work.has_unsound;
    physics->step_turn = work.has_unsound ? INFINITY : turn_of(work.min_cosine);
    physics->solved = arrays->bodies;
    physics->solved_count = arrays->is_lent ? 0 : physics->body_count;
}

static void talus_step(void *state, Physics *physics, double dt)
{
    assert(state && dt > 0.0);
    StepperTalus *self = state;
    if (!mirror_is_open(physics)) {
        PhysicsScratch *lent = physics->pool ? NULL : physics->scratch;
        // Bodies of lent arrays are all read anew, which is no loss where all are awake; a world of sleepers keeps its
        // own.
        bool uses_lent = lent && physics->sleep->awake_count == physics->body_count;
        solver_lend_scratch(self->solver, lent ? lent->direct : NULL);
        plain_step(self, uses_lent ? &lent->arrays : &self->own, physics, dt);
        solver_lend_scratch(self->solver, NULL);
        if (uses_lent)
            self->version = 0;  // the own ones know nothing of this step
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

void stepper_talus_prefetch(const Physics *next, StepperPart part)
{
    if (next->stepper != &stepper_talus)
        return;
    const StepperTalus *self = next->stepper_self;
    if (part == STEPPER_ITSELF)
        memory_prefetch(self, offsetof(StepperTalus, own));
    else
        solver_prefetch(self->solver, part == STEPPER_MEMORY);
}
