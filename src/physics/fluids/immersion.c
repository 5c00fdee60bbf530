// immersion.c - how much of a shape lies below a plane: volume, centre and wetted area.
#include "physics/fluids/immersion.h"

#include <string.h>

// ---- surfaces made of triangles ----

typedef struct Sums {
    double volume6;  // six times the volume
    Vec3 moment24;   // twenty-four times the first moment
    double area, total_area;
    Vec3 plus, minus;  // areas seen from the positive and negative side of each axis
    Vec3 origin;       // a point of the plane: the cut adds no volume as seen from there
} Sums;

static void add_side(double normal, double *plus, double *minus) { *(normal > 0.0 ? plus : minus) += fabs(normal); }

static void add_piece(Sums *sums, Vec3 a, Vec3 b, Vec3 c)
{
    Vec3 normal = vec3_scale(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)), 0.5);
    sums->area += vec3_length(normal);
    add_side(normal.x, &sums->plus.x, &sums->minus.x);
    add_side(normal.y, &sums->plus.y, &sums->minus.y);
    add_side(normal.z, &sums->plus.z, &sums->minus.z);
    a = vec3_sub(a, sums->origin);
    b = vec3_sub(b, sums->origin);
    c = vec3_sub(c, sums->origin);
    double volume6 = vec3_dot(a, vec3_cross(b, c));
    sums->volume6 += volume6;
    sums->moment24 = vec3_mad(sums->moment24, vec3_add(a, vec3_add(b, c)), volume6);
}

// Cuts the triangle at the plane; what is below is a triangle or a quadrilateral.
static void add_triangle(Sums *sums, Vec3 a, Vec3 b, Vec3 c, ImmersionPlane plane)
{
    Vec3 corners[3] = { a, b, c }, kept[4];
    double heights[3];
    int count = 0;
    sums->total_area += 0.5 * vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
    for (int i = 0; i < 3; i++)
        heights[i] = vec3_dot(plane.up, corners[i]) - plane.level;
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        if (heights[i] <= 0.0)
            kept[count++] = corners[i];
        if ((heights[i] <= 0.0) != (heights[next] <= 0.0)) {
            double share = heights[i] / (heights[i] - heights[next]);
            kept[count++] = vec3_mad(corners[i], vec3_sub(corners[next], corners[i]), share);
        }
    }
    assert_debug(count <= 4);
    for (int i = 2; i < count; i++)
        add_piece(sums, kept[0], kept[i - 1], kept[i]);
}

static Immersion finish(const Sums *sums)
{
    Immersion result = { .volume = sums->volume6 / 6.0, .area = sums->area, .total_area = sums->total_area };
    if (result.volume > 0.0)
        result.center = vec3_add(sums->origin, vec3_scale(sums->moment24, 0.25 / sums->volume6));
    else
        result.volume = 0.0;
    result.projected = vec3(fmax(sums->plus.x, sums->minus.x), fmax(sums->plus.y, sums->minus.y),
                            fmax(sums->plus.z, sums->minus.z));
    return result;
}

Immersion immersion_mesh(const double *vertices, const int *indices, int triangle_count, ImmersionPlane plane)
{
    assert_debug(triangle_count >= 0 && (vertices || triangle_count == 0));
    Sums sums = { .origin = vec3_scale(plane.up, plane.level) };
    for (int i = 0; i < triangle_count; i++) {
        Vec3 corner[3];
        for (int k = 0; k < 3; k++)
            memcpy(&corner[k], vertices + 3 * (size_t)indices[3 * i + k], sizeof corner[k]);
        add_triangle(&sums, corner[0], corner[1], corner[2], plane);
    }
    return finish(&sums);
}

static Immersion box_immersion(Vec3 size, ImmersionPlane plane)
{
    static const int indices[36] = { 0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                     2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5 };
    double vertices[24];
    for (int i = 0; i < 8; i++) {
        vertices[3 * i] = (i & 1 ? 0.5 : -0.5) * size.x;
        vertices[3 * i + 1] = (i & 2 ? 0.5 : -0.5) * size.y;
        vertices[3 * i + 2] = (i & 4 ? 0.5 : -0.5) * size.z;
    }
    return immersion_mesh(vertices, indices, 12, plane);
}

// ---- round shapes ----

// Nodes and weights of Gauss and Legendre for twelve points, one half; the other is its mirror.
static const double gauss[6][2] = {
    { 0.1252334085114689, 0.2491470458134028 }, { 0.3678314989981802, 0.2334925365383548 },
    { 0.5873179542866175, 0.2031674267230659 }, { 0.7699026741943047, 0.1600783285433462 },
    { 0.9041172563704749, 0.1069393259953184 }, { 0.9815606342467192, 0.0471753363865118 },
};

// What one section across the axis adds: its immersed part has area, first moment towards `down`, and length of rim.
typedef struct Section {
    double area, moment, rim;
} Section;

// Disc of radius r; immersed where the coordinate along `down` is at least -reach.
static Section disc(double radius, double reach)
{
    if (radius <= 0.0 || reach <= -radius)
        return (Section){ 0 };
    if (reach >= radius)
        return (Section){ M_PI * radius * radius, 0.0, 2.0 * M_PI * radius };
    double half = acos(-reach / radius), chord = sqrt(radius * radius - reach * reach);
    return (Section){ radius * radius * half + reach * chord, 2.0 / 3.0 * chord * chord * chord, 2.0 * radius * half };
}

// A body of revolution about z between -half and half, with hemispheres of the same radius beyond when `caps`.
typedef struct Round {
    double radius, half;
    bool caps;
    ImmersionPlane plane;
    double tilt;  // sine of the angle between the axis and `up`
    Vec3 down;    // unit, at right angles to the axis, towards deeper points
} Round;

static double radius_at(const Round *round, double z)
{
    assert_debug(round->radius >= 0.0 && round->half >= 0.0);
    double beyond = fabs(z) - round->half;
    return beyond <= 0.0 ? round->radius : sqrt(fmax(round->radius * round->radius - beyond * beyond, 0.0));
}

static double reach_at(const Round *round, double z)
{
    double depth = round->plane.level - round->plane.up.z * z;
    return round->tilt < 1e-9 ? (depth >= 0.0 ? INFINITY : -INFINITY) : depth / round->tilt;
}

typedef struct RoundSums {
    double volume, moment_z, moment_down, rim;
} RoundSums;

// Integrates sections from low to high. The ends may have the singularity of a square root, which the sine takes away.
static void integrate(const Round *round, double low, double high, RoundSums *sums)
{
    assert_debug(low <= high);
    if (high - low < 1e-15)
        return;
    double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    for (int i = 0; i < 12; i++) {
        double u = i < 6 ? gauss[i][0] : -gauss[i - 6][0], weight = gauss[i % 6][1];
        double z = middle + half * sin(M_PI_2 * u);
        double step = weight * half * M_PI_2 * cos(M_PI_2 * u);
        double radius = radius_at(round, z);
        Section section = disc(radius, reach_at(round, z));
        sums->volume += section.area * step;
        sums->moment_z += section.area * z * step;
        sums->moment_down += section.moment * step;
        sums->rim += (radius > 0.0 ? section.rim * (fabs(z) > round->half ? round->radius / radius : 1.0) : 0.0) * step;
    }
}

static void add_break(double *breaks, int *count, double z, double end)
{
    assert_debug(*count < 12);
    if (isfinite(z) && fabs(z) < end)
        breaks[(*count)++] = z;
}

// Places along the axis where the integrand changes its form: the ends of the caps, and where the plane meets the hull.
static int find_breaks(const Round *round, double end, double breaks[12])
{
    int count = 0;
    breaks[count++] = -end;
    breaks[count++] = end;
    if (round->caps) {
        add_break(breaks, &count, -round->half, end);
        add_break(breaks, &count, round->half, end);
        for (int side = -1; side <= 1; side += 2) {  // the plane through the sphere of each cap
            double center = side * round->half;
            double distance = round->plane.level - round->plane.up.z * center;
            if (fabs(distance) >= round->radius)
                continue;
            double reach = sqrt(round->radius * round->radius - distance * distance) * round->tilt;
            add_break(breaks, &count, center + distance * round->plane.up.z - reach, end);
            add_break(breaks, &count, center + distance * round->plane.up.z + reach, end);
        }
    }
    if (fabs(round->plane.up.z) > 1e-12) {
        add_break(breaks, &count, (round->plane.level - round->radius * round->tilt) / round->plane.up.z, end);
        add_break(breaks, &count, (round->plane.level + round->radius * round->tilt) / round->plane.up.z, end);
    }
    for (int i = 1; i < count; i++) {  // a handful: insertion sort
        double value = breaks[i];
        int k = i;
        for (; k > 0 && breaks[k - 1] > value; k--)
            breaks[k] = breaks[k - 1];
        breaks[k] = value;
    }
    return count;
}

// Projected areas of the wetted hull, from strips fine enough for drag (64 around, each cut at the plane).
static Vec3 round_projected(const Round *round, double end)
{
    enum { AROUND = 64, ALONG = 24 };
    Sums sums = { .origin = vec3_scale(round->plane.up, round->plane.level) };
    for (int k = 0; k < ALONG; k++) {
        double z0 = -end * cos(M_PI * k / ALONG), z1 = -end * cos(M_PI * (k + 1) / ALONG);
        double r0 = radius_at(round, z0), r1 = radius_at(round, z1);
        for (int i = 0; i < AROUND; i++) {
            double a = 2.0 * M_PI * i / AROUND, b = 2.0 * M_PI * (i + 1) / AROUND;
            Vec3 p = vec3(r0 * cos(a), r0 * sin(a), z0), q = vec3(r0 * cos(b), r0 * sin(b), z0);
            Vec3 s = vec3(r1 * cos(a), r1 * sin(a), z1), t = vec3(r1 * cos(b), r1 * sin(b), z1);
            add_triangle(&sums, p, q, t, round->plane);
            add_triangle(&sums, p, t, s, round->plane);
            if (round->caps)
                continue;
            if (k == 0)
                add_triangle(&sums, vec3(0, 0, z0), q, p, round->plane);
            if (k == ALONG - 1)
                add_triangle(&sums, vec3(0, 0, z1), s, t, round->plane);
        }
    }
    return finish(&sums).projected;
}

static Immersion round_immersion(Round round)
{
    Vec3 up = round.plane.up;
    round.tilt = sqrt(fmax(1.0 - up.z * up.z, 0.0));
    round.down = round.tilt < 1e-9 ? vec3(1, 0, 0) : vec3_scale(vec3(up.x, up.y, 0.0), -1.0 / round.tilt);
    double end = round.half + (round.caps ? round.radius : 0.0);
    double breaks[12];
    int count = find_breaks(&round, end, breaks);
    assert_debug(count >= 2 && count <= COUNT_OF(breaks));
    RoundSums sums = { 0 };
    for (int i = 1; i < count; i++)
        integrate(&round, breaks[i - 1], breaks[i], &sums);
    double hull = 4.0 * M_PI * round.radius * round.half;
    Immersion result = { .volume = sums.volume, .area = sums.rim };
    result.total_area = hull + (round.caps ? 4.0 : 2.0) * M_PI * round.radius * round.radius;
    if (!round.caps)
        result.area += disc(round.radius, reach_at(&round, round.half)).area
                       + disc(round.radius, reach_at(&round, -round.half)).area;
    if (result.volume > 0.0)
        result.center = vec3_mad(vec3(0, 0, sums.moment_z / result.volume), round.down,
                                 sums.moment_down / result.volume);
    if (result.area > 0.0 && !round.plane.without_projected)
        result.projected = round_projected(&round, end);
    return result;
}

static Immersion cylinder_immersion(Vec3 size, ImmersionPlane plane)
{
    return round_immersion((Round){ .radius = size.x, .half = 0.5 * size.y, .plane = plane });
}

static Immersion capsule_immersion(Vec3 size, ImmersionPlane plane)
{
    return round_immersion((Round){ .radius = size.x, .half = 0.5 * size.y, .caps = true, .plane = plane });
}

static Immersion sphere_immersion(Vec3 size, ImmersionPlane plane)
{
    double radius = size.x;
    assert_debug(radius >= 0.0);
    double depth = double_clamp(plane.level + radius, 0.0, 2.0 * radius);
    Immersion result = { .total_area = 4.0 * M_PI * radius * radius };
    if (depth <= 0.0)
        return result;
    result.volume = M_PI * depth * depth * (3.0 * radius - depth) / 3.0;
    result.area = 2.0 * M_PI * radius * depth;
    double sunk = 3.0 * (2.0 * radius - depth) * (2.0 * radius - depth) / (4.0 * (3.0 * radius - depth));
    result.center = vec3_scale(plane.up, -sunk);
    double disc_area = M_PI * radius * radius;
    if (depth >= 2.0 * radius)
        result.projected = vec3(disc_area, disc_area, disc_area);
    else if (!plane.without_projected)
        result.projected = capsule_immersion(vec3(radius, 0, 0), plane).projected;
    return result;
}

Immersion immersion_of(GeometryKind kind, Vec3 size, ImmersionPlane plane)
{
    static Immersion (*const laws[])(Vec3 size, ImmersionPlane plane) = {
        [GEOMETRY_SPHERE] = sphere_immersion,
        [GEOMETRY_BOX] = box_immersion,
        [GEOMETRY_CYLINDER] = cylinder_immersion,
        [GEOMETRY_CAPSULE] = capsule_immersion,
    };
    return kind < COUNT_OF(laws) && laws[kind] ? laws[kind](size, plane) : (Immersion){ 0 };
}
