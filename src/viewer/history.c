// history.c - past moments for those who look back while the world runs. Bounded: when the room is full every second
// one of the older half goes, so that the past reaches back ever further and is coarser the longer ago it is.
#include "viewer/viewer_internal.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t size_of(const PastMoment *moment)
{
    return sizeof *moment + (size_t)moment->pose_count * 7 * sizeof(float);
}

static void remove_at(History *history, int index)
{
    assert(index >= 0 && index < history->count);
    history->bytes -= size_of(&history->items[index]);
    free(history->items[index].poses);
    memmove(&history->items[index], &history->items[index + 1],
            (size_t)(history->count - index - 1) * sizeof *history->items);
    history->count--;
}

static void thin_out(History *history)
{
    assert(history->count > 2);
    for (int i = history->count / 2; i > 0; i -= 2)
        remove_at(history, i);
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
    PastMoment past = {
        .step = moment->step, .revision = moment->revision, .time = moment->time, .pose_count = poses->solid_count
    };
    past.poses = memory_alloc_raw(((size_t)past.pose_count * 7 + 1) * sizeof(float));
    for (int i = 0; i < past.pose_count; i++) {
        const Pose *pose = &poses->solids[i];
        const double numbers[7] = { pose->t.x, pose->t.y, pose->t.z, pose->q.w, pose->q.x, pose->q.y, pose->q.z };
        for (int k = 0; k < 7; k++)
            past.poses[7 * i + k] = (float)numbers[k];
    }
    history->items[history->count++] = past;
    history->bytes += size_of(&past);
    while (history->bytes > bytes_max && history->count > 2)
        thin_out(history);
}

void history_drop_after(History *history, uint64_t step)
{
    while (history->count > 0 && history->items[history->count - 1].step > step)
        remove_at(history, history->count - 1);
}

void history_clear(History *history)
{
    while (history->count > 0)
        remove_at(history, history->count - 1);
}

void history_deinit(History *history)
{
    history_clear(history);
    free(history->items);
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
        const float *f = &moment->poses[7 * i];
        history->poses[i] = (Pose){ { (double)f[0], (double)f[1], (double)f[2] },
                                    { (double)f[3], (double)f[4], (double)f[5], (double)f[6] } };
    }
    return history->poses;
}
