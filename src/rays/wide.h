// wide.h - eight numbers at once, for the light on eight surfaces: single precision, plain operations that give the
// same bits with and without wide instructions. Private to the files that shade; functions that pass such vectors are
// static.
#ifndef TALUS_RAYS_WIDE_H
#define TALUS_RAYS_WIDE_H

#include <math.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

typedef float F8 __attribute__((vector_size(32)));
typedef int I8 __attribute__((vector_size(32)));
typedef struct V8 {
    F8 x, y, z;
} V8;

static inline F8 f8(float a) { return (F8){ a, a, a, a, a, a, a, a }; }
static inline F8 f8_load(const float *from)
{
    F8 a;
    memcpy(&a, from, sizeof a);
    return a;
}
static inline I8 i8_load(const int *from)
{
    I8 a;
    memcpy(&a, from, sizeof a);
    return a;
}
static inline void f8_store(float *to, F8 a) { memcpy(to, &a, sizeof a); }
static inline void i8_store(int *to, I8 a) { memcpy(to, &a, sizeof a); }
static inline F8 f8_where(I8 mask, F8 yes, F8 no) { return (F8)(((I8)yes & mask) | ((I8)no & ~mask)); }
static inline F8 f8_masked(I8 mask, F8 a) { return (F8)((I8)a & mask); }
static inline F8 f8_max(F8 a, F8 b) { return f8_where(a > b, a, b); }
static inline F8 f8_min(F8 a, F8 b) { return f8_where(a < b, a, b); }
static inline F8 f8_clamp(F8 a, float low, float high) { return f8_min(f8_max(a, f8(low)), f8(high)); }
static inline F8 f8_abs(F8 a) { return (F8)((I8)a & 0x7fffffff); }
static inline F8 f8_sqrt(F8 a)
{
#if defined(__AVX__)
    return (F8)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    F8 root;
    _mm_storeu_ps((float *)&root, _mm_sqrt_ps(_mm_loadu_ps((const float *)&a)));
    _mm_storeu_ps((float *)&root + 4, _mm_sqrt_ps(_mm_loadu_ps((const float *)&a + 4)));
    return root;
#else
    F8 root;
    for (int i = 0; i < 8; i++)
        root[i] = sqrtf(a[i]);
    return root;
#endif
}
static inline bool i8_any(I8 mask)
{
#if defined(__AVX__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#else
    bool any = false;
    for (int i = 0; i < 8; i++)
        any |= mask[i] != 0;
    return any;
#endif
}
// The first lane of a mask that has one.
static inline int i8_first(I8 mask)
{
#if defined(__AVX__)
    return __builtin_ctz((unsigned)_mm256_movemask_ps((__m256)mask));
#else
    int i = 0;
    while (!mask[i])
        i++;
    return i;
#endif
}

static inline V8 v8(double x, double y, double z) { return (V8){ f8((float)x), f8((float)y), f8((float)z) }; }
static inline V8 v8_load(const float from[3][8])
{
    return (V8){ f8_load(from[0]), f8_load(from[1]), f8_load(from[2]) };
}
static inline void v8_store(float to[3][8], V8 a)
{
    f8_store(to[0], a.x);
    f8_store(to[1], a.y);
    f8_store(to[2], a.z);
}
static inline V8 v8_add(V8 a, V8 b) { return (V8){ a.x + b.x, a.y + b.y, a.z + b.z }; }
static inline V8 v8_sub(V8 a, V8 b) { return (V8){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static inline V8 v8_mul(V8 a, V8 b) { return (V8){ a.x * b.x, a.y * b.y, a.z * b.z }; }
static inline V8 v8_scale(V8 a, F8 s) { return (V8){ a.x * s, a.y * s, a.z * s }; }
static inline V8 v8_mad(V8 a, V8 b, F8 s) { return (V8){ a.x + b.x * s, a.y + b.y * s, a.z + b.z * s }; }
static inline F8 v8_dot(V8 a, V8 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline V8 v8_neg(V8 a) { return (V8){ -a.x, -a.y, -a.z }; }
static inline V8 v8_cross(V8 a, V8 b)
{
    return (V8){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
static inline V8 v8_masked(I8 mask, V8 a)
{
    return (V8){ f8_masked(mask, a.x), f8_masked(mask, a.y), f8_masked(mask, a.z) };
}
static inline V8 v8_where(I8 mask, V8 yes, V8 no)
{
    return (V8){ f8_where(mask, yes.x, no.x), f8_where(mask, yes.y, no.y), f8_where(mask, yes.z, no.z) };
}
// Zero stays next to zero.
static inline V8 v8_normalized(V8 a) { return v8_scale(a, f8(1.0f) / f8_sqrt(f8_max(v8_dot(a, a), f8(1e-37f)))); }

#endif
