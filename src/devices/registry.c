// registry.c - the kinds of devices. A new one is a line here and a file of its own.
#include "devices/devices_internal.h"

const DeviceKind *const device_kinds[] = {
    &accelerometer_device, &gyro_device,          &compass_device,          &inertial_unit_device, &gps_device,
    &altimeter_device,     &rotational_motor_device, &linear_motor_device,  &position_sensor_device, &brake_device,
    &touch_sensor_device,  &distance_sensor_device, &light_sensor_device,   &emitter_device,       &receiver_device,
    &led_device,           &connector_device,     &vacuum_gripper_device,   &radar_device,         &pen_device,
    &display_device,       &camera_device,        &range_finder_device,     &lidar_device,         &speaker_device,
    &skin_device,          &microphone_device,    &radio_device,            &force_torque_sensor_device,
    &holder_device,        &conveyor_device,      &attachment_device,       &marker_device,        &digital_io_device,
    NULL,
};
