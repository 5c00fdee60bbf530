#include "check.h"

#include <webots/distance_sensor.h>
#include <webots/gps.h>

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    CHECK_TEXT(argv[1], "one");
    CHECK_TEXT(argv[2], "two words");
    wb_robot_init();
    CHECK_TEXT(wb_robot_get_name(), "a");
    CHECK_TEXT(wb_robot_get_model(), "M1");
    CHECK_TEXT(wb_robot_get_custom_data(), "start");
    CHECK(wb_robot_get_synchronization() && !wb_robot_get_supervisor() && wb_robot_get_mode() == WB_MODE_SIMULATION);
    CHECK_NEAR(wb_robot_get_basic_time_step(), 32, 0);
    CHECK_NEAR(wb_robot_get_time(), 0, 0);
    CHECK(strstr(wb_robot_get_world_path(), "worlds/steps.wbt") != NULL && strlen(wb_robot_get_project_path()) > 3);
    CHECK(wb_robot_get_device("nothing") == 0 && wb_robot_get_number_of_devices() == 2
          && wb_robot_get_device_by_index(2) == 0);
    WbDeviceTag gps = wb_robot_get_device("gps");
    wb_gps_enable(gps, 3 * 32);
    CHECK(wb_robot_step(0) == 0 && wb_robot_get_time() == 0);
    CHECK(wb_robot_step(32) == 0);
    CHECK_NEAR(wb_robot_get_time(), 0.032, 1e-12);
    CHECK(isnan(wb_gps_get_values(gps)[0]));
    CHECK(wb_robot_step(64) == 0);
    CHECK_NEAR(wb_robot_get_time(), 0.096, 1e-12);
    CHECK_NEAR(wb_gps_get_values(gps)[0], 0, 0);
    CHECK(wb_robot_step(50) == 0);  // no multiple: the next step boundary
    CHECK_NEAR(wb_robot_get_time(), 0.16, 1e-12);
    CHECK(wb_robot_step_begin(32) == 0);
    CHECK(wb_robot_step_end() == 0);
    CHECK_NEAR(wb_robot_get_time(), 0.192, 1e-12);
    // The supervisor wrote a sum for us.
    CHECK_TEXT(wb_robot_get_custom_data(), "3 + 4");
    wb_robot_set_custom_data("7");
    check_steps(4);
    return check_done();
}
