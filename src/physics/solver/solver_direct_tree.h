// solver_direct_tree.h - the joint tree: its nodes and their equations, masses and momenta up, velocities down.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_TREE_H
#define TALUS_PHYSICS_SOLVER_DIRECT_TREE_H

#include "physics/solver/solver_direct_link.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

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
            world[3 * i + j] = world[3 * j + i] = half[3 * i] * r[3 * j] + half[3 * i + 1] * r[3 * j + 1]
                                                  + half[3 * i + 2] * r[3 * j + 2];
    for (int i = 0; i < 3; i++) {
        spatial_store(m + SPATIAL * i, (Spatial){ { 0 }, { 0 } });
        spatial_store(m + SPATIAL * (3 + i),
                      (Spatial){ { 0 }, v4_three(world[3 * i], world[3 * i + 1], world[3 * i + 2]) });
        m[SPATIAL * i + i] = body->mass;
    }
    bool falls = (body->flags & SOLVER_BODY_GRAVITY) != 0;
    double l[3];
    for (int i = 0; i < 3; i++) {
        b[i] = body->mass * (body->velocity[i] + (falls ? dt * input->gravity[i] : 0.0)) + dt * body->force[i];
        l[i] = world[3 * i] * w[0] + world[3 * i + 1] * w[1] + world[3 * i + 2] * w[2];
    }
    if (body->flags & SOLVER_BODY_GYROSCOPIC) {
        // The momentum L becomes I (I - dt [L]x)^-1 L: the implicit gyroscopic torque that ODE adds.
        double lx = dt * l[0], ly = dt * l[1], lz = dt * l[2];
        double a00 = world[0], a01 = world[1] + lz, a02 = world[2] - ly;
        double a10 = world[3] - lz, a11 = world[4], a12 = world[5] + lx;
        double a20 = world[6] + ly, a21 = world[7] - lx, a22 = world[8];
        double c0 = a11 * a22 - a12 * a21, c1 = a12 * a20 - a10 * a22, c2 = a10 * a21 - a11 * a20;
        double determinant = a00 * c0 + a01 * c1 + a02 * c2;
        if (determinant != 0.0) {
            double s = 1.0 / determinant, y[3];
            y[0] = (c0 * l[0] + (a02 * a21 - a01 * a22) * l[1] + (a01 * a12 - a02 * a11) * l[2]) * s;
            y[1] = (c1 * l[0] + (a00 * a22 - a02 * a20) * l[1] + (a02 * a10 - a00 * a12) * l[2]) * s;
            y[2] = (c2 * l[0] + (a01 * a20 - a00 * a21) * l[1] + (a00 * a11 - a01 * a10) * l[2]) * s;
            for (int i = 0; i < 3; i++)
                l[i] = world[3 * i] * y[0] + world[3 * i + 1] * y[1] + world[3 * i + 2] * y[2];
        }
    }
    for (int i = 0; i < 3; i++)
        b[4 + i] = l[i] + dt * body->force[3 + i];
    b[3] = b[7] = 0.0;
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
    dense->memory = row_index < SOLVER_JOINT_ROWS ? &task->row_memory[joint_index * SOLVER_JOINT_ROWS + row_index]
                                                  : NULL;
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
        spatial_pack(dense->j[k], sides[k]);
        if (!moves)
            dense->rhs -= fixed_side_velocity(input, bodies[k], sides[k]);
    }
}

static inline bool row_is_bounded(const SolverRow *row)
{
    return row->lo != -SOLVER_INFINITY || row->hi != SOLVER_INFINITY;
}

// Whether a row with bounds, of a motor, is tried as the equation `at`: that depends on what it did before.
static bool motor_goes_to_tree(DirectScratch *s, const IslandTask *task, const SolverRow *row, const Node *node, int at,
                               int joint, int index)
{
    if (row->friction_of >= 0 || !(row->lo < 0.0 && row->hi > 0.0) || row->lo == -SOLVER_INFINITY
        || row->hi == SOLVER_INFINITY || index >= SOLVER_JOINT_ROWS)
        return false;
    RowMemory *memory = &task->row_memory[joint * SOLVER_JOINT_ROWS + index];
    if (memory->dense > 0)
        return false;
    memory_grow(&s->motors, &s->motor_capacity, s->motor_count + 1, sizeof *s->motors);
    s->motors[s->motor_count++] = (TreeMotor){ (int)(node - s->nodes), at, memory };
    return true;
}

// Whether the first three rows are the velocity of a point, along each axis as much of the one body as of the other's
// opposite, and all others turn: balls, hinges, universal and fixed joints.
static inline bool joint_holds_point(const SolverJoint *joint, const SolverRow *rows)
{
    double k = rows[0].j1[0], o = joint->body2 < 0 ? 0.0 : -k;
    // The fourth lanes are angular numbers of the rows and may be any.
    I4 wrong = (v4_load(rows[0].j1) != (V4){ k }) | (v4_load(rows[1].j1) != (V4){ 0.0, k })
               | (v4_load(rows[2].j1) != (V4){ 0.0, 0.0, k }) | (v4_load(rows[0].j2) != (V4){ o })
               | (v4_load(rows[1].j2) != (V4){ 0.0, o }) | (v4_load(rows[2].j2) != (V4){ 0.0, 0.0, o });
    for (int i = 3; i < joint->row_count; i++)
        wrong |= (v4_load(rows[i].j1) != (V4){ 0 }) | (v4_load(rows[i].j2) != (V4){ 0 });
    return (wrong[0] | wrong[1] | wrong[2]) == 0;
}

static inline void node_take_row(const SolverInput *input, Node *node, int at, SolverRow *row, LinkJoint link)
{
    double *rhs = &node->rhs[spatial_place(at)];
    node->rows[at] = row;
    node->row_count++;
    node->flipped |= (uint8_t)(link.child_is_body2 << at);
    *rhs = row->rhs;
    if (node->parent >= 0)
        return;
    const SolverJoint *joint = &input->joints[link.joint];
    *rhs -= fixed_side_velocity(input, link.child_is_body2 ? joint->body1 : joint->body2,
                                link.child_is_body2 ? row->j1 : row->j2);
}

static void node_add_joint(DirectScratch *s, IslandTask *task, Node *node, LinkJoint link, bool is_only)
{
    const SolverInput *input = task->input;
    const SolverJoint *joint = &input->joints[link.joint];
    SolverRow *rows = &input->rows[joint->first_row];
    int base = s->dense_count, at = node->row_count, end = LINK_ROWS, taken = 0, free_count = 0;
    while (free_count < joint->row_count && !row_is_bounded(&rows[free_count]))
        free_count++;
    // A row that scales with another needs the other beside it, so such joints go to the dense problem whole.
    bool scaled = false;
    for (int i = free_count; i < joint->row_count; i++)
        scaled |= rows[i].friction_of >= 0;
    if (is_only && !scaled && free_count >= 3 && joint_holds_point(joint, rows)) {
        node->holds_point = true;
        for (; taken < 3; taken++)
            node_take_row(input, node, 3 + taken, &rows[taken], link);
        end = 3;
    }
    for (int i = taken; i < joint->row_count; i++) {
        bool goes = !scaled && at < end
                    && (i < free_count || !row_is_bounded(&rows[i])
                        || motor_goes_to_tree(s, task, &rows[i], node, at, link.joint, i));
        if (goes)
            node_take_row(input, node, at++, &rows[i], link);
        else
            dense_joint_row(s, task, link.joint, i, base);
    }
}

static void node_start(DirectScratch *s, Node *node, const TreeLink *link, int first_node, int first_link)
{
    node->body = link->body;
    node->parent = link->parent < 0 ? -1 : first_node + link->parent - first_link;
    node->depth = node->parent < 0 ? 0 : s->nodes[node->parent].depth + 1;
    node->on_path = node->is_meeting = node->holds_point = false;
    node->row_count = 0;
    node->flipped = 0;
    memset(node->rows, 0, sizeof node->rows);
    memset(node->rhs, 0, sizeof node->rhs);
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
            node_start(s, node, link, first_node, group->first);
            node->tree = g;
            node_load_body(node, &input->bodies[link->body], input);
            for (int k = 0; k < link->joint_count; k++)
                node_add_joint(s, task, node, topology->link_joints[link->first_joint + k], link->joint_count == 1);
        }
        for (int k = 0; k < group->cut_count; k++) {
            int joint = topology->cut_joints[group->first_cut + k];
            for (int i = 0, base = s->dense_count; i < input->joints[joint].row_count; i++)
                dense_joint_row(s, task, joint, i, base);
        }
    }
}

// ---- momenta up, velocities down ----

// The node's momentum goes over its link to the parent; `t` keeps what the way down needs. With `change`, momenta are
// impulses added to a solved tree.
static inline __attribute__((always_inline)) void node_solve_up(DirectScratch *s, Node *node, bool change, int turns)
{
    Spatial b = spatial_load(node->momentum), t = { { 0 }, { 0 } };
    double u[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++) {
        if (is_left_out(r, turns))
            continue;
        u[r] = (change ? 0.0 : node->rhs[spatial_place(r)]) - spatial_dot(spatial_load(node->y + SPATIAL * r), b);
        t = spatial_mad(t, spatial_load(node->s + SPATIAL * r), u[r]);
    }
    spatial_store(node->t, t);
    if (node->parent < 0)
        return;
    double *up = s->nodes[node->parent].momentum;
    Spatial sum = spatial_load(up);
    for (int r = 0; r < LINK_ROWS; r++)
        if (!is_left_out(r, turns))
            sum = spatial_mad(sum, spatial_load(node->x + SPATIAL * r), u[r]);
    spatial_store(up, sum);
}

static inline __attribute__((always_inline)) void node_factor(DirectScratch *s, Node *node, double fps,
                                                              bool holds_point, int turns)
{
    LinkSides sides = node_sides(node);
    if (holds_point)
        point_couple(s, node, &sides, fps, turns);
    else
        link_couple(s, node, &sides, fps);
    if (node->parent >= 0 && holds_point)
        point_pass(node, &sides, s->nodes[node->parent].inverse, turns);
    else if (node->parent >= 0)
        link_pass(node, &sides, s->nodes[node->parent].inverse);
    node_solve_up(s, node, false, turns);
}

// From the leaves up: masses and, while they are at hand, momenta.
static __attribute__((noinline)) void tree_factor(DirectScratch *s, double dt)
{
    double fps = 1.0 / dt;
    for (int i = s->node_count - 1; i >= 0; i--) {
        Node *node = &s->nodes[i];
        mass_invert(node->inverse);
        if (node->row_count == 0)
            continue;
        if (!node->holds_point)
            node_factor(s, node, fps, false, 3);
        else if (node->rows[2])
            node_factor(s, node, fps, true, 3);
        else
            node_factor(s, node, fps, true, 2);
    }
}

// Velocities down. With `change` they are added to those of the solved tree; then only nodes on a row's way to the root
// have felt impulses.
static inline __attribute__((always_inline)) void tree_solve_down(DirectScratch *s, bool change)
{
    for (int i = 0; i < s->node_count; i++) {
        Node *node = &s->nodes[i];
        const bool is_pushed = !change || node->on_path;
        const Spatial none = { { 0 }, { 0 } };
        Spatial v = is_pushed ? spatial_matrix(node->inverse, node->momentum) : none;
        if (node->row_count > 0) {
            double t[SPATIAL];
            spatial_store(t, is_pushed ? spatial_load(node->t) : none);
            if (node->parent >= 0) {
                // With `change` the parent's momentum slot holds its change of velocity by now.
                const Node *parent = &s->nodes[node->parent];
                Spatial above = spatial_load(change ? parent->momentum : parent->velocity);
                for (int r = 0; r < LINK_ROWS; r++)
                    t[spatial_place(r)] -= spatial_dot(spatial_load(node->x + SPATIAL * r), above);
            }
            for (int r = 0; r < LINK_ROWS; r++)
                v = spatial_mad(v, spatial_load(node->y + SPATIAL * r), t[spatial_place(r)]);
            Spatial impulse = spatial_load(t);
            spatial_store(node->impulse, change ? spatial_add(impulse, spatial_load(node->impulse)) : impulse);
        }
        if (change) {
            spatial_store(node->momentum, v);
            v = spatial_add(v, spatial_load(node->velocity));
        }
        spatial_store(node->velocity, v);
    }
}

static __attribute__((noinline)) void tree_solve_free(DirectScratch *s) { tree_solve_down(s, false); }

static __attribute__((noinline)) void tree_solve_change(DirectScratch *s)
{
    for (int i = s->node_count - 1; i >= 0; i--)
        if (s->nodes[i].row_count > 0 && s->nodes[i].on_path)
            node_solve_up(s, &s->nodes[i], true, 3);
    tree_solve_down(s, true);
}

#endif
