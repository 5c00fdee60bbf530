// vec.c - the larger operations of vec.h.
#include "base/vec.h"

Vec3 vec3_orthogonal(Vec3 unit)
{
    Vec3 other = fabs(unit.x) < 0.6 ? vec3(1, 0, 0) : fabs(unit.y) < 0.6 ? vec3(0, 1, 0) : vec3(0, 0, 1);
    return vec3_normalized(vec3_cross(unit, other));
}

Quat quat_normalized(Quat q)
{
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 0.0) || !isfinite(length))
        return QUAT_IDENTITY;
    double s = 1.0 / length;
    return (Quat){ q.w * s, q.x * s, q.y * s, q.z * s };
}

Quat quat_from_axis_angle(Vec3 axis, double angle)
{
    double length = vec3_length(axis);
    if (!(length > 0.0) || !isfinite(length) || !isfinite(angle))
        return QUAT_IDENTITY;
    double s = sin(angle * 0.5) / length;
    return (Quat){ cos(angle * 0.5), axis.x * s, axis.y * s, axis.z * s };
}

Quat quat_from_rotation(Rotation rotation)
{
    return quat_from_axis_angle(vec3(rotation.x, rotation.y, rotation.z), rotation.angle);
}

Rotation quat_to_rotation(Quat q)
{
    if (q.w < 0.0)
        q = (Quat){ -q.w, -q.x, -q.y, -q.z };
    double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    if (s < 1e-15)
        return (Rotation){ 0, 0, 1, 0 };
    return (Rotation){ q.x / s, q.y / s, q.z / s, 2.0 * atan2(s, q.w) };
}

Quat quat_from_mat3(Mat3 matrix)
{
    const double *m = matrix.m;
    double trace = m[0] + m[4] + m[8];
    Quat q;
    if (trace > 0.0) {
        double s = 2.0 * sqrt(trace + 1.0);
        q = (Quat){ 0.25 * s, (m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s };
    } else if (m[0] > m[4] && m[0] > m[8]) {
        double s = 2.0 * sqrt(1.0 + m[0] - m[4] - m[8]);
        q = (Quat){ (m[7] - m[5]) / s, 0.25 * s, (m[1] + m[3]) / s, (m[2] + m[6]) / s };
    } else if (m[4] > m[8]) {
        double s = 2.0 * sqrt(1.0 + m[4] - m[0] - m[8]);
        q = (Quat){ (m[2] - m[6]) / s, (m[1] + m[3]) / s, 0.25 * s, (m[5] + m[7]) / s };
    } else {
        double s = 2.0 * sqrt(1.0 + m[8] - m[0] - m[4]);
        q = (Quat){ (m[3] - m[1]) / s, (m[2] + m[6]) / s, (m[5] + m[7]) / s, 0.25 * s };
    }
    return quat_normalized(q);
}

Mat3 mat3_from_quat(Quat q)
{
    double w = q.w, x = q.x, y = q.y, z = q.z;
    return (Mat3){ { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
                     1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
                     1 - 2 * (x * x + y * y) } };
}

Quat quat_between(Vec3 from, Vec3 to)
{
    Vec3 a = vec3_normalized(from), b = vec3_normalized(to);
    double d = vec3_dot(a, b);
    if (d < -0.999999999999)
        return quat_from_axis_angle(vec3_orthogonal(a), M_PI);
    Vec3 c = vec3_cross(a, b);
    return quat_normalized((Quat){ 1.0 + d, c.x, c.y, c.z });
}

Quat quat_integrate(Quat q, Vec3 angular_velocity, double dt)
{
    double speed = vec3_length(angular_velocity);
    return quat_normalized(quat_mul(quat_from_axis_angle(angular_velocity, speed * dt), q));
}

Mat3 mat3_mul(Mat3 a, Mat3 b)
{
    Mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[3 * i + j] = a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
    return c;
}

Mat3 mat3_add(Mat3 a, Mat3 b)
{
    for (int i = 0; i < 9; i++)
        a.m[i] += b.m[i];
    return a;
}

Mat3 mat3_scale(Mat3 a, double s)
{
    for (int i = 0; i < 9; i++)
        a.m[i] *= s;
    return a;
}

bool mat3_inverse(Mat3 a, Mat3 *inverse)
{
    const double *m = a.m;
    double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    double determinant = m[0] * c0 + m[1] * c1 + m[2] * c2;
    if (determinant == 0.0 || !isfinite(determinant))
        return false;
    double d = 1.0 / determinant;
    *inverse = (Mat3){ { c0 * d, (m[2] * m[7] - m[1] * m[8]) * d, (m[1] * m[5] - m[2] * m[4]) * d, c1 * d,
                         (m[0] * m[8] - m[2] * m[6]) * d, (m[2] * m[3] - m[0] * m[5]) * d, c2 * d,
                         (m[1] * m[6] - m[0] * m[7]) * d, (m[0] * m[4] - m[1] * m[3]) * d } };
    return true;
}

bool mat3_is_positive_definite(Mat3 a)
{
    const double *m = a.m;
    double xy = 0.5 * (m[1] + m[3]), xz = 0.5 * (m[2] + m[6]), yz = 0.5 * (m[5] + m[7]);
    double minor = m[0] * m[4] - xy * xy;
    double determinant = m[0] * (m[4] * m[8] - yz * yz) - xy * (xy * m[8] - yz * xz) + xz * (xy * yz - m[4] * xz);
    return m[0] > 0.0 && minor > 0.0 && determinant > 0.0;
}

Mat3 mat3_rotated(Mat3 inertia, Quat q)
{
    Mat3 r = mat3_from_quat(q);
    return mat3_mul(mat3_mul(r, inertia), mat3_transposed(r));
}

Mat3 mat3_point_inertia(double mass, Vec3 d)
{
    return (Mat3){ { mass * (d.y * d.y + d.z * d.z), -mass * d.x * d.y, -mass * d.x * d.z, -mass * d.x * d.y,
                     mass * (d.x * d.x + d.z * d.z), -mass * d.y * d.z, -mass * d.x * d.z, -mass * d.y * d.z,
                     mass * (d.x * d.x + d.y * d.y) } };
}

bool pose_is_finite(Pose pose)
{
    return vec3_is_finite(pose.t) && isfinite(pose.q.w) && isfinite(pose.q.x) && isfinite(pose.q.y)
           && isfinite(pose.q.z);
}
