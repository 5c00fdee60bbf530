// One step: joint trees (kept while the joints stay the same), islands by contacts, a method per island, integration.
#include "physics/solver.h"

#include "base/memory.h"
#include "physics/solver_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIVE_ABOVE_ROWS 48   // dense rows of an island of loose bodies above which it is iterated ...
#define MATCH_DISTANCE 0.03f       // m that a point of contact may travel in a step and still be the same
#define DIRECT_BELOW_ROWS 30       // ... and below which it is solved exactly again
#define FEW_BODIES 2               // so few are exact up to as many rows as those with joints: a table on its many feet
#define SWEEP_ABOVE_ROWS 120       // the same for an island with joints,
#define PIVOT_BELOW_ROWS 90        // whose contacts alone are iterated
#define SWEPT_TREE_LIMIT 150       // bodies of a tree beyond which its responses would fill the memory

#define CONTACT_GRAIN 256          // contacts that a worker takes at a time
#define IN_A_RUN (-2)              // not the first contact of its pair

typedef struct ContactRef {
    uint64_t pair;
    int32_t groups[2];             // of the two bodies, -1: none that moves
    int32_t row_count;
    int32_t remembered;            // first of last step's points of the pair, -1: none
} ContactRef;

typedef void (*DirectMethod)(DirectScratch *scratch, IslandTask *task);

struct Solver {
    SolverOptions options;
    DirectMethod direct;
    Topology topology;
    RowMemory *row_memory;
    ContactMemory *contact_memory, *contact_memory_last;
    int contact_last_count;
    int32_t *contact_table;       // hash of last step's contacts by key
    ContactRef *contact_refs;     // what finding islands needs of each contact, close together
    int32_t *node_of_body;
    uint8_t *iterated;            // per body: its island was iterated in the last step
    int32_t *group_island;        // union-find over groups, then island numbers
    int32_t *awake_groups, *island_groups, *island_contacts;
    uint8_t *group_awake;
    IslandRef *islands;
    IslandTask *tasks;
    SolverIsland *explained;
    DirectScratch **direct_scratch;
    LooseScratch *loose_scratch;
    const IslandTask **loose_tasks;
    int loose_task_capacity;
    int row_memory_capacity, contact_memory_capacity, contact_last_capacity, contact_table_capacity, node_capacity, iterated_capacity;
    int group_island_capacity, awake_groups_capacity, island_groups_capacity, island_contacts_capacity, group_awake_capacity;
    int island_capacity, task_capacity, explained_capacity, contact_ref_capacity;
    int island_count, scratch_count, awake_group_count;
    SolverStatistics statistics;
};

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

// ---- joint trees ----

typedef struct TreeBuilder {
    Topology *t;
    const SolverInput *input;
    int32_t *adjacent_start, *adjacent;   // joints of each body
    int32_t *queue, *place;               // place in the order, -1: not reached
    uint8_t *joint_used;
    int link_joint_count;
} TreeBuilder;

static bool body_moves(const TreeBuilder *b, int body)
{
    return body >= 0 && !b->t->fixed[body];
}

static int other_body(const SolverJoint *joint, int body)
{
    return joint->body1 == body ? joint->body2 : joint->body1;
}

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
    memory_grow(&t->link_joints, &t->link_joint_capacity, b->link_joint_count + 1, sizeof *t->link_joints);
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
    memory_grow(&t->cut_joints, &t->cut_capacity, t->cut_count + 1, sizeof *t->cut_joints);
    t->cut_joints[t->cut_count++] = joint;
    group->cut_count++;
}

static void component_build(TreeBuilder *b, int seed)
{
    Topology *t = b->t;
    int root = component_root(b, seed);
    memory_grow(&t->groups, &t->group_capacity, t->group_count + 1, sizeof *t->groups);
    TreeGroup *group = &t->groups[t->group_count];
    *group = (TreeGroup){ .first = t->link_count, .first_cut = t->cut_count };
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

static void topology_build(Topology *t, const SolverInput *input, bool same)
{
    int n = input->body_count, joints = input->joint_count;
    memory_grow(&t->fixed, &t->fixed_capacity, n + 1, sizeof *t->fixed);
    memory_grow(&t->links, &t->link_capacity, n + 1, sizeof *t->links);
    memory_grow(&t->group_of_body, &t->body_capacity, n + 1, sizeof *t->group_of_body);
    memory_grow(&t->joints, &t->joint_capacity, joints + 1, sizeof *t->joints);
    for (int i = 0; i < joints; i++)
        t->joints[i] = (SolverJoint){ input->joints[i].body1, input->joints[i].body2, 0, same ? t->joints[i].row_count : 0 };
    TreeBuilder b = { .t = t, .input = input };
    b.adjacent_start = memory_alloc_array((size_t)n + 2, sizeof *b.adjacent_start);
    b.adjacent = memory_alloc_array((size_t)joints * 2 + 1, sizeof *b.adjacent);
    b.queue = memory_alloc_array((size_t)n + 1, sizeof *b.queue);
    b.place = memory_alloc_array((size_t)n + 1, sizeof *b.place);
    b.joint_used = memory_alloc_array((size_t)joints + 1, 1);
    for (int i = 0; i < n; i++) {
        t->fixed[i] = (input->bodies[i].flags & SOLVER_BODY_KINEMATIC) != 0;
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

static bool topology_is_current(const Topology *t, const SolverInput *input)
{
    if (!t->valid)
        return false;
    for (int i = 0; i < input->awake_count; i++) {
        int body = input->awake ? input->awake[i] : i;
        if (t->fixed[body] != ((input->bodies[body].flags & SOLVER_BODY_KINEMATIC) != 0))
            return false;
    }
    return true;
}

// A joint whose number of rows changed (a stop was reached or left) starts with fresh memory of its rows.
static void row_memory_update(Solver *solver, const SolverInput *input, bool same)
{
    Topology *t = &solver->topology;
    memory_grow(&solver->row_memory, &solver->row_memory_capacity, input->joint_count * SOLVER_JOINT_ROWS + 1, sizeof(RowMemory));
    for (int i = 0; i < input->joint_count; i++) {
        if (same && t->joints[i].row_count == input->joints[i].row_count)
            continue;
        t->joints[i].row_count = input->joints[i].row_count;
        memset(&solver->row_memory[i * SOLVER_JOINT_ROWS], 0, SOLVER_JOINT_ROWS * sizeof(RowMemory));
    }
}

// ---- contacts ----

void solver_plane_space(const double n[3], double p[3], double q[3])
{
    if (fabs(n[2]) > M_SQRT1_2) {
        double a = n[1] * n[1] + n[2] * n[2], k = 1.0 / sqrt(a);
        p[0] = 0.0;
        p[1] = -n[2] * k;
        p[2] = n[1] * k;
        q[0] = a * k;
        q[1] = -n[0] * p[2];
        q[2] = n[0] * p[1];
    } else {
        double a = n[0] * n[0] + n[1] * n[1], k = 1.0 / sqrt(a);
        p[0] = -n[1] * k;
        p[1] = n[0] * k;
        p[2] = 0.0;
        q[0] = -n[2] * p[1];
        q[1] = n[2] * p[0];
        q[2] = a * k;
    }
}

static void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void contact_jacobian(const SolverInput *input, const SolverContact *contact, const double *axis, bool rolling, ContactRow *row)
{
    const int bodies[2] = { contact->body1, contact->body2 };
    for (int k = 0; k < 2; k++) {
        double *j = k ? row->j2 : row->j1, sign = k ? -1.0 : 1.0, arm[3], moment[3];
        if (bodies[k] < 0) {
            memset(j, 0, sizeof row->j1);
            continue;
        }
        const double *centre = input->bodies[bodies[k]].position;
        for (int i = 0; i < 3; i++)
            arm[i] = contact->position[i] - centre[i];
        cross(arm, axis, moment);
        for (int i = 0; i < 3; i++) {
            j[i] = rolling ? 0.0 : sign * axis[i];
            j[3 + i] = sign * (rolling ? axis[i] : moment[i]);
        }
    }
}

// Velocity of body 1 against body 2 along the normal, at the contact.
static double approach_speed(const SolverInput *input, const SolverContact *contact)
{
    double speed = 0.0;
    const int bodies[2] = { contact->body1, contact->body2 };
    for (int k = 0; k < 2; k++) {
        if (bodies[k] < 0)
            continue;
        const SolverBody *body = &input->bodies[bodies[k]];
        double arm[3], turn[3], sign = k ? -1.0 : 1.0;
        for (int i = 0; i < 3; i++)
            arm[i] = contact->position[i] - body->position[i];
        cross(body->velocity + 3, arm, turn);
        for (int i = 0; i < 3; i++)
            speed += sign * contact->normal[i] * (body->velocity[i] + turn[i]);
    }
    return speed;
}

double solver_contact_normal_rhs(const SolverInput *input, const SolverContact *contact)
{
    double erp = contact->flags & SOLVER_CONTACT_SOFT_ERP ? contact->soft_erp : input->erp;
    double push = erp / input->dt * fmax(contact->depth - input->contact_surface_layer, 0.0) + contact->motionN;
    if (input->contact_max_velocity > 0.0)
        push = fmin(push, input->contact_max_velocity);
    if (!(contact->flags & SOLVER_CONTACT_BOUNCE) || contact->bounce_velocity < 0.0)
        return push;
    double incoming = contact->motionN - approach_speed(input, contact);
    if (incoming <= contact->bounce_velocity)
        return push;
    return fmax(push, contact->bounce * incoming + contact->motionN);
}

int solver_contact_rows(const SolverInput *input, const SolverContact *contact, ContactRow rows[SOLVER_CONTACT_ROWS])
{
    const double *n = contact->normal;
    ContactRow *normal = &rows[0];
    int count = 1;
    contact_jacobian(input, contact, n, false, normal);
    normal->rhs = solver_contact_normal_rhs(input, contact);
    normal->cfm = contact->flags & SOLVER_CONTACT_SOFT_CFM ? contact->soft_cfm : input->cfm;
    normal->lo = 0.0;
    normal->hi = SOLVER_INFINITY;
    normal->slot = 0;
    normal->scaled = false;
    bool rolling = (contact->flags & SOLVER_CONTACT_ROLLING) != 0;
    if (!(contact->mu > 0.0) && !(contact->mu2 > 0.0) && !rolling)
        return count;
    double axes[3][3];
    memcpy(axes[2], n, sizeof axes[2]);
    if (contact->flags & SOLVER_CONTACT_FDIR1) {
        memcpy(axes[0], contact->fdir1, sizeof axes[0]);
        cross(n, axes[0], axes[1]);
    } else {
        solver_plane_space(n, axes[0], axes[1]);
    }
    const double limits[5] = { contact->mu, contact->mu2, contact->rho, contact->rho2, contact->rhoN };
    const double motions[2] = { contact->motion1, contact->motion2 }, slips[2] = { contact->slip1, contact->slip2 };
    static const uint32_t scaled[3] = { SOLVER_CONTACT_APPROX1_1, SOLVER_CONTACT_APPROX1_2, SOLVER_CONTACT_APPROX1_N };
    for (int i = 0; i < (rolling ? 5 : 2); i++) {
        if (!(limits[i] > 0.0))
            continue;
        ContactRow *row = &rows[count++];
        int axis = i < 2 ? i : i - 2;
        contact_jacobian(input, contact, axes[axis], i >= 2, row);
        row->rhs = i < 2 ? motions[i] : 0.0;
        row->cfm = i < 2 && slips[i] > 0.0 ? slips[i] : input->cfm;
        row->lo = -limits[i];
        row->hi = limits[i];
        row->slot = 1 + i;
        row->scaled = (contact->flags & scaled[axis]) != 0;
    }
    return count;
}

static uint32_t key_hash(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(key >> 32);
}

static int table_size(int count)
{
    int size = 16;
    while (size < 2 * count)
        size *= 2;
    return size;
}

static int run_end(const ContactMemory *memory, int first, int count)
{
    int end = first + 1;
    while (end < count && memory[end].pair == memory[first].pair)
        end++;
    return end;
}

static void contact_table_build(Solver *solver, int size)
{
    const ContactMemory *last = solver->contact_memory_last;
    memory_grow(&solver->contact_table, &solver->contact_table_capacity, size, sizeof *solver->contact_table);
    for (int i = 0; i < size; i++)
        solver->contact_table[i] = -1;
    for (int i = 0; i < solver->contact_last_count; i = run_end(last, i, solver->contact_last_count)) {
        uint32_t slot = key_hash(last[i].pair) & (uint32_t)(size - 1);
        while (solver->contact_table[slot] >= 0)
            slot = (slot + 1) & (uint32_t)(size - 1);
        solver->contact_table[slot] = i;
    }
}

// First of last step's points of the pair. Pairs mostly keep their order, so the guess is mostly right.
static int contact_find_run(Solver *solver, uint64_t pair, int guess, int *size)
{
    const ContactMemory *last = solver->contact_memory_last;
    if (solver->contact_last_count == 0)
        return -1;
    if (guess < solver->contact_last_count && last[guess].pair == pair)
        return guess;
    if (*size == 0) {
        *size = table_size(solver->contact_last_count);
        contact_table_build(solver, *size);
    }
    for (uint32_t slot = key_hash(pair) & (uint32_t)(*size - 1);; slot = (slot + 1) & (uint32_t)(*size - 1)) {
        int at = solver->contact_table[slot];
        if (at < 0 || last[at].pair == pair)
            return at;
    }
}

static void contact_place(const SolverInput *input, const SolverContact *contact, float at[3])
{
    const double *centre = input->bodies[contact->body1 >= 0 ? contact->body1 : contact->body2].position;
    for (int i = 0; i < 3; i++)
        at[i] = (float)(contact->position[i] - centre[i]);
}

// The nearest point of last step's run that no other took.
static int contact_match(const ContactMemory *last, int first, int end, uint64_t *taken, const float at[3])
{
    float best = MATCH_DISTANCE * MATCH_DISTANCE;
    int found = -1;
    for (int i = first; i < end && i - first < 64; i++) {
        if (*taken >> (i - first) & 1)
            continue;
        float x = last[i].at[0] - at[0], y = last[i].at[1] - at[1], z = last[i].at[2] - at[2], d = x * x + y * y + z * z;
        if (d < best)
            best = d, found = i;
    }
    if (found >= 0)
        *taken |= 1ull << (found - first);
    return found;
}

typedef struct ContactWork {
    Solver *solver;
    const SolverInput *input;
} ContactWork;

static int contact_run_remember(const ContactWork *work, int first_contact)
{
    const Solver *solver = work->solver;
    const ContactMemory *last = solver->contact_memory_last;
    const ContactRef *refs = solver->contact_refs;
    int first = refs[first_contact].remembered, end = first < 0 ? 0 : run_end(last, first, solver->contact_last_count), next = first_contact;
    uint64_t taken = 0;
    do {
        ContactMemory *memory = &solver->contact_memory[next];
        float at[3];
        contact_place(work->input, &work->input->contacts[next], at);
        int match = first < 0 ? -1 : contact_match(last, first, end, &taken, at);
        *memory = match >= 0 ? last[match] : (ContactMemory){ .pair = refs[first_contact].pair };
        memcpy(memory->at, at, sizeof at);
        next++;
    } while (next < work->input->contact_count && refs[next].remembered == IN_A_RUN);
    return next;
}

// A run belongs to whoever has its first contact.
static void remember_range(int begin, int end, int worker, void *context)
{
    const ContactWork *work = context;
    (void)worker;
    while (begin < end && work->solver->contact_refs[begin].remembered == IN_A_RUN)
        begin++;
    while (begin < end)
        begin = contact_run_remember(work, begin);
}

static int contact_group(const Topology *t, const SolverInput *input, int body)
{
    return body >= 0 && !(input->bodies[body].flags & SOLVER_BODY_ASLEEP) ? t->group_of_body[body] : -1;
}

static int contact_row_count(const SolverContact *contact)
{
    bool rolling = (contact->flags & SOLVER_CONTACT_ROLLING) != 0;
    return 1 + (contact->mu > 0.0) + (contact->mu2 > 0.0)
        + (rolling ? (contact->rho > 0.0) + (contact->rho2 > 0.0) + (contact->rhoN > 0.0) : 0);
}

static void refs_range(int begin, int end, int worker, void *context)
{
    const ContactWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const SolverContact *contact = &work->input->contacts[i];
        work->solver->contact_refs[i] = (ContactRef){
            .pair = contact->pair, .row_count = contact_row_count(contact),
            .groups = { contact_group(&work->solver->topology, work->input, contact->body1),
                        contact_group(&work->solver->topology, work->input, contact->body2) } };
    }
}

static void contact_refs_build(Solver *solver, const SolverInput *input)
{
    memory_grow(&solver->contact_refs, &solver->contact_ref_capacity, input->contact_count + 1, sizeof *solver->contact_refs);
    pool_for(solver->options.pool, input->contact_count, CONTACT_GRAIN, refs_range, &(ContactWork){ solver, input });
}

// Gives each contact what its point of the last step remembered.
static void contact_memory_update(Solver *solver, const SolverInput *input)
{
    ContactMemory *swap = solver->contact_memory;
    solver->contact_memory = solver->contact_memory_last;
    solver->contact_memory_last = swap;
    int capacity = solver->contact_memory_capacity;
    solver->contact_memory_capacity = solver->contact_last_capacity;
    solver->contact_last_capacity = capacity;
    memory_grow(&solver->contact_memory, &solver->contact_memory_capacity, input->contact_count + 1, sizeof(ContactMemory));
    int size = 0, guess = 0, count = input->contact_count;
    for (int i = 0, next; i < count; i = next) {
        int first = contact_find_run(solver, solver->contact_refs[i].pair, guess, &size);
        guess = first < 0 ? guess : run_end(solver->contact_memory_last, first, solver->contact_last_count);
        solver->contact_refs[i].remembered = first;
        for (next = i + 1; next < count && solver->contact_refs[next].pair == solver->contact_refs[i].pair; next++)
            solver->contact_refs[next].remembered = IN_A_RUN;
    }
    pool_for(solver->options.pool, count, CONTACT_GRAIN, remember_range, &(ContactWork){ solver, input });
    solver->contact_last_count = count;
}

// ---- islands ----

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

// ---- integration ----

void solver_body_refresh(SolverBody *body)
{
    double w = body->quaternion[0], x = body->quaternion[1], y = body->quaternion[2], z = body->quaternion[3], *r = body->rotation;
    double xx = 2.0 * x * x, yy = 2.0 * y * y, zz = 2.0 * z * z;
    r[0] = 1.0 - yy - zz;
    r[1] = 2.0 * (x * y - w * z);
    r[2] = 2.0 * (x * z + w * y);
    r[3] = 2.0 * (x * y + w * z);
    r[4] = 1.0 - xx - zz;
    r[5] = 2.0 * (y * z - w * x);
    r[6] = 2.0 * (x * z - w * y);
    r[7] = 2.0 * (y * z + w * x);
    r[8] = 1.0 - xx - yy;
}

static void turn_first_order(double *q, const double *w, double h)
{
    double d0 = -w[0] * q[1] - w[1] * q[2] - w[2] * q[3], d1 = w[0] * q[0] + w[1] * q[3] - w[2] * q[2];
    double d2 = w[1] * q[0] + w[2] * q[1] - w[0] * q[3], d3 = w[2] * q[0] + w[0] * q[2] - w[1] * q[1];
    q[0] += 0.5 * h * d0;
    q[1] += 0.5 * h * d1;
    q[2] += 0.5 * h * d2;
    q[3] += 0.5 * h * d3;
}

static void turn_exactly(double *q, const double *w, double h)
{
    double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), theta = 0.5 * h * speed;
    double s = 0.5 * h * (theta < 1e-4 ? 1.0 - theta * theta / 6.0 : sin(theta) / theta);
    double a = cos(theta), b = w[0] * s, c = w[1] * s, d = w[2] * s;
    double r0 = a * q[0] - b * q[1] - c * q[2] - d * q[3], r1 = a * q[1] + b * q[0] + c * q[3] - d * q[2];
    double r2 = a * q[2] + c * q[0] + d * q[1] - b * q[3], r3 = a * q[3] + d * q[0] + b * q[2] - c * q[1];
    q[0] = r0, q[1] = r1, q[2] = r2, q[3] = r3;
}

static void turn(SolverBody *body, double h)
{
    double *q = body->quaternion;
    const double *w = body->velocity + 3, *axis = body->finite_axis;
    if (!(body->flags & SOLVER_BODY_FINITE_ROTATION)) {
        turn_first_order(q, w, h);
    } else if (!(body->flags & SOLVER_BODY_FINITE_AXIS)) {
        turn_exactly(q, w, h);
    } else {
        double along = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2], finite[3], rest[3];
        for (int i = 0; i < 3; i++) {
            finite[i] = along * axis[i];
            rest[i] = w[i] - finite[i];
        }
        turn_exactly(q, finite, h);
        turn_first_order(q, rest, 0.5 * h);  // half, as ODE integrates the part across the axis
    }
    double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], k = 1.0 / sqrt(length2);
    for (int i = 0; i < 4; i++)
        q[i] *= k;
}

void solver_body_integrate(SolverBody *body, double dt)
{
    double *v = body->velocity, *w = v + 3;
    if (body->flags & SOLVER_BODY_MAX_ANGULAR_SPEED) {
        double speed2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], most = body->max_angular_speed;
        if (speed2 > most * most)
            for (int i = 0; i < 3; i++)
                w[i] *= most / sqrt(speed2);
    }
    for (int i = 0; i < 3; i++)
        body->position[i] += dt * v[i];
    turn(body, dt);
    solver_body_refresh(body);
    if ((body->flags & SOLVER_BODY_LINEAR_DAMPING) && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > body->linear_damping_threshold)
        for (int i = 0; i < 3; i++)
            v[i] *= 1.0 - body->linear_damping;
    if ((body->flags & SOLVER_BODY_ANGULAR_DAMPING) && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > body->angular_damping_threshold)
        for (int i = 0; i < 3; i++)
            w[i] *= 1.0 - body->angular_damping;
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
    bool same = joints_are_same(&solver->topology, &input);
    if (!same || !topology_is_current(&solver->topology, &input))
        topology_build(&solver->topology, &input, same);
    row_memory_update(solver, &input, same);
    memory_grow(&solver->node_of_body, &solver->node_capacity, input.body_count + 1, sizeof(int32_t));
    if (solver->iterated_capacity < input.body_count + 1) {
        int known = solver->iterated_capacity;
        memory_grow(&solver->iterated, &solver->iterated_capacity, input.body_count + 1, 1);
        memset(solver->iterated + known, 0, (size_t)(solver->iterated_capacity - known));
    }
    contact_refs_build(solver, &input);
    contact_memory_update(solver, &input);
    islands_build(solver, &input);
    memory_grow(&solver->tasks, &solver->task_capacity, solver->island_count + 1, sizeof *solver->tasks);
    for (int i = 0; i < solver->island_count; i++) {
        island_choose(solver, &input, &solver->islands[i]);
        task_prepare(solver, &input, i);
    }
    islands_explain(solver);
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
