// Sounds, through the confined worker: whatever the decoder does, the parent lives and says why.
#include "assets/clip.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Worker *worker;
    if (!worker)
        worker = clip_worker_create();
    Limits limits = limits_default;
    limits.sound_frames = 1 << 16;
    DiagSink *diags = diag_create();
    Clip *clip = clip_from_bytes(worker, "fuzz", data, size, &limits, diags, (SourcePos){ 0 });
    if (clip) {
        // Every sample is there to be read, and is a number.
        if (clip->channels < 1 || clip->channels > 2 || clip->rate < 1 || clip->frame_count < 1)
            abort();
        for (size_t i = 0; i < (size_t)clip->channels * (size_t)clip->frame_count; i++)
            if (!isfinite(clip->samples[i]))
                abort();
    } else if (!diag_has_errors(diags)) {
        abort();
    }
    clip_destroy(clip);
    diag_destroy(diags);
    return 0;
}
