// The library as a stranger uses it: talus.h alone.
#include "talus/talus.h"

#include "support/support.h"

#include <math.h>
#include <pthread.h>

static const char text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { basicTimeStep 4 }\n"
    "DEF FLOOR Solid { name \"floor\" boundingObject Plane { } }\n"
    "DEF BOX Solid { name \"crate\" translation 0 0 1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 2 } }\n"
    "DEF ARM Robot { name \"arm\" translation 3 0 1 children [\n"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device [ DEF MOTOR RotationalMotor { name \"m\" maxTorque 100 maxVelocity 2 }\n"
    "    DEF ANGLE PositionSensor { name \"angle\" noise 0.1 } ]\n"
    "    endPoint DEF HAND Solid { name \"hand\" translation 0.3 0 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.1 } } } ] }\n";

static int heard;
static void hear(const TalusDiagnostic *diagnostic, void *context)
{
    heard++;
    if (context)
        snprintf(context, 200, "%s:%u: %s", diagnostic->file, diagnostic->line, diagnostic->message);
}

static TalusWorld *open_world(void)
{
    TalusWorld *world = talus_load_text("api.wbt", text, sizeof(text) - 1, NULL);
    assert_non_null(world);
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR), 0);
    return world;
}

static void nodes_are_found_read_and_written(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusNode box = talus_find(world, "BOX");
    assert_true(box != TALUS_NONE && talus_find(world, "crate") == box);
    assert_true(talus_find(world, "ARM.HAND") == talus_find(world, "HAND")
                && talus_find(world, "BOX.HAND") == TALUS_NONE);
    assert_string_equal(talus_node_type(world, box), "Solid");
    assert_string_equal(talus_node_def(world, box), "BOX");
    assert_true(talus_node_parent(world, box) == TALUS_ROOT && talus_node_parent(world, TALUS_ROOT) == TALUS_NONE);
    TalusNode physics = talus_get_node(world, box, "physics", 0);
    double mass;
    assert_true(talus_get_double(world, physics, "mass", &mass) && mass == 2);
    assert_true(talus_set_double(world, physics, "mass", 5) && talus_mass(world, box, &mass, NULL) && mass == 5);
    assert_false(talus_get_double(world, physics, "no such field", &mass)
                 || talus_get_double(world, box, "name", &mass));
    assert_false(talus_set_double(world, physics, "mass", NAN));
    assert_string_equal(talus_get_string(world, box, "name"), "crate");
    double numbers[8];
    assert_int_equal(talus_get_numbers(world, box, "rotation", numbers, 8), 4);
    assert_int_equal(talus_get_numbers(world, physics, "mass", numbers, 8), 1);
    assert_true(numbers[0] == 5);
    assert_int_equal(talus_get_numbers(world, box, "recognitionColors", numbers, 8), 0);
    assert_int_equal(talus_get_numbers(world, box, "name", numbers, 8), -1);
    TalusVector place;
    assert_true(talus_get_vector(world, box, "translation", &place) && place.z == 1);
    assert_true(talus_set_vector(world, box, "translation", (TalusVector){ 0, 0, 4 }));
    TalusPose pose;
    assert_true(talus_pose(world, box, &pose) && fabs(pose.position.z - 4) < 1e-12);
    assert_true(talus_step(world, 10) && talus_pose(world, box, &pose)
                && talus_get_vector(world, box, "translation", &place));
    CHECK(place.z == pose.position.z && place.z < 4, "a field says where the solid is now");
    assert_true(talus_reset(world) && talus_get_vector(world, box, "translation", &place));
    CHECK_NEAR(place.z, 1, 1e-12, "and after a reset where it started");
    assert_true(talus_set_vector(world, box, "translation", (TalusVector){ 0, 0, 4 }));
    TalusNode solids[8];
    assert_int_equal(talus_solids(world, solids, 8), 4);
    assert_string_equal(talus_solid_label(world, solids[0]), "FLOOR");
    assert_false(talus_pose(world, 99999, &pose) || talus_pose(world, TALUS_NONE, &pose)
                 || talus_pose(world, physics, &pose));
    talus_free(world);
}

static void solids_are_pushed_and_contacts_told(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusNode box = talus_find(world, "BOX");
    talus_contact_forces(world, NULL, 0);
    assert_true(talus_step(world, 240));
    assert_int_equal(talus_steps(world), 240);
    assert_true(fabs(talus_time(world) - 0.96) < 1e-12);
    TalusContact contacts[16];
    assert_int_equal(talus_contacts(world, contacts, 16), 4);
    TalusContactForce forces[16];
    int count = talus_contact_forces(world, forces, 16);
    double up = 0;
    for (int i = 0; i < count; i++)
        up += forces[i].solid[0] == box ? forces[i].force.z : -forces[i].force.z;
    assert_true(fabs(up - 2 * 9.81) < 0.2);
    assert_true(talus_is_colliding(world, box) && talus_is_dynamic(world, box)
                && !talus_is_dynamic(world, talus_find(world, "FLOOR")));
    for (int i = 0; i < 100; i++) {
        assert_true(talus_add_force(world, box, (TalusVector){ 0, 0, 2 * 9.81 + 2 }));
        talus_step(world, 1);
    }
    TalusVector linear;
    assert_true(talus_velocity(world, box, &linear, NULL) && fabs(linear.z - 0.4) < 0.02);
    assert_false(talus_add_force(world, box, (TalusVector){ NAN, 0, 0 })
                 || talus_add_force(world, talus_find(world, "FLOOR"), linear));
    talus_free(world);
}

static void motors_follow_commands(void **state)
{
    (void)state;
    char message[200] = "";
    TalusOptions options = { .on_diagnostic = hear, .context = message };
    TalusWorld *world = talus_load_text("api.wbt", text, sizeof(text) - 1, &options);
    TalusNode motor = talus_find(world, "MOTOR"), hand = talus_find(world, "HAND");
    assert_true(talus_motor_set_position(world, motor, 0, 0.5));
    talus_step(world, 1000);
    double position;
    assert_true(talus_joint_position(world, motor, 0, &position) && fabs(position - 0.5) < 0.01);
    assert_true(talus_joint_position(world, hand, 0, &position) && fabs(position - 0.5) < 0.01);
    int before = heard;
    assert_true(talus_motor_set_velocity(world, motor, 0, 100));
    assert_true(heard == before + 1 && message[0]);  // above maxVelocity: clipped, and said
    assert_true(talus_motor_set_position(world, motor, 0, INFINITY) && talus_motor_set_velocity(world, motor, 0, 1));
    talus_step(world, 250);
    double velocity;
    assert_true(talus_joint_velocity(world, hand, 0, &velocity) && fabs(velocity - 1) < 0.05);
    assert_false(talus_motor_set_position(world, talus_find(world, "BOX"), 0, 1)
                 || talus_motor_set_position(world, motor, 0, NAN));
    assert_false(talus_joint_position(world, hand, 1, &position));
    talus_free(world);
}

static void snapshots_insertions_and_failures(void **state)
{
    (void)state;
    TalusWorld *world = open_world();
    TalusSnapshot *snapshot = talus_snapshot_create();
    talus_step(world, 50);
    talus_snapshot_take(world, snapshot);
    talus_step(world, 50);
    uint64_t hash = talus_hash(world);
    assert_true(talus_snapshot_restore(world, snapshot) && talus_step(world, 50) && talus_hash(world) == hash);
    TalusNode ball = talus_insert(
        world, TALUS_ROOT, "children", -1,
        "Solid { name \"ball\" translation 0 0 3 boundingObject Sphere { radius 0.1 } physics Physics { } }");
    assert_true(ball != TALUS_NONE && talus_is_dynamic(world, ball) && talus_find(world, "ball") == ball);
    assert_false(talus_snapshot_restore(world, snapshot));  // another model now
    talus_step(world, 10);
    assert_true(talus_remove(world, ball) && !talus_node_exists(world, ball) && !talus_remove(world, ball));
    assert_true(talus_insert(world, TALUS_ROOT, "children", -1, "Nonsense") == TALUS_NONE);
    assert_true(talus_reset(world) && talus_steps(world) == 0 && talus_step(world, 100) && talus_hash(world) == hash);
    talus_snapshot_free(snapshot);
    talus_free(world);
    assert_null(talus_load("no/such/file.wbt", &(TalusOptions){ .on_diagnostic = hear }));
    assert_true(heard > 0 && talus_check("no/such/file.wbt", NULL) == -1);
    assert_null(talus_load_text("a.wbt", text, sizeof(text) - 1, &(TalusOptions){ .stepper = "none" }));
}

// A snapshot fits an instance that never asked for a device, one that did fits a snapshot without them; a file says the
// same.
static void snapshots_bring_their_devices(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof(path), "%s/devices.snap", support_scratch("api"));
    TalusWorld *world = open_world();
    TalusSnapshot *before = talus_snapshot_create(), *after = talus_snapshot_create();
    talus_step(world, 10);
    talus_snapshot_take(world, before);
    uint64_t hash_before = talus_hash(world);
    TalusNode sensor = talus_device(world, TALUS_NONE, "angle");
    assert_true(sensor != TALUS_NONE && talus_device_enable(world, sensor, 8) && talus_step(world, 20));
    talus_snapshot_take(world, after);
    assert_true(talus_snapshot_write(world, path) && talus_step(world, 33));
    double expected, angle;
    assert_int_equal(talus_device_read(world, sensor, &expected, 1), 1);
    uint64_t hash = talus_hash(world);
    for (int from_file = 0; from_file < 2; from_file++) {
        TalusWorld *other = open_world();
        assert_true(from_file ? talus_snapshot_read(other, path) : talus_snapshot_restore(other, after));
        assert_true(talus_step(other, 33) && talus_hash(other) == hash);
        assert_int_equal(talus_device_read(other, talus_find(other, "ANGLE"), &angle, 1), 1);
        assert_true(angle == expected);
        talus_free(other);
    }
    assert_true(talus_snapshot_restore(world, before) && talus_hash(world) == hash_before);
    assert_int_equal(talus_device_read(world, sensor, &angle, 1), 0);
    // What does not fit leaves no devices behind.
    TalusWorld *other = open_world();
    talus_insert(other, TALUS_ROOT, "children", -1, "Solid { name \"post\" }");
    uint64_t hash_other = talus_hash(other);
    assert_true(!talus_snapshot_restore(other, after) && talus_hash(other) == hash_other);
    talus_free(other);
    talus_snapshot_free(before);
    talus_snapshot_free(after);
    talus_free(world);
}

static void *run_alone(void *context)
{
    TalusWorld *world = talus_load_text("api.wbt", text, sizeof(text) - 1, &(TalusOptions){ .stepper = context });
    talus_step(world, 400);
    uint64_t *hash = malloc(sizeof(*hash));
    *hash = talus_hash(world);
    talus_free(world);
    return hash;
}

// One world per thread, several at once, all the same result.
static void worlds_run_on_several_threads(void **state)
{
    (void)state;
    static const char *const steppers[] = { "ode-exact", "ode-quick", "talus" };
    for (int i = 0; i < COUNT_OF(steppers); i++) {
        uint64_t *expected = run_alone((void *)steppers[i]);
        pthread_t threads[4];
        for (int k = 0; k < COUNT_OF(threads); k++)
            assert_int_equal(pthread_create(&threads[k], NULL, run_alone, (void *)steppers[i]), 0);
        for (int k = 0; k < COUNT_OF(threads); k++) {
            void *hash;
            pthread_join(threads[k], &hash);
            CHECK(*(uint64_t *)hash == *expected, steppers[i]);
            free(hash);
        }
        free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_found_read_and_written), cmocka_unit_test(solids_are_pushed_and_contacts_told),
        cmocka_unit_test(motors_follow_commands),           cmocka_unit_test(snapshots_insertions_and_failures),
        cmocka_unit_test(snapshots_bring_their_devices),    cmocka_unit_test(worlds_run_on_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
