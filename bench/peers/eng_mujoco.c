// MuJoCo adaptor: writes the scene as MJCF, then loads it.
// variant: {newton|cg|pgs}[,elliptic][,implicit][,sparse][,it<n>]
#include "scene.h"
#include <mujoco/mujoco.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if mjVERSION_HEADER >= 3000000
const char *eng_name = "mujoco3";
#else
const char *eng_name = "mujoco2";
#endif
const char *eng_variants = "{newton|cg|pgs}[,elliptic][,implicit][,it<n>]";
struct Engine {
    const Scene *s;
    mjModel *m;
    mjData *d;
};
#if mjVERSION_HEADER >= 3000000
#define MJ_IMPL "implicitfast"
#else
#define MJ_IMPL "implicit"
#endif

static void q_mul(const double a[4], const double b[4], double r[4])
{
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    r[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    r[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}
static int *first_child, *next_sib;
static void body_xml(FILE *f, const Scene *s, int i)
{
    const Body *b = &s->bodies[i];
    double p[3], q[4];
    memcpy(p, b->pos, sizeof p);
    memcpy(q, b->quat, sizeof q);
    const Joint *j = b->parent_joint >= 0 ? &s->joints[b->parent_joint] : 0;
    if (j && j->a >= 0) {
        const Body *a = &s->bodies[j->a];
        double d[3] = { p[0] - a->pos[0], p[1] - a->pos[1], p[2] - a->pos[2] },
               ai[4] = { a->quat[0], -a->quat[1], -a->quat[2], -a->quat[3] }, t[4];
        q_irot(a->quat, d, p);
        q_mul(ai, q, t);
        memcpy(q, t, sizeof q);
    }
    fprintf(f, "<body name='b%d' pos='%.9g %.9g %.9g' quat='%.9g %.9g %.9g %.9g'>", i, p[0], p[1], p[2], q[0], q[1],
            q[2], q[3]);
    fprintf(f, "<inertial pos='0 0 0' mass='%.9g' diaginertia='%.9g %.9g %.9g'/>", b->mass, b->inertia[0],
            b->inertia[1], b->inertia[2]);
    if (!j)
        fprintf(f, "<freejoint/>");
    else {
        fprintf(f, "<joint name='j%d' type='hinge' pos='%.9g %.9g %.9g' axis='%.9g %.9g %.9g'", b->parent_joint,
                j->lb[0], j->lb[1], j->lb[2], j->xb[0], j->xb[1], j->xb[2]);
        if (j->limited)
            fprintf(f, " limited='true' range='%.9g %.9g'", j->lo, j->hi);
        if (j->motor && j->vel == 0)
            fprintf(f, " frictionloss='%.9g' solimpfriction='0.9999 0.9999 0.001 0.5 2'",
                    j->fmax);  // stiff: the default creeps
        fprintf(f, "/>");
    }
    const char *sh[] = { "", "box", "sphere", "capsule", "cylinder" };
    if (b->shape) {
        unsigned ct = 1, ca = 1;
        if (b->group) {
            ct = 1u << (b->group % 30);
            ca = 0x3fffffff & ~ct;
        }
        fprintf(f, "<geom type='%s' size='%.9g %.9g %.9g' contype='%u' conaffinity='%u'/>", sh[b->shape], b->size[0],
                b->size[1], b->size[2], ct, ca);
    }
    for (int c = first_child[i]; c >= 0; c = next_sib[c])
        body_xml(f, s, c);
    fprintf(f, "</body>\n");
}

Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    char *buf;
    size_t len;
    FILE *f = open_memstream(&buf, &len);
    const char *it = strstr(variant, "it");
    // "implicit" also contains "it": look for a digit
    while (it && !(it[2] >= '0' && it[2] <= '9'))
        it = strstr(it + 1, "it");
    fprintf(
        f,
        "<mujoco><compiler angle='radian' balanceinertia='true'/><option timestep='%g' gravity='0 0 %g' solver='%s' "
        "cone='%s' integrator='%s'",
        dt, s->gravity,
        strstr(variant, "cg")    ? "CG"
        : strstr(variant, "pgs") ? "PGS"
                                 : "Newton",
        strstr(variant, "elliptic") ? "elliptic" : "pyramidal", strstr(variant, "implicit") ? MJ_IMPL : "Euler");
    if (it)
        fprintf(f, " iterations='%d'", atoi(it + 2));
    fprintf(f, "/>");
#if mjVERSION_HEADER >= 3000000
    fprintf(f, "<size memory='4G'/>");
#else
    if (s->tree)
        fprintf(f, "<size nconmax='%d' njmax='%d'/>", s->nb * 2 + 100, s->nb * 9 + 400);
    else
        fprintf(f, "<size nconmax='%d' njmax='%d'/>", s->nb * 12 + 100, s->nb * 34 + 400);
#endif
    fprintf(f, "<default><geom friction='%g 0.005 0.0001' condim='3'/></default>", s->mu);
    if (s->gn)
        fprintf(f, "<asset><hfield name='t' nrow='%d' ncol='%d' size='%g %g %g %g'/></asset>", s->gn, s->gn,
                s->gsize / 2, s->gsize / 2, 2.0, 1.0);
    fprintf(f, "<worldbody>\n");
    if (s->plane)
        fprintf(f, "<geom type='plane' size='0 0 1' contype='1073741823' conaffinity='1073741823'/>\n");
    if (s->gn)
        fprintf(f, "<geom type='hfield' hfield='t' pos='0 0 -1'/>\n");
    for (int i = 0; i < s->nsb; i++)
        fprintf(f, "<geom type='box' size='%g %g %g' pos='%g %g %g'/>\n", s->boxes[i].half[0], s->boxes[i].half[1],
                s->boxes[i].half[2], s->boxes[i].pos[0], s->boxes[i].pos[1], s->boxes[i].pos[2]);
    first_child = malloc(sizeof(int) * (s->nb + 1));
    next_sib = malloc(sizeof(int) * (s->nb + 1));
    for (int i = 0; i < s->nb; i++)
        first_child[i] = next_sib[i] = -1;
    for (int i = s->nb - 1; i >= 0; i--) {
        int pj = s->bodies[i].parent_joint, a = pj < 0 ? -1 : s->joints[pj].a;
        if (a >= 0) {
            next_sib[i] = first_child[a];
            first_child[a] = i;
        }
    }
    for (int i = 0; i < s->nb; i++) {
        int pj = s->bodies[i].parent_joint;
        if (pj < 0 || s->joints[pj].a < 0)
            body_xml(f, s, i);
    }
    fprintf(f, "</worldbody><actuator>\n");
    for (int i = 0; i < s->nj; i++)
        if (s->joints[i].motor && s->joints[i].vel != 0)
            fprintf(f, "<velocity joint='j%d' kv='%g' forcelimited='true' forcerange='%g %g'/>\n", i, s->joints[i].fmax,
                    -s->joints[i].fmax, s->joints[i].fmax);
    fprintf(f, "</actuator></mujoco>\n");
    fclose(f);
    char path[] = P_tmpdir "/peers-mj-XXXXXX";
    int fd = mkstemp(path);
    FILE *o = fdopen(fd, "w");
    fwrite(buf, 1, len, o);
    fclose(o);
    free(buf);
    char err[1000] = "";
    Engine *e = calloc(1, sizeof *e);
    e->s = s;
#if mjVERSION_HEADER >= 3000000
    if (!strcmp(s->name, "chain")) {  // nested deeper than the XML reader allows: use the model editing API
        mjSpec *sp = mj_makeSpec();
        sp->compiler.degree = 0;
        sp->option.timestep = dt;
        sp->option.gravity[2] = s->gravity;
        sp->option.integrator = strstr(variant, "implicit") ? mjINT_IMPLICITFAST : mjINT_EULER;
        mjsBody *pa = mjs_findBody(sp, "world");
        for (int i = 0; i < s->nb; i++) {
            const Body *b = &s->bodies[i];
            const Joint *j = &s->joints[b->parent_joint];
            double p[3], q[4];
            memcpy(p, b->pos, sizeof p);
            memcpy(q, b->quat, sizeof q);
            if (j->a >= 0) {
                const Body *a = &s->bodies[j->a];
                double d[3] = { p[0] - a->pos[0], p[1] - a->pos[1], p[2] - a->pos[2] },
                       ai[4] = { a->quat[0], -a->quat[1], -a->quat[2], -a->quat[3] }, t[4];
                q_irot(a->quat, d, p);
                q_mul(ai, q, t);
                memcpy(q, t, sizeof q);
            }
            pa = mjs_addBody(pa, NULL);
            char nm[16];
            snprintf(nm, sizeof nm, "b%d", i);
            mjs_setName(pa->element, nm);
            memcpy(pa->pos, p, sizeof p);
            memcpy(pa->quat, q, sizeof q);
            pa->mass = b->mass;
            memcpy(pa->inertia, b->inertia, sizeof p);
            pa->explicitinertial = 1;
            memset(pa->ipos, 0, sizeof pa->ipos);
            memset(pa->iquat, 0, sizeof pa->iquat);
            pa->iquat[0] = 1;
            mjsJoint *o = mjs_addJoint(pa, NULL);
            o->type = mjJNT_HINGE;
            memcpy(o->pos, j->lb, sizeof p);
            memcpy(o->axis, j->xb, sizeof p);
        }
        e->m = mj_compile(sp, NULL);
        if (!e->m)
            fprintf(stderr, "mujoco: %s\n", mjs_getError(sp));
    } else
#endif
        e->m = mj_loadXML(path, 0, err, sizeof err);
    unlink(path);
    if (!e->m) {
        fprintf(stderr, "mujoco: %s\n", err);
        return 0;
    }
    if (s->gn)
        for (int i = 0; i < s->gn * s->gn; i++)
            e->m->hfield_data[i] = (float)((s->gz[i] + 1) / 2);
    e->d = mj_makeData(e->m);
    if (!e->d)
        return 0;
    for (int i = 0, k = 0; i < s->nj; i++)
        if (s->joints[i].motor && s->joints[i].vel != 0)
            e->d->ctrl[k++] = s->joints[i].vel;
    mj_forward(e->m, e->d);
    return e;
}
void eng_step(Engine *e) { mj_step(e->m, e->d); }
void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    // body ids follow the depth first order of the file: resolve once by name
    static int *id;
    static Engine *last;
    if (last != e) {
        free(id);
        id = malloc(sizeof(int) * e->s->nb);
        last = e;
        for (int k = 0; k < e->s->nb; k++) {
            char n[16];
            snprintf(n, sizeof n, "b%d", k);
            id[k] = mj_name2id(e->m, mjOBJ_BODY, n);
        }
    }
    static double tm = -1;
    if (e->d->time != tm) {
        tm = e->d->time;
        mj_kinematics(e->m, e->d);
        mj_comPos(e->m, e->d);
        mj_comVel(e->m, e->d);
    }
    mjtNum vel[6];
    int b = id[i];
    mj_objectVelocity(e->m, e->d, mjOBJ_BODY, b, vel, 0);
    for (int k = 0; k < 3; k++) {
        p[k] = e->d->xipos[3 * b + k];
        w[k] = vel[k];
        v[k] = vel[3 + k];
    }
    for (int k = 0; k < 4; k++)
        q[k] = e->d->xquat[4 * b + k];
}
int eng_contacts(Engine *e) { return e->d->ncon; }
int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    int hits = 0;
    *sum = 0;
    (void)r;
    for (int i = 0; i < n; i++) {
        int g;
#if mjVERSION_HEADER >= 3000000
        mjtNum x = mj_ray(e->m, e->d, o + 3 * i, d + 3 * i, 0, 1, -1, &g, NULL);
#else
        mjtNum x = mj_ray(e->m, e->d, o + 3 * i, d + 3 * i, 0, 1, -1, &g);
#endif
        if (x >= 0) {
            hits++;
            *sum += x;
        }
    }
    return hits;
}
void eng_destroy(Engine *e)
{
    mj_deleteData(e->d);
    mj_deleteModel(e->m);
    free(e);
}
