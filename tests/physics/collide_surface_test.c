// Shapes on meshes and grids of heights: against formulas, against looking at every triangle, against ODE, and the same
// whatever triangles a flat floor is made of.
#include "physics/collide/collide_surface.h"
#include "physics/collide/convex.h"
#include "support/support.h"

#include "base/memory.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>

static uint64_t seed = 3;
static double random_unit(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static const CollidePose HERE = { { 0, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };

static CollidePose pose_of(double x, double y, double z, const double axis[3], double angle)
{
    CollidePose pose = { .position = { x, y, z } };
    dMatrix3 r;
    dRFromAxisAndAngle(r, axis[0], axis[1], axis[2], angle);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            pose.rotation[3 * i + k] = r[4 * i + k];
    return pose;
}

static CollidePose random_turn(double x, double y, double z)
{
    double axis[3] = { random_unit() - 0.5, random_unit() - 0.5, random_unit() - 0.5 };
    return pose_of(x, y, z, axis, 6.3 * random_unit());
}

// ---- surfaces ----

typedef double (*Height)(double x, double y);

typedef struct Ground {
    double *positions, *heights;
    int *indices;
    int n, vertex_count, triangle_count;
    CollideSurface *surface;
} Ground;

// n by n cells over a square of the given side about the origin, from a height of x and y. As a mesh with z up the
// diagonals are those of the grid of heights.
static Ground ground_mesh(int n, double side, Height height)
{
    Ground g = { .n = n, .vertex_count = (n + 1) * (n + 1), .triangle_count = 2 * n * n };
    g.positions = memory_alloc_array((size_t)g.vertex_count * 3, sizeof(double));
    g.indices = memory_alloc_array((size_t)g.triangle_count * 3, sizeof(int));
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            double *p = g.positions + 3 * (j * (n + 1) + i);
            p[0] = side * ((double)i / n - 0.5);
            p[1] = side * ((double)j / n - 0.5);
            p[2] = height(p[0], p[1]);
        }
    // Heights run along x and -y: cells there have the diagonal from (x + 1, y + 1) to (x, y).
    for (int j = 0, k = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int a = j * (n + 1) + i, corners[6] = { a, a + 1, a + n + 2, a, a + n + 2, a + n + 1 };
            for (int c = 0; c < 6; c++)
                g.indices[k++] = corners[c];
        }
    g.surface = collide_surface_mesh(g.positions, g.vertex_count, g.indices, g.triangle_count);
    return g;
}

static void ground_free(Ground *g)
{
    collide_surface_destroy(g->surface);
    free(g->positions);
    free(g->heights);
    free(g->indices);
}

static double flat(double x, double y)
{
    (void)x, (void)y;
    return 0.0;
}
static double slope(double x, double y) { return 0.5 * x - 0.25 * y; }
static double hills(double x, double y)
{
    return 0.12 * sin(3.1 * x) * cos(2.3 * y) + 0.03 * sin(11.0 * x + 1.0) * sin(9.0 * y);
}
static double ridge(double x, double y)
{
    (void)y;
    return -0.5 * fabs(x);
}
static double valley(double x, double y)
{
    (void)y;
    return 0.5 * fabs(x);
}

// The same heights as ODE and Webots keep them, and the pose that puts them where the mesh is.
static Ground ground_heights(const Ground *mesh, double side, CollidePose *pose)
{
    int n = mesh->n + 1;
    Ground g = { .heights = memory_alloc_array((size_t)n * (size_t)n, sizeof(double)) };
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            g.heights[(n - 1 - j) * n + i] = mesh->positions[3 * (j * n + i) + 2];
    g.surface = collide_surface_heights(&(CollideHeights){ g.heights, { n, n }, { side / mesh->n, side / mesh->n } });
    *pose = pose_of(0, 0, 0, (double[3]){ 1, 0, 0 }, M_PI / 2);
    return g;
}

// ---- shapes ----

static const CollideShape BALL = { GEOMETRY_SPHERE, { 0.1 } }, CAPSULE = { GEOMETRY_CAPSULE, { 0.08, 0.15 } },
                          CYLINDER = { GEOMETRY_CYLINDER, { 0.12, 0.07 } }, BOX = { GEOMETRY_BOX, { 0.1, 0.15, 0.08 } };

static Convex *wedge(void)
{
    Mesh *mesh = mesh_box((Vec3){ 0.2, 0.3, 0.16 });
    Convex *convex = convex_from_mesh(mesh);
    mesh_destroy(mesh);
    return convex;
}

enum { FORMS = 5 };
static const char *const form_names[FORMS] = { "ball", "capsule", "cylinder", "box", "convex" };
static const CollideShape *const forms[FORMS] = { &BALL, &CAPSULE, &CYLINDER, &BOX, NULL };

static int touch(int form, const Convex *convex, const CollidePose *pose, const CollideSurface *surface,
                 const CollidePose *at, double margin, CollidePoint *points)
{
    return forms[form] ? collide_surface(forms[form], pose, surface, at, margin, COLLIDE_SURFACE_POINTS, points)
                       : collide_surface_convex(convex, pose, surface, at, margin, COLLIDE_SURFACE_POINTS, points);
}

static double deepest(const CollidePoint *points, int count)
{
    double depth = -INFINITY;
    for (int i = 0; i < count; i++)
        depth = fmax(depth, points[i].depth);
    return depth;
}

// How far a shape reaches along a direction from its position.
static double reach(int form, const CollidePose *pose, const double d[3])
{
    double local[3];
    const double *r = pose->rotation;
    for (int k = 0; k < 3; k++)
        local[k] = r[k] * d[0] + r[3 + k] * d[1] + r[6 + k] * d[2];
    switch (form) {
    case 0: return BALL.size[0];
    case 1: return CAPSULE.size[0] + CAPSULE.size[1] * fabs(local[2]);
    case 2: return CYLINDER.size[0] * hypot(local[0], local[1]) + CYLINDER.size[1] * fabs(local[2]);
    default: return BOX.size[0] * fabs(local[0]) + BOX.size[1] * fabs(local[1]) + BOX.size[2] * fabs(local[2]);
    }
}

// ---- tests ----

// On a plane made of triangles, level or not: the depth is that of the plane, and every normal the plane's. So nothing
// is felt of the edges, wherever the shape is put down: it slides without bumps.
static void flat_triangles_are_a_plane(void **state)
{
    (void)state;
    static const Height planes[] = { flat, slope };
    static const double normals[2][3] = { { 0, 0, 1 }, { -0.5, 0.25, 1 } };
    Convex *convex = wedge();
    for (int p = 0; p < 2; p++) {
        double length = sqrt(normals[p][0] * normals[p][0] + normals[p][1] * normals[p][1] + 1.0);
        double n[3] = { normals[p][0] / length, normals[p][1] / length, 1.0 / length };
        static const int sizes[] = { 1, 7, 40 };
        for (int s = 0; s < COUNT_OF(sizes); s++) {
            Ground mesh = ground_mesh(sizes[s], 4.0, planes[p]);
            CollidePose turned;
            Ground grid = ground_heights(&mesh, 4.0, &turned);
            for (int form = 0; form < FORMS; form++)
                for (int trial = 0; trial < support_trials(400); trial++) {
                    CollidePose pose = random_turn(2.0 * random_unit() - 1.0, 2.0 * random_unit() - 1.0, 0.0);
                    if (trial % 4 == 0)
                        pose = pose_of(pose.position[0], pose.position[1], 0, (double[3]){ 0, 0, 1 },
                                       random_unit());  // lying level
                    double depth = 0.02 * random_unit() + 1e-4, height = reach(form, &pose, n) - depth;
                    pose.position[2] = planes[p](pose.position[0], pose.position[1]) + height / n[2];
                    for (int k = 0; k < 2; k++) {
                        CollidePoint points[COLLIDE_SURFACE_POINTS];
                        int count = touch(form, convex, &pose, k ? grid.surface : mesh.surface, k ? &turned : &HERE,
                                          0.0, points);
                        // Round rims and caps touch with one of eight points of theirs.
                        CHECK_NEAR(deepest(points, count), depth, form == 2 ? 2e-3 : 1e-6, form_names[form]);
                        for (int i = 0; i < count; i++) {
                            const double *m = points[i].normal, *q = points[i].position;
                            CHECK_NEAR(m[0] * n[0] + m[1] * n[1] + m[2] * n[2], 1.0, 1e-12, form_names[form]);
                            double above = (q[2] - planes[p](q[0], q[1])) * n[2];
                            CHECK_NEAR(above, -(form < 3 ? 1.0 : 0.5) * points[i].depth, 1e-9,
                                       "midway between the two surfaces, of round shapes on theirs");
                        }
                        CHECK(count <= 4, "no more than a plane gives");
                        CHECK(form != 0 || count == 1, "a ball once");
                    }
                }
            ground_free(&mesh);
            ground_free(&grid);
        }
    }
    convex_destroy(convex);
}

static double triangle_distance(const double p[3], const double a[3], const double b[3], const double c[3]);

// A ball's depth is its radius less the distance of its middle, found here by looking at every triangle.
static void balls_are_as_deep_as_they_are_near(void **state)
{
    (void)state;
    static const Height kinds[] = { hills, ridge, valley };
    for (int g = 0; g < COUNT_OF(kinds); g++) {
        Ground mesh = ground_mesh(24, 3.0, kinds[g]);
        CollidePose turned;
        Ground grid = ground_heights(&mesh, 3.0, &turned);
        for (int trial = 0; trial < support_trials(600); trial++) {
            double x = 2.0 * random_unit() - 1.0, y = 2.0 * random_unit() - 1.0;
            if (trial % 3 == 0)
                x *= 0.02;
            CollidePose pose = random_turn(x, y, kinds[g](x, y) + 0.02 + 0.12 * random_unit());
            double nearest = INFINITY;
            for (int t = 0; t < mesh.triangle_count; t++)
                nearest = fmin(nearest, triangle_distance(pose.position, mesh.positions + 3 * mesh.indices[3 * t],
                                                          mesh.positions + 3 * mesh.indices[3 * t + 1],
                                                          mesh.positions + 3 * mesh.indices[3 * t + 2]));
            for (int k = 0; k < 2; k++) {
                CollidePoint points[COLLIDE_SURFACE_POINTS];
                int count = touch(0, NULL, &pose, k ? grid.surface : mesh.surface, k ? &turned : &HERE, 0.0, points);
                CHECK((count > 0) == (nearest < BALL.size[0]), "touches when near");
                if (count > 0)
                    CHECK_NEAR(deepest(points, count), BALL.size[0] - nearest, 1e-9, "depth");
            }
        }
        ground_free(&mesh);
        ground_free(&grid);
    }
}

static double segment_distance(const double p[3], const double a[3], const double b[3])
{
    double ab = 0.0, ap = 0.0, sum = 0.0;
    for (int k = 0; k < 3; k++) {
        ab += (b[k] - a[k]) * (b[k] - a[k]);
        ap += (p[k] - a[k]) * (b[k] - a[k]);
    }
    double t = fmin(1.0, fmax(0.0, ap / ab));
    for (int k = 0; k < 3; k++)
        sum += (p[k] - a[k] - t * (b[k] - a[k])) * (p[k] - a[k] - t * (b[k] - a[k]));
    return sqrt(sum);
}

// By its plane when the foot is inside (all three corners turn the same way about it), else by its sides.
static double triangle_distance(const double p[3], const double a[3], const double b[3], const double c[3])
{
    const double *v[3] = { a, b, c };
    double n[3], length = 0.0, height = 0.0, turns[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        length += n[k] * n[k];
    }
    for (int k = 0; k < 3; k++)
        height += n[k] * (p[k] - a[k]) / sqrt(length);
    for (int e = 0; e < 3; e++) {
        const double *from = v[e], *to = v[(e + 1) % 3];
        turns[e] = 0.0;
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            turns[e] += n[k] * ((to[i] - from[i]) * (p[j] - from[j]) - (to[j] - from[j]) * (p[i] - from[i]));
        }
    }
    if (turns[0] >= 0.0 && turns[1] >= 0.0 && turns[2] >= 0.0)
        return fabs(height);
    return fmin(segment_distance(p, a, b), fmin(segment_distance(p, b, c), segment_distance(p, c, a)));
}

// A capsule across an edge: of the ridge between two slopes, it touches the edge itself.
static void a_capsule_lies_across_a_ridge(void **state)
{
    (void)state;
    Ground mesh = ground_mesh(4, 4.0, ridge);
    CollidePoint points[COLLIDE_SURFACE_POINTS];
    CollidePose pose = pose_of(0.02, 0.1, 0.075, (double[3]){ 0, 1, 0 }, M_PI / 2);
    int count = touch(1, NULL, &pose, mesh.surface, &HERE, 0.0, points);
    CHECK(count == 1, "one point");
    CHECK_NEAR(points[0].depth, 0.005, 1e-12, "depth");
    CHECK_NEAR(points[0].normal[2], 1.0, 1e-12, "straight up");
    CHECK_NEAR(points[0].position[0], 0.0, 1e-12, "at the edge");
    // Along the ridge it touches with both ends.
    pose = pose_of(0.0, 0.1, 0.075, (double[3]){ 1, 0, 0 }, M_PI / 2);
    count = touch(1, NULL, &pose, mesh.surface, &HERE, 0.0, points);
    CHECK(count >= 2 && fabs(points[0].position[1] - points[1].position[1]) > 0.25, "two points, far apart");
    // And a box lies across it with its face: up, two points on the edge.
    pose = pose_of(0.02, 0.1, 0.075, (double[3]){ 0, 0, 1 }, 0.0);
    count = touch(3, NULL, &pose, mesh.surface, &HERE, 0.0, points);
    CHECK(count == 2, "two points");
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(points[i].normal[2], 1.0, 1e-9, "straight up");
        CHECK_NEAR(points[i].depth, 0.005, 1e-9, "depth");
    }
    ground_free(&mesh);
}

// In a corner of three walls a shape gets points of all three: nothing is lost to the limit of four.
static void a_corner_holds_from_all_sides(void **state)
{
    (void)state;
    double positions[] = { 0, 0, 0, 2, 0, 0, 2, 2, 0, 0, 2, 0, 0, 0, 2, 2, 0, 2, 0, 2, 2 };
    int indices[] = { 0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 4, 5, 0, 3, 4, 3, 6, 4 };
    CollideSurface *surface = collide_surface_mesh(positions, 7, indices, 6);
    Convex *convex = wedge();
    for (int form = 0; form < FORMS; form++) {
        CollidePose pose = pose_of(0, 0, 0, (double[3]){ 0, 0, 1 }, 0.0);
        for (int k = 0; k < 3; k++)
            pose.position[k] = reach(form, &pose, (double[3]){ k == 0, k == 1, k == 2 }) - 0.001;
        CollidePoint points[COLLIDE_SURFACE_POINTS];
        int count = touch(form, convex, &pose, surface, &HERE, 0.0, points);
        for (int k = 0; k < 3; k++) {
            int facing = 0;
            for (int i = 0; i < count; i++)
                facing += points[i].normal[k] > 0.999;
            CHECK(facing > 0, form_names[form]);
        }
        CHECK_NEAR(deepest(points, count), 0.001, 1e-9, form_names[form]);
    }
    convex_destroy(convex);
    collide_surface_destroy(surface);
}

// Beside a step and on it: the edge of a block pushes to the side or up, never through.
static void a_step_pushes_the_right_way(void **state)
{
    (void)state;
    Mesh *block = mesh_box((Vec3){ 2, 2, 1 });
    CollideSurface *surface = collide_surface_mesh(block->positions, block->vertex_count, (const int *)block->triangles,
                                                   block->triangle_count);
    Convex *convex = wedge();
    for (int form = 0; form < FORMS; form++)
        for (int trial = 0; trial < support_trials(1000); trial++) {
            CollidePose pose = random_turn(0, 0, 0);
            // On top, as far over the edge as its middle allows; and beside it, as far down.
            bool is_on = trial % 2;
            double n[3] = { !is_on, 0, is_on }, depth = 0.002 * random_unit() + 1e-4;
            pose.position[is_on ? 2 : 0] = (is_on ? 0.5 : 1.0) + reach(form, &pose, n) - depth;
            pose.position[is_on ? 0 : 2] = (is_on ? 1.0 : 0.5) - 0.25 * random_unit() - 0.2;
            pose.position[1] = 0.8 * random_unit();
            CollidePoint points[COLLIDE_SURFACE_POINTS];
            int count = touch(form, convex, &pose, surface, &HERE, 0.0, points);
            CHECK(count > 0, form_names[form]);
            CHECK_NEAR(deepest(points, count), depth, form == 2 ? 1e-3 : 1e-6, form_names[form]);
            for (int i = 0; i < count; i++)
                CHECK(points[i].normal[is_on ? 2 : 0] > 1.0 - 1e-5, form_names[form]);
        }
    convex_destroy(convex);
    collide_surface_destroy(surface);
    mesh_destroy(block);
}

// A sheet pushes to its front what is not far through it, and holds boxes that come from behind; balls pass, as in ODE.
static void sides(void **state)
{
    (void)state;
    Ground mesh = ground_mesh(3, 4.0, flat);
    CollidePoint points[COLLIDE_SURFACE_POINTS];
    static const struct {
        int form;
        double height;
        int direction;
    } cases[] = {
        { 0, 0.05, 1 },    { 0, -0.02, 1 }, { 0, -0.045, 1 }, { 0, -0.055, 0 },  { 1, -0.035, 1 },
        { 1, -0.045, 0 },  { 2, -0.03, 1 }, { 2, -0.04, 0 },  { 3, 0.05, 1 },    { 3, -0.05, 1 },
        { 3, -0.065, -1 }, { 3, -0.09, 0 }, { 4, -0.05, 1 },  { 4, -0.065, -1 },
    };
    Convex *convex = wedge();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        CollidePose pose = pose_of(0.1, 0.2, cases[i].height,
                                   (double[3]){ cases[i].form == 1, 0, 1 - (cases[i].form == 1) },
                                   cases[i].form == 1 ? M_PI / 2 : 0.0);
        int count = touch(cases[i].form, convex, &pose, mesh.surface, &HERE, 0.0, points);
        CHECK((count > 0) == (cases[i].direction != 0), form_names[cases[i].form]);
        for (int k = 0; k < count; k++)
            CHECK_NEAR(points[k].normal[2], cases[i].direction, 1e-9, form_names[cases[i].form]);
    }
    // Heights are solid to any depth.
    CollidePose turned;
    Ground grid = ground_heights(&mesh, 4.0, &turned);
    for (int form = 0; form < FORMS; form++) {
        CollidePose pose = random_turn(0.1, 0.2, -3.0);
        int count = touch(form, convex, &pose, grid.surface, &turned, 0.0, points);
        CHECK(count > 0, form_names[form]);
        CHECK_NEAR(deepest(points, count), 3.0 + reach(form, &pose, (double[3]){ 0, 0, 1 }), form == 2 ? 0.02 : 1e-9,
                   form_names[form]);
        for (int k = 0; k < count; k++)
            CHECK_NEAR(points[k].normal[2], 1.0, 1e-9, form_names[form]);
    }
    convex_destroy(convex);
    ground_free(&mesh);
    ground_free(&grid);
}

// How far the surface of a shape goes below the ground, square to it, told by thousands of its points.
static double sampled_depth(int form, const CollidePose *pose, const Ground *mesh, double side)
{
    enum { POINTS = 8000 };
    double worst = -INFINITY, cell = side / mesh->n;
    int row = mesh->n + 1;
    for (int i = 0; i < POINTS + (form >= 3 ? 8 : 0); i++) {
        double z = 1.0 - (2.0 * i + 1.0) / POINTS, angle = 2.399963229728653 * i, across = sqrt(fmax(0.0, 1.0 - z * z));
        double d[3] = { across * cos(angle), across * sin(angle), z }, scale = 0.0, p[3];
        if (i >= POINTS)
            for (int k = 0; k < 3; k++)
                d[k] = ((i - POINTS) >> k & 1 ? 1.0 : -1.0) * BOX.size[k];
        if (form == 0)
            scale = BALL.size[0] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        else if (form == 2)
            scale = 1.0 / fmax(hypot(d[0], d[1]) / CYLINDER.size[0], fabs(d[2]) / CYLINDER.size[1]);
        else if (form >= 3)
            scale = 1.0 / fmax(fabs(d[0]) / BOX.size[0], fmax(fabs(d[1]) / BOX.size[1], fabs(d[2]) / BOX.size[2]));
        double along = i % 3 == 0 ? copysign(1.0, z)
                                  : 2.0 * fmod(i * 0.7548776662466927, 1.0) - 1.0;  // a ball somewhere in a capsule
        for (int k = 0; k < 3; k++)
            d[k] = form == 1 ? CAPSULE.size[0] * d[k] + (k == 2 ? along * CAPSULE.size[1] : 0.0) : scale * d[k];
        for (int k = 0; k < 3; k++)
            p[k] = pose->position[k] + pose->rotation[3 * k] * d[0] + pose->rotation[3 * k + 1] * d[1]
                   + pose->rotation[3 * k + 2] * d[2];
        double x = (p[0] + 0.5 * side) / cell, y = (p[1] + 0.5 * side) / cell;
        int a = (int)y * row + (int)x;
        double h[4] = { mesh->positions[3 * a + 2], mesh->positions[3 * a + 5], mesh->positions[3 * (a + row) + 2],
                        mesh->positions[3 * (a + row) + 5] };
        x -= floor(x);
        y -= floor(y);
        double hx = x > y ? h[1] - h[0] : h[3] - h[2], hy = x > y ? h[3] - h[1] : h[2] - h[0];
        worst = fmax(worst, (h[0] + hx * x + hy * y - p[2]) / sqrt(1.0 + (hx * hx + hy * hy) / (cell * cell)));
    }
    return worst;
}

// What is below the ground touches it, and what touches it by more than a little is below, over hills of every kind.
static void what_is_below_touches(void **state)
{
    (void)state;
    Ground mesh = ground_mesh(24, 3.0, hills);
    CollidePose turned;
    Ground grid = ground_heights(&mesh, 3.0, &turned);
    Convex *convex = wedge();
    for (int form = 0; form < FORMS; form++)
        for (int k = 0; k < 2; k++) {
            int touching = 0, lost = 0, invented = 0, too_deep = 0, too_shallow = 0;
            for (int trial = 0; trial < support_trials(1000); trial++) {
                double x = 2.0 * random_unit() - 1.0, y = 2.0 * random_unit() - 1.0;
                CollidePose pose = random_turn(x, y, hills(x, y) + 0.04 + 0.2 * random_unit());
                CollidePoint points[COLLIDE_SURFACE_POINTS];
                int count = touch(form, convex, &pose, k ? grid.surface : mesh.surface, k ? &turned : &HERE, 0.0,
                                  points);
                double depth = count > 0 ? deepest(points, count) : 0.0,
                       expected = sampled_depth(form, &pose, &mesh, 3.0);
                touching += expected > 0.0;
                lost += count == 0 && expected > 1e-3;
                invented += depth > 1e-3 && expected < -1e-3;
                too_deep += expected > 0.0 && depth > 1.3 * expected + 3e-3;
                too_shallow += expected > 0.0 && depth < 0.6 * expected - 3e-3;
            }
            print_message("%s on %s: %d touch, %d lost, %d invented, %d too deep, %d too shallow\n", form_names[form],
                          k ? "heights" : "a mesh", touching, lost, invented, too_deep, too_shallow);
            CHECK(touching > support_trials(300) && lost == 0 && invented == 0, form_names[form]);
            // A sunken edge or corner between hills has more than one way out.
            CHECK(too_deep * 25 < touching && too_shallow * 25 < touching, form_names[form]);
        }
    convex_destroy(convex);
    ground_free(&mesh);
    ground_free(&grid);
}

// How far a box and a triangle are apart at most, seen along the thirteen directions that decide; negative when they
// overlap.
static double box_triangle_separation(const CollidePose *pose, const double half[3], const double *v[3])
{
    double t[3][3], axes[13][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, best = -INFINITY;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            t[i][k] = pose->rotation[k] * (v[i][0] - pose->position[0])
                      + pose->rotation[3 + k] * (v[i][1] - pose->position[1])
                      + pose->rotation[6 + k] * (v[i][2] - pose->position[2]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4;
             k++) {  // an edge with each side of the box, and with the next edge: the normal, three times
            const double *from = t[i], *to = t[(i + 1) % 3], *after = t[(i + 2) % 3];
            double e[3] = { to[0] - from[0], to[1] - from[1], to[2] - from[2] }, u[3] = { k == 0, k == 1, k == 2 };
            for (int c = 0; k == 3 && c < 3; c++)
                u[c] = after[c] - to[c];
            double *axis = k == 3 ? axes[12] : axes[3 + 3 * i + k];
            for (int c = 0; c < 3; c++)
                axis[c] = e[(c + 1) % 3] * u[(c + 2) % 3] - e[(c + 2) % 3] * u[(c + 1) % 3];
        }
    for (int a = 0; a < COUNT_OF(axes); a++) {
        double length = sqrt(axes[a][0] * axes[a][0] + axes[a][1] * axes[a][1] + axes[a][2] * axes[a][2]),
               low = INFINITY, high = -INFINITY, extent = 0.0;
        if (length < 1e-9)
            continue;
        for (int i = 0; i < 3; i++) {
            double at = (axes[a][0] * t[i][0] + axes[a][1] * t[i][1] + axes[a][2] * t[i][2]) / length;
            low = fmin(low, at);
            high = fmax(high, at);
            extent += fabs(axes[a][i]) * half[i] / length;
        }
        best = fmax(best, fmax(low - extent, -high - extent));
    }
    return best;
}

// Boxes over hills touch when they meet one of the triangles, and not before.
static void boxes_do_not_touch_early(void **state)
{
    (void)state;
    Ground mesh = ground_mesh(24, 3.0, hills);
    CollidePose turned;
    Ground grid = ground_heights(&mesh, 3.0, &turned);
    int early[2] = { 0 }, lost[2] = { 0 };
    seed = 3;
    for (int trial = 0; trial < support_trials(16000); trial++) {
        double x = 2.0 * random_unit() - 1.0, y = 2.0 * random_unit() - 1.0, apart = INFINITY;
        CollidePose pose = random_turn(x, y, hills(x, y) + 0.04 + 0.2 * random_unit());
        for (int i = 0; i < mesh.triangle_count; i++) {
            const double *v[3] = { mesh.positions + 3 * mesh.indices[3 * i],
                                   mesh.positions + 3 * mesh.indices[3 * i + 1],
                                   mesh.positions + 3 * mesh.indices[3 * i + 2] };
            // Those within reach: the box is 0.2 from its middle to its corners, a cell 0.125 wide.
            if (fabs(v[0][0] - x) < 0.33 && fabs(v[0][1] - y) < 0.33)
                apart = fmin(apart, box_triangle_separation(&pose, BOX.size, v));
        }
        for (int k = 0; k < 2; k++) {
            CollidePoint points[COLLIDE_SURFACE_POINTS];
            int count = touch(3, NULL, &pose, k ? grid.surface : mesh.surface, k ? &turned : &HERE, 0.0, points);
            early[k] += count > 0 && apart > 1e-6;
            lost[k] += count == 0 && apart < -1e-6;
        }
    }
    for (int k = 0; k < 2; k++)
        CHECK(early[k] == 0 && lost[k] == 0, k ? "heights" : "mesh");
    ground_free(&mesh);
    ground_free(&grid);
}

static dGeomID geom_of(int form)
{
    switch (form) {
    case 0: return dCreateSphere(NULL, BALL.size[0]);
    case 1: return dCreateCapsule(NULL, CAPSULE.size[0], 2 * CAPSULE.size[1]);
    case 2: return dCreateCylinder(NULL, CYLINDER.size[0], 2 * CYLINDER.size[1]);
    default: return dCreateBox(NULL, 2 * BOX.size[0], 2 * BOX.size[1], 2 * BOX.size[2]);
    }
}

static double ode_depth(dGeomID a, dGeomID b, const CollidePose *pose, int *count)
{
    dMatrix3 r = { 0 };
    dContactGeom found[64];
    double depth = -INFINITY;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            r[4 * i + k] = pose->rotation[3 * i + k];
    dGeomSetPosition(a, pose->position[0], pose->position[1], pose->position[2]);
    dGeomSetRotation(a, r);
    *count = dCollide(a, b, 64, found, sizeof found[0]);
    for (int i = 0; i < *count; i++)
        depth = fmax(depth, found[i].depth);
    return depth;
}

// ODE's triangles and ours over the same hills: they agree on who touches, but for slight touches, and nearly always
// about how deep. (ODE takes the depth of a box or cylinder by other axes where several overlap about as much.)
static void the_same_touches_as_in_ode(void **state)
{
    (void)state;
    Ground mesh = ground_mesh(24, 3.0, hills);
    CollidePose turned;
    Ground grid = ground_heights(&mesh, 3.0, &turned);
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildDouble(data, mesh.positions, 3 * sizeof(double), mesh.vertex_count, mesh.indices,
                                3 * mesh.triangle_count, 3 * sizeof(dTriIndex));
    dGeomTriMeshDataPreprocess2(data, 1u << dTRIDATAPREPROCESS_BUILD_CONCAVE_EDGES, NULL);
    dHeightfieldDataID field = dGeomHeightfieldDataCreate();
    dGeomHeightfieldDataBuildDouble(field, grid.heights, 0, 3.0, 3.0, 25, 25, 1.0, 0.0, 1.0, 0);
    dGeomHeightfieldDataSetBounds(field, -1.0, 1.0);
    dGeomID grounds[2] = { dCreateTriMesh(NULL, data, NULL, NULL, NULL), dCreateHeightfield(NULL, field, 1) };
    dMatrix3 lying;
    dRFromAxisAndAngle(lying, 1, 0, 0, M_PI / 2);
    dGeomSetRotation(grounds[1], lying);
    for (int form = 0; form < 4; form++) {
        dGeomID geom = geom_of(form);
        for (int k = 0; k < 2; k++) {
            int touching = 0, apart = 0, deeper = 0;
            for (int trial = 0; trial < support_trials(1500); trial++) {
                double x = 2.0 * random_unit() - 1.0, y = 2.0 * random_unit() - 1.0;
                CollidePose pose = random_turn(x, y, hills(x, y) + 0.04 + 0.2 * random_unit());
                CollidePoint points[COLLIDE_SURFACE_POINTS];
                int theirs,
                    ours = touch(form, NULL, &pose, k ? grid.surface : mesh.surface, k ? &turned : &HERE, 0.0, points);
                double expected = ode_depth(geom, grounds[k], &pose, &theirs), depth = deepest(points, ours);
                touching += theirs > 0;
                apart += (theirs > 0) != (ours > 0) && fmax(expected, depth) > 2e-3;
                deeper += theirs > 0 && ours > 0 && fabs(expected - depth) > 4e-3 + 0.3 * fmin(expected, depth);
            }
            print_message("%s on %s: of %d that touch in ODE %d otherwise, %d of another depth\n", form_names[form],
                          k ? "heights" : "a mesh", touching, apart, deeper);
            // What it loses and invents is ODE's part: the test before this one has the truth of these hills.
            CHECK(touching > support_trials(400) && apart * 5 <= touching && deeper * 5 <= touching, form_names[form]);
        }
        dGeomDestroy(geom);
    }
    for (int k = 0; k < 2; k++)
        dGeomDestroy(grounds[k]);
    dGeomTriMeshDataDestroy(data);
    dGeomHeightfieldDataDestroy(field);
    ground_free(&mesh);
    ground_free(&grid);
}

// A surface of nothing, of one triangle, of needles; far away; a hundred thousand triangles under one box.
static void odd_surfaces_are_survived(void **state)
{
    (void)state;
    double positions[] = { -1, -1, 0, 1, -1, 0, 0, 1, 0, 1e-9, 1, 0, 5e8, 5e8, 0 };
    int nothing[] = { 0, 0, 1 }, one[] = { 0, 1, 2 }, needles[] = { 0, 1, 2, 0, 2, 3, 0, 1, 4 };
    static const struct {
        int count;
    } sizes[] = { { 1 }, { 1 }, { 3 } };
    int *indices[] = { nothing, one, needles };
    Convex *convex = wedge();
    CollidePoint points[COLLIDE_SURFACE_POINTS];
    for (int i = 0; i < 3; i++) {
        CollideSurface *surface = collide_surface_mesh(positions, 5, indices[i], sizes[i].count);
        for (int form = 0; form < FORMS; form++) {
            CollidePose pose = pose_of(0, 0, 0, (double[3]){ 0, 0, 1 }, 0.3);
            pose.position[2] = reach(form, &pose, (double[3]){ 0, 0, 1 }) - 0.01;
            int count = touch(form, convex, &pose, surface, &HERE, 0.0, points);
            CHECK((count > 0) == (i > 0), form_names[form]);
            for (int k = 0; k < count; k++)
                CHECK(isfinite(points[k].depth) && points[k].normal[2] > 0.999, form_names[form]);
            pose.position[0] = 1e9;
            CHECK(touch(form, convex, &pose, surface, &HERE, 0.0, points) == 0 || i == 2, "far away");
        }
        collide_surface_destroy(surface);
    }
    // All that the one box is over does not fit the room for points at once.
    Ground fine = ground_mesh(230, 0.2, hills);
    for (int form = 0; form < FORMS; form++) {
        CollidePose pose = pose_of(0, 0, hills(0, 0) + 0.05, (double[3]){ 0, 0, 1 }, 0.0);
        int count = touch(form, convex, &pose, fine.surface, &HERE, 0.0, points);
        CHECK(count > 0 && count <= COLLIDE_SURFACE_POINTS, form_names[form]);
    }
    ground_free(&fine);
    convex_destroy(convex);
}

int main(void)
{
    dInitODE2(0);
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_triangles_are_a_plane),    cmocka_unit_test(balls_are_as_deep_as_they_are_near),
        cmocka_unit_test(a_capsule_lies_across_a_ridge), cmocka_unit_test(a_corner_holds_from_all_sides),
        cmocka_unit_test(a_step_pushes_the_right_way),   cmocka_unit_test(sides),
        cmocka_unit_test(what_is_below_touches),         cmocka_unit_test(boxes_do_not_touch_early),
        cmocka_unit_test(the_same_touches_as_in_ode),    cmocka_unit_test(odd_surfaces_are_survived),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dCloseODE();
    return failed;
}
