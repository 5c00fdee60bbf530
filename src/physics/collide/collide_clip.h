// collide_clip.h - polygons above a flat part of a shape: cut to its sides, and of their corners the few that span
// most.
#ifndef TALUS_PHYSICS_COLLIDE_CLIP_H
#define TALUS_PHYSICS_COLLIDE_CLIP_H

#include "physics/collide/collide_internal.h"

#include <assert.h>

// Cuts off what lies beyond `limit` of sign * u (or v, coordinate 1); returns the number of corners.
static inline int collide_clip_side(const ClipPoint *in, int count, ClipPoint *out, int coordinate, double sign,
                                    double limit, uint32_t side)
{
    assert(count >= 0 && count <= CLIP_POINTS);
    int n = 0;
    double beyond[CLIP_POINTS + 1];
    for (int i = 0; i < count; i++)
        beyond[i] = sign * (coordinate ? in[i].v : in[i].u) - limit;
    beyond[count] = beyond[0];
    for (int i = 0; i < count; i++) {
        double dp = beyond[i], dq = beyond[i + 1];
        if (dp <= 0.0)
            out[n++] = in[i];
        if ((dp <= 0.0) != (dq <= 0.0)) {
            const ClipPoint *p = &in[i], *q = &in[i + 1 < count ? i + 1 : 0];
            double f = dp / (dp - dq);
            out[n++] = (ClipPoint){ p->u + f * (q->u - p->u), p->v + f * (q->v - p->v),
                                    p->height + f * (q->height - p->height), (p->feature & 0xf) | (side + 1) << 4 };
        }
    }
    return n;
}

// Keeps four of the points that span the most: the deepest, the farthest from it, and the farthest to both sides of
// that line.
static inline int collide_clip_reduce(ClipPoint *points, int count)
{
    assert(count >= 0 && count <= CLIP_POINTS);
    if (count <= COLLIDE_POINTS)
        return count;
    int pick[4] = { 0, 0, -1, -1 };
    for (int i = 1; i < count; i++)
        if (points[i].height < points[pick[0]].height - 1e-9)
            pick[0] = i;
    double best = -1.0, u0 = points[pick[0]].u, v0 = points[pick[0]].v;
    for (int i = 0; i < count; i++) {
        double du = points[i].u - u0, dv = points[i].v - v0, d = du * du + dv * dv;
        if (d > best)
            best = d, pick[1] = i;
    }
    double eu = points[pick[1]].u - u0, ev = points[pick[1]].v - v0, left = 0.0, right = 0.0;
    for (int i = 0; i < count; i++) {
        double area = eu * (points[i].v - v0) - ev * (points[i].u - u0);
        if (area > left)
            left = area, pick[2] = i;
        if (area < right)
            right = area, pick[3] = i;
    }
    ClipPoint kept[4];
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (pick[i] >= 0)
            kept[n++] = points[pick[i]];
    for (int i = 0; i < n; i++)
        points[i] = kept[i];
    return n;
}

#endif
