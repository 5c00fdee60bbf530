// input.c - files of key and mouse input, read line by line and played at their times.
#include "control/input.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/text.h"

#include <webots/keyboard.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum EventKind {
    EVENT_KEY,
    EVENT_MOUSE_BUTTON,
    EVENT_MOUSE_MOVE,
    EVENT_JOYSTICK,
    EVENT_AXIS,
    EVENT_POV,
    EVENT_BUTTON
} EventKind;

typedef struct Event {
    double time;
    EventKind kind;
    int which, value;  // key, button, axis or POV, and what it is now; of a joystick its axes and POVs, -1: gone
    double place[5];
    char *model;
} Event;

struct Input {
    Event *events;
    int count, capacity;
    int done;  // events that the state has seen
    InputState state;
    bool has_mouse, has_joystick;
    bool is_live;  // without events: the state is changed by hand
};

// ---- words of a line ----

typedef struct Line {
    const char *at, *end;
    const char *start;
    const char *word;  // the one read last
    size_t length;
    uint32_t number;
    uint16_t file;
    DiagSink *diags;
    bool is_good;
} Line;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void mistake(Line *line, const char *wanted)
{
    assert_debug(line->word >= line->start && line->word + line->length <= line->end);
    size_t column = (size_t)(line->word - line->start) + 1;
    SourcePos pos = { line->file, (uint16_t)(column < 65535 ? column : 65535), line->number };
    if (line->is_good && line->length)
        diag_error(line->diags, pos, "%s wanted, found '%.*s'", wanted, (int)(line->length < 40 ? line->length : 40),
                   line->word);
    else if (line->is_good)
        diag_error(line->diags, pos, "%s wanted, the line ends", wanted);
    line->is_good = false;
}

// The next word; of length 0 at the end of the line. Quotes hold one together, and do not belong to it.
static void next_word(Line *line)
{
    assert_debug(line->at <= line->end);
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    bool is_quoted = line->at < line->end && *line->at == '"';
    line->at += is_quoted;
    line->word = line->at;
    while (line->at < line->end && (is_quoted ? *line->at != '"' : !is_blank(*line->at)))
        line->at++;
    line->length = (size_t)(line->at - line->word);
    line->at += is_quoted && line->at < line->end;
}

static bool is_word(const Line *line, const char *text)
{
    return line->length == strlen(text) && !memcmp(line->word, text, line->length);
}

// The place of the next word among these; -1 and a message naming what is wanted.
static int next_of(Line *line, const char *const *words, int count, const char *wanted)
{
    assert_debug(words && count > 0);
    next_word(line);
    for (int i = 0; i < count; i++)
        if (is_word(line, words[i]))
            return i;
    mistake(line, wanted);
    return -1;
}

static double next_double(Line *line, const char *wanted)
{
    double value = 0.0;
    next_word(line);
    if (text_scan_double(line->word, line->word + line->length, &value) != line->word + line->length
        || !isfinite(value))
        mistake(line, wanted);
    return value;
}

static int next_int(Line *line, int low, int high, const char *wanted)
{
    assert_debug(low <= high);
    int64_t value = 0;
    next_word(line);
    if (text_scan_int(line->word, line->word + line->length, &value) != line->word + line->length || value < low
        || value > high)
        mistake(line, wanted);
    return (int)(value < low ? low : value > high ? high : value);
}

static int next_switch(Line *line)
{
    static const char *const words[] = { "up", "down" };
    return next_of(line, words, COUNT_OF(words), "'down' or 'up'");
}

// ---- events ----

// Names are those of Webots' WB_KEYBOARD constants; a single character stands for itself, letters as capitals, and
// code:N for any other key.
static int key_code(const char *word, size_t length)
{
    static const struct {
        const char *name;
        int code;
    } names[] = {
        { "END", WB_KEYBOARD_END },
        { "HOME", WB_KEYBOARD_HOME },
        { "LEFT", WB_KEYBOARD_LEFT },
        { "UP", WB_KEYBOARD_UP },
        { "RIGHT", WB_KEYBOARD_RIGHT },
        { "DOWN", WB_KEYBOARD_DOWN },
        { "PAGEUP", WB_KEYBOARD_PAGEUP },
        { "PAGEDOWN", WB_KEYBOARD_PAGEDOWN },
        { "NUMPAD_HOME", WB_KEYBOARD_NUMPAD_HOME },
        { "NUMPAD_LEFT", WB_KEYBOARD_NUMPAD_LEFT },
        { "NUMPAD_UP", WB_KEYBOARD_NUMPAD_UP },
        { "NUMPAD_RIGHT", WB_KEYBOARD_NUMPAD_RIGHT },
        { "NUMPAD_DOWN", WB_KEYBOARD_NUMPAD_DOWN },
        { "NUMPAD_END", WB_KEYBOARD_NUMPAD_END },
        { "SPACE", ' ' },
        { "TAB", 1 },
        { "BACKSPACE", 3 },
        { "ENTER", 4 },
    };
    for (int i = 0; i < COUNT_OF(names); i++)
        if (length == strlen(names[i].name) && !memcmp(word, names[i].name, length))
            return names[i].code;
    if (length == 1 && *word > ' ' && *word < 127)
        return *word >= 'a' && *word <= 'z' ? *word - 'a' + 'A' : *word;
    int64_t code;
    if (length > 5 && !memcmp(word, "code:", 5) && text_scan_int(word + 5, word + length, &code) == word + length
        && code > 0 && code < 0xffff)
        return (int)code;
    return -1;
}

static void read_key(Line *line, Event *event)
{
    static const struct {
        const char *prefix;
        int mask;
    } modifiers[] = {
        { "SHIFT+", WB_KEYBOARD_SHIFT },
        { "CONTROL+", WB_KEYBOARD_CONTROL },
        { "ALT+", WB_KEYBOARD_ALT },
    };
    event->kind = EVENT_KEY;
    event->value = next_switch(line);
    next_word(line);
    const char *word = line->word;
    size_t length = line->length;
    int mask = 0;
    for (int i = 0; i < COUNT_OF(modifiers); i++) {
        size_t prefix = strlen(modifiers[i].prefix);
        if (length <= prefix || memcmp(word, modifiers[i].prefix, prefix))
            continue;
        mask |= modifiers[i].mask;
        word += prefix;
        length -= prefix;
        i = -1;  // they come in any order
    }
    int code = key_code(word, length);
    if (code < 0)
        mistake(line, "a key (A, 1, UP, SHIFT+A, code:65...)");
    event->which = code | mask;
}

static void read_mouse(Line *line, Event *event)
{
    static const char *const verbs[] = { "button", "move", "leave" }, *const buttons[] = { "left", "middle", "right" };
    int verb = next_of(line, verbs, COUNT_OF(verbs), "'button', 'move' or 'leave'");
    event->kind = verb == 0 ? EVENT_MOUSE_BUTTON : EVENT_MOUSE_MOVE;
    for (int i = 0; i < 5; i++)
        event->place[i] = NAN;
    if (verb == 0) {
        event->which = next_of(line, buttons, COUNT_OF(buttons), "'left', 'middle' or 'right'");
        event->value = next_switch(line);
    } else if (verb == 1) {
        for (int i = 0; i < 2; i++) {
            event->place[i] = next_double(line, "a place in the window, 0 to 1");
            if (event->place[i] < 0.0 || event->place[i] > 1.0)
                mistake(line, "a place in the window, 0 to 1");
        }
        const char *back = line->at;
        next_word(line);
        line->at = back;
        for (int i = 2; i < 5 && line->length; i++)
            event->place[i] = next_double(line, "x, y and z in the world");
    }
}

static void read_joystick(Line *line, Event *event)
{
    static const char *const verbs[] = { "connect", "disconnect", "axis", "pov", "button" };
    int verb = next_of(line, verbs, COUNT_OF(verbs), "'connect', 'disconnect', 'axis', 'pov' or 'button'");
    event->kind = EVENT_JOYSTICK;
    event->which = -1;
    if (verb == 0) {
        event->which = next_int(line, 0, INPUT_AXES, "the number of axes, at most 16,");
        event->value = next_int(line, 0, INPUT_POVS, "the number of POVs, at most 8,");
        next_word(line);
        event->model = memory_text(line->word, line->length < 63 ? line->length : 63);
    } else if (verb == 2 || verb == 3) {
        event->kind = verb == 2 ? EVENT_AXIS : EVENT_POV;
        event->which = next_int(line, 0, (verb == 2 ? INPUT_AXES : INPUT_POVS) - 1,
                                verb == 2 ? "an axis, 0 to 15," : "a POV, 0 to 7,");
        event->value = next_int(line, -32768, 32767, "a value from -32768 to 32767");
    } else if (verb == 4) {
        event->kind = EVENT_BUTTON;
        event->which = next_int(line, 0, INPUT_BUTTONS - 1, "a button, 0 to 31,");
        event->value = next_switch(line);
    }
}

// Times may not go back, so that a run is one pass over the events.
static void read_line(Input *input, Line *line)
{
    static const char *const devices[] = { "key", "mouse", "joystick" };
    next_word(line);
    if (!line->length || *line->word == '#')
        return;
    line->at = line->start;
    Event event = { .time = next_double(line, "a time in seconds") };
    if (line->is_good && (event.time < 0.0 || (input->count && event.time < input->events[input->count - 1].time)))
        mistake(line, "a time that is not before the one above");
    int device = line->is_good ? next_of(line, devices, COUNT_OF(devices), "'key', 'mouse' or 'joystick'") : -1;
    if (device == 0)
        read_key(line, &event);
    else if (device == 1)
        read_mouse(line, &event);
    else if (device == 2)
        read_joystick(line, &event);
    if (line->is_good) {
        next_word(line);
        if (line->length && *line->word != '#')
            mistake(line, "the end of the line");
    }
    if (!line->is_good) {
        free(event.model);
        return;
    }
    input->has_mouse |= device == 1;
    input->has_joystick |= device == 2;
    *memory_push(input->events, input->count, input->capacity) = event;
}

static void start(Input *input)
{
    input->done = 0;
    input->state = (InputState){ .mouse = { NAN, NAN, NAN, NAN, NAN } };
}

Input *input_parse(const char *name, const char *text, size_t size, DiagSink *diags)
{
    assert_debug(name && (text || size == 0));
    enum { MISTAKES_MAX = 100 };
    Input *input = memory_alloc(sizeof *input);
    uint16_t file = diag_file(diags, name);
    const char *end = text + size;
    uint32_t number = 0;
    int mistakes = 0;
    for (const char *at = text; at < end && mistakes < MISTAKES_MAX;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        Line line = { at, stop, at, at, 0, ++number, file, diags, true };
        read_line(input, &line);
        mistakes += !line.is_good;
        at = stop + 1;
    }
    start(input);
    if (mistakes == 0)
        return input;
    input_destroy(input);
    return NULL;
}

Input *input_read(const char *path, DiagSink *diags)
{
    FileData file;
    if (!file_read(path, (size_t)limits_default.file_bytes, &file, diags, (SourcePos){ 0 }))
        return NULL;
    Input *input = input_parse(path, file.data, file.size, diags);
    file_release(&file);
    return input;
}

void input_destroy(Input *input)
{
    if (!input)
        return;
    for (int i = 0; i < input->count; i++)
        free(input->events[i].model);
    free(input->events);
    free(input);
}

Input *input_create_live(void)
{
    Input *input = memory_alloc(sizeof *input);
    start(input);
    input->is_live = true;
    return input;
}

InputState *input_live(Input *input) { return input->is_live ? &input->state : NULL; }

void input_live_has(Input *input, bool mouse, bool joystick)
{
    assert(input->is_live);
    input->has_mouse |= mouse;
    input->has_joystick |= joystick;
}

bool input_has_mouse(const Input *input) { return input->has_mouse; }

bool input_has_joystick(const Input *input) { return input->has_joystick; }

// ---- what they do ----

static void press(InputState *state, int key, bool is_down)
{
    assert_debug(state->key_count >= 0 && state->key_count <= INPUT_KEYS);
    int place = 0;
    while (place < state->key_count && state->keys[place] != key)
        place++;
    if (is_down && place == state->key_count && place < INPUT_KEYS)
        state->keys[state->key_count++] = key;
    if (!is_down && place < state->key_count)
        memmove(&state->keys[place], &state->keys[place + 1], (size_t)(--state->key_count - place) * sizeof(int));
}

static void plug_in(InputState *state, const Event *event)
{
    assert(event->which <= INPUT_AXES && event->value >= 0 && event->value <= INPUT_POVS);
    memset(state->axes, 0, sizeof state->axes);
    memset(state->povs, 0, sizeof state->povs);
    memset(state->buttons, 0, sizeof state->buttons);
    state->has_joystick = event->which >= 0;
    state->axis_count = state->has_joystick ? event->which : 0;
    state->pov_count = event->value;
    snprintf(state->model, sizeof state->model, "%s", event->model ? event->model : "");
}

static void happen(InputState *state, const Event *event)
{
    assert(event->kind != EVENT_MOUSE_BUTTON || (event->which >= 0 && event->which < COUNT_OF(state->mouse_buttons)));
    assert(event->kind != EVENT_AXIS || (event->which >= 0 && event->which < INPUT_AXES));
    assert(event->kind != EVENT_POV || (event->which >= 0 && event->which < INPUT_POVS));
    assert(event->kind != EVENT_BUTTON || (event->which >= 0 && event->which < INPUT_BUTTONS));
    switch (event->kind) {
    case EVENT_KEY: press(state, event->which, event->value); break;
    case EVENT_MOUSE_BUTTON: state->mouse_buttons[event->which] = event->value; break;
    case EVENT_MOUSE_MOVE: memcpy(state->mouse, event->place, sizeof state->mouse); break;
    case EVENT_JOYSTICK: plug_in(state, event); break;
    case EVENT_AXIS: state->axes[event->which] = event->value; break;
    case EVENT_POV: state->povs[event->which] = event->value; break;
    case EVENT_BUTTON: state->buttons[event->which] = event->value; break;
    }
}

const InputState *input_at(Input *input, double time)
{
    assert_debug(input->done <= input->count);
    // Steps of a clock do not hit every decimal exactly.
    double moment = time + 1e-9;
    if (input->done > 0 && input->events[input->done - 1].time > moment)
        start(input);
    while (input->done < input->count && input->events[input->done].time <= moment)
        happen(&input->state, &input->events[input->done++]);
    return &input->state;
}
