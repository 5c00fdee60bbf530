// solver_direct_sweep.h - the dense problem by sweeps, for islands with so many rows that pivoting would take long: a
// robot in the rubble. The tree is as exact as ever, so joints hold; only the impulses of rows with bounds are
// iterated, from those of the last step. A row feels and moves the velocities of its trees' columns, so a sweep costs
// what the trees are wide, and a loose body is a tree of six columns. A part of solver_direct.c, which is compiled once
// for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_SWEEP_H
#define TALUS_PHYSICS_SOLVER_DIRECT_SWEEP_H

#include "physics/solver/solver_direct_bounds.h"
#include "physics/solver/solver_direct_columns.h"
#include "physics/solver/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// Gives the columns of a tree neighbouring places, the first a multiple of four, and sorts the groups by tree.
static void columns_sort(DirectScratch *s, int tree_count)
{
    memory_grow(&s->trees, &s->tree_capacity, tree_count + 1, sizeof *s->trees);
    memory_grow(&s->tree_groups, &s->tree_group_capacity, s->group_count, sizeof *s->tree_groups);
    memory_grow(&s->column_place, &s->column_place_capacity, s->column_count, sizeof *s->column_place);
    for (int t = 0; t < tree_count; t++)
        s->trees[t] = (TreeColumns){ 0 };
    for (int g = 0; g < s->group_count; g++) {
        assert_debug(s->groups[g].tree >= 0 && s->groups[g].tree < tree_count);
        s->trees[s->groups[g].tree].width += s->groups[g].width;
        s->trees[s->groups[g].tree].group_count++;
    }
    int column = 0, group = 0, gram = 0;
    for (int t = 0; t < tree_count; t++) {
        TreeColumns *tree = &s->trees[t];
        int width = four_up(tree->width);
        tree->first = column;
        tree->first_group = group;
        tree->gram = gram;
        column += width;
        group += tree->group_count;
        gram += width * width;
        tree->width = tree->group_count = 0;
    }
    for (int g = 0; g < s->group_count; g++) {
        TreeColumns *tree = &s->trees[s->groups[g].tree];
        for (int c = 0; c < s->groups[g].width; c++)
            s->column_place[s->groups[g].first + c] = tree->first + tree->width + c;
        s->groups[g].first = tree->width;
        s->tree_groups[tree->first_group + tree->group_count++] = g;
        tree->width += s->groups[g].width;
    }
    for (int i = 0; i < s->dense_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->dense[i].columns[k] >= 0)
                s->dense[i].columns[k] = s->column_place[s->dense[i].columns[k]];
    memory_grow(&s->gram, &s->gram_capacity, gram + 16, sizeof *s->gram);
    memory_grow(&s->column_velocity, &s->column_velocity_capacity, column + 4, sizeof *s->column_velocity);
    memset(s->column_velocity, 0, (size_t)column * sizeof *s->column_velocity);
}

static void tree_grams_build(DirectScratch *s, int tree_count)
{
    for (int t = 0; t < tree_count; t++) {
        const TreeColumns *tree = &s->trees[t];
        int stride = four_up(tree->width);
        double *gram = s->gram + tree->gram;
        for (int i = 0; i < tree->group_count; i++) {
            const ColumnGroup *a = &s->groups[s->tree_groups[tree->first_group + i]];
            for (int k = 0; k <= i; k++) {
                const ColumnGroup *b = &s->groups[s->tree_groups[tree->first_group + k]];
                gram_pair(s, gram, a, b, stride);
            }
        }
        matrix_mirror(gram, tree->width, stride);
    }
}

// What a unit impulse of the row does to the columns of the trees it touches, and to the row itself.
static void sweep_row_prepare(DirectScratch *s, int index, int *used)
{
    assert_debug(index >= 0 && index < s->dense_count);
    const DenseRow *row = &s->dense[index];
    SweepRow *sweep = &s->sweep_rows[index];
    int trees[2];
    double own = 0.0;
    for (int k = 0; k < 2; k++) {
        trees[k] = row->columns[k] >= 0 ? s->nodes[row->nodes[row->nodes[k] >= 0 ? k : 1 - k]].tree : -1;
        const TreeColumns *tree = trees[k] >= 0 ? &s->trees[trees[k]] : NULL;
        bool shared = k == 1 && tree && trees[0] == trees[1];
        int stride = tree ? four_up(tree->width) : 0;
        sweep->width[k] = shared ? 0 : stride;
        if (!tree)
            continue;
        if (!shared) {
            sweep->first[k] = tree->first;
            sweep->response[k] = *used;
            memory_grow(&s->sweep_response, &s->sweep_response_capacity, *used + stride + 4, sizeof *s->sweep_response);
            memset(s->sweep_response + *used, 0, (size_t)stride * sizeof(double));
            *used += stride;
        }
        double *response = s->sweep_response + sweep->response[shared ? 0 : k];
        for (int c = 0; c < row->widths[k]; c++) {
            const double *gram = s->gram + tree->gram + (row->columns[k] - tree->first + c) * stride;
            double coefficient = row->coefficients[k][c];
            for (int q = 0; q < stride; q += 4)
                *(V4 *)(response + q) += *(const V4 *)(gram + q) * coefficient;
        }
    }
    for (int k = 0; k < 2; k++)
        for (int c = 0; trees[k] >= 0 && c < row->widths[k]; c++) {
            const double *response = s->sweep_response + sweep->response[k == 1 && trees[0] == trees[1] ? 0 : k];
            own += row->coefficients[k][c] * response[row->columns[k] - s->trees[trees[k]].first + c];
        }
    if (!(own > 1e-11 * row->scale)) {
        own = row->scale;
        s->redundant++;
    }
    sweep->inverse = 1.0 / (own + row->gamma + 1e-300);
}

static inline void sweep_row_push(DirectScratch *s, const SweepRow *sweep, double impulse)
{
    for (int k = 0; k < 2; k++) {
        double *velocity = s->column_velocity + sweep->first[k];
        const double *response = s->sweep_response + sweep->response[k];
        for (int q = 0; q < sweep->width[k]; q += 4)
            *(V4 *)(velocity + q) += *(const V4 *)(response + q) * impulse;
    }
}

static inline double sweep_row_velocity(const DirectScratch *s, const DenseRow *row)
{
    double sum = 0.0;
    for (int k = 0; k < 2; k++) {
        if (row->columns[k] < 0)
            continue;
        const double *velocity = s->column_velocity + row->columns[k];
        sum += row->widths[k] == 1 ? row->coefficients[k][0] * velocity[0]
                                   : v6_dot(v6_load(row->coefficients[k]), v6_load(velocity));
    }
    return sum;
}

static inline void sweep_row_bounds(DirectScratch *s, int i)
{
    const DenseRow *row = &s->dense[i];
    if (row->scaled_by < 0)
        return;
    double normal = fabs(s->x[row->scaled_by]);
    s->lo[i] = normal > 0.0 ? row->lo * normal : 0.0;
    s->hi[i] = normal > 0.0 ? row->hi * normal : 0.0;
}

// Returns the largest change of a row's velocity.
static double sweep(DirectScratch *s, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const DenseRow *row = &s->dense[i];
        const SweepRow *prepared = &s->sweep_rows[i];
        sweep_row_bounds(s, i);
        double missing = s->rhs[i] - sweep_row_velocity(s, row) - row->gamma * s->x[i];
        double wanted = double_clamp(s->x[i] + missing * prepared->inverse, s->lo[i], s->hi[i]),
               change = wanted - s->x[i];
        if (change == 0.0)
            continue;
        s->x[i] = wanted;
        sweep_row_push(s, prepared, change);
        double moved = fabs(change) / prepared->inverse;
        largest = moved > largest ? moved : largest;
    }
    return largest;
}

static double sweep_start(DirectScratch *s, int n)
{
    double scale = 0.0;
    for (int i = 0; i < n; i++) {
        const DenseRow *row = &s->dense[i];
        int state = row->state ? row_state_last(*row->state) : ROW_FREE;
        double start = row->kept ? *row->kept : state == ROW_LOW ? row->lo : state == ROW_HIGH ? row->hi : 0.0;
        s->rhs[i] = dense_row_wanted(s, row);
        s->lo[i] = row->lo;
        s->hi[i] = row->hi;
        sweep_row_bounds(s, i);
        s->x[i] = isfinite(start) ? double_clamp(start, s->lo[i], s->hi[i]) : double_clamp(0.0, s->lo[i], s->hi[i]);
        sweep_row_push(s, &s->sweep_rows[i], s->x[i]);
        scale = fabs(s->rhs[i]) > scale ? fabs(s->rhs[i]) : scale;
    }
    return scale;
}

static __attribute__((noinline)) void dense_sweep(DirectScratch *s, const IslandTask *task,
                                                  IslandStatistics *statistics)
{
    int n = s->dense_count, used = 0;
    assert_debug(n > 0 && task->swept);
    dense_reserve(s, 0, four_up(n));
    memory_grow(&s->sweep_rows, &s->sweep_row_capacity, n, sizeof *s->sweep_rows);
    columns_build(s, task->input);
    columns_sort(s, task->group_count);
    tree_grams_build(s, task->group_count);
    for (int i = 0; i < n; i++)
        sweep_row_prepare(s, i, &used);
    double enough = SWEEP_CONVERGED * sweep_start(s, n);
    int limit = int_max(MIN_SWEEPS, int_min(MAX_SWEEPS, MAX_SWEEP_WORK / int_max(used, 1)));
    for (int k = 0; k < limit; k++) {
        statistics->sweeps++;
        if (sweep(s, n) <= enough)
            break;
    }
    for (int i = 0; i < n; i++) {
        s->state[i] = s->x[i] <= s->lo[i] ? ROW_LOW : s->x[i] >= s->hi[i] ? ROW_HIGH : ROW_FREE;
        if (s->dense[i].state)
            *s->dense[i].state = s->state[i];
    }
}

#endif
