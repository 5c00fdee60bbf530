// solver_direct_soft.h - rows with bounds without a dense problem, where each is soft and touches one body that moves
// (a foot on the ground) or lies along a link (a motor at its limit). A part of solver_direct.c, which is compiled once
// for each instruction set.
//
// A free row  J v + g x = rhs  is a spring: x = (rhs - J v) / g makes the body's mass M + J' J / g and its momentum
// b + J' rhs / g, so the tree alone finds velocities and, from them, impulses. A row along a link becomes one of its
// equations. Rows at a bound are given impulses. The states of the rows are those of the last step to begin with, and
// as a rule they stay; when they do not for some rounds, the dense problem is solved as ever. Both have the same
// solution.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_SOFT_H
#define TALUS_PHYSICS_SOLVER_DIRECT_SOFT_H

#include "physics/solver/solver_direct_bounds.h"
#include "physics/solver/solver_direct_tree.h"
#include "physics/solver/tuning.h"

#include <assert.h>

// ---- which rows ----

// The place of one more equation in a node's link, -1: there is none.
static int link_spare(const Node *node)
{
    if (link_holds_point(node->link))
        return node->link == LINK_POINT_TWO_TURNS ? 2 : -1;
    return node->row_count < LINK_ROWS ? node->row_count : -1;
}

// The lower node of a row along a link, -1: the row is none.
static int link_child(const DirectScratch *s, const DenseRow *row)
{
    if (!row_is_of_link(s, row))
        return -1;
    return s->nodes[row->nodes[0]].parent == row->nodes[1] ? row->nodes[0] : row->nodes[1];
}

static bool row_is_spring(const DirectScratch *s, const SolverInput *input, const DenseRow *row)
{
    int node = row->nodes[row->nodes[0] < 0], other = row->nodes[row->nodes[0] >= 0];
    const double *j = row->j[row->nodes[0] < 0];
    return node >= 0 && other < 0 && row->gamma > MIN_SPRING_SHARE * row_scale(&input->masses[s->nodes[node].body], j);
}

// Whether the tree can carry all rows, and there are enough of them that solving it twice costs less than the dense
// problem. Gives rows along links their places.
static bool soft_applies(DirectScratch *s, const SolverInput *input)
{
    if (s->dense_count * MAX_NODES_PER_SPRING < s->node_count)
        return false;
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        int child = link_child(s, row);
        row->link_node = child;
        if (child < 0) {
            if (!row_is_spring(s, input, row))
                return false;
            continue;
        }
        Node *node = &s->nodes[child];
        assert_debug(node->parent >= 0);
        if (!row->source || node->spare >= 0 || link_spare(node) < 0)
            return false;
        node->spare = link_spare(node);
    }
    return true;
}

// ---- one round ----

static inline void mass_copy(NodeMass *to, const NodeMass *from)
{
    matrix3_store(to->linear, matrix3_load(from->linear));
    matrix3_store(to->coupling, matrix3_load(from->coupling));
    matrix3_store(to->angular, matrix3_load(from->angular));
}

// What is the same in every round: the nodes that no row reaches. The others are remembered as they leave them.
static void soft_begin(DirectScratch *s, double dt)
{
    memory_grow(&s->before, &s->before_capacity, s->node_count, sizeof *s->before);
    assert(dt > 0.0);
    for (int i = 0; i < s->dense_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->dense[i].nodes[k] >= 0 && !s->nodes[s->dense[i].nodes[k]].on_path)
                path_mark(s, s->dense[i].nodes[k]);
    tree_factor(s, dt, NODES_OFF_PATH);
    for (int i = 0; i < s->node_count; i++) {
        const Node *node = &s->nodes[i];
        if (!node->on_path)
            continue;
        NodeBefore *before = &s->before[i];
        mass_copy(&before->mass, &node->mass);
        spatial_store(before->momentum, spatial_load(node->momentum));
        before->link = node->link;
        before->is_leaf = node->is_leaf;
    }
}

static void soft_restore(DirectScratch *s)
{
    for (int i = 0; i < s->node_count; i++) {
        Node *node = &s->nodes[i];
        if (!node->on_path)
            continue;
        const NodeBefore *before = &s->before[i];
        mass_copy(&node->mass, &before->mass);
        spatial_store(node->momentum, spatial_load(before->momentum));
        node->is_leaf = before->is_leaf;
        if (node->spare < 0)
            continue;
        node->link = before->link;
        node->rows[node->spare] = &s->empty;
        node->rhs[spatial_place(node->spare)] = 0.0;
    }
}

// For the dense problem, which looks for the ways to the root itself.
static void soft_give_up(DirectScratch *s, double dt)
{
    soft_restore(s);
    s->redundant = 0;
    tree_factor(s, dt, NODES_ON_PATH);
    for (int i = 0; i < s->node_count; i++)
        s->nodes[i].on_path = s->nodes[i].is_meeting = false;
}

static inline void node_add_spring(Node *node, const double *j, double stiffness, double rhs)
{
    const V4 linear = v4_load(j), angular = v4_load(j + ANGULAR), a = linear * stiffness, b = angular * stiffness;
    NodeMass *mass = &node->mass;
    const V4 move[3] = { v4_x(linear), v4_y(linear), v4_z(linear) };
    const V4 turn[3] = { v4_x(angular), v4_y(angular), v4_z(angular) };
    for (int k = 0; k < 3; k++) {
        v4_store(mass->linear + 4 * k, v4_load(mass->linear + 4 * k) + a * move[k]);
        v4_store(mass->coupling + 4 * k, v4_load(mass->coupling + 4 * k) + b * move[k]);
        v4_store(mass->angular + 4 * k, v4_load(mass->angular + 4 * k) + b * turn[k]);
    }
    spatial_store(node->momentum, spatial_mad(spatial_load(node->momentum), (Spatial){ a, b }, rhs));
    node->is_leaf = false;
}

static inline void row_push(DirectScratch *s, const DenseRow *row, double impulse)
{
    for (int k = 0; k < 2; k++)
        if (row->nodes[k] >= 0) {
            double *b = s->nodes[row->nodes[k]].momentum;
            spatial_store(b, spatial_mad(spatial_load(b), spatial_load(row->j[k]), impulse));
        }
}

static void link_take_spare(Node *node, const DenseRow *row)
{
    assert_debug(node->spare >= 0);
    const int at = node->spare, child_is_body2 = row->link_node == row->nodes[1];
    node->rows[at] = row->source;
    node->rhs[spatial_place(at)] = row->rhs;
    if (link_holds_point(node->link)) {
        node->link = LINK_POINT_THREE_TURNS;
        return;
    }
    node->link = node->link == LINK_SLIDE ? LINK_SLIDE : LINK_ANY;  // its first three equations stay
    node->flipped = (uint8_t)((node->flipped & ~(1 << at)) | child_is_body2 << at);
}

// Solves the trees with the free rows as springs and equations and the others held.
static void soft_round(DirectScratch *s, const SolverInput *input, bool is_first)
{
    if (!is_first)
        soft_restore(s);
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        if (s->state[i] != ROW_FREE) {
            if (s->x[i] != 0.0)
                row_push(s, row, s->x[i]);
        } else if (row->link_node >= 0) {
            link_take_spare(&s->nodes[row->link_node], row);
        } else {
            int side = row->nodes[0] < 0;
            node_add_spring(&s->nodes[row->nodes[side]], row->j[side], 1.0 / row->gamma, row->rhs);
        }
    }
    s->redundant = 0;
    tree_factor(s, input->dt, NODES_ON_PATH);
    tree_solve_free(s);
}

static inline double row_speed(const DirectScratch *s, const DenseRow *row)
{
    double speed = 0.0;
    for (int k = 0; k < 2; k++)
        if (row->nodes[k] >= 0)
            speed += spatial_dot(spatial_load(row->j[k]), spatial_load(s->nodes[row->nodes[k]].velocity));
    return speed;
}

// Impulses of the free rows; `work` gets what the velocity of the others exceeds the wanted one by. Returns the largest
// velocity of a row.
static double soft_impulses(DirectScratch *s)
{
    double largest = 0.0;
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        if (s->state[i] == ROW_FREE && row->link_node >= 0) {
            const Node *node = &s->nodes[row->link_node];
            s->x[i] = node->impulse[spatial_place(node->spare)];
            continue;
        }
        if (s->lo[i] == s->hi[i])
            continue;  // nothing could make it free
        double speed = row_speed(s, row), missing = row->rhs - speed;
        if (s->state[i] == ROW_FREE)
            s->x[i] = missing / row->gamma;
        s->work[i] = row->gamma * s->x[i] - missing;
        largest = double_max(largest, fabs(speed) + fabs(row->rhs));
    }
    return largest;
}

// Rounds until each row is content. False: they were not enough.
static bool soft_rounds(DirectScratch *s, const SolverInput *input, IslandStatistics *statistics, bool is_fresh)
{
    const int n = s->dense_count;
    assert_debug(n <= s->state_capacity && n <= s->work_capacity);
    for (int round = 0; round < MAX_SOFT_ROUNDS; round++) {
        statistics->pivot_rounds++;
        hold_bound_rows(s, n);
        soft_round(s, input, is_fresh && round == 0);
        double tolerance = PIVOT_SLACK * (soft_impulses(s) + 1e-9), max = largest_impulse(s, n);
        bool content = true;
        for (int i = 0; i < n; i++) {
            int wanted = wanted_state(s, i, s->work[i], tolerance, max);
            content &= wanted == s->state[i];
            s->state[i] = (int8_t)wanted;
        }
        if (content)
            return true;
    }
    return false;
}

typedef enum SoftResult { SOFT_SETTLED, SOFT_MOTOR, SOFT_GIVEN_UP } SoftResult;

#endif
