// collide.h - our own narrow phase for the pairs that matter for speed: where two convex shapes, or a shape and the
// ground, touch. Belongs here: geometry alone. Not here: which pairs to test (broadphase.h), what a contact does.
// Plain values, no ownership; results depend on the arguments alone.
#ifndef TALUS_PHYSICS_COLLIDE_H
#define TALUS_PHYSICS_COLLIDE_H

#include "assets/geometry.h"
#include "base/common.h"

// The kinds that have kernels, in the order of GeometryKind.
static inline bool collide_knows(GeometryKind kind) { return kind >= GEOMETRY_SPHERE && kind <= GEOMETRY_PLANE; }

// Sizes: sphere radius; capsule and cylinder (along local z) radius, half length; box half extents; plane none (the
// half space below z = 0 of its frame).
typedef struct CollideShape {
    GeometryKind type;
    double size[3];
} CollideShape;

typedef struct CollidePose {
    double position[3];
    double rotation[9];  // row-major
} CollidePose;

typedef struct CollidePoint {
    double position[3];
    double normal[3];  // unit, out of the second shape into the first
    double depth;      // positive: overlap; negative: distance, when it is below the margin
    uint32_t feature;  // the same for the same corner, edge or face of the pair in the next step
} CollidePoint;

#define COLLIDE_POINTS 4

// Drops the points that do not touch yet and returns the number of the others.
int collide_keep_touching(CollidePoint *points, int count);

// Fills at most COLLIDE_POINTS points whose depth is above -margin and returns their number.
int collide_pair(const CollideShape *a, const CollidePose *pa, const CollideShape *b, const CollidePose *pb,
                 double margin, CollidePoint points[COLLIDE_POINTS]);

bool collide_pair_is_known(GeometryKind a, GeometryKind b);  // false: nothing is ever found, ask ODE

double collide_support_distance(const CollideShape *shape,
                                const double n[3]);         // from its middle along a unit vector of its own frame
double collide_min_half_extent(const CollideShape *shape);  // half its least thickness; INFINITY for planes

// The box around a shape, at its pose.
void collide_bounds(const CollideShape *shape, const CollidePose *pose, double low[3], double high[3]);

#endif
