#include "check.h"

#include <webots/distance_sensor.h>
#include <webots/device.h>
#include <webots/keyboard.h>
#include <webots/led.h>
#include <webots/light_sensor.h>
#include <webots/motor.h>
#include <webots/pen.h>
#include <webots/position_sensor.h>
#include <webots/radar.h>
#include <webots/supervisor.h>

static void check_distance(void)
{
    static const char *const names[3] = { "generic", "sonar", "laser" };
    static const WbDistanceSensorType types[3] = { WB_DISTANCE_SENSOR_GENERIC, WB_DISTANCE_SENSOR_SONAR,
                                                   WB_DISTANCE_SENSOR_LASER };
    WbDeviceTag tags[3], slow = wb_robot_get_device("slow"), coarse = wb_robot_get_device("coarse");
    for (int i = 0; i < 3; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        CHECK(wb_distance_sensor_get_type(tags[i]) == types[i]);
        CHECK(wb_distance_sensor_get_max_value(tags[i]) == 2000 && wb_distance_sensor_get_min_value(tags[i]) == 0);
        CHECK(wb_distance_sensor_get_lookup_table_size(tags[i]) == 2
              && wb_distance_sensor_get_lookup_table(tags[i])[4] == 2000);
        wb_distance_sensor_enable(tags[i], 32);
    }
    CHECK_NEAR(wb_distance_sensor_get_aperture(tags[0]), 1.5708, 0.001);
    wb_distance_sensor_enable(slow, 96);
    wb_distance_sensor_enable(coarse, 32);
    check_steps(1);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(wb_distance_sensor_get_value(tags[i]), 900, 0.001);
    CHECK_NEAR(fmod(wb_distance_sensor_get_value(coarse), 15), 0, 1e-9);
    CHECK(isnan(wb_distance_sensor_get_value(slow)));
    check_steps(1);
    CHECK(isnan(wb_distance_sensor_get_value(slow)));
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(slow), 900, 0.001);
    wb_distance_sensor_disable(tags[1]);
    CHECK(wb_distance_sensor_get_sampling_period(tags[1]) == 0
          && wb_distance_sensor_get_sampling_period(tags[0]) == 32);
    wb_supervisor_field_set_sf_vec3f(
        wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("TARGET"), "translation"),
        (const double[3]){ 1.5, 0, 1 });
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(tags[0]), 1400, 0.001);
    CHECK_NEAR(wb_distance_sensor_get_value(tags[1]), 900, 0.001);  // switched off: as it was
    CHECK_NEAR(wb_distance_sensor_get_value(slow), 900, 0.001);     // not yet again
}

static void check_slider(void)
{
    WbDeviceTag motor = wb_robot_get_device("linear motor"), height = wb_robot_get_device("height");
    wb_position_sensor_enable(height, 32);
    wb_motor_enable_force_feedback(motor, 32);
    CHECK(wb_motor_get_type(motor) == WB_LINEAR && wb_motor_get_max_force(motor) == 100);
    CHECK(wb_motor_get_force_feedback_sampling_period(motor) == 32);
    wb_motor_set_available_force(motor, 50);
    CHECK(wb_motor_get_available_force(motor) == 50);
    wb_motor_set_control_p(motor, 5);
    wb_motor_enable_position(motor, 32);
    CHECK(wb_motor_get_position_sampling_period(motor) == 32);
    wb_motor_set_position(motor, 0.1);
    check_steps(40);
    CHECK_NEAR(wb_position_sensor_get_value(height), 0.1, 0.005);
    CHECK_NEAR(wb_motor_get_position(motor), 0.1, 0.005);
    CHECK_NEAR(fabs(wb_motor_get_force_feedback(motor)), 9.81, 0.2);
    wb_motor_set_force(motor, 9.81 + 1);  // one newton more than it weighs
    double before = wb_position_sensor_get_value(height);
    check_steps(10);
    CHECK_NEAR(wb_position_sensor_get_value(height) - before, 0.5 * 1 * 0.32 * 0.32, 0.02);
    wb_motor_disable_force_feedback(motor);
    wb_motor_disable_position(motor);
    CHECK(wb_motor_get_force_feedback_sampling_period(motor) == 0);
}

static void check_radar(void)
{
    WbDeviceTag radar = wb_robot_get_device("radar");
    CHECK(wb_radar_get_min_range(radar) == 0.1 && wb_radar_get_max_range(radar) == 5);
    CHECK(wb_radar_get_horizontal_fov(radar) == 1 && wb_radar_get_vertical_fov(radar) == 0.5);
    wb_radar_enable(radar, 32);
    WbNodeRef target = wb_supervisor_node_get_from_def("TARGET");
    check_steps(1);
    CHECK(wb_radar_get_number_of_targets(radar) == 1);
    // It reaches out of the view: its corners count where they are drawn onto the sides (the case "radar" has whole
    // targets).
    CHECK(wb_radar_get_targets(radar)[0].distance >= 1.4 && wb_radar_get_targets(radar)[0].distance < 5.0);
    wb_supervisor_node_set_velocity(target, (const double[6]){ -1.5, 0, 0, 0, 0, 0 });
    check_steps(1);
    CHECK_NEAR(wb_radar_get_targets(radar)[0].speed, -1.5, 0.001);  // it comes nearer
    CHECK_NEAR(wb_radar_get_targets(radar)[0].azimuth, 0, 1e-6);
    wb_radar_disable(radar);
    CHECK(wb_radar_get_sampling_period(radar) == 0);
}

int main(void)
{
    wb_robot_init();
    check_distance();
    check_slider();
    check_radar();
    WbDeviceTag light = wb_robot_get_device("light sensor"), led = wb_robot_get_device("led"),
                pen = wb_robot_get_device("pen");
    CHECK(wb_light_sensor_get_lookup_table_size(light) == 2 && wb_light_sensor_get_lookup_table(light)[4] == 1000);
    wb_light_sensor_enable(light, 32);
    check_steps(1);
    CHECK_NEAR(wb_light_sensor_get_value(light), 200, 1);  // 2 W/m2 from straight above
    wb_light_sensor_disable(light);
    CHECK(wb_light_sensor_get_sampling_period(light) == 0);
    wb_led_set(led, 2);
    CHECK(wb_led_get(led) == 2);
    wb_pen_write(pen, true);
    wb_pen_set_ink_color(pen, 0xff0000, 0.5);
    wb_keyboard_enable(32);
    check_steps(1);
    CHECK(wb_keyboard_get_key() == -1 && wb_keyboard_get_sampling_period() == 32);
    wb_keyboard_disable();
    wb_robot_keyboard_enable(32);
    CHECK(wb_robot_keyboard_get_key() == 0);
    wb_robot_keyboard_disable();
    CHECK(wb_device_get_type(led) == WB_NODE_LED);
    return check_done();
}
