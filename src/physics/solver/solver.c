// One step from its parts: joint trees, contacts and what they remember, islands, a method for each, integration.
#include "physics/solver/solver.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "physics/solver/solver_internal.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BODY_GRAIN 256  // bodies that a worker takes at a time

Solver *solver_create(const SolverOptions *options)
{
    Solver *solver = memory_alloc(sizeof *solver);
    if (options)
        solver->options = *options;
    bool is_wide = cpu_has_avx2() && !solver->options.portable;
    solver->direct = is_wide ? solver_direct_avx2 : solver_direct_portable;
    solver->trees = is_wide ? solver_trees_avx2 : solver_trees_portable;
    solver->integrate = is_wide ? solver_bodies_integrate_avx2 : solver_bodies_integrate_portable;
    solver->scratch_count = pool_thread_count(solver->options.pool);
    solver->direct_scratch = memory_alloc_array((size_t)solver->scratch_count, sizeof *solver->direct_scratch);
    solver->shares = memory_alloc_array((size_t)solver->scratch_count, sizeof *solver->shares);
    solver->other_statistics = memory_alloc_array((size_t)solver->scratch_count, sizeof *solver->other_statistics);
    for (int i = 0; i < solver->scratch_count; i++)
        solver->direct_scratch[i] = direct_scratch_create();
    solver->pgs_scratch = pgs_scratch_create(&solver->shared);
    return solver;
}

void solver_lend_scratch(Solver *solver, DirectScratch *scratch)
{
    assert(!scratch || solver->scratch_count == 1);
    solver->lent = scratch;
}

void solver_prefetch(const Solver *solver, bool is_there)
{
    if (!is_there) {
        memory_prefetch(solver, offsetof(Solver, contact_memory));
        return;
    }
    const Topology *t = &solver->topology;
    size_t joints = (size_t)int_max(t->joint_count, 0);
    memory_prefetch(t->block, t->block_size);
    memory_prefetch(t->joints, sizeof *t->joints * joints);
    if (t->has_bounded)
        memory_prefetch(solver->row_memory, sizeof *solver->row_memory * SOLVER_JOINT_ROWS * joints);
    if (solver->are_trees)
        return;  // contacts and how islands come about are not looked at
    size_t bodies = (size_t)int_max(t->body_count, 0), groups = (size_t)t->group_count;
    memory_prefetch(&solver->contact_memory, sizeof *solver - offsetof(Solver, contact_memory));
    memory_prefetch(solver->island_groups, sizeof *solver->island_groups * groups);
    memory_prefetch(solver->islands, sizeof *solver->islands * (size_t)solver->island_count);
    memory_prefetch(solver->contact_memory_last,
                    sizeof *solver->contact_memory_last * (size_t)solver->contact_last_count);
    memory_prefetch(solver->contact_memory, sizeof *solver->contact_memory * (size_t)solver->contact_last_count);
    memory_prefetch(solver->iterated, bodies);
    memory_prefetch(solver->group_island, sizeof *solver->group_island * groups);
    memory_prefetch(solver->awake_groups, sizeof *solver->awake_groups * groups);
    memory_prefetch(solver->group_awake, sizeof *solver->group_awake * groups);
    memory_prefetch(solver->bundles, sizeof *solver->bundles * (size_t)solver->bundle_count);
}

void solver_destroy(Solver *solver)
{
    if (!solver)
        return;
    // All plain arrays in one list, so that a new one is freed by naming it; what owns more stands below.
    Topology *t = &solver->topology;
    void *owned[] = { t->block,
                      t->joints,
                      solver->row_memory,
                      solver->contact_memory,
                      solver->shared.data,
                      solver->contact_table,
                      solver->iterated,
                      solver->group_island,
                      solver->awake_groups,
                      solver->island_groups,
                      solver->island_runs,
                      solver->group_awake,
                      solver->islands,
                      solver->explained,
                      solver->pgs_tasks,
                      solver->contact_runs,
                      solver->chunks,
                      solver->rolling_memory,
                      solver->bundles,
                      solver->shares,
                      solver->other_statistics };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    for (int i = 0; i < solver->scratch_count; i++)
        direct_scratch_destroy(solver->direct_scratch[i]);
    free(solver->direct_scratch);
    pgs_scratch_destroy(solver->pgs_scratch);
    free(solver);
}

static void iterated_grow(Solver *solver, int count)
{
    int known = solver->iterated_capacity;
    if (known >= count)
        return;
    memory_grow(&solver->iterated, &solver->iterated_capacity, count, 1);
    memset(solver->iterated + known, 0, (size_t)(solver->iterated_capacity - known));
}

void solver_forget(Solver *solver)
{
    solver->are_trees = false;
    solver->topology.valid = false;
    solver->topology.joint_count = -1;
    solver->contact_last_count = 0;
    solver->has_rolling = false;
    solver->is_order_known = false;
    if (solver->iterated)
        memset(solver->iterated, 0, (size_t)solver->iterated_capacity);
}

static int renumbered(const int32_t *new_index, int count, int body)
{
    return body >= 0 && body < count ? new_index[body] : -1;
}

void solver_renumber(Solver *solver, const int32_t *new_index, int count)
{
    assert(count >= 0);
    assert(new_index || count == 0);
    // What has no body any more is forgotten; the trees are built anew.
    Topology *t = &solver->topology;
    int kept = 0;
    solver->are_trees = false;
    t->valid = false;
    for (int i = 0; i < t->joint_count; i++) {
        t->joints[i].body1 = renumbered(new_index, count, t->joints[i].body1);
        t->joints[i].body2 = renumbered(new_index, count, t->joints[i].body2);
    }
    for (int i = 0; i < solver->contact_last_count; i++) {
        int old[2] = { (int)(solver->contact_memory[i].pair >> 32) - 1,
                       (int)(solver->contact_memory[i].pair & UINT32_MAX) - 1 };
        int now[2] = { renumbered(new_index, count, old[0]), renumbered(new_index, count, old[1]) };
        if ((old[0] >= 0 && now[0] < 0) || (old[1] >= 0 && now[1] < 0))
            continue;
        if (solver->has_rolling)
            solver->rolling_memory[kept] = solver->rolling_memory[i];
        solver->contact_memory[kept] = solver->contact_memory[i];
        solver->contact_memory[kept++].pair = solver_pair(now[0], now[1]);
    }
    solver->contact_last_count = kept;
    solver->is_order_known = false;
    if (t->body_count <= 0)
        return;
    uint8_t *iterated = memory_alloc_array((size_t)t->body_count, 1);
    int known = int_min(int_min(count, t->body_count), solver->iterated_capacity);
    memcpy(iterated, solver->iterated, (size_t)known);
    memset(solver->iterated, 0, (size_t)solver->iterated_capacity);
    for (int i = 0; i < known; i++)
        if (new_index[i] >= 0 && new_index[i] < solver->iterated_capacity)
            solver->iterated[new_index[i]] = iterated[i];
    free(iterated);
}

// ---- state ----

typedef struct StateHeader {
    int32_t body_count, joint_count, contact_count;
    int32_t rolling_count;  // as many as contacts, or none
} StateHeader;

static size_t state_bytes(const StateHeader *header)
{
    return sizeof *header + (size_t)header->joint_count * (sizeof(SolverJoint) + SOLVER_JOINT_ROWS * sizeof(RowMemory))
           + (size_t)header->contact_count * sizeof(ContactMemory)
           + (size_t)header->rolling_count * sizeof(RollingMemory) + (size_t)header->body_count;
}

static StateHeader state_header(const Solver *solver)
{
    const Topology *t = &solver->topology;
    return (StateHeader){ t->joint_count < 0 ? 0 : t->body_count, int_max(t->joint_count, 0),
                          solver->contact_last_count, solver->has_rolling ? solver->contact_last_count : 0 };
}

size_t solver_state_size(const Solver *solver)
{
    StateHeader header = state_header(solver);
    return state_bytes(&header);
}

static void *put(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
    return (char *)to + size;
}

// As if all rows stood behind each other: where they do hangs on the number of threads.
static void *put_joints(void *to, const Topology *t, int count)
{
    assert_debug(count == 0 || count == t->joint_count);
    for (int i = 0, row = 0; i < count; i++) {
        SolverJoint joint = t->joints[i];
        joint.first_row = row;
        row += joint.row_count;
        to = put(to, &joint, sizeof joint);
    }
    return to;
}

static const void *take(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
    return (const char *)from + size;
}

void solver_state_save(const Solver *solver, void *buffer)
{
    assert(buffer || solver_state_size(solver) == 0);
    StateHeader header = state_header(solver);
    size_t joints = (size_t)header.joint_count;
    void *to = put(buffer, &header, sizeof header);
    to = put_joints(to, &solver->topology, header.joint_count);
    to = put(to, solver->row_memory, joints * SOLVER_JOINT_ROWS * sizeof(RowMemory));
    to = put(to, solver->contact_memory, (size_t)header.contact_count * sizeof(ContactMemory));
    to = put(to, solver->rolling_memory, (size_t)header.rolling_count * sizeof(RollingMemory));
    put(to, solver->iterated, (size_t)header.body_count);
}

bool solver_state_restore(Solver *solver, const void *buffer, size_t size)
{
    StateHeader header = { 0 };
    solver_forget(solver);
    if (size < sizeof header)
        return false;
    const void *from = take(&header, buffer, sizeof header);
    // The bytes may come from a stranger's file: counts are looked at before anything is sized by them.
    if (header.body_count < 0 || header.joint_count < 0 || header.contact_count < 0
        || (header.rolling_count != 0 && header.rolling_count != header.contact_count) || state_bytes(&header) != size)
        return false;
    Topology *t = &solver->topology;
    int joints = header.joint_count;
    memory_grow(&t->joints, &t->joint_capacity, joints + 1, sizeof *t->joints);
    memory_grow(&solver->row_memory, &solver->row_memory_capacity, joints * SOLVER_JOINT_ROWS + 1, sizeof(RowMemory));
    memory_grow(&solver->contact_memory, &solver->contact_memory_capacity, header.contact_count + 1,
                sizeof(ContactMemory));
    memory_grow(&solver->rolling_memory, &solver->rolling_memory_capacity, header.rolling_count, sizeof(RollingMemory));
    iterated_grow(solver, header.body_count + 1);
    memset(solver->iterated, 0, (size_t)solver->iterated_capacity);
    from = take(t->joints, from, (size_t)joints * sizeof(SolverJoint));
    from = take(solver->row_memory, from, (size_t)joints * SOLVER_JOINT_ROWS * sizeof(RowMemory));
    from = take(solver->contact_memory, from, (size_t)header.contact_count * sizeof(ContactMemory));
    from = take(solver->rolling_memory, from, (size_t)header.rolling_count * sizeof(RollingMemory));
    take(solver->iterated, from, (size_t)header.body_count);
    t->joint_count = joints;
    t->body_count = header.body_count;
    solver->contact_last_count = header.contact_count;
    solver->has_rolling = header.rolling_count > 0;
    return true;
}

const double *solver_contact_impulse(const Solver *solver, int contact)
{
    assert_debug(contact >= 0 && contact < solver->contact_last_count);
    return solver->contact_memory[contact].impulse;
}

const SolverStatistics *solver_statistics(const Solver *solver) { return &solver->statistics; }

const SolverTotals *solver_totals(const Solver *solver) { return &solver->totals; }

// ---- the step ----

// One loop over different things that have nothing to do with each other: item 0 is long and on one thread, the others
// help with what comes next to it.
typedef struct StepWork {
    Solver *solver;
    const SolverInput *input;
} StepWork;

static void pgs_begin(Solver *solver, const SolverInput *input)
{
    solver->pgs_task_count = 0;
    for (int i = 0; i < solver->island_count; i++)
        if (solver->islands[i].method == SOLVER_ITERATIVE)
            *memory_push(solver->pgs_tasks, solver->pgs_task_count,
                         solver->pgs_task_capacity) = solver_island_task(solver, input, i);
    PgsOptions options = { .pool = solver->options.pool,
                           .iterations = solver->options.iterations,
                           .wide = solver->direct == solver_direct_avx2 };
    if (solver->pgs_task_count > 0)
        solver_pgs_begin(solver->pgs_scratch, solver->pgs_tasks, solver->pgs_task_count, &options);
}

// Islands are found, and places for the bodies of those that are iterated, while contacts look for what they remember.
static void find_range(int begin, int end, int worker, void *context)
{
    const StepWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        if (i == 0) {
            solver_islands_update(work->solver, work->input);
            pgs_begin(work->solver, work->input);
        } else {
            solver_contacts_remember(work->solver, work->input, i - 1);
        }
    }
}

static inline SolverStatistics *worker_statistics(Solver *solver, int worker)
{
    return worker == 0 ? &solver->statistics : &solver->other_statistics[worker];
}

static void statistics_add(SolverStatistics *sum, const IslandStatistics *one)
{
    sum->dense_row_count += one->dense_rows;
    sum->largest_dense = int_max(sum->largest_dense, one->dense_rows);
    sum->pivot_round_count += one->pivot_rounds;
    sum->sweep_count += one->sweeps;
    sum->restart_count += one->restarts;
    sum->fallback_count += one->fallbacks;
    sum->redundant_count += one->redundant;
    sum->spring_island_count += one->springs;
}

// Tasks are made when they are due: a pile that falls begins with as many islands as bodies.
static void bundle_solve(Solver *solver, const SolverInput *input, const IslandBundle *bundle, int worker)
{
    assert_debug(worker >= 0 && worker < solver->scratch_count);
    SolverStatistics *sum = worker_statistics(solver, worker);
    DirectScratch *scratch = solver->lent ? solver->lent : solver->direct_scratch[worker];
    for (int i = bundle->first; i < bundle->last; i++) {
        SolverMethod method = solver->islands[i].method;
        if (method == SOLVER_ITERATIVE)
            continue;
        sum->direct_island_count += method == SOLVER_DIRECT;
        sum->swept_island_count += method == SOLVER_SWEPT;
        IslandTask task = solver_island_task(solver, input, i);
        solver->direct(scratch, &task);
        statistics_add(sum, &task.statistics);
    }
}

// What is iterated is assembled, and its bodies are prepared, while the other islands are solved directly.
static void solve_range(int begin, int end, int worker, void *context)
{
    const StepWork *work = context;
    Solver *solver = work->solver;
    int pieces = solver->pgs_task_count > 0 ? 1 + solver_pgs_piece_count(solver->pgs_scratch) : 0;
    for (int i = begin; i < end; i++) {
        if (i >= pieces)
            bundle_solve(solver, work->input, &solver->bundles[i - pieces], worker);
        else if (i == 0)
            solver_pgs_assemble(solver->pgs_scratch);
        else
            solver_pgs_prepare(solver->pgs_scratch, i - 1);
    }
}

// Sums and maxima of whole numbers: the same whoever solved what.
static void statistics_gather(Solver *solver, const SolverInput *input)
{
    SolverStatistics *sum = &solver->statistics;
    sum->island_count = solver->island_count;
    sum->iterative_island_count = solver->pgs_task_count;
    sum->group_count = solver->awake_group_count;
    sum->contact_count = input->contact_count;
    for (int i = 1; i < solver->scratch_count; i++) {
        SolverStatistics *one = &solver->other_statistics[i];
        sum->direct_island_count += one->direct_island_count;
        sum->swept_island_count += one->swept_island_count;
        sum->spring_island_count += one->spring_island_count;
        sum->dense_row_count += one->dense_row_count;
        sum->largest_dense = int_max(sum->largest_dense, one->largest_dense);
        sum->pivot_round_count += one->pivot_round_count;
        sum->sweep_count += one->sweep_count;
        sum->restart_count += one->restart_count;
        sum->fallback_count += one->fallback_count;
        sum->redundant_count += one->redundant_count;
        sum->body_reset_count += one->body_reset_count;
        *one = (SolverStatistics){ 0 };
    }
    SolverTotals *totals = &solver->totals;
    totals->step_count++;
    totals->restart_count += sum->restart_count;
    totals->fallback_count += sum->fallback_count;
    totals->redundant_count += sum->redundant_count;
    totals->body_reset_count += sum->body_reset_count;
}

static void finish_part(int begin, int end, int worker, const StepWork *work, BodyPart part)
{
    int stopped = work->solver->integrate(work->input, begin, end, part);
    if (stopped > 0)
        worker_statistics(work->solver, worker)->body_reset_count += stopped;
}

static void check_range(int begin, int end, int worker, void *context)
{
    finish_part(begin, end, worker, context, BODY_CHECK);
}

static void integrate_range(int begin, int end, int worker, void *context)
{
    finish_part(begin, end, worker, context, BODY_INTEGRATE);
}

static void finish_range(int begin, int end, int worker, void *context)
{
    finish_part(begin, end, worker, context, BODY_FINISH);
}

// Contacts, then islands, then all islands over the threads: exact ones beside the preparation of those that are
// iterated.
static void islands_solve(Solver *solver, const SolverInput *input)
{
    Pool *pool = solver->options.pool;
    StepWork work = { solver, input };
    solver_contacts_gather(solver, input);
    int pieces = solver_contacts_piece_count(input);
    pool_for(pieces > 1 ? pool : NULL, 1 + pieces, 1, find_range, &work);
    solver->contact_last_count = input->contact_count;
    if (solver->pgs_task_count > 0)
        solver_pgs_mark(solver->pgs_scratch);
    pieces = solver->pgs_task_count > 0 ? 1 + solver_pgs_piece_count(solver->pgs_scratch) : 0;
    for (int i = 0; i < solver->scratch_count; i++)  // the first thread has what is iterated before its own bundles
        solver->shares[i] += pieces;
    pool_for_shares(pool, solver->shares, solve_range, &work);
    if (solver->pgs_task_count > 0)
        solver_pgs_end(solver->pgs_scratch);
}

// Whether the islands of the last step are those of this one: trees that nothing touched then and touches now.
static bool islands_stand(const Solver *solver, const SolverInput *input)
{
    return solver->are_trees && input->contact_count == 0 && input->awake && input->awake_count == input->body_count
           && solver_topology_stands(&solver->topology, input);
}

// Each group of jointed bodies is an island.
static void trees_solve(Solver *solver, const SolverInput *input)
{
    assert_debug(solver->scratch_count == 1 && solver->contact_last_count == 0);
    assert_debug(solver->island_count == solver->topology.group_count);
    SolverStatistics *sum = &solver->statistics;
    DirectScratch *scratch = solver->lent ? solver->lent : solver->direct_scratch[0];
    for (int32_t group = 0; group < solver->island_count; group++) {
        // Every member is named, as where the input is made: what is left out is cleared slowly.
        IslandTask task = { .input = input,
                            .topology = &solver->topology,
                            .groups = &group,
                            .runs = NULL,
                            .contact_runs = NULL,
                            .group_count = 1,
                            .run_count = 0,
                            .contact_count = 0,
                            .swept = false,
                            .springs = !solver->options.no_springs,
                            .keeps_impulses = false,
                            .row_memory = solver->row_memory,
                            .contact_memory = NULL,
                            .rolling_memory = NULL,
                            .node_of_body = solver->topology.node_of_body,
                            .statistics = { 0, 0, 0, 0, 0, 0, 0 } };
        solver->direct(scratch, &task);
        statistics_add(sum, &task.statistics);
    }
    sum->direct_island_count = solver->island_count;
}

// The joint trees, then the islands, in the end `finish` over all bodies.
static void solve(Solver *solver, const SolverInput *given, PoolRange finish)
{
    assert(given->dt > 0.0);
    assert((given->body_count | given->joint_count | given->row_count | given->contact_count) >= 0);
    assert(given->bodies || given->body_count == 0);
    assert(given->contacts || given->contact_count == 0);
    const SolverInput *input = given;
    SolverInput all;
    if (!given->awake) {
        all = *given;
        all.awake_count = all.body_count;
        input = &all;
    }
    solver->statistics = (SolverStatistics){ 0 };
    if (islands_stand(solver, input)) {
        trees_solve(solver, input);
    } else {
        iterated_grow(solver, input->body_count + 1);
        solver_topology_update(solver, input);
        islands_solve(solver, input);
    }
    pool_for(solver->options.pool, input->awake_count, BODY_GRAIN, finish, &(StepWork){ solver, input });
    statistics_gather(solver, input);
}

const SolverJoint *solver_tree_joints(const Solver *solver, int body_count, int joint_count)
{
    const Topology *t = &solver->topology;
    bool are_those = solver->are_trees && t->valid && t->is_bare && t->body_count == body_count
                     && t->joint_count == joint_count && t->link_count == body_count;
    return are_those ? t->joints : NULL;
}

void solver_trees_step(Solver *solver, const SolverTrees *trees)
{
    assert_debug(solver->are_trees && solver->topology.is_bare && trees->dt > 0.0);
    DirectScratch *scratch = solver->lent ? solver->lent : solver->direct_scratch[0];
    solver->trees(scratch, &solver->topology, trees, &solver->statistics);
    // All other numbers are those of the step before, which solved the same trees.
    solver->totals.step_count++;
    solver->totals.redundant_count += solver->statistics.redundant_count;
    solver->totals.body_reset_count += solver->statistics.body_reset_count;
}

void solver_solve(Solver *solver, const SolverInput *input) { solve(solver, input, check_range); }

void solver_integrate(Solver *solver, const SolverInput *given)
{
    assert(given->dt > 0.0);
    assert(given->bodies || given->body_count == 0);
    SolverInput input = *given;
    if (!input.awake)
        input.awake_count = input.body_count;
    pool_for(solver->options.pool, input.awake_count, BODY_GRAIN, integrate_range, &(StepWork){ solver, &input });
}

void solver_step(Solver *solver, const SolverInput *input) { solve(solver, input, finish_range); }
