// Building: triangles are split at the best of sixteen places along the longest side of their middles (surface area
// heuristic), or in halves where that does not help, so that neither equal triangles nor long thin ones make it deep.
#include "physics/collide/mesh_tree.h"

#include "base/memory.h"
#include "physics/collide/collide_internal.h"
#include "physics/collide/tuning.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 4, BINS = 16, UNEVEN_DEPTH = 64, CHAIN_MAX = 64 };

typedef struct Item {
    float low[3], high[3];
    int32_t triangle;
} Item;

// A range of items that becomes a node, and which box of which node it is behind.
typedef struct Range {
    int32_t begin, end;
} Range;
typedef struct Task {
    Range range;
    int32_t parent, box, depth;
} Task;

typedef struct Bounds {
    float low[3], high[3];
} Bounds;

static const Bounds NOTHING = { { FLT_MAX, FLT_MAX, FLT_MAX }, { -FLT_MAX, -FLT_MAX, -FLT_MAX } };

typedef struct Bin {
    Bounds bounds;
    int count;
} Bin;

static void bounds_add(Bounds *bounds, const float *low, const float *high)
{
    for (int k = 0; k < 3; k++) {
        bounds->low[k] = low[k] < bounds->low[k] ? low[k] : bounds->low[k];
        bounds->high[k] = high[k] > bounds->high[k] ? high[k] : bounds->high[k];
    }
}

static double bounds_area(const Bounds *b)
{
    double x = (double)b->high[0] - (double)b->low[0], y = (double)b->high[1] - (double)b->low[1],
           z = (double)b->high[2] - (double)b->low[2];
    return x * y + y * z + z * x;
}

static double middle(const Item *item, int axis) { return 0.5 * ((double)item->low[axis] + (double)item->high[axis]); }

// ---- what is across each edge ----

static uint64_t mixed(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 32;
}

static int table_size(int count)
{
    assert_debug(count >= 0);
    int size = 16;
    while (size < count && size < 1 << 30)
        size *= 2;
    return size;
}

static bool is_same_place(const double *a, const double *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

// The first vertex at the same place, for each: files repeat positions where colours or normals differ. Chains that
// grow too long (made to, or by chance) are not followed to their end: an edge more is then a border.
static int32_t *places_create(const double *positions, int count)
{
    assert_debug(count >= 0 && (positions || count == 0));
    int size = table_size(count);
    int32_t *same = memory_alloc_array((size_t)count + 1, sizeof *same),
            *next = memory_alloc_array((size_t)count + 1, sizeof *next);
    int32_t *heads = memory_alloc_raw((size_t)size * sizeof *heads);
    memset(heads, -1, (size_t)size * sizeof *heads);
    for (int i = 0; i < count; i++) {
        const double *p = positions + 3 * (size_t)i;
        uint64_t hash = 0;
        for (int k = 0; k < 3; k++) {
            double value = p[k] + 0.0;  // no negative zero
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = mixed(hash ^ bits);
        }
        int32_t *head = &heads[hash & (uint64_t)(size - 1)], at = *head;
        for (int steps = 0; at >= 0 && steps < CHAIN_MAX && !is_same_place(p, positions + 3 * (size_t)at); steps++)
            at = next[at];
        same[i] = at >= 0 && is_same_place(p, positions + 3 * (size_t)at) ? at : i;
        if (same[i] == i) {
            next[i] = *head;
            *head = i;
        }
    }
    free(next);
    free(heads);
    return same;
}

bool mesh_tree_normal(const double *a, const double *b, const double *c, double normal[3])
{
    double u[3], v[3];
    vec_sub(b, a, u);
    vec_sub(c, a, v);
    vec_cross(u, v, normal);
    double length = sqrt(vec_dot(normal, normal)), longest = larger(vec_dot(u, u), vec_dot(v, v));
    if (!(length > 1e-12 * longest))
        return false;
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
    return true;
}

MeshEdge mesh_tree_edge(const double normal[3], const double from[3], const double to[3], const double other[3])
{
    double edge[3], away[3], across[3];
    vec_sub(to, from, edge);
    vec_sub(other, from, away);
    double length2 = vec_dot(edge, edge), along = length2 > 0.0 ? vec_dot(away, edge) / length2 : 0.0;
    for (int k = 0; k < 3; k++)
        across[k] = away[k] - along * edge[k];
    double height = vec_dot(away, normal), limit = FLAT_EDGE_SINE * sqrt(vec_dot(across, across));
    vec_cross(edge, normal, away);  // out of the first triangle: folded back onto it, an edge is sharp however level
    if (vec_dot(across, away) <= 0.0)
        return height > 0.0 ? MESH_EDGE_CONCAVE : MESH_EDGE_CONVEX;
    return height < -limit ? MESH_EDGE_CONVEX : height > limit ? MESH_EDGE_CONCAVE : MESH_EDGE_FLAT;
}

static const double *place_of(const MeshTree *tree, int vertex) { return tree->positions + 3 * (size_t)vertex; }

typedef struct Half {
    int32_t from, to, next;
} Half;  // an edge of one triangle, by places; next of its chain

static uint64_t half_hash(int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return mixed((uint64_t)(uint32_t)low << 32 | (uint32_t)high);
}

// Of all triangles that have this edge the other way round, the one that goes on most evenly: sheets with two sides and
// edges with more than two triangles then behave as one expects. -1: none.
static int32_t mate_of(MeshTree *tree, const Half *halves, int32_t head, int32_t self, const double normal[3])
{
    assert_debug(self >= 0 && self < 3 * tree->triangle_count);
    int32_t best = -1;
    double flattest = -2.0;
    int steps = 0;
    for (int32_t at = head; at >= 0 && steps < CHAIN_MAX; at = halves[at].next, steps++) {
        if (at / 3 == self / 3 || halves[at].from != halves[self].to || halves[at].to != halves[self].from)
            continue;
        const MeshTriangle *t = &tree->triangles[at / 3];
        double other[3];
        mesh_tree_normal(place_of(tree, t->vertices[0]), place_of(tree, t->vertices[1]), place_of(tree, t->vertices[2]),
                         other);
        double evenness = vec_dot(normal, other);
        // Front and back of one sheet are not neighbours.
        if (evenness > flattest && evenness > -1.0 + 1e-9) {
            flattest = evenness;
            best = at / 3;
        }
    }
    tree->edge_steps += steps;
    return best;
}

static void find_corners(MeshTree *tree, const int32_t *same, int vertex_count)
{
    bool *is_sharp = memory_alloc_array((size_t)vertex_count + 1, sizeof *is_sharp),
         *is_owned = memory_alloc_array((size_t)vertex_count + 1, sizeof *is_owned);
    for (int i = 0; i < tree->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            const MeshTriangle *t = &tree->triangles[i];
            assert_debug(same[t->vertices[k]] >= 0 && same[t->vertices[k]] < vertex_count);
            if (t->edges[k] == MESH_EDGE_CONVEX || t->edges[k] == MESH_EDGE_BORDER)
                is_sharp[same[t->vertices[k]]] = is_sharp[same[t->vertices[(k + 1) % 3]]] = true;
        }
    for (int i = 0; i < tree->triangle_count; i++) {
        MeshTriangle *t = &tree->triangles[i];
        unsigned sharp = 0, owned = 0;
        for (int k = 0; k < 3; k++) {
            int32_t place = same[t->vertices[k]];
            sharp |= (unsigned)is_sharp[place] << k;
            owned |= (unsigned)!is_owned[place] << k;
            is_owned[place] = true;
        }
        t->sharp_corners = sharp & 7u;
        t->owned_corners = owned & 7u;
    }
    free(is_sharp);
    free(is_owned);
}

// What lies across each edge: half edges by their two corners in a hash table; corners at the same place are one.
static void find_mates(MeshTree *tree, int vertex_count)
{
    int half_count = 3 * tree->triangle_count, size = table_size(half_count);
    int32_t *same = places_create(tree->positions, vertex_count),
            *heads = memory_alloc_raw((size_t)size * sizeof *heads);
    Half *halves = memory_alloc_array((size_t)half_count + 1, sizeof *halves);
    memset(heads, -1, (size_t)size * sizeof *heads);
    for (int i = half_count - 1; i >= 0; i--) {
        const MeshTriangle *t = &tree->triangles[i / 3];
        Half *half = &halves[i];
        *half = (Half){ same[t->vertices[i % 3]], same[t->vertices[(i + 1) % 3]], -1 };
        int32_t *head = &heads[half_hash(half->from, half->to) & (uint64_t)(size - 1)];
        half->next = *head;
        *head = i;
    }
    tree->is_closed = tree->triangle_count > 0;
    for (int i = 0; i < tree->triangle_count; i++) {
        MeshTriangle *t = &tree->triangles[i];
        double normal[3];
        mesh_tree_normal(place_of(tree, t->vertices[0]), place_of(tree, t->vertices[1]), place_of(tree, t->vertices[2]),
                         normal);
        for (int k = 0; k < 3; k++) {
            const Half *half = &halves[3 * i + k];
            int32_t head = heads[half_hash(half->from, half->to) & (uint64_t)(size - 1)],
                    mate = mate_of(tree, halves, head, 3 * i + k, normal);
            t->mates[k] = mate;
            t->edges[k] = MESH_EDGE_BORDER;
            tree->is_closed &= mate >= 0;
            for (int q = 0; mate >= 0 && q < 3; q++) {
                int32_t tip = tree->triangles[mate].vertices[q];
                if (same[tip] != half->from && same[tip] != half->to)
                    t->edges[k] = (uint8_t)mesh_tree_edge(normal, place_of(tree, t->vertices[k]),
                                                          place_of(tree, t->vertices[(k + 1) % 3]),
                                                          place_of(tree, tip));
            }
        }
    }
    find_corners(tree, same, vertex_count);
    free(same);
    free(heads);
    free(halves);
}

// ---- the tree ----

// Moves the items of the first bins to the front; returns how many there are, or 0 when no place is better than none.
static int32_t split_by_area(Item *items, int count, const Bounds *middles, int axis)
{
    assert_debug(axis >= 0 && axis < 3 && middles->high[axis] > middles->low[axis]);
    Bin bins[BINS];
    double low = (double)middles->low[axis], scale = BINS * (1.0 - 1e-6) / ((double)middles->high[axis] - low);
    for (int b = 0; b < BINS; b++)
        bins[b] = (Bin){ NOTHING, 0 };
    for (int i = 0; i < count; i++) {
        Bin *bin = &bins[int_max(0, int_min(BINS - 1, (int)((middle(&items[i], axis) - low) * scale)))];
        bounds_add(&bin->bounds, items[i].low, items[i].high);
        bin->count++;
    }
    double right_cost[BINS];
    Bounds sum = NOTHING;
    int sum_count = 0, best = -1;
    for (int b = BINS - 1; b > 0; b--) {
        bounds_add(&sum, bins[b].bounds.low, bins[b].bounds.high);
        sum_count += bins[b].count;
        right_cost[b] = sum_count > 0 ? bounds_area(&sum) * sum_count : 0.0;
    }
    double best_cost = INFINITY;
    sum = NOTHING;
    sum_count = 0;
    for (int b = 0; b + 1 < BINS; b++) {
        bounds_add(&sum, bins[b].bounds.low, bins[b].bounds.high);
        sum_count += bins[b].count;
        double cost = (sum_count > 0 ? bounds_area(&sum) * sum_count : 0.0) + right_cost[b + 1];
        if (sum_count > 0 && sum_count < count && cost < best_cost)
            best_cost = cost, best = b;
    }
    if (best < 0)
        return 0;
    int32_t kept = 0, end = count;
    while (kept < end) {
        if (int_max(0, int_min(BINS - 1, (int)((middle(&items[kept], axis) - low) * scale))) <= best) {
            kept++;
            continue;
        }
        Item swap = items[kept];
        items[kept] = items[--end];
        items[end] = swap;
    }
    return kept;
}

static int32_t split(Item *items, int count, int depth)
{
    assert_debug(count >= 2);  // one is a leaf
    Bounds middles = NOTHING;
    for (int i = 0; i < count; i++) {
        float m[3];
        for (int k = 0; k < 3; k++)
            m[k] = (float)middle(&items[i], k);
        bounds_add(&middles, m, m);
    }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (middles.high[k] - middles.low[k] > middles.high[axis] - middles.low[axis])
            axis = k;
    int32_t at = depth < UNEVEN_DEPTH && middles.high[axis] > middles.low[axis]
                     ? split_by_area(items, count, &middles, axis)
                     : 0;
    assert_debug(at < count);  // neither part is empty
    return at > 0 ? at : count / 2;
}

// A range becomes four, the largest being split first, as far as there are items.
static int split_wide(Item *items, Range range, int depth, Range parts[WIDTH])
{
    assert_debug(range.begin < range.end);
    int count = 1;
    parts[0] = range;
    while (count < WIDTH) {
        int max = 0;
        for (int i = 1; i < count; i++)
            if (parts[i].end - parts[i].begin > parts[max].end - parts[max].begin)
                max = i;
        Range part = parts[max];
        if (part.end - part.begin < 2)
            break;
        int32_t at = part.begin + split(items + part.begin, part.end - part.begin, depth);
        memmove(&parts[max + 2], &parts[max + 1], (size_t)(count - max - 1) * sizeof *parts);
        parts[max] = (Range){ part.begin, at };
        parts[max + 1] = (Range){ at, part.end };
        count++;
    }
    return count;
}

static void set_box(MeshNode *node, int box, const Item *items, int count)
{
    assert_debug(box >= 0 && box < WIDTH);
    Bounds bounds = NOTHING;
    for (int i = 0; i < count; i++)
        bounds_add(&bounds, items[i].low, items[i].high);
    for (int k = 0; k < 3; k++) {
        node->low[k][box] = bounds.low[k];
        node->high[k][box] = bounds.high[k];
    }
}

static int32_t add_node(MeshTree *tree, int *capacity)
{
    memory_grow(&tree->nodes, capacity, tree->node_count + 1, sizeof *tree->nodes);
    MeshNode *node = &tree->nodes[tree->node_count];
    for (int box = 0; box < WIDTH; box++) {
        set_box(node, box, NULL, 0);
        node->parts[box] = 0;
    }
    return tree->node_count++;
}

static void build(MeshTree *tree, Item *items, int item_count)
{
    int capacity = 0, task_capacity = 0, task_count = 0;
    Task *tasks = NULL;
    memory_grow(&tasks, &task_capacity, 1, sizeof *tasks);
    if (item_count > 0)
        tasks[task_count++] = (Task){ { 0, item_count }, -1, 0, 1 };
    while (task_count > 0) {
        Task task = tasks[--task_count];
        int32_t node = add_node(tree, &capacity);
        assert_debug(task.parent < node);
        if (task.parent >= 0)
            tree->nodes[task.parent].parts[task.box] = node;
        tree->depth = int_max(tree->depth, task.depth);
        Range parts[WIDTH];
        int count = split_wide(items, task.range, task.depth, parts);
        memory_grow(&tasks, &task_capacity, task_count + WIDTH, sizeof *tasks);
        for (int i = count - 1; i >= 0; i--) {
            set_box(&tree->nodes[node], i, items + parts[i].begin, parts[i].end - parts[i].begin);
            if (parts[i].end - parts[i].begin == 1)
                tree->nodes[node].parts[i] = ~parts[i].begin;
            else
                tasks[task_count++] = (Task){ parts[i], node, i, task.depth + 1 };
        }
    }
    tree->nodes = memory_resize(tree->nodes, (size_t)tree->node_count + 1, sizeof *tree->nodes);
    free(tasks);
}

static bool item_of(const double *positions, const int *corners, int triangle, Item *item)
{
    const double *v[3];
    double normal[3];
    for (int k = 0; k < 3; k++)
        v[k] = positions + 3 * (size_t)corners[k];
    if (!mesh_tree_normal(v[0], v[1], v[2], normal))
        return false;
    for (int k = 0; k < 3; k++) {
        item->low[k] = nextafterf((float)fmin(v[0][k], fmin(v[1][k], v[2][k])), -INFINITY);
        item->high[k] = nextafterf((float)fmax(v[0][k], fmax(v[1][k], v[2][k])), INFINITY);
    }
    item->triangle = triangle;
    return true;
}

MeshTree *mesh_tree_create(const double *positions, int vertex_count, const int *indices, int triangle_count)
{
    assert(vertex_count >= 0 && triangle_count >= 0);
    MeshTree *tree = memory_alloc(sizeof *tree);
    Item *items = memory_alloc_array((size_t)triangle_count + 1, sizeof *items);
    tree->positions = positions;
    for (int i = 0; i < triangle_count; i++)
        tree->triangle_count += item_of(positions, indices + 3 * (size_t)i, i, &items[tree->triangle_count]);
    build(tree, items, tree->triangle_count);
    Bounds all = NOTHING;
    for (int i = 0; i < tree->triangle_count; i++)
        bounds_add(&all, items[i].low, items[i].high);
    for (int k = 0; k < 3; k++) {
        tree->low[k] = (double)all.low[k];
        tree->high[k] = (double)all.high[k];
    }
    tree->triangles = memory_alloc_array((size_t)tree->triangle_count + 1, sizeof *tree->triangles);
    for (int i = 0; i < tree->triangle_count; i++)
        memcpy(tree->triangles[i].vertices, indices + 3 * (size_t)items[i].triangle,
               sizeof tree->triangles[i].vertices);
    free(items);
    find_mates(tree, vertex_count);
    return tree;
}

void mesh_tree_destroy(MeshTree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->triangles);
    free(tree);
}

void mesh_walk_begin(MeshWalk *walk, const MeshTree *tree, const MeshQuery *query)
{
    assert(tree && query);
    walk->query = *query;
    walk->stack[0] = 0;
    walk->visited = 0;
    walk->waiting = tree->node_count > 0;
}

typedef int32_t Mask __attribute__((vector_size(16)));

static MeshLanes above_zero(MeshLanes x) { return (MeshLanes)((Mask)x & (Mask)(x > 0.0f)); }

// All bits of the boxes that are near enough; of two opposite gaps one is at most open, unless the box is nothing.
static Mask near_boxes(const MeshNode *node, const MeshQuery *query)
{
    MeshLanes sum = { 0.0f };
    for (int k = 0; k < 3; k++) {
        MeshLanes gap = above_zero(node->low[k] - query->high[k]) + above_zero(query->low[k] - node->high[k]);
        sum += gap * gap;
    }
    return (Mask)(sum <= query->radius2);
}

static Mask low_boxes(const MeshNode *node, const MeshPlane *plane)
{
    MeshLanes lowest = { 0.0f };
    for (int k = 0; k < 3; k++)
        lowest += plane->normal[k] * (plane->normal[k] > 0.0f ? node->low[k] : node->high[k]);
    return (Mask)(lowest <= plane->offset);
}

static inline __attribute__((always_inline)) int walk_next(MeshWalk *walk, const MeshTree *tree, const MeshPlane *plane)
{
    int count = 0;
    while (walk->waiting > 0 && count <= MESH_FOUND - WIDTH) {
        const MeshNode *node = &tree->nodes[walk->stack[--walk->waiting]];
        walk->visited++;
        Mask near = plane ? low_boxes(node, plane) : near_boxes(node, &walk->query);
        for (int box = 0; box < WIDTH; box++) {
            if (!near[box])
                continue;
            int32_t part = node->parts[box];
            if (part < 0)
                walk->found[count++] = ~part;
            else
                walk->stack[walk->waiting++] = part;
        }
    }
    return count;
}

int mesh_walk_next(MeshWalk *walk, const MeshTree *tree) { return walk_next(walk, tree, NULL); }

int mesh_walk_next_below(MeshWalk *walk, const MeshTree *tree, const MeshPlane *plane)
{
    return walk_next(walk, tree, plane);
}

bool mesh_tree_is_near(const MeshTree *tree, const MeshQuery *query)
{
    MeshWalk walk;
    mesh_walk_begin(&walk, tree, query);
    while (walk.waiting > 0) {
        const MeshNode *node = &tree->nodes[walk.stack[--walk.waiting]];
        Mask near = near_boxes(node, query);
        for (int box = 0; box < WIDTH; box++) {
            if (near[box] && node->parts[box] < 0)
                return true;
            if (near[box])
                walk.stack[walk.waiting++] = node->parts[box];
        }
    }
    return false;
}

// ---- around a corner ----

static int corner_at(const MeshTree *tree, int triangle, const double *place)
{
    for (int k = 0; k < 3; k++)
        if (is_same_place(mesh_tree_corner(tree, triangle, k), place))
            return k;
    return -1;
}

static bool falls_away(const double *from, const double *to, const double direction[3], double slack)
{
    double edge[3];
    vec_sub(to, from, edge);
    return vec_dot(edge, direction) <= slack * sqrt(vec_dot(edge, edge));
}

bool mesh_tree_is_outermost(const MeshTree *tree, int triangle, int corner, const double direction[3], double slack)
{
    const double *place = mesh_tree_corner(tree, triangle, corner);
    for (int way = 0; way < 2; way++) {
        int at = triangle, k = corner;
        for (int steps = 0; steps < CHAIN_MAX; steps++) {
            if (!falls_away(place, mesh_tree_corner(tree, at, (k + 1) % 3), direction, slack)
                || !falls_away(place, mesh_tree_corner(tree, at, (k + 2) % 3), direction, slack))
                return false;
            at = tree->triangles[at].mates[way ? k : (k + 2) % 3];
            if (at == triangle)
                return true;
            k = at < 0 ? -1 : corner_at(tree, at, place);
            if (k < 0)
                break;  // a border: the other way round
        }
    }
    return true;
}
