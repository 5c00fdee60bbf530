// synth.c - the clips that a world gets when it names none, or Webots' own: made from formulas, so that nothing has to
// be shipped.
#include "sound/sound_internal.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

// A struck body: a few damped partials and a short burst of noise.
static double bump_sample(double t, double noise)
{
    static const struct {
        double hertz, decay, level;
    } partials[] = { { 180, 28, 0.50 }, { 313, 38, 0.25 }, { 527, 60, 0.12 }, { 905, 95, 0.06 } };
    double sum = 0.10 * noise * exp(-300.0 * t);
    for (int i = 0; i < COUNT_OF(partials); i++)
        sum += partials[i].level * sin(2.0 * M_PI * partials[i].hertz * t) * exp(-partials[i].decay * t);
    return sum;
}

static const struct {
    double seconds, low, high;
} shapes[] = {
    // of noise: s, band in Hz
    [CLIP_BUMP] = { 0.25, 0, 0 },        [CLIP_ROLL] = { 1.5, 40, 320 },
    [CLIP_SLIDE] = { 1.5, 600, 3200 },   [CLIP_ROTATIONAL_MOTOR] = { 1.0, 0, 0 },
    [CLIP_LINEAR_MOTOR] = { 1.0, 0, 0 },
};

// Whole numbers of periods fit into the clip, so it loops without a seam.
static double motor_sample(DefaultClip which, double t)
{
    double base = which == CLIP_ROTATIONAL_MOTOR ? 110.0 : 70.0, sum = 0.0;
    for (int k = 1; k <= 6; k++)
        sum += sin(2.0 * M_PI * base * k * t + 0.7 * k * k) / (k * k);
    return 0.25 * sum * (1.0 + 0.2 * sin(2.0 * M_PI * 9.0 * t));
}

// Two poles down, one up: a band of noise.
static void fill_noise(float *out, int count, int rate, double low, double high, Random *random)
{
    assert_debug(count > 0 && rate > 0);
    double a = 1.0 - exp(-2.0 * M_PI * high / rate), b = 1.0 - exp(-2.0 * M_PI * low / rate), first = 0.0, second = 0.0,
           slow = 0.0, peak = 1e-9;
    for (int i = 0; i < count; i++) {
        first += a * (random_gaussian(random) - first);
        second += a * (first - second);
        slow += b * (second - slow);
        out[i] = (float)(second - slow);
        peak = double_max(peak, fabs((double)out[i]));
    }
    for (int i = 0; i < count; i++)
        out[i] = (float)(0.8 / peak * (double)out[i]);
}

Clip *synth_clip(DefaultClip which, int rate)
{
    assert_debug((int)which >= 0 && (int)which < COUNT_OF(shapes) && rate > 0);
    Random random;
    random_seed(&random, (uint64_t)which, "sound");
    int count = (int)(shapes[which].seconds * rate);
    float *samples = memory_alloc_array((size_t)count, sizeof *samples);
    if (shapes[which].high > 0.0)
        fill_noise(samples, count, rate, shapes[which].low, shapes[which].high, &random);
    for (int i = 0; i < count && shapes[which].high <= 0.0; i++) {
        double t = (double)i / rate;
        samples[i] = (float)(which == CLIP_BUMP ? bump_sample(t, random_gaussian(&random)) : motor_sample(which, t));
    }
    Clip *clip = clip_create(1, rate, count, samples);
    free(samples);
    return clip;
}
