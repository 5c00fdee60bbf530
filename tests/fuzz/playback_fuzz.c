// What a recording tells beside its poses is a stranger's too: clips, sounds and labels of any bytes are played or left
// out, and what comes of them can be mixed and drawn.
#include "recording_fuzz.h"
#include "record/playback.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_labels(const Playback *playback)
{
    int count;
    const RecorderLabel *labels = playback_labels(playback, &count);
    for (int i = 0; i < count; i++)
        if (!labels[i].text || !labels[i].font || !isfinite(labels[i].x + labels[i].y + labels[i].size))
            abort();
}

// Read to its end, so that a sanitizer sees a sample that is not there.
static void check_samples(const Playback *playback)
{
    int count, loudest = 0;
    const int16_t *samples = playback_samples(playback, &count);
    for (int i = 0; i < 2 * count; i++)
        loudest = int_max(loudest, abs(samples[i]));
    if (count < 0 || loudest > INT16_MAX + 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = recording_fuzz_copy(data, size);
    Limits limits = limits_untrusted;
    limits.file_bytes = 1 << 20;
    limits.bodies = 10000;
    limits.sound_frames = 1 << 16;
    DiagSink *diags = diag_create();
    Recording *recording = recording_open_bytes("fuzz", copy, size, &limits, diags);
    if (recording) {
        Playback *playback = playback_create(recording, &limits, diags);
        const SoundListener listener = { .pose = POSE_IDENTITY, .volume = 1.0 };
        FrameView view;
        for (int i = 0; recording_next(recording, &view); i++) {
            playback_pass(playback, &view, &listener);
            check_labels(playback);
            check_samples(playback);
            if (i == 0)
                playback_begin(playback, view.time);
        }
        playback_destroy(playback);
    }
    recording_close(recording);
    diag_destroy(diags);
    free(copy);
    return 0;
}
