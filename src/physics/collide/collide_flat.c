// What lies above a flat part of a shape: points, lines and polygons, slid onto its plane and clipped to it.
#include "physics/collide/collide_clip.h"

#include <assert.h>
#include <math.h>

static double hypot2(double x, double y) { return x * x + y * y; }

ClipPoint collide_flat_foot(const CollideFlat *flat, const double *n, const double *point, uint32_t feature)
{
    double d[3];
    vec_sub(point, flat->origin, d);
    double gap = vec_dot(d, flat->outward) / vec_dot(n, flat->outward);
    for (int i = 0; i < 3; i++)
        d[i] -= gap * n[i];
    return (ClipPoint){ vec_dot(d, flat->u), vec_dot(d, flat->v), gap, feature };
}

// The part of the way from p to q inside the flat part, as shares of the way; false: none.
static bool flat_clip_line(const CollideFlat *flat, const ClipPoint *p, const ClipPoint *q, double *from, double *to)
{
    double du = q->u - p->u, dv = q->v - p->v;
    *from = 0.0, *to = 1.0;
    if (flat->radius > 0.0) {
        double a = du * du + dv * dv, b = p->u * du + p->v * dv,
               c = p->u * p->u + p->v * p->v - flat->radius * flat->radius;
        if (a < 1e-24)
            return c <= 0.0;
        double root = b * b - a * c;
        if (root < 0.0)
            return false;
        *from = double_max(0.0, (-b - sqrt(root)) / a), *to = double_min(1.0, (-b + sqrt(root)) / a);
        return *from <= *to;
    }
    const double start[2] = { p->u, p->v }, step[2] = { du, dv }, half[2] = { flat->half_u, flat->half_v };
    for (int k = 0; k < 2; k++) {
        if (fabs(step[k]) < 1e-12) {
            if (fabs(start[k]) > half[k])
                return false;
            continue;
        }
        double x = (-half[k] - start[k]) / step[k], y = (half[k] - start[k]) / step[k];
        *from = double_max(*from, double_min(x, y)), *to = double_min(*to, double_max(x, y));
    }
    return *from <= *to;
}

static ClipPoint clip_between(const ClipPoint *p, const ClipPoint *q, double t, uint32_t feature)
{
    return (ClipPoint){ p->u + t * (q->u - p->u), p->v + t * (q->v - p->v), p->height + t * (q->height - p->height),
                        feature };
}

int collide_flat_clip_segment(const CollideFlat *flat, const ClipPoint *p, const ClipPoint *q, ClipPoint *out)
{
    double from, to;
    if (!flat_clip_line(flat, p, q, &from, &to))
        return 0;
    out[0] = clip_between(p, q, from, 0);
    out[1] = clip_between(p, q, to, 1);
    if (to - from > 0.02)
        return 2;
    if (out[1].height < out[0].height)
        out[0] = out[1];
    return 1;
}

int collide_flat_clip_polygon(const CollideFlat *flat, ClipPoint first[CLIP_POINTS], int count)
{
    assert(count >= 0 && count <= CLIP_POINTS);
    ClipPoint second[CLIP_POINTS];
    if (flat->radius > 0.0) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            double from, to;
            const ClipPoint *p = &first[i], *q = &first[(i + 1) % count];
            if (!flat_clip_line(flat, p, q, &from, &to))
                continue;
            if (kept < CLIP_POINTS)
                second[kept++] = clip_between(p, q, from, p->feature | (from > 0.0 ? 0x10 : 0));
            if (to < 1.0 && kept < CLIP_POINTS)
                second[kept++] = clip_between(p, q, to, p->feature | 0x20);
        }
        for (int i = 0; i < kept; i++)
            first[i] = second[i];
        return kept;
    }
    count = collide_clip_side(first, count, second, 0, 1.0, flat->half_u, 0);
    count = collide_clip_side(second, count, first, 0, -1.0, flat->half_u, 1);
    count = collide_clip_side(first, count, second, 1, 1.0, flat->half_v, 2);
    return collide_clip_side(second, count, first, 1, -1.0, flat->half_v, 3);
}

int collide_clip_keep_apart(ClipPoint *points, int count, double margin, double near)
{
    assert(count >= 0 && count <= CLIP_POINTS);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!(points[i].height < margin))
            continue;
        int same = 0;
        while (same < kept && hypot2(points[i].u - points[same].u, points[i].v - points[same].v) > near * near)
            same++;
        if (same == kept)
            points[kept++] = points[i];
        else if (points[i].height < points[same].height - 1e-9)
            points[same] = points[i];
    }
    return kept;
}
