// view.c - where a world is seen from: the Viewpoint, what it follows, the robots' cameras, a view of everything.
#include "viewer/render.h"

#include <string.h>

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

RenderCamera render_viewpoint(const Scene *scene)
{
    const SceneNode *viewpoint = root_node(scene, "Viewpoint");
    if (!viewpoint)
        return (RenderCamera){ .pose = { vec3(-10, 0, 0), QUAT_IDENTITY }, .field_of_view = M_PI_4, .is_of_longer_side = true, .near = 0.05,
                               .exposure = 1.0, .occlusion = 2.0, .bloom = 21.0 };
    return (RenderCamera){
        .pose = { scene_vec3(viewpoint, "position"), quat_from_rotation(scene_rotation(viewpoint, "orientation")) },
        .field_of_view = scene_float(viewpoint, "fieldOfView"), .is_of_longer_side = true,
        .near = scene_float(viewpoint, "near"), .far = scene_float(viewpoint, "far"), .exposure = scene_float(viewpoint, "exposure"),
        .occlusion = scene_float(viewpoint, "ambientOcclusionRadius"), .bloom = scene_float(viewpoint, "bloomThreshold"),
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
        .name = scene_string(camera, "name"), .node = camera,
    };
}

Pose render_fit(const RenderCamera *camera, Vec3 low, Vec3 high, Vec3 up, int width, int height)
{
    Vec3 centre = vec3_scale(vec3_add(low, high), 0.5);
    double radius = fmax(0.5 * vec3_distance(low, high), 1e-3);
    Vec3 ahead = quat_rotate(camera->pose.q, vec3(1, 0, 0));
    if (vec3_dot(ahead, up) > -0.17)  // from a little above, whatever the file says
        ahead = vec3_normalized(vec3_sub(vec3_sub(ahead, vec3_scale(up, vec3_dot(ahead, up))), vec3_scale(up, 0.5)));
    double aspect = (double)width / height, tangent = tan(0.5 * camera->field_of_view), across = tangent, above = tangent / aspect;
    if (camera->is_of_longer_side && aspect < 1.0)
        above = tangent, across = tangent * aspect;
    double angle = atan(fmin(across, above));
    Vec3 side = vec3_cross(up, ahead), top = vec3_cross(ahead, side);
    if (vec3_length(side) < 1e-6)
        side = vec3_orthogonal(ahead), top = vec3_cross(ahead, side);
    side = vec3_normalized(side), top = vec3_normalized(top);
    Mat3 turn = { { ahead.x, side.x, top.x, ahead.y, side.y, top.y, ahead.z, side.z, top.z } };
    return (Pose){ vec3_mad(centre, ahead, -radius / sin(angle)), quat_from_mat3(turn) };
}

// The nearest solid of that name below a node.
typedef struct NameSearch { const char *name; size_t length; const SceneNode *above, *found; } NameSearch;

static bool has_name(SceneNode *node, void *context)
{
    NameSearch *search = context;
    if (node != search->above && node->type && scene_node_is(node, "Solid")) {
        const char *name = scene_string(node, "name");
        if (strlen(name) == search->length && !strncmp(name, search->name, search->length))
            search->found = node;
    }
    return !search->found;
}

// "robot:arm:camera": names from the outside inwards. A name may hold colons too.
static const SceneNode *solid_at_path(const Scene *scene, const char *path)
{
    const SceneNode *at = scene_find_solid(scene, path);
    if (at)
        return at;
    at = scene_root(scene);
    for (const char *name = path; at && *name;) {
        size_t length = strcspn(name, ":");
        NameSearch search = { name, length, at, NULL };
        scene_walk((SceneNode *)at, false, has_name, &search);
        at = search.found;
        name += length + (name[length] == ':');
    }
    return at;
}

const SceneNode *render_follow_solid(const Scene *scene)
{
    const SceneNode *viewpoint = root_node(scene, "Viewpoint");
    if (!viewpoint || !*scene_string(viewpoint, "follow") || !strcmp(scene_string(viewpoint, "followType"), "None"))
        return NULL;
    return solid_at_path(scene, scene_string(viewpoint, "follow"));
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
