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

// The first ContactProperties of the list that names both materials, in either order, counts.
void contact_table_build(Physics *physics)
{
    ContactTable *table = &physics->contact_table;
    const FieldList *list = physics->info ? scene_list(physics->info, "contactProperties") : NULL;
    int count = list ? int_min(list->count, INT16_MAX - 1) : 0;
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
    int n = table->material_count;
    table->rule_of = arena_alloc_array(physics->arena, (size_t)n * (size_t)n, sizeof(int16_t));
    for (int i = count - 1; i >= 0; i--) {
        if (pairs[i][0] == 0)
            continue;
        table->rule_of[pairs[i][1] * n + pairs[i][0]] = (int16_t) - (i + 2);
        table->rule_of[pairs[i][0] * n + pairs[i][1]] = (int16_t)(i + 1);
    }
}

// Before R2022a, with y up, the direction was z on planes, caps and the upper and lower faces of boxes, and y on the other faces.
// Boxes have kept their axes since; planes and cylinders were turned, so that their z of then is their -y of now.
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
    const Shape *shape = &physics->shapes[index];
    if (shape->kind != GEOMETRY_BOX && shape->kind != GEOMETRY_CYLINDER && shape->kind != GEOMETRY_PLANE)
        return false;
    Quat q = quat_mul(physics->solid_world[shape->solid].q, shape->local.q);
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

// The first solid is the one whose material is named first; of two with the same material the one that cannot move. Directions
// turn about the normal that looks into the one that can.
static void asymmetric(const Physics *physics, const ContactRule *rule, bool is_inversed, PhysicsContact *contact)
{
    bool is_alike = physics->solids[contact->solid[0]].material == physics->solids[contact->solid[1]].material;
    int moving = contact->body[0] < 0 ? 1 : 0, first = is_alike ? 1 - moving : is_inversed;
    Vec3 normal = moving == 0 ? contact->normal : vec3_neg(contact->normal);
    Vec3 direction[2];
    for (int i = 0; i < 2; i++) {
        int shape = contact->shape[first == 0 ? i : 1 - i];
        if (!friction_direction(physics, rule, shape, normal, &direction[i]))
            return;
        direction[i] = quat_rotate(quat_from_axis_angle(normal, -rule->rotation[i]), direction[i]);
    }
    double cosine = double_clamp(vec3_dot(direction[0], direction[1]), -1.0, 1.0);
    double r1 = fabs(cosine), r2 = sqrt(fmax(0.0, 1.0 - cosine * cosine));
    contact->mode |= dContactFDir1 | dContactMu2;
    contact->direction = direction[0];
    combine(rule->friction, rule->friction_count, r1, r2, &contact->friction, &contact->friction2);
    if (rule->slip_count == 2 && (rule->slip[0] == 0.0 || rule->slip[1] == 0.0))
        contact->slip = rule->slip[0], contact->slip2 = rule->slip[1];
    else
        combine(rule->slip, rule->slip_count, r1, r2, &contact->slip, &contact->slip2);
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

static const ContactRule *rule_of_pair(const Physics *physics, const PhysicsContact *contact, bool *is_inversed,
                                       int *index)
{
    const ContactTable *table = &physics->contact_table;
    int n = table->material_count, a = physics->solids[contact->solid[0]].material,
        b = physics->solids[contact->solid[1]].material;
    assert(a >= 0 && a < n && b >= 0 && b < n);
    int entry = table->rule_of[a * n + b];
    *is_inversed = entry < 0;
    *index = *is_inversed ? -(entry + 1) : entry;
    return &table->rules[*index];
}

static void set_rolling(const ContactRule *rule, PhysicsContact *contact)
{
    contact->mode |= dContactRolling;
    contact->rolling = rule->rolling[0];
    contact->rolling2 = rule->rolling[1];
    contact->spinning = rule->rolling[2];
    // Axis-dependent rolling friction shares its bit with the second sliding coefficient, which Webots leaves at zero.
    if ((rule->rolling[1] > 0.0 || rule->rolling[2] > 0.0) && !(contact->mode & dContactMu2)) {
        contact->mode |= dContactAxisDep;
        contact->friction2 = 0.0;
    }
}

static bool rule_rolls(const ContactRule *rule)
{
    return rule->rolling[0] > 0.0 || rule->rolling[1] > 0.0 || rule->rolling[2] > 0.0;
}

static uint32_t slip_bits(const PhysicsContact *contact)
{
    return (contact->slip != 0.0 ? dContactSlip1 : 0) | (contact->slip2 != 0.0 ? dContactSlip2 : 0);
}

static bool is_moved_by_fittings(const Physics *physics, const PhysicsContact *contact)
{
    for (int i = 0; physics->fittings && i < 2; i++)
        if (physics->solids[contact->solid[i]].track >= 0 || physics->solids[contact->solid[i]].conveyor >= 0)
            return true;
    return false;
}

bool contact_surface_of_pair(const Physics *physics, PhysicsContact *contact)
{
    bool is_inversed;
    int index;
    const ContactRule *rule = rule_of_pair(physics, contact, &is_inversed, &index);
    contact->properties = index - 1;
    contact->mode = dContactApprox1 | dContactSoftCFM | dContactSoftERP | (rule->bounce != 0.0 ? dContactBounce : 0);
    contact->friction = contact->friction2 = rule->friction[0];
    contact->slip = contact->slip2 = rule->slip[0];
    contact->bounce = rule->bounce;
    contact->bounce_velocity = rule->bounce_velocity;
    contact->soft_erp = rule->soft_erp;
    contact->soft_cfm = rule->soft_cfm;
    if (rule->static_friction >= 0.0 || rule->friction_count > 1 || rule->slip_count > 1
        || is_moved_by_fittings(physics, contact))
        return false;
    contact->mode |= slip_bits(contact);
    if (rule_rolls(rule))
        set_rolling(rule, contact);
    return true;
}

void contact_surface_at_point(const Physics *physics, PhysicsContact *contact)
{
    bool is_inversed;
    int index;
    const ContactRule *rule = rule_of_pair(physics, contact, &is_inversed, &index);
    if (rule->static_friction >= 0.0 && is_sticking(physics, contact))
        contact->friction = contact->friction2 = rule->static_friction;
    if (rule->friction_count > 1 || rule->slip_count > 1)
        asymmetric(physics, rule, is_inversed, contact);
    contact->mode |= slip_bits(contact);
    if (rule_rolls(rule))
        set_rolling(rule, contact);
    fittings_contact(physics, contact);
}

void contact_make_speculative(const Physics *physics, PhysicsContact *contact, double gap)
{
    assert(gap >= 0.0);
    Vec3 against = vec3_sub(point_velocity(physics, contact->body[0], contact->point),
                            point_velocity(physics, contact->body[1], contact->point));
    double coming = -vec3_dot(against, contact->normal);
    bool bounces = contact->mode & dContactBounce && coming > contact->bounce_velocity;
    contact->target_normal_speed = bounces ? contact->bounce * coming : -gap / physics->dt;
    contact->mode = (contact->mode & ~(uint32_t)dContactBounce) | dContactMotionN;
    contact->soft_cfm = 0.0;
}

static double not_negative(double value) { return value > 0.0 ? value : 0.0; }

bool contact_surfaces_are_alike(const PhysicsContact *a, const PhysicsContact *b)
{
    const uint32_t own = dContactFDir1 | dContactMotion1 | dContactMotion2
                         | dContactMotionN;  // of a point, not of a rule
    return a->properties == b->properties && a->mode == b->mode && !(a->mode & own) && a->friction == b->friction;
}

// What the bits of a contact say about numbers that it also has; the solver wants the numbers alone.
void contact_for_solver(const PhysicsContact *contact, int body1, int body2, SolverContact *to)
{
    assert(body1 >= 0);
    static const struct {
        uint32_t mode, flag;
    } modes[] = {
        { dContactSoftERP, SOLVER_CONTACT_SOFT_ERP },    { dContactSoftCFM, SOLVER_CONTACT_SOFT_CFM },
        { dContactBounce, SOLVER_CONTACT_BOUNCE },       { dContactFDir1, SOLVER_CONTACT_FDIR1 },
        { dContactApprox1_1, SOLVER_CONTACT_APPROX1_1 }, { dContactApprox1_2, SOLVER_CONTACT_APPROX1_2 },
        { dContactApprox1_N, SOLVER_CONTACT_APPROX1_N }, { dContactRolling, SOLVER_CONTACT_ROLLING },
    };
    uint32_t mode = contact->mode;
    bool is_axis_dependent = mode & dContactAxisDep, is_reversed = contact->body[0] < 0;
    to->body1 = body1;
    to->body2 = body2;
    to->pair = solver_pair(body1, body2);
    to->flags = 0;
    to->reserved = 0;
    for (int i = 0; i < COUNT_OF(modes); i++)
        to->flags |= mode & modes[i].mode ? modes[i].flag : 0;
    Vec3 normal = is_reversed ? vec3_neg(contact->normal) : contact->normal;
    memcpy(to->position, &contact->point, sizeof to->position);
    memcpy(to->normal, &normal, sizeof to->normal);
    memcpy(to->fdir1, &contact->direction, sizeof to->fdir1);
    to->depth = contact->depth;
    // Without the axis-dependent mode there are either both friction rows or, with mu 0, none.
    to->mu = not_negative(contact->friction);
    to->mu2 = is_axis_dependent ? not_negative(contact->friction2) : to->mu;
    to->rho = not_negative(contact->rolling);
    to->rho2 = is_axis_dependent ? not_negative(contact->rolling2) : to->rho;
    to->rhoN = is_axis_dependent ? not_negative(contact->spinning) : to->rho;
    to->bounce = contact->bounce;
    to->bounce_velocity = contact->bounce_velocity;
    to->soft_erp = contact->soft_erp;
    to->soft_cfm = contact->soft_cfm;
    to->motion1 = mode & dContactMotion1 ? contact->motion : 0.0;
    to->motion2 = mode & dContactMotion2 ? contact->motion2 : 0.0;
    to->motionN = mode & dContactMotionN ? contact->target_normal_speed : 0.0;
    to->slip1 = mode & dContactSlip1 ? contact->slip : 0.0;
    to->slip2 = mode & dContactSlip2 ? contact->slip2 : 0.0;
    memcpy(to->start, contact->held, sizeof to->start);
    memset(to->force, 0, sizeof to->force);
}
