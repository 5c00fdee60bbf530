// Directional, point and spot lights by their formulas; colour filters; shadows of other solids, not of the robot
// itself.
#include "check.h"

#include <webots/light_sensor.h>
#include <webots/supervisor.h>

enum { UP, RED, SHADED, SLANTED, COARSE, FAR_OFF, SENSORS };
static WbDeviceTag tags[SENSORS];

static void turn(const char *def, bool is_on)
{
    wb_supervisor_field_set_sf_bool(wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), "on"), is_on);
}

static double at(int sensor) { return wb_light_sensor_get_value(tags[sensor]); }

static void move_cover(double x)
{
    wb_supervisor_field_set_sf_vec3f(
        wb_supervisor_node_get_field(wb_supervisor_node_get_from_def("COVER"), "translation"),
        (const double[3]){ x, 0, 1 });
    check_steps(1);
}

int main(void)
{
    static const char *const names[SENSORS] = { "up", "red", "shaded", "slanted", "coarse", "far" };
    wb_robot_init();
    for (int i = 0; i < SENSORS; i++) {
        tags[i] = wb_robot_get_device(names[i]);
        wb_light_sensor_enable(tags[i], 32);
    }
    check_steps(1);
    CHECK(at(UP) == 0);
    turn("SUN", true);
    check_steps(1);
    double mean = (1 + 0.5 + 0.25) / 3;
    CHECK_NEAR(at(UP), 2 * mean, 1e-9);
    CHECK_NEAR(at(RED), 2.0 / 3, 1e-9);
    CHECK_NEAR(at(SHADED), 2 * mean, 1e-9);
    CHECK_NEAR(at(SLANTED), 2 * mean * sin(1.0), 1e-9);
    CHECK_NEAR(at(COARSE), 1, 1e-9);
    move_cover(0);
    CHECK_NEAR(at(SHADED), 0, 1e-9);
    CHECK_NEAR(at(UP), 2 * mean, 1e-9);
    turn("SUN", false);
    turn("POINT", true);
    check_steps(1);
    CHECK_NEAR(at(UP), 8 / 4.0, 1e-9);
    CHECK_NEAR(at(SHADED), 0, 1e-9);
    CHECK_NEAR(at(FAR_OFF), 0, 1e-9);  // 2.6 m: beyond the light's radius
    move_cover(5);
    CHECK_NEAR(at(SHADED), 2, 1e-9);
    turn("POINT", false);
    turn("SPOT_LIGHT", true);
    check_steps(1);
    CHECK_NEAR(at(UP), (0.4 - 0.3) / (0.4 - 0.2), 1e-9);  // half way between beam and edge
    return check_done();
}
