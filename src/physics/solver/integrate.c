// Poses from velocities, as ODE integrates them; and a loose body as the iterative method takes it.
#include "physics/solver/solver_internal.h"

#include <assert.h>
#include <math.h>

#ifndef INTEGRATE_VARIANT
#define INTEGRATE_VARIANT solver_body_integrate
#define INTEGRATE_REST  // what is compiled once
#endif

// Doubling is exact, so it may stand where it costs least.
static inline void rotation_of(double w, double x, double y, double z, double *r)
{
    double x2 = 2.0 * x, y2 = 2.0 * y, z2 = 2.0 * z;
    double xx = x2 * x, yy = y2 * y, zz = z2 * z, xy = x2 * y, xz = x2 * z, yz = y2 * z;
    double wx = x2 * w, wy = y2 * w, wz = z2 * w;
    r[0] = 1.0 - yy - zz;
    r[1] = xy - wz;
    r[2] = xz + wy;
    r[3] = xy + wz;
    r[4] = 1.0 - xx - zz;
    r[5] = yz - wx;
    r[6] = xz - wy;
    r[7] = yz + wx;
    r[8] = 1.0 - xx - yy;
}

static inline void turn_first_order(double *q, const double *w, double h)
{
    double d0 = -w[0] * q[1] - w[1] * q[2] - w[2] * q[3], d1 = w[0] * q[0] + w[1] * q[3] - w[2] * q[2];
    double d2 = w[1] * q[0] + w[2] * q[1] - w[0] * q[3], d3 = w[2] * q[0] + w[0] * q[2] - w[1] * q[1];
    q[0] += 0.5 * h * d0;
    q[1] += 0.5 * h * d1;
    q[2] += 0.5 * h * d2;
    q[3] += 0.5 * h * d3;
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

static inline void turn(SolverBody *body, const SolverBodyExtra *extra, double h)
{
    double *q = body->quaternion;
    const double *w = body->velocity + 3;
    if (!(body->flags & SOLVER_BODY_FINITE_ROTATION)) {
        turn_first_order(q, w, h);
    } else if (!(body->flags & SOLVER_BODY_FINITE_AXIS) || !extra) {
        turn_exactly(q, w, h);
    } else {
        const double *axis = extra->finite_axis;
        double along = axis[0] * w[0] + axis[1] * w[1] + axis[2] * w[2], finite[3], rest[3];
        for (int i = 0; i < 3; i++) {
            finite[i] = along * axis[i];
            rest[i] = w[i] - finite[i];
        }
        turn_exactly(q, finite, h);
        turn_first_order(q, rest, 0.5 * h);  // half, as ODE integrates the part across the axis
    }
    double length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], k = 1.0 / sqrt(length2);
    for (int i = 0; i < 4; i++)
        q[i] *= k;
}

void INTEGRATE_VARIANT(SolverBody *body, const SolverMass *mass, const SolverBodyExtra *extra, double dt)
{
    assert(dt > 0.0);
    double *v = body->velocity, *w = v + 3;
    if (body->flags & SOLVER_BODY_MAX_ANGULAR_SPEED) {
        double speed2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        double max = extra ? extra->max_angular_speed : SOLVER_MAX_ANGULAR_SPEED;
        if (speed2 > max * max)
            for (int i = 0; i < 3; i++)
                w[i] *= max / sqrt(speed2);
    }
    for (int i = 0; i < 3; i++)
        body->position[i] += dt * v[i];
    turn(body, extra, dt);
    const double *q = body->quaternion;
    rotation_of(q[0], q[1], q[2], q[3], body->rotation);
    if ((body->flags & SOLVER_BODY_LINEAR_DAMPING)
        && v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > (extra ? extra->linear_damping_threshold : 0.0))
        for (int i = 0; i < 3; i++)
            v[i] *= 1.0 - mass->linear_damping;
    if ((body->flags & SOLVER_BODY_ANGULAR_DAMPING)
        && w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > (extra ? extra->angular_damping_threshold : 0.0))
        for (int i = 0; i < 3; i++)
            w[i] *= 1.0 - mass->angular_damping;
}

#ifdef INTEGRATE_REST
void solver_rotation(const double *q, double *r) { rotation_of(q[0], q[1], q[2], q[3], r); }

void solver_body_refresh(SolverBody *body) { solver_rotation(body->quaternion, body->rotation); }

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
