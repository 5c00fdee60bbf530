// frame.h - one moment of a world as bytes: what viewers get through a socket and recordings keep in files.
// Belongs here: the layout of a frame, both ways. Not here: which moments are kept, files (talus_file.h), sockets
// (viewer/).
//
// Layout, little-endian, nothing padded: 'TFRM', u8 version, u8 flags, u16 sections, u32 scene revision, u64 step, f64
// time (s), f32 speed, u32 poses, f32 origin[3], f32 unit (m); the poses; then the sections, each u32 tag, u32 bytes,
// payload. A pose of a key frame: u32 solid, f32 x y z, f32 qx qy qz qw. Of another, only where it has changed since
// the frame before: u16 solid, 3 x i24 of (p - origin) / unit, and the quaternion in 48 bits: two for which of x y z w
// is the largest, then 15 for each of the others. Poses are those of solids in the world's own frame.
#ifndef TALUS_RECORD_FRAME_H
#define TALUS_RECORD_FRAME_H

#include "base/text.h"
#include "base/vec.h"

enum {
    FRAME_VERSION = 1,
    FRAME_KEY = 1,  // flag: all solids, exact to float
    FRAME_HEADER_BYTES = 52,
    FRAME_KEY_POSE_BYTES = 32,
    FRAME_POSE_BYTES = 17,
    FRAME_SOLIDS_MAX = 65535,  // of frames that are not key frames; larger worlds have key frames alone
};

typedef struct FrameSection {
    char tag[4];
    const void *data;
    size_t size;
} FrameSection;

// The moment to be written. A pose that is not finite stands for a solid that is not there.
typedef struct FrameInput {
    uint32_t revision;
    uint64_t step;
    double time;   // s
    double speed;  // real-time factor, 0 in files
    const Pose *poses;
    int pose_count;
    const FrameSection *sections;
    int section_count;
} FrameInput;

// What one reader has been told so far. { 0 } is ready; frame_encoder_deinit frees it. After the first frames of a
// world it allocates nothing, when `out` has room.
typedef struct FramePlace {
    int32_t position[3];
    bool is_there;
    uint64_t turn;
} FramePlace;
typedef struct FrameEncoder {
    FramePlace *places;
    int place_count, place_capacity;
    uint32_t revision;
    float origin[3], unit;
    bool has_begun;
} FrameEncoder;

void frame_encoder_deinit(FrameEncoder *encoder);
// Appends the frame to `out`. It is a key frame when asked for, and by itself at the start, when the scene or the
// number of solids has changed, and when a solid has left the range of the numbers. Returns whether it is one.
bool frame_encode(FrameEncoder *encoder, const FrameInput *input, bool as_key, Text *out);

// A frame being read: valid as long as its bytes.
typedef struct FrameView {
    bool is_key;
    uint32_t revision;
    uint64_t step;
    double time, speed;
    int pose_count, section_count;
    float origin[3], unit;
    const uint8_t *poses, *sections, *end;
} FrameView;

// False when the bytes are no whole frame: *why says it for people. All of it has been checked afterwards.
bool frame_read(const void *data, size_t size, FrameView *view, const char **why);
int frame_pose(const FrameView *view, int index, Pose *pose);                         // returns the solid
bool frame_section(const FrameView *view, const char tag[4], FrameSection *section);  // the first one with this tag

#endif
