// optics.c - how directions map to the places of an image, and back.
#include "devices/devices_internal.h"

#include <string.h>

Projection projection_of(const SceneNode *node)
{
    static const char *const names[] = { "planar", "cylindrical", "spherical", "fisheye", "dual fisheye" };
    static_assert(COUNT_OF(names) == DUAL_FISHEYE + 1, "one name for each");
    const char *name = scene_string(node, "projection");
    for (int i = 0; i < COUNT_OF(names); i++)
        if (!strcmp(name, names[i]))
            return (Projection)i;
    return PLANAR;
}

static void read_lens(ImageView *view, const SceneNode *lens)
{
    Vec2 center = scene_vec2(lens, "center"), radial = scene_vec2(lens, "radialCoefficients"),
         tangential = scene_vec2(lens, "tangentialCoefficients");
    view->lens = (ImageLens){ true, { center.x, center.y }, { radial.x, radial.y }, { tangential.x, tangential.y } };
}

// Of a flat image the pixels are square in the plane; of the others an angle is as many pixels upwards as sideways.
ImageView image_view_of(Projection projection, int width, int height, double field_of_view)
{
    ImageView view = { .projection = projection, .width = width, .height = height, .horizontal = field_of_view };
    view.reach = 2.0 * tan(0.5 * view.horizontal);
    double aspect = (double)view.height / int_max(view.width, 1);
    view.vertical = view.projection == PLANAR ? 2.0 * atan(0.5 * view.reach * aspect) : view.horizontal * aspect;
    return view;
}

ImageView image_view(const SceneNode *node, double field_of_view)
{
    ImageView view = image_view_of(projection_of(node), scene_int(node, "width"), scene_int(node, "height"),
                                   field_of_view);
    const SceneNode *lens = scene_child(node, "lens");
    if (lens)
        read_lens(&view, lens);
    return view;
}

// Brown's model turned round, as Lambers, Sommerhoff and Kolb (2018) have it: what a place of the distorted image
// shows.
static void through_lens(const ImageLens *lens, double *u, double *v)
{
    double x = *u - lens->center[0], y = *v - lens->center[1], r = x * x + y * y;
    double k1 = lens->radial[0], k2 = lens->radial[1], p1 = lens->tangential[0], p2 = lens->tangential[1];
    double moved = k1 * r + k2 * r * r, slope = 4.0 * k1 * r + 6.0 * k2 * r * r + 8.0 * p1 * y + 8.0 * p2 * x + 1.0;
    if (slope == 0.0)
        return;
    *u -= (moved * x + 2.0 * p1 * x * y + p2 * (r + 2.0 * x * x)) / slope;
    *v -= (moved * y + 2.0 * p2 * x * y + p1 * (r + 2.0 * y * y)) / slope;
}

// One round picture: the angle from the axis grows with the distance from its middle, both in units of its radius.
// Beyond it there is nothing to see, said by a zero.
static Vec3 round_direction(double right, double down, double angle)
{
    double away = hypot(right, down), side = away > 0.0 ? sin(away * angle) / away : 0.0;
    return away <= 1.0 ? vec3(cos(away * angle), -side * right, -side * down) : VEC3_ZERO;
}

// As Choreonoid has them: a circle in the middle, or two half spaces beside each other, the one ahead turned left by a
// right angle and the one behind turned right.
static Vec3 fisheye_direction(const ImageView *view, double x, double y)
{
    double radius = 0.5 * int_min(view->height, view->width);
    if (view->projection == FISHEYE)
        return round_direction((x - 0.5 * view->width) / radius, (y - 0.5 * view->height) / radius,
                               fmin(0.5 * view->horizontal, M_PI_2));
    radius = 0.5 * view->height;
    if (x < view->height)
        return round_direction((radius - y) / radius, (x - radius) / radius, M_PI_2);
    Vec3 back = round_direction((y - radius) / radius, (3.0 * radius - x) / radius, M_PI_2);
    return vec3(-back.x, -back.y, back.z);
}

// Planar: the pinhole. Cylindrical: linear in both angles. Spherical: a fisheye, whose angle from the axis is the
// distance from the middle, measured in shares of width and height.
Vec3 image_direction(const ImageView *view, double x, double y)
{
    assert_debug(view->width > 0 && view->height > 0);
    if (view->projection >= FISHEYE)
        return fisheye_direction(view, x, y);
    double u = x / view->width, v = y / view->height;
    if (view->lens.is_there)
        through_lens(&view->lens, &u, &v);
    double across = 0.5 - u, above = 0.5 - v;  // 0.5 at the left and upper edge
    if (view->projection == PLANAR)
        return vec3_normalized(vec3(1.0, across * view->reach, above * view->reach * view->height / view->width));
    if (view->projection == CYLINDRICAL) {
        double angle = view->horizontal * across, up = view->vertical * above;
        return vec3(cos(up) * cos(angle), cos(up) * sin(angle), sin(up));
    }
    double away = hypot(across, above), angle = away * view->horizontal, side = away > 0.0 ? sin(angle) / away : 0.0;
    return vec3(cos(angle), side * across, side * above);
}

void image_place(const ImageView *view, Vec3 p, double *x, double *y)
{
    double across, above;
    if (view->projection == PLANAR) {
        double ahead = fmax(p.x, 1e-9);
        across = p.y / ahead / view->reach;
        above = p.z / ahead / view->reach * view->width / view->height;
    } else if (view->projection == CYLINDRICAL) {
        across = atan2(p.y, p.x) / view->horizontal;
        above = atan2(p.z, hypot(p.x, p.y)) / view->vertical;
    } else {
        double side = hypot(p.y, p.z), share = side > 0.0 ? atan2(side, p.x) / view->horizontal / side : 0.0;
        across = share * p.y;
        above = share * p.z;
    }
    *x = double_clamp(0.5 - across, 0.0, 1.0) * view->width;
    *y = double_clamp(0.5 - above, 0.0, 1.0) * view->height;
}
