// Islands: groups that contacts connect, and the method that suits each.
#include "physics/solver_internal.h"

#include "base/memory.h"

#include <string.h>

#define ITERATIVE_ABOVE_ROWS 48   // dense rows of an island of loose bodies above which it is iterated ...
#define DIRECT_BELOW_ROWS 30       // ... and below which it is solved exactly again
#define FEW_BODIES 2               // so few are exact up to as many rows as those with joints: a table on its many feet
#define SWEEP_ABOVE_ROWS 120       // the same for an island with joints,
#define PIVOT_BELOW_ROWS 90        // whose contacts alone are iterated
#define SWEPT_TREE_LIMIT 150       // bodies of a tree beyond which its responses would fill the memory

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
    for (int i = 0; i < input->contact_count; i++) {
        int a = solver->contact_refs[i].groups[0], b = solver->contact_refs[i].groups[1];
        if (a < 0 || b < 0 || a == b)
            continue;
        a = find_set(set, a);
        b = find_set(set, b);
        if (a < b)
            set[b] = a;
        else
            set[a] = b;
    }
}

// Fills `islands`, `island_groups` and `island_contacts`. The lowest group of an island is its representative.
static void islands_build(Solver *solver, const SolverInput *input)
{
    const Topology *t = &solver->topology;
    int32_t *set = solver->group_island;
    int groups = solver->awake_group_count;
    awake_groups_find(solver, input);
    groups = solver->awake_group_count;
    set = solver->group_island;
    islands_join(solver, input);
    memory_grow(&solver->islands, &solver->island_capacity, groups + 1, sizeof *solver->islands);
    memory_grow(&solver->island_groups, &solver->island_groups_capacity, groups + 1, sizeof(int32_t));
    memory_grow(&solver->island_contacts, &solver->island_contacts_capacity, input->contact_count + 1, sizeof(int32_t));
    solver->island_count = 0;
    // Representatives are met first when groups come in rising order; awake bodies rise, but group numbers follow the
    // first body of each component, so this holds.
    for (int i = 0; i < groups; i++) {
        int group = solver->awake_groups[i];
        if (find_set(set, group) == group)
            solver->islands[solver->island_count++] = (IslandRef){ .first_group = group };
    }
    for (int i = 0; i < groups; i++)
        set[solver->awake_groups[i]] = find_set(set, solver->awake_groups[i]);
    for (int i = 0; i < solver->island_count; i++)
        set[solver->islands[i].first_group] = -1 - i;
    for (int i = 0; i < groups; i++) {
        int32_t *entry = &set[solver->awake_groups[i]];
        if (*entry >= 0)
            *entry = set[*entry];
    }
    for (int i = 0; i < groups; i++)
        solver->islands[-1 - set[solver->awake_groups[i]]].group_count++;
    for (int i = 0, at = 0; i < solver->island_count; i++) {
        solver->islands[i].first_group = at;
        at += solver->islands[i].group_count;
        solver->islands[i].group_count = 0;
    }
    for (int i = 0; i < groups; i++) {
        IslandRef *island = &solver->islands[-1 - set[solver->awake_groups[i]]];
        solver->island_groups[island->first_group + island->group_count++] = solver->awake_groups[i];
        island->body_count += t->groups[solver->awake_groups[i]].count;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < input->contact_count; i++) {
            const ContactRef *ref = &solver->contact_refs[i];
            int group = ref->groups[0] >= 0 ? ref->groups[0] : ref->groups[1];
            if (group < 0)
                continue;
            IslandRef *island = &solver->islands[-1 - set[group]];
            if (pass == 1)
                solver->island_contacts[island->first_contact + island->contact_count] = i;
            island->contact_count++;
        }
        for (int i = 0, at = 0; pass == 0 && i < solver->island_count; i++) {
            solver->islands[i].first_contact = at;
            at += solver->islands[i].contact_count;
            solver->islands[i].contact_count = 0;
        }
    }
}

// Few rows are pivoted. Many are swept, unless there are loops, which sweeps would leave open for long, or trees too wide.
static SolverMethod jointed_method(const IslandRef *island, int widest, int cut_rows, bool before)
{
    if (cut_rows == 0 && widest <= SWEPT_TREE_LIMIT && island->dense_row_count > (before ? PIVOT_BELOW_ROWS : SWEEP_ABOVE_ROWS))
        return SOLVER_SWEPT;
    return island->dense_row_count > SOLVER_DENSE_LIMIT ? SOLVER_ITERATIVE : SOLVER_DIRECT;
}

// Islands switch with a gap between the thresholds so that a pile does not change its method every step.
static void island_choose(Solver *solver, const SolverInput *input, IslandRef *island)
{
    const Topology *t = &solver->topology;
    for (int i = 0; i < island->contact_count; i++)
        island->dense_row_count += solver->contact_refs[solver->island_contacts[island->first_contact + i]].row_count;
    int last = 0, widest = 0, cut_rows = 0;
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &t->groups[solver->island_groups[island->first_group + i]];
        widest = int_max(widest, group->count);
        for (int k = group->first; k < group->first + group->count; k++) {
            last += solver->iterated[t->links[k].body];
            for (int q = 0; q < t->links[k].joint_count; q++)
                island->joint_row_count += input->joints[t->link_joints[t->links[k].first_joint + q].joint].row_count;
        }
        for (int k = 0; k < group->cut_count; k++) {
            int rows = input->joints[t->cut_joints[group->first_cut + k]].row_count;
            island->joint_row_count += rows;
            island->dense_row_count += rows;
            cut_rows += rows;
        }
    }
    bool before = 2 * last > island->body_count;
    island->method = solver->options.method != SOLVER_AUTO ? solver->options.method
        : island->joint_row_count > 0 ? jointed_method(island, widest, cut_rows, before)
        : island->dense_row_count <= (island->body_count <= FEW_BODIES ? PIVOT_BELOW_ROWS : before ? DIRECT_BELOW_ROWS : ITERATIVE_ABOVE_ROWS)
        ? SOLVER_DIRECT : SOLVER_ITERATIVE;
}

static void islands_explain(Solver *solver)
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
}

static void task_prepare(Solver *solver, const SolverInput *input, int index)
{
    const IslandRef *island = &solver->islands[index];
    solver->tasks[index] = (IslandTask){
        .input = input, .topology = &solver->topology, .groups = solver->island_groups + island->first_group,
        .contacts = solver->island_contacts + island->first_contact, .group_count = island->group_count,
        .contact_count = island->contact_count, .row_memory = solver->row_memory, .contact_memory = solver->contact_memory,
        .swept = island->method == SOLVER_SWEPT, .node_of_body = solver->node_of_body };
    for (int i = 0; i < island->group_count; i++) {
        const TreeGroup *group = &solver->topology.groups[solver->island_groups[island->first_group + i]];
        for (int k = group->first; k < group->first + group->count; k++)
            solver->iterated[solver->topology.links[k].body] = island->method != SOLVER_DIRECT;
    }
}

void solver_islands_update(Solver *solver, const SolverInput *input)
{
    islands_build(solver, input);
    memory_grow(&solver->tasks, &solver->task_capacity, solver->island_count + 1, sizeof *solver->tasks);
    for (int i = 0; i < solver->island_count; i++) {
        island_choose(solver, input, &solver->islands[i]);
        task_prepare(solver, input, i);
    }
    islands_explain(solver);
}
