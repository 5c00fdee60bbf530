// Fast bodies do not pass through thin things, and what lies or rolls does not notice.
#include "physics/collide/collide_sweep.h"
#include "physics/physics_internal.h"
#include "physics/world.h"

static void add_target(Text *text, int kind)
{
    static const char *const targets[] = {
        // A sheet of two triangles, a field of heights, a closed plate of triangles, a thin box.
        "IndexedFaceSet { coord Coordinate { point [ -5 -5 0, 5 -5 0, 5 5 0, -5 5 0 ] } coordIndex [ 0 1 2 -1 0 2 3 -1 ] }",
        "Pose { translation -5 -5 0 children [ ElevationGrid { xDimension 3 yDimension 3 xSpacing 5 ySpacing 5 thickness 0.1 height [ 0 0 0 0 0 0 0 0 0 ] } ] }",
        "IndexedFaceSet { coord Coordinate { point [ -5 -5 -0.01, 5 -5 -0.01, 5 5 -0.01, -5 5 -0.01, -5 -5 0, 5 -5 0, 5 5 0, -5 5 0 ] } "
        "coordIndex [ 0 3 2 1 -1 4 5 6 7 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 -1 ] }",
        "Pose { translation 0 0 -0.005 children [ Box { size 10 10 0.01 } ] }",
    };
    text_printf(text, "Solid { name \"target\" boundingObject %s }\n", targets[kind]);
}
static const char *const target_names[] = { "sheet", "heights", "plate", "thin box" };
static const double thickness[] = { 0.0, 0.0, 0.01, 0.01 };
enum { TARGETS = 4 };

// Shapes of a size (half of it).
static void add_shape(Text *text, int form, double size)
{
    switch (form) {
    case 0: text_printf(text, "Sphere { radius %g }", size); break;
    case 1: text_printf(text, "Box { size %g %g %g }", 2 * size, 3 * size, 2.4 * size); break;
    case 2: text_printf(text, "Cylinder { radius %g height %g }", size, 2 * size); break;
    case 3: text_printf(text, "Capsule { radius %g height %g }", size, size); break;
    default:
        text_printf(
            text,
            "IndexedFaceSet { coord Coordinate { point [ %g %g %g, %g %g %g, %g %g %g, %g %g %g ] } coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 2 0 3 -1 ] }",
            -size, -size, -size, 2 * size, -size, -size, 0.0, 2 * size, -size, 0.0, 0.0, 1.5 * size);
        break;
    }
}
static const char *const form_names[] = { "ball", "box", "cylinder", "capsule", "tetrahedron" };
enum { FORMS = 5 };

// Straight down and aslant, turned any way, from heights that put the surface anywhere within their step.
static void none_passes(void **state)
{
    (void)state;
    static const double sizes[] = { 0.01, 0.05, 0.2 }, speeds[] = { 5, 20, 50 };
    static const int steps_ms[] = { 8, 16, 32 };
    int shot = 0, passed = 0;
    for (int target = 0; target < TARGETS; target++)
        for (int s = 0; s < COUNT_OF(steps_ms); s++)
            for (int v = 0; v < COUNT_OF(speeds); v++) {
                Text text = { 0 };
                text_printf(&text, "WorldInfo { basicTimeStep %d }\n", steps_ms[s]);
                add_target(&text, target);
                enum { EACH = 4 };
                for (int form = 0; form < FORMS; form++)
                    for (int z = 0; z < COUNT_OF(sizes); z++)
                        for (int i = 0; i < EACH; i++) {
                            double lean = i % 2 ? 0.5 : 0.0,
                                   height = 3 * sizes[z] + speeds[v] * 1e-3 * steps_ms[s] * (0.13 + 0.23 * i);
                            text_printf(
                                &text,
                                "Solid { name \"b%d %d %d\" translation %g %g %g rotation 1 0.3 0.2 %g linearVelocity %g 0 %g boundingObject ",
                                form, z, i, 1.5 * (form - 2) - (lean > 0 ? 1.0 : 0.0), 0.8 * (z * EACH + i - 5.5),
                                height, 0.7 * i + form, lean * speeds[v], -speeds[v]);
                            add_shape(&text, form, sizes[z]);
                            text_add_string(&text, " physics Physics { } }\n");
                        }
                World world = world_open_with(text.data, NULL);
                text_free(&text);
                // Those that bounce are judged while they are above; half a second is enough to pass.
                bool has_passed[FORMS][3][EACH] = { 0 };
                for (int step = 0; step < 500 / steps_ms[s]; step++) {
                    world_step(&world, 1);
                    for (int form = 0; form < FORMS; form++)
                        for (int z = 0; z < COUNT_OF(sizes); z++)
                            for (int i = 0; i < EACH; i++) {
                                char name[48];
                                snprintf(name, sizeof name, "b%d %d %d", form, z, i);
                                Vec3 p = world_position(&world, name);
                                has_passed[form][z][i] |= p.z < -thickness[target] && fabs(p.x) < 5.0
                                                          && fabs(p.y) < 5.0;
                            }
                }
                for (int form = 0; form < FORMS; form++)
                    for (int z = 0; z < COUNT_OF(sizes); z++)
                        for (int i = 0; i < EACH; i++) {
                            shot++;
                            passed += has_passed[form][z][i];
                            if (has_passed[form][z][i])
                                print_message("%s of %g m at %g m/s, %d ms, through a %s (%d)\n", form_names[form],
                                              sizes[z], speeds[v], steps_ms[s], target_names[target], i);
                        }
                world_close(&world);
            }
    print_message("%d of %d passed\n", passed, shot);
    CHECK(passed == 0, "nobody passes");
}

static World open_one(int target, const char *shape, const char *rest, double bounce)
{
    Text text = { 0 };
    text_printf(&text,
                "WorldInfo { basicTimeStep 16 contactProperties ContactProperties { bounce %g coulombFriction 1 } }\n",
                bounce);
    add_target(&text, target);
    text_printf(&text, "Solid { name \"b\" %s boundingObject %s physics Physics { } }\n", rest, shape);
    World world = world_open_with(text.data, NULL);
    text_free(&text);
    return world;
}

// A ball that would be through in the next step bounces by what its material says, or comes to lie on the surface; in
// no case is it faster or higher than it came.
static void the_fast_bounce_or_stay(void **state)
{
    (void)state;
    static const double bounces[] = { 0.0, 0.5, 0.9 };
    for (int target = 0; target < TARGETS; target++)
        for (int b = 0; b < COUNT_OF(bounces); b++) {
            World world = open_one(target, "Sphere { radius 0.02 }", "translation 0.3 0.4 2 linearVelocity 0 0 -30",
                                   bounces[b]);
            double before = 30.0, after = 0.0, highest = 0.0;
            for (int i = 0; i < 60; i++) {
                double came = -world_velocity(&world, "b").z;
                world_step(&world, 1);
                double v = world_velocity(&world, "b").z;
                if (after == 0.0 && v > -0.9 * came) {
                    before = came;
                    after = v;
                }
                if (after != 0.0)
                    highest = fmax(highest, world_position(&world, "b").z);
            }
            double rises = after * after / (2 * 9.81) + 0.5;  // from within a step of the surface
            // One step of gravity is between the two speeds.
            if (bounces[b] > 0.0)
                CHECK_NEAR(after, bounces[b] * before, 0.5, target_names[target]);
            CHECK(after < before && highest <= rises, target_names[target]);
            if (bounces[b] == 0.0)
                CHECK_NEAR(world_position(&world, "b").z, 0.02, 1e-3, target_names[target]);
            world_close(&world);
        }
}

// At 20 m/s along the surface nothing is held: what rolls or slides there has nothing ahead.
static void along_the_surface_nothing_is_ahead(void **state)
{
    (void)state;
    for (int target = 0; target < TARGETS; target++) {
        World world = open_one(target, "Sphere { radius 0.05 }",
                               "translation -4 0.1 0.05 linearVelocity 20 0 0 angularVelocity 0 400 0", 0.5);
        for (int i = 0; i < 25; i++) {
            world_step(&world, 1);
            int count;
            const PhysicsContact *contacts = physics_contacts(world.physics, &count);
            for (int k = 0; k < count; k++)
                CHECK(contacts[k].target_normal_speed == 0.0, target_names[target]);
        }
        CHECK_NEAR(world_velocity(&world, "b").x, 20.0, 0.1, target_names[target]);
        CHECK_NEAR(world_position(&world, "b").z, 0.05, 1e-3, target_names[target]);
        world_close(&world);
    }
}

// Where a ray crosses, by looking at all triangles of a rough ground as a mesh and as heights; from the front alone.
static void the_first_crossing_is_found(void **state)
{
    (void)state;
    enum { N = 13 };
    double heights[N * N], positions[3 * N * N];
    int indices[6 * (N - 1) * (N - 1)], count = 0;
    for (int z = 0; z < N; z++)
        for (int x = 0; x < N; x++) {
            double *p = positions + 3 * (z * N + x);
            heights[z * N + x] = 0.2 * sin(1.7 * x) * cos(1.3 * z);
            p[0] = (x - 0.5 * (N - 1)) * 0.3, p[1] = heights[z * N + x], p[2] = (z - 0.5 * (N - 1)) * 0.25;
            if (x + 1 == N || z + 1 == N)
                continue;
            int a = z * N + x, corners[6] = { a, a + N, a + 1, a + N + 1, a + 1, a + N };
            memcpy(indices + count, corners, sizeof corners);
            count += 6;
        }
    CollideSurface *surfaces[2] = { collide_surface_mesh(positions, N * N, indices, count / 3),
                                    collide_surface_heights(&(CollideHeights){ heights, { N, N }, { 0.3, 0.25 } }) };
    static const CollidePose here = { { 0, 0, 0 }, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    uint64_t seed = 9;
    int crossed = 0;
    for (int trial = 0; trial < 5000; trial++) {
        double from[3], way[3], truth = 2.0;
        for (int k = 0; k < 6; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            (k < 3 ? from : way)[k % 3] = ((double)(seed >> 11) / 9007199254740992.0 - 0.5) * (k < 3 ? 4.0 : 5.0);
        }
        // Every triangle, by the heights of the ray's ends above its plane and the sides of where it goes through.
        for (int t = 0; t < count; t += 3) {
            const double *v[3] = { positions + 3 * indices[t], positions + 3 * indices[t + 1],
                                   positions + 3 * indices[t + 2] };
            double n[3], up = 0.0, down = 0.0, p[3];
            for (int k = 0; k < 3; k++)
                n[k] = (v[1][(k + 1) % 3] - v[0][(k + 1) % 3]) * (v[2][(k + 2) % 3] - v[0][(k + 2) % 3])
                       - (v[1][(k + 2) % 3] - v[0][(k + 2) % 3]) * (v[2][(k + 1) % 3] - v[0][(k + 1) % 3]);
            for (int k = 0; k < 3; k++) {
                up += n[k] * (from[k] - v[0][k]);
                down += n[k] * (from[k] + way[k] - v[0][k]);
            }
            if (!(up >= 0.0 && down < 0.0))
                continue;
            bool is_inside = true;
            for (int k = 0; k < 3; k++)
                p[k] = from[k] + up / (up - down) * way[k];
            for (int e = 0; e < 3; e++) {
                const double *a = v[e], *b = v[(e + 1) % 3];
                is_inside &= (b[2] - a[2]) * (p[0] - a[0]) - (b[0] - a[0]) * (p[2] - a[2]) >= 0.0;
            }
            if (is_inside)
                truth = fmin(truth, up / (up - down));
        }
        for (int s = 0; s < 2; s++) {
            CollideCrossing crossing;
            bool has = collide_cross_surface(surfaces[s], &here, from, way, true, &crossing);
            CHECK(has == (truth <= 1.0), "crosses");
            if (has)
                CHECK_NEAR(crossing.share, truth, 1e-9, "where");
        }
        crossed += truth <= 1.0;
    }
    print_message("%d of 5000 cross\n", crossed);
    CHECK(crossed > 200, "many do");
    for (int s = 0; s < 2; s++)
        collide_surface_destroy(surfaces[s]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_crossing_is_found),
        cmocka_unit_test(none_passes),
        cmocka_unit_test(the_fast_bounce_or_stay),
        cmocka_unit_test(along_the_surface_nothing_is_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
