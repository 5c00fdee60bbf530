// body_wrl.c - what is to be seen in a VRML97 file, as shapes of a link.
#include "formats/body/body_scene.h"

#include "base/file.h"
#include "base/memory.h"
#include "formats/formats.h"
#include "formats/shape/shape.h"

#include <stdlib.h>
#include <string.h>

typedef struct WrlPart {  // the shapes of the whole file, or below one node of it
    const char *node;     // NULL: all
    WrlShapes shapes;
    struct WrlPart *next;
} WrlPart;

struct WrlFile {
    const char *path;
    Scene *scene;  // NULL: it could not be read
    WrlPart *parts;
    struct WrlFile *next;
};

// Each face the other way round; coordinates of textures follow their corners no longer, and go.
static void turn_faces(BodyGeometry *geometry)
{
    assert_debug(geometry->faces.items || geometry->faces.count == 0);
    for (int first = 0, i = 0; i <= geometry->faces.count; i++) {
        if (i < geometry->faces.count && geometry->faces.items[i] >= 0)
            continue;
        for (int low = first, high = i - 1; low < high; low++, high--) {
            int32_t swap = geometry->faces.items[low];
            geometry->faces.items[low] = geometry->faces.items[high];
            geometry->faces.items[high] = swap;
        }
        first = i + 1;
    }
    geometry->tex_coord_indices.count = geometry->tex_coords.count = 0;
}

static bool read_faces(Arena *arena, const SceneNode *node, BodyGeometry *geometry)
{
    if (!body_vrml_faces(arena, node, geometry))
        return false;
    for (int i = 0; i < geometry->faces.count; i++)
        if (geometry->faces.items[i] < -1 || geometry->faces.items[i] >= geometry->vertices.count / 3)
            return false;
    for (int i = 0; i < geometry->tex_coord_indices.count; i++)
        if (geometry->tex_coord_indices.items[i] < -1
            || geometry->tex_coord_indices.items[i] >= geometry->tex_coords.count / 2)
            geometry->tex_coords.count = geometry->tex_coord_indices.count = 0;
    if (!scene_bool(node, "ccw"))
        turn_faces(geometry);
    return geometry->faces.count > 0;
}

static bool read_extrusion(Arena *arena, const SceneNode *node, BodyGeometry *geometry)
{
    geometry->cross_section = body_vrml_numbers(arena, scene_list(node, "crossSection"), 2);
    geometry->spine = body_vrml_numbers(arena, scene_list(node, "spine"), 3);
    geometry->orientation = body_vrml_numbers(arena, scene_list(node, "orientation"), 4);
    geometry->scales = body_vrml_numbers(arena, scene_list(node, "scale"), 2);
    geometry->has_begin_cap = scene_bool(node, "beginCap");
    geometry->has_end_cap = scene_bool(node, "endCap");
    geometry->crease_angle = scene_float(node, "creaseAngle");
    return geometry->cross_section.count >= 4 && geometry->spine.count >= 6;
}

static bool read_grid(const Limits *limits, Arena *arena, const SceneNode *node, BodyGeometry *geometry)
{
    assert_debug(schema_type_is(node->type, "ElevationGrid"));
    geometry->x_dimension = scene_int(node, "xDimension");
    geometry->z_dimension = scene_int(node, "zDimension");
    geometry->x_spacing = scene_float(node, "xSpacing");
    geometry->z_spacing = scene_float(node, "zSpacing");
    geometry->heights = body_vrml_numbers(arena, scene_list(node, "height"), 1);
    geometry->is_ccw = scene_bool(node, "ccw");
    int64_t wanted = (int64_t)geometry->x_dimension * geometry->z_dimension;
    return geometry->x_dimension > 1 && geometry->z_dimension > 1 && wanted <= limits->heightfield_cells
           && geometry->x_spacing > 0.0 && geometry->z_spacing > 0.0;
}

// Models for Choreonoid are VRML97: they have no more geometries than these, and what cannot be read is left out, as
// there.
static const BodyGeometry *read_geometry(const WrlWalk *walk, const SceneNode *node)
{
    assert_debug(node->type);
    Arena *arena = walk->arena;
    BodyGeometry *geometry = body_geometry_create(arena, GEOMETRY_BOX, node->pos);
    const char *type = node->type->name;
    ShapeForm form = shape_form(node);
    if (form.kind == GEOMETRY_BOX) {
        geometry->size = form.size;
        return geometry;
    }
    if (form.kind == GEOMETRY_SPHERE || (form.type && form.type->traits & GEOMETRY_IS_ROUND)) {
        geometry->kind = form.kind;
        geometry->radius = form.size.x;
        if (form.kind != GEOMETRY_SPHERE) {
            geometry->height = form.size.y;
            geometry->has_bottom = scene_bool(node, "bottom");
        }
        if (form.kind == GEOMETRY_CYLINDER)
            geometry->has_top = scene_bool(node, "top");
        return geometry->radius > 0.0 && geometry->height > 0.0 ? geometry : NULL;
    }
    if (!strcmp(type, "IndexedFaceSet")) {
        return read_faces(arena, node, geometry) ? geometry : NULL;
    }
    if (!strcmp(type, "Extrusion")) {
        geometry->kind = BODY_EXTRUSION;
        return read_extrusion(arena, node, geometry) ? geometry : NULL;
    }
    if (!strcmp(type, "ElevationGrid")) {
        geometry->kind = BODY_ELEVATION_GRID;
        return read_grid(walk->limits, arena, node, geometry) ? geometry : NULL;
    }
    return NULL;
}

// Defaults are those of Choreonoid, not of VRML97: a material that is not given is white there.
static const BodyAppearance *read_appearance(const WrlWalk *walk, const SceneNode *node)
{
    if (!node || strcmp(node->type->name, "Appearance"))
        return NULL;
    Arena *arena = walk->arena;
    BodyAppearance *appearance = body_appearance_create(arena, node->pos);
    const SceneNode *texture = scene_child(node, "texture");
    body_vrml_material(scene_child(node, "material"), appearance);
    if (texture && !strcmp(texture->type->name, "ImageTexture") && scene_list(texture, "url")->count > 0) {
        const char *url = arena_string(arena, scene_list(texture, "url")->strings[0]);
        const char *path = path_join(arena, path_directory(arena, walk->path), url);
        appearance->texture_uri = url;
        appearance->texture_path = file_exists(path) ? path : NULL;
        if (!appearance->texture_path)
            diag_warning(walk->diags, texture->pos, "texture '%.200s' is not found", url);
    }
    return appearance;
}

BodyFrame body_wrl_frame(const SceneNode *node)
{
    if (!scene_node_is(node, "Transform"))
        return BODY_FRAME_IDENTITY;
    Vec3 center = scene_vec3(node, "center"), scale = scene_vec3(node, "scale");
    Mat3 turn = mat3_from_quat(quat_from_rotation(scene_rotation(node, "rotation")));
    Mat3 stretch_turn = mat3_from_quat(quat_from_rotation(scene_rotation(node, "scaleOrientation")));
    Mat3 stretch = { { scale.x, 0, 0, 0, scale.y, 0, 0, 0, scale.z } };
    stretch = mat3_mul(mat3_mul(stretch_turn, stretch), mat3_transposed(stretch_turn));
    Mat3 m = mat3_mul(turn, stretch);
    Vec3 t = vec3_add(scene_vec3(node, "translation"), vec3_sub(center, mat3_apply(m, center)));
    return (BodyFrame){ m, t };
}

static const char *children_field(const WrlWalk *walk, const SceneNode *node)
{
    const char *type = node->type->name;
    return !strcmp(type, "Switch")                ? "choice"
           : !strcmp(type, "LOD")                 ? "level"
           : !strcmp(type, "HrpHumanoid")         ? "humanoidBody"
           : !strcmp(type, "HrpSurface")          ? (walk->is_collision ? "collision" : "visual")
           : schema_field(node->type, "children") ? "children"
                                                  : NULL;
}

static void add_shape(WrlWalk *walk, const SceneNode *node, BodyFrame frame)
{
    const SceneNode *geometry_node = scene_child(node, "geometry");
    const BodyGeometry *geometry = geometry_node ? read_geometry(walk, geometry_node) : NULL;
    if (!geometry)
        return;
    *memory_push(walk->shapes->items, walk->shapes->count, walk->shapes->capacity) =
        (BodyShape){ .device = -1,
                     .frame = frame,
                     .geometry = geometry,
                     .name = "",
                     .appearance = read_appearance(walk, scene_child(node, "appearance")),
                     .is_visual = true,
                     .is_collision = true };
}

// Another file in the place of the node. One that inserts itself, also by way of others, would not end.
static void collect_inline(WrlWalk *walk, const SceneNode *node, BodyFrame frame)
{
    const FieldList *urls = scene_list(node, "url");
    if (urls->count == 0 || walk->inline_count >= WRL_INLINES_MAX)
        return;
    const char *path = path_join(walk->arena, path_directory(walk->arena, walk->path), urls->strings[0]);
    for (const WrlWalk *outer = walk; outer; outer = outer->outer) {
        if (!strcmp(outer->path, path)) {
            diag_error(walk->diags, node->pos, "'%.200s' inserts itself; that part is left out", path);
            return;
        }
    }
    walk->inline_count++;
    if (!file_exists(path)) {
        diag_warning(walk->diags, node->pos, "Inline '%.200s' is not found", path);
        return;
    }
    FormatsOptions options = { .limits = walk->limits };
    Scene *scene = formats_load_vrml(path, &options, walk->diags);
    WrlWalk inner = *walk;
    inner.path = path;
    inner.outer = walk;
    inner.is_inside = true;
    body_wrl_collect(&inner, scene ? scene_root(scene) : NULL, frame);
    walk->inline_count = inner.inline_count;
    scene_destroy(scene);
}

// Depth and number of shapes are bounded here as well: a file with USE grows exponentially by its names alone.
void body_wrl_collect(WrlWalk *walk, const SceneNode *node, BodyFrame frame)
{
    assert_debug(walk->depth >= 0);
    if (!node || walk->depth > walk->limits->nesting || walk->shapes->count >= 1000000)
        return;
    bool is_surface = !strcmp(node->type->name, "HrpSurface"), was_inside = walk->is_inside;
    if (scene_node_is(node, "Shape")) {
        if (walk->is_inside || !walk->is_collision)
            add_shape(walk, node, frame);
        return;
    }
    if (!strcmp(node->type->name, "Inline")) {
        if (walk->is_inside || !walk->is_collision)
            collect_inline(walk, node, frame);
        return;
    }
    const char *field = children_field(walk, node);
    if (!field)
        return;
    const FieldList *list = scene_list(node, field);
    int first = 0, last = list->count - 1;
    if (!strcmp(field, "choice"))
        first = last = scene_int(node, "whichChoice");
    else if (!strcmp(field, "level"))
        last = int_min(last, 0);
    walk->depth++;
    walk->is_inside = was_inside || is_surface;
    walk->has_surfaces = walk->has_surfaces || is_surface;
    for (int i = first; i >= 0 && i <= last && i < list->count; i++) {
        const SceneNode *child = scene_list_node(list, i);
        if (child)
            body_wrl_collect(walk, child, body_frame_mul(frame, body_wrl_frame(child)));
    }
    walk->is_inside = was_inside;
    walk->depth--;
}

static struct WrlFile *open_file(BodyScene *out, const char *path)
{
    for (struct WrlFile *file = out->wrl_files; file; file = file->next)
        if (!strcmp(file->path, path))
            return file;
    struct WrlFile *file = memory_alloc(sizeof *file);
    file->path = arena_string(scene_arena(out->scene), path);
    FormatsOptions options = { .limits = out->limits };
    file->scene = formats_load_vrml(path, &options, out->diags);
    file->next = out->wrl_files;
    out->wrl_files = file;
    return file;
}

// The frame of a named node: its own and all ancestors' turns and scales, but no translation, as Choreonoid cuts it
// out.
static BodyFrame cut_out_frame(const SceneNode *node)
{
    BodyFrame frame = BODY_FRAME_IDENTITY;
    for (; node; node = scene_parent(node))
        frame = body_frame_mul(body_wrl_frame(node), frame);
    frame.t = VEC3_ZERO;
    return frame;
}

const WrlShapes *body_wrl_shapes(BodyScene *out, const BodyGeometry *geometry)
{
    assert_debug(geometry->path);
    struct WrlFile *file = open_file(out, geometry->path);
    if (!file->scene)
        return NULL;
    for (WrlPart *part = file->parts; part; part = part->next)
        if (geometry->node ? part->node && !strcmp(part->node, geometry->node) : !part->node)
            return &part->shapes;
    WrlPart *part = memory_alloc(sizeof *part);
    part->node = geometry->node ? arena_string(scene_arena(out->scene), geometry->node) : NULL;
    part->next = file->parts;
    file->parts = part;
    WrlWalk walk = { .arena = scene_arena(out->scene),
                     .limits = out->limits,
                     .diags = out->diags,
                     .path = file->path,
                     .shapes = &part->shapes };
    const SceneNode *top = geometry->node ? scene_find_def(file->scene, geometry->node) : scene_root(file->scene);
    if (!top)
        diag_error(out->diags, geometry->pos, "%s has no node '%s'", path_name(file->path), geometry->node);
    else
        body_wrl_collect(&walk, top, geometry->node ? cut_out_frame(top) : BODY_FRAME_IDENTITY);
    return &part->shapes;
}

void body_wrl_free(BodyScene *out)
{
    while (out->wrl_files) {
        struct WrlFile *file = out->wrl_files;
        out->wrl_files = file->next;
        while (file->parts) {
            WrlPart *part = file->parts;
            file->parts = part->next;
            free(part->shapes.items);
            free(part);
        }
        scene_destroy(file->scene);
        free(file);
    }
}
