// Shapes against the ground, spheres and capsules. Boxes against boxes: collide_box.c.
#include "physics/collide.h"

#include "physics/collide_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

void collide_bounds(const CollideShape *shape, const CollidePose *pose, double low[3], double high[3])
{
    const double *r = pose->rotation, *s = shape->size;
    for (int i = 0; i < 3; i++) {
        double reach = 0.0;
        switch (shape->type) {
        case COLLIDE_SPHERE:
            reach = s[0];
            break;
        case COLLIDE_CAPSULE:
            reach = fabs(r[3 * i + 2]) * s[1] + s[0];
            break;
        case COLLIDE_CYLINDER:
            reach = fabs(r[3 * i + 2]) * s[1] + s[0] * sqrt(fmax(0.0, 1.0 - r[3 * i + 2] * r[3 * i + 2]));
            break;
        case COLLIDE_BOX:
            reach = fabs(r[3 * i]) * s[0] + fabs(r[3 * i + 1]) * s[1] + fabs(r[3 * i + 2]) * s[2];
            break;
        case COLLIDE_PLANE:
            reach = DBL_MAX * 0.25;
            break;
        }
        low[i] = pose->position[i] - reach;
        high[i] = pose->position[i] + reach;
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
            p[i] = pose->position[i] + (corner & 1 ? s[0] : -s[0]) * r[3 * i] + (corner & 2 ? s[1] : -s[1]) * r[3 * i + 1]
                 + (corner & 4 ? s[2] : -s[2]) * r[3 * i + 2];
        ground_point(g, p, corner);
    }
}

// Two rim points below each cap's centre; when the cylinder stands on a cap, three points spread over it.
static void ground_cylinder(Ground *g, const CollideShape *cylinder, const CollidePose *pose)
{
    const double *r = pose->rotation;
    double axis[3] = { r[2], r[5], r[8] }, radius = cylinder->size[0], half = cylinder->size[1], down[3], p[3];
    double along = vec_dot(axis, g->normal);
    for (int i = 0; i < 3; i++)
        down[i] = along * axis[i] - g->normal[i];
    double length = sqrt(vec_dot(down, down));
    bool upright = length < 1e-6;
    for (int i = 0; i < 3; i++)
        down[i] = upright ? r[3 * i] : down[i] / length;
    if (fabs(along) < 0.7) {
        for (int end = -1; end <= 1; end += 2) {
            for (int i = 0; i < 3; i++)
                p[i] = pose->position[i] + end * half * axis[i] + radius * down[i];
            ground_point(g, p, end > 0);
        }
        return;
    }
    double side[3];
    vec_cross(axis, down, side);
    double end = along > 0.0 ? -half : half;
    static const double spread[3][2] = { { 1.0, 0.0 }, { -0.5, 0.86602540378443865 }, { -0.5, -0.86602540378443865 } };
    for (uint32_t k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++)
            p[i] = pose->position[i] + end * axis[i] + radius * (spread[k][0] * down[i] + spread[k][1] * side[i]);
        ground_point(g, p, 2 + k);
    }
}

static int shape_ground(const CollideShape *a, const CollidePose *pa, const CollidePose *plane, double margin, CollidePoint *points)
{
    Ground g = { .normal = { plane->rotation[2], plane->rotation[5], plane->rotation[8] }, .margin = margin, .points = points };
    g.offset = vec_dot(g.normal, plane->position);
    double p[3];
    switch (a->type) {
    case COLLIDE_SPHERE:
        for (int i = 0; i < 3; i++)
            p[i] = pa->position[i] - a->size[0] * g.normal[i];
        ground_point(&g, p, 0);
        break;
    case COLLIDE_CAPSULE:
        for (int end = -1; end <= 1; end += 2) {
            for (int i = 0; i < 3; i++)
                p[i] = pa->position[i] + end * a->size[1] * pa->rotation[3 * i + 2] - a->size[0] * g.normal[i];
            ground_point(&g, p, end > 0);
        }
        break;
    case COLLIDE_CYLINDER:
        ground_cylinder(&g, a, pa);
        break;
    case COLLIDE_BOX:
        ground_box(&g, a, pa);
        break;
    case COLLIDE_PLANE:
        break;
    }
    return g.count;
}

int collide_pair(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb, double margin,
                 CollidePoint points[COLLIDE_POINTS])
{
    if (b->type == COLLIDE_PLANE)
        return shape_ground(a, pa, pb, margin, points);
    return 0;
}
