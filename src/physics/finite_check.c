// States that are not finite or run away: found in the step in which they happen, explained, and either the run stops
// or the body is frozen where it was.
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

enum { TROUBLE_MESSAGES = 20, START_MESSAGES = 3 };  // more of them say nothing new

static const double start_depth = 0.05;  // m inside each other at the start: more is hardly meant

void finite_reject(Physics *physics, int index, const char *what)
{
    assert(index >= 0 && index < physics->body_count);
    int solid = physics->bodies[index].solid;
    diag_error(physics->diags, physics->solids[solid].node->pos, "a %s on '%s' is not finite at %g s; it is dropped",
               what, solid_label(physics, solid), (double)physics->step * physics->dt);
    physics->has_failed |= physics->nan_policy == PHYSICS_NAN_STOP;
}

// In a plain world poses and velocities are checked where they enter; forces add up.
static void check_input(Physics *physics, int i)
{
    if (!physics->bodies[i].is_alive || finite_force_is_fine(&physics->body_states[i]))
        return;
    body_set_force(physics, i, VEC3_ZERO, VEC3_ZERO);
    finite_reject(physics, i, "force or torque");
}

static void input_range(int begin, int end, int worker, void *context)
{
    SleepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        if (!finite_force_is_fine(&work->physics->body_states[work->awake[i]]))
            atomic_store(&work->has_left, true);
}

void finite_check_inputs(Physics *physics)
{
    if (mirror_is_open(physics)) {
        mirror_check_inputs(physics);
        return;
    }
    if (!sleep_for_awake(physics, input_range))
        return;
    for (int i = 0; i < physics->sleep->awake_count; i++)
        check_input(physics, physics->sleep->awake[i]);
}

static bool is_fine(const BodyState *state)
{
    return finite_motion_is_fine(&state->position.x, &state->orientation.w, &state->linear.x, &state->angular.x);
}

static const char *what_is_wrong(const BodyState *state)
{
    if (is_fine(state))
        return NULL;
    if (!vec3_is_finite(state->position) || !pose_is_finite((Pose){ state->position, state->orientation }))
        return "its pose is not finite";
    if (!vec3_is_finite(state->linear) || !vec3_is_finite(state->angular))
        return "its velocity is not finite";
    if (vec3_length(state->position) > LIMIT_COORDINATE)
        return "it left the range of coordinates";
    if (vec3_length(state->linear) > FINITE_SPEED_LIMIT || vec3_length(state->angular) > FINITE_SPEED_LIMIT)
        return "its speed exploded";
    return NULL;
}

typedef struct Causes {
    double mass_ratio, depth;
    const char *ratio_with, *deep_with;
    int joints, contacts;
    const char *joint_with;
} Causes;

static void consider_neighbour(const Physics *physics, int body, int other, Causes *causes)
{
    if (other < 0 || !physics->bodies[other].is_alive)
        return;
    double ratio = physics->masses[other].mass / physics->masses[body].mass;
    ratio = ratio < 1.0 ? 1.0 / ratio : ratio;
    if (ratio > causes->mass_ratio) {
        causes->mass_ratio = ratio;
        causes->ratio_with = solid_label(physics, physics->bodies[other].solid);
    }
}

static Causes find_causes(const Physics *physics, int body)
{
    Causes causes = { 0 };
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        if (!joint->is_alive || (joint->body[0] != body && joint->body[1] != body))
            continue;
        causes.joints++;
        causes.joint_with = solid_label(physics, joint->body[0] == body ? joint->child : joint->parent);
        consider_neighbour(physics, body, joint->body[0] == body ? joint->body[1] : joint->body[0], &causes);
    }
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        if (contact->body[0] != body && contact->body[1] != body)
            continue;
        int side = contact->body[0] == body ? 1 : 0;
        causes.contacts++;
        consider_neighbour(physics, body, contact->body[side], &causes);
        if (contact->depth > causes.depth || !causes.deep_with) {
            causes.depth = contact->depth;
            causes.deep_with = solid_label(physics, contact_solid(physics, contact, side));
        }
    }
    return causes;
}

// Says what happened, the last finite state, and what most likely caused it.
static void explain(Physics *physics, int index, const char *wrong)
{
    if (physics->trouble_count++ >= TROUBLE_MESSAGES)
        return;
    const Body *body = &physics->bodies[index];
    const BodyState *last = &physics->previous[index];
    Causes causes = find_causes(physics, index);
    Text text = { 0 };
    text_printf(&text, "'%s': %s in the step to %g s", solid_label(physics, body->solid), wrong,
                (double)(physics->step + 1) * physics->dt);
    text_printf(&text, "; last finite state: position %g %g %g, velocity %g %g %g, turning %g %g %g", last->position.x,
                last->position.y, last->position.z, last->linear.x, last->linear.y, last->linear.z, last->angular.x,
                last->angular.y, last->angular.z);
    if (causes.joints > 0)
        text_printf(&text, "; %d joint%s, one with '%s'", causes.joints, causes.joints > 1 ? "s" : "",
                    causes.joint_with);
    if (causes.contacts > 0)
        text_printf(&text, "; %d contact%s, the deepest %g m with '%s'", causes.contacts,
                    causes.contacts > 1 ? "s" : "", causes.depth, causes.deep_with);
    diag_error(physics->diags, physics->solids[body->solid].node->pos, "%s", text.data);
    text_free(&text);
    if (causes.mass_ratio > 1e4)
        diag_hint(
            physics->diags,
            "its mass (%g kg) and that of '%s' differ by a factor of %.0f; a direct solver loses its digits there",
            physics->masses[index].mass, causes.ratio_with, causes.mass_ratio);
    else if (causes.depth > 0.1)
        diag_hint(physics->diags, "it was %g m inside '%s': start it outside, or lower softERP", causes.depth,
                  causes.deep_with);
    else if (physics->plugin_holds_ode)
        diag_hint(
            physics->diags,
            "the physics plugin may have given ODE a number that is not finite: a mass, a contact, a parameter of a joint");
    else
        diag_hint(physics->diags,
                  "a step of %g ms may be too long for its motors, springs or speed; try a smaller basicTimeStep",
                  1000.0 * physics->dt);
}

static void freeze(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    BodyState *state = &physics->body_states[index];
    *state = physics->previous[index];
    state->linear = state->angular = VEC3_ZERO;
    state->force = state->torque = VEC3_ZERO;
    state->is_frozen = 1;
    physics->has_frozen = true;
    state->is_disabled = 1;
    body_moved_asleep(physics, index);  // the last poses may not have been computed, and it moves no more
    body_set_force(physics, index, VEC3_ZERO, VEC3_ZERO);
    mirror_body_state(physics, index);
    mirror_body_frozen(physics, index, true);
    mirror_body_enabled(physics, index);
    sleep_on_sleep(physics, index);
}

static void state_range(int begin, int end, int worker, void *context)
{
    SleepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        if (!is_fine(&work->physics->body_states[work->awake[i]]))
            atomic_store(&work->has_left, true);
}

void finite_check_states(Physics *physics)
{
    // A plain step looks at each state as it writes it.
    bool is_plain = !mirror_is_open(physics);
    if (is_plain ? !physics->has_unsound_states : !sleep_for_awake(physics, state_range))
        return;
    physics->has_unsound_states = false;
    for (int k = 0; k < physics->sleep->awake_count; k++) {
        int i = physics->sleep->awake[k];
        if (!physics->bodies[i].is_alive || physics->body_states[i].is_disabled)
            continue;
        const char *wrong = what_is_wrong(&physics->body_states[i]);
        if (!wrong)
            continue;
        explain(physics, i, wrong);
        if (physics->nan_policy == PHYSICS_NAN_STOP)
            physics->has_failed = true;
        // Also a run that stops shows its last finite state rather than one that no reader of it can use.
        freeze(physics, i);
    }
}

static bool is_next_point_of(const Physics *physics, int i)
{
    assert_debug(i >= 0 && i < physics->contact_count);
    const PhysicsContact *one = &physics->contacts[i], *before = &physics->contacts[i - (i > 0)];
    return i > 0 && contact_solid(physics, one, 0) == contact_solid(physics, before, 0)
           && contact_solid(physics, one, 1) == contact_solid(physics, before, 1);
}

// Solids that start inside each other are thrown apart: say so before the user wonders.
void finite_check_start(Physics *physics)
{
    int said = 0, more = 0;
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        if (contact->depth < start_depth || is_next_point_of(physics, i))
            continue;
        if (said == START_MESSAGES) {
            more++;
            continue;
        }
        said++;
        int moving = contact->body[0] >= 0 ? 0 : 1;
        diag_warning(physics->diags, physics->solids[contact_solid(physics, contact, moving)].node->pos,
                     "'%s' starts %.2g m inside '%s'", solid_label(physics, contact_solid(physics, contact, moving)),
                     contact->depth, solid_label(physics, contact_solid(physics, contact, 1 - moving)));
        diag_hint(physics->diags, "contacts push them apart; place one of them elsewhere");
    }
    if (more > 0)
        diag_warning(physics->diags, (SourcePos){ 0 }, "%d more places where solids start inside each other", more);
}
