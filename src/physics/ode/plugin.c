// The part of the collision pass that a plugin takes: it is asked about every pair of boxes that overlap, about the
// spaces that hold the shapes of one body, and about geoms of its own that it put beside ours.
#include "physics/mirror.h"

#include "base/memory.h"
#include "physics/collide/collide_cache.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/ode/ode.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPACE_DEPTH = 8 };  // spaces within spaces

void physics_ode_set_collide_hook(Physics *physics, const PhysicsCollideHook *hook)
{
    physics->collide_hook.asks = hook ? *hook : (PhysicsCollideHook){ 0 };
    physics->needs_full_pass = true;  // which pairs are asked about changes
    // The pass that follows finds to the last digit what the one before it found, not what that one kept.
    if (hook)
        collide_cache_forget(narrow_cache(physics->narrow));
}

void plugin_free(Physics *physics)
{
    free(physics->collide_hook.answers);
    free(physics->collide_hook.ours);
    free(physics->collide_hook.pending);
    physics->collide_hook = (CollideHook){ 0 };
}

// ---- hashed tables of pointers ----

static uint32_t pair_hash(dGeomID a, dGeomID b)
{
    uint64_t value = (uint64_t)(uintptr_t)a * 0x9E3779B97F4A7C15u ^ (uint64_t)(uintptr_t)b * 0xC2B2AE3D27D4EB4Fu;
    return (uint32_t)(value >> 32);
}

// The slot of the pair, or the empty one where it belongs.
static GeomPair *pair_slot(GeomPair *table, int size, dGeomID a, dGeomID b)
{
    assert_debug(a && size > 0 && (size & (size - 1)) == 0);
    uint32_t mask = (uint32_t)size - 1;
    for (uint32_t at = pair_hash(a, b) & mask;; at = (at + 1) & mask)
        if (!table[at].a || (table[at].a == a && table[at].b == b))
            return &table[at];
}

static void answers_grow(CollideHook *hook)
{
    GeomPair *old = hook->answers;
    int old_size = hook->answer_size;
    hook->answer_size = old_size ? 2 * old_size : 64;
    hook->answers = memory_alloc_array((size_t)hook->answer_size, sizeof *hook->answers);
    for (int i = 0; i < old_size; i++)
        if (old[i].a)
            *pair_slot(hook->answers, hook->answer_size, old[i].a, old[i].b) = old[i];
    assert_debug(2 * hook->answer_count <= hook->answer_size);
    free(old);
}

static void ours_build(Physics *physics)
{
    CollideHook *hook = &physics->collide_hook;
    int needed = 64;
    while (needed < 2 * (physics->shape_count + physics->body_count))
        needed *= 2;
    if (needed > hook->ours_size) {
        free(hook->ours);
        hook->ours = memory_alloc_array((size_t)needed, sizeof *hook->ours);
        hook->ours_size = needed;
    }
    memset(hook->ours, 0, (size_t)hook->ours_size * sizeof *hook->ours);
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive)
            *pair_slot(hook->ours, hook->ours_size, physics->shapes[i].ode, NULL) = (GeomPair){ physics->shapes[i].ode,
                                                                                                NULL, 0 };
    for (int i = 0; i < physics->body_count; i++) {
        dGeomID space = physics->bodies[i].is_alive ? (dGeomID)physics->bodies[i].space : NULL;
        if (space)
            *pair_slot(hook->ours, hook->ours_size, space, NULL) = (GeomPair){ space, NULL, 0 };
    }
}

static bool is_ours(const Physics *physics, dGeomID geom)
{
    const CollideHook *hook = &physics->collide_hook;
    assert_debug(hook->ours_size > 0);
    return pair_slot(hook->ours, hook->ours_size, geom, NULL)->a != NULL;
}

// Of what a geom was made of, which several may share.
static const char *data_owner(const Physics *physics, const void *object)
{
    for (int i = 0; i < physics->mesh_count; i++) {
        const MeshEntry *mesh = &physics->meshes[i];
        if (object != mesh->data && object != mesh->field)
            continue;
        for (int k = 0; k < physics->shape_count; k++) {
            const Shape *shape = &physics->shapes[k];
            if (shape->is_alive && shape->twin && shape->twin->data == object)
                return physics_ode_owner(physics, shape->ode);
        }
        return "the world";
    }
    return NULL;
}

static bool is_twin(const Constraint *constraint, const void *object)
{
    return constraint && constraint->ode == object;
}

const char *physics_ode_owner(const Physics *physics, const void *object)
{
    if (object == physics->world || object == physics->space || object == physics->contact_group
        || probe_is(physics, object))
        return "the world";
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && (object == physics->bodies[i].ode || object == physics->bodies[i].space))
            return physics_solid_label(physics, physics->bodies[i].solid);
    for (int i = 0; i < physics->shape_count; i++)
        if (physics->shapes[i].is_alive && object == physics->shapes[i].ode)
            return physics->shapes[i].solid < 0 ? "a fluid" : physics_solid_label(physics, physics->shapes[i].solid);
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        if (is_twin(joint->constraint, object) || is_twin(joint->motor, object) || is_twin(joint->spring, object))
            return physics_solid_label(physics, joint->child >= 0 ? joint->child : joint->parent);
    }
    for (int i = 0; i < physics->weld_count; i++)
        if (physics->welds[i].is_alive && is_twin(physics->welds[i].constraint, object))
            return physics_solid_label(physics, physics->welds[i].solid);
    // Those of awake pairs are in a group, from which ODE destroys none.
    for (int i = 0; i < physics->sleeping_contact_count; i++)
        if (contact_joint(physics, i) == object)
            return physics_solid_label(physics,
                                       contact_solid(physics, &physics->contacts[i], physics->contacts[i].body[0] < 0));
    const char *const others[] = { fittings_joint_owner(physics, object), pins_joint_owner(physics, object),
                                   extra_joints_owner(physics, object), data_owner(physics, object) };
    for (int i = 0; i < COUNT_OF(others); i++)
        if (others[i])
            return others[i];
    return NULL;
}

// ---- pairs of ours ----

void plugin_begin_pass(Physics *physics)
{
    CollideHook *hook = &physics->collide_hook;
    assert_debug(hook->asks.begin && hook->asks.collide);
    if (hook->answer_count > 0)
        memset(hook->answers, 0, (size_t)hook->answer_size * sizeof *hook->answers);
    hook->answer_count = 0;
    hook->asks.begin(hook->asks.context);
}

static int ask(const CollideHook *hook, dGeomID a, dGeomID b) { return hook->asks.collide(hook->asks.context, a, b); }

// The answer about two geoms of which one is a space at least, asked for once a pass.
static int ask_about_spaces(Physics *physics, dGeomID a, dGeomID b)
{
    CollideHook *hook = &physics->collide_hook;
    if (2 * (hook->answer_count + 1) > hook->answer_size)
        answers_grow(hook);
    GeomPair *slot = pair_slot(hook->answers, hook->answer_size, a, b);
    if (!slot->a) {
        *slot = (GeomPair){ a, b, ask(hook, a, b) };
        hook->answer_count++;
    }
    return slot->answer;
}

// What ODE's own pass over the world's space would meet first: the geom, or the space of its body.
static dGeomID outer(const Physics *physics, const Shape *shape)
{
    dSpaceID space = dGeomGetSpace(shape->ode);
    return space && space != physics->space ? (dGeomID)space : shape->ode;
}

static bool bits_meet(dGeomID a, dGeomID b)
{
    return (dGeomGetCategoryBits(a) & dGeomGetCollideBits(b)) || (dGeomGetCategoryBits(b) & dGeomGetCollideBits(a));
}

bool plugin_lets_meet(const Physics *physics, const Shape *a, const Shape *b)
{
    if (a->is_away || b->is_away || (shape_on(a) && shape_on(a) == shape_on(b)))
        return false;
    return bits_meet(a->ode, b->ode) && bits_meet(outer(physics, a), outer(physics, b));
}

static __attribute__((noinline)) int ask_about_shapes(Physics *physics, const Shape *a, const Shape *b)
{
    dGeomID outer_a = outer(physics, a), outer_b = outer(physics, b);
    if ((outer_a != a->ode || outer_b != b->ode) && outer_a != outer_b) {
        int answer = ask_about_spaces(physics, outer_a, outer_b);
        if (answer != 0)
            return answer;
    }
    return ask(&physics->collide_hook, a->ode, b->ode);
}

static bool has_space(const Physics *physics, const Shape *shape)
{
    return shape->body >= 0 && physics->bodies[shape->body].space;
}

// What moves comes first: plugins attach contact joints as (body, 0), and a plane was the last in the space they were
// made for. ODE is asked who moves and stands in which space only if somebody else may have had a say in it.
int plugin_collide(Physics *physics, const Shape *a, const Shape *b)
{
    bool is_foreign = physics->plugin_holds_ode;
    bool is_swapped = is_foreign ? !dGeomGetBody(a->ode) && dGeomGetBody(b->ode) : a->body < 0 && b->body >= 0;
    const Shape *first = is_swapped ? b : a, *second = is_swapped ? a : b;
    if (is_foreign || has_space(physics, a) || has_space(physics, b))
        return ask_about_shapes(physics, first, second);
    return ask(&physics->collide_hook, first->ode, second->ode);
}

// ---- geoms of the plugin ----

static bool space_has_others(const Physics *physics)
{
    int count = dSpaceGetNumGeoms(physics->space), ours = 0;
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->bodies[i].space)
            count += dSpaceGetNumGeoms(physics->bodies[i].space) - 1;
    for (int i = 0; i < physics->shape_count; i++)
        ours += physics->shapes[i].is_alive;
    return count != ours;
}

typedef struct OtherPass {
    Physics *physics;
    dGeomID other;   // the plugin's, against all the rest
    int depth;       // of spaces within spaces
    bool is_within;  // the pass over the inside of a space that the plugin made
} OtherPass;

// Two of the plugin's own meet twice, once in the turn of each: the one that comes first in the list of its space
// speaks.
static bool was_asked(const OtherPass *pass, dGeomID a, dGeomID b)
{
    if (pass->is_within)
        return false;
    dGeomID partner = a == pass->other ? b : a;
    if (partner == pass->other || is_ours(pass->physics, partner)
        || dGeomGetSpace(partner) != dGeomGetSpace(pass->other))
        return false;
    dSpaceID space = dGeomGetSpace(partner);
    int count = dSpaceGetNumGeoms(space);
    for (int i = 0; i < count; i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        if (geom == partner || geom == pass->other)
            return geom == partner;
    }
    return false;
}

static void near_other(void *data, dGeomID a, dGeomID b)
{
    OtherPass *pass = data;
    assert_debug(pass->depth >= 0 && pass->depth <= SPACE_DEPTH);
    Physics *physics = pass->physics;
    CollideHook *hook = &physics->collide_hook;
    if (a == b || was_asked(pass, a, b))
        return;
    if (dGeomIsSpace(a) || dGeomIsSpace(b)) {
        if (pass->depth >= SPACE_DEPTH || ask(hook, a, b) != 0)
            return;
        pass->depth++;
        dSpaceCollide2(a, b, pass, near_other);
        pass->depth--;
        return;
    }
    memory_grow(&hook->pending, &hook->pending_capacity, hook->pending_count + 1, sizeof *hook->pending);
    hook->pending[hook->pending_count++] = (GeomPair){ a, b, 0 };
}

static void collide_others_in(Physics *physics, dSpaceID space)
{
    int count = dSpaceGetNumGeoms(space);
    for (int i = 0; i < count; i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        if (is_ours(physics, geom) || !dGeomIsEnabled(geom))
            continue;
        OtherPass pass = { .physics = physics, .other = geom, .is_within = true };
        if (dGeomIsSpace(geom))
            dSpaceCollide((dSpaceID)geom, &pass, near_other);
        pass.is_within = false;
        dSpaceCollide2(geom, (dGeomID)physics->space, &pass, near_other);
    }
}

void plugin_collide_others(Physics *physics)
{
    if (!physics->plugin_holds_ode || !space_has_others(physics))
        return;
    CollideHook *hook = &physics->collide_hook;
    ours_build(physics);
    hook->pending_count = 0;
    collide_others_in(physics, physics->space);
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->bodies[i].space)
            collide_others_in(physics, physics->bodies[i].space);
    // Only now, with no space locked, may a plugin move its geoms.
    for (int i = 0; i < hook->pending_count; i++)
        ask(hook, hook->pending[i].a, hook->pending[i].b);
}

// ---- what a plugin did to bodies ----

static bool force_is_finite(const Body *body)
{
    assert_debug(body->ode);
    const dReal *f = dBodyGetForce(body->ode), *t = dBodyGetTorque(body->ode);
    // One test for six numbers: what is not finite stays so when it is multiplied by zero.
    return 0.0 * f[0] + 0.0 * f[1] + 0.0 * f[2] + 0.0 * t[0] + 0.0 * t[1] + 0.0 * t[2] == 0.0;
}

int physics_ode_drop_bad_force(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++) {
        const Body *body = &physics->bodies[i];
        if (!body->is_alive || !body->ode || force_is_finite(body))
            continue;
        body_set_force(physics, i, VEC3_ZERO, VEC3_ZERO);
        return i;
    }
    return -1;
}

void physics_drop_forces(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++) {
        if (physics->bodies[i].is_alive)
            body_set_force(physics, i, VEC3_ZERO, VEC3_ZERO);
    }
}

void physics_ode_take_bodies(Physics *physics)
{
    odelib_begin(physics);
    finite_check_inputs(physics);
    body_gather(physics);
    solids_update(physics);
    odelib_end();
}

// ---- handles ----

void physics_ode_hand_out(Physics *physics, unsigned reach)
{
    mirror_open(physics);
    assert_debug(mirror_is_open(physics));
    physics->plugin_holds_ode = true;
    physics->needs_full_pass |= (reach & PHYSICS_REACHES_SHAPES) && !physics->plugin_may_touch_shapes;
    physics->plugin_may_touch_shapes |= (reach & PHYSICS_REACHES_SHAPES) != 0;
    physics->plugin_may_touch_contacts |= (reach & PHYSICS_REACHES_CONTACTS) != 0;
}

void physics_ode_hide_contacts(Physics *physics) { contacts_release(physics); }
void physics_ode_show_contacts(Physics *physics) { contacts_recreate(physics); }

static const Physics *handed_out(const Physics *physics)
{
    if (!physics->plugin_holds_ode)
        physics_ode_hand_out((Physics *)physics, PHYSICS_REACHES_ALL);
    return physics;
}

// The world and its space alone say nothing of what is in them.
static const Physics *opened(const Physics *physics)
{
    mirror_open((Physics *)physics);
    return physics;
}

dWorldID physics_ode_world(const Physics *physics) { return opened(physics)->world; }
dSpaceID physics_ode_space(const Physics *physics) { return opened(physics)->space; }

dBodyID physics_ode_body(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    int body = handed_out(physics)->solids[solid].body;
    return body >= 0 ? physics->bodies[body].ode : NULL;
}

dGeomID physics_ode_geom(const Physics *physics, int solid)
{
    assert(solid >= 0 && solid < physics->solid_count);
    handed_out(physics);
    const PhysicsSolid *s = &physics->solids[solid];
    if (s->body_owner == solid && physics->bodies[s->body].space)
        return (dGeomID)physics->bodies[s->body].space;
    return s->shape_count > 0 ? physics->shapes[s->first_shape].ode : NULL;
}
