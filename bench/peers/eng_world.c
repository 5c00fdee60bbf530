// The whole program: the same scenes written as a world, loaded and stepped through the library's API. What it takes
// beyond eng_talus.c is what a user pays for nodes, motors, joints' positions, awake sets and listeners.
// variant: whole[,t<threads>]
#include "scene.h"

#include "talus/talus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERP 0.2
#define CFM 1e-5

const char *eng_name = "world";
const char *eng_variants = "whole[,t<threads>]";

struct Engine {
    const Scene *s;
    TalusWorld *world;
    TalusNode *solids;              // by body
    int *first_child, *next_child;  // joints of a body, and of its parent after this one; -1: none
};

// ---- the world as text ----

static void write_header(FILE *out, const Scene *s, double dt)
{
    fprintf(out,
            "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep %.17g ERP %g CFM %g gravity %.17g physicsDisableTime 0 "
            "contactSurfaceLayer 0.001 "
            "contactProperties [ ContactProperties { coulombFriction [ %g ] softERP %g softCFM %g bounce 0 "
            "maxContactJoints 4 } ] }\n",
            1000.0 * dt, ERP, CFM, -s->gravity, s->mu, ERP, CFM);
    if (s->plane)
        fprintf(out, "Solid { name \"floor\" boundingObject Plane { } }\n");
    for (int i = 0; i < s->nsb; i++) {
        const StaticBox *b = &s->boxes[i];
        fprintf(out,
                "Solid { name \"wall %d\" translation %.17g %.17g %.17g boundingObject Box { size %.17g %.17g %.17g } "
                "}\n",
                i, b->pos[0], b->pos[1], b->pos[2], 2 * b->half[0], 2 * b->half[1], 2 * b->half[2]);
    }
}

static void write_terrain(FILE *out, const Scene *s)
{
    int n = s->gn;
    if (n == 0)
        return;
    fprintf(out, "Solid { name \"ground\" boundingObject IndexedFaceSet { coord Coordinate { point [\n");
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            fprintf(out, "%.17g %.17g %.17g\n", (i / (n - 1.0) - .5) * s->gsize, (j / (n - 1.0) - .5) * s->gsize,
                    s->gz[j * n + i]);
    fprintf(out, "] } coordIndex [\n");
    for (int j = 0; j < n - 1; j++)
        for (int i = 0; i < n - 1; i++) {
            int a = j * n + i;
            fprintf(out, "%d %d %d -1 %d %d %d -1\n", a, a + 1, a + n + 1, a, a + n + 1, a + n);
        }
    fprintf(out, "] } }\n");
}

static void write_shape(FILE *out, const Body *b)
{
    const double *s = b->size;
    switch (b->shape) {
    case SH_BOX: fprintf(out, "boundingObject Box { size %.17g %.17g %.17g } ", 2 * s[0], 2 * s[1], 2 * s[2]); break;
    case SH_SPHERE: fprintf(out, "boundingObject Sphere { radius %.17g } ", s[0]); break;
    case SH_CAPSULE: fprintf(out, "boundingObject Capsule { radius %.17g height %.17g } ", s[0], 2 * s[1]); break;
    case SH_CYLINDER: fprintf(out, "boundingObject Cylinder { radius %.17g height %.17g } ", s[0], 2 * s[1]); break;
    default: break;
    }
}

static const double origin[3] = { 0 }, upright[4] = { 1 };

// Where a body is in the frame of another; NULL: in the world.
static void write_pose(FILE *out, const Body *b, const Body *in)
{
    const double *at = in ? in->pos : origin, *u = in ? in->quat : upright, *v = b->quat;
    double d[3], t[3];
    for (int k = 0; k < 3; k++)
        d[k] = b->pos[k] - at[k];
    q_irot(u, d, t);
    double w = u[0] * v[0] + u[1] * v[1] + u[2] * v[2] + u[3] * v[3];
    double x = u[0] * v[1] - u[1] * v[0] - u[2] * v[3] + u[3] * v[2];
    double y = u[0] * v[2] + u[1] * v[3] - u[2] * v[0] - u[3] * v[1];
    double z = u[0] * v[3] - u[1] * v[2] + u[2] * v[1] - u[3] * v[0], sine = sqrt(x * x + y * y + z * z);
    fprintf(out, "translation %.17g %.17g %.17g ", t[0], t[1], t[2]);
    if (sine > 1e-15)
        fprintf(out, "rotation %.17g %.17g %.17g %.17g ", x / sine, y / sine, z / sine, 2 * atan2(sine, w));
}

static void open_body(const Engine *e, FILE *out, int i, int parent, const char *type)
{
    const Body *b = &e->s->bodies[i];
    fprintf(out, "DEF B%d %s { name \"b%d\" ", i, type, i);
    write_pose(out, b, parent >= 0 ? &e->s->bodies[parent] : NULL);
    write_shape(out, b);
    fprintf(out,
            "physics Physics { density -1 mass %.17g centerOfMass [ 0 0 0 ] inertiaMatrix [ %.17g %.17g %.17g, 0 0 0 ] "
            "} children [\n",
            b->mass, b->inertia[0], b->inertia[1], b->inertia[2]);
}

static void open_joint(FILE *out, const Joint *j, int index)
{
    fprintf(out,
            "DEF J%d HingeJoint { jointParameters HingeJointParameters { axis %.17g %.17g %.17g anchor %.17g %.17g "
            "%.17g ",
            index, j->xa[0], j->xa[1], j->xa[2], j->la[0], j->la[1], j->la[2]);
    if (j->limited)
        fprintf(out, "minStop %.17g maxStop %.17g ", j->lo, j->hi);
    fprintf(out, "} ");
    if (j->motor)
        fprintf(out, "device RotationalMotor { name \"m%d\" maxTorque %.17g maxVelocity 100 } ", index, j->fmax);
    fprintf(out, "endPoint ");
}

// A joint, the body at its end and all that hangs on it; chains are long, so it goes down and up without calling
// itself.
static void write_tree(const Engine *e, FILE *out, int root)
{
    for (int joint = root; joint >= 0;) {
        const Joint *j = &e->s->joints[joint];
        open_joint(out, j, joint);
        open_body(e, out, j->b, j->a, "Solid");
        if (e->first_child[j->b] >= 0) {
            joint = e->first_child[j->b];
            continue;
        }
        fprintf(out, "] } }\n");
        while (joint != root && e->next_child[joint] < 0) {
            joint = e->s->bodies[e->s->joints[joint].a].parent_joint;
            fprintf(out, "] } }\n");
        }
        joint = joint == root ? -1 : e->next_child[joint];
    }
}

static void write_bodies(const Engine *e, FILE *out)
{
    const Scene *s = e->s;
    for (int i = 0; i < s->nb; i++) {
        int up = s->bodies[i].parent_joint;
        if (up >= 0 && s->joints[up].a >= 0)
            continue;
        if (up >= 0) {
            fprintf(out, "Robot { name \"post %d\" children [\n", i);
            write_tree(e, out, up);
            fprintf(out, "] }\n");
            continue;
        }
        open_body(e, out, i, -1, e->first_child[i] >= 0 ? "Robot" : "Solid");
        for (int j = e->first_child[i]; j >= 0; j = e->next_child[j])
            write_tree(e, out, j);
        fprintf(out, "] }\n");
    }
}

// ---- the engine ----

static void link_joints(Engine *e)
{
    const Scene *s = e->s;
    e->first_child = malloc(sizeof(int) * (size_t)(s->nb + 1));
    e->next_child = malloc(sizeof(int) * (size_t)(s->nj + 1));
    memset(e->first_child, -1, sizeof(int) * (size_t)(s->nb + 1));
    for (int j = s->nj - 1; j >= 0; j--) {
        int a = s->joints[j].a;
        e->next_child[j] = a >= 0 ? e->first_child[a] : -1;
        if (a >= 0)
            e->first_child[a] = j;
    }
}

static void report(const TalusDiagnostic *diagnostic, void *context)
{
    (void)context;
    if (diagnostic->severity >= TALUS_ERROR)
        fprintf(stderr, "world: %s\n", diagnostic->message);
}

static void find_parts(Engine *e)
{
    const Scene *s = e->s;
    char name[32];
    e->solids = malloc(sizeof *e->solids * (size_t)(s->nb + 1));
    for (int i = 0; i < s->nb; i++) {
        snprintf(name, sizeof name, "B%d", i);
        e->solids[i] = talus_find(e->world, name);
    }
    for (int j = 0; j < s->nj; j++) {
        if (!s->joints[j].motor)
            continue;
        snprintf(name, sizeof name, "J%d", j);
        TalusNode joint = talus_find(e->world, name);
        talus_motor_set_position(e->world, joint, 0, INFINITY);
        talus_motor_set_velocity(e->world, joint, 0, s->joints[j].vel);
    }
}

Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    Engine *e = calloc(1, sizeof *e);
    e->s = s;
    link_joints(e);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    write_header(out, s, dt);
    write_terrain(out, s);
    write_bodies(e, out);
    fclose(out);
    TalusOptions options = talus_options_defaults();
    const char *threads = strstr(variant, ",t");
    options.threads = threads ? atoi(threads + 2) : 1;
    options.on_diagnostic = report;
    e->world = talus_load_text("peers.wbt", text, size, &options);
    free(text);
    if (!e->world)
        return NULL;
    find_parts(e);
    return e;
}

void eng_step(Engine *e) { talus_step(e->world, 1); }

void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    TalusPose pose;
    TalusVector linear, angular;
    talus_pose(e->world, e->solids[i], &pose);
    talus_velocity(e->world, e->solids[i], &linear, &angular);
    memcpy(p, &pose.position, sizeof pose.position);
    memcpy(q, &pose.orientation, sizeof pose.orientation);
    memcpy(v, &linear, sizeof linear);
    memcpy(w, &angular, sizeof angular);
}

int eng_contacts(Engine *e) { return talus_contacts(e->world, NULL, 0); }

int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    TalusHit *hits = malloc(sizeof *hits * (size_t)n);
    int count = talus_rays(e->world, n, (const TalusVector *)o, (const TalusVector *)d, r, hits);
    *sum = 0.0;
    for (int i = 0; i < n; i++)
        *sum += hits[i].solid != TALUS_NONE ? hits[i].distance : 0.0;
    free(hits);
    return count;
}

void eng_destroy(Engine *e)
{
    talus_free(e->world);
    free(e->solids);
    free(e->first_child);
    free(e->next_child);
    free(e);
}
