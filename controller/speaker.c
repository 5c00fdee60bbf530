// speaker.c - wb_speaker_*: tells the simulator what to play and remembers it until the simulator says that it is over,
// so that questions are answered at once.
#include "core.h"

#include <webots/speaker.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Commands, as devices/speaker.c takes them.
enum { SPEAKER_PLAY, SPEAKER_STOP, SPEAKER_SPEAK, SPEAKER_LANGUAGE };
enum { SOUNDS_MAX = 16, LANGUAGE_BYTES = 16, ENGINE_BYTES = 16 };

typedef struct SpeakerSound {
    char *name;       // as the controller calls it; NULL: speech
    char *file;       // as the simulator knows it
    uint32_t id;      // 0: free
    uint32_t serial;  // readings that had come when it was sent: the next one knows of it
} SpeakerSound;

typedef struct Speaker {
    SpeakerSound sounds[SOUNDS_MAX];
    char engine[ENGINE_BYTES], language[LANGUAGE_BYTES];
} Speaker;

static uint32_t last_id;

static Speaker *speaker_of(CoreDevice *device)
{
    assert_debug(device->type == WB_NODE_SPEAKER);
    if (!device->own) {
        Speaker *speaker = calloc(1, sizeof *speaker);
        if (!speaker)
            abort();
        strcpy(speaker->engine, "pico");
        strcpy(speaker->language, "en-US");
        device->own = speaker;
    }
    return device->own;
}

static void forget(SpeakerSound *sound)
{
    free(sound->name);
    free(sound->file);
    *sound = (SpeakerSound){ 0 };
}

static bool is_reported(const CoreDevice *device, uint32_t id)
{
    assert_debug(id != 0);
    int count;
    const double *ids = core_reading(device, 0, &count);
    for (int i = 0; ids && i < count; i++)
        if (ids[i] == (double)id)
            return true;
    return false;
}

// Drops what the simulator says is over.
static void refresh(CoreDevice *device, Speaker *speaker)
{
    assert_debug(speaker == device->own);
    for (int i = 0; i < SOUNDS_MAX; i++) {
        SpeakerSound *sound = &speaker->sounds[i];
        if (sound->id != 0 && device->channels[0].serial != sound->serial && !is_reported(device, sound->id))
            forget(sound);
    }
}

static bool is_called(const SpeakerSound *sound, const char *name)
{
    return sound->id != 0 && (name ? sound->name && !strcmp(sound->name, name) : sound->name == NULL);
}

static SpeakerSound *find_sound(Speaker *speaker, const char *name)
{
    SpeakerSound *empty = NULL;
    for (int i = SOUNDS_MAX - 1; i >= 0; i--) {
        if (is_called(&speaker->sounds[i], name))
            return &speaker->sounds[i];
        if (speaker->sounds[i].id == 0)
            empty = &speaker->sounds[i];
    }
    return empty;
}

static SpeakerSound *begin_sound(CoreDevice *device, const char *name)
{
    assert_debug(device->type == WB_NODE_SPEAKER);
    Speaker *speaker = speaker_of(device);
    refresh(device, speaker);
    SpeakerSound *sound = find_sound(speaker, name);
    if (!sound)
        return NULL;
    assert_debug(sound->id == 0 || is_called(sound, name));
    if (sound->id == 0)
        sound->name = name ? strdup(name) : NULL;
    sound->id = ++last_id;
    sound->serial = device->channels[0].serial;
    return sound;
}

// Names are relative to the controller's folder; those of no file there are left to the simulator.
static char *file_of(const char *name)
{
    assert_debug(name && *name);
    char *path = realpath(name, NULL);
    return path ? path : strdup(name);
}

static void play_on(WbDeviceTag tag, CoreDevice *device, const char *name, const double settings[5])
{
    assert(device);
    core_lock();
    SpeakerSound *sound = begin_sound(device, name);
    if (sound && !sound->file)
        sound->file = file_of(name);
    core_unlock();
    if (!sound) {
        core_warn("wb_speaker_play_sound", "too many sounds play at once; '%s' is left out", name);
        return;
    }
    double numbers[6] = { sound->id };
    memcpy(numbers + 1, settings, 5 * sizeof *settings);
    core_command(tag, SPEAKER_PLAY, numbers, 6, sound->file, (int)strlen(sound->file));
}

void wb_speaker_play_sound(WbDeviceTag left, WbDeviceTag right, const char *sound, double volume, double pitch,
                           double balance, bool loop)
{
    CoreDevice *devices[2] = { CORE_DEVICE(left, WB_NODE_SPEAKER), CORE_DEVICE(right, WB_NODE_SPEAKER) };
    if (!devices[0] || !devices[1])
        return;
    if (!sound || !*sound || strlen(sound) >= PATH_MAX) {
        core_warn(__func__, "the name of the sound is missing");
        return;
    }
    if (!(volume >= 0.0) || !(pitch > 0.0) || !isfinite(volume) || !isfinite(pitch) || !(fabs(balance) <= 1.0)) {
        core_warn(__func__, "volume %g, pitch %g, balance %g: wants volume >= 0, pitch > 0 and balance from -1 to 1",
                  volume, pitch, balance);
        return;
    }
    if (left == right) {
        play_on(left, devices[0], sound, (double[5]){ volume, pitch, balance, loop, 0 });
        return;
    }
    play_on(left, devices[0], sound, (double[5]){ volume * (balance > 0.0 ? 1.0 - balance : 1.0), pitch, 0, loop, -1 });
    play_on(right, devices[1], sound, (double[5]){ volume * (balance < 0.0 ? 1.0 + balance : 1.0), pitch, 0, loop, 1 });
}

void wb_speaker_stop(WbDeviceTag tag, const char *sound)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    if (!device)
        return;
    Speaker *speaker = speaker_of(device);
    bool is_all = !sound || !*sound;
    char *file = NULL;
    core_lock();
    for (int i = 0; i < SOUNDS_MAX; i++)
        if (is_all || is_called(&speaker->sounds[i], sound)) {
            free(file);
            file = speaker->sounds[i].file ? strdup(speaker->sounds[i].file) : NULL;
            forget(&speaker->sounds[i]);
        }
    core_unlock();
    if (is_all || file)
        core_command(tag, SPEAKER_STOP, NULL, 0, is_all ? NULL : file, is_all ? 0 : (int)strlen(file));
    free(file);
}

static bool plays(CoreDevice *device, bool (*fits)(const SpeakerSound *sound, const char *name), const char *name)
{
    assert_debug(fits);
    Speaker *speaker = speaker_of(device);
    bool found = false;
    core_lock();
    refresh(device, speaker);
    for (int i = 0; i < SOUNDS_MAX; i++)
        found |= speaker->sounds[i].id != 0 && fits(&speaker->sounds[i], name);
    core_unlock();
    return found;
}

static bool is_any(const SpeakerSound *sound, const char *name)
{
    (void)sound, (void)name;
    return true;
}

bool wb_speaker_is_sound_playing(WbDeviceTag tag, const char *sound)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    return device && plays(device, sound && *sound ? is_called : is_any, sound);
}

bool wb_speaker_is_speaking(WbDeviceTag tag)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    return device && plays(device, is_called, NULL);
}

bool wb_speaker_set_engine(WbDeviceTag tag, const char *engine)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    static const char *const engines[] = { "pico", "espeak" };
    for (int i = 0; device && engine && i < COUNT_OF(engines); i++)
        if (!strcmp(engine, engines[i])) {
            strcpy(speaker_of(device)->engine, engine);
            return true;
        }
    if (device)
        core_warn(__func__, "the engine '%s' is not here; pico and espeak are (both speak by espeak-ng)",
                  engine ? engine : "");
    return false;
}

bool wb_speaker_set_language(WbDeviceTag tag, const char *language)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    if (!device)
        return false;
    size_t length = language ? strlen(language) : 0;
    if (length < 2 || length >= LANGUAGE_BYTES
        || strspn(language, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != length) {
        core_warn(__func__, "'%s' is no language, such as en-US", language ? language : "");
        return false;
    }
    strcpy(speaker_of(device)->language, language);
    core_command(tag, SPEAKER_LANGUAGE, NULL, 0, language, (int)length);
    return true;
}

const char *wb_speaker_get_engine(WbDeviceTag tag)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    return device ? speaker_of(device)->engine : "";
}

const char *wb_speaker_get_language(WbDeviceTag tag)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    return device ? speaker_of(device)->language : "";
}

void wb_speaker_speak(WbDeviceTag tag, const char *text, double volume)
{
    CoreDevice *device = CORE_DEVICE(tag, WB_NODE_SPEAKER);
    if (!device)
        return;
    if (!text || !*text || !(volume >= 0.0) || !isfinite(volume)) {
        core_warn(__func__, "a text and a volume of 0 or more are wanted");
        return;
    }
    core_lock();
    SpeakerSound *sound = begin_sound(device, NULL);
    double numbers[2] = { sound ? sound->id : 0, volume };
    core_unlock();
    if (sound)
        core_command(tag, SPEAKER_SPEAK, numbers, 2, text, (int)strlen(text));
}
