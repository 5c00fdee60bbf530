// channel.c - the two ways to carry frames. What comes from the other side is copied before it is looked at, so that a
// controller that writes on cannot change it under our eyes.
#include "protocol/protocol.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TO_CONTROLLER, TO_SIMULATOR };
// FRAME_MS: a frame that began must have come by then, with a second more for each SLOWEST_BYTES_PER_MS kilobytes of
// it.
enum {
    SPINS = 200,
    LIVENESS_MS = 20,
    FRAME_MS = 5000,
    SLOWEST_BYTES_PER_MS = 100,
    UNREAD_MS = 30000,
    SMALL_FRAME = 1 << 14,
    READS_AT_ONCE = 8
};

// The start of the shared memory; the two buffers follow, each of `limit` bytes.
typedef struct SharedHead {
    uint64_t limit;
    struct Direction {
        _Atomic uint32_t count;    // frames sent so far: the futex
        _Atomic uint32_t waiting;  // the other side sleeps on it
        _Atomic uint32_t is_closed;
        uint32_t padding;
        _Atomic uint64_t size;  // of the frame that lies there
    } directions[2];
} SharedHead;
enum { HEAD_BYTES = 4096 };

struct Channel {
    SharedHead *shared;  // NULL: a socket
    size_t mapped;
    int outgoing;   // direction
    uint32_t seen;  // count of frames received
    int socket;     // of shared memory: tells when the other side is gone; -1 none
    size_t limit;
    uint8_t *buffer;  // own copy of what came last; of a socket: lengths and frames as they come
    size_t capacity;
    // Sockets alone.
    size_t filled;      // bytes in the buffer
    size_t frame_size;  // of the first frame with its length; 0: not known yet
    bool is_taken;      // that frame was handed out
    int64_t began_ms;   // when its first byte came
    uint8_t *unsent;
    size_t unsent_size;
    int64_t unsent_ms;  // since when there is any
    bool takes_memory;  // the other side may hand over shared memory
    int handed;         // it did; -1
};

static uint8_t *direction_buffer(const Channel *channel, int direction)
{
    assert_debug(direction == 0 || direction == 1);
    return (uint8_t *)channel->shared + HEAD_BYTES + (size_t)direction * channel->limit;
}

// ---- shared memory ----

static Channel *map_shared(int descriptor, size_t limit, int outgoing)
{
    assert_debug(descriptor >= 0 && (outgoing == 0 || outgoing == 1));
    size_t size = HEAD_BYTES + 2 * limit;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return NULL;
    Channel *channel = memory_alloc(sizeof *channel);
    *channel =
        (Channel){ .shared = memory, .mapped = size, .outgoing = outgoing, .socket = -1, .limit = limit, .handed = -1 };
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
    if (ftruncate(*descriptor, (off_t)(HEAD_BYTES + 2 * limit)) == 0
        && fcntl(*descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
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

static bool socket_is_shut(int socket)
{
    struct pollfd poller = { socket, POLLRDHUP, 0 };
    return socket >= 0 && poll(&poller, 1, 0) > 0;
}

static bool peer_is_dead(const Channel *channel, int pid)
{
    if (pid <= 0)
        return socket_is_shut(channel->socket);
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
    assert_debug(channel->shared);
    for (int i = 0; i < SPINS; i++)
        if (atomic_load_explicit(&direction->count, memory_order_acquire) != channel->seen)
            return CHANNEL_OK;
    int64_t end = timeout_ms >= 0 ? now_ms() + timeout_ms : INT64_MAX;
    ChannelResult result = CHANNEL_OK;
    atomic_store(&direction->waiting, 1);
    while (atomic_load(&direction->count) == channel->seen) {
        if (atomic_load(&direction->is_closed) || peer_is_dead(channel, peer_pid)) {
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
// Neither side ever blocks in send or recv. What the system does not take at once stays in `unsent`, what has come of a
// frame so far in `buffer`; waiting is one poll for both.

Channel *channel_open_socket(int socket, size_t limit)
{
    assert_debug(socket >= 0 && limit > 0);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // means nothing to a Unix socket
    Channel *channel = memory_alloc(sizeof *channel);
    *channel = (Channel){ .socket = socket, .limit = limit, .handed = -1 };
    return channel;
}

// What the system takes at once of some parts. False when the connection is gone.
static bool send_parts(int socket, struct iovec *parts, int count, size_t *sent)
{
    assert_debug(socket >= 0 && count > 0);
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = (size_t)count };
    ssize_t done;
    do
        done = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    *sent = done > 0 ? (size_t)done : 0;
    return done >= 0 || errno == EAGAIN || errno == EWOULDBLOCK;
}

static void keep_unsent(Channel *channel, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    if (!size)
        return;
    if (!channel->unsent_size)
        channel->unsent_ms = now_ms();
    channel->unsent = memory_resize(channel->unsent, channel->unsent_size + size, 1);
    memcpy(channel->unsent + channel->unsent_size, data, size);
    channel->unsent_size += size;
}

static bool flush_socket(Channel *channel)
{
    size_t sent;
    if (!channel->unsent_size)
        return true;
    if (!send_parts(channel->socket, &(struct iovec){ channel->unsent, channel->unsent_size }, 1, &sent))
        return false;
    assert_debug(sent <= channel->unsent_size);
    memmove(channel->unsent, channel->unsent + sent, channel->unsent_size - sent);
    channel->unsent_size -= sent;
    return true;
}

static bool send_socket(Channel *channel, const FrameWriter *frame)
{
    uint64_t length = frame->size;
    struct iovec parts[2] = { { &length, sizeof length }, { frame->data, frame->size } };
    size_t sent = 0;
    // One is in flight at a time: whoever leaves more than two unread does not listen.
    if (frame->size > channel->limit || channel->unsent_size > channel->limit + sizeof length)
        return false;
    if (!flush_socket(channel) || (!channel->unsent_size && !send_parts(channel->socket, parts, 2, &sent)))
        return false;
    size_t of_length = sent < sizeof length ? sent : sizeof length;
    keep_unsent(channel, (const char *)&length + of_length, sizeof length - of_length);
    keep_unsent(channel, frame->data + (sent - of_length), frame->size - (sent - of_length));
    return true;
}

// The memory that the other side hands over with a frame of no length.
static void take_descriptor(Channel *channel, struct msghdr *message)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        int count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + (size_t)i * sizeof descriptor, sizeof descriptor);
            if (channel->takes_memory && channel->handed < 0)
                channel->handed = descriptor;
            else
                close(descriptor);
        }
    }
}

// Reads once what there is, as far as the buffer has room for the frame at hand.
static ChannelResult read_socket(Channel *channel)
{
    size_t wanted = channel->frame_size ? channel->frame_size : SMALL_FRAME;
    make_room(channel, wanted);
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = { channel->buffer + channel->filled, channel->capacity - channel->filled };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t done = recvmsg(channel->socket, &message, MSG_CMSG_CLOEXEC);
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return CHANNEL_TIMEOUT;
    if (done <= 0)
        return CHANNEL_CLOSED;
    take_descriptor(channel, &message);
    if (!channel->filled)
        channel->began_ms = now_ms();
    channel->filled += (size_t)done;
    return CHANNEL_OK;
}

// A connected socket becomes shared memory; from then on it only tells when the other side is gone.
static ChannelResult become_shared(Channel *channel)
{
    Channel *shared = channel->handed >= 0 ? channel_open_shared(channel->handed) : NULL;
    if (channel->handed >= 0)
        close(channel->handed);
    if (!shared)
        return CHANNEL_BROKEN;
    shared->socket = channel->socket;
    free(channel->buffer);
    free(channel->unsent);
    *channel = *shared;
    free(shared);
    return CHANNEL_OK;
}

// Whether a whole frame has come: CHANNEL_TIMEOUT when not yet.
static ChannelResult look_at_frame(Channel *channel, size_t *size)
{
    uint64_t length;
    if (channel->filled < sizeof length)
        return CHANNEL_TIMEOUT;
    memcpy(&length, channel->buffer, sizeof length);
    if (length == 0)
        return become_shared(channel);
    if (length > channel->limit)
        return CHANNEL_BROKEN;
    channel->frame_size = sizeof length + (size_t)length;
    if (channel->filled < channel->frame_size)
        return CHANNEL_TIMEOUT;
    *size = (size_t)length;
    return CHANNEL_OK;
}

// The frame that was handed out last makes room for what came behind it.
static void drop_taken(Channel *channel)
{
    assert_debug(!channel->is_taken || channel->frame_size <= channel->filled);
    if (!channel->is_taken)
        return;
    channel->filled -= channel->frame_size;
    memmove(channel->buffer, channel->buffer + channel->frame_size, channel->filled);
    channel->frame_size = 0;
    channel->is_taken = false;
    channel->began_ms = now_ms();
}

static bool is_too_slow(const Channel *channel)
{
    int64_t now = now_ms(), kind = FRAME_MS + (int64_t)(channel->filled / SLOWEST_BYTES_PER_MS);
    return (channel->filled && now - channel->began_ms > kind)
           || (channel->unsent_size && now - channel->unsent_ms > UNREAD_MS);
}

static ChannelResult receive_socket(Channel *channel, int timeout_ms, size_t *size)
{
    int64_t end = timeout_ms >= 0 ? now_ms() + timeout_ms : INT64_MAX;
    int rounds = 0;
    drop_taken(channel);
    for (;;) {
        ChannelResult result = look_at_frame(channel, size);
        if (channel->shared)
            return result;
        channel->is_taken = result == CHANNEL_OK;
        if (result != CHANNEL_TIMEOUT)
            return result;
        if (is_too_slow(channel))
            return CHANNEL_BROKEN;
        int64_t left = end == INT64_MAX ? LIVENESS_MS : end - now_ms();
        struct pollfd poller = { channel->socket, (short)(POLLIN | (channel->unsent_size ? POLLOUT : 0)), 0 };
        int ready = poll(&poller, 1, left <= 0 ? 0 : left > LIVENESS_MS * 10 ? LIVENESS_MS * 10 : (int)left);
        if (ready > 0 && (poller.revents & POLLOUT) && !flush_socket(channel))
            return CHANNEL_CLOSED;
        if (ready > 0 && (poller.revents & ~POLLOUT)) {
            result = read_socket(channel);
            if (result == CHANNEL_CLOSED)
                return result;
        }
        // Who drips byte after byte is left alone until the next time.
        if (left <= 0 && (ready <= 0 || ++rounds > READS_AT_ONCE))
            return CHANNEL_TIMEOUT;
    }
}

// The socket stays: it tells when the other side is gone, which memory cannot.
bool channel_share(Channel *channel)
{
    assert(!channel->shared && !channel->unsent_size);
    int descriptor;
    Channel *shared = channel_create_shared(channel->limit, &descriptor);
    if (!shared)
        return false;
    uint64_t nothing = 0;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = { 0 };
    struct iovec part = { &nothing, sizeof nothing };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    bool is_sent = sendmsg(channel->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof nothing;
    close(descriptor);
    if (!is_sent) {
        channel_close(shared);
        return false;
    }
    shared->socket = channel->socket;
    free(channel->buffer);
    free(channel->unsent);
    *channel = *shared;
    free(shared);
    return true;
}

void channel_take_memory(Channel *channel) { channel->takes_memory = true; }

// ---- both ----

bool channel_send(Channel *channel, const FrameWriter *frame)
{
    return channel->shared ? send_shared(channel, frame) : send_socket(channel, frame);
}

ChannelResult channel_receive(Channel *channel, int timeout_ms, int peer_pid, const void **data, size_t *size)
{
    assert_debug(data && size);
    if (!channel->shared) {
        ChannelResult result = receive_socket(channel, timeout_ms, size);
        *data = channel->buffer + sizeof(uint64_t);
        if (!channel->shared || result != CHANNEL_OK)
            return result;
    }
    ChannelResult result = receive_shared(channel, timeout_ms, peer_pid, size);
    *data = channel->buffer;
    return result;
}

int channel_descriptor(const Channel *channel) { return channel->socket; }

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
        flush_socket(channel);
    }
    if (channel->socket >= 0)
        close(channel->socket);
    if (!channel->shared && channel->handed >= 0)
        close(channel->handed);
    free(channel->buffer);
    free(channel->unsent);
    free(channel);
}
