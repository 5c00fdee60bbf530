// Sequential impulses on blocks of eight pairs. Compiled twice, for the plain and the wide instruction set; both do the
// same operations in the same order on every lane, so both give the same bits.
#include "physics/solver/pgs_block.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef BLOCK_VARIANT
#define BLOCK_VARIANT pgs_block_portable
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

typedef struct Motion {
    F8 v[3], w[3];
} Motion;

static inline void transpose(F8 r[8])
{
    F8 a0 = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13),
       a1 = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a2 = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13),
       a3 = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a4 = __builtin_shufflevector(r[4], r[5], 0, 8, 1, 9, 4, 12, 5, 13),
       a5 = __builtin_shufflevector(r[4], r[5], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 a6 = __builtin_shufflevector(r[6], r[7], 0, 8, 1, 9, 4, 12, 5, 13),
       a7 = __builtin_shufflevector(r[6], r[7], 2, 10, 3, 11, 6, 14, 7, 15);
    F8 b0 = __builtin_shufflevector(a0, a2, 0, 1, 8, 9, 4, 5, 12, 13),
       b1 = __builtin_shufflevector(a0, a2, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b2 = __builtin_shufflevector(a1, a3, 0, 1, 8, 9, 4, 5, 12, 13),
       b3 = __builtin_shufflevector(a1, a3, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b4 = __builtin_shufflevector(a4, a6, 0, 1, 8, 9, 4, 5, 12, 13),
       b5 = __builtin_shufflevector(a4, a6, 2, 3, 10, 11, 6, 7, 14, 15);
    F8 b6 = __builtin_shufflevector(a5, a7, 0, 1, 8, 9, 4, 5, 12, 13),
       b7 = __builtin_shufflevector(a5, a7, 2, 3, 10, 11, 6, 7, 14, 15);
    r[0] = __builtin_shufflevector(b0, b4, 0, 1, 2, 3, 8, 9, 10, 11);
    r[1] = __builtin_shufflevector(b1, b5, 0, 1, 2, 3, 8, 9, 10, 11);
    r[2] = __builtin_shufflevector(b2, b6, 0, 1, 2, 3, 8, 9, 10, 11);
    r[3] = __builtin_shufflevector(b3, b7, 0, 1, 2, 3, 8, 9, 10, 11);
    r[4] = __builtin_shufflevector(b0, b4, 4, 5, 6, 7, 12, 13, 14, 15);
    r[5] = __builtin_shufflevector(b1, b5, 4, 5, 6, 7, 12, 13, 14, 15);
    r[6] = __builtin_shufflevector(b2, b6, 4, 5, 6, 7, 12, 13, 14, 15);
    r[7] = __builtin_shufflevector(b3, b7, 4, 5, 6, 7, 12, 13, 14, 15);
}

static inline Motion gather(const int32_t *bodies, const PgsVelocity *velocities)
{
    F8 r[8];
    for (int i = 0; i < 8; i++)
        r[i] = *(const F8 *)velocities[bodies[i]].v;
    transpose(r);
    return (Motion){ { r[0], r[1], r[2] }, { r[3], r[4], r[5] } };
}

static inline void scatter(const int32_t *bodies, unsigned moves, const Motion *m, PgsVelocity *velocities)
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

static inline F8 dot(const F8 *a, const F8 *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void symmetric(const F8 *m, const F8 *v, F8 *out)
{
    out[0] = m[0] * v[0] + m[1] * v[1] + m[2] * v[2];
    out[1] = m[1] * v[0] + m[3] * v[1] + m[4] * v[2];
    out[2] = m[2] * v[0] + m[4] * v[1] + m[5] * v[2];
}

// Velocity of body 1 against body 2 at a point; `other` is NULL where that is the world.
static inline void relative(const Motion *a, const Motion *b, const PgsPoint *p, const PgsSide *other, F8 *out)
{
    F8 x[3], y[3];
    cross(a->w, p->side.r, x);
    for (int i = 0; i < 3; i++)
        out[i] = a->v[i] + x[i];
    if (!other)
        return;
    cross(b->w, other->r, y);
    for (int i = 0; i < 3; i++)
        out[i] -= b->v[i] + y[i];
}

static inline void apply(Motion *a, Motion *b, const PgsBlock *block, const PgsPoint *p, const PgsSide *other,
                         const F8 *impulse)
{
    F8 arm[3], turn[3];
    cross(p->side.r, impulse, arm);
    symmetric(block->inertia1, arm, turn);
    for (int i = 0; i < 3; i++) {
        a->v[i] += impulse[i] * block->inverse_mass1;
        a->w[i] += turn[i];
    }
    if (!other)
        return;
    cross(other->r, impulse, arm);
    symmetric(block->inertia2, arm, turn);
    for (int i = 0; i < 3; i++) {
        b->v[i] -= impulse[i] * block->inverse_mass2;
        b->w[i] -= turn[i];
    }
}

// A row along `axis`: what a unit impulse along it turns, of the first body and of the other, if there is one (`r2` is
// NULL otherwise); and one over its stiffness.
static inline F8 row_prepare(const PgsBlock *block, F8 is_used, const F8 *r1, const F8 *r2, const F8 *axis, F8 gamma,
                             F8 *turn1, F8 *turn2)
{
    F8 arm1[3], arm2[3];
    cross(r1, axis, arm1);
    symmetric(block->inertia1, arm1, turn1);
    F8 sum = block->inverse_mass1 + block->inverse_mass2 + dot(arm1, turn1);
    if (r2) {
        cross(r2, axis, arm2);
        symmetric(block->inertia2, arm2, turn2);
        sum += dot(arm2, turn2) + gamma;
    } else {
        sum += gamma;
    }
    F8 tiny = { 0 };
    tiny += 1e-30f;
    return is_used / f8_max(sum, tiny);
}

static inline F8 row_mass(const PgsBlock *block, F8 is_used, const F8 *r1, const F8 *r2, const F8 *axis, F8 gamma)
{
    F8 turn1[3], turn2[3];
    return row_prepare(block, is_used, r1, r2, axis, gamma, turn1, turn2);
}

static inline PgsSide *other_side(const PgsBlock *block, int point)
{
    return block->others ? &block->others[point] : NULL;
}

// Where the two come together faster than `bounce_velocity` they are to part with a share of that speed.
static void prepare_bounce(PgsBlock *block, const PgsVelocity *before)
{
    Motion a = gather(block->body1, before), b = gather(block->body2, before);
    for (int k = 0; k < block->point_count; k++) {
        PgsPoint *p = &block->points[k];
        F8 v[3];
        relative(&a, &b, p, other_side(block, k), v);
        F8 incoming = -dot(block->normal, v), bounced = f8_max(p->rhs, block->surface->bounce * incoming);
        I8 is_fast = incoming > block->surface->bounce_velocity;
        p->rhs = (F8)(((I8)bounced & is_fast) | ((I8)p->rhs & ~is_fast));
    }
}

static void prepare(PgsBlock *blocks, int count, const PgsVelocity *before)
{
    for (int i = 0; i < count; i++) {
        PgsBlock *block = &blocks[i];
        if (block->bounces)
            prepare_bounce(block, before);
        for (int k = 0; k < block->point_count; k++) {
            PgsPoint *p = &block->points[k];
            PgsSide *side = &p->side, *other = other_side(block, k);
            const F8 is_used = p->mass, *r2 = other ? other->r : NULL;  // 1 in lanes with a point and 0 elsewhere
            p->mass1 = row_mass(block, is_used, side->r, r2, block->tangent1, block->surface->gamma1);
            p->mass2 = row_mass(block, is_used, side->r, r2, block->tangent2, block->surface->gamma2);
            p->mass = row_prepare(block, is_used, side->r, r2, block->normal, block->gamma, side->turn,
                                  other ? other->turn : NULL);
        }
    }
}

static void warm_start(PgsBlock *blocks, int count, PgsVelocity *velocities)
{
    for (int i = 0; i < count; i++) {
        PgsBlock *block = &blocks[i];
        Motion a = gather(block->body1, velocities), b = gather(block->body2, velocities);
        for (int k = 0; k < block->point_count; k++) {
            const PgsPoint *p = &block->points[k];
            F8 impulse[3];
            for (int c = 0; c < 3; c++)
                impulse[c] = block->normal[c] * p->impulse + block->tangent1[c] * p->impulse1
                             + block->tangent2[c] * p->impulse2;
            apply(&a, &b, block, p, other_side(block, k), impulse);
        }
        scatter(block->body1, block->moves1, &a, velocities);
        scatter(block->body2, block->moves2, &b, velocities);
    }
}

static inline void iterate_friction(PgsBlock *block, PgsPoint *p, const PgsSide *other, Motion *a, Motion *b)
{
    const PgsSurface *surface = block->surface;
    F8 v[3], impulse[3];
    relative(a, b, p, other, v);
    F8 limit1 = surface->mu1 * p->impulse, limit2 = surface->mu2 * p->impulse;
    F8 new1 = p->impulse1 + (surface->rhs1 - dot(block->tangent1, v) - surface->gamma1 * p->impulse1) * p->mass1;
    F8 new2 = p->impulse2 + (surface->rhs2 - dot(block->tangent2, v) - surface->gamma2 * p->impulse2) * p->mass2;
    new1 = f8_max(f8_min(new1, limit1), -limit1);
    new2 = f8_max(f8_min(new2, limit2), -limit2);
    F8 change1 = new1 - p->impulse1, change2 = new2 - p->impulse2;
    for (int c = 0; c < 3; c++)
        impulse[c] = block->tangent1[c] * change1 + block->tangent2[c] * change2;
    apply(a, b, block, p, other, impulse);
    p->impulse1 = new1;  // after all loads: the compiler takes `other` for a part of a point
    p->impulse2 = new2;
}

// What a normal's impulse turns is prepared: half the operations. Its moment is not, which takes fewer operations than
// lines of the cache; nor is anything for friction, whose two directions share their operations.
static inline void iterate_normal(PgsBlock *block, PgsPoint *p, const PgsSide *other, Motion *a, Motion *b)
{
    F8 apart[3], arm[3], zero = { 0 };
    cross(p->side.r, block->normal, arm);
    F8 turning = dot(arm, a->w);
    for (int c = 0; c < 3; c++)
        apart[c] = other ? a->v[c] - b->v[c] : a->v[c];
    if (other) {
        cross(other->r, block->normal, arm);
        turning -= dot(arm, b->w);
    }
    F8 speed = dot(block->normal, apart) + turning;
    F8 now = f8_max(p->impulse + (p->rhs - speed - block->gamma * p->impulse) * p->mass, zero);
    F8 change = now - p->impulse, push1 = change * block->inverse_mass1, push2 = change * block->inverse_mass2;
    for (int c = 0; c < 3; c++) {
        a->v[c] += block->normal[c] * push1;
        a->w[c] += p->side.turn[c] * change;
    }
    for (int c = 0; other && c < 3; c++) {
        b->v[c] -= block->normal[c] * push2;
        b->w[c] -= other->turn[c] * change;
    }
    p->impulse = now;
}

static inline __attribute__((always_inline)) void iterate_block(PgsBlock *block, bool is_on_world,
                                                                PgsVelocity *velocities)
{
    Motion a = gather(block->body1, velocities), b = { 0 };
    if (!is_on_world)
        b = gather(block->body2, velocities);
    PgsPoint *const points = block->points, *const end = points + block->point_count;
    const PgsSide *other = block->others;
    for (PgsPoint *p = points; p < end; p++)
        iterate_friction(block, p, is_on_world ? NULL : other++, &a, &b);
    other = block->others;
    for (PgsPoint *p = points; p < end; p++)
        iterate_normal(block, p, is_on_world ? NULL : other++, &a, &b);
    scatter(block->body1, block->moves1, &a, velocities);
    if (!is_on_world)
        scatter(block->body2, block->moves2, &b, velocities);
}

static void iterate(PgsBlock *blocks, int count, PgsVelocity *velocities)
{
    for (int i = 0; i < count; i++) {
        if (blocks[i].others)
            iterate_block(&blocks[i], false, velocities);
        else
            iterate_block(&blocks[i], true, velocities);
    }
}

// Of a turn counts what it moves the rim.
static float change(const PgsVelocity *velocities, PgsVelocity *before, int count)
{
    const F8 linear = { 1, 1, 1, 0, 0, 0, 0, 0 }, turning = { 0, 0, 0, 1, 1, 1, 0, 0 };
    F8 largest = { 0 };
    for (int i = 0; i < count; i++) {
        float rim = before[i].v[VELOCITY_RIM];
        F8 now = *(const F8 *)velocities[i].v;
        F8 difference = (now - *(const F8 *)before[i].v) * (linear + turning * rim);
        largest = f8_max(largest, f8_max(difference, -difference));
        *(F8 *)before[i].v = now;
        before[i].v[VELOCITY_RIM] = rim;
    }
    float max = 0.0f;
    for (int k = 0; k < BLOCK_LANES; k++)
        max = largest[k] > max ? largest[k] : max;
    return max;
}

const BlockKernels BLOCK_VARIANT = { prepare, warm_start, iterate, change };
