// sight.c - what of a solid lies in the field of view of a device that looks along +x with z up: for radars and recognition.
// Solids are seen by their bounding objects, those of the solids below them included; one without any is a point.
#include "devices/devices_internal.h"

#include "formats/shape.h"
#include "physics/ray.h"

typedef struct View {
    Pose pose;
    double tan_h, tan_v;
    bool is_wide;           // more than half a turn: all before it is seen, and behind it by the angle
    double horizontal;
    Vec3 low, high;         // of what is seen so far, in the device's frame
    bool is_seen;
} View;

static void take(View *view, Vec3 low, Vec3 high)
{
    if (!view->is_seen) {
        view->low = low;
        view->high = high;
    } else {
        view->low = vec3(fmin(view->low.x, low.x), fmin(view->low.y, low.y), fmin(view->low.z, low.z));
        view->high = vec3(fmax(view->high.x, high.x), fmax(view->high.y, high.y), fmax(view->high.z, high.z));
    }
    view->is_seen = true;
}

// With some room around it.
static bool is_within_angle(const View *view, Vec3 p, Vec3 half)
{
    double away = hypot(p.x, p.y);
    return fabs(atan2(p.y, p.x)) - atan2(half.y, away) <= 0.5 * view->horizontal && fabs(p.z) - half.z <= view->tan_v * away;
}

// Corner points: those outside are drawn to the edge of the view. Without a point inside, the form must cross the view from
// side to side or from top to bottom.
static void see_points(View *view, const Vec3 *points, int count)
{
    int inside = 0, ahead = 0;
    bool is_out[4] = { false }, is_in[4] = { false };  // left, right, top, bottom
    Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < count; i++) {
        Vec3 p = points[i];
        if (view->is_wide ? !is_within_angle(view, p, VEC3_ZERO) : !(p.x > 0.0))
            continue;
        ahead++;
        double y = view->is_wide ? INFINITY : view->tan_h * p.x, z = view->tan_v * (view->is_wide ? hypot(p.x, p.y) : p.x);
        bool outside[4] = { p.y > y, p.y < -y, p.z > z, p.z < -z }, is_inside = true;
        for (int k = 0; k < 4; k++) {
            is_out[k] |= outside[k];
            is_in[k] |= !outside[k];
            is_inside &= !outside[k];
        }
        inside += is_inside;
        p = vec3(p.x, double_clamp(p.y, -y, y), double_clamp(p.z, -z, z));
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    bool crosses = (is_out[0] && is_out[1] && is_in[2] && is_in[3]) || (is_out[2] && is_out[3] && is_in[0] && is_in[1]);
    if (ahead > 0 && (inside > 0 || crosses))
        take(view, low, high);
}

// Round forms: their extent against the planes at the sides.
static void see_round(View *view, Vec3 centre, Vec3 half)
{
    if (view->is_wide ? !is_within_angle(view, centre, half) : !(centre.x + half.x > 0.0))
        return;
    double h = 1.0 / sqrt(1.0 + view->tan_h * view->tan_h), v = 1.0 / sqrt(1.0 + view->tan_v * view->tan_v);
    Vec3 low = vec3_sub(centre, half), high = vec3_add(centre, half);
    double over[4] = { 0.0 };  // how far it reaches out of the left, right, upper and lower plane
    if (!view->is_wide) {
        over[0] = h * (centre.y - view->tan_h * centre.x) + half.y;
        over[1] = h * (-centre.y - view->tan_h * centre.x) + half.y;
        over[2] = v * (centre.z - view->tan_v * centre.x) + half.z;
        over[3] = v * (-centre.z - view->tan_v * centre.x) + half.z;
    }
    if (over[0] > 2.0 * half.y || over[1] > 2.0 * half.y || over[2] > 2.0 * half.z || over[3] > 2.0 * half.z)
        return;
    high.y -= fmax(over[0], 0.0);
    low.y += fmax(over[1], 0.0);
    high.z -= fmax(over[2], 0.0);
    low.z += fmax(over[3], 0.0);
    take(view, low, high);
}

static void see_box(View *view, Pose pose, Vec3 half)
{
    Vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = pose_apply(pose, vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z));
    see_points(view, points, 8);
}

static void see_mesh(View *view, const DeviceContext *at, const PhysicsShape *shape, Pose pose)
{
    ShapeSource source = { physics_scene(at->physics), physics_assets(at->physics), at->devices->diags };
    const Mesh *mesh = shape_mesh(&source, shape->geometry).mesh;
    if (!mesh || mesh->vertex_count == 0)
        return;
    pose.t = pose_apply(pose, vec3_scale(vec3_add(mesh->low, mesh->high), 0.5));
    see_box(view, pose, vec3_scale(vec3_sub(mesh->high, mesh->low), 0.5));
}

static void see_shape(View *view, const DeviceContext *at, const PhysicsShape *shape)
{
    Pose pose = pose_mul(pose_inverse(view->pose), shape->world);
    double radius = shape->size.x, length = shape->size.y;
    switch (shape->kind) {
    case PHYSICS_SHAPE_BOX:
        see_box(view, pose, vec3_scale(shape->size, 0.5));
        break;
    case PHYSICS_SHAPE_SPHERE:
        see_round(view, pose.t, vec3(radius, radius, radius));
        break;
    case PHYSICS_SHAPE_CAPSULE:
        length += 2.0 * radius;
        // fall through
    case PHYSICS_SHAPE_CYLINDER: {
        Vec3 axis = quat_rotate(pose.q, vec3(0, 0, 1));
        const double a[3] = { axis.x, axis.y, axis.z };
        double half[3];
        for (int i = 0; i < 3; i++)
            half[i] = 0.5 * fabs(a[i]) * length + radius * sqrt(fmax(1.0 - a[i] * a[i], 0.0));
        see_round(view, pose.t, vec3(half[0], half[1], half[2]));
        break;
    }
    case PHYSICS_SHAPE_MESH:
    case PHYSICS_SHAPE_HEIGHTS:
        see_mesh(view, at, shape, pose);
        break;
    case PHYSICS_SHAPE_PLANE:
        break;
    }
}

static bool is_below(const Physics *physics, int solid, int top)
{
    while (solid >= 0 && solid != top)
        solid = physics_solid_parent(physics, solid);
    return solid == top;
}

bool sight_of(const DeviceContext *at, int solid, double horizontal, double vertical, Sight *sight)
{
    View view = { .pose = device_pose(at), .horizontal = horizontal, .tan_h = tan(0.5 * fmin(horizontal, 3.14)),
                  .tan_v = tan(0.5 * fmin(vertical, 3.14)), .is_wide = horizontal > M_PI };
    bool has_shape = false;
    for (int i = 0; i < physics_shape_count(at->physics); i++) {
        if (!physics_shape_exists(at->physics, i))
            continue;
        PhysicsShape shape = physics_shape(at->physics, i);
        if (shape.solid < 0 || !is_below(at->physics, shape.solid, solid))
            continue;
        has_shape = true;
        see_shape(&view, at, &shape);
    }
    if (!has_shape) {
        Pose inverse = pose_inverse(view.pose);
        see_round(&view, pose_apply(inverse, physics_solid_pose(at->physics, solid).t), VEC3_ZERO);
    }
    sight->centre = vec3_scale(vec3_add(view.low, view.high), 0.5);
    sight->size = vec3_sub(view.high, view.low);
    return view.is_seen;
}

// The robot does not hide things from its own devices, unless it collides with itself.
static bool may_hide(const Physics *physics, int shape, void *context)
{
    const int *ends = context;
    int solid = physics_shape(physics, shape).solid;
    return solid >= 0 && !(ends[0] >= 0 && is_below(physics, solid, ends[0])) && !is_below(physics, solid, ends[1]);
}

bool sight_is_hidden(const DeviceContext *at, int solid, Vec3 point, double depth)
{
    const SceneNode *robot = devices_robot_node(at->devices, at->robot);
    Vec3 origin = device_pose(at).t, away = vec3_sub(point, origin);
    double length = vec3_length(away);
    int ends[2] = { scene_bool(robot, "selfCollision") ? at->info->solid : at->devices->robots[at->robot].solid, solid };
    PhysicsRayHit hit;
    return length > 0.0 && physics_ray_cast(at->physics, origin, vec3_scale(away, 1.0 / length), length, may_hide, ends, &hit) &&
           length - hit.distance > depth;
}
