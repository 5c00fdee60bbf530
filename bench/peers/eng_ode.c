// ODE adaptor. variant: {step|quick}[,simple|hash|sap|quad][,mt][,c8][,w<iterations>]
#include "scene.h"
#include <ode/ode.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *eng_name = "ode";
const char *eng_variants = "{step|quick}[,simple|hash|sap|quad][,mt][,c8][,it<n>]";

struct Engine {
    const Scene *s;
    dWorldID w;
    dSpaceID sp;
    dJointGroupID cg;
    dBodyID *b;
    double dt;
    int quick, maxc, nc;
    dThreadingImplementationID ti;
    dThreadingThreadPoolID pool;
    dGeomID ray;
    dReal *vtx;
    dTriIndex *idx;
};

static void near_cb(void *data, dGeomID a, dGeomID b)
{
    Engine *e = data;
    size_t ga = (size_t)dGeomGetData(a), gb = (size_t)dGeomGetData(b);
    if (ga && ga == gb)
        return;
    dBodyID ba = dGeomGetBody(a), bb = dGeomGetBody(b);
    if (!ba && !bb)
        return;
    if (ga == 0 && ba && bb && e->s->nj && dAreConnectedExcluding(ba, bb, dJointTypeContact))
        return;
    dContact c[8];
    int n = dCollide(a, b, e->maxc, &c[0].geom, sizeof(dContact));
    for (int i = 0; i < n; i++) {
        c[i].surface.mode = dContactApprox1;
        c[i].surface.mu = e->s->mu;
        dJointAttach(dJointCreateContact(e->w, e->cg, &c[i]), ba, bb);
    }
    e->nc += n;
}

Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    Engine *e = calloc(1, sizeof *e);
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    e->s = s;
    e->dt = dt;
    e->w = dWorldCreate();
    e->cg = dJointGroupCreate(0);
    e->quick = !!strstr(variant, "quick");
    e->maxc = strstr(variant, "c8") ? 8 : 4;
    if (strstr(variant, "sap"))
        e->sp = dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ);
    else if (strstr(variant, "simple"))
        e->sp = dSimpleSpaceCreate(0);
    else if (strstr(variant, "quad")) {
        dVector3 c = { 0, 0, 0 }, x = { 50, 50, 50 };
        e->sp = dQuadTreeSpaceCreate(0, c, x, 6);
    } else {
        e->sp = dHashSpaceCreate(0);
        dHashSpaceSetLevels(e->sp, -3, 6);
    }
    dWorldSetGravity(e->w, 0, 0, s->gravity);
    dWorldSetERP(e->w, .2);
    dWorldSetCFM(e->w, 1e-5);
    dWorldSetContactSurfaceLayer(e->w, .001);
    dWorldSetAutoDisableFlag(e->w, 0);
    const char *it = strstr(variant, "it");
    dWorldSetQuickStepNumIterations(e->w, it ? atoi(it + 2) : 20);
    if (strstr(variant, "mt")) {
        e->ti = dThreadingAllocateMultiThreadedImplementation();
        if (!e->ti) {
            fprintf(stderr, "no multi-threaded implementation\n");
            return 0;
        }
        e->pool = dThreadingAllocateThreadPool(2, 0, dAllocateMaskAll, NULL);
        dThreadingThreadPoolServeMultiThreadedImplementation(e->pool, e->ti);
        dWorldSetStepThreadingImplementation(e->w, dThreadingImplementationGetFunctions(e->ti), e->ti);
        dWorldSetStepIslandsProcessingMaxThreadCount(e->w, 2);
    }
    if (s->plane)
        dCreatePlane(e->sp, 0, 0, 1, 0);
    for (int i = 0; i < s->nsb; i++) {
        dGeomID g = dCreateBox(e->sp, 2 * s->boxes[i].half[0], 2 * s->boxes[i].half[1], 2 * s->boxes[i].half[2]);
        dGeomSetPosition(g, s->boxes[i].pos[0], s->boxes[i].pos[1], s->boxes[i].pos[2]);
    }
    if (s->gn) {
        int n = s->gn, nt = 2 * (n - 1) * (n - 1), k = 0;
        e->vtx = malloc(sizeof(dReal) * 3 * n * n);
        e->idx = malloc(sizeof(dTriIndex) * 3 * nt);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                dReal *v = e->vtx + 3 * (j * n + i);
                v[0] = (i / (n - 1.0) - .5) * s->gsize;
                v[1] = (j / (n - 1.0) - .5) * s->gsize;
                v[2] = s->gz[j * n + i];
            }
        for (int j = 0; j < n - 1; j++)
            for (int i = 0; i < n - 1; i++) {
                int a = j * n + i;
                dTriIndex t[6] = { a, a + 1, a + n + 1, a, a + n + 1, a + n };
                memcpy(e->idx + k, t, sizeof t);
                k += 6;
            }
        dTriMeshDataID d = dGeomTriMeshDataCreate();
        dGeomTriMeshDataBuildDouble(d, e->vtx, 3 * sizeof(dReal), n * n, e->idx, 3 * nt, 3 * sizeof(dTriIndex));
        dGeomTriMeshDataPreprocess2(d, (1U << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES), NULL);
        dCreateTriMesh(e->sp, d, 0, 0, 0);
    }
    e->b = malloc(sizeof(dBodyID) * s->nb);
    for (int i = 0; i < s->nb; i++) {
        const Body *b = &s->bodies[i];
        dBodyID o = e->b[i] = dBodyCreate(e->w);
        dMass m;
        dMassSetParameters(&m, b->mass, 0, 0, 0, b->inertia[0], b->inertia[1], b->inertia[2], 0, 0, 0);
        dBodySetMass(o, &m);
        dBodySetPosition(o, b->pos[0], b->pos[1], b->pos[2]);
        dBodySetQuaternion(o, b->quat);
        dGeomID g = 0;
        switch (b->shape) {
        case SH_BOX: g = dCreateBox(e->sp, 2 * b->size[0], 2 * b->size[1], 2 * b->size[2]); break;
        case SH_SPHERE: g = dCreateSphere(e->sp, b->size[0]); break;
        case SH_CAPSULE: g = dCreateCapsule(e->sp, b->size[0], 2 * b->size[1]); break;
        case SH_CYLINDER: g = dCreateCylinder(e->sp, b->size[0], 2 * b->size[1]); break;
        }
        if (g) {
            dGeomSetBody(g, o);
            dGeomSetData(g, (void *)(size_t)b->group);
        }
    }
    for (int i = 0; i < s->nj; i++) {
        const Joint *j = &s->joints[i];
        dBodyID a = j->a < 0 ? 0 : e->b[j->a], b = e->b[j->b];
        if (j->type == JT_BALL) {
            dJointID o = dJointCreateBall(e->w, 0);
            dJointAttach(o, b, a);
            dJointSetBallAnchor(o, j->anchor[0], j->anchor[1], j->anchor[2]);
            continue;
        }
        if (j->type == JT_FIXED) {
            dJointID o = dJointCreateFixed(e->w, 0);
            dJointAttach(o, b, a);
            dJointSetFixed(o);
            continue;
        }
        dJointID o = dJointCreateHinge(e->w, 0);
        dJointAttach(o, b, a);
        dJointSetHingeAnchor(o, j->anchor[0], j->anchor[1], j->anchor[2]);
        dJointSetHingeAxis(o, j->axis[0], j->axis[1], j->axis[2]);
        if (j->limited) {
            dJointSetHingeParam(o, dParamLoStop, j->lo);
            dJointSetHingeParam(o, dParamHiStop, j->hi);
        }
        if (j->motor) {
            dJointSetHingeParam(o, dParamVel, j->vel);
            dJointSetHingeParam(o, dParamFMax, j->fmax);
        }
    }
    return e;
}

void eng_step(Engine *e)
{
    e->nc = 0;
    if (e->s->plane || e->s->gn)
        dSpaceCollide(e->sp, e, near_cb);
    if (e->quick)
        dWorldQuickStep(e->w, e->dt);
    else
        dWorldStep(e->w, e->dt);
    dJointGroupEmpty(e->cg);
}

void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    const dReal *r;
    r = dBodyGetPosition(e->b[i]);
    memcpy(p, r, 3 * sizeof *p);
    r = dBodyGetQuaternion(e->b[i]);
    memcpy(q, r, 4 * sizeof *q);
    r = dBodyGetLinearVel(e->b[i]);
    memcpy(v, r, 3 * sizeof *v);
    r = dBodyGetAngularVel(e->b[i]);
    memcpy(w, r, 3 * sizeof *w);
}
int eng_contacts(Engine *e) { return e->nc; }

typedef struct {
    double best;
} Hit;
static void ray_cb(void *data, dGeomID a, dGeomID b)
{
    Hit *h = data;
    dContactGeom c;
    if (dCollide(a, b, 1, &c, sizeof c) && c.depth < h->best)
        h->best = c.depth;
}
int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    if (!e->ray) {
        e->ray = dCreateRay(0, r);
        dGeomRaySetClosestHit(e->ray, 1);
    }
    int hits = 0;
    *sum = 0;
    for (int i = 0; i < n; i++) {
        Hit h = { 1e30 };
        dGeomRaySet(e->ray, o[3 * i], o[3 * i + 1], o[3 * i + 2], d[3 * i], d[3 * i + 1], d[3 * i + 2]);
        dSpaceCollide2(e->ray, (dGeomID)e->sp, &h, ray_cb);
        if (h.best < 1e30) {
            hits++;
            *sum += h.best;
        }
    }
    return hits;
}
void eng_destroy(Engine *e)
{
    dJointGroupDestroy(e->cg);
    dSpaceDestroy(e->sp);
    dWorldDestroy(e->w);
    if (e->ti) {
        dThreadingImplementationShutdownProcessing(e->ti);
        dThreadingFreeThreadPool(e->pool);
        dThreadingFreeImplementation(e->ti);
    }
    dCloseODE();
    free(e->b);
    free(e);
}
