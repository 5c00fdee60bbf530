// body_from_parts.c - shapes, devices, loops and rules of a scene as those of a body.
#include "formats/body/body_from.h"

#include "assets/geometry.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/shape/shape.h"

#include <stdlib.h>
#include <string.h>

static const Mat3 z_to_y = { { 1, 0, 0, 0, 0, -1, 0, 1, 0 } };  // a shape along y, turned to stand along z

// Shapes

static void set_file(BodyFrom *from, const SceneNode *node, BodyGeometry *geometry)
{
    const FieldList *urls = scene_list(node, "url");
    Arena *arena = from->model->arena;
    geometry->uri = urls->count > 0 ? body_from_text(from, urls->strings[0]) : "";
    const char *path = path_join(arena, path_directory(arena, scene_path(from->scene)), geometry->uri);
    geometry->path = file_exists(path) ? path : NULL;
}

// Takes the mesh over; nothing is set when it is NULL.
static void set_triangles(BodyFrom *from, Mesh *mesh, BodyGeometry *geometry)
{
    assert_debug(geometry);
    if (!mesh)
        return;
    geometry->kind = BODY_TRIANGLES;
    geometry->vertices = (BodyNumbers){ arena_copy(from->model->arena, mesh->positions,
                                                   (size_t)mesh->vertex_count * 3 * sizeof(double)),
                                        3 * mesh->vertex_count };
    geometry->faces = (BodyIndices){ arena_copy(from->model->arena, mesh->triangles,
                                                (size_t)mesh->triangle_count * 3 * sizeof(int32_t)),
                                     3 * mesh->triangle_count };
    mesh_destroy(mesh);
}

// An ElevationGrid lies in x and y here; as faces it needs no agreement about axes.
static void set_grid(BodyFrom *from, const SceneNode *node, BodyGeometry *geometry)
{
    assert_debug(scene_node_is(node, "ElevationGrid"));
    const FieldList *heights = scene_list(node, "height");
    MeshGrid grid = { .columns = scene_int(node, "xDimension"),
                      .rows = scene_int(node, "yDimension"),
                      .column_spacing = scene_float(node, "xSpacing"),
                      .row_spacing = scene_float(node, "ySpacing"),
                      .heights = heights->numbers,
                      .height_count = heights->count,
                      .axis = MESH_AXIS_Z };
    set_triangles(from, mesh_grid(&grid, NULL), geometry);
}

// A geometry node as the geometry of a body: by its form where bodies have it, by its faces or triangles otherwise.
// NULL: neither.
static BodyGeometry *read_geometry(BodyFrom *from, const SceneNode *node, BodyFrame *frame)
{
    assert_debug(schema_type_is(node->type, "Geometry"));
    const char *type = node->type->name;
    ShapeForm form = shape_form(node);
    BodyGeometry *geometry = body_geometry_create(from->model->arena, GEOMETRY_BOX, node->pos);
    if (form.kind == GEOMETRY_BOX) {
        geometry->size = form.size;
    } else if (form.kind == GEOMETRY_SPHERE) {
        geometry->kind = form.kind;
        geometry->radius = form.size.x;
    } else if (form.type && form.type->traits & GEOMETRY_IS_ROUND) {
        geometry->kind = form.kind;
        geometry->radius = form.size.x;
        geometry->height = form.size.y;
        geometry->division = int_max(scene_int(node, "subdivision"), 4);
        if (!(form.type->traits & GEOMETRY_ENDS_ROUND))
            geometry->has_bottom = scene_bool(node, "bottom");
        if (form.kind == GEOMETRY_CYLINDER)
            geometry->has_top = scene_bool(node, "top");
        frame->m = mat3_mul(frame->m, z_to_y);
    } else if (!strcmp(type, "IndexedFaceSet")) {
        if (!body_vrml_faces(from->model->arena, node, geometry))
            return NULL;
    } else if (!strcmp(type, "ElevationGrid")) {
        set_grid(from, node, geometry);
        return geometry->kind == BODY_TRIANGLES ? geometry : NULL;
    } else if (!strcmp(type, "Plane")) {
        Vec2 size = scene_vec2(node, "size");
        geometry->size = vec3(size.x, size.y, 0.1);
        frame->t = vec3_add(frame->t, mat3_apply(frame->m, vec3(0, 0, -0.05)));
        diag_note(from->diags, node->pos, "a Plane is written as a box of its size");
    } else if (!strcmp(type, "Mesh")) {
        geometry->kind = BODY_MESH_FILE;
        set_file(from, node, geometry);
        if (*scene_string(node, "name"))
            geometry->node = body_from_text(from, scene_string(node, "name"));
        if (scene_int(node, "materialIndex") >= 0)
            body_from_lost(from, node, "materialIndex");
    } else if (form.type && form.type->mesh) {
        GeometryDetail detail = { .divisions = MESH_CHOREONOID_DIVISIONS };
        set_triangles(from, form.type->mesh(form.size, &detail), geometry);
        return geometry->kind == BODY_TRIANGLES ? geometry : NULL;
    } else {
        return NULL;
    }
    return geometry;
}

static const char *texture_of(BodyFrom *from, const SceneNode *texture, BodyAppearance *appearance)
{
    const FieldList *urls = texture && scene_node_is(texture, "ImageTexture") ? scene_list(texture, "url") : NULL;
    if (!urls || urls->count == 0)
        return NULL;
    Arena *arena = from->model->arena;
    appearance->texture_uri = body_from_text(from, urls->strings[0]);
    appearance->repeat_s = scene_bool(texture, "repeatS");
    appearance->repeat_t = scene_bool(texture, "repeatT");
    const char *path = path_join(arena, path_directory(arena, scene_path(from->scene)), appearance->texture_uri);
    appearance->texture_path = file_exists(path) ? path : NULL;
    return appearance->texture_uri;
}

// A body knows the light model of VRML alone: of a physical appearance it gets base colour, glow and transparency.
static const BodyAppearance *read_appearance(BodyFrom *from, const SceneNode *node)
{
    if (!node)
        return NULL;
    BodyAppearance *appearance = body_appearance_create(from->model->arena, node->pos);
    if (scene_node_is(node, "PBRAppearance")) {
        appearance->diffuse = scene_vec3(node, "baseColor");
        appearance->emissive = scene_vec3(node, "emissiveColor");
        appearance->transparency = scene_float(node, "transparency");
        texture_of(from, scene_child(node, "baseColorMap"), appearance);
    } else {
        body_vrml_material(scene_child(node, "material"), appearance);
        texture_of(from, scene_child(node, "texture"), appearance);
    }
    const SceneNode *transform = scene_child(node, "textureTransform");
    if (transform) {
        appearance->has_texture_transform = true;
        appearance->texture_center = scene_vec2(transform, "center");
        appearance->texture_scale = scene_vec2(transform, "scale");
        appearance->texture_translation = scene_vec2(transform, "translation");
        appearance->texture_rotation = scene_float(transform, "rotation");
    }
    return appearance;
}

static BodyFrame frame_of(const SceneNode *node)
{
    Pose pose = scene_pose(node);
    BodyFrame frame = { mat3_from_quat(pose.q), pose.t };
    if (scene_node_is(node, "Transform")) {
        Vec3 scale = scene_vec3(node, "scale");
        for (int i = 0; i < 9; i++)
            frame.m.m[i] *= (&scale.x)[i % 3];
    }
    return frame;
}

static void add_shape(BodyFrom *from, BodyShape shape)
{
    assert_debug(shape.link >= 0 && shape.link < from->model->link_count);
    BodyModel *model = from->model;
    *memory_push(model->shapes, model->shape_count, model->shape_capacity) = shape;
}

// Groups dissolve: links of a body have one flat list of shapes, each with its frame.
void body_from_shapes(BodyFrom *from, const SceneNode *node, int link, BodyFrame frame, bool is_collision)
{
    assert_debug(link >= 0 && link < from->model->link_count);
    BodyShape shape = {
        .link = link, .device = -1, .frame = frame, .is_visual = !is_collision, .is_collision = is_collision, .name = ""
    };
    if (scene_node_is(node, "CadShape")) {
        BodyGeometry *geometry = body_geometry_create(from->model->arena, BODY_MESH_FILE, node->pos);
        set_file(from, node, geometry);
        shape.geometry = geometry;
        add_shape(from, shape);
        return;
    }
    if (scene_node_is(node, "Group")) {
        const FieldList *children = scene_list(node, "children");
        for (int i = 0; i < children->count; i++) {
            const SceneNode *child = scene_list_node(children, i);
            if (child)
                body_from_shapes(from, child, link,
                                 scene_node_is(child, "Pose") ? body_frame_mul(frame, frame_of(child)) : frame,
                                 is_collision);
        }
        return;
    }
    const SceneNode *geometry = scene_node_is(node, "Shape") ? scene_child(node, "geometry") : node;
    if (!geometry)
        return;
    if (schema_type_is(geometry->type, "Geometry"))
        shape.geometry = read_geometry(from, geometry, &shape.frame);
    if (!shape.geometry) {
        body_from_lost(from, geometry, "as a shape");
        return;
    }
    if (!is_collision && scene_node_is(node, "Shape"))
        shape.appearance = read_appearance(from, scene_child(node, "appearance"));
    add_shape(from, shape);
}

// Volume

static BodyMassPart primitive_volume(const BodyGeometry *geometry)
{
    const GeometryType *type = geometry_of_kind(geometry->kind);
    if (!type || !type->mass)
        return (BodyMassPart){ 0 };
    bool is_box = geometry->kind == GEOMETRY_BOX;
    MassProperties part = type->mass(1.0, is_box ? geometry->size : vec3(geometry->radius, geometry->height, 0.0));
    const double *m = part.inertia.m;
    if (is_box)
        return (BodyMassPart){ part.mass, part.center, part.inertia };
    return (BodyMassPart){ part.mass, VEC3_ZERO, { { m[0], 0, 0, 0, m[8], 0, 0, 0, m[4] } } };  // along y
}

static BodyMassPart faces_volume(const BodyGeometry *geometry)
{
    Mesh *mesh = body_geometry_faces(geometry);
    MeshMass mass = { 0 };
    if (mesh)
        mesh_mass(mesh, &mass);
    mesh_destroy(mesh);
    return mass.is_solid ? (BodyMassPart){ mass.volume, mass.centre, mass.inertia } : (BodyMassPart){ 0 };
}

BodyMassPart body_from_volume(const BodyFrom *from, int first_shape, int link)
{
    assert_debug(first_shape >= 0 && first_shape <= from->model->shape_count);
    const BodyModel *model = from->model;
    BodyMassPart total = { 0 };
    Vec3 moment = VEC3_ZERO;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = first_shape; i < model->shape_count; i++) {
            const BodyShape *shape = &model->shapes[i];
            if (shape->link != link || !shape->is_collision)
                continue;
            bool is_faces = shape->geometry->kind == BODY_FACES || shape->geometry->kind == BODY_TRIANGLES;
            BodyMassPart part = is_faces ? faces_volume(shape->geometry) : primitive_volume(shape->geometry);
            Vec3 center = vec3_sub(body_frame_apply(shape->frame, part.com), from->shifts[link]);
            if (pass == 0) {
                total.mass += part.mass;
                moment = vec3_mad(moment, center, part.mass);
                continue;
            }
            Mat3 turned = mat3_mul(mat3_mul(shape->frame.m, part.inertia), mat3_transposed(shape->frame.m));
            total.inertia = mat3_add(total.inertia,
                                     mat3_add(turned, mat3_point_inertia(part.mass, vec3_sub(center, total.com))));
        }
        if (pass == 0 && total.mass > 0.0)
            total.com = vec3_scale(moment, 1.0 / total.mass);
    }
    return total;
}

// Children

// Every kind of node that a body can have goes its way; the rest is told as lost, once for each.
void body_from_children(BodyFrom *from, const SceneNode *holder, int link, BodyFrame frame)
{
    assert_debug(link >= 0 && link < from->model->link_count);
    const FieldList *children = scene_list(holder, "children");
    for (int i = 0; i < children->count; i++) {
        const SceneNode *child = scene_behind_slots(scene_list_node(children, i));
        if (!child || scene_node_is(child, "BodyLink") || scene_node_is(child, "BodyInfo"))
            continue;
        if (body_from_device(from, child, link, frame))
            continue;
        if (scene_node_is(child, "ExtraJoint")) {
            *memory_push(from->loops, from->loop_count,
                         from->loop_capacity) = (BodyLoop){ child, scene_string(child, "solidName"), link, frame };
        } else if (scene_node_is(child, "Joint")) {
            body_from_joint(from, child, link, frame);
        } else if (scene_node_is(child, "Solid")) {
            body_from_fixed(from, child, link, frame);
        } else if (scene_node_is(child, "Shape") || scene_node_is(child, "CadShape")) {
            body_from_shapes(from, child, link, frame, false);
        } else if (scene_node_is(child, "Pose")) {
            body_from_children(from, child, link, body_frame_mul(frame, frame_of(child)));
        } else if (scene_node_is(child, "Group")) {
            body_from_children(from, child, link, frame);
        } else {
            body_from_lost(from, child, "");
        }
    }
}

void body_from_loop(BodyFrom *from, const BodyLoop *loop, BodyExtraJoint *extra)
{
    assert_debug(extra->link[0] >= 0 && extra->link[1] >= 0);
    const SceneNode *joint = loop->joint;
    if (scene_node_is(joint, "ExtraJoint")) {
        for (BodyExtraType type = BODY_EXTRA_FIXED; type <= BODY_EXTRA_PISTON; type++)
            if (!strcmp(scene_string(joint, "type"), body_extra_type_name(type)))
                extra->type = type;
        extra->frame[0] = body_frame_mul(
            loop->above, (BodyFrame){ mat3_from_quat(quat_from_rotation(scene_rotation(joint, "rotation"))),
                                      scene_vec3(joint, "anchor") });
        extra->frame[1] = (BodyFrame){ mat3_from_quat(quat_from_rotation(scene_rotation(joint, "rotation2"))),
                                       vec3_add(scene_vec3(joint, "anchor2"), from->shifts[extra->link[1]]) };
        extra->axis = vec3_normalized(scene_vec3(joint, "axis"));
        return;
    }
    const SceneNode *parameters = scene_child(joint, "jointParameters");
    extra->type = scene_node_is(joint, "HingeJoint")    ? BODY_EXTRA_HINGE
                  : scene_node_is(joint, "SliderJoint") ? BODY_EXTRA_PISTON
                                                        : BODY_EXTRA_BALL;
    Vec3 anchor = parameters && extra->type != BODY_EXTRA_PISTON ? scene_vec3(parameters, "anchor") : VEC3_ZERO;
    if (parameters && extra->type != BODY_EXTRA_BALL)
        extra->axis = vec3_normalized(mat3_apply(loop->above.m, scene_vec3(parameters, "axis")));
    extra->frame[0].t = body_frame_apply(loop->above, anchor);
    // The other side's point is the one that meets it now.
    BodyModel *model = from->model;
    BodyFrame *frames = memory_alloc_array((size_t)model->link_count, sizeof *frames);
    body_link_frames(model, NULL, frames);
    Vec3 world = body_frame_apply(frames[extra->link[0]], extra->frame[0].t);
    Vec3 local = vec3_sub(world, frames[extra->link[1]].t);
    extra->frame[1].t = mat3_apply(mat3_transposed(frames[extra->link[1]].m), local);
    for (double *c = &extra->frame[1].t.x; c <= &extra->frame[1].t.z; c++)
        if (fabs(*c) < 1e-12)
            *c = 0.0;
    free(frames);
}

// The text form of gather_body_notes, read back; links that are gone are left out of their rule.
void body_from_rules(BodyFrom *from, const FieldList *rules)
{
    BodyModel *model = from->model;
    model->has_rules = true;
    model->rules = arena_alloc_array(model->arena, (size_t)rules->count, sizeof *model->rules);
    for (int i = 0; i < rules->count; i++) {
        const char *text = rules->strings[i], *colon = strchr(text, ':');
        BodyRuleType type;
        if (!colon || !body_rule_named(text, (size_t)(colon - text), &type))
            continue;
        BodyRule *rule = &model->rules[model->rule_count++];
        rule->type = type;
        colon += 1 + strspn(colon + 1, " ");
        rule->is_all = !strcmp(colon, "all");
        if (rule->type == BODY_RULE_CHAIN_LEVEL) {
            rule->level = atoi(colon);
            continue;
        }
        int count = 1;
        for (const char *c = colon; *c; c++)
            count += *c == ',';
        rule->links = arena_alloc_array(model->arena, (size_t)count, sizeof *rule->links);
        while (*colon && !rule->is_all) {
            size_t length = strcspn(colon, ",");
            int link = body_find_link(model, arena_text(model->arena, colon, length));
            if (link >= 0)
                rule->links[rule->link_count++] = link;
            colon += length + (colon[length] == ',');
            colon += strspn(colon, " ");
        }
    }
}
