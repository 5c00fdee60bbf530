// Bodies on meshes and grids of heights in whole worlds: they rest, slide and roll as on the same ground without
// triangles.
#include "physics/physics_internal.h"
#include "physics/world.h"

#include <math.h>

enum { CELLS = 24 };
static const double CELL = 0.25;

typedef double (*Height)(double x, double y);

static double flat(double x, double y)
{
    (void)x, (void)y;
    return 0.0;
}
static double hills(double x, double y)
{
    return 0.2 * sin(1.9 * x + 0.3) * cos(1.6 * y) + 0.06 * sin(5.0 * x) * sin(4.0 * y + 1.0);
}
static double bowl(double x, double y) { return 0.1 * (x * x + y * y); }

static double coordinate(int i) { return (i - 0.5 * CELLS) * CELL; }

// The ground as a mesh, or as a grid of the same heights; its middle is the origin.
static void add_ground(Text *text, Height height, bool is_grid)
{
    text_add_string(text, "Solid { name \"ground\" contactMaterial \"ground\" boundingObject ");
    if (is_grid)
        text_printf(
            text,
            "Pose { translation %g %g 0 children [ ElevationGrid { xDimension %d yDimension %d xSpacing %g ySpacing %g thickness 1 height [ ",
            coordinate(0), coordinate(0), CELLS + 1, CELLS + 1, CELL, CELL);
    else
        text_add_string(text, "IndexedFaceSet { coord Coordinate { point [ ");
    for (int j = 0; j <= CELLS; j++)
        for (int i = 0; i <= CELLS; i++) {
            double x = coordinate(i), y = coordinate(j);
            if (is_grid)
                text_printf(text, "%.9g ", height(x, y));
            else
                text_printf(text, "%g %g %.9g, ", x, y, height(x, y));
        }
    if (is_grid) {
        text_add_string(text, "] } ] } }\n");
        return;
    }
    text_add_string(text, "] } coordIndex [ ");
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            int a = j * (CELLS + 1) + i;
            text_printf(text, "%d %d %d -1 %d %d %d -1 ", a, a + 1, a + CELLS + 2, a, a + CELLS + 2, a + CELLS + 1);
        }
    text_add_string(text, "] } }\n");
}

// A closed mesh with an inner corner, half a metre long: not convex.
static const char ANGLE[] =
    "IndexedFaceSet { coord Coordinate { point [ "
    "-0.1 -0.1 -0.05, 0.2 -0.1 -0.05, 0.2 0 -0.05, 0 0 -0.05, 0 0.2 -0.05, -0.1 0.2 -0.05, "
    "-0.1 -0.1 0.05, 0.2 -0.1 0.05, 0.2 0 0.05, 0 0 0.05, 0 0.2 0.05, -0.1 0.2 0.05 ] } coordIndex [ "
    "0 3 2 -1 0 2 1 -1 0 4 3 -1 0 5 4 -1 6 8 9 -1 6 7 8 -1 6 9 10 -1 6 10 11 -1 "
    "0 1 7 -1 0 7 6 -1 1 2 8 -1 1 8 7 -1 2 3 9 -1 2 9 8 -1 3 4 10 -1 3 10 9 -1 4 5 11 -1 4 11 10 -1 5 0 6 -1 5 6 11 -1 ] }";
static const char PRISM[] =
    "IndexedFaceSet { coord Coordinate { point [ -0.1 -0.1 -0.1, 0.1 -0.1 -0.1, 0.1 0.1 -0.1, -0.1 0.1 -0.1, -0.06 -0.06 0.1, 0.06 -0.06 0.1, "
    "0.06 0.06 0.1, -0.06 0.06 0.1 ] } coordIndex [ 0 3 2 1 -1 4 5 6 7 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 -1 ] }";
static const char *const forms[] = { "Sphere { radius 0.1 }", "Capsule { radius 0.08 height 0.2 }",
                                     "Cylinder { radius 0.12 height 0.16 }", "Box { size 0.3 0.2 0.16 }", PRISM };
static const char *const names[] = { "ball", "capsule", "cylinder", "box", "prism" };
// Heights of their middles when they are put down as they are, the capsule and the cylinder lying.
static const double levels[] = { 0.1, 0.08, 0.12, 0.08, 0.1 };

static World open_text(Text *text, int threads)
{
    World world = world_open_with(text->data, &(SimOptions){ .physics.threads = threads });
    text_free(text);
    return world;
}

// Without friction on a flat floor of triangles: a body goes on at its speed and height, whatever edges it crosses.
static void nothing_is_felt_of_flat_edges(void **state)
{
    (void)state;
    for (int is_grid = 0; is_grid < 2; is_grid++)
        for (int form = 0; form < COUNT_OF(forms); form++) {
            Text text = { 0 };
            text_add_string(
                &text,
                "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { material1 \"ground\" coulombFriction 0 bounce 0 } }\n");
            add_ground(&text, flat, is_grid);
            text_printf(
                &text,
                "Solid { name \"b\" translation -2 -0.9 %g rotation 1 0 0 %g linearVelocity 1.7 0.7 0 boundingObject %s physics Physics { } }\n",
                levels[form] - 0.0002, form == 1 || form == 2 ? M_PI / 2 : 0.0, forms[form]);
            World world = open_text(&text, 1);
            double low = INFINITY, high = -INFINITY;
            for (int i = 0; i < 250; i++) {
                world_step(&world, 1);
                Vec3 p = world_position(&world, "b");
                if (i >= 25) {
                    low = fmin(low, p.z);
                    high = fmax(high, p.z);
                }
            }
            Vec3 v = world_velocity(&world, "b"), p = world_position(&world, "b"), w = world_spin(&world, "b");
            CHECK_NEAR(v.x, 1.7, 1e-4, names[form]);
            CHECK_NEAR(v.y, 0.7, 1e-4, names[form]);
            CHECK(p.x > 1.2 && high - low < 2e-5 && fabs(high - levels[form]) < 2e-3, names[form]);
            CHECK(sqrt(vec3_dot(w, w)) < 1e-3, names[form]);
            world_close(&world);
        }
}

// A ball and a wheel roll over triangles as far as over a plane: their points of contact are where a plane has them.
static void rolling_is_as_on_a_plane(void **state)
{
    (void)state;
    static const char *const wheels[] = { "Sphere { radius 0.1 }", "Cylinder { radius 0.1 height 0.08 }" };
    for (int form = 0; form < COUNT_OF(wheels); form++) {
        Vec3 ends[3];
        for (int kind = 0; kind < 3; kind++) {
            Text text = { 0 };
            text_add_string(&text, "WorldInfo { basicTimeStep 8 }\n");
            if (kind == 0)
                text_add_string(&text, "Solid { name \"ground\" boundingObject Plane { } }\n");
            else
                add_ground(&text, flat, kind == 2);
            text_printf(
                &text,
                "Solid { name \"b\" translation -2 -0.3 0.1 rotation 1 0 0 %g linearVelocity 2 %g 0 angularVelocity 0 20 0 boundingObject %s physics Physics { } }\n",
                form ? M_PI / 2 : 0.0, form ? 0.0 : 0.3, wheels[form]);
            World world = open_text(&text, 1);
            world_step(&world, 200);
            ends[kind] = world_position(&world, "b");
            world_close(&world);
        }
        CHECK(ends[0].x > 1.0, wheels[form]);
        for (int kind = 1; kind < 3; kind++)
            CHECK_NEAR(vec3_distance(ends[kind], ends[0]), 0.0, 1e-4, wheels[form]);
    }
}

// Put down in a bowl and on hills with friction: they come to rest, their weight is carried, and nothing trembles.
static void bodies_come_to_rest(void **state)
{
    (void)state;
    for (int is_grid = 0; is_grid < 2; is_grid++) {
        Text text = { 0 };
        text_add_string(
            &text,
            "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { coulombFriction 1 bounce 0 } }\n");
        add_ground(&text, bowl, is_grid);
        text_add_string(
            &text,
            "Solid { name \"b\" translation 0.13 0.08 0.2 rotation 1 0.3 0 0.2 boundingObject Box { size 0.5 0.4 0.2 } physics Physics { density -1 mass 3 } }\n");
        World world = open_text(&text, 1);
        physics_want_contact_forces(world.physics, true);
        world_step(&world, 375);
        double fastest = 0.0, carried = 0.0;
        for (int i = 0; i < 125; i++) {
            world_step(&world, 1);
            fastest = fmax(fastest, vec3_length(world_velocity(&world, "b")));
            int count;
            const PhysicsContactForce *forces = physics_contact_forces(world.physics, &count);
            for (int k = 0; k < count; k++)
                carried += (forces[k].solid[0] == world_solid(&world, "b") ? forces[k].force.z : -forces[k].force.z)
                           / 125.0;
        }
        CHECK(fastest < 1e-3, "no trembling");
        CHECK_NEAR(carried, 3 * 9.81, 0.01 * 3 * 9.81, "its weight");
        world_close(&world);
    }
}

// Dropped from half a metre onto hills (3 m/s, so 0.1 m in the longer step), at steps of 8 and of 32 ms: nobody falls
// through.
static void nobody_falls_through(void **state)
{
    (void)state;
    static const int steps_ms[] = { 8, 32 };
    for (int is_grid = 0; is_grid < 2; is_grid++)
        for (int s = 0; s < COUNT_OF(steps_ms); s++) {
            Text text = { 0 };
            text_printf(
                &text,
                "WorldInfo { basicTimeStep %d contactProperties ContactProperties { coulombFriction 1 bounce 0 } }\n",
                steps_ms[s]);
            add_ground(&text, hills, is_grid);
            for (int i = 0; i < 60; i++)
                text_printf(
                    &text,
                    "Solid { name \"b%d\" translation %g %g %g rotation 0.3 1 0.2 %g boundingObject %s physics Physics { } }\n",
                    i, 0.5 * (i % 8 - 3.5) + 0.013 * (i % 5), 0.5 * (i / 8 - 3.5) + 0.017 * (i % 7),
                    0.6 + 0.1 * (i % 3), 0.37 * i, forms[i % COUNT_OF(forms)]);
            World world = open_text(&text, 1);
            world_step(&world, 3000 / steps_ms[s]);
            for (int i = 0; i < 60; i++) {
                char name[16];
                snprintf(name, sizeof name, "b%d", i);
                Vec3 p = world_position(&world, name);
                if (!(fabs(p.x) > 2.9 || fabs(p.y) > 2.9 || p.z > hills(p.x, p.y)))
                    print_message("grid %d ms %d %s %g %g %g of %g\n", is_grid, steps_ms[s], name, p.x, p.y, p.z,
                                  hills(p.x, p.y));
                CHECK(fabs(p.x) > 2.9 || fabs(p.y) > 2.9 || p.z > hills(p.x, p.y), name);
            }
            world_close(&world);
        }
}

// A body that starts 0.4 m deep in a ground of heights comes up (ODE's rule of depth throws it a few metres) and lies
// on it.
static void from_deep_inside_one_comes_up(void **state)
{
    (void)state;
    for (int form = 0; form < COUNT_OF(forms); form++) {
        Text text = { 0 };
        text_add_string(&text, "WorldInfo { basicTimeStep 8 }\n");
        add_ground(&text, flat, true);
        text_printf(&text, "Solid { name \"b\" translation 0.1 0.1 -0.3 boundingObject %s physics Physics { } }\n",
                    forms[form]);
        World world = open_text(&text, 1);
        double highest = -INFINITY;
        for (int i = 0; i < 500; i++) {
            world_step(&world, 1);
            highest = fmax(highest, world_position(&world, "b").z);
        }
        Vec3 p = world_position(&world, "b");
        CHECK(p.z > 0.05 && p.z < 0.3 && highest < 6.0, names[form]);
        world_close(&world);
    }
}

// A closed mesh that is not convex, on the ground, on a box, on a mesh and on heights.
static void a_closed_mesh_rests_on_everything(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        Text text = { 0 };
        text_add_string(
            &text,
            "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { coulombFriction 1 bounce 0 } }\n");
        if (kind == 0)
            text_add_string(&text, "Solid { name \"ground\" boundingObject Plane { } }\n");
        else if (kind == 1)
            text_add_string(&text,
                            "Solid { name \"ground\" translation 0 0 -0.5 boundingObject Box { size 3 3 1 } }\n");
        else
            add_ground(&text, flat, kind == 3);
        text_printf(
            &text,
            "Solid { name \"b\" translation 0.03 0.06 0.2 rotation 1 1 0 0.1 boundingObject %s physics Physics { density -1 mass 2 } }\n",
            ANGLE);
        World world = open_text(&text, 1);
        world_step(&world, 400);
        Vec3 p = world_position(&world, "b");
        CHECK_NEAR(p.z, 0.05, 3e-3, "lies on its side");
        CHECK(vec3_length(world_velocity(&world, "b")) < 5e-3, "at rest");
        world_close(&world);
    }
}

static World open_crowd(int threads)
{
    Text text = { 0 };
    text_add_string(&text, "WorldInfo { basicTimeStep 8 }\n");
    add_ground(&text, bowl, false);
    text_add_string(&text, "Solid { name \"step\" translation 0.5 0 0.1 boundingObject ");
    text_add_string(&text, ANGLE);
    text_add_string(&text, " }\n");
    for (int i = 0; i < 100; i++)
        text_printf(
            &text,
            "Solid { name \"b%d\" translation %g %g %g rotation 0.3 1 0.2 %g boundingObject %s physics Physics { } }\n",
            i, 0.4 * (i % 7 - 3), 0.4 * (i / 7 % 7 - 3), 1.0 + 0.4 * (i / 49), 0.37 * i,
            i % 6 == 5 ? ANGLE : forms[i % 6 % COUNT_OF(forms)]);
    return open_text(&text, threads);
}

static void threads_and_snapshots_give_the_same_bits(void **state)
{
    (void)state;
    static const int threads[] = { 1, 2, 4, 8 };
    uint64_t expected = 0;
    SimSnapshot snapshot = { 0 };
    for (int i = 0; i < COUNT_OF(threads); i++) {
        World world = open_crowd(threads[i]);
        world_step(&world, 120);
        if (i == 0)
            sim_snapshot(world.sim, &snapshot);
        world_step(&world, 80);
        uint64_t hash = sim_hash(world.sim);
        expected = i == 0 ? hash : expected;
        CHECK(hash == expected, "same hash");
        CHECK(sim_restore(world.sim, &snapshot), "back");
        world_step(&world, 80);
        CHECK(sim_hash(world.sim) == expected, "the same future");
        world_close(&world);
    }
    sim_snapshot_free(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_felt_of_flat_edges),
        cmocka_unit_test(rolling_is_as_on_a_plane),
        cmocka_unit_test(bodies_come_to_rest),
        cmocka_unit_test(nobody_falls_through),
        cmocka_unit_test(from_deep_inside_one_comes_up),
        cmocka_unit_test(a_closed_mesh_rests_on_everything),
        cmocka_unit_test(threads_and_snapshots_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
