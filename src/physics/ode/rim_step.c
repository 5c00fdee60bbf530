// rim_step.c - our solver while twins stand in ODE: its bodies, joints and contact joints are read at the start of each
// step, so what a plugin did acts in it, and written at its end. Contacts of ours that have no joint in ODE are given
// to it as they are.
#include "physics/ode/rim_step.h"

#include "base/memory.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"
#include "physics/ode/solver_ode.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CONTACT_GRAIN 128  // contacts that a worker hands over at a time

typedef struct Resting {
    int32_t contact, place;
} Resting;  // in our records, among the solver's

struct RimStep {
    SolverOde *solver;  // NULL: this ODE cannot be read, its exact step is used
    uint32_t version;   // of the awake set in the last step; 0: none
    int32_t *places;    // of our bodies among the solver's
    int32_t *awake;
    Resting *resting;  // contacts that fall asleep in this step
    int place_capacity, awake_capacity, resting_count, resting_capacity;
};

// The solver knew bodies by our numbers; ODE lists those that live.
static void renumber(const Physics *physics, Solver *solver)
{
    int32_t *new_index = memory_alloc_array((size_t)physics->body_count + 1, sizeof *new_index);
    for (int i = 0, count = 0; i < physics->body_count; i++)
        new_index[i] = physics->bodies[i].is_alive ? count++ : -1;
    solver_renumber(solver, new_index, physics->body_count);
    free(new_index);
}

RimStep *rim_step_create(Physics *physics, Solver *solver)
{
    assert(physics->world && solver);
    RimStep *self = memory_alloc(sizeof *self);
    self->solver = solver_ode_create_on(physics->world, solver, physics->pool);
    if (self->solver) {
        renumber(physics, solver);
        return self;
    }
    diag_warning(physics->diags, (SourcePos){ 0 },
                 "the stepper 'talus' cannot work with this ODE library: %s; using 'ode-exact'", solver_ode_problem());
    diag_hint(physics->diags, "Talus is made for Debian's libode 0.16, double precision");
    physics->needs_contact_joints = true;
    contacts_release(physics);
    contacts_recreate(physics);
    return self;
}

void rim_step_destroy(RimStep *self)
{
    if (!self)
        return;
    solver_ode_destroy(self->solver);
    free(self->places);
    free(self->awake);
    free(self->resting);
    free(self);
}

bool rim_step_can(const RimStep *self) { return self->solver != NULL; }

int rim_step_body(const RimStep *self, const Physics *physics, int body)
{
    assert(body >= 0 && body < physics->body_count);
    return solver_ode_body(self->solver, physics->bodies[body].ode);
}

void rim_step_restore(RimStep *self, const void *buffer, size_t size)
{
    if (self->solver)
        solver_ode_restore(self->solver, buffer, size);
}

static int rising(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// While the awake set goes on and nobody else holds ODE's objects, the solver need not look for bodies.
static bool tell_awake(RimStep *self, const Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    if (physics->plugin_holds_ode || self->version != sleep->version)
        return false;
    bool is_rising = true;
    memory_grow(&self->awake, &self->awake_capacity, sleep->awake_count + 1, sizeof *self->awake);
    for (int i = 0; i < sleep->awake_count; i++) {
        assert_debug(sleep->awake[i] < physics->body_count && self->places[sleep->awake[i]] >= 0);
        self->awake[i] = self->places[sleep->awake[i]];
        is_rising &= i == 0 || self->awake[i - 1] < self->awake[i];
    }
    if (!is_rising)
        qsort(self->awake, (size_t)sleep->awake_count, sizeof *self->awake, rising);
    solver_ode_set_awake_list(self->solver, self->awake, sleep->awake_count);
    return true;
}

static void note_places(RimStep *self, const Physics *physics)
{
    assert_debug(self->solver);
    memory_grow(&self->places, &self->place_capacity, physics->body_count + 1, sizeof *self->places);
    for (int i = 0; i < physics->body_count; i++)
        self->places[i] = physics->bodies[i].is_alive ? solver_ode_body(self->solver, physics->bodies[i].ode) : -1;
}

static bool body_acts(const Physics *physics, int body)
{
    return body >= 0 && !physics->body_states[body].is_disabled && !physics->body_states[body].is_frozen;
}

static bool contact_acts(const Physics *physics, const PhysicsContact *contact)
{
    return body_acts(physics, contact->body[0]) || body_acts(physics, contact->body[1]);
}

// Bodies as the solver numbers them; the surface beside it.
static void describe_contact(const RimStep *self, const Physics *physics, int index, SolverContact *to,
                             SolverSurface *surface)
{
    assert_debug(index >= 0 && index < physics->contact_count);
    *to = physics->contacts[index];
    *surface = *physics_contact_surface(physics, index);
    to->has_own_surface = true;
    for (int i = 0; i < 2; i++)
        to->body[i] = to->body[i] >= 0 ? self->places[to->body[i]] : -1;
}

static void remember_resting(RimStep *self, int contact, int place)
{
    assert_debug(contact >= 0 && place >= 0);
    memory_grow(&self->resting, &self->resting_capacity, self->resting_count + 1, sizeof *self->resting);
    self->resting[self->resting_count++] = (Resting){ contact, place };
}

static void add_contact(RimStep *self, const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    bool acts = contact_acts(physics, contact);
    if (contact_joint(physics, index) || (!acts && contact->is_asleep))
        return;
    int place;
    SolverSurface *surface;
    solver_ode_contacts(self->solver, &place);
    SolverContact *to = solver_ode_add_contacts(self->solver, 1, &surface);
    describe_contact(self, physics, index, to, surface);
    if (index < physics->held_count)
        solver_ode_hold(self->solver, place, physics->held[index]);
    if (!acts)
        remember_resting(self, index, place);
}

typedef struct HandOver {
    const RimStep *self;
    const Physics *physics;
    int first;
    SolverContact *to;
    SolverSurface *surfaces;
    atomic_bool has_resting;
} HandOver;

static void describe_range(int begin, int end, int worker, void *context)
{
    HandOver *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        describe_contact(work->self, work->physics, work->first + i, &work->to[i], &work->surfaces[i]);
        if (!contact_acts(work->physics, &work->physics->contacts[work->first + i]))
            atomic_store(&work->has_resting, true);
    }
}

// The contacts of the last pass, of which ODE has none as joints.
static void add_awake_contacts(RimStep *self, const Physics *physics)
{
    int first = physics->sleeping_contact_count, count = physics->contact_count - first, place;
    assert_debug(count >= 0);
    solver_ode_contacts(self->solver, &place);
    HandOver work = { .self = self, .physics = physics, .first = first };
    work.to = solver_ode_add_contacts(self->solver, count, &work.surfaces);
    pool_for(physics->pool, count, CONTACT_GRAIN, describe_range, &work);
    for (int i = 0; i < count && first + i < physics->held_count; i++)
        solver_ode_hold(self->solver, place + i, physics->held[first + i]);
    for (int i = 0; work.has_resting && i < count; i++)
        if (!contact_acts(physics, &physics->contacts[first + i]))
            remember_resting(self, first + i, place + i);
}

static void keep_impulses(RimStep *self, Physics *physics)
{
    for (int i = 0; i < self->resting_count; i++) {
        assert_debug(self->resting[i].contact < physics->contact_count);
        const double *impulse = solver_contact_impulse(solver_ode_solver(self->solver), self->resting[i].place);
        contact_hold(physics, self->resting[i].contact, impulse);
    }
    self->resting_count = 0;
}

// Kept contacts act again in the step in which one of their bodies woke.
static void add_contacts(RimStep *self, Physics *physics, bool has_awake_list)
{
    int count;
    const int32_t *woken = sleep_woken_contacts(physics, &count);
    for (int i = 0; has_awake_list && i < count; i++)
        add_contact(self, physics, woken[i]);
    for (int i = 0; !has_awake_list && i < physics->sleeping_contact_count; i++)
        add_contact(self, physics, i);
    bool have_joints = false;
    for (int i = physics->sleeping_contact_count; i < physics->contact_count; i++)
        have_joints |= contact_joint(physics, i) != NULL;
    if (!have_joints)
        add_awake_contacts(self, physics);
    for (int i = physics->sleeping_contact_count; have_joints && i < physics->contact_count; i++)
        add_contact(self, physics, i);
}

static void link_contact(const RimStep *self, const Physics *physics, const PhysicsContact *contact)
{
    int linked[2];
    for (int i = 0; i < 2; i++) {
        int body = contact->body[i];
        if (body < 0 || physics->body_states[body].is_frozen)
            return;
        linked[i] = self->places[body];
    }
    solver_ode_wake_link(self->solver, linked[0], linked[1]);
}

// With others at work bodies and joints may not be ours, so the solver finds out what is connected to something awake.
static void wake_connected(RimStep *self, Physics *physics)
{
    if (!physics->plugin_holds_ode || !solver_ode_wake_begin(self->solver))
        return;
    for (int i = 0; i < physics->contact_count; i++)
        if (!contact_joint(physics, i))
            link_contact(self, physics, &physics->contacts[i]);
    solver_ode_wake_end(self->solver);
    for (int i = 0; i < physics->body_count; i++) {
        BodyState *state = &physics->body_states[i];
        if (!physics->bodies[i].is_alive || !state->is_disabled || !dBodyIsEnabled(physics->bodies[i].ode))
            continue;
        state->is_disabled = 0;
        sleep_on_wake(physics, i);
    }
    sleep_refresh(physics);
}

void rim_step(RimStep *self, Physics *physics, double dt)
{
    if (!self->solver) {
        dWorldStep(physics->world, dt);
        sleep_forget(physics);
        body_gather(physics);
        return;
    }
    assert_debug(self->resting_count == 0);
    bool has_awake_list = tell_awake(self, physics);
    solver_ode_begin(self->solver, dt);
    if (!has_awake_list)
        note_places(self, physics);
    wake_connected(self, physics);
    add_contacts(self, physics, !physics->plugin_holds_ode);
    solver_ode_finish(self->solver);
    keep_impulses(self, physics);
    self->version = physics->plugin_holds_ode ? 0 : physics->sleep->version;
    body_gather(physics);
}
