// solver_direct_inverse.h - the inverse of a symmetric 6x6 matrix by 3x3 blocks.
// A part of solver_direct.c, which is compiled once for each instruction set.
#ifndef TALUS_PHYSICS_SOLVER_DIRECT_INVERSE_H
#define TALUS_PHYSICS_SOLVER_DIRECT_INVERSE_H

#include "physics/solver/solver_direct.h"

#include <math.h>

typedef struct Sym3 {
    double xx, xy, xz, yy, yz, zz;
} Sym3;

// Masses are never singular but may come close: give a direction that rounding ate a trace of mass.
static __attribute__((noinline, cold)) Sym3 sym3_inverse_mass(Sym3 m)
{
    for (int attempt = 0; attempt < 40; attempt++) {
        double trace = fabs(m.xx) + fabs(m.yy) + fabs(m.zz) + 1e-300, extra = trace * ldexp(1e-15, 2 * attempt);
        m.xx += extra;
        m.yy += extra;
        m.zz += extra;
        double x = m.yy * m.zz - m.yz * m.yz, y = m.xz * m.yz - m.xy * m.zz, z = m.xy * m.yz - m.xz * m.yy;
        double determinant = m.xx * x + m.xy * y + m.xz * z, second = m.xx * m.yy - m.xy * m.xy;
        if (determinant > 1e-14 * m.xx * m.yy * m.zz && m.xx > 0.0 && second > 0.0) {
            double s = 1.0 / determinant;
            return (Sym3){ x * s,     y * s, z * s, (m.xx * m.zz - m.xz * m.xz) * s, (m.xy * m.xz - m.xx * m.yz) * s,
                           second * s };
        }
    }
    return (Sym3){ .xx = 0.0 };
}

// Rows may say the same thing twice: of those, the later ones get no impulse and are counted.
static __attribute__((noinline, cold)) Sym3 sym3_inverse_rows(Sym3 m, const double *scale, int *redundant)
{
    const double limit = 1e-11;
    double l10 = 0.0, l20 = 0.0, l21 = 0.0;
    double d0 = m.xx > limit * scale[0] ? 1.0 / m.xx : 0.0;
    l10 = m.xy * d0;
    l20 = m.xz * d0;
    double p1 = m.yy - l10 * m.xy, q21 = m.yz - l20 * m.xy, d1 = p1 > limit * scale[1] ? 1.0 / p1 : 0.0;
    l21 = q21 * d1;
    double p2 = m.zz - l20 * m.xz - l21 * q21, d2 = p2 > limit * scale[2] ? 1.0 / p2 : 0.0;
    *redundant += (d0 == 0.0) + (d1 == 0.0) + (d2 == 0.0);
    double a = -l10, b = l10 * l21 - l20, c = -l21;  // the inverse of the unit triangle
    return (Sym3){ d0 + a * a * d1 + b * b * d2, a * d1 + b * c * d2, b * d2, d1 + c * c * d2, c * d2, d2 };
}

// `scale`: the diagonal before anything was taken from it, for rows; NULL for masses.
static inline Sym3 sym3_inverse(Sym3 m, const double *scale, int *redundant)
{
    double x = m.yy * m.zz - m.yz * m.yz, y = m.xz * m.yz - m.xy * m.zz, z = m.xy * m.yz - m.xz * m.yy;
    double determinant = m.xx * x + m.xy * y + m.xz * z, second = m.xx * m.yy - m.xy * m.xy;
    double bound = scale ? 1e-10 * scale[0] * scale[1] * scale[2] : 1e-14 * m.xx * m.yy * m.zz;
    if (determinant > bound && m.xx > 0.0 && second > 0.0) {
        double s = 1.0 / determinant;
        return (
            Sym3){ x * s, y * s, z * s, (m.xx * m.zz - m.xz * m.xz) * s, (m.xy * m.xz - m.xx * m.yz) * s, second * s };
    }
    return scale ? sym3_inverse_rows(m, scale, redundant) : sym3_inverse_mass(m);
}

static inline V4 v4_first_three(V4 v)
{
    const I4 three = { -1, -1, -1, 0 };
    return (V4)((I4)v & three);
}

static inline V4 v4_three(double x, double y, double z) { return v4_first_three((V4){ x, y, z, z }); }

static inline void v4_transpose(const V4 m[3], V4 out[3])
{
    const V4 none = { 0 };
    V4 even = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6), odd = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7);
    V4 last_even = __builtin_shufflevector(m[2], none, 0, 4, 2, 6),
       last_odd = __builtin_shufflevector(m[2], none, 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(even, last_even, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(odd, last_odd, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(even, last_even, 2, 3, 6, 7);
}

static inline void sym3_rows(Sym3 m, V4 rows[3])
{
    rows[0] = v4_three(m.xx, m.xy, m.xz);
    rows[1] = v4_three(m.xy, m.yy, m.yz);
    rows[2] = v4_three(m.xz, m.yz, m.zz);
}

// The inverse of the symmetric matrix (p b; b' c), of which b stands in the upper right quarter of `m`, where the
// result goes. `scale` as above.
static inline __attribute__((always_inline)) void symmetric_invert(double *m, Sym3 p, const V4 c[3],
                                                                   const double *scale, int *redundant)
{
    V4 b[3], d[3], t[3], u[3], v[3], w[3];
    double quarter[3][4];
    p = sym3_inverse(p, scale, redundant);
    for (int i = 0; i < 3; i++)
        b[i] = -v4_load(m + SPATIAL * i + 4);
    t[0] = (p.xx * b[0] + p.xy * b[1]) + p.xz * b[2];
    t[1] = (p.xy * b[0] + p.yy * b[1]) + p.yz * b[2];
    t[2] = (p.xz * b[0] + p.yz * b[1]) + p.zz * b[2];
    for (int i = 0; i < 3; i++) {
        d[i] = (c[i] + m[4 + i] * t[0]) + (m[12 + i] * t[1] + m[20 + i] * t[2]);
        v4_store(quarter[i], t[i]);
    }
    Sym3 q = sym3_inverse((Sym3){ d[0][0], d[0][1], d[0][2], d[1][1], d[1][2], d[2][2] }, scale ? scale + 3 : NULL,
                          redundant);
    sym3_rows(q, v);
    for (int i = 0; i < 3; i++) {
        v4_store(m + SPATIAL * (3 + i) + 4, v[i]);
        u[i] = (quarter[i][0] * v[0] + quarter[i][1] * v[1]) + quarter[i][2] * v[2];
    }
    v4_transpose(u, w);
    sym3_rows(p, b);
    for (int i = 0; i < 3; i++) {
        V4 sum = (b[i] + quarter[i][0] * w[0]) + (quarter[i][1] * w[1] + quarter[i][2] * w[2]);
        spatial_store(m + SPATIAL * i, (Spatial){ sum, u[i] });
        v4_store(m + SPATIAL * (3 + i), w[i]);
    }
}

static inline __attribute__((always_inline)) void mass_invert(double *m)
{
    V4 c[3] = { v4_load(m + SPATIAL * 3 + 4), v4_load(m + SPATIAL * 4 + 4), v4_load(m + SPATIAL * 5 + 4) };
    symmetric_invert(m, (Sym3){ m[0], m[1], m[2], m[9], m[10], m[18] }, c, NULL, NULL);
}

#endif
