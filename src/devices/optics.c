// optics.c - how directions map to the places of an image.
#include "devices/devices_internal.h"

#include <string.h>

Projection projection_of(const SceneNode *node)
{
    const char *name = scene_string(node, "projection");
    return !strcmp(name, "cylindrical") ? CYLINDRICAL : !strcmp(name, "spherical") ? SPHERICAL : PLANAR;
}

ImageView image_view(const SceneNode *node, double field_of_view)
{
    ImageView view = { projection_of(node), scene_int(node, "width"), scene_int(node, "height"), field_of_view, 0.0, 0.0 };
    view.reach = 2.0 * tan(0.5 * view.horizontal);
    double aspect = (double)view.height / int_max(view.width, 1);
    view.vertical = view.projection == PLANAR ? 2.0 * atan(0.5 * view.reach * aspect) : fmin(view.horizontal * aspect, M_PI);
    return view;
}

Vec3 image_direction(const ImageView *view, double x, double y)
{
    double across = 0.5 - x / view->width, above = 0.5 - y / view->height;  // 0.5 at the left and upper edge
    if (view->projection == PLANAR) {
        return vec3_normalized(vec3(1.0, across * view->reach, above * view->reach * view->height / view->width));
    }
    double angle = view->horizontal * across;
    if (view->projection == CYLINDRICAL)
        return vec3_normalized(vec3(cos(angle), sin(angle), 2.0 * above * tan(0.5 * view->vertical)));
    double up = view->vertical * above;
    return vec3(cos(up) * cos(angle), cos(up) * sin(angle), sin(up));
}
