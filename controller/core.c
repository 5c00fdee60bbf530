// core.c - a program of a robot as the simulator knows it: the connection, the step, what was sent and what came back.
#include "core.h"

#include "base/memory.h"
#include "connect.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void core_unlock(void) { pthread_mutex_unlock(&mutex); }

void core_warn(const char *who, const char *format, ...)
{
    assert_debug(who && format);
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fprintf(stderr, "Error: %s(): ", who);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

// ---- connection ----

static bool is_launched;  // by the simulator itself

static bool receive(Channel *channel, FrameReader *reader)
{
    assert_debug(channel && reader);
    const void *data;
    size_t size;
    pid_t parent = getppid();
    for (;;) {
        ChannelResult result = channel_receive(channel, 1000, 0, &data, &size);
        // Whoever started it from outside may go; the simulator may not.
        if (result == CHANNEL_TIMEOUT && (!is_launched || getppid() == parent))
            continue;
        return result == CHANNEL_OK && frame_open(reader, data, size);
    }
}

// ---- what the simulator tells ----

static void set_text(char **text, const Record *record)
{
    assert_debug(record->bytes && record->byte_count >= 0);
    free(*text);
    *text = memory_text(record->bytes, (size_t)record->byte_count);
}

static CoreDevice *grow_devices(int tag)
{
    assert(tag >= 0);
    if (tag >= core.device_count) {
        core.devices = memory_resize(core.devices, (size_t)tag + 1, sizeof *core.devices);
        memset(&core.devices[core.device_count], 0, (size_t)(tag + 1 - core.device_count) * sizeof *core.devices);
        core.device_count = tag + 1;
    }
    assert(tag < core.device_count);
    return &core.devices[tag];
}

static void take_robot(const Record *record)
{
    assert_debug(record->op == OP_ROBOT || record->op == OP_ROBOT_CHANGED);
    if (record->int_count < 3 || record->double_count < 2)
        return;
    core.supervisor = record->ints[0];
    core.synchronization = record->ints[1];
    core.mode = record->ints[2];
    core.robot_type = record->int_count > 3 ? (WbNodeType)record->ints[3] : WB_NODE_ROBOT;
    core.basic_time_step = record->doubles[1];
    if (!core.name || strcmp(core.name, record->bytes))
        set_text(&core.name, record);
}

// A record may come again while the robot runs (a device was added, a constant changed): what is known is replaced.
static void take_config(const Record *record)
{
    CoreDevice *device = record->op == OP_DEVICE           ? grow_devices(record->tag)
                         : record->tag < core.device_count ? &core.devices[record->tag]
                                                           : NULL;
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
    default: break;
    }
}

static void fetch_image(CoreDevice *device, int channel);

static void take_image(struct CoreChannel *channel, const Record *record)
{
    assert(channel && (record->bytes || record->byte_count <= 0));
    if (record->byte_count <= 0)
        return;
    if (channel->byte_count != (size_t)record->byte_count)
        channel->bytes = memory_resize(channel->bytes, (size_t)record->byte_count, 1);
    channel->byte_count = (size_t)record->byte_count;
    memcpy(channel->bytes, record->bytes, channel->byte_count);
}

static void take_reading(const Record *record)
{
    if (record->tag >= core.device_count || record->int_count < 1 || record->ints[0] < 0
        || record->ints[0] >= CORE_CHANNELS)
        return;
    struct CoreChannel *channel = &core.devices[record->tag].channels[record->ints[0]];
    if (record->double_count > channel->capacity) {
        channel->capacity = record->double_count;
        channel->numbers = memory_resize(channel->numbers, (size_t)channel->capacity, sizeof(double));
    }
    if (record->double_count)
        memcpy(channel->numbers, record->doubles, (size_t)record->double_count * sizeof(double));
    channel->count = record->double_count;
    assert_debug(channel->count <= channel->capacity);
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
    assert_debug((device->first == NULL) == (device->last == NULL));
    if (device->last)
        device->last->next = packet;
    else
        device->first = packet;
    device->last = packet;
    device->packet_count++;
    assert_debug(device->packet_count > 0);
}

// Messages stay until the program takes them, but not for ever: one that never does loses those that come later.
static void take_window_message(const Record *record)
{
    size_t size = (size_t)record->byte_count + 1;
    assert(core.window.read <= core.window.size);
    if (core.window.read == core.window.size)
        core.window.read = core.window.size = 0;
    if (core.window.size + size > CORE_MESSAGE_BYTES)
        return;
    core.window.data = memory_resize(core.window.data, core.window.size + size, 1);
    memcpy(core.window.data + core.window.size, record->bytes, size);
    core.window.size += size;
}

void supervisor_take_tracked(const Record *head, FrameReader *reader);

// Readings replace those before; what is not in the frame is as it was.
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
        case OP_READING: take_reading(&record); break;
        case OP_PACKET: take_packet(&record); break;
        case OP_ROBOT_CHANGED: take_robot(&record); break;
        case OP_WINDOW_MESSAGE: take_window_message(&record); break;
        case OP_KEYS:
        case OP_MOUSE:
        case OP_JOYSTICK: input_take(&record); break;
        case OP_ROBOT_TEXT:
        case OP_DEVICE:
        case OP_DEVICE_MODEL:
        case OP_DEVICE_CONSTANTS: take_config(&record); break;
        case OP_TRACK: supervisor_take_tracked(&record, reader); break;
        default: break;
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

static bool take_greeting(FrameReader *reader, bool is_last)
{
    Record record;
    grow_devices(0);
    assert_debug(core.device_count > 0);  // the robot itself is there
    while (frame_next(reader, &record)) {
        if (record.op == OP_REFUSED) {
            if (is_last) {
                fprintf(stderr, "Error: the simulator refused this controller: %s\n", record.bytes);
                exit(EXIT_FAILURE);
            }
            return false;
        }
        take_config(&record);
    }
    return true;
}

static bool greet(Channel *channel, const char *robot, bool is_last)
{
    assert_debug(channel && robot);
    const char *token = getenv("TALUS_TOKEN");
    frame_begin(&core.commands, FRAME_HELLO);
    frame_add(&core.commands,
              &(Record){ .op = OP_HELLO_VERSION, .int_count = 2, .ints = (int32_t[]){ PROTOCOL_VERSION, getpid() } });
    frame_add(&core.commands, &(Record){ .op = OP_HELLO_ROBOT, .byte_count = (int)strlen(robot), .bytes = robot });
    if (token)
        frame_add(&core.commands, &(Record){ .op = OP_HELLO_TOKEN, .byte_count = (int)strlen(token), .bytes = token });
    FrameReader reader;
    return channel_send(channel, &core.commands) && receive(channel, &reader) && take_greeting(&reader, is_last);
}

int wb_robot_init(void);
int wb_robot_init(void)
{
    core_lock();
    if (!core.is_connected) {
        setvbuf(stdout, NULL, _IOLBF, 4096);
        core.channel = connect_simulator(greet, &is_launched);
        if (!core.channel) {
            fprintf(stderr, "Error: wb_robot_init(): there is no simulator to talk to\n");
            exit(EXIT_FAILURE);
        }
        assert_debug(core.device_count > 0);
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
static int exchange(int duration);
static void take_begun(void);

void wb_robot_cleanup(void);
void wb_robot_cleanup(void)
{
    core_lock();
    // What was said last still counts.
    take_begun();
    if (core.channel && !core.must_quit && core.has_commands)
        exchange(0);
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
    free(core.window.data);
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

void core_add(const Record *record)
{
    assert(record->op < OP_COUNT);
    core_lock();
    if (core.channel && record_size(record) > CORE_MESSAGE_BYTES / 2) {
        core_warn(protocol_op_name(record->op), "%d bytes are more than a message may have; they are not sent",
                  record->byte_count);
    } else if (core.channel) {
        // A step of no time makes room when very much is said between two steps.
        if (record->op != OP_DURATION && core.has_commands
            && core.commands.size + record_size(record) > CORE_MESSAGE_BYTES - 4096)
            exchange(0);
        if (!core.has_commands)
            frame_begin(&core.commands, FRAME_STEP);
        core.has_commands = true;
        frame_add(&core.commands, record);
    }
    core_unlock();
}

// A step has two halves: the request goes out, and its answer comes when that time is reached.
static void send_step(int duration)
{
    assert_debug(core.channel && !core.must_quit);
    assert(duration >= 0);
    core_send_displays();
    core_add(&(Record){ .op = OP_DURATION, .int_count = 1, .ints = (int32_t[]){ duration } });
    assert_debug(core.commands.size <= CORE_MESSAGE_BYTES);
    core.has_commands = false;
    fflush(stdout);
    if (!channel_send(core.channel, &core.commands))
        lose_connection();
}

static int take_answer(void)
{
    FrameReader reader;
    if (!core.channel)
        return -1;
    if (!receive(core.channel, &reader)) {
        lose_connection();
        return -1;
    }
    if (reader.kind == FRAME_QUIT) {
        core.must_quit = true;
        return -1;
    }
    return take_state(&reader);
}

static int exchange(int duration)
{
    take_begun();
    if (core.channel && !core.must_quit)
        send_step(duration);
    return core.must_quit ? -1 : take_answer();
}

// Whoever asks or leaves between the halves of a step first takes the second one.
static void take_begun(void)
{
    if (core.step != CORE_STEP_BEGUN)
        return;
    core.step_delay = take_answer();
    assert_debug(core.step == CORE_STEP_BEGUN);
    core.step = CORE_STEP_ANSWERED;
}

// Python's own files are flushed by its exception alone, which comes up as soon as this call returns.
static bool end_python(void)
{
    static bool was_told;
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    unsigned long (*thread)(void) = (unsigned long (*)(void))dlsym(RTLD_DEFAULT, "PyThread_get_thread_ident");
    int (*raise)(unsigned long, void *) = (int (*)(unsigned long, void *))dlsym(RTLD_DEFAULT,
                                                                                "PyThreadState_SetAsyncExc");
    void **exception = dlsym(RTLD_DEFAULT, "PyExc_SystemExit");
    int (*has_begun)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    if (was_told || !ensure || !release || !thread || !raise || !exception || !has_begun || !has_begun())
        return false;
    was_told = true;
    int state = ensure();
    raise(thread(), *exception);
    release(state);
    return true;
}

// The run is over and the program has been told: it ends at its next step or question, as Webots ends it, and what
// stdio holds is written. Functions that exit() calls may ask once more; they get no answer.
static void leave(int status)
{
    static bool is_leaving;
    if (is_leaving || end_python())
        return;
    is_leaving = true;
    exit(status);
}

static bool may_step(const char *who)
{
    if (core.must_quit)
        leave(EXIT_SUCCESS);
    else if (!core.is_connected)
        core_warn(who, "wb_robot_init() comes first");
    return core.channel && !core.must_quit;
}

// A program that took the pointer of an image once may have kept it, and finds each new image there, as in Webots. One
// that takes it again and again asks for what it wants to see.
static void refresh_kept_images(void)
{
    for (int tag = 1; tag < core.device_count && !core.must_quit; tag++)
        for (int channel = 0; channel < CORE_CHANNELS; channel++)
            if (core.devices[tag].channels[channel].looks == 1)
                fetch_image(&core.devices[tag], channel);
}

int core_step(int duration)
{
    core_lock();
    int delay = may_step("wb_robot_step") ? exchange(duration < 0 ? 0 : duration) : -1;
    assert_debug(core.step != CORE_STEP_BEGUN || delay < 0);  // the half that was begun was taken first
    core.step = CORE_STEP_NONE;
    if (delay >= 0)
        refresh_kept_images();
    core_unlock();
    return delay;
}

int core_step_begin(int duration)
{
    core_lock();
    bool may = may_step("wb_robot_step_begin");
    if (may) {
        take_begun();
        if (core.channel && !core.must_quit)
            send_step(duration < 0 ? 0 : duration);
        core.step = CORE_STEP_BEGUN;
    }
    core_unlock();
    return may && core.channel ? 0 : -1;
}

int core_step_end(void)
{
    core_lock();
    int delay = -1;
    if (core.step == CORE_STEP_NONE && may_step("wb_robot_step_end"))
        core_warn("wb_robot_step_end", "wb_robot_step_begin() comes first");
    take_begun();
    if (core.step == CORE_STEP_ANSWERED)
        delay = core.step_delay;
    core.step = CORE_STEP_NONE;
    if (delay >= 0)
        refresh_kept_images();
    core_unlock();
    return delay;
}

static bool ask(const Record *question, Record *answer, const char *who, bool is_after_commands)
{
    static FrameWriter frame;
    FrameReader reader;
    take_begun();
    assert_debug(core.step != CORE_STEP_BEGUN);  // two answers at once would be taken for each other's
    if (is_after_commands && core.has_commands && core.channel && !core.must_quit)
        exchange(0);  // what was asked before comes before
    frame_begin(&frame, FRAME_CALL);
    frame_add(&frame, question);
    if (!core.channel || !channel_send(core.channel, &frame) || !receive(core.channel, &reader)) {
        lose_connection();
        fprintf(stderr, "Error: %s(): the connection to the simulator is lost\n", who ? who : "wb_supervisor");
        leave(EXIT_FAILURE);
        return false;
    }
    if (reader.kind == FRAME_QUIT) {
        core.must_quit = true;
        leave(EXIT_SUCCESS);
        return false;
    }
    bool ok = reader.kind == FRAME_RESULT && frame_next(&reader, answer) && answer->op != OP_FAILED;
    if (!ok && reader.kind == FRAME_RESULT && who)
        core_warn(who, "%s", answer->bytes);
    Record news;  // devices that were imported by the call
    while (ok && frame_next(&reader, &news))
        take_config(&news);
    return ok;
}

bool core_call(const Record *question, Record *answer, const char *who)
{
    assert_debug(question && answer);
    bool ok = false;
    core_lock();
    if (core.must_quit)
        leave(EXIT_SUCCESS);
    else if (record_size(question) > CORE_MESSAGE_BYTES / 2)
        core_warn(who ? who : "wb_supervisor", "%d bytes are more than a message may have", question->byte_count);
    else if (core.channel)
        ok = ask(question, answer, who, true);
    core_unlock();
    return ok;
}

// A picture is of the moment it was due, so the commands since then need not go before. After the end the last one that
// was looked at stays.
static void fetch_image(CoreDevice *device, int channel)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    assert_debug(device > core.devices && device < core.devices + core.device_count);
    struct CoreChannel *to = &device->channels[channel];
    int32_t number = channel;
    Record answer;
    if (to->is_waiting && core.channel && !core.must_quit
        && ask(&(Record){ .op = OP_IMAGE, .tag = (uint16_t)(device - core.devices), .int_count = 1, .ints = &number },
               &answer, NULL, false))
        take_image(to, &answer);
    to->is_waiting = false;
}

void core_fetch_image(CoreDevice *device, int channel)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    core_lock();
    fetch_image(device, channel);
    device->channels[channel].looks += device->channels[channel].looks < 2;
    core_unlock();
}

// ---- devices ----

CoreDevice *core_device(WbDeviceTag tag, const WbNodeType *types, const char *who)
{
    assert_debug(types && who);
    if (!core.is_connected) {
        core_warn(who, "wb_robot_init() comes first");
        return NULL;
    }
    if (tag == 0 || tag >= core.device_count) {
        core_warn(who, "invalid device tag");
        return NULL;
    }
    assert_debug(core.devices[tag].name);
    for (const WbNodeType *type = types; *type != WB_NODE_NO_NODE; type++)
        if (core.devices[tag].type == *type)
            return &core.devices[tag];
    core_warn(who, "the device '%s' is a %s", core.devices[tag].name, wb_node_get_name(core.devices[tag].type));
    return NULL;
}

double core_constant(const CoreDevice *device, int index)
{
    assert(index >= 0);
    return device && index < device->constant_count ? device->constants[index] : 0.0;
}

void core_enable(WbDeviceTag tag, int channel, int period)
{
    assert((int)tag < core.device_count && channel >= 0 && channel < CORE_CHANNELS);
    core_lock();
    core.devices[tag].channels[channel].period = period > 0 ? period : 0;
    core_add(&(Record){ .op = OP_ENABLE, .tag = tag, .int_count = 2, .ints = (int32_t[]){ channel, period } });
    core_unlock();
}

void core_command(WbDeviceTag tag, int command, const double *numbers, int count, const void *bytes, int byte_count)
{
    assert((numbers || count == 0) && byte_count >= 0);
    int32_t row = command;
    core_add(&(Record){ .op = OP_COMMAND,
                        .tag = tag,
                        .int_count = 1,
                        .ints = &row,
                        .double_count = count,
                        .doubles = numbers,
                        .byte_count = byte_count,
                        .bytes = bytes });
}

const double *core_reading(const CoreDevice *device, int channel, int *count)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    if (!device || device->channels[channel].serial == 0)
        return NULL;
    if (count)
        *count = device->channels[channel].count;
    return device->channels[channel].numbers;
}

double core_value(const CoreDevice *device, int channel)
{
    assert(channel >= 0 && channel < CORE_CHANNELS);
    const double *reading = core_reading(device, channel, NULL);
    return reading ? reading[0] : NAN;
}
