// microphone.c - Microphone: samples of 16 bits, one channel, of all that was heard since the last reading. What is
// heard there is made by sound/, which stands behind this folder and gives itself in (devices_set_hearing); a program's
// hearing is part of the state.
#include "devices/devices_internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <webots/nodes.h>

#include <string.h>

// The default of `sensitivity`, at which a clip is heard as loud as it is 1 m away.
static const double USUAL_DECIBELS = -50.0;

static double gain_of(const SceneNode *node)
{
    return pow(10.0, (double_clamp(scene_float(node, "sensitivity"), -250.0, 150.0) - USUAL_DECIBELS) / 20.0);
}

static DeviceHeard *heard_of(const DeviceContext *at) { return &device_at(at->devices, at->robot, at->tag)->heard; }

// Of a reading that is never fetched only the newest samples are kept.
static int16_t *room_for(DeviceHeard *heard, int count)
{
    assert_debug(count >= 0 && count <= MICROPHONE_SAMPLES_MAX);
    if (heard->count + count > 2 * MICROPHONE_SAMPLES_MAX) {
        memmove(heard->samples, heard->samples + heard->count - MICROPHONE_SAMPLES_MAX,
                MICROPHONE_SAMPLES_MAX * sizeof *heard->samples);
        heard->count = MICROPHONE_SAMPLES_MAX;
    }
    memory_grow(&heard->samples, &heard->capacity, heard->count + count, sizeof *heard->samples);
    heard->count += count;
    return heard->samples + heard->count - count;
}

static void microphone_watch(DeviceContext *at)
{
    const DeviceHearing *hearing = &at->devices->hearing;
    if (!hearing->hear || at->info->solid < 0)
        return;
    DeviceEar ear = { .robot = at->robot,
                      .tag = at->tag,
                      .pose = device_pose(at),
                      .velocity = physics_solid_linear_velocity(at->physics, at->info->solid),
                      .aperture = scene_float(at->info->node, "aperture"),
                      .gain = gain_of(at->info->node) };
    double dt = physics_time_step(at->physics);
    int count = int_min(hearing->frame_count(hearing->context, at->devices->step, dt), MICROPHONE_SAMPLES_MAX);
    assert(count >= 0);
    hearing->hear(hearing->context, &ear, at->devices->step, dt, room_for(heard_of(at), count), count);
}

// How many samples there are; they themselves are the image.
static int microphone_sample(DeviceContext *at, int channel, double *reading)
{
    assert_debug(channel == 0);
    DeviceHeard *heard = heard_of(at);
    int count = int_min(heard->count, MICROPHONE_SAMPLES_MAX);
    size_t size = (size_t)count * sizeof *heard->samples;
    void *bytes = device_image(at, channel, (int)size);
    if (count > 0)
        memcpy(bytes, heard->samples + heard->count - count, size);
    heard->count = 0;
    reading[0] = count;
    return 1;
}

static void forget(const Devices *devices, int robot, int tag)
{
    device_at(devices, robot, tag)->heard.count = 0;
    if (devices->hearing.forget)
        devices->hearing.forget(devices->hearing.context, robot, tag);
}

static void microphone_enabled(DeviceContext *at, int channel, bool is_on)
{
    (void)channel;
    if (!is_on)
        forget(at->devices, at->robot, at->tag);
}

static void microphone_start(DeviceContext *at) { forget(at->devices, at->robot, at->tag); }

const DeviceKind microphone_device = {
    .type = "Microphone",
    .code = WB_NODE_MICROPHONE,
    .channels = 1,
    .start = microphone_start,
    .sample = microphone_sample,
    .watch = microphone_watch,
    .enabled = microphone_enabled,
};

void devices_set_hearing(Devices *devices, const DeviceHearing *hearing)
{
    if (devices->hearing.destroy)
        devices->hearing.destroy(devices->hearing.context);
    devices->hearing = hearing ? *hearing : (DeviceHearing){ 0 };
}

// ---- state ----
// Of each Microphone that has heard something: what it will hand over, and what it handed over last. Behind them what
// the hearing keeps.

typedef struct HeardHead {
    int32_t device;  // in the list of all
    int32_t pending, last;
    int32_t reserved;
} HeardHead;

static bool has_heard(const Device *device)
{
    return device->info.kind == &microphone_device && (device->heard.count > 0 || device->images[0].size > 0);
}

static int pending_of(const Device *device) { return int_min(device->heard.count, MICROPHONE_SAMPLES_MAX); }

static size_t heard_size(const Device *device)
{
    return sizeof(HeardHead) + (size_t)pending_of(device) * sizeof(int16_t) + (size_t)device->images[0].size;
}

static size_t hearing_size(const Devices *devices)
{
    return devices->hearing.size ? devices->hearing.size(devices->hearing.context) : 0;
}

size_t microphones_state_size(const Devices *devices)
{
    size_t size = 0;
    for (int i = 0; i < devices->device_count; i++)
        size += has_heard(&devices->devices[i]) ? heard_size(&devices->devices[i]) : 0;
    size += hearing_size(devices);
    return size ? size + sizeof(uint64_t) : 0;
}

// First how many bytes of Microphones there are.
void microphones_state_save(const Devices *devices, char *to)
{
    uint64_t total = microphones_state_size(devices), own = sizeof own;
    if (total == 0)
        return;
    for (int i = 0; i < devices->device_count; i++) {
        const Device *device = &devices->devices[i];
        if (!has_heard(device))
            continue;
        HeardHead head = { i, pending_of(device), device->images[0].size, 0 };
        size_t pending = (size_t)head.pending * sizeof(int16_t);
        memcpy(to + own, &head, sizeof head);
        if (pending > 0)
            memcpy(to + own + sizeof head, device->heard.samples + device->heard.count - head.pending, pending);
        if (head.last > 0)
            memcpy(to + own + sizeof head + pending, device->images[0].bytes, (size_t)head.last);
        own += heard_size(device);
    }
    memcpy(to, &own, sizeof own);
    if (own < total)
        devices->hearing.save(devices->hearing.context, to + own);
}

uint64_t microphones_state_hash(const Devices *devices, uint64_t hash)
{
    for (int i = 0; i < devices->device_count; i++) {
        const Device *device = &devices->devices[i];
        if (!has_heard(device))
            continue;
        int pending = pending_of(device);
        hash = hash_combine(hash, (uint64_t)pending << 32 | (uint64_t)i);
        if (pending > 0)
            hash = hash_bytes(device->heard.samples + device->heard.count - pending, (size_t)pending * sizeof(int16_t),
                              hash);
        if (device->images[0].size > 0)
            hash = hash_bytes(device->images[0].bytes, (size_t)device->images[0].size, hash);
    }
    return devices->hearing.hash ? devices->hearing.hash(devices->hearing.context, hash) : hash;
}

static bool head_is_sound(const Devices *devices, const HeardHead *head, size_t left)
{
    return head->device >= 0 && head->device < devices->device_count
           && devices->devices[head->device].info.kind == &microphone_device && head->pending >= 0
           && head->pending <= MICROPHONE_SAMPLES_MAX && head->last >= 0
           && head->last <= MICROPHONE_SAMPLES_MAX * (int)sizeof(int16_t) && head->last % (int)sizeof(int16_t) == 0
           && (size_t)head->pending * sizeof(int16_t) + (size_t)head->last <= left;
}

bool microphones_state_is_sound(const Devices *devices, const char *from, size_t size)
{
    uint64_t own;
    if (size == 0)
        return true;
    if (size < sizeof own)
        return false;
    memcpy(&own, from, sizeof own);
    if (own < sizeof own || own > size)
        return false;
    for (size_t at = sizeof own; at < own;) {
        HeardHead head;
        if (own - at < sizeof head)
            return false;
        memcpy(&head, from + at, sizeof head);
        at += sizeof head;
        if (!head_is_sound(devices, &head, own - at))
            return false;
        at += (size_t)head.pending * sizeof(int16_t) + (size_t)head.last;
    }
    return own == size
           || (devices->hearing.is_sound
               && devices->hearing.is_sound(devices->hearing.context, from + own, size - (size_t)own));
}

static void take_heard(Device *device, const HeardHead *head, const char *from)
{
    assert(head->pending >= 0);
    size_t pending = (size_t)head->pending * sizeof(int16_t);
    device->heard.count = 0;
    int16_t *samples = room_for(&device->heard, head->pending);
    if (pending > 0)
        memcpy(samples, from, pending);
    DeviceImage *image = &device->images[0];
    memory_grow(&image->bytes, &image->capacity, head->last, 1);
    image->size = head->last;
    if (head->last > 0)
        memcpy(image->bytes, from + pending, (size_t)head->last);
}

void microphones_state_restore(Devices *devices, const char *from, size_t size)
{
    for (int i = 0; i < devices->device_count; i++)
        if (devices->devices[i].info.kind == &microphone_device)
            devices->devices[i].heard.count = devices->devices[i].images[0].size = 0;
    uint64_t own = 0;
    if (size > 0)
        memcpy(&own, from, sizeof own);
    for (size_t at = sizeof own; at < own;) {
        HeardHead head;
        memcpy(&head, from + at, sizeof head);
        at += sizeof head;
        assert_debug(head.device >= 0 && head.device < devices->device_count);
        take_heard(&devices->devices[head.device], &head, from + at);
        at += (size_t)head.pending * sizeof(int16_t) + (size_t)head.last;
    }
    if (devices->hearing.restore)
        devices->hearing.restore(devices->hearing.context, from + own, size - (size_t)own);
}
