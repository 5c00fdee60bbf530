#include "physics/mass.h"

#include "physics/world.h"

static void near_matrix(Mat3 actual, Mat3 expected, double tolerance, const char *name)
{
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(actual.m[i], expected.m[i], tolerance, name);
}

// Volume integrals by brute force: the middle of every cell of a fine grid that `inside` takes.
typedef bool (*Inside)(Vec3 p);
static bool in_capsule(Vec3 p)
{
    double z = fmax(fabs(p.z) - 0.4, 0);
    return p.x * p.x + p.y * p.y + z * z <= 0.3 * 0.3;
}
static bool in_cylinder(Vec3 p) { return p.x * p.x + p.y * p.y <= 0.25 && fabs(p.z) <= 0.35; }
static bool in_sphere(Vec3 p) { return vec3_length2(p) <= 0.36; }
static bool in_box(Vec3 p) { return fabs(p.x) <= 0.08 && fabs(p.y) <= 0.32 && fabs(p.z) <= 0.48; }

static MassProperties integrate(double density, Inside inside)
{
    MassProperties mass = mass_zero();
    const int n = 100;
    const double h = 1.6 / n;
    double xx = 0, yy = 0, zz = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                Vec3 p = vec3(-0.8 + (i + 0.5) * h, -0.8 + (j + 0.5) * h, -0.8 + (k + 0.5) * h);
                if (!inside(p))
                    continue;
                double m = density * h * h * h;
                mass.mass += m;
                xx += m * p.x * p.x, yy += m * p.y * p.y, zz += m * p.z * p.z;
            }
    mass.inertia = (Mat3){ { yy + zz, 0, 0, 0, xx + zz, 0, 0, 0, xx + yy } };
    return mass;
}

static MassProperties of(GeometryKind kind, Vec3 size) { return geometry_of_kind(kind)->mass(700, size); }

static void closed_forms_agree_with_integration(void **state)
{
    (void)state;
    const struct {
        const char *name;
        MassProperties mass;
        Inside inside;
    } cases[] = {
        { "box", of(GEOMETRY_BOX, vec3(0.16, 0.64, 0.96)), in_box },
        { "sphere", of(GEOMETRY_SPHERE, vec3(0.6, 0, 0)), in_sphere },
        { "cylinder", of(GEOMETRY_CYLINDER, vec3(0.5, 0.7, 0)), in_cylinder },
        { "capsule", of(GEOMETRY_CAPSULE, vec3(0.3, 0.8, 0)), in_capsule },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        MassProperties expected = integrate(700, cases[i].inside);
        CHECK_NEAR(cases[i].mass.mass, expected.mass, 0.02 * expected.mass, cases[i].name);
        near_matrix(cases[i].mass.inertia, expected.inertia, 0.03 * expected.inertia.m[0], cases[i].name);
    }
}

#define CUBE_POINTS                                                                                                    \
    "coord Coordinate { point [ %g %g %g, %g %g %g, %g %g %g, %g %g %g, %g %g %g, %g %g %g, %g %g %g, %g %g %g ] }"
#define CUBE_FACES "coordIndex [ 0 3 2 1 -1 4 5 6 7 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 -1 ]"

static void cuboid(char *text, size_t size, Vec3 low, Vec3 high, const char *extra)
{
    snprintf(text, size, "IndexedFaceSet { " CUBE_POINTS " " CUBE_FACES " %s }", low.x, low.y, low.z, high.x, low.y,
             low.z, high.x, high.y, low.z, low.x, high.y, low.z, low.x, low.y, high.z, high.x, low.y, high.z, high.x,
             high.y, high.z, low.x, high.y, high.z, extra);
}

// Every way to give a mass, and what the merged body becomes.
static void bodies_get_the_mass_of_their_file(void **state)
{
    (void)state;
    char mesh[2048], far_mesh[2048], inside_out[2048];
    cuboid(mesh, sizeof(mesh), vec3(-0.5, -1, -1.5), vec3(0.5, 1, 1.5), "");
    cuboid(far_mesh, sizeof(far_mesh), vec3(999.5, -1, -1.5), vec3(1000.5, 1, 1.5), "");
    cuboid(inside_out, sizeof(inside_out), vec3(-0.5, -1, -1.5), vec3(0.5, 1, 1.5), "ccw FALSE");
    const Mat3 cube6 = { { 6.0 / 12 * 13, 0, 0, 0, 6.0 / 12 * 10, 0, 0, 0, 6.0 / 12 * 5 } };  // 6 kg, 1 x 2 x 3
    const struct {
        const char *name;
        const char *bounding;
        const char *physics;
        double mass;
        Vec3 center;
        Mat3 inertia;
    } cases[] = {
        { "box by mass", "Box { size 1 2 3 }", "density -1 mass 6", 6, { 0, 0, 0 }, cube6 },
        { "box by density", "Box { size 1 2 3 }", "density 1", 6, { 0, 0, 0 }, cube6 },
        { "mesh", mesh, "density -1 mass 6", 6, { 0, 0, 0 }, cube6 },
        { "mesh inside out", inside_out, "density -1 mass 6", 6, { 0, 0, 0 }, cube6 },
        { "mesh far from its origin", far_mesh, "density -1 mass 6", 6, { 1000, 0, 0 }, cube6 },
        { "box in a pose",
          "Pose { translation 1 0 0 rotation 0 0 1 1.5707963267948966 children Box { size 2 1 3 } }",
          "density 1",
          6,
          { 1, 0, 0 },
          cube6 },
        { "given by hand",
          "Box { size 1 2 3 }",
          "density -1 mass 6 centerOfMass [ 0 0 1 ] inertiaMatrix [ 3 2 2, 0.1 0 0 ]",
          6,
          { 0, 0, 1 },
          { { 3, 0.1, 0, 0.1, 2, 0, 0, 0, 2 } } },
        { "centre given, inertia of the box kept",
          "Box { size 1 2 3 }",
          "density -1 mass 6 centerOfMass [ 0 0 1 ]",
          6,
          { 0, 0, 1 },
          cube6 },
        { "two boxes",
          "Group { children [ Pose { translation 0 0 1 children Shape { geometry Box { size 1 1 1 } } } "
          "Pose { translation 0 0 -1 children Box { size 1 1 1 } } ] }",
          "density 1",
          2,
          { 0, 0, 0 },
          { { 2.0 / 6 + 2, 0, 0, 0, 2.0 / 6 + 2, 0, 0, 0, 2.0 / 6 } } },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(&text, "WorldInfo { } DEF B Solid { boundingObject %s physics Physics { %s } }", cases[i].bounding,
                    cases[i].physics);
        World world = world_open_with(text.data, NULL);
        text_free(&text);
        int body = physics_solid_body(world.physics, world_solid(&world, "B"));
        CHECK_NEAR(physics_body_mass(world.physics, body), cases[i].mass, 1e-9, cases[i].name);
        Vec3 center = physics_body_pose(world.physics, body).t;
        CHECK_NEAR(vec3_distance(center, cases[i].center), 0, 1e-9, cases[i].name);
        near_matrix(physics_body_inertia(world.physics, body), cases[i].inertia, 1e-6, cases[i].name);
        world_close(&world);
    }
}

static void rigid_children_merge(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { gravity 0 } DEF A Solid { translation 5 0 0 rotation 0 0 1 1 name \"a\" boundingObject Box { size 1 1 1 } physics Physics { density 1 } "
        "children [ Pose { translation 0 0 2 children [ DEF C Solid { name \"c\" boundingObject Box { size 1 1 1 } physics Physics { density 1 } } ] } "
        "DEF K Solid { name \"k\" translation 3 0 0 children [ DEF GAP Solid { name \"gap\" boundingObject Box { size 1 1 1 } physics Physics { density 1 } } ] } ] }");
    int a = world_solid(&world, "A"), c = world_solid(&world, "C"), k = world_solid(&world, "K"),
        gap = world_solid(&world, "GAP");
    CHECK(physics_solid_body(world.physics, a) == physics_solid_body(world.physics, c), "merged");
    CHECK(physics_solid_body(world.physics, k) < 0, "no physics, no body");
    CHECK(physics_solid_body(world.physics, gap) >= 0
              && physics_solid_body(world.physics, gap) != physics_solid_body(world.physics, a),
          "a gap breaks it");
    int body = physics_solid_body(world.physics, a);
    CHECK_NEAR(physics_body_mass(world.physics, body), 2, 1e-12, "mass");
    CHECK_NEAR(physics_body_pose(world.physics, body).t.z, 1, 1e-12, "centre between");
    CHECK_NEAR(physics_body_inertia(world.physics, body).m[0], 2.0 / 6 + 2, 1e-12, "inertia");
    // Turning about the common centre moves both origins.
    physics_solid_set_velocity(world.physics, a, VEC3_ZERO, vec3(1, 0, 0));
    world_step(&world, 1);
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, a).y, 1, 1e-2, "lower origin");
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, c).y, -1, 1e-2, "upper origin");
    world_close(&world);
}

// What is wrong is said, and something finite comes out.
static void wrong_masses_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *bounding, *physics, *words;
        double mass;
    } cases[] = {
        { "Box { }", "density -1 mass -1", "neither mass nor density", 8000 },
        { "NULL", "density -1 mass 3", "no shape", 3 },
        { "Box { }", "density -1 mass 1e-300", "outside of", 1e-9 },
        { "Box { }", "density -1 mass 3 inertiaMatrix [ 1 1 1, 0 0 0 ]", "centerOfMass", 1 },
        { "Box { }", "density -1 mass 3 centerOfMass [ 0 0 0 ] inertiaMatrix [ -1 1 1, 0 0 0 ]", "positive definite",
          1 },
        { "Box { }", "density -1 mass 3 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1 1 1 ]", "two rows", 1 },
        { "IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0 ] } coordIndex [ 0 1 2 -1 ] }",
          "density -1 mass 3", "cannot be computed", 3 },
        { "Plane { }", "density -1 mass 3", "cannot move", 3 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(&text, "WorldInfo { } DEF B Solid { boundingObject %s physics Physics { %s } }", cases[i].bounding,
                    cases[i].physics);
        World world = world_open_with(text.data, NULL);
        text_free(&text);
        if (world_said(&world, cases[i].words) == 0)
            diag_print(world.diags, stderr, 0, DIAG_NOTE);
        CHECK(world_said(&world, cases[i].words) > 0, cases[i].words);
        CHECK_NEAR(physics_body_mass(world.physics, physics_solid_body(world.physics, world_solid(&world, "B"))),
                   cases[i].mass, 1e-9, cases[i].words);
        world_step(&world, 3);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_agree_with_integration),
        cmocka_unit_test(bodies_get_the_mass_of_their_file),
        cmocka_unit_test(rigid_children_merge),
        cmocka_unit_test(wrong_masses_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
