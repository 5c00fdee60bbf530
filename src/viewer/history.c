// history.c - past moments for those who look back while the world runs. Bounded: when the room is full every second
// one of the older half goes, so that the past reaches back ever further and is coarser the longer ago it is. Their
// numbers lie one after the other in one block: a moment is no allocation of its own.
#include "viewer/viewer_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { POSE_FLOATS = 7 };

static size_t bytes_of(const History *history)
{
    return (size_t)history->count * sizeof *history->items + (size_t)history->number_count * sizeof *history->numbers;
}

static int number_end(const PastMoment *moment) { return moment->first + moment->pose_count * POSE_FLOATS; }

// One pass over all: there can be a million moments of a small world.
static void thin_out(History *history)
{
    assert(history->count > 2);
    int kept = 0, end = 0;
    for (int i = 0; i < history->count; i++) {
        if (i % 2 == 1 && i <= history->count / 2)
            continue;
        PastMoment moment = history->items[i];
        memmove(&history->numbers[end], &history->numbers[moment.first],
                (size_t)(number_end(&moment) - moment.first) * sizeof *history->numbers);
        moment.first = end;
        end = number_end(&moment);
        history->items[kept++] = moment;
    }
    history->count = kept;
    history->number_count = end;
}

static void add_numbers(History *history, const PhysicsPoses *poses)
{
    memory_grow(&history->numbers, &history->number_capacity,
                history->number_count + poses->solid_count * POSE_FLOATS + 1, sizeof *history->numbers);
    float *to = &history->numbers[history->number_count];
    for (int i = 0; i < poses->solid_count; i++) {
        const Pose *pose = &poses->solids[i];
        const double numbers[POSE_FLOATS] = { pose->t.x, pose->t.y, pose->t.z, pose->q.w,
                                              pose->q.x, pose->q.y, pose->q.z };
        for (int k = 0; k < POSE_FLOATS; k++)
            *to++ = (float)numbers[k];
    }
    history->number_count += poses->solid_count * POSE_FLOATS;
}

void history_add(History *history, const ViewMoment *moment)
{
    assert(moment);
    size_t bytes_max = history->bytes_max ? history->bytes_max : VIEWER_HISTORY_BYTES;
    if (history->count > 0 && history->items[history->count - 1].step >= moment->step)
        history_drop_after(history, moment->step > 0 ? moment->step - 1 : 0);
    if (moment->step == 0)
        history_clear(history);
    memory_grow(&history->items, &history->capacity, history->count + 1, sizeof *history->items);
    const PhysicsPoses *poses = &moment->world.poses;
    assert_debug(poses->moved_count == 0);
    history->items[history->count++] = (PastMoment){ .step = moment->step,
                                                     .revision = moment->revision,
                                                     .time = moment->time,
                                                     .pose_count = poses->solid_count,
                                                     .first = history->number_count };
    add_numbers(history, poses);
    while (bytes_of(history) > bytes_max && history->count > 2)
        thin_out(history);
}

void history_drop_after(History *history, uint64_t step)
{
    while (history->count > 0 && history->items[history->count - 1].step > step)
        history->number_count = history->items[--history->count].first;
}

void history_clear(History *history) { history->count = history->number_count = 0; }

void history_deinit(History *history)
{
    free(history->items);
    free(history->numbers);
    free(history->poses);
    *history = (History){ 0 };
}

const PastMoment *history_at(const History *history, double time)
{
    assert(history->count >= 0 && history->count <= history->capacity);
    int low = 0, high = history->count;  // the first that is later stands in [low, high]
    while (low < high) {
        int middle = (low + high) / 2;
        if (history->items[middle].time > time + 1e-9)
            high = middle;
        else
            low = middle + 1;
    }
    return history->count == 0 ? NULL : &history->items[low > 0 ? low - 1 : 0];
}

const Pose *history_poses(History *history, const PastMoment *moment)
{
    assert_debug(moment >= history->items && moment < history->items + history->count);
    assert(moment);
    memory_grow(&history->poses, &history->pose_capacity, moment->pose_count + 1, sizeof *history->poses);
    for (int i = 0; i < moment->pose_count; i++) {
        const float *f = &history->numbers[moment->first + POSE_FLOATS * i];
        history->poses[i] = (Pose){ { (double)f[0], (double)f[1], (double)f[2] },
                                    { (double)f[3], (double)f[4], (double)f[5], (double)f[6] } };
    }
    return history->poses;
}
