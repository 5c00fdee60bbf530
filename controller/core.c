#include "core.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

Core core;

static pthread_mutex_t mutex;
static pthread_once_t mutex_once = PTHREAD_ONCE_INIT;

static void make_mutex(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void core_lock(void)
{
    pthread_once(&mutex_once, make_mutex);
    pthread_mutex_lock(&mutex);
}

void core_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

void core_warn(const char *who, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "Error: %s(): ", who);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

// ---- connection ----

static Channel *connect_address(const char *host, const char *port)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (getaddrinfo(host, port, &hints, &found))
        return NULL;
    int handle = -1;
    for (struct addrinfo *at = found; at && handle < 0; at = at->ai_next) {
        handle = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (handle >= 0 && connect(handle, at->ai_addr, at->ai_addrlen) < 0) {
            close(handle);
            handle = -1;
        }
    }
    freeaddrinfo(found);
    return handle >= 0 ? channel_open_socket(handle, CORE_MESSAGE_BYTES) : NULL;
}

static void decode_percent(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned code;
        if (*from == '%' && sscanf(from + 1, "%2x", &code) == 1) {
            *to++ = (char)code;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

// WEBOTS_CONTROLLER_URL: tcp://host:port/robot, ipc://port/robot or a robot's name. ipc means this machine.
static Channel *connect_url(const char *url, char **robot)
{
    char *copy = memory_string(url), *place = copy;
    const char *host = "127.0.0.1", *port = getenv("TALUS_PORT");
    bool is_tcp = !strncmp(place, "tcp://", 6), is_ipc = !strncmp(place, "ipc://", 6);
    if (is_tcp || is_ipc) {
        place += 6;
        char *slash = strchr(place, '/');
        if (slash)
            *slash = '\0';
        char *colon = strchr(place, ':');
        if (colon)
            *colon = '\0';
        if (is_tcp)
            host = place;
        port = is_ipc ? place : colon ? colon + 1 : port;
        *robot = memory_string(slash ? slash + 1 : "");
        decode_percent(*robot);
    } else {
        *robot = memory_string(place);
    }
    Channel *channel = connect_address(host, port ? port : "1234");
    free(copy);
    return channel;
}

static Channel *open_channel(char **robot)
{
    const char *inherited = getenv("TALUS_CHANNEL"), *url = getenv("WEBOTS_CONTROLLER_URL"), *name = getenv("WEBOTS_ROBOT_NAME");
    *robot = NULL;
    if (inherited) {
        *robot = memory_string(name ? name : "");
        return channel_open_shared(atoi(inherited));
    }
    return connect_url(url ? url : name ? name : "", robot);
}

static bool receive(FrameReader *reader)
{
    const void *data;
    size_t size;
    pid_t parent = getppid();
    for (;;) {
        ChannelResult result = channel_receive(core.channel, 1000, 0, &data, &size);
        if (result == CHANNEL_TIMEOUT && getppid() == parent)
            continue;
        return result == CHANNEL_OK && frame_open(reader, data, size);
    }
}

// ---- what the simulator tells ----

static void set_text(char **text, const Record *record)
{
    free(*text);
    *text = memory_text(record->bytes, (size_t)record->byte_count);
}

static CoreDevice *grow_devices(int tag)
{
    if (tag >= core.device_count) {
        core.devices = memory_resize(core.devices, (size_t)tag + 1, sizeof *core.devices);
        memset(&core.devices[core.device_count], 0, (size_t)(tag + 1 - core.device_count) * sizeof *core.devices);
        core.device_count = tag + 1;
    }
    return &core.devices[tag];
}

static void take_robot(const Record *record)
{
    if (record->int_count < 3 || record->double_count < 2)
        return;
    core.supervisor = record->ints[0];
    core.synchronization = record->ints[1];
    core.mode = record->ints[2];
    core.basic_time_step = record->doubles[1];
    if (!core.name || strcmp(core.name, record->bytes))
        set_text(&core.name, record);
}

static void take_config(const Record *record)
{
    CoreDevice *device = record->op == OP_DEVICE ? grow_devices(record->tag) : record->tag < core.device_count ? &core.devices[record->tag] : NULL;
    switch (record->op) {
    case OP_ROBOT:
        take_robot(record);
        core.time = record->double_count ? record->doubles[0] : 0.0;
        break;
    case OP_ROBOT_TEXT:
        if (record->tag < COUNT_OF(core.texts))
            set_text(&core.texts[record->tag], record);
        break;
    case OP_DEVICE:
        device->type = record->int_count ? (WbNodeType)record->ints[0] : WB_NODE_NO_NODE;
        set_text(&device->name, record);
        break;
    case OP_DEVICE_MODEL:
        if (device)
            set_text(&device->model, record);
        break;
    case OP_DEVICE_CONSTANTS:
        if (device) {
            device->constants = memory_resize(device->constants, (size_t)record->double_count + 1, sizeof(double));
            memcpy(device->constants, record->doubles, (size_t)record->double_count * sizeof(double));
            device->constant_count = record->double_count;
        }
        break;
    default:
        break;
    }
}

static void take_image(struct CoreChannel *channel, const Record *record)
{
    if (record->byte_count <= 0)
        return;
    if (channel->byte_count != (size_t)record->byte_count)
        channel->bytes = memory_resize(channel->bytes, (size_t)record->byte_count, 1);
    channel->byte_count = (size_t)record->byte_count;
    memcpy(channel->bytes, record->bytes, channel->byte_count);
}

static void take_reading(const Record *record)
{
    if (record->tag >= core.device_count || record->int_count < 1 || record->ints[0] < 0 || record->ints[0] >= CORE_CHANNELS)
        return;
    struct CoreChannel *channel = &core.devices[record->tag].channels[record->ints[0]];
    if (record->double_count > channel->capacity) {
        channel->capacity = record->double_count;
        channel->numbers = memory_resize(channel->numbers, (size_t)channel->capacity, sizeof(double));
    }
    if (record->double_count)
        memcpy(channel->numbers, record->doubles, (size_t)record->double_count * sizeof(double));
    channel->count = record->double_count;
    take_image(channel, record);
    channel->serial++;
    int waiting = record->int_count >= 2 ? record->ints[1] : -1;
    if (waiting >= 0 && waiting < CORE_CHANNELS)
        core.devices[record->tag].channels[waiting].is_waiting = true;
}

static void take_packet(const Record *record)
{
    if (record->tag >= core.device_count || record->double_count < 4)
        return;
    CoreDevice *device = &core.devices[record->tag];
    CorePacket *packet = memory_alloc(sizeof *packet);
    packet->data = memory_text(record->bytes, (size_t)record->byte_count);
    packet->size = record->byte_count;
    packet->strength = record->doubles[0];
    memcpy(packet->direction, record->doubles + 1, sizeof packet->direction);
    if (device->last)
        device->last->next = packet;
    else
        device->first = packet;
    device->last = packet;
    device->packet_count++;
}

void supervisor_take_tracked(const Record *head, FrameReader *reader);
void input_take(const Record *record);

static int take_state(FrameReader *reader)
{
    Record record;
    int delay = 0;
    while (frame_next(reader, &record)) {
        switch (record.op) {
        case OP_TIME:
            if (record.double_count)
                core.time = record.doubles[0];
            if (record.int_count >= 2) {
                delay = record.ints[0];
                core.simulation_mode = record.ints[1];
            }
            break;
        case OP_READING:
            take_reading(&record);
            break;
        case OP_PACKET:
            take_packet(&record);
            break;
        case OP_ROBOT_CHANGED:
            take_robot(&record);
            break;
        case OP_KEYS:
        case OP_MOUSE:
        case OP_JOYSTICK:
            input_take(&record);
            break;
        case OP_ROBOT_TEXT:
        case OP_DEVICE_CONSTANTS:
            take_config(&record);
            break;
        case OP_TRACK:
            supervisor_take_tracked(&record, reader);
            break;
        default:
            break;
        }
    }
    return delay;
}

// ---- life ----

static void lose_connection(void)
{
    core.must_quit = true;
    channel_close(core.channel);
    core.channel = NULL;
}

static bool say_hello(const char *robot)
{
    const char *token = getenv("TALUS_TOKEN");
    frame_begin(&core.commands, FRAME_HELLO);
    frame_add(&core.commands, &(Record){ .op = OP_HELLO_VERSION, .int_count = 2, .ints = (int32_t[]){ PROTOCOL_VERSION, getpid() } });
    frame_add(&core.commands, &(Record){ .op = OP_HELLO_ROBOT, .byte_count = (int)strlen(robot), .bytes = robot });
    if (token)
        frame_add(&core.commands, &(Record){ .op = OP_HELLO_TOKEN, .byte_count = (int)strlen(token), .bytes = token });
    FrameReader reader;
    Record record;
    if (!channel_send(core.channel, &core.commands) || !receive(&reader))
        return false;
    grow_devices(0);
    while (frame_next(&reader, &record)) {
        if (record.op == OP_REFUSED) {
            fprintf(stderr, "Error: the simulator refused this controller: %s\n", record.bytes);
            return false;
        }
        take_config(&record);
    }
    return true;
}

int wb_robot_init(void);
int wb_robot_init(void)
{
    core_lock();
    if (!core.is_connected) {
        char *robot;
        setvbuf(stdout, NULL, _IOLBF, 4096);
        core.channel = open_channel(&robot);
        if (!core.channel || !say_hello(robot)) {
            fprintf(stderr, "Error: wb_robot_init(): there is no simulator to talk to\n");
            exit(EXIT_FAILURE);
        }
        free(robot);
        core.is_connected = true;
    }
    core_unlock();
    return 1;
}

static void free_device(CoreDevice *device)
{
    free(device->name);
    free(device->model);
    free(device->constants);
    free(device->own);
    for (int i = 0; i < CORE_CHANNELS; i++) {
        free(device->channels[i].numbers);
        free(device->channels[i].bytes);
    }
    while (device->first) {
        CorePacket *next = device->first->next;
        free(device->first->data);
        free(device->first);
        device->first = next;
    }
}

void supervisor_cleanup(void);

void wb_robot_cleanup(void);
void wb_robot_cleanup(void)
{
    core_lock();
    if (core.channel) {
        frame_begin(&core.commands, FRAME_BYE);
        channel_send(core.channel, &core.commands);
        channel_close(core.channel);
    }
    supervisor_cleanup();
    for (int i = 0; i < core.device_count; i++)
        free_device(&core.devices[i]);
    free(core.devices);
    free(core.name);
    for (int i = 0; i < COUNT_OF(core.texts); i++)
        free(core.texts[i]);
    frame_free(&core.commands);
    core = (Core){ .must_quit = true };
    core_unlock();
}

// ---- commands and steps ----

static size_t record_size(const Record *record)
{
    return 64 + 8 * (size_t)record->double_count + 4 * (size_t)record->int_count + (size_t)record->byte_count;
}

static int exchange(int duration);

void core_add(const Record *record)
{
    core_lock();
    if (core.channel && record_size(record) > CORE_MESSAGE_BYTES / 2) {
        core_warn(protocol_op_name(record->op), "%d bytes are more than a message may have; they are not sent", record->byte_count);
    } else if (core.channel) {
        // A step of no time makes room when very much is said between two steps.
        if (record->op != OP_DURATION && core.has_commands && core.commands.size + record_size(record) > CORE_MESSAGE_BYTES - 4096)
            exchange(0);
        if (!core.has_commands)
            frame_begin(&core.commands, FRAME_STEP);
        core.has_commands = true;
        frame_add(&core.commands, record);
    }
    core_unlock();
}

static int exchange(int duration)
{
    FrameReader reader;
    core_add(&(Record){ .op = OP_DURATION, .int_count = 1, .ints = (int32_t[]){ duration } });
    core.has_commands = false;
    fflush(stdout);
    if (!channel_send(core.channel, &core.commands) || !receive(&reader)) {
        lose_connection();
        return -1;
    }
    if (reader.kind == FRAME_QUIT) {
        core.must_quit = true;
        return -1;
    }
    return take_state(&reader);
}

int core_step(int duration)
{
    core_lock();
    int delay = -1;
    if (!core.is_connected)
        core_warn("wb_robot_step", "wb_robot_init() comes first");
    else if (core.channel && !core.must_quit)
        delay = exchange(duration < 0 ? 0 : duration);
    core_unlock();
    return delay;
}

static bool ask(const Record *question, Record *answer, const char *who, bool is_after_commands)
{
    static FrameWriter frame;
    bool ok = false;
    core_lock();
    if (record_size(question) > CORE_MESSAGE_BYTES / 2)
        core_warn(who ? who : "wb_supervisor", "%d bytes are more than a message may have", question->byte_count);
    else if (core.channel && !core.must_quit) {
        FrameReader reader;
        if (is_after_commands && core.has_commands)
            exchange(0);  // what was asked before comes before
        frame_begin(&frame, FRAME_CALL);
        frame_add(&frame, question);
        if (core.channel && channel_send(core.channel, &frame) && receive(&reader)) {
            ok = reader.kind == FRAME_RESULT && frame_next(&reader, answer) && answer->op != OP_FAILED;
            if (!ok && reader.kind == FRAME_RESULT && who)
                core_warn(who, "%s", answer->bytes);
            if (reader.kind == FRAME_QUIT)
                core.must_quit = true;
        } else if (core.channel) {
            lose_connection();
        }
    }
    core_unlock();
    return ok;
}

bool core_call(const Record *question, Record *answer, const char *who)
{
    return ask(question, answer, who, true);
}

// A picture is of the moment it was due, so the commands since then need not go before.
void core_fetch_image(CoreDevice *device, int channel)
{
    struct CoreChannel *to = &device->channels[channel];
    core_lock();
    int32_t number = channel;
    Record answer;
    if (to->is_waiting && ask(&(Record){ .op = OP_IMAGE, .tag = (uint16_t)(device - core.devices), .int_count = 1, .ints = &number }, &answer, NULL, false))
        take_image(to, &answer);
    to->is_waiting = false;
    core_unlock();
}

// ---- devices ----

CoreDevice *core_device(WbDeviceTag tag, const WbNodeType *types, const char *who)
{
    if (!core.is_connected) {
        core_warn(who, "wb_robot_init() comes first");
        return NULL;
    }
    if (tag == 0 || tag >= core.device_count) {
        core_warn(who, "invalid device tag");
        return NULL;
    }
    for (const WbNodeType *type = types; *type != WB_NODE_NO_NODE; type++)
        if (core.devices[tag].type == *type)
            return &core.devices[tag];
    core_warn(who, "the device '%s' is a %s", core.devices[tag].name, wb_node_get_name(core.devices[tag].type));
    return NULL;
}

double core_constant(const CoreDevice *device, int index)
{
    return device && index < device->constant_count ? device->constants[index] : 0.0;
}

void core_enable(WbDeviceTag tag, int channel, int period)
{
    core_lock();
    core.devices[tag].channels[channel].period = period > 0 ? period : 0;
    core_add(&(Record){ .op = OP_ENABLE, .tag = tag, .int_count = 2, .ints = (int32_t[]){ channel, period } });
    core_unlock();
}

void core_command(WbDeviceTag tag, int command, const double *numbers, int count, const void *bytes, int byte_count)
{
    int32_t row = command;
    core_add(&(Record){ .op = OP_COMMAND, .tag = tag, .int_count = 1, .ints = &row, .double_count = count, .doubles = numbers,
                        .byte_count = byte_count, .bytes = bytes });
}

const double *core_reading(const CoreDevice *device, int channel, int *count)
{
    if (!device || device->channels[channel].serial == 0)
        return NULL;
    if (count)
        *count = device->channels[channel].count;
    return device->channels[channel].numbers;
}

double core_value(const CoreDevice *device, int channel)
{
    const double *reading = core_reading(device, channel, NULL);
    return reading ? reading[0] : NAN;
}
