#include "check.h"

#include <webots/compass.h>
#include <webots/gps.h>
#include <webots/inertial_unit.h>
#include <webots/supervisor.h>

// Rotations as axis and angle, and the roll, pitch and yaw they are.
static const struct {
    double rotation[4], angles[3];
} poses[] = {
    { { 0, 0, 1, 0 }, { 0, 0, 0 } },       { { 0, 0, 1, 0.5 }, { 0, 0, 0.5 } }, { { 1, 0, 0, 0.7 }, { 0.7, 0, 0 } },
    { { 0, 1, 0, -0.3 }, { 0, -0.3, 0 } }, { { 0, 0, 1, 2.5 }, { 0, 0, 2.5 } }, { { 1, 0, 0, -1.2 }, { -1.2, 0, 0 } },
    { { 0, 1, 0, 1.2 }, { 0, 1.2, 0 } },
};

int main(void)
{
    wb_robot_init();
    WbDeviceTag compass = wb_robot_get_device("compass"), unit = wb_robot_get_device("inertial unit"),
                gps = wb_robot_get_device("still");
    wb_compass_enable(compass, 32);
    wb_inertial_unit_enable(unit, 32);
    wb_gps_enable(gps, 32);
    check_steps(1);
    CHECK_VECTOR(wb_compass_get_values(compass), 0.258819, 0.965926, 0, 1e-4);
    CHECK(isnan(wb_gps_get_speed(gps)));
    WbFieldRef field = wb_supervisor_node_get_field(wb_supervisor_node_get_self(), "rotation");
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
        wb_supervisor_field_set_sf_rotation(field, poses[i].rotation);
        check_steps(1);
        const double *angles = wb_inertial_unit_get_roll_pitch_yaw(unit);
        CHECK_VECTOR(angles, poses[i].angles[0], poses[i].angles[1], poses[i].angles[2], 1e-4);
        const double *q = wb_inertial_unit_get_quaternion(unit);
        CHECK_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-12);
    }
    CHECK_NEAR(wb_gps_get_speed(gps), 0, 1e-12);
    return check_done();
}
