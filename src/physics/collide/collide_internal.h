// collide_internal.h - three-vectors as the kernels of the narrow phase use them.
#ifndef TALUS_PHYSICS_COLLIDE_INTERNAL_H
#define TALUS_PHYSICS_COLLIDE_INTERNAL_H

#include "physics/collide/collide.h"

static inline double vec_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
// As fmax and fmin for numbers, but without a call.
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline void vec_copy(const double *from, double *to) { to[0] = from[0], to[1] = from[1], to[2] = from[2]; }
static inline void vec_cross(const double *a, const double *b, double *out)
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}
static inline void vec_sub(const double *a, const double *b, double *out)
{
    out[0] = a[0] - b[0], out[1] = a[1] - b[1], out[2] = a[2] - b[2];
}

// `of` in the frame of `in`.
static inline CollidePose collide_pose_relative(const CollidePose *of, const CollidePose *in)
{
    CollidePose out;
    const double *a = in->rotation, *b = of->rotation;
    double d[3];
    vec_sub(of->position, in->position, d);
    for (int i = 0; i < 3; i++) {
        out.position[i] = a[i] * d[0] + a[3 + i] * d[1] + a[6 + i] * d[2];
        for (int k = 0; k < 3; k++)
            out.rotation[3 * i + k] = a[i] * b[k] + a[3 + i] * b[3 + k] + a[6 + i] * b[6 + k];
    }
    return out;
}

// A flat part of a shape: a rectangle, or a disc when `radius` is not 0.
typedef struct CollideFlat {
    double origin[3], u[3], v[3], outward[3];
    double half_u, half_v, radius;
} CollideFlat;

// A corner of a polygon above a flat part of a shape, in that part's frame.
typedef struct ClipPoint {
    double u, v, height;
    uint32_t feature;
} ClipPoint;
#define CLIP_POINTS 16  // eight corners, cut by the four sides of a rectangle or twice per side by a disc

// Slides a point along n onto the plane of the flat part; the height is the way.
ClipPoint collide_flat_foot(const CollideFlat *flat, const double *n, const double *point, uint32_t feature);
// The ends of what lies above the flat part, one when they are next to each other; returns their number.
int collide_flat_clip_segment(const CollideFlat *flat, const ClipPoint *p, const ClipPoint *q, ClipPoint *out);
int collide_flat_clip_polygon(const CollideFlat *flat, ClipPoint points[CLIP_POINTS], int count);
// Keeps the points below `margin`, of those that are nearer than `near` to each other the deepest: a corner on the very
// edge is cut in one step and not in the next, which must not count twice.
int collide_clip_keep_apart(ClipPoint *points, int count, double margin, double near);

// The separation along the great circle of normals across an edge or across the axis of a mantle, seen in its plane:
// `size` half extents of the box there, `axis` that of the other cylinder.
typedef struct CollideRidge {
    double centre[2], size[2], axis[2];
    double radius, half;
} CollideRidge;
// Moves the unit vector n up to the next maximum or corner; true: a corner, and the way on from there may rise.
bool collide_refine_edge_axis(const CollideRidge *ridge, double n[2]);

// In the plain and the wide instruction set, with the same bits; the third takes what the machine has.
int collide_box_box_portable(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                             double margin, CollidePoint *points);
int collide_box_box_avx2(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                         double margin, CollidePoint *points);
int collide_box_box(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                    double margin, CollidePoint *points);
// The second shape of these is a box or a cylinder.
int collide_ball_solid(const CollideShape *ball, const CollidePose *pa, const CollideShape *solid,
                       const CollidePose *pb, double margin, CollidePoint *point);
int collide_capsule_solid(const CollideShape *capsule, const CollidePose *pa, const CollideShape *solid,
                          const CollidePose *pb, double margin, CollidePoint *points);
int collide_cylinder_solid(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                           double margin, CollidePoint *points);

#endif
