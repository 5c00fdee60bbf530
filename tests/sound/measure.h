// measure.h - tones as clips, and what samples are like: so gain is an amplitude and pitch a frequency.
// TONE_FOLDER names the folder of the test, for its files.
#ifndef TALUS_TESTS_SOUND_MEASURE_H
#define TALUS_TESTS_SOUND_MEASURE_H

#include "assets/clip.h"
#include "base/file.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

enum { RATE = 44100, TONE_HERTZ = 441 };
#define TONE_LEVEL 0.5

static inline const char *tone_folder(void)
{
    static const char *folder;  // emptied once: worlds that run may read their clips later
    return folder = folder ? folder : support_scratch(TONE_FOLDER);
}

// A sine of 441 Hz: 100 samples a period.
static inline const char *tone_file(const char *name, double seconds)
{
    static char path[1024];
    int count = (int)(seconds * RATE);
    float *samples = malloc((size_t)count * sizeof *samples);
    for (int i = 0; i < count; i++)
        samples[i] = (float)(TONE_LEVEL * sin(2.0 * M_PI * TONE_HERTZ * i / RATE));
    Clip *clip = clip_create(1, RATE, count, samples);
    Text text = { 0 };
    clip_encode_wav(clip, &text);
    snprintf(path, sizeof path, "%s/%s", tone_folder(), name);
    DiagSink *diags = diag_create();
    CHECK(file_write_atomic(path, text.data, text.length, diags), path);
    diag_destroy(diags);
    text_free(&text);
    clip_destroy(clip);
    free(samples);
    return path;
}

static inline double peak(const float *samples, int from, int to)
{
    double most = 0.0;
    for (int i = from; i < to; i++)
        most = fmax(most, fabs((double)samples[i]));
    return most;
}

static inline double rms(const float *samples, int from, int to)
{
    double sum = 0.0;
    for (int i = from; i < to; i++)
        sum += (double)samples[i] * (double)samples[i];
    return sqrt(sum / (to - from));
}

// Upward crossings of zero a second.
static inline double pitch_of(const float *samples, int from, int to)
{
    int crossings = 0, first = -1, last = -1;
    for (int i = from + 1; i < to; i++)
        if (samples[i - 1] < 0.0f && samples[i] >= 0.0f) {
            crossings++;
            first = first < 0 ? i : first;
            last = i;
        }
    return crossings > 1 ? (double)(crossings - 1) * RATE / (last - first) : 0.0;
}

#endif
