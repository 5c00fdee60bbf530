// pose_filter.c - see pose_filter.h.
#include "record/pose_filter.h"

#include "base/memory.h"
#include "record/frame.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEAD_BYTES = FRAME_HEADER_BYTES,
    POSE_BYTES = FRAME_POSE_BYTES,
    FLAGS_AT = 5,  // in the head of a frame
    COUNT_AT = 32,
    PLACE_BITS = 24,
    TURN_BITS = 15,
};

// The last two that were told of a solid.
typedef struct PoseHistory {
    uint32_t place[2][3], turn[2][3];  // the later one first
    uint32_t largest;
    int count;  // how many there are
} PoseHistory;

static uint32_t mask(int bits) { return (1u << bits) - 1u; }

static uint32_t predicted(const uint32_t told[2][3], int axis, int count)
{
    assert_debug(axis >= 0 && axis < 3 && count >= 0);
    return count == 0 ? 0u : count == 1 ? told[0][axis] : 2u * told[0][axis] - told[1][axis];
}

// Small distances of either sign become small numbers.
static uint32_t fold(uint32_t distance, int bits)
{
    assert_debug(bits > 0 && bits < 32);
    uint32_t is_negative = distance >> (bits - 1) & 1u;
    return (distance << 1 ^ (0u - is_negative)) & mask(bits);
}

static uint32_t unfold(uint32_t folded, int bits) { return (folded >> 1 ^ (0u - (folded & 1u))) & mask(bits); }

static void remember(PoseHistory *history, const uint32_t place[3], const uint32_t turn[3], uint32_t largest)
{
    memcpy(history->place[1], history->place[0], sizeof history->place[0]);
    memcpy(history->turn[1], history->turn[0], sizeof history->turn[0]);
    memcpy(history->place[0], place, sizeof history->place[0]);
    memcpy(history->turn[0], turn, sizeof history->turn[0]);
    history->largest = largest;
    history->count = history->count < 2 ? history->count + 1 : 2;
}

static uint16_t solid_of(const uint8_t *pose) { return (uint16_t)(pose[0] | pose[1] << 8); }

// From 17 bytes of a frame to 17 of the columns, and back.
static void pack_pose(const uint8_t pose[POSE_BYTES], PoseHistory *history, uint8_t out[POSE_BYTES])
{
    uint64_t bits = 0;
    uint32_t place[3], turn[3];
    memcpy(out, pose, 2);
    memcpy(&bits, pose + 11, 6);
    uint32_t largest = (uint32_t)(bits & 3u), change = largest ^ history->largest;
    for (int c = 0; c < 3; c++) {
        place[c] = (uint32_t)(pose[2 + 3 * c] | pose[3 + 3 * c] << 8 | pose[4 + 3 * c] << 16);
        turn[c] = (uint32_t)(bits >> (2 + TURN_BITS * c)) & mask(TURN_BITS);
        uint32_t p = fold((place[c] - predicted(history->place, c, history->count)) & mask(PLACE_BITS), PLACE_BITS);
        uint32_t q = fold((turn[c] - predicted(history->turn, c, history->count)) & mask(TURN_BITS), TURN_BITS);
        q |= c < 2 ? (change >> c & 1u) << TURN_BITS : 0u;
        for (int k = 0; k < 3; k++)
            out[2 + 3 * c + k] = (uint8_t)(p >> 8 * k);
        for (int k = 0; k < 2; k++)
            out[11 + 2 * c + k] = (uint8_t)(q >> 8 * k);
    }
    remember(history, place, turn, largest);
}

static void unpack_pose(const uint8_t packed[POSE_BYTES], PoseHistory *history, uint8_t pose[POSE_BYTES])
{
    uint32_t place[3], turn[3], largest = history->largest;
    memcpy(pose, packed, 2);
    for (int c = 0; c < 3; c++) {
        uint32_t p = (uint32_t)(packed[2 + 3 * c] | packed[3 + 3 * c] << 8 | packed[4 + 3 * c] << 16);
        uint32_t q = (uint32_t)(packed[11 + 2 * c] | packed[12 + 2 * c] << 8);
        largest ^= c < 2 ? (q >> TURN_BITS & 1u) << c : 0u;
        place[c] = (unfold(p, PLACE_BITS) + predicted(history->place, c, history->count)) & mask(PLACE_BITS);
        turn[c] = (unfold(q & mask(TURN_BITS), TURN_BITS) + predicted(history->turn, c, history->count))
                  & mask(TURN_BITS);
        for (int k = 0; k < 3; k++)
            pose[2 + 3 * c + k] = (uint8_t)(place[c] >> 8 * k);
    }
    uint64_t bits = largest | (uint64_t)turn[0] << 2 | (uint64_t)turn[1] << (2 + TURN_BITS)
                    | (uint64_t)turn[2] << (2 + 2 * TURN_BITS);
    memcpy(pose + 11, &bits, 6);
    remember(history, place, turn, largest);
}

// The bytes of poses in a frame of `length` bytes; 0 for one that is left as it is.
static size_t pose_bytes(const char *frame, size_t length)
{
    uint32_t count;
    if (length < HEAD_BYTES || frame[FLAGS_AT] & FRAME_KEY)
        return 0;
    memcpy(&count, frame + COUNT_AT, 4);
    return count <= (length - HEAD_BYTES) / POSE_BYTES ? (size_t)count * POSE_BYTES : 0;
}

// Poses leave their frames and stand byte by byte in columns, each as its distance from where the last two frames
// pointed: so neighbours are alike, which is what the compressor behind it lives on.
bool pose_filter_pack(const char *frames, size_t size, Text *out)
{
    assert_debug(frames || size == 0);
    size_t total = 0, rest = 0;
    uint32_t length;
    int solids = 0;
    for (size_t at = 0; at < size; at += 4 + length) {
        if (size - at < 4)
            return false;
        memcpy(&length, frames + at, 4);
        if (length > size - at - 4)
            return false;
        size_t bytes = pose_bytes(frames + at + 4, length);
        for (size_t i = 0; i < bytes; i += POSE_BYTES)
            solids = int_max(solids, solid_of((const uint8_t *)frames + at + 4 + HEAD_BYTES + i) + 1);
        total += bytes / POSE_BYTES;
        rest += 4 + length - bytes;
    }
    PoseHistory *histories = memory_alloc_array((size_t)solids + 1, sizeof *histories);
    text_make_room(out, 4 + size);
    out->length = 4 + size;
    assert(rest + total * POSE_BYTES == size && rest <= UINT32_MAX);
    memcpy(out->data, &(uint32_t){ (uint32_t)rest }, 4);
    char *to = out->data + 4;
    uint8_t *columns = (uint8_t *)out->data + 4 + rest, packed[POSE_BYTES];
    size_t n = 0;
    for (size_t at = 0; at < size; at += 4 + length) {
        memcpy(&length, frames + at, 4);
        const char *frame = frames + at + 4;
        size_t bytes = pose_bytes(frame, length), head = bytes ? HEAD_BYTES : length;
        memcpy(to, frames + at, 4 + head);
        memcpy(to + 4 + head, frame + head + bytes, length - head - bytes);
        to += 4 + length - bytes;
        for (size_t i = 0; i < bytes; i += POSE_BYTES, n++) {
            const uint8_t *pose = (const uint8_t *)frame + HEAD_BYTES + i;
            pack_pose(pose, &histories[solid_of(pose)], packed);
            for (size_t k = 0; k < POSE_BYTES; k++)
                columns[k * total + n] = packed[k];
        }
    }
    assert(n == total);
    free(histories);
    return true;
}

// Puts the poses back into the frames of the rest. False when the two do not fit.
static bool put_back(const char *rest, size_t rest_bytes, const uint8_t *columns, size_t total, PoseHistory *histories,
                     char *to)
{
    size_t n = 0;
    for (size_t at = 0; at < rest_bytes;) {
        uint32_t length;
        if (rest_bytes - at < 4)
            return false;
        memcpy(&length, rest + at, 4);
        size_t left = rest_bytes - at - 4;
        // A frame with poses has all but them here.
        size_t bytes = left >= HEAD_BYTES ? pose_bytes(rest + at + 4, length) : 0, head = bytes ? HEAD_BYTES : length;
        if (length - bytes > left || bytes / POSE_BYTES > total - n)
            return false;
        memcpy(to, rest + at, 4 + head);
        to += 4 + head;
        for (size_t i = 0; i < bytes; i += POSE_BYTES, n++, to += POSE_BYTES) {
            uint8_t packed[POSE_BYTES];
            for (size_t k = 0; k < POSE_BYTES; k++)
                packed[k] = columns[k * total + n];
            unpack_pose(packed, &histories[solid_of(packed)], (uint8_t *)to);
        }
        memcpy(to, rest + at + 4 + head, length - head - bytes);
        to += length - head - bytes;
        at += 4 + length - bytes;
    }
    return n == total;
}

bool pose_filter_unpack(const char *packed, size_t size, Text *out)
{
    assert_debug(packed || size == 0);
    uint32_t rest;
    if (size < 4)
        return false;
    memcpy(&rest, packed, 4);
    if (rest > size - 4 || (size - 4 - rest) % POSE_BYTES)
        return false;
    size_t total = (size - 4 - rest) / POSE_BYTES;
    const uint8_t *columns = (const uint8_t *)packed + 4 + rest;
    int solids = 0;
    for (size_t i = 0; i < total; i++)
        solids = int_max(solids, (columns[i] | columns[total + i] << 8) + 1);
    PoseHistory *histories = memory_alloc_array((size_t)solids + 1, sizeof *histories);
    text_make_room(out, size - 4);
    out->length = size - 4;
    bool is_sound = put_back(packed + 4, rest, columns, total, histories, out->data);
    free(histories);
    return is_sound;
}
