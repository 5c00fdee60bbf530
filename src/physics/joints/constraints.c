// constraints.c - all constraints of a world: made, chained to their bodies, placed, and told to the rim when it is
// open.
#include "physics/mirror.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>

// ---- the lists ----

static void chain(Physics *physics, Constraint *constraint)
{
    for (int side = 0; side < 2; side++) {
        assert_debug(constraint->body[side] < physics->body_count);
        if (constraint->body[side] < 0)
            continue;
        Constraint **first = &physics->body_constraints[constraint->body[side]];
        constraint->next[side] = *first;
        *first = constraint;
    }
}

static void unchain(Physics *physics, const Constraint *constraint)
{
    for (int side = 0; side < 2; side++) {
        int body = constraint->body[side];
        if (body < 0)
            continue;
        Constraint **at = &physics->body_constraints[body];
        while (*at && *at != constraint)
            at = &(*at)->next[(*at)->body[1] == body];
        if (*at)
            *at = constraint->next[side];
    }
}

Constraint *constraint_make(Physics *physics, ConstraintKind kind, int parent, int child, int axis_count, void *owner)
{
    assert(parent < physics->body_count && child < physics->body_count);
    Constraint *constraint = memory_alloc_lines(sizeof *constraint);
    constraint_init(constraint, kind, parent, child, axis_count);
    constraint->owner = owner;
    memory_grow(&physics->constraints, &physics->constraint_capacity, physics->constraint_count + 1,
                sizeof *physics->constraints);
    constraint->order = physics->constraint_count;
    physics->constraints[physics->constraint_count++] = constraint;
    chain(physics, constraint);
    if (mirror_is_open(physics))
        mirror_constraint_make(physics, constraint);
    return constraint;
}

void constraint_unmake(Physics *physics, Constraint *constraint)
{
    if (!constraint)
        return;
    assert(physics->constraints[constraint->order] == constraint);
    if (constraint->ode)
        mirror_constraint_destroy(constraint);
    unchain(physics, constraint);
    physics->constraint_count--;
    for (int i = constraint->order; i < physics->constraint_count; i++) {
        physics->constraints[i] = physics->constraints[i + 1];
        physics->constraints[i]->order = i;
    }
    free(constraint);
}

// The one who made it still has it, and unmakes it.
void constraint_detach(Physics *physics, Constraint *constraint)
{
    assert(constraint);
    unchain(physics, constraint);
    for (int side = 0; side < 2; side++) {
        constraint->body[side] = constraint->solved[side] = -1;
        constraint->next[side] = NULL;
    }
}

// ---- places and numbers ----

Pose constraint_side(const Physics *physics, const Constraint *constraint, int side)
{
    assert(side == 0 || side == 1);
    return constraint->body[side] >= 0 ? body_pose(physics, constraint->body[side]) : POSE_IDENTITY;
}

void constraint_anchor(Physics *physics, Constraint *constraint, const ConstraintPlace *place)
{
    assert_debug(place);
    constraint_place(constraint, place);
    if (constraint->ode)
        mirror_constraint_place(physics, constraint);
}

void constraint_fix(Physics *physics, Constraint *constraint)
{
    assert(constraint->kind == CONSTRAINT_FIXED);
    constraint_anchor(physics, constraint,
                      &(ConstraintPlace){ .side = { constraint_side(physics, constraint, 0),
                                                    constraint_side(physics, constraint, 1) } });
}

void constraint_tell_motor_axis(Physics *physics, Constraint *constraint, int axis)
{
    assert(axis >= 0 && axis < CONSTRAINT_AXES);
    const ConstraintAxis *row = &constraint->axes[axis];
    if (!constraint->ode)
        return;
    int body = row->relative > 0 ? constraint->solved[row->relative - 1] : -1;
    mirror_constraint_motor_axis(constraint, axis, row->relative,
                                 body >= 0 ? quat_rotate(physics->body_states[body].orientation, row->axis)
                                           : row->axis);
}

void constraint_turn_motor(Physics *physics, Constraint *constraint, int axis, int relative, Vec3 world)
{
    assert_debug(axis >= 0 && axis < constraint->axis_count);
    const Pose side[2] = { constraint_side(physics, constraint, 0), constraint_side(physics, constraint, 1) };
    constraint_set_motor_axis(constraint, axis, relative, world, side);
    constraint_tell_motor_axis(physics, constraint, axis);
}

void constraint_set(Constraint *constraint, int axis, ConstraintNumber number, double value)
{
    assert(axis >= 0 && axis < CONSTRAINT_AXES);
    assert((int)number >= 0 && number < CONSTRAINT_NUMBERS);
    static_assert(offsetof(ConstraintAxis, stop_cfm) == CONSTRAINT_STOP_CFM * sizeof(double),
                  "the numbers stand first, in their order");
    assert(axis >= 0 && axis < CONSTRAINT_AXES && number < CONSTRAINT_NUMBERS);
    (&constraint->axes[axis].low)[number] = value;
    if (constraint->ode)
        mirror_constraint_number(constraint, axis, number, value);
}

void constraint_set_angle(Constraint *constraint, int axis, double angle)
{
    assert(axis >= 0 && axis < CONSTRAINT_AXES);
    assert(constraint->kind == CONSTRAINT_ANGULAR_MOTOR && axis >= 0 && axis < constraint->axis_count);
    constraint->axes[axis].angle = angle;
    if (constraint->ode)
        mirror_constraint_angle(constraint, axis);
}

void constraint_want_wrenches(Constraint *constraint, bool want)
{
    constraint->wants_wrenches = want;
    if (constraint->ode)
        mirror_constraint_wrenches(constraint);
}

// ---- who is joined ----

bool bodies_are_joined(const Physics *physics, int a, int b)
{
    assert(a >= 0 && a < physics->body_count);
    if (physics->plugin_holds_ode)
        return mirror_are_joined(physics, a, b);
    for (const Constraint *at = physics->body_constraints[a]; at; at = at->next[at->body[1] == a])
        if (at->body[at->body[0] == a] == b)
            return true;
    return false;
}
