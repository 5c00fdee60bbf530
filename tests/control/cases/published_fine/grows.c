// physics/runtime_geom_update: static shapes grow after two steps; rays meet them in the next one, what falls is held.
#include "check.h"

#include <webots/distance_sensor.h>
#include <webots/supervisor.h>

enum { SHAPES = 5 };

static WbFieldRef field(const char *def, const char *name)
{
    return wb_supervisor_node_get_field(wb_supervisor_node_get_from_def(def), name);
}

static void grow(void)
{
    wb_supervisor_field_set_sf_vec3f(field("BOX", "size"), (const double[3]){ 1, 0.1, 0.1 });
    wb_supervisor_field_set_sf_float(field("CYLINDER", "radius"), 0.5);
    wb_supervisor_field_set_sf_float(field("SPHERE", "radius"), 0.35);
    wb_supervisor_field_set_sf_float(field("CAPSULE", "height"), 1.5);
    for (int i = 0; i < 8; i++) {
        const double *corner = wb_supervisor_field_get_mf_vec3f(field("CORNERS", "point"), i);
        if (corner[0] > 0)
            wb_supervisor_field_set_mf_vec3f(field("CORNERS", "point"), i,
                                             (const double[3]){ 1, corner[1], corner[2] });
    }
}

int main(void)
{
    WbDeviceTag sensors[SHAPES];
    char name[16];
    wb_robot_init();
    for (int i = 0; i < SHAPES; i++) {
        snprintf(name, sizeof name, "sensor %d", i);
        sensors[i] = wb_robot_get_device(name);
        wb_distance_sensor_enable(sensors[i], 8);
    }
    check_steps(2);
    for (int i = 0; i < SHAPES; i++)
        CHECK_NEAR(wb_distance_sensor_get_value(sensors[i]), 1000, 0);
    grow();
    check_steps(1);
    for (int i = 0; i < SHAPES; i++)
        CHECK_NEAR(wb_distance_sensor_get_value(sensors[i]), 300, 0.1);
    check_steps(122);
    for (int i = 0; i < SHAPES; i++) {
        snprintf(name, sizeof name, "FALLING_%d", i);
        CHECK(wb_supervisor_node_get_position(wb_supervisor_node_get_from_def(name))[1] > 0.5);
    }
    return check_done();
}
