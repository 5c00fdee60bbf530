// channel.c - the two ways to carry frames. What comes from the other side is copied before it is looked at, so that a
// controller that writes on cannot change it under our eyes.
#include "protocol/protocol.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TO_CONTROLLER, TO_SIMULATOR };
enum { SPINS = 200, LIVENESS_MS = 20, FRAME_MS = 2000 };

// The start of the shared memory; the two buffers follow, each of `limit` bytes.
typedef struct SharedHead {
    uint64_t limit;
    struct Direction {
        _Atomic uint32_t count;   // frames sent so far: the futex
        _Atomic uint32_t waiting; // the other side sleeps on it
        _Atomic uint32_t is_closed;
        uint32_t padding;
        _Atomic uint64_t size;    // of the frame that lies there
    } directions[2];
} SharedHead;
enum { HEAD_BYTES = 4096 };

struct Channel {
    SharedHead *shared;  // NULL: a socket
    size_t mapped;
    int outgoing;        // direction
    uint32_t seen;       // count of frames received
    int socket;
    size_t limit;
    uint8_t *buffer;     // own copy of what came last
    size_t capacity;
};

static uint8_t *direction_buffer(const Channel *channel, int direction)
{
    return (uint8_t *)channel->shared + HEAD_BYTES + (size_t)direction * channel->limit;
}

// ---- shared memory ----

static Channel *map_shared(int descriptor, size_t limit, int outgoing)
{
    size_t size = HEAD_BYTES + 2 * limit;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return NULL;
    Channel *channel = memory_alloc(sizeof *channel);
    *channel = (Channel){ .shared = memory, .mapped = size, .outgoing = outgoing, .socket = -1, .limit = limit };
    return channel;
}

Channel *channel_create_shared(size_t limit, int *descriptor)
{
    limit = (limit + 4095) & ~(size_t)4095;
    *descriptor = memfd_create("talus-controller", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*descriptor < 0)
        return NULL;
    // Sealed against resizing: a controller that shrank it would kill us with SIGBUS.
    Channel *channel = NULL;
    if (ftruncate(*descriptor, (off_t)(HEAD_BYTES + 2 * limit)) == 0 &&
        fcntl(*descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        channel = map_shared(*descriptor, limit, TO_CONTROLLER);
    if (!channel) {
        close(*descriptor);
        return NULL;
    }
    channel->shared->limit = limit;
    return channel;
}

Channel *channel_open_shared(int descriptor)
{
    struct stat info;
    if (fstat(descriptor, &info) < 0 || info.st_size < HEAD_BYTES + 2 * 4096)
        return NULL;
    size_t limit = ((size_t)info.st_size - HEAD_BYTES) / 2;
    return map_shared(descriptor, limit, TO_SIMULATOR);
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static bool send_shared(Channel *channel, const FrameWriter *frame)
{
    struct Direction *direction = &channel->shared->directions[channel->outgoing];
    if (frame->size > channel->limit)
        return false;
    memcpy(direction_buffer(channel, channel->outgoing), frame->data, frame->size);
    atomic_store(&direction->size, frame->size);
    atomic_fetch_add(&direction->count, 1);
    if (atomic_load(&direction->waiting))
        futex(&direction->count, FUTEX_WAKE, 1, NULL);
    return true;
}

static bool peer_is_dead(int pid)
{
    if (pid <= 0)
        return false;
    siginfo_t info = { 0 };
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return info.si_pid == pid;
    return kill(pid, 0) < 0 && errno == ESRCH;
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static ChannelResult wait_shared(Channel *channel, struct Direction *direction, int timeout_ms, int peer_pid)
{
    for (int i = 0; i < SPINS; i++)
        if (atomic_load_explicit(&direction->count, memory_order_acquire) != channel->seen)
            return CHANNEL_OK;
    int64_t end = timeout_ms >= 0 ? now_ms() + timeout_ms : INT64_MAX;
    ChannelResult result = CHANNEL_OK;
    atomic_store(&direction->waiting, 1);
    while (atomic_load(&direction->count) == channel->seen) {
        if (atomic_load(&direction->is_closed) || peer_is_dead(peer_pid)) {
            // What it sent last may have come in between.
            result = atomic_load(&direction->count) == channel->seen ? CHANNEL_CLOSED : CHANNEL_OK;
            break;
        }
        int64_t left = timeout_ms >= 0 ? end - now_ms() : LIVENESS_MS;
        if (left <= 0) {
            result = CHANNEL_TIMEOUT;
            break;
        }
        int slice = left < LIVENESS_MS ? (int)left : LIVENESS_MS;
        struct timespec time = { 0, slice * 1000000L };
        futex(&direction->count, FUTEX_WAIT, channel->seen, &time);
    }
    atomic_store(&direction->waiting, 0);
    return result;
}

static void make_room(Channel *channel, size_t size)
{
    if (size <= channel->capacity)
        return;
    channel->capacity = size + size / 2;
    channel->buffer = memory_resize(channel->buffer, channel->capacity, 1);
}

static ChannelResult receive_shared(Channel *channel, int timeout_ms, int peer_pid, size_t *size)
{
    int incoming = 1 - channel->outgoing;
    struct Direction *direction = &channel->shared->directions[incoming];
    ChannelResult result = wait_shared(channel, direction, timeout_ms, peer_pid);
    if (result != CHANNEL_OK)
        return result;
    channel->seen++;
    *size = (size_t)atomic_load(&direction->size);
    if (*size > channel->limit)
        return CHANNEL_BROKEN;
    make_room(channel, *size);
    memcpy(channel->buffer, direction_buffer(channel, incoming), *size);
    return CHANNEL_OK;
}

// ---- sockets: each frame behind its length ----

Channel *channel_open_socket(int socket, size_t limit)
{
    Channel *channel = memory_alloc(sizeof *channel);
    *channel = (Channel){ .socket = socket, .limit = limit };
    return channel;
}

static bool send_all(int socket, const void *data, size_t size)
{
    const char *place = data;
    while (size > 0) {
        ssize_t done = send(socket, place, size, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        place += done;
        size -= (size_t)done;
    }
    return true;
}

static ChannelResult receive_all(int socket, void *data, size_t size, int64_t end)
{
    char *place = data;
    while (size > 0) {
        int64_t left = end == INT64_MAX ? -1 : end - now_ms();
        if (end != INT64_MAX && left <= 0)
            return CHANNEL_TIMEOUT;
        struct pollfd poller = { socket, POLLIN, 0 };
        int ready = poll(&poller, 1, (int)left);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return CHANNEL_TIMEOUT;
        ssize_t done = recv(socket, place, size, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return CHANNEL_CLOSED;
        place += done;
        size -= (size_t)done;
    }
    return CHANNEL_OK;
}

static ChannelResult receive_socket(Channel *channel, int timeout_ms, size_t *size)
{
    struct pollfd poller = { channel->socket, POLLIN, 0 };
    int ready = poll(&poller, 1, timeout_ms);
    if (ready <= 0)
        return CHANNEL_TIMEOUT;
    // What has begun may take its time to come through, but not for ever.
    int64_t end = now_ms() + FRAME_MS;
    uint64_t length;
    ChannelResult result = receive_all(channel->socket, &length, sizeof length, end);
    if (result != CHANNEL_OK)
        return result == CHANNEL_TIMEOUT ? CHANNEL_BROKEN : result;
    if (length > channel->limit)
        return CHANNEL_BROKEN;
    make_room(channel, (size_t)length);
    *size = (size_t)length;
    result = receive_all(channel->socket, channel->buffer, (size_t)length, end);
    return result == CHANNEL_TIMEOUT ? CHANNEL_BROKEN : result;  // half a frame is none
}

// ---- both ----

bool channel_send(Channel *channel, const FrameWriter *frame)
{
    if (channel->shared)
        return send_shared(channel, frame);
    uint64_t length = frame->size;
    return frame->size <= channel->limit && send_all(channel->socket, &length, sizeof length) &&
           send_all(channel->socket, frame->data, frame->size);
}

ChannelResult channel_receive(Channel *channel, int timeout_ms, int peer_pid, const void **data, size_t *size)
{
    ChannelResult result = channel->shared ? receive_shared(channel, timeout_ms, peer_pid, size) : receive_socket(channel, timeout_ms, size);
    *data = channel->buffer;
    return result;
}

void channel_close(Channel *channel)
{
    if (!channel)
        return;
    if (channel->shared) {
        struct Direction *direction = &channel->shared->directions[channel->outgoing];
        atomic_store(&direction->is_closed, 1);
        futex(&direction->count, FUTEX_WAKE, 1, NULL);
        munmap(channel->shared, channel->mapped);
    } else {
        close(channel->socket);
    }
    free(channel->buffer);
    free(channel);
}
