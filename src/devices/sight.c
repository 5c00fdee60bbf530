// sight.c - what of a solid lies in the field of view of a device that looks along +x with z up: for radars and
// recognition. Solids are seen by their bounding objects, those of the solids below them included; one without any by
// the ball around its shapes.
#include "devices/devices_internal.h"

#include "formats/shape/shape.h"
#include "physics/ray.h"

enum { RIGHT, BOTTOM, LEFT, TOP, SIDES };

typedef struct View {
    Pose pose;
    Vec3 sides[SIDES];  // unit normals of the planes around the view, inwards
    bool is_wide;       // more than half a turn: all ahead is seen, and behind it what is beyond any side
    double horizontal;
    Vec3 low, high;           // of what is seen so far, in the device's frame
    bool is_seen, has_edges;  // has_edges: not of spheres alone
} View;

// The planes through the device and the edges of its picture. Those of a view wider than half a turn open to the back.
static void make_sides(View *view, double horizontal, double vertical)
{
    double h = 0.5 * horizontal, v = 0.5 * fmin(vertical, M_PI), x, y, z;
    if (view->is_wide) {
        x = cos(v) * cos(h);
        y = (v > M_PI_4 ? -sin(v) : cos(v)) * sin(h);
        z = sin(v);
    } else {
        x = 1.0;
        y = tan(fmin(h, 1.57));
        z = tan(fmin(v, 1.57));
    }
    view->sides[RIGHT] = vec3_normalized(vec3(y, x, 0));
    view->sides[BOTTOM] = vec3_normalized(vec3(z, 0, x));
    view->sides[LEFT] = vec3_normalized(vec3(y, -x, 0));
    view->sides[TOP] = vec3_normalized(vec3(z, 0, -x));
}

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

static Vec3 onto_plane(Vec3 normal, Vec3 p) { return vec3_mad(p, normal, -vec3_dot(normal, p)); }

// Which sides have points beyond them, and which have points on the inner side.
typedef struct Crossing {
    bool is_out[SIDES], is_in[SIDES];
} Crossing;

// Draws a point ahead of the device onto the sides that it is beyond, one after the other. Returns whether it was
// inside.
static bool draw_inside(const View *view, Vec3 *p, Crossing *crossing)
{
    bool is_inside = true;
    for (int i = 0; i < SIDES; i++) {
        bool is_out = vec3_dot(view->sides[i], *p) < 0.0;
        crossing->is_out[i] |= is_out;
        crossing->is_in[i] |= !is_out;
        is_inside &= !is_out;
        if (is_out)
            *p = onto_plane(view->sides[i], *p);
    }
    return is_inside;
}

// The same for a wide view, whose blind part lies behind the device and inside all sides.
static bool draw_inside_wide(const View *view, Vec3 *p, Crossing *crossing)
{
    int nearest = 0;
    bool is_inside = p->x > 0.0;
    for (int i = 0; i < SIDES; i++) {
        double distance = vec3_dot(view->sides[i], *p);
        is_inside |= distance < 0.0;
        if (distance < vec3_dot(view->sides[nearest], *p))
            nearest = i;
    }
    for (int i = 0; i < SIDES; i++) {
        crossing->is_in[i] |= is_inside;
        crossing->is_out[i] |= !is_inside;
    }
    if (!is_inside)
        *p = onto_plane(view->sides[nearest], *p);
    return is_inside;
}

// Corner points: those outside are drawn to the edge of the view. Without a point inside, the form must cross the view
// from side to side or from top to bottom. Corners behind the device count for the extent of what is seen.
static void see_points(View *view, const Vec3 *points, int count)
{
    assert_debug(points && count > 0);
    int inside = 0, ahead = 0;
    Crossing crossing = { 0 };
    Vec3 low = vec3(INFINITY, INFINITY, INFINITY), high = vec3(-INFINITY, -INFINITY, -INFINITY);
    for (int i = 0; i < count; i++) {
        Vec3 p = points[i];
        if (view->is_wide || p.x > 0.0) {
            ahead++;
            inside += view->is_wide ? draw_inside_wide(view, &p, &crossing) : draw_inside(view, &p, &crossing);
        }
        low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
    bool is_across = crossing.is_out[RIGHT] && crossing.is_out[LEFT] && crossing.is_in[BOTTOM] && crossing.is_in[TOP];
    bool is_upright = crossing.is_out[BOTTOM] && crossing.is_out[TOP] && crossing.is_in[RIGHT] && crossing.is_in[LEFT];
    if (ahead > 0 && (inside > 0 || is_across || is_upright)) {
        view->has_edges = true;
        take(view, low, high);
    }
}

// Round forms: their extent against the planes at the sides. What reaches out of a view of at most a quarter turn is
// cut off.
static void see_round(View *view, Vec3 centre, Vec3 half)
{
    double over[SIDES] = { 0.0 };
    bool is_inside = view->is_wide && centre.x >= 0.0;
    for (int i = 0; i < SIDES && !is_inside; i++) {
        double distance = vec3_dot(view->sides[i], centre), extent = i == RIGHT || i == LEFT ? half.y : half.z;
        if (view->is_wide) {
            is_inside = distance < -extent;
        } else if (distance < -extent) {
            return;
        } else {
            over[i] = fmax(extent - distance, 0.0);
        }
    }
    if (view->is_wide && !is_inside)
        return;
    Vec3 low = vec3_sub(centre, half), high = vec3_add(centre, half);
    if (!view->is_wide && view->horizontal <= M_PI_2) {
        low.y += over[RIGHT];
        high.y -= over[LEFT];
        low.z += over[BOTTOM];
        high.z -= over[TOP];
    }
    take(view, low, high);
}

static void see_box(View *view, Pose pose, Vec3 half)
{
    Vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = pose_apply(pose,
                               vec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z));
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
    const GeometryType *type = geometry_of_kind(shape->kind);
    assert(type);
    switch (shape->kind) {
    case GEOMETRY_PLANE: break;
    case GEOMETRY_BOX: see_box(view, pose, type->reach(shape->size)); break;
    case GEOMETRY_SPHERE: see_round(view, pose.t, type->reach(shape->size)); break;
    default:
        if (!type->reach) {
            see_mesh(view, at, shape, pose);
        } else {  // round about its z
            Vec3 axis = quat_rotate(pose.q, vec3(0, 0, 1)), reach = type->reach(shape->size);
            const double a[3] = { axis.x, axis.y, axis.z };
            double half[3];
            for (int i = 0; i < 3; i++)
                half[i] = fabs(a[i]) * reach.z + reach.x * sqrt(fmax(1.0 - a[i] * a[i], 0.0));
            view->has_edges = true;
            see_round(view, pose.t, vec3(half[0], half[1], half[2]));
        }
    }
}

static bool is_below(const Physics *physics, int solid, int top)
{
    assert_debug(top >= 0);
    while (solid >= 0 && solid != top)
        solid = physics_solid_parent(physics, solid);
    return solid == top;
}

// ---- the ball around what is seen of a solid ----

typedef struct Ball {
    Vec3 centre;
    double radius;  // negative: nothing
} Ball;

typedef struct BallSearch {
    const DeviceContext *at;
    Ball ball;
} BallSearch;

static Ball ball_around(Ball a, Ball b)
{
    Vec3 apart = vec3_sub(b.centre, a.centre);
    double distance = vec3_length(apart);
    if (b.radius < 0.0 || distance + b.radius <= a.radius)
        return a;
    if (a.radius < 0.0 || distance + a.radius <= b.radius)
        return b;
    double radius = 0.5 * (distance + a.radius + b.radius);
    return (Ball){ vec3_mad(a.centre, apart, (radius - a.radius) / distance), radius };
}

static Ball ball_of_geometry(const DeviceContext *at, const SceneNode *geometry)
{
    ShapeForm form = shape_form(geometry);
    if (form.type && form.type->radius)
        return (Ball){ VEC3_ZERO, form.type->radius(form.size) };
    ShapeSource source = { physics_scene(at->physics), physics_assets(at->physics), at->devices->diags };
    const Mesh *mesh = form.kind == GEOMETRY_MESH || form.kind == GEOMETRY_HEIGHTS ? shape_mesh(&source, geometry).mesh
                                                                                   : NULL;
    if (!mesh || mesh->vertex_count == 0)
        return (Ball){ VEC3_ZERO, -1.0 };
    return (Ball){ vec3_scale(vec3_add(mesh->low, mesh->high), 0.5), 0.5 * vec3_distance(mesh->low, mesh->high) };
}

// The largest factor of the Transforms above.
static double scale_of(const SceneNode *node)
{
    double factor = 1.0;
    for (const SceneNode *at = node; at; at = scene_parent(at))
        if (scene_node_is(at, "Transform")) {
            Vec3 scale = scene_vec3(at, "scale");
            factor *= fmax(fmax(fabs(scale.x), fabs(scale.y)), fabs(scale.z));
        }
    return factor;
}

static bool add_shape(SceneNode *node, void *context)
{
    BallSearch *search = context;
    if (!scene_node_is(node, "Shape") && !scene_node_is(node, "CadShape"))
        return true;
    Ball ball = ball_of_geometry(search->at, node);
    double scale = scale_of(node);
    ball.centre = pose_apply(device_frame(search->at, scene_parent(node)), vec3_scale(ball.centre, scale));
    ball.radius *= scale;
    search->ball = ball_around(search->ball, ball);
    return true;
}

static void see_shapes(View *view, const DeviceContext *at, int solid)
{
    BallSearch search = { at, { VEC3_ZERO, -1.0 } };
    scene_walk(physics_solid_node(at->physics, solid), true, add_shape, &search);
    double radius = fmax(search.ball.radius, 0.0);
    Vec3 centre = search.ball.radius >= 0.0 ? search.ball.centre : physics_solid_pose(at->physics, solid).t;
    see_round(view, pose_apply(pose_inverse(view->pose), centre), vec3(radius, radius, radius));
}

bool sight_of(const DeviceContext *at, int solid, double horizontal, double vertical, Sight *sight)
{
    assert_debug(solid >= 0 && sight);
    View view = { .pose = device_pose(at), .horizontal = horizontal, .is_wide = horizontal > M_PI };
    make_sides(&view, horizontal, vertical);
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
    if (!has_shape)
        see_shapes(&view, at, solid);
    sight->centre = vec3_scale(vec3_add(view.low, view.high), 0.5);
    sight->size = vec3_sub(view.high, view.low);
    sight->is_ball = !view.has_edges;
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
    int ends[2] = { scene_bool(robot, "selfCollision") ? at->info->solid : at->devices->robots[at->robot].solid,
                    solid };
    PhysicsRayHit hit;
    if (length <= 0.0)
        return false;
    PhysicsRay ray = { origin, vec3_scale(away, 1.0 / length), length, may_hide, ends };
    return physics_ray_cast(at->physics, &ray, &hit) && length - hit.distance > depth;
}
