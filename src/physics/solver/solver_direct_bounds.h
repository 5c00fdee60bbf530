// solver_direct_bounds.h - the dense problem with bounds: block pivoting, friction after normals as in ODE.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_BOUNDS_H
#define TALUS_PHYSICS_SOLVER_DIRECT_BOUNDS_H

#include "physics/solver/solver_direct_columns.h"
#include "physics/solver/tuning.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// Rows at a bound act on the free ones as given impulses. Those at zero act on nobody.
static int held_rows(DirectScratch *s, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (s->state[i] != ROW_FREE && s->x[i] != 0.0)
            s->held[count++] = i;
    return count;
}

// The free rows of the matrix from the diagonal on, and behind them what they want beyond the held ones, in `factor`.
// Returns how many there are.
static int free_rows_gather(DirectScratch *s, int n, int stride, int factor_stride)
{
    int m = 0, held = held_rows(s, n);
    for (int i = 0; i < n; i++)
        if (s->state[i] == ROW_FREE)
            s->index[m++] = i;
    const int width = four_up(m + 1);
    for (int a = 0; a < m; a++) {
        const double *row = s->matrix + (size_t)s->index[a] * (size_t)stride;
        double *ua = s->factor + (size_t)a * (size_t)factor_stride, sum = s->rhs[s->index[a]];
        for (int k = 0; k < held; k++)
            sum -= row[s->held[k]] * s->x[s->held[k]];
        v4_store(ua + width - 4, (V4){ 0 });
        if (m == n)
            for (int b = a & ~3; b < m; b += 4)
                v4_store(ua + b, v4_load(row + b));
        else
            for (int b = a & ~3; b < m; b++)
                ua[b] = row[s->index[b]];
        ua[m] = sum;
    }
    return m;
}

// Four neighbouring rows of the factor, as their elimination needs them.
typedef struct Panel {
    double *rows[4];
    double reciprocal[4];
    double by[4][4];  // [r][q]: what of row q is taken from row r
} Panel;

// The square on the diagonal, whose first row and column is k of m: with it all is known that the panel's rows take
// from each other. A row that is not there, or says what others did before, counts nothing.
static void panel_begin(DirectScratch *s, Panel *panel, int k, int m, int stride)
{
    assert_debug(k % 4 == 0 && k < m);
    double d[4][4];
    for (int r = 0; r < 4; r++)
        v4_store(d[r], v4_load(panel->rows[r] + k));
    for (int r = 0; r < 4; r++) {
        for (int q = 0; q < r; q++) {
            panel->by[r][q] = d[q][r] * panel->reciprocal[q];
            v4_store(d[r], v4_load(d[r]) - v4_load(d[q]) * panel->by[r][q]);
        }
        panel->reciprocal[r] = 0.0;
        if (k + r >= m)
            continue;
        size_t row = (size_t)s->index[k + r];
        if (d[r][r] > 1e-12 * s->matrix[row * (size_t)stride + row])
            panel->reciprocal[r] = 1.0 / d[r][r];
        else
            s->redundant++;
    }
}

// Finishes the panel's rows from column k up to `width`; `scaled` gets them divided by their diagonals.
static void panel_finish(const Panel *panel, int k, int width, double *scaled, int scaled_stride)
{
    double *u0 = panel->rows[0], *u1 = panel->rows[1], *u2 = panel->rows[2], *u3 = panel->rows[3];
    const double b10 = panel->by[1][0], b20 = panel->by[2][0], b21 = panel->by[2][1];
    const double b30 = panel->by[3][0], b31 = panel->by[3][1], b32 = panel->by[3][2];
    const double r0 = panel->reciprocal[0], r1 = panel->reciprocal[1], r2 = panel->reciprocal[2],
                 r3 = panel->reciprocal[3];
    for (int j = k; j < width; j += 4) {
        V4 a = v4_load(u0 + j), b = v4_load(u1 + j) - a * b10;
        V4 c = v4_load(u2 + j) - a * b20 - b * b21;
        V4 d = v4_load(u3 + j) - a * b30 - b * b31 - c * b32;
        v4_store(u1 + j, b);
        v4_store(u2 + j, c);
        v4_store(u3 + j, d);
        v4_store(scaled + j, a * r0);
        v4_store(scaled + scaled_stride + j, b * r1);
        v4_store(scaled + 2 * scaled_stride + j, c * r2);
        v4_store(scaled + 3 * scaled_stride + j, d * r3);
    }
}

// A finished panel as others feel it: its rows, and these divided by their diagonals.
typedef struct PanelRows {
    const double *u0, *u1, *u2, *u3;
    const double *v0, *v1, *v2, *v3;
} PanelRows;

static inline PanelRows panel_rows(const Panel *panel, const double *scaled, int stride)
{
    return (PanelRows){ panel->rows[0], panel->rows[1],  panel->rows[2],      panel->rows[3],
                        scaled,         scaled + stride, scaled + 2 * stride, scaled + 3 * stride };
}

// Takes a finished panel from row i.
static inline void panel_take(PanelRows p, double *row, int i, int width)
{
    const double f0 = p.v0[i], f1 = p.v1[i], f2 = p.v2[i], f3 = p.v3[i];
    for (int j = i & ~3; j < width; j += 4)
        v4_store(row + j, v4_load(row + j)
                              - ((v4_load(p.u0 + j) * f0 + v4_load(p.u1 + j) * f1)
                                 + (v4_load(p.u2 + j) * f2 + v4_load(p.u3 + j) * f3)));
}

// Takes two at once. Rows that have nothing to do with them, of another robot, are left alone.
static inline void panels_take(PanelRows p, PanelRows q, double *row, int i, int width)
{
    const double f0 = p.v0[i], f1 = p.v1[i], f2 = p.v2[i], f3 = p.v3[i];
    const double g0 = q.v0[i], g1 = q.v1[i], g2 = q.v2[i], g3 = q.v3[i];
    if (f0 == 0.0 && f1 == 0.0 && f2 == 0.0 && f3 == 0.0 && g0 == 0.0 && g1 == 0.0 && g2 == 0.0 && g3 == 0.0)
        return;
    for (int j = i & ~3; j < width; j += 4) {
        V4 sum = (v4_load(p.u0 + j) * f0 + v4_load(p.u1 + j) * f1) + (v4_load(p.u2 + j) * f2 + v4_load(p.u3 + j) * f3);
        sum += (v4_load(q.u0 + j) * g0 + v4_load(q.u1 + j) * g1) + (v4_load(q.u2 + j) * g2 + v4_load(q.u3 + j) * g3);
        v4_store(row + j, v4_load(row + j) - sum);
    }
}

// From the last row up: what is wanted, behind each row, becomes its impulse.
static void free_rows_solve_back(DirectScratch *s, int m, int factor_stride)
{
    double *y = s->work;
    const int width = four_up(m);
    for (int k = m; k < width; k++)
        y[k] = 0.0;
    for (int k = m - 1; k >= 0; k--) {
        const double *uk = s->factor + (size_t)k * (size_t)factor_stride;
        double sum = uk[m];
        int j = k + 1;
        for (; j & 3; j++)
            sum -= uk[j] * y[j];
        if (j < width) {
            V4 four = v4_load(uk + j) * v4_load(y + j);
            for (j += 4; j < width; j += 4)
                four += v4_load(uk + j) * v4_load(y + j);
            sum -= v4_sum(four);
        }
        y[k] = sum * s->reciprocal[k];
    }
    for (int a = 0; a < m; a++)
        s->x[s->index[a]] = y[a];
}

// Memory behind the rows of the factor: one of zeros, and eight of finished ones that are divided by their diagonals.
#define SPARE_ROWS 9

// Finishes the rows k to k+3 of m.
static PanelRows rows_finish(DirectScratch *s, int k, int m, int stride, double *spare, double *scaled)
{
    const int factor_stride = stride + 4, width = four_up(m + 1);
    Panel panel;
    for (int r = 0; r < 4; r++)
        panel.rows[r] = k + r < m ? s->factor + (size_t)(k + r) * (size_t)factor_stride : spare;
    panel_begin(s, &panel, k, m, stride);
    for (int r = 0; r < 4; r++)
        s->reciprocal[k + r] = panel.reciprocal[r];
    panel_finish(&panel, k, width, scaled, factor_stride);
    return panel_rows(&panel, scaled, factor_stride);
}

// Solves for the free rows with the others held, by U' D U with the right-hand side as one column more. Rows of U are
// worked on four numbers at a time from the last multiple of four before the diagonal; what stands left of it is never
// read. Twice four rows are finished and then taken from all that follow.
static void free_rows_solve(DirectScratch *s, int n, int stride)
{
    const int factor_stride = stride + 4;
    const int m = free_rows_gather(s, n, stride, factor_stride), width = four_up(m + 1);
    double *spare = s->factor + (size_t)n * (size_t)factor_stride, *scaled = spare + factor_stride;
    assert_debug(m <= n && width <= factor_stride);
    memset(spare, 0, (size_t)width * sizeof *spare);
    for (int k = 0; k < m; k += 8) {
        PanelRows p = rows_finish(s, k, m, stride, spare, scaled);
        double *row = s->factor + (size_t)(k + 4) * (size_t)factor_stride;
        for (int i = k + 4; i < int_min(k + 8, m); i++, row += factor_stride)
            panel_take(p, row, i, width);
        if (k + 4 >= m)
            break;
        PanelRows q = rows_finish(s, k + 4, m, stride, spare, scaled + 4 * factor_stride);
        for (int i = k + 8; i < m; i++, row += factor_stride)
            panels_take(p, q, row, i, width);
    }
    free_rows_solve_back(s, m, factor_stride);
}

// Which state the current solution asks of row i; equal to the present one when it is content. `gradient`: by what the
// velocity of a row at its bound exceeds the wanted one.
static inline int wanted_state(const DirectScratch *s, int i, double gradient, double tolerance, double scale)
{
    if (s->lo[i] == s->hi[i])
        return s->state[i] == ROW_FREE ? ROW_LOW : s->state[i];
    if (s->state[i] == ROW_FREE) {
        double slack = PIVOT_SLACK * (fabs(s->x[i]) + scale);
        return s->x[i] < s->lo[i] - slack ? ROW_LOW : s->x[i] > s->hi[i] + slack ? ROW_HIGH : ROW_FREE;
    }
    if (s->state[i] == ROW_LOW)
        return gradient < -tolerance ? ROW_FREE : ROW_LOW;
    return gradient > tolerance ? ROW_FREE : ROW_HIGH;
}

static inline double dense_gradient(const DirectScratch *s, int i, int stride)
{
    if (s->lo[i] == s->hi[i] || s->state[i] == ROW_FREE)
        return 0.0;
    return dot(s->matrix + (size_t)i * (size_t)stride, s->x, stride) - s->rhs[i];
}

static double largest_impulse(const DirectScratch *s, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++)
        max = double_max(max, fabs(s->x[i]));
    return max;
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

// Rows go to the states that the solution asks for, all at once or one by one, until they are content. The solution is
// unique, so neither the way nor the first states show in it.
static void bounded_solve(DirectScratch *s, int n, int stride, IslandStatistics *statistics)
{
    double scale = 0.0;
    for (int i = 0; i < n; i++)
        scale = fabs(s->rhs[i]) > scale ? fabs(s->rhs[i]) : scale;
    double tolerance = PIVOT_SLACK * (scale + 1e-9);
    assert_debug(n > 0 && n <= s->state_capacity && stride == four_up(n));
    int best = n + 1, patience = 5;
    int limit = (int)double_clamp(MAX_PIVOT_WORK / ((double)n * n * n + 1.0), MIN_PIVOT_ROUNDS, MAX_PIVOT_ROUNDS);
    for (int round = 0; round < limit; round++) {
        statistics->pivot_rounds++;
        hold_bound_rows(s, n);
        free_rows_solve(s, n, stride);
        int unhappy = 0, last = -1;
        double max = largest_impulse(s, n);
        for (int i = 0; i < n; i++) {
            int wanted = wanted_state(s, i, dense_gradient(s, i, stride), tolerance, max);
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
    memory_grow(&s->factor, &s->factor_matrix_capacity, (n + SPARE_ROWS) * (stride + 4), sizeof *s->factor);
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

// Bounds and first states without friction, whose normal impulses bound the friction rows. True when there are such
// rows.
static bool normals_begin(DirectScratch *s)
{
    bool friction = false;
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        bool scaled = row->scaled_by >= 0;
        friction |= scaled;
        s->x[i] = 0.0;
        s->lo[i] = scaled ? 0.0 : row->lo;
        s->hi[i] = scaled ? 0.0 : row->hi;
        s->state[i] = scaled ? ROW_LOW : first_state(row, row->state ? row_state_frictionless(*row->state) : ROW_FREE);
    }
    return friction;
}

// The same with friction, when the normals are known.
static void friction_begin(DirectScratch *s)
{
    for (int i = 0; i < s->dense_count; i++) {
        const DenseRow *row = &s->dense[i];
        if (row->scaled_by < 0) {
            s->state[i] = first_state(row, row->state ? row_state_last(*row->state) : s->state[i]);
            continue;
        }
        assert_debug(row->scaled_by < s->dense_count);
        double normal = fabs(s->x[row->scaled_by]);
        s->hi[i] = normal > 0.0 ? row->hi * normal : 0.0;
        s->lo[i] = normal > 0.0 ? row->lo * normal : 0.0;
        s->state[i] = s->hi[i] == 0.0 ? ROW_LOW : row->state ? (int8_t)row_state_last(*row->state) : ROW_FREE;
        if (s->hi[i] == SOLVER_INFINITY)
            s->state[i] = ROW_FREE;
    }
}

static __attribute__((noinline)) bool dense_solve_normals(DirectScratch *s, const SolverInput *input,
                                                          IslandStatistics *statistics)
{
    int n = s->dense_count, stride = four_up(n);
    dense_reserve(s, n, stride);
    columns_build(s, input);
    gram_build(s);
    matrix_build(s, stride);
    bool friction = normals_begin(s);
    for (int i = 0; i < n; i++)
        s->rhs[i] = dense_row_wanted(s, &s->dense[i]);
    for (int i = n; i < stride; i++)
        s->x[i] = 0.0;
    bounded_solve(s, n, stride, statistics);
    memcpy(s->frictionless, s->state, (size_t)n);
    return friction;
}

static __attribute__((noinline)) void dense_solve_friction(DirectScratch *s, IslandStatistics *statistics)
{
    friction_begin(s);
    bounded_solve(s, s->dense_count, four_up(s->dense_count), statistics);
}

static void dense_remember(DirectScratch *s)
{
    assert_debug(s->dense_count <= s->frictionless_capacity);
    for (int i = 0; i < s->dense_count; i++)
        if (s->dense[i].state)
            *s->dense[i].state = row_states(s->state[i], s->dense[i].scaled_by >= 0 ? ROW_LOW : s->frictionless[i]);
}

#endif
