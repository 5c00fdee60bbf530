// broadphase_internal.h - the tree and the pairs of broadphase.h, for its own files.
// broadphase.c keeps the proxies, broadphase_tree.c puts them into the tree and follows rays through it,
// broadphase_pairs.c finds, keeps and reports pairs.
#ifndef TALUS_PHYSICS_BROADPHASE_INTERNAL_H
#define TALUS_PHYSICS_BROADPHASE_INTERNAL_H

#include "physics/collide/broadphase.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BROAD_STACK_MAX 128  // deeper than trees usually are; beyond it a walk calls itself

// The fourth number of each is not looked at.
typedef float F4 __attribute__((vector_size(16)));
typedef int32_t I4 __attribute__((vector_size(16)));
typedef struct FatBox {
    F4 low, high;
} FatBox;

typedef struct TreeNode {
    FatBox box;
    int32_t parent;
    int32_t child[2];  // child[0] < 0: a leaf of proxy child[1]
    int32_t height;
    uint32_t stamp;           // that of the search when a moved proxy stands below
    uint32_t category, mask;  // of all proxies below: a thousand static ones in one place meet nobody among themselves
} TreeNode;

// Its fat box is that of its leaf.
typedef struct Proxy {
    BroadBox box;
    uint32_t category, mask;
    int32_t group, node;  // node -1: in the list of large ones
    bool is_used, is_resting, was_moved;
} Proxy;

// A leaf while the tree is made anew.
typedef union Leaf {
    FatBox box;  // fat
    struct {
        float low[3];
        int32_t proxy;  // where no number of the box is
    };
} Leaf;

// What a new box means for a proxy's place in the tree.
typedef enum BroadMove {
    BROAD_STAYS,    // within its fat box
    BROAD_FOLLOWS,  // a new fat box at the same place, within its parent's
    BROAD_LEAVES,   // a new fat box that has to be put in again
    BROAD_CROSSES,  // from the tree to the large ones or back
} BroadMove;

typedef struct Stray {
    int32_t proxy;
    BroadMove move;
} Stray;

// A stretch of the kept pairs, and of the fresh ones that belong between them, that one worker merges.
typedef struct PairPiece {
    int first, last, fresh_first, fresh_last;
    int start, reported_start;  // where its pairs go
    int merged_count, reported_count;
} PairPiece;

// What one worker found.
typedef struct PairList {
    BroadPair *pairs;
    int count, capacity;
    bool is_full;  // there were more than Broadphase.max_pairs
} PairList;

// Two nodes whose leaves may meet; twice the same: the leaves below it.
typedef struct NodePair {
    int32_t a, b;
} NodePair;

struct Broadphase {
    Pool *pool;
    uint32_t stamp;     // of the last search
    int insert_count;   // since the tree was made anew
    Leaf *leaves;       // all, while the tree is made anew
    Stray *strays;      // what left its fat box in broadphase_move_all
    int *stray_counts;  // of each piece of its list
    int leaf_capacity, stray_capacity, stray_count_capacity;
    NodePair *tasks;
    int task_count, task_first, task_capacity;
    PairList *lists;  // one per worker of the pool
    int max_pairs;
    int list_count, list_capacity;
    PairPiece *pieces;
    int piece_capacity;
    Proxy *proxies;
    TreeNode *nodes;
    int32_t *moved, *large;
    BroadPair *pairs, *merged, *gathered, *reported;
    BroadPair *fresh;  // of the only list, or gathered from all
    int *buckets;
    int proxy_count, proxy_capacity, node_count, node_capacity, moved_count, moved_capacity;
    int large_count, large_capacity, pair_count, pair_capacity, merged_capacity, fresh_count, gathered_capacity;
    int reported_capacity, bucket_capacity;
    int awake_count;  // used proxies that do not rest
    bool has_rested;  // some came to rest since the last search
    int32_t root, free_node;
};

static inline bool all_three(I4 mask)
{
#ifdef __SSE2__
    return (_mm_movemask_ps((__m128)mask) & 7) == 7;
#else
    return (mask[0] & mask[1] & mask[2]) != 0;
#endif
}

// Without branches: which side parts two boxes is hard to foresee.
static inline bool fat_overlap(const FatBox *a, const FatBox *b)
{
    return all_three((a->low <= b->high) & (b->low <= a->high));
}

static inline bool fat_contains(const FatBox *outer, const FatBox *inner)
{
    return all_three((outer->low <= inner->low) & (inner->high <= outer->high));
}

static inline bool is_leaf(const TreeNode *node) { return node->child[0] < 0; }

// broadphase_tree.c
void broad_tree_insert(Broadphase *b, int proxy, const FatBox *fat);
void broad_tree_remove(Broadphase *b, int proxy);
bool broad_tree_follow(Broadphase *b, int leaf);
void broad_tree_fit(Broadphase *b);      // gives back room that no node needs
void broad_tree_rebuild(Broadphase *b);  // from the fat boxes of all leaves
bool broad_tree_wants_rebuild(const Broadphase *b, int insert_count);

#endif
