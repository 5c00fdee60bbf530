// fluid.c - fluids: which shapes are in which fluid (found in the collision pass), and what they feel in the next step:
// buoyancy at the centre of the immersed volume, drag and viscous resistance there.
//
// The surface of a fluid is the highest face of its boundingObject: of a box the face that looks against gravity most,
// of other shapes the plane across gravity at their highest point. Everything of a solid below it is immersed.
#include "physics/physics_internal.h"

#include "base/memory.h"
#include "physics/fluids/drag.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Fluid {
    SceneNode *node;
    const char *name;
    double density, viscosity;
    Vec3 stream;
    Pose pose;  // in the world
    int first_shape, shape_count;
} Fluid;

typedef struct FluidPair {
    int solid_shape, fluid_shape;
} FluidPair;

typedef struct Fluids {
    Fluid *fluids;
    int count, capacity;
    FluidPair *pairs;
    int pair_count, pair_capacity;
    // Read from the scene once, and again after any change in it.
    int *table;  // solid * count + fluid: index of the properties, NONE or UNKNOWN
    int table_solids, table_fluids;
    DragProperties *properties;
    int property_count, property_capacity;
    uint64_t read_at;  // Physics.edit_count then
} Fluids;

enum { NONE = -1, UNKNOWN = -2 };

static void read_fields(Fluid *fluid)
{
    fluid->name = scene_string(fluid->node, "name");
    fluid->density = scene_float(fluid->node, "density");
    fluid->viscosity = scene_float(fluid->node, "viscosity");
    fluid->stream = scene_vec3(fluid->node, "streamVelocity");
}

void fluids_add(Physics *physics, SceneNode *node, Pose pose)
{
    if (!physics->fluids)
        physics->fluids = memory_alloc(sizeof *physics->fluids);
    Fluids *fluids = physics->fluids;
    memory_grow(&fluids->fluids, &fluids->capacity, fluids->count + 1, sizeof *fluids->fluids);
    int index = fluids->count++;
    Fluid *fluid = &fluids->fluids[index];
    *fluid = (Fluid){ .node = node, .pose = pose, .first_shape = physics->shape_count };
    read_fields(fluid);
    SceneNode *bounding = scene_child(node, "boundingObject");
    if (!bounding)
        diag_warning(physics->diags, node->pos, "fluid '%s' has no boundingObject; nothing can be immersed in it",
                     fluid->name);
    fluid->shape_count = shapes_build(physics, -1, index, bounding, pose, (ShapeRows){ 0 });
}

SceneNode *fluid_node(const Physics *physics, int index)
{
    return physics->fluids && index < physics->fluids->count ? physics->fluids->fluids[index].node : NULL;
}

// ---- changes ----

static Pose pose_in_world(const Physics *physics, const SceneNode *node)
{
    Pose pose = scene_pose(node);
    for (const SceneNode *at = scene_parent(node); at; at = scene_parent(at)) {
        int solid = physics_solid_of(physics, at);
        if (solid >= 0)
            return pose_mul(physics->solid_world[solid], pose);
        if (scene_node_is(at, "Pose"))
            pose = pose_mul(scene_pose(at), pose);
    }
    return pose;
}

static bool is_at_or_above(const SceneNode *above, const SceneNode *node)
{
    while (node && node != above)
        node = scene_parent(node);
    return node != NULL;
}

// A bounding object may USE a geometry that stands elsewhere.
static bool is_made_of(const Physics *physics, const Fluid *fluid, const SceneNode *node)
{
    for (int i = fluid->first_shape; i < fluid->first_shape + fluid->shape_count; i++)
        if (physics->shapes[i].is_alive && is_at_or_above(node, physics->shapes[i].geometry))
            return true;
    return is_at_or_above(fluid->node, node);
}

static void move_shapes(Physics *physics, const Fluid *fluid, Pose pose)
{
    assert_debug(fluid->first_shape + fluid->shape_count <= physics->shape_count);
    Pose motion = pose_mul(pose, pose_inverse(fluid->pose));
    for (int i = fluid->first_shape; i < fluid->first_shape + fluid->shape_count; i++) {
        const Shape *shape = &physics->shapes[i];
        if (!shape->is_alive)
            continue;
        Pose local = pose_mul(motion, shape_local(shape));
        local.q = quat_normalized(local.q);
        shape_set_local(physics, i, local);
        shape_place(physics, i);
    }
}

static void shape_fluid_again(Physics *physics, int index, Pose pose)
{
    assert_debug(index >= 0 && index < physics->fluids->count);
    Fluid *fluid = &physics->fluids->fluids[index];
    for (int i = 0; i < fluid->shape_count; i++)
        shape_destroy(physics, fluid->first_shape + i);
    int first = physics->shape_count;
    ShapeRows old = { fluid->first_shape, fluid->shape_count };
    fluid->shape_count = shapes_build(physics, -1, index, scene_child(fluid->node, "boundingObject"), pose, old);
    if (physics->shape_count > first)
        fluid->first_shape = first;
}

void fluids_changed(Physics *physics, const SceneNode *node, bool is_motion)
{
    Fluids *fluids = physics->fluids;
    for (int i = 0; fluids && i < fluids->count; i++) {
        Fluid *fluid = &fluids->fluids[i];
        bool is_above = is_at_or_above(node, fluid->node);
        if (fluid->node->is_removed || !(is_above || is_made_of(physics, fluid, node)))
            continue;
        Pose pose = pose_in_world(physics, fluid->node);
        if (is_motion && is_above)
            move_shapes(physics, fluid, pose);
        else
            shape_fluid_again(physics, i, pose);
        fluid->pose = pose;
        fluids->pair_count = 0;
        // What floats in it may sleep.
        physics->needs_pass = physics->needs_full_pass = physics->is_static_moved = true;
    }
}

void fluids_destroy(Physics *physics)
{
    if (!physics->fluids)
        return;
    free(physics->fluids->fluids);
    free(physics->fluids->pairs);
    free(physics->fluids->table);
    free(physics->fluids->properties);
    free(physics->fluids);
    physics->fluids = NULL;
}

void fluids_begin_pass(Physics *physics)
{
    if (physics->fluids)
        physics->fluids->pair_count = 0;
}

// The last item whose fluidName fits wins, as in Webots.
static const SceneNode *properties_node(const SceneNode *solid, const char *fluid)
{
    const FieldList *list = scene_list(solid, "immersionProperties");
    const SceneNode *found = NULL;
    for (int i = 0; i < list->count; i++) {
        const SceneNode *item = scene_list_node(list, i);
        if (item && !strcmp(scene_string(item, "fluidName"), fluid))
            found = item;
    }
    return found;
}

static void read_again(Physics *physics)
{
    Fluids *fluids = physics->fluids;
    if (fluids->table && fluids->read_at == physics->edit_count && fluids->table_solids == physics->solid_count
        && fluids->table_fluids == fluids->count)
        return;
    fluids->read_at = physics->edit_count;
    fluids->table_solids = physics->solid_count;
    fluids->table_fluids = fluids->count;
    fluids->property_count = 0;
    free(fluids->table);
    size_t cells = (size_t)fluids->table_solids * (size_t)fluids->table_fluids;
    fluids->table = memory_alloc_raw((cells + 1) * sizeof *fluids->table);
    for (size_t i = 0; i < cells; i++)
        fluids->table[i] = UNKNOWN;
    for (int i = 0; i < fluids->count; i++)
        read_fields(&fluids->fluids[i]);
}

// NULL when the solid has none for this fluid.
static const DragProperties *immersion_properties(Physics *physics, int solid, int fluid)
{
    read_again(physics);
    Fluids *fluids = physics->fluids;
    assert(solid >= 0 && solid < fluids->table_solids && fluid >= 0 && fluid < fluids->table_fluids);
    int *cell = &fluids->table[(size_t)solid * (size_t)fluids->table_fluids + (size_t)fluid];
    if (*cell == UNKNOWN) {
        const SceneNode *node = properties_node(physics->solids[solid].node, fluids->fluids[fluid].name);
        *cell = NONE;
        if (node) {
            memory_grow(&fluids->properties, &fluids->property_capacity, fluids->property_count + 1,
                        sizeof *fluids->properties);
            *cell = fluids->property_count++;
            fluids->properties[*cell] = (DragProperties){
                !strcmp(scene_string(node, "referenceArea"), "xyz-projected area"),
                scene_vec3(node, "dragForceCoefficients"),
                scene_vec3(node, "dragTorqueCoefficients"),
                scene_float(node, "viscousResistanceForceCoefficient"),
                scene_float(node, "viscousResistanceTorqueCoefficient"),
            };
        }
    }
    return *cell == NONE ? NULL : &fluids->properties[*cell];
}

void fluids_pair(Physics *physics, int solid_shape, int fluid_shape)
{
    assert(physics->fluids);
    assert(solid_shape >= 0 && solid_shape < physics->shape_count);
    assert(fluid_shape >= 0 && fluid_shape < physics->shape_count);
    Fluids *fluids = physics->fluids;
    const Shape *shape = &physics->shapes[solid_shape];
    if (!fluids || shape->body < 0 || shape->solid < 0)
        return;
    if (!immersion_properties(physics, shape->solid, physics->shapes[fluid_shape].fluid))
        return;
    memory_grow(&fluids->pairs, &fluids->pair_capacity, fluids->pair_count + 1, sizeof *fluids->pairs);
    fluids->pairs[fluids->pair_count++] = (FluidPair){ solid_shape, fluid_shape };
}

// ---- the surface ----

static double highest_point(const Physics *physics, int index, Pose world, Vec3 up)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    const Shape *shape = &physics->shapes[index];
    BroadBox box;
    switch (shape->kind) {
    case GEOMETRY_SPHERE: return vec3_dot(up, world.t) + shape->size.x;
    case GEOMETRY_PLANE: return vec3_dot(up, world.t);
    default:
        shape_bounds(physics, index, &box);
        return fmax(up.x * box.low[0], up.x * box.high[0]) + fmax(up.y * box.low[1], up.y * box.high[1])
               + fmax(up.z * box.low[2], up.z * box.high[2]);
    }
}

// In the world: normal out of the fluid and its level along it.
static ImmersionPlane surface_of(const Physics *physics, int fluid_shape)
{
    assert_debug(fluid_shape >= 0 && fluid_shape < physics->shape_count);
    const Shape *shape = &physics->shapes[fluid_shape];
    Pose world = shape_local(shape);
    Vec3 up = vec3_normalized(vec3_neg(physics->gravity));
    if (vec3_length2(up) < 0.5)
        up = quat_rotate(world.q, vec3(0, 0, 1));
    if (shape->kind != GEOMETRY_BOX)
        return (ImmersionPlane){ up, highest_point(physics, fluid_shape, world, up) };
    Vec3 local = quat_unrotate(world.q, up);
    double x = fabs(local.x), y = fabs(local.y), z = fabs(local.z);
    Vec3 face = z >= x && z >= y ? vec3(0, 0, copysign(1.0, local.z))
                : y >= x         ? vec3(0, copysign(1.0, local.y), 0)
                                 : vec3(copysign(1.0, local.x), 0, 0);
    Vec3 normal = quat_rotate(world.q, face);
    double half = 0.5 * fabs(vec3_dot(face, shape->size));
    return (ImmersionPlane){ normal, vec3_dot(normal, world.t) + half };
}

static Immersion immerse(const Physics *physics, const Shape *shape, ImmersionPlane plane)
{
    if (shape->kind != GEOMETRY_MESH)
        return immersion_of(shape->kind, shape_size(shape), plane);
    for (int i = 0; i < physics->mesh_count; i++) {
        const MeshEntry *mesh = &physics->meshes[i];
        if (mesh->geometry == shape->geometry && mesh->is_usable)
            return immersion_mesh(mesh->vertices, mesh->indices, mesh->triangle_count, plane);
    }
    return (Immersion){ 0 };
}

static Pose shape_pose(const Physics *physics, const Shape *shape)
{
    assert_debug(shape->body >= 0 && shape->solid >= 0);
    return shape->body == shape->home
               ? pose_mul(body_pose(physics, shape->body),
                          pose_mul(solid_in_body(&physics->solids[shape->solid]), shape_local(shape)))
               : mirror_shape_pose(shape);
}

// What of the shape, which stands at `world`, is under the surface of the fluid; in its own frame.
static Immersion wet_part(const Physics *physics, const FluidPair *pair, Pose world, bool without_projected)
{
    assert_debug(pair->solid_shape < physics->shape_count);
    ImmersionPlane surface = surface_of(physics, pair->fluid_shape);
    ImmersionPlane local = { quat_unrotate(world.q, surface.up), surface.level - vec3_dot(surface.up, world.t),
                             without_projected };
    return immerse(physics, &physics->shapes[pair->solid_shape], local);
}

int physics_immersions(const Physics *physics, PhysicsImmersion *immersions, int capacity)
{
    int count = 0;
    for (int i = 0; physics->fluids && i < physics->fluids->pair_count; i++) {
        const FluidPair *pair = &physics->fluids->pairs[i];
        const Shape *shape = &physics->shapes[pair->solid_shape];
        if (!shape->is_alive || shape->is_away || shape->body < 0 || shape->solid < 0)
            continue;
        Pose world = shape_pose(physics, shape);
        Immersion wet = wet_part(physics, pair, world, true);
        double density = physics->fluids->fluids[physics->shapes[pair->fluid_shape].fluid].density;
        if (wet.volume <= 0.0)
            continue;
        if (count < capacity)
            immersions[count] = (PhysicsImmersion){ shape->solid, pose_apply(world, wet.center), wet.volume * density };
        count++;
    }
    return count;
}

// ---- forces ----

// Buoyancy and drag of one shape in one fluid, at the middle of what is under its surface.
static void push(Physics *physics, const FluidPair *pair, double dt)
{
    const Shape *shape = &physics->shapes[pair->solid_shape];
    const Fluid *fluid = &physics->fluids->fluids[physics->shapes[pair->fluid_shape].fluid];
    const DragProperties *properties = immersion_properties(physics, shape->solid,
                                                            physics->shapes[pair->fluid_shape].fluid);
    const SolverMass *body = &physics->masses[shape->body];
    const BodyState *state = &physics->body_states[shape->body];
    if (!properties || state->is_disabled || !shape->is_alive || shape->is_away)
        return;
    Pose world = shape_pose(physics, shape);
    Immersion wet = wet_part(physics, pair, world, !properties->is_projected);
    if (wet.volume <= 0.0 && wet.area <= 0.0)
        return;
    Vec3 center = pose_apply(world, wet.volume > 0.0 ? wet.center : VEC3_ZERO);
    Vec3 force = vec3_scale(physics->gravity, -fluid->density * wet.volume);
    Vec3 v = vec3_sub(state->linear, fluid->stream), w = state->angular;
    double min = fmin(body->inertia.m[0], fmin(body->inertia.m[4], body->inertia.m[8]));
    DragFluid medium = { fluid->density, fluid->viscosity };
    Drag drag = drag_of(properties, medium, &wet, (DragMotion){ world.q, v, w, body->mass, min, dt });
    body_add_force_at(physics, shape->body, force, center);
    body_add_force_at(physics, shape->body, drag.force, center);
    body_add_torque(physics, shape->body, drag.torque);
}

void fluids_step(Physics *physics, double dt)
{
    assert(dt > 0.0);
    if (!physics->fluids)
        return;
    for (int i = 0; i < physics->fluids->pair_count; i++)
        push(physics, &physics->fluids->pairs[i], dt);
}
