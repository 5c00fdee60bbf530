// tuning.h - the numbers of this room that somebody chose, each with its unit, why it is so, and the test that fails or
// shows it when it is far off. docs/solver.md takes its table from here (tests/tuning_test.sh). Grains of loops and
// sizes of arrays stand where they are used.
#ifndef TALUS_PHYSICS_COLLIDE_TUNING_H
#define TALUS_PHYSICS_COLLIDE_TUNING_H

// m: boxes longer than this or farther out stay out of the tree, whose floats would not hold them. physics.broadphase
#define LARGE_BOX 1e6
// 1: putting in again one leaf of so many costs as much as making the tree anew. physics.broadphase
#define MANY_LEFT 16
// 1: the tree is made anew when one leaf of so many was put in again. physics.broadphase
#define REBUILD_SHARE 8
// 1: a leaf that leaves its parent's box keeps its place while that grows by no more than this. physics.broadphase
#define FOLLOW_GROWTH 1.5f
// 1: when fewer than one leaf of so many moved, each looks for its pairs by itself. physics.broadphase
#define FEW_MOVED 4
// m: far above the rounding of places up to kilometres away, far below any depth that matters. physics.collide
#define TOUCH_ROUNDING 1e-10
// 1: square of the sine of a tilt that counts as none: the four points of a cap then stay with the cylinder.
// physics.collide_cylinder
#define GROUND_LEVEL 0.001
// 1: and of one from which on a cap touches the ground with one point. physics.collide_cylinder
#define GROUND_TILTED 0.1
// m: a pair that moved less gets its points moved along instead of found anew. physics.collide
#define MAX_CACHE_SHIFT 2.5e-4
// 1: of the thinnest part of the two shapes, where that is less. physics.collide
#define CACHE_SHIFT_SHARE 5e-3
// points: corners of the polygon that stands for a cap. physics.collide_cylinder
#define CAP_CORNERS 8
// 1: square of the sine of a tilt that counts as none: the corners then stay with the cylinder.
// physics.collide_cylinder
#define CAP_LEVEL 1e-4
// 1: cosine below which a cap faces the other shape, above which the mantle does. physics.collide_cylinder
#define CAP_FACES 0.70710678
// 1: square of the sine below which two mantles touch along a line. physics.collide_cylinder
#define MANTLES_PARALLEL 3e-3
// 1: of the smallest size: more than bodies at rest have. physics.collide_cylinder
#define SMALL_OVERLAP 0.05
// m: an axis that is this close goes through the solid. physics.collide
#define AXIS_INSIDE 1e-9
// 1: of the half length: two points of the axis that are one. physics.collide
#define SAME_PLACE 0.05
// 1: cosine to a face or cap below which its whole width counts. physics.collide
#define ABOVE_A_FACE 0.9
// steps: to the nearest points of an axis and a solid; some six are usual. physics.collide
#define MAX_NEWTON_STEPS 20
// steps: of halving by the golden section: 1e-5 of the interval is left. physics.collide
#define GOLDEN_STEPS 24
// steps: of the search for the edge axis of least overlap. physics.collide_cylinder
#define COLLIDE_SEARCH_STEPS 10
// rad: of its last step: the direction is then exact to about its square. physics.collide_cylinder
#define COLLIDE_SEARCH_END 1e-6
// 1: sine by which an axis may leave the cone of an edge. physics.terrain
#define CONE_SLACK 2e-3
// 1: share of a triangle's extent along an axis within which two corners are equally far out. physics.collide_surface
#define TWO_TOP 1e-3
// 1: another axis must overlap clearly less than the normal. physics.terrain
#define FACE_BIAS 0.9
// 1: how much deeper the normal may be than an axis that does not count. physics.terrain
#define SKIP_RATIO 4.0
// 1: of a radius: how far behind a triangle the middle of a round shape is held. physics.sweep
#define BEHIND 0.5
// 1: the same where both sides push. physics.sweep
#define BEHIND_TWO_SIDED 0.75
// 1: sine; what is closest needs no more. physics.collide_surface
#define CONE_EXACT 1e-6
// 1: square of the sine of a tilt that counts as none: the rim's points then stay with the cylinder.
// physics.collide_surface
#define RIM_LEVEL 0.001
// 1: and of one from which on lines of the mantle touch. physics.collide_surface
#define RIM_TILTED 0.1
// 1: square of the cosine below which the caps do not. physics.collide_surface
#define RIM_LYING 0.01
// 1: cosine of normals that are one group of points. physics.collide_surface
#define SAME_DIRECTION 0.95
// 1: share of the least distance between two points: a millionth of the extent of all. physics.collide_surface
#define ABOUT_AS_DEEP 1e-3
// 1: of the extent: how deep a mesh holds that is not closed. physics.mesh_mesh
#define OPEN_REACH 0.02
// 1: cosine of normals that push against each other. physics.mesh_mesh
#define OPPOSITE_NORMALS 0.5
// 1: sine by which the edges of a corner may rise. physics.mesh_mesh
#define CORNER_ASKEW 0.3
// 1: sine by which the normal of crossed edges may leave the cone of either. physics.mesh_mesh
#define EDGE_ASKEW 0.1
// 1: sines that are none. physics.mesh_mesh
#define EDGE_UPRIGHT 0.01
// 1: least sine between them; of edges closer to parallel the ends are upright corners. physics.mesh_mesh
#define EDGES_CROSSED 0.01
// 1: share of a depth that makes another way out shorter. physics.mesh_mesh
#define SHORTER_WAY 0.9
// 1: and one that is not sure. physics.mesh_mesh
#define MUCH_SHORTER_WAY 0.25
// 1: cosine of two ways out that are one. physics.mesh_mesh
#define SAME_WAY 0.95
// 1: share of an edge's length: what lies on the line between two triangles belongs to both. physics.mesh_mesh
#define ON_EDGE 1e-6
// 1: share of a triangle's side by which a ray may miss it: none passes between two. physics.sweep
#define BESIDE_TRIANGLE 1e-9
// 1: an edge that bends less is none. physics.mesh_tree
#define FLAT_EDGE_SINE 1e-4

#endif
