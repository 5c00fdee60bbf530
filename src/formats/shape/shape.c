// shape.c - geometry nodes as forms: sizes, checks and meshes of each kind.
#include "formats/shape/shape.h"

#include "base/hash.h"
#include "base/text.h"
#include "formats/shape/shape_internal.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

// ---- forms ----

// Through a Shape to its geometry.
static const SceneNode *geometry_of(const SceneNode *node)
{
    node = scene_actual(node);
    if (node && node->type && !strcmp(node->type->name, "Shape"))
        node = scene_child(node, "geometry");
    return node;
}

ShapeForm shape_form(const SceneNode *geometry)
{
    const SceneNode *node = geometry_of(geometry);
    ShapeForm form = { .type = node && node->type ? geometry_type(node->type->name) : NULL };
    if (!form.type)
        return form;
    form.kind = form.type->kind;
    double *numbers = &form.size.x;
    for (int i = 0, read = 0; read < form.type->size_count; i++) {
        assert(i < COUNT_OF(form.type->lengths) && form.type->lengths[i]);
        const FieldType *field = schema_field(node->type, form.type->lengths[i]);
        assert(field);
        FieldValue value = scene_value(node, field);
        int count = field_kind_doubles(field->kind);
        memcpy(numbers + read, value.v, (size_t)count * sizeof *numbers);
        read += count;
        assert(count > 0 && read <= 3);
    }
    return form;
}

// ---- who names a URL ----

// Files are named by the sink. Should the sink be another one than the scene's, the name would be of no file of the
// scene: then the innermost PROTO around the node, or the world, is the best guess.
const char *shape_naming_file(const ShapeSource *source, const SceneNode *node, const char *field)
{
    assert_debug(node && field);
    const char *world = scene_path(source->scene), *innermost = NULL;
    const char *said = diag_file_name(source->diags, scene_field_pos(node, field).file);
    if (!strcmp(said, world))
        return world;
    for (const SceneNode *above = node; above; above = above->parent) {
        const char *path = above->proto ? above->proto->path : NULL;
        if (path && *path && !innermost && node->in_proto)
            innermost = path;
        if (path && !strcmp(path, said))
            return path;
    }
    return innermost ? innermost
           : *said && !strcasecmp(strrchr(said, '.') ? strrchr(said, '.') : "", ".body") ? said
                                                                                         : world;
}

static bool ends_with_any(const char *text, const char *const *suffixes)
{
    size_t length = strlen(text);
    for (int i = 0; suffixes[i]; i++) {
        size_t tail = strlen(suffixes[i]);
        if (length >= tail && !strcasecmp(text + length - tail, suffixes[i]))
            return true;
    }
    return false;
}

static bool is_vrml(const char *url)
{
    static const char *const suffixes[] = { ".wrl", ".vrml", NULL };
    return ends_with_any(url, suffixes);
}

static bool is_choreonoid(const char *file)
{
    static const char *const suffixes[] = { ".body", ".yaml", ".yml", ".cnoid", ".scen", NULL };
    return ends_with_any(file, suffixes);
}

// ---- building ----

static const FieldList *list_of(const SceneNode *node, const char *child, const char *field)
{
    static const FieldList none;
    const SceneNode *holder = scene_child(node, child);
    return holder && holder->type && schema_field(holder->type, field) ? scene_list(holder, field) : &none;
}

static void describe(const SceneNode *node, char *out, size_t size)
{
    snprintf(out, size, "this %s", node->type->name);
}

// The lists are borrowed from the node for the call; what is missing is NULL, which mesh_faces takes for "not
// given".
static Mesh *build_faces(const ShapeSource *source, const SceneNode *node)
{
    assert_debug(schema_field(node->type, "coordIndex"));
    const FieldList *points = list_of(node, "coord", "point"), *normals = list_of(node, "normal", "vector");
    const FieldList *texcoords = list_of(node, "texCoord", "point"), *indices = scene_list(node, "coordIndex");
    const FieldList *normal_indices = scene_list(node, "normalIndex"),
                    *texcoord_indices = scene_list(node, "texCoordIndex");
    MeshFaces faces = {
        .points = points->numbers,
        .point_count = points->count,
        .indices = indices->ints,
        .index_count = indices->count,
        .normals = normals->count ? normals->numbers : NULL,
        .normal_count = normals->count,
        .normal_indices = normal_indices->count ? normal_indices->ints : NULL,
        .normal_index_count = normal_indices->count,
        .normals_per_face = !scene_bool(node, "normalPerVertex"),
        .texcoords = texcoords->count ? texcoords->numbers : NULL,
        .texcoord_count = texcoords->count,
        .texcoord_indices = texcoord_indices->count ? texcoord_indices->ints : NULL,
        .texcoord_index_count = texcoord_indices->count,
        .crease_angle = scene_float(node, "creaseAngle"),
        .is_clockwise = !scene_bool(node, "ccw"),
    };
    MeshReport report = { 0 };
    Mesh *mesh = mesh_faces(&faces, store_limits(source->assets), &report);
    char what[64];
    describe(node, what, sizeof what);
    mesh_report(&report, what, source->diags, node->pos);
    return mesh;
}

static Mesh *build_grid(const ShapeSource *source, const SceneNode *node, MeshAxis axis)
{
    assert_debug(schema_field(node->type, "height"));
    const FieldList *heights = scene_list(node, "height");
    bool y_up = axis == MESH_AXIS_Y;
    MeshGrid grid = { .columns = scene_int(node, "xDimension"),
                      .rows = scene_int(node, y_up ? "zDimension" : "yDimension"),
                      .column_spacing = scene_float(node, "xSpacing"),
                      .row_spacing = scene_float(node, y_up ? "zSpacing" : "ySpacing"),
                      .heights = heights->numbers,
                      .height_count = heights->count,
                      .axis = axis,
                      .crease_angle = scene_float(node, "creaseAngle"),
                      .is_clockwise = !scene_bool(node, "ccw") };
    int64_t wanted = (int64_t)grid.columns * grid.rows;
    if (grid.columns >= 2 && grid.rows >= 2 && wanted != heights->count)
        diag_warning(source->diags, scene_field_pos(node, "height"),
                     "this ElevationGrid wants %lld heights and has %d; %s", (long long)wanted, heights->count,
                     heights->count < wanted ? "missing ones are 0" : "the rest is ignored");
    Mesh *mesh = mesh_grid(&grid, store_limits(source->assets));
    if (!mesh)
        diag_warning(source->diags, node->pos,
                     "this ElevationGrid of %d x %d points has no surface, or more than the limit allows", grid.columns,
                     grid.rows);
    return mesh;
}

static Mesh *build_extrusion(const ShapeSource *source, const SceneNode *node)
{
    assert_debug(schema_field(node->type, "spine"));
    const FieldList *section = scene_list(node, "crossSection"), *spine = scene_list(node, "spine");
    const FieldList *scales = scene_list(node, "scale"), *orientations = scene_list(node, "orientation");
    MeshReport report = { 0 };
    MeshExtrusion extrusion = { .section = section->numbers,
                                .section_count = section->count,
                                .spine = spine->numbers,
                                .spine_count = spine->count,
                                .scales = scales->numbers,
                                .scale_count = scales->count,
                                .orientations = orientations->numbers,
                                .orientation_count = orientations->count,
                                .crease_angle = scene_float(node, "creaseAngle"),
                                .without_begin_cap = !scene_bool(node, "beginCap"),
                                .without_end_cap = !scene_bool(node, "endCap"),
                                .is_clockwise = !scene_bool(node, "ccw") };
    Mesh *mesh = mesh_extrusion(&extrusion, store_limits(source->assets), &report);
    if (!mesh)
        diag_warning(source->diags, node->pos, "this Extrusion wants at least two points in crossSection and spine");
    mesh_report(&report, "this Extrusion", source->diags, node->pos);
    return mesh;
}

static bool is_on(const SceneNode *node, const char *field)
{
    return !schema_field(node->type, field) || scene_bool(node, field);
}

// The fineness of VRML97's forms is left to the reader.
static GeometryDetail detail_of(const SceneNode *node, MeshAxis axis)
{
    GeometryDetail detail = { .divisions = MESH_CHOREONOID_DIVISIONS, .axis = axis };
    if (axis == MESH_AXIS_Z && schema_field(node->type, "subdivision"))
        detail.divisions = scene_int(node, "subdivision");
    detail.is_ico = axis == MESH_AXIS_Z && is_on(node, "ico");
    detail.without_top = !is_on(node, "top");
    detail.without_bottom = !is_on(node, "bottom");
    detail.without_side = !is_on(node, "side");
    return detail;
}

static bool size_is_sound(const ShapeForm *form)
{
    const double *numbers = &form->size.x;
    for (int i = 0; i < form->type->size_count; i++)
        if (!(numbers[i] > 0.0 && numbers[i] <= LIMIT_COORDINATE))
            return false;
    return true;
}

Mesh *shape_build(const ShapeSource *source, const SceneNode *geometry, MeshAxis axis)
{
    assert_debug(source);
    const SceneNode *node = geometry_of(geometry);
    ShapeForm form = shape_form(node);
    if (!form.type)
        return NULL;
    if (!size_is_sound(&form)) {
        diag_warning(source->diags, node->pos, "this %s has a size that is not positive; it has no surface",
                     node->type->name);
        return NULL;
    }
    if (form.type->mesh) {
        GeometryDetail detail = detail_of(node, axis);
        return form.type->mesh(form.size, &detail);
    }
    if (form.kind == GEOMETRY_HEIGHTS)
        return build_grid(source, node, axis);
    if (!strcmp(node->type->name, "IndexedFaceSet"))
        return build_faces(source, node);
    return strcmp(node->type->name, "Extrusion") ? NULL : build_extrusion(source, node);
}

// ---- sharing ----

static uint64_t hash_value(const SceneNode *node, const FieldType *type, uint64_t hash);

static uint64_t hash_node(const SceneNode *node, uint64_t hash)
{
    node = scene_actual(node);
    if (!node || !node->type)
        return hash_combine(hash, 1);
    hash = hash_combine(hash, hash_string(node->type->name));
    for (int i = 0; i < node->type->field_count; i++)
        hash = hash_value(node, &node->type->fields[i], hash);
    return hash;
}

// Over all that a geometry says; nodes inside one are never more than a level deep (Coordinate, Normal ...).
static uint64_t hash_value(const SceneNode *node, const FieldType *type, uint64_t hash)
{
    assert_debug(type);
    FieldValue value = scene_value(node, type);
    int doubles = field_kind_doubles(field_kind_item(type->kind));
    if (type->kind == FIELD_SF_NODE)
        return value.node ? hash_node(value.node, hash) : hash;
    if (field_kind_is_list(type->kind)) {
        size_t item = doubles                                         ? (size_t)doubles * sizeof(double)
                      : field_kind_item(type->kind) == FIELD_SF_INT32 ? sizeof(int32_t)
                                                                      : 0;
        return item && value.list->count ? hash_bytes(value.list->items, (size_t)value.list->count * item, hash) : hash;
    }
    if (doubles)
        return hash_bytes(type->kind == FIELD_SF_FLOAT ? &value.f : value.v, (size_t)doubles * sizeof(double), hash);
    if (type->kind == FIELD_SF_BOOL)
        return hash_combine(hash, value.b);
    return type->kind == FIELD_SF_INT32 ? hash_combine(hash, (uint64_t)(uint32_t)value.i) : hash;
}

static const Mesh *built_mesh(const ShapeSource *source, const SceneNode *node)
{
    char key[64];
    snprintf(key, sizeof key, "%s %016llx", node->type->name, (unsigned long long)hash_node(node, 0));
    const Mesh *mesh = store_find_mesh(source->assets, key);
    if (mesh)
        return mesh;
    Mesh *built = shape_build(source, node, MESH_AXIS_Z);
    return built ? store_keep_mesh(source->assets, key, built) : NULL;
}

// ---- files ----

static const Mesh *turned_mesh(const ShapeSource *source, const Mesh *mesh, bool ccw)
{
    if (ccw || !mesh)
        return mesh;
    char key[64];
    snprintf(key, sizeof key, "other side of %016llx", (unsigned long long)mesh_hash(mesh));
    const Mesh *flipped = store_find_mesh(source->assets, key);
    return flipped ? flipped : store_keep_mesh(source->assets, key, mesh_flipped(mesh));
}

// Webots takes the first URL alone.
static const Mesh *file_mesh(const ShapeSource *source, const SceneNode *node)
{
    assert_debug(source->assets);
    const FieldList *urls = scene_list(node, "url");
    if (urls->count == 0 || !urls->strings[0][0])
        return NULL;
    const char *url = urls->strings[0], *from = shape_naming_file(source, node, "url");
    SourcePos pos = scene_field_pos(node, "url");
    bool has_filter = schema_field(node->type, "name") != NULL;
    const char *name = has_filter ? scene_string(node, "name") : "";
    const Mesh *mesh;
    if (is_vrml(url)) {
        mesh = shape_vrml_mesh(source, url, from, *name ? name : NULL, pos);
    } else {
        static const char *const dae[] = { ".dae", NULL };
        // In Webots the filters are for DAE files alone; other formats ignore them. A body may name a part of any mesh.
        bool filters = has_filter && (ends_with_any(url, dae) || is_choreonoid(from));
        StoreMeshQuery query = { .name = filters ? name : "",
                                 .material = filters ? scene_int(node, "materialIndex") : -1,
                                 .keep_axes = is_choreonoid(from),
                                 .flat = is_choreonoid(from) };
        mesh = store_mesh(source->assets, url, from, &query, source->diags, pos);
    }
    return turned_mesh(source, mesh, scene_bool(node, "ccw"));
}

const Mesh *shape_file_mesh(const ShapeSource *source, const char *url, const char *from, const char *node,
                            SourcePos pos)
{
    if (is_vrml(url))
        return shape_vrml_mesh(source, url, from, node, pos);
    StoreMeshQuery query = { .name = node, .material = -1, .keep_axes = true, .flat = true };
    return store_mesh(source->assets, url, from, &query, source->diags, pos);
}

ShapeMesh shape_mesh(const ShapeSource *source, const SceneNode *geometry)
{
    assert_debug(source);
    const SceneNode *node = geometry_of(geometry);
    ShapeMesh result = { 0 };
    GeometryKind kind = shape_form(node).kind;
    if (kind == GEOMETRY_NONE || kind == GEOMETRY_DRAWN)
        return result;
    bool is_file = schema_field(node->type, "url") != NULL;
    if (!is_file) {
        result.mesh = built_mesh(source, node);
    } else if (scene_list(node, "url")->count > 0) {
        result.mesh = file_mesh(source, node);
        result.is_placeholder = !result.mesh;
        if (!result.mesh)
            result.mesh = store_placeholder(source->assets);
    }
    if (result.mesh && result.mesh->triangle_count == 0) {
        diag_warning(source->diags, node->pos, "this %s has no triangles", node->type->name);
        result.mesh = NULL;
    }
    return result;
}

const Image *shape_texture(const ShapeSource *source, const SceneNode *texture)
{
    const SceneNode *node = scene_actual(texture);
    if (!node || !node->type || !schema_field(node->type, "url"))
        return NULL;
    const FieldList *urls = scene_list(node, "url");
    if (urls->count == 0 || !urls->strings[0][0])
        return NULL;
    return store_image(source->assets, urls->strings[0], shape_naming_file(source, node, "url"), source->diags,
                       scene_field_pos(node, "url"));
}

const Image *shape_image(const ShapeSource *source, const SceneNode *node, const char *field, const char *url)
{
    return store_image(source->assets, url, shape_naming_file(source, node, field), source->diags,
                       scene_field_pos(node, field));
}
