// The collision pass: pairs from the broad phase, points from the narrow phase, records of ours, contact joints.
// Records come in the order of shape indices whatever happened before, because solvers are sensitive to order.
// Awake contacts live for one step. A pair that fell asleep keeps its records and joints, so that it is held the moment
// something wakes it; such records stand first in the array.
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/contact_thin.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

// ---- which pairs may touch ----

static bool shares_anchors(const Physics *physics, int deeper, int body)
{
    const PhysicsJoint *first = NULL;
    for (int i = deeper; i >= 0; i = physics->solids[i].parent) {
        if (physics->solids[i].body == body)
            return first != NULL;
        if (physics->solids[i].joint < 0)
            continue;
        const PhysicsJoint *joint = &physics->joints[physics->solids[i].joint];
        bool is_hinge = joint->kind == PHYSICS_JOINT_HINGE || joint->kind == PHYSICS_JOINT_HINGE2
                        || joint->kind == PHYSICS_JOINT_BALL;
        if (!is_hinge || (first && !vec3_is_equal(first->anchor, joint->anchor)))
            return false;
        first = joint;
    }
    return false;
}

// A shape without a body that rides on a moving solid does not touch the solids it rides on.
static bool rides_on(const Physics *physics, const PhysicsSolid *rider, int body)
{
    if (rider->body >= 0 || !rider->has_dynamic_parent)
        return false;
    for (int i = rider->parent; i >= 0; i = physics->solids[i].parent)
        if (physics->solids[i].body == body)
            return true;
    return false;
}

// In the order of who has the last word: a plugin, the robot's own rules, bodies that a plugin made; then what is
// static, frozen, tied together or riding on the other.
bool contact_rules_exclude(const Physics *physics, const Shape *a, const Shape *b)
{
    if (physics->plugin_may_touch_shapes && !plugin_lets_meet(physics, a, b))
        return true;
    const PhysicsSolid *s = &physics->solids[a->solid], *t = &physics->solids[b->solid];
    if (s->robot >= 0 && s->robot == t->robot && !physics->solids[s->robot].allows_self_collision)
        return true;
    bool is_excluded;
    if (s->robot >= 0 && s->robot == t->robot && (a->body >= 0 || b->body >= 0)
        && collision_rules_say(physics, a->solid, b->solid, &is_excluded))
        return is_excluded;
    if (a->is_outside || b->is_outside)
        return mirror_shapes_are_joined(a, b);
    if (a->body < 0 && b->body < 0)
        return !(s->feels_static || t->feels_static) || s->top == t->top;
    if ((a->body >= 0 && physics->body_states[a->body].is_frozen)
        || (b->body >= 0 && physics->body_states[b->body].is_frozen))
        return true;
    if (a->body >= 0 && b->body >= 0) {
        if (bodies_are_joined(physics, a->body, b->body))
            return true;
        return s->top == t->top
               && (shares_anchors(physics, a->solid, b->body) || shares_anchors(physics, b->solid, a->body));
    }
    int moving = a->body >= 0 ? a->body : b->body;
    if (rides_on(physics, a->body >= 0 ? t : s, moving))
        return true;
    return bodies_are_joined(physics, moving, -1);
}

// ---- places ----

void contact_move(Physics *physics, int from, int to)
{
    assert(to >= 0 && to <= from && from < physics->contact_count);
    physics->contacts[to] = physics->contacts[from];
    if (physics->contacts[from].has_own_surface)
        physics->own_surfaces[to] = physics->own_surfaces[from];
    if (to < physics->held_count)
        physics->held[to] = from < physics->held_count ? physics->held[from] : VEC3_ZERO;
}

void contact_hold(Physics *physics, int index, const double impulse[3])
{
    assert(index >= 0 && index < physics->contact_count);
    memory_grow(&physics->held, &physics->held_capacity, index + 1, sizeof *physics->held);
    while (physics->held_count <= index)
        physics->held[physics->held_count++] = VEC3_ZERO;
    physics->held[index] = vec3(impulse[0], impulse[1], impulse[2]);
}

// ---- joints in ODE ----

void contact_set_joint(Physics *physics, int index, dJointID joint)
{
    assert(index >= 0);
    if (index >= physics->contact_joint_count && !joint)
        return;
    memory_grow(&physics->contact_joints, &physics->contact_joint_capacity,
                int_max(index + 1, physics->contact_capacity), sizeof(dJointID));
    while (physics->contact_joint_count <= index)
        physics->contact_joints[physics->contact_joint_count++] = NULL;
    physics->contact_joints[index] = joint;
}

bool contacts_want_joints(const Physics *physics)
{
    return mirror_is_open(physics)
           && (physics->needs_contact_joints || physics->plugin_may_touch_contacts
               || (physics->plugin_holds_ode && physics->wants_contact_forces));
}

static bool is_on_outside(const Physics *physics, const PhysicsContact *contact, int side)
{
    return contact->shape[side] >= 0 && physics->shapes[contact->shape[side]].is_outside;
}

// What pushes a body that is not ours reaches it by a joint alone.
bool contact_wants_joint(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    return contacts_want_joints(physics) || is_on_outside(physics, contact, 0) || is_on_outside(physics, contact, 1);
}

static void attach_feedbacks(Physics *physics)
{
    if (!physics->wants_contact_forces)
        return;
    memory_grow(&physics->feedbacks, &physics->feedback_capacity, physics->contact_count + 1,
                sizeof *physics->feedbacks);
    memset(physics->feedbacks, 0, sizeof *physics->feedbacks * (size_t)physics->contact_count);
    for (int i = 0; i < physics->contact_count; i++)
        if (contact_joint(physics, i))
            mirror_contact_wants_force(physics, i, true);
}

// A pair that fell asleep as the step began was not solved in it: what its points carried in the step before holds on.
static Vec3 last_force_of(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    int nth = 0;
    for (int i = index - 1; i >= 0 && physics->contacts[i].shape[0] == contact->shape[0]
                            && physics->contacts[i].shape[1] == contact->shape[1];
         i--)
        nth++;
    for (int i = 0; i < physics->last_force_count; i++) {
        const PhysicsContactForce *last = &physics->last_forces[i];
        if (last->contact_shape[0] == contact->shape[0] && last->contact_shape[1] == contact->shape[1] && nth-- == 0)
            return last->force;
    }
    return VEC3_ZERO;
}

static Vec3 contact_force(const Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    if (contact->is_asleep)
        return index < physics->resting_force_count ? physics->resting_forces[index] : VEC3_ZERO;
    bool rests = true;
    for (int k = 0; k < 2; k++)
        rests &= contact->body[k] < 0 || physics->body_states[contact->body[k]].is_disabled;
    const double *f = physics->feedbacks[index].f1;
    if (rests && f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0)
        return last_force_of(physics, index);
    // With no first body the two are swapped, and f1 is the force on the second.
    double sign = contact->body[0] >= 0 || is_on_outside(physics, contact, 0) ? 1.0 : -1.0;
    return vec3(sign * f[0], sign * f[1], sign * f[2]);
}

void contacts_collect_forces(Physics *physics)
{
    PhysicsContactForce *spare = physics->last_forces;
    int spare_capacity = physics->last_force_capacity;
    physics->last_forces = physics->contact_forces;
    physics->last_force_count = physics->contact_force_count;
    physics->last_force_capacity = physics->contact_force_capacity;
    physics->contact_forces = spare;
    physics->contact_force_capacity = spare_capacity;
    physics->contact_force_count = 0;
    if (!physics->wants_contact_forces || physics->feedback_capacity < physics->contact_count)
        return;
    memory_grow(&physics->contact_forces, &physics->contact_force_capacity, physics->contact_count + 1,
                sizeof(PhysicsContactForce));
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        physics->contact_forces[physics->contact_force_count++] = (PhysicsContactForce){
            { contact->shape[0], contact->shape[1] },
            { contact_solid(physics, contact, 0), contact_solid(physics, contact, 1) },
            contact->point,
            contact->normal,
            contact_force(physics, i),
        };
    }
}

void contacts_release(Physics *physics)
{
    for (int i = 0; i < physics->sleeping_contact_count; i++)
        mirror_contact_destroy(physics, i);
    mirror_contacts_drop(physics);
    for (int i = 0; i < physics->contact_count; i++)
        contact_set_joint(physics, i, NULL);
}

void contacts_recreate(Physics *physics)
{
    physics->touching_count = 0;
    for (int i = 0; i < physics->contact_count; i++) {
        contact_set_joint(physics, i, NULL);
        if (contact_wants_joint(physics, i))
            mirror_contact_make(physics, i);
        if (!physics->contacts[i].is_asleep)
            contact_remember_pair(physics, physics->contacts[i].shape[0], physics->contacts[i].shape[1]);
    }
    attach_feedbacks(physics);
}

void contacts_forget(Physics *physics, int top)
{
    assert(top >= 0 && top < physics->solid_count);
    int end = physics->solids[top].end, kept = 0, sleeping = 0;
    contacts_release(physics);
    for (int i = 0; i < physics->contact_count; i++) {
        const PhysicsContact *contact = &physics->contacts[i];
        bool goes = false;
        for (int k = 0; k < 2; k++)
            goes |= contact_solid(physics, contact, k) >= top && contact_solid(physics, contact, k) < end;
        for (int k = 0; k < 2 && goes; k++)
            if (contact->body[k] >= 0)
                body_wake(physics, contact->body[k]);
        if (goes)
            continue;
        sleeping += contact->is_asleep;
        contact_move(physics, i, kept++);
    }
    physics->contact_count = kept;
    physics->sleeping_contact_count = sleeping;
    physics->contact_force_count = 0;
    sleep_forget(physics);
    physics->needs_full_pass = true;
    contacts_recreate(physics);
}

// ---- sleeping pairs ----

static bool pair_rests(const Physics *physics, const PhysicsContact *contact)
{
    for (int i = 0; i < 2; i++)
        if (contact->shape[i] < 0 || physics->shapes[contact->shape[i]].was_changed
            || physics->shapes[contact->shape[i]].is_outside)
            return false;
    return body_rests(physics, contact->body[0]) && body_rests(physics, contact->body[1]);
}

// What a shape touched before it was moved by hand may have lost its support.
static void wake_if_changed(Physics *physics, const PhysicsContact *contact)
{
    for (int i = 0; i < 2; i++)
        if (contact->shape[i] >= 0 && physics->shapes[contact->shape[i]].was_changed && contact->body[1 - i] >= 0)
            body_wake(physics, contact->body[1 - i]);
}

// A sleeping contact takes another place: what it carries goes with it.
static void move_resting_force(Physics *physics, int from, int to)
{
    if (to < physics->resting_force_count)
        physics->resting_forces[to] = from < physics->resting_force_count ? physics->resting_forces[from] : VEC3_ZERO;
}

// Contact `from` of the last step falls asleep as contact `to`: what it carried is what it goes on to carry.
static void keep_resting_force(Physics *physics, int from, int to)
{
    if (!physics->wants_contact_forces)
        return;
    memory_grow(&physics->resting_forces, &physics->resting_force_capacity, to + 1, sizeof(Vec3));
    for (; physics->resting_force_count <= to; physics->resting_force_count++)
        physics->resting_forces[physics->resting_force_count] = VEC3_ZERO;
    physics->resting_forces[to] = physics->contact_force_count == physics->contact_count
                                      ? physics->contact_forces[from].force
                                      : VEC3_ZERO;
}

// A sleeping contact that goes leaves a sleeper without what held it: a body was moved by hand, for in a step waking
// spreads first.
static bool wake_sides(Physics *physics, const PhysicsContact *contact)
{
    bool has_woken = false;
    for (int i = 0; i < 2; i++)
        if (contact->body[i] >= 0 && physics->body_states[contact->body[i]].is_disabled
            && !physics->body_states[contact->body[i]].is_frozen) {
            body_wake(physics, contact->body[i]);
            has_woken = true;
        }
    return has_woken;
}

// Drops those sleeping contacts of which a body woke; all are looked at.
static int drop_any_woken(Physics *physics)
{
    int kept = 0, old = physics->sleeping_contact_count;
    for (bool has_woken = true; has_woken;) {
        has_woken = false;
        for (int i = 0; i < old; i++)
            if (!pair_rests(physics, &physics->contacts[i]))
                has_woken |= wake_sides(physics, &physics->contacts[i]);
    }
    for (int i = 0; i < old; i++) {
        if (!pair_rests(physics, &physics->contacts[i])) {
            mirror_contact_destroy(physics, i);
            continue;
        }
        if (kept != i)
            contact_move(physics, i, kept);
        move_resting_force(physics, i, kept);
        contact_set_joint(physics, kept++, contact_joint(physics, i));
    }
    return kept;
}

// The same for what the awake set lists: the last one takes the place of the one that goes.
static int drop_woken(Physics *physics)
{
    int count, kept = physics->sleeping_contact_count;
    const int32_t *woken;
    while (woken = sleep_woken_contacts(physics, &count), count > 0)
        for (int i = count - 1; i >= 0; i--) {
            int at = woken[i];
            wake_sides(physics, &physics->contacts[at]);
            mirror_contact_destroy(physics, at);
            sleep_unlink(physics, at);
            if (at != --kept) {
                sleep_relink(physics, kept, at);
                contact_set_joint(physics, at, contact_joint(physics, kept));
                move_resting_force(physics, kept, at);
            }
        }
    return kept;
}

// Of the contacts of the last pass those of sleeping pairs stay, at the front; all others are found anew.
static void keep_sleeping(Physics *physics, bool is_full)
{
    if (physics->has_changed_shapes)
        for (int i = 0; i < physics->contact_count; i++)
            wake_if_changed(physics, &physics->contacts[i]);
    int old = physics->sleeping_contact_count;
    int kept = is_full ? drop_any_woken(physics) : drop_woken(physics), first_new = kept;
    bool may_rest = is_full || physics->sleep->may_rest;
    physics->sleep->may_rest = false;
    for (int i = old; may_rest && i < physics->contact_count; i++)
        if (pair_rests(physics, &physics->contacts[i])) {
            contact_move(physics, i, kept);
            keep_resting_force(physics, i, kept);
            physics->contacts[kept++].is_asleep = true;
        }
    mirror_contacts_drop(physics);
    for (int i = first_new; i < kept; i++) {
        contact_set_joint(physics, i, NULL);
        if (contacts_want_joints(physics))
            mirror_contact_make(physics, i);
        if (!is_full)
            sleep_link(physics, i);
    }
    physics->contact_count = physics->sleeping_contact_count = kept;
    physics->resting_force_count = int_min(physics->resting_force_count, kept);
    if (!is_full)
        return;
    sleep_forget(physics);
    sleep_refresh(physics);
}

static void wake_all(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->body_states[i].is_disabled)
            body_wake(physics, i);
}

bool contact_shape_rests(const Physics *physics, const Shape *shape)
{
    if (shape->is_outside)
        return false;
    bool feels = shape->solid >= 0 && shape->body < 0 && physics->solids[shape->solid].feels_static;
    return body_rests(physics, shape->body) && !shape->was_changed && !shape->has_ridden && !feels;
}

static void update_all_boxes(Physics *physics)
{
    for (int i = 0; i < physics->shape_count; i++) {
        Shape *shape = &physics->shapes[i];
        if (!shape->is_alive)
            continue;
        bool is_resting = body_rests(physics, shape->body);
        if (shape->body >= 0 && !is_resting && !physics->plugin_may_touch_shapes)
            shape_update_box(physics, i);
        bool is_asked_for = physics->collide_hook.asks.collide != NULL;
        broadphase_set_resting(physics->broadphase, i, !is_asked_for && contact_shape_rests(physics, shape));
    }
}

static void set_resting(Physics *physics, int body, bool is_resting)
{
    const Sleep *sleep = physics->sleep;
    for (int i = sleep->first_shape[body]; i < sleep->first_shape[body + 1]; i++)
        broadphase_set_resting(physics->broadphase, sleep->shapes[i],
                               is_resting && !physics->collide_hook.asks.collide);
}

static void place_shape(void *context, int shape, BroadBox *box)
{
    const Physics *physics = context;
    narrow_place(physics, shape, box);
}

static void move_awake_shapes(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    if (sleep->awake_count == physics->body_count) {  // the list of all is there already, in the same order
        broadphase_move_all(physics->broadphase, sleep->shapes, sleep->first_shape[physics->body_count], place_shape,
                            physics);
        return;
    }
    int count = 0;
    memory_grow(&sleep->list, &sleep->list_capacity, physics->shape_count + 1, sizeof *sleep->list);
    for (int k = 0; k < sleep->awake_count; k++)
        for (int body = sleep->awake[k], i = sleep->first_shape[body]; i < sleep->first_shape[body + 1]; i++)
            sleep->list[count++] = sleep->shapes[i];
    broadphase_move_all(physics->broadphase, sleep->list, count, place_shape, physics);
}

// Shapes that ride on bodies look for sleepers while they move.
static void update_riders(Physics *physics)
{
    Sleep *sleep = physics->sleep;
    int kept = 0;
    for (int i = 0; i < sleep->rider_count; i++) {
        int index = sleep->riders[i];
        Shape *shape = &physics->shapes[index];
        shape->is_rider = shape->is_alive && shape->has_ridden;
        if (shape->is_rider)
            sleep->riders[kept++] = index;
        if (shape->is_alive)
            broadphase_set_resting(physics->broadphase, index,
                                   !physics->collide_hook.asks.collide && contact_shape_rests(physics, shape));
    }
    sleep->rider_count = kept;
}

static void update_boxes(Physics *physics, bool is_full)
{
    Sleep *sleep = physics->sleep;
    if (is_full) {
        update_all_boxes(physics);
    } else {
        for (int i = 0; i < sleep->slept_count; i++)
            set_resting(physics, sleep->slept[i], physics->body_states[sleep->slept[i]].is_disabled);
        for (int i = 0; i < sleep->woken_count; i++)
            set_resting(physics, sleep->woken[i], physics->body_states[sleep->woken[i]].is_disabled);
        move_awake_shapes(physics);
    }
    update_riders(physics);
    sleep->slept_count = sleep->woken_count = 0;
}

void contacts_find_fluids(Physics *physics)
{
    if (!physics->fluids)
        return;
    update_all_boxes(physics);
    physics->needs_full_pass = true;
    fluids_begin_pass(physics);
    int count;
    const BroadPair *pairs = broadphase_pairs(physics->broadphase, &count);
    for (int i = 0; i < count; i++) {
        bool first_is_fluid = physics->shapes[pairs[i].a].fluid >= 0;
        if (first_is_fluid != (physics->shapes[pairs[i].b].fluid >= 0))
            fluids_pair(physics, first_is_fluid ? pairs[i].b : pairs[i].a, first_is_fluid ? pairs[i].a : pairs[i].b);
    }
}

static void swap_touching(Physics *physics)
{
    uint64_t *pairs = physics->touched;
    int capacity = physics->touched_capacity;
    physics->touched = physics->touching;
    physics->touched_capacity = physics->touching_capacity;
    physics->touched_count = physics->touching_count;
    physics->touching = pairs;
    physics->touching_capacity = capacity;
    physics->touching_count = 0;
}

// Whether no body has a shape, and the last pass found nothing that this one would have to forget: worlds of bare
// joints and masses, as learning likes them.
static bool has_nothing_to_touch(const Physics *physics)
{
    const Sleep *sleep = physics->sleep;
    int found = physics->contact_count | physics->pair_count | physics->touching_count | physics->touched_count
                | sleep->marked_count | sleep->rider_count | sleep->held_shape_count;
    return found == 0 && physics->body_count > 0 && !physics->fluids && !physics->collide_hook.asks.collide
           && !physics->plugin_holds_ode && !physics->has_late_changes;
}

// A pass costs what is awake. It looks at everything after the world was changed or restored, when shapes were moved by
// hand, while others may change shapes, and when steps are ODE's own and others hold its objects.
void contacts_collide(Physics *physics)
{
    if (physics->is_static_moved)
        wake_all(physics);
    physics->is_static_moved = false;
    for (int i = 0; physics->plugin_may_touch_shapes && i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive)
            shape_follow(physics, i);
    sleep_refresh(physics);
    bool is_full = physics->needs_full_pass || physics->has_changed_shapes || physics->plugin_may_touch_shapes
                   || (physics->plugin_holds_ode && physics->needs_contact_joints);
    if (physics->collide_hook.asks.collide)
        plugin_begin_pass(physics);
    physics->sleep->pass++;
    if (!is_full && has_nothing_to_touch(physics)) {
        physics->sleep->slept_count = physics->sleep->woken_count = 0;
        physics->deepest = 0.0;
        return;
    }
    keep_sleeping(physics, is_full);
    swap_touching(physics);
    contacts_clear_marks(physics, is_full);
    update_boxes(physics, is_full);
    fluids_begin_pass(physics);
    physics->deepest = 0.0;
    const BroadPair *pairs = thin_pairs(physics, broadphase_pairs(physics->broadphase, &physics->pair_count),
                                        &physics->pair_count);
    contacts_touch(physics, pairs, physics->pair_count);
    if (physics->collide_hook.asks.collide)
        plugin_collide_others(physics);
    attach_feedbacks(physics);
    for (int i = 0; i < physics->sleep->rider_count; i++)
        physics->shapes[physics->sleep->riders[i]].has_ridden = false;
    // Shapes moved by hand count as moving in this pass alone.
    physics->needs_full_pass = physics->has_changed_shapes;
    for (int i = 0; physics->has_changed_shapes && !physics->has_late_changes && i < physics->shape_count; i++)
        physics->shapes[i].was_changed = false;
    physics->has_changed_shapes = physics->has_late_changes;
    physics->has_late_changes = false;
}

// ---- what contacts say ----

static Vec3 surface_velocity(const Physics *physics, int body, Vec3 point)
{
    if (body < 0)
        return VEC3_ZERO;
    const BodyState *state = &physics->body_states[body];
    return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, state->position)));
}

// The part of a vector that lies in the plane of contact.
static Vec3 in_plane(Vec3 vector, Vec3 normal) { return vec3_mad(vector, normal, -vec3_dot(vector, normal)); }

// Hits count in the pass in which a pair comes to touch. The energy of one is that of the two masses' approach, as if
// all of them met at the point.
bool physics_contact_moves(const Physics *physics, int index, double slide_min, double spin_min,
                           PhysicsContactMotion *motion)
{
    assert(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    Vec3 relative = vec3_sub(surface_velocity(physics, contact->body[0], contact->point),
                             surface_velocity(physics, contact->body[1], contact->point));
    double approach = vec3_dot(relative, contact->normal);
    bool is_impact = contact->is_new && approach < 0.0;
    Vec3 spin = contact->body[0] >= 0 ? physics->body_states[contact->body[0]].angular : VEC3_ZERO;
    if (contact->body[1] >= 0)
        spin = vec3_sub(spin, physics->body_states[contact->body[1]].angular);
    double slide2 = vec3_length2(vec3_mad(relative, contact->normal, -approach));
    double spin2 = vec3_length2(in_plane(spin, contact->normal));
    if (!is_impact && slide2 <= slide_min * slide_min && spin2 <= spin_min * spin_min)
        return false;
    double inverse_mass = 0.0, arm2 = 0.0;
    for (int i = 0; i < 2; i++) {
        if (contact->body[i] < 0)
            continue;
        inverse_mass += is_impact ? 1.0 / physics->masses[contact->body[i]].mass : 0.0;
        arm2 = double_max(arm2,
                          vec3_length2(vec3_sub(contact->point, physics->body_states[contact->body[i]].position)));
    }
    *motion = (PhysicsContactMotion){ .sliding_speed = sqrt(slide2), .rolling_spin = sqrt(spin2) };
    motion->rolling_speed = sqrt(arm2) * motion->rolling_spin;
    if (inverse_mass > 0.0)
        motion->impact_energy = 0.5 / inverse_mass * approach * approach;
    return true;
}

PhysicsContactMotion physics_contact_motion(const Physics *physics, int index)
{
    PhysicsContactMotion motion = { 0 };
    physics_contact_moves(physics, index, 0.0, 0.0, &motion);
    return motion;
}

const PhysicsContact *physics_contacts(const Physics *physics, int *count)
{
    *count = physics->contact_count;
    return physics->contacts;
}

int physics_contact_solid(const Physics *physics, const PhysicsContact *contact, int side)
{
    assert(side == 0 || side == 1);
    return contact_solid(physics, contact, side);
}

const PhysicsContactForce *physics_contact_forces(const Physics *physics, int *count)
{
    *count = physics->contact_force_count;
    return physics->contact_forces;
}

void physics_want_contact_forces(Physics *physics, bool want)
{
    if (physics->wants_contact_forces == want)
        return;
    physics->wants_contact_forces = want;
    if (want) {
        for (int i = 0; contacts_want_joints(physics) && i < physics->contact_count; i++)
            if (!contact_joint(physics, i))
                mirror_contact_make(physics, i);
        attach_feedbacks(physics);
        return;
    }
    for (int i = 0; i < physics->contact_count; i++)
        if (contact_joint(physics, i))
            mirror_contact_wants_force(physics, i, false);
}
