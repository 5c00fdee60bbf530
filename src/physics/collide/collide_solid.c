// Balls and capsules against solid boxes and cylinders, in the frame of the solid. A capsule touches where its axis
// comes closest, and where it enters and leaves the part of the axis that is above the touched face, edge, cap or
// mantle.
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <math.h>

// The closest point of a solid to p; inside, that of the nearest face. Returns the signed distance.
static double box_closest(const double *size, const double *p, double on[3], double away[3])
{
    double outside = 0.0;
    for (int k = 0; k < 3; k++) {
        on[k] = double_clamp(p[k], -size[k], size[k]);
        away[k] = p[k] - on[k];
        outside += away[k] * away[k];
    }
    double distance = sqrt(outside);
    if (distance > AXIS_INSIDE) {
        for (int k = 0; k < 3; k++)
            away[k] /= distance;
        return distance;
    }
    int face = 0;
    for (int k = 1; k < 3; k++)
        if (size[k] - fabs(p[k]) < size[face] - fabs(p[face]))
            face = k;
    away[0] = away[1] = away[2] = 0.0;
    away[face] = p[face] < 0.0 ? -1.0 : 1.0;
    on[face] = away[face] * size[face];
    return fabs(p[face]) - size[face];
}

static double cylinder_closest(const double *size, const double *p, double on[3], double away[3])
{
    double radius = size[0], half = size[1], from_axis = sqrt(p[0] * p[0] + p[1] * p[1]);
    double side[2] = { from_axis > 1e-12 ? p[0] / from_axis : 1.0, from_axis > 1e-12 ? p[1] / from_axis : 0.0 };
    double beyond_side = from_axis - radius, beyond_cap = fabs(p[2]) - half, end = p[2] < 0.0 ? -1.0 : 1.0;
    double u = double_max(beyond_side, 0.0), w = double_max(beyond_cap, 0.0), distance = sqrt(u * u + w * w);
    vec_copy(p, on);
    if (distance > AXIS_INSIDE) {
        for (int k = 0; k < 2; k++) {
            on[k] = p[k] - u * side[k];
            away[k] = u * side[k] / distance;
        }
        on[2] = p[2] - w * end;
        away[2] = w * end / distance;
        return distance;
    }
    bool is_cap = beyond_cap > beyond_side;
    away[0] = is_cap ? 0.0 : side[0], away[1] = is_cap ? 0.0 : side[1], away[2] = is_cap ? end : 0.0;
    if (is_cap)
        on[2] = end * half;
    else
        on[0] = radius * side[0], on[1] = radius * side[1];
    return is_cap ? beyond_cap : beyond_side;
}

static double solid_closest(const CollideShape *solid, const double *p, double on[3], double away[3])
{
    return solid->type == GEOMETRY_BOX ? box_closest(solid->size, p, on, away)
                                       : cylinder_closest(solid->size, p, on, away);
}

static void to_local(const CollidePose *pose, const double *d, double out[3])
{
    const double *r = pose->rotation;
    for (int k = 0; k < 3; k++)
        out[k] = r[k] * d[0] + r[3 + k] * d[1] + r[6 + k] * d[2];
}

static void point_fill(const CollidePose *pose, const double *position, const double *normal, double depth,
                       uint32_t feature, CollidePoint *point)
{
    const double *r = pose->rotation;
    for (int i = 0; i < 3; i++) {
        point->position[i] = pose->position[i] + vec_dot(r + 3 * i, position);
        point->normal[i] = vec_dot(r + 3 * i, normal);
    }
    point->depth = depth;
    point->feature = feature;
}

// ---- balls ----

// With a box the point is where ODE has it: on the box, and at the centre of a ball whose centre is inside.
int collide_ball_solid(const CollideShape *ball, const CollidePose *pa, const CollideShape *solid,
                       const CollidePose *pb, double margin, CollidePoint *point)
{
    double d[3], local[3], on[3], n[3], at[3];
    vec_sub(pa->position, pb->position, d);
    to_local(pb, d, local);
    double distance = solid_closest(solid, local, on, n), depth = ball->size[0] - distance;
    if (depth < -margin)
        return 0;
    for (int i = 0; i < 3; i++)
        at[i] = solid->type != GEOMETRY_BOX ? on[i] - 0.5 * depth * n[i] : distance < 0.0 ? local[i] : on[i];
    point_fill(pb, at, n, depth, 0, point);
    return 1;
}

// ---- capsules ----

// The axis of a capsule in the frame of a solid: points centre + t * half for t from -1 to 1.
typedef struct Axis {
    double centre[3], half[3];
    double radius, margin;
    const CollideShape *solid;
} Axis;

static void axis_point(const Axis *a, double t, double p[3])
{
    for (int i = 0; i < 3; i++)
        p[i] = a->centre[i] + t * a->half[i];
}

// First and second derivative along the axis of half the squared distance to the solid.
static double axis_slope(const Axis *a, double t, double *bend)
{
    double p[3], slope = 0.0;
    const double *d = a->half, *size = a->solid->size;
    axis_point(a, t, p);
    *bend = 0.0;
    if (a->solid->type == GEOMETRY_BOX) {
        for (int k = 0; k < 3; k++) {
            double away = p[k] - double_clamp(p[k], -size[k], size[k]);
            slope += away * d[k];
            *bend += away != 0.0 ? d[k] * d[k] : 0.0;
        }
        return slope;
    }
    double from_axis = sqrt(p[0] * p[0] + p[1] * p[1]), u = from_axis - size[0], w = fabs(p[2]) - size[1];
    if (u > 0.0) {
        double grows = (p[0] * d[0] + p[1] * d[1]) / from_axis;
        slope += u * grows;
        *bend += grows * grows + u * (d[0] * d[0] + d[1] * d[1] - grows * grows) / from_axis;
    }
    if (w > 0.0) {
        slope += w * copysign(d[2], p[2] * d[2]);
        *bend += d[2] * d[2];
    }
    return slope;
}

// Where the axis comes closest: the squared distance is convex, so Newton's method between bounds finds it.
static double axis_closest(const Axis *a)
{
    double low = -1.0, high = 1.0, length2 = vec_dot(a->half, a->half), bend;
    if (!(length2 > 0.0))
        return 0.0;
    double t = double_clamp(-vec_dot(a->centre, a->half) / length2, -1.0, 1.0);
    for (int i = 0; i < MAX_NEWTON_STEPS; i++) {
        double slope = axis_slope(a, t, &bend);
        if (slope == 0.0)
            return t;
        if (slope > 0.0)
            high = t;
        else
            low = t;
        double next = bend > 0.0 ? t - slope / bend : 0.5 * (low + high);
        if (fabs(next - t) < 1e-9)
            return double_clamp(next, -1.0, 1.0);
        // A bound that was tried already is no answer; the ends of the axis are.
        if (!(next > low))
            next = low > -1.0 ? 0.5 * (low + high) : -1.0;
        if (!(next < high))
            next = high < 1.0 ? 0.5 * (low + high) : 1.0;
        t = next;
    }
    return t;
}

// The same when the axis goes through the solid, by golden section: the signed distance is convex too.
static double axis_deepest(const Axis *a)
{
    const double golden = 0.3819660112501051;
    double low = -1.0, high = 1.0, t[2] = { -1.0 + 2.0 * golden, 1.0 - 2.0 * golden }, found[2], p[3], on[3], n[3];
    for (int k = 0; k < 2; k++) {
        axis_point(a, t[k], p);
        found[k] = solid_closest(a->solid, p, on, n);
    }
    for (int step = 0; step < GOLDEN_STEPS; step++) {
        int fresh = found[0] < found[1] ? 0 : 1;
        if (fresh == 0)
            high = t[1], t[1] = t[0], found[1] = found[0], t[0] = low + golden * (high - low);
        else
            low = t[0], t[0] = t[1], found[0] = found[1], t[1] = high - golden * (high - low);
        axis_point(a, t[fresh], p);
        found[fresh] = solid_closest(a->solid, p, on, n);
    }
    return 0.5 * (low + high);
}

static void clip_slab(double centre, double half, double size, double *from, double *to)
{
    if (fabs(half) < 1e-12) {
        if (fabs(centre) > size)
            *from = 1.0, *to = -1.0;
        return;
    }
    double x = (-size - centre) / half, y = (size - centre) / half;
    *from = double_max(*from, double_min(x, y)), *to = double_min(*to, double_max(x, y));
}

static void clip_disc(const Axis *a, double radius, double *from, double *to)
{
    const double *c = a->centre, *d = a->half;
    double aa = d[0] * d[0] + d[1] * d[1], b = c[0] * d[0] + c[1] * d[1],
           cc = c[0] * c[0] + c[1] * c[1] - radius * radius, root = b * b - aa * cc;
    if (aa < 1e-24)
        return;
    if (root < 0.0) {
        *from = 1.0, *to = -1.0;
        return;
    }
    *from = double_max(*from, (-b - sqrt(root)) / aa), *to = double_min(*to, (-b + sqrt(root)) / aa);
}

// The part of the axis above what is touched along `n`; empty: from > to.
static void axis_above(const Axis *a, const double *n, double *from, double *to)
{
    const double *size = a->solid->size;
    *from = -1.0, *to = 1.0;
    if (a->solid->type != GEOMETRY_BOX) {
        if (fabs(n[2]) > ABOVE_A_FACE)
            clip_disc(a, size[0], from, to);
        else
            clip_slab(a->centre[2], a->half[2], size[1], from, to);
        return;
    }
    bool is_face = fabs(n[0]) > ABOVE_A_FACE || fabs(n[1]) > ABOVE_A_FACE || fabs(n[2]) > ABOVE_A_FACE,
         has_clipped = false;
    for (int k = 0; k < 3; k++)
        if (n[k] == 0.0 || (is_face && fabs(n[k]) <= ABOVE_A_FACE)) {
            clip_slab(a->centre[k], a->half[k], size[k], from, to);
            has_clipped = true;
        }
    if (!has_clipped)
        *from = 1.0, *to = -1.0;  // a corner
}

static int axis_touch(const Axis *a, const CollidePose *pose, double t, uint32_t feature, CollidePoint *point)
{
    double p[3], on[3], n[3], at[3];
    axis_point(a, t, p);
    double depth = a->radius - solid_closest(a->solid, p, on, n);
    if (depth < -a->margin)
        return 0;
    for (int i = 0; i < 3; i++)
        at[i] = on[i] - 0.5 * depth * n[i];
    point_fill(pose, at, n, depth, feature, point);
    return 1;
}

static bool axis_is_apart(const Axis *a)
{
    const CollideShape *solid = a->solid;
    double max = a->radius + a->margin;
    if (solid->type == GEOMETRY_BOX) {
        for (int k = 0; k < 3; k++)
            if (fabs(a->centre[k]) - fabs(a->half[k]) - solid->size[k] > max)
                return true;
        return false;
    }
    return fabs(a->centre[2]) - fabs(a->half[2]) - solid->size[1] > max;
}

int collide_capsule_solid(const CollideShape *capsule, const CollidePose *pa, const CollideShape *solid,
                          const CollidePose *pb, double margin, CollidePoint *points)
{
    assert_debug(capsule->type == GEOMETRY_CAPSULE
                 && (solid->type == GEOMETRY_BOX || solid->type == GEOMETRY_CYLINDER));
    Axis axis = { .radius = capsule->size[0], .margin = margin, .solid = solid };
    double d[3], p[3], on[3], n[3], from, to;
    vec_sub(pa->position, pb->position, d);
    to_local(pb, d, axis.centre);
    for (int i = 0; i < 3; i++)
        d[i] = capsule->size[1] * pa->rotation[3 * i + 2];
    to_local(pb, d, axis.half);
    if (axis_is_apart(&axis))
        return 0;
    double closest = axis_closest(&axis);
    axis_point(&axis, closest, p);
    double distance = solid_closest(solid, p, on, n);
    if (distance > axis.radius + margin)
        return 0;
    if (distance <= AXIS_INSIDE) {
        closest = axis_deepest(&axis);
        axis_point(&axis, closest, p);
        solid_closest(solid, p, on, n);
    }
    axis_above(&axis, n, &from, &to);
    if (to - from < SAME_PLACE)
        return axis_touch(&axis, pb, closest, 2, points);
    // The closest point takes the place of an end that it is next to.
    bool at_start = fabs(closest - from) < SAME_PLACE, at_end = fabs(closest - to) < SAME_PLACE;
    int count = axis_touch(&axis, pb, at_start ? closest : from, 0, points);
    count += axis_touch(&axis, pb, at_end ? closest : to, 1, &points[count]);
    if (at_start || at_end)
        return count;
    // Along a flat face the depth changes evenly: the two ends say it all.
    double depth = axis.radius - distance;
    if (count == 2 && distance > AXIS_INSIDE && depth <= double_max(points[0].depth, points[1].depth) + 1e-6)
        return count;
    return count + axis_touch(&axis, pb, closest, 2, &points[count]);
}
