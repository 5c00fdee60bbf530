// The library over joints, their motors and brakes, connectors and grippers.
#include "sim/library.h"

#include "physics/fittings/fittings.h"
#include "physics/joints/motor.h"

// ---- joints ----

static bool axis_of(const TalusWorld *world, TalusNode id, int *joint, int *axis)
{
    const SceneNode *node = library_node(world, id);
    if (!node)
        return false;
    const Physics *physics = sim_physics(world->sim);
    if (physics_axis_of(physics, scene_actual(node), joint, axis))
        return true;
    int solid = physics_solid_of(physics, node);
    *joint = solid >= 0 ? physics_solid_joint(physics, solid) : physics_joint_of(physics, node);
    if (*joint < 0)
        return library_failed("node %u is no joint, nor on one", id);
    assert_debug(*joint < physics_joint_count(physics));
    if (*axis >= 0 && *axis < physics_joint_axis_count(physics, *joint))
        return true;
    return library_failed("the joint of node %u has no axis %d", id, *axis);
}

bool talus_joint_position(const TalusWorld *world, TalusNode id, int axis, double *position)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    if (position)
        *position = physics_joint_position(sim_physics(world->sim), joint, axis);
    return true;
}

bool talus_joint_velocity(const TalusWorld *world, TalusNode id, int axis, double *velocity)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    if (velocity)
        *velocity = physics_joint_velocity(sim_physics(world->sim), joint, axis);
    return true;
}

bool talus_joint_set_position(TalusWorld *world, TalusNode id, int axis, double position)
{
    int joint;
    if (!isfinite(position) || !axis_of(world, id, &joint, &axis))
        return false;
    physics_joint_set_position(sim_physics(world->sim), joint, axis, position);
    return library_told(world, true);
}

typedef const char *(*MotorSetter)(Physics *physics, int joint, int axis, double value);

static bool complain(TalusWorld *world, TalusNode id, const char *complaint)
{
    if (complaint) {
        const SceneNode *node = library_node(world, id);
        assert_debug(node);
        diag_warning(world->diags, node->pos, "%s", complaint);
    }
    return library_told(world, true);
}

static bool command(TalusWorld *world, TalusNode id, int axis, double value, MotorSetter setter)
{
    int joint;
    if (isnan(value) || !axis_of(world, id, &joint, &axis))
        return false;
    return complain(world, id, setter(sim_physics(world->sim), joint, axis, value));
}

bool talus_motor_set_position(TalusWorld *world, TalusNode joint, int axis, double position)
{
    return command(world, joint, axis, position, physics_motor_set_position);
}

bool talus_motor_set_velocity(TalusWorld *world, TalusNode joint, int axis, double velocity)
{
    return command(world, joint, axis, velocity, physics_motor_set_velocity);
}

bool talus_motor_set_force(TalusWorld *world, TalusNode joint, int axis, double force)
{
    return command(world, joint, axis, force, physics_motor_set_force);
}

bool talus_motor_set_available_force(TalusWorld *world, TalusNode joint, int axis, double force)
{
    return command(world, joint, axis, force, physics_motor_set_available_force);
}

bool talus_motor_set_acceleration(TalusWorld *world, TalusNode joint, int axis, double acceleration)
{
    return command(world, joint, axis, acceleration, physics_motor_set_acceleration);
}

bool talus_motor_set_gains(TalusWorld *world, TalusNode id, int axis, double p, double i, double d)
{
    int joint;
    if (isnan(p) || isnan(i) || isnan(d) || !axis_of(world, id, &joint, &axis))
        return false;
    return complain(world, id, physics_motor_set_gains(sim_physics(world->sim), joint, axis, p, i, d));
}

bool talus_motor_feedback(TalusWorld *world, TalusNode id, int axis, double *force)
{
    int joint;
    if (!axis_of(world, id, &joint, &axis))
        return false;
    physics_motor_want_feedback(sim_physics(world->sim), joint, true);
    if (force)
        *force = physics_motor(sim_physics(world->sim), joint, axis).feedback;
    return true;
}

bool talus_brake_set_damping(TalusWorld *world, TalusNode id, int axis, double damping)
{
    int joint;
    if (!(damping >= 0.0) || !axis_of(world, id, &joint, &axis))
        return false;
    physics_brake_set_damping(sim_physics(world->sim), joint, axis, damping);
    return true;
}

// ---- connectors and grippers ----

// The solid of a node of this type, -1 when it is another.
static int device_of(const TalusWorld *world, TalusNode id, const char *type)
{
    const SceneNode *node = library_node(world, id);
    return node && scene_node_is(scene_actual(node), type) ? library_solid(world, id) : -1;
}

bool talus_connector_set_locked(TalusWorld *world, TalusNode id, bool is_locked)
{
    int solid = device_of(world, id, "Connector");
    if (solid < 0)
        return false;
    if (is_locked)
        physics_connector_lock(sim_physics(world->sim), solid);
    else
        physics_connector_unlock(sim_physics(world->sim), solid);
    return library_told(world, true);
}

bool talus_connector_presence(TalusWorld *world, TalusNode id, int *presence)
{
    int solid = device_of(world, id, "Connector");
    if (solid >= 0 && presence)
        *presence = physics_connector_presence(sim_physics(world->sim), solid);
    return solid >= 0;
}

TalusNode talus_connector_peer(const TalusWorld *world, TalusNode id)
{
    int solid = device_of(world, id, "Connector");
    return solid < 0 ? TALUS_NONE : library_solid_id(world, physics_connector_peer(sim_physics(world->sim), solid));
}

bool talus_gripper_set_on(TalusWorld *world, TalusNode id, bool is_on)
{
    int solid = device_of(world, id, "VacuumGripper");
    if (solid >= 0)
        physics_gripper_turn(sim_physics(world->sim), solid, is_on);
    return library_told(world, solid >= 0);
}

TalusNode talus_gripper_held(const TalusWorld *world, TalusNode id)
{
    int solid = device_of(world, id, "VacuumGripper");
    return solid < 0 ? TALUS_NONE : library_solid_id(world, physics_gripper_held(sim_physics(world->sim), solid));
}
