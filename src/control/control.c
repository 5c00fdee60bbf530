#include "control/control_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

// ---- which robots have a program ----

static bool names_nothing(const char *program)
{
    return !*program || !strcmp(program, "<none>") || !strcmp(program, "<generic>") || !strcmp(program, "void");
}

bool control_is_needed(const Devices *devices)
{
    for (int i = 0; i < devices_robot_count(devices); i++)
        if (devices_robot_exists(devices, i) && !names_nothing(scene_string(devices_robot_node(devices, i), "controller")))
            return true;
    return false;
}

static void add_controller(Control *control, int robot)
{
    const SceneNode *node = devices_robot_node(control->devices, robot);
    memory_grow(&control->controllers, &control->capacity, control->count + 1, sizeof *control->controllers);
    Controller *controller = &control->controllers[control->count++];
    const char *program = scene_string(node, "controller");
    *controller = (Controller){ .robot = robot, .name = arena_string(control->arena, scene_string(node, "name")),
                                .program = arena_string(control->arena, program), .is_synchronous = scene_bool(node, "synchronization"),
                                .is_extern = !strcmp(program, "<extern>"), .output = { -1, -1 } };
}

static void find_new_robots(Control *control)
{
    devices_rescan(control->devices);
    for (int robot = control->count; robot < devices_robot_count(control->devices); robot++)
        add_controller(control, robot);
}

int64_t control_now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// ---- start ----

static void fail(Control *control, Controller *controller)
{
    channel_close(controller->channel);
    controller->channel = NULL;
    controller->phase = CONTROLLER_GONE;
    devices_switch_off(control->devices, controller->robot);
    if (control->options.stops_on_failure && !controller->has_exited_well)
        sim_stop(control->sim, arena_printf(control->arena, "controller '%s' of robot '%s' failed", controller->program, controller->name));
}

static void start(Control *control, Controller *controller)
{
    if (controller->is_extern || names_nothing(controller->program) || !devices_robot_exists(control->devices, controller->robot))
        return;
    Launch launch;
    if (!launch_find(control, controller, &launch))
        return;
    int descriptor;
    controller->channel = channel_create_shared((size_t)limits_default.message_bytes, &descriptor);
    if (!controller->channel) {
        diag_error(control->diags, (SourcePos){ 0 }, "no shared memory for controller '%s'", controller->program);
        return;
    }
    char *with_channel = arena_printf(control->arena, "TALUS_CHANNEL=%d", descriptor);
    int count = 0;
    while (launch.environment[count])
        count++;
    char **environment = arena_alloc_array(control->arena, (size_t)count + 2, sizeof *environment);
    memcpy(environment, launch.environment, (size_t)count * sizeof *environment);
    environment[count] = with_channel;
    launch.environment = environment;
    bool is_running = process_start(control, controller, &launch, descriptor);
    close(descriptor);
    controller->phase = CONTROLLER_STARTED;
    controller->asked_ms = control_now_ms();
    if (!is_running)
        fail(control, controller);
}

// ---- waiting ----

static void end_broken(Control *control, Controller *controller, const char *why)
{
    diag_warning(control->diags, (SourcePos){ 0 }, "controller '%s' of robot '%s' %s at %g s; it is ended", controller->program, controller->name,
                 why, sim_time(control->sim));
    process_kill(control, controller);
    controller->has_exited_well = false;
    fail(control, controller);
}

static void say_hello(Control *control, Controller *controller, FrameReader *reader)
{
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
    int duration;
    if (!exchange_commands(control, controller, reader, &duration)) {
        end_broken(control, controller, "sent a message that makes no sense");
        return;
    }
    double step_ms = sim_time_step(control->sim) * 1000.0;
    uint64_t steps = (uint64_t)(duration / step_ms + 1.0 - 1e-9);
    controller->asked_step = sim_steps(control->sim);
    controller->due_step = controller->asked_step + steps;
    if (steps == 0)
        exchange_state(control, controller, FRAME_STATE);
    else
        controller->phase = CONTROLLER_WAITS;
}

static void answer_call(Control *control, Controller *controller, FrameReader *reader)
{
    FrameWriter answer = { 0 };
    Record record;
    frame_begin(&answer, FRAME_RESULT);
    while (frame_next(reader, &record))
        supervisor_call(control, controller, &record, &answer);
    if (reader->is_broken)
        end_broken(control, controller, "sent a message that makes no sense");
    else if (controller->channel)
        channel_send(controller->channel, &answer);
    frame_free(&answer);
}

static void take_frame(Control *control, Controller *controller, const void *data, size_t size)
{
    FrameReader reader;
    if (!frame_open(&reader, data, size)) {
        end_broken(control, controller, "sent a message that makes no sense");
        return;
    }
    if (controller->phase == CONTROLLER_STARTED && reader.kind == FRAME_HELLO)
        say_hello(control, controller, &reader);
    else if (controller->phase == CONTROLLER_ASKS && reader.kind == FRAME_STEP)
        take_step(control, controller, &reader);
    else if (controller->phase == CONTROLLER_ASKS && reader.kind == FRAME_CALL)
        answer_call(control, controller, &reader);
    else if (reader.kind == FRAME_BYE) {
        process_reap(control, controller, 1000);
        controller->has_exited_well = true;
        fail(control, controller);
    } else
        end_broken(control, controller, "sent a message out of turn");
}

// Receives and handles what the controller sends until it waits for time to pass, or is gone.
static void serve(Control *control, Controller *controller)
{
    while (controller->phase == CONTROLLER_STARTED || controller->phase == CONTROLLER_ASKS) {
        if (control->quit_status >= 0 || sim_failure(control->sim) || (control->options.is_interrupted && control->options.is_interrupted()))
            return;
        const void *data;
        size_t size;
        ChannelResult result = channel_receive(controller->channel, controller->is_synchronous ? POLL_MS : 0, controller->pid, &data, &size);
        process_drain(control, controller);
        if (result == CHANNEL_OK) {
            take_frame(control, controller, data, size);
            controller->asked_ms = control_now_ms();
        } else if (result == CHANNEL_BROKEN) {
            end_broken(control, controller, "sent a message that is too large");
        } else if (result == CHANNEL_CLOSED || (controller->pid > 0 && process_reap(control, controller, 0))) {
            process_reap(control, controller, 1000);
            fail(control, controller);
        } else if (control->options.timeout_ms > 0 && control_now_ms() - controller->asked_ms > control->options.timeout_ms) {
            end_broken(control, controller, "did not answer in time");
        } else if (!controller->is_synchronous) {
            return;
        }
    }
}

static bool has_extern(const Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (control->controllers[i].is_extern)
            return true;
    return false;
}

static bool is_interrupted(const Control *control)
{
    return control->options.is_interrupted && control->options.is_interrupted();
}

// A synchronous robot whose controller comes from outside holds the world until it has one, and again when that one leaves.
// Newcomers are let in after the others were heard, so that one that just left makes room for the next.
static void serve_all(Control *control)
{
    for (int i = 0; i < control->count; i++)
        serve(control, &control->controllers[i]);
    if (control->listener < 0)
        return;
    int wait_ms = 0;
    do {
        extern_accept(control, wait_ms);
        for (int i = 0; i < control->count; i++)
            serve(control, &control->controllers[i]);
        wait_ms = POLL_MS;
    } while (extern_blocks(control) && control->quit_status < 0 && !control->next_world && !sim_failure(control->sim) && !is_interrupted(control));
}

static void stop_one(Control *control, Controller *controller)
{
    if (controller->channel && controller->phase != CONTROLLER_STARTED) {
        frame_begin(&control->frame, FRAME_QUIT);
        channel_send(controller->channel, &control->frame);
    }
    if (!process_reap(control, controller, 1000))
        process_kill(control, controller);
    channel_close(controller->channel);
    controller->channel = NULL;
    controller->phase = CONTROLLER_NONE;
}

static void restart_asked(Control *control)
{
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (!controller->wants_restart)
            continue;
        controller->wants_restart = false;
        stop_one(control, controller);
        const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
        controller->program = arena_string(control->arena, scene_string(robot, "controller"));
        start(control, controller);
    }
}

static void remember_start(Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (controller_is_supervisor(control, &control->controllers[i])) {
            supervisor_remember_start(control, NULL);
            return;
        }
}

// The world goes back to its start; programs go on, so what they wait for moves with the clock. Those whose robot had been
// removed start again with it.
static void reset(Control *control)
{
    uint64_t passed = sim_steps(control->sim);
    control->wants_reset = false;
    control->synced_step = 0;
    sim_reset(control->sim);
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        bool was_there = devices_robot_exists(control->devices, controller->robot);
        controller->due_step -= controller->due_step > passed ? passed : controller->due_step;
        controller->asked_step = 0;
        controller->wants_restart |= !was_there;
        for (int tag = 0; tag < controller->serial_count; tag++)
            controller->packets_sent[tag] = 0;
    }
    devices_reset(control->devices, sim_physics(control->sim));
    remember_start(control);
}

// ---- phases ----

static bool before_step(Sim *sim, void *context)
{
    (void)sim;
    Control *control = context;
    if (!control->has_started) {
        control->has_started = true;
        find_new_robots(control);
        remember_start(control);
        for (int i = 0; i < control->count; i++)
            start(control, &control->controllers[i]);
        if (has_extern(control))
            extern_open(control);
    }
    serve_all(control);
    // A supervisor may have brought in robots: their programs start with the next step.
    int known = control->count;
    find_new_robots(control);
    for (int i = known; i < control->count; i++)
        start(control, &control->controllers[i]);
    if (control->wants_reset)
        reset(control);
    restart_asked(control);
    devices_drive(control->devices);
    return control->quit_status < 0 && !control->next_world;
}

static bool after_sampling(Sim *sim, void *context)
{
    Control *control = context;
    devices_sample(control->devices, sim_steps(sim));
    return true;
}

static bool after_step(Sim *sim, void *context)
{
    Control *control = context;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (controller->phase != CONTROLLER_WAITS || sim_steps(sim) < controller->due_step)
            continue;
        if (!devices_robot_exists(control->devices, controller->robot)) {
            process_kill(control, controller);
            controller->has_exited_well = true;
            fail(control, controller);
            continue;
        }
        controller->phase = CONTROLLER_ASKS;
        controller->asked_ms = control_now_ms();
        exchange_state(control, controller, FRAME_STATE);
    }
    return true;
}

// ---- devices as part of the simulation's state ----

static size_t size_of_devices(void *context)
{
    return devices_snapshot_size(context);
}

static void save_devices(void *context, void *buffer)
{
    devices_snapshot(context, buffer);
}

static bool restore_devices(void *context, const void *buffer, size_t size)
{
    return devices_restore(context, buffer, size);
}

static uint64_t hash_of_devices(void *context)
{
    return devices_hash(context);
}

Control *control_create(Sim *sim, Devices *devices, const ControlOptions *options, DiagSink *diags)
{
    Control *control = memory_alloc(sizeof *control);
    control->sim = sim;
    control->devices = devices;
    control->diags = diags;
    control->arena = arena_create();
    control->quit_status = -1;
    control->listener = -1;
    control->simulation_mode = 2;
    if (options)
        control->options = *options;
    sim_add_state(sim, &(SimStatePart){ "devices", devices, size_of_devices, save_devices, restore_devices, hash_of_devices });
    sim_add_hook(sim, SIM_PHASE_COMMANDS, before_step, control);
    sim_add_hook(sim, SIM_PHASE_DEVICES, after_sampling, control);
    sim_add_hook(sim, SIM_PHASE_CONTROL, after_step, control);
    return control;
}

static void ask_to_quit(Control *control)
{
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (!controller->channel || controller->phase == CONTROLLER_STARTED)
            continue;
        frame_begin(&control->frame, FRAME_QUIT);
        channel_send(controller->channel, &control->frame);
    }
}

// A controller has a second to end by itself, all of them together.
void control_destroy(Control *control)
{
    if (!control)
        return;
    sim_remove_hooks(control->sim, control);
    sim_remove_state(control->sim, control->devices);
    ask_to_quit(control);
    int64_t end = control_now_ms() + 1000;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        int64_t left = end - control_now_ms();
        if (controller->pid > 0 && !process_reap(control, controller, left > 0 ? (int)left : 0))
            process_kill(control, controller);
        process_flush(control, controller);
        channel_close(controller->channel);
        free(controller->serials);
        free(controller->constant_hashes);
        free(controller->packets_sent);
        free(controller->custom_data);
    }
    extern_close(control);
    supervisor_forget(control);
    frame_free(&control->frame);
    free(control->controllers);
    arena_destroy(control->arena);
    free(control);
}

int control_running(const Control *control)
{
    int running = 0;
    for (int i = 0; i < control->count; i++)
        running += control->controllers[i].phase >= CONTROLLER_STARTED && control->controllers[i].phase < CONTROLLER_GONE;
    return running;
}

int control_quit_status(const Control *control)
{
    return control->quit_status;
}

const char *control_next_world(const Control *control)
{
    return control->next_world;
}
