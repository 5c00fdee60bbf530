// From nodes to solids, bodies, shapes and joints, in that order: first every node is looked at (parents before
// children), then it is decided which solids share a body, then ODE's objects are made. The same code builds a whole
// world and a subtree that is put in at run time; a subtree always starts at an uppermost solid, because masses merge.
#include "physics/fittings/fittings.h"
#include "physics/mirror.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- looking at nodes ----

typedef struct Walk {
    int parent;  // solid above, -1
    int joint;   // joint whose end point comes next, -1
    Pose pose;   // from the parent solid's frame (or the world) to here
    bool is_helix;
    bool is_loose;   // a FreeJoint stands right above
    bool has_scale;  // a Transform with a scale stands above
    int depth;
} Walk;

static void walk(Physics *physics, SceneNode *node, Walk at);

// A row for a solid: what its fields say, who is above it, where it stands. Bodies and shapes come later, when all
// solids are known.
static int add_solid(Physics *physics, SceneNode *node, const Walk *at)
{
    int known = physics->solid_capacity;
    memory_grow(&physics->solids, &physics->solid_capacity, physics->solid_count + 1, sizeof(PhysicsSolid));
    memset(physics->solids + known, 0, (size_t)(physics->solid_capacity - known) * sizeof(PhysicsSolid));
    memory_grow(&physics->solid_states, &physics->solid_state_capacity, physics->solid_count + 1, sizeof(SolidState));
    memory_grow(&physics->solid_world, &physics->solid_world_capacity, physics->solid_count + 1, sizeof(Pose));
    int index = physics->solid_count++;
    PhysicsSolid *solid = &physics->solids[index];
    const PhysicsSolid before = *solid;  // rows are used again, and so is what they have in the arena
    *solid = (PhysicsSolid){
        .node = node,
        .base = before.base,
        .in_body = before.in_body,
        .parent = at->parent,
        .joint = at->joint,
        .body = -1,
        .body_owner = -1,
        .weld = -1,
        .track = -1,
        .conveyor = -1,
        .holder = -1,
        .is_alive = true,
        .is_helix = at->is_helix,
        .is_loose = at->is_loose,
        .linear_damping = -1.0,
        .angular_damping = -1.0,
        .first_shape = 0,
        .shape_count = 0,
    };
    pose_store(physics->arena, &solid->base, at->pose);
    pose_store(physics->arena, &solid->in_body, POSE_IDENTITY);
    const PhysicsSolid *parent = at->parent >= 0 ? &physics->solids[at->parent] : NULL;
    solid->top = parent ? parent->top : index;
    bool is_robot = scene_node_is(node, "Robot");
    solid->robot = is_robot ? index : parent ? parent->robot : -1;
    solid->allows_self_collision = is_robot && scene_bool(node, "selfCollision");
    solid->feels_static = is_robot || scene_node_is(node, "TouchSensor");
    solid->material = contact_material(physics, scene_string(node, "contactMaterial"));
    solid->label = label_plain(node);

    SolidState *state = &physics->solid_states[index];
    memset(state, 0, sizeof(*state));
    state->local = pose_mul(at->pose, scene_pose(node));
    state->local.q = quat_normalized(state->local.q);
    state->is_off = physics_solid_has_switch(node) && !scene_bool(node, "on");
    physics->has_moving_solids = physics->needs_full_pass = true;
    state->linear = scene_vec3(node, "linearVelocity");
    state->angular = scene_vec3(node, "angularVelocity");
    Pose above = parent ? physics->solid_world[at->parent] : POSE_IDENTITY;
    physics->solid_world[index] = pose_mul(above, state->local);
    if (!pose_is_finite(physics->solid_world[index]) || vec3_length(physics->solid_world[index].t) > LIMIT_COORDINATE) {
        diag_error(physics->diags, node->pos, "'%s' is placed out of range; it is put at the origin of its parent",
                   scene_string(node, "name"));
        state->local = POSE_IDENTITY;
        physics->solid_world[index] = above;
    }
    if (!vec3_is_finite(state->linear) || !vec3_is_finite(state->angular))
        state->linear = state->angular = VEC3_ZERO;
    node_map_set(&physics->solid_of_node, node->id, index);
    return index;
}

static const struct {
    const char *type;
    PhysicsJointKind kind;
    int axes;
} joint_kinds[] = {
    { "BallJoint", PHYSICS_JOINT_BALL, 3 },  // descends from Hinge2Joint, so it stands first
    { "Hinge2Joint", PHYSICS_JOINT_HINGE2, 2 },
    { "HingeJoint", PHYSICS_JOINT_HINGE, 1 },
    { "SliderJoint", PHYSICS_JOINT_SLIDER, 1 },
};

// The node at the end of a joint: Slots are transparent.
static SceneNode *end_point(const SceneNode *joint) { return scene_behind_slots(scene_child(joint, "endPoint")); }

// A row for a joint; the walk goes on below its end point first, so that the child is the next solid.
static void add_joint(Physics *physics, SceneNode *node, Walk at)
{
    if (scene_node_is(node, "FreeJoint")) {
        at.is_loose = true;
        walk(physics, end_point(node), at);
        return;
    }
    int kind = 0;
    while (kind < COUNT_OF(joint_kinds) && !scene_node_is(node, joint_kinds[kind].type))
        kind++;
    if (kind == COUNT_OF(joint_kinds))
        return;
    memory_grow(&physics->joints, &physics->joint_capacity, physics->joint_count + 1, sizeof(PhysicsJoint));
    memory_grow(&physics->joint_states, &physics->joint_state_capacity, physics->joint_count + 1,
                sizeof(PhysicsJointState));
    int index = physics->joint_count++;
    physics->joints[index] = (PhysicsJoint){
        .node = node,
        .kind = joint_kinds[kind].kind,
        .axis_count = joint_kinds[kind].axes,
        .parent = at.parent,
        .child = -1,
        .body = { -1, -1 },
        .frame = at.pose,
        .is_alive = true,
    };
    memset(&physics->joint_states[index], 0, sizeof(PhysicsJointState));
    SceneNode *end = end_point(node);
    if (!end)
        return;
    if (scene_node_is(end, "SolidReference")) {
        physics->joints[index].is_reference = true;
    } else if (scene_node_is(end, "Solid")) {
        int before = physics->solid_count;
        at.joint = index;
        walk(physics, end, at);
        if (physics->solid_count > before)
            physics->joints[index].child = before;
    }
}

static void walk_list(Physics *physics, const FieldList *list, Walk at)
{
    for (int i = 0; i < list->count; i++)
        walk(physics, scene_list_node(list, i), at);
}

static void walk_solid(Physics *physics, SceneNode *node, Walk at)
{
    if (at.has_scale)
        diag_warning(physics->diags, node->pos,
                     "a Solid below a Transform with a scale is simulated without that scale");
    int index = add_solid(physics, node, &at);
    Walk below = { .parent = index, .joint = -1, .pose = POSE_IDENTITY, .depth = at.depth + 1 };
    fittings_add(physics, node, index, POSE_IDENTITY);
    walk_list(physics, scene_list(node, "children"), below);
    physics->solids[index].end = physics->solid_count;
}

// Down the tree of nodes, with the frame and the solid above; what is neither a solid nor leads to one is passed over.
static void walk(Physics *physics, SceneNode *node, Walk at)
{
    node = scene_actual(node);
    if (!node || node->is_removed || !node->type)
        return;
    if (++at.depth > physics->limits.nesting * 4)
        return;
    if (scene_node_is(node, "Solid")) {
        walk_solid(physics, node, at);
    } else if (scene_node_is(node, "Fluid")) {
        fluids_add(physics, node,
                   pose_mul(at.parent >= 0 ? physics->solid_world[at.parent] : POSE_IDENTITY,
                            pose_mul(at.pose, scene_pose(node))));
    } else if (scene_node_is(node, "Group")) {
        if (scene_node_is(node, "Pose"))
            at.pose = pose_mul(at.pose, scene_pose(node));
        if (scene_node_is(node, "Transform")) {
            Vec3 scale = scene_vec3(node, "scale");
            at.has_scale |= scale.x != 1.0 || scale.y != 1.0 || scale.z != 1.0;
        }
        walk_list(physics, scene_list(node, "children"), at);
    } else if (scene_node_is(node, "Slot")) {
        walk(physics, scene_child(node, "endPoint"), at);
    } else if (scene_node_is(node, "Joint")) {
        add_joint(physics, node, at);
    } else if (scene_node_is(node, "Propeller")) {
        fittings_add(physics, node, at.parent, at.pose);
        at.is_helix = true;
        walk(physics, scene_child(node, "fastHelix"), at);
        walk(physics, scene_child(node, "slowHelix"), at);
    }
}

// ---- masses ----

static void read_damping(PhysicsSolid *solid, const SceneNode *node)
{
    SceneNode *damping = scene_child(node, "damping");
    if (!damping)
        return;
    solid->linear_damping = double_clamp(scene_float(damping, "linear"), 0.0, 1.0);
    solid->angular_damping = double_clamp(scene_float(damping, "angular"), 0.0, 1.0);
}

static bool center_is_near(Vec3 center) { return vec3_length(center) <= LIMIT_COORDINATE; }

// The centre of mass that a file gives. False when it gives none, or one that is too far away (reported).
static bool read_center(Physics *physics, const PhysicsSolid *solid, const SceneNode *node, Vec3 *center)
{
    const FieldList *points = scene_list(node, "centerOfMass");
    if (points->count == 0)
        return false;
    Vec3 given = vec3(points->numbers[0], points->numbers[1], points->numbers[2]);
    if (!center_is_near(given)) {
        diag_warning(physics->diags, scene_field_pos(node, "centerOfMass"),
                     "centerOfMass of '%s' is more than %g m away; it is ignored", solid->label, LIMIT_COORDINATE);
        return false;
    }
    *center = given;
    return true;
}

// The inertia that a file gives by itself. False when it gives none or a wrong one (reported).
static bool read_custom_mass(Physics *physics, const PhysicsSolid *solid, const SceneNode *node, MassProperties *mass)
{
    const FieldList *rows = scene_list(node, "inertiaMatrix");
    SourcePos pos = scene_field_pos(node, "inertiaMatrix");
    double value = scene_float(node, "mass");
    *mass = mass_default();
    if (rows->count != 2) {
        diag_warning(physics->diags, pos,
                     "inertiaMatrix of '%s' wants two rows, [Ixx Iyy Izz, Ixy Ixz Iyz]; using 1 kg and unit inertia",
                     solid->label);
        return false;
    }
    Vec3 center;
    if (!(value > 0.0) || scene_list(node, "centerOfMass")->count != 1 || !read_center(physics, solid, node, &center)) {
        diag_warning(physics->diags, pos,
                     "inertiaMatrix of '%s' needs mass and centerOfMass beside it; using 1 kg and unit inertia",
                     solid->label);
        return false;
    }
    const double *a = rows->numbers, *b = rows->numbers + 3;
    Mat3 inertia = { { a[0], b[0], b[1], b[0], a[1], b[2], b[1], b[2], a[2] } };
    MassProperties given = { value, center, inertia };
    if (!mass_is_valid(given)) {
        diag_warning(physics->diags, pos,
                     "inertiaMatrix of '%s' is not positive definite or mass out of range; using 1 kg and unit inertia",
                     solid->label);
        return false;
    }
    *mass = given;
    return true;
}

// `mass`: of the boundingObject at the reference density, and then the solid's.
static void read_bounding_mass(Physics *physics, const PhysicsSolid *solid, const SceneNode *node, bool has_shape,
                               MassProperties *mass)
{
    double given = scene_float(node, "mass"), density = scene_float(node, "density");
    if (given > 0.0 && density > 0.0 && scene_field(node, "density") && scene_field(node, "mass"))
        diag_note(physics->diags, scene_field_pos(node, "density"), "'%s' has both mass and density; mass counts",
                  solid->label);
    if (!(given > 0.0) && !(density > 0.0)) {
        diag_warning(physics->diags, node->pos, "'%s' has neither mass nor density; using 1000 kg/m^3", solid->label);
        density = 1000.0;
    }
    if (!has_shape) {
        *mass = mass_default();
        if (given > 0.0)
            mass->mass = given;
        diag_warning(physics->diags, node->pos,
                     "'%s' has Physics but no shape in its boundingObject; it gets %g kg and unit inertia",
                     solid->label, mass->mass);
    } else {
        *mass = mass_scaled(*mass, given > 0.0 ? given / mass->mass : density / 1000.0);
    }
    read_center(physics, solid, node, &mass->center);
}

static MassProperties read_mass(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    SceneNode *node = scene_child(solid->node, "physics");
    MassProperties mass = { 0 };
    read_damping(solid, node);
    bool is_custom = scene_list(node, "inertiaMatrix")->count > 0;
    bool has_shape = shapes_mass(physics, scene_child(solid->node, "boundingObject"), 1000.0, is_custom, &mass);
    solid->reference_mass = has_shape ? mass.mass : 0.0;
    if (is_custom)
        read_custom_mass(physics, solid, node, &mass);
    else
        read_bounding_mass(physics, solid, node, has_shape, &mass);
    if (!mass_is_valid(mass)) {
        diag_error(physics->diags, node->pos, "the mass of '%s' (%g kg) is out of range; using 1 kg and unit inertia",
                   solid->label, mass.mass);
        diag_hint(physics->diags, "masses between %g and %g kg can be simulated", LIMIT_MASS_LOW, LIMIT_MASS_HIGH);
        Vec3 center = mass.center;
        mass = mass_default();
        if (center_is_near(center))
            mass.center = center;
    }
    solid->mass = mass.mass;
    solid->center = mass.center;
    return mass;
}

// ---- who shares a body ----

static bool is_old_wheel(const SceneNode *node)
{
    const char *name = scene_string(node, "name");
    return !strcasecmp(name, "left wheel") || !strcasecmp(name, "right wheel");
}

static bool has_body_above(const Physics *physics, int solid)
{
    for (int i = physics->solids[solid].parent; i >= 0; i = physics->solids[i].parent)
        if (physics->solids[i].body_owner >= 0)
            return true;
    return false;
}

static void decide_body_owner(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    const PhysicsSolid *parent = solid->parent >= 0 ? &physics->solids[solid->parent] : NULL;
    solid->has_dynamic_parent = has_body_above(physics, index);
    SceneNode *bounding = scene_child(solid->node, "boundingObject");
    if (!scene_child(solid->node, "physics") || solid->is_helix) {
        if (solid->has_dynamic_parent && bounding && !solid->is_helix)
            diag_note(physics->diags, solid->node->pos,
                      "'%s' has no Physics: what hits it does not move the solid it belongs to",
                      label_plain(solid->node));
        return;
    }
    bool is_apart = solid->joint >= 0 || solid->is_loose || !parent || parent->body_owner < 0
                    || is_old_wheel(solid->node) || scene_node_is(solid->node, "TouchSensor");
    solid->body_owner = is_apart ? index : parent->body_owner;
}

static double per_step(const Physics *physics, double per_second)
{
    return per_second > 0.0 ? 1.0 - pow(1.0 - per_second, physics->dt) : 0.0;
}

// Volume-weighted mean of what the merged solids say; the world's default when none says anything.
static void find_damping(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->body_count);
    const Body *body = &physics->bodies[index];
    int end = physics->solids[body->solid].end;
    double weight = 0.0, linear = 0.0, angular = 0.0;
    bool has_any = false;
    for (int i = body->solid; i < end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        if (solid->body != index)
            continue;
        double w = solid->reference_mass > 0.0 ? solid->reference_mass : 1e-12;
        weight += w;
        has_any |= solid->linear_damping >= 0.0;
        linear += w * fmax(solid->linear_damping, 0.0);
        angular += w * fmax(solid->angular_damping, 0.0);
    }
    linear = has_any ? linear / weight : physics->default_linear_damping;
    angular = has_any ? angular / weight : physics->default_angular_damping;
    physics->masses[index].linear_damping = per_step(physics, linear);
    physics->masses[index].angular_damping = per_step(physics, angular);
}

// Adds up the masses of the solids of a body, which stand in `masses` from its owner's on, and says where they stand in
// its frame.
static void weigh_body(Physics *physics, int index, const MassProperties *masses)
{
    assert_debug(index >= 0 && index < physics->body_count);
    Body *body = &physics->bodies[index];
    int body_owner = body->solid, end = physics->solids[body_owner].end;
    MassProperties total = mass_zero();
    for (int i = body_owner; i < end; i++) {
        PhysicsSolid *solid = &physics->solids[i];
        if (solid->body_owner != body_owner || !solid->is_alive)
            continue;
        solid->body = index;
        // From the poses of the file alone, so that the last bit does not depend on where the body is.
        Pose in_body = i == body_owner
                           ? POSE_IDENTITY
                           : pose_mul(solid_in_body(&physics->solids[solid->parent]), physics->solid_states[i].local);
        pose_store(physics->arena, &solid->in_body, in_body);
        total = mass_sum(total, mass_moved(masses[i - body_owner], in_body));
    }
    for (int i = body_owner; i < end; i++) {
        PhysicsSolid *solid = &physics->solids[i];
        Pose in_body = solid_in_body(solid);
        in_body.t = vec3_sub(in_body.t, total.center);
        if (solid->body_owner == body_owner && solid->is_alive)
            pose_store(physics->arena, &solid->in_body, in_body);
    }
    body->com = total.center;
    physics->masses[index].mass = total.mass;
    physics->masses[index].inertia = total.inertia;
    physics_bodies_new(physics);
    find_damping(physics, index);
    mirror_body_settings(physics, index);
    BodyState *state = &physics->body_states[index];
    Pose world = physics->solid_world[body_owner];
    state->position = pose_apply(world, total.center);
    state->orientation = quat_normalized(world.q);
}

static void make_body(Physics *physics, int body_owner, const MassProperties *masses)
{
    memory_grow(&physics->bodies, &physics->body_capacity, physics->body_count + 1, sizeof(Body));
    memory_grow(&physics->masses, &physics->mass_capacity, physics->body_count + 1, sizeof(SolverMass));
    memory_grow(&physics->body_constraints, &physics->body_constraint_capacity, physics->body_count + 1,
                sizeof *physics->body_constraints);
    memory_grow(&physics->body_states, &physics->body_state_capacity, physics->body_count + 1, sizeof(BodyState));
    int index = physics->body_count++;
    Body *body = &physics->bodies[index];
    *body = (Body){ .solid = body_owner, .is_alive = true };
    physics->body_constraints[index] = NULL;
    BodyState *state = &physics->body_states[index];
    memset(state, 0, sizeof(*state));
    state->linear = physics->solid_states[body_owner].linear;
    state->angular = physics->solid_states[body_owner].angular;
    state->idle_left = physics->disable_time;
    weigh_body(physics, index, masses);
    mirror_body_make(physics, index);
}

static void make_shapes(Physics *physics, int index, ShapeRows old)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    int first = physics->shape_count;
    SceneNode *bounding = scene_child(physics->solids[index].node, "boundingObject");
    int count = shapes_build(physics, index, -1, bounding, POSE_IDENTITY, old);
    PhysicsSolid *solid = &physics->solids[index];
    solid->first_shape = count > 0 && physics->shape_count == first ? old.first : first;
    solid->shape_count = count;
}

// A dynamic solid that hangs rigidly on something without a body of its own is welded: to the static world, or (touch
// sensors) to the body of the solid it sits on.
static void make_weld(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    if (solid->body_owner != index || solid->joint >= 0 || solid->is_loose || solid->parent < 0)
        return;
    const PhysicsSolid *parent = &physics->solids[solid->parent];
    bool is_sensor = scene_node_is(solid->node, "TouchSensor") && parent->body >= 0;
    if (!is_sensor && solid->has_dynamic_parent)
        return;
    memory_grow(&physics->welds, &physics->weld_capacity, physics->weld_count + 1, sizeof(Weld));
    memory_grow(&physics->weld_states, &physics->weld_state_capacity, physics->weld_count + 1, sizeof(WeldState));
    solid->weld = physics->weld_count++;
    Weld *weld = &physics->welds[solid->weld];
    int parent_body = is_sensor ? parent->body : -1;
    *weld = (Weld){ .constraint = constraint_make(physics, CONSTRAINT_FIXED, parent_body, solid->body, 0, NULL),
                    .solid = index,
                    .body = solid->body,
                    .parent_body = parent_body,
                    .is_alive = true };
    weld_set(physics, solid->weld);
    if (!is_sensor)
        physics->bodies[solid->body].is_anchored = true;
}

// ---- joints ----

static void resolve_reference(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->joint_count);
    PhysicsJoint *joint = &physics->joints[index];
    const SceneNode *reference = end_point(joint->node);
    const char *name = scene_string(reference, "solidName");
    if (!strcmp(name, "<static environment>")) {
        joint->child_is_world = true;
        return;
    }
    int top = joint->parent >= 0 ? physics->solids[joint->parent].top : 0;
    int end = joint->parent >= 0 ? physics->solids[top].end : 0;
    for (int k = 1; k <= end - top && *name; k++) {
        int i = k < end - top ? top + k : top;  // the top itself last: a body may have the name of one of its links
        if (physics->solids[i].is_alive && !strcmp(scene_string(physics->solids[i].node, "name"), name)) {
            joint->child = i;
            return;
        }
    }
    if (*name)
        diag_error(physics->diags, reference->pos, "no solid named '%s' in the same tree; this joint holds nothing",
                   name);
}

static void finish_joint(Physics *physics, int index)
{
    if (physics->joints[index].is_reference)
        resolve_reference(physics, index);
    PhysicsJoint *joint = &physics->joints[index];
    joint->body[0] = joint->parent >= 0 ? physics->solids[joint->parent].body : -1;
    joint->body[1] = joint->child >= 0 ? physics->solids[joint->child].body : -1;
    joint_read(physics, index);
    joint_make(physics, index);
}

// ---- a solid that changes ----

// Geoms of all solids of a body stand where their solids are in the body's frame.
static void offset_shapes(Physics *physics, int body)
{
    assert_debug(body >= 0 && body < physics->body_count);
    int body_owner = physics->bodies[body].solid;
    for (int i = body_owner; i < physics->solids[body_owner].end; i++) {
        const PhysicsSolid *solid = &physics->solids[i];
        for (int k = solid->first_shape; solid->body == body && k < solid->first_shape + solid->shape_count; k++)
            if (physics->shapes[k].is_alive && physics->shapes[k].body == body)
                shape_offset(physics, k);
    }
}

static MassProperties *read_masses(Physics *physics, int body)
{
    assert_debug(body >= 0 && body < physics->body_count);
    int first = physics->bodies[body].solid, end = physics->solids[first].end;
    MassProperties *masses = memory_alloc_array((size_t)(end - first), sizeof *masses);
    for (int i = first; i < end; i++)
        if (physics->solids[i].body_owner == first && physics->solids[i].is_alive)
            masses[i - first] = read_mass(physics, i);
    return masses;
}

static void weigh_again(Physics *physics, int body)
{
    // A velocity belongs to the centre of mass, which may move inside the body.
    BodyState *state = &physics->body_states[body];
    Vec3 old = state->position;
    MassProperties *masses = read_masses(physics, body);
    weigh_body(physics, body, masses);
    free(masses);
    state->linear = vec3_add(state->linear, vec3_cross(state->angular, vec3_sub(state->position, old)));
    mirror_body_state(physics, body);
    offset_shapes(physics, body);
    for (int i = 0; i < physics->weld_count; i++)
        if (physics->welds[i].is_alive && (physics->welds[i].body == body || physics->welds[i].parent_body == body))
            weld_set(physics, i);
    pins_moved(physics, physics->bodies[body].solid, physics->solids[physics->bodies[body].solid].end);
    for (int i = 0; i < physics->joint_count; i++)
        if (physics->joints[i].is_alive && (physics->joints[i].body[0] == body || physics->joints[i].body[1] == body))
            joint_moved(physics, i, true);
    body_wake(physics, body);
    physics->needs_pass = true;
}

void solid_rebuild_mass(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    if (solid->body < 0)
        return;
    joints_refresh(physics);
    solids_refresh(physics);
    solid->linear_damping = solid->angular_damping = -1.0;
    weigh_again(physics, solid->body);
}

void solid_rebuild_shapes(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->solid_count);
    contacts_forget(physics, index);
    for (int i = 0; i < physics->solids[index].shape_count; i++)
        shape_destroy(physics, physics->solids[index].first_shape + i);
    make_shapes(physics, index, (ShapeRows){ physics->solids[index].first_shape, physics->solids[index].shape_count });
    const PhysicsSolid *solid = &physics->solids[index];
    for (int i = 0; i < solid->shape_count; i++)
        physics->shapes[solid->first_shape + i].was_changed = true;
    physics->has_changed_shapes = true;
    physics->needs_pass = true;
    if (solid->body < 0) {
        physics->is_static_moved = true;
        return;
    }
    solid_rebuild_mass(physics, index);
    mirror_body_group(physics, solid->body);
}

// ---- whole trees ----

// From rows to objects, in the order in which each needs the one before: owners of bodies and masses, bodies, shapes,
// welds, joints, and what looks at joints.
static void build_from(Physics *physics, int first_solid, int first_joint)
{
    int end = physics->solid_count;
    int first_body = physics->body_count;
    MassProperties *masses = memory_alloc_array((size_t)(end - first_solid), sizeof *masses);
    for (int i = first_solid; i < end; i++) {
        decide_body_owner(physics, i);
        if (physics->solids[i].body_owner >= 0)
            masses[i - first_solid] = read_mass(physics, i);
    }
    for (int i = first_solid; i < end; i++)
        if (physics->solids[i].body_owner == i)
            make_body(physics, i, masses + (i - first_solid));
    free(masses);
    for (int i = first_solid; i < end; i++)
        make_shapes(physics, i, (ShapeRows){ 0 });
    for (int i = first_body; i < physics->body_count; i++)
        mirror_body_group(physics, i);
    for (int i = first_solid; i < end; i++)
        make_weld(physics, i);
    for (int i = first_joint; i < physics->joint_count; i++)
        finish_joint(physics, i);
    extra_joints_build(physics, first_solid, end);
    pins_build(physics, first_solid, end);
    fittings_built(physics);
    force_sensors_build(physics, first_solid, end);
    collision_rules_build(physics, first_solid, end);
    for (int i = first_solid; i < end; i++)
        if (physics->solids[i].body < 0)
            for (int k = 0; k < physics->solids[i].shape_count; k++)
                shape_place(physics, physics->solids[i].first_shape + k);
}

static void walk_world(Physics *physics)
{
    const FieldList *nodes = scene_list(scene_root(physics->scene), "children");
    for (int i = 0; i < nodes->count; i++)
        walk(physics, scene_list_node(nodes, i), (Walk){ .parent = -1, .joint = -1, .pose = POSE_IDENTITY });
    labels_make(physics);
}

void build_world(Physics *physics)
{
    walk_world(physics);
    build_from(physics, 0, 0);
    joints_resume(physics);
    joints_start(physics);
}

// After many edits most rows are of what has gone, and every step walks over them: all trees are built again, in rows
// without holes. Like any edit of a tree this forgets contacts and warm starts; here of the whole world.
void build_again(Physics *physics)
{
    for (int i = 0; i < physics->solid_count; i++)
        if (physics->solids[i].is_alive && physics->solids[i].parent < 0)
            remove_subtree(physics, i);
    for (int i = physics->joint_count - 1; i >= 0; i--)  // as in physics_destroy()
        if (physics->joints[i].is_alive)
            joint_unmake(physics, i);
    assert(physics->contact_count == 0);
    physics->touching_count = physics->touched_count = 0;
    physics->last_force_count = physics->resting_force_count = 0;
    for (int i = 0; i < physics->shape_count; i++)
        shape_destroy(physics, i);  // those of fluids are left
    fittings_destroy(physics);
    pins_destroy(physics);
    collision_rules_destroy(physics);
    extra_joints_destroy(physics);
    fluids_destroy(physics);
    physics->solid_count = physics->body_count = physics->joint_count = physics->weld_count = physics->shape_count = 0;
    physics->solids_gone = 0;
    if (physics->stepper->restore)
        physics->stepper->restore(physics->stepper_self, NULL, 0);
    walk_world(physics);
    build_from(physics, 0, 0);
}

static Pose pose_above(const SceneNode *node)
{
    const SceneNode *parent = scene_parent(node);
    return parent ? scene_world_pose(parent) : POSE_IDENTITY;
}

// Whether a walk from the root comes to the node, which no solid is above: not when it is only shown, as in the
// rotating head of a Lidar.
static bool is_reached(const SceneNode *node)
{
    for (const SceneNode *above = scene_parent(node); above; above = scene_parent(above)) {
        bool leads_on = scene_node_is(above, "Group") && !scene_node_is(above, "Fluid")
                        && !scene_node_is(above, "Solid");
        if (!leads_on && !scene_node_is(above, "Slot") && !scene_node_is(above, "Joint")
            && !scene_node_is(above, "Propeller"))
            return false;
    }
    return true;
}

void build_subtree(Physics *physics, SceneNode *node)
{
    if (!is_reached(node))
        return;
    joints_refresh(physics);
    solids_refresh(physics);
    int first_solid = physics->solid_count, first_joint = physics->joint_count;
    walk(physics, node, (Walk){ .parent = -1, .joint = -1, .pose = pose_above(node) });
    physics->are_labels_stale = true;
    build_from(physics, first_solid, first_joint);
}

static bool is_at_or_below(const Physics *physics, int solid, int top)
{
    return solid >= top && solid < physics->solids[top].end;
}

static void remove_joints(Physics *physics, int top)
{
    extra_joints_remove(physics, top);
    pins_remove(physics, top);
    for (int i = 0; i < physics->joint_count; i++) {
        PhysicsJoint *joint = &physics->joints[i];
        if (!joint->is_alive
            || !(is_at_or_below(physics, joint->parent, top) || is_at_or_below(physics, joint->child, top)))
            continue;
        joint_unmake(physics, i);
        joint->is_alive = false;
    }
}

static void remove_solid(Physics *physics, int index)
{
    assert_debug(index >= 0 && index < physics->solid_count);
    PhysicsSolid *solid = &physics->solids[index];
    for (int i = 0; i < solid->shape_count; i++)
        shape_destroy(physics, solid->first_shape + i);
    if (solid->weld >= 0) {
        constraint_unmake(physics, physics->welds[solid->weld].constraint);
        physics->welds[solid->weld].is_alive = false;
    }
    if (solid->body_owner == index) {
        Body *body = &physics->bodies[solid->body];
        while (physics->body_constraints[solid->body])  // a connector's hold
            constraint_detach(physics, physics->body_constraints[solid->body]);
        mirror_body_destroy(physics, solid->body);
        *body = (Body){ .solid = index };
        physics_bodies_new(physics);
    }
    node_map_remove(&physics->solid_of_node, solid->node->id);
    solid->is_alive = false;
    physics->solids_gone++;
    solid->body = solid->body_owner = -1;
}

void remove_subtree(Physics *physics, int top)
{
    assert(top >= 0 && top < physics->solid_count);
    joints_refresh(physics);
    solids_refresh(physics);
    remove_joints(physics, top);
    contacts_forget(physics, top);
    // Shapes and welds of a merged solid go before the body of the solid above, so children come first.
    for (int i = physics->solids[top].end - 1; i >= top; i--)
        if (physics->solids[i].is_alive)
            remove_solid(physics, i);
}
