// A plugin's life: load, bind, call, and report when a call fails.
#include "plugins/plugins_internal.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// C++ plugins that forgot extern "C" are found by what the compiler makes of the names.
static const struct {
    const char *name;
    const char *mangled[2];
    bool is_needed, is_rare;
} callbacks[] = {
    [CALLBACK_INIT] = { "webots_physics_init",
                        { "_Z19webots_physics_initv", "_Z19webots_physics_initP7dxWorldP7dxSpaceP12dxJointGroup" },
                        false,
                        true },
    [CALLBACK_STEP] = { "webots_physics_step", { "_Z19webots_physics_stepv" }, true, false },
    [CALLBACK_COLLIDE] = { "webots_physics_collide", { "_Z22webots_physics_collideP6dxGeomS0_" }, false, false },
    [CALLBACK_STEP_END] = { "webots_physics_step_end", { "_Z23webots_physics_step_endv" }, false, false },
    [CALLBACK_PREDRAW] = { "webots_physics_predraw", { "_Z22webots_physics_predrawv" }, false, true },
    [CALLBACK_DRAW] = { "webots_physics_draw",
                        { "_Z19webots_physics_drawiPKc", "_Z19webots_physics_drawv" },
                        false,
                        true },
    [CALLBACK_CLEANUP] = { "webots_physics_cleanup", { "_Z22webots_physics_cleanupv" }, true, true },
};
static_assert(COUNT_OF(callbacks) == CALLBACK_COUNT, "one row for every callback");

// ---- loading ----

const char *plugin_name_in(const SceneNode *world_info)
{
    const char *name = world_info ? scene_string(world_info, "physics") : "";
    return *name && strcmp(name, "<none>") && strcmp(name, "void") ? name : NULL;
}

const char *plugin_name(const Scene *scene) { return plugin_name_in(scene_find_top(scene, "WorldInfo")); }

static void report_missing(PluginHost *host, const PluginPlace *place)
{
    assert_debug(!place->library);
    if (!place->folder) {
        diag_error(host->diags, host->pos, "the physics plugin '%s' was not found: there is no folder %s", host->name,
                   place->tried);
        diag_hint(host->diags, "--no-plugin runs the world without it");
        return;
    }
    if (place->foreign)
        diag_error(host->diags, host->pos,
                   "the physics plugin '%s' has no library for this system: %s has %s, which is for %s", host->name,
                   place->folder, place->foreign, text_ends_with(place->foreign, ".dll") ? "Windows" : "macOS");
    else
        diag_error(host->diags, host->pos,
                   "the physics plugin '%s' has no library: neither lib%s.so nor %s.so is in %s", host->name,
                   host->name, host->name, place->folder);
    if (place->has_sources)
        diag_hint(host->diags,
                  "`talus build` with the project's folder builds it; --no-plugin runs the world without it");
    else
        diag_hint(host->diags, "--no-plugin runs the world without it");
}

// "FILE: undefined symbol: NAME" and the like, in words that name the symbol.
static void report_unloadable(PluginHost *host, const char *why)
{
    assert_debug(why && host->path);
    const char *symbol = strstr(why, "undefined symbol: ");
    if (symbol) {
        symbol += strlen("undefined symbol: ");
        diag_error(host->diags, host->pos,
                   "the physics plugin '%s' cannot be loaded: %s needs the function '%.*s', which is nowhere",
                   host->name, host->path, (int)strcspn(symbol, " ,("), symbol);
        diag_hint(host->diags, "%s",
                  symbol[0] == 'g' && symbol[1] == 'l'
                      ? "link it with -lGL"
                      : "a library is missing in its link command, or the name is misspelt");
        return;
    }
    // "libX.so.1: cannot open shared object file: ...": not the plugin's own file, that was looked at before.
    const char *missing = strstr(why, ": cannot open shared object file");
    if (missing)
        diag_error(host->diags, host->pos,
                   "the physics plugin '%s' cannot be loaded: %s needs the library %.*s, which is not found",
                   host->name, host->path, (int)(missing - why), why);
    else
        diag_error(host->diags, host->pos, "the physics plugin '%s' cannot be loaded: %s", host->name, why);
    diag_hint(host->diags, "%s--no-plugin runs the world without it",
              missing ? "install it, or name its folder in LD_LIBRARY_PATH; " : "");
}

static void report_unfit(PluginHost *host, const char *problem)
{
    diag_error(host->diags, host->pos, "the physics plugin '%s' cannot be loaded: %s %s", host->name, host->path,
               problem);
    diag_hint(host->diags, "build it anew for this machine with `talus build`; --no-plugin runs the world without it");
}

static bool callbacks_are_complete(PluginHost *host)
{
    assert_debug(host->path);
    bool is_complete = true;
    for (int i = 0; i < CALLBACK_COUNT; i++) {
        if (host->functions[i] || !callbacks[i].is_needed)
            continue;
        is_complete = false;
        diag_error(host->diags, host->pos, "the physics plugin '%s' cannot be used: %s has no function %s", host->name,
                   host->path, callbacks[i].name);
        diag_hint(host->diags,
                  "webots_physics_step and webots_physics_cleanup are needed, with DLLEXPORT before them in C++");
    }
    return is_complete;
}

// ---- a library of one's own ----

// One world loads at a time: whether a library is in the process already must stay true until it is loaded.
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static bool is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

// A library that is loaded a second time is the first one, global variables included. A copy of its file is another.
static const char *make_copy(PluginHost *host)
{
    assert_debug(!host->copy);
    const char *above = getenv("TMPDIR");
    char *folder = arena_printf(host->arena, "%s/talus-plugin-XXXXXX", above && *above ? above : "/tmp");
    FileData file;
    if (!file_read(host->path, (size_t)limits_default.file_bytes, &file, host->diags, host->pos))
        return NULL;
    const char *copy = mkdtemp(folder) ? path_join(host->arena, folder, path_name(host->path)) : NULL;
    if (copy && !file_write_atomic(copy, file.data, file.size, host->diags)) {
        rmdir(folder);
        copy = NULL;
    }
    file_release(&file);
    return copy;
}

static void remove_copy(PluginHost *host)
{
    if (!host->copy)
        return;
    unlink(host->copy);
    rmdir(path_directory(host->arena, host->copy));
}

typedef struct LoadCall {
    const char *path;
    void *library, *functions[CALLBACK_COUNT];
    bool touches_ode;
    unsigned reach;
    char why[1024];
} LoadCall;

static void open_library(LoadCall *call)
{
    assert_debug(!call->library);
    call->library = dlopen(call->path, RTLD_NOW | RTLD_LOCAL);
    if (call->library)
        return;
    // The program that plugins were written for had OpenGL in it, so many that draw are not linked with it.
    const char *why = dlerror();
    snprintf(call->why, sizeof call->why, "%s", why ? why : "unknown error");
    if (!strstr(call->why, "undefined symbol: gl") || !dlopen("libGL.so.1", RTLD_NOW | RTLD_GLOBAL))
        return;
    call->library = dlopen(call->path, RTLD_NOW | RTLD_LOCAL);
    why = call->library ? NULL : dlerror();
    if (why)
        snprintf(call->why, sizeof call->why, "%s", why);
}

// All that believes what the file says of itself.
static void load_call(void *context)
{
    LoadCall *call = context;
    open_library(call);
    for (int i = 0; call->library && i < CALLBACK_COUNT; i++) {
        call->functions[i] = dlsym(call->library, callbacks[i].name);
        for (int k = 0; !call->functions[i] && k < 2 && callbacks[i].mangled[k]; k++)
            call->functions[i] = dlsym(call->library, callbacks[i].mangled[k]);
    }
    call->touches_ode = call->library && plugin_touches_ode(call->library, &call->reach);
}

static void close_call(void *context) { dlclose(context); }

static bool run_guarded(PluginHost *host, const char *running, GuardRun *run, void (*function)(void *context),
                        void *context);
static void last_words(GuardOwner *owner, const GuardFault *fault, bool is_state_safe);

static void put_back(PluginHost *host, ProcessState *surroundings)
{
    const char *changes = process_state_put_back(surroundings);
    if (changes)
        diag_warning(host->diags, host->pos, "plugin '%s' changed %s in %s; Talus puts it back", host->name, changes,
                     host->running);
}

// Constructors of the library run here, so this is guarded like a callback. False when there is no library that can be
// used; a fault leaves a host that has failed.
static bool load(PluginHost *host)
{
    assert_debug(host->path && !host->copy);
    const char *problem = library_problem(host->path, host->arena);
    if (problem) {
        report_unfit(host, problem);
        return false;
    }
    pthread_mutex_lock(&loading);
    if (is_loaded(host->path))
        host->copy = make_copy(host);
    LoadCall call = { .path = host->copy ? host->copy : host->path };
    host->guard.library = call.path;
    ProcessState *surroundings = process_state_take();
    bool is_fine = run_guarded(host, arena_printf(host->arena, "loading %s", host->path), guard_call, load_call, &call);
    put_back(host, surroundings);
    pthread_mutex_unlock(&loading);
    if (!is_fine)
        return true;
    host->library = call.library;
    host->touches_ode = call.touches_ode;
    host->reach = call.reach;
    memcpy(host->functions, call.functions, sizeof host->functions);
    if (!host->library)
        report_unloadable(host, call.why);
    return host->library && callbacks_are_complete(host);
}

static bool name_is_plain(const char *name) { return name[0] != '.' && !strpbrk(name, "/\\") && strlen(name) < 200; }

void plugin_look(const Scene *scene, DiagSink *diags)
{
    const char *name = plugin_name(scene);
    if (!name)
        return;
    PluginHost host = { .arena = arena_create(),
                        .diags = diags,
                        .pos = scene_field_pos(scene_find_top(scene, "WorldInfo"), "physics") };
    host.name = library_plain_name(name, host.arena);
    PluginPlace place = { .tried = "of that name (it must be a plain name)" };
    if (name_is_plain(host.name))
        place = plugin_find(scene, host.name, NULL, host.arena);
    host.path = place.library;
    const char *problem = host.path ? library_problem(host.path, host.arena) : NULL;
    if (!host.path)
        report_missing(&host, &place);
    else if (problem)
        report_unfit(&host, problem);
    arena_destroy(host.arena);
}

// The guard stands before the library is looked at: constructors of a plugin already run while it is loaded, and may
// crash. A plugin that is named but cannot be used leaves *is_missing set, so that the world is not simulated
// without it.
PluginHost *plugin_open(Scene *scene, Physics *physics, const PluginOptions *options, DiagSink *diags, bool *is_missing)
{
    assert_debug(scene && physics && diags && is_missing);
    const char *name = plugin_name(scene);
    *is_missing = name != NULL;
    if (!name)
        return NULL;
    PluginHost *host = memory_alloc(sizeof *host);
    host->arena = arena_create();
    host->scene = scene;
    host->physics = physics;
    host->diags = diags;
    host->pos = scene_field_pos(scene_find_top(scene, "WorldInfo"), "physics");
    host->name = library_plain_name(name, host->arena);
    if (strcmp(name, host->name))
        diag_warning(diags, host->pos, "physics \"%s\" is read as the name of a plugin, '%s'", name, host->name);
    if (options)
        host->options = *options;
    host->devices = host->options.devices;
    if (host->devices)
        devices_plugin_listens(host->devices);
    host->guard.last_words = last_words;
    guard_acquire(&host->guard);
    utilities_host_added(host);
    PluginPlace place = { 0 };
    if (name_is_plain(host->name)) {
        place = plugin_find(scene, host->name, host->options.search_paths, host->arena);
    } else {
        place.tried = "of that name (it must be a plain name)";
    }
    host->folder = place.folder;
    host->path = place.library;
    if (!host->path)
        report_missing(host, &place);
    if (!host->path || !load(host)) {
        if (!plugin_unload(host))
            guard_settled();
        plugin_close(host);
        return NULL;
    }
    *is_missing = false;
    for (int i = 0; i < 2; i++)
        host->groups[i] = dJointGroupCreate(0);
    host->old_group = dJointGroupCreate(0);
    return host;
}

// A library that failed may be in the middle of anything: its destructors are better not run. One whose threads run on
// stays.
bool plugin_unload(PluginHost *host)
{
    if (host->library && !host->failure && !guard_has_threads(&host->guard))
        run_guarded(host, arena_printf(host->arena, "unloading %s", host->path), guard_call, close_call, host->library);
    host->library = NULL;
    return !host->failure;
}

void plugin_close(PluginHost *host)
{
    if (!host)
        return;
    assert(!host->library || host->failure);
    if (host->functions[CALLBACK_COLLIDE] && host->physics)
        physics_ode_set_collide_hook(host->physics, NULL);
    if (host->old_group) {
        dJointGroupDestroy(host->groups[0]);
        dJointGroupDestroy(host->groups[1]);
        dJointGroupDestroy(host->old_group);
    }
    remove_copy(host);
    utilities_host_removed(host);
    plugin_fluids_forget(physics_ode_world(host->physics));
    guard_release(&host->guard);
    messages_free(host);
    free(host->failure);
    arena_destroy(host->arena);
    free(host);
}

bool plugin_is_failed(const PluginHost *host) { return host->failure != NULL; }
const char *plugin_failure(const PluginHost *host) { return host->failure; }
bool plugin_has_collide(const PluginHost *host) { return host->functions[CALLBACK_COLLIDE] != NULL; }
bool plugin_has_draw(const PluginHost *host)
{
    return host->functions[CALLBACK_DRAW] || host->functions[CALLBACK_PREDRAW];
}

void plugin_take_back(PluginHost *host, Physics *physics)
{
    if (!host->failure)
        physics_ode_take_back(physics);
}

void plugin_set_physics(PluginHost *host, Physics *physics)
{
    assert(physics);
    assert(!host->is_live || host->failure);
    host->physics = physics;
}

// ---- faults ----

static void fail(PluginHost *host, const char *message)
{
    if (!host->failure)
        host->failure = memory_string(message);
    host->is_live = false;
}

static void report_fault(PluginHost *host, const GuardFault *fault)
{
    assert(fault->frame_count >= 0 && fault->frame_count <= GUARD_FRAMES);
    GuardPlace *places = arena_alloc_array(host->arena, GUARD_FRAMES, sizeof *places);
    guard_places(fault, places, host->arena);
    PluginReport *report = arena_alloc(host->arena, sizeof *report);
    plugin_report(host, fault, places, report);
    diag_error(host->diags, host->pos, "%s", report->message.text);
    diag_hint(host->diags, "%s", report->hint.text);
    fail(host, report->message.text);
}

void plugin_is_saved(PluginHost *host)
{
    (void)host;
    guard_settled();
}

static void write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

// The buffer of standard output, where no damage to the heap reaches it.
static char output[1 << 16];
static bool is_output_kept;

void plugin_keep_output(void)
{
    is_output_kept = setvbuf(stdout, output, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof output) == 0;
}

// What was printed and is still in the buffer, then how the run went.
static void last_output(const PluginHost *host, const char *failure, bool is_state_safe)
{
    if (is_output_kept)
        write_all(STDOUT_FILENO, output, int_min((int)__fpending(stdout), (int)sizeof output));
    const char *summary = is_state_safe && host->options.sum_up
                              ? host->options.sum_up(host->options.sum_context, failure)
                              : NULL;
    if (summary)
        write_all(STDOUT_FILENO, summary, strlen(summary));
}

// The heap is gone: everything here lies in static memory or on the stack.
static void last_words(GuardOwner *owner, const GuardFault *fault, bool is_state_safe)
{
    static GuardPlace places[GUARD_FRAMES];
    static PluginReport report;
    static PluginWords words;
    PluginHost *host = (PluginHost *)((char *)owner - offsetof(PluginHost, guard));
    guard_places_outside(fault, places);
    plugin_report(host, fault, places, &report);
    words_add(&words, "%s:%u:%u: error: %s\n    hint: %s\n", diag_file_name(host->diags, host->pos.file),
              host->pos.line, (unsigned)host->pos.column, report.message.text, report.hint.text);
    write_all(STDERR_FILENO, words.text, words.length);
    const char *saved = is_state_safe && host->options.save_last ? host->options.save_last(host->options.save_context)
                                                                 : NULL;
    words.length = 0;
    if (saved)
        words_add(
            &words,
            "warning: the state of the last completed step is in %s; `talus run WORLD --from %s` goes on from it\n",
            saved, saved);
    else
        words_add(&words, "warning: the state of the last completed step could not be saved\n");
    write_all(STDERR_FILENO, words.text, words.length);
    last_output(host, report.message.text, is_state_safe);
}

// ---- callbacks ----

typedef struct Call {
    PluginHost *host;
    dGeomID a, b;
    int answer, pass;
    const char *view;
} Call;

static void call_init(void *context)
{
    const Call *call = context;
    const PluginHost *host = call->host;
    // A plugin of the newer kind takes no arguments and does not see these.
    ((void (*)(dWorldID, dSpaceID, dJointGroupID))host->functions[CALLBACK_INIT])(
        physics_ode_world(host->physics), physics_ode_space(host->physics), host->old_group);
}

static void call_step(void *context) { ((void (*)(void))((const Call *)context)->host->functions[CALLBACK_STEP])(); }
static void call_step_end(void *context)
{
    ((void (*)(void))((const Call *)context)->host->functions[CALLBACK_STEP_END])();
}
static void call_cleanup(void *context)
{
    ((void (*)(void))((const Call *)context)->host->functions[CALLBACK_CLEANUP])();
}
static int ask_about(const PluginHost *host, dGeomID a, dGeomID b)
{
    return ((int (*)(dGeomID, dGeomID))host->functions[CALLBACK_COLLIDE])(a, b);
}
static void call_collide(void *context)
{
    Call *call = context;
    call->answer = ask_about(call->host, call->a, call->b);
}
static void call_predraw(void *context)
{
    ((void (*)(void))((const Call *)context)->host->functions[CALLBACK_PREDRAW])();
}
static void call_draw(void *context)
{
    const Call *call = context;
    ((void (*)(int, const char *))call->host->functions[CALLBACK_DRAW])(call->pass, call->view);
}

static void (*const calls[])(void *) = {
    [CALLBACK_INIT] = call_init,         [CALLBACK_STEP] = call_step,       [CALLBACK_COLLIDE] = call_collide,
    [CALLBACK_STEP_END] = call_step_end, [CALLBACK_PREDRAW] = call_predraw, [CALLBACK_DRAW] = call_draw,
    [CALLBACK_CLEANUP] = call_cleanup,
};
static_assert(COUNT_OF(calls) == CALLBACK_COUNT, "one function for every callback");

// Runs the function with a guard around all of it, or around what it marks as the plugin's.
static bool run_guarded(PluginHost *host, const char *running, GuardRun *run, void (*function)(void *context),
                        void *context)
{
    assert_debug(running && run && function);
    GuardFault fault;
    host->running = running;
    host->not_its_own = NULL;
    PluginHost *before = utilities_bind(host);
    physics_ode_keep_errors(guard_is_inside);
    bool is_fine = run(&host->guard, function, context, host->options.timeout_ms, &fault);
    utilities_bind(before);
    if (!is_fine)
        report_fault(host, &fault);
    physics_ode_keep_errors(NULL);
    return is_fine;
}

static bool run_callback(PluginHost *host, PluginCallback callback, Call *call)
{
    assert_debug((int)callback >= 0 && (int)callback < CALLBACK_COUNT);
    if (host->failure)
        return false;
    if (!host->functions[callback])
        return true;
    call->host = host;
    ProcessState *surroundings = callbacks[callback].is_rare ? process_state_take() : NULL;
    bool is_fine = run_guarded(host, callbacks[callback].name, guard_call, calls[callback], call);
    if (surroundings)
        put_back(host, surroundings);
    return is_fine;
}

// Forces that are not finite are the plugin's: everything else was checked before.
static bool check_forces(PluginHost *host, PluginCallback callback)
{
    assert_debug((int)callback >= 0 && (int)callback < CALLBACK_COUNT);
    if (!host->touches_ode)
        return !host->failure;
    for (int body; (body = physics_ode_drop_bad_force(host->physics)) >= 0;) {
        Text message = { 0 };
        text_printf(&message, "physics plugin '%s': %s gave '%s' a force or torque that is not finite at %g s",
                    host->name, callbacks[callback].name,
                    physics_solid_label(host->physics, physics_body_solid(host->physics, body)), host->time);
        diag_error(host->diags, host->pos, "%s", message.data);
        fail(host, message.data);
        text_free(&message);
    }
    return !host->failure;
}

static int on_collide(void *context, dGeomID a, dGeomID b)
{
    PluginHost *host = context;
    if (host->is_in_series) {
        guard_enter();
        int answer = ask_about(host, a, b);
        guard_exit();
        return answer;
    }
    Call call = { .a = a, .b = b };
    return host->is_live && run_callback(host, CALLBACK_COLLIDE, &call) ? call.answer : 0;
}

// One guard for all pairs of a pass. What a plugin that fails leaves open is done without it.
static void on_pairs(void *context, void (*pairs)(void *pass), void *pass)
{
    PluginHost *host = context;
    if (!host->is_live)
        return;
    assert_debug(!host->is_in_series);
    host->is_in_series = true;
    run_guarded(host, callbacks[CALLBACK_COLLIDE].name, guard_series, pairs, pass);
    host->is_in_series = false;
}

// Joints of the last pass have acted and may still be looked at in step_end. A pass that is made again before a step
// (something was moved by hand) takes the place of the one before.
static void on_pass_begin(void *context)
{
    PluginHost *host = context;
    assert_debug(host->group == 0 || host->group == 1);
    if (host->is_group_used)
        host->group = 1 - host->group;
    host->is_group_used = false;
    if (!host->touches_ode)
        return;
    dJointGroupEmpty(host->groups[host->group]);
    dJointGroupEmpty(host->old_group);
}

bool plugin_init(PluginHost *host, double time)
{
    if (host->failure)
        return false;
    assert_debug(!host->is_live);
    host->time = time;
    if (host->touches_ode) {
        physics_ode_hand_out(host->physics, host->reach);
        physics_ode_hide_contacts(host->physics);  // the first joints of a body are those of the file
    }
    process_state_lock();
    char *before = getcwd(NULL, 0);
    if (chdir(host->folder))
        diag_warning(host->diags, host->pos, "plugin '%s': its folder %s cannot be entered", host->name, host->folder);
    bool is_fine = run_callback(host, CALLBACK_INIT, &(Call){ 0 });
    if (before && chdir(before))
        diag_warning(host->diags, host->pos, "the folder %s cannot be entered again", before);
    free(before);
    process_state_unlock();
    if (host->touches_ode)
        physics_ode_show_contacts(host->physics);
    if (!is_fine)
        return false;
    host->is_live = true;
    if (host->functions[CALLBACK_COLLIDE])
        physics_ode_set_collide_hook(host->physics, &(PhysicsCollideHook){ on_collide, on_pass_begin, on_pairs, host });
    is_fine = check_forces(host, CALLBACK_INIT);
    if (host->touches_ode)
        physics_ode_take_bodies(host->physics);
    return is_fine;
}

bool plugin_step(PluginHost *host, double time)
{
    host->time = time;
    messages_begin_step(host);
    if (!run_callback(host, CALLBACK_STEP, &(Call){ 0 }))
        return false;
    if (host->touches_ode)
        plugin_fluids_step(physics_ode_world(host->physics), physics_time_step(host->physics));
    return check_forces(host, CALLBACK_STEP);
}

bool plugin_advanced(PluginHost *host)
{
    assert_debug(host->group == 0 || host->group == 1);
    host->is_group_used = true;
    // Without a collide function no pass begins for the plugin: joints that it makes in step act in that step alone.
    if (!host->functions[CALLBACK_COLLIDE])
        on_pass_begin(host);
    return !host->failure;
}

bool plugin_collided(PluginHost *host)
{
    return !host->failure && (!host->functions[CALLBACK_COLLIDE] || check_forces(host, CALLBACK_COLLIDE));
}

bool plugin_step_end(PluginHost *host, double time)
{
    assert_debug(host->group == 0 || host->group == 1);
    host->time = time;
    bool is_fine = run_callback(host, CALLBACK_STEP_END, &(Call){ 0 });
    if (is_fine && host->touches_ode)
        dJointGroupEmpty(host->groups[1 - host->group]);
    return is_fine;
}

bool plugin_settle(PluginHost *host)
{
    return !host->failure && (!host->functions[CALLBACK_STEP_END] || check_forces(host, CALLBACK_STEP_END));
}

static void empty_groups(PluginHost *host)
{
    dJointGroupEmpty(host->groups[0]);
    dJointGroupEmpty(host->groups[1]);
    dJointGroupEmpty(host->old_group);
    host->is_group_used = false;
}

bool plugin_restored(PluginHost *host)
{
    if (!host->is_live || host->failure)
        return false;
    empty_groups(host);
    return host->functions[CALLBACK_COLLIDE] != NULL;
}

bool plugin_cleanup(PluginHost *host, double time)
{
    if (!host->is_live)
        return !host->failure;
    host->time = time;
    if (host->functions[CALLBACK_COLLIDE])
        physics_ode_set_collide_hook(host->physics, NULL);
    bool is_fine = run_callback(host, CALLBACK_CLEANUP, &(Call){ 0 }) && check_forces(host, CALLBACK_CLEANUP);
    host->is_live = false;
    if (is_fine)
        empty_groups(host);
    return is_fine;
}

bool plugin_draw(PluginHost *host, double time, int pass, const char *view)
{
    assert(pass >= 0);
    host->time = time;
    if (!host->is_draw_known && host->functions[CALLBACK_DRAW]) {
        host->is_draw_known = true;
        host->is_old_draw = guard_parameter_count(host->functions[CALLBACK_DRAW]) == 0;
    }
    // The old kinds know neither passes nor cameras: each once a frame, under and over the 3D view.
    if (host->functions[CALLBACK_PREDRAW] && pass == 0 && !view
        && !(run_callback(host, CALLBACK_PREDRAW, &(Call){ 0 }) && check_forces(host, CALLBACK_PREDRAW)))
        return false;
    if (host->is_old_draw && (pass != 1 || view))
        return !host->failure;
    return run_callback(host, CALLBACK_DRAW, &(Call){ .pass = pass, .view = view })
           && check_forces(host, CALLBACK_DRAW);
}
