// control.c - controllers of a world: which robots have one, and what is exchanged with them around a step.
#include "control/control_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DRAIN_MS = 20 };

// ---- which robots have a program ----

static bool names_nothing(const char *program)
{
    return !*program || !strcmp(program, "<none>") || !strcmp(program, "<generic>") || !strcmp(program, "void");
}

bool control_is_needed(const Devices *devices)
{
    for (int i = 0; i < devices_robot_count(devices); i++)
        if (devices_robot_exists(devices, i)
            && !names_nothing(scene_string(devices_robot_node(devices, i), "controller")))
            return true;
    return false;
}

// A copy; the one that there is if it says the same.
static const char *text_again(Arena *arena, const char *old, const char *text)
{
    assert_debug(text);
    return old && !strcmp(old, text) ? old : arena_string(arena, text);
}

static void forget_controller(Controller *controller)
{
    free(controller->serials);
    free(controller->constant_hashes);
    free(controller->packets_sent);
    free(controller->custom_data);
    free(controller->window.messages);
}

// For a robot that is new, or has come in the place of another one.
static void make_controller(Control *control, int robot)
{
    assert_debug(robot >= 0 && robot < control->capacity);
    const SceneNode *node = devices_robot_node(control->devices, robot);
    Controller *controller = &control->controllers[robot], old = *controller;
    const char *program = scene_string(node, "controller");
    *controller = (Controller){ .robot = robot,
                                .serial_of_robot = devices_robot_serial(control->devices, robot),
                                .name = text_again(control->arena, old.name, scene_string(node, "name")),
                                .program = text_again(control->arena, old.program, program),
                                .script = old.script,
                                .is_synchronous = scene_bool(node, "synchronization"),
                                .is_extern = !strcmp(program, "<extern>"),
                                .output = { -1, -1 } };
}

// The scene is walked when nodes came or went, not at every step.
void control_find_robots(Control *control)
{
    assert_debug(control->count <= control->capacity);
    uint64_t structure = scene_structure(sim_scene(control->sim));
    if (control->structure == structure)
        return;
    control->structure = structure;
    devices_rescan(control->devices);
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (controller->serial_of_robot == devices_robot_serial(control->devices, i))
            continue;
        forget_controller(controller);
        make_controller(control, i);
        controller->wants_restart = true;
    }
    while (control->count < devices_robot_count(control->devices)) {
        memory_grow(&control->controllers, &control->capacity, control->count + 1, sizeof *control->controllers);
        control->controllers[control->count] = (Controller){ 0 };
        make_controller(control, control->count++);
    }
    assert(control->count == devices_robot_count(control->devices));  // one by robot, under its index
}

int64_t control_now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// ---- start ----

void control_left(Control *control, Controller *controller)
{
    assert_debug(controller >= control->controllers && controller < control->controllers + control->count);
    channel_close(controller->channel);
    controller->channel = NULL;
    controller->phase = CONTROLLER_GONE;
    window_forget(controller);
    if (!control->is_ending)
        devices_switch_off(control->devices, controller->robot);
    if (!controller->has_exited_well)
        control_failed(control, controller);
}

void control_failed(Control *control, const Controller *controller)
{
    if (control->options.stops_on_failure)
        sim_stop(control->sim, arena_printf(control->arena, "controller '%s' of robot '%s' failed", controller->program,
                                            controller->name));
}

// The channel is made before the program: it inherits the memory and needs no handshake. The tag in its environment
// finds processes that it leaves behind.
static void start_program(Control *control, Controller *controller, Arena *lasting)
{
    assert_debug(controller->robot >= 0 && controller->robot < control->count);
    if (controller->is_extern || names_nothing(controller->program)
        || !devices_robot_exists(control->devices, controller->robot))
        return;
    if (control->options.runs_nothing) {
        diag_warning(control->diags, (SourcePos){ 0 },
                     "controllers are not started: code of unknown origin is not run");
        return;
    }
    assert(!controller->channel);  // one program at a time
    Launch launch;
    if (!launch_find(control, controller, &launch)) {
        control_failed(control, controller);
        return;
    }
    int descriptor;
    controller->channel = channel_create_shared((size_t)limits_default.message_bytes, &descriptor);
    if (!controller->channel) {
        diag_error(control->diags, (SourcePos){ 0 }, "no shared memory for controller '%s'", controller->program);
        return;
    }
    controller->serial = ++control->serials;
    int count = 0;
    while (launch.environment[count])
        count++;
    char **environment = arena_alloc_array(control->arena, (size_t)count + 3, sizeof *environment);
    environment[0] = arena_printf(control->arena, "%s%d", control->tag, controller->serial);
    environment[1] = arena_printf(control->arena, "TALUS_CHANNEL=%d", descriptor);
    memcpy(environment + 2, launch.environment, (size_t)count * sizeof *environment);
    launch.environment = environment;
    bool is_running = process_start(control, controller, &launch, descriptor);
    close(descriptor);
    controller->phase = CONTROLLER_STARTED;
    controller->script = launch.script ? text_again(lasting, controller->script, launch.script) : NULL;
    controller->has_exited_well = false;
    controller->asked_ms = control_now_ms();
    if (!is_running)
        control_left(control, controller);
}

// What a program is started with (its environment above all) is of no use afterwards.
static void start(Control *control, Controller *controller)
{
    Arena *lasting = control->arena;
    control->arena = arena_create_small();
    start_program(control, controller, lasting);
    arena_destroy(control->arena);
    control->arena = lasting;
}

bool control_is_interrupted(const Control *control)
{
    return control->options.is_interrupted && control->options.is_interrupted();
}

static bool has_extern(const Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (control->controllers[i].is_extern)
            return true;
    return false;
}

// ---- what supervisors asked for ----

static bool restart_asked(Control *control)
{
    bool has_started = false;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (!controller->wants_restart)
            continue;
        controller->wants_restart = false;
        control_stop_one(control, controller);
        const SceneNode *robot = devices_robot_node(control->devices, controller->robot);
        controller->program = text_again(control->arena, controller->program, scene_string(robot, "controller"));
        start(control, controller);
        has_started |= controller->phase == CONTROLLER_STARTED;
    }
    return has_started;
}

// A robot that is gone takes its program with it, which is told so by its step.
static void stop_removed(Control *control)
{
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (devices_robot_exists(control->devices, controller->robot))
            continue;
        if (controller->channel)
            control_stop_one(control, controller);
        process_drain(control, controller);
        if (controller->pid <= 0 && controller->output[0] < 0 && controller->output[1] < 0)
            devices_release_robot(control->devices, controller->robot);
    }
}

// Robots that came in get their programs.
static bool start_new(Control *control)
{
    int known = control->count;
    control_find_robots(control);
    for (int i = known; i < control->count; i++)
        start(control, &control->controllers[i]);
    return control->count > known;
}

static void remember_start(Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (controller_is_supervisor(control, &control->controllers[i])) {
            supervisor_remember_start(control, NULL);
            return;
        }
}

// The world goes back to its start; programs go on, so what they wait for moves with the clock. Those whose robot had
// been removed start again with it.
static void reset(Control *control)
{
    uint64_t passed = sim_steps(control->sim);
    control->wants_reset = false;
    control->synced_step = 0;
    if (!sim_reset(control->sim))
        sim_stop(control->sim, "the world could not be reset");
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

void control_listen(Control *control)
{
    for (int i = 0; i < control->count; i++)
        process_drain(control, &control->controllers[i]);
}

void control_touched(Control *control) { control->synced_step = 0; }

void control_reset(Control *control)
{
    reset(control);
    if (!control->has_started)
        return;
    for (int i = 0; i < control->count; i++)
        control->controllers[i].wants_restart |= !control->controllers[i].is_extern;
    start_new(control);
    restart_asked(control);
}

void control_rewound(Control *control, uint64_t from_step)
{
    uint64_t now = sim_steps(control->sim), passed = from_step > now ? from_step - now : 0;
    control->synced_step = 0;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        controller->due_step -= controller->due_step > passed ? passed : controller->due_step;
        controller->asked_step -= controller->asked_step > passed ? passed : controller->asked_step;
        for (int tag = 0; tag < controller->serial_count; tag++)
            controller->packets_sent[tag] = 0;
    }
}

// Whether programs were started that have something to say before time goes on.
static bool grant_requests(Control *control)
{
    bool has_new = start_new(control);
    if (control->wants_reset) {
        reset(control);
        has_new |= start_new(control);
    }
    stop_removed(control);
    return restart_asked(control) || has_new;
}

// ---- phases ----

static void begin(Control *control)
{
    assert(!control->has_started);
    control->has_started = true;
    control_find_robots(control);
    remember_start(control);
    for (int i = 0; i < control->count; i++)
        start(control, &control->controllers[i]);
    if (has_extern(control))
        extern_open(control);
}

// What ended programs had started for other robots may still print where they did.
static void drain_ended(Control *control)
{
    int64_t now = control_now_ms();
    if (now - control->drained_ms < DRAIN_MS)
        return;
    control->drained_ms = now;
    for (int i = 0; i < control->count; i++)
        if (!control->controllers[i].channel) {
            process_drain(control, &control->controllers[i]);
            process_reap(control, &control->controllers[i], (Patience){ 0 });
        }
}

static bool before_step(Sim *sim, void *context)
{
    (void)sim;
    Control *control = context;
    if (!control->has_started)
        begin(control);
    drain_ended(control);
    serve_all(control);
    serve_paused(control);
    // What starts now begins at this time. What it asks for in turn is granted in the next step.
    if (!control_is_over(control) && grant_requests(control))
        serve_all(control);
    devices_paint(control->devices);
    devices_drive(control->devices);
    return !control_is_over(control);
}

static bool after_sampling(Sim *sim, void *context)
{
    Control *control = context;
    devices_sample(control->devices, sim_steps(sim));
    return true;
}

// In real time a step ends not before its time on the clock. Time that was lost is not made up for.
static void pace(Control *control)
{
    enum { REAL_TIME = 1, NAP_MS = 10 };
    int64_t now = control_now_ms();
    if (control->simulation_mode != REAL_TIME) {
        control->paced_ms = 0;
        return;
    }
    double step_ms = 1000.0 * sim_time_step(control->sim);
    assert_debug(step_ms > 0.0);
    uint64_t steps = sim_steps(control->sim);
    // The time of a step in whole milliseconds, without the sum of their remainders.
    int64_t share = (int64_t)((double)(steps + 1) * step_ms) - (int64_t)((double)steps * step_ms);
    int64_t end = control->paced_ms + share;
    if (!control->paced_ms || end < now)
        end = control->paced_ms ? now : now + share;
    while (now < end && !control_is_interrupted(control)) {
        int64_t left = end - now;
        nanosleep(&(struct timespec){ .tv_nsec = (left < NAP_MS ? left : NAP_MS) * 1000000 }, NULL);
        now = control_now_ms();
    }
    control->paced_ms = end;
}

static bool after_step(Sim *sim, void *context)
{
    Control *control = context;
    pace(control);
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (controller->phase != CONTROLLER_WAITS || sim_steps(sim) < controller->due_step)
            continue;
        assert_debug(controller->channel);  // whoever waits for time can be told of it
        controller->phase = CONTROLLER_ASKS;
        controller->asked_ms = control_now_ms();
        exchange_state(control, controller, FRAME_STATE);
    }
    return true;
}

Control *control_create(Sim *sim, const ControlOptions *options, DiagSink *diags)
{
    assert(sim && diags);
    Control *control = memory_alloc(sizeof *control);
    control->sim = sim;
    control->devices = sim_devices(sim);
    control->diags = diags;
    control->arena = arena_create();
    control->quit_status = -1;
    control->listener = control->local_listener = -1;
    control->structure = UINT64_MAX;
    control->tag = arena_printf(control->arena, "TALUS_CONTROLLER=%d.%llx.", (int)getpid(),
                                (unsigned long long)(uintptr_t)control);
    control->simulation_mode = 2;
    if (options)
        control->options = *options;
    sim_devices_in_state(sim, true);
    devices_hold_robots(control->devices, true);
    scene_add_keeper(sim_scene(sim), supervisor_keep_nodes, control);
    sim_add_hook(sim, SIM_PHASE_COMMANDS, before_step, control);
    sim_add_hook(sim, SIM_PHASE_DEVICES, after_sampling, control);
    sim_add_hook(sim, SIM_PHASE_CONTROL, after_step, control);
    return control;
}

void control_destroy(Control *control)
{
    if (!control)
        return;
    scene_remove_keeper(sim_scene(control->sim), control);
    sim_remove_hooks(control->sim, control);
    sim_devices_in_state(control->sim, false);
    control_end(control);
    assert_debug(control_running(control) == 0);
    devices_hold_robots(control->devices, false);
    for (int i = 0; i < control->count; i++)
        forget_controller(&control->controllers[i]);
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
        running += control->controllers[i].phase >= CONTROLLER_STARTED
                   && control->controllers[i].phase < CONTROLLER_GONE;
    return running;
}

int control_quit_status(const Control *control) { return control->quit_status; }

const char *control_next_world(const Control *control) { return control->next_world; }
