// Joint trees: bodies that joints connect form a group; from its root joints reach every body once, the others are cut.
#include "physics/solver/solver_internal.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct TreeBuilder {
    Topology *t;
    const SolverInput *input;
    int32_t *adjacent_start, *adjacent;  // joints of each body
    int32_t *queue, *place;              // place in the order, -1: not reached
    uint8_t *joint_used;
    int link_joint_count;
} TreeBuilder;

static bool body_moves(const TreeBuilder *b, int body) { return body >= 0 && !b->t->fixed[body]; }

static int other_body(const SolverJoint *joint, int body) { return joint->body1 == body ? joint->body2 : joint->body1; }

static void adjacency_build(TreeBuilder *b)
{
    const SolverInput *input = b->input;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = input->joint_count - 1; i >= 0; i--) {
            const SolverJoint *joint = &input->joints[i];
            if (joint->body1 == joint->body2)
                continue;
            int sides[2] = { joint->body1, joint->body2 };
            for (int k = 0; k < 2; k++) {
                if (!body_moves(b, sides[k]))
                    continue;
                if (pass == 0)
                    b->adjacent_start[sides[k] + 1]++;
                else
                    b->adjacent[--b->adjacent_start[sides[k] + 1]] = i;
            }
        }
        for (int i = 0; pass == 0 && i < input->body_count; i++)
            b->adjacent_start[i + 1] += b->adjacent_start[i];
    }
    // The second pass moved each end back to its start: shift by one so that [i], [i+1] is the range again.
    memmove(b->adjacent_start, b->adjacent_start + 1, (size_t)input->body_count * sizeof *b->adjacent_start);
    int total = 0;
    for (int i = 0; i < input->joint_count; i++) {
        const SolverJoint *joint = &input->joints[i];
        if (joint->body1 != joint->body2)
            total += body_moves(b, joint->body1) + body_moves(b, joint->body2);
    }
    b->adjacent_start[input->body_count] = total;
}

static void link_add_joint(TreeBuilder *b, TreeLink *link, int joint)
{
    Topology *t = b->t;
    assert_debug(joint >= 0 && joint < b->input->joint_count && !b->joint_used[joint]);
    t->link_joints[b->link_joint_count++] = (LinkJoint){ joint, b->input->joints[joint].body1 != link->body };
    link->joint_count++;
    b->joint_used[joint] = 1;
}

// The body to hang the tree from: one that is held by the ground if there is any, else the first.
static int component_root(TreeBuilder *b, int seed)
{
    int head = 0, tail = 0, root = seed;
    bool grounded = false;
    b->queue[tail++] = seed;
    b->place[seed] = -2;
    while (head < tail) {
        int body = b->queue[head++];
        for (int k = b->adjacent_start[body]; k < b->adjacent_start[body + 1]; k++) {
            int other = other_body(&b->input->joints[b->adjacent[k]], body);
            if (!body_moves(b, other)) {
                if (!grounded || body < root)
                    root = body;
                grounded = true;
            } else if (b->place[other] == -1) {
                b->place[other] = -2;
                b->queue[tail++] = other;
            }
        }
    }
    return root;
}

static void cut_add(TreeBuilder *b, TreeGroup *group, int joint)
{
    Topology *t = b->t;
    if (b->joint_used[joint])
        return;
    b->joint_used[joint] = 1;
    t->cut_joints[t->cut_count++] = joint;
    group->cut_count++;
}

// One tree in the order of a breadth-first search from its root; joints to a body that has its place already close
// loops and are cut.
static void component_build(TreeBuilder *b, int seed)
{
    Topology *t = b->t;
    assert_debug(seed >= 0 && seed < b->input->body_count && body_moves(b, seed));
    int root = component_root(b, seed);
    TreeGroup *group = &t->groups[t->group_count];
    *group = (TreeGroup){ .first = t->link_count, .first_cut = t->cut_count, .method = -1 };
    t->links[t->link_count] = (TreeLink){ .body = root, .parent = -1, .first_joint = b->link_joint_count };
    b->place[root] = t->link_count++;
    for (int k = b->adjacent_start[root]; k < b->adjacent_start[root + 1]; k++)
        if (!body_moves(b, other_body(&b->input->joints[b->adjacent[k]], root)))
            link_add_joint(b, &t->links[group->first], b->adjacent[k]);
    for (int at = group->first; at < t->link_count; at++) {
        int body = t->links[at].body;
        t->group_of_body[body] = t->group_count;
        for (int k = b->adjacent_start[body]; k < b->adjacent_start[body + 1]; k++) {
            int joint = b->adjacent[k], other = other_body(&b->input->joints[joint], body);
            if (!body_moves(b, other) || b->place[other] >= 0) {
                cut_add(b, group, joint);
                continue;
            }
            b->place[other] = t->link_count;
            TreeLink *link = &t->links[t->link_count++];
            *link = (TreeLink){ .body = other, .parent = at, .first_joint = b->link_joint_count };
            for (int i = k; i < b->adjacent_start[body + 1]; i++)
                if (other_body(&b->input->joints[b->adjacent[i]], body) == other)
                    link_add_joint(b, link, b->adjacent[i]);
        }
    }
    group->count = t->link_count - group->first;
    t->group_count++;
}

// Bytes of the block that holds the arrays of so many bodies, joints and groups.
static size_t block_bytes(int bodies, int joints, int groups)
{
    size_t n = (size_t)bodies + 1, j = (size_t)joints + 1;
    return n * (sizeof(TreeLink) + 2 * sizeof(int32_t)) + (n + 3) / 4 * 4 + j * (sizeof(LinkJoint) + sizeof(int32_t))
           + ((size_t)groups + 1) * sizeof(TreeGroup);
}

// The arrays in the order in which a step reads them; groups, of which there are fewest, last.
static void block_lay_out(Topology *t, int bodies, int joints)
{
    static_assert(sizeof(TreeLink) % sizeof(int32_t) == 0 && sizeof(LinkJoint) % sizeof(int32_t) == 0, "aligned");
    size_t n = (size_t)bodies + 1, j = (size_t)joints + 1;
    t->links = (TreeLink *)t->block;
    t->link_joints = (LinkJoint *)(t->links + n);
    t->node_of_body = (int32_t *)(t->link_joints + j);
    t->cut_joints = t->node_of_body + n;
    t->group_of_body = t->cut_joints + j;
    t->fixed = (uint8_t *)(t->group_of_body + n);
    t->groups = (TreeGroup *)(t->fixed + (n + 3) / 4 * 4);
}

// All trees anew. Allocates: joints seldom change.
static void topology_build(Topology *t, const SolverInput *input, bool same)
{
    int n = input->body_count, joints = input->joint_count;
    free(t->block);
    t->block = memory_alloc(block_bytes(n, joints, n));
    block_lay_out(t, n, joints);
    memory_grow(&t->joints, &t->joint_capacity, joints + 1, sizeof *t->joints);
    for (int i = 0; !same && i < joints; i++)
        t->joints[i] = (SolverJoint){ input->joints[i].body1, input->joints[i].body2, 0, 0 };
    TreeBuilder b = { .t = t, .input = input };
    b.adjacent_start = memory_alloc_array((size_t)n + 2, sizeof *b.adjacent_start);
    b.adjacent = memory_alloc_array((size_t)joints * 2 + 1, sizeof *b.adjacent);
    b.queue = memory_alloc_array((size_t)n + 1, sizeof *b.queue);
    b.place = memory_alloc_array((size_t)n + 1, sizeof *b.place);
    b.joint_used = memory_alloc_array((size_t)joints + 1, 1);
    for (int i = 0; i < n; i++) {
        t->fixed[i] = input->bodies[i].flags & SOLVER_BODY_KINEMATIC;
        t->group_of_body[i] = -1;
        b.place[i] = -1;
    }
    t->link_count = t->group_count = t->cut_count = 0;
    adjacency_build(&b);
    for (int i = 0; i < n; i++)
        if (!t->fixed[i] && b.place[i] == -1)
            component_build(&b, i);
    free(b.adjacent_start);
    free(b.adjacent);
    free(b.queue);
    free(b.place);
    free(b.joint_used);
    assert_debug(t->link_count <= n && t->group_count <= t->link_count);
    t->block_size = block_bytes(n, joints, t->group_count);
    t->block = memory_resize(t->block, t->block_size, 1);
    block_lay_out(t, n, joints);
    t->body_count = n;
    t->joint_count = joints;
    t->valid = true;
}

static bool joints_are_same(const Topology *t, const SolverInput *input)
{
    if (t->body_count != input->body_count || t->joint_count != input->joint_count)
        return false;
    for (int i = 0; i < input->joint_count; i++)
        if (t->joints[i].body1 != input->joints[i].body1 || t->joints[i].body2 != input->joints[i].body2)
            return false;
    return true;
}

// Whether the bodies that move are those that moved before.
static bool fixed_are_same(const Topology *t, const SolverInput *input)
{
    uint32_t changed = 0;
    for (int i = 0; i < input->awake_count; i++) {
        int body = input->awake ? input->awake[i] : i;
        changed |= t->fixed[body] ^ (input->bodies[body].flags & SOLVER_BODY_KINEMATIC);
    }
    return changed == 0;
}

bool solver_topology_stands(const Topology *t, const SolverInput *input)
{
    return t->valid && t->body_count == input->body_count && t->joint_count == input->joint_count
           && (input->joint_count == 0
               || memcmp(t->joints, input->joints, (size_t)input->joint_count * sizeof *t->joints) == 0)
           && fixed_are_same(t, input);
}

static void joints_check(const SolverInput *input)
{
    for (int i = 0; i < input->joint_count; i++) {
        const SolverJoint *joint = &input->joints[i];
        assert_debug(joint->body1 >= -1 && joint->body1 < input->body_count);
        assert_debug(joint->body2 >= -1 && joint->body2 < input->body_count);
        assert_debug(joint->row_count == 0
                     || (joint->first_row >= 0 && joint->first_row + joint->row_count <= input->row_count));
    }
}

// A joint whose number of rows changed (a stop was reached or left) starts with fresh memory of its rows.
static void row_memory_update(Solver *solver, const SolverInput *input, bool same)
{
    Topology *t = &solver->topology;
    memory_grow(&solver->row_memory, &solver->row_memory_capacity, input->joint_count * SOLVER_JOINT_ROWS + 1,
                sizeof(RowMemory));
    for (int i = 0; i < input->joint_count; i++) {
        bool fresh = !same || t->joints[i].row_count != input->joints[i].row_count;
        t->joints[i] = input->joints[i];
        if (fresh)
            memset(&solver->row_memory[i * SOLVER_JOINT_ROWS], 0, SOLVER_JOINT_ROWS * sizeof(RowMemory));
    }
}

static void groups_count_rows(Topology *t)
{
    enum { HINGE_ROWS = 5 };  // of a hinge or slider without any
    t->has_bounded = false;
    t->is_bare = t->cut_count == 0;
    for (int i = 0; i < t->joint_count; i++) {
        t->has_bounded |= t->joints[i].row_count > HINGE_ROWS;
        t->is_bare &= t->joints[i].row_count == HINGE_ROWS;
    }
    for (int i = 0; i < t->link_count; i++)
        t->is_bare &= t->links[i].joint_count <= 1;
    for (int g = 0; g < t->group_count; g++) {
        TreeGroup *group = &t->groups[g];
        group->joint_row_count = group->cut_row_count = 0;
        for (int k = group->first; k < group->first + group->count; k++)
            for (int q = 0; q < t->links[k].joint_count; q++)
                group->joint_row_count += t->joints[t->link_joints[t->links[k].first_joint + q].joint].row_count;
        for (int k = 0; k < group->cut_count; k++)
            group->cut_row_count += t->joints[t->cut_joints[group->first_cut + k]].row_count;
    }
}

// What is remembered of bodies, for new trees.
static void groups_count_methods(Topology *t, const uint8_t *iterated)
{
    for (int g = 0; g < t->group_count; g++) {
        TreeGroup *group = &t->groups[g];
        group->iterated_count = group->loose_count = 0;
        for (int k = group->first; k < group->first + group->count; k++) {
            group->iterated_count += iterated[t->links[k].body] > SOLVER_DIRECT;
            group->loose_count += iterated[t->links[k].body] == SOLVER_ITERATIVE;
        }
    }
}

void solver_topology_update(Solver *solver, const SolverInput *input)
{
    assert(input->joint_count >= 0 && input->body_count >= 0);
    assert_debug(solver->iterated_capacity > input->body_count);
    Topology *t = &solver->topology;
    if (solver_topology_stands(t, input))
        return;
    solver->are_trees = false;
    joints_check(input);
    bool same = joints_are_same(t, input);
    if (!same || !t->valid || !fixed_are_same(t, input)) {
        topology_build(t, input, same);
        groups_count_methods(t, solver->iterated);
    }
    row_memory_update(solver, input, same);
    groups_count_rows(t);
}
