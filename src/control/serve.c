// serve.c - what controllers send while the world waits for them: greeting, questions, the request for the next step;
// and who it is that holds the world.
#include "control/control_internal.h"

#include <stdio.h>

enum { POLL_MS = 20, PATIENCE_MS = 2000, REMINDER_MS = 30000, GOODBYE_MS = 1000 };

// ---- one frame ----

static void end_broken(Control *control, Controller *controller, const char *why)
{
    assert_debug(why);
    diag_warning(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' %s at %g s; it is ended",
                 controller->program, controller->name, why, sim_time(control->sim));
    process_kill(control, controller);
    controller->has_exited_well = false;
    control_left(control, controller);
}

static void say_hello(Control *control, Controller *controller, FrameReader *reader)
{
    assert_debug(controller->phase == CONTROLLER_STARTED);
    Record record;
    bool fits = false;
    while (frame_next(reader, &record))
        if (record.op == OP_HELLO_VERSION)
            fits = record.int_count >= 1 && record.ints[0] == PROTOCOL_VERSION;
    if (reader->is_broken || !fits) {
        end_broken(control, controller, "speaks another protocol");
        return;
    }
    exchange_config(control, controller);
    controller->phase = CONTROLLER_ASKS;
}

static void take_step(Control *control, Controller *controller, FrameReader *reader)
{
    assert_debug(controller->phase == CONTROLLER_ASKS);
    int duration;
    if (!exchange_commands(control, controller, reader, &duration)) {
        end_broken(control, controller, "sent a message that makes no sense");
        return;
    }
    double step_ms = sim_time_step(control->sim) * 1000.0;
    assert_debug(step_ms > 0.0);
    uint64_t steps = (uint64_t)(duration / step_ms + 1.0 - 1e-9);
    controller->asked_step = sim_steps(control->sim);
    controller->due_step = controller->asked_step + steps;
    if (steps == 0)
        exchange_state(control, controller, FRAME_STATE);
    else
        controller->phase = CONTROLLER_WAITS;
}

// One that no message can carry: the program hears why.
static void refuse_answer(Controller *controller, FrameWriter *answer)
{
    assert_debug(controller->channel && !exchange_fits(answer));
    char why[160];
    snprintf(why, sizeof why, "the answer has %zu bytes, more than the %lld of a message", answer->size,
             (long long)limits_default.message_bytes);
    frame_begin(answer, FRAME_RESULT);
    frame_add(answer, &(Record){ .op = OP_FAILED, .byte_count = (int)strlen(why), .bytes = why });
    channel_send(controller->channel, answer);
}

static void answer_call(Control *control, Controller *controller, FrameReader *reader)
{
    assert_debug(controller->phase == CONTROLLER_ASKS);
    FrameWriter answer = { 0 };
    Record record;
    frame_begin(&answer, FRAME_RESULT);
    while (frame_next(reader, &record))
        supervisor_call(control, controller, &record, &answer);
    if (reader->is_broken)
        end_broken(control, controller, "sent a message that makes no sense");
    else if (controller->channel && !exchange_fits(&answer))
        refuse_answer(controller, &answer);
    else if (controller->channel)
        channel_send(controller->channel, &answer);
    frame_free(&answer);
}

// The program says that it ends; how it did decides whether that was well.
static void take_goodbye(Control *control, Controller *controller)
{
    controller->has_exited_well = true;
    process_reap(control, controller, patience_from_now(control, GOODBYE_MS));
    control_left(control, controller);
}

static void take_frame(Control *control, Controller *controller, const void *data, size_t size)
{
    FrameReader reader;
    if (!frame_open(&reader, data, size))
        end_broken(control, controller, "sent a message that makes no sense");
    else if (controller->phase == CONTROLLER_STARTED && reader.kind == FRAME_HELLO)
        say_hello(control, controller, &reader);
    else if (controller->phase == CONTROLLER_ASKS && reader.kind == FRAME_STEP)
        take_step(control, controller, &reader);
    else if (controller->phase == CONTROLLER_ASKS && reader.kind == FRAME_CALL)
        answer_call(control, controller, &reader);
    else if (reader.kind == FRAME_BYE)
        take_goodbye(control, controller);
    else
        end_broken(control, controller, "sent a message out of turn");
}

static void take_loss(Control *control, Controller *controller)
{
    controller->has_exited_well = false;
    if (controller->is_extern)
        diag_warning(control->diags, (SourcePos){ 0 }, "the connection to the controller of robot '%s' is lost at %g s",
                     controller->name, sim_time(control->sim));
    else
        process_reap(control, controller, patience_from_now(control, GOODBYE_MS));
    control_left(control, controller);
}

// A controller may keep the world waiting for so long.
static bool is_late(const Control *control, Controller *controller)
{
    if (control->options.timeout_ms <= 0)
        return false;
    if (controller->answer.since_ms != controller->asked_ms)
        controller->answer = (Patience){ .since_ms = controller->asked_ms, .limit_ms = control->options.timeout_ms };
    return process_is_late(controller, &controller->answer);
}

// Receives and handles one frame; false when none came in this time.
static bool serve_once(Control *control, Controller *controller, int wait_ms)
{
    assert_debug(controller->channel);
    const void *data;
    size_t size;
    ChannelResult result = channel_receive(controller->channel, wait_ms, controller->pid, &data, &size);
    process_drain(control, controller);
    if (result == CHANNEL_OK) {
        take_frame(control, controller, data, size);
        controller->asked_ms = control_now_ms();
    } else if (result == CHANNEL_BROKEN) {
        end_broken(control, controller, "sent a message that is too large or has no end, or reads none");
    } else if (result == CHANNEL_CLOSED
               || (controller->pid > 0 && process_reap(control, controller, (Patience){ 0 }))) {
        take_loss(control, controller);
    } else if (is_late(control, controller)) {
        end_broken(control, controller, "did not answer in time");
    } else {
        return false;
    }
    return true;
}

static bool may_send(const Controller *controller)
{
    return controller->phase == CONTROLLER_STARTED || controller->phase == CONTROLLER_ASKS;
}

// ---- who holds the world ----

// After a while it is said who it is, and again from time to time.
static void say_who(Control *control, const Controller *controller, int64_t since_ms)
{
    int64_t now = control_now_ms();
    if (control->options.idle)
        control->options.idle(control->options.idle_context);
    if (now - since_ms < PATIENCE_MS || now < control->reminder_ms)
        return;
    control->reminder_ms = now + REMINDER_MS;
    if (!controller->channel)
        fprintf(stderr, "waiting for the controller of robot '%s' (<extern>, port %d) to connect\n", controller->name,
                control->port);
    else if (controller->is_extern)
        fprintf(stderr, "waiting for robot '%s': its controller (<extern>, port %d) does not ask for its next step\n",
                controller->name, control->port);
    else
        fprintf(stderr, "waiting for robot '%s': its controller '%s' (process %d) %s\n", controller->name,
                controller->program, (int)controller->pid,
                controller->phase == CONTROLLER_STARTED ? "has not called wb_robot_init() yet"
                                                        : "does not ask for its next step");
    fflush(stderr);
}

bool control_is_over(const Control *control)
{
    return control->quit_status >= 0 || control->next_world || sim_failure(control->sim)
           || control_is_interrupted(control);
}

// Handles what the controller sends until it waits for time to pass, or is gone. The world waits for synchronous ones
// alone.
static void serve(Control *control, Controller *controller)
{
    while (may_send(controller) && !control_is_over(control)) {
        bool waits = controller->is_synchronous;
        if (!serve_once(control, controller, waits ? POLL_MS : 0)) {
            if (!waits)
                return;
            say_who(control, controller, controller->asked_ms);
        }
    }
}

void serve_last(Control *control, Controller *controller, Patience patience)
{
    while (may_send(controller))
        if (!serve_once(control, controller, POLL_MS) && process_is_late(controller, &patience))
            return;
}

static const Controller *absent_extern(const Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (extern_holds(control, &control->controllers[i]))
            return &control->controllers[i];
    return NULL;
}

// A synchronous robot whose controller comes from outside holds the world until it has one, and again when that one
// leaves. Newcomers are let in after the others were heard, so that one that just left makes room for the next.
void serve_all(Control *control)
{
    int64_t since_ms = control->listener >= 0 ? control_now_ms() : 0;
    for (int i = 0; i < control->count; i++)
        serve(control, &control->controllers[i]);
    int wait_ms = 0;
    while (control->listener >= 0) {
        extern_accept(control, wait_ms);
        for (int i = 0; i < control->count; i++)
            serve(control, &control->controllers[i]);
        wait_ms = POLL_MS;
        const Controller *absent = absent_extern(control);
        if (!absent || control_is_over(control))
            return;
        say_who(control, absent, since_ms);
    }
}

// ---- a paused world ----

void serve_set_mode(Control *control, const Controller *controller, int mode)
{
    enum { PAUSE = 0 };
    assert(mode >= PAUSE);
    control->simulation_mode = mode;
    bool is_handled = false;
    for (int i = 0; i < CONTROL_WATCHES; i++) {
        const ControlWatch *watch = &control->options.watches[i];
        is_handled |= watch->moded && watch->moded(watch->context, mode);
    }
    control->paused_by = mode == PAUSE && !is_handled ? controller->name : NULL;
}

// A program that has not asked for its next step can still set another mode, and so can one that comes from outside.
static bool may_resume(const Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (may_send(&control->controllers[i])
            || (control->listener >= 0 && control->controllers[i].is_extern && !control->controllers[i].channel))
            return true;
    return false;
}

void serve_paused(Control *control)
{
    bool is_said = false;
    while (control->paused_by && !control_is_over(control)) {
        if (!may_resume(control)) {
            diag_warning(
                control->diags, (SourcePos){ 0 },
                "robot '%s' paused the simulation at %g s; every program waits for its next step, so nothing can let it "
                "go on: the run ends",
                control->paused_by, sim_time(control->sim));
            control->quit_status = 0;
            return;
        }
        if (!is_said)
            fprintf(stderr, "paused by robot '%s' at %g s, until a supervisor sets another mode\n", control->paused_by,
                    sim_time(control->sim));
        is_said = true;
        fflush(stderr);
        if (control->options.idle)
            control->options.idle(control->options.idle_context);
        if (control->listener >= 0)
            extern_accept(control, 0);
        for (int i = 0; i < control->count; i++)
            if (may_send(&control->controllers[i]))
                serve_once(control, &control->controllers[i], POLL_MS);
    }
}
