// What all sensors share: nothing before they are enabled, a period that holds, the last value kept after they are
// disabled, and wrong tags, types and periods refused. The robot falls, so values change.
#include <webots/accelerometer.h>
#include <webots/altimeter.h>
#include <webots/compass.h>
#include <webots/distance_sensor.h>
#include <webots/gps.h>
#include <webots/gyro.h>
#include <webots/inertial_unit.h>
#include <webots/led.h>
#include <webots/light_sensor.h>
#include <webots/radar.h>
#include <webots/receiver.h>
#include <webots/supervisor.h>
#include <webots/touch_sensor.h>

#include "check.h"

static double altitude(WbDeviceTag tag) { return wb_altimeter_get_value(tag); }

static double height(WbDeviceTag tag) { return wb_gps_get_values(tag)[2]; }

static double pull(WbDeviceTag tag) { return wb_accelerometer_get_values(tag)[2]; }

static double north(WbDeviceTag tag) { return wb_compass_get_values(tag)[1]; }

static double turning(WbDeviceTag tag) { return wb_gyro_get_values(tag)[2]; }

static double yaw(WbDeviceTag tag) { return wb_inertial_unit_get_roll_pitch_yaw(tag)[2]; }

static const struct {
    const char *name;
    void (*enable)(WbDeviceTag tag, int period);
    void (*disable)(WbDeviceTag tag);
    int (*period)(WbDeviceTag tag);
    double (*value)(WbDeviceTag tag);  // NULL: no number at hand
    bool moves;
} rows[] = {
    { "accelerometer", wb_accelerometer_enable, wb_accelerometer_disable, wb_accelerometer_get_sampling_period, pull,
      false },
    { "gyro", wb_gyro_enable, wb_gyro_disable, wb_gyro_get_sampling_period, turning, false },
    { "compass", wb_compass_enable, wb_compass_disable, wb_compass_get_sampling_period, north, false },
    { "altimeter", wb_altimeter_enable, wb_altimeter_disable, wb_altimeter_get_sampling_period, altitude, true },
    { "gps", wb_gps_enable, wb_gps_disable, wb_gps_get_sampling_period, height, true },
    { "inertial unit", wb_inertial_unit_enable, wb_inertial_unit_disable, wb_inertial_unit_get_sampling_period, yaw,
      false },
    { "light", wb_light_sensor_enable, wb_light_sensor_disable, wb_light_sensor_get_sampling_period,
      wb_light_sensor_get_value, false },
    { "distance", wb_distance_sensor_enable, wb_distance_sensor_disable, wb_distance_sensor_get_sampling_period,
      wb_distance_sensor_get_value, false },
    { "touch", wb_touch_sensor_enable, wb_touch_sensor_disable, wb_touch_sensor_get_sampling_period,
      wb_touch_sensor_get_value, false },
    { "radar", wb_radar_enable, wb_radar_disable, wb_radar_get_sampling_period, NULL, false },
    { "receiver", wb_receiver_enable, wb_receiver_disable, wb_receiver_get_sampling_period, NULL, false },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void check_row(int i, WbDeviceTag led)
{
    WbDeviceTag tag = wb_robot_get_device(rows[i].name);
    CHECK(tag && rows[i].period(tag) == 0);
    CHECK(!rows[i].value || isnan(rows[i].value(tag)));
    CHECK(rows[i].period(0) == 0 && rows[i].period(led) == 0 && rows[i].period(60000) == 0);
    rows[i].enable(0, 32);
    rows[i].enable(led, 32);
    rows[i].disable(led);
    rows[i].enable(tag, -5);
    CHECK(rows[i].period(tag) == 0);
    rows[i].enable(tag, 32);
    CHECK(rows[i].period(tag) == 32);
    check_steps(1);
    CHECK(!rows[i].value || isnan(rows[i].value(tag)));  // half a period is not enough
    check_steps(1);
    double first = rows[i].value ? rows[i].value(tag) : 0.0;
    CHECK(isfinite(first));
    check_steps(1);
    CHECK(!rows[i].value || rows[i].value(tag) == first);
    check_steps(1);
    double second = rows[i].value ? rows[i].value(tag) : 0.0;
    CHECK(!rows[i].moves || second < first);
    rows[i].disable(tag);
    CHECK(rows[i].period(tag) == 0);
    check_steps(3);
    CHECK(!rows[i].value || rows[i].value(tag) == second);  // as it was
    if (check_mistakes)
        printf("FAIL up to %s\n", rows[i].name);
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag led = wb_robot_get_device("led"), compass = wb_robot_get_device("compass"),
                unit = wb_robot_get_device("inertial unit");
    for (int i = 0; i < ROWS; i++)
        check_row(i, led);
    CHECK(wb_compass_get_lookup_table_size(compass) == 2 && wb_compass_get_lookup_table(compass)[4] == 2);
    CHECK(wb_accelerometer_get_lookup_table_size(led) == 0 && !wb_accelerometer_get_lookup_table(0));
    CHECK(wb_inertial_unit_get_noise(unit) == 0 && wb_inertial_unit_get_noise(wb_robot_get_device("noisy")) == 0.25);
    CHECK(wb_inertial_unit_get_lookup_table_size(unit) == 0 && !wb_inertial_unit_get_lookup_table(unit));
    CHECK_NEAR(wb_compass_get_values(compass)[1], 2, 1e-9);  // through its table
    // Asked of a receiver with an empty queue.
    WbDeviceTag receiver = wb_robot_get_device("receiver");
    CHECK(wb_receiver_get_queue_length(receiver) == 0 && !wb_receiver_get_data(receiver)
          && wb_receiver_get_data_size(receiver) == -1);
    CHECK(isnan(wb_receiver_get_signal_strength(receiver)));
    wb_receiver_next_packet(receiver);
    return check_done();
}
