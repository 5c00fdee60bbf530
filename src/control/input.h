// input.h - what a person does at keyboard, mouse and joystick, read from a file: events with the simulated time at
// which they happen. The state at a moment follows from the file and the time alone, so runs repeat, resets included.
// Belongs here: the file's grammar and the state it describes. Not here: who asks for it (exchange.c).
#ifndef TALUS_CONTROL_INPUT_H
#define TALUS_CONTROL_INPUT_H

#include "base/diag.h"

enum { INPUT_AXES = 16, INPUT_POVS = 8, INPUT_BUTTONS = 32, INPUT_KEYS = 16 };

typedef struct InputState {
    int keys[INPUT_KEYS];  // in the order they went down
    int key_count;
    bool mouse_buttons[3];  // left, middle, right
    double mouse[5];        // u v in the window, x y z in the world; NaN outside
    bool has_joystick;
    int axis_count, pov_count;
    int axes[INPUT_AXES], povs[INPUT_POVS];
    bool buttons[INPUT_BUTTONS];
    char model[64];
} InputState;

typedef struct Input Input;

// NULL when the file cannot be read or has a mistake; the sink has the places of all of them.
Input *input_read(const char *path, DiagSink *diags);
Input *input_parse(const char *name, const char *text, size_t size, DiagSink *diags);
void input_destroy(Input *input);  // NULL is fine

// One without a file: its state is what somebody last made of it, from now on.
Input *input_create_live(void);
InputState *input_live(Input *input);                          // to be changed between steps; NULL: it is one of a file
void input_live_has(Input *input, bool mouse, bool joystick);  // from now on also those, as if a file spoke of them

bool input_has_mouse(const Input *input);  // whether the file speaks of it at all
bool input_has_joystick(const Input *input);
// The state at this time, in seconds: all events up to and including it have happened. Time may go back.
const InputState *input_at(Input *input, double time);

#endif
