// Islands: groups that contacts connect, and the method that suits each.
#include "physics/solver/solver_internal.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIVE_ABOVE_ROWS 48   // dense rows of an island of loose bodies above which it is iterated ...
#define DIRECT_BELOW_ROWS 30       // ... and below which it is solved exactly again
#define FEW_BODIES 2               // so few are exact up to as many rows as those with joints: a table on its many feet
#define PILE_BODIES 4              // as many like bodies in an island are iterated like a large pile, fewer rows or not ...
#define LIKE_MASSES 4.0            // ... when the masses differ by no more than this factor and no contact is hard
#define SWEEP_ABOVE_ROWS 120       // the same for an island with joints,
#define PIVOT_BELOW_ROWS 90        // whose contacts alone are iterated
#define DENSE_BELOW_ROWS 480       // a dense problem that was too large is one again below this
#define SWEPT_TREE_LIMIT 150       // bodies of a tree beyond which responses of more than a dense problem's rows would fill the memory
#define BUNDLES_PER_THREAD 48      // of islands

static int find_set(int32_t *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void awake_groups_find(Solver *solver, const SolverInput *input)
{
    Topology *t = &solver->topology;
    memory_grow(&solver->group_island, &solver->group_island_capacity, t->group_count + 1, sizeof(int32_t));
    memory_grow(&solver->awake_groups, &solver->awake_groups_capacity, t->group_count + 1, sizeof(int32_t));
    if (solver->group_awake_capacity < t->group_count + 1) {
        memory_grow(&solver->group_awake, &solver->group_awake_capacity, t->group_count + 1, 1);
        memset(solver->group_awake, 0, (size_t)solver->group_awake_capacity);
    }
    solver->awake_group_count = 0;
    for (int i = 0; i < input->awake_count; i++) {
        int body = input->awake ? input->awake[i] : i, group = t->group_of_body[body];
        if (group < 0 || (input->bodies[body].flags & SOLVER_BODY_ASLEEP) || solver->group_awake[group])
            continue;
        solver->group_awake[group] = 1;
        solver->awake_groups[solver->awake_group_count++] = group;
        solver->group_island[group] = group;
    }
    for (int i = 0; i < solver->awake_group_count; i++)
        solver->group_awake[solver->awake_groups[i]] = 0;
}

static void islands_join(Solver *solver, const SolverInput *input)
{
    int32_t *set = solver->group_island;
    int last_a = -1, last_b = -1;
    for (int i = 0; i < input->contact_count; i++) {
        int a = solver->contact_refs[i].groups[0], b = solver->contact_refs[i].groups[1];
        if (a < 0 || b < 0 || (a == last_a && b == last_b))
            continue;
        last_a = a;
        last_b = b;
        a = find_set(set, a);
        b = find_set(set, b);
        if (a < b)
            set[b] = a;
        else
            set[a] = b;
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

static void island_add_group(const Solver *solver, const SolverInput *input, IslandRef *island, const TreeGroup *group)
{
    const Topology *t = &solver->topology;
    island->body_count += group->count;
    island->widest = int_max(island->widest, group->count);
    for (int k = group->first; k < group->first + group->count; k++) {
        island->iterated_count += solver->iterated[t->links[k].body] != 0;
        island->loose_count += solver->iterated[t->links[k].body] == SOLVER_ITERATIVE;
        for (int q = 0; q < t->links[k].joint_count; q++)
            island->joint_row_count += input->joints[t->link_joints[t->links[k].first_joint + q].joint].row_count;
    }
    for (int k = 0; k < group->cut_count; k++)
        island->cut_row_count += input->joints[t->cut_joints[group->first_cut + k]].row_count;
}

static void islands_gather_groups(Solver *solver, const SolverInput *input)
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
        island_add_group(solver, input, island, &solver->topology.groups[group]);
    }
    for (int i = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->joint_row_count += island->cut_row_count;
        island->dense_row_count = island->cut_row_count;
    }
}

static inline IslandRef *island_of_contact(const Solver *solver, int contact)
{
    const ContactRef *ref = &solver->contact_refs[contact];
    int group = ref->groups[0] >= 0 ? ref->groups[0] : ref->groups[1];
    return group < 0 ? NULL : &solver->islands[-1 - solver->group_island[group]];
}

static void islands_gather_contacts(Solver *solver, int count)
{
    memory_grow(&solver->island_contacts, &solver->island_contacts_capacity, count + 1, sizeof(int32_t));
    for (int i = 0; i < count; i++) {
        IslandRef *island = island_of_contact(solver, i);
        if (!island)
            continue;
        island->contact_count++;
        island->dense_row_count += solver->contact_refs[i].row_count;
    }
    for (int i = 0, at = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->first_contact = at;
        at += island->contact_count;
        island->contact_count = 0;
    }
    for (int i = 0; i < count; i++) {
        IslandRef *island = island_of_contact(solver, i);
        if (island)
            solver->island_contacts[island->first_contact + island->contact_count++] = i;
    }
}

// Few rows are pivoted. Many are swept, unless there are loops, which sweeps would leave open for long, or too many on wide trees.
static SolverMethod jointed_method(const IslandRef *island, bool before)
{
    bool was_iterative = 2 * island->loose_count > island->body_count;
    bool is_large = island->dense_row_count > (was_iterative ? DENSE_BELOW_ROWS : SOLVER_DENSE_LIMIT);
    if (island->cut_row_count == 0 && (island->widest <= SWEPT_TREE_LIMIT || !is_large)
        && island->dense_row_count > (before ? PIVOT_BELOW_ROWS : SWEEP_ABOVE_ROWS))
        return SOLVER_SWEPT;
    return is_large ? SOLVER_ITERATIVE : SOLVER_DIRECT;
}

static bool contact_is_soft(const SolverContact *contact, double least_cfm)
{
    return (contact->flags & SOLVER_CONTACT_SOFT_CFM) && contact->soft_cfm >= least_cfm && !(contact->flags & SOLVER_CONTACT_ROLLING)
        && contact->motionN == 0.0;
}

// A few boxes on each other, as large piles are made of: nothing in it needs the exact method.
static bool island_is_pile(const Solver *solver, const SolverInput *input, const IslandRef *island)
{
    if (island->body_count < PILE_BODIES)
        return false;
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        const SolverBody *body = &input->bodies[solver->topology.links[group->first].body];
        least = fmin(least, body->mass);
        most = fmax(most, body->mass);
    }
    if (most > LIKE_MASSES * least)
        return false;
    double least_cfm = SOLVER_SOFT_SHARE * input->dt * 2.0 / least;
    for (int i = 0; i < island->contact_count; i++)
        if (!contact_is_soft(&input->contacts[solver->island_contacts[island->first_contact + i]], least_cfm))
            return false;
    return true;
}

// Islands switch with a gap between the thresholds so that a pile does not change its method every step.
static SolverMethod island_method(const Solver *solver, const SolverInput *input, const IslandRef *island)
{
    bool before = 2 * island->iterated_count > island->body_count;
    if (island->joint_row_count > 0)
        return jointed_method(island, before);
    int limit = island->body_count <= FEW_BODIES ? (before ? PIVOT_BELOW_ROWS : SWEEP_ABOVE_ROWS) : before ? DIRECT_BELOW_ROWS : ITERATIVE_ABOVE_ROWS;
    if (island->dense_row_count > limit)
        return SOLVER_ITERATIVE;
    return island_is_pile(solver, input, island) ? SOLVER_ITERATIVE : SOLVER_DIRECT;
}

static void task_prepare(Solver *solver, const SolverInput *input, int index)
{
    const IslandRef *island = &solver->islands[index];
    solver->tasks[index] = (IslandTask){
        .input = input, .topology = &solver->topology, .groups = solver->island_groups + island->first_group,
        .contacts = solver->island_contacts + island->first_contact, .group_count = island->group_count,
        .contact_count = island->contact_count, .row_memory = solver->row_memory, .contact_memory = solver->contact_memory,
        .contact_refs = solver->contact_refs,
        .swept = island->method == SOLVER_SWEPT, .keeps_impulses = island->loose_count == island->body_count,
        .node_of_body = solver->node_of_body };
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        for (int k = group->first; k < group->first + group->count; k++)
            solver->iterated[solver->topology.links[k].body] = island->method == SOLVER_DIRECT ? 0 : (uint8_t)island->method;
    }
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

// Neighbours go together until they are enough work, and so stay on the thread that had them in the last step. When some
// island alone is more than its share the longest come first.
static void islands_bundle(Solver *solver)
{
    int64_t total = 0, work = 0, most = 0;
    int first = 0;
    for (int i = 0; i < solver->island_count; i++)
        total += island_work(&solver->islands[i]);
    int64_t wanted = total / (BUNDLES_PER_THREAD * solver->scratch_count) + 1;
    solver->bundle_count = 0;
    memory_grow(&solver->bundles, &solver->bundle_capacity, solver->island_count + 1, sizeof *solver->bundles);
    for (int i = 0; i < solver->island_count; i++) {
        work += island_work(&solver->islands[i]);
        if (work < wanted && i + 1 < solver->island_count)
            continue;
        solver->bundles[solver->bundle_count++] = (IslandBundle){ first, i + 1, work };
        most = work > most ? work : most;
        first = i + 1;
        work = 0;
    }
    solver->are_bundles_uneven = solver->scratch_count > 1 && 2 * most > 3 * wanted;
    if (solver->are_bundles_uneven)
        qsort(solver->bundles, (size_t)solver->bundle_count, sizeof *solver->bundles, falling_work);
}

void solver_islands_update(Solver *solver, const SolverInput *input)
{
    awake_groups_find(solver, input);
    islands_join(solver, input);
    islands_number(solver);
    islands_gather_groups(solver, input);
    islands_gather_contacts(solver, input->contact_count);
    memory_grow(&solver->tasks, &solver->task_capacity, solver->island_count + 1, sizeof *solver->tasks);
    for (int i = 0; i < solver->island_count; i++) {
        IslandRef *island = &solver->islands[i];
        island->method = solver->options.method != SOLVER_AUTO ? solver->options.method : island_method(solver, input, island);
        task_prepare(solver, input, i);
    }
    islands_bundle(solver);
}

int solver_islands(Solver *solver, const SolverIsland **islands)
{
    const Topology *t = &solver->topology;
    memory_grow(&solver->explained, &solver->explained_capacity, solver->island_count + 1, sizeof *solver->explained);
    for (int i = 0; i < solver->island_count; i++) {
        const IslandRef *island = &solver->islands[i];
        solver->explained[i] = (SolverIsland){
            .first_body = t->links[t->groups[solver->island_groups[island->first_group]].first].body,
            .body_count = island->body_count, .joint_row_count = island->joint_row_count,
            .contact_count = island->contact_count, .dense_row_count = island->dense_row_count, .method = island->method };
    }
    *islands = solver->explained;
    return solver->island_count;
}
