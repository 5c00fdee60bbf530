// Balls, capsules and cylinders against one triangle; their axis is z.
#include "physics/collide/collide_internal.h"
#include "physics/collide/collide_triangle.h"
#include "physics/collide/tuning.h"

#include <math.h>

// ---- balls and capsules ----

// Where two lines of given lengths are closest: the axis at `height` of z, the edge at `share` of it.
static void closest(const double *from, const double *along, double half, double *height, double *share)
{
    double length2 = vec_dot(along, along), flat2 = along[0] * along[0] + along[1] * along[1];
    *share = flat2 > 1e-12 * length2 ? -(from[0] * along[0] + from[1] * along[1]) / flat2 : 0.5;
    *share = double_clamp(*share, 0.0, 1.0);
    *height = double_clamp(from[2] + *share * along[2], -half, half);
    *share = double_clamp(((*height - from[2]) * along[2] - from[0] * along[0] - from[1] * along[1]) / length2, 0.0,
                          1.0);
    *height = double_clamp(from[2] + *share * along[2], -half, half);
}

static void ball_edge(Touch *touch, const Triangle *t, int edge)
{
    const double *from = t->v[edge];
    double along[3], tip[3], height, share, d[3], out[3], radius = touch->size[0];
    bool is_ours;
    vec_sub(t->v[(edge + 1) % 3], from, along);
    closest(from, along, touch->size[1], &height, &share);
    for (int k = 0; k < 3; k++)
        d[k] = (k == 2 ? height : 0.0) - from[k] - share * along[k];
    double distance2 = vec_dot(d, d), reach = radius + touch->margin;
    if (distance2 > reach * reach || distance2 < 1e-24 * radius * radius)
        return;
    MeshEdge kind = touch_edge(touch, t, edge, tip, &is_ours);
    // From behind, where a valley is an edge that sticks out, its back is what is closest.
    bool is_behind = kind == MESH_EDGE_CONCAVE && !touch->is_solid && vec_dot(d, t->normal) < 0.0
                     && distance2 < BEHIND * BEHIND * radius * radius;
    if (!is_ours || kind == MESH_EDGE_FLAT || (kind == MESH_EDGE_CONCAVE && !is_behind)
        || (kind == MESH_EDGE_BORDER && touch->is_solid))
        return;
    double distance = sqrt(distance2), slack = CONE_EXACT * distance;
    vec_cross(along, t->normal, out);
    if (vec_dot(d, out) < -slack * sqrt(vec_dot(out, out)) || (kind == MESH_EDGE_BORDER && vec_dot(d, t->normal) < 0.0))
        return;
    if (kind != MESH_EDGE_BORDER) {
        double mate[3];
        vec_sub(from, tip, mate);
        double part = vec_dot(mate, along) / vec_dot(along, along);
        for (int k = 0; k < 3; k++)
            mate[k] -= part * along[k];
        if (vec_dot(d, mate) < -slack * sqrt(vec_dot(mate, mate)))
            return;
    }
    double normal[3], p[3], depth = is_behind ? radius + distance : radius - distance;
    for (int k = 0; k < 3; k++) {
        normal[k] = is_behind ? -d[k] / distance : d[k] / distance;
        p[k] = from[k] + share * along[k] - touch->lift * depth * normal[k];
    }
    touch_add(touch, p, normal, depth, (uint32_t)t->index << 4 | 8u | (uint32_t)edge);
}

// The part of the axis that is over the triangle; false: none.
static bool axis_over(const Touch *touch, const Triangle *t, double half, bool is_below, double range[2])
{
    const double *along = touch->is_solid && is_below ? touch->up : t->normal;
    range[0] = -half;
    range[1] = half;
    for (int k = 0; k < 3; k++) {
        double edge[3], out[3];
        vec_sub(t->v[(k + 1) % 3], t->v[k], edge);
        vec_cross(edge, along, out);
        // Height z is inside while out[2] z <= room.
        double room = vec_dot(out, t->v[k]) + 1e-9 * sqrt(vec_dot(edge, edge) * vec_dot(out, out));
        if (fabs(out[2]) * (half + 1e-300) < 1e-300) {
            if (room < 0.0)
                return false;
        } else if (out[2] > 0.0) {
            range[1] = smaller(range[1], room / out[2]);
        } else {
            range[0] = larger(range[0], room / out[2]);
        }
    }
    return range[0] <= range[1];
}

void triangle_ball(Touch *touch, const Triangle *t)
{
    double radius = touch->size[0], half = touch->size[1], lean = half * fabs(t->normal[2]), range[2];
    if (t->height - lean > radius + touch->margin || (!touch->is_solid && t->height <= -BEHIND * (radius + lean)))
        return;
    if (axis_over(touch, t, half, t->height - lean < 0.0, range)) {
        int ends = range[1] - range[0] > 1e-3 * radius ? 2 : 1;
        for (int end = 0; end < ends; end++) {
            double height = t->height + t->normal[2] * range[end], depth = radius - height, p[3];
            for (int k = 0; k < 3; k++)
                p[k] = (k == 2 ? range[end] : 0.0) - (height + touch->lift * depth) * t->normal[k];
            touch_add(touch, p, t->normal, depth, (uint32_t)t->index << 4 | (uint32_t)end);
        }
        if (half == 0.0)
            return;  // a ball over a face is nowhere nearer to its edges
    }
    for (int k = 0; k < 3; k++)
        ball_edge(touch, t, k);
}

// ---- cylinders ----

static double flat_length(double x, double y) { return sqrt(x * x + y * y); }

enum { RIM = 16 };

// Points around the axis, from the lowest on both ways.
static const double rim[RIM][2] = { { 1.0, 0.0 },
                                    { 0.9238795325112867, 0.3826834323650898 },
                                    { M_SQRT1_2, M_SQRT1_2 },
                                    { 0.3826834323650898, 0.9238795325112867 },
                                    { 0.0, 1.0 },
                                    { -0.3826834323650898, 0.9238795325112867 },
                                    { -M_SQRT1_2, M_SQRT1_2 },
                                    { -0.9238795325112867, 0.3826834323650898 },
                                    { -1.0, 0.0 },
                                    { -0.9238795325112867, -0.3826834323650898 },
                                    { -M_SQRT1_2, -M_SQRT1_2 },
                                    { -0.3826834323650898, -0.9238795325112867 },
                                    { 0.0, -1.0 },
                                    { 0.3826834323650898, -0.9238795325112867 },
                                    { M_SQRT1_2, -M_SQRT1_2 },
                                    { 0.9238795325112867, -0.3826834323650898 } };

static void rim_point(const double turn[2], const double lowest[2], double radius, double height, double out[3])
{
    out[0] = radius * (turn[0] * lowest[0] - turn[1] * lowest[1]);
    out[1] = radius * (turn[0] * lowest[1] + turn[1] * lowest[0]);
    out[2] = height;
}

// The cap that is lower, and the mantle's lowest line; where the ground bends, another triangle's lowest line may be
// over this one, so lines to both sides count too.
static void cylinder_face(Touch *touch, const Triangle *t)
{
    static const int lines[] = { 0, 1, RIM - 1, 2, RIM - 2 };
    double radius = touch->size[0], half = touch->size[1],
           tilt = t->normal[0] * t->normal[0] + t->normal[1] * t->normal[1];
    double lowest[2] = { 1.0, 0.0 };
    if (tilt >= RIM_LEVEL)
        for (int k = 0; k < 2; k++)
            lowest[k] = -t->normal[k] / sqrt(tilt);
    Polygon feature;
    if (t->normal[2] * t->normal[2] > RIM_LYING) {
        for (int i = 0; i < RIM; i++)
            rim_point(rim[i], lowest, radius, t->normal[2] > 0.0 ? -half : half, feature[i]);
        touch_face(touch, t, feature, RIM);
    }
    for (int i = 0; i < COUNT_OF(lines) && tilt >= RIM_TILTED; i++) {
        // A line that is above the triangle as a whole is not cut to it.
        double low = t->height - radius * rim[lines[i]][0] * sqrt(tilt) - half * fabs(t->normal[2]);
        if (low > touch->margin)
            break;
        for (int end = 0; end < 2; end++)
            rim_point(rim[lines[i]], lowest, radius, end ? half : -half, feature[end]);
        touch_face(touch, t, feature, 2);
    }
}

static void cylinder_cap(Touch *touch, const Triangle *t, const double axis[3])
{
    double radius = touch->size[0], half = touch->size[1];
    Polygon first, second;
    double(*from)[3] = first, (*to)[3] = second;
    int count = 3;
    for (int k = 0; k < 3; k++)
        vec_copy(t->v[k], first[k]);
    for (int i = 0; i < RIM && count > 0; i++) {
        double out[3] = { rim[i][0], rim[i][1], 0.0 };  // a little outside of the rim between two of its points
        count = polygon_clip((const double(*)[3])from, count, out, radius, to);
        double(*swap)[3] = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < count; i++) {
        double depth = axis[2] * from[i][2] + half,
               p[3] = { from[i][0], from[i][1], from[i][2] - touch->lift * depth * axis[2] };
        touch_add(touch, p, axis, depth, (uint32_t)t->index << 4 | (uint32_t)i);
    }
}

// The triangle's outermost edge or corner in the mantle: its place nearest to the axis, and both ends when it runs
// along.
static void cylinder_mantle(Touch *touch, const Triangle *t, const double axis[3])
{
    double radius = touch->size[0], half = touch->size[1];
    int top = 0;
    for (int k = 1; k < 3; k++)
        if (vec_dot(axis, t->v[k]) > vec_dot(axis, t->v[top]))
            top = k;
    int other = vec_dot(axis, t->v[(top + 1) % 3]) > vec_dot(axis, t->v[(top + 2) % 3]) ? (top + 1) % 3 : (top + 2) % 3;
    Polygon line, cut;
    vec_copy(t->v[top], line[0]);
    vec_copy(t->v[other], line[1]);
    int count = polygon_clip((const double(*)[3])line, 2, (double[3]){ 0.0, 0.0, 1.0 }, half, cut);
    count = polygon_clip((const double(*)[3])cut, count, (double[3]){ 0.0, 0.0, -1.0 }, half, line);
    if (count == 0)
        return;
    double along[3], share, height;
    vec_sub(line[count - 1], line[0], along);
    bool is_along = along[0] * along[0] + along[1] * along[1] < 0.01 * along[2] * along[2];
    if (count == 2 && !is_along) {
        double from[3];
        vec_copy(line[0], from);
        closest(from, along, half, &height, &share);
        for (int k = 0; k < 3; k++)
            line[0][k] = from[k] + share * along[k];
        count = 1;
    }
    for (int i = 0; i < count; i++) {
        double depth = radius - flat_length(line[i][0], line[i][1]), p[3];
        for (int k = 0; k < 3; k++)
            p[k] = line[i][k] - touch->lift * depth * axis[k];
        touch_add(touch, p, axis, depth, (uint32_t)t->index << 4 | 8u | (uint32_t)i);
    }
}

static void try_axis(const Touch *touch, const Triangle *t, const double axis[3], double reach, int feature,
                     AxisChoice *best)
{
    if (touch->is_solid && vec_dot(axis, touch->up) < -1e-9)
        return;  // a solid ground has no end downwards
    double separation = -reach - larger(vec_dot(axis, t->v[0]), larger(vec_dot(axis, t->v[1]), vec_dot(axis, t->v[2])));
    if (separation <= best->separation)
        return;
    best->separation = separation;
    best->feature = feature;
    vec_copy(axis, best->axis);
}

static void mantle_axes(const Touch *touch, const Triangle *t, AxisChoice *best)
{
    for (int k = 0; k < 3; k++) {
        double along[3];
        vec_sub(t->v[(k + 1) % 3], t->v[k], along);
        double length = flat_length(along[0], along[1]), away = flat_length(t->v[k][0], t->v[k][1]);
        for (int side = -1; side <= 1 && length > 1e-9; side += 2)
            try_axis(touch, t, (double[3]){ side * along[1] / length, -side * along[0] / length, 0.0 }, touch->size[0],
                     k, best);
        if (away > 1e-9)
            try_axis(touch, t, (double[3]){ -t->v[k][0] / away, -t->v[k][1] / away, 0.0 }, touch->size[0], 3 + k, best);
    }
}

void triangle_cylinder(Touch *touch, const Triangle *triangle)
{
    double radius = touch->size[0], half = touch->size[1];
    double reach = radius * flat_length(triangle->normal[0], triangle->normal[1]) + half * fabs(triangle->normal[2]);
    Triangle t;
    bool can_face;
    if (!touch_side(touch, triangle, reach, false, &t, &can_face))
        return;
    AxisChoice cap = { .separation = -INFINITY }, mantle = { .separation = -INFINITY };
    for (int side = -1; side <= 1; side += 2)
        try_axis(touch, &t, (double[3]){ 0.0, 0.0, side }, half, 0, &cap);
    if (cap.separation > touch->margin)
        return;
    mantle_axes(touch, &t, &mantle);
    if (mantle.separation > touch->margin)
        return;
    switch (
        touch_choose(touch, &t, can_face ? t.height - reach : -INFINITY, &cap, &mantle, 1e-3 * smaller(radius, half))) {
    case AXIS_NORMAL: cylinder_face(touch, &t); break;
    case AXIS_FACE: cylinder_cap(touch, &t, cap.axis); break;
    case AXIS_EDGE: cylinder_mantle(touch, &t, mantle.axis); break;
    case AXIS_NONE: break;
    }
}
