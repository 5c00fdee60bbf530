// recording_fuzz.h - what the targets that read recordings share.
#ifndef TALUS_TESTS_RECORDING_FUZZ_H
#define TALUS_TESTS_RECORDING_FUZZ_H

#include "base/memory.h"
#include "record/recording.h"

#include <string.h>
#include <zlib.h>

// A copy of the bytes that the caller frees. The check sums of blocks are mended, so that they do not hide what stands
// behind them; odd sizes are left as they are.
static uint8_t *recording_fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = memory_alloc_raw(size + 1);
    memcpy(copy, data, size);
    size_t at = RECORDING_HEAD_BYTES;
    while (size % 2 == 0 && at + RECORDING_BLOCK_BYTES <= size) {
        uint32_t stored, crc;
        memcpy(&stored, copy + at + 8, 4);
        if (stored > size - at - RECORDING_BLOCK_BYTES)
            break;
        crc = (uint32_t)crc32(0, copy + at + RECORDING_BLOCK_BYTES, stored);
        memcpy(copy + at + 16, &crc, 4);
        at += RECORDING_BLOCK_BYTES + stored;
    }
    return copy;
}

#endif
