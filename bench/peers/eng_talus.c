// Talus adaptor: the solver, the broad phase and the narrow phase on plain arrays, without scene files or ODE.
// variant: talus[,sleep][,portable][,direct][,t<threads>]
#include "scene.h"

#include "base/memory.h"
#include "base/pool.h"
#include "physics/collide/broadphase.h"
#include "physics/collide/collide.h"
#include "physics/collide/collide_cache.h"
#include "physics/collide/collide_surface.h"
#include "physics/solver/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERP 0.2
#define CFM 1e-5

const char *eng_name = "talus";
const char *eng_variants = "talus[,sleep][,portable][,direct][,iterative][,i<iterations>][,t<threads>]";

struct Engine {
    const Scene *s;
    double dt;
    Solver *solver;
    Pool *pool;
    SolverBody *bodies;
    SolverMass *masses;  // beside them
    SolverJoint *joints;
    SolverRow *rows;
    SolverContact *contacts;
    int row_count, contact_count, contact_capacity;
    Broadphase *broadphase;
    CollideShape *shapes;  // bodies, then the ground plane and the walls
    CollidePose *poses;
    CollideCache *cache;
    struct PairResult *results;
    const BroadPair *pairs;
    int shape_count, pair_count, result_capacity, mesh;  // mesh: shape of the terrain, -1
    CollideSurface *terrain;
    double *vertices;
    int *indices;
    long pivots, restarts, fallbacks, steps;
    bool sleeps;
    int32_t *awake, *set;  // bodies that move; union-find over them
    double *idle;          // s for which a body has been slow
    int awake_count;
};

typedef struct PairResult {
    CollidePoint points[COLLIDE_POINTS];
    int count, first;  // of the contacts made of them
} PairResult;

enum { MOVING = 1, FIXED = 2 };

static CollideShape shape_of(const Body *b)
{
    static const GeometryKind types[] = { GEOMETRY_SPHERE, GEOMETRY_BOX, GEOMETRY_SPHERE, GEOMETRY_CAPSULE,
                                          GEOMETRY_CYLINDER };
    return (CollideShape){ types[b->shape], { b->size[0], b->size[1], b->size[2] } };
}

static void shape_update(Engine *e, int i, BroadBox *box)
{
    if (i < e->s->nb) {
        memcpy(e->poses[i].position, e->bodies[i].position, sizeof e->poses[i].position);
        memcpy(e->poses[i].rotation, e->bodies[i].rotation, sizeof e->poses[i].rotation);
    }
    collide_bounds(&e->shapes[i], &e->poses[i], box->low, box->high);
    if (e->shapes[i].type == GEOMETRY_PLANE)
        box->high[2] = 0.0;
}

static CollideSurface *terrain_create(Engine *e)
{
    const Scene *s = e->s;
    int n = s->gn, triangles = 2 * (n - 1) * (n - 1), k = 0;
    e->vertices = memory_alloc_array((size_t)n * (size_t)n * 3, sizeof *e->vertices);
    e->indices = memory_alloc_array((size_t)triangles * 3, sizeof *e->indices);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double *v = e->vertices + 3 * (j * n + i);
            v[0] = (i / (n - 1.0) - 0.5) * s->gsize;
            v[1] = (j / (n - 1.0) - 0.5) * s->gsize;
            v[2] = s->gz[j * n + i];
        }
    for (int j = 0; j < n - 1; j++)
        for (int i = 0; i < n - 1; i++) {
            int a = j * n + i, t[6] = { a, a + 1, a + n + 1, a, a + n + 1, a + n };
            memcpy(e->indices + k, t, sizeof t);
            k += 6;
        }
    return collide_surface_mesh(e->vertices, n * n, e->indices, triangles);
}

static void shapes_create(Engine *e)
{
    const Scene *s = e->s;
    e->shape_count = s->nb + s->plane + s->nsb + (s->gn > 0);
    e->mesh = s->gn > 0 ? e->shape_count - 1 : -1;
    e->shapes = memory_alloc_array((size_t)e->shape_count + 1, sizeof *e->shapes);
    e->poses = memory_alloc_array((size_t)e->shape_count + 1, sizeof *e->poses);
    e->broadphase = broadphase_create();
    broadphase_use_pool(e->broadphase, e->pool);
    e->cache = collide_cache_create();
    for (int i = 0; i < e->shape_count; i++) {
        CollidePose *pose = &e->poses[i];
        for (int k = 0; k < 3; k++)
            pose->rotation[4 * k] = 1.0;
        if (i < s->nb) {
            e->shapes[i] = shape_of(&s->bodies[i]);
        } else if (i == e->mesh) {
            e->shapes[i] = (CollideShape){ GEOMETRY_BOX, { 0.5 * s->gsize, 0.5 * s->gsize, 1.0 } };  // for its bounds
        } else if (s->plane && i == s->nb) {
            e->shapes[i].type = GEOMETRY_PLANE;
        } else {
            const StaticBox *wall = &s->boxes[i - s->nb - s->plane];
            e->shapes[i] = (CollideShape){ GEOMETRY_BOX, { wall->half[0], wall->half[1], wall->half[2] } };
            memcpy(pose->position, wall->pos, sizeof pose->position);
        }
        if (i < s->nb && !s->bodies[i].shape)
            continue;
        BroadBox box;
        shape_update(e, i, &box);
        broadphase_add(e->broadphase, i, i < s->nb ? MOVING : FIXED, i < s->nb ? MOVING | FIXED : MOVING,
                       i < s->nb ? s->bodies[i].group : 0, &box);
        broadphase_set_resting(e->broadphase, i, i >= s->nb);
    }
    if (e->mesh >= 0)
        e->terrain = terrain_create(e);
}

static void row_reset(SolverRow *row)
{
    memset(row, 0, sizeof *row);
    row->cfm = CFM;
    row->lo = -SOLVER_INFINITY;
    row->hi = SOLVER_INFINITY;
    row->friction_of = -1;
}

// What stays the same from step to step.
static void hinge_prepare(const Joint *j, SolverRow *rows)
{
    for (int i = 0; i < 6; i++)
        row_reset(&rows[i]);
    for (int i = 0; i < 3; i++) {
        rows[i].j1[i] = 1.0;
        rows[i].j2[i] = j->a < 0 ? 0.0 : -1.0;
    }
}

Engine *eng_create(const Scene *s, const char *variant, double dt)
{
    Engine *e = memory_alloc(sizeof *e);
    e->s = s;
    e->dt = dt;
    const char *threads = strstr(variant, ",t");
    if (threads)
        e->pool = pool_create(atoi(threads + 2));
    SolverOptions options = { .portable = strstr(variant, "portable") != NULL, .pool = e->pool };
    options.method = strstr(variant, "direct")      ? SOLVER_DIRECT
                     : strstr(variant, "iterative") ? SOLVER_ITERATIVE
                                                    : SOLVER_AUTO;
    const char *iterations = strstr(variant, ",i");
    if (iterations && iterations[2] >= '0' && iterations[2] <= '9')
        options.iterations = atoi(iterations + 2);
    e->solver = solver_create(&options);
    e->bodies = memory_alloc_array((size_t)s->nb + 1, sizeof *e->bodies);
    e->masses = memory_alloc_array((size_t)s->nb + 1, sizeof *e->masses);
    e->joints = memory_alloc_array((size_t)s->nj + 1, sizeof *e->joints);
    e->rows = memory_alloc_array((size_t)s->nj * 6 + 1, sizeof *e->rows);
    for (int i = 0; i < s->nb; i++) {
        SolverBody *body = &e->bodies[i];
        const Body *b = &s->bodies[i];
        memcpy(body->position, b->pos, sizeof body->position);
        memcpy(body->quaternion, b->quat, sizeof body->quaternion);
        e->masses[i].mass = b->mass;
        for (int k = 0; k < 3; k++)
            e->masses[i].inertia.m[4 * k] = b->inertia[k];
        body->flags = SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC;
        solver_body_refresh(body);
    }
    for (int i = 0; i < s->nj; i++)
        hinge_prepare(&s->joints[i], &e->rows[6 * i]);
    e->sleeps = strstr(variant, "sleep") != NULL && s->nj == 0;
    e->awake = memory_alloc_array((size_t)s->nb + 1, sizeof *e->awake);
    e->set = memory_alloc_array((size_t)s->nb + 1, sizeof *e->set);
    e->idle = memory_alloc_array((size_t)s->nb + 1, sizeof *e->idle);
    e->awake_count = s->nb;
    for (int i = 0; i < s->nb; i++)
        e->awake[i] = i;
    shapes_create(e);
    return e;
}

static inline void rotate(const double *r, const double *v, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static inline void cross(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// Angle of the child about the axis in the parent's frame.
static double hinge_angle(const Joint *j, const SolverBody *parent, const SolverBody *child)
{
    static const double identity[4] = { 1.0, 0.0, 0.0, 0.0 };
    const double *u = parent ? parent->quaternion : identity, *v = child->quaternion;
    double w = u[0] * v[0] + u[1] * v[1] + u[2] * v[2] + u[3] * v[3];
    double x = u[0] * v[1] - u[1] * v[0] - u[2] * v[3] + u[3] * v[2];
    double y = u[0] * v[2] + u[1] * v[3] - u[2] * v[0] - u[3] * v[1];
    double z = u[0] * v[3] - u[1] * v[2] + u[2] * v[1] - u[3] * v[0];
    double s = x * j->xa[0] + y * j->xa[1] + z * j->xa[2];
    if (w < 0.0)
        w = -w, s = -s;
    // Well inside both stops the angle itself is not needed: tan(angle/4)... bounds |angle| below 0.92.
    return fabs(s) < 0.4 * w ? 0.0 : 2.0 * atan2(s, w);
}

// Body 1 is the child, as in the ODE adaptor.
static int hinge_rows(Engine *e, const Joint *j, SolverRow *rows)
{
    const SolverBody *child = &e->bodies[j->b], *parent = j->a < 0 ? NULL : &e->bodies[j->a];
    double arm[3], parent_arm[3] = { 0.0 }, axis[3], child_axis[3], error[3], p[3], q[3], misaligned[3],
                   k = ERP / e->dt;
    rotate(child->rotation, j->lb, arm);
    rotate(child->rotation, j->xb, axis);
    memcpy(child_axis, j->xa, sizeof child_axis);
    if (parent) {
        rotate(parent->rotation, j->la, parent_arm);
        rotate(parent->rotation, j->xa, child_axis);
    }
    for (int i = 0; i < 3; i++)
        error[i] = (parent ? parent->position[i] + parent_arm[i] : j->anchor[i]) - child->position[i] - arm[i];
    for (int i = 0; i < 3; i++) {
        SolverRow *row = &rows[i];
        int n = (i + 1) % 3, m = (i + 2) % 3;
        row->j1[3 + n] = arm[m];
        row->j1[3 + m] = -arm[n];
        row->j2[3 + n] = -parent_arm[m];
        row->j2[3 + m] = parent_arm[n];
        row->rhs = k * error[i];
    }
    solver_plane_space(axis, p, q);
    cross(axis, child_axis, misaligned);
    for (int i = 0; i < 2; i++) {
        SolverRow *row = &rows[3 + i];
        const double *direction = i ? q : p;
        for (int n = 0; n < 3; n++) {
            row->j1[3 + n] = direction[n];
            row->j2[3 + n] = parent ? -direction[n] : 0.0;
        }
        row->rhs = k * (misaligned[0] * direction[0] + misaligned[1] * direction[1] + misaligned[2] * direction[2]);
    }
    double angle = j->limited ? hinge_angle(j, parent, child) : 0.0, over = 0.0;
    if (j->limited)
        over = angle < j->lo ? j->lo - angle : angle > j->hi ? j->hi - angle : 0.0;
    if (!j->motor && over == 0.0)
        return 5;
    SolverRow *row = &rows[5];
    row->lo = -SOLVER_INFINITY;
    row->hi = SOLVER_INFINITY;
    for (int n = 0; n < 3; n++) {
        row->j1[3 + n] = axis[n];
        row->j2[3 + n] = parent ? -axis[n] : 0.0;
    }
    if (over != 0.0) {
        row->rhs = k * over;
        if (over > 0.0)
            row->lo = 0.0;
        else
            row->hi = 0.0;
    } else {
        row->rhs = j->vel;
        row->lo = -j->fmax;
        row->hi = j->fmax;
    }
    return 6;
}

static void hinge_range(int begin, int end, int worker, void *context)
{
    Engine *e = context;
    const Joint *joints = e->s->joints;
    (void)worker;
    for (int i = begin; i < end; i++)
        e->joints[i] = (SolverJoint){ joints[i].b, joints[i].a, 6 * i, hinge_rows(e, &joints[i], &e->rows[6 * i]) };
}

static bool are_jointed(const Scene *s, int a, int b)
{
    if (a >= s->nb || b >= s->nb)
        return false;
    int ja = s->bodies[a].parent_joint, jb = s->bodies[b].parent_joint;
    return (ja >= 0 && s->joints[ja].a == b) || (jb >= 0 && s->joints[jb].a == a);
}

static void collide_range(int begin, int end, int worker, void *context)
{
    Engine *e = context;
    (void)worker;
    for (int i = begin; i < end; i++) {
        int a = e->pairs[i].a, b = e->pairs[i].b;
        PairResult *result = &e->results[i];
        result->count = 0;
        if (e->s->nj && are_jointed(e->s, a, b))
            continue;
        const CollidePose *pa = &e->poses[a], *pb = &e->poses[b];
        if (b != e->mesh) {
            result->count = collide_cache_pair(e->cache, i, &e->shapes[a], pa, &e->shapes[b], pb,
                                               collide_cache_limit(&e->shapes[a], &e->shapes[b]), false,
                                               result->points);
            continue;
        }
        CollideLimit limit = collide_cache_limit(&e->shapes[a], &e->shapes[b]);
        result->count = collide_cache_reuse(e->cache, i, pa, pb, limit, result->points);
        if (result->count >= 0)
            continue;
        result->count = collide_surface(&e->shapes[a], pa, e->terrain, pb, limit.shift, COLLIDE_POINTS, result->points);
        result->count = collide_cache_store(e->cache, i, pa, pb, result->points, result->count);
    }
}

static void box_of(void *context, int i, BroadBox *box)
{
    Engine *e = context;
    *box = (BroadBox){ 0 };
    if (!e->s->bodies[i].shape)
        return;  // not in the broad phase
    shape_update(e, i, box);
}

static void contact_fill(const Engine *e, SolverContact *c, int a, int b, const CollidePoint *point)
{
    *c = (SolverContact){ .body = { a, b < e->s->nb ? b : -1 }, .depth = point->depth };
    memcpy(&c->point, point->position, sizeof c->point);
    memcpy(&c->normal, point->normal, sizeof c->normal);
}

static void fill_range(int begin, int end, int worker, void *context)
{
    Engine *e = context;
    (void)worker;
    for (int i = begin; i < end; i++)
        for (int k = 0; k < e->results[i].count; k++)
            contact_fill(e, &e->contacts[e->results[i].first + k], e->pairs[i].a, e->pairs[i].b,
                         &e->results[i].points[k]);
}

static void collide(Engine *e)
{
    const Scene *s = e->s;
    e->contact_count = 0;
    if (!s->plane && !s->gn)
        return;
    broadphase_move_all(e->broadphase, e->awake, e->awake_count, box_of, e);
    e->pairs = broadphase_pairs(e->broadphase, &e->pair_count);
    collide_cache_begin(e->cache, e->pairs, e->pair_count, NULL);
    memory_grow(&e->results, &e->result_capacity, e->pair_count + 1, sizeof *e->results);
    pool_for(e->pool, e->pair_count, 32, collide_range, e);
    for (int i = 0; i < e->pair_count; i++) {
        e->results[i].first = e->contact_count;
        e->contact_count += e->results[i].count;
    }
    memory_grow(&e->contacts, &e->contact_capacity, e->contact_count + 1, sizeof *e->contacts);
    pool_for(e->pool, e->pair_count, 128, fill_range, e);
}

static int find_set(int32_t *set, int i)
{
    while (set[i] != i) {
        set[i] = set[set[i]];
        i = set[i];
    }
    return i;
}

// Bodies that touch each other fall asleep together, when all have been slow for a while; a sleeping one that something
// awake touches was held as fixed in this step and wakes.
static void fall_asleep(Engine *e)
{
    const double slow = 0.02, wait = 0.5;
    int woken = 0;
    for (int k = 0; k < e->awake_count; k++) {
        int i = e->awake[k];
        const double *v = e->bodies[i].velocity;
        bool is_slow = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < slow * slow
                       && v[3] * v[3] + v[4] * v[4] + v[5] * v[5] < 25.0 * slow * slow;
        e->idle[i] = is_slow ? e->idle[i] + e->dt : 0.0;
        e->set[i] = i;
    }
    for (int k = 0; k < e->contact_count; k++) {
        int pair[2] = { e->contacts[k].body[0], e->contacts[k].body[1] };
        for (int q = 0; q < 2; q++)
            if (pair[q] >= 0 && (e->bodies[pair[q]].flags & SOLVER_BODY_ASLEEP)) {
                e->bodies[pair[q]].flags &= ~(uint32_t)SOLVER_BODY_ASLEEP;
                e->idle[pair[q]] = 0.0;
                e->set[pair[q]] = pair[q];
                broadphase_set_resting(e->broadphase, pair[q], false);
                woken++;
            }
        if (pair[0] < 0 || pair[1] < 0)
            continue;
        int a = find_set(e->set, pair[0]), b = find_set(e->set, pair[1]);
        e->set[a > b ? a : b] = a > b ? b : a;
    }
    for (int k = 0; k < e->awake_count; k++) {
        int i = e->awake[k], root = find_set(e->set, i);
        if (e->idle[i] < e->idle[root])
            e->idle[root] = e->idle[i];
    }
    int kept = 0;
    for (int k = 0; k < e->awake_count; k++) {
        int i = e->awake[k];
        if (e->idle[find_set(e->set, i)] < wait) {
            e->awake[kept++] = i;
            continue;
        }
        memset(e->bodies[i].velocity, 0, sizeof e->bodies[i].velocity);
        e->bodies[i].flags |= SOLVER_BODY_ASLEEP;
        broadphase_set_resting(e->broadphase, i, true);
    }
    e->awake_count = kept;
    if (woken == 0)
        return;
    e->awake_count = 0;
    for (int i = 0; i < e->s->nb; i++)
        if (!(e->bodies[i].flags & SOLVER_BODY_ASLEEP))
            e->awake[e->awake_count++] = i;
}

void eng_step(Engine *e)
{
    const Scene *s = e->s;
    pool_for(e->pool, s->nj, 32, hinge_range, e);
    e->row_count = 6 * s->nj;
    collide(e);
    const SolverSurface surface = { .flags = SOLVER_CONTACT_APPROX1_1 | SOLVER_CONTACT_APPROX1_2,
                                    .mu = s->mu,
                                    .mu2 = s->mu };
    SolverInput input = { .dt = e->dt,
                          .gravity = { 0.0, 0.0, s->gravity },
                          .erp = ERP,
                          .cfm = CFM,
                          .contact_surface_layer = 0.001,
                          .bodies = e->bodies,
                          .masses = e->masses,
                          .joints = e->joints,
                          .rows = e->rows,
                          .contacts = e->contacts,
                          .surfaces = &surface,
                          .surface_count = 1,
                          .body_count = s->nb,
                          .joint_count = s->nj,
                          .row_count = e->row_count,
                          .contact_count = e->contact_count,
                          .awake = e->awake,
                          .awake_count = e->awake_count };
    solver_step(e->solver, &input);
    if (e->sleeps)
        fall_asleep(e);
    const SolverStatistics *statistics = solver_statistics(e->solver);
    e->pivots += statistics->pivot_round_count;
    e->restarts += statistics->restart_count;
    e->fallbacks += statistics->fallback_count;
    e->steps++;
}

void eng_state(Engine *e, int i, double p[3], double q[4], double v[3], double w[3])
{
    const SolverBody *body = &e->bodies[i];
    memcpy(p, body->position, sizeof body->position);
    memcpy(q, body->quaternion, sizeof body->quaternion);
    memcpy(v, body->velocity, 3 * sizeof *v);
    memcpy(w, body->velocity + 3, 3 * sizeof *w);
}

int eng_contacts(Engine *e) { return e->contact_count; }

int eng_rays(Engine *e, int n, const double *o, const double *d, double r, double *sum)
{
    (void)e, (void)n, (void)o, (void)d, (void)r;
    *sum = 0.0;
    return 0;
}

void eng_destroy(Engine *e)
{
    if (getenv("PEERS_VERBOSE"))
        fprintf(stderr, "per step: %.2f pivot rounds, %.3f restarts, %.4f fallbacks\n",
                (double)e->pivots / (double)e->steps, (double)e->restarts / (double)e->steps,
                (double)e->fallbacks / (double)e->steps);
    solver_destroy(e->solver);
    pool_destroy(e->pool);
    broadphase_destroy(e->broadphase);
    collide_cache_destroy(e->cache);
    free(e->shapes);
    free(e->poses);
    free(e->results);
    free(e->awake);
    free(e->set);
    free(e->idle);
    collide_surface_destroy(e->terrain);
    free(e->vertices);
    free(e->indices);
    free(e->bodies);
    free(e->masses);
    free(e->joints);
    free(e->rows);
    free(e->contacts);
    free(e);
}
