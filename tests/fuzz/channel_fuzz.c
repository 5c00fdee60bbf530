// Any bytes as what a client sends over a socket: the first byte says how many come at a time. Frames are taken as they
// become whole; shared memory that nobody handed over is never believed in, and nothing waits.
#include "protocol/protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ChannelResult take_all(Channel *channel)
{
    const void *frame;
    size_t frame_size;
    ChannelResult result;
    while ((result = channel_receive(channel, 0, 0, &frame, &frame_size)) == CHANNEL_OK) {
        FrameReader reader;
        Record record;
        volatile double sum = 0;
        if (frame_open(&reader, frame, frame_size))
            while (frame_next(&reader, &record))
                for (int i = 0; i < record.double_count; i++)
                    sum += record.doubles[i];
        (void)sum;
    }
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    if (size < 1 || size > 1 << 14 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    size_t piece = (size_t)data[0] + 1;
    Channel *channel = channel_open_socket(ends[0], 1 << 16);
    if (data[0] % 2)
        channel_take_memory(channel);
    ChannelResult result = CHANNEL_TIMEOUT;
    for (size_t at = 1; at < size && result == CHANNEL_TIMEOUT; at += piece) {
        size_t count = size - at < piece ? size - at : piece;
        if (write(ends[1], data + at, count) != (ssize_t)count)
            break;
        result = take_all(channel);
    }
    close(ends[1]);
    if (result == CHANNEL_TIMEOUT && take_all(channel) == CHANNEL_TIMEOUT)
        abort();  // the other side is gone, which must be seen
    channel_close(channel);
    return 0;
}
