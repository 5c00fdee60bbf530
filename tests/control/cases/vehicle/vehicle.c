// A car of the library, driven by the driver library: by speed, by brake, by torque, in a turn.
#include "check.h"

#include <webots/supervisor.h>
#include <webots/vehicle/car.h>
#include <webots/vehicle/driver.h>

static void drive(double seconds)
{
    for (double end = wb_robot_get_time() + seconds; wb_robot_get_time() < end && wbu_driver_step() != -1;)
        continue;
}

static void check_facts(void)
{
    CHECK(wbu_car_get_wheelbase() > 2.5 && wbu_car_get_wheelbase() < 3.5);
    CHECK(wbu_car_get_track_front() > 1.3 && wbu_car_get_track_rear() > 1.3);
    CHECK(wbu_car_get_front_wheel_radius() > 0.3 && wbu_car_get_rear_wheel_radius() > 0.3);
    CHECK(wbu_car_get_engine_type() == WBU_CAR_COMBUSTION_ENGINE);
    CHECK(wbu_car_get_type() == WBU_CAR_FOUR_BY_FOUR || wbu_car_get_type() == WBU_CAR_TRACTION
          || wbu_car_get_type() == WBU_CAR_PROPULSION);
    CHECK(wbu_driver_get_gear_number() >= 5 && wbu_driver_get_gear() == 0);
    CHECK(wbu_driver_get_control_mode() == SPEED);
}

static void check_lights(void)
{
    wbu_driver_set_dipped_beams(true);
    wbu_driver_set_antifog_lights(true);
    wbu_driver_set_indicator_warning(true);
    wbu_car_set_indicator_period(0.5);
    CHECK(wbu_driver_get_dipped_beams() && wbu_driver_get_antifog_lights() && wbu_driver_get_hazard_flashers());
    CHECK_NEAR(wbu_car_get_indicator_period(), 0.5, 0);
    wbu_driver_set_hazard_flashers(false);
    wbu_driver_set_indicator(RIGHT);
    CHECK(wbu_driver_get_indicator() == RIGHT);
    wbu_driver_set_wiper_mode(SLOW);
    CHECK(wbu_driver_get_wiper_mode() == SLOW && wbu_driver_get_wipers_mode() == SLOW);
    wbu_driver_set_wipers_mode(DOWN);
    wbu_car_enable_indicator_auto_disabling(true);
    wbu_driver_set_steering_angle(0.3);
    wbu_driver_set_steering_angle(0);
    CHECK(wbu_driver_get_indicator() == OFF);
}

int main(void)
{
    CHECK(wbu_driver_initialization_is_possible());
    wbu_driver_init();
    check_facts();
    check_lights();
    wbu_driver_set_cruising_speed(20);
    CHECK_NEAR(wbu_driver_get_target_cruising_speed(), 20, 0);
    drive(5);
    CHECK_NEAR(wbu_driver_get_current_speed(), 20, 1);
    WbNodeRef self = wb_supervisor_node_get_self();
    const double *velocity = wb_supervisor_node_get_velocity(self);
    CHECK_NEAR(3.6 * hypot(velocity[0], velocity[1]), 20, 1.5);
    CHECK_NEAR(wbu_car_get_wheel_speed(WBU_CAR_WHEEL_FRONT_LEFT) * wbu_car_get_front_wheel_radius() * 3.6, 20, 1.5);
    CHECK(wbu_car_get_wheel_encoder(WBU_CAR_WHEEL_REAR_LEFT) > 10);
    // A positive angle steers to the right: the car turns clockwise seen from above, the inner wheel turned further.
    wbu_driver_set_steering_angle(0.2);
    CHECK(wbu_car_get_right_steering_angle() > 0.2 && wbu_car_get_left_steering_angle() < 0.2);
    drive(2);
    CHECK(wb_supervisor_node_get_velocity(self)[5] < -0.1);
    wbu_driver_set_steering_angle(0);
    CHECK_NEAR(wbu_driver_get_steering_angle(), 0, 0);
    wbu_driver_set_brake_intensity(1);
    CHECK(wbu_driver_get_brake_intensity() == 1 && wbu_driver_get_brake() == 1 && wbu_car_get_brake_lights());
    drive(3);
    CHECK(fabs(wbu_driver_get_current_speed()) < 3);
    wbu_driver_set_brake(0);
    wbu_driver_set_gear(1);
    wbu_driver_set_throttle(0.6);
    CHECK(wbu_driver_get_control_mode() == TORQUE && wbu_driver_get_gear() == 1 && wbu_driver_get_throttle() == 0.6);
    drive(3);
    CHECK(wbu_driver_get_current_speed() > 5 && wbu_driver_get_rpm() >= 1000);
    CHECK(!wbu_car_get_backwards_lights());
    wbu_car_set_right_steering_angle(0.1);
    wbu_car_set_left_steering_angle(0.1);
    wbu_car_enable_limited_slip_differential(false);
    drive(0.1);
    printf("%s %s\n", check_mistakes ? "MISTAKES in" : "PASS", wb_robot_get_name());
    wbu_driver_cleanup();
    return check_mistakes;
}
