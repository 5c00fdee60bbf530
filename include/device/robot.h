/* device/robot.h - the names that releases before 6 had. */
#ifndef DEVICE_ROBOT_H
#define DEVICE_ROBOT_H

#include <device/types.h>
#include <webots/robot.h>

#define robot_init wb_robot_init
#define robot_step wb_robot_step
#define robot_step_begin wb_robot_step_begin
#define robot_step_end wb_robot_step_end
#define robot_cleanup wb_robot_cleanup
#define robot_get_time wb_robot_get_time
#define robot_get_urdf wb_robot_get_urdf
#define robot_get_name wb_robot_get_name
#define robot_get_model wb_robot_get_model
#define robot_get_custom_data wb_robot_get_custom_data
#define robot_set_custom_data wb_robot_set_custom_data
#define robot_get_mode wb_robot_get_mode
#define robot_set_mode wb_robot_set_mode
#define robot_get_synchronization wb_robot_get_synchronization
#define robot_get_supervisor wb_robot_get_supervisor
#define robot_get_project_path wb_robot_get_project_path
#define robot_get_world_path wb_robot_get_world_path
#define robot_get_basic_time_step wb_robot_get_basic_time_step
#define robot_get_device wb_robot_get_device
#define robot_get_number_of_devices wb_robot_get_number_of_devices
#define robot_get_device_by_index wb_robot_get_device_by_index
#define robot_wait_for_user_input_event wb_robot_wait_for_user_input_event
#define robot_battery_sensor_enable wb_robot_battery_sensor_enable
#define robot_battery_sensor_disable wb_robot_battery_sensor_disable
#define robot_battery_sensor_get_sampling_period wb_robot_battery_sensor_get_sampling_period
#define robot_battery_sensor_get_value wb_robot_battery_sensor_get_value
#define robot_task_new wb_robot_task_new
#define robot_mutex_new wb_robot_mutex_new
#define robot_mutex_lock wb_robot_mutex_lock
#define robot_mutex_unlock wb_robot_mutex_unlock
#define robot_mutex_delete wb_robot_mutex_delete
#define robot_pin_to_static_environment wb_robot_pin_to_static_environment
#define robot_get_controller_name wb_robot_get_controller_name
#define robot_get_controller_arguments wb_robot_get_controller_arguments
#define robot_get_data wb_robot_get_data
#define robot_set_data wb_robot_set_data
#define robot_get_type wb_robot_get_type
#define robot_keyboard_enable wb_robot_keyboard_enable
#define robot_keyboard_disable wb_robot_keyboard_disable
#define robot_keyboard_get_key wb_robot_keyboard_get_key

/* A program of that time gives its functions away: robot_live() connects and takes the one that prepares, robot_die()
   the one that tidies up, and robot_run() calls the one that works, which returns how many milliseconds it wants to
   sleep. */
static void (*device_robot_reset)(void);
static void (*device_robot_die)(void);

static inline void robot_live(void (*reset)(void))
{
    device_robot_reset = reset;
    wb_robot_init();
    if (device_robot_reset)
        device_robot_reset();
}

static inline void robot_die(void (*die)(void)) { device_robot_die = die; }

static inline void robot_run(int (*run)(int ms))
{
    int ms = (int)wb_robot_get_basic_time_step();
    do
        ms = run(ms);
    while (ms > 0 && wb_robot_step(ms) != -1);
    if (device_robot_die)
        device_robot_die();
    wb_robot_cleanup();
}

#endif
