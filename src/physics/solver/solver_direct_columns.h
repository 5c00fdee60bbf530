// solver_direct_columns.h - responses along the tree, and the matrix of the dense problem made of them.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_COLUMNS_H
#define TALUS_PHYSICS_SOLVER_DIRECT_COLUMNS_H

#include "physics/solver/solver_direct_inverse.h"

#include "base/memory.h"

#include <string.h>

// What a unit impulse does to the node when its parent is held, and what of it reaches the parent.
static void node_respond_alone(const Node *node, Response *response)
{
    if (node->row_count == 0) {
        // A joint without rows in the tree (a motor without power, friction) makes a link that carries nothing.
        memcpy(response->total, node->inverse, sizeof response->total);
        memset(response->pass, 0, sizeof response->pass);
        return;
    }
    Spatial y[LINK_ROWS], z[LINK_ROWS];
    for (int r = 0; r < LINK_ROWS; r++)
        y[r] = spatial_load(node->y + SPATIAL * r);
    for (int r = 0; r < LINK_ROWS; r++) {
        z[r] = spatial_scale(y[0], node->s[SPATIAL * r]);
        for (int c = 1; c < LINK_ROWS; c++)
            z[r] = spatial_mad(z[r], y[c], node->s[SPATIAL * r + spatial_place(c)]);
    }
    for (int k = 0; k < 6; k++) {
        Spatial sum = spatial_load(node->inverse + SPATIAL * k);
        for (int r = 0; r < LINK_ROWS; r++)
            sum = spatial_nmad(sum, z[r], node->y[SPATIAL * r + spatial_place(k)]);
        spatial_store(response->total + SPATIAL * k, sum);
    }
    if (node->parent < 0)
        return;
    for (int r = 0; r < LINK_ROWS; r++)
        z[r] = spatial_load(node->x + SPATIAL * r);
    for (int k = 0; k < 6; k++) {
        Spatial pass = { { 0 }, { 0 } };
        for (int r = 0; r < LINK_ROWS; r++)
            pass = spatial_nmad(pass, z[r], node->y[SPATIAL * r + spatial_place(k)]);
        spatial_store(response->pass + SPATIAL * k, pass);
    }
}

static void spatial_transpose(const double *m, double *out)
{
    V4 quarter[3], turned[3];
    for (int i = 0; i < 4; i++) {
        int rows = SPATIAL * 3 * (i / 2), columns = 4 * (i % 2);
        for (int k = 0; k < 3; k++)
            quarter[k] = v4_load(m + rows + SPATIAL * k + columns);
        v4_transpose(quarter, turned);
        for (int k = 0; k < 3; k++)
            v4_store(out + SPATIAL * (3 * (i % 2) + k) + 4 * (i / 2), turned[k]);
    }
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
    s->nodes[node].is_meeting = true;
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
    for (int i = 0; i < s->dense_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->dense[i].nodes[k] >= 0)
                path_mark(s, s->dense[i].nodes[k]);
    for (int i = 0; i < s->node_count; i++) {
        const Node *node = &s->nodes[i];
        if (!node->on_path)
            continue;
        node_respond_alone(node, &s->responses[i]);
        if (node->parent >= 0 && node->row_count > 0)
            node_respond_with_parent(&s->responses[node->parent], &s->responses[i]);
    }
}

// A link's column has one vector more, what it does at the parent of its node.
static int column_size(const Node *node, bool is_link) { return SPATIAL * (node->depth + (is_link ? 2 : 1)); }

static ColumnGroup *group_add(DirectScratch *s, int node_index, int width, bool is_link)
{
    const Node *node = &s->nodes[node_index];
    int size = column_size(node, is_link), response = is_link ? size : 36 * (node->depth + 1);
    memory_grow(&s->groups, &s->group_capacity, s->group_count + 1, sizeof *s->groups);
    memory_grow(&s->up, &s->up_capacity, s->up_count + width * size, sizeof *s->up);
    memory_grow(&s->response_up, &s->response_capacity, s->response_count + response, sizeof *s->response_up);
    ColumnGroup *group = &s->groups[s->group_count++];
    *group = (ColumnGroup){ node_index, node->tree, s->column_count, width, is_link, s->up_count, s->response_count };
    s->column_count += width;
    s->up_count += width * size;
    s->response_count += response;
    return group;
}

// Carries the impulse of a row between a node and its parent to the root.
static int link_column_add(DirectScratch *s, int node_index, const double *at_node, const double *at_parent)
{
    const ColumnGroup *group = group_add(s, node_index, 1, true);
    const Node *first = &s->nodes[node_index];
    double *up = s->up + group->start, *response = s->response_up + group->response, above[SPATIAL];
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

// Impulses at a node: the unit ones, or the rows that touch it.
static int columns_add(DirectScratch *s, int node_index, const double starts[6][SPATIAL], int width)
{
    const ColumnGroup *group = group_add(s, node_index, width, false);
    int size = column_size(&s->nodes[node_index], false);
    double *up = s->up + group->start, *response = s->response_up + group->response;
    Spatial u[6];
    for (int c = 0; c < 6; c++)
        u[c] = spatial_load(starts[c]);
    for (int i = node_index; i >= 0; i = s->nodes[i].parent) {
        const Node *node = &s->nodes[i];
        const Response *r = &s->responses[i];
        double *block = response + 36 * node->depth;
        if (node->is_meeting && width < 6)
            memset(block, 0, 36 * sizeof *block);
        for (int c = 0; c < width; c++) {
            double *here = up + c * size + SPATIAL * node->depth, there[SPATIAL];
            spatial_store(here, u[c]);
            u[c] = spatial_matrix(r->pass, here);
            if (!node->is_meeting)
                continue;
            spatial_store(there, spatial_matrix(r->total, here));
            for (int k = 0; k < 6; k++)
                block[6 * k + c] = there[spatial_place(k)];
        }
    }
    return group->first;
}

static double row_scale(const SolverBody *body, const double *j)
{
    double linear = j[0] * j[0] + j[1] * j[1] + j[2] * j[2], angular = j[4] * j[4] + j[5] * j[5] + j[6] * j[6];
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
    static const double units[6][SPATIAL] = { { [0] = 1 }, { [1] = 1 }, { [2] = 1 },
                                              { [4] = 1 }, { [5] = 1 }, { [6] = 1 } };
    int node = row->nodes[side];
    bool many = s->side_count[node] > 6;
    if (s->first_column[node] < 0 && many) {
        s->first_column[node] = columns_add(s, node, units, 6);
    } else if (s->first_column[node] < 0) {
        // This row and the coming ones; those of a link are not counted here, as both its ends share a column.
        double starts[6][SPATIAL] = { { 0 } };
        int count = 0;
        for (int i = index; i < s->dense_count && count < 6; i++)
            for (int k = 0; k < 2 && count < 6; k++)
                if (s->dense[i].nodes[k] == node && !row_is_of_link(s, &s->dense[i]) && (i > index || k >= side))
                    memcpy(starts[count++], s->dense[i].j[k], sizeof starts[0]);
        s->first_column[node] = columns_add(s, node, starts, count);
        s->side_count[node] = 0;
    }
    if (many) {
        row->columns[side] = s->first_column[node];
        row->widths[side] = 6;
        spatial_unpack(row->coefficients[side], row->j[side]);
        return;
    }
    row->columns[side] = s->first_column[node]
                         - s->side_count[node]--;  // the count runs 0, -1, ...: the next of the six
    row->widths[side] = 1;
    row->coefficients[side][0] = 1.0;
}

// The columns of all rows: one for a row between a link and its parent, for other rows what row_side_column() finds
// best.
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
    responses_build(s);
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        row->columns[0] = row->columns[1] = -1;
        row->scale = 0.0;
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0)
                row->scale += row_scale(&input->bodies[s->nodes[row->nodes[k]].body], row->j[k]);
        if (row_is_of_link(s, row)) {
            int child = s->nodes[row->nodes[0]].parent == row->nodes[1] ? 0 : 1;
            row->columns[0] = link_column_add(s, row->nodes[child], row->j[child], row->j[1 - child]);
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

// Responses of one column to the six columns of a group.
static inline V6 gram_six(V6 sum, const double *up, const double *response)
{
    for (int k = 0; k < 6; k++)
        sum = v6_mad(sum, v6_load(response + 6 * k), up[spatial_place(k)]);
    return sum;
}

static inline void gram_store(double *gram, int row, const ColumnGroup *b, V6 value, int stride)
{
    double six[6], *out = gram + row * stride + b->first, *mirror = gram + b->first * stride + row;
    v6_store(six, value);
    if (b->width == 6) {
        v6_store(out, value);
        for (int k = 0; k < 6; k++)
            mirror[k * stride] = six[k];
        return;
    }
    for (int k = 0; k < b->width; k++)
        out[k] = mirror[k * stride] = six[k];
}

// What a's impulses, carried up to the node where both meet, feel of the velocities that b's cause there. Where a
// link's column starts at that very node, its parent's share has not been carried yet.
static void gram_pair(const DirectScratch *s, double *gram, const ColumnGroup *a, const ColumnGroup *b, int stride)
{
    if (b->is_link && !a->is_link) {
        gram_pair(s, gram, b, a, stride);
        return;
    }
    int node = a->tree == b->tree ? common_node(s, a->node, b->node) : -1, depth = node < 0 ? 0 : s->nodes[node].depth;
    bool is_start = a->is_link && node == a->node;
    const double *up = s->up + a->start + SPATIAL * depth;
    if (b->is_link) {
        const double *response = s->response_up + b->response + SPATIAL * depth;
        double value = node < 0 ? 0.0 : spatial_dot(spatial_load(up), spatial_load(response));
        if (is_start)
            value += spatial_dot(spatial_load(up + SPATIAL), spatial_load(response - SPATIAL));
        gram[a->first * stride + b->first] = gram[b->first * stride + a->first] = value;
        return;
    }
    const double *response = s->response_up + b->response + 36 * depth;
    int size = column_size(&s->nodes[a->node], a->is_link);
    for (int i = 0; i < a->width; i++) {
        V6 value = { { 0 }, { 0 } };
        if (node >= 0)
            value = gram_six(value, up + i * size, response);
        if (is_start)
            value = gram_six(value, up + SPATIAL, response - 36);
        gram_store(gram, a->first + i, b, value, stride);
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
            gram_pair(s, s->gram, a, b, stride);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = n; k < stride; k++)
            s->gram[i * stride + k] = 0.0;
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

static __attribute__((noinline)) void matrix_fill(DirectScratch *s, int stride)
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
        for (int j = n; j < stride; j++)
            out[j] = 0.0;
    }
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
