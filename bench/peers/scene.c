#include "scene.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long rng_state = 1;
static double rnd(void)
{  // xorshift, the same sequence for every engine
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (rng_state >> 11) * (1.0 / 9007199254740992.0);
}

void q_rot(const double q[4], const double v[3], double r[3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
    double a = v[0] + w * tx + y * tz - z * ty, b = v[1] + w * ty + z * tx - x * tz,
           c = v[2] + w * tz + x * ty - y * tx;
    r[0] = a;
    r[1] = b;
    r[2] = c;
}
void q_irot(const double q[4], const double v[3], double r[3])
{
    double p[4] = { q[0], -q[1], -q[2], -q[3] };
    q_rot(p, v, r);
}

static int add_body(Scene *s, int shape, double sx, double sy, double sz, double x, double y, double z, double mass)
{
    if ((s->nb & (s->nb - 1)) == 0)
        s->bodies = realloc(s->bodies, sizeof(Body) * (s->nb ? 2 * s->nb : 1));
    Body *b = &s->bodies[s->nb];
    memset(b, 0, sizeof *b);
    b->shape = shape;
    b->size[0] = sx;
    b->size[1] = sy;
    b->size[2] = sz;
    b->pos[0] = x;
    b->pos[1] = y;
    b->pos[2] = z;
    b->quat[0] = 1;
    b->mass = mass;
    b->parent_joint = -1;
    double m = mass, *I = b->inertia;
    switch (shape) {
    case SH_BOX:
        I[0] = m / 3 * (sy * sy + sz * sz);
        I[1] = m / 3 * (sx * sx + sz * sz);
        I[2] = m / 3 * (sx * sx + sy * sy);
        break;
    case SH_SPHERE: I[0] = I[1] = I[2] = 0.4 * m * sx * sx; break;
    case SH_CYLINDER:
        I[0] = I[1] = m * (3 * sx * sx + 4 * sy * sy) / 12;
        I[2] = 0.5 * m * sx * sx;
        break;
    case SH_CAPSULE: {
        double r = sx, l = 2 * sy, mc = m * l / (l + 4 * r / 3), ms = m - mc;
        I[0] = I[1] = mc * (l * l / 12 + r * r / 4) + ms * (0.4 * r * r + 0.375 * r * l + 0.25 * l * l);
        I[2] = mc * 0.5 * r * r + ms * 0.4 * r * r;
        break;
    }
    default:  // massive but shapeless link: sizes give a solid box for its inertia
        I[0] = m / 3 * (sy * sy + sz * sz);
        I[1] = m / 3 * (sx * sx + sz * sz);
        I[2] = m / 3 * (sx * sx + sy * sy);
    }
    return s->nb++;
}

static Joint *add_joint(Scene *s, int type, int a, int b, double x, double y, double z, double ax, double ay, double az)
{
    if ((s->nj & (s->nj - 1)) == 0)
        s->joints = realloc(s->joints, sizeof(Joint) * (s->nj ? 2 * s->nj : 1));
    Joint *j = &s->joints[s->nj];
    memset(j, 0, sizeof *j);
    j->type = type;
    j->a = a;
    j->b = b;
    j->anchor[0] = x;
    j->anchor[1] = y;
    j->anchor[2] = z;
    j->axis[0] = ax;
    j->axis[1] = ay;
    j->axis[2] = az;
    s->bodies[b].parent_joint = s->nj++;
    return j;
}

static void add_static(Scene *s, double hx, double hy, double hz, double x, double y, double z)
{
    s->boxes = realloc(s->boxes, sizeof(StaticBox) * (s->nsb + 1));
    StaticBox b = { { hx, hy, hz }, { x, y, z } };
    s->boxes[s->nsb++] = b;
}

static void finish(Scene *s)
{
    for (int i = 0; i < s->nj; i++) {
        Joint *j = &s->joints[i];
        double d[3];
        Body *b = &s->bodies[j->b];
        for (int k = 0; k < 3; k++)
            d[k] = j->anchor[k] - b->pos[k];
        q_irot(b->quat, d, j->lb);
        q_irot(b->quat, j->axis, j->xb);
        if (j->a >= 0) {
            Body *a = &s->bodies[j->a];
            for (int k = 0; k < 3; k++)
                d[k] = j->anchor[k] - a->pos[k];
            q_irot(a->quat, d, j->la);
            q_irot(a->quat, j->axis, j->xa);
        } else {
            memcpy(j->la, j->anchor, sizeof d);
            memcpy(j->xa, j->axis, sizeof d);
        }
    }
}

// 28 hinges, 29 bodies, 1.6 m, about 50 kg
static void humanoid(Scene *s, double X, double Y, int group, int standing, int k)
{
    int first = s->nb;
    double lim = 1.2, tilt = 0;
    (void)tilt;
#define J(a, b, x, y, z, ax, ay, az, tq)                                                                               \
    do {                                                                                                               \
        Joint *j_ = add_joint(s, JT_HINGE, a, b, X + (x), Y + (y), z, ax, ay, az);                                     \
        j_->limited = 1;                                                                                               \
        j_->lo = -lim;                                                                                                 \
        j_->hi = lim;                                                                                                  \
        if (standing) {                                                                                                \
            j_->motor = 1;                                                                                             \
            j_->vel = 0;                                                                                               \
            j_->fmax = tq;                                                                                             \
        }                                                                                                              \
    } while (0)
#define B(sh, sx, sy, sz, x, y, z, m) add_body(s, sh, sx, sy, sz, X + (x), Y + (y), z, m)
    int pelvis = B(SH_BOX, .10, .14, .07, 0, 0, .87, 8);
    int w1 = B(SH_NONE, .05, .05, .05, 0, 0, .97, 1.5);
    J(pelvis, w1, 0, 0, .96, 0, 0, 1, 200);
    int torso = B(SH_BOX, .10, .16, .18, 0, 0, 1.18, 14);
    J(w1, torso, 0, 0, .98, 0, 1, 0, 200);
    int n1 = B(SH_NONE, .03, .03, .03, 0, 0, 1.38, .4);
    J(torso, n1, 0, 0, 1.37, 0, 0, 1, 30);
    int head = B(SH_SPHERE, .10, 0, 0, 0, 0, 1.50, 3);
    J(n1, head, 0, 0, 1.39, 0, 1, 0, 30);
    for (int sd = -1; sd <= 1; sd += 2) {
        double y = .09 * sd;
        int h1 = B(SH_NONE, .04, .04, .04, 0, y, .80, .8);
        J(pelvis, h1, 0, y, .80, 0, 0, 1, 150);
        int h2 = B(SH_NONE, .04, .04, .04, 0, y, .78, .8);
        J(h1, h2, 0, y, .78, 1, 0, 0, 200);
        int th = B(SH_CAPSULE, .06, .12, 0, 0, y, .60, 4);
        J(h2, th, 0, y, .77, 0, 1, 0, 200);
        int sh = B(SH_CAPSULE, .05, .13, 0, 0, y, .26, 2.5);
        J(th, sh, 0, y, .43, 0, 1, 0, 200);
        int an = B(SH_NONE, .03, .03, .03, 0, y, .08, .5);
        J(sh, an, 0, y, .08, 0, 1, 0, 120);
        int ft = B(SH_BOX, .12, .05, .025, .03, y, .025, 1);
        J(an, ft, 0, y, .07, 1, 0, 0, 120);
        y = .22 * sd;
        int s1 = B(SH_NONE, .04, .04, .04, 0, y, 1.32, .8);
        J(torso, s1, 0, .19 * sd, 1.32, 0, 1, 0, 80);
        int s2 = B(SH_NONE, .04, .04, .04, 0, y, 1.29, .6);
        J(s1, s2, 0, y, 1.30, 1, 0, 0, 80);
        int ua = B(SH_CAPSULE, .045, .09, 0, 0, y, 1.16, 1.8);
        J(s2, ua, 0, y, 1.26, 0, 0, 1, 60);
        int fa = B(SH_CAPSULE, .04, .09, 0, 0, y, .89, 1.2);
        J(ua, fa, 0, y, 1.03, 0, 1, 0, 60);
        int wr = B(SH_NONE, .02, .02, .02, 0, y, .76, .3);
        J(fa, wr, 0, y, .76, 0, 0, 1, 30);
        int hd = B(SH_BOX, .03, .02, .05, 0, y, .69, .4);
        J(wr, hd, 0, y, .75, 1, 0, 0, 30);
    }
    for (int i = first; i < s->nb; i++) {
        s->bodies[i].group = group;
        s->bodies[i].pos[2] += standing ? .002 : .30 + .01 * k;
    }
    for (int i = s->bodies[first + 1].parent_joint; i < s->nj; i++)
        s->joints[i].anchor[2] += standing ? .002 : .30 + .01 * k;
    if (!standing) {  // tip the whole ragdoll so that it falls over
        double c = cos(.2), sn = sin(.2), q[4] = { cos(.1), 0, sin(.1), 0 };
        for (int i = first; i < s->nb; i++) {
            double x = s->bodies[i].pos[0] - X, z = s->bodies[i].pos[2];
            s->bodies[i].pos[0] = X + c * x + sn * z;
            s->bodies[i].pos[2] = -sn * x + c * z + .05;
            memcpy(s->bodies[i].quat, q, sizeof q);
        }
        for (int i = s->bodies[first + 1].parent_joint; i < s->nj; i++) {
            Joint *j = &s->joints[i];
            double x = j->anchor[0] - X, z = j->anchor[2];
            j->anchor[0] = X + c * x + sn * z;
            j->anchor[2] = -sn * x + c * z + .05;
            x = j->axis[0];
            z = j->axis[2];
            j->axis[0] = c * x + sn * z;
            j->axis[2] = -sn * x + c * z;
        }
    }
#undef J
#undef B
}

double scene_terrain_height(const Scene *s, double x, double y)
{
    (void)s;
    return .5 * sin(.9 * x) * cos(.7 * y) + .15 * sin(2.3 * x + 1) * sin(2.9 * y);
}

Scene *scene_make(const char *name, int n)
{
    Scene *s = calloc(1, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    rng_state = 88172645463325252ull;
    s->gravity = -9.81;
    s->mu = .8;
    s->sim_time = 4;
    if (!strcmp(name, "stand") || !strcmp(name, "ragdoll")) {
        int side = (int)ceil(sqrt(n));
        s->plane = 1;
        s->tree = 1;
        s->check_stand = name[0] == 's';
        for (int i = 0; i < n; i++)
            humanoid(s, (i % side) * 5.0, (i / side) * 5.0, i + 1, name[0] == 's', i);
    } else if (!strcmp(name, "chain")) {
        s->tree = 1;
        s->check_energy = 1;
        s->sim_time = n >= 1000 ? 1 : 4;
        double l = .1, a = .7;
        for (int i = 0; i < n; i++) {
            double t = (i + .5) * l;
            int b = add_body(s, SH_NONE, .02, .015, l / 2, t * sin(a), 0, 2 - t * cos(a), .1);
            s->bodies[b].quat[0] = cos(-a / 2);
            s->bodies[b].quat[2] = sin(-a / 2);
            double u = i * l;
            if (i & 1)
                add_joint(s, JT_HINGE, i - 1, b, u * sin(a), 0, 2 - u * cos(a), cos(a), 0, sin(a));
            else
                add_joint(s, JT_HINGE, i - 1, b, u * sin(a), 0, 2 - u * cos(a), 0, 1, 0);
        }
    } else if (!strcmp(name, "pile") || !strcmp(name, "mixed")) {
        s->plane = 1;
        int side = (int)ceil(cbrt(n / 2.0));
        double cell = .3, h = side * cell / 2 + .05, wz = .3 * (n / (side * side) + 2) / 2;
        add_static(s, .5, h + 1, wz, h + .5, 0, wz);
        add_static(s, .5, h + 1, wz, -h - .5, 0, wz);
        add_static(s, h + 1, .5, wz, 0, h + .5, wz);
        add_static(s, h + 1, .5, wz, 0, -h - .5, wz);
        for (int i = 0; i < n; i++) {
            double x = (i % side - (side - 1) * .5) * cell + .02 * (rnd() - .5),
                   y = (i / side % side - (side - 1) * .5) * cell + .02 * (rnd() - .5);
            double z = .2 + (i / (side * side)) * cell, e = .075 + .05 * rnd();
            int sh = name[0] == 'p' ? SH_BOX : SH_BOX + i % 4;
            if (sh == SH_BOX) {
                double f = .075 + .05 * rnd();
                add_body(s, sh, e, f, .1, x, y, z, 8 * e * f * .1 * 500);
            } else if (sh == SH_SPHERE)
                add_body(s, sh, e, 0, 0, x, y, z, 4.18879 * e * e * e * 500);
            else if (sh == SH_CAPSULE)
                add_body(s, sh, .06, e - .03, 0, x, y, z, 500 * 3.14159 * .0036 * (2 * (e - .03) + .08));
            else
                add_body(s, sh, .08, e, 0, x, y, z, 500 * 3.14159 * .0064 * 2 * e);
            double *q = s->bodies[s->nb - 1].quat, a[3] = { rnd() - .5, rnd() - .5, rnd() - .5 }, t = .3 * rnd(),
                   l = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            q[0] = cos(t / 2);
            for (int k = 0; k < 3; k++)
                q[k + 1] = sin(t / 2) * a[k] / l;
        }
    } else if (!strcmp(name, "stack")) {
        s->plane = 1;
        s->check_stand = 1;
        for (int r = 0; r < n; r++)
            for (int c = 0; c < n - r; c++)
                add_body(s, SH_BOX, .1, .1, .1, (c - (n - r - 1) * .5) * .21, 0, .1 + .2 * r, 4);
    } else if (!strcmp(name, "rest")) {  // boxes that do nothing, for engines that let them sleep
        s->plane = 1;
        s->sim_time = 2;
        int side = (int)ceil(sqrt(n));
        for (int i = 0; i < n; i++)
            add_body(s, SH_BOX, .1, .1, .1, (i % side) * .5, (i / side) * .5, .1, 4);
    } else if (!strcmp(name, "swarm")) {
        s->plane = 1;
        s->tree = 1;
        s->check_drive = 1;
        int side = (int)ceil(sqrt(n));
        for (int i = 0; i < n; i++) {
            double x = (i % side) * 3.0, y = (i / side) * 1.5;
            int c = add_body(s, SH_BOX, .4, .2, .08, x, y, .20, 10);
            for (int w = 0; w < 4; w++) {
                double wx = x + (w & 1 ? .28 : -.28), wy = y + (w & 2 ? .28 : -.28);
                int b = add_body(s, SH_CYLINDER, .15, .04, 0, wx, wy, .15, 1);
                s->bodies[b].quat[0] = sqrt(.5);
                s->bodies[b].quat[1] = sqrt(.5);
                Joint *j = add_joint(s, JT_HINGE, c, b, wx, wy, .15, 0, 1, 0);
                j->motor = 1;
                j->vel = 5;
                j->fmax = 3;
            }
        }
    } else if (!strcmp(name, "mesh")) {
        s->gn = 225;
        s->gsize = 40;
        s->check_terrain = 1;
        s->gz = malloc(sizeof(double) * s->gn * s->gn);
        for (int j = 0; j < s->gn; j++)
            for (int i = 0; i < s->gn; i++)
                s->gz[j * s->gn + i] = scene_terrain_height(s, (i / (s->gn - 1.0) - .5) * s->gsize,
                                                            (j / (s->gn - 1.0) - .5) * s->gsize);
        int side = (int)ceil(sqrt(n));
        for (int i = 0; i < n; i++) {
            double x = (i % side - (side - 1) * .5) * 1.5, y = (i / side - (side - 1) * .5) * 1.5, z = 1.3;
            int sh = SH_BOX + i % 3;
            if (sh == SH_BOX)
                add_body(s, sh, .2, .15, .1, x, y, z, 5);
            else if (sh == SH_SPHERE)
                add_body(s, sh, .2, 0, 0, x, y, z, 5);
            else
                add_body(s, sh, .12, .15, 0, x, y, z, 5);
            double *q = s->bodies[s->nb - 1].quat, t = 3 * rnd();
            q[0] = cos(t / 2);
            q[1] = sin(t / 2);
        }
    } else {
        fprintf(stderr, "unknown scene %s\n", name);
        exit(2);
    }
    finish(s);
    return s;
}

void scene_free(Scene *s)
{
    free(s->bodies);
    free(s->joints);
    free(s->boxes);
    free(s->gz);
    free(s);
}
