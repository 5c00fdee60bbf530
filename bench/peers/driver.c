// usage: <engine> scene n dt variant [maxwall] [poses.out]
// Prints one JSON line. Steps the scene for scene->sim_time seconds (or until
// maxwall seconds of processor time have been used) and measures time per step plus quality.
// PEERS_SIM: simulated seconds; PEERS_COUNT_FROM: step from which callgrind counts instructions;
// PEERS_TIMES: file for the wall time of each step in microseconds.
#define _POSIX_C_SOURCE 200809L
#include "scene.h"
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_TOGGLE_COLLECT
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double energy(const Scene *s, Engine *e)
{
    double E = 0;
    for (int i = 0; i < s->nb; i++) {
        double p[3], q[4], v[3], w[3], lw[3];
        eng_state(e, i, p, q, v, w);
        q_irot(q, w, lw);
        const Body *b = &s->bodies[i];
        E += .5 * b->mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) - b->mass * s->gravity * p[2];
        for (int k = 0; k < 3; k++)
            E += .5 * b->inertia[k] * lw[k] * lw[k];
    }
    return E;
}

static double joint_error(const Scene *s, Engine *e)
{
    double worst = 0;
    for (int i = 0; i < s->nj; i++) {
        const Joint *j = &s->joints[i];
        double pa[3] = { 0 }, qa[4] = { 1 }, pb[3], qb[4], v[3], w[3], a[3], b[3], d = 0;
        if (j->a >= 0)
            eng_state(e, j->a, pa, qa, v, w);
        eng_state(e, j->b, pb, qb, v, w);
        q_rot(qa, j->la, a);
        q_rot(qb, j->lb, b);
        for (int k = 0; k < 3; k++) {
            double t = a[k] + pa[k] - b[k] - pb[k];
            d += t * t;
        }
        d = sqrt(d);
        if (!(d <= worst))
            worst = d;
    }
    return worst;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: %s scene n dt variant [maxwall] [poses]\nvariants: %s\n", argv[0], eng_variants);
        return 2;
    }
    int rays = !strcmp(argv[1], "ray");
    Scene *s = scene_make(rays ? "pile" : argv[1], atoi(argv[2]));
    double dt = atof(argv[3]), maxwall = argc > 5 ? atof(argv[5]) : 20;
    if (getenv("PEERS_SIM"))
        s->sim_time = atof(getenv("PEERS_SIM"));
    double t0 = now();
    Engine *e = eng_create(s, argv[4], dt);
    if (!e) {
        printf(
            "{\"engine\":\"%s\",\"variant\":\"%s\",\"scene\":\"%s\",\"n\":%s,\"dt\":%g,\"error\":\"not supported\"}\n",
            eng_name, argv[4], argv[1], argv[2], dt);
        return 0;
    }
    double build = now() - t0;
    int steps = (int)(s->sim_time / dt + .5), done = 0;
    double E0 = energy(s, e), Escale = 0, je = 0, dE = 0;
    for (int i = 0; i < s->nb; i++)
        Escale += s->bodies[i].mass * 9.81 * (s->bodies[0].parent_joint >= 0 ? 2 - s->bodies[i].pos[2] + .1 : 1);
    double *dur = malloc(sizeof(double) * (steps + 1)), wall = 0, cput = 0;
    double contacts = 0;
    int samples = 0, count_from = getenv("PEERS_COUNT_FROM") ? atoi(getenv("PEERS_COUNT_FROM")) : -1;
    while (done < steps && (cput < maxwall || done < 3)) {
        // Asking for the processor time costs as much as a small scene's step: ask around ten steps.
        int batch = done > 0 && dur[done - 1] < .01 ? 10 - done % 10 : 1;
        double c0 = cpu();
        for (int i = 0; i < batch && done < steps; i++, done++) {
            if (done == count_from)
                CALLGRIND_START_INSTRUMENTATION;
            double a = now();
            if (count_from >= 0 && done >= count_from)
                CALLGRIND_TOGGLE_COLLECT;
            eng_step(e);
            if (count_from >= 0 && done >= count_from)
                CALLGRIND_TOGGLE_COLLECT;
            dur[done] = now() - a;
            wall += dur[done];
        }
        cput += cpu() - c0;
        contacts += eng_contacts(e);
        samples++;
        if (s->nj && (done % 10 == 0 || done == steps)) {
            double x = joint_error(s, e);
            if (!(x <= je))
                je = x;
        }
        if (s->check_energy && done % 10 == 0) {
            double x = fabs(energy(s, e) - E0) / Escale;
            if (!(x <= dE))
                dE = x;
        }
    }
    struct mallinfo2 heap = mallinfo2();
    int tail = done / 5 > 0 ? done / 5 : 1;
    double tw = 0;
    for (int i = done - tail; i < done; i++)
        tw += dur[i];
    double mn = 1e30;
    for (int i = 0; i < done; i++)
        if (dur[i] < mn)
            mn = dur[i];
    printf(
        "{\"engine\":\"%s\",\"variant\":\"%s\",\"scene\":\"%s\",\"n\":%s,\"dt\":%g,\"bodies\":%d,\"joints\":%d,\"steps\":%d,"
        "\"of\":%d,\"us\":%.3f,\"us_tail\":%.3f,\"us_min\":%.3f,\"cpu_us\":%.3f,\"build_s\":%.4f,\"contacts\":%.1f,"
        "\"contacts_last\":%d,\"heap\":%zu",
        eng_name, argv[4], argv[1], argv[2], dt, s->nb, s->nj, done, steps, wall / done * 1e6, tw / tail * 1e6,
        mn * 1e6, cput / done * 1e6, build, contacts / samples, eng_contacts(e), heap.uordblks + heap.hblkhd);
    // quality
    int bad = 0;
    double vmax = 0, vsum = 0, zmin = 1e30, ztop = -1e30, ztop0 = -1e30, hdrift = 0, drive = 0, dmin = 1e30, below = 0;
    for (int i = 0; i < s->nb; i++) {
        double p[3], q[4], v[3], w[3];
        eng_state(e, i, p, q, v, w);
        double sp = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (!(sp < 1e6)) {
            bad++;
            continue;
        }
        if (sp > vmax)
            vmax = sp;
        vsum += sp;
        if (p[2] < zmin)
            zmin = p[2];
        if (p[2] > ztop)
            ztop = p[2];
        const Body *b = &s->bodies[i];
        if (b->pos[2] > ztop0)
            ztop0 = b->pos[2];
        double h = hypot(p[0] - b->pos[0], p[1] - b->pos[1]);
        if (h > hdrift)
            hdrift = h;
        if (s->check_drive && i % 5 == 0) {
            double d = p[0] - b->pos[0];
            drive += d / (s->nb / 5);
            if (d < dmin)
                dmin = d;
        }
        if (s->check_terrain) {
            double r = scene_terrain_height(s, p[0], p[1]) - p[2];
            if (r > below)
                below = r;
        }
    }
    printf(",\"nan\":%d,\"vmax\":%.4g,\"vmean\":%.4g,\"zmin\":%.4g,\"ztop\":%.4g,\"ztop0\":%.4g,\"hdrift\":%.4g", bad,
           vmax, vsum / s->nb, zmin, ztop, ztop0, hdrift);
    if (s->nj)
        printf(",\"joint_err_mm\":%.4g", je * 1e3);
    if (s->check_energy)
        printf(",\"energy_drift\":%.4g", dE);
    if (s->check_drive)
        printf(",\"drive_mean\":%.4g,\"drive_min\":%.4g", drive, dmin);
    if (s->check_terrain)
        printf(",\"below\":%.4g", below);
    if (rays) {
        int n = 100000;
        double *o = malloc(sizeof(double) * 3 * n), *d = malloc(sizeof(double) * 3 * n), sum = 0, best = 1e30;
        int hits = 0;
        unsigned long long r = 12345;
#define RND() (r = r * 6364136223846793005ull + 1442695040888963407ull, (double)(r >> 11) / 9007199254740992.0)
        for (int i = 0; i < n; i++) {  // lidar-like: from a few points above the pit, in the lower hemisphere
            double th = 6.2831853 * RND(), z = -RND(), c = sqrt(1 - z * z);
            o[3 * i] = .4 * (i % 3 - 1);
            o[3 * i + 1] = .4 * (i / 3 % 3 - 1);
            o[3 * i + 2] = 4;
            d[3 * i] = c * cos(th);
            d[3 * i + 1] = c * sin(th);
            d[3 * i + 2] = z;
        }
        for (int k = 0; k < 3; k++) {
            double a = cpu();
            hits = eng_rays(e, n, o, d, 20, &sum);
            a = cpu() - a;
            if (a < best)
                best = a;
        }
        printf(",\"ray_hits\":%d,\"ray_mean\":%.5f,\"ray_us\":%.1f,\"ns_per_ray\":%.1f", hits,
               hits > 0 ? sum / hits : 0, best * 1e6, best * 1e9 / n);
    }
    printf("}\n");
    if (getenv("PEERS_TIMES")) {
        FILE *f = fopen(getenv("PEERS_TIMES"), "w");
        for (int i = 0; f && i < done; i++)
            fprintf(f, "%.3f\n", dur[i] * 1e6);
        if (f)
            fclose(f);
    }
    if (argc > 6) {
        FILE *f = fopen(argv[6], "w");
        for (int i = 0; i < s->nb; i++) {
            double p[3], q[4], v[3], w[3];
            eng_state(e, i, p, q, v, w);
            fprintf(f, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p[0], p[1], p[2], q[0], q[1], q[2], q[3]);
        }
        fclose(f);
    }
    if (!getenv("PEERS_NODESTROY"))
        eng_destroy(e);
    scene_free(s);
    return 0;
}
