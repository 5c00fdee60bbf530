// Poses from velocities, as ODE integrates them; and a loose body as the iterative method takes it.
#include "physics/solver/integrate.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#ifndef INTEGRATE_VARIANT
#define INTEGRATE_VARIANT solver_bodies_integrate_portable
#define INTEGRATE_REST  // what is compiled once
#endif

int INTEGRATE_VARIANT(const SolverInput *input, int begin, int end, BodyPart part)
{
    assert_debug(input->dt > 0.0 && begin >= 0 && begin <= end);
    const int32_t *awake = input->awake;
    const IntegrateStep step = { input->dt, input->ignores_rotations };
    int stopped = 0;
    for (int i = begin; i < end; i++) {
        int index = awake ? awake[i] : i;
        SolverBody *body = &input->bodies[index];
        V4 linear = v4_of_three(body->velocity), angular = v4_of_three(body->velocity + 3);
        if (part & BODY_CHECK)
            stopped += body_stop_unsound(body, &linear, &angular);
        if ((part & BODY_INTEGRATE) && !(body->flags & SOLVER_BODY_ASLEEP))
            body_integrate(body, &input->masses[index], input->extras ? &input->extras[index] : NULL, linear, angular,
                           step);
    }
    return stopped;
}

#ifdef INTEGRATE_REST
// Whether the body's axes are those of its inertia.
static inline bool inertia_is_diagonal(const double *m) { return m[1] == 0.0 && m[2] == 0.0 && m[5] == 0.0; }

static void inverse_inertia_world(const double *m, const double *r, bool is_diagonal, float out[6])
{
    double inverse[9], half[9];
    if (is_diagonal) {
        double d[3] = { 1.0 / m[0], 1.0 / m[4], 1.0 / m[8] };
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                half[3 * i + k] = r[3 * i + k] * d[k];
    } else {
        double c0 = m[4] * m[8] - m[5] * m[5], c1 = m[2] * m[5] - m[1] * m[8], c2 = m[1] * m[5] - m[2] * m[4];
        double s = 1.0 / (m[0] * c0 + m[1] * c1 + m[2] * c2);
        inverse[0] = c0 * s;
        inverse[1] = inverse[3] = c1 * s;
        inverse[2] = inverse[6] = c2 * s;
        inverse[4] = (m[0] * m[8] - m[2] * m[2]) * s;
        inverse[5] = inverse[7] = (m[1] * m[2] - m[0] * m[5]) * s;
        inverse[8] = (m[0] * m[4] - m[1] * m[1]) * s;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                half[3 * i + k] = r[3 * i] * inverse[k] + r[3 * i + 1] * inverse[3 + k] + r[3 * i + 2] * inverse[6 + k];
    }
    static const int rows[6] = { 0, 0, 0, 1, 1, 2 }, columns[6] = { 0, 1, 2, 1, 2, 2 };
    for (int i = 0; i < 6; i++) {
        const double *a = half + 3 * rows[i], *b = r + 3 * columns[i];
        out[i] = (float)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    }
}

void solver_body_predict(const SolverInput *input, int index, float inertia[6], float velocity[6])
{
    assert(index >= 0 && index < input->body_count && input->masses[index].mass > 0.0);
    const SolverBody *body = &input->bodies[index];
    const double mass = input->masses[index].mass, *m = input->masses[index].inertia.m;
    // As node_load_body() of the direct method, but in the precision of the iterations.
    const double *v = body->velocity, *w = v + 3;
    double dt = input->dt;
    bool is_diagonal = inertia_is_diagonal(m);
    inverse_inertia_world(m, body->rotation, is_diagonal, inertia);
    bool falls = (body->flags & SOLVER_BODY_GRAVITY) != 0;
    double torque[3] = { body->force[3], body->force[4], body->force[5] };
    if (body->flags & SOLVER_BODY_GYROSCOPIC) {
        const double *r = body->rotation;
        double local[3], spin[3], world[3];
        for (int i = 0; i < 3; i++)
            local[i] = r[i] * w[0] + r[3 + i] * w[1] + r[6 + i] * w[2];
        for (int i = 0; i < 3; i++)
            spin[i] = is_diagonal ? m[4 * i] * local[i]
                                  : m[3 * i] * local[0] + m[3 * i + 1] * local[1] + m[3 * i + 2] * local[2];
        for (int i = 0; i < 3; i++)
            world[i] = r[3 * i] * spin[0] + r[3 * i + 1] * spin[1] + r[3 * i + 2] * spin[2];
        torque[0] -= w[1] * world[2] - w[2] * world[1];
        torque[1] -= w[2] * world[0] - w[0] * world[2];
        torque[2] -= w[0] * world[1] - w[1] * world[0];
    }
    const float *q = inertia;
    for (int i = 0; i < 3; i++)
        velocity[i] = (float)(v[i] + dt * (body->force[i] / mass + (falls ? input->gravity[i] : 0.0)));
    velocity[3] = (float)(w[0] + dt * (q[0] * torque[0] + q[1] * torque[1] + q[2] * torque[2]));
    velocity[4] = (float)(w[1] + dt * (q[1] * torque[0] + q[3] * torque[1] + q[4] * torque[2]));
    velocity[5] = (float)(w[2] + dt * (q[2] * torque[0] + q[4] * torque[1] + q[5] * torque[2]));
}
#endif
