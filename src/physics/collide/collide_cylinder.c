// Cylinder against box and cylinder: the direction in which the two overlap least, then the flat or straight parts that
// face each other, one clipped to the other.
//
// Over unit vectors n the separation is s(n) = |n.c| - reach_a(n) - reach_b(n), and what is wanted is its maximum. It
// has corners at faces, caps and where a mantle meets an edge: these are tried one by one. Where a rim meets an edge, a
// mantle or a rim, the maximum is smooth along a curve; it is searched only when the points found for the best corner
// are less deep than s(n) says, which means that the parts that face each other do not lie above each other.
#include "physics/collide/collide_clip.h"
#include "physics/collide/tuning.h"

#include <math.h>

typedef struct Cylinder {
    double centre[3], axis[3], side[3], other[3];  // other: the third of the right-handed frame
    double radius, half;
} Cylinder;

// Corners, of which what gives a single point has to be clearly better than what gives more and stays the same longer;
// then whatever is better, along the ridges from the best corner; then from elsewhere too.
typedef enum Search { SEARCH_CORNERS, SEARCH_NEAR, SEARCH_WIDE } Search;

// Everything in the frame of B, which stands at the origin.
typedef struct Pair {
    Cylinder a, b;       // b only when it is one
    const double *box;   // half extents of B, NULL: a cylinder
    double margin, min;  // least: smallest size of the two
    Search search;
} Pair;

typedef struct Best {
    double separation, normal[3];  // normal: out of B into A
} Best;

static double vec_normalise(double *v)
{
    double length = sqrt(vec_dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length;
    return length;
}

static double cylinder_reach(const Cylinder *c, const double *n)
{
    double along = vec_dot(c->axis, n);
    return c->half * fabs(along) + c->radius * sqrt(double_max(0.0, 1.0 - along * along));
}

static double reach_b(const Pair *p, const double *n)
{
    if (!p->box)
        return cylinder_reach(&p->b, n);
    return p->box[0] * fabs(n[0]) + p->box[1] * fabs(n[1]) + p->box[2] * fabs(n[2]);
}

// Tries a unit vector. False: the shapes are apart.
static bool offer(const Pair *p, Best *best, const double *n, bool must_be_clear)
{
    double along = vec_dot(n, p->a.centre), sign = along < 0.0 ? -1.0 : 1.0;
    double separation = sign * along - cylinder_reach(&p->a, n) - reach_b(p, n);
    if (separation > p->margin)
        return false;
    if (separation > (must_be_clear && p->search == SEARCH_CORNERS ? 0.9 * best->separation + 1e-3 * p->min
                                                                   : best->separation + 1e-6)) {
        best->separation = separation;
        for (int i = 0; i < 3; i++)
            best->normal[i] = sign * n[i];
    }
    return true;
}

// The same for a vector of any length; one that is too short says nothing.
static bool offer_direction(const Pair *p, Best *best, double *direction, double shortest, bool must_be_clear)
{
    if (!(vec_dot(direction, direction) > shortest * shortest))
        return true;
    vec_normalise(direction);
    return offer(p, best, direction, must_be_clear);
}

static void across(const double *v, const double *axis, double *out)
{
    double along = vec_dot(v, axis);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] - along * axis[i];
}

// ---- corners of the separation ----

// The end of the box's edge `k` that faces n, when that is what is nearest to the cylinder's axis.
static bool offer_vertex(const Pair *p, Best *best, const double *n, int k)
{
    assert_debug(p->box && k >= 0 && k < 3);
    const Cylinder *c = &p->a;
    double from[3], out[3], edge[3] = { 0.0 };
    for (int i = 0; i < 3; i++)
        from[i] = c->centre[i] - (i == k ? 0.0 : n[i] < 0.0 ? -p->box[i] : p->box[i]);
    across(from, c->axis, out);
    double length2 = 1.0 - c->axis[k] * c->axis[k], t = out[k] / length2;  // `out` is across the axis already
    if (fabs(t) < p->box[k])
        return true;
    edge[k] = t < 0.0 ? -p->box[k] : p->box[k];
    vec_sub(from, edge, from);
    across(from, c->axis, out);
    return offer_direction(p, best, out, 1e-9, true);
}

static bool box_corners(const Pair *p, Best *best)
{
    const Cylinder *c = &p->a;
    for (int k = 0; k < 3; k++) {
        double n[3] = { k == 0, k == 1, k == 2 };
        if (!offer(p, best, n, false))
            return false;
    }
    if (!offer(p, best, c->axis, false))
        return false;
    Best mantle = { -INFINITY, { 0.0 } };
    int edge = -1;
    for (int k = 0; k < 3; k++) {
        double e[3] = { k == 0, k == 1, k == 2 }, n[3], before = mantle.separation;
        vec_cross(e, c->axis, n);
        if (!offer_direction(p, &mantle, n, 0.01, false))
            return false;
        if (mantle.separation > before)
            edge = k;
    }
    return edge < 0 || (offer(p, best, mantle.normal, true) && offer_vertex(p, best, mantle.normal, edge));
}

static bool cylinder_corners(const Pair *p, Best *best)
{
    const Cylinder *a = &p->a, *b = &p->b;
    double n[3];
    if (!offer(p, best, b->axis, false) || !offer(p, best, a->axis, false))
        return false;
    const double *axes[2] = { b->axis, a->axis };
    for (int k = 0; k < 2; k++) {
        across(a->centre, axes[k], n);
        if (!offer_direction(p, best, n, 1e-9, k > 0))
            return false;
    }
    vec_cross(a->axis, b->axis, n);
    return offer_direction(p, best, n, 0.01, true);
}

// ---- smooth maxima ----

// Climbs in the plane of u and v from the part of `start` that lies in it.
static bool offer_climb(const Pair *p, Best *best, const CollideRidge *ridge, const double *u, const double *v,
                        const double *start)
{
    double n[2] = { vec_dot(start, u), vec_dot(start, v) }, length2 = n[0] * n[0] + n[1] * n[1];
    if (length2 < 0.01 * vec_dot(start, start))
        return true;
    for (int i = 0; i < 2; i++)
        n[i] /= sqrt(length2);
    for (int arcs = 0; arcs < 3 && collide_refine_edge_axis(ridge, n); arcs++)
        ;
    double found[3];
    for (int i = 0; i < 3; i++)
        found[i] = n[0] * u[i] + n[1] * v[i];
    return offer(p, best, found, true);
}

// From the best so far; in a wide search also from where the other shape lies and from the cap that faces it.
static bool offer_ridge(const Pair *p, Best *best, const CollideRidge *ridge, const double *u, const double *v)
{
    Best start = *best;
    if (!offer_climb(p, best, ridge, u, v, start.normal))
        return false;
    if (p->search < SEARCH_WIDE)
        return true;
    double cap[3], sign = copysign(1.0, vec_dot(p->a.centre, p->a.axis));
    for (int i = 0; i < 3; i++)
        cap[i] = sign * p->a.axis[i];
    return offer_climb(p, best, ridge, u, v, p->a.centre) && offer_climb(p, best, ridge, u, v, cap);
}

static bool box_ridges(const Pair *p, Best *best)
{
    assert_debug(p->box);
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double u[3] = { i == 0, i == 1, i == 2 }, v[3] = { j == 0, j == 1, j == 2 };
        CollideRidge ridge = { { p->a.centre[i], p->a.centre[j] },
                               { p->box[i], p->box[j] },
                               { p->a.axis[i], p->a.axis[j] },
                               p->a.radius,
                               p->a.half };
        if (!offer_ridge(p, best, &ridge, u, v))
            return false;
    }
    return true;
}

// Where two rims meet: Newton's method on the sphere. The reach of a rim bends along its tangent alone.
static bool rims_climb(const Pair *p, double n[3])
{
    assert_debug(!p->box);
    const Cylinder *c[2] = { &p->a, &p->b };
    double sign[2] = { copysign(1.0, vec_dot(n, c[0]->axis)), copysign(1.0, vec_dot(n, c[1]->axis)) };
    for (int step = 0; step < COLLIDE_SEARCH_STEPS; step++) {
        double gradient[3], tangent[2][3], bend[2];
        vec_copy(p->a.centre, gradient);
        for (int k = 0; k < 2; k++) {
            double x = vec_dot(n, c[k]->axis), rho = sqrt(double_max(0.0, 1.0 - x * x)), w[3];
            if (rho < 0.01 || x * sign[k] < 0.0)
                return false;
            for (int i = 0; i < 3; i++) {
                w[i] = (n[i] - x * c[k]->axis[i]) / rho;
                gradient[i] -= sign[k] * c[k]->half * c[k]->axis[i] + c[k]->radius * w[i];
            }
            vec_cross(c[k]->axis, w, tangent[k]);
            bend[k] = c[k]->radius / rho;
        }
        double s = vec_dot(n, gradient), second[3];
        vec_cross(n, tangent[0], second);
        double b1 = vec_dot(tangent[1], tangent[0]), b2 = vec_dot(tangent[1], second),
               g1 = vec_dot(gradient, tangent[0]), g2 = vec_dot(gradient, second);
        double m11 = -bend[0] - bend[1] * b1 * b1 - s, m12 = -bend[1] * b1 * b2, m22 = -bend[1] * b2 * b2 - s;
        // Where the separation bends upwards the step is made one that climbs.
        double top = 0.5 * (m11 + m22) + sqrt(0.25 * (m11 - m22) * (m11 - m22) + m12 * m12),
               lift = double_max(0.0, top + 0.05 * p->min);
        m11 -= lift, m22 -= lift;
        double determinant = m11 * m22 - m12 * m12;
        if (!(determinant > 0.0))
            return false;
        double d1 = (-m22 * g1 + m12 * g2) / determinant, d2 = (m12 * g1 - m11 * g2) / determinant,
               length = sqrt(d1 * d1 + d2 * d2);
        double max = length > 0.3 ? 0.3 / length : 1.0;
        for (int i = 0; i < 3; i++)
            n[i] += max * (d1 * tangent[0][i] + d2 * second[i]);
        vec_normalise(n);
        if (length < COLLIDE_SEARCH_END)
            return true;
    }
    return true;
}

// The search for where two rims meet starts from sums of: the best so far, the way to the other shape, the same across
// either axis, the caps that face the other, and the caps that face the best.
static bool offer_rims(const Pair *p, Best *best)
{
    enum { STARTS = 5, PARTS = 8 };
    static const double weights[STARTS][PARTS] = { { 0, 0, 1, 0, 1 },
                                                   { 0, 0, 0, 1, 0, 1 },
                                                   { 1, 0, 0, 0, 0, 0, 0.2, 0.2 },
                                                   { 0, 1, 0, 0, 0, 0, 0.5, 0.5 },
                                                   { 0, 1, 0, 0, 1, 1 } };
    const Cylinder *cylinders[2] = { &p->b, &p->a };
    double parts[PARTS][3];
    vec_copy(best->normal, parts[0]);
    vec_copy(p->a.centre, parts[1]);
    for (int k = 0; k < 2; k++) {
        across(p->a.centre, cylinders[k]->axis, parts[2 + k]);
        for (int i = 0; i < 3; i++) {
            parts[4 + k][i] = copysign(1.0, vec_dot(p->a.centre, cylinders[k]->axis)) * cylinders[k]->axis[i];
            parts[6 + k][i] = copysign(1.0, vec_dot(best->normal, cylinders[k]->axis)) * cylinders[k]->axis[i];
        }
    }
    for (int k = 1; k < 4; k++)
        if (vec_dot(parts[k], parts[k]) > 1e-18)
            vec_normalise(parts[k]);
    for (int start = 0; start < STARTS; start++) {
        double n[3] = { 0.0 };
        for (int k = 0; k < PARTS; k++)
            for (int i = 0; i < 3; i++)
                n[i] += weights[start][k] * parts[k][i];
        if (!(vec_dot(n, n) > 1e-6))
            continue;
        vec_normalise(n);
        if (rims_climb(p, n) && !offer(p, best, n, true))
            return false;
    }
    return true;
}

static bool cylinder_ridges(const Pair *p, Best *best)
{
    const Cylinder *a = &p->a, *b = &p->b;
    CollideRidge around_b = { { vec_dot(a->centre, b->side), vec_dot(a->centre, b->other) },
                              { 0.0 },
                              { vec_dot(a->axis, b->side), vec_dot(a->axis, b->other) },
                              a->radius,
                              a->half };
    CollideRidge around_a = { { vec_dot(a->centre, a->side), vec_dot(a->centre, a->other) },
                              { 0.0 },
                              { vec_dot(b->axis, a->side), vec_dot(b->axis, a->other) },
                              b->radius,
                              b->half };
    if (!offer_ridge(p, best, &around_b, b->side, b->other) || !offer_ridge(p, best, &around_a, a->side, a->other))
        return false;
    return p->search < SEARCH_WIDE || offer_rims(p, best);
}

// ---- points ----

typedef struct Found {
    CollidePoint points[COLLIDE_POINTS];  // in B's frame
    int count;
    double deepest;
} Found;

static void found_add(Found *found, const Pair *p, const double *position, const double *n, double gap,
                      uint32_t feature)
{
    assert_debug(found->count >= 0 && found->count <= COLLIDE_POINTS);
    if (!(gap < p->margin) || found->count >= COLLIDE_POINTS)
        return;
    CollidePoint *point = &found->points[found->count++];
    vec_copy(position, point->position);
    vec_copy(n, point->normal);
    point->depth = -gap;
    point->feature = feature;
    found->deepest = double_max(found->deepest, -gap);
}

// The straight line on the mantle that faces `towards`.
static bool mantle_line(const Cylinder *c, const double *towards, double ends[2][3])
{
    double w[3];
    across(towards, c->axis, w);
    if (!(vec_dot(w, w) > 1e-12))
        return false;
    vec_normalise(w);
    for (int i = 0; i < 3; i++) {
        double middle = c->centre[i] + c->radius * w[i];
        ends[0][i] = middle - c->half * c->axis[i];
        ends[1][i] = middle + c->half * c->axis[i];
    }
    return true;
}

// The polygon that stands for the cap that faces `towards`, with a corner where it reaches farthest that way.
static void cap_polygon(const Cylinder *c, const double *towards, double corners[CAP_CORNERS][3])
{
    static const double around[CAP_CORNERS][2] = { { 1.0, 0.0 },  { M_SQRT1_2, M_SQRT1_2 },
                                                   { 0.0, 1.0 },  { -M_SQRT1_2, M_SQRT1_2 },
                                                   { -1.0, 0.0 }, { -M_SQRT1_2, -M_SQRT1_2 },
                                                   { 0.0, -1.0 }, { M_SQRT1_2, -M_SQRT1_2 } };
    double first[3], second[3], along = vec_dot(towards, c->axis), end = along < 0.0 ? -c->half : c->half;
    across(towards, c->axis, first);
    if (vec_dot(first, first) > CAP_LEVEL) {
        vec_normalise(first);
        vec_cross(c->axis, first, second);
    } else {
        vec_copy(c->side, first);
        vec_copy(c->other, second);
    }
    for (int k = 0; k < CAP_CORNERS; k++)
        for (int i = 0; i < 3; i++)
            corners[k][i] = c->centre[i] + end * c->axis[i]
                            + c->radius * (around[k][0] * first[i] + around[k][1] * second[i]);
}

// A cylinder above a flat part of the other shape. `n` points out of the flat part; `sign` makes it the pair's normal.
static void flat_points(const Pair *p, const CollideFlat *flat, const Cylinder *c, const double *n, double sign,
                        Found *found)
{
    assert_debug(sign == 1.0 || sign == -1.0);
    ClipPoint first[CLIP_POINTS];
    double towards[3] = { -n[0], -n[1], -n[2] };
    int count;
    if (fabs(vec_dot(n, c->axis)) > CAP_FACES) {
        double corners[CAP_CORNERS][3];
        cap_polygon(c, towards, corners);
        for (uint32_t k = 0; k < CAP_CORNERS; k++)
            first[k] = collide_flat_foot(flat, n, corners[k], k);
        count = collide_flat_clip_polygon(flat, first, CAP_CORNERS);
    } else {
        double ends[2][3];
        ClipPoint feet[2];
        if (!mantle_line(c, towards, ends))
            return;
        for (uint32_t k = 0; k < 2; k++)
            feet[k] = collide_flat_foot(flat, n, ends[k], k);
        count = collide_flat_clip_segment(flat, &feet[0], &feet[1], first);
    }
    int kept = collide_clip_keep_apart(first, count, p->margin, 0.02 * p->min);
    kept = collide_clip_reduce(first, kept);
    assert_debug(kept >= 0 && kept <= CLIP_POINTS);
    double normal[3] = { sign * n[0], sign * n[1], sign * n[2] };
    for (int i = 0; i < kept; i++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = flat->origin[k] + first[i].u * flat->u[k] + first[i].v * flat->v[k] + 0.5 * first[i].height * n[k];
        found_add(found, p, at, normal, first[i].height, first[i].feature);
    }
}

static CollideFlat cap_flat(const Cylinder *c, const double *towards)
{
    CollideFlat flat = { .radius = c->radius };
    double sign = vec_dot(towards, c->axis) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++) {
        flat.outward[i] = sign * c->axis[i];
        flat.origin[i] = c->centre[i] + sign * c->half * c->axis[i];
    }
    vec_copy(c->side, flat.u);
    vec_copy(c->other, flat.v);
    return flat;
}

static CollideFlat face_flat(const double *box, const double *n)
{
    int face = fabs(n[1]) > fabs(n[0]) ? 1 : 0;
    face = fabs(n[2]) > fabs(n[face]) ? 2 : face;
    int i = (face + 1) % 3, j = (face + 2) % 3;
    double sign = n[face] < 0.0 ? -1.0 : 1.0;
    CollideFlat flat = { .half_u = box[i], .half_v = box[j] };
    flat.u[i] = flat.v[j] = 1.0;
    flat.outward[face] = sign;
    flat.origin[face] = sign * box[face];
    return flat;
}

// Two mantles: along a line when they are parallel, else in one point.
static void mantle_points(const Pair *p, const double *n, Found *found)
{
    const Cylinder *a = &p->a, *b = &p->b;
    double back[3] = { -n[0], -n[1], -n[2] }, line_a[2][3], line_b[2][3], w[3], ab = vec_dot(a->axis, b->axis),
           shares[2];
    if (!mantle_line(a, back, line_a) || !mantle_line(b, n, line_b))
        return;
    double middle_a[3], middle_b[3];
    for (int i = 0; i < 3; i++) {
        middle_a[i] = 0.5 * (line_a[0][i] + line_a[1][i]);
        middle_b[i] = 0.5 * (line_b[0][i] + line_b[1][i]);
    }
    vec_sub(middle_a, middle_b, w);
    double along_b = vec_dot(w, b->axis), along_a = vec_dot(w, a->axis), cross2 = 1.0 - ab * ab;
    int count = 1;
    if (cross2 < MANTLES_PARALLEL) {
        double low = double_max(-b->half, along_b - a->half * fabs(ab)),
               high = double_min(b->half, along_b + a->half * fabs(ab));
        if (low > high)
            return;
        count = high - low > 0.02 * b->half ? 2 : 1;
        shares[0] = count == 2 ? low : 0.5 * (low + high);
        shares[1] = high;
    } else {
        shares[0] = (along_b - ab * along_a) / cross2;
        // Only where they cross: an end of one against the other is a rim.
        if (fabs(shares[0]) > b->half || fabs(shares[0] * ab - along_a) > a->half || fabs(vec_dot(n, a->axis)) > 1e-3
            || fabs(vec_dot(n, b->axis)) > 1e-3)
            return;
    }
    for (int k = 0; k < count; k++) {
        double s = double_clamp(shares[k] * ab - along_a, -a->half, a->half), at[3], gap = 0.0;
        for (int i = 0; i < 3; i++) {
            double x = middle_a[i] + s * a->axis[i], y = middle_b[i] + shares[k] * b->axis[i];
            at[i] = 0.5 * (x + y);
            gap += n[i] * (x - y);
        }
        found_add(found, p, at, n, gap, 0x100 | (uint32_t)k);
    }
}

static void find_points(const Pair *p, const double *n, Found *found)
{
    found->count = 0;
    found->deepest = -INFINITY;
    double back[3] = { -n[0], -n[1], -n[2] };
    CollideFlat flat;
    if (p->box) {
        flat = face_flat(p->box, n);
        flat_points(p, &flat, &p->a, n, 1.0, found);
        return;
    }
    bool cap_a = fabs(vec_dot(n, p->a.axis)) > CAP_FACES, cap_b = fabs(vec_dot(n, p->b.axis)) > CAP_FACES;
    if (cap_b && (!cap_a || p->a.radius <= p->b.radius)) {
        flat = cap_flat(&p->b, n);
        flat_points(p, &flat, &p->a, n, 1.0, found);
    } else if (cap_a) {
        flat = cap_flat(&p->a, back);
        flat_points(p, &flat, &p->b, back, -1.0, found);
    } else {
        mantle_points(p, n, found);
    }
}

// The point of a cylinder that reaches farthest; of several the one nearest to `near`.
static void cylinder_farthest(const Cylinder *c, const double *towards, const double *near, double *out)
{
    double w[3], d[3], along = vec_dot(towards, c->axis);
    vec_sub(near, c->centre, d);
    double height = fabs(along) > 1e-3 ? copysign(c->half, along)
                                       : double_clamp(vec_dot(d, c->axis), -c->half, c->half);
    across(towards, c->axis, w);
    double length = sqrt(vec_dot(w, w)), out_to = c->radius;
    if (length < 1e-3) {
        across(d, c->axis, w);
        length = sqrt(vec_dot(w, w));
        out_to = double_min(out_to, length);
    }
    for (int i = 0; i < 3; i++)
        out[i] = c->centre[i] + height * c->axis[i] + (length > 1e-12 ? out_to * w[i] / length : 0.0);
}

// The points of the two shapes that reach farthest towards each other; of several those nearest to each other.
static void farthest_points(const Pair *p, const double *n, double on_a[3], double on_b[3])
{
    double back[3] = { -n[0], -n[1], -n[2] };
    on_b[0] = on_b[1] = on_b[2] = 0.0;
    for (int turn = 0; turn < 2; turn++) {
        cylinder_farthest(&p->a, back, on_b, on_a);
        if (!p->box)
            cylinder_farthest(&p->b, n, on_a, on_b);
        for (int i = 0; p->box && i < 3; i++)
            on_b[i] = fabs(n[i]) > 1e-3 ? copysign(p->box[i], n[i]) : double_clamp(on_a[i], -p->box[i], p->box[i]);
    }
}

// Whether these two points lie above each other: then no direction nearby is better.
static bool faces_itself(const Pair *p, const Best *best)
{
    double on_a[3], on_b[3], w[3];
    farthest_points(p, best->normal, on_a, on_b);
    vec_sub(on_a, on_b, w);
    across(w, best->normal, w);
    return vec_dot(w, w) < 1e-3 * p->min * p->min;
}

// Midway between them, in place of the shallowest point when there are enough.
static void add_farthest(const Pair *p, const Best *best, Found *found)
{
    double at[3], on_a[3], on_b[3];
    farthest_points(p, best->normal, on_a, on_b);
    for (int i = 0; i < 3; i++)
        at[i] = 0.5 * (on_a[i] + on_b[i]);
    if (found->count == COLLIDE_POINTS) {
        int shallowest = 0;
        for (int i = 1; i < COLLIDE_POINTS; i++)
            if (found->points[i].depth < found->points[shallowest].depth)
                shallowest = i;
        found->points[shallowest] = found->points[--found->count];
    }
    assert_debug(found->count < COLLIDE_POINTS);
    found_add(found, p, at, best->normal, best->separation, 0x200);
}

// ---- a pair ----

static void to_frame(const CollidePose *frame, const double *v, double *out)
{
    const double *r = frame->rotation;
    for (int k = 0; k < 3; k++)
        out[k] = r[k] * v[0] + r[3 + k] * v[1] + r[6 + k] * v[2];
}

static void pair_init(Pair *p, const CollideShape *a, const CollidePose *pa, const CollideShape *b,
                      const CollidePose *pb, double margin)
{
    const double *r = pa->rotation;
    double d[3], axis[3] = { r[2], r[5], r[8] }, side[3] = { r[0], r[3], r[6] };
    vec_sub(pa->position, pb->position, d);
    to_frame(pb, d, p->a.centre);
    to_frame(pb, axis, p->a.axis);
    to_frame(pb, side, p->a.side);
    vec_cross(p->a.axis, p->a.side, p->a.other);
    p->a.radius = a->size[0];
    p->a.half = a->size[1];
    p->margin = margin;
    p->search = SEARCH_CORNERS;
    p->min = double_min(a->size[0], double_min(a->size[1], double_min(b->size[0], b->size[1])));
    p->box = NULL;
    if (b->type == GEOMETRY_BOX) {
        p->box = b->size;
        p->min = double_min(p->min, b->size[2]);
        return;
    }
    p->b = (Cylinder){
        .axis = { 0.0, 0.0, 1.0 }, .side = { 1.0 }, .other = { 0.0, 1.0 }, .radius = b->size[0], .half = b->size[1]
    };
}

static void to_world(const CollidePose *frame, const Found *found, CollidePoint *points)
{
    const double *r = frame->rotation;
    for (int k = 0; k < found->count; k++) {
        const CollidePoint *from = &found->points[k];
        points[k] = *from;
        for (int i = 0; i < 3; i++) {
            points[k].position[i] = frame->position[i] + vec_dot(r + 3 * i, from->position);
            points[k].normal[i] = vec_dot(r + 3 * i, from->normal);
        }
    }
}

// Whether some point is about as deep as the separation says.
static bool reaches(const Pair *p, const Best *best, const Found *found)
{
    return found->deepest >= -best->separation - 0.05 * fabs(best->separation) - 1e-3 * p->min;
}

// An overlap that is small cannot be much smaller in another direction.
static bool is_settled(const Pair *p, const Best *best) { return best->separation > -SMALL_OVERLAP * p->min; }

// Looks for a better direction than the best corner; false: the shapes are apart.
static bool search_on(Pair *p, Best *best)
{
    for (p->search = SEARCH_NEAR; p->search <= SEARCH_WIDE; p->search++) {
        if (p->box ? !box_corners(p, best) || !box_ridges(p, best)
                   : !cylinder_corners(p, best) || !cylinder_ridges(p, best))
            return false;
        if (is_settled(p, best) && faces_itself(p, best))
            return true;
    }
    return true;
}

int collide_cylinder_solid(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                           double margin, CollidePoint *points)
{
    assert_debug(a->type == GEOMETRY_CYLINDER && (b->type == GEOMETRY_BOX || b->type == GEOMETRY_CYLINDER));
    Pair pair;
    Found found;
    Best best = { -INFINITY, { 0.0 } };
    pair_init(&pair, a, pa, b, pb, margin);
    if (!(pair.box ? box_corners : cylinder_corners)(&pair, &best))
        return 0;
    find_points(&pair, best.normal, &found);
    if (!is_settled(&pair, &best) || !reaches(&pair, &best, &found)) {
        double corner = best.separation;
        if (!search_on(&pair, &best))
            return 0;
        if (best.separation > corner)
            find_points(&pair, best.normal, &found);
        if (!reaches(&pair, &best, &found))
            add_farthest(&pair, &best, &found);
    }
    to_world(pb, &found, points);
    return found.count;
}
