// solver_direct_tree.h - the factorisation along the joint tree: masses up, velocities down.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_TREE_H
#define TALUS_PHYSICS_SOLVER_DIRECT_TREE_H

#include "physics/solver_direct.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

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
    // Whole rows are stored because whole rows are loaded next: a load that gathers several stores would wait for them.
    v6_store(m, (V6){ { p.xx, p.xy, p.xz, -u[0] }, { -u[1], -u[2] } });
    v6_store(m + 6, (V6){ { p.xy, p.yy, p.yz, -u[3] }, { -u[4], -u[5] } });
    v6_store(m + 12, (V6){ { p.xz, p.yz, p.zz, -u[6] }, { -u[7], -u[8] } });
    v6_store(m + 18, (V6){ { -u[0], -u[3], -u[6], q.xx }, { q.xy, q.xz } });
    v6_store(m + 24, (V6){ { -u[1], -u[4], -u[7], q.xy }, { q.yy, q.yz } });
    v6_store(m + 30, (V6){ { -u[2], -u[5], -u[8], q.xz }, { q.yz, q.zz } });
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
    for (int i = 0; i < 3; i++) {
        v6_store(m + 6 * i, (V6){ { 0 } });
        v6_store(m + 18 + 6 * i, (V6){ { 0.0, 0.0, 0.0, world[3 * i] }, { world[3 * i + 1], world[3 * i + 2] } });
        m[7 * i] = body->mass;
    }
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

// The last rows of most joints hold directions: nothing of them pushes.
static inline bool turns_only(const double *j)
{
    return (j[0] == 0.0) & (j[1] == 0.0) & (j[2] == 0.0);
}

static inline V6 v6_matrix_lower(const double *columns, const double *x)
{
    V6 s = v6_scale(v6_load(columns + 18), x[3]);
    for (int k = 4; k < 6; k++)
        s = v6_mad(s, v6_load(columns + 6 * k), x[k]);
    return s;
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
        y[r] = r >= 3 && turns_only(jc[r]) ? v6_matrix_lower(node->inverse, jc[r]) : v6_matrix(node->inverse, jc[r]);
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
    bool turns = true;
    for (int r = 3; r < m; r++)
        turns &= turns_only(jp[r]);
    for (int k = 0; k < 6; k++) {
        V6 sum = v6_load(mass + 6 * k);
        for (int r = 0; r < (k < 3 && turns ? 3 : m); r++)
            sum = v6_mad(sum, x[r], jp[r][k]);
        v6_store(mass + 6 * k, sum);
    }
}

// The node's momentum goes over its link to the parent; `t` keeps what the way down needs. With `change`, momenta are
// impulses added to a solved tree.
static inline __attribute__((always_inline)) void node_solve_up(DirectScratch *s, Node *node, bool change)
{
    V6 b = v6_load(node->momentum), t = { 0 };
    double u[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++) {
        u[r] = (change ? 0.0 : node->rhs[r]) - v6_dot(v6_load(node->y + 6 * r), b);
        t = v6_mad(t, v6_load(node->s + 6 * r), u[r]);
    }
    v6_store(node->t, t);
    if (node->parent < 0)
        return;
    double *up = s->nodes[node->parent].momentum;
    V6 sum = v6_load(up);
    for (int r = 0; r < LINK_ROWS; r++)
        sum = v6_mad(sum, v6_load(node->x + 6 * r), u[r]);
    v6_store(up, sum);
}

// From the leaves up: masses and, while they are at hand, momenta.
static __attribute__((noinline)) void tree_factor(DirectScratch *s, double dt)
{
    double fps = 1.0 / dt;
    for (int i = s->node_count - 1; i >= 0; i--) {
        Node *node = &s->nodes[i];
        symmetric_invert(node->inverse, NULL);
        if (node->row_count > 5)
            node_factor(s, node, fps, 6);
        else if (node->row_count > 0)
            node_factor(s, node, fps, 5);
        else
            continue;
        node_solve_up(s, node, false);
    }
}

// Velocities down. With `change` they are added to those of the solved tree.
static inline __attribute__((always_inline)) void tree_solve_down(DirectScratch *s, bool change)
{
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
    tree_solve_down(s, false);
}

static __attribute__((noinline)) void tree_solve_change(DirectScratch *s)
{
    for (int i = s->node_count - 1; i >= 0; i--)
        if (s->nodes[i].row_count > 0)
            node_solve_up(s, &s->nodes[i], true);
    tree_solve_down(s, true);
}


#endif
