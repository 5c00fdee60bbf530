// recorder.c - the two halves of recording: the thread of the run fills slots of a queue, the recorder's thread empties
// them.
#include "record/recorder.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/queue.h"
#include "record/csv.h"
#include "record/glb.h"
#include "record/meta.h"
#include "record/moment.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 8,              // moments between the two threads
    BLOCK_BYTES = 1 << 20,  // of frames: enough to pack well, little enough to lose
    VOICES_MAX = 64,
    TEXT_BYTES_MAX = 16384,     // of one printed line
    EVENT_BYTES_MAX = 1 << 20,  // of one frame: what is said beyond is left out
    VOICE_EVENTS_MAX = 8192,    // of one frame, likewise
};
#define BLOCK_SECONDS 1.0
// Programs may change colours in every step: s of the run from one scene to the next, and bytes of scenes in each of
// them.
#define SCENE_SECONDS 0.5
#define SCENE_BYTES_PER_SECOND 2e6
#define FRAMES_PER_SECOND 60.0
// Pictures of displays are large: s from one to the next.
#define SCREEN_SECONDS 0.1
// Changes of a voice that nobody hears are not told: shares of gain and pitch, metres.
#define VOICE_STEP 0.05
#define VOICE_MOVE 0.1
// m/s: Doppler's shift by less is not heard.
#define VOICE_SPEED 0.5

// What a voice did; written down on the recorder's thread.
typedef struct VoiceEvent {
    double time;
    const char *what;  // "start", "set" or "stop"
    SoundVoice voice;
} VoiceEvent;

typedef struct Slot {
    char block[4];  // of a block of its own that stands in `data`; empty: a frame
    Text data;
    const Clip *clip;  // that is to be encoded behind `data`; NULL: none. Lives as long as the stage
    bool clip_is_made;
    uint32_t revision;
    uint64_t step;
    double time;
    Moment moment;
    int parts;
    bool has_screens;    // the moment has those of displays
    Text events;         // without the brackets
    VoiceEvent *voices;  // that come behind them
    int voice_count, voice_capacity;
} Slot;

// A list of entries of one size, as told last, and what differs from it.
typedef struct Told {
    Text all, changes;
    uint32_t revision;  // of the scene that was told
} Told;

struct Recorder {
    Sim *sim;
    RecorderOptions options;
    RecordingWriter *writer;
    Queue *queue;
    pthread_t thread;
    Slot slots[SLOTS];
    atomic_bool has_failed;
    // Of the run's thread.
    int every, parts;
    uint64_t steps, first_step;
    double first_time;
    const Physics *physics;
    uint64_t tree, edits;
    double scene_due;   // s: before, edits wait
    double screen_due;  // s: likewise displays and ink
    uint64_t ink_seen;  // changes of ink that were told
    uint32_t revision;
    Text events;  // of the coming frame, without the brackets
    bool has_lost_events;
    SoundStage *stage;
    SoundVoice voices[VOICES_MAX];
    int voice_count;
    VoiceEvent *voice_events;  // of the coming frame
    int voice_event_count, voice_event_capacity;
    bool *has_clip;  // by index: it is in the file
    int clip_count, clip_capacity;
    Text scratch;
    // Of the recorder's thread.
    FrameEncoder encoder;
    Text block, frame, all_events;
    Text screens, screen_changes;  // of displays, as told last; what differs from it
    Told glow, shown, bones;       // of what LEDs light up; of LEDs and Pens themselves; of Skins
    DeviceInk *ink;                // of all tiles that have some, as told last
    int ink_count, ink_capacity;
    double block_first, block_last;
};

// ---- events ----

static JsonWriter begin_event(Text *out, double time, const char *is)
{
    if (out->length > 0 && out->data[out->length - 1] != '[')
        text_add_char(out, ',');
    JsonWriter json = { .out = out, .compact = true };
    json_begin_object(&json, NULL);
    json_double(&json, "t", round(1e6 * time) / 1e6);
    json_string(&json, "is", is);
    return json;
}

static double rounded(double value) { return round(value * 1e3) / 1e3; }

// Only the start names the clip, and only what moves has a velocity: there are hundreds of such events a second.
static void write_voice(Text *out, const VoiceEvent *event)
{
    const SoundVoice *voice = &event->voice;
    JsonWriter json = begin_event(out, event->time, "sound");
    json_int(&json, "id", (int64_t)voice->id);
    json_string(&json, "do", event->what);
    if (!strcmp(event->what, "start")) {
        char clip[32];
        snprintf(clip, sizeof clip, "clip-%d", voice->clip);
        json_string(&json, "clip", clip);
        json_bool(&json, "loop", voice->loops);
    }
    if (strcmp(event->what, "stop") != 0) {
        json_double(&json, "gain", rounded(voice->gain));
        json_double(&json, "pitch", rounded(voice->pitch));
        json_begin_array(&json, "at");
        json_double(&json, NULL, rounded(voice->position.x));
        json_double(&json, NULL, rounded(voice->position.y));
        json_double(&json, NULL, rounded(voice->position.z));
        json_end_array(&json);
        if (vec3_length(voice->velocity) > VOICE_SPEED) {
            json_begin_array(&json, "v");
            json_double(&json, NULL, rounded(voice->velocity.x));
            json_double(&json, NULL, rounded(voice->velocity.y));
            json_double(&json, NULL, rounded(voice->velocity.z));
            json_end_array(&json);
        }
    }
    json_end_object(&json);
}

// ---- the recorder's thread ----

static void end_block(Recorder *recorder)
{
    if (recorder->block.length == 0)
        return;
    if (!recording_write(recorder->writer, "FRMS", recorder->block_first, recorder->block_last, recorder->block.data,
                         recorder->block.length))
        atomic_store(&recorder->has_failed, true);
    text_clear(&recorder->block);
}

// Entries of one size, one after the other, as they are now.
typedef struct Entries {
    const char *tag, *data;
    size_t length, entry;  // bytes
} Entries;

// What is otherwise than the frames before said; all of it where a reader may begin, and for a new scene.
static bool choose_entries(Told *told, const Entries *now, uint32_t revision, bool begins, FrameSection *section)
{
    assert_debug(now->entry > 0 && now->length % now->entry == 0 && section);
    bool wants_all = begins || told->revision != revision || told->all.length != now->length;
    text_clear(&told->changes);
    for (size_t at = 0; at < now->length; at += now->entry)
        if (wants_all || memcmp(told->all.data + at, now->data + at, now->entry) != 0)
            text_add(&told->changes, now->data + at, now->entry);
    text_clear(&told->all);
    if (now->length > 0)
        text_add(&told->all, now->data, now->length);
    told->revision = revision;
    *section = (FrameSection){ .data = told->changes.data, .size = told->changes.length };
    memcpy(section->tag, now->tag, sizeof section->tag);
    return told->changes.length > 0;
}

static bool choose_screens(Recorder *recorder, const Slot *slot, bool begins, FrameSection *section)
{
    const Text *now = slot->has_screens ? &slot->moment.screens : &recorder->screens;
    Text *told = &recorder->screens, *out = &recorder->screen_changes;
    bool wants_all = begins || told->length != now->length;
    text_clear(out);
    for (size_t at = 0; at < now->length; at += moment_screen_bytes(now->data + at)) {
        size_t size = moment_screen_bytes(now->data + at);
        if (wants_all || memcmp(told->data + at, now->data + at, size) != 0)
            text_add(out, now->data + at, size);
    }
    if (now != told) {
        text_clear(told);
        text_add(told, now->data ? now->data : "", now->length);
    }
    *section = (FrameSection){ { 'S', 'C', 'R', 'N' }, out->data, out->length };
    return out->length > 0;
}

// Tiles that changed; a block begins with all of them.
static bool choose_ink(Recorder *recorder, const Moment *moment, bool begins, FrameSection *section)
{
    enum { HEAD = offsetof(DeviceInk, pixels) };
    for (int i = 0; i < moment->ink_count; i++) {
        int at = 0;
        while (at < recorder->ink_count && memcmp(&recorder->ink[at], &moment->ink[i], HEAD) != 0)
            at++;
        if (at == recorder->ink_count)
            memory_grow(&recorder->ink, &recorder->ink_capacity, ++recorder->ink_count, sizeof *recorder->ink);
        recorder->ink[at] = moment->ink[i];
    }
    const DeviceInk *told = begins ? recorder->ink : moment->ink;
    int count = begins ? recorder->ink_count : moment->ink_count;
    *section = (FrameSection){ { 'I', 'N', 'K', 'S' }, told, (size_t)count * sizeof *told };
    return count > 0;
}

// A block can be read by itself: its first frame has all that glows, shows and stands on screens, the others what
// changed.
static void write_frame(Recorder *recorder, Slot *slot)
{
    assert_debug(slot->voice_count <= slot->voice_capacity);
    physics_poses_make(&slot->moment.poses);
    FrameSection sections[MOMENT_SECTIONS_MAX + 6];
    const Moment *moment = &slot->moment;
    int count = moment_sections(&slot->moment, slot->parts, sections);
    if (recorder->block.length >= BLOCK_BYTES || slot->time - recorder->block_first >= BLOCK_SECONDS)
        end_block(recorder);
    bool begins = recorder->block.length == 0;
    Entries glow = { "GLOW", moment->glow.data, moment->glow.length, MOMENT_GLOW_BYTES };
    Entries shown = { "SHWN", (const char *)moment->shown, (size_t)moment->shown_count * sizeof *moment->shown,
                      sizeof *moment->shown };
    Entries bones = { "BONE", moment->bones.data, moment->bones.length, moment->bones.length };  // all, when one moved
    count += choose_entries(&recorder->glow, &glow, slot->revision, begins, &sections[count]);
    count += choose_entries(&recorder->shown, &shown, slot->revision, begins, &sections[count]);
    count += bones.length > 0 && choose_entries(&recorder->bones, &bones, slot->revision, begins, &sections[count]);
    count += choose_screens(recorder, slot, begins, &sections[count]);
    count += choose_ink(recorder, moment, begins, &sections[count]);
    Text *events = &recorder->all_events;
    if (slot->events.length > 0 || slot->voice_count > 0) {
        text_clear(events);
        text_add_char(events, '[');
        text_add(events, slot->events.data ? slot->events.data : "", slot->events.length);
        for (int i = 0; i < slot->voice_count; i++)
            write_voice(events, &slot->voices[i]);
        text_add_char(events, ']');
        sections[count++] = (FrameSection){ "EVTS", events->data, events->length };
    }
    FrameInput input = { .revision = slot->revision,
                         .step = slot->step,
                         .time = slot->time,
                         .poses = slot->moment.poses.solids,
                         .pose_count = slot->moment.poses.solid_count,
                         .sections = sections,
                         .section_count = count };
    text_clear(&recorder->frame);
    frame_encode(&recorder->encoder, &input, begins, &recorder->frame);
    uint32_t length = (uint32_t)recorder->frame.length;
    if (begins)
        recorder->block_first = slot->time;
    recorder->block_last = slot->time;
    text_add(&recorder->block, (const char *)&length, 4);
    text_add(&recorder->block, recorder->frame.data, length);
}

// What Talus makes itself has little above 10 kHz: half of its samples are enough, and recordings stay small.
static void encode_clip(const Clip *clip, bool is_made, Text *wav)
{
    int count = clip->frame_count / 2;
    if (!is_made || clip->channels != 1 || count < 1) {
        clip_encode_wav(clip, wav);
        return;
    }
    float *samples = memory_alloc_array((size_t)count, sizeof *samples);
    for (int i = 0; i < count; i++)
        samples[i] = 0.5f * (clip->samples[2 * i] + clip->samples[2 * i + 1]);
    Clip *half = clip_create(1, clip->rate / 2, count, samples);
    clip_encode_wav(half, wav);
    clip_destroy(half);
    free(samples);
}

static void *work(void *context)
{
    Recorder *recorder = context;
    int index;
    while ((index = queue_begin_take(recorder->queue)) >= 0) {
        assert_debug(index >= 0 && index < SLOTS);
        Slot *slot = &recorder->slots[index];
        if (*slot->block) {
            end_block(recorder);
            if (slot->clip)
                encode_clip(slot->clip, slot->clip_is_made, &slot->data);
            if (!recording_write(recorder->writer, slot->block, slot->time, slot->time, slot->data.data,
                                 slot->data.length))
                atomic_store(&recorder->has_failed, true);
        } else {
            write_frame(recorder, slot);
        }
        queue_end_take(recorder->queue);
    }
    end_block(recorder);
    return NULL;
}

// ---- the thread of the run ----

// Counted from the start of the recording, so that it never goes back when the run is reset.
static double time_of(const Recorder *recorder)
{
    return recorder->first_time + (double)recorder->steps * sim_time_step(recorder->sim);
}

static void put_block(Recorder *recorder, const char type[4], const Text *head, const Text *data)
{
    Slot *slot = &recorder->slots[queue_begin_put(recorder->queue)];
    memcpy(slot->block, type, 4);
    slot->time = time_of(recorder);
    slot->clip = NULL;
    text_clear(&slot->data);
    text_add(&slot->data, head->data ? head->data : "", head->length);
    text_add(&slot->data, data->data ? data->data : "", data->length);
    queue_end_put(recorder->queue);
}

// What is there to be seen, whenever nodes have come or gone, and soon after fields were changed.
static void put_scene(Recorder *recorder)
{
    const Physics *physics = sim_physics(recorder->sim);
    bool is_same = recorder->physics == physics && recorder->tree == physics_tree_count(physics);
    bool is_edited = recorder->edits != physics_edit_count(physics) && time_of(recorder) >= recorder->scene_due;
    if (recorder->revision > 0 && is_same && !is_edited)
        return;
    recorder->physics = physics;
    recorder->tree = physics_tree_count(physics);
    recorder->edits = physics_edit_count(physics);
    recorder->revision++;
    Text meta = { 0 }, none = { 0 }, glb = { 0 }, revision = { 0 };
    JsonWriter json = { .out = &meta, .compact = true };
    meta_write(recorder->sim, &json);
    put_block(recorder, "META", &none, &meta);
    text_add(&revision, (const char *)&recorder->revision, 4);
    glb_write(recorder->sim, NULL, &glb);
    put_block(recorder, "SCNE", &revision, &glb);
    recorder->scene_due = time_of(recorder) + fmax(SCENE_SECONDS, (double)glb.length / SCENE_BYTES_PER_SECOND);
    text_free(&meta);
    text_free(&glb);
    text_free(&revision);
}

// ---- events ----

static bool has_room(Recorder *recorder)
{
    bool has = recorder->events.length < EVENT_BYTES_MAX && recorder->voice_event_count < VOICE_EVENTS_MAX;
    if (!has && !recorder->has_lost_events)
        diag_warning(sim_diags(recorder->sim), (SourcePos){ 0 },
                     "more is printed or shown in one frame than a recording keeps; the rest of it is left out");
    recorder->has_lost_events |= !has;
    return has;
}

void recorder_label(Recorder *recorder, const RecorderLabel *label)
{
    if (!has_room(recorder))
        return;
    char color[16];
    snprintf(color, sizeof color, "#%08x", label->rgba);
    JsonWriter json = begin_event(&recorder->events, time_of(recorder), "label");
    json_int(&json, "id", label->id);
    json_string(&json, "text", label->text);
    json_double(&json, "x", label->x);
    json_double(&json, "y", label->y);
    json_double(&json, "size", label->size);
    json_string(&json, "color", color);
    if (*label->font)
        json_string(&json, "font", label->font);
    json_end_object(&json);
}

void recorder_print(Recorder *recorder, const char *from, const char *text, size_t length, bool is_error)
{
    if (!has_room(recorder))
        return;
    text_clear(&recorder->scratch);
    text_add(&recorder->scratch, text, length < TEXT_BYTES_MAX ? length : TEXT_BYTES_MAX);
    JsonWriter json = begin_event(&recorder->events, time_of(recorder), "print");
    json_string(&json, "from", from);
    json_string(&json, "text", recorder->scratch.data);
    if (is_error)
        json_bool(&json, "error", true);
    json_end_object(&json);
}

// A clip is written before the frame in which it is first heard.
static void put_clip(Recorder *recorder, int clip)
{
    assert_debug(clip >= 0);
    while (recorder->clip_count <= clip) {
        *memory_push(recorder->has_clip, recorder->clip_count, recorder->clip_capacity) = false;
    }
    if (recorder->has_clip[clip])
        return;
    recorder->has_clip[clip] = true;
    Slot *slot = &recorder->slots[queue_begin_put(recorder->queue)];
    memcpy(slot->block, "CLIP", 4);
    slot->time = time_of(recorder);
    slot->clip = sound_clip(recorder->stage, clip);
    slot->clip_is_made = sound_clip_is_made(recorder->stage, clip);
    text_clear(&slot->data);
    text_printf(&slot->data, "{\"name\":\"clip-%d\"}\n", clip);
    queue_end_put(recorder->queue);
}

static void voice_event(Recorder *recorder, const SoundVoice *voice, const char *what)
{
    *memory_push(recorder->voice_events, recorder->voice_event_count,
                 recorder->voice_event_capacity) = (VoiceEvent){ time_of(recorder), what, *voice };
}

static bool differs(const SoundVoice *a, const SoundVoice *b)
{
    return fabs(a->gain - b->gain) > VOICE_STEP * fmax(a->gain, 0.05) || fabs(a->pitch - b->pitch) > VOICE_STEP
           || vec3_distance(a->position, b->position) > VOICE_MOVE;
}

static SoundVoice *known_voice(Recorder *recorder, uint64_t id)
{
    for (int i = 0; i < recorder->voice_count; i++)
        if (recorder->voices[i].id == id)
            return &recorder->voices[i];
    return NULL;
}

// One that plays once needs no stop when its clip is over.
static void forget_voices(Recorder *recorder)
{
    int kept = 0;
    for (int i = 0; i < recorder->voice_count; i++) {
        const SoundVoice *voice = &recorder->voices[i];
        SoundVoice now = { 0 };
        if (sound_find_voice(recorder->stage, voice->id, &now) && !now.is_ending)
            recorder->voices[kept++] = *voice;
        else if ((now.is_ending || voice->loops) && has_room(recorder))
            voice_event(recorder, voice, "stop");
    }
    recorder->voice_count = kept;
}

// Beginnings and ends are told with the step they came in, changes once a frame.
static void follow_voices(Recorder *recorder, bool is_frame)
{
    forget_voices(recorder);
    for (int i = 0; i < sound_voice_count(recorder->stage); i++) {
        SoundVoice voice = sound_voice(recorder->stage, i), *known = known_voice(recorder, voice.id);
        if (voice.is_ending || !has_room(recorder) || (known && !(is_frame && differs(known, &voice))))
            continue;
        if (!known && recorder->voice_count == VOICES_MAX)
            continue;
        put_clip(recorder, voice.clip);
        voice_event(recorder, &voice, known ? "set" : "start");
        if (!known)
            known = &recorder->voices[recorder->voice_count++];
        *known = voice;
    }
}

static void listen(Recorder *recorder, bool is_frame)
{
    Sim *sim = recorder->sim;
    double dt = sim_time_step(sim);
    (is_frame ? sound_step : sound_glance)(recorder->stage, sim_physics(sim), recorder->options.devices, sim_time(sim),
                                           dt);
    follow_voices(recorder, is_frame);
    sound_skip(recorder->stage, dt);
}

static void value_event(Recorder *recorder, const char *name, const double *numbers, int count)
{
    assert_debug(numbers || count == 0);
    enum { NUMBERS_MAX = 64 };
    JsonWriter json = begin_event(&recorder->events, time_of(recorder), "value");
    json_string(&json, "name", name);
    if (count == 1) {
        json_double(&json, "v", numbers[0]);
    } else {
        json_begin_array(&json, "v");
        for (int i = 0; i < count && i < NUMBERS_MAX; i++)
            json_double(&json, NULL, numbers[i]);
        json_end_array(&json);
    }
    json_end_object(&json);
}

static void take_values(Recorder *recorder)
{
    const Devices *devices = recorder->options.devices;
    for (int robot = 0; robot < devices_robot_count(devices); robot++) {
        if (!devices_robot_exists(devices, robot))
            continue;
        const char *robot_name = scene_string(devices_robot_node(devices, robot), "name");
        for (int tag = 1; tag <= devices_count(devices, robot); tag++) {
            char name[512];
            int count = 0;
            uint32_t serial = 0;
            snprintf(name, sizeof name, "%s/%s", robot_name, devices_info(devices, robot, tag)->name);
            if (!has_room(recorder) || devices_period(devices, robot, tag, 0) == 0
                || !csv_is_chosen(name, recorder->options.values))
                continue;
            const double *numbers = devices_reading(devices, robot, tag, 0, &count, &serial);
            if (serial > 0 && count > 0)
                value_event(recorder, name, numbers, count);
        }
    }
}

// ---- frames ----

static void put_voices(Recorder *recorder, Slot *slot)
{
    memory_grow(&slot->voices, &slot->voice_capacity, recorder->voice_event_count, sizeof *slot->voices);
    if (recorder->voice_event_count > 0)
        memcpy(slot->voices, recorder->voice_events, (size_t)recorder->voice_event_count * sizeof *slot->voices);
    slot->voice_count = recorder->voice_event_count;
    recorder->voice_event_count = 0;
}

// All that a frame may hold is copied into a slot; what is new in it the other thread finds out.
static void put_frame(Recorder *recorder)
{
    put_scene(recorder);
    if (recorder->options.values && recorder->options.devices)
        take_values(recorder);
    Slot *slot = &recorder->slots[queue_begin_put(recorder->queue)];
    slot->block[0] = '\0';
    slot->revision = recorder->revision;
    slot->step = recorder->first_step + recorder->steps;
    slot->time = time_of(recorder);
    slot->parts = recorder->parts;
    moment_take(&slot->moment, sim_physics(recorder->sim), recorder->parts | MOMENT_ALL);
    moment_take_glow(&slot->moment, recorder->options.devices);
    moment_take_shown(&slot->moment, recorder->options.devices);
    moment_take_bones(&slot->moment, recorder->options.devices);
    slot->has_screens = slot->time >= recorder->screen_due - 1e-9;
    slot->moment.ink_count = 0;
    if (slot->has_screens) {
        moment_take_screens(&slot->moment, recorder->options.devices);
        moment_take_ink(&slot->moment, recorder->options.devices, &recorder->ink_seen);
        recorder->screen_due = slot->time + SCREEN_SECONDS;
    }
    text_clear(&slot->events);
    if (recorder->events.length > 0)
        text_add(&slot->events, recorder->events.data, recorder->events.length);
    text_clear(&recorder->events);
    put_voices(recorder, slot);
    queue_end_put(recorder->queue);
}

static bool record(Sim *sim, void *context)
{
    Recorder *recorder = context;
    recorder->steps++;
    if (atomic_load(&recorder->has_failed))
        return true;
    bool is_frame = recorder->steps % (uint64_t)recorder->every == 0;
    if (recorder->stage)
        listen(recorder, is_frame);
    if (is_frame)
        put_frame(recorder);
    (void)sim;
    return true;
}

static Recorder *begin(Sim *sim, RecordingWriter *writer, const RecorderOptions *options)
{
    assert_debug(sim);
    if (!writer)
        return NULL;
    Recorder *recorder = memory_alloc(sizeof *recorder);
    recorder->sim = sim;
    recorder->writer = writer;
    if (options)
        recorder->options = *options;
    recorder->every = recorder->options.every;
    if (recorder->every <= 0)
        recorder->every = (int)fmax(1.0, round(1.0 / (FRAMES_PER_SECOND * sim_time_step(sim))));
    recorder->parts = MOMENT_JOINTS | (recorder->options.with_contacts ? MOMENT_CONTACTS | MOMENT_STATES : 0);
    recorder->first_step = sim_steps(sim);
    recorder->first_time = sim_time(sim);
    if (!recorder->options.without_sound) {
        recorder->stage = sound_create(&(SoundOptions){ .law = recorder->options.law }, sim_diags(sim));
        sound_prepare(recorder->stage, sim_physics(sim));
    }
    if (recorder->options.with_contacts)
        physics_want_contact_forces(sim_physics(sim), true);
    recorder->queue = queue_create(SLOTS);
    pthread_create(&recorder->thread, NULL, work, recorder);
    put_frame(recorder);
    sim_add_hook(sim, SIM_PHASE_OUTPUT, record, recorder);
    return recorder;
}

Recorder *recorder_open(Sim *sim, const char *path, const RecorderOptions *options)
{
    assert_debug(sim && path);
    return begin(sim, recording_create(path, sim_diags(sim)), options);
}

Recorder *recorder_open_in(Sim *sim, Text *out, const RecorderOptions *options)
{
    return begin(sim, recording_create_in(out), options);
}

// What was said after the last frame goes into one more, and the moment at which the run ended is kept too.
static void put_last(Recorder *recorder)
{
    if (!atomic_load(&recorder->has_failed)
        && (recorder->steps % (uint64_t)recorder->every != 0 || recorder->events.length > 0
            || recorder->voice_event_count > 0))
        put_frame(recorder);
}

// The thread is done before anything is freed: it reads slots until the queue is closed and empty.
bool recorder_close(Recorder *recorder)
{
    if (!recorder)
        return true;
    sim_remove_hooks(recorder->sim, recorder);
    put_last(recorder);
    queue_close(recorder->queue);
    pthread_join(recorder->thread, NULL);
    bool ok = recording_finish(recorder->writer, sim_diags(recorder->sim));
    queue_destroy(recorder->queue);
    for (int i = 0; i < SLOTS; i++) {
        moment_deinit(&recorder->slots[i].moment);
        text_free(&recorder->slots[i].data);
        text_free(&recorder->slots[i].events);
        free(recorder->slots[i].voices);
    }
    sound_destroy(recorder->stage);
    free(recorder->voice_events);
    free(recorder->has_clip);
    frame_encoder_deinit(&recorder->encoder);
    text_free(&recorder->block);
    text_free(&recorder->frame);
    text_free(&recorder->all_events);
    free(recorder->ink);
    text_free(&recorder->screens);
    text_free(&recorder->screen_changes);
    text_free(&recorder->bones.all);
    text_free(&recorder->bones.changes);
    text_free(&recorder->glow.all);
    text_free(&recorder->glow.changes);
    text_free(&recorder->shown.all);
    text_free(&recorder->shown.changes);
    text_free(&recorder->events);
    text_free(&recorder->scratch);
    free(recorder);
    return ok;
}
