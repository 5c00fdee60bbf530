// A robot that pins itself to the world hangs in the air, whatever pulls at it, until it lets go.
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>

#include "check.h"

static WbNodeRef self;

static void expect_still_at(double x, double y, double z)
{
    CHECK_VECTOR(wb_supervisor_node_get_position(self), x, y, z, 1e-3);
    const double *velocity = wb_supervisor_node_get_velocity(self);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(velocity[i], 0, 1e-3);
}

// From rest, with the implicit step of the engine: half a step is fallen more than the formula has.
static void expect_fall_from(double z, int steps)
{
    double time = steps * 0.008;
    check_steps(steps);
    CHECK_NEAR(wb_supervisor_node_get_position(self)[2], z - 9.81 / 2 * time * (time + 0.008), 2e-3);
}

int main(void)
{
    wb_robot_init();
    self = wb_supervisor_node_get_self();
    WbDeviceTag motor = wb_robot_get_device("motor"), sensor = wb_robot_get_device("sensor");
    wb_position_sensor_enable(sensor, 8);
    wb_robot_pin_to_static_environment(true);
    check_steps(50);
    expect_still_at(0, 0, 10);
    // Its limbs move and forces pull, but it stays.
    wb_motor_set_position(motor, 1);
    for (int i = 0; i < 50; i++) {
        wb_supervisor_node_add_force(self, (double[]){ 50, -20, 30 }, false);
        wb_robot_step(8);
    }
    check_steps(50);
    expect_still_at(0, 0, 10);
    CHECK_NEAR(wb_position_sensor_get_value(sensor), 1, 1e-2);
    wb_robot_pin_to_static_environment(true);  // twice is once
    check_steps(10);
    expect_still_at(0, 0, 10);
    // Moved by hand, it stays where it is put.
    wb_supervisor_field_set_sf_vec3f(wb_supervisor_node_get_field(self, "translation"), (double[]){ 1, 2, 20 });
    check_steps(50);
    expect_still_at(1, 2, 20);
    // Let go, it falls; caught in the fall, it hangs again.
    wb_robot_pin_to_static_environment(false);
    expect_fall_from(20, 50);
    wb_robot_pin_to_static_environment(true);
    check_steps(20);
    double caught = wb_supervisor_node_get_position(self)[2];
    check_steps(50);
    CHECK_NEAR(wb_supervisor_node_get_position(self)[2], caught, 1e-4);
    CHECK(caught > 18.5 && caught < 19.3);
    // The world at its start has nothing pinned.
    wb_supervisor_simulation_reset();
    check_steps(1);
    double start = wb_supervisor_node_get_position(self)[2];
    CHECK_NEAR(start, 10, 0.01);
    check_steps(50);
    CHECK(wb_supervisor_node_get_position(self)[2] < start - 0.7);
    return check_done();
}
