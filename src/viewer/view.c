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
        return (RenderCamera){ .pose = { vec3(-10, 0, 0), QUAT_IDENTITY },
                               .field_of_view = M_PI_4,
                               .is_of_longer_side = true,
                               .near = 0.05,
                               .exposure = 1.0,
                               .occlusion = 2.0,
                               .bloom = 21.0 };
    return (RenderCamera){
        .pose = { scene_vec3(viewpoint, "position"), quat_from_rotation(scene_rotation(viewpoint, "orientation")) },
        .field_of_view = scene_float(viewpoint, "fieldOfView"),
        .is_of_longer_side = true,
        .near = scene_float(viewpoint, "near"),
        .far = scene_float(viewpoint, "far"),
        .exposure = scene_float(viewpoint, "exposure"),
        .occlusion = scene_float(viewpoint, "ambientOcclusionRadius"),
        .bloom = scene_float(viewpoint, "bloomThreshold"),
    };
}

typedef struct CameraSearch {
    const char *name;
    int index;
    const SceneNode *found;
} CameraSearch;

static bool is_camera(const SceneNode *node, CameraSearch *search)
{
    if (!scene_node_is(node, "Camera") || node->is_removed)
        return false;
    if (!search->name)
        return search->index-- == 0;
    const char *name = scene_string(node, "name"), *robot = render_robot_name(node);
    size_t length = strlen(robot);
    return !strcmp(search->name, name)
           || (length > 0 && !strncmp(search->name, robot, length) && search->name[length] == '/'
               && !strcmp(search->name + length + 1, name));
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
    assert(index >= 0);
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
    assert(camera && scene_node_is(camera, "Camera"));
    return (RenderCamera){
        .pose = scene_world_pose(camera),
        .field_of_view = fmin(scene_float(camera, "fieldOfView"), 3.1),
        .near = scene_float(camera, "near"),
        .far = scene_float(camera, "far"),
        .width = scene_int(camera, "width"),
        .height = scene_int(camera, "height"),
        .name = scene_string(camera, "name"),
        .node = camera,
    };
}

Pose render_fit(const RenderCamera *camera, Vec3 low, Vec3 high, Vec3 up, int width, int height)
{
    assert(width > 0 && height > 0);
    Vec3 centre = vec3_scale(vec3_add(low, high), 0.5);
    double radius = fmax(0.5 * vec3_distance(low, high), 1e-3);
    Vec3 ahead = quat_rotate(camera->pose.q, vec3(1, 0, 0));
    if (vec3_dot(ahead, up) > -0.17)  // from a little above, whatever the file says
        ahead = vec3_normalized(vec3_sub(vec3_sub(ahead, vec3_scale(up, vec3_dot(ahead, up))), vec3_scale(up, 0.5)));
    double aspect = (double)width / height, tangent = tan(0.5 * camera->field_of_view), across = tangent,
           above = tangent / aspect;
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
