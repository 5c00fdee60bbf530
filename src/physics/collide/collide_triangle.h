// collide_triangle.h - for the folder alone: one triangle of a surface against one shape, in the frame of the shape.
//
// What makes bodies slide over many small triangles as over one large one: an axis of least overlap other than the
// triangle's own normal counts only where the surface really has an edge there, and only between the normals of the two
// triangles that meet at it. Where the surface goes on flat or rises, the triangle next door has the better answer.
#ifndef TALUS_PHYSICS_COLLIDE_TRIANGLE_H
#define TALUS_PHYSICS_COLLIDE_TRIANGLE_H

#include "physics/collide/collide_surface.h"
#include "physics/collide/mesh_tree.h"

enum { TOUCH_MAX = 160, TOUCH_ROOM = 24, POLYGON_MAX = 80 };

// How far a shape's middle may be behind a triangle and still be pushed to the front, as a share of the shape's own
// reach: enough to catch what comes through in one step, not so much that what is on the other side is pulled through.
// Where boxes and convex solids rest on the back, the front has the larger share.

struct CollideSurface {
    MeshTree *tree;  // NULL for heights
    CollideHeights grid;
    bool is_solid;
    bool has_back;
    double low, high;  // of heights
    double reach;  // of a mesh, how far something may be behind its triangles: half the thickness of a plate, a quarter
                   // of a bar's
};

static inline void collide_grid_point(const CollideHeights *grid, int x, int z, double out[3])
{
    out[0] = (x - 0.5 * (grid->count[0] - 1)) * grid->spacing[0];
    out[1] = grid->heights[(size_t)z * (size_t)grid->count[0] + (size_t)x];
    out[2] = (z - 0.5 * (grid->count[1] - 1)) * grid->spacing[1];
}

typedef struct Triangle {
    double v[3][3];
    double normal[3];  // unit, to the front
    double height;     // of the shape's centre above its plane
    int index;
    bool is_back;  // turned round, to be touched from behind
} Triangle;

// A shape and a surface while they are collided.
typedef struct Touch {
    const CollideSurface *surface;
    const double *size;       // of the shape, as in CollideShape
    const struct Hull *hull;  // of a convex solid, else NULL
    CollidePose frame;        // of the surface in the frame of the shape
    double core[2][3];        // box that the shape lies in ...
    double radius;            // ... but for this much around it
    double lift;  // where points are, from the surface (0) to the shape's (1): a wheel's lever arm decides how far it
                  // rolls
    double margin;
    bool is_solid;  // everything below belongs to the surface
    bool has_back;  // the surface is open: flat shapes touch it from both sides
    double up[3];   // of a solid one
    CollidePoint points[TOUCH_MAX];
    int count;
} Touch;

// A convex solid in its own frame: corners, faces with their corners in order, directions of edges.
typedef struct HullFace {
    double normal[3], offset;
    const int *corners;
    int count;
} HullFace;
typedef struct HullEdge {
    double from[3], direction[3], length;
} HullEdge;
typedef struct Hull {
    const double (*vertices)[3];
    const HullFace *faces;
    const HullEdge *edges;
    int vertex_count, face_count, edge_count;
    double half[3];  // of the box about the origin that it lies in
} Hull;

typedef void (*TriangleTouch)(Touch *touch, const Triangle *triangle);
void triangle_ball(Touch *touch, const Triangle *t);  // and capsules
void triangle_box(Touch *touch, const Triangle *t);
void triangle_cylinder(Touch *touch, const Triangle *t);
void triangle_hull(Touch *touch, const Triangle *t);

// What the surface does at an edge, and the far corner of the triangle across it. (collide_surface.c)
MeshEdge touch_edge(const Touch *touch, const Triangle *t, int edge, double tip[3], bool *is_ours);

// Whether the surface falls away anywhere around a corner; true when that is not known.
bool touch_corner_is_sharp(const Touch *touch, const Triangle *t, int corner);

// ---- what the kernels share (collide_triangle.c) ----

void touch_add(Touch *touch, const double position[3], const double normal[3], double depth, uint32_t feature);

typedef double Polygon[POLYGON_MAX][3];
// Keeps what is on the inner side of a plane of a polygon, a line (two corners) or a point; returns the corners left.
int polygon_clip(const Polygon in, int count, const double normal[3], double offset, Polygon out);

// Adds the part of a face, line or point of the shape that is over the triangle, as far as it is below.
void touch_face(Touch *touch, const Triangle *t, Polygon feature, int count);

// Which way to touch. An axis points from the triangle to the shape; separations are negative where they overlap.
typedef struct AxisChoice {
    double axis[3], separation;
    int feature;
} AxisChoice;
typedef enum AxisKind { AXIS_NONE, AXIS_NORMAL, AXIS_FACE, AXIS_EDGE } AxisKind;
AxisKind touch_choose(const Touch *touch, const Triangle *t, double normal_separation, const AxisChoice *face,
                      const AxisChoice *edge, double slop);

// The triangle as the shape touches it: turned round when it is its back (for shapes that have two sides to rest on).
// `reach`: of the shape along the normal. False: the two are apart. *can_face: whether the triangle's own normal is a
// way to touch it.
bool touch_side(const Touch *touch, const Triangle *t, double reach, bool has_back, Triangle *out, bool *can_face);

// Keeps at most `most` points: by directions, in each the deepest and those that span most. (collide_reduce.c)
int touch_reduce(CollidePoint *points, int count, int max);

#endif
