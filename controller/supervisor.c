// supervisor.c - what supervisors ask and order of the world as a whole: reset, reload, save, modes, labels, pictures
// and recordings. supervisor_nodes.c does so of nodes, supervisor_fields.c of fields.
#include "supervisor.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void supervisor_cleanup(void);
void supervisor_cleanup(void)
{
    supervisor_free_nodes();
    supervisor_free_fields();
}

// ---- references: open addressing, never more than half full ----

static unsigned slot_of(const References *references, int id)
{
    assert_debug(2 * references->count <= references->capacity);  // else the search might not end
    assert(references->capacity > 0 && (references->capacity & (references->capacity - 1)) == 0);
    unsigned mask = (unsigned)references->capacity - 1, slot = (unsigned)id * 2654435761u & mask;
    while (references->slots[slot].record && references->slots[slot].id != id)
        slot = (slot + 1) & mask;
    return slot;
}

void *references_get(const References *references, int id)
{
    return references->capacity ? references->slots[slot_of(references, id)].record : NULL;
}

static void references_grow(References *references)
{
    References larger = { .capacity = references->capacity ? 2 * references->capacity : 64,
                          .count = references->count };
    larger.slots = calloc((size_t)larger.capacity, sizeof *larger.slots);
    assert(larger.count < larger.capacity);
    for (int i = 0; i < references->capacity; i++)
        if (references->slots[i].record)
            larger.slots[slot_of(&larger, references->slots[i].id)] = references->slots[i];
    free(references->slots);
    *references = larger;
}

void references_put(References *references, int id, void *record)
{
    assert(record);
    if (2 * (references->count + 1) > references->capacity)
        references_grow(references);
    unsigned slot = slot_of(references, id);
    assert_debug(!references->slots[slot].record);  // an id is put once
    references->slots[slot].id = id;
    references->slots[slot].record = record;
    assert(references->count < references->capacity);
    references->count++;
}

void references_free(References *references, void (*free_record)(void *record))
{
    assert(references->count <= references->capacity);
    for (int i = 0; i < references->capacity; i++)
        if (references->slots[i].record)
            free_record(references->slots[i].record);
    free(references->slots);
    *references = (References){ 0 };
}

// ---- asking ----

bool may_ask(const char *who)
{
    if (core.supervisor)
        return true;
    core_warn(who, "this function can only be used by a supervisor: set the robot's field \"supervisor\" to TRUE");
    return false;
}

bool ask(const char *who, const Ask *question, Record *answer)
{
    assert(question->int_count >= 0 && question->int_count <= COUNT_OF(question->ints) && question->double_count >= 0);
    static Record unused;
    if (!may_ask(who))
        return false;
    const char *bytes = question->bytes ? question->bytes : "";
    return core_call(&(Record){ .op = question->op,
                                .int_count = question->int_count,
                                .ints = question->ints,
                                .double_count = question->double_count,
                                .doubles = question->doubles,
                                .byte_count = (int)strlen(bytes),
                                .bytes = bytes },
                     answer ? answer : &unused, who);
}

int ask_int(const char *who, const Ask *question, int otherwise)
{
    assert(question->int_count >= 0 && question->int_count <= COUNT_OF(question->ints));
    Record answer;
    return ask(who, question, &answer) && answer.int_count > 0 ? answer.ints[0] : otherwise;
}

bool node_is_good(WbNodeRef node, const char *who)
{
    if (node)
        return true;
    if (may_ask(who))
        core_warn(who, "called with a NULL node");
    return false;
}

bool period_is_good(int period_ms, const char *who)
{
    if (period_ms <= 0)
        core_warn(who, "the sampling period must be above 0, not %d ms", period_ms);
    return period_ms > 0;
}

bool numbers_are_good(const double *numbers, const char *who)
{
    if (!numbers)
        core_warn(who, "called with NULL values");
    return numbers != NULL;
}

// The simulator sends values by itself; asking stays right, so this only tells it to.
void follow(const char *who, int what, int id, int period, int extra)
{
    assert_debug(what >= 0 && what <= 2 && period >= 0);
    ask(who, &(Ask){ OP_TRACK, { what, id, period, extra }, 4, NULL, 0, NULL }, NULL);
}

void supervisor_take_tracked(const Record *head, FrameReader *reader);
void supervisor_take_tracked(const Record *head, FrameReader *reader)
{
    Record value;
    (void)head;
    frame_next(reader, &value);  // values are asked for when they are used, so what comes early is passed over
}

// ---- world ----

static bool order_world(const char *who, int what, int status, const char *file)
{
    assert_debug(what >= 0 && what <= 5);
    // A relative path is one from the controller's folder; the simulator runs elsewhere.
    char path[8192], folder[4096];
    bool is_relative = file && *file && *file != '/' && getcwd(folder, sizeof folder);
    if (is_relative) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        if (what == 4 || access(path, R_OK) == 0)
            file = path;
    }
    return ask_int(who, &(Ask){ OP_WORLD, { what, status }, 2, NULL, 0, file }, 0) == 1;
}

void wb_supervisor_simulation_reset(void) { order_world(__func__, 0, 0, NULL); }

void wb_supervisor_world_reload(void) { order_world(__func__, 1, 0, NULL); }

void wb_supervisor_simulation_revert(void) { order_world(__func__, 1, 0, NULL); }

void wb_supervisor_simulation_reset_physics(void) { order_world(__func__, 2, 0, NULL); }

void wb_supervisor_simulation_physics_reset(void) { order_world(__func__, 2, 0, NULL); }

void wb_supervisor_simulation_quit(int status) { order_world(__func__, 3, status, NULL); }

bool wb_supervisor_world_save(const char *filename) { return order_world(__func__, 4, 0, filename); }

bool wb_supervisor_save_world(const char *filename) { return order_world(__func__, 4, 0, filename); }

void wb_supervisor_world_load(const char *filename) { order_world(__func__, 5, 0, filename); }

void wb_supervisor_load_world(const char *filename) { order_world(__func__, 5, 0, filename); }

WbSimulationMode wb_supervisor_simulation_get_mode(void)
{
    return (WbSimulationMode)ask_int(__func__, &(Ask){ OP_SIMULATION_MODE, { -1 }, 1, NULL, 0, NULL },
                                     WB_SUPERVISOR_SIMULATION_MODE_FAST);
}

void wb_supervisor_simulation_set_mode(WbSimulationMode mode)
{
    ask(__func__, &(Ask){ OP_SIMULATION_MODE, { (int32_t)mode }, 1, NULL, 0, NULL }, NULL);
}

void wb_supervisor_set_label(int id, const char *text, double x, double y, double size, int color, double transparency,
                             const char *font)
{
    (void)font;
    double numbers[4] = { x, y, size, transparency };
    ask(__func__, &(Ask){ OP_LABEL, { id, color }, 2, numbers, 4, text }, NULL);
}

// A name without a folder in front is meant in the controller's own folder, not in that of the simulator.
static void absolute_path(const char *file, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    bool is_relative = file && *file && *file != '/' && getcwd(folder, sizeof folder);
    int length = is_relative ? snprintf(path, PATH_MAX, "%s/%s", folder, file)
                             : snprintf(path, PATH_MAX, "%s", file ? file : "");
    if (length >= PATH_MAX)
        *path = '\0';
}

// What the simulator is asked to record; rows of OP_RECORDING. It has said why when the answer is below zero.
enum { MOVIE_START, MOVIE_STOP, MOVIE_STATUS, ANIMATION_START, ANIMATION_STOP, PICTURE };

static int order_recording(const char *who, const int numbers[6], int count, const char *file)
{
    assert_debug(numbers[0] >= MOVIE_START && numbers[0] <= PICTURE);
    assert(count > 0 && count <= COUNT_OF(((Ask *)0)->ints));
    char path[PATH_MAX];
    absolute_path(file, path);
    Ask question = { .op = OP_RECORDING, .int_count = count, .bytes = path };
    for (int i = 0; i < count; i++)
        question.ints[i] = numbers[i];
    return ask_int(who, &question, -1);
}

void wb_supervisor_export_image(const char *filename, int quality)
{
    if (order_recording(__func__, (const int[6]){ PICTURE, quality }, 2, filename) < 0 && core.supervisor)
        core_warn(__func__, "no picture was made");
}

static bool movie_was_refused;  // the last one could not be begun, and none is under way

void wb_supervisor_movie_start_recording(const char *filename, int width, int height, int codec, int quality,
                                         int acceleration, bool caption)
{
    (void)codec;
    if (!may_ask(__func__))
        return;
    if (!filename || !*filename || width <= 0 || height <= 0 || quality < 1 || quality > 100 || acceleration < 1) {
        core_warn(__func__,
                  "a file, a size above 0, a quality from 1 to 100 and an acceleration of at least 1 are wanted");
        return;
    }
    bool is_begun = order_recording(__func__,
                                    (const int[6]){ MOVIE_START, width, height, quality, acceleration, caption }, 6,
                                    filename)
                    >= 0;
    movie_was_refused = !is_begun
                        && order_recording(__func__, (const int[6]){ MOVIE_STATUS }, 1, NULL)
                               != WB_SUPERVISOR_MOVIE_RECORDING;
    if (!is_begun)
        core_warn(__func__, "the movie cannot be recorded; the simulator says why");
}

void wb_supervisor_start_movie(const char *filename, int width, int height, int codec, int quality, int acceleration,
                               bool caption)
{
    wb_supervisor_movie_start_recording(filename, width, height, codec, quality, acceleration, caption);
}

void wb_supervisor_movie_stop_recording(void) { order_recording(__func__, (const int[6]){ MOVIE_STOP }, 1, NULL); }

void wb_supervisor_stop_movie(void) { wb_supervisor_movie_stop_recording(); }

static int movie_status(const char *who)
{
    int status = order_recording(who, (const int[6]){ MOVIE_STATUS }, 1, NULL);
    if (status < 0 || movie_was_refused)
        status = WB_SUPERVISOR_MOVIE_SIMULATION_ERROR;
    return status;
}

bool wb_supervisor_movie_is_ready(void)
{
    if (!may_ask(__func__))
        return false;
    int status = movie_status(__func__);
    return status == WB_SUPERVISOR_MOVIE_READY || status >= WB_SUPERVISOR_MOVIE_WRITE_ERROR;
}

bool wb_supervisor_movie_failed(void)
{
    return may_ask(__func__) && movie_status(__func__) >= WB_SUPERVISOR_MOVIE_WRITE_ERROR;
}

int wb_supervisor_get_movie_status(void) { return movie_status(__func__); }

bool wb_supervisor_animation_start_recording(const char *filename)
{
    return order_recording(__func__, (const int[6]){ ANIMATION_START }, 1, filename) >= 0;
}

bool wb_supervisor_animation_stop_recording(void)
{
    return order_recording(__func__, (const int[6]){ ANIMATION_STOP }, 1, NULL) >= 0;
}

bool wb_supervisor_virtual_reality_headset_is_used(void) { return false; }

const double *wb_supervisor_virtual_reality_headset_get_position(void)
{
    static const double none[3] = { NAN, NAN, NAN };
    return none;
}

const double *wb_supervisor_virtual_reality_headset_get_orientation(void)
{
    static const double none[9] = { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
    return none;
}
