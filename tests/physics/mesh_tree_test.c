// The tree of a mesh's triangles: it finds what looking at every one finds, whatever the mesh is like, at a cost that
// hardly grows; and it knows what each edge does.
#include "physics/collide/mesh_tree.h"
#include "support/support.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static uint64_t seed = 11;
static double random_unit(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

typedef struct Triangles {
    double *positions;
    int *indices;
    int vertex_count, triangle_count;
} Triangles;

static Triangles triangles_create(int vertex_count, int triangle_count)
{
    return (Triangles){ memory_alloc_array((size_t)vertex_count * 3, sizeof(double)),
                        memory_alloc_array((size_t)triangle_count * 3, sizeof(int)), vertex_count, triangle_count };
}

static void triangles_free(Triangles *t)
{
    free(t->positions);
    free(t->indices);
}

// A square of side 1 with n by n cells.
static Triangles grid(int n, double bumps)
{
    Triangles t = triangles_create((n + 1) * (n + 1), 2 * n * n);
    for (int j = 0, k = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            t.positions[k++] = (double)i / n;
            t.positions[k++] = (double)j / n;
            t.positions[k++] = bumps * (random_unit() - 0.5);
        }
    for (int j = 0, k = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int a = j * (n + 1) + i, corners[6] = { a, a + 1, a + n + 2, a, a + n + 2, a + n + 1 };
            for (int c = 0; c < 6; c++)
                t.indices[k++] = corners[c];
        }
    return t;
}

static Triangles soup(int count, double size)
{
    Triangles t = triangles_create(3 * count, count);
    for (int i = 0; i < count; i++) {
        double centre[3] = { random_unit(), random_unit(), random_unit() };
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++)
                t.positions[9 * i + 3 * c + k] = centre[k] + size * (random_unit() - 0.5);
            t.indices[3 * i + c] = 3 * i + c;
        }
    }
    return t;
}

// Many at one place, and a chain of ever larger ones: what makes a careless tree deep.
static Triangles nasty(int count)
{
    Triangles t = soup(count, 0.01);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 9; c++)
            t.positions[9 * i + c] = i % 2 ? t.positions[c] : t.positions[9 * i + c] * exp2(-(i % 600) * 0.05);
    return t;
}

static bool box_meets(const Triangles *t, int triangle, const double low[3], const double high[3])
{
    for (int k = 0; k < 3; k++) {
        double a = t->positions[3 * t->indices[3 * triangle] + k],
               b = t->positions[3 * t->indices[3 * triangle + 1] + k],
               c = t->positions[3 * t->indices[3 * triangle + 2] + k];
        if (fmin(a, fmin(b, c)) > high[k] || fmax(a, fmax(b, c)) < low[k])
            return false;
    }
    return true;
}

static int find(const MeshTree *tree, const double low[3], const double high[3], int *visits)
{
    MeshQuery query = { .radius2 = 0.0f };
    for (int k = 0; k < 3; k++) {
        query.low[k] = nextafterf((float)low[k], -INFINITY);
        query.high[k] = nextafterf((float)high[k], INFINITY);
    }
    MeshWalk walk;
    int total = 0;
    mesh_walk_begin(&walk, tree, &query);
    for (int count = mesh_walk_next(&walk, tree); count > 0; count = mesh_walk_next(&walk, tree))
        total += count;
    if (visits)
        *visits += walk.visited;
    return total;
}

static void it_finds_all(void **state)
{
    (void)state;
    Triangles cases[] = { grid(1, 0.0), grid(30, 0.1), soup(1, 0.1), soup(2000, 0.05), soup(300, 2.0), nasty(3000) };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        Triangles *t = &cases[c];
        MeshTree *tree = mesh_tree_create(t->positions, t->vertex_count, t->indices, t->triangle_count);
        CHECK(tree->depth <= MESH_DEPTH_MAX, "not too deep");
        for (int n = 0; n < 200; n++) {
            double low[3], high[3];
            int expected = 0;
            for (int k = 0; k < 3; k++) {
                low[k] = random_unit() - 0.2;
                high[k] = low[k] + 0.3 * random_unit();
            }
            for (int i = 0; i < t->triangle_count; i++)
                expected += box_meets(t, i, low, high);
            int found = find(tree, low, high, NULL);
            // Boxes are rounded outwards to floats, so one that all but touches may be found too; none is missed.
            CHECK(found >= expected && found <= expected + 2 + expected / 100, "as many as by looking at each");
        }
        mesh_tree_destroy(tree);
        triangles_free(t);
    }
}

// Round queries: what is farther than the radius in a corner is left out.
static void round_queries_leave_corners_out(void **state)
{
    (void)state;
    Triangles t = grid(100, 0.0);
    MeshTree *tree = mesh_tree_create(t.positions, t.vertex_count, t.indices, t.triangle_count);
    MeshQuery ball = { { 0.5f, 0.5f, 0.0999f }, { 0.5f, 0.5f, 0.0999f }, 0.01f };
    MeshWalk walk;
    mesh_walk_begin(&walk, tree, &ball);
    int count = mesh_walk_next(&walk, tree);
    CHECK(count >= 2 && count <= 16 && mesh_walk_next(&walk, tree) == 0, "only what is under the ball");
    mesh_tree_destroy(tree);
    triangles_free(&t);
}

static void what_has_no_area_is_left_out(void **state)
{
    (void)state;
    double positions[] = { 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0 };
    int indices[] = { 0, 1, 2, 0, 0, 3, 0, 1, 3, 3, 4, 0 };
    MeshTree *tree = mesh_tree_create(positions, 5, indices, 4);
    CHECK(tree->triangle_count == 1 && tree->node_count == 1, "one is left");
    mesh_tree_destroy(tree);
    tree = mesh_tree_create(positions, 5, indices, 2);
    double low[3] = { -9, -9, -9 }, high[3] = { 9, 9, 9 };
    CHECK(tree->triangle_count == 0 && find(tree, low, high, NULL) == 0, "none is left");
    mesh_tree_destroy(tree);
}

static int count_edges(const MeshTree *tree, MeshEdge kind)
{
    int count = 0;
    for (int i = 0; i < tree->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            count += tree->triangles[i].edges[k] == kind;
    return count;
}

static void edges_are_told_apart(void **state)
{
    (void)state;
    Triangles flat = grid(4, 0.0);
    MeshTree *tree = mesh_tree_create(flat.positions, flat.vertex_count, flat.indices, flat.triangle_count);
    CHECK(count_edges(tree, MESH_EDGE_FLAT) == 80 && count_edges(tree, MESH_EDGE_BORDER) == 16 && !tree->is_closed,
          "a flat sheet");
    mesh_tree_destroy(tree);
    triangles_free(&flat);
    // A tetrahedron, every corner written for every face as exporters do; then inside out.
    double p[4][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, positions[36];
    int faces[12] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3 }, indices[12], turned[12];
    for (int i = 0; i < 12; i++) {
        memcpy(positions + 3 * i, p[faces[i]], sizeof p[0]);
        indices[i] = i;
        turned[i] = i % 3 == 1 ? i + 1 : i % 3 == 2 ? i - 1 : i;
    }
    tree = mesh_tree_create(positions, 12, indices, 4);
    CHECK(count_edges(tree, MESH_EDGE_CONVEX) == 12 && tree->is_closed, "convex all around");
    mesh_tree_destroy(tree);
    tree = mesh_tree_create(positions, 12, turned, 4);
    CHECK(count_edges(tree, MESH_EDGE_CONCAVE) == 12 && tree->is_closed, "concave from inside");
    mesh_tree_destroy(tree);
}

// Front and back of the same sheet, as a mesh that is to be seen from both sides has them.
static void two_sided_sheets_are_flat(void **state)
{
    (void)state;
    Triangles one = grid(3, 0.0), two = triangles_create(one.vertex_count, 2 * one.triangle_count);
    memcpy(two.positions, one.positions, sizeof(double) * 3 * (size_t)one.vertex_count);
    for (int i = 0; i < one.triangle_count; i++)
        for (int c = 0; c < 3; c++) {
            two.indices[6 * i + c] = one.indices[3 * i + c];
            two.indices[6 * i + 3 + c] = one.indices[3 * i + 2 - c];
        }
    MeshTree *tree = mesh_tree_create(two.positions, two.vertex_count, two.indices, two.triangle_count);
    CHECK(count_edges(tree, MESH_EDGE_FLAT) == 2 * (3 * 18 - 12) && count_edges(tree, MESH_EDGE_BORDER) == 24,
          "flat within");
    mesh_tree_destroy(tree);
    triangles_free(&one);
    triangles_free(&two);
}

static MeshTree *create(const Triangles *t)
{
    return mesh_tree_create(t->positions, t->vertex_count, t->indices, t->triangle_count);
}

// Ten times the triangles under a shape of the same share of the mesh's triangles: the way down grows by a level or
// two.
static void the_cost_hardly_grows(void **state)
{
    (void)state;
    double nodes_per_query[3];
    for (int c = 0; c < 3; c++) {
        int n = (int)lround(sqrt(5000.0 * pow(10.0, c)));
        Triangles t = grid(n, 0.1 / n);
        MeshTree *tree = create(&t);
        int visits = 0;
        for (int q = 0; q < 500; q++) {
            double low[3] = { random_unit(), random_unit(), -1.0 },
                   high[3] = { low[0] + 3.0 / n, low[1] + 3.0 / n, 1.0 };
            find(tree, low, high, &visits);
        }
        nodes_per_query[c] = visits / 500.0;
        // Making it costs its levels times its triangles, and a few edges for each: no power of their number.
        print_message("%d triangles: %d nodes in %d levels, %lld edges compared\n", tree->triangle_count,
                      tree->node_count, tree->depth, (long long)tree->edge_steps);
        CHECK(tree->node_count < tree->triangle_count && tree->depth < 4.0 + log2(tree->triangle_count), "levels");
        CHECK(tree->edge_steps < 12ll * tree->triangle_count, "edges");
        mesh_tree_destroy(tree);
        triangles_free(&t);
    }
    // Twelve or so triangles are found each time, in some nodes more for every level: 3.3 levels for a hundred times as
    // many.
    CHECK(nodes_per_query[1] < nodes_per_query[0] + 5.0 && nodes_per_query[2] < nodes_per_query[0] + 9.0,
          "nodes visited");
    print_message("nodes visited for 10, 100 and 1000 thousand triangles: %.1f %.1f %.1f\n", nodes_per_query[0],
                  nodes_per_query[1], nodes_per_query[2]);
}

// All triangles at one edge, or at one place: neither building nor asking takes long.
static void crowds_at_one_edge_are_bounded(void **state)
{
    (void)state;
    enum { FAN = 50000 };
    Triangles t = triangles_create(FAN + 2, FAN);
    t.positions[5] = 1.0;
    for (int i = 0; i < FAN; i++) {
        t.positions[3 * (i + 2)] = cos(i * 1e-4);
        t.positions[3 * (i + 2) + 1] = sin(i * 1e-4);
        t.indices[3 * i + 1] = 1;
        t.indices[3 * i + 2] = i + 2;
    }
    MeshTree *tree = create(&t);
    print_message("a fan: %lld edges compared\n", (long long)tree->edge_steps);
    CHECK(tree->edge_steps < 1000ll * FAN, "a fan about one edge");  // each with each other would be 50 000
    CHECK(tree->depth <= MESH_DEPTH_MAX, "not too deep");
    mesh_tree_destroy(tree);
    triangles_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_finds_all),
        cmocka_unit_test(round_queries_leave_corners_out),
        cmocka_unit_test(what_has_no_area_is_left_out),
        cmocka_unit_test(edges_are_told_apart),
        cmocka_unit_test(two_sided_sheets_are_flat),
        cmocka_unit_test(the_cost_hardly_grows),
        cmocka_unit_test(crowds_at_one_edge_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
