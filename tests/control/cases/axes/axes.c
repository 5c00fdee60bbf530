// What north, up and the angles are in worlds with y up, and when the supervisor turns the world's axes.
#include "check.h"

#include <webots/altimeter.h>
#include <webots/compass.h>
#include <webots/gps.h>
#include <webots/inertial_unit.h>
#include <webots/supervisor.h>

static const struct {
    double rotation[4], angles[3];
} poses[] = {
    { { 0, 1, 0, 0 }, { 0, 0, 0 } },
    { { 0, 1, 0, -1.5708 }, { 0, 0, -1.5708 } },
    { { 0, 1, 0, 1.5708 }, { 0, 0, 1.5708 } },
    { { 1, 0, 0, 1.5708 }, { 1.5708, 0, 0 } },
    { { 1, 0, 0, -1.5708 }, { -1.5708, 0, 0 } },
    { { 0, 0, 1, 0.7854 }, { 0, 0.7854, 0 } },
    { { 0, 0, 1, -0.7854 }, { 0, -0.7854, 0 } },
};

int main(void)
{
    wb_robot_init();
    WbDeviceTag compass = wb_robot_get_device("compass"), unit = wb_robot_get_device("inertial unit"),
                blind = wb_robot_get_device("no pitch");
    WbDeviceTag gps = wb_robot_get_device("gps"), altimeter = wb_robot_get_device("altimeter");
    WbFieldRef system = wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("INFO"), "coordinateSystem");
    wb_compass_enable(compass, 32);
    wb_inertial_unit_enable(unit, 32);
    wb_inertial_unit_enable(blind, 32);
    wb_gps_enable(gps, 32);
    wb_altimeter_enable(altimeter, 32);
    check_steps(1);
    CHECK_VECTOR(wb_compass_get_values(compass), 0.965926, 0, 0.258819, 1e-4);  // north is x, turned by 15 degrees
    CHECK(wb_compass_get_lookup_table_size(compass) == 2);
    CHECK(wb_gps_get_coordinate_system(gps) == WB_GPS_WGS84_COORDINATE);
    double latitude = wb_gps_get_values(gps)[0], longitude = wb_gps_get_values(gps)[1];
    CHECK(latitude > 0.008 && latitude < 0.01 && longitude > 0.004 && longitude < 0.005);
    CHECK_NEAR(wb_gps_get_values(gps)[2], 0, 1e-4);
    CHECK_NEAR(wb_altimeter_get_value(altimeter), 0, 1e-9);
    wb_supervisor_field_set_sf_string(system, "EUN");
    check_steps(3);
    CHECK_VECTOR(wb_compass_get_values(compass), -0.258819, 0, 0.965926, 1e-4);
    wb_supervisor_field_set_sf_string(system, "ENU");
    check_steps(1);
    CHECK_NEAR(wb_gps_get_values(gps)[2], 500, 1e-4);  // z is up now, x is east
    CHECK_NEAR(wb_altimeter_get_value(altimeter), 500, 1e-9);
    CHECK_NEAR(wb_gps_get_values(gps)[1], latitude, 0.001);
    CHECK_NEAR(wb_gps_get_values(gps)[0], 0, 1e-6);
    wb_supervisor_field_set_sf_string(system, "NUE");
    WbFieldRef field = wb_supervisor_node_get_field(wb_supervisor_node_get_self(), "rotation");
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
        wb_supervisor_field_set_sf_rotation(field, poses[i].rotation);
        check_steps(1);
        CHECK_VECTOR(wb_inertial_unit_get_roll_pitch_yaw(unit), poses[i].angles[0], poses[i].angles[1],
                     poses[i].angles[2], 1e-4);
        double half = 0.5 * poses[i].rotation[3];
        CHECK_VECTOR(wb_inertial_unit_get_quaternion(unit), sin(half) * poses[i].rotation[0],
                     sin(half) * poses[i].rotation[1], sin(half) * poses[i].rotation[2], 1e-9);
    }
    CHECK(isnan(wb_inertial_unit_get_roll_pitch_yaw(blind)[1])
          && !isnan(wb_inertial_unit_get_roll_pitch_yaw(blind)[2]));
    return check_done();
}
