// usage: judge scene n poses : loads final poses and reports penetration, using ODE's dCollide for every engine alike
#include "scene.h"
#include <ode/ode.h>
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
    if (N == cap)
        D = realloc(D, sizeof(double) * (cap = cap ? 2 * cap : 1024));
    D[N++] = m;
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
        dGeomSetPosition(g, p[0], p[1], p[2]);
        dGeomSetQuaternion(g, q);
        dGeomSetData(g, (void *)(size_t)(s->tree && !b->group ? i / 5 + 1000 : b->group));
    }
    dSpaceCollide(sp, 0, cb);
    qsort(D, N, sizeof *D, cmp);
    double m = 0;
    for (int i = 0; i < N; i++)
        m += D[i];
    printf("{\"touching_pairs\":%d,\"pen_max_mm\":%.3f,\"pen_p95_mm\":%.3f,\"pen_mean_mm\":%.3f,\"pen_static_mm\":%.3f}\n", N,
           N ? D[N - 1] * 1e3 : 0, N ? D[(int)(.95 * (N - 1))] * 1e3 : 0, N ? m / N * 1e3 : 0, fl * 1e3);
    return 0;
}
