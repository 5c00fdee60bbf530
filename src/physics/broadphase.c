// A dynamic tree of fat boxes. A proxy is put into the tree again only when it leaves its fat box, so what rests costs
// nothing; the pairs of fat boxes that overlap are kept from step to step, sorted, and only those of proxies that were
// put in again are searched anew. Reported are those whose true boxes overlap. Boxes without bounds (planes) or too large
// for the tree stand in a list of their own.
//
// The tree's boxes are floats, wider than what they hold by more than the rounding.
#include "physics/broadphase.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 1e6         // m: boxes longer than this or farther out stay out of the tree
#define SEARCH_TASKS 256  // into which the search is cut for several threads
#define REBUILD 8         // the tree is made anew when one leaf of so many was put in again
#define PIECE 1024        // kept pairs that a worker looks through at a time
#define STACK_MAX 128     // deeper than trees usually are; beyond it the walk calls itself

typedef struct FatBox { float low[3], high[3]; } FatBox;

typedef struct TreeNode {
    FatBox box;
    int32_t parent;
    int32_t child[2];     // child[0] < 0: a leaf of proxy child[1]
    int32_t height;
    uint32_t stamp;       // that of the search when a moved proxy stands below
} TreeNode;

typedef struct Proxy {
    BroadBox box;
    FatBox fat;
    uint32_t category, mask;
    int32_t group, node;  // node -1: in the list of large ones
    bool is_used, is_resting, was_moved;
} Proxy;

// What one worker found.
typedef struct PairList {
    BroadPair *pairs;
    int count, capacity;
} PairList;

// Two nodes whose leaves may meet; twice the same: the leaves below it.
typedef struct NodePair { int32_t a, b; } NodePair;

struct Broadphase {
    Pool *pool;
    uint32_t stamp;       // of the last search
    int insert_count;     // since the tree was made anew
    NodePair *tasks;
    int task_count, task_first, task_capacity;
    PairList *lists;      // one per worker of the pool
    int list_count;
    int *piece_counts;    // pairs that are reported of each piece of the kept ones
    int piece_capacity;
    Proxy *proxies;
    TreeNode *nodes;
    int32_t *moved, *large;
    BroadPair *pairs, *merged, *fresh, *sorted, *reported;
    int *buckets;
    int proxy_count, proxy_capacity, node_count, node_capacity, moved_count, moved_capacity;
    int large_count, large_capacity, pair_count, pair_capacity, merged_capacity, fresh_count, fresh_capacity, sorted_capacity;
    int reported_capacity, bucket_capacity;
    int awake_count;      // used proxies that do not rest
    bool has_rested;      // some came to rest since the last search
    int32_t root, free_node;
};

Broadphase *broadphase_create(void)
{
    Broadphase *b = memory_alloc(sizeof *b);
    b->root = b->free_node = -1;
    broadphase_use_pool(b, NULL);
    return b;
}

void broadphase_use_pool(Broadphase *b, Pool *pool)
{
    int known = b->list_count;
    b->pool = pool;
    memory_grow(&b->lists, &b->list_count, pool_thread_count(pool), sizeof *b->lists);
    for (int i = known; i < b->list_count; i++)
        b->lists[i] = (PairList){ 0 };
}

void broadphase_destroy(Broadphase *b)
{
    if (!b)
        return;
    void *owned[] = { b->proxies, b->nodes, b->moved, b->large, b->pairs, b->merged, b->fresh, b->sorted, b->reported, b->buckets, b->piece_counts,
                      b->tasks };
    for (int i = 0; i < COUNT_OF(owned); i++)
        free(owned[i]);
    for (int i = 0; i < b->list_count; i++)
        free(b->lists[i].pairs);
    free(b->lists);
    free(b);
}

// ---- the tree ----

static inline FatBox join(const FatBox *a, const FatBox *b)
{
    FatBox out;
    for (int i = 0; i < 3; i++) {
        out.low[i] = a->low[i] < b->low[i] ? a->low[i] : b->low[i];
        out.high[i] = a->high[i] > b->high[i] ? a->high[i] : b->high[i];
    }
    return out;
}

static inline float surface(const FatBox *box)
{
    float x = box->high[0] - box->low[0], y = box->high[1] - box->low[1], z = box->high[2] - box->low[2];
    return x * y + y * z + z * x;
}

// Without branches: which side parts two boxes is hard to foresee.
static inline bool fat_overlap(const FatBox *a, const FatBox *b)
{
    return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) & (b->low[1] <= a->high[1])
        & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

static inline bool fat_contains(const FatBox *outer, const FatBox *inner)
{
    return (outer->low[0] <= inner->low[0]) & (inner->high[0] <= outer->high[0]) & (outer->low[1] <= inner->low[1])
        & (inner->high[1] <= outer->high[1]) & (outer->low[2] <= inner->low[2]) & (inner->high[2] <= outer->high[2]);
}

static inline bool is_leaf(const TreeNode *node)
{
    return node->child[0] < 0;
}

static int node_take(Broadphase *b)
{
    if (b->free_node < 0) {
        memory_grow(&b->nodes, &b->node_capacity, b->node_count + 1, sizeof *b->nodes);
        return b->node_count++;
    }
    int node = b->free_node;
    b->free_node = b->nodes[node].parent;
    return node;
}

static void node_give(Broadphase *b, int node)
{
    b->nodes[node].parent = b->free_node;
    b->free_node = node;
}

static void node_refit(TreeNode *nodes, int index)
{
    TreeNode *node = &nodes[index];
    const TreeNode *x = &nodes[node->child[0]], *y = &nodes[node->child[1]];
    node->box = join(&x->box, &y->box);
    node->height = 1 + int_max(x->height, y->height);
}

// Swaps a child of `index` with a grandchild on the other side when that makes the other side's box smaller.
static void node_rotate(TreeNode *nodes, int index)
{
    TreeNode *node = &nodes[index];
    float best = 0.0f;
    int best_side = -1, best_grandchild = 0;
    for (int side = 0; side < 2; side++) {
        const TreeNode *kept = &nodes[node->child[side]], *split = &nodes[node->child[1 - side]];
        if (is_leaf(split))
            continue;
        for (int k = 0; k < 2; k++) {
            // `kept` goes down in place of grandchild k.
            FatBox box = join(&kept->box, &nodes[split->child[1 - k]].box);
            int height = int_max(kept->height, nodes[split->child[1 - k]].height);
            float gain = surface(&split->box) - surface(&box);
            bool balances = split->height > kept->height + 2 && nodes[split->child[k]].height > height;
            if (balances)
                gain += surface(&split->box);
            if (gain > best && (balances || height + 2 <= int_max(split->height, kept->height) + 2)) {
                best = gain;
                best_side = side;
                best_grandchild = k;
            }
        }
    }
    if (best_side < 0)
        return;
    int kept = node->child[best_side], split = node->child[1 - best_side], risen = nodes[split].child[best_grandchild];
    node->child[best_side] = risen;
    nodes[risen].parent = index;
    nodes[split].child[best_grandchild] = kept;
    nodes[kept].parent = split;
    node_refit(nodes, split);
}

static void refit_upwards(Broadphase *b, int index)
{
    for (; index >= 0; index = b->nodes[index].parent) {
        node_rotate(b->nodes, index);
        node_refit(b->nodes, index);
    }
}

// Goes down where the boxes grow least.
static int find_sibling(const Broadphase *b, const FatBox *box)
{
    int index = b->root;
    while (!is_leaf(&b->nodes[index])) {
        const TreeNode *node = &b->nodes[index];
        FatBox all = join(&node->box, box);
        float here = 2.0f * surface(&all), inherited = 2.0f * (surface(&all) - surface(&node->box));
        float cost[2];
        for (int k = 0; k < 2; k++) {
            const TreeNode *child = &b->nodes[node->child[k]];
            FatBox grown = join(&child->box, box);
            cost[k] = surface(&grown) + inherited - (is_leaf(child) ? 0.0f : surface(&child->box));
        }
        if (here < cost[0] && here < cost[1])
            break;
        index = node->child[cost[1] < cost[0]];
    }
    return index;
}

static void tree_insert(Broadphase *b, int proxy)
{
    b->insert_count++;
    int leaf = node_take(b);
    b->nodes[leaf] = (TreeNode){ .box = b->proxies[proxy].fat, .parent = -1, .child = { -1, proxy } };
    b->proxies[proxy].node = leaf;
    if (b->root < 0) {
        b->root = leaf;
        return;
    }
    int sibling = find_sibling(b, &b->nodes[leaf].box), parent = node_take(b), above = b->nodes[sibling].parent;
    b->nodes[parent] = (TreeNode){ .parent = above, .child = { sibling, leaf } };
    b->nodes[sibling].parent = b->nodes[leaf].parent = parent;
    if (above < 0)
        b->root = parent;
    else
        b->nodes[above].child[b->nodes[above].child[1] == sibling] = parent;
    node_refit(b->nodes, parent);
    refit_upwards(b, above);
}

static void tree_remove(Broadphase *b, int proxy)
{
    int leaf = b->proxies[proxy].node, parent = b->nodes[leaf].parent;
    node_give(b, leaf);
    b->proxies[proxy].node = -1;
    if (parent < 0) {
        b->root = -1;
        return;
    }
    int sibling = b->nodes[parent].child[b->nodes[parent].child[0] == leaf], above = b->nodes[parent].parent;
    b->nodes[sibling].parent = above;
    node_give(b, parent);
    if (above < 0)
        b->root = sibling;
    else
        b->nodes[above].child[b->nodes[above].child[1] == parent] = sibling;
    refit_upwards(b, above);
}

// ---- proxies ----

// ---- rebuilding ----

static inline float centre2(const FatBox *box, int axis)
{
    return box->low[axis] + box->high[axis];
}

// Parts proxies at the middle of their centres' longest side; in halves by number when that leaves one side nearly empty.
static int proxies_part(const Broadphase *b, int32_t *list, int count)
{
    float low[3] = { FLT_MAX, FLT_MAX, FLT_MAX }, high[3] = { -FLT_MAX, -FLT_MAX, -FLT_MAX };
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            float centre = centre2(&b->proxies[list[i]].fat, k);
            low[k] = centre < low[k] ? centre : low[k];
            high[k] = centre > high[k] ? centre : high[k];
        }
    int axis = 0, first = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis])
            axis = k;
    float middle = 0.5f * (low[axis] + high[axis]);
    for (int i = 0; i < count; i++)
        if (centre2(&b->proxies[list[i]].fat, axis) < middle) {
            int32_t swap = list[first];
            list[first++] = list[i];
            list[i] = swap;
        }
    return first < count / 8 || count - first < count / 8 || first == 0 || first == count ? count / 2 : first;
}

static int subtree_build(Broadphase *b, int32_t *list, int count, int parent)
{
    int index = b->node_count++;
    if (count == 1) {
        b->nodes[index] = (TreeNode){ .box = b->proxies[list[0]].fat, .parent = parent, .child = { -1, list[0] } };
        b->proxies[list[0]].node = index;
        return index;
    }
    int first = proxies_part(b, list, count);
    b->nodes[index] = (TreeNode){ .parent = parent };
    int left = subtree_build(b, list, first, index), right = subtree_build(b, list + first, count - first, index);
    b->nodes[index].child[0] = left;
    b->nodes[index].child[1] = right;
    node_refit(b->nodes, index);
    return index;
}

// Boxes that are put in one by one end up where they fit at that time. After some travelling the tree's boxes overlap each
// other far more than they need to: finding pairs then costs much more than making the tree anew.
static void tree_rebuild(Broadphase *b)
{
    b->insert_count = 0;
    int count = 0;
    memory_grow(&b->buckets, &b->bucket_capacity, b->proxy_count + 2, sizeof(int));
    for (int i = 0; i < b->proxy_count; i++)
        if (b->proxies[i].is_used && b->proxies[i].node >= 0)
            b->buckets[count++] = i;
    b->free_node = b->root = -1;
    b->node_count = 0;
    if (count > 0)
        b->root = subtree_build(b, b->buckets, count, -1);
}

static bool box_is_large(const BroadBox *box)
{
    for (int i = 0; i < 3; i++)
        if (!(box->high[i] - box->low[i] < LARGE) || !(fabs(box->low[i]) < LARGE) || !(fabs(box->high[i]) < LARGE))
            return true;
    return false;
}

static void large_remove(Broadphase *b, int proxy)
{
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
    FatBox fat;
    for (int i = 0; i < 3; i++)
        size = fmax(size, box->high[i] - box->low[i]);
    double margin = fmin(0.08 * size, 0.1) + 1e-4;
    for (int i = 0; i < 3; i++) {
        double reach = fmax(fabs(box->low[i]), fabs(box->high[i])) * 4e-7 + margin, ahead = double_clamp(5.0 * motion[i], -size, size);
        fat.low[i] = (float)(box->low[i] - reach + fmin(ahead, 0.0));
        fat.high[i] = (float)(box->high[i] + reach + fmax(ahead, 0.0));
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
    if (b->proxies[proxy].was_moved)
        return;
    b->proxies[proxy].was_moved = true;
    memory_grow(&b->moved, &b->moved_capacity, b->moved_count + 1, sizeof *b->moved);
    b->moved[b->moved_count++] = proxy;
}

static void proxy_place(Broadphase *b, int proxy, const double *motion)
{
    Proxy *p = &b->proxies[proxy];
    mark_moved(b, proxy);
    if (box_is_large(&p->box)) {
        memory_grow(&b->large, &b->large_capacity, b->large_count + 1, sizeof *b->large);
        b->large[b->large_count++] = proxy;
        p->node = -1;
        return;
    }
    p->fat = fatten(&p->box, motion);
    tree_insert(b, proxy);
}

static void proxy_lift(Broadphase *b, int proxy)
{
    if (b->proxies[proxy].node >= 0)
        tree_remove(b, proxy);
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
    b->proxies[proxy] = (Proxy){ .box = *box, .category = category, .mask = mask, .group = group, .node = -1, .is_used = true,
                                 .was_moved = was_moved };
    b->awake_count++;
    proxy_place(b, proxy, (double[3]){ 0.0 });
}

void broadphase_remove(Broadphase *b, int proxy)
{
    if (proxy >= b->proxy_count || !b->proxies[proxy].is_used)
        return;
    proxy_lift(b, proxy);
    b->awake_count -= !b->proxies[proxy].is_resting;
    b->proxies[proxy].is_used = false;
    mark_moved(b, proxy);  // its pairs go
}

// A box that stays within its parent's box keeps its place in the tree.
static bool leaf_follows(Broadphase *b, int proxy, const BroadBox *box, const double *motion)
{
    Proxy *p = &b->proxies[proxy];
    FatBox fat = fatten(box, motion);
    int parent = b->nodes[p->node].parent;
    if (parent < 0 || !fat_contains(&b->nodes[parent].box, &fat))
        return false;
    p->box = *box;
    p->fat = b->nodes[p->node].box = fat;
    mark_moved(b, proxy);
    b->insert_count++;
    return true;
}

void broadphase_move(Broadphase *b, int proxy, const BroadBox *box)
{
    Proxy *p = &b->proxies[proxy];
    if (!p->is_used) {
        p->box = *box;
        return;
    }
    bool large = box_is_large(box);
    if (p->node < 0 ? !large : large || !fat_holds(&p->fat, box)) {
        double motion[3];
        for (int i = 0; i < 3; i++) {
            motion[i] = 0.5 * (box->low[i] - p->box.low[i] + box->high[i] - p->box.high[i]);
            motion[i] = isfinite(motion[i]) ? motion[i] : 0.0;
        }
        if (p->node >= 0 && !large && leaf_follows(b, proxy, box, motion))
            return;
        proxy_lift(b, proxy);
        p->box = *box;
        proxy_place(b, proxy, motion);
        return;
    }
    p->box = *box;
}

void broadphase_set_resting(Broadphase *b, int proxy, bool is_resting)
{
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

// ---- pairs ----

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
    const Proxy *p = &b->proxies[proxy], *q = &b->proxies[other];
    if ((p->is_resting && q->is_resting) || !proxies_may_meet(p, q))
        return;
    if (found->count == found->capacity)
        memory_grow(&found->pairs, &found->capacity, found->count + 1, sizeof *found->pairs);
    found->pairs[found->count++] = proxy < other ? (BroadPair){ proxy, other } : (BroadPair){ other, proxy };
}

static void stamp_moved(Broadphase *b)
{
    b->stamp++;
    for (int i = 0; i < b->moved_count; i++) {
        const Proxy *p = &b->proxies[b->moved[i]];
        for (int node = p->is_used ? p->node : -1; node >= 0 && b->nodes[node].stamp != b->stamp; node = b->nodes[node].parent)
            b->nodes[node].stamp = b->stamp;
    }
}

// Puts two nodes on the list when one of them holds a moved proxy and their boxes overlap.
static inline int pair_push(const Broadphase *b, NodePair *list, int count, int x, int y)
{
    const TreeNode *p = &b->nodes[x], *q = &b->nodes[y];
    list[count] = (NodePair){ x, y };
    return count + (((p->stamp == b->stamp) | (q->stamp == b->stamp)) & (fat_overlap(&p->box, &q->box)));
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
    NodePair stack[STACK_MAX];
    int top = 1;
    stack[0] = from;
    while (top > 0) {
        NodePair pair = stack[--top];
        if (top + 3 > STACK_MAX)
            search_pairs(b, found, pair);
        else
            top = pair_split(b, found, pair, stack, top);
    }
}

static void search_range(int begin, int end, int worker, void *context)
{
    const Broadphase *b = context;
    for (int i = begin; i < end; i++)
        search_pairs(b, &b->lists[worker], b->tasks[b->task_first + i]);
}

// Tree against itself, cut into tasks when there are threads to share them.
static void search_tree(Broadphase *b)
{
    if (b->root < 0)
        return;
    int wanted = pool_thread_count(b->pool) > 1 ? SEARCH_TASKS : 1;
    memory_grow(&b->tasks, &b->task_capacity, 4 * SEARCH_TASKS, sizeof *b->tasks);
    b->tasks[0] = (NodePair){ b->root, b->root };
    b->task_first = 0;
    b->task_count = 1;
    while (b->task_first < b->task_count && b->task_count - b->task_first < wanted && b->task_count + 3 <= b->task_capacity)
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
            if (b->proxies[k].is_used && k != proxy && !(b->proxies[k].node < 0 && b->proxies[k].was_moved && k < proxy))
                found_add(b, &b->lists[0], proxy, k);
    }
}

// A pair is found once, by whichever worker; sorting makes the order one.
static void fresh_collect(Broadphase *b)
{
    b->fresh_count = 0;
    for (int i = 0; i < b->list_count; i++)
        b->fresh_count += b->lists[i].count;
    memory_grow(&b->fresh, &b->fresh_capacity, b->fresh_count + 1, sizeof *b->fresh);
    for (int i = 0, at = 0; i < b->list_count; i++) {
        PairList *list = &b->lists[i];
        if (list->count > 0)
            memcpy(b->fresh + at, list->pairs, (size_t)list->count * sizeof *list->pairs);
        at += list->count;
        list->count = 0;
    }
}

static inline bool pair_before(BroadPair x, BroadPair y)
{
    return x.a != y.a ? x.a < y.a : x.b < y.b;
}

static int pair_order(const void *x, const void *y)
{
    const BroadPair *p = x, *q = y;
    return pair_before(*p, *q) ? -1 : pair_before(*q, *p);
}

// Two passes of a stable counting sort: by b, then by a. A few among many proxies are sorted by comparing.
static void fresh_sort(Broadphase *b)
{
    int count = b->fresh_count;
    if (count < b->proxy_count / 16) {
        qsort(b->fresh, (size_t)count, sizeof *b->fresh, pair_order);
        return;
    }
    memory_grow(&b->sorted, &b->sorted_capacity, b->fresh_capacity, sizeof(BroadPair));
    memory_grow(&b->buckets, &b->bucket_capacity, b->proxy_count + 2, sizeof(int));
    for (int pass = 0; pass < 2; pass++) {
        const BroadPair *from = pass == 0 ? b->fresh : b->sorted;
        BroadPair *to = pass == 0 ? b->sorted : b->fresh;
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

// Pairs of proxies that did not move stay; all others were just found again.
static void pairs_merge(Broadphase *b)
{
    memory_grow(&b->merged, &b->merged_capacity, b->pair_count + b->fresh_count + 1, sizeof *b->merged);
    int at = 0, count = 0;
    for (int i = 0; i < b->pair_count; i++) {
        BroadPair pair = b->pairs[i];
        const Proxy *p = &b->proxies[pair.a], *q = &b->proxies[pair.b];
        if (p->was_moved || q->was_moved || (p->is_resting && q->is_resting))
            continue;
        while (at < b->fresh_count && pair_before(b->fresh[at], pair))
            b->merged[count++] = b->fresh[at++];
        b->merged[count++] = pair;
    }
    while (at < b->fresh_count)
        b->merged[count++] = b->fresh[at++];
    BroadPair *swap = b->pairs;
    int capacity = b->pair_capacity;
    b->pairs = b->merged;
    b->pair_capacity = b->merged_capacity;
    b->merged = swap;
    b->merged_capacity = capacity;
    b->pair_count = count;
}

static void pairs_update(Broadphase *b)
{
    if (b->moved_count == 0 && !b->has_rested)
        return;
    b->has_rested = false;
    if (b->insert_count > b->node_count / (2 * REBUILD) + 64)
        tree_rebuild(b);
    stamp_moved(b);
    search_tree(b);
    search_large(b);
    fresh_collect(b);
    if (b->fresh_count > 1)
        fresh_sort(b);
    pairs_merge(b);
    for (int i = 0; i < b->moved_count; i++)
        b->proxies[b->moved[i]].was_moved = false;
    b->moved_count = 0;
}

static void report_pieces(int begin, int end, int worker, void *context)
{
    Broadphase *b = context;
    (void)worker;
    for (int piece = begin; piece < end; piece++) {
        int first = piece * PIECE, last = int_min(first + PIECE, b->pair_count), n = first;
        for (int i = first; i < last; i++) {
            const Proxy *p = &b->proxies[b->pairs[i].a], *q = &b->proxies[b->pairs[i].b];
            b->reported[n] = b->pairs[i];
            n += !(p->is_resting && q->is_resting) && boxes_overlap(&p->box, &q->box);
        }
        b->piece_counts[piece] = n - first;
    }
}

const BroadPair *broadphase_pairs(Broadphase *b, int *count)
{
    pairs_update(b);
    *count = 0;
    if (b->awake_count == 0)
        return b->reported;
    int pieces = (b->pair_count + PIECE - 1) / PIECE;
    memory_grow(&b->reported, &b->reported_capacity, b->pair_count + 1, sizeof *b->reported);
    memory_grow(&b->piece_counts, &b->piece_capacity, pieces + 1, sizeof *b->piece_counts);
    pool_for(b->pool, pieces, 1, report_pieces, b);
    for (int i = 0; i < pieces; i++) {
        memmove(b->reported + *count, b->reported + i * PIECE, (size_t)b->piece_counts[i] * sizeof *b->reported);
        *count += b->piece_counts[i];
    }
    return b->reported;
}

// ---- rays ----

static bool ray_meets(const double low[3], const double high[3], const double origin[3], const double inverse[3], double length)
{
    double near = 0.0, far = length;
    for (int i = 0; i < 3; i++) {
        double x = (low[i] - origin[i]) * inverse[i], y = (high[i] - origin[i]) * inverse[i];
        // A ray along a face gives 0 * infinity: fmin and fmax then leave the interval as it is.
        near = fmax(near, fmin(x, y));
        far = fmin(far, fmax(x, y));
    }
    return near <= far;
}

typedef struct Ray {
    const double *origin, *direction;
    double inverse[3], length;
    BroadRayHit hit;
    void *context;
} Ray;

static void ray_tree(const Broadphase *b, Ray *ray, int from)
{
    int stack[STACK_MAX], top = 0;
    stack[top++] = from;
    while (top > 0 && ray->length >= 0.0) {
        const TreeNode *node = &b->nodes[stack[--top]];
        double low[3], high[3];
        for (int i = 0; i < 3; i++) {
            low[i] = (double)node->box.low[i];
            high[i] = (double)node->box.high[i];
        }
        if (!ray_meets(low, high, ray->origin, ray->inverse, ray->length))
            continue;
        if (is_leaf(node)) {
            ray->length = ray->hit(ray->context, node->child[1], ray->length);
            continue;
        }
        // The nearer child first, so that a hit there cuts the other off.
        double along[2];
        for (int k = 0; k < 2; k++) {
            const FatBox *box = &b->nodes[node->child[k]].box;
            along[k] = 0.0;
            for (int i = 0; i < 3; i++)
                along[k] += ray->direction[i] * (double)(box->low[i] + box->high[i]);
        }
        int first = along[1] < along[0];
        if (top + 2 > STACK_MAX) {
            ray_tree(b, ray, node->child[first]);
            ray_tree(b, ray, node->child[1 - first]);
        } else {
            stack[top++] = node->child[1 - first];
            stack[top++] = node->child[first];
        }
    }
}

void broadphase_ray(const Broadphase *b, const double origin[3], const double direction[3], double length, BroadRayHit hit, void *context)
{
    Ray ray = { .origin = origin, .direction = direction, .length = length, .hit = hit, .context = context };
    for (int i = 0; i < 3; i++)
        ray.inverse[i] = 1.0 / direction[i];
    for (int i = 0; i < b->large_count && ray.length >= 0.0; i++) {
        const BroadBox *box = &b->proxies[b->large[i]].box;
        if (ray_meets(box->low, box->high, origin, ray.inverse, ray.length))
            ray.length = hit(context, b->large[i], ray.length);
    }
    if (b->root >= 0)
        ray_tree(b, &ray, b->root);
}
