// The exact solution of one island of jointed bodies in O(n) plus a small dense problem.
//
// Each body is a node of a joint tree. From the leaves up, a node's mass M (6x6, its own plus what its subtree adds) and
// momentum b are carried over the rows of its link (child side Jc, parent side Jp, softness g = cfm/dt):
//     S = Jc M^-1 Jc' + g         parent mass += Jp' S^-1 Jp         parent momentum += Jp' S^-1 (rhs - Jc M^-1 b)
// and from the root down  impulse = S^-1 (rhs - Jc M^-1 b - Jp v_parent),  v = M^-1 (b + Jc' impulse).
// Only sums of positive parts occur, so the masses stay positive definite for any mass ratio.
//
// Rows with bounds (contacts, stops, motors that reach their limit) and rows that close loops form a dense problem in
// their impulses. Its matrix comes from responses along the tree: a unit impulse is carried to the root once per column
// (a column serves all rows of a body when there are six or more), and the response between two columns is a sum over
// the nodes that both pass. The bounded problem is solved as ODE does: first without friction, which fixes the friction
// bounds, then with it; both are strictly convex, so block pivoting with a single-pivot guard ends.
//
// This file is compiled twice, for the plain and for the wide instruction set; the order of operations is the same.
#include "physics/solver_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOLVER_VARIANT
#define SOLVER_VARIANT solver_direct_portable
#define SOLVER_SCRATCH_HERE
#endif

#define MOTOR_DENSE_STEPS 20   // a motor that reached its limit stays in the dense problem for this many quiet steps
#define RESTART_LIMIT 4
#define PIVOT_LIMIT 60
#define FALLBACK_SWEEPS 200
#define SLACK 1e-10            // of bounds and velocities, relative to the largest: less is rounding

typedef double V4 __attribute__((vector_size(32), aligned(8)));
typedef double V2 __attribute__((vector_size(16), aligned(8)));
typedef struct V6 { V4 a; V2 b; } V6;

static inline V6 v6_load(const double *p) { return (V6){ *(const V4 *)p, *(const V2 *)(p + 4) }; }
static inline void v6_store(double *p, V6 v) { *(V4 *)p = v.a; *(V2 *)(p + 4) = v.b; }
static inline V6 v6_scale(V6 v, double s) { return (V6){ v.a * s, v.b * s }; }
static inline V6 v6_add(V6 v, V6 w) { return (V6){ v.a + w.a, v.b + w.b }; }
static inline V6 v6_mad(V6 v, V6 w, double s) { return (V6){ v.a + w.a * s, v.b + w.b * s }; }
static inline V6 v6_nmad(V6 v, V6 w, double s) { return (V6){ v.a - w.a * s, v.b - w.b * s }; }
static inline double v6_dot(V6 v, V6 w)
{
    V4 p = v.a * w.a;
    V2 q = v.b * w.b;
    V2 low = { p[0], p[1] }, high = { p[2], p[3] };
    V2 sum = (low + high) + q;
    return sum[0] + sum[1];
}
static inline V6 v6_matrix(const double *columns, const double *x)
{
    V6 s = v6_scale(v6_load(columns), x[0]);
    for (int k = 1; k < 6; k++)
        s = v6_mad(s, v6_load(columns + 6 * k), x[k]);
    return s;
}

#define LINK_ROWS 6   // equations that one link of the tree carries; fewer are padded with empty ones

typedef struct Node {
    double inverse[36];         // mass while it is summed up, then its inverse
    double y[36];               // M^-1 Jc', a row of six for each equation
    double x[36];               // S^-1 Jp, likewise
    double s[36];               // S^-1
    double momentum[6], velocity[6];
    double rhs[LINK_ROWS], t[LINK_ROWS], impulse[LINK_ROWS];
    SolverRow *rows[LINK_ROWS];
    int body, parent, depth, tree;
    int row_count;
    unsigned flipped;           // bit per row: the child is body 2
    bool on_path;               // its Response is filled
} Node;

typedef struct Response {
    double local[36];           // velocity per impulse with the parent held
    double pass[36];            // impulse at the parent per impulse here, as columns
} Response;

// A motor that is an equation of the tree as long as its force stays within its bounds.
typedef struct TreeMotor {
    int node, row;
    RowMemory *memory;
} TreeMotor;

#define COLUMN_STEP 8   // six numbers and two zeros

// One column, or the six of a body that many rows touch.
typedef struct ColumnGroup {
    int node, tree;
    int first, width;           // columns; width 1 or 6
    int start;                  // in `up`: for each column COLUMN_STEP numbers per node from the root down
    int response;               // in `response_up`: likewise for one column; for six, per node a 6x6 block, column lanes last
} ColumnGroup;

// Rows one after the other whose only moving side is the same six columns, or are columns themselves: worked on four at
// a time.
typedef struct RowRun {
    int first, count;
    int column;                 // -1: a single row of another kind
    int coefficients;           // in `lanes`: six times `width` numbers; -1: the rows are the columns from `column` on
    int width;                  // count rounded up to four
} RowRun;

typedef struct DenseRow {
    int columns[2];             // first column of each side, -1: none
    int widths[2];              // 1 or 6
    double coefficients[2][6];
    double rhs, gamma;
    double scale;               // velocity per impulse if no joint held the bodies, roughly
    double lo, hi;              // impulses; friction: coefficients of the normal impulse when `scaled_by` is set
    int scaled_by;              // dense row of the normal, or -1
    double *force;
    double *kept;               // impulse for the iterative method's warm start, NULL for joints
    int8_t *state;
    RowMemory *memory;          // NULL for contacts
    int nodes[2];
    double j[2][6];
} DenseRow;

struct DirectScratch {
    Node *nodes;
    Response *responses;
    TreeMotor *motors;
    DenseRow *dense;
    ColumnGroup *groups;
    RowRun *runs;
    double *lanes;
    double *up, *response_up;        // column data: impulses carried to the root, velocities they cause there
    double *gram;                    // responses between columns
    double *matrix, *factor;         // of the dense problem
    double *product;                 // gram times one row's coefficients
    double *rhs, *x, *lo, *hi, *work, *reciprocal;
    int8_t *state;
    int *index, *held;
    int *first_column;               // per node: its six columns, or -1
    int *side_count;                 // per node: rows that touch it
    int node_capacity, path_capacity, motor_capacity, dense_capacity, group_capacity, run_capacity, lane_capacity, up_capacity, response_capacity;
    int gram_capacity, matrix_capacity, factor_matrix_capacity, product_capacity;
    int rhs_capacity, x_capacity, lo_capacity, hi_capacity, work_capacity, reciprocal_capacity, state_capacity, index_capacity;
    int first_column_capacity, side_capacity, held_capacity;
    int node_count, motor_count, dense_count, column_count, group_count, run_count, up_count, response_count;
    int redundant;
};

#ifdef SOLVER_SCRATCH_HERE
DirectScratch *direct_scratch_create(void)
{
    return memory_alloc(sizeof(DirectScratch));
}

void direct_scratch_destroy(DirectScratch *s)
{
    if (!s)
        return;
    void *owned[] = { s->nodes, s->responses, s->motors, s->dense, s->groups, s->runs, s->lanes, s->up, s->response_up, s->gram, s->matrix, s->factor,
                      s->product, s->rhs, s->x, s->lo, s->hi, s->work, s->reciprocal, s->state, s->index, s->held, s->first_column,
                      s->side_count };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(s);
}
#endif

// ---- 6x6 inverse by 3x3 blocks ----

typedef struct Sym3 { double xx, xy, xz, yy, yz, zz; } Sym3;

// Masses are never singular but may come close: give a direction that rounding ate a trace of mass.
static Sym3 sym3_inverse_mass(Sym3 m)
{
    for (int attempt = 0; attempt < 40; attempt++) {
        double trace = fabs(m.xx) + fabs(m.yy) + fabs(m.zz) + 1e-300, extra = trace * ldexp(1e-15, 2 * attempt);
        m.xx += extra;
        m.yy += extra;
        m.zz += extra;
        double x = m.yy * m.zz - m.yz * m.yz, y = m.xz * m.yz - m.xy * m.zz, z = m.xy * m.yz - m.xz * m.yy;
        double determinant = m.xx * x + m.xy * y + m.xz * z, second = m.xx * m.yy - m.xy * m.xy;
        if (determinant > 1e-14 * m.xx * m.yy * m.zz && m.xx > 0.0 && second > 0.0) {
            double s = 1.0 / determinant;
            return (Sym3){ x * s, y * s, z * s, (m.xx * m.zz - m.xz * m.xz) * s, (m.xy * m.xz - m.xx * m.yz) * s, second * s };
        }
    }
    return (Sym3){ 0.0 };
}

// Rows may say the same thing twice: of those, the later ones get no impulse.
static Sym3 sym3_inverse_rows(Sym3 m, const double *scale)
{
    const double limit = 1e-11;
    double l10 = 0.0, l20 = 0.0, l21 = 0.0;
    double d0 = m.xx > limit * scale[0] ? 1.0 / m.xx : 0.0;
    l10 = m.xy * d0;
    l20 = m.xz * d0;
    double p1 = m.yy - l10 * m.xy, q21 = m.yz - l20 * m.xy, d1 = p1 > limit * scale[1] ? 1.0 / p1 : 0.0;
    l21 = q21 * d1;
    double p2 = m.zz - l20 * m.xz - l21 * q21, d2 = p2 > limit * scale[2] ? 1.0 / p2 : 0.0;
    double a = -l10, b = l10 * l21 - l20, c = -l21;  // the inverse of the unit triangle
    return (Sym3){ d0 + a * a * d1 + b * b * d2, a * d1 + b * c * d2, b * d2, d1 + c * c * d2, c * d2, d2 };
}

// `scale`: the diagonal before anything was taken from it, for rows; NULL for masses.
static inline Sym3 sym3_inverse(Sym3 m, const double *scale)
{
    double x = m.yy * m.zz - m.yz * m.yz, y = m.xz * m.yz - m.xy * m.zz, z = m.xy * m.yz - m.xz * m.yy;
    double determinant = m.xx * x + m.xy * y + m.xz * z, second = m.xx * m.yy - m.xy * m.xy;
    double bound = scale ? 1e-10 * scale[0] * scale[1] * scale[2] : 1e-14 * m.xx * m.yy * m.zz;
    if (determinant > bound && m.xx > 0.0 && second > 0.0) {
        double s = 1.0 / determinant;
        return (Sym3){ x * s, y * s, z * s, (m.xx * m.zz - m.xz * m.xz) * s, (m.xy * m.xz - m.xx * m.yz) * s, second * s };
    }
    return scale ? sym3_inverse_rows(m, scale) : sym3_inverse_mass(m);
}

static inline Sym3 sym3_read(const double *m, int at)
{
    return (Sym3){ m[at], m[at + 1], m[at + 2], m[at + 7], m[at + 8], m[at + 14] };
}

static inline void sym3_write(double *m, int at, Sym3 s)
{
    m[at] = s.xx; m[at + 1] = s.xy; m[at + 2] = s.xz;
    m[at + 6] = s.xy; m[at + 7] = s.yy; m[at + 8] = s.yz;
    m[at + 12] = s.xz; m[at + 13] = s.yz; m[at + 14] = s.zz;
}

// Inverts a symmetric 6x6 matrix in place. `scale` as above.
static inline __attribute__((always_inline)) void symmetric_invert(double *m, const double *scale)
{
    Sym3 p = sym3_inverse(sym3_read(m, 0), scale);
    double b[9], t[9], u[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[3 * i + j] = m[6 * i + 3 + j];
    for (int j = 0; j < 3; j++) {
        t[j] = p.xx * b[j] + p.xy * b[3 + j] + p.xz * b[6 + j];
        t[3 + j] = p.xy * b[j] + p.yy * b[3 + j] + p.yz * b[6 + j];
        t[6 + j] = p.xz * b[j] + p.yz * b[3 + j] + p.zz * b[6 + j];
    }
    Sym3 c = sym3_read(m, 21);
    c.xx -= b[0] * t[0] + b[3] * t[3] + b[6] * t[6];
    c.xy -= b[0] * t[1] + b[3] * t[4] + b[6] * t[7];
    c.xz -= b[0] * t[2] + b[3] * t[5] + b[6] * t[8];
    c.yy -= b[1] * t[1] + b[4] * t[4] + b[7] * t[7];
    c.yz -= b[1] * t[2] + b[4] * t[5] + b[7] * t[8];
    c.zz -= b[2] * t[2] + b[5] * t[5] + b[8] * t[8];
    Sym3 q = sym3_inverse(c, scale ? scale + 3 : NULL);
    for (int i = 0; i < 3; i++) {
        u[3 * i] = t[3 * i] * q.xx + t[3 * i + 1] * q.xy + t[3 * i + 2] * q.xz;
        u[3 * i + 1] = t[3 * i] * q.xy + t[3 * i + 1] * q.yy + t[3 * i + 2] * q.yz;
        u[3 * i + 2] = t[3 * i] * q.xz + t[3 * i + 1] * q.yz + t[3 * i + 2] * q.zz;
    }
    p.xx += u[0] * t[0] + u[1] * t[1] + u[2] * t[2];
    p.xy += u[0] * t[3] + u[1] * t[4] + u[2] * t[5];
    p.xz += u[0] * t[6] + u[1] * t[7] + u[2] * t[8];
    p.yy += u[3] * t[3] + u[4] * t[4] + u[5] * t[5];
    p.yz += u[3] * t[6] + u[4] * t[7] + u[5] * t[8];
    p.zz += u[6] * t[6] + u[7] * t[7] + u[8] * t[8];
    sym3_write(m, 0, p);
    sym3_write(m, 21, q);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[6 * i + 3 + j] = m[6 * (3 + j) + i] = -u[3 * i + j];
}

// ---- the tree ----

// World inertia and the momentum at the end of the step if nothing held the body.
static inline void node_load_body(Node *node, const SolverBody *body, const SolverInput *input)
{
    double *m = node->inverse, *b = node->momentum, dt = input->dt, half[9], world[9];
    const double *r = body->rotation, *inertia = body->inertia, *w = body->velocity + 3;
    if (inertia[1] == 0.0 && inertia[2] == 0.0 && inertia[5] == 0.0) {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                half[3 * i + j] = r[3 * i + j] * inertia[4 * j];
    } else {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                half[3 * i + j] = r[3 * i] * inertia[j] + r[3 * i + 1] * inertia[3 + j] + r[3 * i + 2] * inertia[6 + j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            world[3 * i + j] = world[3 * j + i] = half[3 * i] * r[3 * j] + half[3 * i + 1] * r[3 * j + 1] + half[3 * i + 2] * r[3 * j + 2];
    memset(m, 0, sizeof node->inverse);
    m[0] = m[7] = m[14] = body->mass;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[21 + 6 * i + j] = world[3 * i + j];
    bool falls = (body->flags & SOLVER_BODY_GRAVITY) != 0;
    for (int i = 0; i < 3; i++) {
        b[i] = body->mass * (body->velocity[i] + (falls ? dt * input->gravity[i] : 0.0)) + dt * body->force[i];
        b[3 + i] = world[3 * i] * w[0] + world[3 * i + 1] * w[1] + world[3 * i + 2] * w[2];
    }
    if (body->flags & SOLVER_BODY_GYROSCOPIC) {
        // The momentum L becomes I (I - dt [L]x)^-1 L: the implicit gyroscopic torque that ODE adds.
        double lx = dt * b[3], ly = dt * b[4], lz = dt * b[5];
        double a00 = world[0], a01 = world[1] + lz, a02 = world[2] - ly;
        double a10 = world[3] - lz, a11 = world[4], a12 = world[5] + lx;
        double a20 = world[6] + ly, a21 = world[7] - lx, a22 = world[8];
        double c0 = a11 * a22 - a12 * a21, c1 = a12 * a20 - a10 * a22, c2 = a10 * a21 - a11 * a20;
        double determinant = a00 * c0 + a01 * c1 + a02 * c2;
        if (determinant != 0.0) {
            double s = 1.0 / determinant, y[3];
            y[0] = (c0 * b[3] + (a02 * a21 - a01 * a22) * b[4] + (a01 * a12 - a02 * a11) * b[5]) * s;
            y[1] = (c1 * b[3] + (a00 * a22 - a02 * a20) * b[4] + (a02 * a10 - a00 * a12) * b[5]) * s;
            y[2] = (c2 * b[3] + (a01 * a20 - a00 * a21) * b[4] + (a00 * a11 - a01 * a10) * b[5]) * s;
            for (int i = 0; i < 3; i++)
                b[3 + i] = world[3 * i] * y[0] + world[3 * i + 1] * y[1] + world[3 * i + 2] * y[2];
        }
    }
    for (int i = 0; i < 3; i++)
        b[3 + i] += dt * body->force[3 + i];
}

static double fixed_side_velocity(const SolverInput *input, int body, const double *j)
{
    if (body < 0 || (input->bodies[body].flags & SOLVER_BODY_ASLEEP))
        return 0.0;
    const double *v = input->bodies[body].velocity;
    return j[0] * v[0] + j[1] * v[1] + j[2] * v[2] + j[3] * v[3] + j[4] * v[4] + j[5] * v[5];
}

static void dense_joint_row(DirectScratch *s, IslandTask *task, int joint_index, int row_index, int joint_dense_base)
{
    const SolverInput *input = task->input;
    const SolverJoint *joint = &input->joints[joint_index];
    SolverRow *row = &input->rows[joint->first_row + row_index];
    memory_grow(&s->dense, &s->dense_capacity, s->dense_count + 1, sizeof *s->dense);
    DenseRow *dense = &s->dense[s->dense_count++];
    *dense = (DenseRow){ .rhs = row->rhs, .gamma = row->cfm / input->dt, .scaled_by = -1, .force = &row->force };
    dense->memory = row_index < SOLVER_JOINT_ROWS ? &task->row_memory[joint_index * SOLVER_JOINT_ROWS + row_index] : NULL;
    dense->state = dense->memory ? &dense->memory->state : NULL;
    dense->lo = row->lo;
    dense->hi = row->hi;
    if (row->friction_of >= 0 && row->friction_of < row_index)
        dense->scaled_by = joint_dense_base + row->friction_of;
    else
        dense->lo *= input->dt, dense->hi *= input->dt;
    const double *sides[2] = { row->j1, row->j2 };
    int bodies[2] = { joint->body1, joint->body2 };
    for (int k = 0; k < 2; k++) {
        bool moves = bodies[k] >= 0 && !solver_body_is_fixed(&input->bodies[bodies[k]]);
        dense->nodes[k] = moves ? task->node_of_body[bodies[k]] : -1;
        memcpy(dense->j[k], sides[k], sizeof dense->j[k]);
        if (!moves)
            dense->rhs -= fixed_side_velocity(input, bodies[k], sides[k]);
    }
}

// Only rows with bounds need a look at what they did before.
static bool row_goes_to_tree(DirectScratch *s, const IslandTask *task, const SolverRow *row, const Node *node, int joint, int index)
{
    if (node->row_count == LINK_ROWS)
        return false;
    if (row->lo == -SOLVER_INFINITY && row->hi == SOLVER_INFINITY)
        return true;
    if (row->friction_of >= 0 || !(row->lo < 0.0 && row->hi > 0.0) || row->lo == -SOLVER_INFINITY || row->hi == SOLVER_INFINITY
        || index >= SOLVER_JOINT_ROWS)
        return false;
    RowMemory *memory = &task->row_memory[joint * SOLVER_JOINT_ROWS + index];
    if (memory->dense > 0)
        return false;
    memory_grow(&s->motors, &s->motor_capacity, s->motor_count + 1, sizeof *s->motors);
    s->motors[s->motor_count++] = (TreeMotor){ (int)(node - s->nodes), node->row_count, memory };
    return true;
}

static void node_add_joint(DirectScratch *s, IslandTask *task, Node *node, LinkJoint link)
{
    const SolverInput *input = task->input;
    const SolverJoint *joint = &input->joints[link.joint];
    SolverRow *rows = &input->rows[joint->first_row];
    int base = s->dense_count, other = link.child_is_body2 ? joint->body1 : joint->body2;
    // A row that scales with another needs the other beside it, so such joints go to the dense problem whole.
    bool scaled = false;
    for (int i = 0; i < joint->row_count; i++)
        scaled |= rows[i].friction_of >= 0;
    for (int i = 0; i < joint->row_count; i++) {
        SolverRow *row = &rows[i];
        if (scaled || !row_goes_to_tree(s, task, row, node, link.joint, i)) {
            dense_joint_row(s, task, link.joint, i, base);
            continue;
        }
        int at = node->row_count++;
        node->rows[at] = row;
        node->flipped |= (unsigned)link.child_is_body2 << at;
        node->rhs[at] = row->rhs;
        if (node->parent < 0)
            node->rhs[at] -= fixed_side_velocity(input, other, link.child_is_body2 ? row->j1 : row->j2);
    }
}

static __attribute__((noinline)) void tree_build(DirectScratch *s, IslandTask *task)
{
    const SolverInput *input = task->input;
    const Topology *topology = task->topology;
    int node_total = 0;
    for (int g = 0; g < task->group_count; g++)
        node_total += topology->groups[task->groups[g]].count;
    memory_grow(&s->nodes, &s->node_capacity, node_total, sizeof *s->nodes);
    s->node_count = s->motor_count = s->dense_count = 0;
    for (int g = 0; g < task->group_count; g++) {
        const TreeGroup *group = &topology->groups[task->groups[g]];
        int first_node = s->node_count;
        for (int i = group->first; i < group->first + group->count; i++)
            task->node_of_body[topology->links[i].body] = first_node + i - group->first;
        for (int i = group->first; i < group->first + group->count; i++) {
            const TreeLink *link = &topology->links[i];
            Node *node = &s->nodes[s->node_count++];
            node->body = link->body;
            node->parent = link->parent < 0 ? -1 : first_node + link->parent - group->first;
            node->depth = node->parent < 0 ? 0 : s->nodes[node->parent].depth + 1;
            node->tree = g;
            node->on_path = false;
            node->row_count = 0;
            node->flipped = 0;
            node_load_body(node, &input->bodies[link->body], input);
            for (int k = 0; k < link->joint_count; k++)
                node_add_joint(s, task, node, topology->link_joints[link->first_joint + k]);
            for (int k = node->row_count; k < LINK_ROWS; k++)
                node->rhs[k] = 0.0;
        }
        for (int k = 0; k < group->cut_count; k++) {
            int joint = topology->cut_joints[group->first_cut + k];
            for (int i = 0, base = s->dense_count; i < input->joints[joint].row_count; i++)
                dense_joint_row(s, task, joint, i, base);
        }
    }
}

// `m` is a constant, 5 or 6, and not less than the node's rows: hinges and sliders without a motor have five.
static inline __attribute__((always_inline)) void node_factor(DirectScratch *s, Node *node, double fps, int m)
{
    static const double nothing[6];
    const double *jc[LINK_ROWS], *jp[LINK_ROWS];
    double *matrix = node->s, scale[LINK_ROWS];
    for (int r = 0; r < m; r++) {
        bool used = r < node->row_count, flipped = node->flipped >> r & 1;
        jc[r] = !used ? nothing : flipped ? node->rows[r]->j2 : node->rows[r]->j1;
        jp[r] = !used ? nothing : flipped ? node->rows[r]->j1 : node->rows[r]->j2;
    }
    V6 y[LINK_ROWS];
    for (int r = 0; r < m; r++) {
        y[r] = v6_matrix(node->inverse, jc[r]);
        v6_store(node->y + 6 * r, y[r]);
    }
    for (int r = 0; r < m; r++) {
        V6 j = v6_load(jc[r]);
        for (int c = r; c < m; c++)
            matrix[6 * r + c] = v6_dot(j, y[c]);
        matrix[7 * r] += r < node->row_count ? node->rows[r]->cfm * fps : 1.0;
        scale[r] = matrix[7 * r];
    }
    if (m == 5) {
        for (int r = 0; r < 5; r++)
            matrix[6 * r + 5] = 0.0;
        matrix[35] = scale[5] = 1.0;
        v6_store(node->y + 30, (V6){ 0 });
        v6_store(node->x + 30, (V6){ 0 });
    }
    symmetric_invert(matrix, scale);
    for (int r = 0; r < node->row_count; r++)
        s->redundant += matrix[7 * r] == 0.0;
    if (node->parent < 0)
        return;
    V6 x[LINK_ROWS], j[LINK_ROWS];
    for (int r = 0; r < m; r++)
        j[r] = v6_load(jp[r]);
    for (int r = 0; r < m; r++) {
        x[r] = v6_scale(j[0], matrix[6 * r]);
        for (int c = 1; c < m; c++)
            x[r] = v6_mad(x[r], j[c], matrix[6 * r + c]);
        v6_store(node->x + 6 * r, x[r]);
    }
    double *mass = s->nodes[node->parent].inverse;
    for (int k = 0; k < 6; k++) {
        V6 sum = v6_load(mass + 6 * k);
        for (int r = 0; r < m; r++)
            sum = v6_mad(sum, x[r], jp[r][k]);
        v6_store(mass + 6 * k, sum);
    }
}

static void tree_factor(DirectScratch *s, double dt)
{
    double fps = 1.0 / dt;
    for (int i = s->node_count - 1; i >= 0; i--) {
        Node *node = &s->nodes[i];
        symmetric_invert(node->inverse, NULL);
        if (node->row_count > 5)
            node_factor(s, node, fps, 6);
        else if (node->row_count > 0)
            node_factor(s, node, fps, 5);
    }
}

// Momenta up, velocities down. With `change`, momenta are impulses added to a solved tree and velocities are added too.
static inline __attribute__((always_inline)) void tree_solve(DirectScratch *s, bool change)
{
    for (int i = s->node_count - 1; i >= 0; i--) {
        Node *node = &s->nodes[i];
        if (node->row_count == 0)
            continue;
        V6 b = v6_load(node->momentum), t = { 0 };
        double u[LINK_ROWS];
        for (int r = 0; r < LINK_ROWS; r++) {
            u[r] = (change ? 0.0 : node->rhs[r]) - v6_dot(v6_load(node->y + 6 * r), b);
            t = v6_mad(t, v6_load(node->s + 6 * r), u[r]);
        }
        v6_store(node->t, t);
        if (node->parent < 0)
            continue;
        double *up = s->nodes[node->parent].momentum;
        V6 sum = v6_load(up);
        for (int r = 0; r < LINK_ROWS; r++)
            sum = v6_mad(sum, v6_load(node->x + 6 * r), u[r]);
        v6_store(up, sum);
    }
    for (int i = 0; i < s->node_count; i++) {
        Node *node = &s->nodes[i];
        V6 v = v6_matrix(node->inverse, node->momentum);
        if (node->row_count > 0) {
            double t[LINK_ROWS];
            memcpy(t, node->t, sizeof t);
            if (node->parent >= 0) {
                // With `change` the parent's momentum slot holds its change of velocity by now.
                const Node *parent = &s->nodes[node->parent];
                V6 above = v6_load(change ? parent->momentum : parent->velocity);
                for (int r = 0; r < LINK_ROWS; r++)
                    t[r] -= v6_dot(v6_load(node->x + 6 * r), above);
            }
            for (int r = 0; r < LINK_ROWS; r++)
                v = v6_mad(v, v6_load(node->y + 6 * r), t[r]);
            V6 impulse = v6_load(t);
            v6_store(node->impulse, change ? v6_add(impulse, v6_load(node->impulse)) : impulse);
        }
        if (change) {
            v6_store(node->momentum, v);
            v = v6_add(v, v6_load(node->velocity));
        }
        v6_store(node->velocity, v);
    }
}

static __attribute__((noinline)) void tree_solve_free(DirectScratch *s)
{
    tree_solve(s, false);
}

static __attribute__((noinline)) void tree_solve_change(DirectScratch *s)
{
    tree_solve(s, true);
}

// ---- responses ----

static void node_prepare_response(DirectScratch *s, int i)
{
    Node *node = &s->nodes[i];
    Response *response = &s->responses[i];
    node->on_path = true;
    if (node->row_count == 0) {
        memcpy(response->local, node->inverse, sizeof response->local);
        return;
    }
    V6 y[LINK_ROWS], z[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++)
        y[r] = v6_load(node->y + 6 * r);
    for (int r = 0; r < LINK_ROWS; r++) {
        z[r] = v6_scale(y[0], node->s[6 * r]);
        for (int c = 1; c < LINK_ROWS; c++)
            z[r] = v6_mad(z[r], y[c], node->s[6 * r + c]);
    }
    for (int k = 0; k < 6; k++) {
        V6 sum = v6_load(node->inverse + 6 * k);
        for (int r = 0; r < LINK_ROWS; r++)
            sum = v6_nmad(sum, z[r], node->y[6 * r + k]);
        v6_store(response->local + 6 * k, sum);
    }
    if (node->parent < 0)
        return;
    for (int r = 0; r < LINK_ROWS; r++)
        z[r] = v6_load(node->x + 6 * r);
    for (int k = 0; k < 6; k++) {
        V6 pass = { 0 };
        for (int r = 0; r < LINK_ROWS; r++)
            pass = v6_nmad(pass, z[r], node->y[6 * r + k]);
        v6_store(response->pass + 6 * k, pass);
    }
}

static ColumnGroup *group_add(DirectScratch *s, int node_index, int width)
{
    const Node *node = &s->nodes[node_index];
    int size = COLUMN_STEP * (node->depth + 1), response = width == 1 ? size : 36 * (node->depth + 1);
    memory_grow(&s->groups, &s->group_capacity, s->group_count + 1, sizeof *s->groups);
    memory_grow(&s->up, &s->up_capacity, s->up_count + width * size, sizeof *s->up);
    memory_grow(&s->response_up, &s->response_capacity, s->response_count + response, sizeof *s->response_up);
    ColumnGroup *group = &s->groups[s->group_count++];
    *group = (ColumnGroup){ node_index, node->tree, s->column_count, width, s->up_count, s->response_count };
    s->column_count += width;
    s->up_count += width * size;
    s->response_count += response;
    return group;
}

// Carries the impulse `at_node` (and on its way `at_parent`, when given) to the root.
static int column_add(DirectScratch *s, int node_index, const double *at_node, const double *at_parent)
{
    const ColumnGroup *group = group_add(s, node_index, 1);
    double *up = s->up + group->start, *response = s->response_up + group->response;
    V6 u = v6_load(at_node);
    for (int i = node_index; i >= 0; i = s->nodes[i].parent) {
        const Node *node = &s->nodes[i];
        if (!node->on_path)
            node_prepare_response(s, i);
        double *here = up + COLUMN_STEP * node->depth, *there = response + COLUMN_STEP * node->depth;
        v6_store(here, u);
        v6_store(there, v6_matrix(s->responses[i].local, here));
        here[6] = here[7] = there[6] = there[7] = 0.0;
        u = v6_matrix(s->responses[i].pass, here);
        if (at_parent) {
            u = v6_add(u, v6_load(at_parent));
            at_parent = NULL;
        }
    }
    return group->first;
}

// Six impulses at a node: the unit ones, or the rows that touch it.
static int columns_add(DirectScratch *s, int node_index, const double starts[6][6])
{
    const ColumnGroup *group = group_add(s, node_index, 6);
    int size = COLUMN_STEP * (s->nodes[node_index].depth + 1);
    double *up = s->up + group->start, *response = s->response_up + group->response;
    V6 u[6];
    for (int c = 0; c < 6; c++)
        u[c] = v6_load(starts[c]);
    for (int i = node_index; i >= 0; i = s->nodes[i].parent) {
        const Node *node = &s->nodes[i];
        if (!node->on_path)
            node_prepare_response(s, i);
        const Response *r = &s->responses[i];
        double *block = response + 36 * node->depth;
        for (int c = 0; c < 6; c++) {
            double *here = up + c * size + COLUMN_STEP * node->depth, there[6];
            v6_store(here, u[c]);
            here[6] = here[7] = 0.0;
            v6_store(there, v6_matrix(r->local, here));
            for (int k = 0; k < 6; k++)
                block[6 * k + c] = there[k];
            u[c] = v6_matrix(r->pass, here);
        }
    }
    return group->first;
}

static double row_scale(const SolverBody *body, const double *j)
{
    double linear = j[0] * j[0] + j[1] * j[1] + j[2] * j[2], angular = j[3] * j[3] + j[4] * j[4] + j[5] * j[5];
    return linear / body->mass + angular / (body->inertia[0] + body->inertia[4] + body->inertia[8]);
}

// Both ends of one link lie on the same way to the root: one column carries them.
static bool row_is_of_link(const DirectScratch *s, const DenseRow *row)
{
    int a = row->nodes[0], b = row->nodes[1];
    return a >= 0 && b >= 0 && (s->nodes[a].parent == b || s->nodes[b].parent == a);
}

// A body that many rows touch gets columns for its six directions; one that few touch, a column for each of them.
static void row_side_column(DirectScratch *s, DenseRow *row, int side, int index)
{
    static const double units[6][6] = { { 1 }, { 0, 1 }, { 0, 0, 1 }, { 0, 0, 0, 1 }, { 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0, 1 } };
    int node = row->nodes[side];
    bool many = s->side_count[node] > 6;
    if (s->first_column[node] < 0 && many) {
        s->first_column[node] = columns_add(s, node, units);
    } else if (s->first_column[node] < 0) {
        // This row and the coming ones; those of a link are not counted here, as both its ends share a column.
        double starts[6][6] = { { 0 } };
        int count = 0;
        for (int i = index; i < s->dense_count && count < 6; i++)
            for (int k = 0; k < 2 && count < 6; k++)
                if (s->dense[i].nodes[k] == node && !row_is_of_link(s, &s->dense[i]) && (i > index || k >= side))
                    memcpy(starts[count++], s->dense[i].j[k], sizeof starts[0]);
        s->first_column[node] = columns_add(s, node, starts);
        s->side_count[node] = 0;
    }
    if (many) {
        row->columns[side] = s->first_column[node];
        row->widths[side] = 6;
        memcpy(row->coefficients[side], row->j[side], sizeof row->j[side]);
        return;
    }
    row->columns[side] = s->first_column[node] - s->side_count[node]--;  // the count runs 0, -1, ...: the next of the six
    row->widths[side] = 1;
    row->coefficients[side][0] = 1.0;
}

static __attribute__((noinline)) void columns_build(DirectScratch *s, const SolverInput *input)
{
    memory_grow(&s->responses, &s->path_capacity, s->node_count, sizeof *s->responses);
    memory_grow(&s->first_column, &s->first_column_capacity, s->node_count, sizeof *s->first_column);
    memory_grow(&s->side_count, &s->side_capacity, s->node_count, sizeof *s->side_count);
    for (int i = 0; i < s->node_count; i++)
        s->first_column[i] = -1, s->side_count[i] = 0;
    s->column_count = s->group_count = s->up_count = s->response_count = 0;
    for (int i = 0; i < s->dense_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->dense[i].nodes[k] >= 0 && !row_is_of_link(s, &s->dense[i]))
                s->side_count[s->dense[i].nodes[k]]++;
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        row->columns[0] = row->columns[1] = -1;
        row->scale = 0.0;
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0)
                row->scale += row_scale(&input->bodies[s->nodes[row->nodes[k]].body], row->j[k]);
        if (row_is_of_link(s, row)) {
            int child = s->nodes[row->nodes[0]].parent == row->nodes[1] ? 0 : 1;
            row->columns[0] = column_add(s, row->nodes[child], row->j[child], row->j[1 - child]);
            row->widths[0] = 1;
            row->coefficients[0][0] = 1.0;
            continue;
        }
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0)
                row_side_column(s, row, k, i);
    }
}

static inline double dot(const double *a, const double *b, int n)
{
    V4 sum = { 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        sum += *(const V4 *)(a + i) * *(const V4 *)(b + i);
    double rest = 0.0;
    for (; i < n; i++)
        rest += a[i] * b[i];
    return ((sum[0] + sum[2]) + (sum[1] + sum[3])) + rest;
}

static int common_depth(const DirectScratch *s, int a, int b)
{
    while (a != b) {
        if (a > b)  // parents stand before children
            a = s->nodes[a].parent;
        else
            b = s->nodes[b].parent;
        if (a < 0 || b < 0)
            return -1;
    }
    return s->nodes[a].depth;
}

static inline double dot_steps(const double *a, const double *b, int steps)
{
    V4 low = { 0 }, high = { 0 };
    for (int i = 0; i < steps; i++, a += COLUMN_STEP, b += COLUMN_STEP) {
        low += *(const V4 *)a * *(const V4 *)b;
        high += *(const V4 *)(a + 4) * *(const V4 *)(b + 4);
    }
    low += high;
    return (low[0] + low[2]) + (low[1] + low[3]);
}

// Responses of one column to the six columns of a group, over the nodes that both pass.
static inline V6 gram_six(const double *up, const double *response, int steps)
{
    V6 sum = { 0 };
    for (int i = 0; i < steps; i++, up += COLUMN_STEP, response += 36)
        for (int k = 0; k < 6; k++)
            sum = v6_mad(sum, v6_load(response + 6 * k), up[k]);
    return sum;
}

static void gram_pair(const DirectScratch *s, const ColumnGroup *a, const ColumnGroup *b, int steps, int stride)
{
    double *gram = s->gram;
    int size = COLUMN_STEP * (s->nodes[a->node].depth + 1);
    if (a->width == 1 && b->width == 1) {
        double value = dot_steps(s->up + a->start, s->response_up + b->response, steps);
        gram[a->first * stride + b->first] = gram[b->first * stride + a->first] = value;
        return;
    }
    if (b->width == 1) {
        gram_pair(s, b, a, steps, stride);
        return;
    }
    const double *response = s->response_up + b->response, *up = s->up + a->start;
    for (int i = 0; i < a->width; i++) {
        double six[6], *out = gram + (a->first + i) * stride + b->first, *mirror = gram + b->first * stride + a->first + i;
        V6 value = gram_six(up + i * size, response, steps);
        v6_store(six, value);
        v6_store(out, value);
        for (int k = 0; k < 6; k++)
            mirror[k * stride] = six[k];
    }
}

static __attribute__((noinline)) void gram_build(DirectScratch *s)
{
    int n = s->column_count, stride = (n + 3) & ~3;
    memory_grow(&s->gram, &s->gram_capacity, n * stride + 16, sizeof *s->gram);
    for (int i = 0; i < s->group_count; i++) {
        const ColumnGroup *a = &s->groups[i];
        for (int k = 0; k <= i; k++) {
            const ColumnGroup *b = &s->groups[k];
            gram_pair(s, a, b, a->tree == b->tree ? 1 + common_depth(s, a->node, b->node) : 0, stride);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = n; k < stride; k++)
            s->gram[i * stride + k] = 0.0;
}

static bool row_is_simple(const DenseRow *row)
{
    return (row->columns[0] >= 0 && row->widths[0] == 6 && row->columns[1] < 0) || (row->columns[0] < 0 && row->columns[1] >= 0 && row->widths[1] == 6);
}

// The column that the row is, -1 when it is none.
static int row_is_column(const DenseRow *row)
{
    int side = row->columns[0] < 0;
    return row->columns[side] >= 0 && row->columns[1 - side] < 0 && row->widths[side] == 1 ? row->columns[side] : -1;
}

static void runs_build(DirectScratch *s)
{
    int n = s->dense_count, lanes = 0;
    memory_grow(&s->runs, &s->run_capacity, n, sizeof *s->runs);
    memory_grow(&s->lanes, &s->lane_capacity, 6 * 4 * n + 8, sizeof *s->lanes);
    s->run_count = 0;
    for (int i = 0; i < n;) {
        RowRun *run = &s->runs[s->run_count++];
        *run = (RowRun){ .first = i, .count = 1, .column = -1 };
        const DenseRow *row = &s->dense[i++];
        int column = row_is_column(row);
        if (column >= 0) {
            run->column = column;
            run->coefficients = -1;
            while (i < n && row_is_column(&s->dense[i]) == column + run->count) {
                run->count++;
                i++;
            }
            run->width = (run->count + 3) & ~3;
            continue;
        }
        if (!row_is_simple(row))
            continue;
        run->column = row->columns[row->columns[0] < 0];
        while (i < n && row_is_simple(&s->dense[i]) && s->dense[i].columns[s->dense[i].columns[0] < 0] == run->column) {
            run->count++;
            i++;
        }
        run->width = (run->count + 3) & ~3;
        run->coefficients = lanes;
        for (int c = 0; c < 6; c++)
            for (int k = 0; k < run->width; k++) {
                const DenseRow *one = &s->dense[run->first + k];
                s->lanes[lanes++] = k < run->count ? one->coefficients[one->columns[0] < 0][c] : 0.0;
            }
    }
}

// product = gram times the coefficients of one row
static inline void row_product(const double *gram, int stride, const DenseRow *row, double *product)
{
    int side = row->columns[0] < 0;
    if (row_is_simple(row)) {
        const double *c = row->coefficients[side], *g = gram + row->columns[side] * stride;
        double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];
        for (int q = 0; q < stride; q += 4) {
            const double *at = g + q;
            V4 sum = *(const V4 *)at * c0;
            sum += *(const V4 *)(at + stride) * c1;
            sum += *(const V4 *)(at + 2 * stride) * c2;
            sum += *(const V4 *)(at + 3 * stride) * c3;
            sum += *(const V4 *)(at + 4 * stride) * c4;
            sum += *(const V4 *)(at + 5 * stride) * c5;
            *(V4 *)(product + q) = sum;
        }
        return;
    }
    for (int q = 0; q < stride; q += 4) {
        V4 sum = { 0 };
        for (side = 0; side < 2; side++)
            for (int c = 0; row->columns[side] >= 0 && c < row->widths[side]; c++)
                sum += *(const V4 *)(gram + (row->columns[side] + c) * stride + q) * row->coefficients[side][c];
        *(V4 *)(product + q) = sum;
    }
}

static double entry(const DenseRow *row, const double *product)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        if (row->columns[side] < 0)
            continue;
        const double *at = product + row->columns[side];
        sum += row->widths[side] == 1 ? at[0] : v6_dot(v6_load(row->coefficients[side]), v6_load(at));
    }
    return sum;
}

static __attribute__((noinline)) void matrix_build(DirectScratch *s, int stride)
{
    int n = s->dense_count, columns = (s->column_count + 3) & ~3, run_count = s->run_count;
    memory_grow(&s->matrix, &s->matrix_capacity, n * stride + 8, sizeof *s->matrix);
    memory_grow(&s->product, &s->product_capacity, columns + 16, sizeof *s->product);
    const double *lanes = s->lanes;
    const RowRun *runs = s->runs;
    const DenseRow *rows = s->dense;
    for (int i = 0; i < n; i++) {
        const double *product = s->gram + row_is_column(&rows[i]) * columns;
        if (row_is_column(&rows[i]) < 0) {
            row_product(s->gram, columns, &rows[i], s->product);
            product = s->product;
        }
        double *out = s->matrix + (size_t)i * (size_t)stride;
        for (int r = 0; r < run_count; r++) {
            const RowRun *run = &runs[r];
            if (run->column < 0) {
                out[run->first] = entry(&rows[run->first], product);
                continue;
            }
            if (run->coefficients < 0) {
                for (int k = 0; k < run->width; k += 4)
                    *(V4 *)(out + run->first + k) = *(const V4 *)(product + run->column + k);
                continue;
            }
            // A run's last lanes may spill over the next rows' places, which are written after it.
            const double *p = product + run->column, *c = lanes + run->coefficients;
            int width = run->width;
            double p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3], p4 = p[4], p5 = p[5], *to = out + run->first;
            for (int k = 0; k < width; k += 4, c += 4) {
                V4 sum = *(const V4 *)c * p0;
                sum += *(const V4 *)(c + width) * p1;
                sum += *(const V4 *)(c + 2 * width) * p2;
                sum += *(const V4 *)(c + 3 * width) * p3;
                sum += *(const V4 *)(c + 4 * width) * p4;
                sum += *(const V4 *)(c + 5 * width) * p5;
                *(V4 *)(to + k) = sum;
            }
        }
        // A row that the tree already holds feels only rounding: give it a stiffness to divide by.
        if (!(out[i] > 1e-11 * rows[i].scale)) {
            out[i] = rows[i].scale;
            s->redundant++;
        }
        out[i] += rows[i].gamma;
        for (int j = n; j < stride; j++)
            out[j] = 0.0;
    }
}

// ---- the bounded problem ----

// Rows at a bound act on the free ones as given impulses. Those at zero act on nobody.
static int held_rows(DirectScratch *s, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (s->state[i] != ROW_FREE && s->x[i] != 0.0)
            s->held[count++] = i;
    return count;
}

static int free_rows_gather(DirectScratch *s, int n, int stride)
{
    int m = 0, held = held_rows(s, n);
    for (int i = 0; i < n; i++)
        if (s->state[i] == ROW_FREE)
            s->index[m++] = i;
    int width = (m + 3) & ~3;
    for (int a = 0; a < m; a++) {
        const double *row = s->matrix + (size_t)s->index[a] * (size_t)stride;
        double *ua = s->factor + (size_t)a * (size_t)stride, sum = s->rhs[s->index[a]];
        if (m == n) {
            for (int b = a & ~3; b < width; b += 4)
                *(V4 *)(ua + b) = *(const V4 *)(row + b);
        } else {
            for (int b = a; b < m; b++)
                ua[b] = row[s->index[b]];
            for (int b = m; b < width; b++)
                ua[b] = 0.0;
            for (int b = a & ~3; b < a; b++)
                ua[b] = 0.0;
        }
        for (int k = 0; k < held; k++)
            sum -= row[s->held[k]] * s->x[s->held[k]];
        s->work[a] = sum;
    }
    return m;
}

// Solves for the free rows with the others held. Rows of U in U' D U are worked on four numbers at a time from the last
// multiple of four before the diagonal; what stands left of the diagonal is never read.
static void panel_factor(DirectScratch *s, int k, int end, int width, int stride)
{
    double *u = s->factor, *y = s->work;
    for (int r = k; r < end; r++) {
        double *ur = u + (size_t)r * (size_t)stride;
        for (int q = k; q < r; q++) {
            const double *uq = u + (size_t)q * (size_t)stride;
            double factor = uq[r] * s->reciprocal[q];
            y[r] -= factor * y[q];
            for (int j = r & ~3; j < width; j += 4)
                *(V4 *)(ur + j) -= factor * *(const V4 *)(uq + j);
        }
        double diagonal = s->matrix[(size_t)s->index[r] * (size_t)stride + (size_t)s->index[r]];
        bool counts = ur[r] > 1e-12 * diagonal;
        s->reciprocal[r] = counts ? 1.0 / ur[r] : 0.0;
        s->redundant += !counts;
    }
}

// Four rows at a time are finished and then taken from all that follow.
static void free_rows_solve(DirectScratch *s, int n, int stride)
{
    int m = free_rows_gather(s, n, stride), width = (m + 3) & ~3;
    double *u = s->factor, *y = s->work;
    for (int k = 0; k < m; k += 4) {
        panel_factor(s, k, int_min(k + 4, m), width, stride);
        const double *u0 = u + (size_t)k * (size_t)stride, *u1 = u0 + stride, *u2 = u1 + stride, *u3 = u2 + stride;
        const double *r = s->reciprocal + k, *yk = y + k;
        for (int i = k + 4; i < m; i++) {
            double f0 = u0[i] * r[0], f1 = u1[i] * r[1], f2 = u2[i] * r[2], f3 = u3[i] * r[3];
            if (f0 == 0.0 && f1 == 0.0 && f2 == 0.0 && f3 == 0.0)
                continue;
            double *ui = u + (size_t)i * (size_t)stride;
            y[i] -= (f0 * yk[0] + f1 * yk[1]) + (f2 * yk[2] + f3 * yk[3]);
            for (int j = i & ~3; j < width; j += 4)
                *(V4 *)(ui + j) -= (f0 * *(const V4 *)(u0 + j) + f1 * *(const V4 *)(u1 + j))
                                 + (f2 * *(const V4 *)(u2 + j) + f3 * *(const V4 *)(u3 + j));
        }
    }
    for (int k = m; k < width; k++)
        y[k] = 0.0;
    for (int k = m - 1; k >= 0; k--) {
        const double *uk = u + (size_t)k * (size_t)stride;
        double sum = y[k];
        int j = k + 1;
        for (; j < width && (j & 3); j++)
            sum -= uk[j] * y[j];
        if (j < width) {
            V4 four = { 0 };
            for (; j < width; j += 4)
                four += *(const V4 *)(uk + j) * *(const V4 *)(y + j);
            sum -= (four[0] + four[2]) + (four[1] + four[3]);
        }
        y[k] = sum * s->reciprocal[k];
    }
    for (int a = 0; a < m; a++)
        s->x[s->index[a]] = y[a];
}

// Which state the current solution asks of row i; equal to the present one when it is content.
static inline int wanted_state(const DirectScratch *s, int i, int stride, double tolerance, double scale)
{
    if (s->lo[i] == s->hi[i])
        return s->state[i] == ROW_FREE ? ROW_LOW : s->state[i];
    if (s->state[i] == ROW_FREE) {
        double slack = SLACK * (fabs(s->x[i]) + scale);
        return s->x[i] < s->lo[i] - slack ? ROW_LOW : s->x[i] > s->hi[i] + slack ? ROW_HIGH : ROW_FREE;
    }
    double gradient = dot(s->matrix + (size_t)i * (size_t)stride, s->x, stride) - s->rhs[i];
    if (s->state[i] == ROW_LOW)
        return gradient < -tolerance ? ROW_FREE : ROW_LOW;
    return gradient > tolerance ? ROW_FREE : ROW_HIGH;
}

static void hold_bound_rows(DirectScratch *s, int n)
{
    for (int i = 0; i < n; i++)
        if (s->state[i] != ROW_FREE)
            s->x[i] = s->state[i] == ROW_LOW ? s->lo[i] : s->hi[i];
}

// Projected Gauss-Seidel from where pivoting stopped: ends always, with a residual.
static void fallback_sweeps(DirectScratch *s, int n, int stride)
{
    for (int i = 0; i < n; i++)
        s->x[i] = isfinite(s->x[i]) ? double_clamp(s->x[i], s->lo[i], s->hi[i]) : double_clamp(0.0, s->lo[i], s->hi[i]);
    for (int sweep = 0; sweep < FALLBACK_SWEEPS; sweep++) {
        for (int i = 0; i < n; i++) {
            const double *row = s->matrix + (size_t)i * (size_t)stride;
            double diagonal = row[i] * (1.0 + 1e-9) + 1e-300;
            s->x[i] = double_clamp(s->x[i] + (s->rhs[i] - dot(row, s->x, stride)) / diagonal, s->lo[i], s->hi[i]);
        }
    }
    for (int i = 0; i < n; i++)
        s->state[i] = s->x[i] <= s->lo[i] ? ROW_LOW : s->x[i] >= s->hi[i] ? ROW_HIGH : ROW_FREE;
}

static void bounded_solve(DirectScratch *s, int n, int stride, IslandStatistics *statistics)
{
    double scale = 0.0;
    for (int i = 0; i < n; i++)
        scale = fabs(s->rhs[i]) > scale ? fabs(s->rhs[i]) : scale;
    double tolerance = SLACK * (scale + 1e-9);
    int best = n + 1, patience = 5;
    for (int round = 0; round < PIVOT_LIMIT; round++) {
        statistics->pivot_rounds++;
        hold_bound_rows(s, n);
        free_rows_solve(s, n, stride);
        int unhappy = 0, last = -1;
        double most = 0.0;
        for (int i = 0; i < n; i++)
            most = fabs(s->x[i]) > most ? fabs(s->x[i]) : most;
        for (int i = 0; i < n; i++) {
            int wanted = wanted_state(s, i, stride, tolerance, most);
            s->index[i] = wanted;
            if (wanted != s->state[i])
                unhappy++, last = i;
        }
        if (unhappy == 0)
            return;
        bool all = true;
        if (unhappy < best) {
            best = unhappy;
            patience = 5;
        } else if (patience > 0) {
            patience--;
        } else {
            all = false;  // one at a time, the last in order: this cannot cycle
        }
        for (int i = all ? 0 : last; i <= last; i++)
            s->state[i] = (int8_t)s->index[i];
    }
    statistics->fallbacks++;
    fallback_sweeps(s, n, stride);
}

static void dense_reserve(DirectScratch *s, int n, int stride)
{
    memory_grow(&s->factor, &s->factor_matrix_capacity, n * stride, sizeof *s->factor);
    memory_grow(&s->rhs, &s->rhs_capacity, stride, sizeof *s->rhs);
    memory_grow(&s->x, &s->x_capacity, stride, sizeof *s->x);
    memory_grow(&s->lo, &s->lo_capacity, stride, sizeof *s->lo);
    memory_grow(&s->hi, &s->hi_capacity, stride, sizeof *s->hi);
    memory_grow(&s->work, &s->work_capacity, stride, sizeof *s->work);
    memory_grow(&s->reciprocal, &s->reciprocal_capacity, stride, sizeof *s->reciprocal);
    memory_grow(&s->state, &s->state_capacity, stride, sizeof *s->state);
    memory_grow(&s->index, &s->index_capacity, stride, sizeof *s->index);
    memory_grow(&s->held, &s->held_capacity, stride, sizeof *s->held);
}

static __attribute__((noinline)) void dense_solve(DirectScratch *s, const SolverInput *input, IslandStatistics *statistics)
{
    int n = s->dense_count, stride = (n + 3) & ~3;
    bool friction = false;
    dense_reserve(s, n, stride);
    columns_build(s, input);
    gram_build(s);
    runs_build(s);
    matrix_build(s, stride);
    for (int i = 0; i < n; i++) {
        const DenseRow *row = &s->dense[i];
        double now = 0.0;
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0)
                now += v6_dot(v6_load(row->j[k]), v6_load(s->nodes[row->nodes[k]].velocity));
        s->rhs[i] = row->rhs - now;
        s->x[i] = 0.0;
        bool scaled = row->scaled_by >= 0;
        friction |= scaled;
        s->lo[i] = scaled ? 0.0 : row->lo;
        s->hi[i] = scaled ? 0.0 : row->hi;
        bool unbounded = row->lo == -SOLVER_INFINITY && row->hi == SOLVER_INFINITY;
        s->state[i] = scaled ? ROW_LOW : row->state && !unbounded ? *row->state : ROW_FREE;
        if ((s->state[i] == ROW_LOW && s->lo[i] == -SOLVER_INFINITY) || (s->state[i] == ROW_HIGH && s->hi[i] == SOLVER_INFINITY))
            s->state[i] = ROW_FREE;
    }
    for (int i = n; i < stride; i++)
        s->x[i] = 0.0;
    bounded_solve(s, n, stride, statistics);
    if (friction) {
        for (int i = 0; i < n; i++) {
            const DenseRow *row = &s->dense[i];
            if (row->scaled_by < 0)
                continue;
            double normal = fabs(s->x[row->scaled_by]);
            s->hi[i] = normal > 0.0 ? row->hi * normal : 0.0;
            s->lo[i] = normal > 0.0 ? row->lo * normal : 0.0;
            s->state[i] = s->hi[i] == 0.0 ? ROW_LOW : row->state ? *row->state : ROW_FREE;
            if (s->hi[i] == SOLVER_INFINITY)
                s->state[i] = ROW_FREE;
        }
        bounded_solve(s, n, stride, statistics);
    }
    for (int i = 0; i < n; i++)
        if (s->dense[i].state)
            *s->dense[i].state = s->state[i];
}

// ---- the island ----

static __attribute__((noinline)) void contacts_add(DirectScratch *s, IslandTask *task)
{
    const SolverInput *input = task->input;
    for (int c = 0; c < task->contact_count; c++) {
        int index = task->contacts[c];
        SolverContact *contact = &input->contacts[index];
        ContactMemory *memory = &task->contact_memory[index];
        ContactRow rows[SOLVER_CONTACT_ROWS];
        int count = solver_contact_rows(input, contact, rows), normal = s->dense_count;
        int bodies[2] = { contact->body1, contact->body2 }, nodes[2];
        for (int k = 0; k < 2; k++)
            nodes[k] = bodies[k] >= 0 && !solver_body_is_fixed(&input->bodies[bodies[k]]) ? task->node_of_body[bodies[k]] : -1;
        memory_grow(&s->dense, &s->dense_capacity, s->dense_count + count, sizeof *s->dense);
        for (int i = 0; i < count; i++) {
            DenseRow *dense = &s->dense[s->dense_count++];
            const ContactRow *row = &rows[i];
            dense->rhs = row->rhs;
            dense->gamma = row->cfm / input->dt;
            dense->scaled_by = row->scaled ? normal : -1;
            dense->lo = row->scaled ? row->lo : row->lo * input->dt;
            dense->hi = row->scaled ? row->hi : row->hi * input->dt;
            dense->force = &contact->force[row->slot];
            dense->state = &memory->state[row->slot];
            dense->kept = &memory->impulse[row->slot];
            dense->memory = NULL;
            memcpy(dense->j[0], row->j1, sizeof row->j1);
            memcpy(dense->j[1], row->j2, sizeof row->j2);
            for (int k = 0; k < 2; k++) {
                dense->nodes[k] = nodes[k];
                if (nodes[k] < 0)
                    dense->rhs -= fixed_side_velocity(input, bodies[k], dense->j[k]);
            }
        }
    }
}

static __attribute__((noinline)) void dense_apply(DirectScratch *s)
{
    for (int i = 0; i < s->node_count; i++)
        memset(s->nodes[i].momentum, 0, sizeof s->nodes[i].momentum);
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0) {
                double *b = s->nodes[row->nodes[k]].momentum;
                v6_store(b, v6_mad(v6_load(b), v6_load(row->j[k]), s->x[i]));
            }
    }
    tree_solve_change(s);
}

// Motors solved as equations that came out stronger than they may move to the dense problem. True when one did.
static bool motors_exceed(DirectScratch *s, double dt)
{
    bool any = false;
    for (int i = 0; i < s->motor_count; i++) {
        const TreeMotor *motor = &s->motors[i];
        const SolverRow *row = s->nodes[motor->node].rows[motor->row];
        double force = s->nodes[motor->node].impulse[motor->row] / dt, slack = 1e-9 * (fabs(force) + 1e-9);
        bool high = force > row->hi + slack, low = force < row->lo - slack;
        if (!high && !low)
            continue;
        motor->memory->dense = MOTOR_DENSE_STEPS;
        motor->memory->state = high ? ROW_HIGH : ROW_LOW;
        any = true;
    }
    return any;
}

static void motors_all_dense(DirectScratch *s)
{
    for (int i = 0; i < s->motor_count; i++)
        s->motors[i].memory->dense = MOTOR_DENSE_STEPS;
}

static __attribute__((noinline)) void island_write(DirectScratch *s, IslandTask *task)
{
    double fps = 1.0 / task->input->dt;
    for (int i = 0; i < s->node_count; i++) {
        const Node *node = &s->nodes[i];
        memcpy(task->input->bodies[node->body].velocity, node->velocity, sizeof node->velocity);
        for (int r = 0; r < node->row_count; r++)
            node->rows[r]->force = node->impulse[r] * fps;
    }
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        *row->force = s->x[i] * fps;
        if (row->kept)
            *row->kept = s->x[i];
        if (!row->memory || row->memory->dense == 0)
            continue;
        if (s->state[i] == ROW_FREE)
            row->memory->dense--;
        else
            row->memory->dense = MOTOR_DENSE_STEPS;
    }
}

void SOLVER_VARIANT(DirectScratch *s, IslandTask *task)
{
    s->redundant = 0;
    for (int attempt = 0;; attempt++) {
        tree_build(s, task);
        contacts_add(s, task);
        tree_factor(s, task->input->dt);
        tree_solve_free(s);
        if (s->dense_count > 0) {
            dense_solve(s, task->input, &task->statistics);
            dense_apply(s);
        }
        if (attempt == RESTART_LIMIT || !motors_exceed(s, task->input->dt))
            break;
        task->statistics.restarts++;
        if (attempt == RESTART_LIMIT - 1)
            motors_all_dense(s);
    }
    task->statistics.dense_rows = s->dense_count;
    task->statistics.redundant = s->redundant;
    island_write(s, task);
}
