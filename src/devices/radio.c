// radio.c - packets between emitters and receivers, and to and from the physics plugin.
// What an emitter is told to send waits as a SENT packet until the step in which its last bit goes out. At the end of
// that step, when all robots' commands have been heard and all bodies have moved, it becomes one WAITING packet for
// each enabled receiver whose channel and kind fit and that is in range, in the aperture and in sight then; strength
// and direction are those of that moment. A receiver shows what waits at its sampling period: READY packets are its
// queue, in the order of arrival.
#include "devices/devices_internal.h"

#include "base/memory.h"
#include "physics/ray.h"

#include <webots/emitter.h>
#include <webots/nodes.h>

#include <string.h>

enum { EMITTER_SEND, EMITTER_SET_CHANNEL, EMITTER_SET_RANGE };
enum { RECEIVER_SET_CHANNEL };

typedef struct EmitterState {
    Setting channel;
    Setting range;      // -1: no limit
    double busy_until;  // s, when the line is free again at the baud rate
} EmitterState;

typedef struct ReceiverState {
    Setting channel;
    int32_t queued;  // bytes in the queue
    int32_t reserved;
} ReceiverState;

enum {
    BYTES_MAX = 256 * 1024 * 1024,  // in all queues together
    PACKETS_MAX = 4 * 1024 * 1024,  // for all receivers together
    INBOX_BYTES_MAX = 16 * 1024 * 1024
};  // that wait for the plugin

// ---- settings ----

static double range_within(const SceneNode *emitter, double range)
{
    double max = scene_float(emitter, "maxRange");
    return max >= 0.0 && (range < 0.0 || range > max) ? max : range;
}

static EmitterState *emitter_settings(const DeviceContext *at)
{
    EmitterState *state = at->state;
    setting_follow(&state->channel, scene_int(at->info->node, "channel"));
    setting_follow(&state->range, range_within(at->info->node, scene_float(at->info->node, "range")));
    return state;
}

static int receiver_channel(const DeviceContext *at)
{
    ReceiverState *state = at->state;
    setting_follow(&state->channel, scene_int(at->info->node, "channel"));
    return (int)state->channel.now;
}

// ---- the queue ----

static bool has_room(Devices *devices, int bytes)
{
    bool is_full = devices->packet_count >= PACKETS_MAX || bytes > BYTES_MAX - devices->pool_size;
    if (is_full)
        diag_warning(devices->diags, (SourcePos){ 0 }, "packets that no controller reads fill %d MB: new ones are lost",
                     BYTES_MAX >> 20);
    return !is_full;
}

static void add_packet(Devices *devices, Packet packet)
{
    assert(packet.offset + (size_t)packet.size <= (size_t)devices->pool_size);
    *memory_push(devices->packets, devices->packet_count, devices->packet_capacity) = packet;
}

// Until the step `due`, at whose end it is handed over.
static void put_on_air(Devices *devices, Packet packet, const void *data)
{
    assert_debug(packet.size >= 0 && (data || packet.size == 0));
    if (!has_room(devices, packet.size))
        return;
    memory_grow(&devices->pool, &devices->pool_capacity, devices->pool_size + packet.size, 1);
    packet.stage = PACKET_SENT;
    packet.offset = (size_t)devices->pool_size;
    memcpy(devices->pool + packet.offset, data, (size_t)packet.size);
    devices->pool_size += packet.size;
    add_packet(devices, packet);
}

// Takes out packets that are done, and bytes that no packet has any more. Packets to several receivers stand one after
// the other and share their bytes.
static void tidy(Devices *devices)
{
    int kept = 0, bytes = 0, old_size = devices->pool_size;
    size_t last_offset = SIZE_MAX;
    memory_grow(&devices->pool, &devices->pool_capacity, 2 * old_size, 1);
    for (int i = 0; i < devices->packet_count; i++) {
        Packet packet = devices->packets[i];
        if (packet.stage == PACKET_DONE)
            continue;
        if (packet.offset != last_offset) {
            memcpy(devices->pool + old_size + bytes, devices->pool + packet.offset, (size_t)packet.size);
            bytes += packet.size;
        }
        last_offset = packet.offset;
        packet.offset = (size_t)(bytes - packet.size);
        devices->packets[kept++] = packet;
    }
    assert_debug(bytes <= old_size);
    memmove(devices->pool, devices->pool + old_size, (size_t)bytes);
    devices->packet_count = kept;
    devices->cursor.is_valid = false;
    devices->pool_size = bytes;
}

// ---- sending ----

static bool is_within_aperture(Pose pose, Vec3 towards, double aperture)
{
    if (aperture <= 0.0)
        return true;
    Vec3 axis = quat_rotate(pose.q, vec3(1, 0, 0));
    double length = vec3_length(towards);
    return length <= 0.0 || acos(double_clamp(vec3_dot(axis, towards) / length, -1.0, 1.0)) <= 0.5 * aperture;
}

typedef struct SightLine {
    int robots[2];  // solids of both robots: they do not hide themselves
} SightLine;

static bool hides(const Physics *physics, int shape, void *context)
{
    const SightLine *line = context;
    int solid = physics_shape(physics, shape).solid;
    for (int at = solid; at >= 0; at = physics_solid_parent(physics, at))
        if (at == line->robots[0] || at == line->robots[1])
            return false;
    return solid >= 0;
}

static int robot_solid(const Devices *devices, int robot) { return robot >= 0 ? devices->robots[robot].solid : -1; }

typedef struct Sender {
    const SceneNode *node;  // NULL: the plugin, which reaches everyone
    Pose pose;
    int robot;
    int channel;
    double range;
} Sender;

// The cheap questions first: most packets are for another channel or out of range. What the plugin sends has no
// place and reaches all; the ray that infra-red needs is cast last.
static bool reaches(DeviceContext *receiver, const Sender *sender, Vec3 *towards)
{
    int channel = receiver_channel(receiver);
    bool channels_fit = sender->channel == WB_CHANNEL_BROADCAST || channel == WB_CHANNEL_BROADCAST
                        || sender->channel == channel;
    if (!channels_fit || receiver->robot == sender->robot
        || devices_period(receiver->devices, receiver->robot, receiver->tag, 0) == 0)
        return false;
    Pose pose = device_pose(receiver);
    *towards = sender->node ? vec3_sub(pose.t, sender->pose.t) : vec3(1, 0, 0);
    if (!sender->node)
        return true;
    const SceneNode *from = sender->node, *to = receiver->info->node;
    if (strcmp(scene_string(from, "type"), scene_string(to, "type")))
        return false;
    double distance = vec3_length(*towards);
    if (sender->range >= 0.0 && distance > sender->range)
        return false;
    if (strcmp(scene_string(from, "type"), "infra-red"))
        return true;
    if (!is_within_aperture(sender->pose, *towards, scene_float(from, "aperture"))
        || !is_within_aperture(pose, vec3_neg(*towards), scene_float(to, "aperture")))
        return false;
    SightLine line = { { robot_solid(receiver->devices, sender->robot),
                         robot_solid(receiver->devices, receiver->robot) } };
    PhysicsRayHit hit;
    if (distance <= 0.0)
        return true;
    PhysicsRay ray = { sender->pose.t, vec3_scale(*towards, 1.0 / distance), distance, hides, &line };
    return !physics_ray_cast(receiver->physics, &ray, &hit);
}

static void deliver_to(DeviceContext *receiver, Vec3 towards, Packet packet)
{
    double distance = vec3_length(towards), strength = distance > 0.0 ? 1.0 / (distance * distance) : INFINITY;
    Vec3 direction = distance > 0.0 ? quat_unrotate(device_pose(receiver).q, vec3_scale(towards, -1.0 / distance))
                                    : VEC3_ZERO;
    const SceneNode *node = receiver->info->node;
    double strength_noise = scene_float(node, "signalStrengthNoise"),
           direction_noise = scene_float(node, "directionNoise");
    if (strength_noise > 0.0)
        strength = fmax(strength * (1.0 + strength_noise * random_gaussian(receiver->random)), 0.0);
    if (direction_noise > 0.0) {
        double x = random_gaussian(receiver->random), y = random_gaussian(receiver->random),
               z = random_gaussian(receiver->random);
        direction = vec3_normalized(
            vec3_add(direction, vec3(direction_noise * x, direction_noise * y, direction_noise * z)));
    }
    packet.robot = receiver->robot;
    packet.tag = receiver->tag;
    packet.stage = PACKET_WAITING;
    packet.strength = strength;
    packet.direction[0] = direction.x;
    packet.direction[1] = direction.y;
    packet.direction[2] = direction.z;
    if (has_room(receiver->devices, 0))
        add_packet(receiver->devices, packet);
}

// What an emitter is now, at the end of the step in which it sent the packet.
static Sender sender_of(Devices *devices, const Packet *packet)
{
    if (packet->robot < 0)
        return (Sender){ .robot = -1, .channel = packet->channel, .range = -1.0 };
    DeviceContext at = device_context(devices, packet->robot, packet->tag);
    return (Sender){ at.info->node, device_pose(&at), at.robot, packet->channel, emitter_settings(&at)->range.now };
}

static void hand_over(Devices *devices, int index)
{
    assert_debug(index >= 0 && index < devices->packet_count && devices->packets[index].stage == PACKET_SENT);
    Packet packet = devices->packets[index];
    devices->packets[index].stage = PACKET_DONE;
    if (packet.robot >= 0 && !devices->robots[packet.robot].is_alive)
        return;
    Sender sender = sender_of(devices, &packet);
    for (int robot = 0; robot < devices->robot_count; robot++) {
        if (!devices->robots[robot].is_alive)
            continue;
        for (int tag = 1; tag <= devices->robots[robot].device_count; tag++) {
            if (device_at(devices, robot, tag)->info.kind != &receiver_device)
                continue;
            DeviceContext receiver = device_context(devices, robot, tag);
            Vec3 towards;
            if (reaches(&receiver, &sender, &towards))
                deliver_to(&receiver, towards, packet);
        }
    }
}

void devices_send_from_plugin(Devices *devices, int channel, const void *data, int size)
{
    assert(size >= 0 && (data || size == 0));
    put_on_air(devices, (Packet){ .robot = -1, .channel = channel, .due = devices->step + 1, .size = size }, data);
}

// ---- the plugin's inbox: what was read is there until the step ends, what was not waits ----

void devices_plugin_listens(Devices *devices) { devices->has_plugin = true; }

const void *devices_received_by_plugin(Devices *devices, int *size)
{
    *size = devices->plugin_size;
    devices->plugin_is_read = devices->plugin_size > 0;
    return devices->plugin_size ? devices->plugin_inbox : NULL;
}

void devices_plugin_forgets(Devices *devices)
{
    if (devices->plugin_is_read)
        devices->plugin_size = 0;
    devices->plugin_is_read = false;
}

static void send_to_plugin(Devices *devices, const void *bytes, int size)
{
    assert_debug(devices->plugin_size >= 0 && size >= 0);
    if (!devices->has_plugin)
        return;
    devices_plugin_forgets(devices);
    if (size > INBOX_BYTES_MAX - devices->plugin_size) {
        diag_warning(devices->diags, (SourcePos){ 0 }, "messages that the physics plugin does not take are dropped");
        devices->plugin_size = 0;
    }
    if (size > INBOX_BYTES_MAX)
        return;
    memory_grow(&devices->plugin_inbox, &devices->plugin_capacity, devices->plugin_size + size, 1);
    memcpy(devices->plugin_inbox + devices->plugin_size, bytes, (size_t)size);
    devices->plugin_size += size;
}

// Steps until the last bit is out at the baud rate; packets queue up behind each other.
static uint64_t steps_to_send(DeviceContext *at, int size)
{
    EmitterState *state = at->state;
    int baud = scene_int(at->info->node, "baudRate"), bits = scene_int(at->info->node, "byteSize");
    if (baud <= 0)
        return 1;
    double dt = physics_time_step(at->physics);
    double start = fmax(state->busy_until, at->time);
    state->busy_until = start + (double)size * bits / baud;
    return (uint64_t)fmax(ceil((state->busy_until - at->time) / dt - 1e-9), 1.0);
}

static const char *emitter_send(DeviceContext *at, const void *bytes, int size)
{
    assert(bytes || size < 1);
    int channel = (int)emitter_settings(at)->channel.now;
    Devices *devices = at->devices;
    if (size < 1)
        return "an empty packet cannot be sent";
    if (channel == 0)
        send_to_plugin(devices, bytes, size);
    put_on_air(devices,
               (Packet){ .robot = at->robot,
                         .tag = at->tag,
                         .channel = channel,
                         .due = devices->step + steps_to_send(at, size),
                         .size = size },
               bytes);
    return NULL;
}

static bool channel_is_allowed(const SceneNode *node, int channel)
{
    const FieldList *allowed = scene_list(node, "allowedChannels");
    for (int i = 0; i < allowed->count; i++)
        if (allowed->ints[i] == channel)
            return true;
    return allowed->count == 0;
}

static const char *emitter_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                   int byte_count)
{
    EmitterState *state = emitter_settings(at);
    if (command == EMITTER_SEND)
        return emitter_send(at, bytes, byte_count);
    if (count < 1 || isnan(numbers[0]))
        return "a number is missing";
    if (command == EMITTER_SET_CHANNEL) {
        if (numbers[0] < -1 || numbers[0] > INT32_MAX || !channel_is_allowed(at->info->node, (int)numbers[0]))
            return "this channel is not allowed";
        state->channel.now = numbers[0];
        return NULL;
    }
    if (command != EMITTER_SET_RANGE)
        return "no such command";
    double max = scene_float(at->info->node, "maxRange");
    bool is_endless = numbers[0] == -1.0;
    if (numbers[0] < 0.0 && !is_endless)
        return "the range is negative";
    state->range.now = range_within(at->info->node, numbers[0]);
    return max >= 0.0 && numbers[0] > max ? "the range is above maxRange" : NULL;
}

static void emitter_start(DeviceContext *at)
{
    EmitterState *state = at->state;
    state->channel = setting_of(scene_int(at->info->node, "channel"));
    state->range = setting_of(range_within(at->info->node, scene_float(at->info->node, "range")));
}

// channel, range, max range, buffer size, baud rate, byte size
static int emitter_constants(DeviceContext *at, double *values, int capacity)
{
    const EmitterState *state = emitter_settings(at);
    const SceneNode *node = at->info->node;
    double all[6] = { state->channel.now,
                      state->range.now,
                      scene_float(node, "maxRange"),
                      scene_int(node, "bufferSize"),
                      scene_int(node, "baudRate"),
                      scene_int(node, "byteSize") };
    if (capacity < 6)
        return 0;
    memcpy(values, all, sizeof all);
    return 6;
}

const DeviceKind emitter_device = {
    .type = "Emitter",
    .code = WB_NODE_EMITTER,
    .state_size = sizeof(EmitterState),
    .start = emitter_start,
    .constants = emitter_constants,
    .command = emitter_command,
};

// ---- receiving ----

// What waits becomes the end of its receiver's queue, as far as there is room.
static void show(Devices *devices, Packet *packet)
{
    ReceiverState *state = device_state(devices, packet->robot, packet->tag);
    int room = scene_int(devices_info(devices, packet->robot, packet->tag)->node, "bufferSize");
    packet->stage = room >= 0 && packet->size > room - state->queued ? PACKET_DONE : PACKET_READY;
    if (packet->stage == PACKET_READY)
        state->queued += packet->size;
}

void radio_deliver(Devices *devices, uint64_t step)
{
    int sent_count = devices->packet_count;
    for (int i = 0; i < sent_count; i++)
        if (devices->packets[i].stage == PACKET_SENT && devices->packets[i].due <= step)
            hand_over(devices, i);
    bool has_done = false;
    for (int i = 0; i < devices->packet_count; i++) {
        Packet *packet = &devices->packets[i];
        if (packet->stage == PACKET_WAITING && !devices->robots[packet->robot].is_alive)
            packet->stage = PACKET_DONE;
        if (packet->stage == PACKET_WAITING && device_is_due(devices, packet->robot, packet->tag, 0, step))
            show(devices, packet);
        assert_debug(packet->stage >= PACKET_SENT && packet->stage <= PACKET_DONE);
        has_done |= packet->stage == PACKET_DONE;
    }
    if (has_done)
        tidy(devices);
}

void radio_forget(Devices *devices, int robot)
{
    assert(robot >= 0);
    for (int i = 0; i < devices->packet_count; i++) {
        Packet *packet = &devices->packets[i];
        if (packet->robot != robot || packet->stage == PACKET_SENT || packet->stage == PACKET_DONE)
            continue;
        if (packet->stage == PACKET_READY)
            ((ReceiverState *)device_state(devices, robot, packet->tag))->queued -= packet->size;
        packet->stage = PACKET_DONE;
    }
    devices->cursor.is_valid = false;
}

bool radio_is_sound(const Devices *devices, const void *packets, int count, size_t pool_size)
{
    assert(count >= 0);
    for (int i = 0; i < count; i++) {
        Packet packet;
        memcpy(&packet, (const char *)packets + (size_t)i * sizeof packet, sizeof packet);
        if (packet.stage < PACKET_SENT || packet.stage > PACKET_DONE || packet.size < 1 || packet.offset > pool_size
            || (size_t)packet.size > pool_size - packet.offset)
            return false;
        bool is_of_plugin = packet.stage == PACKET_SENT && packet.robot == -1;
        if (packet.stage == PACKET_DONE || is_of_plugin)
            continue;
        if (packet.robot < 0 || packet.robot >= devices->robot_count || packet.tag < 1
            || packet.tag > devices_count(devices, packet.robot))
            return false;
        const DeviceKind *kind = packet.stage == PACKET_SENT ? &emitter_device : &receiver_device;
        if (device_at(devices, packet.robot, packet.tag)->info.kind != kind)
            return false;
    }
    return true;
}

// Queues are read from the front on, so each search begins where the last one ended.
static Packet *packet_at(Devices *devices, int robot, int tag, int index)
{
    assert(index >= 0);
    PacketCursor *cursor = &devices->cursor;
    bool goes_on = cursor->is_valid && cursor->robot == robot && cursor->tag == tag && cursor->index <= index;
    int left = goes_on ? index - cursor->index : index;
    for (int i = goes_on ? cursor->place : 0; i < devices->packet_count; i++) {
        Packet *packet = &devices->packets[i];
        if (packet->robot != robot || packet->tag != tag || packet->stage != PACKET_READY || left-- != 0)
            continue;
        *cursor = (PacketCursor){ true, robot, tag, index, i };
        return packet;
    }
    return NULL;
}

int devices_packet_count(const Devices *devices, int robot, int tag)
{
    int count = 0;
    for (int i = 0; i < devices->packet_count; i++) {
        const Packet *packet = &devices->packets[i];
        count += packet->robot == robot && packet->tag == tag && packet->stage == PACKET_READY;
    }
    return count;
}

DevicePacket devices_packet(Devices *devices, int robot, int tag, int index)
{
    assert(index >= 0);
    const Packet *packet = packet_at(devices, robot, tag, index);
    assert(packet);
    return (DevicePacket){ devices->pool + packet->offset,
                           packet->size,
                           packet->strength,
                           { packet->direction[0], packet->direction[1], packet->direction[2] } };
}

void devices_packet_drop(Devices *devices, int robot, int tag)
{
    Packet *packet = packet_at(devices, robot, tag, 0);
    if (!packet)
        return;
    packet->stage = PACKET_DONE;
    ((ReceiverState *)device_state(devices, robot, tag))->queued -= packet->size;
}

static const char *receiver_command(DeviceContext *at, int command, const double *numbers, int count, const void *bytes,
                                    int byte_count)
{
    (void)bytes, (void)byte_count;
    ReceiverState *state = at->state;
    if (command != RECEIVER_SET_CHANNEL || count < 1)
        return "no such command";
    if (!(numbers[0] >= -1) || numbers[0] > INT32_MAX || !channel_is_allowed(at->info->node, (int)numbers[0]))
        return "this channel is not allowed";
    receiver_channel(at);
    state->channel.now = (int32_t)numbers[0];
    return NULL;
}

static void receiver_start(DeviceContext *at)
{
    ((ReceiverState *)at->state)->channel = setting_of(scene_int(at->info->node, "channel"));
}

// channel, buffer size
static int receiver_constants(DeviceContext *at, double *values, int capacity)
{
    if (capacity < 2)
        return 0;
    values[0] = receiver_channel(at);
    values[1] = scene_int(at->info->node, "bufferSize");
    return 2;
}

const DeviceKind receiver_device = {
    .type = "Receiver",
    .code = WB_NODE_RECEIVER,
    .state_size = sizeof(ReceiverState),
    .start = receiver_start,
    .constants = receiver_constants,
    .command = receiver_command,
    .channels = 1,
};
