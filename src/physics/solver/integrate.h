// integrate.h - one body's pose from its velocity, as ODE integrates it. For those who are compiled once for each
// instruction set.
#ifndef TALUS_PHYSICS_SOLVER_INTEGRATE_H
#define TALUS_PHYSICS_SOLVER_INTEGRATE_H

#include "physics/solver/solver_internal.h"

#include "base/cpu.h"

#include <math.h>
#include <string.h>

// Four numbers of a quaternion at once. A product with an opposite is the opposite of the product, and a difference
// the sum with one, so each has the bits that it would have alone.
static inline V4 v4_flip(V4 v, I4 signs) { return (V4)((I4)v ^ signs); }

// Three numbers that the solver has just written as a pair and a single one: a load of four would wait for these.
static inline V4 v4_of_three(const double *p) { return (V4){ p[0], p[1], p[2], p[2] }; }

// As stepper_talus.c loads them soon after.
static inline void v4_store_three(double *p, V4 v)
{
    *(V2 *)p = (V2){ v[0], v[1] };
    p[2] = v[2];
}

// Of the angular velocity three numbers count, as of every vector here.
static inline V4 turn_first_order(V4 q, V4 v, double h)
{
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
    *(V4 *)q = turn_first_order(*(const V4 *)q, v4_of_three(rest),
                                0.5 * h);  // half, as ODE integrates the part across the axis
}

static double max_angular_speed(const SolverBodyExtra *extra)
{
    return extra ? extra->max_angular_speed : SOLVER_MAX_ANGULAR_SPEED;
}

static inline bool turns_too_fast(const SolverBody *body, const SolverBodyExtra *extra, V4 w)
{
    const double max = max_angular_speed(extra);
    return (body->flags & SOLVER_BODY_MAX_ANGULAR_SPEED) && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > max * max;
}

static void slow_down(SolverBody *body, const SolverBodyExtra *extra)
{
    double *w = body->velocity + 3, speed2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int i = 0; i < 3; i++)
        w[i] *= max_angular_speed(extra) / sqrt(speed2);
}

static inline void turn(SolverBody *body, const SolverBodyExtra *extra, V4 w, double h, bool is_finite)
{
    if (is_finite)
        turn_finite(body, extra, h);
    const V4 given = *(const V4 *)body->quaternion, q = is_finite ? given : turn_first_order(given, w, h);
    const V4 squares = q * q;
    *(V4 *)body->quaternion = q * (1.0 / sqrt(((squares[0] + squares[1]) + squares[2]) + squares[3]));
}

typedef struct IntegrateStep {
    double dt;
    bool ignores_rotations;  // as SolverInput says it
} IntegrateStep;

// With the velocity that the body has, in registers: what was just written is not waited for.
static inline void integrate(SolverBody *body, const SolverMass *mass, const SolverBodyExtra *extra, V4 linear,
                             V4 angular, IntegrateStep step, bool is_finite)
{
    const double dt = step.dt;
    double *v = body->velocity, *w = v + 3;
    v4_store_three(body->position, v4_of_three(body->position) + linear * dt);
    turn(body, extra, angular, dt, is_finite);
    if (!step.ignores_rotations)
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
                                                     const SolverBodyExtra *extra, IntegrateStep step)
{
    if (turns_too_fast(body, extra, v4_of_three(body->velocity + 3)))
        slow_down(body, extra);
    integrate(body, mass, extra, v4_of_three(body->velocity), v4_of_three(body->velocity + 3), step,
              (body->flags & SOLVER_BODY_FINITE_ROTATION) != 0);
}

static inline void body_integrate(SolverBody *body, const SolverMass *mass, const SolverBodyExtra *extra, V4 linear,
                                  V4 angular, IntegrateStep step)
{
    if ((body->flags & SOLVER_BODY_FINITE_ROTATION) || turns_too_fast(body, extra, angular))
        integrate_rare(body, mass, extra, step);
    else
        integrate(body, mass, extra, linear, angular, step, false);
}

// A body that numbers cannot follow (overflow, a contradictory model) is stopped where it is instead of spreading NaN.
// True: it was, and so is its velocity in registers.
static inline bool body_stop_unsound(SolverBody *body, V4 *linear, V4 *angular)
{
    const V4 v = *linear, w = *angular;
    if (isfinite(((v[0] + v[1]) + (w[0] + w[1])) + (v[2] + w[2])))
        return false;
    *linear = *angular = (V4){ 0 };
    memset(body->velocity, 0, sizeof body->velocity);
    body->flags |= SOLVER_BODY_STOPPED;
    return true;
}

#endif
