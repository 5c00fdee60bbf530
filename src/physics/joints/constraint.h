// constraint.h - what ties two bodies: the few kinds of constraints that joints, welds, connectors and pins are made
// of, and the rows each gives to the solver. Plain data of ours; ODE is not asked. A twin in ODE (`ode`) exists only
// while somebody at the rim needs it (physics/mirror.h).
//
// Sides. A constraint is attached to a parent and a child body; -1 is the static world. Rows want a body first, so with
// no parent the two are swapped: `solved[0]` is always a body, `solved[1]` may be -1. Rows ask J1 v1 + J2 v2 + cfm
// force = rhs.
#ifndef TALUS_PHYSICS_JOINTS_CONSTRAINT_H
#define TALUS_PHYSICS_JOINTS_CONSTRAINT_H

#include "base/cpu.h"
#include "base/vec.h"
#include "physics/solver/solver.h"

#include <assert.h>
#include <stddef.h>

typedef enum ConstraintKind {
    CONSTRAINT_BALL,        // a point
    CONSTRAINT_HINGE,       // a point and an axis; one bounded row about the axis
    CONSTRAINT_SLIDER,      // all but a way along an axis; one bounded row along it
    CONSTRAINT_SUSPENSION,  // two turning axes (or one, see locks_first) on a soft slide
    CONSTRAINT_PISTON,      // an axis to slide along and turn about
    CONSTRAINT_FIXED,
    CONSTRAINT_ANGULAR_MOTOR,  // up to three bounded rows about axes of their own
    CONSTRAINT_LINEAR_MOTOR,   // the same along axes
} ConstraintKind;

enum { CONSTRAINT_AXES = 3, CONSTRAINT_ROWS_MAX = 6 };

// Numbers of a row with bounds, in the order of ConstraintAxis.
typedef enum ConstraintNumber {
    CONSTRAINT_LOW,
    CONSTRAINT_HIGH,
    CONSTRAINT_VELOCITY,
    CONSTRAINT_MAX_FORCE,
    CONSTRAINT_CFM,
    CONSTRAINT_STOP_ERP,
    CONSTRAINT_STOP_CFM,
    CONSTRAINT_NUMBERS
} ConstraintNumber;

// One row with bounds: a motor, and a stop where the axis is at one.
typedef struct ConstraintAxis {
    double low, high;            // stops; infinite: none
    double velocity, max_force;  // of the motor; no force: none
    double cfm;                  // of the motor's row, -1: the world's
    double stop_erp, stop_cfm;   // -1: the world's
    double angle;                // where an angular motor's axis is, as it was told
    int relative;                // of motors: 0 the axis stands in the world, 1 it rides on solved[0], 2 on solved[1]
    Vec3 axis;                   // of motors, in that frame
} ConstraintAxis;

// Where a constraint was placed: poses of parent and child then, and anchor and axes in the world of that moment.
typedef struct ConstraintPlace {
    Pose side[2];
    Vec3 anchor;
    Vec3 axis;           // hinge, slider, piston; the first turning axis of a suspension
    Vec3 second, slide;  // of a suspension: the second turning axis, the way it gives
} ConstraintPlace;

// Forces and torques on both solved sides in the last step, with ODE's layout of a joint's feedback.
typedef struct ConstraintWrenches {
    double f1[4], t1[4], f2[4], t2[4];
} ConstraintWrenches;

// What a constraint keeps of its place, in the frames of the solved sides (the world where there is no second body).
typedef struct ConstraintFrames {
    Vec3 anchor[2], axis[2];
    Quat turn;    // of the second side against the first
    Vec3 offset;  // of sliders and fixed ones: between the two centres
} ConstraintFrames;

// What every step reads or writes stands first, on one line of the cache.
typedef struct Constraint Constraint;
struct Constraint {
    ConstraintKind kind;
    int solved[2];     // -1, -1: a body of it has gone, it does nothing
    bool is_reversed;  // there is no parent body
    bool locks_first;  // of a suspension: just the second axis turns
    bool wants_wrenches;
    bool is_placed;
    int axis_count;
    int order;                              // place in the world's list, which is the order of making
    const ConstraintFrames *shared_frames;  // of a clone: those of its model, while they are the same; NULL: its own
    ConstraintAxis axes[CONSTRAINT_AXES];
    int body[2];          // parent, child
    void *ode;            // its twin, NULL: none
    Constraint *next[2];  // in the lists of the bodies of parent and child
    ConstraintFrames own_frames;
    double slide_erp, slide_cfm;    // of a suspension, -1: the world's
    Vec3 slide, second, reference;  // of a suspension: on the parent, on the child, and the second axis on the parent
    ConstraintPlace place;
    ConstraintWrenches wrenches;  // filled when wants_wrenches
    void *owner;                  // scene node, for plugins that ask ODE's joint for its data
};
static_assert(offsetof(Constraint, axes) + offsetof(ConstraintAxis, cfm) == 64, "a line of the cache");

static inline const ConstraintFrames *constraint_frames(const Constraint *constraint)
{
    return constraint->shared_frames ? constraint->shared_frames : &constraint->own_frames;
}

void constraint_init(Constraint *constraint, ConstraintKind kind, int parent, int child, int axis_count);
// Anchors it where both sides stand in `place`.
void constraint_place(Constraint *constraint, const ConstraintPlace *place);
// Sets a motor's axis, given in the world; `relative` as in ConstraintAxis, `side` the poses of parent and child now.
void constraint_set_motor_axis(Constraint *constraint, int axis, int relative, Vec3 world, const Pose side[2]);

// What a step gives to rows: 1 / dt, the world's ERP and CFM.
typedef struct ConstraintStep {
    double fps, erp, cfm;
} ConstraintStep;
// Writes its rows, at most CONSTRAINT_ROWS_MAX, and returns how many. `bodies` is indexed by body. A motor at a stop
// pushes with its whole force beside the stop's row: that goes to the bodies' forces.
typedef int (*ConstraintRows)(const Constraint *constraint, const ConstraintStep *step, SolverBody *bodies,
                              SolverRow *rows);
// The same bits with and without wide instructions; one is chosen for a whole list.
int constraint_rows_portable(const Constraint *constraint, const ConstraintStep *step, SolverBody *bodies,
                             SolverRow *rows);
int constraint_rows_avx2(const Constraint *constraint, const ConstraintStep *step, SolverBody *bodies, SolverRow *rows);
static inline ConstraintRows constraint_rows_best(void)
{
    return cpu_has_avx2() ? constraint_rows_avx2 : constraint_rows_portable;
}
// The rows of a hinge or slider that has no other than those five, in short. False: it has, or is of another kind.
typedef bool (*ConstraintHold)(const Constraint *constraint, const ConstraintStep *step, const SolverBody *bodies,
                               SolverHold *hold);
bool constraint_hold_portable(const Constraint *constraint, const ConstraintStep *step, const SolverBody *bodies,
                              SolverHold *hold);
bool constraint_hold_avx2(const Constraint *constraint, const ConstraintStep *step, const SolverBody *bodies,
                          SolverHold *hold);
static inline ConstraintHold constraint_hold_best(void)
{
    return cpu_has_avx2() ? constraint_hold_avx2 : constraint_hold_portable;
}
// Sums the wrenches of solved rows.
void constraint_sum_wrenches(Constraint *constraint, const SolverRow *rows, int count);

#endif
