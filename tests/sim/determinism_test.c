// Same world, seed and commands: the same bytes of state, however one gets there.
#include "physics/world.h"
#include "record/csv.h"

// Boxes, balls, capsules, cylinders and a mesh fall on each other; some fall asleep, one strikes later and wakes them.
static const char *pile(void)
{
    static char text[32768];
    Text out = { 0 };
    text_add_string(
        &out,
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0.3 physicsDisableLinearThreshold 0.1 physicsDisableAngularThreshold 0.1 }\n"
        "Solid { name \"floor\" boundingObject Plane { } }\n"
        "DEF LATE Solid { name \"late\" translation 0.1 0.05 12 boundingObject Sphere { radius 0.3 } physics Physics { } }\n");
    static const char *const shapes[] = { "Box { size 0.4 0.3 0.2 }", "Sphere { radius 0.2 }",
                                          "Capsule { radius 0.12 height 0.3 }", "Cylinder { radius 0.2 height 0.25 }" };
    for (int i = 0; i < 16; i++)
        text_printf(
            &out,
            "DEF S%d Solid { name \"s%d\" translation %g %g %g rotation 1 %g 0 %g boundingObject %s physics Physics { density 500 } }\n",
            i, i, 0.25 * (i % 3) + 0.01 * i, 0.2 * (i % 2), 0.4 + 0.35 * i, 0.1 * i, 0.2 * i, shapes[i % 4]);
    snprintf(text, sizeof(text), "%s", out.data);
    text_free(&out);
    return text;
}

static uint64_t hash_after(const char *nodes, const SimOptions *options, int steps)
{
    World world = world_open_with(nodes, options);
    world_step(&world, steps);
    uint64_t hash = sim_hash(world.sim);
    world_close(&world);
    return hash;
}

static void two_runs_agree(void **state)
{
    (void)state;
    const char *const *steppers = physics_stepper_names();
    for (int i = 0; steppers[i]; i++) {
        SimOptions options = { .physics.stepper = steppers[i] };
        uint64_t first = hash_after(pile(), &options, 400);
        CHECK(hash_after(pile(), &options, 400) == first, steppers[i]);
        CHECK(hash_after(pile(), &options, 399) != first, steppers[i]);
        for (int threads = 1; threads <= 4; threads *= 2) {
            options.physics.threads = threads;
            CHECK(hash_after(pile(), &options, 400) == first, steppers[i]);
        }
    }
}

static void reset_and_snapshots_come_back_to_the_same_run(void **state)
{
    (void)state;
    const char *const *steppers = physics_stepper_names();
    for (int i = 0; steppers[i]; i++) {
        World world = world_open_with(pile(), &(SimOptions){ .physics.stepper = steppers[i] });
        uint64_t at_start = sim_hash(world.sim);
        SimSnapshot middle = { 0 };
        uint64_t hashes[3];
        int idle[3];
        static const int moments[3] = { 90, 170, 400 };  // in flight, some asleep, late one has struck
        for (int k = 0; k < 3; k++) {
            world_step(&world, moments[k] - (int)sim_steps(world.sim));
            hashes[k] = sim_hash(world.sim);
            idle[k] = physics_statistics(world.physics).bodies - physics_statistics(world.physics).bodies_awake;
            if (k == 1)
                sim_snapshot(world.sim, &middle);
        }
        if (i == 0)
            CHECK(idle[0] == 0 && idle[1] + idle[2] > 0, "something falls asleep in this test");
        CHECK(sim_restore(world.sim, &middle), "restore");
        CHECK(sim_hash(world.sim) == hashes[1], "restored state");
        world_step(&world, moments[2] - moments[1]);
        CHECK(sim_hash(world.sim) == hashes[2], steppers[i]);
        for (int round = 0; round < 2; round++) {
            CHECK(sim_reset(world.sim), "reset");
            CHECK(sim_hash(world.sim) == at_start && sim_steps(world.sim) == 0, "reset state");
            world_step(&world, moments[0]);
            CHECK(sim_hash(world.sim) == hashes[0], "after reset");
        }
        // A snapshot goes over to a second instance of the same world.
        World other = world_open_with(pile(), &(SimOptions){ .physics.stepper = steppers[i] });
        CHECK(sim_restore(other.sim, &middle), "restore elsewhere");
        world_step(&other, moments[2] - moments[1]);
        CHECK(sim_hash(other.sim) == hashes[2], "elsewhere");
        sim_snapshot_free(&middle);
        world_close(&other);
        world_close(&world);
    }
}

static void snapshot_files_are_guarded(void **state)
{
    (void)state;
    const char *folder = support_scratch("determinism");
    char path[512];
    snprintf(path, sizeof(path), "%s/state.snap", folder);
    World world = world_open(pile());
    world_step(&world, 120);
    uint64_t hash = sim_hash(world.sim);
    CHECK(sim_snapshot_write(world.sim, path), "write");
    world_step(&world, 30);
    CHECK(sim_snapshot_read(world.sim, path), "read");
    CHECK(sim_hash(world.sim) == hash && sim_steps(world.sim) == 120, "state");
    World other = world_open("WorldInfo { } DEF B Solid { boundingObject Box { } physics Physics { } }");
    uint64_t before = sim_hash(other.sim);
    CHECK(!sim_snapshot_read(other.sim, path), "of another world");
    CHECK(sim_hash(other.sim) == before, "nothing changed");
    world_close(&other);
    char *data = support_read(path);
    FILE *file = fopen(path, "r+b");
    fseek(file, 200, SEEK_SET);
    fputc(data[200] ^ 1, file);
    fclose(file);
    free(data);
    CHECK(!sim_snapshot_read(world.sim, path), "damaged");
    CHECK(world_said(&world, "damaged") == 1, "said so");
    world_close(&world);
}

static void recording_changes_nothing(void **state)
{
    (void)state;
    const char *folder = support_scratch("recording");
    char path[512];
    snprintf(path, sizeof(path), "%s/out.csv", folder);
    uint64_t hash = hash_after(pile(), NULL, 100);
    World world = world_open(pile());
    physics_want_contact_forces(world.physics, true);
    CsvRecorder *recorder = csv_open(world.sim, path, &(CsvOptions){ .columns = "LATE.*,S3.z", .every = 10 });
    world_step(&world, 100);
    CHECK(sim_hash(world.sim) == hash, "hash");
    Vec3 end = world_position(&world, "LATE");
    CHECK(csv_close(recorder), "closed");
    world_close(&world);
    char *text = support_read(path);
    int lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    CHECK(lines == 12, "a header and 11 rows");
    CHECK(
        !strncmp(
            text,
            "time,LATE.x,LATE.y,LATE.z,LATE.qw,LATE.qx,LATE.qy,LATE.qz,LATE.vx,LATE.vy,LATE.vz,LATE.wx,LATE.wy,LATE.wz,S3.z\n0,0.1,0.05,12,",
            130 - 9),
        "first row");
    const char *last = strstr(text, "\n0.8,");
    CHECK(last != NULL, "last row");
    double x, y, z;
    CHECK(sscanf(last, "\n0.8,%lf,%lf,%lf", &x, &y, &z) == 3 && x == end.x && y == end.y && z == end.z,
          "numbers read back exactly");
    free(text);
}

// A running world saved and opened again goes on as the original does. Rotations pass through axis and angle, so the
// last bits may differ; 50 steps later that is still nothing.
static void saved_worlds_go_on(void **state)
{
    (void)state;
    const char *folder = support_scratch("saved");
    char path[512];
    snprintf(path, sizeof(path), "%s/saved.wbt", folder);
    World world = world_open(pile());
    world_step(&world, 60);
    CHECK(sim_save(world.sim, path), "save");
    World again = { .diags = diag_create() };
    again.sim = sim_load(path, NULL, again.diags);
    CHECK(again.sim != NULL, "load");
    again.physics = sim_physics(again.sim);
    for (int k = 0; k < 50; k++) {
        world_step(&world, 1);
        world_step(&again, 1);
    }
    for (int i = 0; i < physics_solid_count(world.physics); i++) {
        const char *label = physics_solid_label(world.physics, i);
        Vec3 a = physics_solid_pose(world.physics, i).t, b = world_position(&again, label);
        CHECK_NEAR(vec3_distance(a, b), 0, 1e-9, label);
        CHECK_NEAR(vec3_distance(physics_solid_linear_velocity(world.physics, i), world_velocity(&again, label)), 0,
                   1e-7, label);
    }
    CHECK(sim_reset(world.sim), "reset");
    CHECK(vec3_distance(world_position(&world, "LATE"), vec3(0.1, 0.05, 12)) > 0.1,
          "saving moves the state that reset goes back to");
    world_close(&again);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_agree),
        cmocka_unit_test(reset_and_snapshots_come_back_to_the_same_run),
        cmocka_unit_test(snapshot_files_are_guarded),
        cmocka_unit_test(recording_changes_nothing),
        cmocka_unit_test(saved_worlds_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
