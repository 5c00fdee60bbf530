// What two materials do to each other: ContactProperties as a table, and the surface of one contact point.
#include "physics/physics_internal.h"
#include "physics/contacts/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

static double or_infinite(double value) { return value < 0.0 ? INFINITY : value; }

static int read_numbers(const SceneNode *node, const char *field, bool is_friction, double preset, double out[4])
{
    const FieldList *list = scene_list(node, field);
    int count = int_min(list->count, 4);
    for (int i = 0; i < count; i++)
        out[i] = is_friction ? or_infinite(list->numbers[i]) : fmax(list->numbers[i], 0.0);
    if (count == 0)
        out[count++] = preset;
    return count;
}

static ContactRule default_rule(void)
{
    return (ContactRule){ .friction_count = 1,
                          .slip_count = 1,
                          .friction = { 1.0 },
                          .bounce = 0.5,
                          .bounce_velocity = 0.01,
                          .soft_erp = 0.2,
                          .soft_cfm = 0.001,
                          .static_friction = -1.0,
                          .max_joints = 10 };
}

static ContactRule read_rule(const SceneNode *node)
{
    ContactRule rule = default_rule();
    rule.node = (SceneNode *)node;
    rule.friction_count = read_numbers(node, "coulombFriction", true, 1.0, rule.friction);
    rule.slip_count = read_numbers(node, "forceDependentSlip", false, 0.0, rule.slip);
    Vec2 rotation = scene_vec2(node, "frictionRotation");
    rule.rotation[0] = rotation.x, rule.rotation[1] = rotation.y;
    Vec3 rolling = scene_vec3(node, "rollingFriction");
    rule.rolling[0] = or_infinite(rolling.x), rule.rolling[1] = or_infinite(rolling.y),
    rule.rolling[2] = or_infinite(rolling.z);
    rule.bounce = scene_float(node, "bounce");
    rule.bounce_velocity = scene_float(node, "bounceVelocity");
    rule.soft_erp = scene_float(node, "softERP");
    rule.soft_cfm = scene_float(node, "softCFM");
    rule.static_friction = scene_float(node, "staticFriction");
    rule.max_joints = int_max(scene_int(node, "maxContactJoints"), 1);
    rule.has_old_directions = scene_bool(node, "oldDirections");
    return rule;
}

int contact_material(const Physics *physics, const char *name)
{
    const ContactTable *table = &physics->contact_table;
    for (int i = 1; i < table->material_count; i++)
        if (!strcmp(table->materials[i], name))
            return i;
    return 0;
}

static int add_material(Physics *physics, const char *name)
{
    int known = contact_material(physics, name);
    if (known > 0)
        return known;
    ContactTable *table = &physics->contact_table;
    table->materials[table->material_count] = name;
    return table->material_count++;
}

static bool rule_differs(const ContactRule *rule)
{
    return rule->static_friction >= 0.0 || rule->friction_count > 1 || rule->slip_count > 1;
}

// Without axes of their own rolling and spinning are limited alike. Axis-dependent rolling friction shares its bit in
// ODE with the second sliding coefficient, which Webots leaves at zero.
static void set_rolling(const ContactRule *rule, bool has_axes, SolverSurface *surface)
{
    bool rolls = rule->rolling[0] > 0.0 || rule->rolling[1] > 0.0 || rule->rolling[2] > 0.0,
         has_rolling_axes = rule->rolling[1] > 0.0 || rule->rolling[2] > 0.0;
    if (!rolls)
        return;
    surface->flags |= SOLVER_CONTACT_ROLLING;
    surface->rho = surface->rho2 = surface->rhoN = rule->rolling[0];
    if (has_rolling_axes || has_axes) {
        surface->rho2 = rule->rolling[1];
        surface->rhoN = rule->rolling[2];
    }
    if (has_rolling_axes && !has_axes)
        surface->mu2 = 0.0;
}

static SolverSurface surface_of_rule(const ContactRule *rule)
{
    SolverSurface surface = { .flags = SOLVER_CONTACT_APPROX1_1 | SOLVER_CONTACT_APPROX1_2 | SOLVER_CONTACT_APPROX1_N
                                       | SOLVER_CONTACT_SOFT_ERP | SOLVER_CONTACT_SOFT_CFM
                                       | (rule->bounce != 0.0 ? SOLVER_CONTACT_BOUNCE : 0),
                              .mu = rule->friction[0],
                              .mu2 = rule->friction[0],
                              .slip1 = rule->slip[0],
                              .slip2 = rule->slip[0],
                              .bounce = rule->bounce,
                              .bounce_velocity = rule->bounce_velocity,
                              .soft_erp = rule->soft_erp,
                              .soft_cfm = rule->soft_cfm };
    if (!rule_differs(rule))
        set_rolling(rule, false, &surface);
    return surface;
}

// That of a fast shape: hard, whatever the materials say, and its bounce is part of the speed that it is to have.
static void surface_harden(SolverSurface *surface)
{
    surface->flags &= ~(uint32_t)SOLVER_CONTACT_BOUNCE;
    surface->soft_cfm = 0.0;
}

// Contacts that were found with the table of before go on with what it said.
static void contacts_keep_surfaces(Physics *physics)
{
    contact_own_surfaces_reserve(physics, physics->contact_count);
    for (int i = 0; i < physics->contact_count; i++) {
        physics->own_surfaces[i] = *physics_contact_surface(physics, i);
        physics->contacts[i].has_own_surface = true;
        physics->contacts[i].surface = 0;
    }
}

// The first ContactProperties of the list that names both materials, in either order, counts.
void contact_table_build(Physics *physics)
{
    ContactTable *table = &physics->contact_table;
    const FieldList *list = physics->info ? scene_list(physics->info, "contactProperties") : NULL;
    int count = list ? int_min(list->count, INT16_MAX - 1) : 0;
    contacts_keep_surfaces(physics);
    *table = (ContactTable){ .rules = arena_alloc_array(physics->arena, (size_t)count + 1, sizeof(ContactRule)),
                             .materials = arena_alloc_array(physics->arena, 2 * (size_t)count + 1, sizeof(char *)) };
    table->rules[table->rule_count++] = default_rule();
    table->materials[table->material_count++] = "";
    int(*pairs)[2] = arena_alloc_array(physics->arena, (size_t)count + 1, sizeof(int[2]));
    for (int i = 0; i < count; i++) {
        const SceneNode *node = scene_list_node(list, i);
        if (!node || !scene_node_is(node, "ContactProperties")) {
            table->rules[table->rule_count++] = default_rule();
            continue;
        }
        pairs[i][0] = add_material(physics, scene_string(node, "material1"));
        pairs[i][1] = add_material(physics, scene_string(node, "material2"));
        table->rules[table->rule_count++] = read_rule(node);
    }
    table->surfaces = arena_alloc_array(physics->arena, 2 * (size_t)table->rule_count, sizeof(SolverSurface));
    for (int i = 0; i < table->rule_count; i++) {
        table->surfaces[2 * i] = table->surfaces[2 * i + 1] = surface_of_rule(&table->rules[i]);
        surface_harden(&table->surfaces[2 * i + 1]);
        table->has_differing |= rule_differs(&table->rules[i]);
    }
    int n = table->material_count;
    table->rule_of = arena_alloc_array(physics->arena, (size_t)n * (size_t)n, sizeof(int16_t));
    for (int i = count - 1; i >= 0; i--) {
        if (pairs[i][0] == 0)
            continue;
        table->rule_of[pairs[i][1] * n + pairs[i][0]] = (int16_t) - (i + 2);
        table->rule_of[pairs[i][0] * n + pairs[i][1]] = (int16_t)(i + 1);
    }
}

// Before R2022a, with y up, the direction was z on planes, caps and the upper and lower faces of boxes, and y on the
// other faces. Boxes have kept their axes since; planes and cylinders were turned, so that their z of then is their -y
// of now.
static Vec3 old_direction(GeometryKind kind, Vec3 n)
{
    if (kind == GEOMETRY_BOX)
        return fabs(n.y) >= fabs(n.x) && fabs(n.y) >= fabs(n.z) ? vec3(0, 0, 1) : vec3(0, 1, 0);
    bool is_flat = kind == GEOMETRY_PLANE || (fabs(n.z) >= fabs(n.x) && fabs(n.z) >= fabs(n.y));
    return is_flat ? vec3(0, -1, 0) : vec3(0, 0, 1);
}

static Vec3 new_direction(GeometryKind kind, Vec3 n)
{
    bool is_flat = kind == GEOMETRY_PLANE || (fabs(n.z) >= fabs(n.x) && fabs(n.z) >= fabs(n.y));
    return is_flat ? vec3(1, 0, 0) : vec3(0, 0, 1);
}

// The direction along which a geometry's first friction coefficient acts, in the world. False: it has none.
static bool friction_direction(const Physics *physics, const ContactRule *rule, int index, Vec3 normal, Vec3 *direction)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    const Shape *shape = &physics->shapes[index];
    if (shape->kind != GEOMETRY_BOX && shape->kind != GEOMETRY_CYLINDER && shape->kind != GEOMETRY_PLANE)
        return false;
    Quat q = quat_mul(physics->solid_world[shape->solid].q, shape_local(shape).q);
    Vec3 n = quat_unrotate(q, normal);
    Vec3 local = rule->has_old_directions ? old_direction(shape->kind, n) : new_direction(shape->kind, n);
    Vec3 world = quat_rotate(q, local);
    world = vec3_mad(world, normal, -vec3_dot(world, normal));
    if (vec3_length(world) < 1e-6)
        return false;
    *direction = vec3_normalized(world);
    return true;
}

// A coefficient times |cos| or |sin|, where an infinite one times nothing is nothing.
static double share(double coefficient, double part) { return part < 1e-9 ? 0.0 : coefficient * part; }

// Both solids' coefficients are added, those of the second turned into the directions of the first.
static void combine(const double *m, int count, double r1, double r2, double *along, double *across)
{
    switch (count) {
    case 1: *along = *across = m[0]; break;
    case 2:
        *along = m[0] + share(m[0], r1) + share(m[1], r2);
        *across = m[1] + share(m[0], r2) + share(m[1], r1);
        break;
    case 3:
        *along = m[0] + m[2];
        *across = m[1] + m[2];
        break;
    default:
        *along = m[0] + share(m[2], r1) + share(m[3], r2);
        *across = m[1] + share(m[2], r2) + share(m[3], r1);
        break;
    }
}

// The first solid is the one whose material is named first; of two with the same material the one that cannot move.
// Directions turn about the normal that looks into the one that can.
static bool asymmetric(const Physics *physics, const ContactRule *rule, bool is_inversed, const PhysicsContact *contact,
                       SolverSurface *surface)
{
    bool is_alike = physics->solids[contact_solid(physics, contact, 0)].material
                    == physics->solids[contact_solid(physics, contact, 1)].material;
    int moving = contact->body[0] < 0 ? 1 : 0, first = is_alike ? 1 - moving : is_inversed;
    Vec3 normal = moving == 0 ? contact->normal : vec3_neg(contact->normal);
    Vec3 direction[2];
    for (int i = 0; i < 2; i++) {
        int shape = contact->shape[first == 0 ? i : 1 - i];
        if (!friction_direction(physics, rule, shape, normal, &direction[i]))
            return false;
        direction[i] = quat_rotate(quat_from_axis_angle(normal, -rule->rotation[i]), direction[i]);
    }
    double cosine = double_clamp(vec3_dot(direction[0], direction[1]), -1.0, 1.0);
    double r1 = fabs(cosine), r2 = sqrt(fmax(0.0, 1.0 - cosine * cosine));
    surface->flags |= SOLVER_CONTACT_FDIR1;
    surface->fdir1 = direction[0];
    combine(rule->friction, rule->friction_count, r1, r2, &surface->mu, &surface->mu2);
    if (rule->slip_count == 2 && (rule->slip[0] == 0.0 || rule->slip[1] == 0.0))
        surface->slip1 = rule->slip[0], surface->slip2 = rule->slip[1];
    else
        combine(rule->slip, rule->slip_count, r1, r2, &surface->slip1, &surface->slip2);
    return true;
}

static Vec3 point_velocity(const Physics *physics, int body, Vec3 point)
{
    if (body < 0)
        return VEC3_ZERO;
    const BodyState *state = &physics->body_states[body];
    return vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(point, state->position)));
}

static bool is_sticking(const Physics *physics, const PhysicsContact *contact)
{
    Vec3 slip = vec3_sub(point_velocity(physics, contact->body[0], contact->point),
                         point_velocity(physics, contact->body[1], contact->point));
    slip = vec3_mad(slip, contact->normal, -vec3_dot(slip, contact->normal));
    return vec3_length(slip) < STICKING_SPEED;
}

static int rule_of_pair(const Physics *physics, const PhysicsContact *contact)
{
    return contact_rule_of_solids(physics, contact_solid(physics, contact, 0), contact_solid(physics, contact, 1));
}

static bool is_moved_by_fittings(const Physics *physics, const PhysicsContact *contact)
{
    for (int i = 0; physics->fittings && i < 2; i++)
        if (physics->solids[contact_solid(physics, contact, i)].track >= 0
            || physics->solids[contact_solid(physics, contact, i)].conveyor >= 0)
            return true;
    return false;
}

bool contact_surfaces_differ(const Physics *physics)
{
    return physics->contact_table.has_differing || physics->fittings;
}

void contact_own_surfaces_reserve(Physics *physics, int count)
{
    assert(count >= 0);
    memory_grow(&physics->own_surfaces, &physics->own_surface_capacity, count, sizeof *physics->own_surfaces);
}

bool contact_surface_of_pair(const Physics *physics, PhysicsContact *contact)
{
    const ContactTable *table = &physics->contact_table;
    if (table->material_count == 1 && !contact_surfaces_differ(physics)) {  // then no solid is looked at
        contact->surface = 0;
        return true;
    }
    int entry = rule_of_pair(physics, contact);
    int rule = entry < 0 ? -(entry + 1) : entry;
    contact->surface = 2 * rule;
    contact->has_own_surface = rule_differs(&table->rules[rule]) || is_moved_by_fittings(physics, contact);
    return !contact->has_own_surface;
}

void contact_surface_at_point(const Physics *physics, const PhysicsContact *contact, PhysicsSurface *own)
{
    const ContactRule *rule = &physics->contact_table.rules[contact->surface / 2];
    *own = physics->contact_table.surfaces[contact->surface];
    if (rule->static_friction >= 0.0 && is_sticking(physics, contact))
        own->mu = own->mu2 = rule->static_friction;
    bool has_axes = (rule->friction_count > 1 || rule->slip_count > 1)
                    && asymmetric(physics, rule, rule_of_pair(physics, contact) < 0, contact, own);
    has_axes |= fittings_contact(physics, contact, own);
    set_rolling(rule, has_axes, own);
}

void contact_make_speculative(const Physics *physics, PhysicsContact *contact, double gap, PhysicsSurface *own)
{
    assert(gap >= 0.0 && contact->surface % 2 == 0);
    const PhysicsSurface *surface = own ? own : &physics->contact_table.surfaces[contact->surface];
    Vec3 against = vec3_sub(point_velocity(physics, contact->body[0], contact->point),
                            point_velocity(physics, contact->body[1], contact->point));
    double coming = -vec3_dot(against, contact->normal);
    bool bounces = (surface->flags & SOLVER_CONTACT_BOUNCE) && coming > surface->bounce_velocity;
    contact->target_normal_speed = bounces ? surface->bounce * coming : -gap / physics->dt;
    contact->surface++;
    if (own)
        surface_harden(own);
}

const PhysicsSurface *physics_contact_surface(const Physics *physics, int index)
{
    assert(index >= 0 && index < physics->contact_count);
    const PhysicsContact *contact = &physics->contacts[index];
    return contact->has_own_surface ? &physics->own_surfaces[index]
                                    : &physics->contact_table.surfaces[contact->surface];
}
