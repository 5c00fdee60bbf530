// actuators.c - motors, servos, brakes, emitters, LEDs, pens, skins.
#include "core.h"

#include <webots/brake.h>
#include <webots/emitter.h>
#include <webots/led.h>
#include <webots/motor.h>
#include <webots/pen.h>
#include <webots/servo.h>
#include <webots/skin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- motors: constants as devices/joints.c lists them ----

enum {
    IS_LINEAR,
    TAG_MOTOR,
    TAG_SENSOR,
    TAG_BRAKE,
    MIN_POSITION,
    MAX_POSITION,
    MAX_VELOCITY,
    MAX_FORCE,
    MULTIPLIER,
    ACCELERATION,
    GAIN_P,
    TARGET_POSITION = GAIN_P + 3,
    TARGET_VELOCITY
};
enum { SET_POSITION, SET_VELOCITY, SET_ACCELERATION, SET_AVAILABLE_FORCE, SET_FORCE, SET_PID };

#define MOTOR(tag) CORE_DEVICE(tag, WB_NODE_ROTATIONAL_MOTOR, WB_NODE_LINEAR_MOTOR)

// What the controller asked for, to answer questions without asking the simulator.
typedef struct MotorMemory {
    double position, velocity, acceleration, available;
    WbDeviceTag sensor;  // of the joint, for old programs that ask the motor
} MotorMemory;

static MotorMemory *memory(CoreDevice *device)
{
    assert_debug(device);
    if (!device->own) {
        MotorMemory *fresh = calloc(1, sizeof *fresh);
        *fresh = (MotorMemory){ core_constant(device, TARGET_POSITION), core_constant(device, MAX_VELOCITY),
                                core_constant(device, ACCELERATION), core_constant(device, MAX_FORCE),
                                (WbDeviceTag)core_constant(device, TAG_SENSOR) };
        device->own = fresh;
    }
    return device->own;
}

// Length of the part of a coupled motor's name that it shares with the others (before a single "::"); 0 when it is not
// coupled.
static size_t coupling_length(const CoreDevice *device)
{
    const char *colons = strstr(device->name, "::");
    return colons && !strstr(colons + 2, "::") ? (size_t)(colons - device->name) : 0;
}

static bool is_motor(const CoreDevice *device)
{
    return device->type == WB_NODE_ROTATIONAL_MOTOR || device->type == WB_NODE_LINEAR_MOTOR;
}

typedef void RememberTarget(CoreDevice *device, double target);

// Coupled motors follow the one that is told, each at its multiplier.
static void remember_coupled(const CoreDevice *told, double value, RememberTarget *remember)
{
    assert_debug(is_motor(told) && remember);
    size_t length = coupling_length(told);
    for (int tag = 1; length && tag < core.device_count; tag++) {
        CoreDevice *other = &core.devices[tag];
        if (other != told && is_motor(other) && coupling_length(other) == length
            && !strncmp(other->name, told->name, length))
            remember(other, isinf(value) ? value : value * core_constant(other, MULTIPLIER));
    }
}

static void remember_position(CoreDevice *device, double position)
{
    double low = core_constant(device, MIN_POSITION), high = core_constant(device, MAX_POSITION);
    memory(device)->position = low != high && !isinf(position) ? fmin(fmax(position, low), high) : position;
}

static void remember_velocity(CoreDevice *device, double velocity)
{
    double max = core_constant(device, MAX_VELOCITY);
    memory(device)->velocity = fmin(fmax(velocity, -max), max);
}

static void order(WbDeviceTag tag, int command, double value) { core_command(tag, command, &value, 1, NULL, 0); }

void wb_motor_set_position(WbDeviceTag tag, double position)
{
    CoreDevice *device = MOTOR(tag);
    if (!device)
        return;
    if (isnan(position)) {
        core_warn(__func__, "the position is not a number");
        return;
    }
    double low = core_constant(device, MIN_POSITION), high = core_constant(device, MAX_POSITION), target = position;
    if (low != high && !isinf(position)) {
        double scale = core_constant(device, MULTIPLIER);
        target = fmin(fmax(position * scale, low), high) / scale;
    }
    memory(device)->position = target;
    remember_coupled(device, position, remember_position);
    order(tag, SET_POSITION, position);
}

void wb_motor_set_velocity(WbDeviceTag tag, double velocity)
{
    CoreDevice *device = MOTOR(tag);
    if (!device)
        return;
    if (!isfinite(velocity)) {
        core_warn(__func__, "the velocity is not a finite number");
        return;
    }
    remember_velocity(device, velocity);
    remember_coupled(device, velocity, remember_velocity);
    order(tag, SET_VELOCITY, velocity);
}

void wb_motor_set_acceleration(WbDeviceTag tag, double acceleration)
{
    CoreDevice *device = MOTOR(tag);
    if (!device)
        return;
    memory(device)->acceleration = acceleration;
    order(tag, SET_ACCELERATION, acceleration);
}

static void set_available(CoreDevice *device, WbDeviceTag tag, double force)
{
    if (!device)
        return;
    memory(device)->available = fmin(fabs(force), core_constant(device, MAX_FORCE));
    order(tag, SET_AVAILABLE_FORCE, force);
}

void wb_motor_set_available_force(WbDeviceTag tag, double force) { set_available(MOTOR(tag), tag, force); }

void wb_motor_set_available_torque(WbDeviceTag tag, double torque) { set_available(MOTOR(tag), tag, torque); }

void wb_motor_set_control_pid(WbDeviceTag tag, double p, double i, double d)
{
    if (MOTOR(tag))
        core_command(tag, SET_PID, (double[]){ p, i, d }, 3, NULL, 0);
}

void wb_motor_set_control_p(WbDeviceTag tag, double p) { wb_motor_set_control_pid(tag, p, 0.0, 0.0); }

void wb_motor_set_force(WbDeviceTag tag, double force)
{
    if (MOTOR(tag))
        order(tag, SET_FORCE, force);
}

void wb_motor_set_torque(WbDeviceTag tag, double torque)
{
    if (MOTOR(tag))
        order(tag, SET_FORCE, torque);
}

#define MOTOR_MEMORY(function, member)                                                                                 \
    double function(WbDeviceTag tag)                                                                                   \
    {                                                                                                                  \
        CoreDevice *device = MOTOR(tag);                                                                               \
        return device ? memory(device)->member : NAN;                                                                  \
    }
#define MOTOR_FACT(function, type, index)                                                                              \
    type function(WbDeviceTag tag) { return (type)core_constant(MOTOR(tag), index); }
MOTOR_MEMORY(wb_motor_get_target_position, position)
MOTOR_MEMORY(wb_motor_get_velocity, velocity)
MOTOR_MEMORY(wb_motor_get_acceleration, acceleration)
MOTOR_MEMORY(wb_motor_get_available_force, available)
MOTOR_MEMORY(wb_motor_get_available_torque, available)
MOTOR_FACT(wb_motor_get_min_position, double, MIN_POSITION)
MOTOR_FACT(wb_motor_get_max_position, double, MAX_POSITION)
MOTOR_FACT(wb_motor_get_max_velocity, double, MAX_VELOCITY)
MOTOR_FACT(wb_motor_get_max_force, double, MAX_FORCE)
MOTOR_FACT(wb_motor_get_max_torque, double, MAX_FORCE)
MOTOR_FACT(wb_motor_get_multiplier, double, MULTIPLIER)
MOTOR_FACT(wb_motor_get_type, WbJointType, IS_LINEAR)
MOTOR_FACT(wb_motor_get_brake, WbDeviceTag, TAG_BRAKE)
MOTOR_FACT(wb_motor_get_position_sensor, WbDeviceTag, TAG_SENSOR)

#define FEEDBACK(kind)                                                                                                 \
    void wb_motor_enable_##kind##_feedback(WbDeviceTag tag, int sampling_period)                                       \
    {                                                                                                                  \
        if (MOTOR(tag))                                                                                                \
            core_enable(tag, 0, sampling_period);                                                                      \
    }                                                                                                                  \
    void wb_motor_disable_##kind##_feedback(WbDeviceTag tag)                                                           \
    {                                                                                                                  \
        if (MOTOR(tag))                                                                                                \
            core_enable(tag, 0, 0);                                                                                    \
    }                                                                                                                  \
    int wb_motor_get_##kind##_feedback_sampling_period(WbDeviceTag tag)                                                \
    {                                                                                                                  \
        const CoreDevice *device = MOTOR(tag);                                                                         \
        return device ? device->channels[0].period : 0;                                                                \
    }                                                                                                                  \
    double wb_motor_get_##kind##_feedback(WbDeviceTag tag) { return core_value(MOTOR(tag), 0); }
FEEDBACK(force)
FEEDBACK(torque)

// Positions by the motor itself: its joint's sensor answers.
static CoreDevice *sensor_of(WbDeviceTag tag, WbDeviceTag *sensor, const char *who)
{
    *sensor = (WbDeviceTag)core_constant(MOTOR(tag), TAG_SENSOR);
    if (*sensor == 0)
        core_warn(who, "the joint of this motor has no position sensor");
    assert(*sensor < core.device_count);
    return *sensor ? &core.devices[*sensor] : NULL;
}

void wb_motor_enable_position(WbDeviceTag tag, int sampling_period)
{
    WbDeviceTag sensor;
    if (sensor_of(tag, &sensor, __func__))
        core_enable(sensor, 0, sampling_period);
}

void wb_motor_disable_position(WbDeviceTag tag) { wb_motor_enable_position(tag, 0); }

int wb_motor_get_position_sampling_period(WbDeviceTag tag)
{
    WbDeviceTag sensor;
    const CoreDevice *device = sensor_of(tag, &sensor, __func__);
    return device ? device->channels[0].period : 0;
}

double wb_motor_get_position(WbDeviceTag tag)
{
    WbDeviceTag sensor;
    return core_value(sensor_of(tag, &sensor, __func__), 0);
}

// ---- servos: motor and sensor in one ----

void wb_servo_set_position(WbDeviceTag tag, double position) { wb_motor_set_position(tag, position); }

double wb_servo_get_target_position(WbDeviceTag tag) { return wb_motor_get_target_position(tag); }

void wb_servo_set_velocity(WbDeviceTag tag, double velocity) { wb_motor_set_velocity(tag, velocity); }

void wb_servo_set_acceleration(WbDeviceTag tag, double acceleration) { wb_motor_set_acceleration(tag, acceleration); }

void wb_servo_set_motor_force(WbDeviceTag tag, double force) { wb_motor_set_available_force(tag, force); }

void wb_servo_set_control_p(WbDeviceTag tag, double p) { wb_motor_set_control_p(tag, p); }

double wb_servo_get_min_position(WbDeviceTag tag) { return wb_motor_get_min_position(tag); }

double wb_servo_get_max_position(WbDeviceTag tag) { return wb_motor_get_max_position(tag); }

void wb_servo_enable_position(WbDeviceTag tag, int sampling_period) { wb_motor_enable_position(tag, sampling_period); }

void wb_servo_disable_position(WbDeviceTag tag) { wb_motor_enable_position(tag, 0); }

int wb_servo_get_position_sampling_period(WbDeviceTag tag) { return wb_motor_get_position_sampling_period(tag); }

double wb_servo_get_position(WbDeviceTag tag) { return wb_motor_get_position(tag); }

void wb_servo_enable_motor_force_feedback(WbDeviceTag tag, int sampling_period)
{
    wb_motor_enable_force_feedback(tag, sampling_period);
}

void wb_servo_disable_motor_force_feedback(WbDeviceTag tag) { wb_motor_disable_force_feedback(tag); }

int wb_servo_get_motor_force_feedback_sampling_period(WbDeviceTag tag)
{
    return wb_motor_get_force_feedback_sampling_period(tag);
}

double wb_servo_get_motor_force_feedback(WbDeviceTag tag) { return wb_motor_get_force_feedback(tag); }

void wb_servo_set_force(WbDeviceTag tag, double force) { wb_motor_set_force(tag, force); }

int wb_servo_get_type(WbDeviceTag tag) { return (int)wb_motor_get_type(tag); }

// ---- brakes ----

void wb_brake_set_damping_constant(WbDeviceTag tag, double damping_constant)
{
    if (CORE_DEVICE(tag, WB_NODE_BRAKE))
        order(tag, 0, damping_constant);
}

WbJointType wb_brake_get_type(WbDeviceTag tag)
{
    return (WbJointType)core_constant(CORE_DEVICE(tag, WB_NODE_BRAKE), IS_LINEAR);
}

WbDeviceTag wb_brake_get_motor(WbDeviceTag tag)
{
    return (WbDeviceTag)core_constant(CORE_DEVICE(tag, WB_NODE_BRAKE), TAG_MOTOR);
}

WbDeviceTag wb_brake_get_position_sensor(WbDeviceTag tag)
{
    return (WbDeviceTag)core_constant(CORE_DEVICE(tag, WB_NODE_BRAKE), TAG_SENSOR);
}

// ---- emitters: channel, range, max range, buffer size, baud rate, byte size ----

enum { EMITTER_CHANNEL, EMITTER_RANGE, EMITTER_MAX_RANGE, EMITTER_BUFFER };
#define EMITTER(tag) CORE_DEVICE(tag, WB_NODE_EMITTER)

// Bytes given since the last step: what a buffer of limited size holds.
typedef struct EmitterMemory {
    double time;
    int bytes;
} EmitterMemory;

int wb_emitter_send(WbDeviceTag tag, const void *data, int size)
{
    CoreDevice *device = EMITTER(tag);
    if (!device)
        return 0;
    if (size < 1 || !data) {
        core_warn(__func__, "there is nothing to send");
        return 0;
    }
    if (size > CORE_MESSAGE_BYTES / 4) {
        core_warn(__func__, "%d bytes are more than a packet may have", size);
        return 0;
    }
    if (!device->own)
        device->own = calloc(1, sizeof(EmitterMemory));
    EmitterMemory *sent = device->own;
    if (sent->time != core.time)
        *sent = (EmitterMemory){ .time = core.time };
    double room = core_constant(device, EMITTER_BUFFER);
    if (room >= 0.0 && sent->bytes + size > room)
        return 0;
    sent->bytes += size;
    core_command(tag, 0, NULL, 0, data, size);
    return 1;
}

void wb_emitter_set_channel(WbDeviceTag tag, int channel)
{
    CoreDevice *device = EMITTER(tag);
    if (!device)
        return;
    if (channel < WB_CHANNEL_BROADCAST) {
        core_warn(__func__, "the channel %d is not valid", channel);
        return;
    }
    assert_debug(device->constant_count > EMITTER_CHANNEL);
    order(tag, 1, channel);
    device->constants[EMITTER_CHANNEL] = channel;
}

int wb_emitter_get_channel(WbDeviceTag tag)
{
    CoreDevice *device = EMITTER(tag);
    return device ? (int)core_constant(device, EMITTER_CHANNEL) : -1;
}

void wb_emitter_set_range(WbDeviceTag tag, double range)
{
    CoreDevice *device = EMITTER(tag);
    if (!device)
        return;
    if (!(range >= 0.0 || range == -1.0)) {
        core_warn(__func__, "the range %g is not valid", range);
        return;
    }
    assert_debug(device->constant_count > EMITTER_RANGE);
    double max = core_constant(device, EMITTER_MAX_RANGE);
    bool is_endless = range < 0.0;
    device->constants[EMITTER_RANGE] = max >= 0.0 && (is_endless || range > max) ? max : is_endless ? -1.0 : range;
    order(tag, 2, range);
}

double wb_emitter_get_range(WbDeviceTag tag)
{
    const CoreDevice *device = EMITTER(tag);
    return device ? core_constant(device, EMITTER_RANGE) : NAN;
}

int wb_emitter_get_buffer_size(WbDeviceTag tag)
{
    CoreDevice *device = EMITTER(tag);
    return device ? (int)core_constant(device, EMITTER_BUFFER) : -1;
}

// ---- LEDs and pens ----

void wb_led_set(WbDeviceTag tag, int value)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_LED);
    if (!device)
        return;
    if (!device->own)
        device->own = calloc(1, sizeof(int));
    *(int *)device->own = value;
    order(tag, 0, value);
}

int wb_led_get(WbDeviceTag tag)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_LED);
    return device && device->own ? *(int *)device->own : 0;
}

void wb_pen_write(WbDeviceTag tag, bool write)
{
    if (CORE_DEVICE(tag, WB_NODE_PEN))
        order(tag, 0, write);
}

void wb_pen_set_ink_color(WbDeviceTag tag, int color, double density)
{
    if (CORE_DEVICE(tag, WB_NODE_PEN))
        core_command(tag, 1, (double[]){ color, density }, 2, NULL, 0);
}

// ---- skins: names and places of bones are asked for, as devices/skin.c tells them ----

enum { SKIN_PLACES, SKIN_NAMES };  // what is asked
enum { BONE_NUMBERS = 14 };  // of each: position and rotation in the frame of the Skin, then in that of its parent

typedef struct SkinOwn {
    char *names;  // each ended by a NUL
    int bone_count;
    double position[3], orientation[4];  // that the program was last given
} SkinOwn;

static bool ask_skin(WbDeviceTag tag, int what, Record *answer, const char *who)
{
    assert_debug(what == SKIN_PLACES || what == SKIN_NAMES);
    int32_t number = what;
    return core_call(&(Record){ .op = OP_IMAGE, .tag = (uint16_t)tag, .int_count = 1, .ints = &number }, answer, who);
}

static SkinOwn *skin_own(WbDeviceTag tag, const char *who)
{
    CoreDevice *device = core_device(tag, (const WbNodeType[]){ WB_NODE_SKIN, WB_NODE_NO_NODE }, who);
    Record answer;
    if (!device || device->own)
        return device ? device->own : NULL;
    if (!ask_skin(tag, SKIN_NAMES, &answer, who))
        return NULL;
    // In one piece, as it is freed in one.
    SkinOwn *own = calloc(1, sizeof *own + (size_t)answer.byte_count + 1);
    own->names = (char *)(own + 1);
    memcpy(own->names, answer.bytes, (size_t)answer.byte_count);
    for (int i = 0; i < answer.byte_count; i++)
        own->bone_count += own->names[i] == '\0';
    return device->own = own;
}

static bool is_bone(const SkinOwn *own, int index, const char *who)
{
    if (index >= 0 && index < own->bone_count)
        return true;
    core_warn(who, "the index of a bone must be from 0 to %d, not %d", own->bone_count - 1, index);
    return false;
}

enum { SET_BONE_POSITION, SET_BONE_ORIENTATION };

static void set_bone(WbDeviceTag tag, int command, int index, const double *values, bool is_absolute, const char *who)
{
    assert_debug(command == SET_BONE_POSITION || command == SET_BONE_ORIENTATION);
    int count = command == SET_BONE_ORIENTATION ? 4 : 3;
    const SkinOwn *own = skin_own(tag, who);
    double numbers[6] = { index, is_absolute };
    if (!own || !is_bone(own, index, who))
        return;
    if (!values) {
        core_warn(who, "called with a NULL argument");
        return;
    }
    memcpy(numbers + 2, values, (size_t)count * sizeof *values);
    core_command(tag, command, numbers, 2 + count, NULL, 0);
}

static const double *bone_numbers(WbDeviceTag tag, int index, int first, double *to, int count, const char *who)
{
    assert_debug(index >= 0 && to);
    assert(first >= 0 && count > 0 && first + count <= BONE_NUMBERS);
    Record answer;
    if (!ask_skin(tag, SKIN_PLACES, &answer, who)
        || answer.byte_count < (int)((BONE_NUMBERS * ((size_t)index + 1)) * sizeof *to))
        return NULL;
    memcpy(to, answer.bytes + ((size_t)BONE_NUMBERS * (size_t)index + (size_t)first) * sizeof *to,
           (size_t)count * sizeof *to);
    return to;
}

void wb_skin_set_bone_orientation(WbDeviceTag tag, int index, const double orientation[4], bool absolute)
{
    set_bone(tag, SET_BONE_ORIENTATION, index, orientation, absolute, __func__);
}

void wb_skin_set_bone_position(WbDeviceTag tag, int index, const double position[3], bool absolute)
{
    set_bone(tag, SET_BONE_POSITION, index, position, absolute, __func__);
}

int wb_skin_get_bone_count(WbDeviceTag tag)
{
    const SkinOwn *own = skin_own(tag, __func__);
    return own ? own->bone_count : 0;
}

const char *wb_skin_get_bone_name(WbDeviceTag tag, int index)
{
    const SkinOwn *own = skin_own(tag, __func__);
    if (!own || !is_bone(own, index, __func__))
        return "";
    const char *name = own->names;
    assert(own->names && index < own->bone_count);
    while (index-- > 0)
        name += strlen(name) + 1;
    return name;
}

const double *wb_skin_get_bone_orientation(WbDeviceTag tag, int index, bool absolute)
{
    SkinOwn *own = skin_own(tag, __func__);
    return own && is_bone(own, index, __func__)
               ? bone_numbers(tag, index, absolute ? 3 : 10, own->orientation, 4, __func__)
               : NULL;
}

const double *wb_skin_get_bone_position(WbDeviceTag tag, int index, bool absolute)
{
    SkinOwn *own = skin_own(tag, __func__);
    return own && is_bone(own, index, __func__) ? bone_numbers(tag, index, absolute ? 0 : 7, own->position, 3, __func__)
                                                : NULL;
}
