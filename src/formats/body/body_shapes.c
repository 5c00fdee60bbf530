// body_shapes.c - shapes of a body as nodes of a scene: primitives where the two formats agree, faces elsewhere.
#include "formats/body/body_scene.h"

#include "assets/mesh.h"

#include <stdlib.h>
#include <string.h>

static const Pose y_axis_up = { { 0, 0, 0 },
                                { 0.70710678118654757, -0.70710678118654757, 0, 0 } };  // z of Webots onto y

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

// Of the faces points, indices and the crease angle count.
static SceneNode *faces_node(BodyScene *out, const MeshFaces *faces, SourcePos pos)
{
    assert_debug(faces->point_count >= 0 && faces->index_count >= 0);
    SceneNode *node = body_scene_node(out, "IndexedFaceSet", pos), *coord = body_scene_node(out, "Coordinate", pos);
    body_scene_numbers(out, coord, "point", faces->points, faces->point_count);
    scene_set_child(out->scene, node, "coord", coord);
    int count = faces->are_triangles ? faces->index_count / 3 * 4 : faces->index_count;
    FieldList *list = scene_list_edit(out->scene, node, "coordIndex");
    scene_list_reserve(out->scene, list, FIELD_SF_INT32, count);
    list->count = 0;
    for (int i = 0; i < faces->index_count; i++) {
        list->ints[list->count++] = faces->indices[i];
        if (faces->are_triangles && i % 3 == 2)
            list->ints[list->count++] = -1;
    }
    if (faces->crease_angle > 0.0)
        scene_set_float(out->scene, node, "creaseAngle", faces->crease_angle);
    return node;
}

// Collisions want the outside outside; bodies are drawn from both sides and often have it in.
static bool is_inside_out(const Mesh *mesh)
{
    MeshMass mass = { 0 };
    mesh_mass(mesh, &mass);
    return mass.is_closed && mass.volume < 0.0;
}

static SceneNode *mesh_node(BodyScene *out, Mesh *mesh, Vec3 scale, double crease_angle, SourcePos pos)
{
    if (!mesh)
        return NULL;
    SceneNode *node = NULL;
    if (mesh->triangle_count > 0) {
        Mesh *scaled = mesh_transformed(mesh, scale, POSE_IDENTITY);
        if (is_inside_out(scaled)) {
            Mesh *flipped = mesh_flipped(scaled);
            mesh_destroy(scaled);
            scaled = flipped;
        }
        MeshFaces faces = { .points = scaled->positions,
                            .point_count = scaled->vertex_count,
                            .indices = (const int32_t *)scaled->triangles,
                            .index_count = 3 * scaled->triangle_count,
                            .are_triangles = true,
                            .crease_angle = crease_angle };
        node = faces_node(out, &faces, pos);
        mesh_destroy(scaled);
    }
    mesh_destroy(mesh);
    return node;
}

static SceneNode *tessellated(BodyScene *out, const BodyGeometry *geometry, Vec3 scale)
{
    GeometryDetail detail = { .divisions = geometry->division,
                              .axis = MESH_AXIS_Y,
                              .without_top = !geometry->has_top,
                              .without_bottom = !geometry->has_bottom };
    const GeometryType *type = geometry_of_kind(geometry->kind);
    assert(type && type->mesh);
    Mesh *mesh = type->mesh(vec3(geometry->radius, geometry->height, 0.0), &detail);
    return mesh_node(out, mesh, scale, 0.5, geometry->pos);
}

// A scale that keeps it round becomes part of radius and height; any other makes triangles of it. Choreonoid's round
// shapes stand along y.
static SceneNode *round_node(BodyScene *out, const BodyGeometry *geometry, Vec3 scale, bool is_collision, Pose *pose)
{
    Vec3 s = vec3(fabs(scale.x), fabs(scale.y), fabs(scale.z));
    const GeometryType *type = geometry_of_kind(geometry->kind);
    assert_debug(type && (type->traits & GEOMETRY_IS_ROUND || geometry->kind == GEOMETRY_SPHERE));
    bool is_sphere = geometry->kind == GEOMETRY_SPHERE, ends_round = type->traits & GEOMETRY_ENDS_ROUND;
    if (!is_near(s.x, s.z) || (!(type->traits & GEOMETRY_SCALES_AROUND) && !is_near(s.x, s.y))
        || (geometry->kind == GEOMETRY_CONE && (is_collision || scale.y < 0.0)))
        return tessellated(out, geometry, scale);
    if (ends_round && geometry->height <= 0.0) {
        SceneNode *ball = body_scene_node(out, "Sphere", geometry->pos);
        scene_set_float(out->scene, ball, "radius", geometry->radius * s.x);
        scene_set_int(out->scene, ball, "subdivision", 3);
        return ball;
    }
    SceneNode *node = body_scene_node(out, type->node, geometry->pos);
    scene_set_float(out->scene, node, type->lengths[0], geometry->radius * s.x);
    if (is_sphere) {
        scene_set_int(out->scene, node, "subdivision", 3);
        return node;
    }
    *pose = pose_mul(*pose, y_axis_up);
    scene_set_float(out->scene, node, type->lengths[1], geometry->height * s.y);
    scene_set_int(out->scene, node, "subdivision", geometry->division);
    if (!ends_round && !geometry->has_bottom && !is_collision)
        scene_set_bool(out->scene, node, "bottom", false);
    if (geometry->kind == GEOMETRY_CYLINDER && !geometry->has_top && !is_collision)
        scene_set_bool(out->scene, node, "top", false);
    return node;
}

static bool faces_are_inside_out(const BodyGeometry *geometry)
{
    Mesh *mesh = body_geometry_faces(geometry);
    bool is_inside = mesh && is_inside_out(mesh);
    mesh_destroy(mesh);
    return is_inside;
}

// A mirrored body has its faces turned over, and many files have them turned over to begin with; coordinates of
// textures follow the faces and are kept as they are.
static SceneNode *index_set(BodyScene *out, const BodyGeometry *geometry, Vec3 scale)
{
    assert_debug(geometry->kind == BODY_FACES || geometry->kind == BODY_TRIANGLES);
    int count = geometry->vertices.count / 3;
    double *points = malloc(sizeof *points * (size_t)(3 * count + 1));
    for (int i = 0; points && i < 3 * count; i++)
        points[i] = geometry->vertices.items[i] * (&scale.x)[i % 3];
    MeshFaces faces = { .points = points,
                        .point_count = count,
                        .indices = geometry->faces.items,
                        .index_count = geometry->faces.count,
                        .are_triangles = geometry->kind == BODY_TRIANGLES,
                        .crease_angle = geometry->crease_angle };
    SceneNode *node = points ? faces_node(out, &faces, geometry->pos) : NULL;
    free(points);
    bool is_mirrored = scale.x * scale.y * scale.z < 0.0;
    if (node && faces_are_inside_out(geometry) != is_mirrored)
        scene_set_bool(out->scene, node, "ccw", false);
    if (node && geometry->tex_coords.count > 0 && geometry->kind == BODY_FACES) {
        SceneNode *coords = body_scene_node(out, "TextureCoordinate", geometry->pos);
        body_scene_numbers(out, coords, "point", geometry->tex_coords.items, geometry->tex_coords.count / 2);
        scene_set_child(out->scene, node, "texCoord", coords);
        if (geometry->tex_coord_indices.count > 0) {
            FieldList *list = scene_list_edit(out->scene, node, "texCoordIndex");
            scene_list_reserve(out->scene, list, FIELD_SF_INT32, geometry->tex_coord_indices.count);
            list->count = geometry->tex_coord_indices.count;
            memcpy(list->ints, geometry->tex_coord_indices.items, (size_t)list->count * sizeof *list->ints);
        }
    }
    return node;
}

static SceneNode *extrusion_node(BodyScene *out, const BodyGeometry *geometry, Vec3 scale)
{
    assert_debug(geometry->kind == BODY_EXTRUSION);
    MeshExtrusion extrusion = { .section = geometry->cross_section.items,
                                .section_count = geometry->cross_section.count / 2,
                                .spine = geometry->spine.items,
                                .spine_count = geometry->spine.count / 3,
                                .orientations = geometry->orientation.items,
                                .orientation_count = geometry->orientation.count / 4,
                                .scales = geometry->scales.items,
                                .scale_count = geometry->scales.count / 2,
                                .crease_angle = geometry->crease_angle,
                                .without_begin_cap = !geometry->has_begin_cap,
                                .without_end_cap = !geometry->has_end_cap };
    MeshReport report = { 0 };
    return mesh_node(out, mesh_extrusion(&extrusion, out->limits, &report), scale, geometry->crease_angle,
                     geometry->pos);
}

static SceneNode *grid_node(BodyScene *out, const BodyGeometry *geometry, Vec3 scale)
{
    assert_debug(geometry->kind == BODY_ELEVATION_GRID);
    MeshGrid grid = { .columns = geometry->x_dimension,
                      .rows = geometry->z_dimension,
                      .column_spacing = geometry->x_spacing,
                      .row_spacing = geometry->z_spacing,
                      .heights = geometry->heights.items,
                      .height_count = geometry->heights.count,
                      .axis = MESH_AXIS_Y,
                      .crease_angle = geometry->crease_angle,
                      .is_clockwise = !geometry->is_ccw };
    return mesh_node(out, mesh_grid(&grid, out->limits), scale, geometry->crease_angle, geometry->pos);
}

// A geometry with the scale worked in. Faces that were made before are shared, as DEF and USE.
static SceneNode *geometry_node(BodyScene *out, const BodyGeometry *geometry, Vec3 scale, bool is_collision, Pose *pose)
{
    if (geometry->kind == GEOMETRY_BOX) {
        SceneNode *box = body_scene_node(out, "Box", geometry->pos);
        Vec3 size = vec3_mul(geometry->size, vec3(fabs(scale.x), fabs(scale.y), fabs(scale.z)));
        scene_set_vec3(out->scene, box, "size", vec3(fmax(size.x, 1e-6), fmax(size.y, 1e-6), fmax(size.z, 1e-6)));
        return box;
    }
    bool is_round = geometry_of_kind(geometry->kind) != NULL;
    if (is_round)
        return round_node(out, geometry, scale, is_collision, pose);
    bool is_plain = scale.x == 1.0 && scale.y == 1.0 && scale.z == 1.0;
    const void *key = geometry;
    SceneNode *made = is_plain ? (SceneNode *)body_cache_get(&out->faces, key) : NULL;
    if (made) {
        if (!made->def)
            made->def = arena_printf(scene_arena(out->scene), "%s_FACES_%d", out->prefix, out->def_count++);
        return scene_node_create_use(out->scene, made, made->def, geometry->pos);
    }
    SceneNode *node = geometry->kind == BODY_EXTRUSION        ? extrusion_node(out, geometry, scale)
                      : geometry->kind == BODY_ELEVATION_GRID ? grid_node(out, geometry, scale)
                                                              : index_set(out, geometry, scale);
    if (node && is_plain)
        body_cache_put(&out->faces, key, node);
    return node;
}

// The exponent of a highlight is 127 times Webots' shininess plus 1, as in the importer of VRML; colours are
// clamped, since fields of a Material refuse others.
static SceneNode *appearance_node(BodyScene *out, const BodyAppearance *appearance)
{
    if (!appearance)
        return NULL;
    Scene *scene = out->scene;
    SceneNode *node = body_scene_node(out, "Appearance", appearance->pos),
              *material = body_scene_node(out, "Material", appearance->pos);
    scene_set_float(scene, material, "ambientIntensity", double_clamp(appearance->ambient, 0.0, 1.0));
    const struct {
        const char *name;
        Vec3 color;
    } colors[] = {
        { "diffuseColor", appearance->diffuse },
        { "emissiveColor", appearance->emissive },
        { "specularColor", appearance->specular },
    };
    for (int i = 0; i < COUNT_OF(colors); i++) {
        Vec3 c = colors[i].color;
        scene_set_vec3(scene, material, colors[i].name,
                       vec3(double_clamp(c.x, 0, 1), double_clamp(c.y, 0, 1), double_clamp(c.z, 0, 1)));
    }
    scene_set_float(scene, material, "shininess",
                    double_clamp((appearance->specular_exponent - 1.0) / 127.0, 0.0, 1.0));
    scene_set_float(scene, material, "transparency", appearance->transparency);
    scene_set_child(scene, node, "material", material);
    if (appearance->texture_path) {
        SceneNode *texture = body_scene_node(out, "ImageTexture", appearance->pos);
        body_scene_string_list(out, texture, "url", body_scene_url(out, appearance->texture_path));
        scene_set_bool(scene, texture, "repeatS", appearance->repeat_s);
        scene_set_bool(scene, texture, "repeatT", appearance->repeat_t);
        scene_set_child(scene, node, "texture", texture);
    }
    if (appearance->has_texture_transform) {
        SceneNode *transform = body_scene_node(out, "TextureTransform", appearance->pos);
        scene_set_vec2(scene, transform, "center", appearance->texture_center);
        scene_set_vec2(scene, transform, "scale", appearance->texture_scale);
        scene_set_vec2(scene, transform, "translation", appearance->texture_translation);
        scene_set_float(scene, transform, "rotation", appearance->texture_rotation);
        scene_set_child(scene, node, "textureTransform", transform);
    }
    return node;
}

static SceneNode *mesh_file_node(BodyScene *out, const BodyShape *shape, bool is_collision)
{
    assert_debug(shape->geometry->kind == BODY_MESH_FILE && shape->geometry->path);
    const BodyGeometry *geometry = shape->geometry;
    const char *extension = strrchr(geometry->path, '.');
    bool is_cad = extension && (!strcasecmp(extension, ".dae") || !strcasecmp(extension, ".obj"));
    if (!is_collision && is_cad && !shape->appearance && !geometry->node) {
        SceneNode *cad = body_scene_node(out, "CadShape", geometry->pos);
        body_scene_string_list(out, cad, "url", body_scene_url(out, geometry->path));
        return cad;
    }
    SceneNode *mesh = body_scene_node(out, "Mesh", geometry->pos);
    body_scene_string_list(out, mesh, "url", body_scene_url(out, geometry->path));
    if (geometry->node)  // a mesh of a DAE file or a group of an OBJ file
        scene_set_string(out->scene, mesh, "name", geometry->node);
    if (is_collision)
        return mesh;
    SceneNode *node = body_scene_node(out, "Shape", geometry->pos),
              *appearance = appearance_node(out, shape->appearance);
    if (!appearance) {
        appearance = body_scene_node(out, "Appearance", geometry->pos);
        scene_set_child(out->scene, appearance, "material", body_scene_node(out, "Material", geometry->pos));
    }
    scene_set_child(out->scene, node, "appearance", appearance);
    scene_set_child(out->scene, node, "geometry", mesh);
    return node;
}

// A node at a pose, with a Pose or Transform around it where one is needed.
static SceneNode *placed(BodyScene *out, SceneNode *node, Pose pose, Vec3 scale, SourcePos pos)
{
    assert_debug(node);
    bool is_scaled = scale.x != 1.0 || scale.y != 1.0 || scale.z != 1.0;
    bool is_moved = vec3_length2(pose.t) > 0.0 || fabs(pose.q.x) + fabs(pose.q.y) + fabs(pose.q.z) > 1e-14;
    if (!is_scaled && !is_moved)
        return node;
    SceneNode *holder = body_scene_node(out, is_scaled ? "Transform" : "Pose", pos);
    body_scene_pose(out, holder, pose);
    if (is_scaled)
        scene_set_vec3(out->scene, holder, "scale", scale);
    body_scene_nodes(out, holder, "children", &node, 1);
    return holder;
}

// Collision takes the bare geometry, drawing a Shape around it. Without an appearance a Shape would be white and
// unlit, so it gets the plain one.
static SceneNode *shape_node(BodyScene *out, const BodyShape *shape, bool is_collision)
{
    Pose pose;
    Vec3 scale;
    const BodyGeometry *geometry = shape->geometry;
    if (!body_frame_split(shape->frame, &pose, &scale))
        diag_warning(out->diags, geometry->pos,
                     "scales above this shape skew it; it is shown and collides without the skew");
    if (geometry->kind == BODY_MESH_FILE) {
        if (!geometry->path)
            return NULL;
        if (geometry->is_y_up)
            pose.q = quat_mul(pose.q, quat_from_axis_angle(vec3(1, 0, 0), 1.5707963267948966));
        return placed(out, mesh_file_node(out, shape, is_collision), pose, vec3_scale(scale, geometry->unit),
                      geometry->pos);
    }
    SceneNode *node = geometry_node(out, geometry, scale, is_collision, &pose);
    if (!node)
        return NULL;
    if (!is_collision) {
        SceneNode *visual = body_scene_node(out, "Shape", geometry->pos),
                  *appearance = appearance_node(out, shape->appearance);
        if (!appearance) {
            appearance = body_scene_node(out, "Appearance", geometry->pos);
            scene_set_child(out->scene, appearance, "material", body_scene_node(out, "Material", geometry->pos));
        }
        scene_set_child(out->scene, visual, "appearance", appearance);
        scene_set_child(out->scene, visual, "geometry", node);
        node = visual;
    }
    return placed(out, node, pose, vec3(1, 1, 1), geometry->pos);
}

void body_shape_nodes(BodyScene *out, const BodyShape *shape, bool is_collision)
{
    assert_debug(shape->geometry);
    const BodyGeometry *geometry = shape->geometry;
    const char *extension = geometry->path ? strrchr(geometry->path, '.') : NULL;
    if (geometry->kind != BODY_MESH_FILE || !extension || strcasecmp(extension, ".wrl")) {
        body_scene_gather(out, shape_node(out, shape, is_collision));
        return;
    }
    const WrlShapes *shapes = body_wrl_shapes(out, geometry);
    for (int i = 0; shapes && i < shapes->count; i++) {
        BodyShape part = shapes->items[i];
        BodyFrame unit = { mat3_scale(MAT3_IDENTITY, geometry->unit), VEC3_ZERO };
        part.frame = body_frame_mul(shape->frame, body_frame_mul(unit, part.frame));
        if (shape->appearance)
            part.appearance = shape->appearance;
        body_scene_gather(out, shape_node(out, &part, is_collision));
    }
}
