// Points of a pair that hardly moved, moved along; and points kept for that. Compiled twice, for the plain and the wide
// instruction set; both do the same operations in the same order for every point, so both give the same bits.
#include "physics/collide/cache_entry.h"
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>

#ifndef CACHE_VARIANT
#define CACHE_VARIANT cache_entry_portable
#endif

// One number of as many points as a register holds.
#ifdef __AVX2__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
static_assert(COLLIDE_POINTS % LANES == 0, "points come in full lanes");
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

static void relative_pose(const CollidePose *pa, const CollidePose *pb, double shift[3], double turn[9])
{
    const double *ra = pa->rotation, *rb = pb->rotation;
    double d[3];
    vec_sub(pb->position, pa->position, d);
    for (int i = 0; i < 3; i++) {
        shift[i] = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2];
        for (int k = 0; k < 3; k++)
            turn[3 * i + k] = ra[i] * rb[k] + ra[3 + i] * rb[3 + k] + ra[6 + i] * rb[6 + k];
    }
}

static inline Lanes lanes_of(const float *numbers)
{
    Lanes lanes;
    for (int i = 0; i < LANES; i++)
        lanes[i] = (double)numbers[i];
    return lanes;
}

static inline void to_world(const CollidePose *pose, const float local[3][COLLIDE_POINTS], int k, Lanes out[3])
{
    const double *r = pose->rotation;
    Lanes x = lanes_of(&local[0][k]), y = lanes_of(&local[1][k]), z = lanes_of(&local[2][k]);
    for (int i = 0; i < 3; i++)
        out[i] = pose->position[i] + r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z;
}

static inline void turn_to_world(const double *r, const float local[3][COLLIDE_POINTS], int k, Lanes out[3])
{
    Lanes x = lanes_of(&local[0][k]), y = lanes_of(&local[1][k]), z = lanes_of(&local[2][k]);
    for (int i = 0; i < 3; i++)
        out[i] = r[3 * i] * x + r[3 * i + 1] * y + r[3 * i + 2] * z;
}

static inline void turn_to_local(const double *r, const Lanes world[3], int k, float out[3][COLLIDE_POINTS])
{
    for (int i = 0; i < 3; i++) {
        Lanes local = r[i] * world[0] + r[3 + i] * world[1] + r[6 + i] * world[2];
        for (int lane = 0; lane < LANES; lane++)
            out[i][k + lane] = (float)local[lane];
    }
}

static inline void to_local(const CollidePose *pose, const Lanes world[3], int k, float out[3][COLLIDE_POINTS])
{
    Lanes d[3];
    for (int i = 0; i < 3; i++)
        d[i] = world[i] - pose->position[i];
    turn_to_local(pose->rotation, d, k, out);
}

// Whether the pair stands where it stood: for a small angle t the squared difference of two rotations is 2 t^2. The
// pair's shift says mostly no by itself.
static bool has_stayed(const CacheHead *head, const CollidePose *pa, const CollidePose *pb, CollideLimit limit)
{
    const double *ra = pa->rotation, *rb = pb->rotation;
    double d[3], moved = 0.0, turned = 0.0, shift2 = limit.shift * limit.shift;
    vec_sub(pb->position, pa->position, d);
    for (int i = 0; i < 3; i++) {
        double way = ra[i] * d[0] + ra[3 + i] * d[1] + ra[6 + i] * d[2] - (double)head->shift[i];
        moved += way * way;
    }
    if (!(moved <= shift2))
        return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double change = ra[i] * rb[k] + ra[3 + i] * rb[3 + k] + ra[6 + i] * rb[6 + k]
                            - (double)head->turn[3 * i + k];
            turned += change * change;
        }
    return turned * limit.reach * limit.reach <= 2.0 * shift2;
}

// Apart from the look whether they stayed, which most pairs do not pass: it needs fewer registers.
static __attribute__((noinline)) int move_along(const CachePoints *from, int count, const CollidePose *pa,
                                                const CollidePose *pb, CollidePoint *points)
{
    assert(from && count > 0 && count <= COLLIDE_POINTS);
    int touching = 0;
    for (int k = 0; k < count; k += LANES) {
        Lanes a[3], b[3], normal[3], position[3], apart = { 0.0 };
        to_world(pa, from->on_a, k, a);
        to_world(pb, from->on_b, k, b);
        turn_to_world(pb->rotation, from->normal, k, normal);
        for (int i = 0; i < 3; i++) {
            apart += normal[i] * (a[i] - b[i]);
            position[i] = 0.5 * (a[i] + b[i]);
        }
        Lanes depth = lanes_of(&from->depth[k]) - apart;
        for (int lane = 0; lane < LANES && k + lane < count; lane++) {
            if (!(depth[lane] >= -TOUCH_ROUNDING))
                continue;
            CollidePoint *to = &points[touching++];
            for (int i = 0; i < 3; i++) {
                to->position[i] = position[i][lane];
                to->normal[i] = normal[i][lane];
            }
            to->depth = double_max(depth[lane], 0.0);
            to->feature = 0;
        }
    }
    return touching;
}

static int points_move(const CacheHead *head, const CachePoints *from, const CollidePose *pa, const CollidePose *pb,
                       CollideLimit limit, CollidePoint *points)
{
    if (!has_stayed(head, pa, pb, limit))
        return -1;
    return head->count > 0 ? move_along(from, head->count, pa, pb, points) : 0;
}

// How far the two places of a point seem apart because they were rounded, along its normal: kept out of its depth. Not
// inlined: gcc 12 would take the numbers as they were before they were rounded.
static __attribute__((noinline)) Lanes apart_now(const CollidePose *pa, const CollidePose *pb, const CachePoints *kept,
                                                 int k)
{
    Lanes a[3], b[3], normal[3], apart = { 0.0 };
    to_world(pa, kept->on_a, k, a);
    to_world(pb, kept->on_b, k, b);
    turn_to_world(pb->rotation, kept->normal, k, normal);
    for (int i = 0; i < 3; i++)
        apart += normal[i] * (a[i] - b[i]);
    return apart;
}

// Points `k` and on of a pair.
static inline void lanes_put(CachePoints *to, const CollidePose *pa, const CollidePose *pb, const CollidePoint *points,
                             int count, int k)
{
    Lanes position[3], normal[3], depth;
    for (int lane = 0; lane < LANES; lane++) {
        const CollidePoint *from = &points[k + lane < count ? k + lane : k];
        for (int i = 0; i < 3; i++) {
            position[i][lane] = from->position[i];
            normal[i][lane] = from->normal[i];
        }
        depth[lane] = from->depth;
    }
    to_local(pa, position, k, to->on_a);
    to_local(pb, position, k, to->on_b);
    turn_to_local(pb->rotation, normal, k, to->normal);
    depth += apart_now(pa, pb, to, k);
    for (int lane = 0; lane < LANES; lane++)
        to->depth[k + lane] = (float)depth[lane];
}

static void points_put(CacheHead *head, CachePoints *to, const CollidePose *pa, const CollidePose *pb,
                       const CollidePoint *points)
{
    double shift[3], turn[9];
    const int count = head->count;
    assert(count >= 0 && count <= COLLIDE_POINTS && (to || count == 0));
    relative_pose(pa, pb, shift, turn);
    for (int i = 0; i < 3; i++)
        head->shift[i] = (float)shift[i];
    for (int i = 0; i < 9; i++)
        head->turn[i] = (float)turn[i];
    for (int k = 0; k < count; k += LANES)
        lanes_put(to, pa, pb, points, count, k);
}

const CacheKernels CACHE_VARIANT = { points_move, points_put };
