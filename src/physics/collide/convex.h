// convex.h - contact points of two convex solids with flat faces: meshes that are convex, and boxes against them. Exact
// where ODE's collision of triangles with triangles loses or invents points. Own data, no ODE, no world.
#ifndef TALUS_PHYSICS_CONVEX_H
#define TALUS_PHYSICS_CONVEX_H

#include "assets/mesh.h"
#include "base/vec.h"

typedef struct Convex Convex;

enum { CONVEX_POINTS = 64 };

typedef struct ConvexPoint {
    Vec3 position;
    Vec3 normal;   // unit, from the second solid into the first
    double depth;  // m, from 0 on
} ConvexPoint;

// The mesh as a convex solid, or NULL when it is open, not convex, or has more faces than pays.
Convex *convex_from_mesh(const Mesh *mesh);
Convex *convex_from_box(Vec3 size);
void convex_destroy(Convex *convex);                   // NULL is fine
const struct Hull *convex_hull(const Convex *convex);  // the same as plain numbers (collide_triangle.h)

// Where solids stand while they are collided: one for every thread.
typedef struct ConvexScratch ConvexScratch;
ConvexScratch *convex_scratch_create(void);
void convex_scratch_destroy(ConvexScratch *scratch);  // NULL is fine

// Writes the points at which the two solids overlap, at most CONVEX_POINTS; returns how many.
int convex_collide(const Convex *a, Pose pose_a, const Convex *b, Pose pose_b, ConvexScratch *scratch,
                   ConvexPoint points[CONVEX_POINTS]);

#endif
