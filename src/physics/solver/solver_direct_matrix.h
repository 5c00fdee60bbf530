// solver_direct_matrix.h - matrices of 3x3, the blocks that masses and links are made of: products and the inverse.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_MATRIX_H
#define TALUS_PHYSICS_SOLVER_DIRECT_MATRIX_H

#include "physics/solver/solver_direct.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

// Three rows of three numbers and a zero.
typedef struct Matrix3 {
    V4 row[3];
} Matrix3;

// Number k of a vector in every lane: a shuffle of the register instead of a way over memory.
INLINE V4 v4_x(V4 v) { return __builtin_shufflevector(v, v, 0, 0, 0, 0); }
INLINE V4 v4_y(V4 v) { return __builtin_shufflevector(v, v, 1, 1, 1, 1); }
INLINE V4 v4_z(V4 v) { return __builtin_shufflevector(v, v, 2, 2, 2, 2); }

INLINE V4 v4_first_three(V4 v)
{
    const I4 three = { -1, -1, -1, 0 };
    return (V4)((I4)v & three);
}

INLINE V4 v4_three(double x, double y, double z) { return v4_first_three((V4){ x, y, z, z }); }

// Three numbers of a row; behind them stands another of it.
INLINE V4 v4_load_three(const double *p) { return v4_first_three(v4_load(p)); }

INLINE Matrix3 matrix3_load(const double *p) { return (Matrix3){ { v4_load(p), v4_load(p + 4), v4_load(p + 8) } }; }

INLINE void matrix3_store(double *p, Matrix3 m)
{
    v4_store(p, m.row[0]);
    v4_store(p + 4, m.row[1]);
    v4_store(p + 8, m.row[2]);
}

// A number along the diagonal.
INLINE Matrix3 matrix3_diagonal(double s)
{
    const I4 x = { -1, 0, 0, 0 }, y = { 0, -1, 0, 0 }, z = { 0, 0, -1, 0 }, all = (I4)(V4){ s, s, s, s };
    return (Matrix3){ { (V4)(all & x), (V4)(all & y), (V4)(all & z) } };
}

INLINE Matrix3 matrix3_transpose(Matrix3 m)
{
    const V4 none = { 0 };
    V4 even = __builtin_shufflevector(m.row[0], m.row[1], 0, 4, 2, 6),
       odd = __builtin_shufflevector(m.row[0], m.row[1], 1, 5, 3, 7);
    V4 last_even = __builtin_shufflevector(m.row[2], none, 0, 4, 2, 6),
       last_odd = __builtin_shufflevector(m.row[2], none, 1, 5, 3, 7);
    return (Matrix3){ { __builtin_shufflevector(even, last_even, 0, 1, 4, 5),
                        __builtin_shufflevector(odd, last_odd, 0, 1, 4, 5),
                        __builtin_shufflevector(even, last_even, 2, 3, 6, 7) } };
}

// m' x, the sum of the rows: for a symmetric matrix m x, too.
INLINE V4 matrix3_sum(Matrix3 m, V4 x) { return (m.row[0] * v4_x(x) + m.row[1] * v4_y(x)) + m.row[2] * v4_z(x); }

// m x, a product with each row.
INLINE V4 matrix3_dots(Matrix3 m, V4 x)
{
    const V4 none = { 0 };
    V4 p = m.row[0] * x, q = m.row[1] * x, r = m.row[2] * x;
    V4 two = __builtin_shufflevector(p, q, 0, 4, 2, 6) + __builtin_shufflevector(p, q, 1, 5, 3, 7);
    V4 one = __builtin_shufflevector(r, none, 0, 4, 2, 6) + __builtin_shufflevector(r, none, 1, 5, 3, 7);
    return __builtin_shufflevector(two, one, 0, 1, 4, 5) + __builtin_shufflevector(two, one, 2, 3, 6, 7);
}

INLINE Matrix3 matrix3_scale(Matrix3 m, double s) { return (Matrix3){ { m.row[0] * s, m.row[1] * s, m.row[2] * s } }; }

INLINE Matrix3 matrix3_add(Matrix3 a, Matrix3 b)
{
    return (Matrix3){ { a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2] } };
}

INLINE Matrix3 matrix3_subtract(Matrix3 a, Matrix3 b)
{
    return (Matrix3){ { a.row[0] - b.row[0], a.row[1] - b.row[1], a.row[2] - b.row[2] } };
}

// a b
INLINE Matrix3 matrix3_multiply(Matrix3 a, Matrix3 b)
{
    return (Matrix3){ { matrix3_sum(b, a.row[0]), matrix3_sum(b, a.row[1]), matrix3_sum(b, a.row[2]) } };
}

// m - a' b, of which just the first `count` rows of a and b are there.
INLINE Matrix3 matrix3_take_square(Matrix3 m, Matrix3 a, Matrix3 b, int count)
{
    for (int i = 0; i < count; i++) {
        m.row[0] -= b.row[i] * v4_x(a.row[i]);
        m.row[1] -= b.row[i] * v4_y(a.row[i]);
        m.row[2] -= b.row[i] * v4_z(a.row[i]);
    }
    return m;
}

// m + a' b, likewise.
INLINE Matrix3 matrix3_add_square(Matrix3 m, Matrix3 a, Matrix3 b, int count)
{
    for (int i = 0; i < count; i++) {
        m.row[0] += b.row[i] * v4_x(a.row[i]);
        m.row[1] += b.row[i] * v4_y(a.row[i]);
        m.row[2] += b.row[i] * v4_z(a.row[i]);
    }
    return m;
}

// ---- the inverse of a symmetric matrix ----

INLINE V4 v4_yzx(V4 v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); }
INLINE V4 v4_zxy(V4 v) { return __builtin_shufflevector(v, v, 2, 0, 1, 3); }

// The matrix of cofactors, which is the inverse times the determinant. All turning about is done before the products,
// where it need not be waited for twice.
INLINE Matrix3 matrix3_cofactors(Matrix3 m)
{
    const V4 a = v4_yzx(m.row[0]), b = v4_yzx(m.row[1]), c = v4_yzx(m.row[2]);
    const V4 u = v4_zxy(m.row[0]), v = v4_zxy(m.row[1]), w = v4_zxy(m.row[2]);
    return (Matrix3){ { b * w - v * c, c * u - w * a, a * v - u * b } };
}

INLINE double v4_dot(V4 v, V4 w) { return v4_sum(v * w); }

// Masses are never singular but may come close: give a direction that rounding ate a trace of mass.
static __attribute__((noinline, cold)) Matrix3 matrix3_inverse_poor_mass(Matrix3 m)
{
    for (int attempt = 0; attempt < 40; attempt++) {
        double trace = fabs(m.row[0][0]) + fabs(m.row[1][1]) + fabs(m.row[2][2]) + 1e-300;
        double extra = trace * ldexp(1e-15, 2 * attempt);
        for (int i = 0; i < 3; i++)
            m.row[i][i] += extra;
        Matrix3 cofactors = matrix3_cofactors(m);
        double determinant = v4_dot(m.row[0], cofactors.row[0]);
        if (determinant > 1e-14 * m.row[0][0] * m.row[1][1] * m.row[2][2] && m.row[0][0] > 0.0
            && cofactors.row[2][2] > 0.0)
            return matrix3_scale(cofactors, 1.0 / determinant);
    }
    return (Matrix3){ { { 0 } } };
}

// An inverse that is not yet multiplied out: what is done with its matrix need not wait for the division.
typedef struct Inverse3 {
    Matrix3 matrix;
    double by;
} Inverse3;

INLINE Matrix3 inverse3_matrix(Inverse3 inverse) { return matrix3_scale(inverse.matrix, inverse.by); }

INLINE Inverse3 matrix3_inverse_mass(Matrix3 m)
{
    Matrix3 cofactors = matrix3_cofactors(m);
    double determinant = v4_dot(m.row[0], cofactors.row[0]);
    if (determinant > 1e-14 * m.row[0][0] * m.row[1][1] * m.row[2][2] && m.row[0][0] > 0.0 && cofactors.row[2][2] > 0.0)
        return (Inverse3){ cofactors, 1.0 / determinant };
    return (Inverse3){ matrix3_inverse_poor_mass(m), 1.0 };
}

// Rows may say the same thing twice: of those, the later ones get no impulse and are counted.
static __attribute__((noinline, cold)) Matrix3 matrix3_inverse_poor_rows(Matrix3 m, const double *scale, int *redundant)
{
    const double limit = 1e-11, xx = m.row[0][0], xy = m.row[0][1], xz = m.row[0][2];
    double d0 = xx > limit * scale[0] ? 1.0 / xx : 0.0;
    double l10 = xy * d0, l20 = xz * d0;
    double p1 = m.row[1][1] - l10 * xy, q21 = m.row[1][2] - l20 * xy, d1 = p1 > limit * scale[1] ? 1.0 / p1 : 0.0;
    double l21 = q21 * d1;
    double p2 = m.row[2][2] - l20 * xz - l21 * q21, d2 = p2 > limit * scale[2] ? 1.0 / p2 : 0.0;
    *redundant += (d0 == 0.0) + (d1 == 0.0) + (d2 == 0.0);
    double a = -l10, b = l10 * l21 - l20, c = -l21;  // the inverse of the unit triangle
    double ab = a * d1 + b * c * d2;
    return (Matrix3){
        { { d0 + a * a * d1 + b * b * d2, ab, b * d2 }, { ab, d1 + c * c * d2, c * d2 }, { b * d2, c * d2, d2 } }
    };
}

// `scale`: the diagonal before anything was taken from it.
INLINE Inverse3 matrix3_inverse_rows(Matrix3 m, const double *scale, int *redundant)
{
    Matrix3 cofactors = matrix3_cofactors(m);
    double determinant = v4_dot(m.row[0], cofactors.row[0]);
    if (determinant > 1e-10 * scale[0] * scale[1] * scale[2] && m.row[0][0] > 0.0 && cofactors.row[2][2] > 0.0)
        return (Inverse3){ cofactors, 1.0 / determinant };
    return (Inverse3){ matrix3_inverse_poor_rows(m, scale, redundant), 1.0 };
}

// The same for two rows; the third of the result is empty.
INLINE Inverse3 matrix2_inverse_rows(double xx, double xy, double yy, const double *scale, int *redundant)
{
    double determinant = xx * yy - xy * xy;
    if (determinant > 1e-10 * scale[0] * scale[1] && xx > 0.0)
        return (Inverse3){ { { { yy, -xy }, { -xy, xx }, { 0 } } }, 1.0 / determinant };
    Matrix3 m = { { { xx, xy }, { xy, yy }, { 0.0, 0.0, 1.0 } } };
    const double three[3] = { scale[0], scale[1], 1.0 };
    m = matrix3_inverse_poor_rows(m, three, redundant);
    m.row[2] = (V4){ 0 };
    return (Inverse3){ m, 1.0 };
}

// As matrix3_inverse_rows() of these two rows and a third that is (0 0 1), but for that third.
INLINE Matrix3 matrix2_inverse_as_three(V4 x, V4 y, const double *scale, int *redundant)
{
    const double determinant = x[0] * y[1] + x[1] * -y[0];
    const V4 none = { 0 };
    if (determinant > 1e-10 * scale[0] * scale[1] && x[0] > 0.0) {
        const double by = 1.0 / determinant;
        return (Matrix3){ { (V4){ y[1], -y[0] } * by, (V4){ -x[1], x[0] } * by, none } };
    }
    Matrix3 m = { { { x[0], x[1] }, { y[0], y[1] }, { 0.0, 0.0, 1.0 } } };
    m = matrix3_inverse_poor_rows(m, (const double[]){ scale[0], scale[1], 1.0 }, redundant);
    m.row[2] = none;
    return m;
}

#endif
