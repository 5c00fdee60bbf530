// texture.c - images on surfaces: ever smaller copies, and the mean colour of the patch that a pixel of the picture
// covers. As graphics hardware does it: linear between pixels and between copies, several places along the longer side
// of a slanted patch.
#include "rays/rays_internal.h"

#include "base/memory.h"

#include <stdlib.h>

// ---- copies ----

static void halve(const uint8_t *from, int width, int height, uint8_t *to, int to_width, int to_height)
{
    assert_debug(width > 0 && height > 0 && to_width > 0 && to_height > 0);
    for (int row = 0; row < to_height; row++)
        for (int column = 0; column < to_width; column++)
            for (int c = 0; c < 4; c++) {
                int sum = 2;
                for (int k = 0; k < 4; k++) {
                    int x = int_min(2 * column + (k & 1), width - 1), y = int_min(2 * row + (k >> 1), height - 1);
                    sum += from[4 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)c];
                }
                to[4 * ((size_t)row * (size_t)to_width + (size_t)column) + (size_t)c] = (uint8_t)(sum / 4);
            }
}

Mip *mip_create(const Image *image)
{
    assert(image && image->pixels && image->width > 0 && image->height > 0);
    Mip *mip = memory_alloc(sizeof *mip);
    mip->image = image;
    mip->level_count = 1;
    mip->width[0] = image->width;
    mip->height[0] = image->height;
    mip->levels[0] = image->pixels;
    while (mip->level_count < MIP_LEVELS_MAX) {
        int last = mip->level_count - 1, width = int_max(mip->width[last] / 2, 1),
            height = int_max(mip->height[last] / 2, 1);
        if (mip->width[last] == 1 && mip->height[last] == 1)
            break;
        mip->width[last + 1] = width;
        mip->height[last + 1] = height;
        mip->levels[last + 1] = memory_alloc_array((size_t)width * (size_t)height, 4);
        halve(mip->levels[last], mip->width[last], mip->height[last], mip->levels[last + 1], width, height);
        mip->level_count++;
    }
    return mip;
}

void mip_destroy(Mip *mip)
{
    for (int i = 1; mip && i < mip->level_count; i++)
        free(mip->levels[i]);
    free(mip);
}

// ---- places ----

typedef struct Bytes {
    const uint8_t *pixels;
    int width, height;
} Bytes;

static double wrapped(double x, bool repeats)
{
    if (!isfinite(x))
        return 0.0;
    return repeats ? x - floor(x) : double_clamp(x, 0.0, 1.0);
}

static int index_in(int x, int count, bool repeats)
{
    assert_debug(count > 0);
    if (repeats)
        return x < 0 ? x + count : x >= count ? x - count : x;
    return int_max(int_min(x, count - 1), 0);
}

typedef struct Texel {
    double c[4];
} Texel;

static Texel nearest(Bytes at, const Texture *texture, double u, double v)
{
    u = wrapped(u, texture->repeats_s);
    v = 1.0 - wrapped(v, texture->repeats_t);
    int column = int_min((int)(u * at.width), at.width - 1), row = int_min((int)(v * at.height), at.height - 1);
    const uint8_t *bytes = at.pixels + 4 * ((size_t)row * (size_t)at.width + (size_t)column);
    return (Texel){ { bytes[0] / 255.0, bytes[1] / 255.0, bytes[2] / 255.0, bytes[3] / 255.0 } };
}

static Texel smooth(Bytes at, const Texture *texture, double u, double v)
{
    double x = wrapped(u, texture->repeats_s) * at.width - 0.5,
           y = (1.0 - wrapped(v, texture->repeats_t)) * at.height - 0.5;
    int left = (int)floor(x), top = (int)floor(y);
    double fx = x - left, fy = y - top, shares[4] = { (1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy };
    int columns[2] = { index_in(left, at.width, texture->repeats_s), index_in(left + 1, at.width, texture->repeats_s) };
    int rows[2] = { index_in(top, at.height, texture->repeats_t), index_in(top + 1, at.height, texture->repeats_t) };
    Texel sum = { { 0 } };
    for (int k = 0; k < 4; k++) {
        const uint8_t *bytes = at.pixels + 4 * ((size_t)rows[k >> 1] * (size_t)at.width + (size_t)columns[k & 1]);
        for (int c = 0; c < 4; c++)
            sum.c[c] += shares[k] * bytes[c];
    }
    for (int c = 0; c < 4; c++)
        sum.c[c] /= 255.0;
    return sum;
}

static Bytes level_of(const Mip *mip, int level)
{
    assert_debug(level >= 0 && level < mip->level_count);
    return (Bytes){ mip->levels[level], mip->width[level], mip->height[level] };
}

static Texel between_levels(const Texture *texture, double level, double u, double v)
{
    const Mip *mip = texture->mip;
    level = double_clamp(level, 0.0, mip->level_count - 1);
    int lower = (int)level;
    double share = level - lower;
    Texel texel = smooth(level_of(mip, lower), texture, u, v);
    if (share <= 0.0)
        return texel;
    Texel next = smooth(level_of(mip, lower + 1), texture, u, v);
    for (int c = 0; c < 4; c++)
        texel.c[c] += share * (next.c[c] - texel.c[c]);
    return texel;
}

static Texel patch_mean(const Texture *texture, const TexturePlace *place)
{
    assert_debug(texture->mip);
    const Mip *mip = texture->mip;
    double width = mip->width[0], height = mip->height[0];
    double sides[2];
    for (int i = 0; i < 2; i++) {
        double across = place->du[i] * width, up = place->dv[i] * height;
        double length = sqrt(across * across + up * up);
        sides[i] = length < 1e9 ? length : 1e9;  // also where it is no number
    }
    int longer = sides[0] >= sides[1] ? 0 : 1;
    double max = sides[longer] > 1e-9 ? sides[longer] : 1e-9, min = sides[1 - longer] > 1.0 ? sides[1 - longer] : 1.0;
    int anisotropy = 1 << int_max(int_min(texture->filtering - 1, 4), 0);
    int taps = (int)double_clamp(ceil(max / min), 1.0, anisotropy);
    double level = log2(max / taps);
    if (taps <= 1 || level <= 0.0)
        return between_levels(texture, level, place->u, place->v);
    Texel sum = { { 0 } };
    for (int k = 0; k < taps; k++) {
        double along = (k + 0.5) / taps - 0.5;
        Texel tap = between_levels(texture, level, place->u + along * place->du[longer],
                                   place->v + along * place->dv[longer]);
        for (int c = 0; c < 4; c++)
            sum.c[c] += tap.c[c] / taps;
    }
    return sum;
}

bool texture_is_there(const Texture *texture) { return texture->mip || texture->layer; }

Vec3 texture_at(const Texture *texture, const TexturePlace *place, double *cover)
{
    Texel texel = { { 1.0, 1.0, 1.0, texture->mip ? 1.0 : 0.0 } };
    if (texture->mip)
        texel = texture->filtering > 0 ? patch_mean(texture, place)
                                       : nearest(level_of(texture->mip, 0), texture, place->u, place->v);
    if (texture->layer) {
        Bytes layer = { texture->layer->pixels, texture->layer->width, texture->layer->height };
        Texel over = texture->filtering > 0 ? smooth(layer, texture, place->u, place->v)
                                            : nearest(layer, texture, place->u, place->v);
        double share = texture->mip ? over.c[3] : 1.0;
        for (int c = 0; c < 3; c++)
            texel.c[c] += share * (over.c[c] - texel.c[c]);
        texel.c[3] = texture->mip ? texel.c[3] + over.c[3] * (1.0 - texel.c[3]) : over.c[3];
    }
    *cover = texel.c[3];
    return vec3(texel.c[0], texel.c[1], texel.c[2]);
}

Vec3 texture_pixel(const Texture *texture, double u, double v)
{
    Texel texel = { { 1, 1, 1, 1 } };
    if (texture->mip)
        texel = nearest(level_of(texture->mip, 0), texture, u, v);
    if (texture->layer) {
        Texel over = nearest((Bytes){ texture->layer->pixels, texture->layer->width, texture->layer->height }, texture,
                             u, v);
        double share = texture->mip ? over.c[3] : 1.0;
        for (int c = 0; c < 3; c++)
            texel.c[c] += share * (over.c[c] - texel.c[c]);
    }
    return vec3(texel.c[0], texel.c[1], texel.c[2]);
}
