// recording.h - the file of a recorded run (.talus): blocks that are only ever appended, so that a run that is killed
// leaves all of its finished blocks. Belongs here: the file, both ways. Not here: what goes into it and when
// (recorder.h), frames (frame.h).
//
// "TALUSREC", u32 version, u32 0; then blocks: 'BLCK', u32 type, u32 stored bytes, u32 raw bytes, u32 crc32 of the
// stored, u32 filter (0; of FRMS 1: pose_filter.h), f64 first and f64 last time (s), payload. It is a zlib stream, or
// the raw bytes where the two sizes are equal. Types: META JSON (meta.h), SCNE u32 revision and a GLB, FRMS { u32
// length, frame } in order, the first a key frame, CLIP a line of JSON and a WAV file, INDX { u64 offset, u32 type, f64
// first, f64 last } of all blocks. A finished file ends with u64 offset of INDX, "TALUSEND". META and SCNE hold from
// where they stand until the next; clips for all of the file.
#ifndef TALUS_RECORD_RECORDING_H
#define TALUS_RECORD_RECORDING_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "record/frame.h"

enum { RECORDING_VERSION = 2, RECORDING_HEAD_BYTES = 16, RECORDING_BLOCK_BYTES = 40, RECORDING_INDEX_BYTES = 28 };

enum { RECORDING_FILTER_POSES = 1 };  // since version 2

bool recording_has_name(const char *path);  // it ends with .talus

// ---- writing; for one thread at a time, and no sink is used between create and close ----
typedef struct RecordingWriter RecordingWriter;
// Begins the file, over an old one. NULL when it cannot be made (reported).
RecordingWriter *recording_create(const char *path, DiagSink *diags);
// Into memory, packed as small as can be: for those who put a recording into something else.
RecordingWriter *recording_create_in(Text *out);
// False from the first failure on.
bool recording_write(RecordingWriter *writer, const char type[4], double first, double last, const void *data,
                     size_t size);
bool recording_has_failed(const RecordingWriter *writer);
// Writes the index and its end. False when anything could not be written (reported). NULL is fine.
bool recording_finish(RecordingWriter *writer, DiagSink *diags);

// ---- reading ----
#define RECORDING_FILE_MAX ((size_t)4 << 30)  // bytes of one that is read as a whole, as pages do
typedef struct Recording Recording;
typedef struct RecordingBlock {
    char type[4];
    int64_t offset;  // of its head
    uint32_t stored_bytes, raw_bytes, crc, filter;
    double first, last;  // s
} RecordingBlock;

// NULL when it is no recording or nothing of it can be used (reported). One that is cut or damaged is used up to there
// (a warning).
Recording *recording_open(const char *path, const Limits *limits, DiagSink *diags);
Recording *recording_open_bytes(const char *name, const void *data, size_t size, const Limits *limits, DiagSink *diags);
void recording_close(Recording *recording);  // NULL is fine
bool recording_is_finished(const Recording *recording);
int recording_block_count(const Recording *recording);
const RecordingBlock *recording_block(const Recording *recording, int index);
int recording_find(const Recording *recording, const char type[4], int from);  // index at or after `from`, -1
// The raw bytes of a block. False when it is damaged (a warning, once).
bool recording_read(Recording *recording, int index, Text *out);
void recording_times(const Recording *recording, double *first, double *last);  // s; both 0 without frames

// The frames one after the other, with the poses of all solids as they are then. Blocks that are damaged are left out.
bool recording_next(Recording *recording, FrameView *view);           // false: that was the last
const Pose *recording_poses(const Recording *recording, int *count);  // not finite: that solid is not there
int recording_scene_block(const Recording *recording);  // index of the SCNE that holds for the frame at hand, -1
int recording_meta_block(const Recording *recording);
void recording_rewind(Recording *recording);

#endif
