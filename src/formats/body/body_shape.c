// body_shape.c - shapes: geometry, appearance, and the checks that keep bad numbers out of both.
#include "formats/body/body_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

BodyGeometry *body_geometry_create(Arena *arena, int kind, SourcePos pos)
{
    BodyGeometry *geometry = arena_alloc(arena, sizeof *geometry);
    *geometry = (BodyGeometry){ .kind = kind,
                                .pos = pos,
                                .size = { 1, 1, 1 },
                                .radius = 1.0,
                                .height = 1.0,
                                .has_top = true,
                                .has_bottom = true,
                                .has_begin_cap = true,
                                .has_end_cap = true,
                                .is_ccw = true,
                                .division = 20,
                                .x_spacing = 1.0,
                                .z_spacing = 1.0,
                                .unit = 1.0 };
    return geometry;
}

Mesh *body_geometry_faces(const BodyGeometry *geometry)
{
    assert(geometry->kind == BODY_FACES || geometry->kind == BODY_TRIANGLES);
    MeshFaces faces = { .points = geometry->vertices.items,
                        .point_count = geometry->vertices.count / 3,
                        .indices = geometry->faces.items,
                        .index_count = geometry->faces.count,
                        .are_triangles = geometry->kind == BODY_TRIANGLES };
    MeshReport report = { 0 };
    return mesh_faces(&faces, NULL, &report);
}

static bool is_above(BodyReader *reader, const YamlNode *map, const char *what, double value, bool may_be_zero)
{
    if (isfinite(value) && (may_be_zero ? value >= 0.0 : value > 0.0) && value < LIMIT_COORDINATE)
        return true;
    diag_error(reader->diags, map->pos, "%s %g cannot be; the shape is left out", what, value);
    return false;
}

static bool read_box(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    body_vec3(reader, map, "size", NULL, &geometry->size);
    return is_above(reader, map, "box size", geometry->size.x, true)
           && is_above(reader, map, "box size", geometry->size.y, true)
           && is_above(reader, map, "box size", geometry->size.z, true);
}

static bool read_round(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    body_double(reader, map, "radius", NULL, &geometry->radius);
    body_double(reader, map, "height", NULL, &geometry->height);
    body_bool(reader, map, "top", NULL, &geometry->has_top);
    body_bool(reader, map, "bottom", NULL, &geometry->has_bottom);
    if (!is_above(reader, map, "radius", geometry->radius, false))
        return false;
    bool ends_round = geometry_of_kind(geometry->kind)->traits & GEOMETRY_ENDS_ROUND;
    return geometry->kind == GEOMETRY_SPHERE || is_above(reader, map, "height", geometry->height, ends_round);
}

static bool read_extrusion(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    assert_debug(yaml_is_map(map));
    if (!body_numbers(reader, map, "cross_section", "crossSection", 2, &geometry->cross_section)) {
        static const double square[] = { 1, 1, 1, -1, -1, -1, -1, 1, 1, 1 };
        geometry->cross_section = (BodyNumbers){ arena_copy(reader->arena, square, sizeof square), COUNT_OF(square) };
    }
    if (!body_numbers(reader, map, "spine", NULL, 3, &geometry->spine)) {
        static const double line[] = { 0, 0, 0, 0, 1, 0 };
        geometry->spine = (BodyNumbers){ arena_copy(reader->arena, line, sizeof line), COUNT_OF(line) };
    }
    body_numbers(reader, map, "orientation", NULL, 4, &geometry->orientation);
    for (int i = 3; i < geometry->orientation.count; i += 4)
        geometry->orientation.items[i] *= reader->angle;
    body_numbers(reader, map, "scale", NULL, 2, &geometry->scales);
    // Choreonoid looks for " begin_cap" by mistake, so that the manual's spelling has no effect there. Here it has.
    body_bool(reader, map, "begin_cap", "beginCap", &geometry->has_begin_cap);
    body_bool(reader, map, "end_cap", "endCap", &geometry->has_end_cap);
    if (geometry->cross_section.count >= 4 && geometry->spine.count >= 6)
        return true;
    diag_error(reader->diags, map->pos, "an Extrusion needs two points of cross_section and of spine; left out");
    return false;
}

// Cells are bounded before the heights are looked at, and a list that is too short is filled: physics and drawing
// rely on their product.
static bool read_grid(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    assert_debug(yaml_is_map(map));
    body_int(reader, map, "x_dimension", "xDimension", &geometry->x_dimension);
    body_int(reader, map, "z_dimension", "zDimension", &geometry->z_dimension);
    body_double(reader, map, "x_spacing", "xSpacing", &geometry->x_spacing);
    body_double(reader, map, "z_spacing", "zSpacing", &geometry->z_spacing);
    body_bool(reader, map, "ccw", NULL, &geometry->is_ccw);
    body_numbers(reader, map, "height", NULL, 1, &geometry->heights);
    body_numbers(reader, map, "tex_coord", "texCoord", 2, &geometry->tex_coords);
    int64_t wanted = (int64_t)geometry->x_dimension * geometry->z_dimension;
    if (geometry->x_dimension < 2 || geometry->z_dimension < 2 || wanted > reader->limits->heightfield_cells) {
        diag_error(reader->diags, map->pos, "an ElevationGrid of %d x %d points cannot be; left out",
                   geometry->x_dimension, geometry->z_dimension);
        return false;
    }
    if (!is_above(reader, map, "x_spacing", geometry->x_spacing, false)
        || !is_above(reader, map, "z_spacing", geometry->z_spacing, false))
        return false;
    if (geometry->heights.count != wanted) {
        diag_warning(reader->diags, map->pos, "ElevationGrid wants %lld heights, found %d; %s", (long long)wanted,
                     geometry->heights.count,
                     geometry->heights.count < wanted ? "the rest is 0" : "the rest is ignored");
        double *heights = arena_alloc_array(reader->arena, (size_t)wanted, sizeof *heights);
        int shared = int_min(geometry->heights.count, (int)wanted);
        if (shared > 0)
            memcpy(heights, geometry->heights.items, (size_t)shared * sizeof *heights);
        geometry->heights = (BodyNumbers){ heights, (int)wanted };
    }
    return true;
}

// Indices out of range would make every later reader unsafe: such faces are left out.
static bool check_faces(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    assert_debug(geometry->vertices.items || geometry->vertices.count == 0);
    int vertex_count = geometry->vertices.count / 3;
    if (vertex_count > reader->limits->mesh_vertices) {
        diag_error(reader->diags, map->pos, "%d vertices; at most %lld are read", vertex_count,
                   (long long)reader->limits->mesh_vertices);
        return false;
    }
    for (int i = 0; i < geometry->faces.count; i++) {
        int32_t index = geometry->faces.items[i];
        if (index >= vertex_count || index < (geometry->kind == BODY_FACES ? -1 : 0)) {
            diag_error(reader->diags, map->pos, "faces name vertex %d, but there are %d; the shape is left out", index,
                       vertex_count);
            return false;
        }
    }
    if (geometry->kind == BODY_TRIANGLES && geometry->faces.count % 3 != 0) {
        diag_error(reader->diags, map->pos, "a TriangleMesh wants three indices a face, found %d indices",
                   geometry->faces.count);
        geometry->faces.count -= geometry->faces.count % 3;
    }
    for (int i = 0; i < geometry->tex_coord_indices.count; i++) {
        if (geometry->tex_coord_indices.items[i] >= geometry->tex_coords.count / 2
            || geometry->tex_coord_indices.items[i] < -1) {
            diag_warning(reader->diags, map->pos,
                         "texture indices beyond the texture coordinates; the texture is not placed");
            geometry->tex_coord_indices.count = geometry->tex_coords.count = 0;
        }
    }
    for (int i = 0; i < geometry->normal_indices.count; i++) {
        if (geometry->normal_indices.items[i] >= geometry->normals.count / 3
            || geometry->normal_indices.items[i] < -1) {
            diag_warning(reader->diags, map->pos, "normal indices beyond the normals; they are ignored");
            geometry->normal_indices.count = geometry->normals.count = 0;
        }
    }
    if (geometry->faces.count == 0)
        diag_warning(reader->diags, map->pos, "a mesh without faces; left out");
    return geometry->faces.count > 0;
}

static bool read_faces(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    body_numbers(reader, map, "vertices", "coordinate", 3, &geometry->vertices);
    body_indices(reader, map, "faces", "coordIndex", &geometry->faces);
    body_numbers(reader, map, "normals", "normal", 3, &geometry->normals);
    body_indices(reader, map, "normal_indices", "normalIndex", &geometry->normal_indices);
    body_numbers(reader, map, "tex_coords", "texCoord", 2, &geometry->tex_coords);
    body_indices(reader, map, "tex_coord_indices", "texCoordIndex", &geometry->tex_coord_indices);
    return check_faces(reader, map, geometry);
}

static void read_metadata(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    const YamlNode *metadata = yaml_get(map, "metadata");
    const char *unit = "", *axis = "";
    if (yaml_is_scalar(metadata)) {
        unit = strstr(metadata->text, "millimeter") ? "millimeter" : strstr(metadata->text, "inch") ? "inch" : "";
        axis = strstr(metadata->text, "y_upper") ? "Y" : "";
    } else if (metadata) {
        body_string(reader, metadata, "length_unit", NULL, &unit);
        body_string(reader, metadata, "upper_axis", NULL, &axis);
    }
    geometry->unit = !strcmp(unit, "millimeter") ? 0.001 : !strcmp(unit, "inch") ? 0.0254 : 1.0;
    geometry->is_y_up = !strcmp(axis, "Y") || !strcmp(axis, "y");
}

static void read_mesh_keys(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    body_angle(reader, map, "crease_angle", "creaseAngle", &geometry->crease_angle);
    body_bool(reader, map, "remove_redundant_vertices", "removeRedundantVertices", &geometry->removes_redundant);
    read_metadata(reader, map, geometry);
}

static bool read_mesh_file(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry)
{
    if (!body_string(reader, map, "uri", "url", &geometry->uri)) {
        diag_error(reader->diags, map->pos, "a geometry of type Resource needs 'uri'");
        return false;
    }
    read_mesh_keys(reader, map, geometry);
    geometry->path = body_resolve(reader, geometry->uri, "mesh", map->pos);
    return true;
}

typedef struct BodyGeometryType {
    const char *name;
    int kind;
    bool (*read)(BodyReader *reader, const YamlNode *map, BodyGeometry *geometry);
    const char *keys[20];
} BodyGeometryType;

static const BodyGeometryType geometry_types[] = {
    { "Box", GEOMETRY_BOX, read_box, { "size" } },
    { "Sphere", GEOMETRY_SPHERE, read_round, { "radius" } },
    { "Cylinder", GEOMETRY_CYLINDER, read_round, { "radius", "height", "top", "bottom" } },
    { "Cone", GEOMETRY_CONE, read_round, { "radius", "height", "bottom" } },
    { "Capsule", GEOMETRY_CAPSULE, read_round, { "radius", "height" } },
    { "Extrusion",
      BODY_EXTRUSION,
      read_extrusion,
      { "cross_section", "crossSection", "spine", "orientation", "scale", "begin_cap", "beginCap", "end_cap",
        "endCap" } },
    { "ElevationGrid",
      BODY_ELEVATION_GRID,
      read_grid,
      { "x_dimension", "xDimension", "z_dimension", "zDimension", "x_spacing", "xSpacing", "z_spacing", "zSpacing",
        "height", "ccw", "tex_coord", "texCoord" } },
    { "IndexedFaceSet",
      BODY_FACES,
      read_faces,
      { "vertices", "coordinate", "faces", "coordIndex", "normals", "normal", "normal_indices", "normalIndex",
        "tex_coords", "texCoord", "tex_coord_indices", "texCoordIndex" } },
    { "TriangleMesh",
      BODY_TRIANGLES,
      read_faces,
      { "vertices", "coordinate", "faces", "coordIndex", "normals", "normal", "normal_indices", "normalIndex",
        "tex_coords", "texCoord", "tex_coord_indices", "texCoordIndex" } },
    { "Resource",
      BODY_MESH_FILE,
      read_mesh_file,
      { "uri", "url", "remove_redundant_vertices", "removeRedundantVertices", "metadata" } },
};

const char *body_geometry_name(int kind)
{
    int i = 0;
    while (i < COUNT_OF(geometry_types) && geometry_types[i].kind != kind)
        i++;
    assert(i < COUNT_OF(geometry_types));
    return geometry_types[i].name;
}

static const char *const common_geometry_keys[] = { "type",
                                                    "division_number",
                                                    "divisionNumber",
                                                    "extra_division_number",
                                                    "extraDivisionNumber",
                                                    "extra_division_mode",
                                                    "extraDivisionMode",
                                                    "crease_angle",
                                                    "creaseAngle",
                                                    "solid",
                                                    NULL };

static const BodyGeometry *read_geometry(BodyReader *reader, const YamlNode *map)
{
    assert_debug(yaml_is_map(map));
    const YamlNode *type = yaml_get(map, "type");
    if (!yaml_is_scalar(type)) {
        diag_error(reader->diags, map->pos, "a geometry needs 'type'");
        return NULL;
    }
    const char *names[COUNT_OF(geometry_types)];
    for (int i = 0; i < COUNT_OF(geometry_types); i++) {
        const BodyGeometryType *row = &geometry_types[i];
        names[i] = row->name;
        if (strcmp(row->name, type->text))
            continue;
        body_check_keys(reader, map, row->name, common_geometry_keys, row->keys, NULL);
        BodyGeometry *geometry = body_geometry_create(reader->arena, row->kind, map->pos);
        body_int(reader, map, "division_number", "divisionNumber", &geometry->division);
        geometry->division = geometry->division < 4 ? 20 : int_min(geometry->division, 1000);
        body_angle(reader, map, "crease_angle", "creaseAngle", &geometry->crease_angle);
        body_bool(reader, map, "solid", NULL, &geometry->is_solid);
        return row->read(reader, map, geometry) ? geometry : NULL;
    }
    diag_error(reader->diags, type->pos, "unknown geometry '%.60s'; the shape is left out", type->text);
    const char *closest = text_closest(type->text, names, COUNT_OF(names));
    if (closest)
        diag_hint(reader->diags, "did you mean '%s'?", closest);
    return NULL;
}

// Appearance

static void read_material(BodyReader *reader, const YamlNode *map, BodyAppearance *appearance)
{
    assert_debug(yaml_is_map(map));
    static const char *const keys[] = { "ambient",           "ambientIntensity", "diffuse",      "diffuseColor",
                                        "emissive",          "emissiveColor",    "specular",     "specularColor",
                                        "specular_exponent", "shininess",        "transparency", NULL };
    body_check_keys(reader, map, "material", keys, NULL, NULL);
    body_double(reader, map, "ambient", "ambientIntensity", &appearance->ambient);
    body_vec3(reader, map, "diffuse", "diffuseColor", &appearance->diffuse);
    body_vec3(reader, map, "emissive", "emissiveColor", &appearance->emissive);
    body_vec3(reader, map, "specular", "specularColor", &appearance->specular);
    double shininess;
    if (!body_double(reader, map, "specular_exponent", NULL, &appearance->specular_exponent)
        && body_double(reader, map, "shininess", NULL, &shininess))
        appearance->specular_exponent = 127.0 * double_clamp(shininess, 0.0, 1.0) + 1.0;
    body_double(reader, map, "transparency", NULL, &appearance->transparency);
    appearance->transparency = double_clamp(appearance->transparency, 0.0, 1.0);
}

static void read_texture(BodyReader *reader, const YamlNode *map, BodyAppearance *appearance)
{
    assert_debug(yaml_is_map(map));
    static const char *const keys[] = { "type",    "uri",      "url",     "repeat", "repeat_s",
                                        "repeatS", "repeat_t", "repeatT", NULL };
    body_check_keys(reader, map, "texture", keys, NULL, NULL);
    if (!body_string(reader, map, "uri", "url", &appearance->texture_uri))
        return;
    appearance->texture_path = body_resolve(reader, appearance->texture_uri, "texture", map->pos);
    const YamlNode *repeat = yaml_get(map, "repeat");
    bool both;
    if (yaml_is_list(repeat) && repeat->count == 2) {
        yaml_bool(repeat->items[0], &appearance->repeat_s);
        yaml_bool(repeat->items[1], &appearance->repeat_t);
    } else if (repeat && yaml_bool(repeat, &both)) {
        appearance->repeat_s = appearance->repeat_t = both;
    }
    body_bool(reader, map, "repeat_s", "repeatS", &appearance->repeat_s);
    body_bool(reader, map, "repeat_t", "repeatT", &appearance->repeat_t);
}

static void read_texture_transform(BodyReader *reader, const YamlNode *map, BodyAppearance *appearance)
{
    static const char *const keys[] = { "center", "scale", "translation", "rotation", NULL };
    body_check_keys(reader, map, "texture_transform", keys, NULL, NULL);
    appearance->has_texture_transform = true;
    body_vec2(reader, map, "center", NULL, &appearance->texture_center);
    body_vec2(reader, map, "scale", NULL, &appearance->texture_scale);
    body_vec2(reader, map, "translation", NULL, &appearance->texture_translation);
    body_angle(reader, map, "rotation", NULL, &appearance->texture_rotation);
}

static const BodyAppearance *read_appearance(BodyReader *reader, const YamlNode *map)
{
    static const char *const keys[] = { "material", "texture", "texture_transform", "textureTransform", NULL };
    if (!yaml_is_map(map))
        return NULL;
    const BodyAppearance *cached = body_cache_get(&reader->appearances, map);
    if (cached)
        return cached;
    body_check_keys(reader, map, "appearance", keys, NULL, NULL);
    BodyAppearance *appearance = body_appearance_create(reader->arena, map->pos);
    const YamlNode *material = yaml_get(map, "material"), *texture = yaml_get(map, "texture");
    const YamlNode *transform = body_key(map, "texture_transform", "textureTransform");
    if (yaml_is_map(material))
        read_material(reader, material, appearance);
    if (yaml_is_map(texture))
        read_texture(reader, texture, appearance);
    if (yaml_is_map(transform))
        read_texture_transform(reader, transform, appearance);
    body_cache_put(&reader->appearances, map, appearance);
    return appearance;
}

// Shapes

void body_shape_add(BodyReader *reader, BodyShape shape)
{
    assert_debug(shape.geometry);
    BodyModel *model = reader->model;
    for (int i = 0; i < 9; i++)
        if (!isfinite(shape.frame.m.m[i]))
            return;
    if (!vec3_is_finite(shape.frame.t) || model->shape_count >= reader->limits->nodes)
        return;
    *memory_push(model->shapes, model->shape_count, model->shape_capacity) = shape;
}

static BodyShape shape_at(ElementScope scope)
{
    return (BodyShape){ .link = scope.link,
                        .device = scope.device,
                        .frame = scope.frame,
                        .is_visual = scope.is_visual,
                        .is_collision = scope.is_collision,
                        .name = "" };
}

void body_shape_read(BodyReader *reader, const YamlNode *map, ElementScope scope)
{
    static const char *const keys[] = { "geometry", "appearance", "is_meta_scene", NULL };
    body_check_keys(reader, map, "Shape", body_transform_keys, keys, NULL);
    const YamlNode *geometry_node = yaml_get(map, "geometry");
    if (!yaml_is_map(geometry_node)) {
        diag_warning(reader->diags, map->pos, "a Shape without geometry; left out");
        return;
    }
    BodyShape shape = shape_at(scope);
    shape.frame = body_frame_mul(scope.frame, body_transform(reader, map));
    shape.geometry = body_cache_get(&reader->geometries, geometry_node);
    if (!shape.geometry) {
        shape.geometry = read_geometry(reader, geometry_node);
        if (!shape.geometry)
            return;
        body_cache_put(&reader->geometries, geometry_node, shape.geometry);
    }
    shape.appearance = read_appearance(reader, yaml_get(map, "appearance"));
    body_string(reader, map, "name", NULL, &shape.name);
    body_shape_add(reader, shape);
}

void body_mesh_file_add(BodyReader *reader, const YamlNode *resource, const char *path, ElementScope scope)
{
    BodyShape shape = shape_at(scope);
    BodyGeometry *geometry = body_geometry_create(reader->arena, BODY_MESH_FILE, resource->pos);
    body_string(reader, resource, "uri", "url", &geometry->uri);
    geometry->path = path;
    body_string(reader, resource, "node", NULL, &geometry->node);
    if (!geometry->node)
        body_string(reader, resource, "fragment", NULL, &geometry->node);
    read_mesh_keys(reader, resource, geometry);
    shape.geometry = geometry;
    body_string(reader, resource, "name", NULL, &shape.name);
    body_shape_add(reader, shape);
}
