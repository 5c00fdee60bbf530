// shape.c - from a boundingObject to shapes that collide, and their masses. A boundingObject is a geometry, a Shape
// with one, a Pose with one of these (only the first child counts), or a Group of them.
#include "physics/collide/collide_surface.h"
#include "physics/contacts/contact_narrow.h"
#include "physics/collide/convex.h"
#include "physics/contacts/sleep.h"
#include "physics/mirror.h"
#include "physics/solver/solver.h"

#include "base/memory.h"
#include "formats/shape/shape.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNDING_DEPTH = 32 };  // nested groups and poses

// Where a geometry stands in its boundingObject: scaled along its own axes first.
typedef struct Placed {
    Pose pose;
    Vec3 scale;
} Placed;

typedef void (*GeometryVisit)(Physics *physics, SceneNode *geometry, Placed placed, void *context);

static bool is_pose(const SceneNode *node) { return scene_node_is(node, "Pose"); }

static Vec3 vec3_times(Vec3 a, Vec3 b) { return vec3(a.x * b.x, a.y * b.y, a.z * b.z); }

// A pose inside of something scaled. A mirror turns the sense of turns; different lengths along the axes would skew
// what is turned inside of them, which is reported.
static Placed place_inside(Physics *physics, Placed outer, const SceneNode *node)
{
    Pose pose = scene_pose(node);
    Vec3 scale = scene_node_is(node, "Transform") ? scene_vec3(node, "scale") : vec3(1, 1, 1), s = outer.scale;
    if (!vec3_is_equal(s, vec3(1, 1, 1))) {
        bool is_turned = fabs(pose.q.x) + fabs(pose.q.y) + fabs(pose.q.z) > 1e-12;
        bool is_even = fabs(fabs(s.x) - fabs(s.y)) + fabs(fabs(s.x) - fabs(s.z)) <= 1e-9 * fabs(s.x);
        if (is_turned && !is_even)
            diag_warning(physics->diags, node->pos, "the scale around this %s skews it; it collides without the skew",
                         node->type->name);
        Vec3 sign = vec3(s.x < 0.0 ? -1 : 1, s.y < 0.0 ? -1 : 1, s.z < 0.0 ? -1 : 1);
        double mirror = sign.x * sign.y * sign.z;
        pose.q = (Quat){ pose.q.w, mirror * sign.x * pose.q.x, mirror * sign.y * pose.q.y, mirror * sign.z * pose.q.z };
        pose.t = vec3_times(s, pose.t);
    }
    return (Placed){ pose_mul(outer.pose, pose), vec3_times(s, scale) };
}

static void each_geometry(Physics *physics, SceneNode *node, Placed pose, int depth, GeometryVisit visit, void *context)
{
    node = scene_actual(node);
    if (!node || depth > BOUNDING_DEPTH)
        return;
    if (scene_node_is(node, "Shape")) {
        SceneNode *geometry = scene_child(node, "geometry");
        if (geometry)
            visit(physics, geometry, pose, context);
    } else if (scene_node_is(node, "Geometry")) {
        visit(physics, node, pose, context);
    } else if (scene_node_is(node, "Solid")) {
        diag_error(physics->diags, node->pos, "a Solid is not allowed inside a boundingObject; it is ignored");
    } else if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        Placed inner = is_pose(node) ? place_inside(physics, pose, node) : pose;
        int count = is_pose(node) ? int_min(children->count, 1) : children->count;
        if (is_pose(node) && children->count > 1)
            diag_warning(physics->diags, node->pos, "only the first child of a Pose counts in a boundingObject");
        for (int i = 0; i < count; i++)
            each_geometry(physics, scene_list_node(children, i), inner, depth + 1, visit, context);
    }
}

// ---- meshes and heights ----

static MeshEntry *mesh_find(Physics *physics, const SceneNode *geometry, Vec3 scale)
{
    for (int i = 0; i < physics->mesh_count; i++)
        if (physics->meshes[i].geometry == geometry && vec3_is_equal(physics->meshes[i].scale, scale))
            return &physics->meshes[i];
    return NULL;
}

// The same with other sizes, shared by all that have them.
static const Mesh *scaled_mesh(Physics *physics, const Mesh *mesh, Vec3 scale)
{
    if (!mesh || vec3_is_equal(scale, vec3(1, 1, 1)))
        return mesh;
    char key[128];
    snprintf(key, sizeof key, "%016llx times %a %a %a", (unsigned long long)mesh_hash(mesh), scale.x, scale.y, scale.z);
    const Mesh *scaled = store_find_mesh(physics->assets, key);
    return scaled ? scaled : store_keep_mesh(physics->assets, key, mesh_transformed(mesh, scale, POSE_IDENTITY));
}

static MeshEntry *mesh_new(Physics *physics, SceneNode *geometry, Vec3 scale)
{
    memory_grow(&physics->meshes, &physics->mesh_capacity, physics->mesh_count + 1, sizeof(MeshEntry));
    MeshEntry *entry = &physics->meshes[physics->mesh_count++];
    *entry = (MeshEntry){ .geometry = geometry, .scale = scale };
    return entry;
}

static bool heights_are_equal(const MeshEntry *a, const MeshEntry *b)
{
    return b->heights && !memcmp(&a->grid, &b->grid, sizeof a->grid)
           && !memcmp(a->heights, b->heights, sizeof(double) * (size_t)a->grid.count[0] * (size_t)a->grid.count[1]);
}

// What the world that this one is like has made of the same mesh, or of the same heights: nothing in it changes once it
// is made.
static bool mesh_borrow(const Physics *physics, MeshEntry *entry)
{
    for (int i = 0; physics->like && i < physics->like->mesh_count; i++) {
        const MeshEntry *other = &physics->like->meshes[i];
        if (!other->geometry || !other->is_usable || other->mesh != entry->mesh)
            continue;
        if (!entry->mesh && !heights_are_equal(entry, other))
            continue;
        free(entry->heights);
        entry->heights = other->heights;
        entry->convex = other->convex;
        entry->surface = other->surface;
        entry->is_borrowed = entry->is_usable = true;
        return true;
    }
    return false;
}

static MeshEntry *mesh_of(Physics *physics, SceneNode *geometry, Vec3 scale)
{
    MeshEntry *entry = mesh_find(physics, geometry, scale);
    if (entry)
        return entry;
    entry = mesh_new(physics, geometry, scale);
    ShapeSource source = { physics->scene, physics->assets, physics->diags };
    const Mesh *mesh = scaled_mesh(physics, shape_mesh(&source, geometry).mesh, scale);
    if (!mesh || mesh->triangle_count == 0) {
        diag_warning(physics->diags, geometry->pos, "the %s has no triangle with an area; it does not collide",
                     geometry->type->name);
        return entry;
    }
    entry->mesh = mesh;
    entry->vertices = mesh->positions;
    entry->indices = (const int *)mesh->triangles;
    entry->vertex_count = mesh->vertex_count;
    entry->triangle_count = mesh->triangle_count;
    if (mesh_borrow(physics, entry))
        return entry;
    entry->convex = convex_from_mesh(mesh);
    entry->surface = collide_surface_mesh(entry->vertices, entry->vertex_count, entry->indices, entry->triangle_count);
    entry->is_usable = true;
    return entry;
}

static MeshEntry *heights_of(Physics *physics, SceneNode *geometry)
{
    MeshEntry *entry = mesh_find(physics, geometry, vec3(1, 1, 1));
    if (entry)
        return entry;
    entry = mesh_new(physics, geometry, vec3(1, 1, 1));
    int nx = scene_int(geometry, "xDimension"), ny = scene_int(geometry, "yDimension");
    double dx = scene_float(geometry, "xSpacing"), dy = scene_float(geometry, "ySpacing");
    double thickness = scene_float(geometry, "thickness");
    const FieldList *list = scene_list(geometry, "height");
    if (nx < 2 || ny < 2 || (int64_t)nx * ny > physics->limits.heightfield_cells) {
        diag_warning(physics->diags, geometry->pos, "an ElevationGrid of %d by %d heights does not collide", nx, ny);
        return entry;
    }
    if (!(dx > 0.0 && dy > 0.0 && nx * dx <= LIMIT_COORDINATE && ny * dy <= LIMIT_COORDINATE)) {
        diag_error(physics->diags, geometry->pos,
                   "the size of this ElevationGrid is out of range; it does not collide");
        return entry;
    }
    entry->heights = memory_alloc_array((size_t)nx * (size_t)ny, sizeof(double));
    double low = INFINITY, high = -INFINITY;
    // The surface lies in x and z with y up; turning it by a quarter about x makes its z run along our -y.
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            int64_t from = (int64_t)j * nx + i;
            double h = from < list->count ? list->numbers[from] : 0.0;
            if (!(fabs(h) <= LIMIT_COORDINATE)) {
                diag_error(physics->diags, scene_field_pos(geometry, "height"),
                           "a height is out of range; it becomes 0");
                h = 0.0;
            }
            entry->heights[(ptrdiff_t)(ny - 1 - j) * nx + i] = h;
            low = fmin(low, h);
            high = fmax(high, h);
        }
    entry->grid = (MeshHeights){ { nx, ny }, { dx, dy }, thickness > 0.0 ? thickness : 0.0, low, high };
    if (mesh_borrow(physics, entry))
        return entry;
    entry->surface = collide_surface_heights(
        &(CollideHeights){ entry->heights, { nx, ny }, { dx, dy }, entry->grid.thickness });
    entry->is_usable = true;
    return entry;
}

void meshes_destroy(Physics *physics)
{
    for (int i = 0; i < physics->mesh_count; i++) {
        MeshEntry *entry = &physics->meshes[i];
        if (entry->is_borrowed)
            continue;
        convex_destroy(entry->convex);
        collide_surface_destroy(entry->surface);
        free(entry->heights);
    }
    free(physics->meshes);
}

// ---- one geometry ----

// Everything about a geometry that does not depend on where it stands.
typedef struct GeometryForm {
    bool is_known;
    GeometryKind kind;
    Vec3 size;
    MeshEntry *entry;
    const GeometryType *type;
} GeometryForm;

static bool size_is_sound(Physics *physics, SceneNode *geometry, Vec3 size, int numbers)
{
    const double values[3] = { size.x, size.y, size.z };
    for (int i = 0; i < numbers; i++)
        if (!(values[i] >= LIMIT_SIZE_LOW && values[i] <= LIMIT_COORDINATE)) {
            diag_error(physics->diags, geometry->pos,
                       "a size of this %s is not a positive length within range; it does not collide",
                       geometry->type->name);
            return false;
        }
    return true;
}

// Sizes of what has a formula. Radii stay round, so a scale that differs along their axes is not possible.
static void scale_form(Physics *physics, const SceneNode *geometry, GeometryForm *form, Vec3 scale)
{
    Vec3 s = vec3(fabs(scale.x), fabs(scale.y), fabs(scale.z));
    if (vec3_is_equal(s, vec3(1, 1, 1)) || !form->is_known || form->kind == GEOMETRY_MESH
        || form->kind == GEOMETRY_PLANE)
        return;
    bool is_round = fabs(s.x - s.y) <= 1e-9 * s.x, is_even = is_round && fabs(s.x - s.z) <= 1e-9 * s.x;
    if (form->type->traits & GEOMETRY_SCALES_FREELY)
        form->size = vec3_times(form->size, s);
    else if (form->type->traits & GEOMETRY_SCALES_AROUND ? is_round : is_even && form->kind != GEOMETRY_HEIGHTS)
        form->size = vec3(form->size.x * s.x, form->size.y * s.z, 0);
    else
        diag_warning(physics->diags, geometry->pos, "a %s cannot be scaled by %g %g %g; it collides unscaled",
                     geometry->type->name, scale.x, scale.y, scale.z);
}

// A form collides as what it is where it has a formula for its mass (or is the ground), and as its triangles otherwise.
static GeometryForm geometry_form(Physics *physics, SceneNode *geometry, Vec3 scale)
{
    ShapeForm shape = shape_form(geometry);
    GeometryForm form = { .kind = shape.kind, .type = shape.type };
    if (!shape.type || !(shape.type->traits & GEOMETRY_COLLIDES)) {
        diag_warning(physics->diags, geometry->pos, "a %s does not collide", geometry->type->name);
        return form;
    }
    form.is_known = true;
    if (shape.kind == GEOMETRY_HEIGHTS) {
        form.entry = heights_of(physics, geometry);
    } else if (shape.kind != GEOMETRY_PLANE && !shape.type->mass) {
        form.kind = GEOMETRY_MESH;
        form.entry = mesh_of(physics, geometry, scale);
    }
    if (form.entry)
        form.is_known = form.entry->is_usable;
    else if (shape.kind != GEOMETRY_PLANE)
        form.size = shape.size;
    scale_form(physics, geometry, &form, scale);
    if (shape.type->mass && !size_is_sound(physics, geometry, form.size, shape.type->size_count))
        form.is_known = false;
    return form;
}

// A grid of heights lies along x and z about its middle, with y up, as collide_surface.h and ODE want it.
static void set_heights_offset(Physics *physics, const GeometryForm *form, Shape *shape)
{
    assert_debug(form->entry && form->kind == GEOMETRY_HEIGHTS);
    const MeshHeights *grid = &form->entry->grid;
    double width = (grid->count[0] - 1) * grid->spacing[0], depth = (grid->count[1] - 1) * grid->spacing[1];
    if (!shape->ode_offset)
        shape->ode_offset = arena_alloc(physics->arena, sizeof *shape->ode_offset);
    *shape->ode_offset = (Pose){ vec3(0.5 * width, 0.5 * depth, 0.0), quat_from_axis_angle(vec3(1, 0, 0), M_PI / 2) };
}

void shape_update_box(Physics *physics, int shape)
{
    BroadBox box;
    narrow_place(physics, shape, &box);
    broadphase_move(physics->broadphase, shape, &box);
}

static Pose ode_offset(const Shape *shape)
{
    return shape->kind == GEOMETRY_HEIGHTS ? *shape->ode_offset : POSE_IDENTITY;
}

void shape_set_local(Physics *physics, int index, Pose local)
{
    assert(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    pose_store(physics->arena, &shape->local, local);
}

static void set_placed(Physics *physics, int index, Pose pose)
{
    assert_debug(index >= 0 && index < physics->shape_count);
    assert_debug(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    pose.q = quat_normalized(pose.q);
    shape->is_centred = vec3_is_equal(pose.t, VEC3_ZERO) && pose.q.w == 1.0;
    const Pose identity = POSE_IDENTITY;
    if (!shape->placed && memcmp(&pose, &identity, sizeof pose))
        shape->placed = arena_alloc(physics->arena, sizeof *shape->placed);
    if (shape->placed) {
        shape->placed->pose = pose;
        solver_rotation(&pose.q.w, shape->placed->rotation.m);
    }
    mirror_shape_place(physics, index);
}

void shape_place(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    if (shape->home >= 0 || !shape_is_static(shape)) {  // whoever gave it away or took it says where it is
        shape_update_box(physics, index);
        return;
    }
    Pose owner = shape->solid >= 0 ? physics->solid_world[shape->solid] : POSE_IDENTITY;
    set_placed(physics, index, pose_mul(pose_mul(owner, shape_local(shape)), ode_offset(shape)));
    shape_update_box(physics, index);
}

void shape_destroy(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    Shape *shape = &physics->shapes[index];
    if (!shape->is_alive)
        return;
    broadphase_remove(physics->broadphase, index);
    mirror_shape_destroy(physics, index);
    probe_forget(physics, index);
    if (shape->kind == GEOMETRY_BOX)
        convex_destroy(shape->convex);
    shape->convex = NULL;
    shape->is_alive = false;
}

void shape_offset(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    const Shape *shape = &physics->shapes[index];
    set_placed(
        physics, index,
        pose_mul(pose_mul(solid_in_body(&physics->solids[shape->solid]), shape_local(shape)), ode_offset(shape)));
}

void mesh_forget(Physics *physics, const SceneNode *geometry)
{
    for (int i = 0; i < physics->mesh_count; i++)
        if (physics->meshes[i].geometry == geometry)
            physics->meshes[i].geometry = NULL;
}

// Static shapes do not look for each other, unless one notices static ones.
void shape_enter(Physics *physics, int index)
{
    assert(index >= 0 && index < physics->shape_count);
    enum { STATIC = 1u, MOVING = 2u, NOTICING = 4u };  // categories of the broad phase
    const Shape *shape = &physics->shapes[index];
    uint32_t category = STATIC, mask = ~(uint32_t)STATIC;
    if (!shape_is_static(shape))
        category = MOVING, mask = ~0u;
    else if (shape->solid >= 0 && physics->solids[shape->solid].feels_static)
        category = NOTICING, mask = ~0u;
    BroadBox box;
    narrow_place(physics, index, &box);
    broadphase_add(physics->broadphase, index, category, mask, shape->body + 1, &box);
}

typedef struct ShapeOwner {
    int solid, fluid, count;
    int place;  // row that the next one takes; -1: behind all others
} ShapeOwner;

// One shape of a boundingObject: its row, its twin at the rim, its place in the broad phase. Planes and heights stay
// without a body.
static void add_shape(Physics *physics, SceneNode *geometry, Placed placed, void *context)
{
    ShapeOwner *owner = context;
    GeometryForm form = geometry_form(physics, geometry, placed.scale);
    if (!form.is_known)
        return;
    const PhysicsSolid *solid = owner->solid >= 0 ? &physics->solids[owner->solid] : NULL;
    bool is_alone = solid && solid->robot < 0 && solid->parent < 0 && solid->end == owner->solid + 1;
    int body = solid ? solid->body : -1;
    if (body >= 0 && form.type->traits & GEOMETRY_IS_GROUND) {
        diag_error(physics->diags, geometry->pos, "a %s cannot move: it stays where it is, without the Physics of '%s'",
                   geometry->type->name, solid->label);
        diag_hint(physics->diags, "take the Physics node away or use a Mesh or Box");
        body = -1;
    }
    int known = physics->shape_capacity;
    memory_grow(&physics->shapes, &physics->shape_capacity, physics->shape_count + 1, sizeof(Shape));
    memset(physics->shapes + known, 0, (size_t)(physics->shape_capacity - known) * sizeof(Shape));
    int index = owner->place >= 0 ? owner->place++ : physics->shape_count++;
    Shape *shape = &physics->shapes[index];
    const Shape before = *shape;  // rows are used again, and so is what they have in the arena
    assert_debug(!before.is_alive || owner->place < 0);
    *shape = (Shape){ .kind = form.kind,
                      .solid = owner->solid,
                      .fluid = owner->fluid,
                      .body = body,
                      .home = body,
                      .geometry = geometry,
                      .size = form.size,
                      .local = before.local,
                      .placed = before.placed,
                      .twin = before.twin,
                      .ode_offset = before.ode_offset,
                      .is_alive = true,
                      .is_alone = is_alone };
    if (shape->twin)
        shape->twin->on = NULL, shape->twin->data = NULL;  // those of the shape that was here
    shape_set_local(physics, index, placed.pose);
    if (form.kind == GEOMETRY_HEIGHTS)
        set_heights_offset(physics, &form, shape);
    if (form.entry) {
        shape->convex = form.entry->convex;
        shape->surface = form.entry->surface;
    }
    owner->count++;
    mirror_shape_make(physics, index);
    if (body >= 0)
        shape_offset(physics, index);
    shape_enter(physics, index);
    if (body < 0) {
        shape_place(physics, index);
        broadphase_set_resting(physics->broadphase, index, false);
    }
}

static void count_shape(Physics *physics, SceneNode *geometry, Placed placed, void *context)
{
    *(int *)context += geometry_form(physics, geometry, placed.scale).is_known;
}

int shapes_build(Physics *physics, int solid, int fluid, SceneNode *bounding, Pose frame, ShapeRows old)
{
    int count = 0;
    Placed placed = { frame, vec3(1, 1, 1) };
    if (old.count > 0)
        each_geometry(physics, bounding, placed, 0, count_shape, &count);
    ShapeOwner owner = { solid, fluid, 0, count > 0 && count == old.count ? old.first : -1 };
    each_geometry(physics, bounding, placed, 0, add_shape, &owner);
    return owner.count;
}

// ---- masses ----

typedef struct MassWork {
    MassProperties total;
    double density;
    bool is_quiet;
} MassWork;

// Adds the mass of one shape; what has none that can be computed counts as Webots counts it.
static void add_mass(Physics *physics, SceneNode *geometry, Placed placed, void *context)
{
    MassWork *work = context;
    GeometryForm form = geometry_form(physics, geometry, placed.scale);
    MassProperties mass = mass_zero();
    bool is_sound = form.is_known;
    if (form.is_known && form.type->traits & GEOMETRY_IS_GROUND) {
        if (!work->is_quiet)
            diag_warning(physics->diags, geometry->pos, "a %s adds no mass", geometry->type->name);
        return;
    }
    if (form.is_known && form.entry)
        is_sound = mass_mesh(work->density, form.entry->mesh, &mass);
    else if (form.is_known)
        mass = form.type->mass(work->density, form.size);
    if (!is_sound) {
        if (!work->is_quiet)
            diag_warning(physics->diags, geometry->pos,
                         "the mass of this %s cannot be computed (not closed, or a wrong size); "
                         "it counts as 1 kg with unit inertia",
                         geometry->type->name);
        mass = mass_default();
    }
    work->total = mass_sum(work->total, mass_moved(mass, placed.pose));
}

bool shapes_mass(Physics *physics, SceneNode *bounding, double density, bool is_quiet, MassProperties *mass)
{
    MassWork work = { mass_zero(), density, is_quiet };
    each_geometry(physics, bounding, (Placed){ POSE_IDENTITY, vec3(1, 1, 1) }, 0, add_mass, &work);
    *mass = work.total;
    return work.total.mass > 0.0;
}
