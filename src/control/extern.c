// extern.c - controllers that somebody else starts: a TCP port to which they connect, on this machine alone unless there is
// a token that they must show.
#include "control/control_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEFAULT_PORT = 1234, PORTS_TRIED = 10, BACKLOG = 16, HELLO_MS = 1000 };

static bool is_waiting(const Controller *controller)
{
    return controller->is_extern && !controller->channel;
}

static int listen_at(const Control *control, int port)
{
    int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(control->options.token ? INADDR_ANY : INADDR_LOOPBACK);
    int yes = 1;
    if (handle >= 0)
        setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (handle >= 0 && (bind(handle, (struct sockaddr *)&address, sizeof address) < 0 || listen(handle, BACKLOG) < 0)) {
        close(handle);
        handle = -1;
    }
    return handle;
}

void extern_open(Control *control)
{
    int wanted = control->options.port, port = wanted > 0 ? wanted : DEFAULT_PORT;
    for (int i = 0; control->listener < 0 && i < (wanted > 0 ? 1 : PORTS_TRIED); i++) {
        control->listener = listen_at(control, port + i);
        if (control->listener >= 0)
            port += i;
    }
    if (control->listener < 0) {
        diag_error(control->diags, (SourcePos){ 0 }, "port %d cannot be opened for <extern> controllers: %s", port, strerror(errno));
        return;
    }
    for (int i = 0; i < control->count; i++)
        if (is_waiting(&control->controllers[i]))
            fprintf(stderr, "robot '%s' takes its controller from outside: WEBOTS_CONTROLLER_URL=tcp://127.0.0.1:%d/%s\n",
                    control->controllers[i].name, port, control->controllers[i].name);
    fflush(stderr);
}

static void refuse(Control *control, Channel *channel, const char *why)
{
    frame_begin(&control->frame, FRAME_CONFIG);
    frame_add(&control->frame, &(Record){ .op = OP_REFUSED, .byte_count = (int)strlen(why), .bytes = why });
    channel_send(channel, &control->frame);
    channel_close(channel);
}

// The robot that is asked for; without a name, the only one that waits.
static Controller *find_robot(Control *control, const char *name)
{
    Controller *found = NULL;
    int waiting = 0;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (!is_waiting(controller) || !devices_robot_exists(control->devices, controller->robot))
            continue;
        waiting++;
        if (!*name || !strcmp(controller->name, name))
            found = controller;
    }
    return *name || waiting == 1 ? found : NULL;
}

// Compares all bytes, so that the time it takes says nothing about the token.
static bool is_token(const char *token, const char *shown)
{
    size_t length = strlen(token), shown_length = strlen(shown);
    unsigned difference = length != shown_length;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)token[i] ^ (unsigned char)(i < shown_length ? shown[i] : 0);
    return difference == 0;
}

static void greet(Control *control, Channel *channel, bool is_local)
{
    const void *data;
    size_t size;
    FrameReader reader;
    if (channel_receive(channel, HELLO_MS, 0, &data, &size) != CHANNEL_OK || !frame_open(&reader, data, size) || reader.kind != FRAME_HELLO) {
        refuse(control, channel, "that was no greeting");
        return;
    }
    const char *robot = "", *token = "";
    int version = -1;
    Record record;
    while (frame_next(&reader, &record)) {
        if (record.op == OP_HELLO_VERSION && record.int_count >= 1)
            version = record.ints[0];
        else if (record.op == OP_HELLO_ROBOT)
            robot = record.bytes;
        else if (record.op == OP_HELLO_TOKEN)
            token = record.bytes;
    }
    Controller *controller = reader.is_broken ? NULL : find_robot(control, robot);
    if (version != PROTOCOL_VERSION)
        refuse(control, channel, "it speaks another version of the protocol");
    else if (!is_local && (!control->options.token || !is_token(control->options.token, token)))
        refuse(control, channel, "the token is wrong");
    else if (!controller)
        refuse(control, channel, "no robot of this name waits for a controller");
    else {
        controller->channel = channel;
        controller->has_exited_well = false;
        exchange_config(control, controller);
        controller->asked_ms = control_now_ms();
        controller->phase = CONTROLLER_ASKS;
    }
}

void extern_accept(Control *control, int wait_ms)
{
    struct pollfd poller = { control->listener, POLLIN, 0 };
    if (control->listener < 0 || poll(&poller, 1, wait_ms) <= 0)
        return;
    struct sockaddr_in from = { 0 };
    socklen_t length = sizeof from;
    int handle = accept4(control->listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
    if (handle < 0)
        return;
    int yes = 1;
    setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    greet(control, channel_open_socket(handle, (size_t)limits_default.message_bytes), (ntohl(from.sin_addr.s_addr) >> 24) == 127);
}

bool extern_blocks(const Control *control)
{
    for (int i = 0; i < control->count; i++) {
        const Controller *controller = &control->controllers[i];
        if (is_waiting(controller) && devices_robot_exists(control->devices, controller->robot) &&
            scene_bool(devices_robot_node(control->devices, controller->robot), "synchronization"))
            return control->listener >= 0;
    }
    return false;
}

void extern_close(Control *control)
{
    if (control->listener >= 0)
        close(control->listener);
    control->listener = -1;
}
