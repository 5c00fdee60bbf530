// extern.c - controllers that somebody else starts. They connect to a TCP port, or on this machine to a Unix socket of
// the same number, from which both sides go over to shared memory. Whoever has connected is a guest until it has
// greeted; nobody waits for guests. The user who runs the simulator is let in; everybody else must show the token, and
// may name files of the project alone.
#include "control/control_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEFAULT_PORT = 1234, PORTS_TRIED = 10, BACKLOG = 64, HELLO_MS = 2000, GUESTS_MAX = 64, LOOK_MS = 20 };

typedef struct ExternGuest {
    Channel *channel;
    int64_t since_ms;
    bool is_own;    // of the user who runs the simulator
    bool is_local;  // by the Unix socket
    pid_t pid;      // of those
} Guest;

static bool is_waiting(const Control *control, const Controller *controller)
{
    return controller->is_extern && !controller->channel && devices_robot_exists(control->devices, controller->robot);
}

// ---- doors ----

static int listen_network(const Control *control, int port)
{
    int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(control->options.token ? INADDR_ANY : INADDR_LOOPBACK);
    int yes = 1;
    if (handle >= 0)
        setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (handle >= 0 && (bind(handle, (struct sockaddr *)&address, sizeof address) < 0 || listen(handle, BACKLOG) < 0)) {
        int why = errno;
        close(handle);
        errno = why;
        return -1;
    }
    return handle;
}

static int listen_here(int port)
{
    struct sockaddr_un address;
    socklen_t length = protocol_socket_name(port, &address);
    int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (handle >= 0 && (bind(handle, (struct sockaddr *)&address, length) < 0 || listen(handle, BACKLOG) < 0)) {
        close(handle);
        return -1;
    }
    return handle;
}

// As WEBOTS_CONTROLLER_URL wants it: whatever a shell or an address could take for something else stands as %hex.
static void say_address(const Control *control, const Controller *controller)
{
    Text name = { 0 };
    for (const char *at = controller->name; *at; at++)
        text_printf(&name, isalnum((unsigned char)*at) || strchr("-_.", *at) ? "%c" : "%%%02X", (unsigned char)*at);
    const char *robot = name.data ? name.data : "";
    fprintf(stderr, "robot '%s' takes its controller from outside: WEBOTS_CONTROLLER_URL=", controller->name);
    if (control->local_listener >= 0)
        fprintf(stderr, "ipc://%d/%s (or tcp://127.0.0.1:%d/%s)\n", control->port, robot, control->port, robot);
    else
        fprintf(stderr, "tcp://127.0.0.1:%d/%s\n", control->port, robot);
    text_free(&name);
}

void extern_open(Control *control)
{
    assert(control->listener < 0 && control->local_listener < 0);
    int wanted = control->options.port;
    control->port = wanted > 0 ? wanted : DEFAULT_PORT;
    for (int i = 0; control->listener < 0 && i < (wanted > 0 ? 1 : PORTS_TRIED); i++) {
        control->listener = listen_network(control, control->port + i);
        if (control->listener >= 0)
            control->port += i;
    }
    if (control->listener < 0) {
        const char *why = strerror(errno);
        diag_error(control->diags, (SourcePos){ 0 }, "port %d cannot be opened for <extern> controllers: %s",
                   control->port, why);
        sim_stop(control->sim, arena_printf(control->arena, "port %d cannot be opened for <extern> controllers: %s",
                                            control->port, why));
        return;
    }
    control->local_listener = listen_here(control->port);
    for (int i = 0; i < control->count; i++)
        if (is_waiting(control, &control->controllers[i]))
            say_address(control, &control->controllers[i]);
    fflush(stderr);
}

static void drop_guest(Control *control, int index)
{
    assert_debug(index >= 0 && index < control->guest_count);
    channel_close(control->guests[index].channel);
    control->guests[index] = control->guests[--control->guest_count];
}

void extern_close(Control *control)
{
    while (control->guest_count > 0)
        drop_guest(control, control->guest_count - 1);
    free(control->guests);
    control->guests = NULL;
    if (control->listener >= 0)
        close(control->listener);
    if (control->local_listener >= 0)
        close(control->local_listener);
    control->listener = control->local_listener = -1;
}

// ---- who is it ----

// The owner of the other end of a connection inside this machine, as the system's table of connections has it.
static bool is_own_connection(const struct sockaddr_in *from, int port)
{
    if ((ntohl(from->sin_addr.s_addr) >> 24) != 127)
        return false;
    FILE *table = fopen("/proc/net/tcp", "r");
    char line[512];
    bool is_own = false;
    while (table && !is_own && fgets(line, sizeof line, table)) {
        unsigned address, local_port, to, remote_port, user;
        if (sscanf(line, " %*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &address, &local_port, &to, &remote_port,
                   &user)
            == 5)
            is_own = address == from->sin_addr.s_addr && local_port == ntohs(from->sin_port)
                     && remote_port == (unsigned)port && user == getuid();
    }
    if (table)
        fclose(table);
    return is_own;
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

static bool may_enter(const Control *control, const Guest *guest, const char *token)
{
    return guest->is_own || (control->options.token && is_token(control->options.token, token));
}

bool extern_may_name(Control *control, const Controller *controller, const char *path)
{
    if (!controller->is_foreign)
        return true;
    char *folder = path_real(control->arena, path_directory(control->arena, path));
    char *project = path_real(control->arena, launch_project(control));
    return folder && project && path_is_inside(folder, project);
}

// ---- greeting ----

static void refuse(Control *control, Channel *channel, const char *why)
{
    assert_debug(channel && why);
    frame_begin(&control->frame, FRAME_CONFIG);
    frame_add(&control->frame, &(Record){ .op = OP_REFUSED, .byte_count = (int)strlen(why), .bytes = why });
    channel_send(channel, &control->frame);
}

// The robot that is asked for; without a name, the only one that waits.
static Controller *find_robot(Control *control, const char *name)
{
    Controller *found = NULL;
    int waiting = 0;
    for (int i = 0; i < control->count; i++) {
        Controller *controller = &control->controllers[i];
        if (!is_waiting(control, controller))
            continue;
        waiting++;
        if (!*name || !strcmp(controller->name, name))
            found = controller;
    }
    return *name || waiting == 1 ? found : NULL;
}

static void refuse_robot(Control *control, Channel *channel, const char *name)
{
    Text text = { 0 };
    int waiting = 0;
    text_printf(&text, *name ? "no robot named '%s' waits for a controller" : "it does not say which robot it is for",
                name);
    for (int i = 0; i < control->count; i++)
        if (is_waiting(control, &control->controllers[i]))
            text_printf(&text, "%s'%s'", waiting++ ? ", " : "; these do: ", control->controllers[i].name);
    refuse(control, channel, text.data);
    text_free(&text);
}

static void let_in(Control *control, Controller *controller, const Guest *guest, int pid)
{
    assert_debug(controller->is_extern && controller->pid == 0);
    assert_debug(guest->channel && !controller->channel);
    controller->channel = guest->channel;
    controller->has_exited_well = false;
    controller->peer_pid = guest->is_local ? guest->pid : guest->is_own ? (pid_t)pid : 0;
    controller->is_foreign = !guest->is_own;
    controller->asked_ms = control_now_ms();
    controller->phase = CONTROLLER_ASKS;
    exchange_config(control, controller);
}

// True when the guest is a controller now; else it has been told why not.
static bool greet(Control *control, const Guest *guest, const void *data, size_t size)
{
    FrameReader reader;
    const char *robot = "", *token = "";
    int version = -1, pid = 0;
    Record record;
    if (!frame_open(&reader, data, size) || reader.kind != FRAME_HELLO) {
        refuse(control, guest->channel, "that was no greeting");
        return false;
    }
    while (frame_next(&reader, &record)) {
        if (record.op == OP_HELLO_VERSION && record.int_count >= 2) {
            version = record.ints[0];
            pid = record.ints[1];
        } else if (record.op == OP_HELLO_ROBOT) {
            robot = record.bytes;
        } else if (record.op == OP_HELLO_TOKEN) {
            token = record.bytes;
        }
    }
    Controller *controller = reader.is_broken ? NULL : find_robot(control, robot);
    if (version != PROTOCOL_VERSION)
        refuse(control, guest->channel, "it speaks another version of the protocol");
    else if (!may_enter(control, guest, token))
        refuse(control, guest->channel,
               control->options.token ? "the token is wrong"
                                      : "another user needs the token of the simulator, and it has none");
    else if (!controller)
        refuse_robot(control, guest->channel, robot);
    else if (guest->is_local && !channel_share(guest->channel))
        refuse(control, guest->channel, "there is no shared memory");
    else {
        let_in(control, controller, guest, pid);
        return true;
    }
    return false;
}

// ---- guests ----

static void add_guest(Control *control, int handle, Guest guest)
{
    assert_debug(handle >= 0 && control->guest_count <= GUESTS_MAX);
    if (control->guest_count == GUESTS_MAX) {
        diag_warning(control->diags, (SourcePos){ 0 }, "more than %d connections say nothing; the oldest is closed",
                     GUESTS_MAX);
        drop_guest(control, 0);
    }
    if (!control->guests)
        control->guests = memory_alloc_array(GUESTS_MAX, sizeof *control->guests);
    guest.channel = channel_open_socket(handle, (size_t)limits_default.message_bytes);
    guest.since_ms = control_now_ms();
    control->guests[control->guest_count++] = guest;
}

static void accept_all(Control *control)
{
    assert_debug(control->listener >= 0);
    struct sockaddr_in from = { 0 };
    struct ucred peer = { 0 };
    socklen_t length = sizeof from, peer_size = sizeof peer;
    int handle;
    for (int i = 0;
         i < BACKLOG && (handle = accept4(control->listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC)) >= 0;
         i++) {
        add_guest(control, handle, (Guest){ .is_own = is_own_connection(&from, control->port) });
        length = sizeof from;
    }
    if (control->local_listener < 0)
        return;
    for (int i = 0; i < BACKLOG && (handle = accept4(control->local_listener, NULL, NULL, SOCK_CLOEXEC)) >= 0; i++) {
        bool is_known = getsockopt(handle, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0;
        add_guest(
            control, handle,
            (Guest){ .is_local = true, .is_own = is_known && peer.uid == getuid(), .pid = is_known ? peer.pid : 0 });
    }
}

static void hear_guests(Control *control)
{
    assert_debug(control->guest_count <= GUESTS_MAX);
    for (int i = control->guest_count - 1; i >= 0; i--) {
        Guest *guest = &control->guests[i];
        const void *data;
        size_t size;
        ChannelResult result = channel_receive(guest->channel, 0, 0, &data, &size);
        if (result == CHANNEL_OK && greet(control, guest, data, size)) {
            control->guests[i] = control->guests[--control->guest_count];
            continue;
        }
        bool is_late = result == CHANNEL_TIMEOUT && control_now_ms() - guest->since_ms > HELLO_MS;
        if (is_late)
            diag_warning(control->diags, (SourcePos){ 0 },
                         "a connection for <extern> controllers that says nothing is closed");
        if (result != CHANNEL_TIMEOUT || is_late)
            drop_guest(control, i);
    }
}

// Waits for somebody to come or to speak.
static void wait_for_guests(const Control *control, int wait_ms)
{
    assert(control->guest_count >= 0 && control->guest_count <= GUESTS_MAX);
    struct pollfd pollers[GUESTS_MAX + 2] = { { control->listener, POLLIN, 0 },
                                              { control->local_listener, POLLIN, 0 } };
    for (int i = 0; i < control->guest_count; i++)
        pollers[2 + i] = (struct pollfd){ channel_descriptor(control->guests[i].channel), POLLIN, 0 };
    poll(pollers, (nfds_t)(2 + control->guest_count), wait_ms);
}

static bool anyone_waits(const Control *control)
{
    for (int i = 0; i < control->count; i++)
        if (is_waiting(control, &control->controllers[i]))
            return true;
    return false;
}

void extern_accept(Control *control, int wait_ms)
{
    assert_debug(wait_ms >= 0);
    // Who comes when every robot has its controller is only refused: no need to look at every step.
    if (control->listener < 0 || (!anyone_waits(control) && control_now_ms() - control->looked_ms < LOOK_MS))
        return;
    if (wait_ms > 0)
        wait_for_guests(control, wait_ms);
    control->looked_ms = control_now_ms();
    accept_all(control);
    hear_guests(control);
}

bool extern_holds(const Control *control, const Controller *controller)
{
    return control->listener >= 0 && is_waiting(control, controller)
           && scene_bool(devices_robot_node(control->devices, controller->robot), "synchronization");
}
