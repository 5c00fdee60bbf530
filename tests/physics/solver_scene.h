// solver_scene.h - small scenes for the solver's tests: bodies in flat arrays, boxes on a plane, hinges.
#ifndef TALUS_TESTS_PHYSICS_SOLVER_SCENE_H
#define TALUS_TESTS_PHYSICS_SOLVER_SCENE_H

#include "physics/collide/broadphase.h"
#include "physics/collide/collide.h"
#include "physics/solver/solver.h"
#include "support/support.h"

#include <math.h>

// A test of larger scenes sets its own sizes before it includes this.
#ifndef SCENE_BODIES
#define SCENE_BODIES 400
#define SCENE_JOINTS 260
#define SCENE_CONTACTS 4000
#endif

static const SolverSurface scene_surface = { .flags = SOLVER_CONTACT_APPROX1_1 | SOLVER_CONTACT_APPROX1_2,
                                             .mu = 0.8,
                                             .mu2 = 0.8 };

typedef struct SolverScene {
    SolverInput input;
    SolverBody bodies[SCENE_BODIES];
    SolverMass masses[SCENE_BODIES];
    SolverJoint joints[SCENE_JOINTS];
    SolverRow rows[3 * SCENE_JOINTS];
    SolverContact contacts[SCENE_CONTACTS];
    double anchors[SCENE_JOINTS][2][3];  // of ball joints, in the frames of the two bodies
    double half[SCENE_BODIES][3];        // of the boxes; 0: no shape
    bool has_ground;
} SolverScene;

static inline int scene_box(SolverScene *s, double x, double y, double z, double half, double mass)
{
    int index = s->input.body_count++;
    SolverBody *body = &s->bodies[index];
    *body = (SolverBody){ .position = { x, y, z },
                          .quaternion = { 1.0 },
                          .flags = SOLVER_BODY_GRAVITY | SOLVER_BODY_GYROSCOPIC };
    s->masses[index] = (SolverMass){ .mass = mass };
    for (int i = 0; i < 3; i++) {
        s->masses[index].inertia.m[4 * i] = mass * half * half * 2.0 / 3.0;
        s->half[index][i] = half;
    }
    solver_body_refresh(body);
    return index;
}

static inline void scene_init(SolverScene *s, double dt)
{
    memset(s, 0, sizeof *s);
    s->input = (SolverInput){ .dt = dt,
                              .gravity = { 0.0, 0.0, -9.81 },
                              .erp = 0.2,
                              .cfm = 1e-5,
                              .contact_surface_layer = 0.001,
                              .bodies = s->bodies,
                              .masses = s->masses,
                              .joints = s->joints,
                              .rows = s->rows,
                              .contacts = s->contacts,
                              .surfaces = &scene_surface,
                              .surface_count = 1 };
}

// A ball joint at a world point; `b` -1: the world.
static inline int scene_ball(SolverScene *s, int a, int b, double x, double y, double z)
{
    int index = s->input.joint_count++;
    double point[3] = { x, y, z };
    s->joints[index] = (SolverJoint){ a, b, 3 * index, 3 };
    for (int side = 0; side < 2; side++) {
        int body = side ? b : a;
        for (int i = 0; i < 3; i++)
            s->anchors[index][side][i] = body < 0 ? point[i]
                                                  : point[i] - s->bodies[body].position[i];  // bodies start unturned
    }
    s->input.row_count = 3 * s->input.joint_count;
    return index;
}

// Where the two bodies have the joint's point, and how far from their centres.
static inline void scene_ball_ends(const SolverScene *s, int index, double at[2][3], double arm[2][3])
{
    const SolverJoint *joint = &s->joints[index];
    memset(arm, 0, 6 * sizeof(double));
    for (int side = 0; side < 2; side++) {
        int body = side ? joint->body2 : joint->body1;
        const double *local = s->anchors[index][side];
        for (int i = 0; i < 3; i++) {
            if (body >= 0) {
                const double *r = s->bodies[body].rotation + 3 * i;
                arm[side][i] = r[0] * local[0] + r[1] * local[1] + r[2] * local[2];
            }
            at[side][i] = body < 0 ? local[i] : s->bodies[body].position[i] + arm[side][i];
        }
    }
}

static inline double scene_ball_gap(const SolverScene *s, int index)
{
    double at[2][3], arm[2][3], gap = 0.0;
    scene_ball_ends(s, index, at, arm);
    for (int i = 0; i < 3; i++)
        gap = fmax(gap, fabs(at[0][i] - at[1][i]));
    return gap;
}

static inline void scene_ball_rows(SolverScene *s, int index)
{
    const SolverJoint *joint = &s->joints[index];
    double at[2][3], arm[2][3];
    scene_ball_ends(s, index, at, arm);
    for (int i = 0; i < 3; i++) {
        SolverRow *row = &s->rows[joint->first_row + i];
        int n = (i + 1) % 3, m = (i + 2) % 3;
        *row = (SolverRow){ .rhs = s->input.erp / s->input.dt * (at[1][i] - at[0][i]),
                            .cfm = s->input.cfm,
                            .lo = -SOLVER_INFINITY,
                            .hi = SOLVER_INFINITY,
                            .friction_of = -1 };
        row->j1[i] = 1.0;
        row->j1[3 + n] = arm[0][m];
        row->j1[3 + m] = -arm[0][n];
        if (joint->body2 < 0)
            continue;
        row->j2[i] = -1.0;
        row->j2[3 + n] = -arm[1][m];
        row->j2[3 + m] = arm[1][n];
    }
}

static inline void scene_collide_pair(SolverScene *s, int a, int b)
{
    static const CollidePose ground = { .rotation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    CollideShape shapes[2] = { { GEOMETRY_BOX, { s->half[a][0], s->half[a][1], s->half[a][2] } },
                               { .type = GEOMETRY_PLANE } };
    CollidePose poses[2] = { { { 0 } }, ground };
    CollidePoint points[COLLIDE_POINTS];
    for (int k = 0; k < (b < 0 ? 1 : 2); k++) {
        const SolverBody *body = &s->bodies[k ? b : a];
        memcpy(poses[k].position, body->position, sizeof poses[k].position);
        memcpy(poses[k].rotation, body->rotation, sizeof poses[k].rotation);
    }
    if (b >= 0)
        shapes[1] = (CollideShape){ GEOMETRY_BOX, { s->half[b][0], s->half[b][1], s->half[b][2] } };
    int count = collide_pair(&shapes[0], &poses[0], &shapes[1], &poses[1], 0.0, points);
    for (int i = 0; i < count && s->input.contact_count < COUNT_OF(s->contacts); i++) {
        SolverContact *c = &s->contacts[s->input.contact_count++];
        *c = (SolverContact){ .body = { a, b }, .depth = points[i].depth };
        memcpy(&c->point, points[i].position, sizeof c->point);
        memcpy(&c->normal, points[i].normal, sizeof c->normal);
    }
}

static inline void scene_step(SolverScene *s, Solver *solver)
{
    s->input.contact_count = 0;
    for (int i = 0; i < s->input.joint_count; i++)
        scene_ball_rows(s, i);
    for (int a = 0; s->has_ground && a < s->input.body_count; a++) {
        scene_collide_pair(s, a, -1);
        for (int b = a + 1; b < s->input.body_count; b++) {
            double d = 0.0, reach = 1.75 * (s->half[a][0] + s->half[b][0]);
            for (int k = 0; k < 3; k++)
                d += (s->bodies[a].position[k] - s->bodies[b].position[k])
                     * (s->bodies[a].position[k] - s->bodies[b].position[k]);
            if (d < reach * reach)
                scene_collide_pair(s, a, b);
        }
    }
    solver_step(solver, &s->input);
}

static inline double scene_energy(const SolverScene *s)
{
    double energy = 0.0;
    for (int i = 0; i < s->input.body_count; i++) {
        const SolverBody *b = &s->bodies[i];
        const SolverMass *m = &s->masses[i];
        const double *v = b->velocity, *r = b->rotation;
        energy += 0.5 * m->mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + m->mass * 9.81 * b->position[2];
        for (int k = 0; k < 3; k++) {
            double w = r[k] * v[3] + r[3 + k] * v[4] + r[6 + k] * v[5];
            energy += 0.5 * m->inertia.m[4 * k] * w * w;
        }
    }
    return energy;
}

static inline bool scene_is_finite(const SolverScene *s, double bound)
{
    for (int i = 0; i < s->input.body_count; i++)
        for (int k = 0; k < 3; k++)
            if (!(fabs(s->bodies[i].position[k]) < bound) || !(fabs(s->bodies[i].velocity[k]) < bound))
                return false;
    return true;
}

static inline void scene_pyramid(SolverScene *s, int rows)
{
    s->has_ground = true;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < rows - r; c++)
            scene_box(s, (c - (rows - r - 1) * 0.5) * 0.21, 0.0, 0.1 + 0.2 * r, 0.1, 4.0);
}

// Boxes in a loose heap that tumble and come to rest.
static inline void scene_heap(SolverScene *s, int count)
{
    s->has_ground = true;
    for (int i = 0; i < count; i++)
        scene_box(s, 0.17 * (i % 3) + 0.03 * (i % 7), 0.19 * (i / 3 % 3) + 0.02 * (i % 5), 0.12 + 0.25 * (i / 9), 0.1,
                  1.0 + 0.2 * (i % 4));
}

#endif
