/* robot.h - the robot: life cycle, time, devices, battery, tasks. */
#ifndef WEBOTS_ROBOT_H
#define WEBOTS_ROBOT_H

#include <webots/types.h>
#include <webots/nodes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { WB_MODE_SIMULATION = 0, WB_MODE_CROSS_COMPILATION, WB_MODE_REMOTE_CONTROL } WbRobotMode;
typedef enum {
    WB_EVENT_QUIT = -1,
    WB_EVENT_NO_EVENT = 0,
    WB_EVENT_MOUSE_CLICK = 1,
    WB_EVENT_MOUSE_MOVE = 2,
    WB_EVENT_KEYBOARD = 4,
    WB_EVENT_JOYSTICK_BUTTON = 8,
    WB_EVENT_JOYSTICK_AXIS = 16,
    WB_EVENT_JOYSTICK_POV = 32
} WbUserInputEvent;

int wb_robot_init(void);
int wb_robot_step(int duration);
int wb_robot_step_begin(int duration);
int wb_robot_step_end(void);
void wb_robot_cleanup(void);

double wb_robot_get_time(void);
const char *wb_robot_get_urdf(const char *prefix);
const char *wb_robot_get_name(void);
const char *wb_robot_get_model(void);
const char *wb_robot_get_custom_data(void);
void wb_robot_set_custom_data(const char *data);
WbRobotMode wb_robot_get_mode(void);
void wb_robot_set_mode(WbRobotMode mode, const char *arg);
bool wb_robot_get_synchronization(void);
bool wb_robot_get_supervisor(void);
const char *wb_robot_get_project_path(void);
const char *wb_robot_get_world_path(void);
double wb_robot_get_basic_time_step(void);
WbDeviceTag wb_robot_get_device(const char *name);

int wb_robot_get_number_of_devices(void);
WbDeviceTag wb_robot_get_device_by_index(int index);

WbUserInputEvent wb_robot_wait_for_user_input_event(WbUserInputEvent event_type, int timeout);

void wb_robot_battery_sensor_enable(int sampling_period);
void wb_robot_battery_sensor_disable(void);
int wb_robot_battery_sensor_get_sampling_period(void);
double wb_robot_battery_sensor_get_value(void);

void wb_robot_task_new(void (*task)(void *parameter), void *parameter);
WbMutexRef wb_robot_mutex_new(void);
void wb_robot_mutex_lock(WbMutexRef mutex);
void wb_robot_mutex_unlock(WbMutexRef mutex);
void wb_robot_mutex_delete(WbMutexRef mutex);

void wb_robot_pin_to_static_environment(bool pin);

/* names of older releases */
const char *wb_robot_get_controller_name(void);
const char *wb_robot_get_controller_arguments(void);
const char *wb_robot_get_data(void);
void wb_robot_set_data(const char *data);
WbNodeType wb_robot_get_type(void);
void wb_robot_keyboard_enable(int sampling_period);
void wb_robot_keyboard_disable(void);
int wb_robot_keyboard_get_key(void);
#define WB_ROBOT_KEYBOARD_END 312
#define WB_ROBOT_KEYBOARD_HOME 313
#define WB_ROBOT_KEYBOARD_LEFT 314
#define WB_ROBOT_KEYBOARD_UP 315
#define WB_ROBOT_KEYBOARD_RIGHT 316
#define WB_ROBOT_KEYBOARD_DOWN 317
#define WB_ROBOT_KEYBOARD_PAGEUP 366
#define WB_ROBOT_KEYBOARD_PAGEDOWN 367
#define WB_ROBOT_KEYBOARD_NUMPAD_HOME 375
#define WB_ROBOT_KEYBOARD_NUMPAD_LEFT 376
#define WB_ROBOT_KEYBOARD_NUMPAD_UP 377
#define WB_ROBOT_KEYBOARD_NUMPAD_RIGHT 378
#define WB_ROBOT_KEYBOARD_NUMPAD_DOWN 379
#define WB_ROBOT_KEYBOARD_NUMPAD_END 382
#define WB_ROBOT_KEYBOARD_KEY 0x0000ffff
#define WB_ROBOT_KEYBOARD_SHIFT 0x00010000
#define WB_ROBOT_KEYBOARD_CONTROL 0x00020000
#define WB_ROBOT_KEYBOARD_ALT 0x00040000

#ifdef __cplusplus
}
#endif

#endif
