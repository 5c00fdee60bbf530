// Reaches every device of a body by its name. The parcel is held from the first step on, so that it never falls.
#include <webots/accelerometer.h>
#include <webots/camera.h>
#include <webots/gyro.h>
#include <webots/inertial_unit.h>
#include <webots/led.h>
#include <webots/lidar.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/range_finder.h>
#include <webots/robot.h>
#include <webots/touch_sensor.h>
#include <webots/vacuum_gripper.h>

#include <math.h>
#include <stdio.h>

static int failures = 0;

static void near(const char *what, double value, double expected, double tolerance)
{
    if (fabs(value - expected) <= tolerance)
        return;
    printf("FAIL: %s is %g, not %g\n", what, value, expected);
    failures++;
}

int main(void)
{
    const double g = 9.80665;
    wb_robot_init();
    static const char *const names[] = { "base_acc",    "io",        "TABLE", "TABLE_sensor", "LIFT",
                                         "LIFT_sensor", "gyro",      "imu",   "imu_gyro",     "imu_accelerometer",
                                         "eye",         "eye_depth", "scan",  "force",        "hand",
                                         "eyelet" };
    WbDeviceTag tags[16];
    for (int i = 0; i < 16; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        near(names[i], tags[i] > 0, 1, 0);
    }
    enum {
        BASE_ACC,
        IO,
        TABLE,
        TABLE_SENSOR,
        LIFT,
        LIFT_SENSOR,
        GYRO,
        IMU,
        IMU_GYRO,
        IMU_ACC,
        EYE,
        EYE_DEPTH,
        SCAN,
        FORCE,
        HAND,
        EYELET
    };
    wb_accelerometer_enable(tags[BASE_ACC], 1);
    wb_gyro_enable(tags[GYRO], 1);
    wb_gyro_enable(tags[IMU_GYRO], 1);
    wb_inertial_unit_enable(tags[IMU], 1);
    wb_position_sensor_enable(tags[TABLE_SENSOR], 1);
    wb_position_sensor_enable(tags[LIFT_SENSOR], 1);
    wb_touch_sensor_enable(tags[FORCE], 1);
    wb_vacuum_gripper_enable_presence(tags[HAND], 1);
    near("width", wb_camera_get_width(tags[EYE]), 8, 0);
    near("depth width", wb_range_finder_get_width(tags[EYE_DEPTH]), 8, 0);
    near("rays", wb_lidar_get_horizontal_resolution(tags[SCAN]), 10, 0);
    near("type", wb_touch_sensor_get_type(tags[FORCE]), WB_TOUCH_SENSOR_FORCE3D, 0);
    WbDeviceTag all = wb_robot_get_device("all"), half = wb_robot_get_device("half");
    wb_lidar_enable(all, 1);
    wb_lidar_enable(half, 1);
    wb_vacuum_gripper_turn_on(tags[HAND]);
    wb_led_set(tags[IO], 5);
    wb_led_set(tags[EYELET], 1);
    wb_motor_set_position(tags[TABLE], INFINITY);
    wb_motor_set_velocity(tags[TABLE], 2.0);
    for (int i = 0; i < 1000; i++)
        wb_robot_step(1);
    near("base_acc y", wb_accelerometer_get_values(tags[BASE_ACC])[1], g, 1e-3);
    near("gyro y", wb_gyro_get_values(tags[GYRO])[1], 2.0, 1e-3);
    near("rated gyro z", wb_gyro_get_values(tags[IMU_GYRO])[2], 1.25, 1e-9);
    near("table", wb_position_sensor_get_value(tags[TABLE_SENSOR]), 2.0, 0.01);
    near("yaw", wb_inertial_unit_get_roll_pitch_yaw(tags[IMU])[2], wb_position_sensor_get_value(tags[TABLE_SENSOR]),
         1e-3);
    near("lift", wb_position_sensor_get_value(tags[LIFT_SENSOR]), 0.0, 1e-3);
    near("holds", wb_vacuum_gripper_get_presence(tags[HAND]), 1, 0);
    // The link pulls its parent down with its own weight and the parcel's; the sensor's y axis is up.
    const double *force = wb_touch_sensor_get_values(tags[FORCE]);
    near("force y", force[1], -3.0 * g, 0.05);
    near("force x", force[0], 0.0, 0.05);
    near("torque", fabs(force[3]) + fabs(force[4]) + fabs(force[5]), 0.0, 0.1);
    // A floor two metres below: the middle ray is straight, the first at 45 degrees.
    const float *ranges = wb_lidar_get_range_image(all), *some = wb_lidar_get_range_image(half);
    int seen = 0;
    near("rays of the floor", wb_lidar_get_horizontal_resolution(all), 181, 0);
    if (ranges && some) {
        near("middle ray", ranges[90], 2.0, 1e-3);
        near("first ray", ranges[0], 2.0 * sqrt(2.0), 0.02);
        for (int i = 0; i < 181; i++)
            seen += isfinite(some[i]) != 0;
    }
    near("half of the rays", seen, 90, 35);
    wb_vacuum_gripper_turn_off(tags[HAND]);
    for (int i = 0; i < 500; i++)
        wb_robot_step(1);
    near("lets go", wb_vacuum_gripper_get_presence(tags[HAND]), 0, 0);
    near("force y alone", wb_touch_sensor_get_values(tags[FORCE])[1], -2.0 * g, 0.05);
    printf(failures ? "FAIL\n" : "PASS\n");
    wb_robot_cleanup();
    return failures > 0;
}
