// solver.h - our own step: advances rigid bodies by dt under constraint rows and contacts, with ODE's ERP/CFM meaning.
// Belongs here: velocities, constraint forces, integration. Not here: where rows come from (joint types, collision),
// ODE. Everything is a flat array of the caller's; a Solver only keeps scratch memory and what it remembers between
// steps (the joint tree, last step's active rows and contact impulses), so dropping it changes speed and not the model.
//
// Each row asks  J1*v1 + J2*v2 + cfm*force = rhs  with  lo <= force <= hi, in velocities of the end of the step.
// Groups of jointed bodies are solved exactly by an O(n) factorisation along their tree plus a small dense problem for
// rows with bounds; islands of many loose bodies by warm-started sequential impulses. The result has the same bits for
// any number of threads.
#ifndef TALUS_PHYSICS_SOLVER_H
#define TALUS_PHYSICS_SOLVER_H

#include "base/common.h"
#include "base/pool.h"
#include "physics/solver/contact.h"

#define SOLVER_INFINITY ((double)INFINITY)
#define SOLVER_MAX_ANGULAR_SPEED                                                                                       \
    10000.0  // rad/s that bodies of a world turn with at most: what turns faster than a step can show

enum {
    SOLVER_BODY_KINEMATIC = 1,  // moves with its velocity, feels nothing
    SOLVER_BODY_GRAVITY = 2,
    SOLVER_BODY_GYROSCOPIC = 4,       // implicit gyroscopic torque, as ODE's default
    SOLVER_BODY_FINITE_ROTATION = 8,  // turns by the exact rotation instead of the first-order one
    SOLVER_BODY_FINITE_AXIS = 16,     // ... exactly about finite_axis alone
    SOLVER_BODY_LINEAR_DAMPING = 32,
    SOLVER_BODY_ANGULAR_DAMPING = 64,
    SOLVER_BODY_MAX_ANGULAR_SPEED = 128,
    SOLVER_BODY_ASLEEP = 256,   // left alone; acts as fixed for a neighbour that is awake
    SOLVER_BODY_STOPPED = 512,  // set by solver_solve(): what came out was not finite, so it stands still
};

typedef struct SolverBody {
    double position[3];    // of the centre of mass
    double quaternion[4];  // w x y z, unit
    double rotation[9];    // of the quaternion, row-major
    double velocity[6];    // linear, angular; world frame
    double force[6];       // force, torque; world frame; the caller clears them
    uint32_t flags;
    int32_t reserved;
} SolverBody;

// What a body is, as against how it moves.
typedef struct SolverMass {
    double mass;
    Mat3 inertia;                            // about the centre of mass, body frame
    double linear_damping, angular_damping;  // fraction of velocity lost per step
} SolverMass;

// What just bodies of ODE can have, as their flags say.
typedef struct SolverBodyExtra {
    double finite_axis[3];
    double max_angular_speed;                                    // SOLVER_MAX_ANGULAR_SPEED where there are no extras
    double linear_damping_threshold, angular_damping_threshold;  // squared speeds; 0 where there are no extras
} SolverBodyExtra;

// What is known of a joint's rows beforehand, said in the first of them.
typedef enum SolverRowForm {
    SOLVER_ROWS_ANY,
    SOLVER_ROWS_POINT,  // three of a point's velocity, then two or more that turn; five at least without bounds
    SOLVER_ROWS_SLIDE,  // three that turn about the axes of the world, then others; five at least without bounds
} SolverRowForm;

typedef struct SolverRow {
    double j1[6], j2[6];
    double rhs, cfm;
    double lo, hi;
    double force;         // out
    int32_t friction_of;  // row of the same joint whose force scales lo and hi (friction), or -1
    int32_t form;         // of a joint's first row: SolverRowForm
} SolverRow;

// The five rows of a joint of a known form, in short: what solver_trees_step() takes in place of rows. Vectors of three
// numbers and a zero. Of a point: the axes about which nothing turns, and from the centre of each body to it; of a
// slide: the directions that it does not go, and the lever of each.
typedef struct SolverHold {
    double across[2][4];
    double arm[2][4];
    double rhs[8];  // as the rows stand in the tree: those that turn, and the others
    double cfm;
    int32_t form;  // SolverRowForm, of which SOLVER_ROWS_ANY has none
} SolverHold;

typedef struct SolverJoint {
    int32_t body1, body2;  // -1: the world
    int32_t first_row, row_count;
} SolverJoint;

// What is remembered of a pair of bodies is found by.
static inline uint64_t solver_pair(int body1, int body2) { return (uint64_t)(body1 + 1) << 32 | (uint64_t)(body2 + 1); }

typedef struct SolverInput {
    double dt;
    double gravity[3];
    double erp, cfm;
    double contact_surface_layer;  // depth that is left alone
    double contact_max_velocity;   // of the push out of a penetration; 0: unlimited
    SolverBody *bodies;
    const SolverMass *masses;       // beside bodies
    const SolverBodyExtra *extras;  // beside bodies, NULL: none has any
    SolverJoint *joints;
    SolverRow *rows;
    const SolverContact *contacts;      // those of a pair of bodies stand together
    const SolverSurface *surfaces;      // rows that they name,
    const SolverSurface *own_surfaces;  // and beside contacts; looked at where one has its own
    int surface_count;
    // Beside the first contacts: impulses of the normal and of friction to begin with, where nothing is remembered.
    // Those of others are zero.
    const Vec3 *held;
    int held_count;
    int body_count, joint_count, row_count, contact_count;
    // Bodies that move, in rising order; the others are not touched. NULL: all. A body flagged SOLVER_BODY_ASLEEP does
    // not stand here; jointed bodies are awake together.
    const int32_t *awake;
    int awake_count;
    bool ignores_row_forces;  // nobody reads SolverRow.force: it need not be written
    bool ignores_rotations;   // nor SolverBody.rotation after the step: it stays what it was
} SolverInput;

static inline const SolverSurface *solver_surface(const SolverInput *input, int contact)
{
    const SolverContact *c = &input->contacts[contact];
    return c->has_own_surface ? &input->own_surfaces[contact] : &input->surfaces[c->surface];
}

typedef enum SolverMethod {
    SOLVER_AUTO,
    SOLVER_DIRECT,     // exact
    SOLVER_SWEPT,      // joints exact, contacts iterated
    SOLVER_ITERATIVE,  // all iterated
} SolverMethod;

typedef struct SolverOptions {
    SolverMethod method;  // for every island; SOLVER_AUTO chooses per island
    int iterations;       // of the iterative method; 0: the default
    bool portable;        // leave wide instructions unused (the results are the same)
    bool no_springs;      // rows with bounds always in a dense problem (the results differ by rounding)
    Pool *pool;           // NULL: everything on the caller's thread
} SolverOptions;

typedef struct SolverStatistics {
    int island_count, direct_island_count, swept_island_count, iterative_island_count;
    int spring_island_count;  // direct ones whose rows with bounds were springs and equations of the trees
    int group_count;          // of jointed bodies
    int contact_count, dense_row_count, largest_dense;
    int pivot_round_count;  // of the small dense problems
    int sweep_count;        // of the large ones
    int restart_count;      // motors that left their bounds during the step
    int fallback_count;     // dense problems that ended in the iterative fallback
    int redundant_count;    // rows dropped because others already say the same
    int body_reset_count;   // bodies whose result was not finite and that were stopped
} SolverStatistics;

// What went wrong or had to be done twice since the solver was made.
typedef struct SolverTotals {
    int64_t step_count, restart_count, fallback_count, redundant_count, body_reset_count;
} SolverTotals;

// What was chosen for an island, for `talus run --explain-solver`.
typedef struct SolverIsland {
    int first_body;  // lowest index in it
    int body_count, joint_row_count, contact_count, dense_row_count;
    SolverMethod method;
} SolverIsland;

typedef struct Solver Solver;

// The direct method's scratch memory, for solvers that share it: lent to one without a pool until it is taken back
// (NULL).
typedef struct DirectScratch DirectScratch;
DirectScratch *direct_scratch_create(void);
void direct_scratch_destroy(DirectScratch *scratch);  // NULL is fine
void solver_lend_scratch(Solver *solver, DirectScratch *scratch);
// Before it is used again after a while: fetches it into the cache, then (`is_there`) what it points to.
void solver_prefetch(const Solver *solver, bool is_there);
Solver *solver_create(const SolverOptions *options);  // NULL means the defaults
void solver_destroy(Solver *solver);                  // NULL is fine
void solver_forget(Solver *solver);                   // drops everything remembered from earlier steps
// Before a step whose bodies are numbered otherwise: body i of the last one is now new_index[i], -1: it is gone.
void solver_renumber(Solver *solver, const int32_t *new_index, int count);
// What is remembered, as bytes: a step after restoring gives the bits that it would have given after saving.
size_t solver_state_size(const Solver *solver);
void solver_state_save(const Solver *solver, void *buffer);
bool solver_state_restore(Solver *solver, const void *buffer, size_t size);  // false: not such bytes; all is forgotten

// Solves and integrates: bodies' poses and velocities and rows' forces are written.
void solver_step(Solver *solver, const SolverInput *input);
// Its two halves: velocities and forces; then poses from velocities.
void solver_solve(Solver *solver, const SolverInput *input);
void solver_integrate(Solver *solver, const SolverInput *input);

// A step of trees that nothing touches, of hinges and sliders that have their five rows and no other: from these in
// short, with the bits of solver_step().
typedef struct SolverTrees {
    double dt;
    double gravity[3];
    SolverBody *bodies;
    const SolverMass *masses;  // beside bodies
    const SolverHold *holds;   // beside joints
    bool ignores_rotations;    // as in SolverInput
} SolverTrees;
// Which bodies the joints of the last step linked, if it solved such trees; all bodies and joints must be those of that
// step, and no body fixed or asleep. NULL: it did not.
const SolverJoint *solver_tree_joints(const Solver *solver, int body_count, int joint_count);
void solver_trees_step(Solver *solver, const SolverTrees *trees);

// What is remembered of a contact of the last step, also of one between bodies that slept in it: three impulses, of the
// normal and of friction.
const double *solver_contact_impulse(const Solver *solver, int contact);
// Normal, and the two directions of friction, for the first body that it has.
void solver_contact_axes(const SolverContact *contact, const SolverSurface *surface, double axes[3][3]);
// What the last step found, along these axes and about them: normal, friction, rolling about the directions of
// friction, spinning.
void solver_contact_forces(const Solver *solver, const SolverInput *input, int contact, double forces[6]);
void solver_contact_force(const Solver *solver, const SolverInput *input, int contact,
                          double force[3]);                       // on its first body, in the world
const SolverStatistics *solver_statistics(const Solver *solver);  // of the last step
const SolverTotals *solver_totals(const Solver *solver);
int solver_islands(Solver *solver, const SolverIsland **islands);  // of the last step, valid until the next

// 4 numbers to 9, with ODE's order of operations. Doubling is exact, so it may stand where it costs least.
static inline void solver_rotation(const double *q, double *r)
{
    double w = q[0], x = q[1], y = q[2], z = q[3], x2 = 2.0 * x, y2 = 2.0 * y, z2 = 2.0 * z;
    double xx = x2 * x, yy = y2 * y, zz = z2 * z, xy = x2 * y, xz = x2 * z, yz = y2 * z;
    double wx = x2 * w, wy = y2 * w, wz = z2 * w;
    r[0] = 1.0 - yy - zz;
    r[1] = xy - wz;
    r[2] = xz + wy;
    r[3] = xy + wz;
    r[4] = 1.0 - xx - zz;
    r[5] = yz - wx;
    r[6] = xz - wy;
    r[7] = yz + wx;
    r[8] = 1.0 - xx - yy;
}
static inline void solver_body_refresh(SolverBody *body) { solver_rotation(body->quaternion, body->rotation); }
// The two unit vectors at right angles to a unit normal that ODE's friction directions use.
static inline void solver_plane_space(const double n[3], double p[3], double q[3])
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

#endif
