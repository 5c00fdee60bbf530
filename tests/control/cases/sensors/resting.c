#include "check.h"

#include <webots/accelerometer.h>
#include <webots/altimeter.h>
#include <webots/device.h>
#include <webots/gps.h>
#include <webots/gyro.h>
#include <webots/inertial_unit.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag accelerometer = wb_robot_get_device("accelerometer"), gyro = wb_robot_get_device("gyro"),
                gps = wb_robot_get_device("gps");
    WbDeviceTag altimeter = wb_robot_get_device("altimeter");
    CHECK(wb_accelerometer_get_lookup_table_size(accelerometer) == 2);
    CHECK_NEAR(wb_accelerometer_get_lookup_table(accelerometer)[3], 100, 0);
    CHECK(wb_gyro_get_lookup_table_size(gyro) == 2 && wb_gyro_get_lookup_table(gyro)[0] == -100);
    CHECK(isnan(wb_gps_get_values(gps)[0]) && isnan(wb_gps_get_speed(gps)) && isnan(wb_altimeter_get_value(altimeter)));
    wb_accelerometer_enable(accelerometer, 32);
    wb_gyro_enable(gyro, 32);
    wb_gps_enable(gps, 32);
    wb_altimeter_enable(altimeter, 32);
    CHECK(isnan(wb_gps_get_values(gps)[0]) && isnan(wb_altimeter_get_value(altimeter)));
    CHECK(wb_gps_get_coordinate_system(gps) == WB_GPS_LOCAL_COORDINATE);
    check_steps(1);
    CHECK_VECTOR(wb_accelerometer_get_values(accelerometer), 0, 0, 9.81, 0.5);
    for (int i = 0; i < 10; i++) {
        check_steps(1);
        CHECK_VECTOR(wb_gps_get_values(gps), 0.2, -0.35, 0.05, 1e-3);
        CHECK_NEAR(wb_altimeter_get_value(altimeter), 0.05, 1e-3);
    }
    CHECK_VECTOR(wb_accelerometer_get_values(accelerometer), 0, 0, 9.81, 0.01);
    CHECK_VECTOR(wb_gyro_get_values(gyro), 0, 0, 0, 1e-2);
    CHECK_NEAR(wb_gps_get_speed(gps), 0, 1e-3);
    CHECK_TEXT(wb_gps_convert_to_degrees_minutes_seconds(-73.94), "-73\u00b0 -56\u2032 -23\u2033");
    return check_done();
}
