// usage: judge scene n poses : loads final poses and reports penetration, for every engine alike: of pairs by ODE's
// dCollide, into terrain by how far points all over a body's surface are below the triangles that every engine was
// given
#include "scene.h"
#include <ode/ode.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const Scene *S;
static double *D;
static int N, cap;
static double fl;
static int cmp(const void *a, const void *b)
{
    double x = *(double *)a, y = *(double *)b;
    return x < y ? -1 : x > y;
}
static void add_depth(double depth)
{
    if (N == cap)
        D = realloc(D, sizeof(double) * (cap = cap ? 2 * cap : 1024));
    D[N++] = depth;
}

// How far a point is below the terrain, square to its triangle.
static double below(const Scene *s, const double p[3])
{
    double cell = s->gsize / (s->gn - 1), x = (p[0] + s->gsize / 2) / cell, y = (p[1] + s->gsize / 2) / cell;
    int i = (int)floor(x), j = (int)floor(y);
    if (i < 0 || j < 0 || i >= s->gn - 1 || j >= s->gn - 1)
        return -1e30;
    const double *z = s->gz + j * s->gn + i;
    x -= i;
    y -= j;
    double zx = x > y ? z[1] - z[0] : z[s->gn + 1] - z[s->gn], zy = x > y ? z[s->gn + 1] - z[1] : z[s->gn] - z[0];
    return (z[0] + zx * x + zy * y - p[2]) / sqrt(1 + (zx * zx + zy * zy) / (cell * cell));
}

// From the middle of a body to its surface.
static double reach(const Body *b, const double d[3])
{
    double r = b->size[0], h = b->size[1], flat = hypot(d[0], d[1]), t;
    switch (b->shape) {
    case SH_BOX: return 1 / fmax(fabs(d[0]) / b->size[0], fmax(fabs(d[1]) / b->size[1], fabs(d[2]) / b->size[2]));
    case SH_CYLINDER: return 1 / fmax(flat / r, fabs(d[2]) / h);
    case SH_CAPSULE:
        t = flat > 0 ? r / flat : 1e30;
        return t * fabs(d[2]) <= h ? t : h * fabs(d[2]) + sqrt(h * h * d[2] * d[2] - h * h + r * r);
    default: return r;
    }
}

static void judge_terrain(const Scene *s, const Body *b, const double p[3], const double q[4])
{
    enum { POINTS = 2000 };
    double worst = -1e30;
    for (int i = 0; i < POINTS + 8; i++) {
        double z = 1 - (2 * i + 1.) / POINTS, a = 2.399963229728653 * i, f = sqrt(fmax(0, 1 - z * z)),
               d[3] = { f * cos(a), f * sin(a), z }, w[3];
        if (i >= POINTS) {  // corners
            double l = sqrt(b->size[0] * b->size[0] + b->size[1] * b->size[1] + b->size[2] * b->size[2]);
            for (int k = 0; k < 3; k++)
                d[k] = ((i - POINTS) >> k & 1 ? 1 : -1) * b->size[k] / l;
            if (b->shape != SH_BOX)
                break;
        }
        double r = reach(b, d);
        q_rot(q, d, w);
        for (int k = 0; k < 3; k++)
            w[k] = p[k] + r * w[k];
        worst = fmax(worst, below(s, w));
    }
    if (worst > 0) {
        add_depth(worst);
        fl = fmax(fl, worst);
    }
}

static void cb(void *u, dGeomID a, dGeomID b)
{
    (void)u;
    size_t ga = (size_t)dGeomGetData(a), gb = (size_t)dGeomGetData(b);
    if (ga && ga == gb)
        return;
    if (ga == (size_t)-1 && gb == (size_t)-1)
        return;
    dContactGeom c[8];
    double m = 0;
    int n = dCollide(a, b, 8, c, sizeof c[0]);
    if (!n)
        return;
    for (int i = 0; i < n; i++)
        if (c[i].depth > m)
            m = c[i].depth;
    add_depth(m);
    if ((ga == (size_t)-1 || gb == (size_t)-1) && m > fl)
        fl = m;
}
int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    Scene *s = scene_make(!strcmp(argv[1], "ray") ? "pile" : argv[1], atoi(argv[2]));
    S = s;
    FILE *f = fopen(argv[3], "r");
    if (!f)
        return 1;
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    dSpaceID sp = dHashSpaceCreate(0);
    dHashSpaceSetLevels(sp, -3, 6);
    if (s->plane)
        dGeomSetData(dCreatePlane(sp, 0, 0, 1, 0), (void *)-1);
    for (int i = 0; i < s->nsb; i++) {
        StaticBox *b = &s->boxes[i];
        dGeomID g = dCreateBox(sp, 2 * b->half[0], 2 * b->half[1], 2 * b->half[2]);
        dGeomSetPosition(g, b->pos[0], b->pos[1], b->pos[2]);
        dGeomSetData(g, (void *)-1);
    }
    for (int i = 0; i < s->nb; i++) {
        Body *b = &s->bodies[i];
        double p[3], q[4];
        if (fscanf(f, "%lf %lf %lf %lf %lf %lf %lf", p, p + 1, p + 2, q, q + 1, q + 2, q + 3) != 7)
            break;
        dGeomID g = 0;
        switch (b->shape) {
        case SH_BOX: g = dCreateBox(sp, 2 * b->size[0], 2 * b->size[1], 2 * b->size[2]); break;
        case SH_SPHERE: g = dCreateSphere(sp, b->size[0]); break;
        case SH_CAPSULE: g = dCreateCapsule(sp, b->size[0], 2 * b->size[1]); break;
        case SH_CYLINDER: g = dCreateCylinder(sp, b->size[0], 2 * b->size[1]); break;
        }
        if (!g)
            continue;
        if (!(p[2] > -1e3 && p[2] < 1e3))
            continue;
        if (s->gn)
            judge_terrain(s, b, p, q);
        dGeomSetPosition(g, p[0], p[1], p[2]);
        dGeomSetQuaternion(g, q);
        dGeomSetData(g, (void *)(size_t)(s->tree && !b->group ? i / 5 + 1000 : b->group));
    }
    dSpaceCollide(sp, 0, cb);
    qsort(D, N, sizeof *D, cmp);
    double m = 0;
    for (int i = 0; i < N; i++)
        m += D[i];
    printf(
        "{\"touching_pairs\":%d,\"pen_max_mm\":%.3f,\"pen_p95_mm\":%.3f,\"pen_mean_mm\":%.3f,\"pen_static_mm\":%.3f}\n",
        N, N ? D[N - 1] * 1e3 : 0, N ? D[(int)(.95 * (N - 1))] * 1e3 : 0, N ? m / N * 1e3 : 0, fl * 1e3);
    return 0;
}
