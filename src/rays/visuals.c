// visuals.c - from the scene to the list of what can be seen: one walk, in the order of the file, finds shapes, skins,
// belts, helices and lights. The list is made anew after each edit of the tree; where its visuals are is another matter
// (placement.c).
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

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

static void add_visual(Rays *rays, const Visual *visual)
{
    assert_debug(visual->node && visual->mesh < rays->mesh_count);
    if (visual->look.is_physical)
        rays->brdf = brdf_table();
    *memory_push(rays->visuals, rays->visual_count, rays->visual_capacity) = *visual;
}

static void list_strokes(Rays *rays, const ShapeSource *source, const SceneNode *geometry, Visual visual)
{
    Strokes strokes;
    visual.look = look_of(rays, source, visual.node);
    overrides_light(rays, &visual);
    if (!strokes_read(geometry, &visual.look, &strokes))
        return;
    *memory_push(rays->strokes, rays->stroke_set_count, rays->stroke_set_capacity) = strokes;
    double margin = strokes_margin(&strokes);
    visual.look = (Look){ .emissive_intensity = 1.0, .transparency = visual.look.transparency };
    for (int first = 0; first < strokes.count; first += visual.form.stroke_count) {
        visual.form = strokes_form(&strokes, first, margin);
        add_visual(rays, &visual);
    }
}

void visuals_drop_strokes(Rays *rays)
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
    assert_debug(walk->solid >= -1);
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
        visual.mesh = rays_tree_of(rays, mesh);
        visual.form.shape.kind = GEOMETRY_MESH;
        visual.form.low = mesh->low;
        visual.form.high = mesh->high;
    }
    visual.look = look_of(rays, &walk->source, node);
    read_slide(&visual);
    visual.casts_shadow = scene_bool(node, "castShadows") && !visual.is_overlay;
    visual.paint = overrides_paint(rays, node);
    overrides_light(rays, &visual);
    add_visual(rays, &visual);
}

static void list_below(Rays *rays, const SceneNode *node, const Walk *walk);

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
    int tree = mesh->bone_count > 0 ? skin_tree(rays, node, mesh, walk->solid, local) : rays_tree_of(rays, mesh);
    assert_debug(tree >= 0 && tree < rays->mesh_count);
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

// The walk carries what a node hands down: its solid, its place in it, who may not see it, what drives it. The order
// of the list is that of the file, which breaks ties between equally near hits.
static void list_node(Rays *rays, SceneNode *node, Walk walk)
{
    enum { DEPTH_MAX = 512 };
    if (!node || !node->type || ++walk.depth > DEPTH_MAX)
        return;
    walk.hidden |= overrides_hidden(rays, node);
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

static void list_all(Rays *rays)
{
    overrides_drop_lost(rays);
    placement_drop_instances(rays);
    visuals_drop_strokes(rays);
    rays->visual_count = 0;
    overrides_sum_veils(rays);
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
    placement_make_instances(rays);
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
