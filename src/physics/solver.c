// One step from its parts: joint trees, contacts and what they remember, islands, a method for each, integration.
#include "physics/solver.h"

#include "base/memory.h"
#include "physics/solver_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool machine_has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

Solver *solver_create(const SolverOptions *options)
{
    Solver *solver = memory_alloc(sizeof *solver);
    if (options)
        solver->options = *options;
    solver->direct = machine_has_avx2() && !solver->options.portable ? solver_direct_avx2 : solver_direct_portable;
    solver->scratch_count = pool_thread_count(solver->options.pool);
    solver->direct_scratch = memory_alloc_array((size_t)solver->scratch_count, sizeof *solver->direct_scratch);
    for (int i = 0; i < solver->scratch_count; i++)
        solver->direct_scratch[i] = direct_scratch_create();
    solver->loose_scratch = loose_scratch_create();
    return solver;
}

void solver_destroy(Solver *solver)
{
    if (!solver)
        return;
    Topology *t = &solver->topology;
    void *owned[] = { t->links, t->groups, t->link_joints, t->cut_joints, t->group_of_body, t->joints, t->fixed,
                      solver->row_memory, solver->contact_memory, solver->contact_memory_last, solver->contact_table,
                      solver->node_of_body, solver->iterated, solver->group_island, solver->awake_groups, solver->island_groups,
                      solver->island_contacts, solver->group_awake, solver->islands, solver->tasks, solver->explained,
                      (void *)solver->loose_tasks, solver->contact_refs };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    for (int i = 0; i < solver->scratch_count; i++)
        direct_scratch_destroy(solver->direct_scratch[i]);
    free(solver->direct_scratch);
    loose_scratch_destroy(solver->loose_scratch);
    free(solver);
}

void solver_forget(Solver *solver)
{
    solver->topology.valid = false;
    solver->topology.joint_count = -1;
    solver->contact_last_count = 0;
    if (solver->iterated)
        memset(solver->iterated, 0, (size_t)solver->iterated_capacity);
}

static int renumbered(const int32_t *new_index, int count, int body)
{
    return body >= 0 && body < count ? new_index[body] : -1;
}

void solver_renumber(Solver *solver, const int32_t *new_index, int count)
{
    Topology *t = &solver->topology;
    int kept = 0;
    t->valid = false;
    for (int i = 0; i < t->joint_count; i++) {
        t->joints[i].body1 = renumbered(new_index, count, t->joints[i].body1);
        t->joints[i].body2 = renumbered(new_index, count, t->joints[i].body2);
    }
    for (int i = 0; i < solver->contact_last_count; i++) {
        int old[2] = { (int)(solver->contact_memory[i].pair >> 32) - 1, (int)(solver->contact_memory[i].pair & UINT32_MAX) - 1 };
        int now[2] = { renumbered(new_index, count, old[0]), renumbered(new_index, count, old[1]) };
        if ((old[0] >= 0 && now[0] < 0) || (old[1] >= 0 && now[1] < 0))
            continue;
        solver->contact_memory[kept] = solver->contact_memory[i];
        solver->contact_memory[kept++].pair = solver_pair(now[0], now[1]);
    }
    solver->contact_last_count = kept;
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
    int32_t body_count, joint_count, contact_count, reserved;
} StateHeader;

static size_t state_bytes(const StateHeader *header)
{
    return sizeof *header + (size_t)header->joint_count * (sizeof(SolverJoint) + SOLVER_JOINT_ROWS * sizeof(RowMemory))
        + (size_t)header->contact_count * sizeof(ContactMemory) + (size_t)header->body_count;
}

static StateHeader state_header(const Solver *solver)
{
    const Topology *t = &solver->topology;
    return (StateHeader){ t->joint_count < 0 ? 0 : t->body_count, int_max(t->joint_count, 0), solver->contact_last_count, 0 };
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

static const void *take(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
    return (const char *)from + size;
}

void solver_state_save(const Solver *solver, void *buffer)
{
    StateHeader header = state_header(solver);
    size_t joints = (size_t)header.joint_count;
    void *to = put(buffer, &header, sizeof header);
    to = put(to, solver->topology.joints, joints * sizeof(SolverJoint));
    to = put(to, solver->row_memory, joints * SOLVER_JOINT_ROWS * sizeof(RowMemory));
    to = put(to, solver->contact_memory, (size_t)header.contact_count * sizeof(ContactMemory));
    put(to, solver->iterated, (size_t)header.body_count);
}

bool solver_state_restore(Solver *solver, const void *buffer, size_t size)
{
    StateHeader header = { 0 };
    solver_forget(solver);
    if (size < sizeof header)
        return false;
    const void *from = take(&header, buffer, sizeof header);
    if (header.body_count < 0 || header.joint_count < 0 || header.contact_count < 0 || state_bytes(&header) != size)
        return false;
    Topology *t = &solver->topology;
    int joints = header.joint_count;
    memory_grow(&t->joints, &t->joint_capacity, joints + 1, sizeof *t->joints);
    memory_grow(&solver->row_memory, &solver->row_memory_capacity, joints * SOLVER_JOINT_ROWS + 1, sizeof(RowMemory));
    memory_grow(&solver->contact_memory, &solver->contact_memory_capacity, header.contact_count + 1, sizeof(ContactMemory));
    if (solver->iterated_capacity < header.body_count + 1)
        memory_grow(&solver->iterated, &solver->iterated_capacity, header.body_count + 1, 1);
    memset(solver->iterated, 0, (size_t)solver->iterated_capacity);
    from = take(t->joints, from, (size_t)joints * sizeof(SolverJoint));
    from = take(solver->row_memory, from, (size_t)joints * SOLVER_JOINT_ROWS * sizeof(RowMemory));
    from = take(solver->contact_memory, from, (size_t)header.contact_count * sizeof(ContactMemory));
    take(solver->iterated, from, (size_t)header.body_count);
    t->joint_count = joints;
    t->body_count = header.body_count;
    solver->contact_last_count = header.contact_count;
    return true;
}

const SolverStatistics *solver_statistics(const Solver *solver)
{
    return &solver->statistics;
}

int solver_islands(const Solver *solver, const SolverIsland **islands)
{
    *islands = solver->explained;
    return solver->island_count;
}

// ---- the step ----

static void solve_range(int begin, int end, int worker, void *context)
{
    Solver *solver = context;
    for (int i = begin; i < end; i++)
        if (solver->islands[i].method != SOLVER_ITERATIVE)
            solver->direct(solver->direct_scratch[worker], &solver->tasks[i]);
}

static void iterate_loose(Solver *solver)
{
    memory_grow(&solver->loose_tasks, &solver->loose_task_capacity, solver->island_count + 1, sizeof *solver->loose_tasks);
    int count = 0;
    for (int i = 0; i < solver->island_count; i++)
        if (solver->islands[i].method == SOLVER_ITERATIVE)
            solver->loose_tasks[count++] = &solver->tasks[i];
    if (count == 0)
        return;
    LooseOptions options = { .pool = solver->options.pool, .iterations = solver->options.iterations,
                             .wide = solver->direct == solver_direct_avx2 };
    solver_loose(solver->loose_scratch, solver->loose_tasks, count, &options);
}

static void statistics_gather(Solver *solver, const SolverInput *input)
{
    SolverStatistics *sum = &solver->statistics;
    sum->island_count = solver->island_count;
    sum->group_count = solver->awake_group_count;
    sum->row_count = input->row_count;
    sum->contact_count = input->contact_count;
    for (int i = 0; i < solver->island_count; i++) {
        const IslandStatistics *one = &solver->tasks[i].statistics;
        if (solver->islands[i].method == SOLVER_DIRECT)
            sum->direct_island_count++;
        else if (solver->islands[i].method == SOLVER_SWEPT)
            sum->swept_island_count++;
        else
            sum->iterative_island_count++;
        sum->dense_row_count += one->dense_rows;
        sum->largest_dense = int_max(sum->largest_dense, one->dense_rows);
        sum->pivot_round_count += one->pivot_rounds;
        sum->sweep_count += one->sweeps;
        sum->restart_count += one->restarts;
        sum->fallback_count += one->fallbacks;
        sum->redundant_count += one->redundant;
    }
}

static void integrate_range(int begin, int end, int worker, void *context)
{
    const SolverInput *input = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        SolverBody *body = &input->bodies[input->awake ? input->awake[i] : i];
        if (!(body->flags & SOLVER_BODY_ASLEEP))
            solver_body_integrate(body, input->dt);
    }
}

// A body that numbers cannot follow (overflow, a contradictory model) is stopped where it is instead of spreading NaN.
static int stop_runaways(const SolverInput *input)
{
    int count = 0;
    for (int i = 0; i < input->awake_count; i++) {
        double *v = input->bodies[input->awake ? input->awake[i] : i].velocity;
        double sum = ((v[0] + v[1]) + (v[2] + v[3])) + (v[4] + v[5]);
        if (isfinite(sum))
            continue;
        memset(v, 0, 6 * sizeof *v);
        count++;
    }
    return count;
}

void solver_solve(Solver *solver, const SolverInput *given)
{
    SolverInput input = *given;
    if (!input.awake)
        input.awake_count = input.body_count;
    solver_topology_update(solver, &input);
    memory_grow(&solver->node_of_body, &solver->node_capacity, input.body_count + 1, sizeof(int32_t));
    if (solver->iterated_capacity < input.body_count + 1) {
        int known = solver->iterated_capacity;
        memory_grow(&solver->iterated, &solver->iterated_capacity, input.body_count + 1, 1);
        memset(solver->iterated + known, 0, (size_t)(solver->iterated_capacity - known));
    }
    solver_contacts_update(solver, &input);
    solver_islands_update(solver, &input);
    int grain = int_max(1, solver->island_count / (8 * solver->scratch_count));
    pool_for(solver->options.pool, solver->island_count, grain, solve_range, solver);
    iterate_loose(solver);
    solver->statistics = (SolverStatistics){ .body_reset_count = stop_runaways(&input) };
    statistics_gather(solver, &input);
}

void solver_integrate(Solver *solver, const SolverInput *given)
{
    SolverInput input = *given;
    if (!input.awake)
        input.awake_count = input.body_count;
    pool_for(solver->options.pool, input.awake_count, 256, integrate_range, &input);
}

void solver_step(Solver *solver, const SolverInput *input)
{
    solver_solve(solver, input);
    solver_integrate(solver, input);
}
