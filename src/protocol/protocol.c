// protocol.c - frames of records between simulator and controllers: writing, and reading that trusts nothing.
#include "protocol/protocol.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Layout of a frame: FrameHead, then records. Of a record: RecordHead, reals, whole numbers, bytes and a NUL, padding
// to 8.
typedef struct FrameHead {
    uint32_t magic;
    uint16_t kind;
    uint16_t version;
    uint64_t size;  // with this head
} FrameHead;
#define FRAME_MAGIC 0x534c4154u

typedef struct RecordHead {
    uint16_t op, tag;
    uint32_t ints, doubles, bytes;
} RecordHead;
static_assert(sizeof(FrameHead) % 8 == 0 && sizeof(RecordHead) % 8 == 0, "heads keep the alignment");

static void reserve(FrameWriter *frame, size_t size)
{
    if (size <= frame->capacity)
        return;
    frame->capacity = size + size / 2 + 256;
    frame->data = memory_resize(frame->data, frame->capacity, 1);
}

static void store_size(FrameWriter *frame)
{
    assert(frame->size >= sizeof(FrameHead));
    uint64_t size = frame->size;
    memcpy(frame->data + offsetof(FrameHead, size), &size, sizeof size);
}

void frame_begin(FrameWriter *frame, ProtocolFrame kind)
{
    FrameHead head = { FRAME_MAGIC, (uint16_t)kind, PROTOCOL_VERSION, sizeof head };
    reserve(frame, sizeof head);
    memcpy(frame->data, &head, sizeof head);
    frame->size = sizeof head;
}

static size_t padded(size_t size) { return (size + 7) & ~(size_t)7; }

static uint8_t *append(uint8_t *place, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    if (size)
        memcpy(place, data, size);
    return place + size;
}

void frame_add(FrameWriter *frame, const Record *record)
{
    assert_debug(record->int_count >= 0 && record->double_count >= 0 && record->byte_count >= 0);
    assert(frame->size >= sizeof(FrameHead));
    RecordHead head = { record->op, record->tag, (uint32_t)record->int_count, (uint32_t)record->double_count,
                        (uint32_t)record->byte_count };
    size_t doubles = 8 * (size_t)record->double_count, ints = 4 * (size_t)record->int_count,
           bytes = (size_t)record->byte_count;
    size_t size = sizeof head + doubles + padded(ints + bytes + 1);
    reserve(frame, frame->size + size);
    uint8_t *place = frame->data + frame->size, *end = place + size;
    place = append(place, &head, sizeof head);
    place = append(place, record->doubles, doubles);
    place = append(place, record->ints, ints);
    place = append(place, record->bytes, bytes);
    memset(place, 0, (size_t)(end - place));
    frame->size += size;
    store_size(frame);
}

void frame_free(FrameWriter *frame)
{
    free(frame->data);
    *frame = (FrameWriter){ 0 };
}

bool frame_open(FrameReader *reader, const void *data, size_t size)
{
    assert_debug(data || size == 0);
    FrameHead head;
    *reader = (FrameReader){ .data = data, .size = size, .offset = sizeof head, .is_broken = true };
    if (size < sizeof head)
        return false;
    memcpy(&head, data, sizeof head);
    if (head.magic != FRAME_MAGIC || head.version != PROTOCOL_VERSION || head.kind >= FRAME_COUNT || head.size != size)
        return false;
    reader->kind = (ProtocolFrame)head.kind;
    reader->is_broken = false;
    return true;
}

bool frame_next(FrameReader *reader, Record *record)
{
    assert_debug(reader->offset <= reader->size);
    if (reader->is_broken || reader->offset == reader->size)
        return false;
    RecordHead head;
    size_t left = reader->size - reader->offset;
    reader->is_broken = true;
    if (left < sizeof head)
        return false;
    const uint8_t *place = reader->data + reader->offset;
    memcpy(&head, place, sizeof head);
    // Each part is below 2^35 bytes, so the sum cannot overflow.
    size_t doubles = 8 * (size_t)head.doubles, tail = 4 * (size_t)head.ints + (size_t)head.bytes + 1;
    size_t size = sizeof head + doubles + padded(tail);
    if (head.op >= OP_COUNT || head.ints > INT32_MAX / 4 || head.doubles > INT32_MAX / 8 || head.bytes > INT32_MAX
        || size > left)
        return false;
    const uint8_t *ints = place + sizeof head + doubles, *bytes = ints + 4 * (size_t)head.ints;
    if (bytes[head.bytes] != 0)
        return false;
    *record = (Record){ .op = head.op,
                        .tag = head.tag,
                        .int_count = (int)head.ints,
                        .double_count = (int)head.doubles,
                        .byte_count = (int)head.bytes,
                        .doubles = (const double *)(const void *)(place + sizeof head),
                        .ints = (const int32_t *)(const void *)ints,
                        .bytes = (const char *)bytes };
    reader->offset += size;
    reader->is_broken = false;
    return true;
}

socklen_t protocol_socket_name(int port, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "talus-extern-%d", port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

const char *protocol_op_name(unsigned op)
{
    static const char *const names[] = {
#define PROTOCOL_OP_NAME(name, help) #name,
        PROTOCOL_OPS(PROTOCOL_OP_NAME)
#undef PROTOCOL_OP_NAME
    };
    return op < OP_COUNT ? names[op] : "unknown";
}
