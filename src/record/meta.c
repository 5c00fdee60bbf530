// meta.c - the head of a recording, written from the scene and the physics of a world.
#include "record/meta.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_numbers(JsonWriter *json, const char *key, const double *numbers, int count)
{
    json_begin_array(json, key);
    for (int i = 0; i < count; i++)
        json_double(json, NULL, numbers[i]);
    json_end_array(json);
}

static void write_vec3(JsonWriter *json, const char *key, Vec3 v)
{
    write_numbers(json, key, (const double[3]){ v.x, v.y, v.z }, 3);
}

// ---- solids and joints ----

// Five figures are enough to draw by, and a world may have very many bodies.
static double rounded(double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", number);
    return strtod(text, NULL);
}

// Of the body that a solid leads, in the solid's axes: mass, centre, then xx, yy, zz, xy, xz, yz about that centre.
static void write_inertia(const Physics *physics, int solid, JsonWriter *json)
{
    assert(solid >= 0);
    int body = physics_solid_body(physics, solid);
    if (body < 0 || physics_body_solid(physics, body) != solid)
        return;
    Vec3 center = pose_apply(pose_inverse(physics_solid_pose(physics, solid)), physics_body_pose(physics, body).t);
    Mat3 inertia = physics_body_inertia(physics, body);
    const double *m = inertia.m;
    double numbers[10] = {
        physics_body_mass(physics, body), center.x, center.y, center.z, m[0], m[4], m[8], m[1], m[2], m[5]
    };
    for (int i = 0; i < 10; i++)
        numbers[i] = rounded(numbers[i]);
    write_numbers(json, "inertia", numbers, 10);
}

static void write_solid(const Physics *physics, int solid, JsonWriter *json)
{
    assert(solid >= 0);
    json_begin_object(json, NULL);
    if (physics_solid_exists(physics, solid)) {
        const SceneNode *node = physics_solid_node(physics, solid);
        double mass = physics_solid_mass(physics, solid);
        json_string(json, "name", physics_solid_label(physics, solid));
        if (node->def)
            json_string(json, "def", node->def);
        json_string(json, "type", node->type->name);
        json_int(json, "parent", physics_solid_parent(physics, solid));
        json_int(json, "node", node->id);
        if (scene_bool(node, "locked"))
            json_bool(json, "locked", true);
        if (mass > 0.0) {
            Vec3 center = physics_solid_center_of_mass(physics, solid);
            json_double(json, "mass", mass);
            write_vec3(json, "com", pose_apply(pose_inverse(physics_solid_pose(physics, solid)), center));
        }
        write_inertia(physics, solid, json);
    }
    json_end_object(json);
}

// What collides, for outlines: kind, solid, size, place and quaternion in the solid's frame. Meshes are seen as they
// are drawn.
static void write_shape(const PhysicsShape *shape, JsonWriter *json)
{
    const GeometryType *type = geometry_of_kind(shape->kind);
    if (!type || !type->word || shape->solid < 0)
        return;
    Pose local = shape->local;
    const double numbers[10] = { shape->size.x, shape->size.y, shape->size.z, local.t.x, local.t.y,
                                 local.t.z,     local.q.x,     local.q.y,     local.q.z, local.q.w };
    json_begin_array(json, NULL);
    json_string(json, NULL, type->word);
    json_int(json, NULL, shape->solid);
    for (int i = 0; i < COUNT_OF(numbers); i++)
        json_double(json, NULL, numbers[i]);
    json_end_array(json);
}

static void write_shapes(const Physics *physics, JsonWriter *json)
{
    json_begin_array(json, "shapes");
    for (int i = 0; i < physics_shape_count(physics); i++) {
        if (!physics_shape_exists(physics, i))
            continue;
        PhysicsShape shape = physics_shape(physics, i);
        write_shape(&shape, json);
    }
    json_end_array(json);
}

// Axis and anchor stay where they are in the frame of the end point, as the joint moves.
static void write_axis(const Physics *physics, int joint, JsonWriter *json)
{
    assert_debug(joint >= 0);
    const SceneNode *node = physics_joint_node(physics, joint);
    const SceneNode *parameters = scene_child(node, "jointParameters"), *above = scene_parent(node);
    Pose from = above ? scene_world_pose(above) : POSE_IDENTITY;
    Pose to = pose_inverse(physics_solid_pose(physics, physics_joint_child(physics, joint)));
    bool has_axis = physics_joint_kind(physics, joint) != PHYSICS_JOINT_BALL;
    bool has_anchor = physics_joint_kind(physics, joint) != PHYSICS_JOINT_SLIDER && parameters;
    Vec3 axis = has_axis && parameters ? scene_vec3(parameters, "axis") : vec3(1, 0, 0);
    Vec3 anchor = has_anchor ? scene_vec3(parameters, "anchor") : VEC3_ZERO;
    write_vec3(json, "axis", quat_rotate(to.q, quat_rotate(from.q, vec3_normalized(axis))));
    write_vec3(json, "anchor", has_anchor ? pose_apply(to, pose_apply(from, anchor)) : VEC3_ZERO);
    if (!has_axis || !parameters)
        return;
    double low = scene_float(parameters, "minStop"), high = scene_float(parameters, "maxStop");
    if (low != high) {
        json_double(json, "min", low);
        json_double(json, "max", high);
    }
}

static void write_joint(const Physics *physics, int joint, JsonWriter *json)
{
    assert_debug(joint >= 0);
    static const char *const kinds[] = {
        [PHYSICS_JOINT_HINGE] = "hinge",         [PHYSICS_JOINT_HINGE2] = "hinge2", [PHYSICS_JOINT_SLIDER] = "slider",
        [PHYSICS_JOINT_BALL] = "ball",           [PHYSICS_JOINT_FIXED] = "fixed",   [PHYSICS_JOINT_TRACK] = "track",
        [PHYSICS_JOINT_PROPELLER] = "propeller",
    };
    json_begin_object(json, NULL);
    if (physics_joint_exists(physics, joint)) {
        PhysicsJointKind kind = physics_joint_kind(physics, joint);
        int child = physics_joint_child(physics, joint);
        json_string(json, "name", child >= 0 ? physics_solid_label(physics, child) : "");
        json_string(json, "type", kinds[kind]);
        json_int(json, "solid", child);
        json_int(json, "parent", physics_joint_parent(physics, joint));
        json_int(json, "axes", physics_joint_axis_count(physics, joint));
        json_int(json, "node", physics_joint_node(physics, joint)->id);
        if (child >= 0 && kind <= PHYSICS_JOINT_BALL)
            write_axis(physics, joint, json);
    }
    json_end_object(json);
}

// ---- where it is seen from ----

static void write_view(const SceneNode *node, JsonWriter *json)
{
    Rotation turn = scene_rotation(node, "orientation");
    write_vec3(json, "position", scene_vec3(node, "position"));
    write_numbers(json, "orientation", (const double[4]){ turn.x, turn.y, turn.z, turn.angle }, 4);
    json_double(json, "fov", scene_float(node, "fieldOfView"));
    json_double(json, "near", scene_float(node, "near"));
}

static void write_viewpoint(const Physics *physics, JsonWriter *json)
{
    Scene *scene = physics_scene(physics);
    const SceneNode *node = scene_find_top(scene, "Viewpoint");
    if (!node)
        return;
    json_begin_object(json, "viewpoint");
    write_view(node, json);
    const char *follow = scene_string(node, "follow");
    const SceneNode *followed = *follow ? scene_find_solid(scene, follow) : NULL;
    int solid = followed ? physics_solid_of(physics, followed) : -1;
    if (solid >= 0 && strcmp(scene_string(node, "followType"), "None")) {
        json_int(json, "follow", solid);
        json_string(json, "followType", scene_string(node, "followType"));
        json_double(json, "smoothness", scene_float(node, "followSmoothness"));
    }
    json_end_object(json);
}

typedef struct CameraList {
    const Physics *physics;
    JsonWriter *json;
} CameraList;

static bool write_camera(SceneNode *node, void *context)
{
    CameraList *list = context;
    bool is_range_finder = scene_node_is(node, "RangeFinder");
    if ((!scene_node_is(node, "Camera") && !is_range_finder) || node->is_removed)
        return true;
    JsonWriter *json = list->json;
    json_begin_object(json, NULL);
    json_string(json, "type", is_range_finder ? "RangeFinder" : "Camera");
    json_string(json, "name", scene_string(node, "name"));
    json_int(json, "node", node->id);
    json_int(json, "solid", physics_solid_of(list->physics, node));
    json_double(json, "fov", scene_float(node, "fieldOfView"));
    json_int(json, "width", scene_int(node, "width"));
    json_int(json, "height", scene_int(node, "height"));
    json_end_object(json);
    return true;
}

// ---- devices and lights that can be drawn ----

enum { DRAWN_FIELDS_MAX = 8, LOOKUP_ROWS_MAX = 64 };

static void write_field(const SceneNode *node, const char *name, JsonWriter *json)
{
    const FieldType *field = schema_field(node->type, name);
    assert_debug(field);
    FieldValue value = scene_value(node, field);
    switch (field->kind) {
    case FIELD_SF_INT32: json_int(json, name, value.i); break;
    case FIELD_SF_FLOAT: json_double(json, name, value.f); break;
    case FIELD_SF_STRING: json_string(json, name, scene_string(node, name)); break;
    case FIELD_SF_VEC3F:
    case FIELD_SF_COLOR: write_vec3(json, name, scene_vec3(node, name)); break;
    default: break;
    }
}

static int top_solid(const Physics *physics, int solid)
{
    while (solid >= 0 && physics_solid_parent(physics, solid) >= 0)
        solid = physics_solid_parent(physics, solid);
    return solid;
}

int meta_solid_above(const Physics *physics, const SceneNode *node)
{
    while (node && physics_solid_of(physics, node) < 0)
        node = scene_parent(node);
    return node ? physics_solid_of(physics, node) : -1;
}

// Where a node stands in the solid that carries it, as a quaternion and a place; solid -1: in the world.
static void write_place(const Physics *physics, const SceneNode *node, JsonWriter *json)
{
    int solid = meta_solid_above(physics, node);
    const SceneNode *frame = solid >= 0 && physics_solid_of(physics, node) == solid ? node : scene_parent(node);
    Pose pose = frame ? scene_world_pose(frame) : POSE_IDENTITY;
    if (solid >= 0)
        pose = pose_mul(pose_inverse(physics_solid_pose(physics, solid)), pose);
    json_int(json, "solid", solid);
    write_vec3(json, "position", pose.t);
    write_numbers(json, "rotation", (const double[4]){ pose.q.x, pose.q.y, pose.q.z, pose.q.w }, 4);
}

// The solids of the same robot that move the bones of a skin, -1 where there is none.
static void write_bones(const Physics *physics, const SceneNode *skin, JsonWriter *json)
{
    assert_debug(schema_field(skin->type, "bones"));
    const FieldList *bones = scene_list(skin, "bones");
    int top = top_solid(physics, meta_solid_above(physics, skin));
    json_begin_array(json, "bones");
    for (int i = 0; i < bones->count; i++) {
        const SceneNode *bone = scene_list_node(bones, i);
        const char *name = bone && schema_field(bone->type, "solidName") ? scene_string(bone, "solidName") : "";
        int solid = physics_solid_count(physics) - 1;
        while (solid >= 0
               && (!physics_solid_exists(physics, solid) || top_solid(physics, solid) != top
                   || strcmp(scene_string(physics_solid_node(physics, solid), "name"), name)))
            solid--;
        json_int(json, NULL, solid);
    }
    json_end_array(json);
}

// What a page draws of a device (frustum, rays, range) is told by fields, one row for each kind: the page needs no
// code for a new one.
static bool write_drawn(SceneNode *node, void *context)
{
    static const struct {
        const char *type, *fields[DRAWN_FIELDS_MAX];
    } rows[] = {
        { "Lidar",
          { "fieldOfView", "verticalFieldOfView", "numberOfLayers", "horizontalResolution", "minRange", "maxRange",
            "type" } },
        { "Radar", { "horizontalFieldOfView", "verticalFieldOfView", "minRange", "maxRange" } },
        { "RangeFinder", { "minRange", "maxRange" } },
        { "DistanceSensor", { "aperture", "numberOfRays", "type" } },
        { "TouchSensor", { "type" } },
        { "LightSensor", { NULL } },
        { "Connector", { "numberOfRotations" } },
        { "Pen", { "maxDistance" } },
        { "Display", { "width", "height" } },
        { "Skin", { NULL } },
        { "PointLight", { "location", "color", "intensity", "attenuation", "radius" } },
        { "SpotLight",
          { "location", "direction", "beamWidth", "color", "intensity", "attenuation", "radius", "cutOffAngle" } },
        { "DirectionalLight", { "direction", "color" } },
    };
    const CameraList *list = context;
    int row = 0;
    while (row < COUNT_OF(rows) && !scene_node_is(node, rows[row].type))
        row++;
    if (row == COUNT_OF(rows) || node->is_removed)
        return true;
    JsonWriter *json = list->json;
    json_begin_object(json, NULL);
    json_string(json, "kind", rows[row].type);
    json_int(json, "node", node->id);
    if (schema_field(node->type, "name"))
        json_string(json, "name", scene_string(node, "name"));
    write_place(list->physics, node, json);
    for (int i = 0; i < DRAWN_FIELDS_MAX && rows[row].fields[i]; i++)
        write_field(node, rows[row].fields[i], json);
    if (!strcmp(rows[row].type, "Skin"))
        write_bones(list->physics, node, json);
    if (!strcmp(rows[row].type, "DistanceSensor")) {
        const FieldList *table = scene_list(node, "lookupTable");
        write_numbers(json, "lookupTable", table->numbers, 3 * int_min(table->count, LOOKUP_ROWS_MAX));
    }
    json_end_object(json);
    return true;
}

static void write_background(const Scene *scene, JsonWriter *json)
{
    const SceneNode *node = scene_find_top(scene, "Background");
    const FieldList *colors = node ? scene_list(node, "skyColor") : NULL;
    if (!colors || colors->count == 0)
        return;
    json_begin_object(json, "background");
    write_numbers(json, "color", colors->numbers, 3);
    json_end_object(json);
}

// Where the shadows fall: the way of the first light that shines from one side.
static void write_sun(const Scene *scene, JsonWriter *json)
{
    const SceneNode *light = scene_find_top(scene, "DirectionalLight");
    if (light && scene_bool(light, "on") && vec3_length2(scene_vec3(light, "direction")) > 0.0)
        write_vec3(json, "sun", vec3_normalized(scene_vec3(light, "direction")));
}

static void write_world(const Physics *physics, const SceneNode *info, JsonWriter *json)
{
    json_string(json, "up", fabs(physics_gravity(physics).y) > 0.0 ? "y" : "z");
    if (!info)
        return;
    json_begin_object(json, "scales");
    json_double(json, "force", scene_float(info, "dragForceScale"));
    json_double(json, "torque", scene_float(info, "dragTorqueScale"));
    json_double(json, "line", scene_float(info, "lineScale"));
    json_end_object(json);
}

// Facts that change with the tree of the world and not with time: a page gets them once for each revision.
void meta_write(Sim *sim, JsonWriter *json)
{
    sim_sync_scene(sim);
    Scene *scene = sim_scene(sim);
    const Physics *physics = sim_physics(sim);
    const SceneNode *info = scene_find_top(scene, "WorldInfo");
    const char *title = info ? scene_string(info, "title") : "";
    json_begin_object(json, NULL);
    json_string(json, "title", *title ? title : path_name(scene_path(scene)));
    json_string(json, "file", scene_path(scene));
    json_double(json, "timestep", sim_time_step(sim));
    write_world(physics, info, json);
    json_begin_array(json, "solids");
    for (int i = 0; i < physics_solid_count(physics); i++)
        write_solid(physics, i, json);
    json_end_array(json);
    json_begin_array(json, "joints");
    for (int i = 0; i < physics_joint_count(physics); i++)
        write_joint(physics, i, json);
    json_end_array(json);
    write_shapes(physics, json);
    write_viewpoint(physics, json);
    json_begin_array(json, "cameras");
    scene_walk(scene_root(scene), false, write_camera, &(CameraList){ physics, json });
    json_end_array(json);
    json_begin_array(json, "devices");
    scene_walk(scene_root(scene), false, write_drawn, &(CameraList){ physics, json });
    json_end_array(json);
    write_background(scene, json);
    write_sun(scene, json);
    json_end_object(json);
}
