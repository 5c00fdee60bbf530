// What a person does at keys, mouse and joystick, as input.input has it.
#include <webots/joystick.h>
#include <webots/keyboard.h>
#include <webots/mouse.h>

#include "check.h"

static void step_to(double time)
{
    while (wb_robot_get_time() < time - 1e-9)
        wb_robot_step(32);
}

static void before_enabling(void)
{
    CHECK(wb_keyboard_get_sampling_period() == 0 && wb_keyboard_get_key() == -1 && wb_robot_keyboard_get_key() == 0);
    CHECK(wb_mouse_get_sampling_period() == 0 && isnan(wb_mouse_get_state().u) && isnan(wb_mouse_get_state().x));
    CHECK(wb_joystick_get_sampling_period() == 0 && !wb_joystick_is_connected() && !wb_joystick_get_model());
    CHECK(wb_joystick_get_number_of_axes() == -1 && wb_joystick_get_number_of_povs() == -1
          && wb_joystick_get_pressed_button() == -1);
}

static void keys(void)
{
    wb_keyboard_enable(32);
    CHECK(wb_keyboard_get_sampling_period() == 32);
    step_to(0.032);
    CHECK(wb_keyboard_get_key() == -1);
    step_to(0.064);
    CHECK(wb_keyboard_get_key() == WB_KEYBOARD_UP);
    CHECK(wb_keyboard_get_key() == WB_KEYBOARD_SHIFT + 'A');
    CHECK(wb_keyboard_get_key() == -1);  // each key once
    step_to(0.096);
    CHECK(wb_keyboard_get_key() == WB_KEYBOARD_UP);  // it is still down
    step_to(0.128);
    CHECK(wb_keyboard_get_key() == WB_KEYBOARD_SHIFT + 'A');
    CHECK(wb_keyboard_get_key() == -1);
    step_to(0.16);
    CHECK(wb_robot_keyboard_get_key() == 0);
    // A longer period sees a key only when it is due.
    wb_robot_keyboard_enable(64);
    step_to(0.224);
    CHECK(wb_robot_keyboard_get_key() == 'A');
    step_to(0.256);
    CHECK(wb_keyboard_get_key() == -1);
    wb_robot_keyboard_disable();
    CHECK(wb_keyboard_get_sampling_period() == 0);
    wb_keyboard_disable();
    wb_keyboard_enable(-1);
    CHECK(wb_keyboard_get_sampling_period() == 0);
}

static void pointer(void)
{
    wb_mouse_enable(32);
    CHECK(wb_mouse_get_sampling_period() == 32);
    CHECK(!wb_mouse_is_3d_position_enabled());
    step_to(0.32);
    WbMouseState state = wb_mouse_get_state();
    CHECK(state.right && !state.left && !state.middle && state.u == 0.25 && state.v == 0.75 && isnan(state.x));
    wb_mouse_enable_3d_position();
    CHECK(wb_mouse_is_3d_position_enabled());
    step_to(0.352);
    state = wb_mouse_get_state();
    CHECK(state.x == 1 && state.y == 2 && state.z == -3.5);
    wb_mouse_disable_3d_position();
    step_to(0.416);
    state = wb_mouse_get_state();
    CHECK(!state.right && isnan(state.u) && isnan(state.z));
    wb_mouse_disable();
    CHECK(wb_mouse_get_sampling_period() == 0);
}

static void stick(void)
{
    wb_joystick_enable(32);
    CHECK(wb_joystick_get_sampling_period() == 32);
    step_to(0.48);
    CHECK(!wb_joystick_is_connected());
    step_to(0.512);
    CHECK(wb_joystick_is_connected());
    CHECK_TEXT(wb_joystick_get_model(), "Two axes");
    CHECK(wb_joystick_get_number_of_axes() == 2 && wb_joystick_get_axis_value(0) == 0
          && wb_joystick_get_axis_value(1) == -32768);
    CHECK(wb_joystick_get_number_of_povs() == 1 && wb_joystick_get_pov_value(0) == 2);
    CHECK(wb_joystick_get_axis_value(-1) == 0 && wb_joystick_get_axis_value(2) == 0
          && wb_joystick_get_pov_value(99) == 0);
    CHECK(wb_joystick_get_pressed_button() == 0 && wb_joystick_get_pressed_button() == 3
          && wb_joystick_get_pressed_button() == -1);
    // Forces are for a hand that is not there.
    wb_joystick_set_constant_force(10);
    wb_joystick_set_constant_force_duration(0.1);
    wb_joystick_set_auto_centering_gain(0.5);
    wb_joystick_set_resistance_gain(0.5);
    wb_joystick_set_force_axis(1);
    step_to(0.704);
    CHECK(!wb_joystick_is_connected() && wb_joystick_get_number_of_axes() == -1);
    wb_joystick_disable();
    CHECK(wb_joystick_get_sampling_period() == 0);
}

// Waiting lets time pass until something happens or the time is over.
static void waiting(void)
{
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_KEYBOARD, 1000) == WB_EVENT_NO_EVENT);  // it is not enabled
    CHECK_NEAR(wb_robot_get_time(), 0.704, 1e-9);
    wb_keyboard_enable(1000);
    wb_mouse_enable(1000);
    wb_joystick_enable(1000);
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_KEYBOARD, 64) == WB_EVENT_NO_EVENT);
    CHECK_NEAR(wb_robot_get_time(), 0.768, 1e-9);
    // At 0.8 the mouse moves, which nobody waits for; at 0.9 a key goes down.
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_KEYBOARD, -1) == WB_EVENT_KEYBOARD);
    CHECK_NEAR(wb_robot_get_time(), 0.928, 1e-9);
    CHECK(wb_keyboard_get_key() == 'K' && wb_keyboard_get_key() == -1);
    // What went before is no event any more; the mouse is pressed at 1.0.
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_MOUSE_MOVE | WB_EVENT_MOUSE_CLICK, 500) == WB_EVENT_MOUSE_CLICK);
    CHECK_NEAR(wb_robot_get_time(), 1.024, 1e-9);
    CHECK(wb_mouse_get_state().left && wb_mouse_get_state().u == 0.5);
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_MOUSE_MOVE, 500) == WB_EVENT_MOUSE_MOVE);
    CHECK_NEAR(wb_robot_get_time(), 1.12, 1e-9);
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_JOYSTICK_BUTTON, 500) == WB_EVENT_JOYSTICK_BUTTON);
    CHECK(wb_joystick_get_pressed_button() == 5);
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_JOYSTICK_AXIS | WB_EVENT_JOYSTICK_POV, 500)
          == WB_EVENT_JOYSTICK_AXIS);
    CHECK(wb_joystick_get_axis_value(0) == 77);
    CHECK(wb_robot_wait_for_user_input_event(WB_EVENT_JOYSTICK_AXIS | WB_EVENT_JOYSTICK_POV, 500)
          == WB_EVENT_JOYSTICK_POV);
    CHECK(wb_joystick_get_pov_value(0) == 1);
    CHECK_NEAR(wb_robot_get_time(), 1.408, 1e-9);
}

int main(void)
{
    wb_robot_init();
    before_enabling();
    keys();
    pointer();
    stick();
    waiting();
    return check_done();
}
