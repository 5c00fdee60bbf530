#include "protocol/protocol.h"

#include "support/support.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void fill(FrameWriter *frame)
{
    frame_begin(frame, FRAME_STEP);
    frame_add(frame, &(Record){ .op = OP_ENABLE, .tag = 7, .int_count = 2, .ints = (int32_t[]){ 0, 32 } });
    frame_add(frame, &(Record){ .op = OP_COMMAND,
                                .tag = 3,
                                .int_count = 1,
                                .ints = (int32_t[]){ 1 },
                                .double_count = 2,
                                .doubles = (double[]){ 1.5, -2.0 },
                                .byte_count = 5,
                                .bytes = "hello" });
    frame_add(frame, &(Record){ .op = OP_DURATION, .int_count = 1, .ints = (int32_t[]){ 64 } });
}

static void check(const void *data, size_t size)
{
    FrameReader reader;
    Record record;
    assert_true(frame_open(&reader, data, size));
    assert_int_equal(reader.kind, FRAME_STEP);
    assert_true(frame_next(&reader, &record));
    assert_int_equal(record.op, OP_ENABLE);
    assert_int_equal(record.tag, 7);
    assert_int_equal(record.ints[1], 32);
    assert_true(frame_next(&reader, &record));
    assert_true(record.doubles[0] == 1.5 && record.doubles[1] == -2.0 && !strcmp(record.bytes, "hello")
                && record.byte_count == 5);
    assert_true(frame_next(&reader, &record));
    assert_int_equal(record.ints[0], 64);
    assert_false(frame_next(&reader, &record));
    assert_false(reader.is_broken);
}

static void frames_round_trip(void **state)
{
    (void)state;
    FrameWriter frame = { 0 };
    fill(&frame);
    check(frame.data, frame.size);
    fill(&frame);  // memory is used again
    check(frame.data, frame.size);
    frame_free(&frame);
}

// Cut anywhere, or with any byte changed, a frame is read without harm.
static void broken_frames_are_survived(void **state)
{
    (void)state;
    FrameWriter frame = { 0 };
    fill(&frame);
    for (size_t cut = 0; cut < frame.size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);
        memcpy(copy, frame.data, cut);
        FrameReader reader;
        assert_false(frame_open(&reader, copy, cut));
        free(copy);
    }
    for (size_t place = 0; place < frame.size; place++) {
        for (int value = 0; value < 256; value += 51) {
            uint8_t *copy = malloc(frame.size);
            memcpy(copy, frame.data, frame.size);
            copy[place] = (uint8_t)value;
            FrameReader reader;
            Record record;
            volatile double sum = 0;
            if (frame_open(&reader, copy, frame.size))
                while (frame_next(&reader, &record)) {
                    for (int i = 0; i < record.double_count; i++)
                        sum += record.doubles[i];
                    sum += (double)strlen(record.bytes);
                }
            (void)sum;
            free(copy);
        }
    }
    frame_free(&frame);
}

static void echo(Channel *channel, int count)
{
    for (int i = 0; i < count; i++) {
        const void *data;
        size_t size;
        if (channel_receive(channel, 5000, 0, &data, &size) != CHANNEL_OK)
            _exit(1);
        FrameWriter frame = { 0 };
        frame.data = malloc(size);
        memcpy(frame.data, data, size);
        frame.size = frame.capacity = size;
        if (!channel_send(channel, &frame))
            _exit(2);
        frame_free(&frame);
    }
    channel_close(channel);
    _exit(0);
}

static void ping_pong(Channel *channel, pid_t child)
{
    FrameWriter frame = { 0 };
    for (int i = 0; i < 200; i++) {
        const void *data;
        size_t size;
        fill(&frame);
        assert_true(channel_send(channel, &frame));
        assert_int_equal(channel_receive(channel, 5000, child, &data, &size), CHANNEL_OK);
        check(data, size);
    }
    const void *data;
    size_t size;
    assert_int_equal(channel_receive(channel, 5000, child, &data, &size), CHANNEL_CLOSED);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    frame_free(&frame);
    channel_close(channel);
}

static void shared_memory_carries_frames(void **state)
{
    (void)state;
    int descriptor;
    Channel *channel = channel_create_shared(1 << 20, &descriptor);
    assert_non_null(channel);
    pid_t child = fork();
    if (child == 0)
        echo(channel_open_shared(descriptor), 200);
    close(descriptor);
    ping_pong(channel, child);
}

static void sockets_carry_frames(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        echo(channel_open_socket(ends[1], 1 << 20), 200);
    }
    close(ends[1]);
    ping_pong(channel_open_socket(ends[0], 1 << 20), child);
}

static void a_dead_or_silent_peer_is_noticed(void **state)
{
    (void)state;
    int descriptor;
    const void *data;
    size_t size;
    Channel *channel = channel_create_shared(1 << 16, &descriptor);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(channel_receive(channel, 30, child, &data, &size), CHANNEL_TIMEOUT);
    kill(child, SIGKILL);
    assert_int_equal(channel_receive(channel, -1, child, &data, &size), CHANNEL_CLOSED);
    waitpid(child, NULL, 0);
    close(descriptor);
    FrameWriter frame = { 0 };
    frame_begin(&frame, FRAME_STATE);
    char *large = calloc(1, 1 << 17);
    frame_add(&frame, &(Record){ .op = OP_IMAGE, .byte_count = 1 << 17, .bytes = large });
    assert_false(channel_send(channel, &frame));  // above the limit
    free(large);
    frame_free(&frame);
    channel_close(channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_round_trip),
        cmocka_unit_test(broken_frames_are_survived),
        cmocka_unit_test(shared_memory_carries_frames),
        cmocka_unit_test(sockets_carry_frames),
        cmocka_unit_test(a_dead_or_silent_peer_is_noticed),
    };
    return cmocka_run_group_tests_name("protocol.protocol", tests, NULL, NULL);
}
