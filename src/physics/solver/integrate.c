// Poses from velocities, as ODE integrates them; and a loose body as the iterative method takes it.
#include "physics/solver/solver_internal.h"

#include "base/cpu.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#ifndef INTEGRATE_VARIANT
#define INTEGRATE_VARIANT solver_bodies_integrate_portable
#define INTEGRATE_REST  // what is compiled once
#endif

// Four numbers of a quaternion at once. A product with an opposite is the opposite of the product, and a difference
// the sum with one, so each has the bits that it would have alone.
typedef int64_t I4 __attribute__((vector_size(32)));

static inline V4 v4_flip(V4 v, I4 signs) { return (V4)((I4)v ^ signs); }

// The solver has just written the velocity as pairs and single numbers: a load of four would wait for these.
static inline V4 turn_first_order(V4 q, const double *w, double h)
{
    const V4 v = { w[0], w[1], w[2], w[2] };
    const V4 x = v4_flip(__builtin_shufflevector(v, v, 0, 0, 1, 2), (I4){ INT64_MIN, 0, 0, 0 });
    const V4 y = v4_flip(__builtin_shufflevector(v, v, 1, 1, 2, 0), (I4){ INT64_MIN, 0, 0, 0 });
    const V4 z = v4_flip(__builtin_shufflevector(v, v, 2, 2, 0, 1), (I4){ INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN });
    const V4 rate = (x * __builtin_shufflevector(q, q, 1, 0, 0, 0) + y * __builtin_shufflevector(q, q, 2, 3, 1, 2))
                    + z * __builtin_shufflevector(q, q, 3, 2, 3, 1);
    return q + rate * (0.5 * h);
}

static void turn_exactly(double *q, const double *w, double h)
{
    double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), theta = 0.5 * h * speed;
    double s = 0.5 * h * (theta < 1e-4 ? 1.0 - theta * theta / 6.0 : sin(theta) / theta);
    double a = cos(theta), b = w[0] * s, c = w[1] * s, d = w[2] * s;
    double r0 = a * q[0] - b * q[1] - c * q[2] - d * q[3], r1 = a * q[1] + b * q[0] + c * q[3] - d * q[2];
    double r2 = a * q[2] + c * q[0] + d * q[1] - b * q[3], r3 = a * q[3] + d * q[0] + b * q[2] - c * q[1];
    q[0] = r0, q[1] = r1, q[2] = r2, q[3] = r3;
}

// A body that turns exactly, about any axis or about one of its own.
static __attribute__((noinline)) void turn_finite(SolverBody *body, const SolverBodyExtra *extra, double h)
{
    double *q = body->quaternion;
    const double *w = body->velocity + 3;
    if (!(body->flags & SOLVER_BODY_FINITE_AXIS) || !extra) {
        turn_exactly(q, w, h);
        return;
    }
    const double *axis = extra->finite_axis;
    double along = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2], finite[3], rest[3];
    for (int i = 0; i < 3; i++) {
        finite[i] = along * axis[i];
        rest[i] = w[i] - finite[i];
    }
    turn_exactly(q, finite, h);
    *(V4 *)q = turn_first_order(*(const V4 *)q, rest, 0.5 * h);  // half, as ODE integrates the part across the axis
}

static double max_angular_speed(const SolverBodyExtra *extra)
{
    return extra ? extra->max_angular_speed : SOLVER_MAX_ANGULAR_SPEED;
}

static bool turns_too_fast(const SolverBody *body, const SolverBodyExtra *extra)
{
    const double *w = body->velocity + 3, max = max_angular_speed(extra);
    return (body->flags & SOLVER_BODY_MAX_ANGULAR_SPEED) && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > max * max;
}

static void slow_down(SolverBody *body, const SolverBodyExtra *extra)
{
    double *w = body->velocity + 3, speed2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int i = 0; i < 3; i++)
        w[i] *= max_angular_speed(extra) / sqrt(speed2);
}

static inline void turn(SolverBody *body, const SolverBodyExtra *extra, double h, bool is_finite)
{
    if (is_finite)
        turn_finite(body, extra, h);
    const V4 given = *(const V4 *)body->quaternion,
             q = is_finite ? given : turn_first_order(given, body->velocity + 3, h);
    const V4 squares = q * q;
    *(V4 *)body->quaternion = q * (1.0 / sqrt(((squares[0] + squares[1]) + squares[2]) + squares[3]));
}

static inline void integrate(SolverBody *body, const SolverMass *mass, const SolverBodyExtra *extra, double dt,
                             bool is_finite)
{
    double *v = body->velocity, *w = v + 3;
    for (int i = 0; i < 3; i++)
        body->position[i] += dt * v[i];
    turn(body, extra, dt, is_finite);
    solver_body_refresh(body);
    if ((body->flags & SOLVER_BODY_LINEAR_DAMPING)
        && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > (extra ? extra->linear_damping_threshold : 0.0))
        for (int i = 0; i < 3; i++)
            v[i] *= 1.0 - mass->linear_damping;
    if ((body->flags & SOLVER_BODY_ANGULAR_DAMPING)
        && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > (extra ? extra->angular_damping_threshold : 0.0))
        for (int i = 0; i < 3; i++)
            w[i] *= 1.0 - mass->angular_damping;
}

// Kept apart, so that the common body finds no call on its way.
static __attribute__((noinline)) void integrate_rare(SolverBody *body, const SolverMass *mass,
                                                     const SolverBodyExtra *extra, double dt)
{
    if (turns_too_fast(body, extra))
        slow_down(body, extra);
    integrate(body, mass, extra, dt, (body->flags & SOLVER_BODY_FINITE_ROTATION) != 0);
}

static inline void body_integrate(SolverBody *body, const SolverMass *mass, const SolverBodyExtra *extra, double dt)
{
    if ((body->flags & SOLVER_BODY_FINITE_ROTATION) || turns_too_fast(body, extra))
        integrate_rare(body, mass, extra, dt);
    else
        integrate(body, mass, extra, dt, false);
}

// A body that numbers cannot follow (overflow, a contradictory model) is stopped where it is instead of spreading NaN.
static inline bool body_stop_unsound(SolverBody *body)
{
    double *v = body->velocity;
    double sum = ((v[0] + v[1]) + (v[3] + v[4])) + (v[2] + v[5]);
    if (isfinite(sum))
        return false;
    memset(v, 0, 6 * sizeof *v);
    body->flags |= SOLVER_BODY_STOPPED;
    return true;
}

int INTEGRATE_VARIANT(const SolverInput *input, int begin, int end, BodyPart part)
{
    assert_debug(input->dt > 0.0 && begin >= 0 && begin <= end);
    const int32_t *awake = input->awake;
    int stopped = 0;
    for (int i = begin; i < end; i++) {
        int index = awake ? awake[i] : i;
        SolverBody *body = &input->bodies[index];
        if (part & BODY_CHECK)
            stopped += body_stop_unsound(body);
        if ((part & BODY_INTEGRATE) && !(body->flags & SOLVER_BODY_ASLEEP))
            body_integrate(body, &input->masses[index], input->extras ? &input->extras[index] : NULL, input->dt);
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
