// clip.h - recorded sounds: WAV, FLAC, OGG and what else libsndfile reads, as samples in memory.
// Belongs here: decoding and bounding. Not here: who plays them (devices/, sound/), mixing (sound/).
// A Clip owns its samples. Sounds are decoded in a confined worker process (base/worker.h), as pictures are.
#ifndef TALUS_ASSETS_CLIP_H
#define TALUS_ASSETS_CLIP_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/worker.h"

typedef struct Clip {
    int channels;          // 1 or 2: of more only the first two are kept
    int rate;              // samples a second
    int frame_count;       // at least 1
    const float *samples;  // frame by frame, nominally -1 to 1
    void *memory;          // private: what holds them
} Clip;

void clip_destroy(Clip *clip);  // NULL is fine
double clip_seconds(const Clip *clip);

Worker *clip_worker_create(void);

// Reads a sound. On failure NULL, with an error at `pos`. `worker` is of clip_worker_create; NULL starts one for this
// sound alone.
Clip *clip_from_bytes(Worker *worker, const char *name, const void *data, size_t size, const Limits *limits,
                      DiagSink *diags, SourcePos pos);
// From samples that the caller has; they are copied.
Clip *clip_create(int channels, int rate, int frame_count, const float *samples);
// As a WAV file of 16 bits. Samples beyond -1 and 1 are held there.
void clip_encode_wav(const Clip *clip, Text *out);
// The 44 bytes before the samples of a WAV file of 16 bits.
enum { CLIP_WAV_HEADER = 44 };
void clip_wav_header(uint8_t header[CLIP_WAV_HEADER], int channels, int rate, int64_t frame_count);

#endif
