// speaker.c - Speaker: which sounds and words play, since when and how loud. What is heard of them is sound/'s
// business; here is the part that controllers can ask for, so it runs on simulated time and is the same whether anybody
// listens or not.
#include "devices/devices_internal.h"

#include "assets/speech.h"
#include "assets/store.h"

#include <webots/nodes.h>

#include <stdio.h>
#include <string.h>

// Commands, as controller/speaker.c sends them.
enum { SPEAKER_PLAY, SPEAKER_STOP, SPEAKER_SPEAK, SPEAKER_LANGUAGE };
enum { SPEAKER_SOUNDS = 8 };
#define SPEECH_NAME "speech "  // then the language, a space, and the text

typedef struct SpeakerState {
    DeviceSound sounds[SPEAKER_SOUNDS];  // id 0: free
    char language[16];
} SpeakerState;

static void speaker_start(DeviceContext *at)
{
    SpeakerState *state = at->state;
    snprintf(state->language, sizeof state->language, "en-US");
}

const Clip *device_sound_clip(const Devices *devices, const DeviceSound *sound)
{
    AssetStore *assets = physics_assets(devices->physics);
    return sound->is_speech
               ? store_find_clip(assets, sound->name)
               : store_clip(assets, sound->name, scene_path(devices->scene), devices->diags, (SourcePos){ 0 });
}

static bool is_over(const DeviceSound *sound, double time)
{
    return !sound->loops && time >= sound->start + sound->seconds / sound->pitch;
}

// Bytes that a state holds are zeroed first: states are hashed and saved as they lie.
static void clear_sound(DeviceSound *sound) { memset(sound, 0, sizeof *sound); }

static bool is_named(const DeviceSound *sound, const char *name)
{
    return sound->id != 0 && !strcmp(sound->name, name);
}

static DeviceSound *sound_slot(SpeakerState *state, const char *name)
{
    assert_debug(name && *name);
    DeviceSound *found = NULL;
    for (int i = SPEAKER_SOUNDS - 1; i >= 0; i--) {
        if (is_named(&state->sounds[i], name))
            return &state->sounds[i];
        if (state->sounds[i].id == 0)
            found = &state->sounds[i];
    }
    return found;
}

static const char *read_text(char *out, size_t capacity, const void *bytes, int count)
{
    assert_debug(out && capacity > 0);
    if (count < 1 || (size_t)count >= capacity || memchr(bytes, '\0', (size_t)count))
        return "the name is empty or too long";
    memcpy(out, bytes, (size_t)count);
    out[count] = '\0';
    return NULL;
}

// Numbers: id, volume, pitch, balance, loop, side. A sound that plays already only gets the new ones.
static const char *play(DeviceContext *at, const double *numbers, int count, const void *bytes, int byte_count)
{
    char name[DEVICE_SOUND_NAME] = { 0 };
    const char *why = count < 6 ? "a number is missing" : read_text(name, sizeof name, bytes, byte_count);
    if (why)
        return why;
    if (!(numbers[0] >= 1 && numbers[0] <= UINT32_MAX) || !(numbers[2] > 0.0 && numbers[2] <= 1e3)
        || !(fabs(numbers[1]) <= 1e6))
        return "volume or pitch make no sense";
    DeviceSound *sound = sound_slot(at->state, name);
    if (!sound)
        return "too many sounds play at once";
    bool is_new = sound->id == 0;
    if (is_new) {
        clear_sound(sound);
        memcpy(sound->name, name, sizeof sound->name);
        const Clip *clip = device_sound_clip(at->devices, sound);
        if (!clip)
            return "the sound cannot be read";
        sound->start = at->time;
        sound->seconds = clip_seconds(clip);
    }
    sound->id = (uint32_t)numbers[0];
    sound->volume = double_max(numbers[1], 0.0);
    sound->pitch = numbers[2];
    sound->balance = double_clamp(numbers[3], -1.0, 1.0);
    sound->loops = numbers[4] != 0.0;
    sound->side = numbers[5] < 0.0 ? -1 : numbers[5] > 0.0;
    return NULL;
}

static const char *stop(DeviceContext *at, const void *bytes, int byte_count)
{
    SpeakerState *state = at->state;
    char name[DEVICE_SOUND_NAME] = { 0 };
    const char *why = byte_count > 0 ? read_text(name, sizeof name, bytes, byte_count) : NULL;
    for (int i = 0; i < SPEAKER_SOUNDS && !why; i++)
        if (byte_count == 0 || is_named(&state->sounds[i], name))
            clear_sound(&state->sounds[i]);
    return why;
}

// Speech is a clip of the store, named by what is said, so that saying it again costs nothing.
static const Clip *spoken_clip(AssetStore *assets, const char *name, const char *language, const char *text,
                               const char **why)
{
    const Clip *clip = store_find_clip(assets, name);
    Clip *spoken = clip ? NULL : speech_clip(text, language, store_limits(assets), why);
    return spoken ? store_keep_clip(assets, name, spoken) : clip;
}

// A machine without a speaker program says so once and the world goes on: how long speech takes is estimated, so
// that a run gives the same times everywhere.
static const char *speak(DeviceContext *at, const double *numbers, int count, const void *bytes, int byte_count)
{
    SpeakerState *state = at->state;
    AssetStore *assets = physics_assets(at->physics);
    char text[DEVICE_SOUND_NAME - 32];
    const char *why = count < 2 || !(numbers[0] >= 1 && numbers[0] <= UINT32_MAX)
                          ? "a number is missing"
                          : read_text(text, sizeof text, bytes, byte_count);
    if (why)
        return why;
    DeviceSound sound;
    clear_sound(&sound);
    snprintf(sound.name, sizeof sound.name, SPEECH_NAME "%s %s", state->language, text);
    DeviceSound *slot = sound_slot(state, sound.name);
    if (!slot)
        return "too many sounds play at once";
    const Clip *clip = spoken_clip(assets, sound.name, state->language, text, &why);
    if (!clip)
        diag_warning(at->devices->diags, at->info->node->pos, "Speaker '%s' is silent when it speaks: %s",
                     at->info->name, why);
    sound.id = (uint32_t)numbers[0];
    sound.volume = double_clamp(numbers[1], 0.0, 1e6);
    sound.pitch = 1.0;
    sound.start = at->time;
    sound.is_speech = true;
    sound.seconds = clip ? clip_seconds(clip) : speech_estimate(text);
    memcpy(slot, &sound, sizeof sound);
    return NULL;
}

static const char *set_language(DeviceContext *at, const void *bytes, int byte_count)
{
    SpeakerState *state = at->state;
    char language[sizeof state->language] = { 0 };
    const char *why = read_text(language, sizeof language, bytes, byte_count);
    if (!why)
        memcpy(state->language, language, sizeof language);
    return why;
}

static const char *speaker_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                   int byte_count)
{
    const char *why = command == SPEAKER_PLAY       ? play(at, numbers, count, bytes, byte_count)
                      : command == SPEAKER_STOP     ? stop(at, bytes, byte_count)
                      : command == SPEAKER_SPEAK    ? speak(at, numbers, count, bytes, byte_count)
                      : command == SPEAKER_LANGUAGE ? set_language(at, bytes, byte_count)
                                                    : "no such command";
    devices_enable(at->devices, at->robot, at->tag, 0, 1);  // what plays is reported after every step from now on
    return why;
}

// The ids of all that plays.
static int speaker_sample(DeviceContext *at, int channel, double *reading)
{
    (void)channel;
    SpeakerState *state = at->state;
    int count = 0;
    for (int i = 0; i < SPEAKER_SOUNDS; i++) {
        if (state->sounds[i].id != 0 && is_over(&state->sounds[i], at->time))
            clear_sound(&state->sounds[i]);
        if (state->sounds[i].id != 0)
            reading[count++] = state->sounds[i].id;
    }
    return count;
}

static void speak_again(AssetStore *assets, const DeviceSound *sound)
{
    char language[sizeof((SpeakerState *)0)->language] = { 0 };
    const char *from = sound->name + strlen(SPEECH_NAME), *why;
    size_t length = strcspn(from, " ");
    if (strncmp(sound->name, SPEECH_NAME, strlen(SPEECH_NAME)) || length >= sizeof language || from[length] != ' ')
        return;
    memcpy(language, from, length);
    spoken_clip(assets, sound->name, language, from + length + 1, &why);
}

void speakers_restored(Devices *devices)
{
    for (int robot = 0; robot < devices->robot_count; robot++)
        for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
            int count;
            const DeviceSound *sounds = devices_sounds(devices, robot, tag, &count);
            for (int i = 0; i < count; i++)
                if (sounds[i].id != 0 && sounds[i].is_speech && memchr(sounds[i].name, '\0', sizeof sounds[i].name))
                    speak_again(physics_assets(devices->physics), &sounds[i]);
        }
}

const DeviceSound *devices_sounds(const Devices *devices, int robot, int tag, int *count)
{
    assert_debug(count);
    const DeviceInfo *info = devices_info(devices, robot, tag);
    *count = 0;
    if (!info || info->kind != &speaker_device)
        return NULL;
    const SpeakerState *state = device_state(devices, robot, tag);
    *count = SPEAKER_SOUNDS;
    return state->sounds;
}

const DeviceKind speaker_device = {
    .type = "Speaker",
    .code = WB_NODE_SPEAKER,
    .channels = 1,
    .state_size = sizeof(SpeakerState),
    .start = speaker_start,
    .sample = speaker_sample,
    .command = speaker_command,
};
