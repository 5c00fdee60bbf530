// Sequential impulses on blocks of eight pairs. Compiled twice, for the plain and the wide instruction set; both do the
// same operations in the same order on every lane, so both give the same bits.
#include "physics/solver/solver_block.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef BLOCK_VARIANT
#define BLOCK_VARIANT solver_block_portable
#endif

static inline F8 f8_max(F8 a, F8 b)
{
#ifdef __AVX2__
    return (F8)_mm256_max_ps((__m256)a, (__m256)b);
#else
    I8 greater = a > b;
    return (F8)(((I8)a & greater) | ((I8)b & ~greater));
#endif
}

static inline F8 f8_min(F8 a, F8 b)
{
#ifdef __AVX2__
    return (F8)_mm256_min_ps((__m256)a, (__m256)b);
#else
    I8 less = a < b;
    return (F8)(((I8)a & less) | ((I8)b & ~less));
#endif
}

typedef struct Motion { F8 v[3], w[3]; } Motion;

static inline void transpose(F8 r[8])
{
    F8 a0 = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13), a1 = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a2 = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13), a3 = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a4 = __builtin_shufflevector(r[4], r[5], 0, 8, 1, 9, 4, 12, 5, 13), a5 = __builtin_shufflevector(r[4], r[5], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a6 = __builtin_shufflevector(r[6], r[7], 0, 8, 1, 9, 4, 12, 5, 13), a7 = __builtin_shufflevector(r[6], r[7], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 b0 = __builtin_shufflevector(a0, a2, 0, 1, 8, 9, 4, 5, 12, 13), b1 = __builtin_shufflevector(a0, a2, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b2 = __builtin_shufflevector(a1, a3, 0, 1, 8, 9, 4, 5, 12, 13), b3 = __builtin_shufflevector(a1, a3, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b4 = __builtin_shufflevector(a4, a6, 0, 1, 8, 9, 4, 5, 12, 13), b5 = __builtin_shufflevector(a4, a6, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b6 = __builtin_shufflevector(a5, a7, 0, 1, 8, 9, 4, 5, 12, 13), b7 = __builtin_shufflevector(a5, a7, 2, 3, 10, 11, 6, 7, 14, 15);
    r[0] = __builtin_shufflevector(b0, b4, 0, 1, 2, 3, 8, 9, 10, 11);
    r[1] = __builtin_shufflevector(b1, b5, 0, 1, 2, 3, 8, 9, 10, 11);
    r[2] = __builtin_shufflevector(b2, b6, 0, 1, 2, 3, 8, 9, 10, 11);
    r[3] = __builtin_shufflevector(b3, b7, 0, 1, 2, 3, 8, 9, 10, 11);
    r[4] = __builtin_shufflevector(b0, b4, 4, 5, 6, 7, 12, 13, 14, 15);
    r[5] = __builtin_shufflevector(b1, b5, 4, 5, 6, 7, 12, 13, 14, 15);
    r[6] = __builtin_shufflevector(b2, b6, 4, 5, 6, 7, 12, 13, 14, 15);
    r[7] = __builtin_shufflevector(b3, b7, 4, 5, 6, 7, 12, 13, 14, 15);
}

static inline Motion gather(const int32_t *bodies, const LooseVelocity *velocities)
{
    F8 r[8];
    for (int i = 0; i < 8; i++)
        r[i] = *(const F8 *)velocities[bodies[i]].v;
    transpose(r);
    return (Motion){ { r[0], r[1], r[2] }, { r[3], r[4], r[5] } };
}

static inline void scatter(const int32_t *bodies, unsigned moves, const Motion *m, LooseVelocity *velocities)
{
    F8 zero = { 0 };
    F8 r[8] = { m->v[0], m->v[1], m->v[2], m->w[0], m->w[1], m->w[2], zero, zero };
    transpose(r);
    for (int i = 0; i < 8; i++)
        if (moves >> i & 1)
            *(F8 *)velocities[bodies[i]].v = r[i];
}

static inline void cross(const F8 *a, const F8 *b, F8 *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline F8 dot(const F8 *a, const F8 *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void symmetric(const F8 *m, const F8 *v, F8 *out)
{
    out[0] = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
    out[1] = m[1] * v[0] + m[3] * v[1] + m[4] * v[2];
    out[2] = m[2] * v[0] + m[4] * v[1] + m[5] * v[2];
}

// Velocity of body 1 against body 2 at a point.
static inline void relative(const Motion *a, const Motion *b, const LoosePoint *p, F8 *out)
{
    F8 x[3], y[3];
    cross(a->w, p->r1, x);
    cross(b->w, p->r2, y);
    for (int i = 0; i < 3; i++)
        out[i] = (a->v[i] + x[i]) - (b->v[i] + y[i]);
}

static inline void apply(Motion *a, Motion *b, const LooseBlock *block, const LoosePoint *p, const F8 *impulse)
{
    F8 arm[3], turn[3];
    cross(p->r1, impulse, arm);
    symmetric(block->inertia1, arm, turn);
    for (int i = 0; i < 3; i++) {
        a->v[i] += impulse[i] * block->inverse_mass1;
        a->w[i] += turn[i];
    }
    cross(p->r2, impulse, arm);
    symmetric(block->inertia2, arm, turn);
    for (int i = 0; i < 3; i++) {
        b->v[i] -= impulse[i] * block->inverse_mass2;
        b->w[i] -= turn[i];
    }
}

static inline F8 row_mass(const LooseBlock *block, const LoosePoint *p, const F8 *axis, F8 gamma)
{
    F8 arm[3], turn[3];
    cross(p->r1, axis, arm);
    symmetric(block->inertia1, arm, turn);
    F8 sum = block->inverse_mass1 + block->inverse_mass2 + dot(arm, turn);
    cross(p->r2, axis, arm);
    symmetric(block->inertia2, arm, turn);
    sum += dot(arm, turn) + gamma;
    // `mass` holds 1 in lanes with a point and 0 elsewhere.
    F8 tiny = { 0 };
    tiny += 1e-30f;
    return p->mass / f8_max(sum, tiny);
}

static void prepare(LooseBlock *blocks, int count)
{
    for (int i = 0; i < count; i++) {
        LooseBlock *block = &blocks[i];
        for (int k = 0; k < block->point_count; k++) {
            LoosePoint *p = &block->points[k];
            p->mass1 = row_mass(block, p, block->tangent1, block->gamma1);
            p->mass2 = row_mass(block, p, block->tangent2, block->gamma2);
            p->mass = row_mass(block, p, block->normal, block->gamma);
        }
    }
}

static void warm_start(LooseBlock *blocks, int count, LooseVelocity *velocities)
{
    for (int i = 0; i < count; i++) {
        LooseBlock *block = &blocks[i];
        Motion a = gather(block->body1, velocities), b = gather(block->body2, velocities);
        for (int k = 0; k < block->point_count; k++) {
            const LoosePoint *p = &block->points[k];
            F8 impulse[3];
            for (int c = 0; c < 3; c++)
                impulse[c] = block->normal[c] * p->impulse + block->tangent1[c] * p->impulse1 + block->tangent2[c] * p->impulse2;
            apply(&a, &b, block, p, impulse);
        }
        scatter(block->body1, block->moves1, &a, velocities);
        scatter(block->body2, block->moves2, &b, velocities);
    }
}

static inline void iterate_friction(LooseBlock *block, LoosePoint *p, Motion *a, Motion *b)
{
    F8 v[3], impulse[3];
    relative(a, b, p, v);
    F8 limit1 = block->mu1 * p->impulse, limit2 = block->mu2 * p->impulse;
    F8 new1 = p->impulse1 + (block->rhs1 - dot(block->tangent1, v) - block->gamma1 * p->impulse1) * p->mass1;
    F8 new2 = p->impulse2 + (block->rhs2 - dot(block->tangent2, v) - block->gamma2 * p->impulse2) * p->mass2;
    new1 = f8_max(f8_min(new1, limit1), -limit1);
    new2 = f8_max(f8_min(new2, limit2), -limit2);
    F8 change1 = new1 - p->impulse1, change2 = new2 - p->impulse2;
    p->impulse1 = new1;
    p->impulse2 = new2;
    for (int c = 0; c < 3; c++)
        impulse[c] = block->tangent1[c] * change1 + block->tangent2[c] * change2;
    apply(a, b, block, p, impulse);
}

static inline void iterate_normal(LooseBlock *block, LoosePoint *p, Motion *a, Motion *b)
{
    F8 v[3], impulse[3], zero = { 0 };
    relative(a, b, p, v);
    F8 now = f8_max(p->impulse + (p->rhs - dot(block->normal, v) - block->gamma * p->impulse) * p->mass, zero);
    F8 change = now - p->impulse;
    p->impulse = now;
    for (int c = 0; c < 3; c++)
        impulse[c] = block->normal[c] * change;
    apply(a, b, block, p, impulse);
}

static void iterate(LooseBlock *blocks, int count, LooseVelocity *velocities)
{
    for (int i = 0; i < count; i++) {
        LooseBlock *block = &blocks[i];
        Motion a = gather(block->body1, velocities), b = gather(block->body2, velocities);
        for (int k = 0; k < block->point_count; k++)
            iterate_friction(block, &block->points[k], &a, &b);
        for (int k = 0; k < block->point_count; k++)
            iterate_normal(block, &block->points[k], &a, &b);
        scatter(block->body1, block->moves1, &a, velocities);
        scatter(block->body2, block->moves2, &b, velocities);
    }
}

static float change(const LooseVelocity *velocities, LooseVelocity *before, int count)
{
    F8 largest = { 0 };
    for (int i = 0; i < count; i++) {
        F8 now = *(const F8 *)velocities[i].v, difference = now - *(const F8 *)before[i].v;
        largest = f8_max(largest, f8_max(difference, -difference));
        *(F8 *)before[i].v = now;
    }
    float most = 0.0f;
    for (int k = 0; k < BLOCK_LANES; k++)
        most = largest[k] > most ? largest[k] : most;
    return most;
}

const BlockKernels BLOCK_VARIANT = { prepare, warm_start, iterate, change };
