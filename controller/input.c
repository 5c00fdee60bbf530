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

// What the simulator told last, sampled or not, and what has changed since a program began to wait for it.
static struct {
    int keys[16];
    int key_count;
    bool mouse_buttons[3];
    double mouse_place[2];
    int joystick_buttons, axis_count, pov_count;
    int axes[AXES], povs[POVS];
    int awaited;  // WB_EVENT_* as bits; 0: nobody waits
    int happened;
} told = { .mouse_place = { NAN, NAN } };

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
    assert_debug(sampling->period >= 0);
    if (sampling->period == 0 || core.time < sampling->next - 1e-9)
        return false;
    sampling->next = core.time + sampling->period / 1000.0;
    return true;
}

// ---- what the simulator tells ----

// An event that is waited for is seen at once, whatever the sampling period.
static bool note_event(int event)
{
    told.happened |= event & told.awaited;
    return (event & told.awaited) != 0;
}

static bool note_numbers(int event, int *known, int *known_count, const int32_t *now, int count)
{
    assert_debug(count >= 0 && *known_count >= 0);
    assert(known && known_count && (now || count == 0));
    bool is_same = *known_count == count && (!count || !memcmp(known, now, (size_t)count * sizeof *known));
    *known_count = count;
    if (count)
        memcpy(known, now, (size_t)count * sizeof *known);
    return !is_same && note_event(event);
}

static bool note_mouse(const Record *record)
{
    assert(record->int_count >= 3 && record->double_count >= 2);
    bool is_pressed = false, has_moved = false;
    for (int i = 0; i < 3; i++) {
        is_pressed |= record->ints[i] && !told.mouse_buttons[i];
        told.mouse_buttons[i] = record->ints[i] != 0;
    }
    for (int i = 0; i < 2; i++) {
        double place = record->doubles[i];
        has_moved |= place != told.mouse_place[i] && !(isnan(place) && isnan(told.mouse_place[i]));
        told.mouse_place[i] = place;
    }
    return note_event((is_pressed ? WB_EVENT_MOUSE_CLICK : 0) | (has_moved ? WB_EVENT_MOUSE_MOVE : 0));
}

static bool note_joystick(const Record *record, int axes, int povs)
{
    assert(axes >= 0 && axes <= AXES && povs >= 0 && povs <= POVS && record->int_count >= 4 + axes + povs);
    bool is_seen = record->ints[3] != told.joystick_buttons && note_event(WB_EVENT_JOYSTICK_BUTTON);
    told.joystick_buttons = record->ints[3];
    is_seen |= note_numbers(WB_EVENT_JOYSTICK_AXIS, told.axes, &told.axis_count, record->ints + 4, axes);
    is_seen |= note_numbers(WB_EVENT_JOYSTICK_POV, told.povs, &told.pov_count, record->ints + 4 + axes, povs);
    return is_seen;
}

static void take_keys(const Record *record)
{
    int count = record->int_count < COUNT_OF(keyboard.keys) ? record->int_count : COUNT_OF(keyboard.keys);
    assert_debug(count >= 0 && count <= COUNT_OF(told.keys));
    bool is_awaited = note_numbers(WB_EVENT_KEYBOARD, told.keys, &told.key_count, record->ints, count);
    if (!is_due(&keyboard.sampling) && !is_awaited)
        return;
    keyboard.count = count;
    if (keyboard.count)
        memcpy(keyboard.keys, record->ints, (size_t)keyboard.count * sizeof(int));
    keyboard.next = 0;
}

static void take_mouse(const Record *record)
{
    if (record->int_count < 3 || record->double_count < 5)
        return;
    bool is_awaited = note_mouse(record);
    if (!is_due(&mouse.sampling) && !is_awaited)
        return;
    const double *d = record->doubles;
    mouse.state = (WbMouseState){ .left = record->ints[0] != 0,
                                  .middle = record->ints[1] != 0,
                                  .right = record->ints[2] != 0,
                                  .u = d[0],
                                  .v = d[1],
                                  .x = mouse.has_3d ? d[2] : NAN,
                                  .y = mouse.has_3d ? d[3] : NAN,
                                  .z = mouse.has_3d ? d[4] : NAN };
}

static void take_joystick(const Record *record)
{
    if (record->int_count < 4)
        return;
    int axes = record->ints[1], povs = record->ints[2];
    if (axes < 0 || axes > AXES || povs < 0 || povs > POVS || record->int_count < 4 + axes + povs)
        return;
    bool is_awaited = note_joystick(record, axes, povs);
    if (!is_due(&joystick.sampling) && !is_awaited)
        return;
    joystick.is_connected = record->ints[0] != 0;
    joystick.axis_count = axes;
    joystick.pov_count = povs;
    joystick.buttons = (unsigned)record->ints[3];
    memcpy(joystick.axes, record->ints + 4, (size_t)axes * sizeof(int));
    memcpy(joystick.povs, record->ints + 4 + axes, (size_t)povs * sizeof(int));
    size_t length = (size_t)record->byte_count < sizeof joystick.model - 1 ? (size_t)record->byte_count
                                                                           : sizeof joystick.model - 1;
    memcpy(joystick.model, record->bytes, length);
    joystick.model[length] = '\0';
}

void input_take(const Record *record)
{
    assert_debug(record->op == OP_KEYS || record->op == OP_MOUSE || record->op == OP_JOYSTICK);
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

void wb_keyboard_disable(void) { wb_keyboard_enable(0); }

int wb_keyboard_get_sampling_period(void) { return keyboard.sampling.period; }

int wb_keyboard_get_key(void) { return keyboard.next < keyboard.count ? keyboard.keys[keyboard.next++] : -1; }

void wb_robot_keyboard_enable(int sampling_period) { wb_keyboard_enable(sampling_period); }

void wb_robot_keyboard_disable(void) { wb_keyboard_disable(); }

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

void wb_mouse_disable(void) { wb_mouse_enable(0); }

int wb_mouse_get_sampling_period(void) { return mouse.sampling.period; }

void wb_mouse_enable_3d_position(void) { mouse.has_3d = true; }

void wb_mouse_disable_3d_position(void) { mouse.has_3d = false; }

bool wb_mouse_is_3d_position_enabled(void) { return mouse.has_3d; }

WbMouseState wb_mouse_get_state(void) { return mouse.sampling.period ? mouse.state : no_mouse; }

// ---- joystick ----

void wb_joystick_enable(int sampling_period)
{
    set_period(&joystick.sampling, sampling_period, __func__);
    joystick.is_connected = false;
    joystick.buttons = 0;
}

void wb_joystick_disable(void) { wb_joystick_enable(0); }

int wb_joystick_get_sampling_period(void) { return joystick.sampling.period; }

bool wb_joystick_is_connected(void) { return joystick.is_connected; }

const char *wb_joystick_get_model(void) { return joystick.is_connected ? joystick.model : NULL; }

int wb_joystick_get_number_of_axes(void) { return joystick.is_connected ? joystick.axis_count : -1; }

int wb_joystick_get_axis_value(int axis)
{
    return joystick.is_connected && axis >= 0 && axis < joystick.axis_count ? joystick.axes[axis] : 0;
}

int wb_joystick_get_number_of_povs(void) { return joystick.is_connected ? joystick.pov_count : -1; }

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
void wb_joystick_set_constant_force(int level) { (void)level; }

void wb_joystick_set_constant_force_duration(double duration) { (void)duration; }

void wb_joystick_set_auto_centering_gain(double gain) { (void)gain; }

void wb_joystick_set_resistance_gain(double gain) { (void)gain; }

void wb_joystick_set_force_axis(int axis) { (void)axis; }

// ---- waiting ----

// Events come with simulated time, so it passes while a program waits, and the timeout is counted in it.
WbUserInputEvent wb_robot_wait_for_user_input_event(WbUserInputEvent event_type, int timeout)
{
    static const struct {
        int events;
        const Sampling *sampling;
        const char *name;
    } devices[] = {
        { WB_EVENT_KEYBOARD, &keyboard.sampling, "keyboard" },
        { WB_EVENT_MOUSE_CLICK | WB_EVENT_MOUSE_MOVE, &mouse.sampling, "mouse" },
        { WB_EVENT_JOYSTICK_BUTTON | WB_EVENT_JOYSTICK_AXIS | WB_EVENT_JOYSTICK_POV, &joystick.sampling, "joystick" },
    };
    int awaited = 0;
    for (int i = 0; i < COUNT_OF(devices); i++) {
        if ((int)event_type & devices[i].events && !devices[i].sampling->period)
            core_warn(__func__, "the %s is not enabled", devices[i].name);
        else
            awaited |= (int)event_type & devices[i].events;
    }
    if (core.must_quit)
        return WB_EVENT_QUIT;
    if (!awaited)
        return WB_EVENT_NO_EVENT;
    double end = timeout >= 0 ? core.time + timeout / 1000.0 : INFINITY;
    told.awaited = awaited;
    told.happened = 0;
    int left = 0;
    while (!told.happened && core.time < end - 1e-9 && left >= 0)
        left = wb_robot_step((int)fmax(core.basic_time_step, 1.0));
    told.awaited = 0;
    if (left < 0 && !told.happened)
        return WB_EVENT_QUIT;
    return (WbUserInputEvent)(told.happened & -told.happened);  // one of those that came together
}
