// talus_quantity.c - what can be asked of a world by a view: one row for each quantity, with its unit, how it is read
// and written, and the range that is told to whoever learns. Entries are checked before they come here (talus_view.c).
#include "sim/view_internal.h"

#include "physics/joints/motor.h"

#include <string.h>

static void put_vector(double *values, Vec3 v) { values[0] = v.x, values[1] = v.y, values[2] = v.z; }
static Vec3 get_vector(const double *values) { return vec3(values[0], values[1], values[2]); }

static void read_time(TalusWorld *world, const ViewEntry *entry, double *values)
{
    (void)entry;
    values[0] = sim_time(world->sim);
}

static void read_position(TalusWorld *world, const ViewEntry *entry, double *values)
{
    put_vector(values, physics_solid_pose(physics_in(world), entry->index).t);
}

static void write_position(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    Pose pose = physics_solid_pose(physics_in(world), entry->index);
    pose.t = get_vector(values);
    physics_solid_set_pose(physics_in(world), entry->index, pose);
}

static void read_orientation(TalusWorld *world, const ViewEntry *entry, double *values)
{
    Quat q = physics_solid_pose(physics_in(world), entry->index).q;
    values[0] = q.w, values[1] = q.x, values[2] = q.y, values[3] = q.z;
}

static void write_orientation(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    Pose pose = physics_solid_pose(physics_in(world), entry->index);
    pose.q = quat_normalized((Quat){ values[0], values[1], values[2], values[3] });
    physics_solid_set_pose(physics_in(world), entry->index, pose);
}

static void read_linear_velocity(TalusWorld *world, const ViewEntry *entry, double *values)
{
    put_vector(values, physics_solid_linear_velocity(physics_in(world), entry->index));
}

static void write_linear_velocity(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    Vec3 angular = physics_solid_angular_velocity(physics_in(world), entry->index);
    physics_solid_set_velocity(physics_in(world), entry->index, get_vector(values), angular);
}

static void read_angular_velocity(TalusWorld *world, const ViewEntry *entry, double *values)
{
    put_vector(values, physics_solid_angular_velocity(physics_in(world), entry->index));
}

static void write_angular_velocity(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    Vec3 linear = physics_solid_linear_velocity(physics_in(world), entry->index);
    physics_solid_set_velocity(physics_in(world), entry->index, linear, get_vector(values));
}

static void read_contact_force(TalusWorld *world, const ViewEntry *entry, double *values)
{
    int count;
    const PhysicsContactForce *forces = physics_contact_forces(physics_in(world), &count);
    Vec3 sum = VEC3_ZERO;
    for (int i = 0; i < count; i++) {
        if (forces[i].solid[0] == entry->index)
            sum = vec3_add(sum, forces[i].force);
        if (forces[i].solid[1] == entry->index)
            sum = vec3_sub(sum, forces[i].force);
    }
    put_vector(values, sum);
}

static void read_touching(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = physics_solid_is_colliding(physics_in(world), entry->index);
}

static void write_force(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    physics_solid_add_force(physics_in(world), entry->index, get_vector(values));
}

static void write_torque(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    physics_solid_add_torque(physics_in(world), entry->index, get_vector(values));
}

static void read_joint_position(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = physics_joint_position(physics_in(world), entry->index, entry->part);
}

static void write_joint_position(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    physics_joint_set_position(physics_in(world), entry->index, entry->part, values[0]);
}

static void read_joint_velocity(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = physics_joint_velocity(physics_in(world), entry->index, entry->part);
}

static PhysicsMotor motor_of(const TalusWorld *world, const ViewEntry *entry)
{
    return physics_motor(physics_in(world), entry->index, entry->part);
}

static void read_joint_effort(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = motor_of(world, entry).feedback;
}

static void read_motor_position(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = motor_of(world, entry).target_position;
}

static void read_motor_velocity(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = motor_of(world, entry).target_velocity;
}

static void read_motor_force(TalusWorld *world, const ViewEntry *entry, double *values)
{
    values[0] = motor_of(world, entry).force;
}

// Values beyond the range of a motor are its range: what learns tries everything, and is told the range with the
// channel.
static void write_motor_position(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    PhysicsMotor motor = motor_of(world, entry);
    bool is_bounded = motor.min_position != motor.max_position;
    double position = is_bounded ? double_clamp(values[0], motor.min_position, motor.max_position) : values[0];
    physics_motor_set_position(physics_in(world), entry->index, entry->part, position);
}

static void write_motor_velocity(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    PhysicsMotor motor = motor_of(world, entry);
    if (isfinite(motor.target_position))
        physics_motor_set_position(physics_in(world), entry->index, entry->part, INFINITY);
    physics_motor_set_velocity(physics_in(world), entry->index, entry->part,
                               double_clamp(values[0], -motor.max_velocity, motor.max_velocity));
}

static void write_motor_force(TalusWorld *world, const ViewEntry *entry, const double *values)
{
    physics_motor_set_forces(physics_in(world), &(PhysicsAxisRef){ entry->index, entry->part }, 1, values);
}

static void motor_position_range(const TalusWorld *world, const ViewEntry *entry, double *low, double *high)
{
    PhysicsMotor motor = motor_of(world, entry);
    if (motor.min_position != motor.max_position)
        *low = motor.min_position, *high = motor.max_position;
}

static void motor_velocity_range(const TalusWorld *world, const ViewEntry *entry, double *low, double *high)
{
    *high = motor_of(world, entry).max_velocity;
    *low = -*high;
}

static void motor_force_range(const TalusWorld *world, const ViewEntry *entry, double *low, double *high)
{
    *high = motor_of(world, entry).max_force;
    *low = -*high;
}

static void unit_range(const TalusWorld *world, const ViewEntry *entry, double *low, double *high)
{
    (void)world;
    *low = entry->count == 1 ? 0.0 : -1.0;
    *high = 1.0;
}

static void time_range(const TalusWorld *world, const ViewEntry *entry, double *low, double *high)
{
    (void)world, (void)entry, (void)high;
    *low = 0.0;
}

static void read_sensor(TalusWorld *world, const ViewEntry *entry, double *values)
{
    assert_debug(world->devices);
    assert_debug(entry->count >= 0);
    int count;
    uint32_t serial;
    const double *reading = devices_reading(world->devices, entry->index, entry->part, 0, &count, &serial);
    for (int i = 0; i < entry->count; i++)
        values[i] = serial > 0 && reading && i < count ? reading[i] : NAN;
}

static const Quantity quantities[] = {
    { "time", OF_WORLD, 1, NULL, "s", read_time, NULL, time_range, false, false },
    { "position", OF_SOLID, 3, "xyz", "m", read_position, write_position, NULL, false, false },
    { "orientation", OF_SOLID, 4, "wxyz", "", read_orientation, write_orientation, unit_range, false, false },
    { "linear_velocity", OF_SOLID, 3, "xyz", "m/s", read_linear_velocity, write_linear_velocity, NULL, false, false },
    { "angular_velocity", OF_SOLID, 3, "xyz", "rad/s", read_angular_velocity, write_angular_velocity, NULL, false,
      false },
    { "contact_force", OF_SOLID, 3, "xyz", "N", read_contact_force, NULL, NULL, true, false },
    { "touching", OF_SOLID, 1, NULL, "", read_touching, NULL, unit_range, false, false },
    { "force", OF_SOLID, 3, "xyz", "N", NULL, write_force, NULL, false, false },
    { "torque", OF_SOLID, 3, "xyz", "N m", NULL, write_torque, NULL, false, false },
    { "joint_position", OF_AXIS, 1, NULL, "rad|m", read_joint_position, write_joint_position, motor_position_range,
      false, false, physics_joint_positions },
    { "joint_velocity", OF_AXIS, 1, NULL, "rad/s|m/s", read_joint_velocity, NULL, NULL, false, false,
      physics_joint_velocities },
    { "joint_effort", OF_AXIS, 1, NULL, "N m|N", read_joint_effort, NULL, NULL, false, true },
    { "motor_position", OF_MOTOR, 1, NULL, "rad|m", read_motor_position, write_motor_position, motor_position_range,
      false, false },
    { "motor_velocity", OF_MOTOR, 1, NULL, "rad/s|m/s", read_motor_velocity, write_motor_velocity, motor_velocity_range,
      false, false },
    { "motor_force", OF_MOTOR, 1, NULL, "N m|N", read_motor_force, write_motor_force, motor_force_range, false, false,
      NULL, physics_motor_set_forces },
    { "sensor", OF_SENSOR, 0, NULL, "", read_sensor, NULL, NULL, false, false },
};

const Quantity *quantity_find(const char *name, size_t length)
{
    for (int i = 0; i < COUNT_OF(quantities); i++)
        if (strlen(quantities[i].name) == length && !strncmp(quantities[i].name, name, length))
            return &quantities[i];
    return NULL;
}
