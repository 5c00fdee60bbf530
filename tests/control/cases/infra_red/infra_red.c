// Infra-red sensors meet what is seen and weigh its red: 650 for a perfect mirror at 65 mm, more for less light.
#include "check.h"

#include <webots/distance_sensor.h>
#include <webots/supervisor.h>

static WbDeviceTag start(const char *name, int period)
{
    WbDeviceTag tag = wb_robot_get_device(name);
    wb_distance_sensor_enable(tag, period);
    CHECK(wb_distance_sensor_get_type(tag) == WB_DISTANCE_SENSOR_INFRA_RED);
    return tag;
}

int main(void)
{
    wb_robot_init();
    WbDeviceTag white = start("white", 32), green = start("green", 32), blind = start("blind", 32),
                own = start("own", 32);
    WbDeviceTag ahead = start("ahead", 32), wide = start("wide", 32), slow = start("slow", 96);
    CHECK(wb_distance_sensor_get_min_value(white) == 0 && wb_distance_sensor_get_max_value(white) == 2000);
    CHECK(wb_distance_sensor_get_lookup_table_size(white) == 2 && wb_distance_sensor_get_lookup_table(white)[3] == 0.2);
    CHECK(isnan(wb_distance_sensor_get_value(white)));
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(white), 812.5, 0.001);  // red 1, half rough
    CHECK_NEAR(wb_distance_sensor_get_value(green), 1172.2065,
               0.001);  // the image's red is 113 of 255; it hides the material
    CHECK_NEAR(wb_distance_sensor_get_value(blind), 650, 0.001);
    CHECK_NEAR(wb_distance_sensor_get_value(own), 100, 0.001);    // its own robot's box, 10 mm above
    CHECK_NEAR(wb_distance_sensor_get_value(ahead), 900, 0.001);  // no appearance: white
    // Both rays reach beyond the sensor's range, and a miss reflects all.
    CHECK_NEAR(wb_distance_sensor_get_value(wide), 2000, 0.001);
    CHECK(isnan(wb_distance_sensor_get_value(slow)));
    check_steps(2);
    CHECK_NEAR(wb_distance_sensor_get_value(slow), 900, 0.001);
    WbNodeRef target = wb_supervisor_node_get_from_def("TARGET");
    wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(target, "translation"),
                                     (const double[3]){ 1.9, 0, 0 });
    WbFieldRef color = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("WHITE"), "baseColor");
    wb_supervisor_field_set_sf_color(color, (const double[3]){ 0.729412, 0.741176, 0.713725 });
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(ahead), 800, 0.001);
    CHECK_NEAR(wb_distance_sensor_get_value(slow), 900, 0.001);  // not yet again
    CHECK_NEAR(wb_distance_sensor_get_value(white), 650 / (0.2 + 0.8 * 0.729412 * 0.75), 0.001);
    wb_distance_sensor_disable(ahead);
    wb_supervisor_node_remove(target);
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(ahead), 800, 0.001);  // switched off: as it was
    wb_distance_sensor_enable(ahead, 32);
    check_steps(1);
    CHECK_NEAR(wb_distance_sensor_get_value(ahead), 2000, 0.001);  // nothing there any more
    return check_done();
}
