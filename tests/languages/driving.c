// driving.c - a car is driven, in C: by speed, by throttle and gear, in a turn, by its brake. driving.cpp and
// driving.py do the same.
#include "behaviour.h"

#include <webots/robot.h>
#include <webots/vehicle/car.h>
#include <webots/vehicle/driver.h>

static void drive(const char *label, int steps)
{
    for (int i = 0; i < steps; i++)
        wbu_driver_step();
    SAY(label, wbu_driver_get_current_speed(), wbu_driver_get_steering_angle(), wbu_driver_get_throttle(),
        wbu_driver_get_brake_intensity(), wbu_driver_get_rpm(), wbu_driver_get_gear(),
        wbu_car_get_wheel_encoder(WBU_CAR_WHEEL_REAR_LEFT), wbu_car_get_wheel_speed(WBU_CAR_WHEEL_FRONT_RIGHT),
        wbu_car_get_left_steering_angle(), wbu_car_get_right_steering_angle(), wbu_car_get_brake_lights(),
        wbu_car_get_backwards_lights());
}

int main(void)
{
    wb_robot_init();
    wbu_driver_init();
    wbu_driver_set_cruising_speed(20);
    drive("cruising", 40);
    wbu_driver_set_steering_angle(0.2);
    wbu_driver_set_indicator(RIGHT);
    drive("turning", 30);
    wbu_driver_set_brake_intensity(0.6);
    drive("braking", 20);
    wbu_driver_set_brake_intensity(0);
    wbu_driver_set_throttle(0.4);
    wbu_driver_set_gear(1);
    drive("by throttle", 30);
    wbu_driver_set_gear(-1);
    drive("backwards", 20);
    SAY("done", 1);
    wbu_driver_cleanup();
    wb_robot_cleanup();
    return 0;
}
