// rays.c - the visuals of a world and the tree over them. Embree holds one user geometry whose primitives are the visuals, by
// their boxes in the world; the callback turns the ray into the visual's frame and asks its formula, or the tree of its mesh,
// which is shared by all visuals with that mesh. A moving world so needs new boxes alone.
#include "rays/rays_internal.h"

#include "base/memory.h"
#include "physics/ray.h"

#include <stdlib.h>
#include <string.h>

// ---- meshes ----

typedef struct MeshQuery {
    struct RTCIntersectContext context;  // first: Embree hands this back
    const Mesh *mesh;
    Vec3 direction;
} MeshQuery;

static Vec3 corner(const Mesh *mesh, unsigned triangle, int k)
{
    return mesh_position(mesh, mesh->triangles[3 * (size_t)triangle + (size_t)k]);
}

static Vec3 face_normal(const Mesh *mesh, unsigned triangle)
{
    Vec3 a = corner(mesh, triangle, 0);
    return vec3_cross(vec3_sub(corner(mesh, triangle, 1), a), vec3_sub(corner(mesh, triangle, 2), a));
}

static void keep_front_faces(const struct RTCFilterFunctionNArguments *arguments)
{
    const MeshQuery *query = (const MeshQuery *)arguments->context;
    const struct RTCHit *hit = (const struct RTCHit *)arguments->hit;  // one ray at a time
    if (arguments->valid[0] && vec3_dot(face_normal(query->mesh, hit->primID), query->direction) >= 0.0)
        arguments->valid[0] = 0;
}

static int mesh_tree(Rays *rays, const Mesh *mesh)
{
    for (int i = 0; i < rays->mesh_count; i++)
        if (rays->meshes[i].mesh == mesh)
            return i;
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *points = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), (size_t)mesh->vertex_count);
    unsigned *corners = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(unsigned), (size_t)mesh->triangle_count);
    for (size_t i = 0; points && i < 3 * (size_t)mesh->vertex_count; i++)
        points[i] = (float)mesh->positions[i];
    if (corners)
        memcpy(corners, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *corners);
    rtcSetGeometryIntersectFilterFunction(geometry, keep_front_faces);
    rtcCommitGeometry(geometry);
    RTCScene scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    memory_grow(&rays->meshes, &rays->mesh_capacity, rays->mesh_count + 1, sizeof *rays->meshes);
    rays->meshes[rays->mesh_count] = (MeshTree){ mesh, scene };
    return rays->mesh_count++;
}

// ---- the list ----

Affine affine_mul(Affine a, Affine b)
{
    return (Affine){ mat3_mul(a.m, b.m), vec3_add(mat3_apply(a.m, b.t), a.t) };
}

Affine affine_of_pose(Pose pose)
{
    return (Affine){ mat3_from_quat(pose.q), pose.t };
}

static Affine affine_of_node(const SceneNode *node)
{
    Affine own = affine_of_pose(scene_pose(node));
    if (scene_node_is(node, "Transform")) {
        Vec3 scale = scene_vec3(node, "scale");
        own.m = mat3_mul(own.m, (Mat3){ { scale.x, 0, 0, 0, scale.y, 0, 0, 0, scale.z } });
    }
    return own;
}

static void list_shape(Rays *rays, SceneNode *node, int solid, Affine local)
{
    ShapeSource source = { physics_scene(rays->physics), physics_assets(rays->physics), rays->diags };
    Visual visual = { .node = node, .solid = solid, .mesh = -1, .local = local };
    bool is_shape = scene_node_is(node, "Shape");
    const SceneNode *geometry = is_shape ? scene_child(node, "geometry") : node;
    if (!geometry)
        return;
    visual.form = form_of(geometry);
    if (visual.form.shape.kind == SHAPE_NONE) {
        ShapeForm shape = shape_form(geometry);
        if (shape.kind != SHAPE_MESH && shape.kind != SHAPE_GRID)
            return;
        const Mesh *mesh = shape_mesh(&source, geometry).mesh;
        if (!mesh || mesh->triangle_count == 0)
            return;
        visual.mesh = mesh_tree(rays, mesh);
        visual.form.low = mesh->low;
        visual.form.high = mesh->high;
    }
    visual.look = look_of(&source, node);
    memory_grow(&rays->visuals, &rays->visual_capacity, rays->visual_count + 1, sizeof visual);
    rays->visuals[rays->visual_count++] = visual;
}

static void list_below(Rays *rays, const SceneNode *node, int solid, Affine local, int depth);

static void list_node(Rays *rays, SceneNode *node, int solid, Affine local, int depth)
{
    enum { MOST_DEPTH = 512 };
    if (!node || !node->type || depth > MOST_DEPTH)
        return;
    if (scene_node_is(node, "Shape") || scene_node_is(node, "CadShape")) {
        list_shape(rays, node, solid, local);
        return;
    }
    lighting_add(rays, node, solid, local);
    if (scene_node_is(node, "Solid")) {
        int own = physics_solid_of(rays->physics, node);
        if (own >= 0) {
            solid = own;
            local = (Affine){ MAT3_IDENTITY, VEC3_ZERO };
        }
    } else if (scene_node_is(node, "Pose")) {
        local = affine_mul(local, affine_of_node(node));
    }
    list_below(rays, node, solid, local, depth + 1);
}

static void list_below(Rays *rays, const SceneNode *node, int solid, Affine local, int depth)
{
    if (schema_field(node->type, "children")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            list_node(rays, scene_list_node(children, i), solid, local, depth);
    }
    if (schema_field(node->type, "endPoint"))
        list_node(rays, scene_child(node, "endPoint"), solid, local, depth);
}

// ---- where they are ----

static bool place(Rays *rays, Visual *visual, bool is_forced)
{
    Pose pose = visual->solid >= 0 ? physics_solid_pose(rays->physics, visual->solid) : POSE_IDENTITY;
    if (!is_forced && !memcmp(&pose, &visual->pose, sizeof pose))
        return false;
    visual->pose = pose;
    visual->world = affine_mul(affine_of_pose(pose), visual->local);
    const double *m = visual->world.m.m;
    Vec3 middle = vec3_scale(vec3_add(visual->form.low, visual->form.high), 0.5), half = vec3_scale(vec3_sub(visual->form.high, visual->form.low), 0.5);
    Vec3 centre = vec3_add(mat3_apply(visual->world.m, middle), visual->world.t);
    const double c[3] = { centre.x, centre.y, centre.z };
    bool is_seen = mat3_inverse(visual->world.m, &visual->inverse) && vec3_is_finite(centre);
    for (int i = 0; i < 3; i++) {
        double reach = fabs(m[3 * i]) * half.x + fabs(m[3 * i + 1]) * half.y + fabs(m[3 * i + 2]) * half.z;
        // What rounding to single precision takes away is added again.
        double slack = 1e-6 * (fabs(c[i]) + reach) + 1e-9;
        visual->low[i] = is_seen ? (float)(c[i] - reach - slack) : INFINITY;   // an empty box is never met
        visual->high[i] = is_seen ? (float)(c[i] + reach + slack) : -INFINITY;
    }
    return true;
}

static void give_bounds(const struct RTCBoundsFunctionArguments *arguments)
{
    const Rays *rays = arguments->geometryUserPtr;
    const Visual *visual = &rays->visuals[arguments->primID];
    arguments->bounds_o->lower_x = visual->low[0];
    arguments->bounds_o->lower_y = visual->low[1];
    arguments->bounds_o->lower_z = visual->low[2];
    arguments->bounds_o->upper_x = visual->high[0];
    arguments->bounds_o->upper_y = visual->high[1];
    arguments->bounds_o->upper_z = visual->high[2];
}

static void list_all(Rays *rays)
{
    rays->visual_count = 0;
    lighting_clear(rays);
    list_below(rays, scene_root(physics_scene(rays->physics)), -1, (Affine){ MAT3_IDENTITY, VEC3_ZERO }, 0);
    rtcSetGeometryUserPrimitiveCount(rays->geometry, (unsigned)rays->visual_count);
    rays->edits = physics_edit_count(rays->physics);
    rays->is_listed = true;
}

void rays_update(Rays *rays)
{
    bool is_new = !rays->is_listed || rays->edits != physics_edit_count(rays->physics), is_moved = is_new;
    if (is_new)
        list_all(rays);
    for (int i = 0; i < rays->visual_count; i++)
        is_moved |= place(rays, &rays->visuals[i], is_new);
    lighting_place(rays);
    if (!is_moved)
        return;
    rtcCommitGeometry(rays->geometry);
    rtcCommitScene(rays->scene);
}

void rays_rebind(Rays *rays, Physics *physics)
{
    rays->physics = physics;
    rays->is_listed = false;
}

// ---- casting ----

typedef struct Query {
    struct RTCIntersectContext context;  // first: Embree hands this back
    const Rays *rays;
    const Ray *ray;
    RaysFilter filter;
    void *filter_context;
    RayHit *hit;
} Query;

static bool hit_mesh(const Rays *rays, const Visual *visual, Vec3 origin, Vec3 direction, const Query *query, FormHit *hit, int *triangle)
{
    const MeshTree *tree = &rays->meshes[visual->mesh];
    MeshQuery inner = { .mesh = tree->mesh, .direction = direction };
    rtcInitIntersectContext(&inner.context);
    struct RTCRayHit found = {
        .ray = { .org_x = (float)origin.x, .org_y = (float)origin.y, .org_z = (float)origin.z, .tnear = (float)query->ray->near,
                 .dir_x = (float)direction.x, .dir_y = (float)direction.y, .dir_z = (float)direction.z, .tfar = INFINITY, .mask = ~0u },
        .hit = { .geomID = RTC_INVALID_GEOMETRY_ID, .primID = RTC_INVALID_GEOMETRY_ID },
    };
    rtcIntersect1(tree->scene, &inner.context, &found);
    if (found.hit.geomID == RTC_INVALID_GEOMETRY_ID)
        return false;
    *triangle = (int)found.hit.primID;
    hit->normal = face_normal(tree->mesh, found.hit.primID);
    double along = vec3_dot(hit->normal, direction);
    hit->distance = along != 0.0 ? vec3_dot(hit->normal, vec3_sub(corner(tree->mesh, found.hit.primID, 0), origin)) / along : (double)found.ray.tfar;
    hit->u = hit->v = 0.0;
    hit->smooth = hit->normal;
    const float *uv = tree->mesh->texcoords ? tree->mesh->texcoords + 6 * (size_t)found.hit.primID : NULL;
    double b = (double)found.hit.u, c = (double)found.hit.v, a = 1.0 - b - c;
    if (uv) {
        hit->u = a * (double)uv[0] + b * (double)uv[2] + c * (double)uv[4];
        hit->v = a * (double)uv[1] + b * (double)uv[3] + c * (double)uv[5];
    }
    const float *n = tree->mesh->normals ? tree->mesh->normals + 9 * (size_t)found.hit.primID : NULL;
    if (n)
        hit->smooth = vec3(a * (double)n[0] + b * (double)n[3] + c * (double)n[6], a * (double)n[1] + b * (double)n[4] + c * (double)n[7],
                           a * (double)n[2] + b * (double)n[5] + c * (double)n[8]);
    return true;
}

static void meet_visual(const struct RTCIntersectFunctionNArguments *arguments)
{
    const Query *query = (const Query *)arguments->context;
    const Rays *rays = query->rays;
    int index = (int)arguments->primID, triangle = -1;
    if (!arguments->valid[0] || (query->filter && !query->filter(rays, index, query->filter_context)))
        return;
    const Visual *visual = &rays->visuals[index];
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(query->ray->origin, visual->world.t));
    Vec3 direction = mat3_apply(visual->inverse, query->ray->direction);
    FormHit found;
    bool is_hit = visual->mesh >= 0 ? hit_mesh(rays, visual, origin, direction, query, &found, &triangle)
                                    : form_hit(&visual->form, origin, direction, query->ray->near, &found);
    RayHit *best = query->hit;
    if (!is_hit || !(found.distance <= query->ray->far))
        return;
    if (best->visual >= 0 && (found.distance > best->distance || (found.distance == best->distance && index > best->visual)))
        return;
    // Normals go by the transposed inverse.
    Mat3 turn = mat3_transposed(visual->inverse);
    Vec3 normal = vec3_normalized(mat3_apply(turn, found.normal));
    Vec3 smooth = visual->mesh >= 0 ? vec3_normalized(mat3_apply(turn, found.smooth)) : normal;
    *best = (RayHit){ index, visual->solid, found.distance, normal, smooth, found.u, found.v, triangle };
    struct RTCRayHit *out = (struct RTCRayHit *)arguments->rayhit;  // one ray at a time
    out->ray.tfar = (float)(found.distance * (1.0 + 1e-6)) + 1e-9f;  // a little beyond, for ties
    out->hit.geomID = 0;
    out->hit.primID = arguments->primID;
}

void rays_cast(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, RayHit *hits)
{
    for (int i = 0; i < count; i++) {
        const Ray *ray = &queries[i];
        hits[i] = (RayHit){ .visual = -1, .solid = -1, .triangle = -1 };
        if (!vec3_is_finite(ray->origin) || !vec3_is_finite(ray->direction) || !(ray->far > ray->near) || vec3_length2(ray->direction) == 0.0)
            continue;
        Query query = { .rays = rays, .ray = ray, .filter = filter, .filter_context = context, .hit = &hits[i] };
        rtcInitIntersectContext(&query.context);
        struct RTCRayHit found = {
            .ray = { .org_x = (float)ray->origin.x, .org_y = (float)ray->origin.y, .org_z = (float)ray->origin.z, .tnear = 0.0f,
                     .dir_x = (float)ray->direction.x, .dir_y = (float)ray->direction.y, .dir_z = (float)ray->direction.z,
                     .tfar = (float)(ray->far * (1.0 + 1e-6)), .mask = ~0u },
            .hit = { .geomID = RTC_INVALID_GEOMETRY_ID, .primID = RTC_INVALID_GEOMETRY_ID },
        };
        rtcIntersect1(rays->scene, &query.context, &found);
    }
}

int rays_visual_count(const Rays *rays)
{
    return rays->visual_count;
}

SceneNode *rays_visual_node(const Rays *rays, int visual)
{
    return rays->visuals[visual].node;
}

int rays_visual_solid(const Rays *rays, int visual)
{
    return rays->visuals[visual].solid;
}

RayLook rays_look(const Rays *rays, const RayHit *hit)
{
    const Visual *visual = &rays->visuals[hit->visual];
    return look_at(&visual->look, visual->mesh >= 0 ? rays->meshes[visual->mesh].mesh : NULL, hit->triangle, hit->u, hit->v);
}

const char *rays_library(void)
{
    return "Embree " RTC_VERSION_STRING;
}

// ---- life ----

Rays *rays_create(Physics *physics, DiagSink *diags)
{
    Rays *rays = memory_alloc(sizeof *rays);
    rays->physics = physics;
    rays->diags = diags;
    // One thread: a world is stepped by the thread that owns it, and many worlds may live in one process.
    rays->device = rtcNewDevice("threads=1,user_threads=1");
    rays->scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(rays->scene, RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(rays->scene, RTC_BUILD_QUALITY_LOW);
    rays->geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserData(rays->geometry, rays);
    rtcSetGeometryBoundsFunction(rays->geometry, give_bounds, NULL);
    rtcSetGeometryIntersectFunction(rays->geometry, meet_visual);
    rtcSetGeometryBuildQuality(rays->geometry, RTC_BUILD_QUALITY_LOW);
    rtcAttachGeometryByID(rays->scene, rays->geometry, 0);
    return rays;
}

void rays_destroy(Rays *rays)
{
    if (!rays)
        return;
    for (int i = 0; i < rays->mesh_count; i++)
        rtcReleaseScene(rays->meshes[i].scene);
    rtcReleaseGeometry(rays->geometry);
    rtcReleaseScene(rays->scene);
    rtcReleaseDevice(rays->device);
    free(rays->meshes);
    free(rays->visuals);
    lighting_free(rays);
    free(rays);
}
