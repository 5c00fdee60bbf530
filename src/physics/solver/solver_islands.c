// Islands: groups that contacts connect, and the method that suits each.
#include "physics/solver/solver_internal.h"
#include "physics/solver/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_set(int32_t *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void awake_group_add(Solver *solver, int group)
{
    assert_debug(group < solver->topology.group_count);
    solver->awake_groups[solver->awake_group_count++] = group;
    solver->group_island[group] = group;
}

// Those of a list of bodies: a group comes with the first of its bodies.
static void listed_groups_find(Solver *solver, const SolverInput *input)
{
    const Topology *t = &solver->topology;
    for (int i = 0; i < input->awake_count; i++) {
        int body = input->awake ? input->awake[i] : i, group = t->group_of_body[body];
        if (group < 0 || (input->bodies[body].flags & SOLVER_BODY_ASLEEP) || solver->group_awake[group])
            continue;
        solver->group_awake[group] = 1;
        awake_group_add(solver, group);
    }
    for (int i = 0; i < solver->awake_group_count; i++)
        solver->group_awake[solver->awake_groups[i]] = 0;
}

static void awake_groups_find(Solver *solver, const SolverInput *input)
{
    const Topology *t = &solver->topology;
    memory_grow(&solver->group_island, &solver->group_island_capacity, t->group_count + 1, sizeof(int32_t));
    memory_grow(&solver->awake_groups, &solver->awake_groups_capacity, t->group_count + 1, sizeof(int32_t));
    if (solver->group_awake_capacity < t->group_count + 1) {
        memory_grow(&solver->group_awake, &solver->group_awake_capacity, t->group_count + 1, 1);
        memset(solver->group_awake, 0, (size_t)solver->group_awake_capacity);
    }
    solver->awake_group_count = 0;
    if (input->awake_count < input->body_count) {
        listed_groups_find(solver, input);
        return;
    }
    // Every body: one of each group tells, as jointed bodies are awake together.
    for (int g = 0; g < t->group_count; g++)
        if (!(input->bodies[t->links[t->groups[g].first].body].flags & SOLVER_BODY_ASLEEP))
            awake_group_add(solver, g);
}

static void run_join(int32_t *set, const ContactRun *run)
{
    int a = run->groups[0], b = run->groups[1];
    if (a < 0 || b < 0)
        return;
    a = find_set(set, a);
    b = find_set(set, b);
    if (a < b)
        set[b] = a;
    else
        set[a] = b;
}

static void islands_join(Solver *solver)
{
    for (int c = 0; c < solver->chunk_count; c++) {
        const ContactRun *first = &solver->contact_runs[solver->chunks[c].first_run];
        for (const ContactRun *run = first, *end = first + solver->chunks[c].run_count; run < end; run++)
            run_join(solver->group_island, run);
    }
}

// Gives each island a number; afterwards group_island holds -1 minus that of the group's island. The lowest group of an
// island is its representative.
static void islands_number(Solver *solver)
{
    int32_t *set = solver->group_island;
    int groups = solver->awake_group_count;
    memory_grow(&solver->islands, &solver->island_capacity, groups + 1, sizeof *solver->islands);
    solver->island_count = 0;
    // Representatives are met first when groups come in rising order; awake bodies rise, but group numbers follow the
    // first body of each component, so this holds.
    for (int i = 0; i < groups; i++) {
        int group = solver->awake_groups[i];
        set[group] = find_set(set, group);
        if (set[group] == group)
            solver->islands[solver->island_count++] = (IslandRef){ .first_group = group };
    }
    for (int i = 0; i < solver->island_count; i++)
        set[solver->islands[i].first_group] = -1 - i;
    for (int i = 0; i < groups; i++) {
        int32_t *entry = &set[solver->awake_groups[i]];
        if (*entry >= 0)
            *entry = set[*entry];
    }
}

static inline void island_add_group(IslandRef *island, const TreeGroup *group)
{
    island->body_count += group->count;
    island->iterated_count += group->iterated_count;
    island->loose_count += group->loose_count;
    island->joint_row_count += group->joint_row_count + group->cut_row_count;
    island->dense_row_count += group->cut_row_count;
}

// Where nothing touches every group is an island.
static void islands_are_groups(Solver *solver)
{
    int groups = solver->awake_group_count;
    memory_grow(&solver->islands, &solver->island_capacity, groups + 1, sizeof *solver->islands);
    memory_grow(&solver->island_groups, &solver->island_groups_capacity, groups + 1, sizeof(int32_t));
    for (int i = 0; i < groups; i++) {
        int group = solver->awake_groups[i];
        IslandRef *island = &solver->islands[i];
        *island = (IslandRef){ .first_group = i, .group_count = 1 };
        island_add_group(island, &solver->topology.groups[group]);
        solver->island_groups[i] = group;
    }
    solver->island_count = groups;
}

static void islands_gather_groups(Solver *solver)
{
    const int32_t *set = solver->group_island;
    int groups = solver->awake_group_count;
    memory_grow(&solver->island_groups, &solver->island_groups_capacity, groups + 1, sizeof(int32_t));
    for (int i = 0; i < groups; i++)
        solver->islands[-1 - set[solver->awake_groups[i]]].group_count++;
    for (int i = 0, at = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->first_group = at;
        at += island->group_count;
        island->group_count = 0;
    }
    for (int i = 0; i < groups; i++) {
        int group = solver->awake_groups[i];
        IslandRef *island = &solver->islands[-1 - set[group]];
        solver->island_groups[island->first_group + island->group_count++] = group;
        island_add_group(island, &solver->topology.groups[group]);
    }
}

static inline IslandRef *island_of_run(const Solver *solver, const ContactRun *run)
{
    int group = run->groups[0] >= 0 ? run->groups[0] : run->groups[1];
    assert_debug(group < solver->topology.group_count);
    return group < 0 ? NULL : &solver->islands[-1 - solver->group_island[group]];
}

static void islands_count_runs(Solver *solver, const ContactRun *run, const ContactRun *end)
{
    for (; run < end; run++) {
        IslandRef *island = island_of_run(solver, run);
        if (!island)
            continue;
        island->run_count++;
        island->contact_count += run->count;
        island->dense_row_count += run->row_count;
    }
}

static void islands_add_runs(Solver *solver, int first, int end)
{
    const ContactRun *runs = solver->contact_runs;
    int32_t *island_runs = solver->island_runs;
    for (int i = first; i < end; i++) {
        IslandRef *island = island_of_run(solver, &runs[i]);
        if (island)
            island_runs[island->first_run + island->run_count++] = i;
    }
}

static void islands_gather_contacts(Solver *solver)
{
    const ContactChunk *chunks = solver->chunks;
    const ContactRun *runs = solver->contact_runs;
    memory_grow(&solver->island_runs, &solver->island_runs_capacity, solver->run_count + 1, sizeof(int32_t));
    for (int c = 0; c < solver->chunk_count; c++)
        islands_count_runs(solver, &runs[chunks[c].first_run], &runs[chunks[c].first_run + chunks[c].run_count]);
    for (int i = 0, at = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->first_run = at;
        at += island->run_count;
        island->run_count = 0;
    }
    for (int c = 0; c < solver->chunk_count; c++)
        islands_add_runs(solver, chunks[c].first_run, chunks[c].first_run + chunks[c].run_count);
}

// Few rows are pivoted. Many are swept, unless there are loops, which sweeps would leave open for long, or too many on
// wide trees.
static SolverMethod jointed_method(const Solver *solver, const IslandRef *island, bool before)
{
    int widest = 0, cut_row_count = 0;  // bodies of the largest tree; rows of joints that close loops
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        widest = int_max(widest, group->count);
        cut_row_count += group->cut_row_count;
    }
    bool was_iterative = 2 * island->loose_count > island->body_count;
    bool is_large = island->dense_row_count > (was_iterative ? DENSE_AGAIN_ROWS : MAX_DENSE_ROWS);
    if (cut_row_count == 0 && (widest <= MAX_SWEPT_TREE || !is_large)
        && island->dense_row_count > (before ? MIN_SWEEP_ROWS : MAX_PIVOT_ROWS))
        return SOLVER_SWEPT;
    return is_large ? SOLVER_ITERATIVE : SOLVER_DIRECT;
}

static bool surface_is_soft(const SolverSurface *surface, double min_cfm)
{
    return (surface->flags & SOLVER_CONTACT_SOFT_CFM) && surface->soft_cfm >= min_cfm
           && !(surface->flags & SOLVER_CONTACT_ROLLING);
}

static bool body_lies_still(const Solver *solver, const SolverInput *input, int index)
{
    const double *v = input->bodies[index].velocity;
    return solver->iterated[index] != SOLVER_AUTO && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < REST_SPEED * REST_SPEED
           && v[3] * v[3] + v[4] * v[4] + v[5] * v[5] < REST_TURN * REST_TURN;
}

// Two or three bodies fall and hit each other exactly; in their first step, when nothing is remembered, too. So a world
// that was saved and opened again goes on as it did.
static bool island_lies_still(const Solver *solver, const SolverInput *input, const IslandRef *island)
{
    if (island->body_count < REST_BODIES)
        return false;
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        if (!body_lies_still(solver, input, solver->topology.links[group->first].body))
            return false;
    }
    return true;
}

// A few boxes on each other, as large piles are made of: nothing in it needs the exact method.
static bool island_is_pile(const Solver *solver, const SolverInput *input, const IslandRef *island)
{
    if (island->body_count < PILE_BODIES && !island_lies_still(solver, input, island))
        return false;
    double min = INFINITY, max = 0.0;
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        double mass = input->masses[solver->topology.links[group->first].body].mass;
        min = fmin(min, mass);
        max = fmax(max, mass);
    }
    if (max > LIKE_MASSES * min)
        return false;
    double min_cfm = HARD_SHARE * input->dt * 2.0 / min;
    const SolverSurface *soft = NULL;
    for (int r = 0; r < island->run_count; r++) {
        const ContactRun *run = &solver->contact_runs[solver->island_runs[island->first_run + r]];
        for (int i = run->first; i < run->first + run->count; i++) {
            const SolverSurface *surface = solver_surface(input, i);
            if ((surface != soft && !surface_is_soft(surface, min_cfm))
                || input->contacts[i].target_normal_speed != 0.0)
                return false;
            soft = surface;
        }
    }
    return true;
}

// Islands switch with a gap between the thresholds so that a pile does not change its method every step.
static SolverMethod island_method(const Solver *solver, const SolverInput *input, const IslandRef *island)
{
    bool before = 2 * island->iterated_count > island->body_count;
    if (island->joint_row_count > 0)
        return jointed_method(solver, island, before);
    int limit = island->body_count <= FEW_BODIES ? (before ? MIN_SWEEP_ROWS : MAX_PIVOT_ROWS)
                : before                         ? MIN_ITERATED_ROWS
                                                 : MAX_DIRECT_ROWS;
    if (island->dense_row_count > limit)
        return SOLVER_ITERATIVE;
    return island_is_pile(solver, input, island) ? SOLVER_ITERATIVE : SOLVER_DIRECT;
}

// Each body of the island remembers its method.
static void method_remember(Solver *solver, const IslandRef *island)
{
    int method = (int)island->method;
    assert_debug(method > SOLVER_AUTO && island->first_group + island->group_count <= solver->awake_group_count);
    for (int i = 0; i < island->group_count; i++) {
        TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        if (group->method == method)
            continue;
        group->method = method;
        group->iterated_count = method > SOLVER_DIRECT ? group->count : 0;
        group->loose_count = method == SOLVER_ITERATIVE ? group->count : 0;
        for (int k = group->first; k < group->first + group->count; k++)
            solver->iterated[solver->topology.links[k].body] = (uint8_t)method;
    }
}

IslandTask solver_island_task(const Solver *solver, const SolverInput *input, int index)
{
    assert(index >= 0 && index < solver->island_count);
    const IslandRef *island = &solver->islands[index];
    return (IslandTask){ .input = input,
                         .topology = &solver->topology,
                         .groups = solver->island_groups + island->first_group,
                         .runs = island->run_count > 0 ? solver->island_runs + island->first_run : NULL,
                         .group_count = island->group_count,
                         .run_count = island->run_count,
                         .contact_count = island->contact_count,
                         .row_memory = solver->row_memory,
                         .contact_memory = solver->contact_memory,
                         .rolling_memory = solver->has_rolling ? solver->rolling_memory : NULL,
                         .contact_runs = solver->contact_runs,
                         .swept = island->method == SOLVER_SWEPT,
                         .springs = !solver->options.no_springs,
                         .keeps_impulses = island->loose_count == island->body_count,
                         .node_of_body = solver->topology.node_of_body };
}

// What solving an island directly costs, as far as that can be told beforehand.
static int64_t island_work(const IslandRef *island)
{
    if (island->method == SOLVER_ITERATIVE)
        return 0;
    return 64 * (int64_t)island->body_count + (int64_t)island->dense_row_count * island->dense_row_count;
}

static int falling_work(const void *a, const void *b)
{
    const IslandBundle *x = a, *y = b;
    return x->work != y->work ? (x->work < y->work ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

// Each thread gets neighbours with its part of the work, and so about the islands that it had in the last step, whose
// bodies and rows are in its cache. When some island alone is more than a bundle the longest of a share come first:
// what is left for others in the end is short.
static void bundles_share(Solver *solver, int64_t total, bool are_uneven)
{
    assert_debug(total >= 0);
    int64_t before = 0;
    for (int t = 0, end = 0; t < solver->scratch_count; t++) {
        const int first = end;
        const int64_t wanted = total * (t + 1) / solver->scratch_count;
        bool is_last = t + 1 == solver->scratch_count;
        while (end < solver->bundle_count && (is_last || 2 * before + solver->bundles[end].work <= 2 * wanted))
            before += solver->bundles[end++].work;
        if (are_uneven && end > first)
            qsort(solver->bundles + first, (size_t)(end - first), sizeof *solver->bundles, falling_work);
        solver->shares[t] = end;
    }
}

// Neighbours go together until they are enough work.
static void islands_bundle(Solver *solver)
{
    assert(solver->scratch_count > 0);
    int64_t total = 0, work = 0, max = 0;
    int first = 0;
    int room = solver->scratch_count == 1 ? 1 : solver->island_count + 1;
    memory_grow(&solver->bundles, &solver->bundle_capacity, room, sizeof *solver->bundles);
    solver->bundle_count = solver->shares[0] = 1;
    solver->bundles[0] = (IslandBundle){ 0, solver->island_count, 0 };
    if (solver->scratch_count == 1)
        return;
    solver->bundle_count = 0;
    for (int i = 0; i < solver->island_count; i++)
        total += island_work(&solver->islands[i]);
    int64_t wanted = total / (BUNDLES_PER_THREAD * solver->scratch_count) + 1;
    for (int i = 0; i < solver->island_count; i++) {
        work += island_work(&solver->islands[i]);
        if (work < wanted && i + 1 < solver->island_count)
            continue;
        solver->bundles[solver->bundle_count++] = (IslandBundle){ first, i + 1, work };
        max = work > max ? work : max;
        first = i + 1;
        work = 0;
    }
    bundles_share(solver, total, 2 * max > 3 * wanted);
}

// Whether the island is what it would be again if nothing touched it: its method hangs on nothing that changes.
static bool island_is_tree(const IslandRef *island)
{
    return island->method == SOLVER_DIRECT && island->group_count == 1 && island->iterated_count == 0
           && island->loose_count == 0 && (island->joint_row_count > 0 || island->body_count == 1);
}

void solver_islands_update(Solver *solver, const SolverInput *input)
{
    assert(input->awake_count >= 0 && input->awake_count <= input->body_count);
    bool are_trees = solver->scratch_count == 1 && input->contact_count == 0 && solver->contact_last_count == 0
                     && solver->options.method == SOLVER_AUTO && input->awake
                     && input->awake_count == input->body_count;
    awake_groups_find(solver, input);
    if (input->contact_count == 0) {
        islands_are_groups(solver);
    } else {
        islands_join(solver);
        islands_number(solver);
        islands_gather_groups(solver);
        islands_gather_contacts(solver);
    }
    for (int i = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->method = solver->options.method != SOLVER_AUTO ? solver->options.method
                                                               : island_method(solver, input, island);
        are_trees = are_trees && island_is_tree(island);
        method_remember(solver, island);
    }
    solver->are_trees = are_trees;
    islands_bundle(solver);
}

int solver_islands(Solver *solver, const SolverIsland **islands)
{
    const Topology *t = &solver->topology;
    memory_grow(&solver->explained, &solver->explained_capacity, solver->island_count + 1, sizeof *solver->explained);
    for (int i = 0; i < solver->island_count; i++) {
        const IslandRef *island = &solver->islands[i];
        solver->explained[i] =
            (SolverIsland){ .first_body = t->links[t->groups[solver->island_groups[island->first_group]].first].body,
                            .body_count = island->body_count,
                            .joint_row_count = island->joint_row_count,
                            .contact_count = island->contact_count,
                            .dense_row_count = island->dense_row_count,
                            .method = island->method };
    }
    *islands = solver->explained;
    return solver->island_count;
}
