// input.c - keyboard, mouse and joystick: what the simulator tells of them, refreshed at each device's own period.
#include "core.h"

#include <webots/joystick.h>
#include <webots/keyboard.h>
#include <webots/mouse.h>
#include <webots/robot.h>

#include <math.h>
#include <string.h>

enum { AXES = 16, POVS = 8, BUTTONS = 32 };

// When a device is read: nothing before its first period has passed.
typedef struct Sampling {
    int period;  // ms, 0: off
    double next;
} Sampling;

static struct {
    Sampling sampling;
    int keys[16];
    int count, next;
} keyboard;

static struct {
    Sampling sampling;
    bool has_3d;
    WbMouseState state;
} mouse;

static struct {
    Sampling sampling;
    bool is_connected;
    int axis_count, pov_count;
    int axes[AXES], povs[POVS];
    unsigned buttons;  // those that are pressed and not asked for yet
    char model[64];
} joystick;

static const WbMouseState no_mouse = { .u = NAN, .v = NAN, .x = NAN, .y = NAN, .z = NAN };

static void set_period(Sampling *sampling, int period, const char *who)
{
    if (period < 0) {
        core_warn(who, "the sampling period %d is negative", period);
        return;
    }
    *sampling = (Sampling){ period, core.time + period / 1000.0 };
}

static bool is_due(Sampling *sampling)
{
    if (sampling->period == 0 || core.time < sampling->next - 1e-9)
        return false;
    sampling->next = core.time + sampling->period / 1000.0;
    return true;
}

// ---- what the simulator tells ----

static void take_keys(const Record *record)
{
    if (!is_due(&keyboard.sampling))
        return;
    keyboard.count = record->int_count < COUNT_OF(keyboard.keys) ? record->int_count : COUNT_OF(keyboard.keys);
    if (keyboard.count)
        memcpy(keyboard.keys, record->ints, (size_t)keyboard.count * sizeof(int));
    keyboard.next = 0;
}

static void take_mouse(const Record *record)
{
    if (!is_due(&mouse.sampling) || record->int_count < 3 || record->double_count < 5)
        return;
    const double *d = record->doubles;
    mouse.state = (WbMouseState){ .left = record->ints[0] != 0, .middle = record->ints[1] != 0, .right = record->ints[2] != 0, .u = d[0], .v = d[1],
                                  .x = mouse.has_3d ? d[2] : NAN, .y = mouse.has_3d ? d[3] : NAN, .z = mouse.has_3d ? d[4] : NAN };
}

static void take_joystick(const Record *record)
{
    if (!is_due(&joystick.sampling) || record->int_count < 4)
        return;
    int axes = record->ints[1], povs = record->ints[2];
    if (axes < 0 || axes > AXES || povs < 0 || povs > POVS || record->int_count < 4 + axes + povs)
        return;
    joystick.is_connected = record->ints[0] != 0;
    joystick.axis_count = axes;
    joystick.pov_count = povs;
    joystick.buttons = (unsigned)record->ints[3];
    memcpy(joystick.axes, record->ints + 4, (size_t)axes * sizeof(int));
    memcpy(joystick.povs, record->ints + 4 + axes, (size_t)povs * sizeof(int));
    size_t length = (size_t)record->byte_count < sizeof joystick.model - 1 ? (size_t)record->byte_count : sizeof joystick.model - 1;
    memcpy(joystick.model, record->bytes, length);
    joystick.model[length] = '\0';
}

void input_take(const Record *record);
void input_take(const Record *record)
{
    if (record->op == OP_KEYS)
        take_keys(record);
    else if (record->op == OP_MOUSE)
        take_mouse(record);
    else
        take_joystick(record);
}

// ---- keyboard ----

void wb_keyboard_enable(int sampling_period)
{
    set_period(&keyboard.sampling, sampling_period, __func__);
    keyboard.count = 0;
}

void wb_keyboard_disable(void)
{
    wb_keyboard_enable(0);
}

int wb_keyboard_get_sampling_period(void)
{
    return keyboard.sampling.period;
}

int wb_keyboard_get_key(void)
{
    return keyboard.next < keyboard.count ? keyboard.keys[keyboard.next++] : -1;
}

void wb_robot_keyboard_enable(int sampling_period)
{
    wb_keyboard_enable(sampling_period);
}

void wb_robot_keyboard_disable(void)
{
    wb_keyboard_disable();
}

int wb_robot_keyboard_get_key(void)
{
    int key = wb_keyboard_get_key();
    return key < 0 ? 0 : key;  // old programs take 0 for none
}

// ---- mouse ----

void wb_mouse_enable(int sampling_period)
{
    set_period(&mouse.sampling, sampling_period, __func__);
    mouse.state = no_mouse;
}

void wb_mouse_disable(void)
{
    wb_mouse_enable(0);
}

int wb_mouse_get_sampling_period(void)
{
    return mouse.sampling.period;
}

void wb_mouse_enable_3d_position(void)
{
    mouse.has_3d = true;
}

void wb_mouse_disable_3d_position(void)
{
    mouse.has_3d = false;
}

bool wb_mouse_is_3d_position_enabled(void)
{
    return mouse.has_3d;
}

WbMouseState wb_mouse_get_state(void)
{
    return mouse.sampling.period ? mouse.state : no_mouse;
}

// ---- joystick ----

void wb_joystick_enable(int sampling_period)
{
    set_period(&joystick.sampling, sampling_period, __func__);
    joystick.is_connected = false;
    joystick.buttons = 0;
}

void wb_joystick_disable(void)
{
    wb_joystick_enable(0);
}

int wb_joystick_get_sampling_period(void)
{
    return joystick.sampling.period;
}

bool wb_joystick_is_connected(void)
{
    return joystick.is_connected;
}

const char *wb_joystick_get_model(void)
{
    return joystick.is_connected ? joystick.model : NULL;
}

int wb_joystick_get_number_of_axes(void)
{
    return joystick.is_connected ? joystick.axis_count : -1;
}

int wb_joystick_get_axis_value(int axis)
{
    return joystick.is_connected && axis >= 0 && axis < joystick.axis_count ? joystick.axes[axis] : 0;
}

int wb_joystick_get_number_of_povs(void)
{
    return joystick.is_connected ? joystick.pov_count : -1;
}

int wb_joystick_get_pov_value(int pov)
{
    return joystick.is_connected && pov >= 0 && pov < joystick.pov_count ? joystick.povs[pov] : 0;
}

// One pressed button per call, the lowest first.
int wb_joystick_get_pressed_button(void)
{
    for (int button = 0; joystick.is_connected && button < BUTTONS; button++)
        if (joystick.buttons & 1u << button) {
            joystick.buttons &= ~(1u << button);
            return button;
        }
    return -1;
}

// Nothing pushes back: these are for a person's hand.
void wb_joystick_set_constant_force(int level)
{
    (void)level;
}

void wb_joystick_set_constant_force_duration(double duration)
{
    (void)duration;
}

void wb_joystick_set_auto_centering_gain(double gain)
{
    (void)gain;
}

void wb_joystick_set_resistance_gain(double gain)
{
    (void)gain;
}

void wb_joystick_set_force_axis(int axis)
{
    (void)axis;
}

// Events come with simulated time, which does not pass while a program waits: there is never one to wait for.
WbUserInputEvent wb_robot_wait_for_user_input_event(WbUserInputEvent event_type, int timeout)
{
    (void)event_type, (void)timeout;
    return core.must_quit ? WB_EVENT_QUIT : WB_EVENT_NO_EVENT;
}
