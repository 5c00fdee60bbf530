// Pairs: found again for what moved, kept for the rest, and of both reported those whose true boxes overlap.
#include "physics/collide/broadphase_internal.h"

#include "base/memory.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_TASKS 256  // into which the search is cut for several threads
#define MOVED_GRAIN 4     // of those that moved that a worker looks for at a time
#define PIECE 256         // kept pairs that a worker looks through at a time,
#define PIECE_ALONE 1024  // and one without others

static inline bool proxies_may_meet(const Proxy *p, const Proxy *q)
{
    return (p->group == 0 || p->group != q->group) && ((p->category & q->mask) | (q->category & p->mask)) != 0;
}

static inline bool boxes_overlap(const BroadBox *a, const BroadBox *b)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k])
            return false;
    return true;
}

static void found_add(const Broadphase *b, PairList *found, int proxy, int other)
{
    assert_debug(proxy >= 0 && proxy < b->proxy_count);
    assert_debug(other >= 0 && other < b->proxy_count);
    const Proxy *p = &b->proxies[proxy], *q = &b->proxies[other];
    if ((p->is_resting && q->is_resting) || !proxies_may_meet(p, q))
        return;
    if (found->count >= b->max_pairs) {
        found->is_full = true;
        return;
    }
    if (found->count == found->capacity)
        memory_grow(&found->pairs, &found->capacity, found->count + 1, sizeof *found->pairs);
    found->pairs[found->count++] = proxy < other ? (BroadPair){ proxy, other } : (BroadPair){ other, proxy };
}

static void stamp_moved(Broadphase *b)
{
    b->stamp++;
    for (int i = 0; i < b->moved_count; i++) {
        const Proxy *p = &b->proxies[b->moved[i]];
        for (int node = p->is_used ? p->node : -1; node >= 0 && b->nodes[node].stamp != b->stamp;
             node = b->nodes[node].parent)
            b->nodes[node].stamp = b->stamp;
    }
}

// Puts two nodes on the list when one of them holds a moved proxy, their boxes overlap and some of their proxies may
// meet.
static inline int pair_push(const Broadphase *b, NodePair *list, int count, int x, int y)
{
    assert_debug(x >= 0 && x < b->node_count);
    assert_debug(y >= 0 && y < b->node_count);
    const TreeNode *p = &b->nodes[x], *q = &b->nodes[y];
    list[count] = (NodePair){ x, y };
    bool may_meet = ((p->category & q->mask) | (q->category & p->mask)) != 0;
    return count + (((p->stamp == b->stamp) | (q->stamp == b->stamp)) & may_meet & fat_overlap(&p->box, &q->box));
}

// Replaces two nodes by what is below them, at most three pairs, or adds two leaves to what was found.
static inline int pair_split(const Broadphase *b, PairList *found, NodePair pair, NodePair *list, int count)
{
    const TreeNode *p = &b->nodes[pair.a], *q = &b->nodes[pair.b];
    if (pair.a == pair.b) {
        if (is_leaf(p))
            return count;
        count = pair_push(b, list, count, p->child[0], p->child[1]);
        count = pair_push(b, list, count, p->child[0], p->child[0]);
        return pair_push(b, list, count, p->child[1], p->child[1]);
    }
    if (is_leaf(p) && is_leaf(q)) {
        found_add(b, found, p->child[1], q->child[1]);
        return count;
    }
    if (p->height >= q->height) {
        count = pair_push(b, list, count, p->child[0], pair.b);
        return pair_push(b, list, count, p->child[1], pair.b);
    }
    count = pair_push(b, list, count, pair.a, q->child[0]);
    return pair_push(b, list, count, pair.a, q->child[1]);
}

static void search_pairs(const Broadphase *b, PairList *found, NodePair from)
{
    assert_debug(from.a >= 0 && from.a < b->node_count && from.b >= 0 && from.b < b->node_count);
    NodePair stack[BROAD_STACK_MAX];
    int top = 1;
    stack[0] = from;
    while (top > 0 && !found->is_full) {
        NodePair pair = stack[--top];
        if (top + 3 > BROAD_STACK_MAX)
            search_pairs(b, found, pair);
        else
            top = pair_split(b, found, pair, stack, top);
    }
}

static void search_range(int begin, int end, int worker, void *context)
{
    const Broadphase *b = context;
    PairList found = b->lists[worker];  // a copy, because the lists of different workers share cache lines
    for (int i = begin; i < end && !found.is_full; i++)
        search_pairs(b, &found, b->tasks[b->task_first + i]);
    b->lists[worker] = found;
}

static void forget_found(Broadphase *b)
{
    for (int i = 0; i < b->list_count; i++) {
        b->lists[i].count = 0;
        b->lists[i].is_full = false;
    }
}

// Which pairs are too many must not depend on who found them.
static bool found_too_many(const Broadphase *b)
{
    int64_t count = 0;
    bool is_full = false;
    for (int i = 0; i < b->list_count; i++) {
        count += b->lists[i].count;
        is_full |= b->lists[i].is_full;
    }
    return is_full || count > b->max_pairs;
}

static inline int node_push(const Broadphase *b, const TreeNode *leaf, int32_t *list, int count, int index)
{
    assert_debug(index >= 0 && index < b->node_count);
    const TreeNode *node = &b->nodes[index];
    __builtin_prefetch(&b->nodes[node->child[0]]);  // while others are looked at; those of a leaf are any address
    __builtin_prefetch(&b->nodes[node->child[1]]);
    list[count] = index;
    bool may_meet = ((leaf->category & node->mask) | (node->category & leaf->mask)) != 0;
    return count + (may_meet & fat_overlap(&leaf->box, &node->box));
}

// Their leaves alone: the proxies themselves need not be read again.
static void stamp_moved_leaves(Broadphase *b)
{
    b->stamp++;
    for (int i = 0; i < b->moved_count; i++) {
        const Proxy *p = &b->proxies[b->moved[i]];
        if (p->is_used && p->node >= 0)
            b->nodes[p->node].stamp = b->stamp;
    }
}

// The leaves below a node that one that moved meets. Of two that moved the lower one finds the pair.
static void search_leaf(const Broadphase *b, PairList *found, int proxy, int from)
{
    const TreeNode *leaf = &b->nodes[b->proxies[proxy].node];
    assert_debug(is_leaf(leaf) && from >= 0 && from < b->node_count);
    int32_t stack[BROAD_STACK_MAX];
    int top = 1;
    stack[0] = from;
    while (top > 0 && !found->is_full) {
        const TreeNode *node = &b->nodes[stack[--top]];
        if (is_leaf(node)) {
            int other = node->child[1];
            if (node != leaf && !(node->stamp == b->stamp && other < proxy))
                found_add(b, found, proxy, other);
        } else if (top + 2 > BROAD_STACK_MAX) {
            for (int k = 0; k < 2; k++)
                search_leaf(b, found, proxy, node->child[k]);
        } else {
            top = node_push(b, leaf, stack, top, node->child[0]);
            top = node_push(b, leaf, stack, top, node->child[1]);
        }
    }
}

static void search_moved(int begin, int end, int worker, void *context)
{
    const Broadphase *b = context;
    PairList found = b->lists[worker];
    for (int i = begin; i < end && !found.is_full; i++) {
        const Proxy *p = &b->proxies[b->moved[i]];
        if (p->is_used && p->node >= 0)
            search_leaf(b, &found, b->moved[i], b->root);
    }
    b->lists[worker] = found;
}

// Few that moved look through the tree one by one: the boxes above them meet far more than they do themselves. For many
// it is the tree against itself, cut into tasks when there are threads to share them.
static void search_tree(Broadphase *b)
{
    if (b->root < 0)
        return;
    if (b->moved_count < b->node_count / (2 * FEW_MOVED)) {
        stamp_moved_leaves(b);
        pool_for(b->pool, b->moved_count, MOVED_GRAIN, search_moved, b);
        return;
    }
    stamp_moved(b);
    int wanted = pool_thread_count(b->pool) > 1 ? SEARCH_TASKS : 1;
    memory_grow(&b->tasks, &b->task_capacity, 4 * SEARCH_TASKS, sizeof *b->tasks);
    b->tasks[0] = (NodePair){ b->root, b->root };
    b->task_first = 0;
    b->task_count = 1;
    while (b->task_first < b->task_count && b->task_count - b->task_first < wanted
           && b->task_count + 3 <= b->task_capacity)
        b->task_count = pair_split(b, &b->lists[0], b->tasks[b->task_first++], b->tasks, b->task_count);
    pool_for(b->pool, b->task_count - b->task_first, 2, search_range, b);
}

// What stands outside the tree meets everything that moved, and all when it moved itself.
static void search_large(Broadphase *b)
{
    for (int i = 0; i < b->moved_count && b->large_count > 0; i++) {
        int proxy = b->moved[i];
        const Proxy *p = &b->proxies[proxy];
        if (!p->is_used)
            continue;
        for (int k = 0; p->node >= 0 && k < b->large_count; k++)
            if (!b->proxies[b->large[k]].was_moved)
                found_add(b, &b->lists[0], proxy, b->large[k]);
        for (int k = 0; p->node < 0 && k < b->proxy_count; k++)
            if (b->proxies[k].is_used && k != proxy
                && !(b->proxies[k].node < 0 && b->proxies[k].was_moved && k < proxy))
                found_add(b, &b->lists[0], proxy, k);
    }
}

// A pair is found once, by whichever worker; sorting makes the order one. Next time one worker may find as many as all
// did now: there is room for it, so that a warm run takes no memory whoever works.
static void fresh_collect(Broadphase *b)
{
    if (b->list_count == 1) {
        b->fresh = b->lists[0].pairs;
        b->fresh_count = b->lists[0].count;
        b->lists[0].count = 0;
        return;
    }
    b->fresh_count = 0;
    for (int i = 0; i < b->list_count; i++)
        b->fresh_count += b->lists[i].count;
    memory_grow(&b->gathered, &b->gathered_capacity, b->fresh_count + 1, sizeof *b->gathered);
    b->fresh = b->gathered;
    for (int i = 0, at = 0; i < b->list_count; i++) {
        PairList *list = &b->lists[i];
        if (list->count > 0)
            memcpy(b->fresh + at, list->pairs, (size_t)list->count * sizeof *list->pairs);
        at += list->count;
        list->count = 0;
        memory_grow(&list->pairs, &list->capacity, b->fresh_count, sizeof *list->pairs);
    }
}

// As one number; proxies are not negative.
static inline uint64_t pair_key(BroadPair x) { return (uint64_t)(uint32_t)x.a << 32 | (uint32_t)x.b; }
static inline bool pair_before(BroadPair x, BroadPair y) { return pair_key(x) < pair_key(y); }

static int pair_order(const void *x, const void *y)
{
    const BroadPair *p = x, *q = y;
    return pair_before(*p, *q) ? -1 : pair_before(*q, *p);
}

// Two passes of a stable counting sort: by b, then by a, through the room of the merged ones, which come later. A few
// among many proxies are sorted by comparing.
static void fresh_sort(Broadphase *b)
{
    assert_debug(b->fresh_count >= 0 && b->fresh);
    int count = b->fresh_count;
    if (count < b->proxy_count / 16) {
        qsort(b->fresh, (size_t)count, sizeof *b->fresh, pair_order);
        return;
    }
    memory_grow(&b->merged, &b->merged_capacity, count, sizeof(BroadPair));
    memory_grow(&b->buckets, &b->bucket_capacity, b->proxy_count + 2, sizeof(int));
    for (int pass = 0; pass < 2; pass++) {
        const BroadPair *from = pass == 0 ? b->fresh : b->merged;
        BroadPair *to = pass == 0 ? b->merged : b->fresh;
        int *start = b->buckets;
        memset(start, 0, sizeof(int) * (size_t)(b->proxy_count + 1));
        for (int i = 0; i < count; i++)
            start[(pass == 0 ? from[i].b : from[i].a) + 1]++;
        for (int i = 0; i < b->proxy_count; i++)
            start[i + 1] += start[i];
        for (int i = 0; i < count; i++)
            to[start[pass == 0 ? from[i].b : from[i].a]++] = from[i];
    }
}

static inline bool pair_is_asleep(const Proxy *p, const Proxy *q) { return p->is_resting && q->is_resting; }

static inline bool pair_is_reported(const Broadphase *b, BroadPair pair)
{
    const Proxy *p = &b->proxies[pair.a], *q = &b->proxies[pair.b];
    return !pair_is_asleep(p, q) && boxes_overlap(&p->box, &q->box);
}

// Pairs of proxies that did not move stay; all others were just found again.
static void piece_merge(Broadphase *b, PairPiece *piece)
{
    assert(piece->first <= piece->last && piece->last <= b->pair_count);
    assert(piece->fresh_first <= piece->fresh_last && piece->fresh_last <= b->fresh_count);
    int start = piece->start, at = piece->fresh_first;
    const Proxy *proxies = b->proxies;
    const BroadPair *pairs = b->pairs, *fresh = b->fresh;
    BroadPair *merged = b->merged + start, *reported = b->reported + piece->reported_start;
    int merged_count = 0, reported_count = 0, fresh_last = piece->fresh_last;
    for (int i = piece->first; i < piece->last; i++) {
        BroadPair pair = pairs[i];
        const Proxy *p = &proxies[pair.a], *q = &proxies[pair.b];
        if (p->was_moved | q->was_moved | (p->is_resting & q->is_resting))
            continue;
        for (; at < fresh_last && pair_before(fresh[at], pair); at++) {
            merged[merged_count++] = reported[reported_count] = fresh[at];
            reported_count += pair_is_reported(b, fresh[at]);
        }
        merged[merged_count++] = reported[reported_count] = pair;
        reported_count += boxes_overlap(&p->box, &q->box);
    }
    for (; at < fresh_last; at++) {
        merged[merged_count++] = reported[reported_count] = fresh[at];
        reported_count += pair_is_reported(b, fresh[at]);
    }
    piece->merged_count = merged_count;
    piece->reported_count = reported_count;
}

static void merge_pieces(int begin, int end, int worker, void *context)
{
    Broadphase *b = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        piece_merge(b, &b->pieces[i]);
}

static int fresh_before(const Broadphase *b, BroadPair pair)
{
    assert_debug(b->fresh || b->fresh_count == 0);
    int low = 0, high = b->fresh_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (pair_before(b->fresh[middle], pair))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Cuts the kept pairs, with the fresh ones that belong between them.
static int pieces_cut(Broadphase *b)
{
    const int size = pool_thread_count(b->pool) > 1 ? PIECE : PIECE_ALONE;
    int count = int_max((b->pair_count + size - 1) / size, 1);
    memory_grow(&b->pieces, &b->piece_capacity, count, sizeof *b->pieces);
    for (int i = 0; i < count; i++) {
        int first = i * size, last = int_min(first + size, b->pair_count);
        b->pieces[i] = (PairPiece){ .first = first,
                                    .last = last,
                                    .fresh_first = i == 0 ? 0 : b->pieces[i - 1].fresh_last,
                                    .fresh_last = i == count - 1 ? b->fresh_count : fresh_before(b, b->pairs[last]) };
    }
    return count;
}

static void merged_reserve(Broadphase *b, int merged, int reported)
{
    assert_debug(merged >= 0 && reported >= 0);
    memory_grow(&b->merged, &b->merged_capacity, merged + 1, sizeof *b->merged);
    memory_grow(&b->reported, &b->reported_capacity, reported + 1, sizeof *b->reported);
}

// Returns how many are reported. Over threads a piece writes where it would stand if all before it stayed; one thread
// knows where the last one ended, and needs half the room where most pairs were found again.
static int pieces_merge(Broadphase *b, int count, int *merged_count)
{
    assert_debug(count > 0 && merged_count);
    int reported_count = 0;
    bool is_alone = pool_thread_count(b->pool) <= 1;
    *merged_count = 0;
    for (int i = 0; i < count; i++)
        b->pieces[i].start = b->pieces[i].reported_start = b->pieces[i].first + b->pieces[i].fresh_first;
    if (!is_alone) {
        int room = b->pair_count + b->fresh_count;
        merged_reserve(b, room, room);
        pool_for(b->pool, count, 1, merge_pieces, b);
    }
    for (int i = 0; i < count; i++) {
        PairPiece *piece = &b->pieces[i];
        if (is_alone) {
            int room = piece->last - piece->first + piece->fresh_last - piece->fresh_first;
            piece->start = *merged_count;
            piece->reported_start = reported_count;
            merged_reserve(b, piece->start + room, piece->reported_start + room);
            piece_merge(b, piece);
        }
        memmove(b->merged + *merged_count, b->merged + piece->start, (size_t)piece->merged_count * sizeof *b->merged);
        memmove(b->reported + reported_count, b->reported + piece->reported_start,
                (size_t)piece->reported_count * sizeof *b->reported);
        *merged_count += piece->merged_count;
        reported_count += piece->reported_count;
    }
    return reported_count;
}

// The ground is looked for first: whatever is left out, it is not.
static void search(Broadphase *b)
{
    search_large(b);
    search_tree(b);
    if (!found_too_many(b))
        return;
    forget_found(b);
    stamp_moved(b);
    search_large(b);
    search_pairs(b, &b->lists[0], (NodePair){ b->root, b->root });
    b->lists[0].is_full = false;
}

// Finds the pairs of what moved and leaves all that are reported in `reported`.
static int pairs_update(Broadphase *b)
{
    b->has_rested = false;
    if (broad_tree_wants_rebuild(b, b->insert_count))
        broad_tree_rebuild(b);
    search(b);
    fresh_collect(b);
    if (b->fresh_count > 1)
        fresh_sort(b);
    int merged_count = 0, reported_count = pieces_merge(b, pieces_cut(b), &merged_count);
    BroadPair *swap = b->pairs;
    int capacity = b->pair_capacity;
    b->pairs = b->merged;
    b->pair_capacity = b->merged_capacity;
    b->merged = swap;
    b->merged_capacity = capacity;
    b->pair_count = merged_count;
    for (int i = 0; i < b->moved_count; i++)
        b->proxies[b->moved[i]].was_moved = false;
    b->moved_count = 0;
    return reported_count;
}

static void report_pieces(int begin, int end, int worker, void *context)
{
    Broadphase *b = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        PairPiece *piece = &b->pieces[i];
        int n = piece->first;
        for (int k = piece->first; k < piece->last; k++) {
            b->reported[n] = b->pairs[k];
            n += pair_is_reported(b, b->pairs[k]);
        }
        piece->reported_count = n - piece->first;
    }
}

// When nothing left its fat box the pairs are what they were; which of the true boxes overlap may have changed.
static int pairs_report(Broadphase *b)
{
    int count = 0;
    b->fresh_count = 0;
    int pieces = pieces_cut(b);
    memory_grow(&b->reported, &b->reported_capacity, b->pair_count + 1, sizeof *b->reported);
    pool_for(b->pool, pieces, 1, report_pieces, b);
    for (int i = 0; i < pieces; i++) {
        memmove(b->reported + count, b->reported + b->pieces[i].first,
                (size_t)b->pieces[i].reported_count * sizeof *b->reported);
        count += b->pieces[i].reported_count;
    }
    return count;
}

const BroadPair *broadphase_pairs(Broadphase *b, int *count)
{
    assert_debug(count);
    if (b->moved_count > 0 || b->has_rested)
        *count = pairs_update(b);
    else
        *count = b->awake_count > 0 ? pairs_report(b) : 0;
    return b->reported;
}
