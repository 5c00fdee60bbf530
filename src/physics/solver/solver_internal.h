// solver_internal.h - what the files of the solver share. The trip of a step, led by solver.c: solver_topology.c finds
// the joint trees, solver_contact.c what contacts ask for and remember, solver_islands.c the islands and their methods;
// solver_direct.c or pgs.c finds the velocities and forces of one island, integrate.c integrates.
#ifndef TALUS_PHYSICS_SOLVER_INTERNAL_H
#define TALUS_PHYSICS_SOLVER_INTERNAL_H

#include "physics/solver/solver.h"

#define SOLVER_JOINT_ROWS 12  // rows of one joint whose state is remembered
#define SOLVER_CONTACT_ROWS 6

// Where a bounded row ended: at its low bound, inside, at its high bound.
enum { ROW_LOW = -1, ROW_FREE = 0, ROW_HIGH = 1 };

// What is remembered of a row for the next step: its state in the end, and that without friction, which is solved
// first.
static inline int8_t row_states(int last, int frictionless) { return (int8_t)(last + 3 * frictionless); }
static inline int row_state_frictionless(int8_t states) { return (states + 4) / 3 - 1; }
static inline int row_state_last(int8_t states) { return (states + 4) % 3 - 1; }

typedef struct RowMemory {
    int8_t state;
    uint8_t dense;  // steps for which the row stays in the dense problem, 0: it is an equation of the tree
    uint16_t reserved;
    float impulse;  // of the iterative method's last step
} RowMemory;

// Of a contact: the impulses of the normal and of friction. Those of rolling friction, which few worlds have, stand in
// a list of their own beside these.
#define SOLVER_PUSH_ROWS 3
typedef struct ContactMemory {
    uint64_t pair;
    double impulse[SOLVER_PUSH_ROWS];
    float at[3];  // from the centre of the first body: points of a pair are told apart by where they are
    int8_t state[SOLVER_CONTACT_ROWS];
    uint16_t reserved;
} ContactMemory;
typedef struct RollingMemory {
    double impulse[SOLVER_CONTACT_ROWS - SOLVER_PUSH_ROWS];
} RollingMemory;

// Where the impulse of one of a contact's rows is remembered.
static inline double *contact_impulse(ContactMemory *memory, RollingMemory *rolling, int slot)
{
    assert_debug(slot >= 0 && slot < SOLVER_CONTACT_ROWS && (slot < SOLVER_PUSH_ROWS || rolling));
    return slot < SOLVER_PUSH_ROWS ? &memory->impulse[slot] : &rolling->impulse[slot - SOLVER_PUSH_ROWS];
}

typedef struct LinkJoint {
    int32_t joint;
    int32_t child_is_body2;
} LinkJoint;

// A body's place in the joint tree: bodies stand in `order` group by group, parents before children.
typedef struct TreeLink {
    int32_t body;
    int32_t parent;                    // place in the order, -1: the root
    int32_t first_joint, joint_count;  // in link_joints: joints to the parent, or to the ground when there is none
} TreeLink;

typedef struct TreeGroup {
    int32_t first, count;                    // places in the order
    int32_t first_cut, cut_count;            // joints that close loops
    int32_t joint_row_count, cut_row_count;  // of the joints of its links, of those that close loops
    int32_t iterated_count;                  // bodies whose island was swept or iterated in the last step,
    int32_t loose_count;                     // ... iterated as a whole
    int32_t method;  // SolverMethod that is remembered of each of its bodies, -1: not of each the same
} TreeGroup;

typedef struct Topology {  // what steps of trees that nothing touches read stands first
    int link_count, group_count, cut_count;
    int joint_count, body_count;  // that it was built from
    bool valid;
    bool has_bounded;  // some joint has a row for a motor or a stop
    bool is_bare;  // no joint has another number of rows than hinges and sliders without these, none closes a loop, and
                   // no two link the same bodies
    TreeLink *links;
    LinkJoint *link_joints;
    uint8_t *fixed;         // by body: it does not move
    SolverJoint *joints;    // what it was built from, and the rows of the last step
    int32_t *node_of_body;  // scratch, one per body
    TreeGroup *groups;
    int32_t *cut_joints;
    int32_t *group_of_body;  // -1: kinematic or asleep when built
    void *block;             // that holds all of these but the joints, which outlive it
    size_t block_size;
    int joint_capacity;
} Topology;

typedef struct IslandRef {
    int32_t first_group, group_count;  // in island_groups
    int32_t first_run, run_count;      // in island_runs
    int32_t contact_count;
    int32_t body_count, joint_row_count, dense_row_count;
    int32_t iterated_count;  // bodies whose island was swept or iterated in the last step
    int32_t loose_count;     // ... iterated as a whole
    SolverMethod method;
} IslandRef;

typedef struct IslandStatistics {
    int dense_rows, pivot_rounds, sweeps, restarts, fallbacks, redundant, springs;
} IslandStatistics;

// Contacts of the same two bodies that stand together, as far as islands and manifolds need them.
typedef struct ContactRun {
    int32_t first, count;  // contacts
    int32_t bodies[2];     // the first one is there, the second -1 for the world
    int32_t groups[2];     // of the two bodies, -1: none that moves
    int32_t row_count;     // of all
} ContactRun;
static inline uint64_t run_pair(const ContactRun *run) { return solver_pair(run->bodies[0], run->bodies[1]); }

// One island as the direct and the iterative method see it.
typedef struct IslandTask {
    const SolverInput *input;
    const Topology *topology;
    const int32_t *groups;  // group indices
    const int32_t *runs;    // of its contacts: places in contact_runs
    const ContactRun *contact_runs;
    int group_count, run_count, contact_count;
    bool swept;                     // the direct method's dense problem is iterated
    bool springs;                   // its rows with bounds may be springs in the trees
    bool keeps_impulses;            // the joints' rows, of the last step
    RowMemory *row_memory;          // SOLVER_JOINT_ROWS per joint
    ContactMemory *contact_memory;  // of this step, one per contact; state and impulse are read and written
    RollingMemory *rolling_memory;  // beside it; NULL: nothing rolls
    int32_t *node_of_body;          // scratch, one per body, touched for this island's bodies only
    IslandStatistics statistics;
} IslandTask;

// Writes velocities of the island's bodies and the forces of its rows and contacts.
void solver_direct_portable(DirectScratch *scratch, IslandTask *task);
void solver_direct_avx2(DirectScratch *scratch, IslandTask *task);

// The same of bare trees that nothing touches, with integration. Redundant rows and stopped bodies are counted.
void solver_trees_portable(DirectScratch *scratch, const Topology *topology, const SolverTrees *trees,
                           SolverStatistics *statistics);
void solver_trees_avx2(DirectScratch *scratch, const Topology *topology, const SolverTrees *trees,
                       SolverStatistics *statistics);

// What is done with the bodies [begin, end) of those that are awake once their velocities are known: those that are not
// finite are stopped; poses from velocities, damping, speed limit. Returns how many were stopped. Both have the same
// bits.
typedef enum BodyPart { BODY_CHECK = 1, BODY_INTEGRATE = 2, BODY_FINISH = BODY_CHECK | BODY_INTEGRATE } BodyPart;
int solver_bodies_integrate_portable(const SolverInput *input, int begin, int end, BodyPart part);
int solver_bodies_integrate_avx2(const SolverInput *input, int begin, int end, BodyPart part);

// Memory that parts of a step need one after the other: what contacts remembered, then the blocks of the iterative
// method. The contents do not survive a reservation.
typedef struct SharedBlock {
    void *data;
    size_t size;
} SharedBlock;
void *shared_block_reserve(SharedBlock *block, size_t size);  // on a bound of two cache lines

typedef struct PgsScratch PgsScratch;
PgsScratch *pgs_scratch_create(SharedBlock *shared);  // which outlives it
void pgs_scratch_destroy(PgsScratch *scratch);
typedef struct PgsOptions {
    Pool *pool;
    int iterations;  // 0: the default
    bool wide;
} PgsOptions;
// All islands of a step that are iterated, at once, with the same outputs as the direct method. After the beginning and
// before the end stand the assembly, on one thread, and the preparation of the bodies, piece by piece on any: these
// have nothing to do with each other, nor with islands that are solved directly.
void solver_pgs_begin(PgsScratch *scratch, const IslandTask *tasks, int task_count, const PgsOptions *options);
void solver_pgs_mark(PgsScratch *scratch);  // over the threads: which contacts open manifolds
int solver_pgs_piece_count(const PgsScratch *scratch);
void solver_pgs_assemble(PgsScratch *scratch);
void solver_pgs_prepare(PgsScratch *scratch, int piece);
void solver_pgs_end(PgsScratch *scratch);

// Velocity at the end of the step if nothing touched the body, gyroscopic torque explicit, as piles turn slowly; and
// its inverse inertia in the world frame: xx xy xz yy yz zz.
void solver_body_predict(const SolverInput *input, int body, float inertia[6], float velocity[6]);

// What one contact asks for, in ODE's meaning.
typedef struct ContactRow {
    double j1[6], j2[6];
    double rhs, cfm, lo, hi;
    int slot;     // which of the contact's six forces
    bool scaled;  // lo and hi times the normal force
} ContactRow;
static inline double solver_surface_erp(const SolverInput *input, const SolverSurface *surface)
{
    return surface->flags & SOLVER_CONTACT_SOFT_ERP ? surface->soft_erp : input->erp;
}
int solver_contact_rows(const SolverInput *input, const int32_t bodies[2], int contact,
                        ContactRow rows[SOLVER_CONTACT_ROWS]);

// ---- the normal's wanted velocity ----

static inline void solver_arm(const SolverBody *body, Vec3 point, double arm[3])
{
    arm[0] = point.x - body->position[0];
    arm[1] = point.y - body->position[1];
    arm[2] = point.z - body->position[2];
}

// Velocity along a normal of the point of a body that stands at `arm` from its centre, times `sign`, added to `speed`.
static inline double solver_point_speed(const SolverBody *body, const double arm[3], const double normal[3],
                                        double speed, double sign)
{
    const double *v = body->velocity, *w = v + 3;
    const double turn[3] = { w[1] * arm[2] - w[2] * arm[1], w[2] * arm[0] - w[0] * arm[2],
                             w[0] * arm[1] - w[1] * arm[0] };
    for (int i = 0; i < 3; i++)
        speed += sign * normal[i] * (v[i] + turn[i]);
    return speed;
}

// The push out of a penetration, without what bounces.
static inline double solver_contact_push(const SolverInput *input, const SolverSurface *surface,
                                         const SolverContact *contact)
{
    double push = solver_surface_erp(input, surface) / input->dt
                      * double_max(contact->depth - input->contact_surface_layer, 0.0)
                  + contact->target_normal_speed;
    return input->contact_max_velocity > 0.0 ? double_min(push, input->contact_max_velocity) : push;
}

static inline bool solver_surface_bounces(const SolverSurface *surface)
{
    return (surface->flags & SOLVER_CONTACT_BOUNCE) && surface->bounce_velocity >= 0.0;
}

// `speed`: of the first body against the second along the normal.
static inline double solver_contact_bounce(const SolverSurface *surface, double push, double target, double speed)
{
    double incoming = target - speed;
    return incoming <= surface->bounce_velocity ? push : double_max(push, surface->bounce * incoming + target);
}

// Two bodies that touch, as far as it decides how soft their contacts are at least where they are iterated.
typedef struct PairTouch {
    double inverse_mass;      // sum of both
    double gyration_radius2;  // the smaller one's
    double max_impulse;       // of a point in the last step
    int point_count;
    bool is_swept;
} PairTouch;
double solver_pair_min_softness(const SolverInput *input, const SolverSurface *surface,
                                const PairTouch *touch);                        // cfm / dt
double solver_run_min_softness(const IslandTask *task, const ContactRun *run);  // the same for a run

// ---- the solver and its parts ----

// Where pairs stop rising in a list of contacts. A pair that stands in a rising stretch is found by halving it.
#define STRETCH_MAX 8
typedef struct PairOrder {
    int32_t first[STRETCH_MAX + 1];  // of each stretch, and the end
    int32_t stretch_count;           // more than STRETCH_MAX: the list is in no useful order
} PairOrder;

// A piece of the contacts that a worker looked through.
typedef struct ContactChunk {
    PairOrder order;
    int32_t first_run, run_count;  // those that begin in it
    bool rolls;                    // some surface in it has rolling friction
} ContactChunk;

typedef void (*DirectMethod)(DirectScratch *scratch, IslandTask *task);
typedef void (*TreesMethod)(DirectScratch *scratch, const Topology *topology, const SolverTrees *trees,
                            SolverStatistics *statistics);

// Islands that a worker solves directly one after the other.
typedef struct IslandBundle {
    int32_t first, last;
    int64_t work;
} IslandBundle;

struct Solver {  // what steps of trees that nothing touches read stands first
    DirectMethod direct;
    TreesMethod trees;
    int (*integrate)(const SolverInput *input, int begin, int end, BodyPart part);
    DirectScratch *lent;             // in place of the first; NULL: none is
    DirectScratch **direct_scratch;  // one for each worker
    RowMemory *row_memory;
    int island_count, scratch_count, awake_group_count, pgs_task_count, contact_last_count;
    bool are_trees;  // each island is a tree that nothing touches, and will be while trees stay what they are
    SolverOptions options;
    Topology topology;
    SolverStatistics statistics;
    SolverTotals totals;
    ContactMemory *contact_memory;                        // of this step, from its beginning on
    ContactMemory *contact_memory_last;                   // in `shared`, until contacts have found what they remember
    RollingMemory *rolling_memory, *rolling_memory_last;  // beside them, while a surface has rolling friction
    bool has_rolling, had_rolling;                        // in this step, in the last one
    SharedBlock shared;
    PairOrder contact_order, contact_order_last;
    ContactChunk *chunks;
    bool is_order_known;     // false: the memory was changed after its step
    int32_t *contact_table;  // hash of last step's contacts by key, when they stand in no useful order
    int contact_table_size;
    ContactRun *contact_runs;    // in the order of contacts, by chunks
    int chunk_count, run_count;  // of all chunks
    uint8_t *iterated;           // per body: the method of its island in the last step, SOLVER_AUTO: there was none
    int32_t *group_island;       // union-find over groups, then island numbers
    int32_t *awake_groups, *island_groups, *island_runs;
    uint8_t *group_awake;
    IslandRef *islands;
    SolverIsland *explained;
    PgsScratch *pgs_scratch;
    IslandTask *pgs_tasks;  // of the islands that are iterated
    int pgs_task_capacity;
    int row_memory_capacity, contact_memory_capacity, rolling_memory_capacity, contact_table_capacity,
        iterated_capacity;
    int group_island_capacity, awake_groups_capacity, island_groups_capacity, island_runs_capacity,
        group_awake_capacity;
    int island_capacity, explained_capacity, contact_run_capacity, chunk_capacity, bundle_capacity;
    IslandBundle *bundles;
    int *shares;  // per thread: the end of the bundles that it begins with, then that among all that is solved at once
    int bundle_count;
    SolverStatistics *other_statistics;  // shares of the threads beside the caller's, by their index
};

// solver_topology.c: joint trees, kept while the joints stay the same.
void solver_topology_update(Solver *solver, const SolverInput *input);
// Whether the trees stand and just the numbers in the rows changed, as in most steps.
bool solver_topology_stands(const Topology *topology, const SolverInput *input);
// solver_contact.c: gathers what islands need of contacts; then gives each, piece by piece on any thread, what its
// point of the last step remembered.
void solver_contacts_gather(Solver *solver, const SolverInput *input);
int solver_contacts_piece_count(const SolverInput *input);
void solver_contacts_remember(Solver *solver, const SolverInput *input, int piece);
// solver_islands.c: fills islands; then one of them as its method sees it.
void solver_islands_update(Solver *solver, const SolverInput *input);
IslandTask solver_island_task(const Solver *solver, const SolverInput *input, int index);

static inline bool solver_body_is_fixed(const SolverBody *body)
{
    return (body->flags & (SOLVER_BODY_KINEMATIC | SOLVER_BODY_ASLEEP)) != 0;
}

#endif
