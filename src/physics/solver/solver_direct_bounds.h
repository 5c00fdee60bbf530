// solver_direct_bounds.h - the dense problem with bounds: block pivoting, friction after normals as in ODE.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_BOUNDS_H
#define TALUS_PHYSICS_SOLVER_DIRECT_BOUNDS_H

#include "physics/solver/solver_direct_columns.h"
#include "physics/solver/tuning.h"

#include <math.h>

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
        double slack = PIVOT_SLACK * (fabs(s->x[i]) + scale);
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
    double tolerance = PIVOT_SLACK * (scale + 1e-9);
    int best = n + 1, patience = 5;
    int limit = (int)double_clamp(MAX_PIVOT_WORK / ((double)n * n * n + 1.0), MIN_PIVOT_ROUNDS, MAX_PIVOT_ROUNDS);
    for (int round = 0; round < limit; round++) {
        statistics->pivot_rounds++;
        hold_bound_rows(s, n);
        free_rows_solve(s, n, stride);
        int unhappy = 0, last = -1;
        double max = 0.0;
        for (int i = 0; i < n; i++)
            max = fabs(s->x[i]) > max ? fabs(s->x[i]) : max;
        for (int i = 0; i < n; i++) {
            int wanted = wanted_state(s, i, stride, tolerance, max);
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
    memory_grow(&s->frictionless, &s->frictionless_capacity, stride, sizeof *s->frictionless);
    memory_grow(&s->index, &s->index_capacity, stride, sizeof *s->index);
    memory_grow(&s->held, &s->held_capacity, stride, sizeof *s->held);
}

// The change of velocity that the row asks for.
static double dense_row_wanted(const DirectScratch *s, const DenseRow *row)
{
    double now = 0.0;
    for (int k = 0; k < 2; k++)
        if (row->nodes[k] >= 0)
            now += spatial_dot(spatial_load(row->j[k]), spatial_load(s->nodes[row->nodes[k]].velocity));
    return row->rhs - now;
}

// A row starts as remembered, unless it has no such bound.
static int8_t first_state(const DenseRow *row, int remembered)
{
    bool has_bound = remembered == ROW_LOW    ? row->lo != -SOLVER_INFINITY
                     : remembered == ROW_HIGH ? row->hi != SOLVER_INFINITY
                                              : false;
    return has_bound ? (int8_t)remembered : ROW_FREE;
}

// The problem without friction, whose normal impulses bound the friction rows. True when there are such rows.
static __attribute__((noinline)) bool dense_solve_normals(DirectScratch *s, const SolverInput *input,
                                                          IslandStatistics *statistics)
{
    int n = s->dense_count, stride = (n + 3) & ~3;
    bool friction = false;
    dense_reserve(s, n, stride);
    columns_build(s, input);
    gram_build(s);
    matrix_build(s, stride);
    for (int i = 0; i < n; i++) {
        const DenseRow *row = &s->dense[i];
        s->rhs[i] = dense_row_wanted(s, row);
        s->x[i] = 0.0;
        bool scaled = row->scaled_by >= 0;
        friction |= scaled;
        s->lo[i] = scaled ? 0.0 : row->lo;
        s->hi[i] = scaled ? 0.0 : row->hi;
        s->state[i] = scaled ? ROW_LOW : first_state(row, row->state ? row_state_frictionless(*row->state) : ROW_FREE);
    }
    for (int i = n; i < stride; i++)
        s->x[i] = 0.0;
    bounded_solve(s, n, stride, statistics);
    memcpy(s->frictionless, s->state, (size_t)n);
    return friction;
}

static __attribute__((noinline)) void dense_solve_friction(DirectScratch *s, IslandStatistics *statistics)
{
    int n = s->dense_count, stride = (n + 3) & ~3;
    for (int i = 0; i < n; i++) {
        const DenseRow *row = &s->dense[i];
        if (row->scaled_by < 0) {
            s->state[i] = first_state(row, row->state ? row_state_last(*row->state) : s->state[i]);
            continue;
        }
        double normal = fabs(s->x[row->scaled_by]);
        s->hi[i] = normal > 0.0 ? row->hi * normal : 0.0;
        s->lo[i] = normal > 0.0 ? row->lo * normal : 0.0;
        s->state[i] = s->hi[i] == 0.0 ? ROW_LOW : row->state ? (int8_t)row_state_last(*row->state) : ROW_FREE;
        if (s->hi[i] == SOLVER_INFINITY)
            s->state[i] = ROW_FREE;
    }
    bounded_solve(s, n, stride, statistics);
}

static void dense_remember(DirectScratch *s)
{
    for (int i = 0; i < s->dense_count; i++)
        if (s->dense[i].state)
            *s->dense[i].state = row_states(s->state[i], s->dense[i].scaled_by >= 0 ? ROW_LOW : s->frictionless[i]);
}

#endif
