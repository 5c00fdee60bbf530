#include "check.h"

#include <webots/gps.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag gps = wb_robot_get_device("gps"), rough = wb_robot_get_device("rough"),
                steps = wb_robot_get_device("steps");
    CHECK(isnan(wb_gps_get_values(gps)[0]));
    wb_gps_enable(gps, 32);
    wb_gps_enable(rough, 32);
    wb_gps_enable(steps, 32);
    CHECK(wb_gps_get_coordinate_system(gps) == WB_GPS_WGS84_COORDINATE);
    check_steps(1);
    CHECK_VECTOR(wb_gps_get_values(gps), 40.67, -73.94, 10, 0.1);
    CHECK_NEAR(wb_gps_get_speed_vector(steps)[0], 1.5, 0);
    check_steps(19);
    CHECK(wb_gps_get_speed(gps) > 0.005);
    // 1.024 m to the east: 84 536 m a degree at this latitude.
    CHECK_NEAR(wb_gps_get_values(gps)[1], -73.94 + 1.024 / 84536, 2e-8);
    CHECK_NEAR(wb_gps_get_values(gps)[0], 40.67,
               2e-7);  // the grid of the map is turned by 0.7 degrees against true north
    CHECK(wb_gps_get_values(rough)[0] != wb_gps_get_values(gps)[0]);
    const char *text = wb_gps_convert_to_degrees_minutes_seconds(-73.94),
               *other = wb_gps_convert_to_degrees_minutes_seconds(1.5);
    CHECK_TEXT(text, "-73\u00b0 -56\u2032 -23\u2033");
    CHECK_TEXT(other, "1\u00b0 30\u2032 0\u2033");
    free((void *)text);  // each is the caller's
    free((void *)other);
    return check_done();
}
