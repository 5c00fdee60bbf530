// sensors.c - sensors that tell more than their readings; those that do not are made from api/webots.api.
#include "sensor.h"

#include <webots/connector.h>
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/inertial_unit.h>
#include <webots/microphone.h>
#include <webots/position_sensor.h>
#include <webots/radar.h>
#include <webots/receiver.h>
#include <webots/touch_sensor.h>
#include <webots/vacuum_gripper.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- distance sensors: type, aperture, lowest and highest value, table ----

SENSOR(wb_distance_sensor, WB_NODE_DISTANCE_SENSOR)
VALUE(wb_distance_sensor, WB_NODE_DISTANCE_SENSOR)
TABLE(wb_distance_sensor, WB_NODE_DISTANCE_SENSOR, 4)

WbDistanceSensorType wb_distance_sensor_get_type(WbDeviceTag tag)
{
    return (WbDistanceSensorType)core_constant(CORE_DEVICE(tag, WB_NODE_DISTANCE_SENSOR), 0);
}

double wb_distance_sensor_get_aperture(WbDeviceTag tag)
{
    return core_constant(CORE_DEVICE(tag, WB_NODE_DISTANCE_SENSOR), 1);
}

double wb_distance_sensor_get_min_value(WbDeviceTag tag)
{
    return core_constant(CORE_DEVICE(tag, WB_NODE_DISTANCE_SENSOR), 2);
}

double wb_distance_sensor_get_max_value(WbDeviceTag tag)
{
    return core_constant(CORE_DEVICE(tag, WB_NODE_DISTANCE_SENSOR), 3);
}

// ---- touch sensors: type, table ----

SENSOR(wb_touch_sensor, WB_NODE_TOUCH_SENSOR)
VALUE(wb_touch_sensor, WB_NODE_TOUCH_SENSOR)
VECTOR(wb_touch_sensor, WB_NODE_TOUCH_SENSOR)
TABLE(wb_touch_sensor, WB_NODE_TOUCH_SENSOR, 1)

WbTouchSensorType wb_touch_sensor_get_type(WbDeviceTag tag)
{
    return (WbTouchSensorType)core_constant(CORE_DEVICE(tag, WB_NODE_TOUCH_SENSOR), 0);
}

// ---- position sensors: is linear, tags of motor, sensor, brake ----

SENSOR(wb_position_sensor, WB_NODE_POSITION_SENSOR)
VALUE(wb_position_sensor, WB_NODE_POSITION_SENSOR)

WbJointType wb_position_sensor_get_type(WbDeviceTag tag)
{
    return (WbJointType)core_constant(CORE_DEVICE(tag, WB_NODE_POSITION_SENSOR), 0);
}

WbDeviceTag wb_position_sensor_get_motor(WbDeviceTag tag)
{
    return (WbDeviceTag)core_constant(CORE_DEVICE(tag, WB_NODE_POSITION_SENSOR), 1);
}

WbDeviceTag wb_position_sensor_get_brake(WbDeviceTag tag)
{
    return (WbDeviceTag)core_constant(CORE_DEVICE(tag, WB_NODE_POSITION_SENSOR), 3);
}

// ---- inertial units: x y z w, whether the world is NUE; noise, resolution, axes ----

SENSOR(wb_inertial_unit, WB_NODE_INERTIAL_UNIT)

static double rounded(double value, double resolution)
{
    return resolution > 0.0 ? resolution * round(value / resolution) : value;
}

const double *wb_inertial_unit_get_roll_pitch_yaw(WbDeviceTag tag)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_INERTIAL_UNIT);
    const double *q = core_reading(device, 0, NULL);
    if (!q)
        return sensor_vector(NULL);
    if (!device->own)
        device->own = malloc(3 * sizeof(double));
    double *angles = device->own, resolution = core_constant(device, 1);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    bool is_nue = q[4] != 0.0;
    if (is_nue) {  // yaw about y, then pitch about z, then roll
        angles[0] = atan2(2.0 * (w * x - y * z), 1.0 - 2.0 * (x * x + z * z));
        angles[1] = asin(fmin(fmax(2.0 * (x * y + w * z), -1.0), 1.0));
        angles[2] = atan2(2.0 * (w * y - x * z), 1.0 - 2.0 * (y * y + z * z));
    } else {  // yaw about z, then pitch about y, then roll
        angles[0] = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y));
        angles[1] = asin(fmin(fmax(2.0 * (w * y - x * z), -1.0), 1.0));
        angles[2] = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z));
    }
    static const int axes[2][3] = { { 0, 1, 2 }, { 0, 2, 1 } };  // of roll, pitch and yaw
    for (int i = 0; i < 3; i++)
        angles[i] = core_constant(device, 2 + axes[is_nue][i]) != 0.0 ? rounded(angles[i], resolution) : NAN;
    return angles;
}

const double *wb_inertial_unit_get_quaternion(WbDeviceTag tag)
{
    static const double none[4] = { NAN, NAN, NAN, NAN };
    const double *q = core_reading(CORE_DEVICE(tag, WB_NODE_INERTIAL_UNIT), 0, NULL);
    return q ? q : none;
}

double wb_inertial_unit_get_noise(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_INERTIAL_UNIT), 0); }

int wb_inertial_unit_get_lookup_table_size(WbDeviceTag tag)
{
    (void)CORE_DEVICE(tag, WB_NODE_INERTIAL_UNIT);
    return 0;
}

const double *wb_inertial_unit_get_lookup_table(WbDeviceTag tag)
{
    (void)CORE_DEVICE(tag, WB_NODE_INERTIAL_UNIT);
    return NULL;
}

// ---- GPS: position, speed, speed vector ----

SENSOR(wb_gps, WB_NODE_GPS)
VECTOR(wb_gps, WB_NODE_GPS)

double wb_gps_get_speed(WbDeviceTag tag)
{
    const double *reading = core_reading(CORE_DEVICE(tag, WB_NODE_GPS), 0, NULL);
    return reading ? reading[3] : NAN;
}

const double *wb_gps_get_speed_vector(WbDeviceTag tag)
{
    const double *reading = core_reading(CORE_DEVICE(tag, WB_NODE_GPS), 0, NULL);
    return reading ? reading + 4 : sensor_vector(NULL);
}

WbGpsCoordinateSystem wb_gps_get_coordinate_system(WbDeviceTag tag)
{
    return (WbGpsCoordinateSystem)core_constant(CORE_DEVICE(tag, WB_NODE_GPS), 0);
}

const char *wb_gps_convert_to_degrees_minutes_seconds(double decimal_degrees)
{
    enum { BYTES_MAX = 64 };
    char *text = malloc(BYTES_MAX);  // the caller's, who may free it
    int degrees = (int)decimal_degrees;
    double minutes = (decimal_degrees - degrees) * 60.0;
    int whole = (int)minutes;
    snprintf(text, BYTES_MAX, "%d° %d′ %d″", degrees, whole, (int)((minutes - whole) * 60.0));
    return text;
}

// ---- connectors and grippers ----

#define PRESENCE(prefix, type)                                                                                         \
    void prefix##_enable_presence(WbDeviceTag tag, int sampling_period)                                                \
    {                                                                                                                  \
        sensor_enable(CORE_DEVICE(tag, type), tag, sampling_period, __func__);                                         \
    }                                                                                                                  \
    void prefix##_disable_presence(WbDeviceTag tag) { sensor_enable(CORE_DEVICE(tag, type), tag, 0, __func__); }       \
    int prefix##_get_presence_sampling_period(WbDeviceTag tag)                                                         \
    {                                                                                                                  \
        const CoreDevice *device = CORE_DEVICE(tag, type);                                                             \
        return device ? device->channels[0].period : 0;                                                                \
    }

PRESENCE(wb_connector, WB_NODE_CONNECTOR)
PRESENCE(wb_vacuum_gripper, WB_NODE_VACUUM_GRIPPER)

static void set_constant(CoreDevice *device, int index, double value)
{
    assert(index >= 0);
    if (device && index < device->constant_count)
        device->constants[index] = value;
}

static void order(CoreDevice *device, WbDeviceTag tag, int command, bool is_on)
{
    if (!device)
        return;
    core_command(tag, command, NULL, 0, NULL, 0);
    set_constant(device, 0, is_on);
}

int wb_connector_get_presence(WbDeviceTag tag)
{
    double value = core_value(CORE_DEVICE(tag, WB_NODE_CONNECTOR), 0);
    return isnan(value) ? -1 : (int)value;
}

bool wb_connector_is_locked(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_CONNECTOR), 0) != 0.0; }

void wb_connector_lock(WbDeviceTag tag) { order(CORE_DEVICE(tag, WB_NODE_CONNECTOR), tag, 0, true); }

void wb_connector_unlock(WbDeviceTag tag) { order(CORE_DEVICE(tag, WB_NODE_CONNECTOR), tag, 1, false); }

bool wb_vacuum_gripper_get_presence(WbDeviceTag tag)
{
    return core_value(CORE_DEVICE(tag, WB_NODE_VACUUM_GRIPPER), 0) == 1.0;
}

bool wb_vacuum_gripper_is_on(WbDeviceTag tag)
{
    return core_constant(CORE_DEVICE(tag, WB_NODE_VACUUM_GRIPPER), 0) != 0.0;
}

void wb_vacuum_gripper_turn_on(WbDeviceTag tag) { order(CORE_DEVICE(tag, WB_NODE_VACUUM_GRIPPER), tag, 0, true); }

void wb_vacuum_gripper_turn_off(WbDeviceTag tag) { order(CORE_DEVICE(tag, WB_NODE_VACUUM_GRIPPER), tag, 1, false); }

// ---- radar: min and max range, fields of view; four numbers per target ----

SENSOR(wb_radar, WB_NODE_RADAR)

double wb_radar_get_min_range(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_RADAR), 0); }

double wb_radar_get_max_range(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_RADAR), 1); }

double wb_radar_get_horizontal_fov(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_RADAR), 2); }

double wb_radar_get_vertical_fov(WbDeviceTag tag) { return core_constant(CORE_DEVICE(tag, WB_NODE_RADAR), 3); }

int wb_radar_get_number_of_targets(WbDeviceTag tag)
{
    int count = 0;
    core_reading(CORE_DEVICE(tag, WB_NODE_RADAR), 0, &count);
    return count / 4;
}

const WbRadarTarget *wb_radar_get_targets(WbDeviceTag tag)
{
    static_assert(sizeof(WbRadarTarget) == 4 * sizeof(double), "a target is four numbers");
    int count = 0;
    const double *reading = core_reading(CORE_DEVICE(tag, WB_NODE_RADAR), 0, &count);
    return count ? (const WbRadarTarget *)(const void *)reading : NULL;
}

// ---- receivers ----

SENSOR(wb_receiver, WB_NODE_RECEIVER)

static CorePacket *first_packet(WbDeviceTag tag, const char *who)
{
    CoreDevice *device = core_device(tag, (const WbNodeType[]){ WB_NODE_RECEIVER, WB_NODE_NO_NODE }, who);
    if (device && !device->first)
        core_warn(who, "the queue of '%s' is empty", device->name);
    return device ? device->first : NULL;
}

int wb_receiver_get_queue_length(WbDeviceTag tag)
{
    const CoreDevice *device = CORE_DEVICE(tag, WB_NODE_RECEIVER);
    if (device && device->channels[0].period <= 0)
        core_warn(__func__, "the device '%s' is not enabled", device->name);
    return device ? device->packet_count : -1;
}

void wb_receiver_next_packet(WbDeviceTag tag)
{
    core_lock();
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_RECEIVER);
    CorePacket *packet = device ? device->first : NULL;
    if (packet) {
        assert_debug(device->last);
        assert_debug(device->packet_count > 0);
        device->first = packet->next;
        if (!device->first)
            device->last = NULL;
        device->packet_count--;
        free(packet->data);
        free(packet);
        core_add(&(Record){ .op = OP_NEXT_PACKET, .tag = tag, .int_count = 1, .ints = (int32_t[]){ 1 } });
    }
    core_unlock();
}

const void *wb_receiver_get_data(WbDeviceTag tag)
{
    const CorePacket *packet = first_packet(tag, __func__);
    return packet ? packet->data : NULL;
}

int wb_receiver_get_data_size(WbDeviceTag tag)
{
    const CorePacket *packet = first_packet(tag, __func__);
    return packet ? packet->size : -1;
}

double wb_receiver_get_signal_strength(WbDeviceTag tag)
{
    const CorePacket *packet = first_packet(tag, __func__);
    return packet ? packet->strength : NAN;
}

const double *wb_receiver_get_emitter_direction(WbDeviceTag tag)
{
    const CorePacket *packet = first_packet(tag, __func__);
    return packet ? packet->direction : NULL;
}

void wb_receiver_set_channel(WbDeviceTag tag, int channel)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_RECEIVER);
    if (!device)
        return;
    if (channel < -1) {
        core_warn(__func__, "the channel %d is not valid", channel);
        return;
    }
    core_command(tag, 0, (double[]){ channel }, 1, NULL, 0);
    set_constant(device, 0, channel);
}

int wb_receiver_get_channel(WbDeviceTag tag)
{
    const CoreDevice *device = CORE_DEVICE(tag, WB_NODE_RECEIVER);
    return device ? (int)core_constant(device, 0) : -1;
}

// ---- microphones ----

SENSOR(wb_microphone, WB_NODE_MICROPHONE)

static const CoreDevice *microphone_that_hears(WbDeviceTag tag, const char *who)
{
    const CoreDevice *device = core_device(tag, (const WbNodeType[]){ WB_NODE_MICROPHONE, WB_NODE_NO_NODE }, who);
    if (device && device->channels[0].period == 0)
        core_warn(who, "the device '%s' is not enabled", device->name);
    return device;
}

const void *wb_microphone_get_sample_data(WbDeviceTag tag)
{
    const CoreDevice *device = microphone_that_hears(tag, __func__);
    return device && core_value(device, 0) > 0.0 ? device->channels[0].bytes : NULL;
}

int wb_microphone_get_sample_size(WbDeviceTag tag)
{
    const CoreDevice *device = microphone_that_hears(tag, __func__);
    double samples = core_value(device, 0);  // NaN before the first reading
    return samples > 0.0 ? (int)samples * (int)sizeof(int16_t) : 0;
}
