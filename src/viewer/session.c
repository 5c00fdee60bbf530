// session.c - the world's side of the viewer, asked before every step: takes what people ordered, lets the world wait
// or run in its pace, publishes moments, keeps snapshots to go back to. While nobody is there and nothing is ordered it
// costs one atomic load a step, and at no time does it wait for a client.
#include "viewer/viewer_internal.h"

#include "base/memory.h"
#include "record/glb.h"
#include "record/meta.h"
#include "record/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCENE_SHARE = 10
};  // at most one part in so many of the time goes into writing scenes that change by themselves
#define EDIT_SCENE_SECONDS 0.5   // between two scenes that programs changed
#define DRAG_SCENE_SECONDS 0.05  // ... that a drag at a handle changes
#define SNAPSHOT_SECONDS 0.2     // on the clock, between snapshots while the world runs
#define SPEED_SECONDS 0.25       // over which the speed is measured
#define LATE_SECONDS 0.1         // behind its pace a world gives up to catch up
#define NAP_SECONDS 0.1          // of a paused world, between looks at signals

// ---- messages ----

void session_tell(Viewer *viewer, uint32_t client, const Text *text, bool is_droppable)
{
    assert(text->length > 0);
    exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_TEXT,
                                               .client = client,
                                               .is_droppable = is_droppable,
                                               .blob = blob_create(text->data, text->length) });
}

// A line of the console, kept for those who come later.
static void tell_line(Viewer *viewer, const Text *text)
{
    exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_TEXT,
                                               .is_droppable = true,
                                               .is_line = true,
                                               .blob = blob_create(text->data, text->length) });
}

static void tell_diagnostics(Viewer *viewer)
{
    assert(viewer->diags_told <= diag_count(viewer->diags));
    for (; viewer->diags_told < diag_count(viewer->diags); viewer->diags_told++) {
        const Diagnostic *diag = diag_at(viewer->diags, viewer->diags_told);
        Text text = { 0 };
        JsonWriter json = { .out = &text, .compact = true };
        json_begin_object(&json, NULL);
        json_string(&json, "is", "diagnostic");
        json_string(&json, "severity", diag_severity_name(diag->severity));
        json_string(&json, "file", diag_file_name(viewer->diags, diag->pos.file));
        json_int(&json, "line", diag->pos.line);
        json_string(&json, "text", diag->message);
        json_string(&json, "hint", diag->hint);
        json_string(&json, "node", diag->node);
        json_end_object(&json);
        tell_line(viewer, &text);
        text_free(&text);
    }
}

void viewer_heard(void *context, const char *robot, const char *line, size_t length, bool is_error)
{
    Viewer *viewer = context;
    if (!viewer->web)
        return;
    Text text = { 0 };
    size_t bad;
    bool is_fine = text_is_valid_utf8(line, length, &bad);
    char *shown = memory_text(line, is_fine ? length : bad);
    JsonWriter json = { .out = &text, .compact = true };
    json_begin_object(&json, NULL);
    json_string(&json, "is", "print");
    json_double(&json, "t", viewer->sim ? sim_time(viewer->sim) : 0.0);
    json_string(&json, "from", robot);
    json_string(&json, "text", shown);
    json_bool(&json, "error", is_error);
    json_end_object(&json);
    tell_line(viewer, &text);
    text_free(&text);
    free(shown);
}

// The last words of each label are kept for those who come later, as lines of the console are.
void viewer_labelled(void *context, const ControlLabel *label)
{
    Viewer *viewer = context;
    if (!viewer->web)
        return;
    char color[16];
    snprintf(color, sizeof color, "#%06x%02x", (unsigned)label->color & 0xffffffu,
             (unsigned)lround(255.0 * (1.0 - double_clamp(label->transparency, 0.0, 1.0))));
    Text text = { 0 };
    JsonWriter json = { .out = &text, .compact = true };
    json_begin_object(&json, NULL);
    json_string(&json, "is", "label");
    json_double(&json, "t", viewer->sim ? sim_time(viewer->sim) : 0.0);
    json_int(&json, "id", label->id);
    json_string(&json, "text", label->text);
    json_double(&json, "x", label->x);
    json_double(&json, "y", label->y);
    json_double(&json, "size", label->size);
    json_string(&json, "color", color);
    json_string(&json, "font", label->font);
    json_end_object(&json);
    exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_TEXT,
                                               .is_droppable = true,
                                               .label = label->id + 1,
                                               .blob = blob_create(text.data, text.length) });
    text_free(&text);
}

// In a run that only repeats acts nobody could press play: there it goes on.
bool viewer_moded(void *context, int mode)
{
    enum { PAUSE, REAL_TIME };
    Viewer *viewer = context;
    if (!viewer->web)
        return true;
    viewer->is_paused = mode == PAUSE;
    if (mode != PAUSE)
        viewer->pace = mode == REAL_TIME ? 1.0 : 0.0;
    viewer->is_dirty = true;
    exchange_attend(&viewer->exchange, ATTENTION_PAUSED, viewer->is_paused);
    return true;
}

// ---- the scene ----

static void make_scene(Viewer *viewer)
{
    assert(viewer->sim);
    double start = viewer_clock();
    Text out = { 0 };
    viewer->revision++;
    text_add(&out, "SCNE", 4);
    for (int i = 0; i < 4; i++)
        text_add_char(&out, (char)(viewer->revision >> (8 * i) & 0xff));
    glb_write(viewer->sim, NULL, &out);
    blob_release(viewer->scene);
    viewer->scene = blob_create(out.data, out.length);
    text_clear(&out);
    JsonWriter json = { .out = &out, .compact = true };
    meta_write(viewer->sim, &json);
    blob_release(viewer->meta);
    viewer->meta = blob_create(out.data, out.length);
    text_free(&out);
    const Physics *physics = sim_physics(viewer->sim);
    viewer->seen_edit = physics_edit_count(physics);
    viewer->seen_tree = physics_tree_count(physics);
    viewer->scene_made = viewer_clock();
    viewer->scene_cost = viewer->scene_made - start;
    viewer->is_dirty = true;
}

static void send_scene(Viewer *viewer, LetterKind kind, uint32_t client)
{
    assert(viewer->scene && viewer->meta);
    exchange_send(&viewer->exchange, (Letter){ .kind = kind,
                                               .client = client,
                                               .blob = blob_hold(viewer->meta),
                                               .scene = blob_hold(viewer->scene),
                                               .revision = viewer->revision });
}

// Programs may change colours at every step: then the scene is written now and then. What people change is shown at
// once.
static void follow_edits(Viewer *viewer)
{
    const Physics *physics = sim_physics(viewer->sim);
    if (!viewer->scene
        || (viewer->seen_edit == physics_edit_count(physics) && viewer->seen_tree == physics_tree_count(physics)))
        return;
    double pause = viewer->sized_node ? DRAG_SCENE_SECONDS : EDIT_SCENE_SECONDS;
    if (!viewer->has_edited && viewer_clock() - viewer->scene_made < fmax(pause, SCENE_SHARE * viewer->scene_cost))
        return;
    viewer->has_edited = false;
    make_scene(viewer);
    send_scene(viewer, LETTER_SCENE, 0);
}

static void welcome(Viewer *viewer, uint32_t client)
{
    assert(viewer->sim && client != 0);
    const Physics *physics = sim_physics(viewer->sim);
    if (!viewer->scene || viewer->seen_edit != physics_edit_count(physics)
        || viewer->seen_tree != physics_tree_count(physics)) {
        bool is_first = !viewer->scene;
        make_scene(viewer);
        if (!is_first)
            send_scene(viewer, LETTER_SCENE, 0);
    }
    tell_diagnostics(viewer);
    send_scene(viewer, LETTER_WELCOME, client);
    viewer->ink_seen = 0;  // all of it once more
    viewer->is_dirty = true;
}

// ---- snapshots to go back to ----

void session_forget_snapshots(Viewer *viewer)
{
    for (int i = 0; i < viewer->snapshot_count; i++)
        sim_snapshot_free(&viewer->snapshots[i].state);
    viewer->snapshot_count = 0;
    viewer->snapshot_bytes = 0;
}

static void remove_snapshot(Viewer *viewer, int index)
{
    assert(index >= 0 && index < viewer->snapshot_count);
    viewer->snapshot_bytes -= viewer->snapshots[index].state.capacity;
    sim_snapshot_free(&viewer->snapshots[index].state);
    memmove(&viewer->snapshots[index], &viewer->snapshots[index + 1],
            (size_t)(viewer->snapshot_count - index - 1) * sizeof *viewer->snapshots);
    viewer->snapshot_count--;
}

void session_take_snapshot(Viewer *viewer)
{
    assert(viewer->sim && viewer->snapshot_count >= 0);
    while (viewer->snapshot_count > 0 && viewer->snapshots[viewer->snapshot_count - 1].step >= sim_steps(viewer->sim))
        remove_snapshot(viewer, viewer->snapshot_count - 1);
    memory_grow(&viewer->snapshots, &viewer->snapshot_capacity, viewer->snapshot_count + 1, sizeof *viewer->snapshots);
    SessionSnapshot *snapshot = &viewer->snapshots[viewer->snapshot_count++];
    *snapshot =
        (SessionSnapshot){ .step = sim_steps(viewer->sim), .time = sim_time(viewer->sim), .acts = viewer->acts_done };
    sim_snapshot(viewer->sim, &snapshot->state);
    viewer->snapshot_bytes += snapshot->state.capacity;
    // Room is made as in the history: every second one of the older half goes.
    while (viewer->snapshot_bytes > VIEWER_SNAPSHOT_BYTES && viewer->snapshot_count > 2)
        for (int i = viewer->snapshot_count / 2; i > 0; i -= 2)
            remove_snapshot(viewer, i);
}

const SessionSnapshot *session_snapshot_before(const Viewer *viewer, double time, uint64_t step)
{
    for (int i = viewer->snapshot_count - 1; i >= 0; i--)
        if (viewer->snapshots[i].time <= time + 1e-9 && viewer->snapshots[i].step < step)
            return &viewer->snapshots[i];
    return NULL;
}

static void went_back(Viewer *viewer)
{
    assert(viewer->sim);
    viewer->drag = (Drag){ 0 };
    viewer->sized_node = 0;
    viewer->is_rewound = viewer->is_dirty = true;
    viewer->paced_step = viewer->speed_step = sim_steps(viewer->sim);
    viewer->paced_from = viewer->speed_from = viewer_clock();
    session_forget_undo(viewer);
    if (viewer->wants_forces)  // a reset may have made the physics anew
        physics_want_contact_forces(sim_physics(viewer->sim), true);
}

const char *session_resume(Viewer *viewer, uint64_t step, uint64_t acts)
{
    assert(viewer->sim);
    int place = viewer->snapshot_count - 1;
    while (place >= 0 && (viewer->snapshots[place].step != step || viewer->snapshots[place].acts != acts))
        place--;
    if (place < 0)
        return "no snapshot was kept of that moment";
    uint64_t from = sim_steps(viewer->sim);
    if (!sim_restore(viewer->sim, &viewer->snapshots[place].state))
        return "the world has been changed since; its snapshots do not fit any more";
    if (viewer->world.control)
        control_rewound(viewer->world.control, from);
    while (viewer->snapshot_count > place + 1)
        remove_snapshot(viewer, viewer->snapshot_count - 1);
    went_back(viewer);
    return NULL;
}

const char *session_reset(Viewer *viewer)
{
    session_forget_snapshots(viewer);
    viewer->steps_left = 0;
    if (viewer->world.control)
        control_reset(viewer->world.control);
    else
        sim_reset(viewer->sim);
    if (viewer->world.devices && !viewer->world.control)
        devices_reset(viewer->world.devices, sim_physics(viewer->sim));
    viewer->has_edited = true;
    went_back(viewer);
    return sim_failure(viewer->sim);
}

// ---- moments ----

static void measure_speed(Viewer *viewer, double now)
{
    uint64_t step = sim_steps(viewer->sim);
    if (now - viewer->speed_from < SPEED_SECONDS)
        return;
    double steps = step > viewer->speed_step ? (double)(step - viewer->speed_step) : 0.0;
    viewer->speed = steps * sim_time_step(viewer->sim) / (now - viewer->speed_from);
    viewer->speed_from = now;
    viewer->speed_step = step;
}

static bool is_running(const Viewer *viewer) { return !viewer->is_paused || viewer->steps_left > 0; }

static void publish(Viewer *viewer, double now)
{
    ViewMoment *moment = viewer->exchange.back;
    moment->serial = ++viewer->moment_serial;
    moment->revision = viewer->revision;
    moment->step = sim_steps(viewer->sim);
    moment->time = sim_time(viewer->sim);
    moment->speed = is_running(viewer) ? viewer->speed : 0.0;
    moment->is_running = is_running(viewer);
    moment->is_rewound = viewer->is_rewound;
    moment->can_resume = viewer->snapshot_count > 0;
    moment->pace = viewer->pace;
    watch_publish(viewer, moment);
    viewer->is_dirty = viewer->is_rewound = false;
    viewer->published = now;
    viewer->published_step = moment->step;
    exchange_publish(&viewer->exchange);
}

// While somebody looks on: the moment, and now and then a snapshot. A paused world has one of every step.
static void show(Viewer *viewer)
{
    assert_debug(viewer->sim);
    double now = viewer_clock();
    if (sim_steps(viewer->sim) < viewer->published_step && !viewer->is_rewound) {  // somebody else went back
        session_forget_snapshots(viewer);
        went_back(viewer);
    }
    tell_diagnostics(viewer);
    measure_speed(viewer, now);
    follow_edits(viewer);
    viewer->is_dirty |= viewer->is_picture_late && now - viewer->published >= VIEWER_PICTURE_SECONDS;
    bool has_moved = viewer->published_step != sim_steps(viewer->sim);
    if (!viewer->is_dirty && !(has_moved && now - viewer->published >= VIEWER_FRAME_SECONDS)
        && !(has_moved && !is_running(viewer)))
        return;
    bool is_new = viewer->snapshot_count == 0
                  || viewer->snapshots[viewer->snapshot_count - 1].step < sim_steps(viewer->sim);
    if (is_new && (!is_running(viewer) || now - viewer->snapshot_taken >= SNAPSHOT_SECONDS)) {
        session_take_snapshot(viewer);
        viewer->snapshot_taken = now;
    }
    publish(viewer, now);
}

// ---- orders ----

// True when it was done. An answer goes to whoever wants one, words of trouble to whoever asked.
bool session_act(Viewer *viewer, uint32_t client, const char *text, size_t size, const JsonValue *message)
{
    assert(viewer->sim && text && message);
    const char *name = json_member_string(message, "do");
    const ActType *type = name ? act_type(name) : NULL;
    if (!type)
        return false;
    Text body = { 0 };
    JsonWriter json = { .out = &body, .compact = true };
    json_begin_object(&json, NULL);
    answer_begin(&json, message, true);
    Act act = { viewer, client, message, text, size, &json };
    if (type->is_logged)
        journal_write(viewer, text, size);
    const char *error = type->run(&act);
    if (type->is_logged && viewer->world.control)
        control_touched(viewer->world.control);
    if (error) {
        text_clear(&body);
        json = (JsonWriter){ .out = &body, .compact = true };
        json_begin_object(&json, NULL);
        answer_begin(&json, message, false);
        json_string(&json, "error", error);
    }
    json_end_object(&json);
    if (client && (error || json_member(message, "id")))
        session_tell(viewer, client, &body, false);
    text_free(&body);
    return !error;
}

void session_run(Viewer *viewer, const Order *order)
{
    arena_reset(viewer->arena);
    if (order->kind == ORDER_WELCOME) {
        welcome(viewer, order->client);
    } else if (order->kind == ORDER_GONE) {
        watch_client_left(viewer, order->client);
        if (viewer->drag.kind && viewer->drag_client == order->client) {
            static const char release[] = "{\"do\":\"release\"}";
            session_act(viewer, 0, release, sizeof release - 1,
                        json_parse(viewer->arena, release, sizeof release - 1, NULL));
        }
    } else {
        const JsonValue *message = json_parse(viewer->arena, order->text, order->size, NULL);
        session_act(viewer, order->client, order->text, order->size, message);
    }
}

static void take_orders(Viewer *viewer)
{
    Order order;
    for (int i = 0; i < VIEWER_INBOX_MAX && !viewer->wants_reload && exchange_take_order(&viewer->exchange, &order);
         i++) {
        session_run(viewer, &order);
        free(order.text);
    }
}

// ---- acts that are repeated ----

static void repeat_acts(Viewer *viewer)
{
    assert(viewer->journal);
    const char *text;
    size_t size;
    for (;;) {
        if (journal_wants_snapshot(viewer->journal, sim_steps(viewer->sim), viewer->acts_done))
            session_take_snapshot(viewer);
        if (!journal_next(viewer->journal, sim_steps(viewer->sim), &text, &size))
            break;
        arena_reset(viewer->arena);
        const JsonValue *message = json_parse(viewer->arena, text, size, NULL);
        session_act(viewer, 0, text, size, message);
    }
}

// ---- between two steps ----

static bool is_interrupted(const Viewer *viewer)
{
    return viewer->options.is_interrupted && viewer->options.is_interrupted();
}

// Seconds until the next step may be made.
static double time_left(Viewer *viewer)
{
    assert_debug(sim_time_step(viewer->sim) > 0.0);
    if (viewer->pace <= 0.0)
        return 0.0;
    double now = viewer_clock();
    double due = viewer->paced_from
                 + (double)(sim_steps(viewer->sim) - viewer->paced_step) * sim_time_step(viewer->sim) / viewer->pace;
    if (sim_steps(viewer->sim) < viewer->paced_step || now - due > LATE_SECONDS) {
        viewer->paced_from = now;
        viewer->paced_step = sim_steps(viewer->sim);
        return 0.0;
    }
    return due - now;
}

static void note_attention(Viewer *viewer)
{
    bool has_acts = viewer->drag.kind || viewer->steps_left > 0 || viewer_has_acts_left(viewer);
    exchange_attend(&viewer->exchange, ATTENTION_PAUSED, viewer->is_paused);
    exchange_attend(&viewer->exchange, ATTENTION_PACED, viewer->pace > 0.0);
    exchange_attend(&viewer->exchange, ATTENTION_ACTS, has_acts);
}

static bool attend(Viewer *viewer)
{
    for (;;) {
        if (viewer->journal)
            repeat_acts(viewer);
        take_orders(viewer);
        if (viewer->wants_reload || is_interrupted(viewer))
            return false;
        if (atomic_load(&viewer->exchange.attention) & ATTENTION_CLIENTS || viewer->is_dirty)
            show(viewer);
        double left = is_running(viewer) ? time_left(viewer) : NAP_SECONDS;
        if (is_running(viewer) && left <= 0.0)
            break;
        if (viewer->world.control && !is_running(viewer))
            control_listen(viewer->world.control);
        if (viewer->world.idle && !is_running(viewer))
            viewer->world.idle(viewer->world.idle_context);
        exchange_wait(&viewer->exchange, fmin(left, NAP_SECONDS));
    }
    if (viewer->steps_left > 0)
        viewer->steps_left--;
    if (viewer->drag.kind)
        drag_apply(viewer);
    note_attention(viewer);
    return true;
}

bool session_before_step(Sim *sim, void *context)
{
    assert_debug(((Viewer *)context)->sim == sim);
    (void)sim;
    Viewer *viewer = context;
    return atomic_load_explicit(&viewer->exchange.attention, memory_order_acquire) == 0 || attend(viewer);
}

// ---- life ----

static char *link_of(const Viewer *viewer, const char *token)
{
    assert(viewer->web && strlen(token) == VIEWER_TOKEN_CHARS);
    const char *address = viewer->options.address ? viewer->options.address : "127.0.0.1";
    char host[256];
    bool is_any = !strcmp(address, "0.0.0.0") || !strcmp(address, "::");
    snprintf(host, sizeof host, strchr(address, ':') && !is_any ? "[%s]" : "%s", is_any ? "127.0.0.1" : address);
    Text text = { 0 };
    text_printf(&text, "http://%s:%d/#token=%s", host, web_port(viewer->web), token);
    return text.data;
}

// Its damage is told before a browser is asked to show it.
static bool open_ghost(Viewer *viewer)
{
    Recording *recording = recording_open(viewer->options.ghost, NULL, viewer->diags);
    recording_close(recording);
    return recording
           && file_read(viewer->options.ghost, RECORDING_FILE_MAX, &viewer->ghost, viewer->diags, (SourcePos){ 0 });
}

static bool open_files(Viewer *viewer)
{
    if (viewer->options.acts && !(viewer->journal = journal_read(viewer->options.acts, viewer->diags)))
        return false;
    if (viewer->options.ghost && !open_ghost(viewer))
        return false;
    return !viewer->options.log || journal_open(viewer);
}

Viewer *viewer_start(const ViewerOptions *options, DiagSink *diags)
{
    assert(options && diags && options->pace >= 0.0);
    Viewer *viewer = memory_alloc(sizeof *viewer);
    viewer->options = *options;
    viewer->diags = viewer->own_diags = diags;
    viewer->is_paused = options->is_paused;
    viewer->pace = options->pace;
    viewer->arena = arena_create();
    exchange_init(&viewer->exchange);
    hub_init(&viewer->hub, &viewer->exchange);
    bool is_ready = open_files(viewer);
    if (is_ready && !options->without_server) {
        viewer->web = web_start(&viewer->options, &viewer->ghost, &viewer->hub, diags);
        is_ready = viewer->web != NULL;
    }
    if (!is_ready) {
        viewer_stop(viewer);
        return NULL;
    }
    if (viewer->web) {
        viewer->url = link_of(viewer, viewer->hub.token);
        viewer->watch_url = link_of(viewer, viewer->hub.watch_token);
    }
    return viewer;
}

void viewer_attach(Viewer *viewer, Sim *sim, const ViewerWorld *world)
{
    assert(!viewer->sim);
    viewer->sim = sim;
    viewer->diags = sim_diags(sim);
    viewer->diags_told = 0;
    viewer->world = world ? *world : (ViewerWorld){ 0 };
    viewer->wants_reload = viewer->has_unheard = false;
    bool had_scene = viewer->scene != NULL;
    went_back(viewer);
    if (had_scene) {  // clients have been looking at another world
        make_scene(viewer);
        send_scene(viewer, LETTER_SCENE, 0);
        watch_forget_ink(viewer);
    }
    viewer->is_dirty = had_scene;
    note_attention(viewer);
    if (had_scene)
        exchange_attend(&viewer->exchange, ATTENTION_ACTS, true);
    sim_set_boundary(sim, session_before_step, viewer);
}

void viewer_detach(Viewer *viewer)
{
    if (!viewer || !viewer->sim)
        return;
    session_forget_snapshots(viewer);
    session_forget_undo(viewer);
    viewer->drag = (Drag){ 0 };
    sim_set_boundary(viewer->sim, NULL, NULL);
    if (viewer->wants_forces)
        physics_want_contact_forces(sim_physics(viewer->sim), false);
    viewer->wants_forces = false;
    drawing_destroy(viewer->drawing);
    viewer->drawing = NULL;
    viewer->sim = NULL;
    viewer->diags = viewer->own_diags;
}

void viewer_stop(Viewer *viewer)
{
    static const char bye[] = "the run has ended";
    if (!viewer)
        return;
    viewer_detach(viewer);
    if (viewer->web)
        exchange_send(&viewer->exchange, (Letter){ .kind = LETTER_BYE, .blob = blob_create(bye, sizeof bye - 1) });
    web_stop(viewer->web);
    hub_deinit(&viewer->hub);
    exchange_deinit(&viewer->exchange);
    viewer_log_is_whole(viewer);
    journal_destroy(viewer->journal);
    file_release(&viewer->ghost);
    for (int i = 0; i < viewer->watch_count; i++)
        free(viewer->watches[i].what);
    free(viewer->snapshots);
    blob_release(viewer->scene);
    blob_release(viewer->meta);
    text_free(&viewer->text);
    arena_destroy(viewer->arena);
    free(viewer->url);
    free(viewer->watch_url);
    free(viewer);
}

void viewer_serve(Viewer *viewer, bool (*is_told_to_end)(void))
{
    assert(viewer->web && is_told_to_end);
    while (!is_told_to_end())
        exchange_wait(&viewer->exchange, NAP_SECONDS);
}

const char *viewer_url(const Viewer *viewer) { return viewer->url; }
const char *viewer_watch_url(const Viewer *viewer) { return viewer->watch_url; }
int viewer_port(const Viewer *viewer) { return web_port(viewer->web); }
bool viewer_wants_reload(const Viewer *viewer) { return viewer->wants_reload; }
bool viewer_has_acts_left(const Viewer *viewer) { return viewer->journal && journal_has_more(viewer->journal); }
