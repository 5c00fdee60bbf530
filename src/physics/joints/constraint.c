// constraint.c - making and placing constraints: what two sides keep of each other, in their own frames.
#include "physics/joints/constraint.h"

#include <assert.h>
#include <string.h>

void constraint_init(Constraint *constraint, ConstraintKind kind, int parent, int child, int axis_count)
{
    assert(axis_count >= 0 && axis_count <= CONSTRAINT_AXES);
    assert(parent >= 0 || child >= 0);
    assert(parent != child);
    *constraint = (Constraint){ .kind = kind,
                                .body = { parent, child },
                                .is_reversed = parent < 0,
                                .axis_count = axis_count,
                                .slide_erp = -1.0,
                                .slide_cfm = -1.0,
                                .order = -1 };
    constraint->solved[0] = parent >= 0 ? parent : child;
    constraint->solved[1] = parent >= 0 ? child : -1;
    for (int i = 0; i < CONSTRAINT_AXES; i++)
        constraint->axes[i] =
            (ConstraintAxis){ .low = -INFINITY, .high = INFINITY, .cfm = -1.0, .stop_erp = -1.0, .stop_cfm = -1.0 };
}

// The pose of a solved side; the world's own for a side without a body, whatever holds it there.
static Pose solved_pose(const Constraint *constraint, const Pose side[2], int which)
{
    assert_debug(which == 0 || which == 1);
    if (constraint->solved[which] < 0)
        return POSE_IDENTITY;
    return side[constraint->is_reversed ? 1 - which : which];
}

static void place_suspension(Constraint *constraint, const ConstraintPlace *place)
{
    Pose parent = constraint->body[0] >= 0 ? place->side[0] : POSE_IDENTITY;
    Pose child = constraint->body[1] >= 0 ? place->side[1] : POSE_IDENTITY;
    constraint->own_frames.axis[0] = quat_unrotate(parent.q, vec3_normalized(place->axis));
    constraint->second = quat_unrotate(child.q, vec3_normalized(place->second));
    constraint->reference = quat_unrotate(parent.q, vec3_normalized(place->second));
    constraint->slide = quat_unrotate(parent.q, vec3_normalized(place->slide));
}

void constraint_place(Constraint *constraint, const ConstraintPlace *place)
{
    ConstraintFrames *frames = &constraint->own_frames;
    constraint->shared_frames = NULL;
    constraint->place = *place;
    constraint->is_placed = true;
    Pose side[2] = { solved_pose(constraint, place->side, 0), solved_pose(constraint, place->side, 1) };
    Vec3 axis = vec3_normalized(place->axis);
    for (int i = 0; i < 2; i++) {
        frames->anchor[i] = quat_unrotate(side[i].q, vec3_sub(place->anchor, side[i].t));
        frames->axis[i] = quat_unrotate(side[i].q, axis);
    }
    frames->turn = quat_mul(quat_conj(side[0].q), side[1].q);
    if (constraint->kind == CONSTRAINT_SUSPENSION)
        place_suspension(constraint, place);
    // Fixed bodies keep the way to the first centre in the first one's frame, sliders in the second one's.
    if (constraint->kind == CONSTRAINT_FIXED)
        frames->offset = constraint->solved[1] >= 0 ? quat_unrotate(side[0].q, vec3_sub(side[0].t, side[1].t))
                                                    : side[0].t;
    if (constraint->kind == CONSTRAINT_SLIDER)
        frames->offset = quat_unrotate(side[1].q, vec3_sub(side[0].t, side[1].t));
}

void constraint_set_motor_axis(Constraint *constraint, int axis, int relative, Vec3 world, const Pose side[2])
{
    assert(axis >= 0 && axis < constraint->axis_count);
    assert(relative >= 0 && relative <= 2);
    if (relative == 2 && constraint->solved[1] < 0)
        relative = 0;
    ConstraintAxis *row = &constraint->axes[axis];
    row->relative = relative;
    row->axis = vec3_normalized(relative > 0 ? quat_unrotate(solved_pose(constraint, side, relative - 1).q, world)
                                             : world);
}

void constraint_sum_wrenches(Constraint *constraint, const SolverRow *rows, int count)
{
    assert(count >= 0 && (rows || count == 0));
    ConstraintWrenches sum = { 0 };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            sum.f1[k] += rows[i].j1[k] * rows[i].force;
            sum.t1[k] += rows[i].j1[3 + k] * rows[i].force;
            sum.f2[k] += rows[i].j2[k] * rows[i].force;
            sum.t2[k] += rows[i].j2[3 + k] * rows[i].force;
        }
    constraint->wrenches = sum;
}
