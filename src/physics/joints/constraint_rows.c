// constraint_rows.c - the rows of constraints: Jacobians of both sides, the speed that takes back a share (ERP) of the
// error in a step, softness (CFM) and bounds, with the meaning that ODE gives them. tests/physics/constraint_test.c
// holds each kind to the rows of ODE's own joints. Those of hinges and sliders without motor and stop can be had in
// short, too (SolverHold).
#include "physics/joints/constraint.h"
#include "physics/joints/tuning.h"

#include <assert.h>
#include <string.h>

#ifndef CONSTRAINT_VARIANT
#define CONSTRAINT_VARIANT constraint_rows_portable
#define CONSTRAINT_HOLD_VARIANT constraint_hold_portable
#endif

// Rows of two bodies and of one in the world are written by the same functions, each compiled for both.
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE                                                                                                   \
    __attribute__((noinline))  // kinds are kept apart: one function for all of them spills its registers

typedef struct Sides {                 // of a constraint, as its bodies stand now
    const SolverBody *first, *second;  // second NULL: the world
    const ConstraintFrames *frames;
    Vec3 position[2];
} Sides;

static inline Vec3 turned(const SolverBody *body, Vec3 v)
{
    if (!body)
        return v;
    const double *r = body->rotation;
    return vec3(r[0] * v.x + r[1] * v.y + r[2] * v.z, r[3] * v.x + r[4] * v.y + r[5] * v.z,
                r[6] * v.x + r[7] * v.y + r[8] * v.z);
}

// The columns of a body's rotation, for several vectors: each of their products then costs a third. Sums have the order
// of turned(). What stands behind the three numbers goes nowhere.
typedef struct Columns {
    V4 x, y, z;
} Columns;

static ALWAYS_INLINE Columns columns_of(const SolverBody *body)
{
    static_assert(offsetof(SolverBody, velocity) == offsetof(SolverBody, rotation) + 9 * sizeof(double), "can be read");
    const double *r = body->rotation;
    const V4 a = *(const V4 *)r, b = *(const V4 *)(r + 3), c = *(const V4 *)(r + 6);
    const V4 even = __builtin_shufflevector(a, b, 0, 4, 2, 6), odd = __builtin_shufflevector(a, b, 1, 5, 3, 7),
             last = __builtin_shufflevector(c, c, 1, 0, 3, 2);
    return (Columns){ __builtin_shufflevector(even, c, 0, 1, 4, 5), __builtin_shufflevector(odd, last, 0, 1, 4, 5),
                      __builtin_shufflevector(even, c, 2, 3, 6, 7) };
}

static ALWAYS_INLINE V4 columns_turn(const Columns *columns, Vec3 v)
{
    return (columns->x * v.x + columns->y * v.y) + columns->z * v.z;
}

static ALWAYS_INLINE V4 v4_of(Vec3 v) { return (V4){ v.x, v.y, v.z }; }
static ALWAYS_INLINE Vec3 first_three(V4 v) { return vec3(v[0], v[1], v[2]); }

static Vec3 turned_back(const SolverBody *body, Vec3 v)
{
    if (!body)
        return v;
    const double *r = body->rotation;
    return vec3(r[0] * v.x + r[3] * v.y + r[6] * v.z, r[1] * v.x + r[4] * v.y + r[7] * v.z,
                r[2] * v.x + r[5] * v.y + r[8] * v.z);
}

static Quat orientation(const SolverBody *body)
{
    return (Quat){ body->quaternion[0], body->quaternion[1], body->quaternion[2], body->quaternion[3] };
}

static ALWAYS_INLINE Sides sides_of(const Constraint *constraint, const SolverBody *bodies)
{
    assert_debug(constraint->solved[0] >= 0);
    Sides sides = { .first = &bodies[constraint->solved[0]],
                    .second = constraint->solved[1] >= 0 ? &bodies[constraint->solved[1]] : NULL,
                    .frames = constraint_frames(constraint) };
    sides.position[0] = vec3(sides.first->position[0], sides.first->position[1], sides.first->position[2]);
    if (sides.second)
        sides.position[1] = vec3(sides.second->position[0], sides.second->position[1], sides.second->position[2]);
    return sides;
}

static inline void put3(double *restrict to, Vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

// A row without bounds.
static ALWAYS_INLINE void row_set(SolverRow *restrict row, bool has_second, Vec3 linear1, Vec3 angular1, Vec3 linear2,
                                  Vec3 angular2, double rhs, double cfm)
{
    put3(row->j1, linear1);
    put3(row->j1 + 3, angular1);
    put3(row->j2, has_second ? linear2 : VEC3_ZERO);
    put3(row->j2 + 3, has_second ? angular2 : VEC3_ZERO);
    row->rhs = rhs;
    row->cfm = cfm;
    row->lo = -SOLVER_INFINITY;
    row->hi = SOLVER_INFINITY;
    row->force = 0.0;
    row->friction_of = -1;
    row->form = SOLVER_ROWS_ANY;
}

static const Vec3 unit[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

// The way from a point `arm1` from the first centre to the point `arm2` from the second, times k.
static ALWAYS_INLINE V4 point_error(const Sides *sides, bool has_second, V4 arm1, V4 arm2, double k)
{
    const V4 there = has_second ? arm2 + *(const V4 *)sides->second->position : arm2;
    return (there - arm1 - *(const V4 *)sides->first->position) * k;
}

// Three rows that hold the one at the other.
static ALWAYS_INLINE void ball_rows(bool has_second, Vec3 arm1, Vec3 arm2, Vec3 error, double cfm,
                                    SolverRow *restrict rows)
{
    row_set(&rows[0], has_second, vec3(1, 0, 0), vec3(0, arm1.z, -arm1.y), vec3(-1, 0, 0), vec3(0, -arm2.z, arm2.y),
            error.x, cfm);
    row_set(&rows[1], has_second, vec3(0, 1, 0), vec3(-arm1.z, 0, arm1.x), vec3(0, -1, 0), vec3(arm2.z, 0, -arm2.x),
            error.y, cfm);
    row_set(&rows[2], has_second, vec3(0, 0, 1), vec3(arm1.y, -arm1.x, 0), vec3(0, 0, -1), vec3(-arm2.y, arm2.x, 0),
            error.z, cfm);
}

static ALWAYS_INLINE void angular_row(SolverRow *restrict row, bool has_second, Vec3 axis, double rhs, double cfm)
{
    row_set(row, has_second, VEC3_ZERO, axis, VEC3_ZERO, vec3_neg(axis), rhs, cfm);
}

static inline void plane_space(Vec3 normal, Vec3 *p, Vec3 *q)
{
    double a[3], b[3];
    solver_plane_space((const double[3]){ normal.x, normal.y, normal.z }, a, b);
    *p = vec3(a[0], a[1], a[2]);
    *q = vec3(b[0], b[1], b[2]);
}

// Two rows that keep an axis of both sides the same.
static ALWAYS_INLINE void axis_rows(bool has_second, Vec3 axis1, Vec3 axis2, Vec3 p, Vec3 q, double k, double cfm,
                                    SolverRow *restrict rows)
{
    Vec3 error = vec3_cross(axis1, axis2);
    angular_row(&rows[0], has_second, p, k * vec3_dot(error, p), cfm);
    angular_row(&rows[1], has_second, q, k * vec3_dot(error, q), cfm);
}

// Turn of the second side against the first since they were placed, in the frame of the first.
static inline Quat turn_since(const Sides *sides)
{
    Quat back = quat_conj(orientation(sides->first));
    return quat_mul(sides->second ? quat_mul(back, orientation(sides->second)) : back, quat_conj(sides->frames->turn));
}

// What is missing of the turn between both sides, times k.
static ALWAYS_INLINE V4 orientation_error(const Sides *sides, const Columns *first, double k)
{
    Quat error = turn_since(sides);
    return columns_turn(first, vec3(error.x, error.y, error.z)) * (error.w < 0.0 ? -2.0 * k : 2.0 * k);
}

// Three rows that keep it.
static ALWAYS_INLINE void orientation_rows(bool has_second, Vec3 error, double cfm, SolverRow *restrict rows)
{
    angular_row(&rows[0], has_second, vec3(1, 0, 0), error.x, cfm);
    angular_row(&rows[1], has_second, vec3(0, 1, 0), error.y, cfm);
    angular_row(&rows[2], has_second, vec3(0, 0, 1), error.z, cfm);
}

// ---- rows with bounds ----

static double or_else(double value, double otherwise) { return value < 0.0 ? otherwise : value; }

typedef enum StopAt { STOP_NONE, STOP_LOW, STOP_HIGH } StopAt;

static StopAt stop_at(const ConstraintAxis *axis, double position, double *error)
{
    *error = 0.0;
    if (position <= axis->low + STOP_TOUCH) {
        *error = fmin(position - axis->low, 0.0);
        return STOP_LOW;
    }
    if (position >= axis->high - STOP_TOUCH) {
        *error = fmax(position - axis->high, 0.0);
        return STOP_HIGH;
    }
    return STOP_NONE;
}

static void push(SolverBody *body, const double j[6], double force)
{
    for (int i = 0; i < 6; i++)
        body->force[i] += force * j[i];
}

// A motor at a stop is the stop's row and the motor's whole force beside it, against the direction that it wants to go.
static void push_at_stop(const Constraint *constraint, const ConstraintAxis *axis, StopAt stop, const SolverRow *row,
                         SolverBody *bodies)
{
    assert_debug(stop != STOP_NONE && axis->max_force > 0.0);
    bool is_back = axis->velocity > 0.0 || (axis->velocity == 0.0 && stop == STOP_HIGH);
    double force = is_back ? axis->max_force : -axis->max_force;
    push(&bodies[constraint->solved[0]], row->j1, force);
    if (constraint->solved[1] >= 0)
        push(&bodies[constraint->solved[1]], row->j2, force);
}

// Gives a row, whose Jacobians are set, the motor and stop of its axis. False: it has neither.
static bool bound_row(const Constraint *constraint, const ConstraintAxis *axis, StopAt stop, double error,
                      const ConstraintStep *step, SolverRow *row, SolverBody *bodies)
{
    assert_debug(axis >= constraint->axes && axis < constraint->axes + CONSTRAINT_AXES);
    bool has_motor = axis->max_force > 0.0, is_locked = stop && axis->low == axis->high;
    if (!has_motor && !stop)
        return false;
    if (has_motor && !stop) {
        row->rhs = axis->velocity;
        row->cfm = or_else(axis->cfm, step->cfm);
        row->lo = -axis->max_force;
        row->hi = axis->max_force;
        return true;
    }
    if (has_motor && !is_locked)
        push_at_stop(constraint, axis, stop, row, bodies);
    row->rhs = -(step->fps * or_else(axis->stop_erp, step->erp)) * error;
    row->cfm = or_else(axis->stop_cfm, step->cfm);
    row->lo = is_locked || stop == STOP_HIGH ? -SOLVER_INFINITY : 0.0;
    row->hi = is_locked || stop == STOP_LOW ? SOLVER_INFINITY : 0.0;
    return true;
}

// The force of a linear motor acts half way between the two centres, so that it turns nothing.
static void linear_row(const Sides *sides, Vec3 axis, SolverRow *row)
{
    Vec3 couple = VEC3_ZERO;
    if (sides->second)
        couple = vec3_cross(vec3_scale(vec3_sub(sides->position[1], sides->position[0]), 0.5), axis);
    row_set(row, sides->second, axis, couple, vec3_neg(axis), couple, 0.0, 0.0);
}

// ---- kinds ----

// 2 atan2(sine, cosine) of a sine that is not negative, within ANGLE_ROUGH: an arc tangent of the smaller part over the
// larger by a parabola.
static inline double rough_angle(double sine, double cosine)
{
    double size = fabs(cosine), small = fmin(sine, size), large = fmax(sine, size), share = small / large;
    double angle = share * (M_PI_4 + 0.273 * (1.0 - share));
    angle = sine > size ? M_PI_2 - angle : angle;
    return 2.0 * (cosine < 0.0 ? M_PI - angle : angle);
}

// Where a hinge stands against its stops. Most stand far from both, which needs no exact angle.
static StopAt hinge_stop(const Sides *sides, const ConstraintAxis *axis, double *error)
{
    Quat turn = turn_since(sides);
    double length = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    bool is_along = vec3_dot(vec3(turn.x, turn.y, turn.z), sides->frames->axis[0]) >= 0.0;
    double cosine = is_along ? turn.w : -turn.w, rough = rough_angle(length, cosine);
    rough = -(rough > M_PI ? rough - 2.0 * M_PI : rough);
    bool is_near_turn = fabs(rough) > M_PI - 2.0 * ANGLE_ROUGH;  // there the sign may be the other one
    if (!is_near_turn && rough - ANGLE_ROUGH > axis->low + STOP_TOUCH && rough + ANGLE_ROUGH < axis->high - STOP_TOUCH)
        return STOP_NONE;
    double angle = 2.0 * atan2(length, cosine);
    return stop_at(axis, -(angle > M_PI ? angle - 2.0 * M_PI : angle), error);
}

// What the five rows of a hinge, or of a slider, are made of.
typedef struct Held {
    Vec3 axis;
    Vec3 p, q;         // at right angles to it
    V4 arm[2];         // hinge: from each centre to the point; slider: levers of p and q
    V4 error;          // hinge: of the point; slider: of the turn
    double across[2];  // errors of p and q
    Vec3 way;          // slider: that it went across the axis
} Held;                // behind three numbers of a V4 stands anything

// Of a hinge between two bodies, or of one in the world: each compiled for itself, since most joints of most worlds are
// of the first kind.
static ALWAYS_INLINE Held hold_hinge(const Sides *sides, bool has_second, double k)
{
    const ConstraintFrames *frames = sides->frames;
    const Columns first = columns_of(sides->first);
    static_assert(offsetof(ConstraintFrames, axis) == offsetof(ConstraintFrames, anchor) + sizeof frames->anchor,
                  "can be read");
    Held held = { .axis = first_three(columns_turn(&first, frames->axis[0])),
                  .arm = { columns_turn(&first, frames->anchor[0]), *(const V4 *)&frames->anchor[1] } };
    Vec3 axis2 = frames->axis[1];
    if (has_second) {
        const Columns second = columns_of(sides->second);
        axis2 = first_three(columns_turn(&second, axis2));
        held.arm[1] = columns_turn(&second, frames->anchor[1]);
    }
    plane_space(held.axis, &held.p, &held.q);
    held.error = point_error(sides, has_second, held.arm[0], held.arm[1], k);
    Vec3 tilt = vec3_cross(held.axis, axis2);
    held.across[0] = k * vec3_dot(tilt, held.p);
    held.across[1] = k * vec3_dot(tilt, held.q);
    return held;
}

static ALWAYS_INLINE Vec3 hold_hinge_rows(const Sides *sides, bool has_second, double k, double cfm,
                                          SolverRow *restrict rows)
{
    const Held held = hold_hinge(sides, has_second, k);
    ball_rows(has_second, first_three(held.arm[0]), first_three(held.arm[1]), first_three(held.error), cfm, rows);
    angular_row(&rows[3], has_second, held.p, held.across[0], cfm);
    angular_row(&rows[4], has_second, held.q, held.across[1], cfm);
    rows[0].form = SOLVER_ROWS_POINT;
    return held.axis;
}

static ALWAYS_INLINE StopAt hinge_at_stop(const Sides *sides, const ConstraintAxis *motor, double *error)
{
    *error = 0.0;
    bool has_stops = (motor->low >= -M_PI || motor->high <= M_PI) && motor->low <= motor->high;
    return has_stops ? hinge_stop(sides, motor, error) : STOP_NONE;
}

static NEVER_INLINE int point_rows(const Sides *sides, const ConstraintStep *step, SolverRow *rows)
{
    Vec3 arm1 = turned(sides->first, sides->frames->anchor[0]), arm2 = turned(sides->second, sides->frames->anchor[1]);
    V4 error = point_error(sides, sides->second, v4_of(arm1), v4_of(arm2), step->fps * step->erp);
    ball_rows(sides->second, arm1, arm2, first_three(error), step->cfm, rows);
    return 3;
}

static NEVER_INLINE int hinge_rows(const Constraint *constraint, const ConstraintStep *step, SolverBody *bodies,
                                   SolverRow *rows)
{
    const Sides here = sides_of(constraint, bodies), *sides = &here;
    double k = step->fps * step->erp;
    const ConstraintAxis *motor = &constraint->axes[0];
    Vec3 axis = sides->second ? hold_hinge_rows(sides, true, k, step->cfm, rows)
                              : hold_hinge_rows(sides, false, k, step->cfm, rows);
    double error;
    StopAt stop = hinge_at_stop(sides, motor, &error);
    if (!stop && !(motor->max_force > 0.0))
        return 5;
    angular_row(&rows[5], sides->second, axis, 0.0, 0.0);
    return 5 + bound_row(constraint, motor, stop, error, step, &rows[5], bodies);
}

// Of a slider, likewise.
static ALWAYS_INLINE Held hold_slider(const Sides *sides, bool has_second, double k)
{
    const Columns first = columns_of(sides->first);
    Held held = { .axis = first_three(columns_turn(&first, sides->frames->axis[0])) };
    Vec3 offset = has_second ? vec3_add(turned(sides->second, sides->frames->offset), sides->position[1])
                             : sides->frames->offset;
    held.way = vec3_sub(offset, sides->position[0]);
    plane_space(held.axis, &held.p, &held.q);
    if (has_second) {
        Vec3 centres = vec3_sub(sides->position[1], sides->position[0]);
        Vec3 levers[2] = { vec3_cross(centres, held.p), vec3_cross(centres, held.q) };
        for (int i = 0; i < 2; i++)
            held.arm[i] = v4_of(levers[i]) * 0.5;
    }
    held.error = orientation_error(sides, &first, k);
    held.across[0] = k * vec3_dot(held.p, held.way);
    held.across[1] = k * vec3_dot(held.q, held.way);
    return held;
}

static ALWAYS_INLINE Held hold_slider_rows(const Sides *sides, bool has_second, const ConstraintStep *step,
                                           SolverRow *restrict rows)
{
    const Held held = hold_slider(sides, has_second, step->fps * step->erp);
    orientation_rows(has_second, first_three(held.error), step->cfm, rows);
    const Vec3 arm_p = first_three(held.arm[0]), arm_q = first_three(held.arm[1]);
    row_set(&rows[3], has_second, held.p, arm_p, vec3_neg(held.p), arm_p, held.across[0], step->cfm);
    row_set(&rows[4], has_second, held.q, arm_q, vec3_neg(held.q), arm_q, held.across[1], step->cfm);
    rows[0].form = SOLVER_ROWS_SLIDE;
    return held;
}

static ALWAYS_INLINE StopAt slider_at_stop(const Constraint *constraint, const Held *held, double *error)
{
    const ConstraintAxis *motor = &constraint->axes[0];
    *error = 0.0;
    bool has_stops = (motor->low > -INFINITY || motor->high < INFINITY) && motor->low <= motor->high;
    Vec3 axis = constraint->is_reversed ? vec3_neg(held->axis) : held->axis;
    return has_stops ? stop_at(motor, -vec3_dot(axis, held->way), error) : STOP_NONE;
}

static NEVER_INLINE int slider_rows(const Constraint *constraint, const Sides *sides, const ConstraintStep *step,
                                    SolverBody *bodies, SolverRow *rows)
{
    const ConstraintAxis *motor = &constraint->axes[0];
    const Held held = sides->second ? hold_slider_rows(sides, true, step, rows)
                                    : hold_slider_rows(sides, false, step, rows);
    double error;
    StopAt stop = slider_at_stop(constraint, &held, &error);
    if (!stop && !(motor->max_force > 0.0))
        return 5;
    linear_row(sides, constraint->is_reversed ? vec3_neg(held.axis) : held.axis, &rows[5]);
    return 5 + bound_row(constraint, motor, stop, error, step, &rows[5], bodies);
}

static NEVER_INLINE int fixed_rows(const Sides *sides, const ConstraintStep *step, SolverRow *rows)
{
    double k = step->fps * step->erp;
    Vec3 offset = sides->second ? turned(sides->first, sides->frames->offset) : sides->frames->offset;
    Vec3 error = vec3_sub(vec3_add(sides->position[1], offset), sides->position[0]);
    for (int i = 0; i < 3; i++)
        row_set(&rows[i], sides->second, unit[i], sides->second ? vec3_cross(unit[i], offset) : VEC3_ZERO,
                vec3_neg(unit[i]), VEC3_ZERO, k * (&error.x)[i], step->cfm);
    const Columns first = columns_of(sides->first);
    orientation_rows(sides->second, first_three(orientation_error(sides, &first, k)), step->cfm, rows + 3);
    return 6;
}

// How far the second axis was turned about the first, as the parent sees it.
static double first_angle(const Constraint *constraint, Vec3 second)
{
    Vec3 axis = constraint_frames(constraint)->axis[0], from = constraint->reference;
    double along = vec3_dot(axis, from) * vec3_dot(axis, second);
    return atan2(vec3_dot(axis, vec3_cross(from, second)), vec3_dot(from, second) - along);
}

static NEVER_INLINE int suspension_rows(const Constraint *constraint, const Sides *sides, const ConstraintStep *step,
                                        SolverRow *rows)
{
    assert_debug(constraint->kind == CONSTRAINT_SUSPENSION);
    double k = step->fps * step->erp;
    bool is_reversed = constraint->is_reversed, has_second = sides->second;
    const SolverBody *parent = is_reversed ? NULL : sides->first, *child = is_reversed ? sides->first : sides->second;
    Vec3 first = turned(parent, sides->frames->axis[0]), second = turned(child, constraint->second), p, q;
    angular_row(&rows[0], has_second,
                vec3_normalized(is_reversed ? vec3_cross(second, first) : vec3_cross(first, second)),
                -k * vec3_dot(first, second), step->cfm);
    Vec3 slide = turned(parent, constraint->slide);
    Vec3 arm[2] = { turned(sides->first, sides->frames->anchor[0]), turned(sides->second, sides->frames->anchor[1]) };
    Vec3 gap = vec3_sub(vec3_add(arm[1], sides->position[1]), vec3_add(arm[0], sides->position[0]));
    plane_space(slide, &p, &q);
    row_set(&rows[1], has_second, p, vec3_cross(arm[0], p), vec3_neg(p), vec3_cross(p, arm[1]), k * vec3_dot(p, gap),
            step->cfm);
    row_set(&rows[2], has_second, q, vec3_cross(arm[0], q), vec3_neg(q), vec3_cross(q, arm[1]), k * vec3_dot(q, gap),
            step->cfm);
    int count = 3;
    if (constraint->locks_first) {
        double angle = first_angle(constraint, turned_back(parent, second));
        angular_row(&rows[count++], has_second, first, is_reversed ? -k * angle : k * angle, step->cfm);
    }
    double rhs = step->fps * or_else(constraint->slide_erp, step->erp) * vec3_dot(slide, gap);
    row_set(&rows[count++], has_second, slide, vec3_cross(arm[0], slide), vec3_neg(slide), vec3_cross(slide, arm[1]),
            rhs, or_else(constraint->slide_cfm, step->cfm));
    return count;
}

static NEVER_INLINE int piston_rows(const Sides *sides, const ConstraintStep *step, SolverRow *rows)
{
    double k = step->fps * step->erp;
    Vec3 axis = turned(sides->first, sides->frames->axis[0]), directions[2];
    plane_space(axis, &directions[0], &directions[1]);
    axis_rows(sides->second, axis, turned(sides->second, sides->frames->axis[1]), directions[0], directions[1], k,
              step->cfm, rows);
    Vec3 arm = turned(sides->second, sides->frames->anchor[1]),
         way = vec3_sub(vec3_add(arm, sides->position[1]), sides->position[0]);
    Vec3 error = vec3_sub(way, turned(sides->first, sides->frames->anchor[0]));
    for (int i = 0; i < 2; i++)
        row_set(&rows[2 + i], sides->second, directions[i], vec3_cross(way, directions[i]), vec3_neg(directions[i]),
                vec3_cross(directions[i], arm), k * vec3_dot(directions[i], error), step->cfm);
    return 4;
}

static NEVER_INLINE int motor_rows(const Constraint *constraint, const Sides *sides, const ConstraintStep *step,
                                   SolverBody *bodies, SolverRow *rows)
{
    assert_debug(constraint->axis_count <= CONSTRAINT_AXES);
    bool is_angular = constraint->kind == CONSTRAINT_ANGULAR_MOTOR;
    int count = 0;
    for (int i = 0; i < constraint->axis_count; i++) {
        const ConstraintAxis *motor = &constraint->axes[i];
        double error = 0.0;
        StopAt stop = is_angular ? stop_at(motor, motor->angle, &error) : STOP_NONE;
        if (!stop && !(motor->max_force > 0.0))
            continue;
        Vec3 axis = turned(motor->relative == 1   ? sides->first
                           : motor->relative == 2 ? sides->second
                                                  : NULL,
                           motor->axis);
        if (is_angular)
            angular_row(&rows[count], sides->second, axis, 0.0, 0.0);
        else
            linear_row(sides, axis, &rows[count]);
        count += bound_row(constraint, motor, stop, error, step, &rows[count], bodies);
    }
    return count;
}

int CONSTRAINT_VARIANT(const Constraint *constraint, const ConstraintStep *step, SolverBody *bodies, SolverRow *rows)
{
    assert(constraint->solved[0] >= 0);
    if (constraint->kind == CONSTRAINT_HINGE)  // most joints of most worlds
        return hinge_rows(constraint, step, bodies, rows);
    Sides sides = sides_of(constraint, bodies);
    switch (constraint->kind) {
    case CONSTRAINT_BALL: return point_rows(&sides, step, rows);
    case CONSTRAINT_HINGE: break;  // see above
    case CONSTRAINT_SLIDER: return slider_rows(constraint, &sides, step, bodies, rows);
    case CONSTRAINT_SUSPENSION: return suspension_rows(constraint, &sides, step, rows);
    case CONSTRAINT_PISTON: return piston_rows(&sides, step, rows);
    case CONSTRAINT_FIXED: return fixed_rows(&sides, step, rows);
    case CONSTRAINT_ANGULAR_MOTOR:
    case CONSTRAINT_LINEAR_MOTOR: return motor_rows(constraint, &sides, step, bodies, rows);
    }
    return 0;
}

// ---- in short ----

static ALWAYS_INLINE void put4(double *restrict to, V4 v) { *(V4 *)to = (V4)((I4)v & (I4){ -1, -1, -1, 0 }); }

static ALWAYS_INLINE void hold_set(SolverHold *restrict hold, const Held *held, double cfm, SolverRowForm form)
{
    const V4 across = { held->across[0], held->across[1] };
    *(V4 *)hold->across[0] = v4_of(held->p);
    *(V4 *)hold->across[1] = v4_of(held->q);
    put4(hold->arm[0], held->arm[0]);
    put4(hold->arm[1], held->arm[1]);
    *(V4 *)(hold->rhs + (form == SOLVER_ROWS_POINT ? 0 : 4)) = across;
    put4(hold->rhs + (form == SOLVER_ROWS_POINT ? 4 : 0), held->error);
    hold->cfm = cfm;
    hold->form = form;
}

static NEVER_INLINE bool hinge_in_short(const Constraint *constraint, const ConstraintStep *step,
                                        const SolverBody *bodies, SolverHold *hold)
{
    const Sides sides = sides_of(constraint, bodies);
    double k = step->fps * step->erp, error;
    const Held held = sides.second ? hold_hinge(&sides, true, k) : hold_hinge(&sides, false, k);
    hold_set(hold, &held, step->cfm, SOLVER_ROWS_POINT);
    return hinge_at_stop(&sides, &constraint->axes[0], &error) == STOP_NONE;
}

static NEVER_INLINE bool slider_in_short(const Constraint *constraint, const ConstraintStep *step,
                                         const SolverBody *bodies, SolverHold *hold)
{
    const Sides sides = sides_of(constraint, bodies);
    double k = step->fps * step->erp, error;
    const Held held = sides.second ? hold_slider(&sides, true, k) : hold_slider(&sides, false, k);
    hold_set(hold, &held, step->cfm, SOLVER_ROWS_SLIDE);
    return slider_at_stop(constraint, &held, &error) == STOP_NONE;
}

bool CONSTRAINT_HOLD_VARIANT(const Constraint *constraint, const ConstraintStep *step, const SolverBody *bodies,
                             SolverHold *hold)
{
    assert_debug(constraint->solved[0] >= 0);
    if (constraint->axes[0].max_force > 0.0)
        return false;
    return constraint->kind == CONSTRAINT_HINGE    ? hinge_in_short(constraint, step, bodies, hold)
           : constraint->kind == CONSTRAINT_SLIDER ? slider_in_short(constraint, step, bodies, hold)
                                                   : false;
}
