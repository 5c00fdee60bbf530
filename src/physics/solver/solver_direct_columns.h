// solver_direct_columns.h - responses along the tree, and the matrix of the dense problem made of them.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_COLUMNS_H
#define TALUS_PHYSICS_SOLVER_DIRECT_COLUMNS_H

#include "physics/solver/solver_direct_link.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

// The child's side of a link with the first equations eliminated from the last, and the velocities that it causes, in
// the coordinates in which the mass is factored: linear and angular halves, first and last equations.
typedef struct LinkResponse {
    Matrix3 moves[2][2];   // velocities per impulse,
    Matrix3 pushed[2][2];  // ... times S^-1
} LinkResponse;

INLINE LinkResponse link_response(const Node *node, bool holds_point, int turns)
{
    const Matrix3 across = matrix3_load(node->across), last = matrix3_load(node->last);
    LinkResponse link;
    for (int h = holds_point; h < 2; h++) {
        const Matrix3 inverse = matrix3_load(h == 0 ? node->mass.linear : node->mass.angular);
        Matrix3 first = matrix3_load(node->child_side[h][FIRST_THREE]),
                rest = matrix3_load(node->child_side[h][LAST_THREE]);
        for (int i = 0; i < turns; i++)
            link.moves[0][h].row[i] = matrix3_sum(inverse, first.row[i]);
        link.moves[1][h] = matrix3_multiply(matrix3_take_square(rest, across, first, turns), inverse);
        link.pushed[0][h] = first_apply(matrix3_load(node->first), link.moves[0][h], turns);
        link.pushed[1][h] = matrix3_multiply(last, link.moves[1][h]);
    }
    if (holds_point) {
        link.moves[1][0] = matrix3_scale(matrix3_load(node->mass.linear), node->child_point);
        link.pushed[1][0] = matrix3_multiply(last, link.moves[1][0]);
    }
    return link;
}

// What a unit impulse does to the node when its parent is held.
INLINE void node_respond_held(const Node *node, const LinkResponse *link, bool holds_point, int turns, double *total)
{
    const Matrix3 coupling = matrix3_load(node->mass.coupling);
    Matrix3 linear = matrix3_load(node->mass.linear), angular = matrix3_load(node->mass.angular);
    Matrix3 across = { { { 0 }, { 0 }, { 0 } } };
    for (int k = holds_point; k < 2; k++) {
        linear = matrix3_take_square(linear, link->moves[k][0], link->pushed[k][0], 3);
        across = matrix3_take_square(across, link->moves[k][0], link->pushed[k][1], 3);
    }
    for (int k = 0; k < 2; k++)
        angular = matrix3_take_square(angular, link->moves[k][1], link->pushed[k][1], k == 0 ? turns : 3);
    // Back from the coordinates of the factored mass: turning moves the centre.
    Matrix3 turned = matrix3_multiply(coupling, angular), crossed = matrix3_subtract(across, turned);
    Matrix3 shared = matrix3_multiply(across, matrix3_transpose(coupling));
    linear = matrix3_subtract(linear, matrix3_transpose(shared));
    linear = matrix3_subtract(linear, matrix3_multiply(crossed, matrix3_transpose(coupling)));
    half_store(total, linear);
    half_store(total + ANGULAR, crossed);
    half_store(total + LAST, matrix3_transpose(crossed));
    half_store(total + LAST + ANGULAR, angular);
}

// What of it reaches the parent.
INLINE void node_respond_pass(const Node *node, const LinkResponse *link, bool holds_point, int turns, double *pass)
{
    const Matrix3 none = { { { 0 }, { 0 }, { 0 } } }, coupling = matrix3_load(node->mass.coupling);
    for (int h = 0; h < 2; h++) {
        Matrix3 moving = none, turning = none;  // by impulses that move the node, that turn it
        for (int k = holds_point && h == 0; k < 2; k++) {
            Matrix3 push = holds_point && h == 0 ? matrix3_scale(matrix3_load(node->last), node->parent_point)
                                                 : matrix3_load(node->push[h][k]);
            if (k == 1 || !holds_point)
                moving = matrix3_take_square(moving, link->moves[k][0], push, 3);
            turning = matrix3_take_square(turning, link->moves[k][1], push, k == 0 ? turns : 3);
        }
        half_store(pass + ANGULAR * h, matrix3_subtract(moving, matrix3_multiply(coupling, turning)));
        half_store(pass + LAST + ANGULAR * h, turning);
    }
}

INLINE void node_respond_linked(const Node *node, Response *response, bool holds_point, int turns)
{
    const LinkResponse link = link_response(node, holds_point, turns);
    node_respond_held(node, &link, holds_point, turns, response->total);
    if (node->parent >= 0)
        node_respond_pass(node, &link, holds_point, turns, response->pass);
}

// A node whose joint has no rows in the tree (a motor without power, friction), or none: nothing reaches its parent.
static void node_respond_loose(const Node *node, Response *response)
{
    const Matrix3 coupling = matrix3_load(node->mass.coupling), angular = matrix3_load(node->mass.angular);
    Matrix3 turned = matrix3_multiply(coupling, angular);
    Matrix3 linear = matrix3_add(matrix3_load(node->mass.linear),
                                 matrix3_multiply(turned, matrix3_transpose(coupling)));
    Matrix3 crossed = matrix3_scale(turned, -1.0);
    half_store(response->total, linear);
    half_store(response->total + ANGULAR, crossed);
    half_store(response->total + LAST, matrix3_transpose(crossed));
    half_store(response->total + LAST + ANGULAR, angular);
    memset(response->pass, 0, sizeof response->pass);
}

// What a unit impulse does to the node when its parent is held, and what of it reaches the parent.
static void node_respond_alone(const Node *node, Response *response)
{
    switch (node->link) {
    case LINK_POINT_TWO_TURNS: node_respond_linked(node, response, true, 2); break;
    case LINK_POINT_THREE_TURNS: node_respond_linked(node, response, true, 3); break;
    case LINK_SLIDE:
    case LINK_ANY: node_respond_linked(node, response, false, 3); break;
    default: node_respond_loose(node, response);
    }
}

static void spatial_transpose(const double *m, double *out)
{
    for (int i = 0; i < 4; i++)
        half_store(out + LAST * (i % 2) + ANGULAR * (i / 2),
                   matrix3_transpose(half_load(m + LAST * (i / 2) + ANGULAR * (i % 2))));
}

// The parent, whose response is known, gives way too.
static void node_respond_with_parent(const Response *parent, Response *response)
{
    double across[6 * SPATIAL], moved[SPATIAL];
    spatial_transpose(response->pass, across);
    for (int k = 0; k < 6; k++) {
        double *total = response->total + SPATIAL * k;
        spatial_store(moved, spatial_matrix(parent->total, response->pass + SPATIAL * k));
        spatial_store(total, spatial_add(spatial_load(total), spatial_matrix(across, moved)));
    }
}

// Marks the way from a node that a row touches to the root.
static void path_mark(DirectScratch *s, int node)
{
    for (; !s->nodes[node].on_path; node = s->nodes[node].parent) {
        s->nodes[node].on_path = true;
        if (s->nodes[node].parent < 0)
            return;
    }
    s->nodes[node].is_meeting = true;
}

// Responses of all nodes between a row and the root; parents stand before children.
static void responses_build(DirectScratch *s)
{
    for (int i = s->node_count - 1; i >= 0; i--)
        if (s->nodes[i].is_meeting && !s->nodes[i].on_path)
            path_mark(s, i);
    for (int i = 0; i < s->node_count; i++) {
        const Node *node = &s->nodes[i];
        if (!node->on_path)
            continue;
        node_respond_alone(node, &s->responses[i]);
        if (node->parent >= 0 && node->link != LINK_LOOSE)
            node_respond_with_parent(&s->responses[node->parent], &s->responses[i]);
    }
}

// Numbers of a group's data, from the root down: of a body's columns a block of 6x6 per node, whose lines are the same
// number of all columns; of a link's a vector, and one more for what it does at the parent of its node.
#define BLOCK 36
static int column_size(const Node *node, bool is_link)
{
    return is_link ? SPATIAL * (node->depth + 2) : BLOCK * (node->depth + 1);
}

static ColumnGroup *group_add(DirectScratch *s, int node_index, int width, bool is_link)
{
    assert_debug(width >= 1 && width <= 6);
    const Node *node = &s->nodes[node_index];
    int size = column_size(node, is_link);
    memory_grow(&s->groups, &s->group_capacity, s->group_count + 1, sizeof *s->groups);
    memory_grow(&s->up, &s->up_capacity, s->up_count + size, sizeof *s->up);
    memory_grow(&s->response_up, &s->response_capacity, s->up_count + size, sizeof *s->response_up);
    ColumnGroup *group = &s->groups[s->group_count++];
    *group = (ColumnGroup){ node_index, node->tree, s->column_count, width, is_link, s->up_count };
    s->column_count += width;
    s->up_count += size;
    return group;
}

// Carries the impulse of a row between a node and its parent to the root.
static int link_column_add(DirectScratch *s, int node_index, const double *at_node, const double *at_parent)
{
    assert_debug(s->nodes[node_index].parent >= 0);
    const ColumnGroup *group = group_add(s, node_index, 1, true);
    const Node *first = &s->nodes[node_index];
    double *up = s->up + group->start, *response = s->response_up + group->start, above[SPATIAL];
    Spatial u = spatial_load(at_node);
    for (int i = node_index; i >= 0; i = s->nodes[i].parent) {
        double *here = up + SPATIAL * s->nodes[i].depth;
        spatial_store(here, u);
        if (s->nodes[i].is_meeting)
            spatial_store(response + SPATIAL * s->nodes[i].depth, spatial_matrix(s->responses[i].total, here));
        u = spatial_matrix(s->responses[i].pass, here);
        if (i == node_index)
            u = spatial_add(u, spatial_load(at_parent));
    }
    // At its own node it is felt from both ends.
    spatial_store(up + SPATIAL * (first->depth + 1), spatial_load(at_parent));
    spatial_store(above, spatial_matrix(s->responses[first->parent].total, at_parent));
    for (int k = 0; k < 6; k++)
        response[SPATIAL * first->depth + spatial_place(k)] += spatial_dot(
            spatial_load(s->responses[node_index].pass + SPATIAL * k), spatial_load(above));
    return group->first;
}

// Each column of a block by a matrix that stands as its columns.
static inline void block_apply(const double *matrix, const double *block, double *out)
{
    V6 lines[6];
    for (int q = 0; q < 6; q++)
        lines[q] = v6_load(block + 6 * q);
    for (int k = 0; k < 6; k++) {
        const double *m = matrix + spatial_place(k);
        V6 sum = v6_scale(lines[0], m[0]);
        for (int q = 1; q < 6; q++)
            sum = v6_mad(sum, lines[q], m[SPATIAL * q]);
        v6_store(out + 6 * k, sum);
    }
}

// Carries the impulses of a group's columns, which stand at `node`, to the root.
static void columns_carry(DirectScratch *s, const ColumnGroup *group, int node)
{
    double *up = s->up + group->start, *response = s->response_up + group->start;
    for (int i = node; i >= 0; i = s->nodes[i].parent) {
        const int at = BLOCK * s->nodes[i].depth;
        if (s->nodes[i].is_meeting)
            block_apply(s->responses[i].total, up + at, response + at);
        if (at > 0)
            block_apply(s->responses[i].pass, up + at, up + at - BLOCK);
    }
}

// Columns of a node's six directions: what they do there are its responses themselves.
static int unit_columns_add(DirectScratch *s, int node_index)
{
    const ColumnGroup *group = group_add(s, node_index, 6, false);
    const Node *node = &s->nodes[node_index];
    const Response *r = &s->responses[node_index];
    const int at = group->start + BLOCK * node->depth;
    memset(s->up + at, 0, BLOCK * sizeof *s->up);
    for (int c = 0; c < 6; c++) {
        s->up[at + 7 * c] = 1.0;
        spatial_unpack(s->response_up + at + 6 * c, r->total + SPATIAL * c);  // symmetric
        for (int k = 0; node->parent >= 0 && k < 6; k++)
            s->up[at - BLOCK + 6 * k + c] = r->pass[SPATIAL * c + spatial_place(k)];
    }
    if (node->parent >= 0)
        columns_carry(s, group, node->parent);
    return group->first;
}

static double row_scale(const SolverMass *body, const double *j)
{
    V4 linear = v4_load(j), angular = v4_load(j + ANGULAR);
    return v4_dot(linear, linear) / body->mass
           + v4_dot(angular, angular) / (body->inertia.m[0] + body->inertia.m[4] + body->inertia.m[8]);
}

// Both ends of one link lie on the same way to the root: one column carries them.
static bool row_is_of_link(const DirectScratch *s, const DenseRow *row)
{
    int a = row->nodes[0], b = row->nodes[1];
    return a >= 0 && b >= 0 && (s->nodes[a].parent == b || s->nodes[b].parent == a);
}

// Columns of the rows that touch a node from row `index`, side `side` on; those of a link are not counted there, as
// both its ends share a column.
static int row_columns_add(DirectScratch *s, int node, int index, int side)
{
    const ColumnGroup *group = group_add(s, node, s->side_count[node], false);
    double *block = s->up + group->start + BLOCK * s->nodes[node].depth;
    int count = 0;
    memset(block, 0, BLOCK * sizeof *block);
    for (int i = index; count < group->width; i++, side = 0) {
        assert_debug(i < s->dense_count);
        const DenseRow *row = &s->dense[i];
        for (int k = side; k < 2; k++) {
            if (row->nodes[k] != node || row_is_of_link(s, row))
                continue;
            for (int q = 0; q < 6; q++)
                block[6 * q + count] = row->j[k][spatial_place(q)];
            count++;
        }
    }
    columns_carry(s, group, node);
    return group->first;
}

// A body that many rows touch gets columns for its six directions; one that few touch, a column for each of them.
static void row_side_column(DirectScratch *s, DenseRow *row, int side, int index)
{
    int node = row->nodes[side];
    if (s->side_count[node] > 6) {
        if (s->first_column[node] < 0)
            s->first_column[node] = unit_columns_add(s, node);
        row->columns[side] = s->first_column[node];
        row->widths[side] = 6;
        spatial_unpack(row->coefficients[side], row->j[side]);
        return;
    }
    if (s->first_column[node] < 0) {
        s->first_column[node] = row_columns_add(s, node, index, side);
        s->side_count[node] = 0;
    }
    row->columns[side] = s->first_column[node]
                         - s->side_count[node]--;  // the count runs 0, -1, ...: the next of the six
    row->widths[side] = 1;
    row->coefficients[side][0] = 1.0;
}

static void row_link_column(DirectScratch *s, DenseRow *row)
{
    int child = s->nodes[row->nodes[0]].parent == row->nodes[1] ? 0 : 1;
    row->columns[0] = link_column_add(s, row->nodes[child], row->j[child], row->j[1 - child]);
    row->widths[0] = 1;
    row->coefficients[0][0] = 1.0;
}

// Counts the rows that touch each node, and finds where they reach the tree.
static void sides_count(DirectScratch *s)
{
    memory_grow(&s->first_column, &s->first_column_capacity, s->node_count, sizeof *s->first_column);
    memory_grow(&s->side_count, &s->side_capacity, s->node_count, sizeof *s->side_count);
    for (int i = 0; i < s->node_count; i++) {
        Node *node = &s->nodes[i];
        node->depth = node->parent < 0 ? 0 : s->nodes[node->parent].depth + 1;
        s->first_column[i] = -1;
        s->side_count[i] = 0;
    }
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        bool is_side = !row_is_of_link(s, row);
        for (int k = 0; k < 2; k++) {
            if (row->nodes[k] < 0)
                continue;
            assert_debug(row->nodes[k] < s->node_count);
            s->nodes[row->nodes[k]].is_meeting = true;
            s->side_count[row->nodes[k]] += is_side;
        }
    }
}

// The columns of all rows: one for a row between a link and its parent, for other rows what row_side_column() finds
// best.
static __attribute__((noinline)) void columns_build(DirectScratch *s, const SolverInput *input)
{
    memory_grow(&s->responses, &s->path_capacity, s->node_count, sizeof *s->responses);
    s->column_count = s->group_count = s->up_count = 0;
    sides_count(s);
    responses_build(s);
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        row->columns[0] = row->columns[1] = -1;
        row->scale = 0.0;
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0)
                row->scale += row_scale(&input->masses[s->nodes[row->nodes[k]].body], row->j[k]);
        if (row_is_of_link(s, row)) {
            row_link_column(s, row);
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

// The lowest node on both ways to the root; -1: none.
static int common_node(const DirectScratch *s, int a, int b)
{
    while (a != b) {
        if (a > b)  // parents stand before children
            a = s->nodes[a].parent;
        else
            b = s->nodes[b].parent;
        if (a < 0 || b < 0)
            return -1;
    }
    return a;
}

// Responses to the six columns of a group, whose block of velocities is given, by the impulse of a link's column
static inline V6 gram_vector(const double *response, const double *up)
{
    V6 sum = v6_scale(v6_load(response), up[0]);
    for (int k = 1; k < 6; k++)
        sum = v6_mad(sum, v6_load(response + 6 * k), up[spatial_place(k)]);
    return sum;
}

// ... and by that of one column of a block.
static inline V6 gram_column(const double *response, const double *up)
{
    V6 sum = v6_scale(v6_load(response), up[0]);
    for (int k = 1; k < 6; k++)
        sum = v6_mad(sum, v6_load(response + 6 * k), up[6 * k]);
    return sum;
}

// Six numbers of a row from the first column of a group on. What a group has fewer runs over into columns that are
// written after it, or belong to the other triangle, which is; but not over the end of the row.
static inline void gram_store(double *row, const ColumnGroup *group, V6 value, int stride)
{
    double *out = row + group->first;
    if (group->first + 6 <= stride) {
        v6_store(out, value);
        return;
    }
    double six[6];
    v6_store(six, value);
    memcpy(out, six, (size_t)group->width * sizeof *six);
}

// What a link's column feels of a body's, which it meets at a node of some depth. Where it starts at that very node,
// its parent's share has not been carried yet.
static inline V6 gram_link_body(const DirectScratch *s, const ColumnGroup *link, const ColumnGroup *body, int depth,
                                bool is_start)
{
    const double *up = s->up + link->start + SPATIAL * depth, *response = s->response_up + body->start + BLOCK * depth;
    V6 value = gram_vector(response, up);
    return is_start ? v6_add(value, gram_vector(response - BLOCK, up + SPATIAL)) : value;
}

static inline double gram_links(const DirectScratch *s, const ColumnGroup *a, const ColumnGroup *b, int depth,
                                bool is_start)
{
    const double *up = s->up + a->start + SPATIAL * depth, *response = s->response_up + b->start + SPATIAL * depth;
    double value = spatial_dot(spatial_load(up), spatial_load(response));
    if (is_start)
        value += spatial_dot(spatial_load(up + SPATIAL), spatial_load(response - SPATIAL));
    return value;
}

static inline void gram_bodies(const DirectScratch *s, double *row, const ColumnGroup *a, const ColumnGroup *b,
                               int depth, int stride)
{
    const double *up = s->up + a->start + BLOCK * depth, *response = s->response_up + b->start + BLOCK * depth;
    for (int i = 0; i < a->width; i++)
        gram_store(row + i * stride, b, gram_column(response, up + i), stride);
}

// What a's impulses, carried up to the node where both meet, feel of the velocities that b's cause there: rows of a,
// columns of b, which does not stand behind it.
static inline void gram_pair(const DirectScratch *s, double *gram, const ColumnGroup *a, const ColumnGroup *b,
                             int stride)
{
    const V6 none = { { 0 }, { 0 } };
    const int node = a->tree == b->tree ? common_node(s, a->node, b->node) : -1;
    const int depth = node < 0 ? 0 : s->nodes[node].depth;
    double *row = gram + a->first * stride;
    if (node < 0) {
        for (int i = 0; i < a->width; i++)
            gram_store(row + i * stride, b, none, stride);
    } else if (!a->is_link && !b->is_link) {
        gram_bodies(s, row, a, b, depth, stride);
    } else if (a->is_link && b->is_link) {
        row[b->first] = gram_links(s, a, b, depth, node == a->node);
    } else if (a->is_link) {
        gram_store(row, b, gram_link_body(s, a, b, depth, node == a->node), stride);
    } else {
        double six[6];
        v6_store(six, gram_link_body(s, b, a, depth, node == b->node));
        for (int i = 0; i < a->width; i++)
            row[i * stride + b->first] = six[i];
    }
}

// The upper triangle of a symmetric matrix from its lower one, four by four, and zeros behind its columns. Memory for
// whole blocks of rows is there.
static void matrix_mirror(double *m, int n, int stride)
{
    assert_debug(stride == four_up(n));
    for (int i = 0; i < n; i += 4) {
        double *rows = m + (size_t)i * (size_t)stride;
        for (int j = 0; j < i; j += 4) {
            V4 a = v4_load(rows + j), b = v4_load(rows + stride + j), c = v4_load(rows + 2 * stride + j),
               d = v4_load(rows + 3 * stride + j);
            V4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6), ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
            V4 cd = __builtin_shufflevector(c, d, 0, 4, 2, 6), dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
            double *to = m + (size_t)j * (size_t)stride + i;
            v4_store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
            v4_store(to + stride, __builtin_shufflevector(ba, dc, 0, 1, 4, 5));
            v4_store(to + 2 * stride, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
            v4_store(to + 3 * stride, __builtin_shufflevector(ba, dc, 2, 3, 6, 7));
        }
        for (int r = 1; r < 4; r++)
            for (int c = 0; c < r; c++)
                rows[c * stride + i + r] = rows[r * stride + i + c];
    }
    for (int i = 0; i < n; i++)
        for (int k = n; k < stride; k++)
            m[(size_t)i * (size_t)stride + (size_t)k] = 0.0;
}

static __attribute__((noinline)) void gram_build(DirectScratch *s)
{
    int n = s->column_count, stride = four_up(n);
    assert_debug(n > 0 && s->group_count > 0);
    memory_grow(&s->gram, &s->gram_capacity, stride * stride + 16, sizeof *s->gram);
    for (int i = 0; i < s->group_count; i++)
        for (int k = 0; k <= i; k++)
            gram_pair(s, s->gram, &s->groups[i], &s->groups[k], stride);
    matrix_mirror(s->gram, n, stride);
}

static bool row_is_simple(const DenseRow *row)
{
    return (row->columns[0] >= 0 && row->widths[0] == 6 && row->columns[1] < 0)
           || (row->columns[0] < 0 && row->columns[1] >= 0 && row->widths[1] == 6);
}

// The column that the row is, -1 when it is none.
static int row_is_column(const DenseRow *row)
{
    int side = row->columns[0] < 0;
    return row->columns[side] >= 0 && row->columns[1 - side] < 0 && row->widths[side] == 1 ? row->columns[side] : -1;
}

// Neighbouring rows on the same columns go together, so that the matrix is filled four of them at a time.
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
            run->width = four_up(run->count);
            continue;
        }
        if (!row_is_simple(row))
            continue;
        run->column = row->columns[row->columns[0] < 0];
        while (i < n && row_is_simple(&s->dense[i]) && s->dense[i].columns[s->dense[i].columns[0] < 0] == run->column) {
            run->count++;
            i++;
        }
        run->width = four_up(run->count);
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

// The matrix from the columns, row by row up to the diagonal: what a row's columns respond, then each run of rows of
// it.
static __attribute__((noinline)) void matrix_fill(DirectScratch *s, int stride)
{
    int n = s->dense_count, columns = four_up(s->column_count), run_count = s->run_count;
    memory_grow(&s->matrix, &s->matrix_capacity, stride * stride + 16, sizeof *s->matrix);
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
        for (int r = 0; r < run_count && runs[r].first <= i; r++) {
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
    }
    matrix_mirror(s->matrix, n, stride);
}

// Whether each row is a column of its own, in the same order: then the responses are the matrix.
static bool rows_are_columns(const DirectScratch *s)
{
    for (int i = 0; i < s->dense_count; i++)
        if (row_is_column(&s->dense[i]) != i)
            return false;
    return s->column_count == s->dense_count;
}

static void matrix_build(DirectScratch *s, int stride)
{
    if (rows_are_columns(s)) {
        double *gram = s->gram;
        int capacity = s->gram_capacity;
        s->gram = s->matrix, s->gram_capacity = s->matrix_capacity;
        s->matrix = gram, s->matrix_capacity = capacity;
    } else {
        runs_build(s);
        matrix_fill(s, stride);
    }
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        double *diagonal = &s->matrix[(size_t)i * (size_t)stride + (size_t)i];
        // A row that the tree already holds feels only rounding: give it a stiffness to divide by.
        if (!(*diagonal > 1e-11 * row->scale)) {
            *diagonal = row->scale;
            s->redundant++;
        }
        *diagonal += row->gamma;
    }
}

#endif
