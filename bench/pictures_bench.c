// pictures_bench.c - rays and pictures beside the raw throughput of the search library on the same tree, and beside
// software OpenGL drawing the same triangles. One run, interleaved: each round measures everything once, the best of
// the rounds counts. With one thread the processor time of the whole program is measured (that of OpenGL's threads is
// in it), which other work on the machine changes little; with two threads the time that passes.
#include "base/memory.h"
#include "base/pool.h"
#include "devices/devices_internal.h"
#include "rays/rays_internal.h"
#include "sim/sim.h"
#include "viewer/gl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef TALUS_HAS_EGL
#include <GL/gl.h>
#endif

enum { ROUNDS = 15, WIDTH = 640, HEIGHT = 480, LAYERS = 16, COLUMNS = 1800 };

static clockid_t used_clock = CLOCK_PROCESS_CPUTIME_ID;

static double now(void)
{
    struct timespec time;
    clock_gettime(used_clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- the world: hills and balls of triangles ----

static void add_hills(Text *text, int side)
{
    text_printf(
        text,
        "Pose { translation -20 -20 0 children [ Shape { appearance PBRAppearance { baseColor 0.5 0.6 0.4 roughness 1 metalness 0 } geometry ElevationGrid { xDimension %d yDimension %d xSpacing %g ySpacing %g height [ ",
        side, side, 40.0 / (side - 1), 40.0 / (side - 1));
    for (int i = 0; i < side * side; i++)
        text_printf(text, "%.4f ",
                    0.5 * sin(0.31 * (i % side) * 60.0 / side) * cos(0.23 * (double)(i / side) * 60.0 / side));
    text_add_string(text, "] } } ] }\n");
}

static void add_ball(Text *text, int around)
{
    int up = around / 2;
    text_add_string(
        text,
        "Shape { appearance PBRAppearance { baseColor 0.8 0.3 0.2 roughness 0.6 metalness 0 } geometry DEF BALL IndexedFaceSet { creaseAngle 3 coord Coordinate { point [ ");
    for (int i = 0; i <= up; i++)
        for (int k = 0; k < around; k++) {
            double a = M_PI * i / up, b = 2.0 * M_PI * k / around;
            text_printf(text, "%.5f %.5f %.5f ", 0.4 * sin(a) * cos(b), 0.4 * sin(a) * sin(b), 0.4 * cos(a));
        }
    text_add_string(text, "] } coordIndex [ ");
    for (int i = 0; i < up; i++)
        for (int k = 0; k < around; k++) {
            int next = (k + 1) % around;
            if (i > 0)
                text_printf(text, "%d %d %d -1 ", i * around + k, (i + 1) * around + k, i * around + next);
            if (i < up - 1)
                text_printf(text, "%d %d %d -1 ", i * around + next, (i + 1) * around + k, (i + 1) * around + next);
        }
    text_add_string(text, "] } }");
}

static char *make_world(int hills, int balls, int around, const char *more)
{
    Text text = { 0 };
    text_add_string(
        &text,
        "#VRML_SIM R2025a utf8\nWorldInfo { }\nViewpoint { }\nBackground { skyColor [ 0.5 0.7 1 ] }\nDirectionalLight { direction 0.3 0.5 -1 castShadows TRUE }\n");
    add_hills(&text, hills);
    for (int i = 0; i < balls; i++) {
        text_printf(&text, "Solid { name \"%d\" translation %g %g %g children [ ", i, -9.0 + 2.0 * (i % 10),
                    -4.0 + 2.0 * (double)(i / 10), 1.5);
        if (i == 0)
            add_ball(&text, around);
        else
            text_add_string(
                &text,
                "Shape { appearance PBRAppearance { baseColor 0.8 0.3 0.2 roughness 0.6 metalness 0 } geometry USE BALL }");
        text_add_string(&text, " ] }\n");
    }
    text_printf(
        &text,
        "Robot { translation -12 0 3 rotation 0 1 0 0.3 children [ Camera { width %d height %d fieldOfView 1 } Lidar { numberOfLayers %d horizontalResolution %d fieldOfView 6.283 verticalFieldOfView 0.5 maxRange 100 } ] }\n%s",
        WIDTH, HEIGHT, LAYERS, COLUMNS, more);
    return text.data;
}

// ---- raw: the same tree, packets, nothing computed from the hits but the distance ----

typedef struct Raw {
    const Rays *rays;
    const Ray *queries;
    float *distances;
    int count;
} Raw;

static void cast_raw(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Raw *raw = context;
    for (int first = begin * 8; first < end * 8 && first < raw->count; first += 8) {
        struct RTCRayHit8 packet;
        _Alignas(32) int valid[8];
        EmbreeContext query;
        for (int k = 0; k < 8; k++) {
            const Ray *ray = &raw->queries[first + k];
            valid[k] = -1;
            packet.ray.org_x[k] = (float)ray->origin.x, packet.ray.org_y[k] = (float)ray->origin.y,
            packet.ray.org_z[k] = (float)ray->origin.z;
            packet.ray.dir_x[k] = (float)ray->direction.x, packet.ray.dir_y[k] = (float)ray->direction.y,
            packet.ray.dir_z[k] = (float)ray->direction.z;
            packet.ray.tnear[k] = 0.01f, packet.ray.tfar[k] = 100.0f, packet.ray.mask[k] = 1, packet.ray.flags[k] = 0,
            packet.ray.time[k] = 0;
            packet.ray.id[k] = (unsigned)k;
            packet.hit.geomID[k] = packet.hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
        }
        embree_begin(&query, true);
        embree_intersect8(valid, raw->rays->scene, &query, true, &packet);
        for (int k = 0; k < 8; k++)
            raw->distances[first + k] = packet.ray.tfar[k];
    }
}

static void cast_ours(int begin, int end, int worker, void *context)
{
    (void)worker;
    const Raw *raw = context;
    double distances[64];
    for (int first = begin * 8; first < end * 8 && first < raw->count; first += 64) {
        int here = int_min(int_min(raw->count, end * 8) - first, 64);
        rays_distances(raw->rays, raw->queries + first, here, NULL, NULL, distances);
        for (int k = 0; k < here; k++)
            raw->distances[first + k] = (float)distances[k];
    }
}

// ---- software OpenGL ----

static double draw_with_opengl(GlScreen *screen, const Rays *rays, uint8_t *pixels)
{
#ifdef TALUS_HAS_EGL
    static float *points, *normals;
    static int count;
    if (!count) {
        points = memory_alloc_array(9 * (size_t)rays_triangle_count(rays), sizeof *points);
        normals = memory_alloc_array(9 * (size_t)rays_triangle_count(rays), sizeof *normals);
    }
    if (!count)
        for (int i = 0; i < rays->visual_count; i++) {
            const Visual *visual = &rays->visuals[i];
            const Mesh *mesh = rays->meshes[visual->mesh].mesh;
            for (int t = 0; t < mesh->triangle_count; t++, count++) {
                Vec3 n = mat3_apply(visual->world.m, mesh_triangle_normal(mesh, t));
                for (int k = 0; k < 3; k++) {
                    Vec3 p = vec3_add(mat3_apply(visual->world.m, mesh_position(mesh, mesh->triangles[3 * t + k])),
                                      visual->world.t);
                    float *to = points + 9 * (size_t)count + 3 * k, *to_normal = normals + 9 * (size_t)count + 3 * k;
                    to[0] = (float)p.x, to[1] = (float)p.y, to[2] = (float)p.z;
                    to_normal[0] = (float)n.x, to_normal[1] = (float)n.y, to_normal[2] = (float)n.z;
                }
            }
        }
    double start = now();
    gl_clean(screen);
    glClearColor(0.5f, 0.7f, 1.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    glMatrixMode(GL_PROJECTION);
    glLoadIdentity();
    glFrustum(-0.0273, 0.0273, -0.0205, 0.0205, 0.05, 200);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glRotated(17.2, 1, 0, 0);
    glMultMatrixd((double[16]){ 0, 0, -1, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1 });
    glTranslated(12, 0, -3);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glLightfv(GL_LIGHT0, GL_POSITION, (float[4]){ -0.3f, -0.5f, 1, 0 });
    glEnableClientState(GL_VERTEX_ARRAY);
    glEnableClientState(GL_NORMAL_ARRAY);
    glVertexPointer(3, GL_FLOAT, 0, points);
    glNormalPointer(GL_FLOAT, 0, normals);
    glDrawArrays(GL_TRIANGLES, 0, 3 * count);
    gl_read(screen, pixels);
    return now() - start;
#else
    (void)screen, (void)rays, (void)pixels;
    return NAN;
#endif
}

// ---- the table ----

typedef struct Bench {
    Sim *sim;
    Devices *devices;
    Rays *rays;
    Ray *camera, *lidar;
    float *distances;
} Bench;

static Bench bench_open(const char *text, int threads, DiagSink *diags)
{
    Bench bench = { .sim = sim_load_text("bench.wbt", text, strlen(text),
                                         &(SimOptions){ .physics = { .threads = threads } }, diags) };
    if (!bench.sim) {
        diag_print(diags, stderr, 0, DIAG_ERROR);
        exit(1);
    }
    bench.devices = devices_create(sim_scene(bench.sim), sim_physics(bench.sim), diags);
    bench.rays = due_rays(bench.devices);
    rays_update(bench.rays);
    bench.camera = memory_alloc_array(WIDTH * HEIGHT, sizeof(Ray));
    bench.lidar = memory_alloc_array(LAYERS * COLUMNS, sizeof(Ray));
    bench.distances = memory_alloc_array(WIDTH * HEIGHT, sizeof(float));
    Pose pose = { vec3(-12, 0, 3), quat_from_axis_angle(vec3(0, 1, 0), 0.3) };
    ImageView view = image_view_of(PLANAR, WIDTH, HEIGHT, 1.0);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        bench.camera[i] = (Ray){ pose.t, quat_rotate(pose.q, image_direction(&view, i % WIDTH + 0.5, i / WIDTH + 0.5)),
                                 0.01, 100.0, 0.0 };
    for (int i = 0; i < LAYERS * COLUMNS; i++) {
        // As the Lidar of the world looks, so that its image beside them shows what the image costs.
        double a = 6.283 * (0.5 - (i % COLUMNS + 0.5) / COLUMNS),
               up = 0.25 - 0.5 * (double)(i / COLUMNS) / (LAYERS - 1);
        bench.lidar[i] = (Ray){ pose.t, quat_rotate(pose.q, vec3(cos(up) * cos(a), cos(up) * sin(a), sin(up))), 0.01,
                                100.0, 0.0 };
    }
    return bench;
}

static void bench_close(Bench *bench)
{
    devices_destroy(bench->devices);
    sim_destroy(bench->sim);
    free(bench->camera);
    free(bench->lidar);
    free(bench->distances);
}

static double timed_rays(const Bench *bench, const Ray *queries, int count, PoolRange cast)
{
    Raw raw = { bench->rays, queries, bench->distances, count };
    double start = now();
    pool_for(physics_pool(sim_physics(bench->sim)), count / 8, 80, cast, &raw);
    return now() - start;
}

static double timed_image(Bench *bench, int tag)
{
    int size;
    devices_enable(bench->devices, 0, tag, 0, 32);
    sim_step(bench->sim);
    devices_sample(bench->devices, sim_steps(bench->sim));
    double start = now();
    devices_image(bench->devices, 0, tag, 0, &size);
    return now() - start;
}

static void least(double *best, double value)
{
    if (*best == 0.0 || value < *best)
        *best = value;
}

static void measure(int threads, DiagSink *diags)
{
    char *large = make_world(256, 100, 26, ""), *small = make_world(64, 40, 26, "");
    Bench big = bench_open(large, threads, diags), little = bench_open(small, threads, diags);
    GlScreen *screen = gl_open(WIDTH, HEIGHT, diags);
    uint8_t *pixels = memory_alloc_array(WIDTH * HEIGHT, 4);
    double best[8] = { 0 };
    for (int round = 0; round < ROUNDS; round++) {
        least(&best[0], timed_rays(&big, big.camera, WIDTH * HEIGHT, cast_raw));
        least(&best[1], timed_rays(&big, big.camera, WIDTH * HEIGHT, cast_ours));
        least(&best[2], timed_rays(&big, big.lidar, LAYERS * COLUMNS, cast_raw));
        least(&best[3], timed_rays(&big, big.lidar, LAYERS * COLUMNS, cast_ours));
        least(&best[4], timed_image(&big, 2));
        least(&best[5], timed_image(&little, 1));
        if (screen)
            least(&best[6], draw_with_opengl(screen, little.rays, pixels));
    }
    printf("| %d | primary rays 640x480, %d triangles | %.1f ms raw, %.1f ms ours | %.2f of raw throughput |\n",
           threads, rays_triangle_count(big.rays), 1e3 * best[0], 1e3 * best[1], best[0] / best[1]);
    printf("| %d | lidar rays 16x1800, %d triangles | %.2f ms raw, %.2f ms ours | %.2f times raw |\n", threads,
           rays_triangle_count(big.rays), 1e3 * best[2], 1e3 * best[3], best[3] / best[2]);
    printf("| %d | lidar image 16x1800 | %.2f ms | %.2f times raw |\n", threads, 1e3 * best[4], best[4] / best[2]);
    printf(
        "| %d | colour 640x480 with shadows, %d triangles | %.1f ms, llvmpipe without shadows %.1f ms | %.2f times |\n",
        threads, rays_triangle_count(little.rays), 1e3 * best[5], 1e3 * best[6], best[5] / best[6]);
    free(pixels);
    gl_close(screen);
    bench_close(&big);
    bench_close(&little);
    free(large);
    free(small);
}

// A world with ten cameras that are on and that nobody reads, beside one without.
static void measure_unread(DiagSink *diags)
{
    Text more = { 0 };
    for (int i = 0; i < 10; i++)
        text_printf(&more, "Robot { name \"r%d\" children [ Camera { width 640 height 480 } ] }\n", i);
    for (int i = 0; i < 200; i++)
        text_printf(
            &more,
            "Solid { name \"b%d\" translation %g %g %g boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } children [ Shape { geometry Box { size 0.2 0.2 0.2 } } ] }\n",
            i, 30.0 + 0.3 * (i % 10), 0.3 * (double)(i / 10), 1.0 + 0.01 * i);
    char *text = make_world(32, 1, 8, more.data);
    double best[2] = { 0 };
    for (int round = 0; round < 9; round++)
        for (int on = 0; on < 2; on++) {
            Bench bench = bench_open(text, 1, diags);
            for (int robot = 1; on && robot <= 10; robot++)
                devices_enable(bench.devices, robot, 1, 0, 32);
            double start = now();
            for (int step = 0; step < 150; step++) {
                sim_step(bench.sim);
                devices_sample(bench.devices, sim_steps(bench.sim));
            }
            least(&best[on], now() - start);
            bench_close(&bench);
        }
    printf(
        "| 1 | ten cameras on and unread, 150 steps of 200 falling boxes | %.1f ms without, %.1f ms with | %+.1f %% |\n",
        1e3 * best[0], 1e3 * best[1], 100.0 * (best[1] / best[0] - 1.0));
    free(text);
    text_free(&more);
}

// One picture after the other, for a profiler, and as many by software OpenGL.
static void draw_only(int count, DiagSink *diags)
{
    char *small = make_world(64, 40, 26, "");
    Bench little = bench_open(small, 1, diags);
    GlScreen *screen = gl_open(WIDTH, HEIGHT, diags);
    uint8_t *pixels = memory_alloc_array(WIDTH * HEIGHT, 4);
    double best[2] = { 0 };
    for (int i = 0; i < count; i++) {
        least(&best[0], timed_image(&little, 1));
        if (screen)
            least(&best[1], draw_with_opengl(screen, little.rays, pixels));
    }
    printf("%.2f ms of processor time for a colour picture, llvmpipe %.2f ms: %.2f times\n", 1e3 * best[0],
           1e3 * best[1], best[0] / best[1]);
    free(pixels);
    gl_close(screen);
    bench_close(&little);
    free(small);
}

int main(int argc, char **argv)
{
    DiagSink *diags = diag_create();
    if (argc > 1) {
        draw_only(atoi(argv[1]), diags);
        diag_destroy(diags);
        return 0;
    }
    printf("| threads | what | time | beside |\n| --- | --- | --- | --- |\n");
    measure(1, diags);
    measure_unread(diags);
    used_clock = CLOCK_MONOTONIC;
    measure(2, diags);
    diag_destroy(diags);
    return 0;
}
