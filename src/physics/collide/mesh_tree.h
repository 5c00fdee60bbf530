// mesh_tree.h - the triangles of a mesh in a tree of boxes, and which triangle lies across each edge. Made once from a
// mesh, then only read, by any number of threads. Belongs here: finding triangles. Not here: touching them
// (collide_surface.h). Positions are borrowed: they stay valid as long as the tree.
#ifndef TALUS_PHYSICS_MESH_TREE_H
#define TALUS_PHYSICS_MESH_TREE_H

#include "base/common.h"

// What the surface does at an edge, seen from its front.
typedef enum MeshEdge { MESH_EDGE_FLAT, MESH_EDGE_CONVEX, MESH_EDGE_CONCAVE, MESH_EDGE_BORDER } MeshEdge;

typedef struct MeshTriangle {
    int32_t vertices[3];
    int32_t mates[3];           // across the edge from vertex k to the next: a triangle, or -1 at a border
    uint8_t edges[3];           // MeshEdge
    uint8_t sharp_corners : 3;  // bit k: at vertex k some edge of the mesh is convex or a border
    uint8_t owned_corners : 3;  // bit k: of all triangles at this place, this one speaks for vertex k
} MeshTriangle;

// Four boxes, side by side so that they are looked at together. Behind each: a node (parts[i] >= 0), a triangle
// (~parts[i]) or, with its low above its high, nothing.
typedef float MeshLanes __attribute__((vector_size(16)));
typedef struct MeshNode {
    MeshLanes low[3], high[3];
    int32_t parts[4];
} MeshNode;

typedef struct MeshTree {
    const double *positions;
    MeshNode *nodes;
    MeshTriangle *triangles;  // in the order of the leaves; those without an area are left out
    int node_count, triangle_count;
    int depth;               // nodes within nodes
    int64_t edge_steps;      // edges that were compared to find mates: what making it costs beside sorting
    double low[3], high[3];  // the box around all
    bool is_closed;          // every edge has two triangles
} MeshTree;

MeshTree *mesh_tree_create(const double *positions, int vertex_count, const int *indices, int triangle_count);
void mesh_tree_destroy(MeshTree *tree);  // NULL is fine

// A box with rounded edges: everything within a radius of the box from low to high.
typedef struct MeshQuery {
    float low[3], high[3], radius2;
} MeshQuery;

enum { MESH_DEPTH_MAX = 64 + 32, MESH_FOUND = 64 };
// A walk through the triangles whose boxes meet the query, in the order of the tree, some at a time.
typedef struct MeshWalk {
    MeshQuery query;
    int32_t stack[3 * MESH_DEPTH_MAX + 4];
    int waiting;                // nodes on the stack
    int visited;                // nodes so far: what the walk costs
    int32_t found[MESH_FOUND];  // triangles
} MeshWalk;
void mesh_walk_begin(MeshWalk *walk, const MeshTree *tree, const MeshQuery *query);
int mesh_walk_next(MeshWalk *walk, const MeshTree *tree);  // how many were found; 0: that was all

// Whether there is any.
bool mesh_tree_is_near(const MeshTree *tree, const MeshQuery *query);

// The same walk for the triangles whose boxes reach below a plane.
typedef struct MeshPlane {
    float normal[3], offset;
} MeshPlane;
int mesh_walk_next_below(MeshWalk *walk, const MeshTree *tree, const MeshPlane *plane);

// Whether no edge that leaves a corner of a triangle rises along a unit direction by more than `slack` of its length.
bool mesh_tree_is_outermost(const MeshTree *tree, int triangle, int corner, const double direction[3], double slack);

static inline const double *mesh_tree_corner(const MeshTree *tree, int triangle, int corner)
{
    return tree->positions + 3 * (size_t)tree->triangles[triangle].vertices[corner];
}

// Unit normal of a triangle; false for one without an area.
bool mesh_tree_normal(const double *a, const double *b, const double *c, double normal[3]);

// The edge between two triangles whose corners are (from, to, tip) and (to, from, other).
MeshEdge mesh_tree_edge(const double normal[3], const double from[3], const double to[3], const double other[3]);

#endif
