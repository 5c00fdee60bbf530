// joint_lists.c - the joints that a step has something to do for, so that it passes by all others. What decides is what
// the joints are, not what their motors are told: a step asks that of those which are listed.
#include "physics/joints/joint_internal.h"

#include "base/memory.h"
#include "physics/joints/tuning.h"
#include "physics/mirror.h"

// A hinge or slider that nothing drives or springs: its row is that of static friction, set once.
static bool is_passive(const PhysicsJoint *row)
{
    const Constraint *held = row->constraint;
    const PhysicsAxis *axis = &row->axes[0];
    return held && row->axis_count == 1 && !axis->motor && !row->motor && !row->spring && !row->is_sprung_inside
           && !held->ode && row->kind < PHYSICS_JOINT_FIXED && axis->static_friction < UNLIMITED_FORCE
           && !axis->stops_are_open;
}

static void drive_passive(const PhysicsJoint *row)
{
    assert_debug(row->axis_count == 1);
    ConstraintAxis *held = &row->constraint->axes[0];
    held->velocity = row->kind == PHYSICS_JOINT_SLIDER ? 0.0 : -0.0;
    held->max_force = row->axes[0].static_friction;
}

static bool is_bare_motor(const Physics *physics, const PhysicsJoint *row)
{
    return !mirror_is_open(physics) && row->axis_count == 1 && !row->motor && !row->spring && !row->is_sprung_inside
           && row->kind < PHYSICS_JOINT_FIXED && !joint_axis_has_stops(&row->axes[0]);
}

// Without physics: its motor moves the end point, with all that hangs on it.
static bool is_kinematic(const Physics *physics, const PhysicsJoint *row)
{
    if (!row->is_alive || row->constraint || row->is_dynamic || row->kind >= PHYSICS_JOINT_FIXED || row->child < 0
        || physics->solids[row->child].body >= 0)
        return false;
    for (int i = 0; i < row->axis_count; i++)
        if (row->axes[i].motor)
            return true;
    return false;
}

static bool is_simulated(const PhysicsJoint *row)
{
    return row->is_alive && row->kind < PHYSICS_JOINT_FIXED && row->constraint;
}

void joints_changed(Physics *physics) { physics->joint_lists.is_valid = false; }

static bool lists_are_valid(const Physics *physics)
{
    const JointLists *lists = &physics->joint_lists;
    return lists->is_valid && lists->joint_count == physics->joint_count && lists->edit_count == physics->edit_count
           && lists->is_mirrored == mirror_is_open(physics);
}

void joints_list(Physics *physics)
{
    JointLists *lists = &physics->joint_lists;
    if (lists_are_valid(physics))
        return;
    memory_grow(&lists->driven, &lists->driven_capacity, physics->joint_count, sizeof *lists->driven);
    memory_grow(&lists->watched, &lists->watched_capacity, physics->joint_count, sizeof *lists->watched);
    lists->driven_count = lists->watched_count = 0;
    lists->has_kinematic = false;
    for (int joint = 0; joint < physics->joint_count; joint++) {
        PhysicsJoint *row = &physics->joints[joint];
        row->is_bare_motor = is_bare_motor(physics, row);
        bool moves_solids = is_kinematic(physics, row);
        lists->has_kinematic |= moves_solids;
        if (is_simulated(row) && is_passive(row))
            drive_passive(row);
        else if (is_simulated(row) || moves_solids)
            lists->driven[lists->driven_count++] = joint;
        if (row->is_alive && row->constraint && !joint_is_read_on_demand(row))
            lists->watched[lists->watched_count++] = joint;
    }
    assert_debug(lists->driven_count <= physics->joint_count && lists->watched_count <= physics->joint_count);
    lists->joint_count = physics->joint_count;
    lists->edit_count = physics->edit_count;
    lists->is_mirrored = mirror_is_open(physics);
    lists->is_valid = true;
}
