// A dynamic tree of fat boxes. A proxy is put into the tree again only when it leaves its fat box, so what rests costs
// nothing; the pairs of fat boxes that overlap are kept from step to step, sorted, and only those of proxies that were
// put in again are searched anew. Reported are those whose true boxes overlap. Boxes without bounds (planes) or too
// large for the tree stand in a list of their own.
//
// The tree's boxes are floats, wider than what they hold by more than the rounding.
#include "physics/collide/broadphase_internal.h"
#include "physics/collide/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVE_PIECE 64    // proxies that a worker moves at a time
#define LEAVES_AHEAD 8   // that are asked for
#define LARGE_TREE 8192  // nodes: fewer are in the near caches anyway

Broadphase *broadphase_create(void)
{
    Broadphase *b = memory_alloc(sizeof *b);
    b->root = b->free_node = -1;
    broadphase_use_pool(b, NULL);
    broadphase_limit(b, 16000000);
    return b;
}

void broadphase_limit(Broadphase *b, int max_pairs)
{
    assert(max_pairs > 0);
    b->max_pairs = max_pairs;
}

void broadphase_use_pool(Broadphase *b, Pool *pool)
{
    int known = b->list_capacity;
    b->pool = pool;
    b->list_count = pool_thread_count(pool);
    memory_grow(&b->lists, &b->list_capacity, b->list_count, sizeof *b->lists);
    for (int i = known; i < b->list_capacity; i++)
        b->lists[i] = (PairList){ 0 };
}

void broadphase_destroy(Broadphase *b)
{
    if (!b)
        return;
    void *owned[] = { b->proxies,  b->nodes,   b->moved,  b->large, b->pairs,  b->merged, b->gathered,
                      b->reported, b->buckets, b->pieces, b->tasks, b->leaves, b->strays, b->stray_counts };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    for (int i = 0; i < b->list_capacity; i++)
        free(b->lists[i].pairs);
    free(b->lists);
    free(b);
}

void broadphase_fit(Broadphase *b)
{
    assert_debug(b->proxy_count >= 0 && b->node_count >= 0);
    memory_fit(&b->proxies, &b->proxy_capacity, b->proxy_count, sizeof *b->proxies);
    broad_tree_fit(b);
}

static bool box_is_large(const BroadBox *box)
{
    for (int i = 0; i < 3; i++)
        if (!(box->high[i] - box->low[i] < LARGE_BOX) || !(fabs(box->low[i]) < LARGE_BOX)
            || !(fabs(box->high[i]) < LARGE_BOX))
            return true;
    return false;
}

static void large_remove(Broadphase *b, int proxy)
{
    assert_debug(proxy >= 0 && b->proxies[proxy].node < 0);
    for (int i = 0; i < b->large_count; i++)
        if (b->large[i] == proxy) {
            memmove(&b->large[i], &b->large[i + 1], (size_t)(b->large_count - i - 1) * sizeof *b->large);
            b->large_count--;
            return;
        }
}

// Room for some steps of motion: a tenth of the size, and ahead where the box is going.
static FatBox fatten(const BroadBox *box, const double *motion)
{
    double size = 0.0;
    FatBox fat = { 0 };
    for (int i = 0; i < 3; i++)
        size = double_max(size, box->high[i] - box->low[i]);
    double margin = double_min(0.08 * size, 0.1) + 1e-4;
    for (int i = 0; i < 3; i++) {
        double reach = double_max(fabs(box->low[i]), fabs(box->high[i])) * 4e-7 + margin,
               ahead = double_clamp(5.0 * motion[i], -size, size);
        fat.low[i] = (float)(box->low[i] - reach + double_min(ahead, 0.0));
        fat.high[i] = (float)(box->high[i] + reach + double_max(ahead, 0.0));
    }
    return fat;
}

static bool fat_holds(const FatBox *fat, const BroadBox *box)
{
    for (int i = 0; i < 3; i++)
        if (box->low[i] < (double)fat->low[i] || box->high[i] > (double)fat->high[i])
            return false;
    return true;
}

static void mark_moved(Broadphase *b, int proxy)
{
    assert(proxy >= 0 && proxy < b->proxy_count);
    if (b->proxies[proxy].was_moved)
        return;
    b->proxies[proxy].was_moved = true;
    memory_grow(&b->moved, &b->moved_capacity, b->moved_count + 1, sizeof *b->moved);
    b->moved[b->moved_count++] = proxy;
}

static void large_add(Broadphase *b, int proxy)
{
    memory_grow(&b->large, &b->large_capacity, b->large_count + 1, sizeof *b->large);
    b->large[b->large_count++] = proxy;
    b->proxies[proxy].node = -1;
}

// With its box, and the fat box that it gets in the tree.
static void proxy_place(Broadphase *b, int proxy, const FatBox *fat)
{
    mark_moved(b, proxy);
    if (box_is_large(&b->proxies[proxy].box))
        large_add(b, proxy);
    else
        broad_tree_insert(b, proxy, fat);
}

static void proxy_lift(Broadphase *b, int proxy)
{
    if (b->proxies[proxy].node >= 0)
        broad_tree_remove(b, proxy);
    else
        large_remove(b, proxy);
}

void broadphase_add(Broadphase *b, int proxy, uint32_t category, uint32_t mask, int group, const BroadBox *box)
{
    assert(proxy >= 0);
    memory_grow(&b->proxies, &b->proxy_capacity, proxy + 1, sizeof(Proxy));
    while (b->proxy_count <= proxy)
        b->proxies[b->proxy_count++] = (Proxy){ .node = -1 };
    if (b->proxies[proxy].is_used)
        broadphase_remove(b, proxy);
    bool was_moved = b->proxies[proxy].was_moved;
    b->proxies[proxy] = (Proxy){ .box = *box,
                                 .category = category,
                                 .mask = mask,
                                 .group = group,
                                 .node = -1,
                                 .is_used = true,
                                 .was_moved = was_moved };
    b->awake_count++;
    const FatBox fat = fatten(box, (double[3]){ 0.0 });
    proxy_place(b, proxy, &fat);
}

void broadphase_remove(Broadphase *b, int proxy)
{
    assert(proxy >= 0);
    if (proxy >= b->proxy_count || !b->proxies[proxy].is_used)
        return;
    proxy_lift(b, proxy);
    b->awake_count -= !b->proxies[proxy].is_resting;
    b->proxies[proxy].is_used = false;
    mark_moved(b, proxy);  // its pairs go
}

// Gives a proxy its box. Touches the proxy and its leaf alone, so that different ones may be moved on different
// threads.
static BroadMove box_update(Broadphase *b, int proxy, const BroadBox *box)
{
    assert(proxy >= 0 && proxy < b->proxy_count);
    Proxy *p = &b->proxies[proxy];
    // What a fat box holds is not large: that one was not.
    bool stays = p->is_used && p->node >= 0 && fat_holds(&b->nodes[p->node].box, box),
         is_large = !stays && box_is_large(box);
    if (stays || !p->is_used || (p->node < 0 && is_large)) {
        p->box = *box;
        return BROAD_STAYS;
    }
    double motion[3];
    for (int i = 0; i < 3; i++) {
        motion[i] = 0.5 * (box->low[i] - p->box.low[i] + box->high[i] - p->box.high[i]);
        motion[i] = isfinite(motion[i]) ? motion[i] : 0.0;
    }
    p->box = *box;
    if (p->node < 0 || is_large)
        return BROAD_CROSSES;
    // Of one that leaves the boxes above hold it again once it was put in anew.
    TreeNode *leaf = &b->nodes[p->node];
    leaf->box = fatten(box, motion);
    return leaf->parent >= 0 && fat_contains(&b->nodes[leaf->parent].box, &leaf->box) ? BROAD_FOLLOWS : BROAD_LEAVES;
}

static void move_settle(Broadphase *b, int proxy, BroadMove move)
{
    if (move == BROAD_STAYS)
        return;
    mark_moved(b, proxy);
    if (move == BROAD_FOLLOWS) {
        b->insert_count++;
        return;
    }
    if (move == BROAD_LEAVES && broad_tree_follow(b, b->proxies[proxy].node))
        return;
    const FatBox fat = move == BROAD_LEAVES ? b->nodes[b->proxies[proxy].node].box
                                            : fatten(&b->proxies[proxy].box, (double[3]){ 0.0 });
    proxy_lift(b, proxy);
    proxy_place(b, proxy, &fat);
}

void broadphase_move(Broadphase *b, int proxy, const BroadBox *box)
{
    assert(proxy >= 0 && proxy < b->proxy_count);
    move_settle(b, proxy, box_update(b, proxy, box));
}

typedef struct MoveWork {
    Broadphase *b;
    const int32_t *proxies;
    int count;
    BroadBoxOf box_of;
    void *context;
} MoveWork;

// Proxies stand in the order of the caller, their leaves in that of the tree.
static inline void prefetch_leaf(const Broadphase *b, int proxy)
{
    int node = b->proxies[proxy].node;
    if (node >= 0)
        __builtin_prefetch(&b->nodes[node], 1);
}

static void move_pieces(int begin, int end, int worker, void *context)
{
    const MoveWork *work = context;
    Broadphase *b = work->b;
    (void)worker;
    bool is_large = b->node_count >= LARGE_TREE;
    for (int piece = begin; piece < end; piece++) {
        int first = piece * MOVE_PIECE, last = int_min(first + MOVE_PIECE, work->count), found = first;
        for (int i = first; i < last; i++) {
            int proxy = work->proxies[i];
            if (is_large && i + LEAVES_AHEAD < last)
                prefetch_leaf(b, work->proxies[i + LEAVES_AHEAD]);
            BroadBox box;
            work->box_of(work->context, proxy, &box);
            b->strays[found] = (Stray){ proxy, box_update(b, proxy, &box) };
            found += b->strays[found].move != BROAD_STAYS;
        }
        b->stray_counts[piece] = found - first;
    }
}

// The strays of all pieces to the front of the list.
static int strays_collect(Broadphase *b, int pieces, int *left_count)
{
    int count = 0;
    for (int piece = 0; piece < pieces; piece++)
        for (int i = 0; i < b->stray_counts[piece]; i++) {
            b->strays[count] = b->strays[piece * MOVE_PIECE + i];
            *left_count += b->strays[count++].move == BROAD_LEAVES;
        }
    return count;
}

void broadphase_move_all(Broadphase *b, const int32_t *proxies, int count, BroadBoxOf box_of, void *context)
{
    assert(count >= 0 && (proxies || count == 0));
    assert(box_of);
    int pieces = (count + MOVE_PIECE - 1) / MOVE_PIECE, left_count = 0;
    memory_grow(&b->strays, &b->stray_capacity, count + 1, sizeof *b->strays);
    memory_grow(&b->stray_counts, &b->stray_count_capacity, pieces + 1, sizeof *b->stray_counts);
    pool_for(b->pool, pieces, 1, move_pieces, &(MoveWork){ b, proxies, count, box_of, context });
    int stray_count = strays_collect(b, pieces, &left_count);
    bool rebuilds = left_count > b->node_count / (2 * MANY_LEFT) + 16
                    || (left_count > 0 && broad_tree_wants_rebuild(b, b->insert_count + stray_count));
    for (int i = 0; i < stray_count; i++) {
        if (rebuilds && b->strays[i].move == BROAD_LEAVES)
            mark_moved(b, b->strays[i].proxy);
        else
            move_settle(b, b->strays[i].proxy, b->strays[i].move);
    }
    if (rebuilds)
        broad_tree_rebuild(b);
}

void broadphase_set_resting(Broadphase *b, int proxy, bool is_resting)
{
    assert(proxy >= 0 && proxy < b->proxy_count);
    Proxy *p = &b->proxies[proxy];
    if (p->is_resting == is_resting)
        return;
    p->is_resting = is_resting;
    if (!p->is_used)
        return;
    b->awake_count += is_resting ? -1 : 1;
    // Pairs of two that rest are not kept: one that wakes looks for its own again.
    if (is_resting)
        b->has_rested = true;
    else
        mark_moved(b, proxy);
}

void broadphase_prefetch(const Broadphase *b, bool is_there)
{
    if (!is_there) {
        memory_prefetch(b, sizeof *b);
        return;
    }
    memory_prefetch(b->strays, sizeof *b->strays);  // where nothing left its fat box the first is written alone
    memory_prefetch(b->stray_counts, sizeof *b->stray_counts);
    memory_prefetch(b->moved, sizeof *b->moved);
    memory_prefetch(b->lists, sizeof *b->lists);
    memory_prefetch(b->pieces, sizeof *b->pieces);
    memory_prefetch(b->proxies, sizeof *b->proxies * (size_t)b->proxy_count);
    memory_prefetch(b->nodes, sizeof *b->nodes * (size_t)b->node_count);
    memory_prefetch(b->pairs, sizeof *b->pairs * (size_t)b->pair_count);
    memory_prefetch(b->merged, sizeof *b->merged * (size_t)b->pair_count);
    memory_prefetch(b->reported, sizeof *b->reported * (size_t)b->pair_count);
}
