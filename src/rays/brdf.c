// brdf.c - how much of an even surrounding a rough surface mirrors: the two numbers of the split sum (Karis, 2013), by
// the angle of view and the roughness. mirrored = specular colour * scale + bias.
#include "rays/rays_internal.h"

#include <pthread.h>

enum { SAMPLES = 256 };

static double shadowing(double cosine, double roughness)
{
    double k = 0.5 * roughness * roughness;
    return cosine / (cosine * (1.0 - k) + k);
}

// Half vectors are drawn by their distribution (GGX), at places that fill the square evenly; `sideways` are the cosines
// of their directions around the normal.
static void integrate(double cosine, double roughness, const double sideways[SAMPLES], double *scale, double *bias)
{
    double alpha = roughness * roughness, view_x = sqrt(1.0 - cosine * cosine);
    *scale = *bias = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        double share = (i + 0.5) / SAMPLES;
        double half_z = sqrt((1.0 - share) / (1.0 + (alpha * alpha - 1.0) * share)),
               half_x = sqrt(fmax(1.0 - half_z * half_z, 0.0)) * sideways[i];
        double meets = view_x * half_x + cosine * half_z, light_z = 2.0 * meets * half_z - cosine;
        if (light_z <= 0.0 || meets <= 0.0)
            continue;
        double seen = shadowing(cosine, roughness) * shadowing(light_z, roughness) * meets / (half_z * cosine);
        double grazing = pow(1.0 - meets, 5.0);
        *scale += (1.0 - grazing) * seen / SAMPLES;
        *bias += grazing * seen / SAMPLES;
    }
}

// Numbers of nature, not of a world: found once in a process, as they take some ten milliseconds.
static float table[BRDF_SIDE][BRDF_SIDE][2];

static void fill(void)
{
    double sideways[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        sideways[i] = cos(2.0 * M_PI * fmod(0.5 + i * 0.6180339887498949, 1.0));
    for (int rough = 0; rough < BRDF_SIDE; rough++)
        for (int angle = 0; angle < BRDF_SIDE; angle++) {
            double scale, bias;
            integrate((angle + 0.5) / BRDF_SIDE, (rough + 0.5) / BRDF_SIDE, sideways, &scale, &bias);
            table[rough][angle][0] = (float)scale;
            table[rough][angle][1] = (float)bias;
        }
}

const float (*brdf_table(void))[BRDF_SIDE][2]
{
    static pthread_once_t is_filled = PTHREAD_ONCE_INIT;
    pthread_once(&is_filled, fill);
    return (const float(*)[BRDF_SIDE][2])table;
}
