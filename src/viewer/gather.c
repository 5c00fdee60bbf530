// From the nodes of a scene to a list of things to draw, and where it is seen from.
#include "viewer/render_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_VISITS = 4000000, MOST_DRAWABLES = 1000000 };

// ---- matrices ----

Matrix matrix_identity(void)
{
    return (Matrix){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 } };
}

Matrix matrix_mul(Matrix a, Matrix b)
{
    Matrix result = { { 0 } };
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            for (int k = 0; k < 4; k++)
                result.m[4 * column + row] += a.m[4 * k + row] * b.m[4 * column + k];
    return result;
}

Matrix matrix_from_pose(Pose pose)
{
    Mat3 r = mat3_from_quat(pose.q);
    return (Matrix){ { r.m[0], r.m[3], r.m[6], 0, r.m[1], r.m[4], r.m[7], 0, r.m[2], r.m[5], r.m[8], 0, pose.t.x, pose.t.y, pose.t.z, 1 } };
}

static Matrix matrix_scaling(Vec3 s)
{
    return (Matrix){ { s.x, 0, 0, 0, 0, s.y, 0, 0, 0, 0, s.z, 0, 0, 0, 0, 1 } };
}

static Matrix matrix_shift(double x, double y)
{
    return (Matrix){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, 0, 1 } };
}

double matrix_determinant(const Matrix *matrix)
{
    const double *m = matrix->m;
    return m[0] * (m[5] * m[10] - m[9] * m[6]) - m[4] * (m[1] * m[10] - m[9] * m[2]) + m[8] * (m[1] * m[6] - m[5] * m[2]);
}

// ---- looks ----

static void set_color(float out[3], Vec3 color)
{
    out[0] = (float)color.x;
    out[1] = (float)color.y;
    out[2] = (float)color.z;
}

static Look plain_look(void)
{
    return (Look){ .color = { 1, 1, 1, 1 }, .shininess = 10.0f, .texture = matrix_identity(), .repeats_s = true, .repeats_t = true, .is_smooth = true };
}

// VRML's order: shifted first, then turned and scaled about the centre.
static Matrix texture_matrix(const SceneNode *transform)
{
    Vec2 center = scene_vec2(transform, "center"), scale = scene_vec2(transform, "scale"), shift = scene_vec2(transform, "translation");
    Matrix turn = matrix_from_pose((Pose){ VEC3_ZERO, quat_from_axis_angle(vec3(0, 0, 1), scene_float(transform, "rotation")) });
    Matrix result = matrix_mul(matrix_shift(-center.x, -center.y), matrix_scaling(vec3(scale.x, scale.y, 1.0)));
    return matrix_mul(matrix_mul(result, turn), matrix_shift(center.x + shift.x, center.y + shift.y));
}

static void take_image(Look *look, const ShapeSource *source, const SceneNode *appearance, const char *field)
{
    const SceneNode *texture = scene_child(appearance, field), *transform = scene_child(appearance, "textureTransform");
    if (!texture || !scene_node_is(texture, "ImageTexture"))
        return;
    look->image = shape_texture(source, texture);
    if (look->image && !look->image->pixels)
        look->image = NULL;
    look->repeats_s = scene_bool(texture, "repeatS");
    look->repeats_t = scene_bool(texture, "repeatT");
    look->is_smooth = scene_int(texture, "filtering") > 0;
    if (transform)
        look->texture = texture_matrix(transform);
}

static void take_material(Look *look, const SceneNode *material)
{
    set_color(look->color, scene_vec3(material, "diffuseColor"));
    look->color[3] = (float)(1.0 - scene_float(material, "transparency"));
    set_color(look->emissive, scene_vec3(material, "emissiveColor"));
    set_color(look->specular, scene_vec3(material, "specularColor"));
    look->shininess = (float)fmin(fmax(128.0 * scene_float(material, "shininess"), 1.0), 128.0);
}

static void take_pbr(Look *look, const ShapeSource *source, const SceneNode *appearance)
{
    set_color(look->color, scene_vec3(appearance, "baseColor"));
    look->color[3] = (float)(1.0 - scene_float(appearance, "transparency"));
    set_color(look->emissive, vec3_scale(scene_vec3(appearance, "emissiveColor"), fmin(scene_float(appearance, "emissiveIntensity"), 1.0)));
    float gloss = (float)(1.0 - scene_float(appearance, "roughness"));
    for (int i = 0; i < 3; i++)
        look->specular[i] = 0.25f * gloss * gloss;
    look->shininess = 5.0f + 60.0f * gloss;
    take_image(look, source, appearance, "baseColorMap");
}

static Look look_of(const ShapeSource *source, const SceneNode *appearance)
{
    Look look = plain_look();
    if (appearance && scene_node_is(appearance, "PBRAppearance")) {
        take_pbr(&look, source, appearance);
    } else if (appearance && scene_node_is(appearance, "Appearance")) {
        const SceneNode *material = scene_child(appearance, "material");
        if (material)
            take_material(&look, material);
        take_image(&look, source, appearance, "texture");
    }
    return look;
}

static Look look_of_mesh(const MeshMaterial *material)
{
    Look look = plain_look();
    set_color(look.color, material->diffuse);
    look.color[3] = (float)(1.0 - material->transparency);
    set_color(look.emissive, material->emissive);
    set_color(look.specular, material->specular);
    look.shininess = (float)fmin(fmax(128.0 * material->shininess, 1.0), 128.0);
    return look;
}

// ---- nodes ----

typedef struct Gather {
    DrawList *list;
    const ShapeSource *source;
} Gather;

static void add(DrawList *list, const Drawable *drawable)
{
    if (list->count >= MOST_DRAWABLES) {
        list->is_cut = true;
        return;
    }
    memory_grow(&list->items, &list->capacity, list->count + 1, sizeof(Drawable));
    list->items[list->count++] = *drawable;
}

static void add_mesh(Gather *gather, const Mesh *mesh, Matrix matrix, const Look *look)
{
    add(gather->list, &(Drawable){ .matrix = matrix, .mesh = mesh, .triangle_count = mesh->triangle_count, .look = *look });
}

static void add_shape(Gather *gather, const SceneNode *shape, Matrix matrix)
{
    const SceneNode *geometry = scene_child(shape, "geometry");
    ShapeKind kind = shape_form(geometry).kind;
    if (kind == SHAPE_NONE)
        return;
    Look look = look_of(gather->source, scene_child(shape, "appearance"));
    if (kind == SHAPE_DRAWN) {
        if (scene_node_is(geometry, "IndexedLineSet") || scene_node_is(geometry, "PointSet"))
            add(gather->list, &(Drawable){ .matrix = matrix, .lines = geometry, .look = look });
        return;
    }
    ShapeMesh mesh = shape_mesh(gather->source, geometry);
    if (mesh.mesh)
        add_mesh(gather, mesh.mesh, matrix, &look);
}

// Parts of the file have materials of their own.
static void add_cad_shape(Gather *gather, const SceneNode *shape, Matrix matrix)
{
    const Mesh *mesh = shape_mesh(gather->source, shape).mesh;
    if (!mesh)
        return;
    Look plain = plain_look();
    if (mesh->part_count == 0)
        add_mesh(gather, mesh, matrix, &plain);
    for (int i = 0; i < mesh->part_count; i++) {
        const MeshPart *part = &mesh->parts[i];
        Look look = part->material >= 0 && part->material < mesh->material_count ? look_of_mesh(&mesh->materials[part->material]) : plain;
        add(gather->list, &(Drawable){ .matrix = matrix, .mesh = mesh, .first_triangle = part->first_triangle,
                                       .triangle_count = part->triangle_count, .look = look });
    }
}

static void add_light(Gather *gather, const SceneNode *light, const Matrix *m)
{
    DrawList *list = gather->list;
    if (!scene_bool(light, "on"))
        return;
    list->ambient += (float)(0.3 * scene_float(light, "ambientIntensity"));
    if (!scene_node_is(light, "DirectionalLight") || list->light_count == MOST_LIGHTS)
        return;
    Vec3 d = scene_vec3(light, "direction"), color = vec3_scale(scene_vec3(light, "color"), scene_float(light, "intensity"));
    DrawnLight *out = &list->lights[list->light_count++];
    out->direction = vec3_normalized(vec3(m->m[0] * d.x + m->m[4] * d.y + m->m[8] * d.z, m->m[1] * d.x + m->m[5] * d.y + m->m[9] * d.z,
                                          m->m[2] * d.x + m->m[6] * d.y + m->m[10] * d.z));
    set_color(out->color, color);
}

static void walk(Gather *gather, const SceneNode *given, Matrix matrix)
{
    const SceneNode *node = scene_actual(given);
    if (!node || node->is_removed || !node->type || gather->list->is_cut)
        return;
    if (++gather->list->visits > MOST_VISITS) {
        gather->list->is_cut = true;
        return;
    }
    if (scene_node_is(node, "Pose"))
        matrix = matrix_mul(matrix, matrix_from_pose(scene_pose(node)));
    if (scene_node_is(node, "Transform"))
        matrix = matrix_mul(matrix, matrix_scaling(scene_vec3(node, "scale")));
    if (scene_node_is(node, "Shape"))
        add_shape(gather, node, matrix);
    else if (scene_node_is(node, "CadShape"))
        add_cad_shape(gather, node, matrix);
    else if (scene_node_is(node, "Light"))
        add_light(gather, node, &matrix);
    if (schema_field(node->type, "children")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++)
            walk(gather, scene_list_node(children, i), matrix);
    }
    if (schema_field(node->type, "endPoint"))
        walk(gather, scene_child(node, "endPoint"), matrix);
}

// ---- the world around ----

static const SceneNode *root_node(const Scene *scene, const char *type)
{
    const FieldList *nodes = scene_list(scene_root(scene), "children");
    for (int i = 0; i < nodes->count; i++) {
        const SceneNode *node = scene_list_node(nodes, i);
        if (node && !node->is_removed && scene_node_is(node, type))
            return node;
    }
    return NULL;
}

static void take_background(DrawList *list, const Scene *scene)
{
    const SceneNode *background = root_node(scene, "Background");
    set_color(list->sky, VEC3_ZERO);
    list->ambient = 0.35f;
    if (!background)
        return;
    const FieldList *colors = scene_list(background, "skyColor");
    // Images of a sky are not drawn: something like their colour is.
    if (scene_list(background, "frontUrl")->count > 0 && !scene_field(background, "skyColor"))
        set_color(list->sky, vec3(0.68, 0.78, 0.88));
    else if (colors->count > 0)
        set_color(list->sky, vec3(colors->numbers[0], colors->numbers[1], colors->numbers[2]));
    list->ambient = 0.35f * (float)fmin(scene_float(background, "luminosity"), 1.5);
}

// Worlds are made for a renderer with exposure: what is too bright here is dimmed to what white can show.
static void balance_lights(DrawList *list)
{
    if (list->light_count == 0)
        list->lights[list->light_count++] = (DrawnLight){ vec3_normalized(vec3(0.4, 0.3, -0.9)), { 1, 1, 1 } };
    float most = 0.0f;
    for (int i = 0; i < list->light_count; i++)
        for (int k = 0; k < 3; k++)
            most = fmaxf(most, list->lights[i].color[k]);
    list->ambient = fminf(list->ambient, 0.6f);
    float scale = most > 0.0f ? 0.6f / most : 0.0f;
    for (int i = 0; i < list->light_count; i++)
        for (int k = 0; k < 3; k++)
            list->lights[i].color[k] *= scale / sqrtf((float)list->light_count);
}

void draw_list_gather(DrawList *list, const ShapeSource *source)
{
    list->count = list->light_count = list->visits = 0;
    list->is_cut = false;
    take_background(list, source->scene);
    Gather gather = { list, source };
    walk(&gather, scene_root(source->scene), matrix_identity());
    balance_lights(list);
    if (list->is_cut)
        diag_warning(source->diags, (SourcePos){ 0 }, "the world has too many shapes: the picture lacks some");
}

void draw_list_free(DrawList *list)
{
    free(list->items);
    *list = (DrawList){ 0 };
}

// ---- from where ----

RenderCamera render_viewpoint(const Scene *scene)
{
    const SceneNode *viewpoint = root_node(scene, "Viewpoint");
    if (!viewpoint)
        return (RenderCamera){ .pose = { vec3(-10, 0, 0), QUAT_IDENTITY }, .field_of_view = M_PI_4, .is_of_longer_side = true, .near = 0.05 };
    return (RenderCamera){
        .pose = { scene_vec3(viewpoint, "position"), quat_from_rotation(scene_rotation(viewpoint, "orientation")) },
        .field_of_view = scene_float(viewpoint, "fieldOfView"), .is_of_longer_side = true,
        .near = scene_float(viewpoint, "near"), .far = scene_float(viewpoint, "far"),
    };
}

typedef struct CameraSearch { const char *name; int index; const SceneNode *found; } CameraSearch;

static bool is_camera(const SceneNode *node, CameraSearch *search)
{
    if (!scene_node_is(node, "Camera") || node->is_removed)
        return false;
    if (!search->name)
        return search->index-- == 0;
    const char *name = scene_string(node, "name"), *robot = render_robot_name(node);
    size_t length = strlen(robot);
    return !strcmp(search->name, name) ||
           (length > 0 && !strncmp(search->name, robot, length) && search->name[length] == '/' && !strcmp(search->name + length + 1, name));
}

static bool look_for_camera(SceneNode *node, void *context)
{
    CameraSearch *search = context;
    if (is_camera(node, search))
        search->found = node;
    return !search->found;
}

const SceneNode *render_find_camera(const Scene *scene, const char *name)
{
    CameraSearch search = { .name = name };
    scene_walk(scene_root(scene), false, look_for_camera, &search);
    return search.found;
}

const SceneNode *render_next_camera(const Scene *scene, int index)
{
    CameraSearch search = { .index = index };
    scene_walk(scene_root(scene), false, look_for_camera, &search);
    return search.found;
}

const char *render_robot_name(const SceneNode *camera)
{
    for (const SceneNode *at = scene_parent(camera); at; at = scene_parent(at))
        if (scene_node_is(at, "Robot"))
            return scene_string(at, "name");
    return "";
}

RenderCamera render_camera(const SceneNode *camera)
{
    return (RenderCamera){
        .pose = scene_world_pose(camera), .field_of_view = fmin(scene_float(camera, "fieldOfView"), 3.1), .near = scene_float(camera, "near"),
        .far = scene_float(camera, "far"), .width = scene_int(camera, "width"), .height = scene_int(camera, "height"),
        .name = scene_string(camera, "name"),
    };
}

const SceneNode *render_follow_solid(const Scene *scene)
{
    const SceneNode *viewpoint = root_node(scene, "Viewpoint");
    if (!viewpoint || !*scene_string(viewpoint, "follow") || !strcmp(scene_string(viewpoint, "followType"), "None"))
        return NULL;
    return scene_find_solid(scene, scene_string(viewpoint, "follow"));
}

Pose render_followed(const Scene *scene, Pose viewpoint, Pose before, Pose now)
{
    const SceneNode *node = root_node(scene, "Viewpoint");
    const char *type = node ? scene_string(node, "followType") : "";
    if (!strcmp(type, "Mounted Shot"))
        return pose_mul(now, pose_mul(pose_inverse(before), viewpoint));
    if (!strcmp(type, "Pan and Tilt Shot")) {
        // Turned by what takes the old direction of the solid to the new one, kept upright.
        Vec3 to = vec3_sub(now.t, viewpoint.t);
        double level = sqrt(to.x * to.x + to.y * to.y);
        viewpoint.q = quat_mul(quat_from_axis_angle(vec3(0, 0, 1), atan2(to.y, to.x)), quat_from_axis_angle(vec3(0, 1, 0), -atan2(to.z, level)));
        return viewpoint;
    }
    viewpoint.t = vec3_add(viewpoint.t, vec3_sub(now.t, before.t));
    return viewpoint;
}
