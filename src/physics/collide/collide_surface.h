// collide_surface.h - where a shape touches a surface of triangles: a mesh, or a grid of heights. Belongs here:
// geometry alone, with the conventions of collide.h. A surface is made once and then only read, by any number of
// threads; the positions and heights it was made from are borrowed.
#ifndef TALUS_PHYSICS_COLLIDE_SURFACE_H
#define TALUS_PHYSICS_COLLIDE_SURFACE_H

#include "physics/collide/collide.h"

typedef struct CollideSurface CollideSurface;

CollideSurface *collide_surface_mesh(const double *positions, int vertex_count, const int *indices, int triangle_count);

// Heights along y over a grid in x and z whose middle is the origin, x first, as ODE keeps them: what is below is
// solid.
typedef struct CollideHeights {
    const double *heights;
    int count[2];  // along x and z
    double spacing[2];
    double thickness;  // below the lowest
} CollideHeights;
CollideSurface *collide_surface_heights(const CollideHeights *heights);

void collide_surface_destroy(CollideSurface *surface);  // NULL is fine

#define COLLIDE_SURFACE_POINTS 12

// Fills at most `most` points (and at most the above) whose depth is above -margin, those of each direction in turn,
// and returns their number. Normals point out of the surface into the shape. Triangles push to their front what is not
// far behind them; those that are not part of a closed mesh also hold boxes and convex solids that come from behind, as
// ODE's do. Shapes of every type but planes are known.
int collide_surface(const CollideShape *shape, const CollidePose *pose, const CollideSurface *surface,
                    const CollidePose *at, double margin, int max, CollidePoint *points);

// The same for a convex solid (convex.h).
struct Convex;
int collide_surface_convex(const struct Convex *convex, const CollidePose *pose, const CollideSurface *surface,
                           const CollidePose *at, double margin, int max, CollidePoint *points);

// A mesh on the ground (the half space below z = 0 of `plane`), with points where its corners are; and on another mesh,
// neither of them heights. Normals point into the first.
int collide_surface_ground(const CollideSurface *surface, const CollidePose *pose, const CollidePose *plane,
                           double margin, int max, CollidePoint *points);
int collide_surface_surface(const CollideSurface *a, const CollidePose *pa, const CollideSurface *b,
                            const CollidePose *pb, double margin, int max, CollidePoint *points);
bool collide_surface_is_mesh(const CollideSurface *surface);

// The box around a mesh or heights, with its pose; and one about the mesh's origin that it lies in.
CollideShape collide_surface_box(const CollideSurface *surface, const CollidePose *at, CollidePose *middle);
void collide_surface_bounds(const CollideSurface *surface, const CollidePose *at, double low[3],
                            double high[3]);  // in the world
CollideShape collide_surface_outline(const CollideSurface *surface);

// How many triangles the boxes around a shape lead to: what a pair costs.

#endif
