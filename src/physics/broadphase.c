// Sweep and prune along one axis: boxes sorted by their low end (insertion sort: from step to step the order hardly
// changes), a scan of the overlaps, pairs sorted at the end. Boxes that are longer than a few times the mean (floors,
// walls, terrains) would meet everything on the axis; they are kept apart and tested by themselves.
#include "physics/broadphase.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Proxy {
    BroadBox box;
    uint32_t category, mask;
    int group;
    bool is_used, is_resting, is_long;
} Proxy;

typedef struct SortItem { double low; int proxy; } SortItem;

struct Broadphase {
    Proxy *proxies;
    int proxy_count, proxy_capacity;
    int *order, *longs;  // used proxies: short ones sorted along the axis, long ones by index
    int order_count, order_capacity, long_count, long_capacity;
    double *low;         // of order[i] along the axis, beside it for the cache
    int low_capacity;
    BroadPair *pairs, *sorted;
    int pair_count, pair_capacity, sorted_capacity;
    int *buckets;
    int bucket_capacity;
    int axis;
    int passes;          // since the axis and the long boxes were last chosen
    bool is_stale;       // proxies came or went
    SortItem *items;
    int item_capacity;
};

Broadphase *broadphase_create(void)
{
    Broadphase *broadphase = memory_alloc(sizeof(*broadphase));
    broadphase->is_stale = true;
    return broadphase;
}

void broadphase_destroy(Broadphase *broadphase)
{
    if (!broadphase)
        return;
    free(broadphase->proxies);
    free(broadphase->order);
    free(broadphase->longs);
    free(broadphase->low);
    free(broadphase->pairs);
    free(broadphase->sorted);
    free(broadphase->buckets);
    free(broadphase->items);
    free(broadphase);
}

void broadphase_add(Broadphase *broadphase, int proxy, uint32_t category, uint32_t mask, int group, const BroadBox *box)
{
    assert(proxy >= 0);
    memory_grow(&broadphase->proxies, &broadphase->proxy_capacity, proxy + 1, sizeof(Proxy));
    while (broadphase->proxy_count <= proxy)
        broadphase->proxies[broadphase->proxy_count++] = (Proxy){ 0 };
    broadphase->proxies[proxy] = (Proxy){ *box, category, mask, group, true, false, false };
    broadphase->is_stale = true;
}

void broadphase_remove(Broadphase *broadphase, int proxy)
{
    if (proxy < broadphase->proxy_count)
        broadphase->proxies[proxy].is_used = false;
    broadphase->is_stale = true;
}

void broadphase_move(Broadphase *broadphase, int proxy, const BroadBox *box)
{
    broadphase->proxies[proxy].box = *box;
}

void broadphase_set_resting(Broadphase *broadphase, int proxy, bool is_resting)
{
    broadphase->proxies[proxy].is_resting = is_resting;
}

static double extent(const Proxy *proxy, int axis)
{
    return proxy->box.high[axis] - proxy->box.low[axis];
}

// The axis along which the centres spread most; how long a box must be to be called long.
static void choose_axis(Broadphase *broadphase)
{
    double sum[3] = { 0 }, squares[3] = { 0 }, lengths[3] = { 0 };
    int count = 0;
    for (int i = 0; i < broadphase->proxy_count; i++) {
        const Proxy *proxy = &broadphase->proxies[i];
        if (!proxy->is_used || !isfinite(extent(proxy, 0) + extent(proxy, 1) + extent(proxy, 2)) || extent(proxy, 0) > 1e6)
            continue;
        count++;
        for (int k = 0; k < 3; k++) {
            double center = 0.5 * (proxy->box.low[k] + proxy->box.high[k]);
            sum[k] += center;
            squares[k] += center * center;
            lengths[k] += extent(proxy, k);
        }
    }
    double best = -1.0;
    for (int k = 0; k < 3 && count > 0; k++) {
        double variance = squares[k] / count - (sum[k] / count) * (sum[k] / count);
        if (variance > best) {
            best = variance;
            broadphase->axis = k;
        }
    }
    double bound = count > 0 ? 4.0 * lengths[broadphase->axis] / count : 0.0;
    broadphase->order_count = broadphase->long_count = 0;
    memory_grow(&broadphase->order, &broadphase->order_capacity, broadphase->proxy_count + 1, sizeof(int));
    memory_grow(&broadphase->longs, &broadphase->long_capacity, broadphase->proxy_count + 1, sizeof(int));
    memory_grow(&broadphase->low, &broadphase->low_capacity, broadphase->proxy_count + 1, sizeof(double));
    for (int i = 0; i < broadphase->proxy_count; i++) {
        Proxy *proxy = &broadphase->proxies[i];
        if (!proxy->is_used)
            continue;
        proxy->is_long = !(extent(proxy, broadphase->axis) <= bound);
        if (proxy->is_long)
            broadphase->longs[broadphase->long_count++] = i;
        else
            broadphase->order[broadphase->order_count++] = i;
    }
    broadphase->is_stale = false;
    broadphase->passes = 0;
}

static int by_low(const void *a, const void *b)
{
    const SortItem *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->proxy > y->proxy) - (x->proxy < y->proxy);
}

static void sort_from_scratch(Broadphase *broadphase)
{
    memory_grow(&broadphase->items, &broadphase->item_capacity, broadphase->order_count + 1, sizeof(SortItem));
    SortItem *items = broadphase->items;
    for (int i = 0; i < broadphase->order_count; i++)
        items[i] = (SortItem){ broadphase->proxies[broadphase->order[i]].box.low[broadphase->axis], broadphase->order[i] };
    qsort(items, (size_t)broadphase->order_count, sizeof(SortItem), by_low);
    for (int i = 0; i < broadphase->order_count; i++)
        broadphase->order[i] = items[i].proxy;
}

static void sort_along_axis(Broadphase *broadphase)
{
    int *order = broadphase->order;
    double *low = broadphase->low;
    for (int i = 0; i < broadphase->order_count; i++) {
        int proxy = order[i];
        double value = broadphase->proxies[proxy].box.low[broadphase->axis];
        int k = i;
        while (k > 0 && low[k - 1] > value) {
            low[k] = low[k - 1];
            order[k] = order[k - 1];
            k--;
        }
        low[k] = value;
        order[k] = proxy;
    }
}

static void add_if_meeting(Broadphase *broadphase, int a, int b)
{
    const Proxy *p = &broadphase->proxies[a], *q = &broadphase->proxies[b];
    for (int k = 0; k < 3; k++)
        if (p->box.low[k] > q->box.high[k] || q->box.low[k] > p->box.high[k])
            return;
    if ((p->is_resting && q->is_resting) || (p->group != 0 && p->group == q->group))
        return;
    if (!((p->category & q->mask) | (q->category & p->mask)))
        return;
    if (broadphase->pair_count == broadphase->pair_capacity)
        memory_grow(&broadphase->pairs, &broadphase->pair_capacity, broadphase->pair_count + 1, sizeof(BroadPair));
    broadphase->pairs[broadphase->pair_count++] = a < b ? (BroadPair){ a, b } : (BroadPair){ b, a };
}

// Two passes of a stable counting sort: by b, then by a.
static void sort_pairs(Broadphase *broadphase)
{
    int count = broadphase->pair_count;
    memory_grow(&broadphase->sorted, &broadphase->sorted_capacity, broadphase->pair_capacity, sizeof(BroadPair));
    memory_grow(&broadphase->buckets, &broadphase->bucket_capacity, broadphase->proxy_count + 2, sizeof(int));
    for (int pass = 0; pass < 2; pass++) {
        const BroadPair *from = pass == 0 ? broadphase->pairs : broadphase->sorted;
        BroadPair *to = pass == 0 ? broadphase->sorted : broadphase->pairs;
        int *start = broadphase->buckets;
        memset(start, 0, sizeof(int) * (size_t)(broadphase->proxy_count + 1));
        for (int i = 0; i < count; i++)
            start[(pass == 0 ? from[i].b : from[i].a) + 1]++;
        for (int i = 0; i < broadphase->proxy_count; i++)
            start[i + 1] += start[i];
        for (int i = 0; i < count; i++)
            to[start[pass == 0 ? from[i].b : from[i].a]++] = from[i];
    }
}

const BroadPair *broadphase_pairs(Broadphase *broadphase, int *count)
{
    enum { PASSES_BETWEEN_CHOICES = 256 };
    if (broadphase->is_stale || ++broadphase->passes >= PASSES_BETWEEN_CHOICES) {
        choose_axis(broadphase);
        sort_from_scratch(broadphase);
    }
    sort_along_axis(broadphase);
    broadphase->pair_count = 0;
    const int *order = broadphase->order;
    for (int i = 0; i < broadphase->order_count; i++) {
        double high = broadphase->proxies[order[i]].box.high[broadphase->axis];
        for (int k = i + 1; k < broadphase->order_count && broadphase->low[k] <= high; k++)
            add_if_meeting(broadphase, order[i], order[k]);
    }
    for (int i = 0; i < broadphase->long_count; i++) {
        for (int k = 0; k < broadphase->order_count; k++)
            add_if_meeting(broadphase, broadphase->longs[i], order[k]);
        for (int k = i + 1; k < broadphase->long_count; k++)
            add_if_meeting(broadphase, broadphase->longs[i], broadphase->longs[k]);
    }
    if (broadphase->pair_count > 1)
        sort_pairs(broadphase);
    *count = broadphase->pair_count;
    return broadphase->pairs;
}
