// robot.c - the robot itself: steps, time, names, devices, battery, tasks, old wheels.
#include "core.h"
#include "node_names.h"

#include <webots/console.h>
#include <webots/device.h>
#include <webots/differential_wheels.h>
#include <webots/motor.h>
#include <webots/plugins/robot_window/robot_wwi.h>
#include <webots/position_sensor.h>
#include <webots/robot.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MODEL, TEXT_CUSTOM_DATA, TEXT_PROJECT, TEXT_WORLD, TEXT_CONTROLLER, TEXT_ARGUMENTS };

void motion_step(void);  // motion.c: motions that play move on

static const char *text(int index)
{
    assert(index >= 0 && index < COUNT_OF(core.texts));
    return core.texts[index] ? core.texts[index] : "";
}

int wb_robot_step(int duration)
{
    motion_step();
    return core_step(duration);
}

int wb_robot_step_begin(int duration)
{
    motion_step();
    return core_step_begin(duration);
}

int wb_robot_step_end(void) { return core_step_end(); }

double wb_robot_get_time(void) { return core.time; }

const char *wb_robot_get_name(void) { return core.name ? core.name : ""; }

const char *wb_robot_get_model(void) { return text(TEXT_MODEL); }

const char *wb_robot_get_custom_data(void) { return text(TEXT_CUSTOM_DATA); }

void wb_robot_set_custom_data(const char *data)
{
    if (!data)
        return;
    core_lock();
    free(core.texts[TEXT_CUSTOM_DATA]);
    core.texts[TEXT_CUSTOM_DATA] = strdup(data);
    core_add(&(Record){ .op = OP_CUSTOM_DATA, .byte_count = (int)strlen(data), .bytes = data });
    core_unlock();
}

const char *wb_robot_get_data(void) { return wb_robot_get_custom_data(); }

void wb_robot_set_data(const char *data) { wb_robot_set_custom_data(data); }

const char *wb_robot_get_project_path(void) { return text(TEXT_PROJECT); }

const char *wb_robot_get_world_path(void) { return text(TEXT_WORLD); }

const char *wb_robot_get_controller_name(void) { return text(TEXT_CONTROLLER); }

const char *wb_robot_get_controller_arguments(void) { return text(TEXT_ARGUMENTS); }

const char *wb_robot_get_urdf(const char *prefix)
{
    static char *urdf;
    Record answer;
    free(urdf);
    urdf = NULL;
    if (core_call(
            &(Record){ .op = OP_URDF, .byte_count = (int)strlen(prefix ? prefix : ""), .bytes = prefix ? prefix : "" },
            &answer, __func__))
        urdf = strndup(answer.bytes, (size_t)answer.byte_count);
    return urdf ? urdf : "";
}

WbRobotMode wb_robot_get_mode(void) { return (WbRobotMode)core.mode; }

void wb_robot_set_mode(WbRobotMode mode, const char *arg)
{
    (void)arg;
    if (mode != WB_MODE_SIMULATION)
        core_warn(__func__, "there is only the simulation mode");
}

bool wb_robot_get_synchronization(void) { return core.synchronization; }

bool wb_robot_get_supervisor(void) { return core.supervisor; }

double wb_robot_get_basic_time_step(void) { return core.basic_time_step; }

WbNodeType wb_robot_get_type(void) { return core.robot_type; }

void wb_robot_pin_to_static_environment(bool pin)
{
    core_add(&(Record){ .op = OP_PIN, .int_count = 1, .ints = (int32_t[]){ pin } });
}

// ---- devices ----

WbDeviceTag wb_robot_get_device(const char *name)
{
    if (!core.is_connected) {
        core_warn(__func__, "wb_robot_init() comes first");
        return 0;
    }
    for (int tag = 1; name && tag < core.device_count; tag++)
        if (!strcmp(core.devices[tag].name, name))
            return (WbDeviceTag)tag;
    fprintf(stderr, "Warning: \"%s\" device not found.\n", name ? name : "(null)");
    return 0;
}

int wb_robot_get_number_of_devices(void) { return core.device_count > 0 ? core.device_count - 1 : 0; }

WbDeviceTag wb_robot_get_device_by_index(int index)
{
    return index >= 0 && index < wb_robot_get_number_of_devices() ? (WbDeviceTag)(index + 1) : 0;
}

const char *wb_device_get_name(WbDeviceTag tag)
{
    if (tag == 0)
        return wb_robot_get_name();
    return tag < core.device_count ? core.devices[tag].name : NULL;
}

const char *wb_device_get_model(WbDeviceTag tag)
{
    if (tag == 0)
        return wb_robot_get_model();
    return tag >= core.device_count ? NULL : core.devices[tag].model ? core.devices[tag].model : "";
}

WbNodeType wb_device_get_node_type(WbDeviceTag tag)
{
    return tag == 0 ? WB_NODE_ROBOT : tag < core.device_count ? core.devices[tag].type : WB_NODE_NO_NODE;
}

WbNodeType wb_device_get_type(WbDeviceTag tag) { return wb_device_get_node_type(tag); }

const char *wb_node_get_name(WbNodeType type) { return (unsigned)type < COUNT_OF(node_names) ? node_names[type] : ""; }

// ---- battery ----

void wb_robot_battery_sensor_enable(int sampling_period)
{
    if (core.device_count)
        core_enable(0, 0, sampling_period);
}

void wb_robot_battery_sensor_disable(void) { wb_robot_battery_sensor_enable(0); }

int wb_robot_battery_sensor_get_sampling_period(void)
{
    return core.device_count ? core.devices[0].channels[0].period : 0;
}

double wb_robot_battery_sensor_get_value(void) { return core.device_count ? core_value(&core.devices[0], 0) : NAN; }

// ---- console and window ----

void wb_console_print(const char *message, int stream)
{
    if (message)
        core_add(&(Record){ .op = OP_PRINT,
                            .int_count = 1,
                            .ints = (int32_t[]){ stream },
                            .byte_count = (int)strlen(message),
                            .bytes = message });
}

// Gives the messages that are left from here on: all, or the next one. They are valid until the next step.
static const char *take_window(bool is_all, size_t *size)
{
    core_lock();
    assert(core.window.read <= core.window.size);
    const char *message = core.window.read < core.window.size ? core.window.data + core.window.read : NULL;
    *size = !message ? 0 : is_all ? core.window.size - core.window.read : strlen(message) + 1;
    core.window.read += *size;
    core_unlock();
    return message;
}

const char *wb_robot_wwi_receive(int *size)
{
    size_t taken;
    const char *messages = take_window(true, &taken);
    if (size)
        *size = (int)taken;
    return messages;
}

const char *wb_robot_wwi_receive_text(void)
{
    size_t taken;
    return take_window(false, &taken);
}

void wb_robot_wwi_send(const char *data, int size)
{
    if (data && size > 0)
        core_add(&(Record){ .op = OP_WINDOW_TEXT, .byte_count = size, .bytes = data });
}

void wb_robot_wwi_send_text(const char *message)
{
    if (message)
        wb_robot_wwi_send(message, (int)strlen(message));
}

// ---- tasks ----

typedef struct Task {
    void (*run)(void *parameter);
    void *parameter;
} Task;

static void *run_task(void *context)
{
    Task task = *(Task *)context;
    free(context);
    task.run(task.parameter);
    return NULL;
}

void wb_robot_task_new(void (*task)(void *parameter), void *parameter)
{
    pthread_t thread;
    Task *copy = malloc(sizeof *copy);
    *copy = (Task){ task, parameter };
    if (pthread_create(&thread, NULL, run_task, copy) == 0)
        pthread_detach(thread);
    else
        free(copy);
}

WbMutexRef wb_robot_mutex_new(void)
{
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    pthread_mutex_init(mutex, NULL);
    return (WbMutexRef)(void *)mutex;
}

void wb_robot_mutex_lock(WbMutexRef mutex) { pthread_mutex_lock((pthread_mutex_t *)(void *)mutex); }

void wb_robot_mutex_unlock(WbMutexRef mutex) { pthread_mutex_unlock((pthread_mutex_t *)(void *)mutex); }

void wb_robot_mutex_delete(WbMutexRef mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)(void *)mutex);
    free(mutex);
}

// ---- old robots with two wheels: motors "left wheel" and "right wheel" ----

static WbDeviceTag wheel(int side)
{
    assert(side == 0 || side == 1);
    static const char *const names[2][3] = { { "left wheel", "left wheel motor", "left motor" },
                                             { "right wheel", "right wheel motor", "right motor" } };
    for (int i = 0; i < 3; i++)
        for (int tag = 1; tag < core.device_count; tag++)
            if (core.devices[tag].type == WB_NODE_ROTATIONAL_MOTOR && !strcmp(core.devices[tag].name, names[side][i]))
                return (WbDeviceTag)tag;
    return 0;
}

static double wheel_speeds[2], wheel_zeros[2];
static int encoders_period;

// Numbers of the drive: speed unit, most speed, noise and resolution of the encoders. A robot that never was a
// DifferentialWheels node has none, and takes radians for everything.
static double drive_constant(int index, double otherwise)
{
    assert(index >= 0 && index < 4);
    return core.device_count && core.devices[0].constant_count == 4 ? core.devices[0].constants[index] : otherwise;
}

static double speed_unit(void) { return drive_constant(0, 1.0); }

static bool has_encoders(void) { return drive_constant(2, 0.0) >= 0.0 && drive_constant(3, 1.0) >= 0.0; }

void wb_differential_wheels_set_speed(double left, double right)
{
    double speeds[2] = { left, right };
    for (int side = 0; side < 2; side++) {
        WbDeviceTag tag = wheel(side);
        if (!tag) {
            core_warn(__func__, "this robot has no left and right wheel");
            return;
        }
        double max = drive_constant(1, wb_motor_get_max_velocity(tag)), speed = speeds[side] * speed_unit();
        wheel_speeds[side] = fmin(fmax(speed, -max), max) / speed_unit();
        wb_motor_set_position(tag, INFINITY);
        wb_motor_set_velocity(tag, wheel_speeds[side] * speed_unit());
    }
}

double wb_differential_wheels_get_left_speed(void) { return wheel_speeds[0]; }

double wb_differential_wheels_get_right_speed(void) { return wheel_speeds[1]; }

void wb_differential_wheels_enable_encoders(int sampling_period)
{
    if (!has_encoders()) {
        core_warn(__func__, "this robot has no encoders: encoderNoise or encoderResolution is -1");
        return;
    }
    encoders_period = sampling_period;
    for (int side = 0; side < 2; side++)
        if (wheel(side))
            wb_motor_enable_position(wheel(side), sampling_period);
}

void wb_differential_wheels_disable_encoders(void) { wb_differential_wheels_enable_encoders(0); }

int wb_differential_wheels_get_encoders_sampling_period(void) { return encoders_period; }

// Noise belongs to each bit of the way, so it is added up as the wheel turns.
static double encoder(int side)
{
    assert(side == 0 || side == 1);
    static double seen[2], counted[2];
    static uint64_t random = 0x9e3779b97f4a7c15u;
    double angle = wheel(side) && has_encoders() ? wb_motor_get_position(wheel(side)) : NAN;
    if (isnan(angle))
        return encoders_period > 0 ? counted[side] - wheel_zeros[side] : NAN;  // on, but not yet read
    double noise = drive_constant(2, 0.0), way = angle - seen[side];
    if (noise > 0.0 && way != 0.0) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        way *= 1.0 + noise * ((double)(random >> 11) * 0x1p-52 - 1.0);
    }
    seen[side] = angle;
    counted[side] += way * drive_constant(3, 1.0);
    return counted[side] - wheel_zeros[side];
}

double wb_differential_wheels_get_left_encoder(void) { return encoder(0); }

double wb_differential_wheels_get_right_encoder(void) { return encoder(1); }

void wb_differential_wheels_set_encoders(double left, double right)
{
    double values[2] = { left, right };
    for (int side = 0; side < 2; side++) {
        double now = encoder(side);
        if (!isnan(now))
            wheel_zeros[side] += now - values[side];
    }
}

double wb_differential_wheels_get_max_speed(void)
{
    return wheel(0) ? drive_constant(1, wb_motor_get_max_velocity(wheel(0))) : 0.0;
}

double wb_differential_wheels_get_speed_unit(void) { return speed_unit(); }
