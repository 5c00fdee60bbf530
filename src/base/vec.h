// vec.h - vectors, quaternions, rotation matrices and poses: plain values, double, right-handed, no ownership.
// Quaternions are w, x, y, z and unit; matrices are row-major; a Pose maps local points to its parent: p -> q*p + t.
#ifndef TALUS_BASE_VEC_H
#define TALUS_BASE_VEC_H

#include "base/common.h"

#include <math.h>

typedef struct Vec2 {
    double x, y;
} Vec2;
typedef struct Vec3 {
    double x, y, z;
} Vec3;
typedef struct Quat {
    double w, x, y, z;
} Quat;
typedef struct Rotation {
    double x, y, z, angle;
} Rotation;  // axis and angle, as VRML writes it
typedef struct Mat3 {
    double m[9];
} Mat3;
typedef struct Pose {
    Vec3 t;
    Quat q;
} Pose;

#define VEC3_ZERO ((Vec3){ 0.0, 0.0, 0.0 })
#define QUAT_IDENTITY ((Quat){ 1.0, 0.0, 0.0, 0.0 })
#define POSE_IDENTITY ((Pose){ VEC3_ZERO, QUAT_IDENTITY })
#define MAT3_IDENTITY ((Mat3){ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } })

static inline Vec3 vec3(double x, double y, double z) { return (Vec3){ x, y, z }; }
static inline Vec3 vec3_add(Vec3 a, Vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline Vec3 vec3_sub(Vec3 a, Vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline Vec3 vec3_scale(Vec3 a, double s) { return vec3(a.x * s, a.y * s, a.z * s); }
static inline Vec3 vec3_neg(Vec3 a) { return vec3(-a.x, -a.y, -a.z); }
static inline Vec3 vec3_mul(Vec3 a, Vec3 b) { return vec3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline Vec3 vec3_mad(Vec3 a, Vec3 b, double s) { return vec3(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s); }
static inline double vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline Vec3 vec3_cross(Vec3 a, Vec3 b)
{
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double vec3_length2(Vec3 a) { return vec3_dot(a, a); }
static inline double vec3_length(Vec3 a) { return sqrt(vec3_dot(a, a)); }
static inline double vec3_distance(Vec3 a, Vec3 b) { return vec3_length(vec3_sub(a, b)); }
static inline bool vec3_is_finite(Vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline bool vec3_is_equal(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
// Zero stays zero.
static inline Vec3 vec3_normalized(Vec3 a)
{
    double length = vec3_length(a);
    return length > 0.0 && isfinite(length) ? vec3_scale(a, 1.0 / length) : vec3(0.0, 0.0, 0.0);
}
Vec3 vec3_orthogonal(Vec3 unit);  // some unit vector at right angles, the same one for the same input

Quat quat_normalized(Quat q);  // a zero or non-finite one becomes the identity
static inline Quat quat_mul(Quat a, Quat b)
{
    return (Quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w };
}
static inline Quat quat_conj(Quat q) { return (Quat){ q.w, -q.x, -q.y, -q.z }; }
static inline Vec3 quat_rotate(Quat q, Vec3 v)
{
    Vec3 u = vec3(q.x, q.y, q.z);
    Vec3 t = vec3_scale(vec3_cross(u, v), 2.0);
    return vec3_add(vec3_mad(v, t, q.w), vec3_cross(u, t));
}
static inline Vec3 quat_unrotate(Quat q, Vec3 v) { return quat_rotate(quat_conj(q), v); }
Quat quat_from_axis_angle(Vec3 axis, double angle);  // the axis need not be unit; a zero one gives the identity
Quat quat_from_rotation(Rotation rotation);
Rotation quat_to_rotation(Quat q);  // angle in [0, pi]; the identity has axis 0 0 1
Quat quat_from_mat3(Mat3 m);
Mat3 mat3_from_quat(Quat q);
Quat quat_between(Vec3 from, Vec3 to);  // the shortest turn that takes one direction to the other
Quat quat_integrate(Quat q, Vec3 angular_velocity, double dt);  // turned by the finite rotation w*dt (world frame)

static inline Vec3 mat3_apply(Mat3 a, Vec3 v)
{
    const double *m = a.m;
    return vec3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
Mat3 mat3_mul(Mat3 a, Mat3 b);
static inline Mat3 mat3_transposed(Mat3 a)
{
    return (Mat3){ { a.m[0], a.m[3], a.m[6], a.m[1], a.m[4], a.m[7], a.m[2], a.m[5], a.m[8] } };
}
Mat3 mat3_add(Mat3 a, Mat3 b);
Mat3 mat3_scale(Mat3 a, double s);
bool mat3_inverse(Mat3 m, Mat3 *inverse);           // false when singular
bool mat3_is_positive_definite(Mat3 m);             // of the symmetric part
Mat3 mat3_rotated(Mat3 inertia, Quat q);            // R I R^T
Mat3 mat3_point_inertia(double mass, Vec3 offset);  // parallel-axis term: m (d.d 1 - d d^T)

static inline Vec3 pose_apply(Pose pose, Vec3 v) { return vec3_add(quat_rotate(pose.q, v), pose.t); }
static inline Pose pose_mul(Pose a, Pose b) { return (Pose){ pose_apply(a, b.t), quat_mul(a.q, b.q) }; }
static inline Pose pose_inverse(Pose pose)
{
    Quat q = quat_conj(pose.q);
    return (Pose){ vec3_neg(quat_rotate(q, pose.t)), q };
}
bool pose_is_finite(Pose pose);

#endif
