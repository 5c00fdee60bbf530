// collide_sweep.h - shapes so fast that a step takes them through something thin. Belongs here: where they would, and
// the point that holds them. Geometry alone, with the conventions of collide.h.
#ifndef TALUS_PHYSICS_COLLIDE_SWEEP_H
#define TALUS_PHYSICS_COLLIDE_SWEEP_H

#include "physics/collide/collide_surface.h"

typedef struct CollideCrossing {
    double share;      // of the way, 0 to 1
    double normal[3];  // unit, against the way
    bool is_back;      // comes from behind
} CollideCrossing;

// Where a point on its way first comes in from the front of a surface, or (of a surface that is not closed, unless the
// shape is round: these pass) from any side; false: nowhere.
bool collide_cross_surface(const CollideSurface *surface, const CollidePose *at, const double from[3],
                           const double way[3], bool is_round, CollideCrossing *crossing);
// Into a box; `to_middle`: and past the middle between the two faces. Before that the nearer face pushes back by
// itself.
bool collide_cross_box(const CollideShape *box, const CollidePose *at, const double from[3], const double way[3],
                       bool to_middle, CollideCrossing *crossing);

// What holds a shape whose middle would cross: its negative depth is the way that it still has along the normal. While
// the shape does not touch yet, that is until it does; then until its middle is as near as it is thin, which leaves
// room to tumble.
CollidePoint collide_speculative_point(const CollideShape *shape, const CollidePose *pose, const double way[3],
                                       const CollideCrossing *crossing, double margin);

#endif
