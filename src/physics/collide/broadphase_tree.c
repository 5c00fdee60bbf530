// The tree of fat boxes: leaves are put in where the boxes grow least, and all are parted anew when many have
// travelled.
#include "physics/collide/broadphase_internal.h"
#include "physics/collide/tuning.h"

#include "base/memory.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define SUBTREE_TASKS 16  // into which making it anew is cut for several threads
#define SUBTREE_LEVELS 4  // 2^4 of them

static inline F4 f4_min(F4 a, F4 b)
{
#ifdef __SSE2__
    return (F4)_mm_min_ps((__m128)a, (__m128)b);
#else
    I4 less = a < b;
    return (F4)(((I4)a & less) | ((I4)b & ~less));
#endif
}

static inline F4 f4_max(F4 a, F4 b)
{
#ifdef __SSE2__
    return (F4)_mm_max_ps((__m128)a, (__m128)b);
#else
    I4 greater = a > b;
    return (F4)(((I4)a & greater) | ((I4)b & ~greater));
#endif
}

static inline FatBox join(const FatBox *a, const FatBox *b)
{
    return (FatBox){ f4_min(a->low, b->low), f4_max(a->high, b->high) };
}

static inline float surface(const FatBox *box)
{
    float x = box->high[0] - box->low[0], y = box->high[1] - box->low[1], z = box->high[2] - box->low[2];
    return x * y + y * z + z * x;
}

// A node is a line of the cache, and stands on one.
static_assert(sizeof(TreeNode) == 64, "as long as a line");
static void nodes_resize(Broadphase *b, int capacity)
{
    assert(capacity >= b->node_count);
    TreeNode *nodes = memory_alloc_lines(memory_product((size_t)capacity, sizeof *nodes));
    memory_copy(nodes, b->nodes, (size_t)b->node_count * sizeof *nodes);
    free(b->nodes);
    b->nodes = nodes;
    b->node_capacity = capacity;
}

void broad_tree_fit(Broadphase *b)
{
    if (b->node_count > 0 && b->node_count < b->node_capacity)
        nodes_resize(b, b->node_count);
}

static int node_take(Broadphase *b)
{
    if (b->free_node < 0) {
        if (b->node_count == b->node_capacity)
            nodes_resize(b, b->node_capacity + b->node_capacity / 8 + 8);
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
    node->category = x->category | y->category;
    node->mask = x->mask | y->mask;
}

static bool nodes_hold_same(const TreeNode *x, const TreeNode *y)
{
    return fat_contains(&x->box, &y->box) && fat_contains(&y->box, &x->box) && x->height == y->height
           && x->category == y->category && x->mask == y->mask;
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

// As far as something changes: what stands above a node that holds what it held has nothing to do.
static void refit_upwards(Broadphase *b, int index)
{
    for (bool goes_on = true; goes_on && index >= 0; index = b->nodes[index].parent) {
        const TreeNode before = b->nodes[index];
        node_rotate(b->nodes, index);
        node_refit(b->nodes, index);
        goes_on = !nodes_hold_same(&before, &b->nodes[index]);
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

static TreeNode leaf_of(const Broadphase *b, int proxy, const FatBox *fat, int parent)
{
    assert_debug(proxy >= 0 && proxy < b->proxy_count && parent < b->node_count);
    const Proxy *p = &b->proxies[proxy];
    return (
        TreeNode){ .box = *fat, .parent = parent, .child = { -1, proxy }, .category = p->category, .mask = p->mask };
}

void broad_tree_insert(Broadphase *b, int proxy, const FatBox *fat)
{
    assert(proxy >= 0 && proxy < b->proxy_count);
    b->insert_count++;
    int leaf = node_take(b);
    b->nodes[leaf] = leaf_of(b, proxy, fat, -1);
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

void broad_tree_remove(Broadphase *b, int proxy)
{
    assert(proxy >= 0 && proxy < b->proxy_count && b->proxies[proxy].node >= 0);
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

// A leaf whose box has grown out of its parent's or left it: as long as it stays in the neighbourhood it keeps its
// place and the boxes above grow. False: it is too far from there and wants another place.
bool broad_tree_follow(Broadphase *b, int leaf)
{
    assert(leaf >= 0 && leaf < b->node_count && is_leaf(&b->nodes[leaf]));
    const int parent = b->nodes[leaf].parent;
    if (parent < 0)
        return true;
    const FatBox all = join(&b->nodes[parent].box, &b->nodes[leaf].box);
    if (!(surface(&all) <= FOLLOW_GROWTH * surface(&b->nodes[parent].box)))
        return false;
    b->insert_count++;
    refit_upwards(b, parent);
    return true;
}

// ---- making it anew ----

static inline F4 leaf_centre(const Leaf *leaf)  // twice it
{
    const I4 three = { -1, -1, -1, 0 };
    return (F4)((I4)leaf->box.low & three) + leaf->box.high;
}

// Parts leaves at the middle of the longest side of their centres; in halves by number when that leaves one side nearly
// empty.
static int leaves_part(Leaf *list, int count)
{
    assert_debug(count > 1);
    F4 low = leaf_centre(&list[0]), high = low;
    for (int i = 1; i < count; i++) {
        F4 at = leaf_centre(&list[i]);
        low = f4_min(at, low);
        high = f4_max(at, high);
    }
    int axis = 0, first = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis])
            axis = k;
    float middle = 0.5f * (low[axis] + high[axis]);
    for (int i = 0; i < count; i++) {
        Leaf leaf = list[i];
        list[i] = list[first];
        list[first] = leaf;
        first += leaf.box.low[axis] + leaf.box.high[axis] < middle;
    }
    return first < count / 8 || count - first < count / 8 || first == 0 || first == count ? count / 2 : first;
}

// A subtree of n leaves stands in 2n - 1 nodes from `index` on, so where each goes is known before it is made.
static void subtree_build(Broadphase *b, Leaf *list, int count, int index, int parent)
{
    assert_debug(count > 0 && index >= 0 && index + 2 * count - 1 <= b->node_count);
    if (count == 1) {
        int proxy = list[0].proxy;
        b->nodes[index] = leaf_of(b, proxy, &list[0].box, parent);
        b->proxies[proxy].node = index;
        return;
    }
    int first = leaves_part(list, count), left = index + 1, right = index + 2 * first;
    b->nodes[index] = (TreeNode){ .parent = parent, .child = { left, right } };
    subtree_build(b, list, first, left, index);
    subtree_build(b, list + first, count - first, right, index);
    node_refit(b->nodes, index);
}

typedef struct Subtree {
    int first, count, index, parent;
} Subtree;  // count 0: none

typedef struct SubtreeWork {
    Broadphase *b;
    Subtree levels[SUBTREE_LEVELS + 1][SUBTREE_TASKS];
    int level;
} SubtreeWork;

// Parts subtree i of a level into 2i and 2i + 1 of the next.
static void subtrees_part(int begin, int end, int worker, void *context)
{
    SubtreeWork *work = context;
    Broadphase *b = work->b;
    (void)worker;
    for (int i = begin; i < end; i++) {
        Subtree s = work->levels[work->level][i], *below = &work->levels[work->level + 1][2 * i];
        below[0] = below[1] = (Subtree){ 0 };
        if (s.count <= 1) {
            below[0] = s;
            continue;
        }
        int first = leaves_part(b->leaves + s.first, s.count);
        below[0] = (Subtree){ s.first, first, s.index + 1, s.index };
        below[1] = (Subtree){ s.first + first, s.count - first, s.index + 2 * first, s.index };
        b->nodes[s.index] = (TreeNode){ .parent = s.parent, .child = { below[0].index, below[1].index } };
    }
}

static void subtrees_build(int begin, int end, int worker, void *context)
{
    SubtreeWork *work = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        const Subtree *s = &work->levels[SUBTREE_LEVELS][i];
        if (s->count > 0)
            subtree_build(work->b, work->b->leaves + s->first, s->count, s->index, s->parent);
    }
}

static void subtrees_share(Broadphase *b, int count)
{
    SubtreeWork work = { .b = b };
    work.levels[0][0] = (Subtree){ 0, count, 0, -1 };
    for (; work.level < SUBTREE_LEVELS; work.level++)
        pool_for(b->pool, 1 << work.level, 1, subtrees_part, &work);
    pool_for(b->pool, SUBTREE_TASKS, 1, subtrees_build, &work);
    for (int level = SUBTREE_LEVELS - 1; level >= 0; level--)
        for (int i = 0; i < 1 << level; i++)
            if (work.levels[level][i].count > 1)
                node_refit(b->nodes, work.levels[level][i].index);
}

// Boxes that are put in one by one end up where they fit at that time. After some travelling the tree's boxes overlap
// each other far more than they need to: finding pairs then costs much more than making the tree anew.
void broad_tree_rebuild(Broadphase *b)
{
    b->insert_count = 0;
    int count = 0;
    memory_grow(&b->leaves, &b->leaf_capacity, b->proxy_count + 1, sizeof *b->leaves);
    for (int i = 0; i < b->proxy_count; i++) {
        const Proxy *p = &b->proxies[i];
        if (!p->is_used || p->node < 0)
            continue;
        Leaf *leaf = &b->leaves[count++];
        leaf->box = b->nodes[p->node].box;
        leaf->proxy = i;
    }
    b->free_node = b->root = -1;
    b->node_count = count > 0 ? 2 * count - 1 : 0;
    if (count == 0)
        return;
    b->root = 0;
    if (pool_thread_count(b->pool) > 1 && count > 16 * SUBTREE_TASKS)
        subtrees_share(b, count);
    else
        subtree_build(b, b->leaves, count, 0, -1);
}

bool broad_tree_wants_rebuild(const Broadphase *b, int insert_count)
{
    return insert_count > b->node_count / (2 * REBUILD_SHARE) + 64;
}

// ---- rays ----

typedef struct Ray {
    const double *origin;
    double inverse[3], length;
    bool is_backward[3];  // it meets the high side of a box first
    BroadRayHit hit;
    void *context;
} Ray;

// Where the ray enters a box, INFINITY: it does not within its length. A ray that runs in the very plane of a side
// gives 0 * infinity there, which compares as false and leaves the interval as it is.
static inline double ray_entry(const Ray *ray, const double low[3], const double high[3])
{
    double near = 0.0, far = ray->length;
    for (int i = 0; i < 3; i++) {
        double x = ((ray->is_backward[i] ? high[i] : low[i]) - ray->origin[i]) * ray->inverse[i];
        double y = ((ray->is_backward[i] ? low[i] : high[i]) - ray->origin[i]) * ray->inverse[i];
        near = x > near ? x : near;
        far = y < far ? y : far;
    }
    return near <= far ? near : (double)INFINITY;
}

static inline double ray_node_entry(const Broadphase *b, const Ray *ray, int index)
{
    assert_debug(index >= 0 && index < b->node_count);
    const FatBox *box = &b->nodes[index].box;
    const double low[3] = { (double)box->low[0], (double)box->low[1], (double)box->low[2] },
                 high[3] = { (double)box->high[0], (double)box->high[1], (double)box->high[2] };
    return ray_entry(ray, low, high);
}

typedef struct RayStop {
    int32_t node;
    double entry;  // m along the ray
} RayStop;

// The child that is entered first comes first, so that a hit in it cuts the other off: what is entered behind the best
// hit is not looked at any more.
static void ray_tree(const Broadphase *b, Ray *ray, int from, double entry)
{
    RayStop stack[BROAD_STACK_MAX];
    int top = 0;
    stack[top++] = (RayStop){ from, entry };
    while (top > 0 && ray->length >= 0.0) {
        RayStop at = stack[--top];
        if (!(at.entry <= ray->length))
            continue;
        const TreeNode *node = &b->nodes[at.node];
        if (is_leaf(node)) {
            ray->length = ray->hit(ray->context, node->child[1], ray->length);
            continue;
        }
        RayStop below[2] = { { node->child[0], ray_node_entry(b, ray, node->child[0]) },
                             { node->child[1], ray_node_entry(b, ray, node->child[1]) } };
        int first = below[1].entry < below[0].entry;
        for (int k = 0; k < 2; k++) {
            const RayStop *next = &below[k == 0 ? 1 - first : first];
            if (!isfinite(next->entry))
                continue;
            if (top < BROAD_STACK_MAX)
                stack[top++] = *next;
            else
                ray_tree(b, ray, next->node, next->entry);
        }
    }
}

void broadphase_ray(const Broadphase *b, const double origin[3], const double direction[3], double length,
                    BroadRayHit hit, void *context)
{
    assert_debug(hit);
    Ray ray = { .origin = origin, .length = length, .hit = hit, .context = context };
    for (int i = 0; i < 3; i++) {
        ray.inverse[i] = 1.0 / direction[i];
        ray.is_backward[i] = signbit(direction[i]) != 0;
    }
    for (int i = 0; i < b->large_count && ray.length >= 0.0; i++) {
        const BroadBox *box = &b->proxies[b->large[i]].box;
        if (isfinite(ray_entry(&ray, box->low, box->high)))
            ray.length = hit(context, b->large[i], ray.length);
    }
    if (b->root >= 0 && ray.length >= 0.0)
        ray_tree(b, &ray, b->root, ray_node_entry(b, &ray, b->root));
}
