#include "physics/fluids/immersion.h"

#include "support/support.h"

static ImmersionPlane plane_at(double x, double y, double z, double level)
{
    return (ImmersionPlane){ vec3_normalized(vec3(x, y, z)), level };
}

static void whole_shapes_are_whole(void **state)
{
    (void)state;
    ImmersionPlane above = plane_at(0.3, -0.2, 1, 10.0), below = plane_at(0.3, -0.2, 1, -10.0);
    struct {
        const char *name;
        Immersion in, out;
        double volume, area;
    } cases[] = {
        { "sphere", immersion_of(GEOMETRY_SPHERE, vec3(0.5, 0, 0), above),
          immersion_of(GEOMETRY_SPHERE, vec3(0.5, 0, 0), below), M_PI / 6.0, M_PI },
        { "box", immersion_of(GEOMETRY_BOX, vec3(1, 2, 3), above), immersion_of(GEOMETRY_BOX, vec3(1, 2, 3), below),
          6.0, 22.0 },
        { "cylinder", immersion_of(GEOMETRY_CYLINDER, vec3(0.5, 2, 0), above),
          immersion_of(GEOMETRY_CYLINDER, vec3(0.5, 2, 0), below), 0.5 * M_PI, 2.5 * M_PI },
        { "capsule", immersion_of(GEOMETRY_CAPSULE, vec3(0.5, 2, 0), above),
          immersion_of(GEOMETRY_CAPSULE, vec3(0.5, 2, 0), below), 0.5 * M_PI + M_PI / 6.0, 3.0 * M_PI },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        CHECK_NEAR(cases[i].in.volume, cases[i].volume, 1e-11, cases[i].name);
        CHECK_NEAR(cases[i].in.area, cases[i].area, 1e-10, cases[i].name);
        CHECK_NEAR(cases[i].in.total_area, cases[i].area, 1e-10, cases[i].name);
        CHECK_NEAR(vec3_length(cases[i].in.center), 0.0, 1e-11, cases[i].name);
        CHECK(cases[i].out.volume == 0.0 && cases[i].out.area == 0.0, cases[i].name);
    }
    CHECK_NEAR(cases[1].in.projected.x, 6.0, 1e-12, "box seen along x");
    CHECK_NEAR(cases[2].in.projected.z, 0.25 * M_PI, 2e-3, "cylinder seen along its axis");  // 64 sides
    CHECK_NEAR(cases[2].in.projected.x, 2.0, 2e-3, "cylinder seen from the side");
}

static void half_shapes_are_half(void **state)
{
    (void)state;
    static const double directions[][3] = { { 0, 0, 1 }, { 1, 0, 0 }, { 0, -1, 0 }, { 1, 1, 1 }, { 0.2, -0.7, 0.4 } };
    for (int i = 0; i < COUNT_OF(directions); i++) {
        ImmersionPlane plane = plane_at(directions[i][0], directions[i][1], directions[i][2], 0.0);
        CHECK_NEAR(immersion_of(GEOMETRY_SPHERE, vec3(0.7, 0, 0), plane).volume, 2.0 / 3.0 * M_PI * 0.343, 1e-12,
                   "sphere");
        CHECK_NEAR(immersion_of(GEOMETRY_BOX, vec3(1, 2, 3), plane).volume, 3.0, 1e-12, "box");
        CHECK_NEAR(immersion_of(GEOMETRY_BOX, vec3(1, 2, 3), plane).area, 11.0, 1e-12, "box");
        CHECK_NEAR(immersion_of(GEOMETRY_CYLINDER, vec3(0.5, 2, 0), plane).volume, 0.25 * M_PI, 1e-10, "cylinder");
        CHECK_NEAR(immersion_of(GEOMETRY_CYLINDER, vec3(0.5, 2, 0), plane).area, 1.25 * M_PI, 1e-9, "cylinder");
        CHECK_NEAR(immersion_of(GEOMETRY_CAPSULE, vec3(0.5, 2, 0), plane).volume, 0.25 * M_PI + M_PI / 12.0, 1e-10,
                   "capsule");
    }
}

// A capsule without a middle is a sphere, and both ways of computing must agree at any level and tilt.
static void capsule_without_height_is_a_sphere(void **state)
{
    (void)state;
    for (int i = 1; i < 20; i++) {
        ImmersionPlane plane = plane_at(0.4, 0.1 * i - 1.0, 0.9, -0.5 + 0.05 * i);
        Immersion sphere = immersion_of(GEOMETRY_SPHERE, vec3(0.5, 0, 0), plane),
                  capsule = immersion_of(GEOMETRY_CAPSULE, vec3(0.5, 0.0, 0), plane);
        CHECK_NEAR(capsule.volume, sphere.volume, 1e-8, "volume");  // twelve Gauss points per piece
        CHECK_NEAR(capsule.area, sphere.area, 2e-5, "area");        // the rim has a kink where the plane meets the hull
        CHECK_NEAR(vec3_distance(capsule.center, sphere.center), 0.0, 1e-7, "centre");
    }
}

// A lying cylinder filled to depth h: the area of a circular segment times its length.
static void lying_cylinder_is_a_segment(void **state)
{
    (void)state;
    for (int i = 1; i < 10; i++) {
        double level = -0.5 + 0.1 * i;
        double segment = 0.25 * acos(-level / 0.5) + level * sqrt(0.25 - level * level);
        Immersion cylinder = immersion_of(GEOMETRY_CYLINDER, vec3(0.5, 3.0, 0), plane_at(0, 1, 0, level));
        CHECK_NEAR(cylinder.volume, 3.0 * segment, 1e-10, "volume");
        CHECK(cylinder.center.y < level && fabs(cylinder.center.z) < 1e-12, "centre below the surface");
    }
}

// The centre is the derivative of the potential: dV/dlevel is the water plane's area, tested by differences on a tilt.
static void tilted_box_matches_sampling(void **state)
{
    (void)state;
    ImmersionPlane plane = plane_at(0.5, 0.3, 1.0, 0.13);
    Immersion box = immersion_of(GEOMETRY_BOX, vec3(1, 0.8, 0.6), plane);
    enum { N = 60 };
    double volume = 0.0;
    Vec3 moment = VEC3_ZERO;
    for (int i = 0; i < N * N * N; i++) {
        Vec3 p = vec3((i % N + 0.5) / N - 0.5, ((i / N % N + 0.5) / N - 0.5) * 0.8,
                      ((i / (N * N) + 0.5) / N - 0.5) * 0.6);
        if (vec3_dot(plane.up, p) > plane.level)
            continue;
        volume += 0.48 / (N * N * N);
        moment = vec3_mad(moment, p, 0.48 / (N * N * N));
    }
    CHECK_NEAR(box.volume, volume, 1e-3, "volume against 216 000 samples");
    CHECK_NEAR(vec3_distance(box.center, vec3_scale(moment, 1.0 / volume)), 0.0, 2e-3, "centre");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_shapes_are_whole),
        cmocka_unit_test(half_shapes_are_half),
        cmocka_unit_test(capsule_without_height_is_a_sphere),
        cmocka_unit_test(lying_cylinder_is_a_segment),
        cmocka_unit_test(tilted_box_matches_sampling),
    };
    return cmocka_run_group_tests_name("physics.immersion", tests, NULL, NULL);
}
