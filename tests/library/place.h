// place.h - for tests that put robots of the library on a floor: where their lowest point is.
#ifndef TALUS_TESTS_LIBRARY_PLACE_H
#define TALUS_TESTS_LIBRARY_PLACE_H

#include "base/diag.h"
#include "formats/formats.h"
#include "support/support.h"

#include <float.h>
#include <math.h>

// Height of the lowest point of what is drawn, which is also what collides.
static inline bool place_find_lowest(SceneNode *node, void *context)
{
    double *lowest = context, reach;
    const SceneNode *geometry = scene_node_is(node, "Shape") && !node->in_bounding ? scene_child(node, "geometry")
                                                                                   : NULL;
    if (!geometry)
        return true;
    Pose pose = scene_world_pose(node);
    Vec3 x = quat_rotate(pose.q, vec3(1, 0, 0)), y = quat_rotate(pose.q, vec3(0, 1, 0)),
         z = quat_rotate(pose.q, vec3(0, 0, 1));
    if (scene_node_is(geometry, "Box")) {
        Vec3 size = scene_vec3(geometry, "size");
        reach = (fabs(x.z) * size.x + fabs(y.z) * size.y + fabs(z.z) * size.z) / 2;
    } else if (scene_node_is(geometry, "Cylinder")) {
        reach = fabs(z.z) * scene_float(geometry, "height") / 2
                + sqrt(fmax(0.0, 1 - z.z * z.z)) * scene_float(geometry, "radius");
    } else if (scene_node_is(geometry, "Capsule")) {
        reach = fabs(z.z) * scene_float(geometry, "height") / 2 + scene_float(geometry, "radius");
    } else if (scene_node_is(geometry, "Sphere")) {
        reach = scene_float(geometry, "radius");
    } else {
        return true;
    }
    *lowest = fmin(*lowest, pose.t.z - reach);
    return true;
}

static inline SceneNode *place_find_robot(Scene *scene)
{
    const FieldList *top = scene_list(scene_root(scene), "children");
    for (int i = 0; i < top->count; i++)
        if (scene_node_is(scene_list_node(top, i), "Robot"))
            return scene_list_node(top, i);
    return NULL;
}

// The height at which the robot of this world, whose translation is 0 0 0, touches the floor.
static inline double place_height(const char *world, size_t size, const char *name)
{
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("place.wbt", world, size, NULL, diags);
    CHECK(scene && place_find_robot(scene), name);
    double lowest = DBL_MAX;
    scene_walk(place_find_robot(scene), false, place_find_lowest, &lowest);
    scene_destroy(scene);
    diag_destroy(diags);
    return -lowest;
}

#endif
