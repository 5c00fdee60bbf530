// All that the future depends on, as bytes: a header, then the blocks of state one after the other.
#include "physics/collide/collide_cache.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

static const char magic[8] = "TALPHYS8";

typedef struct Header {
    char magic[8];
    uint64_t model, step;
    uint64_t facts[PHYSICS_MODEL_FACTS];
    int32_t contact_count, sleeping_contact_count;
    int32_t has_failed, needs_pass, is_static_moved, frozen_count;
    int32_t contacts_dropped, own_surface_count, held_count, reserved;
    uint64_t cache_size, stepper_size;
} Header;

// ---- what may be taken from a stranger ----

bool state_vector_is_sound(Vec3 v)
{
    return fabs(v.x) <= LIMIT_COORDINATE && fabs(v.y) <= LIMIT_COORDINATE && fabs(v.z) <= LIMIT_COORDINATE;
}

bool state_pose_is_sound(Pose pose)
{
    double norm2 = pose.q.w * pose.q.w + pose.q.x * pose.q.x + pose.q.y * pose.q.y + pose.q.z * pose.q.z;
    return state_vector_is_sound(pose.t) && fabs(norm2 - 1.0) < 1e-6;
}

static bool solids_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->solid_count; i++) {
        SolidState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        if (physics->solids[i].is_alive
            && (!state_pose_is_sound(state.local) || !state_vector_is_sound(state.linear)
                || !state_vector_is_sound(state.angular)))
            return false;
    }
    return true;
}

static bool bodies_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->body_count; i++) {
        BodyState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        if (!physics->bodies[i].is_alive)
            continue;
        if (!state_pose_is_sound((Pose){ state.position, state.orientation }) || !state_vector_is_sound(state.linear)
            || !state_vector_is_sound(state.angular) || !vec3_is_finite(state.force) || !vec3_is_finite(state.torque)
            || isnan(state.idle_left))
            return false;
    }
    return true;
}

bool joint_axis_is_sound(const PhysicsAxisState *axis)
{
    // An infinite target means velocity control; everything else is a finite number.
    const double numbers[] = {
        axis->position,        axis->velocity,        axis->surplus,          axis->offset,
        axis->feedback,        axis->target_velocity, axis->command_velocity, axis->acceleration,
        axis->available_force, axis->force_command,   axis->gains[0],         axis->gains[1],
        axis->gains[2],        axis->integral,        axis->last_error,       axis->brake_damping
    };
    for (int i = 0; i < COUNT_OF(numbers); i++)
        if (!isfinite(numbers[i]))
            return false;
    return !isnan(axis->target_position) && axis->mode >= MOTOR_POSITION && axis->mode <= MOTOR_FORCE;
}

static bool joints_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->joint_count; i++) {
        const PhysicsJoint *joint = &physics->joints[i];
        PhysicsJointState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        for (int k = 0; joint->is_alive && k < joint->axis_count; k++)
            if (!joint_axis_is_sound(&state.axes[k]))
                return false;
        if (joint->is_alive && !state_pose_is_sound(state.zero))
            return false;
        for (int k = 0; joint->is_alive && joint->constraint && k < 2; k++)
            if (!state_pose_is_sound(state.anchored[k]))
                return false;
    }
    return true;
}

static bool welds_are_sound(const Physics *physics, const void *bytes)
{
    for (int i = 0; i < physics->weld_count; i++) {
        WeldState state;
        memcpy(&state, (const char *)bytes + sizeof(state) * (size_t)i, sizeof(state));
        if (!state_pose_is_sound(state.anchored[0]) || !state_pose_is_sound(state.anchored[1]))
            return false;
    }
    return true;
}

// ---- blocks ----

int state_blocks(Physics *physics, StateBlock blocks[STATE_BLOCKS_MAX])
{
    joints_refresh(physics);
    int count = 0;  // physics_restore counts on the first two being solids and bodies
    blocks[count++] = (StateBlock){ "solids", physics->solid_states, sizeof(SolidState) * (size_t)physics->solid_count,
                                    true, solids_are_sound };
    blocks[count++] = (StateBlock){ "bodies", physics->body_states, sizeof(BodyState) * (size_t)physics->body_count,
                                    true, bodies_are_sound };
    blocks[count++] = (StateBlock){ "joints", physics->joint_states,
                                    sizeof(PhysicsJointState) * (size_t)physics->joint_count, true, joints_are_sound };
    blocks[count++] = (StateBlock){ "welds", physics->weld_states, sizeof(WeldState) * (size_t)physics->weld_count,
                                    false, welds_are_sound };
    count += fittings_state(physics, blocks + count);
    count += pins_state(physics, blocks + count);
    assert(count <= STATE_BLOCKS_MAX);
    return count;
}

// What has been applied from outside since the last step sits in ODE's accumulators.
uint64_t physics_state_hash(const Physics *physics)
{
    mirror_forces_take((Physics *)physics);
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks((Physics *)physics, blocks);
    uint64_t hash = 0;
    for (int i = 0; i < count; i++)
        if (blocks[i].is_hashed)
            hash = hash_bytes(blocks[i].data, blocks[i].size, hash);
    return hash;
}

static size_t stepper_size(const Physics *physics)
{
    return physics->stepper->state_size ? physics->stepper->state_size(physics->stepper_self) : 0;
}

size_t physics_snapshot_light_size(const Physics *physics)
{
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks((Physics *)physics, blocks);
    size_t size = sizeof(Header);
    for (int i = 0; i < count; i++)
        size += blocks[i].size;
    return size;
}

static int own_surface_count(const Physics *physics)
{
    int count = 0;
    for (int i = 0; i < physics->contact_count; i++)
        count += physics->contacts[i].has_own_surface;
    return count;
}

// What of the list of held impulses is beside contacts that there are.
static int held_count(const Physics *physics) { return int_min(physics->held_count, physics->contact_count); }

size_t physics_snapshot_size(const Physics *physics)
{
    return physics_snapshot_light_size(physics) + sizeof(PhysicsContact) * (size_t)physics->contact_count
           + sizeof(PhysicsSurface) * (size_t)own_surface_count(physics) + sizeof(Vec3) * (size_t)held_count(physics)
           + collide_cache_size(narrow_cache(physics->narrow)) + stepper_size(physics);
}

static char *put(char *to, const void *data, size_t size)
{
    assert_debug(to && (data || size == 0));
    if (size > 0)
        memcpy(to, data, size);
    return to + size;
}

static char *put_states(const Physics *physics, Header *header, char *to)
{
    mirror_forces_take((Physics *)physics);
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks((Physics *)physics, blocks);
    assert_debug(count >= 2);
    memcpy(header->magic, magic, sizeof(magic));
    memcpy(header->facts, physics_model(physics)->facts, sizeof(header->facts));
    header->step = physics->step;
    header->has_failed = physics->has_failed;
    header->is_static_moved = physics->is_static_moved;
    header->contacts_dropped = physics->contacts_dropped;
    to = put(to, header, sizeof(*header));
    for (int i = 0; i < count; i++)
        to = put(to, blocks[i].data, blocks[i].size);
    return to;
}

void physics_snapshot_light(const Physics *physics, uint64_t model, void *buffer)
{
    assert(buffer);
    Header header = { .model = model, .needs_pass = true };
    put_states(physics, &header, buffer);
}

void physics_snapshot(const Physics *physics, void *buffer)
{
    assert(buffer);
    Header header = { .model = physics_model_hash(physics),
                      .contact_count = physics->contact_count,
                      .sleeping_contact_count = physics->sleeping_contact_count,
                      .own_surface_count = own_surface_count(physics),
                      .held_count = held_count(physics),
                      .needs_pass = physics->needs_pass,
                      .cache_size = collide_cache_size(narrow_cache(physics->narrow)),
                      .stepper_size = stepper_size(physics) };
    char *to = put_states(physics, &header, buffer);
    to = put(to, physics->contacts, sizeof(PhysicsContact) * (size_t)physics->contact_count);
    for (int i = 0; i < physics->contact_count; i++)
        if (physics->contacts[i].has_own_surface)
            to = put(to, &physics->own_surfaces[i], sizeof(PhysicsSurface));
    to = put(to, physics->held, sizeof(Vec3) * (size_t)header.held_count);
    collide_cache_save(narrow_cache(physics->narrow), to);
    to += header.cache_size;
    if (header.stepper_size > 0)
        physics->stepper->save(physics->stepper_self, to);
    assert_debug(to + header.stepper_size == (char *)buffer + physics_snapshot_size(physics));
}

bool physics_snapshot_differs(const Physics *physics, const void *buffer, size_t size, Text *what)
{
    Header header;
    if (size < sizeof(header))
        return false;
    memcpy(&header, buffer, sizeof(header));
    return !memcmp(header.magic, magic, sizeof(magic)) && model_differs(physics, header.facts, what);
}

static size_t contacts_size(const Header *header)
{
    return sizeof(PhysicsContact) * (size_t)header->contact_count
           + sizeof(PhysicsSurface) * (size_t)header->own_surface_count + sizeof(Vec3) * (size_t)header->held_count;
}

static bool header_fits(Physics *physics, const Header *header, size_t size)
{
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks(physics, blocks);
    if (memcmp(header->magic, magic, sizeof(magic)) || header->model != physics_model_hash(physics)
        || header->contact_count < 0 || header->sleeping_contact_count < 0 || header->own_surface_count < 0
        || header->held_count < 0 || header->held_count > header->contact_count
        || header->sleeping_contact_count > header->contact_count || header->stepper_size > size
        || header->cache_size > size)
        return false;
    size_t expected = sizeof(Header) + contacts_size(header) + (size_t)header->cache_size
                      + (size_t)header->stepper_size;
    for (int i = 0; i < count; i++)
        expected += blocks[i].size;
    return expected == size;
}

// A plugin that gives shapes to other bodies may have done so in between.
static bool body_is_sound(const Physics *physics, const Shape *shape, int body)
{
    assert_debug(shape->is_alive);
    if (body == shape->body || body == shape->home)
        return true;
    return physics->plugin_may_touch_shapes && body >= -1 && body < physics->body_count
           && (body < 0 || physics->bodies[body].is_alive);
}

static bool contact_is_sound(const Physics *physics, const PhysicsContact *contact)
{
    for (int k = 0; k < 2; k++) {
        int shape = contact->shape[k];
        if (shape < 0 || shape >= physics->shape_count || !physics->shapes[shape].is_alive
            || !body_is_sound(physics, &physics->shapes[shape], contact->body[k]))
            return false;
    }
    return contact->surface >= 0 && contact->surface < 2 * physics->contact_table.rule_count
           && (contact->body[0] >= 0 || contact->body[1] >= 0 || physics->plugin_may_touch_shapes)
           && state_vector_is_sound(contact->point) && fabs(vec3_length(contact->normal) - 1.0) < 1e-6
           && contact->depth >= 0.0 && contact->depth <= LIMIT_COORDINATE
           && fabs(contact->target_normal_speed) <= LIMIT_COORDINATE / physics->dt;
}

static bool surface_is_sound(const PhysicsSurface *surface)
{
    const double numbers[] = { surface->mu,       surface->mu2,     surface->rho,
                               surface->rho2,     surface->rhoN,    surface->slip1,
                               surface->slip2,    surface->bounce,  surface->bounce_velocity,
                               surface->soft_erp, surface->soft_cfm };
    for (int i = 0; i < COUNT_OF(numbers); i++)
        if (!(numbers[i] >= 0.0))
            return false;
    return state_vector_is_sound(surface->fdir1) && fabs(surface->motion1) <= LIMIT_COORDINATE
           && fabs(surface->motion2) <= LIMIT_COORDINATE;
}

static bool surfaces_are_sound(const Header *header, const char *data)
{
    assert_debug(header->own_surface_count >= 0);
    for (int i = 0; i < header->own_surface_count; i++) {
        PhysicsSurface surface;
        memcpy(&surface, data + sizeof surface * (size_t)i, sizeof surface);
        if (!surface_is_sound(&surface))
            return false;
    }
    return true;
}

static bool held_are_sound(const Header *header, const char *data)
{
    for (int i = 0; i < header->held_count; i++) {
        Vec3 held;
        memcpy(&held, data + sizeof held * (size_t)i, sizeof held);
        if (!vec3_is_finite(held))
            return false;
    }
    return true;
}

// A snapshot file is untrusted: what is in it is looked at before any of it is used.
static bool contents_are_sound(Physics *physics, const Header *header, const char *data)
{
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks(physics, blocks);
    for (int i = 0; i < count; i++) {
        if (blocks[i].is_sound && !blocks[i].is_sound(physics, data))
            return false;
        data += blocks[i].size;
    }
    int own_count = 0;
    for (int i = 0; i < header->contact_count; i++) {
        PhysicsContact contact;
        uint8_t flags[3];
        memcpy(&contact, data + sizeof(contact) * (size_t)i, sizeof(contact));
        memcpy(&flags[0], &contact.is_new, 1);
        memcpy(&flags[1], &contact.is_asleep, 1);
        memcpy(&flags[2], &contact.has_own_surface, 1);
        own_count += flags[2];
        if (flags[0] > 1 || flags[1] > 1 || flags[2] > 1 || flags[1] != (i < header->sleeping_contact_count)
            || !contact_is_sound(physics, &contact))
            return false;
    }
    const char *surfaces = data + sizeof(PhysicsContact) * (size_t)header->contact_count;
    return own_count == header->own_surface_count && surfaces_are_sound(header, surfaces)
           && held_are_sound(header, surfaces + sizeof(PhysicsSurface) * (size_t)header->own_surface_count)
           && collide_cache_is_sound(data + contacts_size(header), (size_t)header->cache_size, physics->shape_count);
}

static void restore_welds(Physics *physics)
{
    for (int i = 0; i < physics->weld_count; i++)
        if (physics->welds[i].is_alive)
            weld_place(physics, i);
}

static void restore_bodies(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++) {
        if (!physics->bodies[i].is_alive)
            continue;
        mirror_body_state(physics, i);
        mirror_body_force(physics, i);
        if (physics->body_states[i].is_frozen) {
            physics->has_frozen = true;
            mirror_body_frozen(physics, i, true);
        }
        mirror_body_enabled(physics, i);
    }
}

// Before the state is overwritten. Bodies that a plugin made kinematic stay so.
static void thaw_bodies(Physics *physics)
{
    for (int i = 0; i < physics->body_count; i++)
        if (physics->bodies[i].is_alive && physics->body_states[i].is_frozen)
            mirror_body_frozen(physics, i, false);
}

static void restore_places(Physics *physics)
{
    physics->are_poses_stale = false;  // all are computed here
    for (int i = 0; i < physics->solid_count; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        assert_debug(solid->parent < i);  // parents come before: their poses are known
        if (!solid->is_alive)
            continue;
        Pose above = solid->parent >= 0 ? physics->solid_world[solid->parent] : POSE_IDENTITY;
        physics->solid_world[i] = solid->body >= 0 ? pose_mul(body_pose(physics, solid->body), solid_in_body(solid))
                                                   : pose_mul(above, physics->solid_states[i].local);
        for (int k = solid->first_shape; k < solid->first_shape + solid->shape_count; k++) {
            if (!physics->shapes[k].is_alive)
                continue;
            physics->shapes[k].was_changed = false;
            if (physics->shapes[k].body < 0)
                shape_place(physics, k);
            else
                shape_update_box(physics, k);
        }
    }
}

static void restore_contacts(Physics *physics, const Header *header, const char *from)
{
    int count = header->contact_count;
    assert_debug(count >= 0 && header->own_surface_count <= count);
    memory_grow(&physics->contacts, &physics->contact_capacity, count + 1, sizeof(PhysicsContact));
    memcpy(physics->contacts, from, sizeof(PhysicsContact) * (size_t)count);
    from += sizeof(PhysicsContact) * (size_t)count;
    if (header->own_surface_count > 0)
        contact_own_surfaces_reserve(physics, count);
    for (int i = 0; i < count; i++)
        if (physics->contacts[i].has_own_surface) {
            memcpy(&physics->own_surfaces[i], from, sizeof(PhysicsSurface));
            from += sizeof(PhysicsSurface);
        }
    physics->held_count = header->held_count;
    memory_grow(&physics->held, &physics->held_capacity, header->held_count, sizeof *physics->held);
    if (header->held_count > 0)
        memcpy(physics->held, from, sizeof(Vec3) * (size_t)header->held_count);
}

bool physics_restore(Physics *physics, const void *buffer, size_t size)
{
    Header header;
    if (size < sizeof(header))
        return false;
    memcpy(&header, buffer, sizeof(header));
    if (!header_fits(physics, &header, size)
        || !contents_are_sound(physics, &header, (const char *)buffer + sizeof(header)))
        return false;
    odelib_begin(physics);
    contacts_release(physics);
    thaw_bodies(physics);
    StateBlock blocks[STATE_BLOCKS_MAX];
    int count = state_blocks(physics, blocks);
    assert_debug(!strcmp(blocks[0].name, "solids") && !strcmp(blocks[1].name, "bodies"));
    const char *from = (const char *)buffer + sizeof(header);
    for (int i = 0; i < count; i++) {
        if (blocks[i].size > 0)
            memcpy(blocks[i].data, from, blocks[i].size);
        from += blocks[i].size;
    }
    restore_contacts(physics, &header, from);
    from += contacts_size(&header);
    physics->contact_count = header.contact_count;
    physics->sleeping_contact_count = header.sleeping_contact_count;
    physics->step = header.step;
    physics->has_failed = header.has_failed != 0;
    physics->needs_pass = header.needs_pass != 0;
    physics->is_static_moved = header.is_static_moved != 0;
    physics->contacts_dropped = header.contacts_dropped;
    physics->contact_force_count = physics->last_force_count = physics->resting_force_count = 0;
    physics->is_at_rest = false;
    physics->needs_full_pass = physics->has_moving_solids = true;
    sleep_forget(physics);

    restore_bodies(physics);
    restore_welds(physics);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive)
            joint_restored(physics, i);
    fittings_restored(physics);
    pins_restored(physics);
    // Setting joints again woke and moved bodies; their state is that of the snapshot.
    if (blocks[1].size > 0)
        memcpy(physics->body_states, (const char *)buffer + sizeof(header) + blocks[0].size, blocks[1].size);
    restore_bodies(physics);
    restore_places(physics);
    contacts_recreate(physics);
    contacts_find_fluids(physics);
    collide_cache_restore(narrow_cache(physics->narrow), from, (size_t)header.cache_size);
    from += header.cache_size;
    if (physics->stepper->restore)
        physics->stepper->restore(physics->stepper_self, from, (size_t)header.stepper_size);
    odelib_end();
    return true;
}

void physics_collide_restored(Physics *physics)
{
    bool has_forces = !physics->needs_pass;
    mirror_forces_take((Physics *)physics);
    physics_collide(physics);
    for (int i = 0; has_forces && i < physics->body_count; i++)
        if (physics->bodies[i].is_alive)
            mirror_body_force(physics, i);
}
