// The exact solution of one island of jointed bodies in O(n) plus a small dense problem.
//
// Each body is a node of a joint tree. From the leaves up, a node's mass M (6x6, its own plus what its subtree adds)
// and momentum b are carried over the rows of its link (child side Jc, parent side Jp, softness g = cfm/dt):
//     S = Jc M^-1 Jc' + g         parent mass += Jp' S^-1 Jp         parent momentum += Jp' S^-1 (rhs - Jc M^-1 b)
// and from the root down  impulse = S^-1 (rhs - Jc M^-1 b - Jp v_parent),  v = M^-1 (b + Jc' impulse).
// Only sums of positive parts occur, so the masses stay positive definite for any mass ratio. Neither inverse is ever
// written down: M and S are eliminated by blocks of 3x3, M's of moving and turning, S's of its first and last three
// equations, and vectors go through the blocks. A joint that holds a point has zeros and multiples of 1 in them.
//
// Rows with bounds (contacts, stops, motors that reach their limit) and rows that close loops form a dense problem in
// their impulses. Its matrix comes from responses along the tree: a unit impulse is carried to the root once per column
// (columns serve all rows of a body when there are more than six), and two columns meet at the first node that both
// pass. The bounded problem is solved as ODE does: first without friction, which fixes the friction bounds, then with
// it; both are strictly convex, so block pivoting with a single-pivot guard ends.
//
// This file is compiled twice, for the plain and for the wide instruction set; the order of operations is the same.
#ifndef SOLVER_VARIANT
#define SOLVER_VARIANT solver_direct_portable
#define SOLVER_TREES_VARIANT solver_trees_portable
#define SOLVER_SCRATCH_HERE
#endif

#include "physics/solver/solver_direct.h"
#include "physics/solver/solver_direct_bounds.h"
#include "physics/solver/solver_direct_build.h"
#include "physics/solver/solver_direct_columns.h"
#include "physics/solver/solver_direct_soft.h"
#include "physics/solver/solver_direct_sweep.h"
#include "physics/solver/solver_direct_tree.h"
#include "physics/solver/solver_direct_trees.h"
#include "physics/solver/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SOLVER_SCRATCH_HERE
DirectScratch *direct_scratch_create(void) { return memory_alloc_lines(sizeof(DirectScratch)); }

void direct_scratch_destroy(DirectScratch *s)
{
    if (!s)
        return;
    // Every array that something grew.
    void *owned[] = { s->nodes,
                      s->responses,
                      s->before,
                      s->motors,
                      s->dense,
                      s->groups,
                      s->runs,
                      s->lanes,
                      s->up,
                      s->response_up,
                      s->gram,
                      s->matrix,
                      s->factor,
                      s->product,
                      s->rhs,
                      s->x,
                      s->lo,
                      s->hi,
                      s->work,
                      s->reciprocal,
                      s->state,
                      s->frictionless,
                      s->index,
                      s->held,
                      s->first_column,
                      s->side_count,
                      s->trees,
                      s->sweep_rows,
                      s->tree_groups,
                      s->column_place,
                      s->column_velocity,
                      s->sweep_response };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    free(s);
}
#endif

// The rows of one contact with its sides as the trees have them.
static void contact_add(DirectScratch *s, const IslandTask *task, const ContactRun *run, int index, const int nodes[2],
                        double min_softness)
{
    const SolverInput *input = task->input;
    ContactMemory *memory = &task->contact_memory[index];
    RollingMemory *rolling = task->rolling_memory ? &task->rolling_memory[index] : NULL;
    ContactRow rows[SOLVER_CONTACT_ROWS];
    assert(index >= 0 && index < input->contact_count);
    int count = solver_contact_rows(input, run->bodies, index, rows), normal = s->dense_count;
    memory_grow(&s->dense, &s->dense_capacity, s->dense_count + count, sizeof *s->dense);
    for (int i = 0; i < count; i++) {
        DenseRow *dense = &s->dense[s->dense_count++];
        const ContactRow *row = &rows[i];
        dense->rhs = row->rhs;
        dense->gamma = row->cfm / input->dt;
        dense->scaled_by = row->scaled ? normal : -1;
        dense->lo = row->scaled ? row->lo : row->lo * input->dt;
        dense->hi = row->scaled ? row->hi : row->hi * input->dt;
        dense->source = NULL;
        dense->state = &memory->state[row->slot];
        dense->kept = contact_impulse(memory, rolling, row->slot);
        dense->memory = NULL;
        dense->applied = 0.0;
        for (int k = 0; k < 2; k++) {
            const double *side = k == 0 ? row->j1 : row->j2;
            dense->nodes[k] = nodes[k];
            spatial_pack(dense->j[k], side);
            if (nodes[k] < 0)
                dense->rhs -= fixed_side_velocity(input, run->bodies[k], side);
        }
    }
    s->dense[normal].gamma = double_max(s->dense[normal].gamma, min_softness);
}

// Contacts as rows of the dense problem. Sides that do not move go to the right-hand side with their velocity.
static __attribute__((noinline)) void contacts_add(DirectScratch *s, IslandTask *task)
{
    const SolverBody *bodies = task->input->bodies;
    for (int r = 0; r < task->run_count; r++) {
        const ContactRun *run = &task->contact_runs[task->runs[r]];
        int first = run->first, nodes[2];
        assert_debug(run->count > 0 && first + run->count <= task->input->contact_count);
        double min_softness = task->swept ? solver_run_min_softness(task, run) : 0.0;
        for (int k = 0; k < 2; k++)
            nodes[k] = run->bodies[k] >= 0 && !solver_body_is_fixed(&bodies[run->bodies[k]])
                           ? task->node_of_body[run->bodies[k]]
                           : -1;
        for (int i = first; i < first + run->count; i++)
            contact_add(s, task, run, i, nodes, min_softness);
    }
}

// Carries the impulses of the dense rows, beyond those that were applied before, through the trees.
static __attribute__((noinline)) void dense_apply(DirectScratch *s)
{
    assert_debug(s->dense_count <= s->x_capacity);
    for (int i = 0; i < s->node_count; i++)
        memset(s->nodes[i].momentum, 0, sizeof s->nodes[i].momentum);
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        double change = s->x[i] - row->applied;
        row->applied = s->x[i];
        for (int k = 0; k < 2; k++)
            if (row->nodes[k] >= 0) {
                double *b = s->nodes[row->nodes[k]].momentum;
                spatial_store(b, spatial_mad(spatial_load(b), spatial_load(row->j[k]), change));
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
        assert_debug(motor->node >= 0 && motor->node < s->node_count && motor->row >= 0 && motor->row < LINK_ROWS);
        const SolverRow *row = s->nodes[motor->node].rows[motor->row];
        double force = s->nodes[motor->node].impulse[spatial_place(motor->row)] / dt,
               slack = 1e-9 * (fabs(force) + 1e-9);
        bool high = force > row->hi + slack, low = force < row->lo - slack;
        if (!high && !low)
            continue;
        motor->memory->dense = MOTOR_DENSE_STEPS;
        motor->memory->state = high ? row_states(ROW_HIGH, ROW_HIGH) : row_states(ROW_LOW, ROW_LOW);
        any = true;
    }
    return any;
}

static void motors_all_dense(DirectScratch *s)
{
    for (int i = 0; i < s->motor_count; i++)
        s->motors[i].memory->dense = MOTOR_DENSE_STEPS;
}

// The rows with bounds. False: a motor of the tree came out too strong, in the end or already without friction, where
// the friction bounds come from; it is in the dense problem when the island is solved again.
static bool dense_settle(DirectScratch *s, IslandTask *task, bool is_last)
{
    double dt = task->input->dt;
    assert(dt > 0.0);
    if (s->dense_count > 0 && task->swept) {
        dense_sweep(s, task, &task->statistics);
        dense_apply(s);
    } else if (s->dense_count > 0) {
        if (dense_solve_normals(s, task->input, &task->statistics)) {
            if (s->motor_count > 0 && !is_last) {
                dense_apply(s);
                if (motors_exceed(s, dt))
                    return false;
            }
            dense_solve_friction(s, &task->statistics);
        }
        dense_remember(s);
        dense_apply(s);
    }
    return is_last || !motors_exceed(s, dt);
}

// The same with the rows with bounds in the tree.
static __attribute__((noinline)) SoftResult soft_settle(DirectScratch *s, IslandTask *task, bool is_last)
{
    const SolverInput *input = task->input;
    const int n = s->dense_count;
    assert_debug(n > 0 && !task->swept);
    dense_reserve(s, 0, four_up(n));
    soft_begin(s, input->dt);
    bool friction = normals_begin(s);
    if (!soft_rounds(s, input, &task->statistics, true))
        return SOFT_GIVEN_UP;
    memcpy(s->frictionless, s->state, (size_t)n);
    if (friction) {
        if (s->motor_count > 0 && !is_last && motors_exceed(s, input->dt))
            return SOFT_MOTOR;
        friction_begin(s);
        if (!soft_rounds(s, input, &task->statistics, false))
            return SOFT_GIVEN_UP;
    }
    dense_remember(s);
    return is_last || !motors_exceed(s, input->dt) ? SOFT_SETTLED : SOFT_MOTOR;
}

// The island with its rows and contacts. False as dense_settle().
static bool island_settle(DirectScratch *s, IslandTask *task, bool is_last)
{
    if (s->dense_count > 0 && !task->swept && task->springs && soft_applies(s, task->input)) {
        SoftResult result = soft_settle(s, task, is_last);
        task->statistics.springs = result == SOFT_SETTLED;
        if (result != SOFT_GIVEN_UP)
            return result == SOFT_SETTLED;
        soft_give_up(s, task->input->dt);
    } else {
        tree_factor(s, task->input->dt, NODES_ALL);
    }
    tree_solve_free(s);
    return dense_settle(s, task, is_last);
}

static __attribute__((noinline)) void island_write(DirectScratch *s, IslandTask *task)
{
    double fps = 1.0 / task->input->dt;
    SolverBody *bodies = task->input->bodies;
    for (const Node *node = s->nodes, *end = node + s->node_count; node < end; node++)
        spatial_unpack(bodies[node->body].velocity, node->velocity);
    for (int i = 0; !task->input->ignores_row_forces && i < s->node_count; i++) {
        const Node *node = &s->nodes[i];
        for (int r = 0; node->link != LINK_LOOSE && r < LINK_ROWS; r++)
            node->rows[r]->force = node->impulse[spatial_place(r)] * fps;
    }
    for (int i = 0; i < s->dense_count; i++) {
        DenseRow *row = &s->dense[i];
        if (row->source)
            row->source->force = s->x[i] * fps;
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
    assert_debug(s && task->group_count > 0);
    s->redundant = 0;
    for (int attempt = 0;; attempt++) {
        tree_build(s, task);
        if (task->run_count > 0)
            contacts_add(s, task);
        if (attempt == 0 && task->swept && s->dense_count > CROWD_ROWS && s->motor_count > 0) {
            motors_all_dense(s);
            continue;
        }
        if (island_settle(s, task, attempt == MAX_RESTARTS))
            break;
        task->statistics.restarts++;
        if (attempt == MAX_RESTARTS - 1)
            motors_all_dense(s);
    }
    task->statistics.dense_rows = s->dense_count;
    task->statistics.redundant = s->redundant;
    island_write(s, task);
}
