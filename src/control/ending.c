// ending.c - how controllers end: with the run, with their robot, or to start again. The last state has reached them by
// then; what they still ask is answered, and their next request for time is answered by QUIT, so that every run gives a
// program the same number of steps. Then they have a while to end by themselves.
#include "control/control_internal.h"

#include <stdlib.h>

// LAST_MS: for the answer to the last state; END_MS: from QUIT to the end of the process; HURRY_MS: for both, when a
// person interrupts the run.
enum { LAST_MS = 10000, END_MS = 3000, HURRY_MS = 300 };

static Patience patience_of(const Control *control, int wait_ms)
{
    assert_debug(wait_ms >= HURRY_MS);
    return patience_from_now(control, control_is_interrupted(control) ? HURRY_MS : wait_ms);
}

static void tell_to_quit(Control *control, Controller *controller)
{
    if (!controller->channel || controller->phase != CONTROLLER_WAITS)
        return;
    frame_begin(&control->frame, FRAME_QUIT);
    channel_send(controller->channel, &control->frame);
}

static void forget_channel(Controller *controller)
{
    channel_close(controller->channel);
    controller->channel = NULL;
    controller->phase = CONTROLLER_NONE;
    window_forget(controller);
}

void control_stop_one(Control *control, Controller *controller)
{
    assert_debug(!control->is_ending);  // at the end all are stopped at once
    serve_last(control, controller, patience_of(control, LAST_MS));
    tell_to_quit(control, controller);
    if (!process_reap(control, controller, patience_of(control, END_MS)))
        process_kill(control, controller);
    forget_channel(controller);
}

// All at once: each wait is for all of them together.
void control_end(Control *control)
{
    if (control->is_ending)
        return;
    control->is_ending = true;
    Patience patience = patience_of(control, LAST_MS);
    for (int i = 0; i < control->count; i++)
        serve_last(control, &control->controllers[i], patience);
    for (int i = 0; i < control->count; i++)
        tell_to_quit(control, &control->controllers[i]);
    extern_close(control);
    patience = patience_of(control, END_MS);
    for (int i = 0; i < control->count; i++)
        if (control->controllers[i].phase == CONTROLLER_WAITS || control->controllers[i].phase == CONTROLLER_GONE)
            process_reap(control, &control->controllers[i], patience);
    process_kill_all(control);
    for (int i = 0; i < control->count; i++) {
        process_flush(control, &control->controllers[i]);
        forget_channel(&control->controllers[i]);
    }
}
