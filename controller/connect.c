// connect.c - how a program finds its simulator: a channel that it inherited when the simulator started it, else an
// address. Addresses (WEBOTS_CONTROLLER_URL): tcp://host:port/robot over the network; ipc://port/robot, port/robot,
// port or a robot's name alone on this machine, where both sides meet at a Unix socket and then share memory. A robot's
// name may be encoded with percent signs. A simulator that is not there yet is waited for.
#include "connect.h"

#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_SECONDS = 50, RETRY_MS = 100, FIRST_PORT = 1234, PORTS_TRIED = 10 };

// ---- addresses ----

static void decode_percent(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned code;
        if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])
            && sscanf(from + 1, "%2x", &code) == 1 && code) {
            *to++ = (char)code;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static bool is_number(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && !text[digits];
}

// Cuts the text at the first such character and returns what follows, NULL when there is none.
static char *cut(char *text, char separator)
{
    assert_debug(text && separator);
    char *place = strchr(text, separator);
    if (!place)
        return NULL;
    *place = '\0';
    return place + 1;
}

bool connect_parse(const char *url, ConnectAddress *address)
{
    assert_debug(url && address);
    char *copy = memory_string(url), *place = copy, *port = NULL, *robot = NULL;
    bool is_ipc = !strncmp(copy, "ipc://", 6), is_ok = true;
    *address = (ConnectAddress){ .is_tcp = !strncmp(copy, "tcp://", 6) };
    if (address->is_tcp || is_ipc) {
        place += 6;
        robot = cut(place, '/');
    }
    if (address->is_tcp) {
        char *end = *place == '[' ? strchr(place, ']') : NULL;  // an address of IPv6
        if (end) {
            *end = '\0';
            place++;
            port = end[1] == ':' ? end + 2 : NULL;
        } else {
            port = cut(place, ':');
        }
        address->host = memory_string(*place ? place : "127.0.0.1");
    } else if (is_ipc) {
        port = *place ? place : NULL;
    } else {
        char *rest = cut(place, '/');
        bool has_port = is_number(place);
        port = has_port ? place : NULL;
        if (rest && !has_port)
            rest[-1] = '/';  // the slash belongs to the name
        robot = has_port ? rest : place;
    }
    if (port && *port) {
        is_ok = is_number(port) && strlen(port) < 6 && atoi(port) > 0 && atoi(port) < 65536;
        address->port = is_ok ? atoi(port) : 0;
    }
    address->robot = memory_string(robot ? robot : "");
    decode_percent(address->robot);
    free(copy);
    return is_ok;
}

void connect_free(ConnectAddress *address)
{
    free(address->host);
    free(address->robot);
    *address = (ConnectAddress){ 0 };
}

// ---- connections ----

static int connect_network(const char *host, int port)
{
    assert(host);
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    if (getaddrinfo(host, service, &hints, &found))
        return -1;
    int handle = -1;
    for (struct addrinfo *at = found; at && handle < 0; at = at->ai_next) {
        handle = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (handle >= 0 && connect(handle, at->ai_addr, at->ai_addrlen) < 0) {
            close(handle);
            handle = -1;
        }
    }
    freeaddrinfo(found);
    return handle;
}

// The memory of a stranger's simulator is not taken: whoever runs it must be this user, or the system's.
static bool is_own_simulator(int handle)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(handle, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == getuid() || peer.uid == 0);
}

static int connect_here(int port)
{
    struct sockaddr_un address;
    socklen_t length = protocol_socket_name(port, &address);
    int handle = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (handle >= 0 && (connect(handle, (struct sockaddr *)&address, length) < 0 || !is_own_simulator(handle))) {
        close(handle);
        handle = -1;
    }
    return handle;
}

static Channel *try_once(const ConnectAddress *address, int port)
{
    assert(address);
    int handle = address->is_tcp ? connect_network(address->host, port) : connect_here(port);
    if (handle < 0)
        return NULL;
    Channel *channel = channel_open_socket(handle, CONNECT_MESSAGE_BYTES);
    if (!address->is_tcp)
        channel_take_memory(channel);
    return channel;
}

static int seconds_to_wait(void)
{
    const char *given = getenv("TALUS_CONNECT_SECONDS");
    return given ? atoi(given) : WAIT_SECONDS;
}

// Without a port the first simulator of this machine that lets the program in is taken.
static Channel *try_all(const ConnectAddress *address, bool (*greet)(Channel *channel, const char *robot, bool is_last))
{
    int first = address->port ? address->port : FIRST_PORT, count = address->port || address->is_tcp ? 1 : PORTS_TRIED;
    assert(count > 0 && greet);
    for (int port = first; port < first + count; port++) {
        Channel *channel = try_once(address, port);
        if (channel && greet(channel, address->robot, count == 1))
            return channel;
        channel_close(channel);
    }
    return NULL;
}

static void say_where(const ConnectAddress *address, int seconds)
{
    assert(seconds >= 0);
    char place[300];
    if (address->is_tcp)
        snprintf(place, sizeof place, "tcp://%s:%d", address->host, address->port ? address->port : FIRST_PORT);
    else if (address->port)
        snprintf(place, sizeof place, "ipc://%d", address->port);
    else
        snprintf(place, sizeof place, "ipc://%d and the ports after it", FIRST_PORT);
    fprintf(stderr, "no simulator answers at %s; waiting for it up to %d s\n", place, seconds);
    fflush(stderr);
}

static Channel *connect_address(const ConnectAddress *address,
                                bool (*greet)(Channel *channel, const char *robot, bool is_last))
{
    int seconds = seconds_to_wait();
    for (int waited_ms = 0;; waited_ms += RETRY_MS) {
        Channel *channel = try_all(address, greet);
        if (channel || waited_ms >= seconds * 1000)
            return channel;
        if (waited_ms == 0)
            say_where(address, seconds);
        nanosleep(&(struct timespec){ 0, RETRY_MS * 1000000L }, NULL);
    }
}

Channel *connect_simulator(bool (*greet)(Channel *channel, const char *robot, bool is_last), bool *is_launched)
{
    assert_debug(greet && is_launched);
    const char *inherited = getenv("TALUS_CHANNEL"), *url = getenv("WEBOTS_CONTROLLER_URL"),
               *name = getenv("WEBOTS_ROBOT_NAME");
    const char *port = getenv("TALUS_PORT");
    // An address that somebody set on purpose is stronger than what was inherited from a controller that started this
    // program.
    *is_launched = inherited && (!url || !*url);
    if (*is_launched) {
        Channel *channel = channel_open_shared(atoi(inherited));
        if (channel && greet(channel, name ? name : "", true))
            return channel;
        channel_close(channel);
        return NULL;
    }
    ConnectAddress address = { 0 };
    bool is_ok = connect_parse(url ? url : "", &address);
    if (!is_ok)
        fprintf(stderr,
                "Error: WEBOTS_CONTROLLER_URL '%s' is no address such as tcp://host:1234/robot or ipc://1234/robot\n",
                url);
    if (!*address.robot && name) {
        free(address.robot);
        address.robot = memory_string(name);
    }
    if (!address.port && port && is_number(port))
        address.port = atoi(port);
    if (address.is_tcp && !address.port)
        address.port = FIRST_PORT;
    Channel *channel = is_ok ? connect_address(&address, greet) : NULL;
    connect_free(&address);
    return channel;
}
