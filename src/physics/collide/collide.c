// Shapes against the ground, balls and capsules with each other. Balls and capsules against boxes and cylinders:
// collide_solid.c; boxes against boxes: collide_box.c; cylinders against boxes and cylinders: collide_cylinder.c.
#include "physics/collide/collide.h"

#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

double collide_support_distance(const CollideShape *shape, const double n[3])
{
    const double *s = shape->size;
    switch (shape->type) {
    case GEOMETRY_SPHERE: return s[0];
    case GEOMETRY_CAPSULE: return fabs(n[2]) * s[1] + s[0];
    case GEOMETRY_CYLINDER: return fabs(n[2]) * s[1] + s[0] * sqrt(fmax(0.0, 1.0 - n[2] * n[2]));
    case GEOMETRY_BOX: return fabs(n[0]) * s[0] + fabs(n[1]) * s[1] + fabs(n[2]) * s[2];
    default: return DBL_MAX * 0.25;
    }
}

void collide_bounds(const CollideShape *shape, const CollidePose *pose, double low[3], double high[3])
{
    assert_debug(shape->type != GEOMETRY_PLANE);  // it has no end
    if (shape->type == GEOMETRY_BOX) {
        const double *r = pose->rotation, *s = shape->size;
        for (int i = 0; i < 3; i++) {
            double reach = fabs(r[3 * i]) * s[0] + fabs(r[3 * i + 1]) * s[1] + fabs(r[3 * i + 2]) * s[2];
            low[i] = pose->position[i] - reach;
            high[i] = pose->position[i] + reach;
        }
        return;
    }
    for (int i = 0; i < 3; i++) {
        double reach = collide_support_distance(shape, pose->rotation + 3 * i);
        low[i] = pose->position[i] - reach;
        high[i] = pose->position[i] + reach;
    }
}

// Faces that lie exactly on each other are a rounding apart at some of their corners when they are tilted: these touch
// too.
int collide_keep_touching(CollidePoint *points, int count)
{
    assert(count >= 0);
    int touching = 0;
    for (int i = 0; i < count; i++) {
        if (!(points[i].depth >= -TOUCH_ROUNDING))
            continue;
        points[touching] = points[i];
        points[touching].depth = double_max(points[i].depth, 0.0);
        touching++;
    }
    return touching;
}

double collide_min_half_extent(const CollideShape *shape)
{
    switch (shape->type) {
    case GEOMETRY_SPHERE:
    case GEOMETRY_CAPSULE: return shape->size[0];
    case GEOMETRY_CYLINDER: return double_min(shape->size[0], shape->size[1]);
    case GEOMETRY_BOX: return double_min(shape->size[0], double_min(shape->size[1], shape->size[2]));
    default: return INFINITY;
    }
}

// ---- the ground ----

typedef struct Ground {
    double normal[3], offset;
    double margin;
    CollidePoint *points;
    int count;
} Ground;

// Keeps the deepest when there are more than fit.
static void ground_point(Ground *g, const double *p, uint32_t feature)
{
    assert_debug(g->count >= 0 && g->count <= COLLIDE_POINTS);
    double height = vec_dot(p, g->normal) - g->offset;
    if (height > g->margin)
        return;
    CollidePoint point = { .depth = -height, .feature = feature };
    vec_copy(p, point.position);
    vec_copy(g->normal, point.normal);
    if (g->count < COLLIDE_POINTS) {
        g->points[g->count++] = point;
        return;
    }
    int shallowest = 0;
    for (int i = 1; i < COLLIDE_POINTS; i++)
        if (g->points[i].depth < g->points[shallowest].depth)
            shallowest = i;
    if (point.depth > g->points[shallowest].depth)
        g->points[shallowest] = point;
}

static void ground_box(Ground *g, const CollideShape *box, const CollidePose *pose)
{
    const double *r = pose->rotation, *s = box->size;
    double lengths[3];
    for (int k = 0; k < 3; k++)
        lengths[k] = s[k] * (r[k] * g->normal[0] + r[3 + k] * g->normal[1] + r[6 + k] * g->normal[2]);
    double centre = vec_dot(pose->position, g->normal) - g->offset;
    if (centre - fabs(lengths[0]) - fabs(lengths[1]) - fabs(lengths[2]) > g->margin)
        return;
    for (uint32_t corner = 0; corner < 8; corner++) {
        double height = centre;
        for (int k = 0; k < 3; k++)
            height += corner >> k & 1 ? lengths[k] : -lengths[k];
        if (height > g->margin)
            continue;
        double p[3];
        for (int i = 0; i < 3; i++)
            p[i] = pose->position[i] + (corner & 1 ? s[0] : -s[0]) * r[3 * i]
                   + (corner & 2 ? s[1] : -s[1]) * r[3 * i + 1] + (corner & 4 ? s[2] : -s[2]) * r[3 * i + 2];
        ground_point(g, p, corner);
    }
}

// A cap that is nearly level touches with up to four points of its rim: the lowest, the highest and the two between;
// one that is well tilted with its lowest point alone. (ODE leaves a cylinder that stands a little askew on one point,
// so that it rocks and sinks in.)
static void ground_cylinder(Ground *g, const CollideShape *cylinder, const CollidePose *pose)
{
    static const double around[4][2] = { { 1.0, 0.0 }, { 0.0, 1.0 }, { -1.0, 0.0 }, { 0.0, -1.0 } };
    const double *r = pose->rotation;
    double axis[3] = { r[2], r[5], r[8] }, lowest[3] = { r[1], r[4], r[7] }, level[3] = { r[0], r[3], r[6] }, across[3];
    double along = vec_dot(axis, g->normal), radius = cylinder->size[0];
    vec_cross(axis, g->normal, across);
    double tilt = vec_dot(across, across);
    if (tilt >= GROUND_LEVEL)
        for (int i = 0; i < 3; i++) {
            level[i] = across[i] / sqrt(tilt);
            lowest[i] = (along * axis[i] - g->normal[i]) / sqrt(tilt);
        }
    for (int end = 1; end >= -1; end -= 2)
        for (uint32_t k = 0; k < (tilt >= GROUND_TILTED ? 1 : 4); k++) {
            double p[3];
            for (int i = 0; i < 3; i++)
                p[i] = pose->position[i] + end * cylinder->size[1] * axis[i]
                       + radius * (around[k][0] * lowest[i] + around[k][1] * level[i]);
            ground_point(g, p, 4 * (end > 0) + k);
        }
}

static int shape_ground(const CollideShape *a, const CollidePose *pa, const CollidePose *plane, double margin,
                        CollidePoint *points)
{
    assert_debug(a->type != GEOMETRY_PLANE);
    Ground g = { .normal = { plane->rotation[2], plane->rotation[5], plane->rotation[8] },
                 .margin = margin,
                 .points = points };
    g.offset = vec_dot(g.normal, plane->position);
    double p[3];
    switch (a->type) {
    case GEOMETRY_SPHERE:
        for (int i = 0; i < 3; i++)
            p[i] = pa->position[i] - a->size[0] * g.normal[i];
        ground_point(&g, p, 0);
        break;
    case GEOMETRY_CAPSULE:
        for (int end = -1; end <= 1; end += 2) {
            for (int i = 0; i < 3; i++)
                p[i] = pa->position[i] + end * a->size[1] * pa->rotation[3 * i + 2] - a->size[0] * g.normal[i];
            ground_point(&g, p, end > 0);
        }
        break;
    case GEOMETRY_CYLINDER: ground_cylinder(&g, a, pa); break;
    case GEOMETRY_BOX: ground_box(&g, a, pa); break;
    default: break;
    }
    return g.count;
}

// ---- balls and capsules ----

// One point between two balls of the given centres.
static int ball_ball(const double *ca, double ra, const double *cb, double rb, double margin, uint32_t feature,
                     CollidePoint *point)
{
    double d[3];
    vec_sub(ca, cb, d);
    double distance = sqrt(vec_dot(d, d)), depth = ra + rb - distance;
    if (depth < -margin)
        return 0;
    for (int i = 0; i < 3; i++) {
        point->normal[i] = distance > 1e-12 ? d[i] / distance : (i == 2 ? 1.0 : 0.0);
        point->position[i] = cb[i] + point->normal[i] * (rb - 0.5 * depth);
    }
    point->depth = depth;
    point->feature = feature;
    return 1;
}

static void capsule_ends(const CollideShape *shape, const CollidePose *pose, double ends[2][3])
{
    assert_debug(shape->type == GEOMETRY_CAPSULE || shape->type == GEOMETRY_SPHERE);
    double half = shape->type == GEOMETRY_CAPSULE ? shape->size[1] : 0.0;
    for (int i = 0; i < 3; i++) {
        double h = half * pose->rotation[3 * i + 2];
        ends[0][i] = pose->position[i] - h;
        ends[1][i] = pose->position[i] + h;
    }
}

static double closest_on_segment(const double *p, double ends[2][3], double out[3])
{
    double d[3], w[3];
    vec_sub(ends[1], ends[0], d);
    vec_sub(p, ends[0], w);
    double length2 = vec_dot(d, d), t = length2 > 0.0 ? double_clamp(vec_dot(w, d) / length2, 0.0, 1.0) : 0.0;
    for (int i = 0; i < 3; i++)
        out[i] = ends[0][i] + t * d[i];
    return t;
}

// Parallel capsules lying side by side touch along a line: two points. Otherwise the closest points of the two axes.
static int capsule_capsule(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                           double margin, CollidePoint *points)
{
    double ea[2][3], eb[2][3], da[3], db[3], w[3];
    capsule_ends(a, pa, ea);
    capsule_ends(b, pb, eb);
    vec_sub(ea[1], ea[0], da);
    vec_sub(eb[1], eb[0], db);
    vec_sub(ea[0], eb[0], w);
    double aa = vec_dot(da, da), bb = vec_dot(db, db), ab = vec_dot(da, db);
    double cross2 = aa * bb - ab * ab;
    if (aa > 0.0 && bb > 0.0 && cross2 < 0.003 * aa * bb) {
        double lo = double_clamp(-vec_dot(w, da) / aa, 0.0, 1.0);
        double other[3];
        vec_sub(eb[1], ea[0], other);
        double hi = double_clamp(vec_dot(other, da) / aa, 0.0, 1.0);
        if (fabs(hi - lo) > 0.1) {
            int count = 0;
            double ends[2] = { fmin(lo, hi), fmax(lo, hi) };
            for (int k = 0; k < 2; k++) {
                double p[3], q[3];
                for (int i = 0; i < 3; i++)
                    p[i] = ea[0][i] + ends[k] * da[i];
                closest_on_segment(p, eb, q);
                count += ball_ball(p, a->size[0], q, b->size[0], margin, (uint32_t)k, &points[count]);
            }
            return count;
        }
    }
    double s = 0.0, p[3], q[3];
    if (cross2 > 1e-12 * aa * bb)
        s = double_clamp((ab * vec_dot(db, w) - bb * vec_dot(da, w)) / cross2, 0.0, 1.0);
    for (int i = 0; i < 3; i++)
        p[i] = ea[0][i] + s * da[i];
    closest_on_segment(p, eb, q);
    closest_on_segment(q, ea, p);
    return ball_ball(p, a->size[0], q, b->size[0], margin, 2, points);
}

bool collide_pair_is_known(GeometryKind a, GeometryKind b) { return a != GEOMETRY_PLANE || b != GEOMETRY_PLANE; }

static int pair_ordered(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                        double margin, CollidePoint *points)
{
    assert_debug(a->type <= b->type);
    if (b->type == GEOMETRY_PLANE)
        return shape_ground(a, pa, pb, margin, points);
    if (b->type == GEOMETRY_BOX && a->type == GEOMETRY_BOX)
        return collide_box_box(a, pa, b, pb, margin, points);
    if (b->type == GEOMETRY_BOX || b->type == GEOMETRY_CYLINDER) {
        if (a->type == GEOMETRY_SPHERE)
            return collide_ball_solid(a, pa, b, pb, margin, points);
        if (a->type == GEOMETRY_CAPSULE)
            return collide_capsule_solid(a, pa, b, pb, margin, points);
        if (a->type == GEOMETRY_CYLINDER)
            return collide_cylinder_solid(a, pa, b, pb, margin, points);
    }
    if (a->type <= GEOMETRY_CAPSULE && b->type <= GEOMETRY_CAPSULE) {
        if (a->type == GEOMETRY_SPHERE && b->type == GEOMETRY_SPHERE)
            return ball_ball(pa->position, a->size[0], pb->position, b->size[0], margin, 0, points);
        return capsule_capsule(a, pa, b, pb, margin, points);
    }
    return 0;
}

int collide_pair(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                 double margin, CollidePoint points[COLLIDE_POINTS])
{
    if (a->type <= b->type)
        return pair_ordered(a, pa, b, pb, margin, points);
    int count = pair_ordered(b, pb, a, pa, margin, points);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            points[i].normal[k] = -points[i].normal[k];
    return count;
}
