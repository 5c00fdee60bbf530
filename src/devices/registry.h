// registry.h - the list of kinds of devices: X(name) stands for the DeviceKind name_device, which a file of this folder
// defines.
#ifndef TALUS_DEVICES_REGISTRY_H
#define TALUS_DEVICES_REGISTRY_H

// clang-format off
#define DEVICE_KINDS(X) \
    X(accelerometer) \
    X(gyro) \
    X(compass) \
    X(inertial_unit) \
    X(gps) \
    X(altimeter) \
    X(rotational_motor) \
    X(linear_motor) \
    X(position_sensor) \
    X(brake) \
    X(touch_sensor) \
    X(distance_sensor) \
    X(light_sensor) \
    X(emitter) \
    X(receiver) \
    X(led) \
    X(connector) \
    X(vacuum_gripper) \
    X(radar) \
    X(pen) \
    X(display) \
    X(camera) \
    X(range_finder) \
    X(lidar) \
    X(speaker) \
    X(skin) \
    X(microphone) \
    X(radio) \
    X(force_torque_sensor) \
    X(holder) \
    X(conveyor) \
    X(attachment) \
    X(marker) \
    X(digital_io)
// clang-format on

#endif
