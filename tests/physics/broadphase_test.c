// The tree against trying all pairs, through adding, moving, resting and removing; rays against all boxes.
#include "physics/collide/broadphase.h"
#include "support/support.h"

#include <math.h>

#define COUNT 600

static uint64_t seed;
static double random_unit(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

typedef struct Model {
    BroadBox box;
    uint32_t category, mask;
    int group;
    bool used, resting;
} Model;

static Model model[COUNT];

static bool model_meets(const Model *p, const Model *q)
{
    for (int k = 0; k < 3; k++)
        if (p->box.low[k] > q->box.high[k] || q->box.low[k] > p->box.high[k])
            return false;
    return p->used && q->used && !(p->resting && q->resting) && (p->group == 0 || p->group != q->group)
           && ((p->category & q->mask) | (q->category & p->mask));
}

static void compare(Broadphase *broadphase, int step)
{
    int count, at = 0;
    const BroadPair *pairs = broadphase_pairs(broadphase, &count);
    for (int a = 0; a < COUNT; a++)
        for (int b = a + 1; b < COUNT; b++) {
            if (!model_meets(&model[a], &model[b]))
                continue;
            if (at >= count || pairs[at].a != a || pairs[at].b != b)
                fail_msg("step %d: pair %d %d is missing or out of order", step, a, b);
            at++;
        }
    assert_int_equal(at, count);
}

static BroadBox random_box(double spread)
{
    BroadBox box;
    for (int k = 0; k < 3; k++) {
        box.low[k] = spread * (random_unit() - 0.5);
        box.high[k] = box.low[k] + 0.05 + 0.4 * random_unit();
    }
    return box;
}

static void test_against_all_pairs(void **state)
{
    (void)state;
    seed = 7;
    memset(model, 0, sizeof model);
    Broadphase *broadphase = broadphase_create();
    for (int step = 0; step < 120; step++) {
        for (int n = 0; n < 40; n++) {
            int i = (int)(random_unit() * COUNT);
            Model *m = &model[i];
            double what = random_unit();
            if (!m->used) {
                *m = (Model){ random_box(4.0), 1u << (i % 3), i % 5 ? 7 : 1, i % 4 == 0 ? i / 16 + 1 : 0, true, false };
                if (i % 60 == 0)
                    m->box = (BroadBox){ { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, 0.0 } };
                broadphase_add(broadphase, i, m->category, m->mask, m->group, &m->box);
            } else if (what < 0.1) {
                m->used = false;
                broadphase_remove(broadphase, i);
            } else if (what < 0.2) {
                m->resting = !m->resting;
                broadphase_set_resting(broadphase, i, m->resting);
            } else if (what < 0.3) {
                m->box = random_box(4.0);
                broadphase_move(broadphase, i, &m->box);
            } else {
                for (int k = 0; k < 3; k++) {
                    double shift = 0.03 * (random_unit() - 0.5);
                    m->box.low[k] += shift;
                    m->box.high[k] += shift;
                }
                broadphase_move(broadphase, i, &m->box);
            }
        }
        compare(broadphase, step);
    }
    broadphase_destroy(broadphase);
}

static void shift_box(BroadBox *box, double speed)
{
    for (int k = 0; k < 3; k++) {
        double shift = speed * (random_unit() - 0.5);
        box->low[k] += shift;
        box->high[k] += shift;
    }
}

static void box_of_model(void *context, int proxy, BroadBox *box)
{
    (void)context;
    *box = model[proxy].box;
}

// All move in one call, by little (leaves follow), by more (they are put in again) and by so much that the tree is made
// anew; some grow beyond all bounds and come back, some are taken out in between.
static void move_all(int threads)
{
    static int32_t list[COUNT];
    seed = 23;
    memset(model, 0, sizeof model);
    Pool *pool = pool_create(threads);
    Broadphase *broadphase = broadphase_create();
    broadphase_use_pool(broadphase, pool);
    for (int i = 0; i < COUNT; i++) {
        model[i] = (Model){ random_box(5.0), 1, 1, 0, true, false };
        broadphase_add(broadphase, i, 1, 1, 0, &model[i].box);
    }
    for (int step = 0; step < 90; step++) {
        static const double speeds[] = { 0.0, 0.005, 0.03, 0.1, 0.6 };
        int count = 0;
        for (int i = 0; i < COUNT; i++) {
            if (step % 10 == 3 && i % 150 == 7)
                model[i].box = (BroadBox){ { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, 0.0 } };
            else if (step % 10 == 6 && i % 150 == 7)
                model[i].box = random_box(5.0);
            else
                shift_box(&model[i].box, speeds[step % 5] * (i % 7 < 1 + step % 7));
            if (step % 20 == 11 && i % 97 == 5) {
                model[i].used = !model[i].used;
                if (model[i].used)
                    broadphase_add(broadphase, i, 1, 1, 0, &model[i].box);
                else
                    broadphase_remove(broadphase, i);
            }
            list[count] = i;
            count += step % 3 > 0 || i % 2 > 0;
        }
        // Those that are left out move one by one.
        for (int i = 0, at = 0; i < COUNT; i++) {
            if (at < count && list[at] == i)
                at++;
            else
                broadphase_move(broadphase, i, &model[i].box);
        }
        broadphase_move_all(broadphase, list, count, box_of_model, NULL);
        compare(broadphase, step);
    }
    broadphase_destroy(broadphase);
    pool_destroy(pool);
}

static void test_all_at_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++)
        move_all(threads);
}

typedef struct RaySeen {
    bool seen[COUNT];
} RaySeen;
static double see(void *context, int proxy, double length)
{
    ((RaySeen *)context)->seen[proxy] = true;
    return length;
}

static void test_rays(void **state)
{
    (void)state;
    seed = 11;
    Broadphase *broadphase = broadphase_create();
    static BroadBox boxes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        boxes[i] = random_box(6.0);
        broadphase_add(broadphase, i, 1, 1, 0, &boxes[i]);
    }
    for (int n = 0; n < 200; n++) {
        double origin[3] = { 8.0 * (random_unit() - 0.5), 8.0 * (random_unit() - 0.5), 4.0 }, target[3], d[3],
               length = 0.0;
        int aimed = n % COUNT;
        for (int k = 0; k < 3; k++) {
            target[k] = 0.5 * (boxes[aimed].low[k] + boxes[aimed].high[k]);
            d[k] = target[k] - origin[k];
            length += d[k] * d[k];
        }
        length = sqrt(length);
        for (int k = 0; k < 3; k++)
            d[k] /= length;
        static RaySeen seen;
        memset(&seen, 0, sizeof seen);
        broadphase_ray(broadphase, origin, d, length, see, &seen);
        CHECK(seen.seen[aimed], "the box aimed at is met");
        int met = 0;
        for (int i = 0; i < COUNT; i++)
            met += seen.seen[i];
        CHECK(met < COUNT / 2, "and most are not");
    }
    broadphase_destroy(broadphase);
}

// A long row of nested boxes makes the tree deep.
static void test_nested(void **state)
{
    (void)state;
    Broadphase *broadphase = broadphase_create();
    for (int i = 0; i < 2000; i++) {
        double r = 1.0 + i;
        broadphase_add(broadphase, i, 1, 1, 0, &(BroadBox){ { -r, -r, -r }, { r, r, r } });
    }
    int count;
    broadphase_pairs(broadphase, &count);
    assert_int_equal(count, 2000 * 1999 / 2);
    broadphase_destroy(broadphase);
}

// What may not meet is not looked at one by one: the pairs of so many static boxes in one place would take hours.
static void test_many_static(void **state)
{
    (void)state;
    enum { STATIC_COUNT = 400000, STATIC = 1, MOVING = 2 };
    const BroadBox box = { { 0, 0, 0 }, { 1, 1, 1 } };
    Broadphase *broadphase = broadphase_create();
    for (int i = 0; i < STATIC_COUNT; i++)
        broadphase_add(broadphase, i, STATIC, ~(uint32_t)STATIC, 0, &box);
    broadphase_add(broadphase, STATIC_COUNT, MOVING, ~0u, 0, &box);
    int count;
    const BroadPair *pairs = broadphase_pairs(broadphase, &count);
    assert_int_equal(count, STATIC_COUNT);
    for (int i = 0; i < count; i++)
        CHECK(pairs[i].a == i && pairs[i].b == STATIC_COUNT, "the moving one meets each static one");
    broadphase_destroy(broadphase);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_all_pairs), cmocka_unit_test(test_all_at_once),
                                        cmocka_unit_test(test_rays), cmocka_unit_test(test_nested),
                                        cmocka_unit_test(test_many_static) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
