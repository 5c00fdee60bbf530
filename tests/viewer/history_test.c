// Past moments to look back at: bounded in bytes, from the first moment to the last, coarser the longer ago.
#include "viewer/viewer_internal.h"

#include "support/support.h"

#include <malloc.h>

enum { LIMIT = 16 << 20 };

static void add(History *history, uint64_t step, const Pose *poses, int count)
{
    ViewMoment moment = { .step = step, .time = 0.01 * (double)step };
    moment.world.poses.solid_count = count;
    moment.world.poses.solids = (Pose *)poses;
    history_add(history, &moment);
}

static size_t bytes_of(const History *history)
{
    return (size_t)history->count * sizeof(PastMoment) + (size_t)history->number_count * sizeof(float);
}

static size_t held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.arena + info.hblkhd;
}

// Moments of small worlds are many; numbers take the room of numbers, and not of an allocation each.
static void many_moments_stay_bounded(void **state)
{
    (void)state;
    static const int solid_counts[] = { 1, 101 };
    for (int i = 0; i < COUNT_OF(solid_counts); i++) {
        Pose poses[101] = { 0 };
        History history = { .bytes_max = LIMIT };
        size_t before = held();
        uint64_t steps = solid_counts[i] == 1 ? 600000 : 20000;
        for (uint64_t step = 0; step <= steps; step++) {
            poses[0].t.x = (double)step;
            add(&history, step, poses, solid_counts[i]);
            assert_true(bytes_of(&history) <= LIMIT);
        }
        assert_true(bytes_of(&history) >= LIMIT / 2);
        print_message("%d solids: %d moments, %zu bytes, the allocator holds %zu\n", solid_counts[i], history.count,
                      bytes_of(&history), held() - before);
        assert_true(held() - before < 2 * (size_t)LIMIT);
        assert_int_equal(history.items[0].step, 0);
        assert_int_equal(history.items[history.count - 1].step, steps);
        for (int k = 1; k < history.count; k++)
            assert_true(history.items[k].step > history.items[k - 1].step);
        for (int k = 0; k < history.count; k += 97)
            assert_true(history_poses(&history, &history.items[k])->t.x == (double)history.items[k].step);
        history_deinit(&history);
    }
}

static void who_looks_back_finds_the_last_moment_not_after(void **state)
{
    (void)state;
    History history = { 0 };
    assert_null(history_at(&history, 1.0));
    const Pose pose = { 0 };
    for (uint64_t step = 10; step <= 50; step += 10)
        add(&history, step, &pose, 1);
    static const struct {
        double time;
        uint64_t step;
    } cases[] = { { 0.0, 10 }, { 0.1, 10 }, { 0.19, 10 }, { 0.2, 20 }, { 0.45, 40 }, { 9.0, 50 } };
    for (int i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(history_at(&history, cases[i].time)->step, cases[i].step);
    history_drop_after(&history, 30);
    assert_int_equal(history_at(&history, 9.0)->step, 30);
    add(&history, 20, &pose, 1);  // the world was set back without a word
    assert_int_equal(history.count, 2);
    add(&history, 0, &pose, 1);
    assert_int_equal(history.count, 1);
    history_clear(&history);
    assert_int_equal(bytes_of(&history), 0);
    history_deinit(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_moments_stay_bounded),
        cmocka_unit_test(who_looks_back_finds_the_last_moment_not_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
