// solver_direct.h - what the parts of the direct method share: vectors of six, nodes, rows, columns, scratch memory.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_H
#define TALUS_PHYSICS_SOLVER_DIRECT_H

#include "base/cpu.h"
#include "physics/solver/solver_internal.h"

#include <string.h>

static inline V4 v4_load(const double *p) { return *(const V4 *)p; }
static inline void v4_store(double *p, V4 v) { *(V4 *)p = v; }

// A count of numbers that are worked on four at a time.
static inline int four_up(int n) { return (n + 3) & ~3; }

// Six numbers one after the other: those of six columns.
typedef struct V6 {
    V4 a;
    V2 b;
} V6;

static inline V6 v6_load(const double *p) { return (V6){ *(const V4 *)p, *(const V2 *)(p + 4) }; }
static inline void v6_store(double *p, V6 v)
{
    *(V4 *)p = v.a;
    *(V2 *)(p + 4) = v.b;
}
static inline V6 v6_scale(V6 v, double s) { return (V6){ v.a * s, v.b * s }; }
static inline V6 v6_add(V6 v, V6 w) { return (V6){ v.a + w.a, v.b + w.b }; }
static inline V6 v6_mad(V6 v, V6 w, double s) { return (V6){ v.a + w.a * s, v.b + w.b * s }; }
static inline double v6_dot(V6 v, V6 w)
{
    V4 p = v.a * w.a;
    V2 q = v.b * w.b;
    V2 low = { p[0], p[1] }, high = { p[2], p[3] };
    V2 sum = (low + high) + q;
    return sum[0] + sum[1];
}

// A spatial vector: three linear numbers and a zero, three angular ones and a zero. What turns only, or what is only
// pushed at, then costs half; and a row of a matrix is stored as it is loaded again, so that no load waits for stores.
#define SPATIAL 8
typedef struct Spatial {
    V4 linear, angular;
} Spatial;

// Where the number k of six stands.
static inline int spatial_place(int k) { return k + (k > 2); }
static inline Spatial spatial_load(const double *p) { return (Spatial){ v4_load(p), v4_load(p + 4) }; }
static inline void spatial_store(double *p, Spatial v)
{
    v4_store(p, v.linear);
    v4_store(p + 4, v.angular);
}
static inline void spatial_pack(double *p, const double six[6])
{
    memcpy(p, six, 24);
    memcpy(p + 4, six + 3, 24);
    p[3] = p[7] = 0.0;
}
static inline void spatial_unpack(double six[6], const double *p)
{
    memcpy(six, p, 24);
    memcpy(six + 3, p + 4, 24);
}
static inline Spatial spatial_scale(Spatial v, double s) { return (Spatial){ v.linear * s, v.angular * s }; }
static inline Spatial spatial_add(Spatial v, Spatial w)
{
    return (Spatial){ v.linear + w.linear, v.angular + w.angular };
}
static inline Spatial spatial_mad(Spatial v, Spatial w, double s)
{
    return (Spatial){ v.linear + w.linear * s, v.angular + w.angular * s };
}
static inline Spatial spatial_nmad(Spatial v, Spatial w, double s)
{
    return (Spatial){ v.linear - w.linear * s, v.angular - w.angular * s };
}
static inline double v4_sum(V4 v)
{
    V2 low = { v[0], v[1] }, high = { v[2], v[3] };
    V2 sum = low + high;
    return sum[0] + sum[1];
}
static inline double spatial_dot(Spatial v, Spatial w) { return v4_sum(v.linear * w.linear + v.angular * w.angular); }
static inline Spatial spatial_matrix(const double *columns, const double *x)
{
    Spatial s = spatial_scale(spatial_load(columns), x[0]);
    for (int k = 1; k < 6; k++)
        s = spatial_mad(s, spatial_load(columns + SPATIAL * k), x[spatial_place(k)]);
    return s;
}

// Equations that one link of the tree carries; fewer are padded with empty ones. Of a joint that holds a point the
// first three turn and the last three are the point's.
#define LINK_ROWS 6
#define ALL_FLIPPED 0x3f  // bit for each

typedef enum LinkKind {
    LINK_LOOSE,  // no equations: a root, or a joint whose rows are all bounded
    LINK_ANY,
    LINK_SLIDE,            // the first three equations turn about the axes of the world, and do nothing else
    LINK_POINT_TWO_TURNS,  // without the third equation: hinges, universal joints, balls
    LINK_POINT_THREE_TURNS,
} LinkKind;

static inline bool link_holds_point(LinkKind link) { return link >= LINK_POINT_TWO_TURNS; }

// A node's mass M = (P B; B' C), its own and what its subtree adds; of its quarters three rows of three numbers and a
// zero each. When it is factored P^-1, P^-1 B and (C - B' P^-1 B)^-1 stand in their places: with a = momentum of
// turning less B' P^-1 times that of moving, moving and turning no longer feel each other.
typedef struct NodeMass {
    double linear[12], coupling[12], angular[12];
} NodeMass;

enum { LINEAR_HALF, ANGULAR_HALF };
enum { FIRST_THREE, LAST_THREE };

// A link's matrix S = (F K; K' G) of its first and its last three equations, eliminated: F^-1, F^-1 K and
// (G - K' F^-1 K)^-1. The sides are 3x3 blocks, so that what a joint leaves out is not touched: child's in the
// coordinates in which the mass is factored, parent's with the first three eliminated from the last three; `push` is
// S^-1 times these.
typedef struct __attribute__((aligned(64))) Node {
    NodeMass mass;
    double child_side[2][2][12], parent_side[2][2][12], push[2][2][12];  // by half, and by the first or last equations
    double first[12], across[12], last[12];
    double momentum[SPATIAL], velocity[SPATIAL];
    double turning[4];        // that the momentum causes alone, without the link
    double rhs[SPATIAL];      // of the equations,
    double missing[SPATIAL];  // ... what the first three lack before the parent moves, and impulses of the last three
    double impulse[SPATIAL];
    double child_point, parent_point;  // of a joint that holds a point: velocity in its equations by that of the body
    SolverRow *rows[LINK_ROWS];        // that of the scratch for an empty equation
    const SolverHold *hold;            // in place of rows, where trees are solved without these
    int body, parent, depth, tree;     // the depth is known where columns are
    int row_count;                     // of LINK_ANY and LINK_SLIDE
    LinkKind link;
    int spare;        // place of an equation for a row with bounds along the link, -1: none
    bool is_leaf;     // nothing was added to its mass: it moves and turns by itself
    uint8_t flipped;  // bit per equation: the child is body 2
    bool on_path;     // from a row to the root: its Response is filled
    bool is_meeting;  // ... and columns begin there or come together
} Node;

// A node before rows with bounds were added to it.
typedef struct NodeBefore {
    NodeMass mass;
    double momentum[SPATIAL];
    LinkKind link;
    bool is_leaf;
} NodeBefore;

typedef struct Response {
    double total[6 * SPATIAL];  // velocity per impulse
    double pass[6 * SPATIAL];   // impulse at the parent per impulse here, as columns
} Response;

// A motor that is an equation of the tree as long as its force stays within its bounds.
typedef struct TreeMotor {
    int node, row;
    RowMemory *memory;
} TreeMotor;

// The columns of a body: its six directions when many rows touch it, else those rows. Or that of a row along a link.
typedef struct ColumnGroup {
    int node, tree;
    int first, width;  // columns, at most six
    bool is_link;
    int start;  // in `up` and `response_up`: column_size() numbers
} ColumnGroup;

// Rows one after the other whose only moving side is the same six columns, or are columns themselves: worked on four at
// a time.
typedef struct RowRun {
    int first, count;
    int column;        // -1: a single row of another kind
    int coefficients;  // in `lanes`: six times `width` numbers; -1: the rows are the columns from `column` on
    int width;         // count rounded up to four
} RowRun;

typedef struct DenseRow {
    int columns[2];  // first column of each side, -1: none
    int widths[2];   // 1 or 6
    double coefficients[2][6];
    double rhs, gamma;
    double scale;       // velocity per impulse if no joint held the bodies, roughly
    double lo, hi;      // impulses; friction: coefficients of the normal impulse when `scaled_by` is set
    int scaled_by;      // dense row of the normal, or -1
    double applied;     // impulse that the trees have felt
    SolverRow *source;  // of a joint, else NULL
    double *kept;       // impulse for the iterative method's warm start, NULL for joints
    int8_t *state;
    RowMemory *memory;  // NULL for contacts
    int nodes[2];
    int link_node;  // of a row along a link, its lower node; -1: not along one. Where rows are solved as soft
    double j[2][SPATIAL];
} DenseRow;

// Where the columns of one tree stand when the dense problem is swept.
typedef struct TreeColumns {
    int first, width;  // columns
    int first_group, group_count;
    int gram;  // of its rows, each rounded up to four
} TreeColumns;

// A row as sweeps use it: what its unit impulse does to the columns of up to two trees.
typedef struct SweepRow {
    int first[2], width[2];  // columns; width 0: nothing
    int response[2];
    double inverse;  // impulse per velocity
} SweepRow;

struct DirectScratch {
    Node *nodes;
    Response *responses;
    NodeBefore *before;  // per node, of those on a row's way to the root
    TreeMotor *motors;
    DenseRow *dense;
    ColumnGroup *groups;
    RowRun *runs;
    double *lanes;
    double *up, *response_up;  // column data: impulses carried to the root, velocities they cause there
    double *gram;              // responses between columns
    double *matrix, *factor;   // of the dense problem
    double *product;           // gram times one row's coefficients
    double *rhs, *x, *lo, *hi, *work, *reciprocal;
    int8_t *state, *frictionless;
    int *index, *held;
    int *first_column;  // per node: its six columns, or -1
    int *side_count;    // per node: rows that touch it
    TreeColumns *trees;
    SweepRow *sweep_rows;
    int *tree_groups;   // group indices, tree by tree
    int *column_place;  // per column: its place beside those of its tree
    double *column_velocity, *sweep_response;
    int tree_capacity, sweep_row_capacity, tree_group_capacity, column_place_capacity, column_velocity_capacity,
        sweep_response_capacity;
    int node_capacity, path_capacity, motor_capacity, dense_capacity, group_capacity, run_capacity, lane_capacity,
        up_capacity, response_capacity;
    int gram_capacity, matrix_capacity, factor_matrix_capacity, product_capacity;
    int rhs_capacity, x_capacity, lo_capacity, hi_capacity, work_capacity, reciprocal_capacity, state_capacity,
        frictionless_capacity, index_capacity;
    int first_column_capacity, side_capacity, held_capacity, before_capacity;
    int node_count, motor_count, dense_count, column_count, group_count, run_count, up_count;
    int redundant;
    SolverRow empty;  // what an equation is that no row fills
};

#endif
