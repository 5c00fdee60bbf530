// solver_direct_build.h - the joint tree of an island from its bodies, joints and rows: nodes with their masses,
// momenta and equations, and the rows that are none. A part of solver_direct.c, which is compiled once for each
// instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_BUILD_H
#define TALUS_PHYSICS_SOLVER_DIRECT_BUILD_H

#include "physics/solver/solver_direct_link.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- bodies ----

// Rows of the inertia in the world frame. What stands behind three numbers of a row is of another and goes nowhere: a
// product takes three of the one side, and transposing leaves it out of the other.
INLINE Matrix3 inertia_world(const SolverBody *body, const double *m)
{
    static_assert(offsetof(SolverBody, velocity) == offsetof(SolverBody, rotation) + 9 * sizeof(double), "can be read");
    const double *r = body->rotation;
    const Matrix3 turn = { { v4_load(r), v4_load(r + 3), v4_load(r + 6) } };
    Matrix3 half;
    if (m[1] == 0.0 && m[2] == 0.0 && m[5] == 0.0) {
        const V4 diagonal = { m[0], m[4], m[8], m[8] };
        half = (Matrix3){ { turn.row[0] * diagonal, turn.row[1] * diagonal, turn.row[2] * diagonal } };
    } else {
        Matrix3 inertia = { { v4_load_three(m), v4_load_three(m + 3), v4_three(m[6], m[7], m[8]) } };
        half = matrix3_multiply(turn, inertia);
    }
    return matrix3_multiply(half, matrix3_transpose(turn));
}

// The angular momentum L becomes I (I - dt [L]x)^-1 L: the implicit gyroscopic torque that ODE adds.
INLINE V4 gyroscopic_momentum(Matrix3 inertia, V4 momentum, double dt)
{
    V4 l = momentum * dt;
    const V4 x = { 0.0, 1.0, -1.0 }, y = { -1.0, 0.0, 1.0 }, z = { 1.0, -1.0, 0.0 };
    Matrix3 m = { { inertia.row[0] + __builtin_shufflevector(l, l, 3, 2, 1, 3) * x,
                    inertia.row[1] + __builtin_shufflevector(l, l, 2, 3, 0, 3) * y,
                    inertia.row[2] + __builtin_shufflevector(l, l, 1, 0, 3, 3) * z } };
    Matrix3 cofactors = matrix3_cofactors(m);
    double determinant = v4_dot(m.row[0], cofactors.row[0]);
    if (determinant == 0.0)
        return momentum;
    return matrix3_sum(inertia, matrix3_sum(cofactors, momentum) * (1.0 / determinant));
}

// The last three of six numbers, which stepper_talus.c has just written as four and two: a load across both would wait
// until they are in the cache.
INLINE V4 v4_last_three(const double *six)
{
    const V2 last = *(const V2 *)(six + 4);
    return (V4){ six[3], last[0], last[1], 0.0 };
}

// What bodies that fall gain in a step.
INLINE V4 gravity_gain(const double *gravity, double dt) { return v4_three(gravity[0], gravity[1], gravity[2]) * dt; }

// Mass, and the momentum at the end of the step if nothing held the body. Vectors of the body are loaded with a number
// that stands behind them, which the sums leave out in the end.
INLINE void node_load_body(Node *node, const SolverBody *body, const SolverMass *masses, V4 gain, double dt)
{
    const V4 none = { 0 };
    const double mass = masses->mass;
    const Matrix3 inertia = inertia_world(body, masses->inertia.m);
    V4 velocity = v4_load(body->velocity), force = v4_load(body->force);
    const V4 torque = v4_last_three(body->force);
    if (body->flags & SOLVER_BODY_GRAVITY)
        velocity += gain;
    V4 momentum = matrix3_sum(inertia, v4_last_three(body->velocity));
    if (body->flags & SOLVER_BODY_GYROSCOPIC)
        momentum = gyroscopic_momentum(inertia, momentum, dt);
    matrix3_store(node->mass.linear, matrix3_diagonal(mass));
    matrix3_store(node->mass.coupling, (Matrix3){ { none, none, none } });
    matrix3_store(node->mass.angular, inertia);
    spatial_store(node->momentum,
                  (Spatial){ v4_first_three(velocity * mass + force * dt), v4_first_three(momentum + torque * dt) });
    node->is_leaf = true;
}

// ---- rows of the dense problem ----

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
    *dense = (DenseRow){ .rhs = row->rhs, .gamma = row->cfm / input->dt, .scaled_by = -1, .source = row };
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

// ---- equations ----

// The bounds of a row without any are infinite to both sides; these alone have no sum.
static inline bool row_is_bounded(const SolverRow *row) { return !isnan(row->lo + row->hi); }

// How many rows from the first on have no bounds.
static inline int free_rows_count(const SolverRow *rows, int count)
{
    int free_count = 0;
    while (free_count < count && !row_is_bounded(&rows[free_count]))
        free_count++;
    return free_count;
}

// A row that scales with another needs the other beside it, so such joints go to the dense problem whole.
static inline bool rows_are_scaled(const SolverRow *rows, int first, int count)
{
    bool scaled = false;
    for (int i = first; i < count; i++)
        scaled |= rows[i].friction_of >= 0;
    return scaled;
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

// Whether the first three rows turn about the axes of the world and do nothing else: sliders.
static inline bool joint_turns_first(const SolverRow *rows)
{
    bool is_true = fabs(rows[0].j1[3]) == 1.0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++)
            is_true &= rows[i].j1[k] == (k == 3 + i ? rows[0].j1[3] : 0.0)
                       && (rows[i].j2[k] == 0.0 || (k == 3 + i && rows[i].j2[k] == -rows[0].j1[3]));
    return is_true;
}

// What the form of a joint's rows says of them, looked at in sanitized builds.
enum { FORM_FREE_ROWS = 5 };
static inline bool form_is_true(const SolverJoint *joint, const SolverRow *rows, int form)
{
    if (form == SOLVER_ROWS_ANY)
        return true;
    return joint->row_count >= FORM_FREE_ROWS && free_rows_count(rows, joint->row_count) >= FORM_FREE_ROWS
           && !rows_are_scaled(rows, 0, joint->row_count)
           && (form == SOLVER_ROWS_POINT ? joint_holds_point(joint, rows) : joint_turns_first(rows));
}

static inline void node_take_row(Node *node, int at, SolverRow *row)
{
    node->rows[at] = row;
    node->rhs[spatial_place(at)] = row->rhs;
}

// The other side of a root's joint does not move by it: its velocity goes to the right-hand side.
static void node_take_ground(const SolverInput *input, Node *node, LinkJoint link, const SolverRow *rows, int count)
{
    const SolverJoint *joint = &input->joints[link.joint];
    int ground = link.child_is_body2 ? joint->body1 : joint->body2;
    for (int r = 0; ground >= 0 && r < LINK_ROWS; r++)
        if (node->rows[r] >= rows && node->rows[r] < rows + count)
            node->rhs[spatial_place(r)] -= fixed_side_velocity(
                input, ground, link.child_is_body2 ? node->rows[r]->j1 : node->rows[r]->j2);
}

// Rows of a joint from `first` on, of which the first `free_count` have no bounds, become equations from `at` up to
// `end` or go to the dense problem. Returns the next place.
static inline int node_take_rows(DirectScratch *s, IslandTask *task, Node *node, int joint_index, int first,
                                 int free_count, int at, int end)
{
    const SolverJoint *joint = &task->input->joints[joint_index];
    SolverRow *rows = &task->input->rows[joint->first_row];
    int base = s->dense_count;
    assert_debug(at <= end && end <= LINK_ROWS);
    for (int i = first; i < joint->row_count; i++) {
        bool goes = at < end
                    && (i < free_count || !row_is_bounded(&rows[i])
                        || motor_goes_to_tree(s, task, &rows[i], node, at, joint_index, i));
        if (goes)
            node_take_row(node, at++, &rows[i]);
        else
            dense_joint_row(s, task, joint_index, i, base);
    }
    return at;
}

// Rows behind those that every joint of a known form has: of motors and stops. Returns the next place.
static inline int node_take_bounded(DirectScratch *s, IslandTask *task, Node *node, int joint, int at, int end)
{
    if (task->input->joints[joint].row_count == FORM_FREE_ROWS)
        return at;
    return node_take_rows(s, task, node, joint, FORM_FREE_ROWS, FORM_FREE_ROWS, at, end);
}

INLINE V4 rhs_of_three(const SolverRow *rows) { return v4_three(rows[0].rhs, rows[1].rhs, rows[2].rhs); }
INLINE V4 rhs_of_two(const SolverRow *rows) { return (V4){ rows[0].rhs, rows[1].rhs }; }

// The only joint of a node, with rows of a known form: where each goes is known, but for those with bounds.
INLINE void node_add_point(DirectScratch *s, IslandTask *task, Node *node, int joint, SolverRow *rows)
{
    for (int i = 0; i < 3; i++)
        node->rows[3 + i] = &rows[i];
    node->rows[0] = &rows[3];
    node->rows[1] = &rows[4];
    node->rows[2] = &s->empty;
    spatial_store(node->rhs, (Spatial){ rhs_of_two(rows + 3), rhs_of_three(rows) });
    node->row_count = 0;
    node->link = node_take_bounded(s, task, node, joint, 2, 3) == 3 ? LINK_POINT_THREE_TURNS : LINK_POINT_TWO_TURNS;
}

INLINE void node_add_slide(DirectScratch *s, IslandTask *task, Node *node, int joint, SolverRow *rows)
{
    for (int i = 0; i < FORM_FREE_ROWS; i++)
        node->rows[i] = &rows[i];
    node->rows[FORM_FREE_ROWS] = &s->empty;
    spatial_store(node->rhs, (Spatial){ rhs_of_three(rows), rhs_of_two(rows + 3) });
    node->row_count = node_take_bounded(s, task, node, joint, FORM_FREE_ROWS, LINK_ROWS);
    node->link = LINK_SLIDE;
}

static void node_add_any(DirectScratch *s, IslandTask *task, Node *node, LinkJoint link, bool is_only)
{
    const SolverJoint *joint = &task->input->joints[link.joint];
    SolverRow *rows = &task->input->rows[joint->first_row];
    const int count = joint->row_count, free_count = free_rows_count(rows, count);
    const bool scaled = rows_are_scaled(rows, free_count, count);
    if (is_only && free_count >= 3 && !scaled && joint_holds_point(joint, rows)) {
        for (int i = 0; i < 3; i++)
            node_take_row(node, 3 + i, &rows[i]);
        node->flipped = link.child_is_body2 ? ALL_FLIPPED : 0;
        node->link = node_take_rows(s, task, node, link.joint, 3, free_count, 0, 3) == 3 ? LINK_POINT_THREE_TURNS
                                                                                         : LINK_POINT_TWO_TURNS;
    } else {
        int at = node->row_count, end = scaled ? at : LINK_ROWS;
        node->row_count = node_take_rows(s, task, node, link.joint, 0, free_count, at, end);
        if (link.child_is_body2)
            node->flipped |= (uint8_t)(ALL_FLIPPED << at);
        else
            node->flipped &= (uint8_t) ~(ALL_FLIPPED << at);
        node->link = node->row_count > 0 ? LINK_ANY : LINK_LOOSE;
    }
}

// A node that no row has reached yet.
static void node_clear_rows(DirectScratch *s, Node *node)
{
    node->link = LINK_LOOSE;
    node->row_count = 0;
    node->flipped = 0;
    for (int r = 0; r < LINK_ROWS; r++)
        node->rows[r] = &s->empty;
    spatial_store(node->rhs, (Spatial){ { 0 }, { 0 } });
}

static inline void node_start(Node *node, int body, int parent, int tree)
{
    node->body = body;
    node->parent = parent;
    node->tree = tree;
    node->on_path = node->is_meeting = false;
    node->spare = -1;
}

// Joints of any kind, and any number of them.
static __attribute__((noinline)) void node_add_joints(DirectScratch *s, IslandTask *task, Node *node,
                                                      const TreeLink *link)
{
    const SolverInput *input = task->input;
    const LinkJoint *joints = task->topology->link_joints + link->first_joint;
    node_clear_rows(s, node);
    for (int k = 0; k < link->joint_count; k++) {
        const SolverJoint *joint = &input->joints[joints[k].joint];
        node_add_any(s, task, node, joints[k], link->joint_count == 1);
        if (node->parent < 0)
            node_take_ground(input, node, joints[k], &input->rows[joint->first_row], joint->row_count);
    }
}

// The joints that link a node to its parent or to the ground: most often one, with rows of a known form.
INLINE void node_add_link(DirectScratch *s, IslandTask *task, Node *node, const TreeLink *link)
{
    const LinkJoint first = task->topology->link_joints[link->first_joint];
    const SolverJoint *joint = link->joint_count == 1 ? &task->input->joints[first.joint] : NULL;
    if (!joint || joint->row_count == 0 || task->input->rows[joint->first_row].form == SOLVER_ROWS_ANY) {
        node_add_joints(s, task, node, link);
        return;
    }
    SolverRow *rows = &task->input->rows[joint->first_row];
    assert_debug(form_is_true(joint, rows, rows[0].form));
    node->flipped = first.child_is_body2 ? ALL_FLIPPED : 0;
    if (rows[0].form == SOLVER_ROWS_POINT)
        node_add_point(s, task, node, first.joint, rows);
    else
        node_add_slide(s, task, node, first.joint, rows);
    if (node->parent < 0)
        node_take_ground(task->input, node, first, rows, joint->row_count);
}

// A joint has its ends at a node and at the parent, which stands before it: both are known by then.
static void group_build(DirectScratch *s, IslandTask *task, const TreeGroup *group, int tree)
{
    const SolverInput *input = task->input;
    const Topology *topology = task->topology;
    const int shift = s->node_count - group->first;
    const TreeLink *link = &topology->links[group->first], *end = link + group->count;
    const V4 gain = gravity_gain(input->gravity, input->dt);
    for (Node *node = &s->nodes[s->node_count]; link < end; link++, node++) {
        task->node_of_body[link->body] = (int)(node - s->nodes);
        node_start(node, link->body, link->parent < 0 ? -1 : link->parent + shift, tree);
        assert_debug(node->parent < node - s->nodes);
        node_load_body(node, &input->bodies[link->body], &input->masses[link->body], gain, input->dt);
        if (link->joint_count > 0)
            node_add_link(s, task, node, link);
        else
            node_clear_rows(s, node);
    }
    s->node_count += group->count;
    for (int k = 0; k < group->cut_count; k++) {
        int joint = topology->cut_joints[group->first_cut + k];
        for (int i = 0, base = s->dense_count; i < input->joints[joint].row_count; i++)
            dense_joint_row(s, task, joint, i, base);
    }
}

// Nodes begin at lines of the cache, so that none of their vectors lies across two. What they held is not kept.
static void nodes_reserve(DirectScratch *s, int count)
{
    static_assert(sizeof(Node) % 64 == 0 && offsetof(Node, mass) == 0, "lines of the cache");
    if (count <= s->node_capacity)
        return;
    s->node_capacity = int_max(count, 2 * s->node_capacity);
    free(s->nodes);
    s->nodes = memory_alloc_lines(memory_product((size_t)s->node_capacity, sizeof *s->nodes));
}

static __attribute__((noinline)) void tree_build(DirectScratch *s, IslandTask *task)
{
    const Topology *topology = task->topology;
    int node_total = 0;
    for (int g = 0; g < task->group_count; g++)
        node_total += topology->groups[task->groups[g]].count;
    nodes_reserve(s, node_total);
    s->node_count = s->motor_count = s->dense_count = 0;
    s->empty.cfm = task->input->dt;  // as soft as 1: something to divide by
    for (int g = 0; g < task->group_count; g++)
        group_build(s, task, &topology->groups[task->groups[g]], g);
    assert_debug(s->node_count == node_total);
}

#endif
