// seen.c - a robot that says which keys are down, shows a label and a green screen, measures, turns its wheel and
// lights its lamp while A is down, says when its bumper is touched, and pauses the world at P.
#include <webots/camera.h>
#include <webots/display.h>
#include <webots/distance_sensor.h>
#include <webots/keyboard.h>
#include <webots/led.h>
#include <webots/lidar.h>
#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/supervisor.h>
#include <webots/touch_sensor.h>

#include <stdio.h>

int main(void)
{
    wb_robot_init();
    int step = (int)wb_robot_get_basic_time_step();
    WbDeviceTag wheel = wb_robot_get_device("wheel"), lamp = wb_robot_get_device("lamp");
    wb_motor_set_position(wheel, 1e9);
    wb_motor_set_velocity(wheel, 0.0);
    wb_keyboard_enable(step);
    wb_distance_sensor_enable(wb_robot_get_device("eye"), step);
    wb_lidar_enable(wb_robot_get_device("lidar"), step);
    WbDeviceTag screen = wb_robot_get_device("screen");
    wb_display_set_color(screen, 0x00ff00);
    wb_display_fill_rectangle(screen, 0, 0, 8, 4);
    WbDeviceTag bumper = wb_robot_get_device("bumper");
    wb_touch_sensor_enable(bumper, step);
    printf("started\n");
    fflush(stdout);
    int last = 0, steps = 0, touched = 0;
    while (wb_robot_step(step) != -1) {
        int key = wb_keyboard_get_key();
        wb_motor_set_velocity(wheel, key == 'A' ? 2.0 : 0.0);
        wb_led_set(lamp, key == 'A');
        if (key == 'P' && last != 'P')
            wb_supervisor_simulation_set_mode(WB_SUPERVISOR_SIMULATION_MODE_PAUSE);
        if (key != last)
            printf("key %d after %d steps\n", key, steps);
        int touch = wb_touch_sensor_get_value(bumper) > 0.5;
        if (touch != touched)
            printf("bumper %d after %d steps\n", touch, steps);
        touched = touch;
        fflush(stdout);
        last = key;
        if (steps++ == 2)
            wb_supervisor_set_label(7, "hello <b>world</b>", 0.1, 0.2, 0.1, 0xff8000, 0.5, "Arial");
    }
    wb_robot_cleanup();
    return 0;
}
