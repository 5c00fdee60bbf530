// collide_internal.h - three-vectors as the kernels of the narrow phase use them.
#ifndef TALUS_PHYSICS_COLLIDE_INTERNAL_H
#define TALUS_PHYSICS_COLLIDE_INTERNAL_H

#include "physics/collide.h"

static inline double vec_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void vec_copy(const double *from, double *to)
{
    to[0] = from[0], to[1] = from[1], to[2] = from[2];
}
static inline void vec_cross(const double *a, const double *b, double *out)
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y, out[2] = z;
}
static inline void vec_sub(const double *a, const double *b, double *out)
{
    out[0] = a[0] - b[0], out[1] = a[1] - b[1], out[2] = a[2] - b[2];
}


int collide_box_box(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb, double margin,
                    CollidePoint *points);

#endif
