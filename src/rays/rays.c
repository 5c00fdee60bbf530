// rays.c - the visuals of a world and the tree over them. Embree holds the meshes as instances of trees that are shared
// by all visuals with that mesh, and one user geometry whose primitives are the forms with a formula, by their boxes in
// the world. A moving world so needs new boxes alone. Rays travel in packets of eight.
#include "rays/shadows.h"

#include "base/cpu.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { PACKET = LANES, MOST_BACKS = 256 };
enum { MASK_SEEN = 1, MASK_SHADOW = 2 };

// ---- meshes ----

static Vec3 corner(const Mesh *mesh, unsigned triangle, int k)
{
    return mesh_position(mesh, mesh->triangles[3 * (size_t)triangle + (size_t)k]);
}

static Vec3 face_normal(const Mesh *mesh, unsigned triangle)
{
    Vec3 a = corner(mesh, triangle, 0);
    return vec3_cross(vec3_sub(corner(mesh, triangle, 1), a), vec3_sub(corner(mesh, triangle, 2), a));
}

static void set_triangle_normals(const Mesh *mesh, float *normals)
{
    for (int i = 0; i < mesh->triangle_count; i++) {
        Vec3 normal = face_normal(mesh, (unsigned)i);
        normals[3 * i] = (float)normal.x, normals[3 * i + 1] = (float)normal.y, normals[3 * i + 2] = (float)normal.z;
    }
}

static float *triangle_normals(const Mesh *mesh)
{
    float *normals = memory_alloc_array(3 * (size_t)mesh->triangle_count, sizeof *normals);
    set_triangle_normals(mesh, normals);
    return normals;
}

static void copy_points(const Mesh *mesh, float *points)
{
    for (size_t i = 0; points && i < 3 * (size_t)mesh->vertex_count; i++)
        points[i] = (float)mesh->positions[i];
}

static int new_tree(Rays *rays, const Mesh *mesh, bool is_changing)
{
    RTCGeometry geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float *points = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float),
                                            (size_t)mesh->vertex_count);
    unsigned *corners = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                3 * sizeof(unsigned), (size_t)mesh->triangle_count);
    copy_points(mesh, points);
    if (corners)
        memcpy(corners, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *corners);
    rtcSetGeometryMask(geometry, MASK_SEEN | MASK_SHADOW);
    RTCScene scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST | (is_changing ? RTC_SCENE_FLAG_DYNAMIC : RTC_SCENE_FLAG_NONE));
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    if (!is_changing)
        rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
    memory_grow(&rays->meshes, &rays->mesh_capacity, rays->mesh_count + 1, sizeof *rays->meshes);
    rays->meshes[rays->mesh_count] = (MeshTree){ .mesh = mesh,
                                                 .scene = scene,
                                                 .geometry = is_changing ? geometry : NULL,
                                                 .normals = triangle_normals(mesh),
                                                 .radius = form_radius(NULL, mesh) };
    return rays->mesh_count++;
}

static int mesh_tree(Rays *rays, const Mesh *mesh)
{
    for (int i = 0; i < rays->mesh_count; i++)
        if (rays->meshes[i].mesh == mesh)
            return i;
    return new_tree(rays, mesh, false);
}

int rays_tree_that_changes(Rays *rays, const Mesh *mesh) { return new_tree(rays, mesh, true); }

void rays_tree_changed(Rays *rays, int index)
{
    MeshTree *tree = &rays->meshes[index];
    assert(tree->geometry);
    copy_points(tree->mesh, rtcGetGeometryBufferData(tree->geometry, RTC_BUFFER_TYPE_VERTEX, 0));
    rtcUpdateGeometryBuffer(tree->geometry, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcCommitGeometry(tree->geometry);
    rtcCommitScene(tree->scene);
    set_triangle_normals(tree->mesh, tree->normals);
    tree->radius = form_radius(NULL, tree->mesh);
    tree->version++;
}

const Mip *rays_mip(Rays *rays, const Image *image)
{
    for (int i = 0; i < rays->mip_count; i++)
        if (rays->mips[i]->image == image)
            return rays->mips[i];
    memory_grow(&rays->mips, &rays->mip_capacity, rays->mip_count + 1, sizeof *rays->mips);
    return rays->mips[rays->mip_count++] = mip_create(image);
}

void mesh_texture_place(const Mesh *mesh, int triangle, double b, double c, double *u, double *v)
{
    double a = 1.0 - b - c;
    const float *uv = mesh->texcoords ? mesh->texcoords + 6 * (size_t)triangle : NULL;
    if (uv) {
        *u = a * (double)uv[0] + b * (double)uv[2] + c * (double)uv[4];
        *v = a * (double)uv[1] + b * (double)uv[3] + c * (double)uv[5];
        return;
    }
    unsigned t = (unsigned)triangle;
    Vec3 p = vec3_mad(vec3_mad(vec3_scale(corner(mesh, t, 0), a), corner(mesh, t, 1), b), corner(mesh, t, 2), c);
    mesh_default_texcoord(mesh, p, u, v);
}

// ---- the list ----

Affine affine_mul(Affine a, Affine b) { return (Affine){ mat3_mul(a.m, b.m), vec3_add(mat3_apply(a.m, b.t), a.t) }; }

Affine affine_of_pose(Pose pose) { return (Affine){ mat3_from_quat(pose.q), pose.t }; }

static Affine affine_of_node(const SceneNode *node)
{
    Affine own = affine_of_pose(scene_pose(node));
    if (scene_node_is(node, "Transform")) {
        Vec3 scale = scene_vec3(node, "scale");
        own.m = mat3_mul(own.m, (Mat3){ { scale.x, 0, 0, 0, scale.y, 0, 0, 0, scale.z } });
    }
    return own;
}

// Where in the tree the walk is.
typedef struct Walk {
    ShapeSource source;
    int solid;
    Affine local;
    uint64_t hidden;
    Vec3 recognition;
    int depth;
    Visual moving;  // what of it says how it is driven
} Walk;

static const RaysPaint *paint_of(const Rays *rays, const SceneNode *shape)
{
    for (int i = 0; i < rays->paint_count; i++)
        if (rays->paints[i].node == shape)
            return rays->paints[i].paint;
    return NULL;
}

static void light_lamp(Visual *visual, Vec3 color)
{
    visual->look.emissive = visual->look.is_physical ? color : color_linear(color);
}

static void apply_lamps(Rays *rays, Visual *visual)
{
    for (int i = 0; visual->look.emissive_node && i < rays->lamp_count; i++)
        if (rays->lamps[i].node == visual->look.emissive_node)
            light_lamp(visual, rays->lamps[i].color);
}

static void add_visual(Rays *rays, const Visual *visual)
{
    if (visual->look.is_physical && !rays->brdf) {
        rays->brdf = memory_alloc_array(BRDF_SIDE, sizeof *rays->brdf);
        brdf_fill(rays->brdf);
    }
    memory_grow(&rays->visuals, &rays->visual_capacity, rays->visual_count + 1, sizeof *visual);
    rays->visuals[rays->visual_count++] = *visual;
}

static void list_strokes(Rays *rays, const ShapeSource *source, const SceneNode *geometry, Visual visual)
{
    Strokes strokes;
    visual.look = look_of(rays, source, visual.node);
    apply_lamps(rays, &visual);
    if (!strokes_read(geometry, &visual.look, &strokes))
        return;
    memory_grow(&rays->strokes, &rays->stroke_set_capacity, rays->stroke_set_count + 1, sizeof strokes);
    rays->strokes[rays->stroke_set_count++] = strokes;
    double margin = strokes_margin(&strokes);
    visual.look = (Look){ .emissive_intensity = 1.0, .transparency = visual.look.transparency };
    for (int first = 0; first < strokes.count; first += visual.form.stroke_count) {
        visual.form = strokes_form(&strokes, first, margin);
        add_visual(rays, &visual);
    }
}

static void drop_strokes(Rays *rays)
{
    for (int i = 0; i < rays->stroke_set_count; i++)
        free(rays->strokes[i].items);
    rays->stroke_set_count = 0;
}

// The image on a shape of a Track moves with the belt.
static void read_slide(Visual *visual)
{
    const SceneNode *track = scene_parent(visual->node);
    if (!track || !scene_node_is(track, "Track") || visual->drive || !visual->look.is_textured)
        return;
    visual->slide = scene_vec2(track, "textureAnimation");
    if (visual->slide.x == 0.0 && visual->slide.y == 0.0)
        return;
    visual->drive = track;
    if (!visual->look.has_transform)
        visual->look.scale = (Vec2){ 1.0, 1.0 };
    visual->look.has_transform = true;
    visual->slide_from = visual->look.translation;
}

static void list_shape(Rays *rays, SceneNode *node, const Walk *walk)
{
    Visual visual = walk->moving;
    visual.node = node, visual.solid = walk->solid, visual.mesh = -1, visual.local = walk->local;
    visual.hidden = walk->hidden, visual.recognition = walk->recognition;
    if (visual.pieces > 0) {
        Affine frame;
        visual.in_piece = walk->local;
        if (!belt_frame(visual.drive, visual.piece, visual.pieces, 0.0, &frame))
            return;
        visual.local = affine_mul(affine_mul(visual.belt, frame), visual.in_piece);
    }
    bool is_shape = scene_node_is(node, "Shape");
    const SceneNode *geometry = is_shape ? scene_child(node, "geometry") : node;
    if (!geometry || !(vec3_length(walk->local.t) <= LIMIT_COORDINATE))
        return;  // nothing to see, or nowhere
    visual.form = form_of(geometry);
    if (visual.form.shape.kind == GEOMETRY_NONE) {
        ShapeForm shape = shape_form(geometry);
        if (shape.kind == GEOMETRY_DRAWN)
            list_strokes(rays, &walk->source, geometry, visual);
        if (shape.kind != GEOMETRY_MESH && shape.kind != GEOMETRY_HEIGHTS)
            return;
        const Mesh *mesh = shape_mesh(&walk->source, geometry).mesh;
        if (!mesh || mesh->triangle_count == 0)
            return;
        visual.mesh = mesh_tree(rays, mesh);
        visual.form.shape.kind = GEOMETRY_MESH;
        visual.form.low = mesh->low;
        visual.form.high = mesh->high;
    }
    visual.look = look_of(rays, &walk->source, node);
    read_slide(&visual);
    visual.casts_shadow = scene_bool(node, "castShadows") && !visual.is_overlay;
    visual.paint = paint_of(rays, node);
    apply_lamps(rays, &visual);
    add_visual(rays, &visual);
}

static void list_below(Rays *rays, const SceneNode *node, const Walk *walk);

static uint64_t veils_of(const Rays *rays, const SceneNode *node)
{
    uint64_t eyes = 0;
    for (int i = 0; i < rays->veil_count; i++)
        if (rays->veils[i].node == node)
            eyes |= rays->veils[i].eyes;
    return eyes;
}

static void enter_solid(const Rays *rays, const SceneNode *node, Walk *walk)
{
    int own = physics_solid_of(rays->physics, node);
    const FieldList *colors = scene_list(node, "recognitionColors");
    if (colors->count > 0)
        walk->recognition = vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]);
    if (own < 0)
        return;
    walk->solid = own;
    walk->local = (Affine){ MAT3_IDENTITY, VEC3_ZERO };
}

static void list_node(Rays *rays, SceneNode *node, Walk walk);

// One piece after the other along the belt.
static void list_belt(Rays *rays, const SceneNode *track, Walk walk)
{
    enum { PIECES_MAX = 10000 };
    SceneNode *piece = scene_child(track, "animatedGeometry");
    walk.moving.drive = track;
    walk.moving.belt = walk.local;
    walk.moving.pieces = int_min(scene_int(track, "geometriesCount"), PIECES_MAX);
    walk.local = (Affine){ MAT3_IDENTITY, VEC3_ZERO };
    for (int i = 0; piece && i < walk.moving.pieces; i++) {
        walk.moving.piece = i;
        list_node(rays, piece, walk);
    }
}

static void list_helices(Rays *rays, const SceneNode *propeller, Walk walk)
{
    SceneNode *fast = scene_child(propeller, "fastHelix"), *slow = scene_child(propeller, "slowHelix");
    walk.moving.drive = propeller;
    walk.moving.is_alone = !fast || !slow;
    list_node(rays, slow, walk);
    walk.moving.is_fast = true;
    walk.moving.is_off = !walk.moving.is_alone;
    list_node(rays, fast, walk);
}

static void list_skin_part(Rays *rays, SceneNode *node, const Walk *walk, const Mesh *mesh, const SceneNode *appearance)
{
    Vec3 scale = scene_vec3(node, "scale");
    Affine own = affine_of_pose(
        (Pose){ scene_vec3(node, "translation"), quat_from_rotation(scene_rotation(node, "rotation")) });
    own.m = mat3_mul(own.m, (Mat3){ { scale.x, 0, 0, 0, scale.y, 0, 0, 0, scale.z } });
    Affine local = affine_mul(walk->local, own);
    int tree = mesh->bone_count > 0 ? skin_tree(rays, node, mesh, walk->solid, local) : mesh_tree(rays, mesh);
    mesh = rays->meshes[tree].mesh;
    Visual visual = { .node = node,
                      .solid = walk->solid,
                      .mesh = tree,
                      .local = local,
                      .hidden = walk->hidden,
                      .recognition = walk->recognition,
                      .form = { .shape = { .kind = GEOMETRY_MESH }, .low = mesh->low, .high = mesh->high } };
    visual.look = look_of_skin(rays, &walk->source, appearance);
    visual.casts_shadow = scene_bool(node, "castShadows");
    add_visual(rays, &visual);
}

// The one that has the material's name, else the first; NULL: there is none.
static const SceneNode *skin_appearance(const SceneNode *skin, const char *material)
{
    const FieldList *all = scene_list(skin, "appearance");
    for (int i = 0; i < all->count; i++) {
        const SceneNode *appearance = scene_list_node(all, i);
        if (appearance && appearance->type && !strcmp(scene_string(appearance, "name"), material))
            return appearance;
    }
    return all->count > 0 ? scene_list_node(all, 0) : NULL;
}

static bool uses_material(const Mesh *mesh, int material)
{
    for (int i = 0; i < mesh->part_count; i++)
        if (mesh->parts[i].material == material)
            return true;
    return false;
}

// A mesh with appearances of its own, one for each material, which bones may bend.
static void list_skin(Rays *rays, SceneNode *node, const Walk *walk)
{
    const char *url = scene_string(node, "modelUrl"), *from = shape_naming_file(&walk->source, node, "modelUrl");
    SourcePos pos = scene_field_pos(node, "modelUrl");
    const Mesh *whole = *url ? shape_file_mesh(&walk->source, url, from, NULL, pos) : NULL;
    if (!whole || whole->triangle_count == 0)
        return;
    bool is_one = scene_list(node, "appearance")->count < 2 || whole->material_count < 2;
    if (is_one || uses_material(whole, -1)) {
        list_skin_part(rays, node, walk, whole, skin_appearance(node, ""));
        return;
    }
    for (int i = 0; i < whole->material_count; i++) {
        StoreMeshQuery query = { .material = i, .keep_axes = true, .flat = true };
        const Mesh *part = uses_material(whole, i)
                               ? store_mesh(walk->source.assets, url, from, &query, rays->diags, pos)
                               : NULL;
        if (part)
            list_skin_part(rays, node, walk, part, skin_appearance(node, whole->materials[i].name));
    }
}

static void list_node(Rays *rays, SceneNode *node, Walk walk)
{
    enum { MOST_DEPTH = 512 };
    if (!node || !node->type || ++walk.depth > MOST_DEPTH)
        return;
    walk.hidden |= veils_of(rays, node);
    if (scene_node_is(node, "Shape") || scene_node_is(node, "CadShape")) {
        list_shape(rays, node, &walk);
        return;
    }
    lighting_add(rays, &walk.source, node, walk.solid, walk.local);
    if (scene_node_is(node, "Skin")) {
        list_skin(rays, node, &walk);
        return;
    }
    if (scene_node_is(node, "Billboard")) {
        walk.moving.is_overlay = true;
        walk.hidden |= ~(uint64_t)1;
        walk.solid = -1;
        walk.local = (Affine){ MAT3_IDENTITY, VEC3_ZERO };
        rays->veiled |= walk.hidden;
    }
    if (scene_node_is(node, "TrackWheel")) {
        Vec2 place = scene_vec2(node, "position");
        walk.local = affine_mul(walk.local, (Affine){ MAT3_IDENTITY, vec3(place.x, 0, place.y) });
    }
    if (scene_node_is(node, "Solid"))
        enter_solid(rays, node, &walk);
    else if (scene_node_is(node, "Pose"))
        walk.local = affine_mul(walk.local, affine_of_node(node));
    list_below(rays, node, &walk);
    if (scene_node_is(node, "Track"))
        list_belt(rays, node, walk);
    else if (scene_node_is(node, "Propeller"))
        list_helices(rays, node, walk);
}

static void list_below(Rays *rays, const SceneNode *node, const Walk *walk)
{
    if (schema_field(node->type, "children")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            list_node(rays, scene_list_node(children, i), *walk);
    }
    if (schema_field(node->type, "endPoint"))
        list_node(rays, scene_child(node, "endPoint"), *walk);
}

// ---- instances ----

static void drop_instances(Rays *rays)
{
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        if (!visual->instance)
            continue;
        rtcDetachGeometry(rays->scene, (unsigned)i + 1);
        rtcReleaseGeometry(visual->instance);
        visual->instance = NULL;
    }
}

static void make_instances(Rays *rays)
{
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        if (visual->mesh < 0)
            continue;
        visual->instance = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_INSTANCE);
        rtcSetGeometryInstancedScene(visual->instance, rays->meshes[visual->mesh].scene);
        rtcSetGeometryMask(visual->instance, MASK_SEEN | (visual->casts_shadow ? MASK_SHADOW : 0));
        rtcAttachGeometryByID(rays->scene, visual->instance, (unsigned)i + 1);
    }
}

// ---- where they are ----

static void place_instance(const Visual *visual, bool is_seen)
{
    const double *m = visual->world.m.m;
    const float columns[12] = { (float)m[0],
                                (float)m[3],
                                (float)m[6],
                                (float)m[1],
                                (float)m[4],
                                (float)m[7],
                                (float)m[2],
                                (float)m[5],
                                (float)m[8],
                                (float)visual->world.t.x,
                                (float)visual->world.t.y,
                                (float)visual->world.t.z };
    if (!is_seen) {
        rtcDisableGeometry(visual->instance);
        return;
    }
    rtcEnableGeometry(visual->instance);
    rtcSetGeometryTransform(visual->instance, 0, RTC_FORMAT_FLOAT3X4_COLUMN_MAJOR, columns);
    rtcCommitGeometry(visual->instance);
}

static bool place(Visual *visual, Pose pose, bool is_forced)
{
    if (!is_forced && !visual->is_stale && !memcmp(&pose, &visual->pose, sizeof pose))
        return false;
    visual->is_stale = false;
    visual->pose = pose;
    visual->world = affine_mul(affine_of_pose(pose), visual->local);
    const double *m = visual->world.m.m;
    Vec3 middle = vec3_scale(vec3_add(visual->form.low, visual->form.high), 0.5),
         half = vec3_scale(vec3_sub(visual->form.high, visual->form.low), 0.5);
    Vec3 centre = vec3_add(mat3_apply(visual->world.m, middle), visual->world.t);
    const double c[3] = { centre.x, centre.y, centre.z };
    bool is_seen = mat3_inverse(visual->world.m, &visual->inverse) && vec3_is_finite(centre) && !visual->is_off;
    for (int i = 0; i < 3; i++) {
        double reach = fabs(m[3 * i]) * half.x + fabs(m[3 * i + 1]) * half.y + fabs(m[3 * i + 2]) * half.z;
        // What rounding to single precision takes away is added again.
        double slack = 1e-6 * (fabs(c[i]) + reach) + 1e-9;
        visual->low[i] = is_seen ? (float)(c[i] - reach - slack) : INFINITY;  // an empty box is never met
        visual->high[i] = is_seen ? (float)(c[i] + reach + slack) : -INFINITY;
    }
    for (int i = 0; i < 9; i++)
        visual->inverse_float[i] = is_seen ? (float)visual->inverse.m[i] : 0.0f;
    if (visual->instance)
        place_instance(visual, is_seen);
    return true;
}

static void give_bounds(const struct RTCBoundsFunctionArguments *arguments)
{
    const Rays *rays = arguments->geometryUserPtr;
    const Visual *visual = &rays->visuals[arguments->primID];
    bool is_form = visual->mesh < 0;
    struct RTCBounds *out = arguments->bounds_o;
    out->lower_x = is_form ? visual->low[0] : INFINITY;
    out->lower_y = is_form ? visual->low[1] : INFINITY;
    out->lower_z = is_form ? visual->low[2] : INFINITY;
    out->upper_x = is_form ? visual->high[0] : -INFINITY;
    out->upper_y = is_form ? visual->high[1] : -INFINITY;
    out->upper_z = is_form ? visual->high[2] : -INFINITY;
}

static void sum_veils(Rays *rays)
{
    rays->veiled = 0;
    for (int i = 0; i < rays->veil_count; i++)
        rays->veiled |= rays->veils[i].eyes;
}

void rays_keep_nodes(const Rays *rays, Scene *scene)
{
    for (int i = 0; i < rays->visual_count; i++) {
        scene_keep(scene, rays->visuals[i].node);
        scene_keep(scene, rays->visuals[i].look.emissive_node);
        scene_keep(scene, rays->visuals[i].drive);
    }
    for (int i = 0; i < rays->lighting.count; i++)
        scene_keep(scene, rays->lighting.lights[i].node);
    for (int i = 0; i < rays->lamp_count; i++)
        scene_keep(scene, rays->lamps[i].node);
    for (int i = 0; i < rays->cover_count; i++)
        scene_keep(scene, rays->covers[i].node);
    for (int i = 0; i < rays->paint_count; i++)
        scene_keep(scene, rays->paints[i].node);
    for (int i = 0; i < rays->veil_count; i++)
        scene_keep(scene, rays->veils[i].node);
}

// What devices showed on nodes that are lost.
static void drop_lost(Rays *rays)
{
    const Scene *scene = physics_scene(rays->physics);
    int lamps = 0, covers = 0, paints = 0, veils = 0;
    for (int i = 0; i < rays->lamp_count; i++)
        if (!scene_node_is_lost(scene, rays->lamps[i].node))
            rays->lamps[lamps++] = rays->lamps[i];
    for (int i = 0; i < rays->cover_count; i++)
        if (!scene_node_is_lost(scene, rays->covers[i].node))
            rays->covers[covers++] = rays->covers[i];
    for (int i = 0; i < rays->paint_count; i++)
        if (!scene_node_is_lost(scene, rays->paints[i].node))
            rays->paints[paints++] = rays->paints[i];
    for (int i = 0; i < rays->veil_count; i++)
        if (!scene_node_is_lost(scene, rays->veils[i].node))
            rays->veils[veils++] = rays->veils[i];
    rays->lamp_count = lamps;
    rays->cover_count = covers;
    rays->paint_count = paints;
    rays->veil_count = veils;
}

static void list_all(Rays *rays)
{
    drop_lost(rays);
    drop_instances(rays);
    drop_strokes(rays);
    rays->visual_count = 0;
    sum_veils(rays);
    lighting_clear(rays);
    rays->lighting.up = sky_is_z_up(rays) ? vec3(0, 0, 1) : vec3(0, 1, 0);
    Walk walk = { .source = { physics_scene(rays->physics), physics_assets(rays->physics), rays->diags },
                  .solid = -1,
                  .local = { MAT3_IDENTITY, VEC3_ZERO } };
    list_below(rays, scene_root(physics_scene(rays->physics)), &walk);
    if (!rays->lighting.has_background)
        sky_free(&rays->lighting);
    for (int i = 0; i < rays->lighting.count; i++)
        for (int k = 0; k < rays->lamp_count; k++)
            if (rays->lamps[k].node == rays->lighting.lights[i].node) {
                rays->lighting.lights[i].color = rays->lamps[k].color;
                rays->lighting.lights[i].is_on = rays->lamps[k].is_on;
            }
    lighting_sum(rays);
    make_instances(rays);
    rtcSetGeometryUserPrimitiveCount(rays->geometry, (unsigned)rays->visual_count);
    rays->edits = physics_edit_count(rays->physics);
    rays->is_listed = true;
}

bool rays_is_listed(const Rays *rays) { return rays->is_listed && rays->edits == physics_edit_count(rays->physics); }

void rays_list(Rays *rays)
{
    if (rays_is_listed(rays))
        return;
    list_all(rays);
    rays->is_unplaced = true;
}

// A bare floor of some size shows squares to people; how wide they are, 0: it shows none.
static double squares_of(const Visual *visual, Vec3 up)
{
    Vec3 size = vec3((double)visual->high[0] - (double)visual->low[0], (double)visual->high[1] - (double)visual->low[1],
                     (double)visual->high[2] - (double)visual->low[2]);
    double reach = fmin(size.x, up.z > 0.0 ? size.y : size.z);  // both ways across
    if (visual->look.is_textured || visual->look.has_parts || !(reach > 1.5))
        return 0.0;
    return reach > 20.0 ? 1.0 : reach > 5.0 ? 0.5 : 0.25;
}

void rays_place(Rays *rays, const Pose *solids, int solid_count)
{
    assert(solid_count == 0 || solids);
    bool is_new = rays->is_unplaced, is_moved = is_new;
    skins_place(rays, solids, solid_count);
    for (int i = 0; i < rays->visual_count; i++) {
        Visual *visual = &rays->visuals[i];
        assert(visual->solid < solid_count);
        if (!place(visual,
                   visual->solid >= 0   ? solids[visual->solid]
                   : visual->is_overlay ? rays->view
                                        : POSE_IDENTITY,
                   is_new))
            continue;
        visual->squares = squares_of(visual, rays->lighting.up);
        is_moved = true;
    }
    bool is_turned = lighting_place(rays, solids, solid_count);
    rays->placings += is_moved || is_turned;
    rays->is_unplaced = false;
    if (!is_moved)
        return;
    rtcCommitGeometry(rays->geometry);
    rtcCommitScene(rays->scene);
}

void rays_update(Rays *rays)
{
    int count = physics_solid_count(rays->physics);
    memory_grow(&rays->solids, &rays->solid_capacity, count, sizeof *rays->solids);
    for (int i = 0; i < count; i++)
        rays->solids[i] = physics_solid_exists(rays->physics, i) ? physics_solid_pose(rays->physics, i) : POSE_IDENTITY;
    rays_list(rays);
    rays_place(rays, rays->solids, count);
}

void rays_rebind(Rays *rays, Physics *physics)
{
    assert(physics);
    rays->physics = physics;
    rays->is_listed = false;
}

// ---- casting ----

typedef struct Query {
    EmbreeContext context;  // first: Embree hands this back
    const Rays *rays;
    const Ray *queries;  // of the packet
    RaysFilter filter;
    void *filter_context;
    FormFound found[PACKET];
} Query;

bool rays_meet_form(const Visual *visual, const Ray *ray, FormHit *hit)
{
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(ray->origin, visual->world.t)),
         direction = mat3_apply(visual->inverse, ray->direction);
    bool is_met = visual->form.stroke_count > 0
                      ? strokes_hit(&visual->form, origin, direction, ray->near, ray->spread, hit)
                      : form_hit(&visual->form, origin, direction, ray->near, hit);
    return is_met && hit->distance <= ray->far;
}

// Keeps the nearest form of each ray, exactly; of two at the same distance the one that the file names first.
static void meet_forms(const struct RTCIntersectFunctionNArguments *arguments)
{
    Query *query = (Query *)arguments->context;
    const Visual *visual = &query->rays->visuals[arguments->primID];
    unsigned n = arguments->N;
    int index = (int)arguments->primID;
    struct RTCRayN *rays = (struct RTCRayN *)arguments->rayhit;
    for (unsigned i = 0; i < n; i++) {
        FormHit hit;
        if (!arguments->valid[i])
            continue;
        int k = (int)embree_id(rays, n, i);
        assert(k >= 0 && k < PACKET);
        FormFound *best = &query->found[k];
        if ((query->filter && !query->filter(query->rays, index, query->filter_context))
            || !rays_meet_form(visual, &query->queries[k], &hit))
            continue;
        float *far = embree_tfar(rays, n, i);
        if ((float)hit.distance > *far)
            continue;
        if (best->visual >= 0
            && (hit.distance > best->hit.distance || (hit.distance == best->hit.distance && index > best->visual)))
            continue;
        *best = (FormFound){ index, hit };
        float beyond = (float)(hit.distance * (1.0 + 1e-6)) + 1e-9f;  // a little, for ties
        *far = beyond < *far ? beyond : *far;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_GEOM) = 0;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_PRIM) = arguments->primID;
        *embree_hit(arguments->rayhit, n, i, EMBREE_HIT_INST) = RTC_INVALID_GEOMETRY_ID;
    }
}

static void form_to_hit(const Rays *rays, const FormFound *found, RayHit *hit)
{
    const Visual *visual = &rays->visuals[found->visual];
    // Normals go by the transposed inverse.
    Vec3 normal = vec3_normalized(mat3_apply(mat3_transposed(visual->inverse), found->hit.normal));
    *hit = (RayHit){ found->visual,  visual->solid, found->hit.distance, normal, normal, found->hit.u, found->hit.v, -1,
                     found->hit.face };
}

// The exact place on a triangle. False when it is seen from behind.
static bool triangle_to_hit(const Rays *rays, const Ray *ray, int index, unsigned triangle, double b, double c,
                            RayHit *hit)
{
    const Visual *visual = &rays->visuals[index];
    const Mesh *mesh = rays->meshes[visual->mesh].mesh;
    Vec3 origin = mat3_apply(visual->inverse, vec3_sub(ray->origin, visual->world.t)),
         direction = mat3_apply(visual->inverse, ray->direction);
    Vec3 normal = face_normal(mesh, triangle), smooth = normal;
    double along = vec3_dot(normal, direction), a = 1.0 - b - c;
    if (along >= 0.0)
        return false;
    const float *n = mesh->normals ? mesh->normals + 9 * (size_t)triangle : NULL;
    if (n)
        smooth = vec3(a * (double)n[0] + b * (double)n[3] + c * (double)n[6],
                      a * (double)n[1] + b * (double)n[4] + c * (double)n[7],
                      a * (double)n[2] + b * (double)n[5] + c * (double)n[8]);
    Mat3 turn = mat3_transposed(visual->inverse);
    *hit = (RayHit){ .visual = index,
                     .solid = visual->solid,
                     .distance = vec3_dot(normal, vec3_sub(corner(mesh, triangle, 0), origin)) / along,
                     .normal = vec3_normalized(mat3_apply(turn, normal)),
                     .triangle = (int)triangle };
    hit->smooth = n ? vec3_normalized(mat3_apply(turn, smooth)) : hit->normal;
    mesh_texture_place(mesh, (int)triangle, b, c, &hit->u, &hit->v);
    return true;
}

static bool is_castable(const Ray *ray)
{
    double length2 = vec3_length2(ray->direction);
    return isfinite(ray->origin.x + ray->origin.y + ray->origin.z + length2) && ray->far > ray->near && length2 > 0.0;
}

static void set_ray(struct RTCRayHit8 *to, int k, const Ray *ray, float near)
{
    to->ray.org_x[k] = (float)ray->origin.x, to->ray.org_y[k] = (float)ray->origin.y,
    to->ray.org_z[k] = (float)ray->origin.z;
    to->ray.dir_x[k] = (float)ray->direction.x, to->ray.dir_y[k] = (float)ray->direction.y,
    to->ray.dir_z[k] = (float)ray->direction.z;
    to->ray.tnear[k] = near;
    to->ray.tfar[k] = (float)(ray->far * (1.0 + 1e-6));
    to->ray.mask[k] = MASK_SEEN;
    to->ray.id[k] = (unsigned)k;
    to->ray.flags[k] = 0;
    to->ray.time[k] = 0.0f;
    to->hit.geomID[k] = to->hit.primID[k] = to->hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
}

// Which of what a ray met counts. False: it met the back of something, or something that may not be hit, and must go on
// from there.
static bool judge(const Query *query, const struct RTCRayHit8 *packet, int k, RayHit *hit)
{
    const Ray *ray = &query->queries[k];
    const FormFound *form = &query->found[k];
    RayHit met = { .visual = -1 };
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        int index = (int)packet->hit.instID[0][k] - 1;
        double t = (double)packet->ray.tfar[k];
        bool may_be_nearest = form->visual < 0 || t <= form->hit.distance * (1.0 + 2e-6) + 1e-9;
        bool is_front = (!query->filter || query->filter(query->rays, index, query->filter_context))
                        && triangle_to_hit(query->rays, ray, index, packet->hit.primID[k], (double)packet->hit.u[k],
                                           (double)packet->hit.v[k], &met);
        if (!is_front && may_be_nearest && t < ray->far)
            return false;
        if (!is_front || !(met.distance <= ray->far))
            met.visual = -1;
    }
    if (form->visual >= 0
        && (met.visual < 0 || form->hit.distance < met.distance
            || (form->hit.distance == met.distance && form->visual < met.visual)))
        form_to_hit(query->rays, form, hit);
    else if (met.visual >= 0)
        *hit = met;
    return true;
}

// Puts the rays into the packet; returns how many of them can be cast.
static int fill_packet(Query *query, int count, struct RTCRayHit8 *packet, int valid[PACKET])
{
    static const Ray harmless = { .direction = { 1, 0, 0 }, .far = 1 };  // in places without a ray
    int left = 0;
    for (int k = 0; k < PACKET; k++) {
        bool is_valid = k < count && is_castable(&query->queries[k]);
        const Ray *ray = is_valid ? &query->queries[k] : &harmless;
        query->found[k].visual = -1;
        valid[k] = is_valid ? -1 : 0;
        left += is_valid;
        set_ray(packet, k, ray, (float)ray->near);
    }
    return left;
}

static void cast_packet(Query *query, int count, bool is_coherent, RayHit *hits)
{
    struct RTCRayHit8 packet;
    _Alignas(32) int valid[PACKET];
    int left = fill_packet(query, count, &packet, valid);
    for (int k = 0; k < count; k++)
        hits[k] = (RayHit){ .visual = -1, .solid = -1, .triangle = -1 };
    for (int round = 0; left > 0 && round < MOST_BACKS; round++) {
        embree_begin(&query->context, is_coherent);
        embree_intersect8(valid, query->rays->scene, &query->context, is_coherent, &packet);
        for (int k = 0; k < count; k++) {
            if (!valid[k])
                continue;
            if (judge(query, &packet, k, &hits[k])) {
                valid[k] = 0;
                left--;
            } else {
                set_ray(&packet, k, &query->queries[k], nextafterf(packet.ray.tfar[k] * (1.0f + 1e-6f), INFINITY));
            }
        }
    }
}

void rays_cast(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, RayHit *hits)
{
    Query query;
    query.rays = rays;
    query.filter = filter;
    query.filter_context = context;
    for (int first = 0; first < count; first += PACKET) {
        query.queries = queries + first;
        cast_packet(&query, int_min(count - first, PACKET), count > 1, hits + first);
    }
}

// ---- distances alone ----

// Whether the triangle turns its front to the ray: the geometric normal comes in the frame of the mesh.
static bool is_front(const Visual *visual, const struct RTCRayHit8 *packet, int k)
{
    const float *m = visual->inverse_float;
    float x = packet->ray.dir_x[k], y = packet->ray.dir_y[k], z = packet->ray.dir_z[k];
    return packet->hit.Ng_x[k] * (m[0] * x + m[1] * y + m[2] * z)
               + packet->hit.Ng_y[k] * (m[3] * x + m[4] * y + m[5] * z)
               + packet->hit.Ng_z[k] * (m[6] * x + m[7] * y + m[8] * z)
           < 0.0f;
}

// As judge, of the distance alone.
static bool judge_distance(const Query *query, const struct RTCRayHit8 *packet, int k, double *distance)
{
    const FormFound *form = &query->found[k];
    double met = INFINITY;
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        int index = (int)packet->hit.instID[0][k] - 1;
        met = (double)packet->ray.tfar[k];
        bool counts = (!query->filter || query->filter(query->rays, index, query->filter_context))
                      && is_front(&query->rays->visuals[index], packet, k);
        if (!counts && (form->visual < 0 || met <= form->hit.distance))
            return false;
        if (!counts)
            met = INFINITY;
    }
    *distance = form->visual >= 0 && form->hit.distance < met ? form->hit.distance : met;
    return true;
}

static void measure_packet(Query *query, int count, double *distances)
{
    struct RTCRayHit8 packet;
    _Alignas(32) int valid[PACKET];
    int left = fill_packet(query, count, &packet, valid);
    for (int k = 0; k < count; k++)
        distances[k] = INFINITY;
    for (int round = 0; left > 0 && round < MOST_BACKS; round++) {
        embree_begin(&query->context, true);
        embree_intersect8(valid, query->rays->scene, &query->context, true, &packet);
        for (int k = 0; k < count; k++) {
            if (!valid[k])
                continue;
            if (judge_distance(query, &packet, k, &distances[k])) {
                valid[k] = 0;
                left--;
            } else {
                set_ray(&packet, k, &query->queries[k], nextafterf(packet.ray.tfar[k] * (1.0f + 1e-6f), INFINITY));
            }
        }
    }
}

void rays_distances(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context,
                    double *distances)
{
    Query query;
    query.rays = rays;
    query.filter = filter;
    query.filter_context = context;
    for (int first = 0; first < count; first += PACKET) {
        query.queries = queries + first;
        measure_packet(&query, int_min(count - first, PACKET), distances + first);
    }
}

// ---- what is seen ----

// Which of what a ray met counts, without its details. False: it must go on, as with judge.
static bool choose(const Query *query, const struct RTCRayHit8 *packet, int k, Found *found)
{
    const FormFound *form = &query->found[k];
    float met = packet->ray.tfar[k];
    int index = -1;
    if (packet->hit.instID[0][k] != RTC_INVALID_GEOMETRY_ID) {
        index = (int)packet->hit.instID[0][k] - 1;
        bool counts = (!query->filter || query->filter(query->rays, index, query->filter_context))
                      && is_front(&query->rays->visuals[index], packet, k);
        if (!counts && (form->visual < 0 || (double)met <= form->hit.distance))
            return false;
        if (!counts)
            index = -1;
    }
    if (form->visual >= 0
        && (index < 0 || form->hit.distance < (double)met
            || (form->hit.distance == (double)met && form->visual < index))) {
        found->visual[k] = form->visual;
        found->distance[k] = (float)form->hit.distance;
        found->form[k] = *form;
        return true;
    }
    if (index < 0)
        return true;
    found->visual[k] = index;
    found->triangle[k] = (int)packet->hit.primID[k];
    found->distance[k] = met;
    found->b[k] = packet->hit.u[k], found->c[k] = packet->hit.v[k];
    found->normal[0][k] = packet->hit.Ng_x[k];
    found->normal[1][k] = packet->hit.Ng_y[k];
    found->normal[2][k] = packet->hit.Ng_z[k];
    return true;
}

void rays_search(const Rays *rays, const Ray *queries, int count, RaysFilter filter, void *context, Found *found)
{
    struct RTCRayHit8 packet;
    _Alignas(32) int valid[PACKET];
    Query query;
    query.rays = rays;
    query.queries = queries;
    query.filter = filter;
    query.filter_context = context;
    assert(count <= PACKET);
    int left = fill_packet(&query, count, &packet, valid);
    for (int k = 0; k < PACKET; k++)
        found->visual[k] = found->triangle[k] = -1;
    for (int round = 0; left > 0 && round < MOST_BACKS; round++) {
        embree_begin(&query.context, count > 1);
        embree_intersect8(valid, rays->scene, &query.context, count > 1, &packet);
        for (int k = 0; k < count; k++) {
            if (!valid[k])
                continue;
            if (choose(&query, &packet, k, found)) {
                valid[k] = 0;
                left--;
            } else {
                set_ray(&packet, k, &queries[k], nextafterf(packet.ray.tfar[k] * (1.0f + 1e-6f), INFINITY));
            }
        }
    }
}

RayHit rays_hit_of(const Rays *rays, const Ray *query, const Found *found, int lane)
{
    RayHit hit;
    int visual = found->visual[lane];
    assert(visual >= 0);
    if (found->triangle[lane] < 0)
        form_to_hit(rays, &found->form[lane], &hit);
    else if (!triangle_to_hit(rays, query, visual, (unsigned)found->triangle[lane], (double)found->b[lane],
                              (double)found->c[lane], &hit))  // edge-on, where the search saw its front by a rounding
        hit = (RayHit){ .visual = visual,
                        .solid = rays->visuals[visual].solid,
                        .distance = (double)found->distance[lane],
                        .normal = vec3_neg(query->direction),
                        .smooth = vec3_neg(query->direction),
                        .triangle = found->triangle[lane] };
    return hit;
}

// ---- shadows ----

bool shadow_form_darkens(const Visual *visual, Vec3 origin, Vec3 direction, double far)
{
    FormHit hit;
    origin = mat3_apply(visual->inverse, vec3_sub(origin, visual->world.t));
    direction = mat3_apply(visual->inverse, direction);
    return form_hit(&visual->form, origin, direction, 0.0, &hit) && hit.distance <= far;
}

static void darken_forms(const struct RTCOccludedFunctionNArguments *arguments)
{
    const Rays *rays = arguments->geometryUserPtr;
    const Visual *visual = &rays->visuals[arguments->primID];
    unsigned n = arguments->N;
    if (!visual->casts_shadow)
        return;
    for (unsigned i = 0; i < n; i++) {
        if (!arguments->valid[i])
            continue;
        float *far = embree_tfar(arguments->ray, n, i);
        if (shadow_form_darkens(visual, embree_origin(arguments->ray, n, i), embree_direction(arguments->ray, n, i),
                                (double)*far))
            *far = -INFINITY;
    }
}

void rays_occluded(const Rays *rays, const int *valid, struct RTCRay8 *packet)
{
    EmbreeContext context;
    for (int k = 0; k < PACKET; k++) {
        packet->tnear[k] = 0.0f;
        packet->mask[k] = MASK_SHADOW;
        packet->id[k] = (unsigned)k;
        packet->flags[k] = 0;
        packet->time[k] = 0.0f;
    }
    embree_begin(&context, true);
    embree_occluded8(valid, rays->scene, &context, true, packet);
}

// ---- questions ----

int rays_visual_count(const Rays *rays) { return rays->visual_count; }

SceneNode *rays_visual_node(const Rays *rays, int visual)
{
    assert(visual >= 0 && visual < rays->visual_count);
    return rays->visuals[visual].node;
}

Vec3 rays_recognition_color(const Rays *rays, int visual)
{
    assert(visual >= 0 && visual < rays->visual_count);
    return rays->visuals[visual].recognition;
}

RayLook rays_look(const Rays *rays, const RayHit *hit)
{
    assert(hit->visual >= 0 && hit->visual < rays->visual_count);
    const Visual *visual = &rays->visuals[hit->visual];
    return look_at(visual, visual->mesh >= 0 ? rays->meshes[visual->mesh].mesh : NULL, hit);
}

static bool is_at_or_below(const SceneNode *node, const SceneNode *top)
{
    const SceneNode *at = node;
    while (at && at != top)
        at = scene_parent(at);
    return at != NULL;
}

bool rays_bounds(const Rays *rays, Vec3 *low, Vec3 *high) { return rays_bounds_below(rays, NULL, low, high); }

bool rays_bounds_below(const Rays *rays, const SceneNode *top, Vec3 *low, Vec3 *high)
{
    double least[3] = { INFINITY, INFINITY, INFINITY }, most[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < rays->visual_count; i++)
        for (int k = 0; k < 3 && (!top || is_at_or_below(rays->visuals[i].node, top)); k++) {
            least[k] = fmin(least[k], (double)rays->visuals[i].low[k]);
            most[k] = fmax(most[k], (double)rays->visuals[i].high[k]);
        }
    *low = vec3(least[0], least[1], least[2]);
    *high = vec3(most[0], most[1], most[2]);
    return vec3_is_finite(*low) && vec3_is_finite(*high);
}

int rays_triangle_count(const Rays *rays)
{
    int count = 0;
    for (int i = 0; i < rays->visual_count; i++)
        count += rays->visuals[i].mesh >= 0 ? rays->meshes[rays->visuals[i].mesh].mesh->triangle_count : 1;
    return count;
}

Vec3 rays_up(const Rays *rays) { return rays->lighting.up; }

int rays_texture_count(const Rays *rays) { return rays->mip_count; }

int rays_light_count(const Rays *rays)
{
    int count = 0;
    for (int i = 0; i < rays->lighting.count; i++)
        count += rays->lighting.lights[i].is_on;
    return count;
}

// ---- what devices show ----

void rays_set_lamp(Rays *rays, const SceneNode *node, Vec3 color, bool is_on)
{
    assert(node);
    int at = 0;
    while (at < rays->lamp_count && rays->lamps[at].node != node)
        at++;
    if (at == rays->lamp_count)
        memory_grow(&rays->lamps, &rays->lamp_capacity, ++rays->lamp_count, sizeof *rays->lamps);
    rays->lamps[at] = (Lamp){ node, color, is_on };
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].look.emissive_node == node)
            light_lamp(&rays->visuals[i], color);
    for (int i = 0; i < rays->lighting.count; i++)
        if (rays->lighting.lights[i].node == node) {
            rays->lighting.lights[i].color = color;
            rays->lighting.lights[i].is_on = is_on;
        }
    lighting_sum(rays);
}

void rays_set_layer(Rays *rays, const SceneNode *texture, const RaysLayer *layer)
{
    assert(texture);
    int at = 0;
    while (at < rays->cover_count && rays->covers[at].node != texture)
        at++;
    if (at < rays->cover_count && rays->covers[at].layer == layer)
        return;
    if (at == rays->cover_count)
        memory_grow(&rays->covers, &rays->cover_capacity, ++rays->cover_count, sizeof *rays->covers);
    rays->covers[at] = (Cover){ texture, layer };
    rays->is_listed = false;
}

void rays_set_paint(Rays *rays, const SceneNode *shape, const RaysPaint *paint)
{
    assert(shape);
    int at = 0;
    while (at < rays->paint_count && rays->paints[at].node != shape)
        at++;
    if (at == rays->paint_count)
        memory_grow(&rays->paints, &rays->paint_capacity, ++rays->paint_count, sizeof *rays->paints);
    rays->paints[at] = (Painted){ shape, paint };
    for (int i = 0; i < rays->visual_count; i++)
        if (rays->visuals[i].node == shape)
            rays->visuals[i].paint = paint;
}

int rays_paint_spots(const Rays *rays, const RayHit *hit, double reach_u, double reach_v, RaysSpot spots[6])
{
    assert(hit->visual >= 0 && hit->visual < rays->visual_count);
    return form_paint_spots(&rays->visuals[hit->visual].form, hit, reach_u, reach_v, spots);
}

void rays_paint_size(const Rays *rays, int visual, int *width, int *height, int cells[2], double *radius)
{
    enum { LEAST = 32, MOST = 1024 };
    const Visual *of = &rays->visuals[visual];
    const double *m = of->local.m.m;
    double scale = sqrt(fmax(m[0] * m[0] + m[3] * m[3] + m[6] * m[6],
                             fmax(m[1] * m[1] + m[4] * m[4] + m[7] * m[7], m[2] * m[2] + m[5] * m[5] + m[8] * m[8])));
    *radius = scale * (of->mesh >= 0 ? rays->meshes[of->mesh].radius : form_radius(&of->form, NULL));
    form_paint_cells(&of->form, cells);
    if (of->look.base.mip) {
        *width = of->look.base.mip->width[0];
        *height = of->look.base.mip->height[0];
        return;
    }
    double size = LEAST + (MOST - LEAST) * fmin(*radius / 10.0, 1.0);
    int side = LEAST;
    while (side * 2 <= size && side < MOST)
        side *= 2;
    if (side < MOST && 2 * side - size < size - side)
        side *= 2;
    *width = *height = side;
}

void rays_hide(Rays *rays, const SceneNode *node, int eye, bool is_hidden)
{
    assert(eye >= 0 && eye < 64);
    int at = 0;
    while (at < rays->veil_count && rays->veils[at].node != node)
        at++;
    if (at == rays->veil_count) {
        memory_grow(&rays->veils, &rays->veil_capacity, ++rays->veil_count, sizeof *rays->veils);
        rays->veils[at] = (Veil){ node, 0 };
    }
    uint64_t bit = (uint64_t)1 << eye;
    rays->veils[at].eyes = is_hidden ? rays->veils[at].eyes | bit : rays->veils[at].eyes & ~bit;
    rays->is_listed = false;
}

void rays_unhide_all(Rays *rays)
{
    if (rays->veil_count > 0)
        rays->is_listed = false;
    rays->veil_count = 0;
}

void rays_set_view(Rays *rays, Pose view) { rays->view = view; }

bool rays_is_hidden(const Rays *rays, int visual, int eye) { return rays->visuals[visual].hidden >> eye & 1; }

bool rays_hides(const Rays *rays, int eye) { return rays->veiled >> eye & 1; }

void rays_clear_spots(Rays *rays) { rays->dot_count = 0; }

void rays_add_spot(Rays *rays, Vec3 place, double radius, Vec3 color)
{
    memory_grow(&rays->dots, &rays->dot_capacity, rays->dot_count + 1, sizeof *rays->dots);
    rays->dots[rays->dot_count++] = (Dot){ place, radius, color };
}

const char *rays_library(void) { return "Embree " RTC_VERSION_STRING; }

// ---- life ----

Rays *rays_create(Physics *physics, DiagSink *diags)
{
    assert(physics && diags);
    Rays *rays = memory_alloc(sizeof *rays);
    rays->physics = physics;
    rays->diags = diags;
    rays->view = POSE_IDENTITY;
    bool is_wide = cpu_has_avx2();
    rays->shade = is_wide ? shade_avx2 : shade_portable;
    rays->block = is_wide ? block_surfaces_avx2 : block_surfaces_portable;
    rays->fill = is_wide ? raster_fill_avx2 : raster_fill_portable;
    rays->darken = is_wide ? shadows_darken_avx2 : shadows_darken_portable;
    rays->circle = memory_alloc_array(CIRCLE_PLACES, sizeof *rays->circle);
    for (int i = 0; i < CIRCLE_PLACES; i++) {
        rays->circle[i][0] = (float)cos(2.0 * M_PI * i / CIRCLE_PLACES);
        rays->circle[i][1] = (float)sin(2.0 * M_PI * i / CIRCLE_PLACES);
    }
    for (int i = 0; i <= LINEAR_PLACES + 1; i++)
        rays->linear[i] = color_linear(vec3((double)i / LINEAR_PLACES, 0, 0)).x;
    // One thread: a world is stepped by the thread that owns it, and many worlds may live in one process.
    rays->device = rtcNewDevice("threads=1,user_threads=1");
    rays->scene = rtcNewScene(rays->device);
    rtcSetSceneFlags(rays->scene, RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST);
    rtcSetSceneBuildQuality(rays->scene, RTC_BUILD_QUALITY_LOW);
    rays->geometry = rtcNewGeometry(rays->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserData(rays->geometry, rays);
    rtcSetGeometryBoundsFunction(rays->geometry, give_bounds, NULL);
    rtcSetGeometryIntersectFunction(rays->geometry, meet_forms);
    rtcSetGeometryOccludedFunction(rays->geometry, darken_forms);
    rtcSetGeometryBuildQuality(rays->geometry, RTC_BUILD_QUALITY_LOW);
    rtcSetGeometryMask(rays->geometry, MASK_SEEN | MASK_SHADOW);
    rtcAttachGeometryByID(rays->scene, rays->geometry, 0);
    return rays;
}

void rays_destroy(Rays *rays)
{
    if (!rays)
        return;
    drop_instances(rays);
    drop_strokes(rays);
    free(rays->strokes);
    for (int i = 0; i < rays->mesh_count; i++) {
        if (rays->meshes[i].geometry)
            rtcReleaseGeometry(rays->meshes[i].geometry);
        rtcReleaseScene(rays->meshes[i].scene);
        free(rays->meshes[i].normals);
    }
    skins_free(rays);
    raster_free(rays);
    shadows_free(rays);
    rtcReleaseGeometry(rays->geometry);
    rtcReleaseScene(rays->scene);
    rtcReleaseDevice(rays->device);
    for (int i = 0; i < rays->mip_count; i++)
        mip_destroy(rays->mips[i]);
    free(rays->mips);
    free(rays->meshes);
    free(rays->visuals);
    free(rays->solids);
    free(rays->lamps);
    free(rays->covers);
    free(rays->paints);
    free(rays->veils);
    free(rays->dots);
    free(rays->brdf);
    free(rays->circle);
    lighting_free(rays);
    free(rays);
}
