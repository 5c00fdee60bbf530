// Any bytes as a frame from the other side: every record is read to its last number.
#include "protocol/protocol.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = aligned_alloc(8, (size + 15) & ~(size_t)7);  // frames arrive aligned
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    FrameReader reader;
    Record record;
    volatile double sum = 0;
    if (frame_open(&reader, copy, size))
        while (frame_next(&reader, &record)) {
            for (int i = 0; i < record.double_count; i++)
                sum += record.doubles[i];
            for (int i = 0; i < record.int_count; i++)
                sum += record.ints[i];
            sum += (double)strlen(record.bytes) + (double)strlen(protocol_op_name(record.op));
        }
    (void)sum;
    free(copy);
    return 0;
}
