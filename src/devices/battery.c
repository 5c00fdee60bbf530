// battery.c - the energy of robots and chargers: processor and motors draw from it, chargers give, and a robot without
// energy has motors without power and sensors that keep their last value.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "physics/joints/motor.h"

double battery_of(const SceneNode *robot, int index)
{
    assert_debug(index >= 0 && index < 3);
    const FieldList *battery = scene_list(robot, "battery");
    return index < battery->count ? battery->numbers[index] : -1.0;
}

bool robot_has_battery(const Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    return battery_of(devices->robots[robot].node, 0) >= 0.0;
}

// A robot without energy has motors without power; while it is empty, those that come in have none either.
void battery_update_power(Devices *devices, int robot)
{
    assert(robot >= 0 && robot < devices->robot_count);
    const DeviceRobot *row = &devices->robots[robot];
    RobotState *state = &devices->robot_states[robot];
    bool is_empty = robot_has_battery(devices, robot) && state->energy <= 0.0;
    if (!is_empty && !state->is_empty)
        return;
    state->is_empty = is_empty;
    for (int tag = 1; tag <= row->device_count; tag++) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (info->joint >= 0)
            physics_motor_set_power(devices->physics, info->joint, info->axis, !is_empty);
    }
}

void battery_add_charger(Devices *devices, SceneNode *node)
{
    assert(node);
    for (int i = 0; i < devices->charger_count; i++)
        if (devices->chargers[i] == node)
            return;
    memory_grow(&devices->chargers, &devices->charger_capacity, devices->charger_count + 1, sizeof *devices->chargers);
    memory_grow(&devices->charger_energy, &devices->charger_energy_capacity, devices->charger_count + 1,
                sizeof *devices->charger_energy);
    devices->charger_energy[devices->charger_count] = battery_of(node, 0);
    devices->chargers[devices->charger_count++] = node;
}

// Processor and motors draw from the battery; a robot without energy has motors without power and sensors that keep
// their last value.
void battery_drain(Devices *devices, int robot)
{
    assert_debug(robot >= 0 && robot < devices->robot_count && devices->robots[robot].is_alive);
    DeviceRobot *row = &devices->robots[robot];
    RobotState *state = &devices->robot_states[robot];
    if (battery_of(row->node, 0) < 0.0 && state->energy < 0.0)
        return;
    double power = scene_float(row->node, "cpuConsumption");
    for (int tag = 1; tag <= row->device_count; tag++) {
        const DeviceInfo *info = devices_info(devices, robot, tag);
        if (info->joint < 0 || !scene_node_is(info->node, "Motor"))
            continue;
        PhysicsMotor motor = physics_motor(devices->physics, info->joint, info->axis);
        power += fabs(motor.feedback) * scene_float(info->node, "consumptionFactor");
    }
    state->energy = fmax(state->energy - power * physics_time_step(devices->physics), 0.0);
    battery_update_power(devices, robot);
}

// A robot whose centre is within a charger's radius is loaded at the lower of both rates, from what the charger has
// left.
void battery_charge(Devices *devices, int charger)
{
    assert_debug(charger >= 0 && charger < devices->charger_count);
    const SceneNode *node = devices->chargers[charger];
    int solid = physics_solid_of(devices->physics, node);
    if (solid < 0 || devices->charger_energy[charger] <= 0.0 || device_node_is_gone(node))
        return;
    Vec3 place = physics_solid_pose(devices->physics, solid).t;
    for (int robot = 0; robot < devices->robot_count; robot++) {
        const DeviceRobot *row = &devices->robots[robot];
        RobotState *state = &devices->robot_states[robot];
        double max = battery_of(row->node, 1);
        if (!row->is_alive || row->solid < 0 || max <= 0.0 || state->energy >= max)
            continue;
        if (vec3_distance(physics_solid_pose(devices->physics, row->solid).t, place) > scene_float(node, "radius"))
            continue;
        double power = fmin(battery_of(row->node, 2), battery_of(node, 2));
        double energy = fmin(fmax(power, 0.0) * physics_time_step(devices->physics),
                             fmin(devices->charger_energy[charger], max - state->energy));
        state->energy += energy;
        devices->charger_energy[charger] -= energy;
    }
}

static void keep_energy(Devices *devices, SceneNode *node, double energy)
{
    assert_debug(schema_field(node->type, "battery"));
    if (battery_of(node, 0) < 0.0 || battery_of(node, 0) == energy)
        return;
    const FieldType *type = schema_field(node->type, "battery");
    FieldList kept = *scene_list(node, "battery");
    double numbers[3] = { energy, battery_of(node, 1), battery_of(node, 2) };
    kept.count = int_min(kept.count, COUNT_OF(numbers));
    kept.numbers = numbers;
    scene_set_value(devices->scene, node, type, (FieldValue){ .list = &kept });
}

void devices_keep(Devices *devices)
{
    for (int i = 0; i < devices->robot_count; i++)
        if (devices->robots[i].is_alive)
            keep_energy(devices, devices->robots[i].node, devices->robot_states[i].energy);
    for (int i = 0; i < devices->charger_count; i++)
        if (!device_node_is_gone(devices->chargers[i]))
            keep_energy(devices, devices->chargers[i], devices->charger_energy[i]);
}
