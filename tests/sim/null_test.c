// The library's calls with NULL where something is needed: each fails as talus.h says, none faults. And options need
// not outlive the call that was given them.
#include "support/support.h"
#include "talus/talus.h"

#include <stdlib.h>
#include <string.h>

static const char text[] =
    "#VRML_SIM R2025a utf8\n"
    "WorldInfo { }\n"
    "DEF FLOOR Solid { boundingObject Box { size 4 4 0.2 } }\n"
    "DEF BOT Robot { name \"bot\" controller \"<none>\" translation 0 0 0.2 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } children [\n"
    "  DEF EYE DistanceSensor { name \"eye\" }\n"
    "  DEF HOOK Connector { name \"hook\" }\n"
    "  DEF HINGE HingeJoint { device RotationalMotor { name \"motor\" } endPoint Solid { name \"arm\" translation 0.3 0 0 physics Physics { mass 1 density -1 } } }\n"
    "] }\n";

static TalusWorld *load(void)
{
    TalusWorld *world = talus_load_text("null.wbt", text, strlen(text), NULL);
    assert_non_null(world);
    return world;
}

static void without_a_world(void **state)
{
    (void)state;
    TalusVector v = { 0, 0, 0 };
    TalusPose pose = { v, { 1, 0, 0, 0 } };
    TalusDiagnostic diagnostic;
    TalusNode nodes[1];
    TalusContact contacts[1];
    TalusContactForce forces[1];
    double number;
    bool flag;
    int integer;
    size_t size = 7;
    talus_free(NULL);
    talus_snapshot_free(NULL);
    assert_int_equal(talus_diagnostic_count(NULL), 0);
    assert_false(talus_diagnostic_at(NULL, 0, &diagnostic));
    assert_int_equal(talus_diagnostic_total(NULL, TALUS_ERROR), 0);
    assert_int_equal(talus_check(NULL, NULL), -1);
    assert_null(talus_load(NULL, NULL));
    assert_null(talus_load_text(NULL, text, sizeof text - 1, NULL));
    assert_null(talus_load_text("x.wbt", NULL, 5, NULL));
    assert_false(talus_step(NULL, 1));
    assert_null(talus_failure(NULL));
    assert_true(talus_steps(NULL) == 0 && talus_time(NULL) == 0.0 && talus_time_step(NULL) == 0.0
                && talus_hash(NULL) == 0);
    assert_false(talus_reset(NULL));
    TalusSnapshot *snapshot = talus_snapshot_create();
    talus_snapshot_take(NULL, snapshot);
    assert_false(talus_snapshot_restore(NULL, snapshot));
    talus_snapshot_free(snapshot);
    assert_false(talus_snapshot_write(NULL, "x") || talus_snapshot_read(NULL, "x") || talus_save(NULL, "x"));
    assert_true(talus_find(NULL, "BOT") == TALUS_NONE && talus_find_below(NULL, TALUS_ROOT, "BOT") == TALUS_NONE);
    assert_false(talus_node_exists(NULL, TALUS_ROOT));
    assert_true(!talus_node_type(NULL, TALUS_ROOT) && !talus_node_def(NULL, TALUS_ROOT)
                && talus_node_parent(NULL, 1) == TALUS_NONE);
    assert_false(talus_get_bool(NULL, 1, "x", &flag) || talus_get_int(NULL, 1, "x", &integer)
                 || talus_get_double(NULL, 1, "x", &number) || talus_get_vector(NULL, 1, "x", &v));
    assert_true(!talus_get_string(NULL, 1, "x") && talus_get_node(NULL, 1, "x", 0) == TALUS_NONE
                && talus_get_numbers(NULL, 1, "x", &number, 1) == -1);
    assert_false(talus_set_bool(NULL, 1, "x", true) || talus_set_int(NULL, 1, "x", 1)
                 || talus_set_double(NULL, 1, "x", 1) || talus_set_vector(NULL, 1, "x", v)
                 || talus_set_string(NULL, 1, "x", "y") || talus_set_numbers(NULL, 1, "x", &number, 1));
    assert_true(talus_insert(NULL, TALUS_ROOT, "children", -1, "Solid { }") == TALUS_NONE);
    assert_false(talus_remove(NULL, 1));
    assert_true(talus_solids(NULL, nodes, 1) == 0 && !talus_solid_label(NULL, 1));
    assert_false(talus_pose(NULL, 1, &pose) || talus_velocity(NULL, 1, &v, &v) || talus_mass(NULL, 1, &number, &v));
    assert_false(talus_is_dynamic(NULL, 1) || talus_is_idle(NULL, 1) || talus_is_colliding(NULL, 1));
    assert_false(talus_set_pose(NULL, 1, pose) || talus_set_velocity(NULL, 1, v, v) || talus_reset_motion(NULL, 1));
    assert_false(talus_add_force(NULL, 1, v) || talus_add_force_at(NULL, 1, v, v) || talus_add_torque(NULL, 1, v));
    assert_false(talus_joint_position(NULL, 1, 0, &number) || talus_joint_velocity(NULL, 1, 0, &number)
                 || talus_joint_set_position(NULL, 1, 0, 0));
    assert_false(talus_motor_set_position(NULL, 1, 0, 0) || talus_motor_set_velocity(NULL, 1, 0, 0)
                 || talus_motor_set_force(NULL, 1, 0, 0) || talus_motor_set_available_force(NULL, 1, 0, 0)
                 || talus_motor_set_acceleration(NULL, 1, 0, 0) || talus_motor_set_gains(NULL, 1, 0, 1, 0, 0)
                 || talus_motor_feedback(NULL, 1, 0, &number) || talus_brake_set_damping(NULL, 1, 0, 0));
    assert_false(talus_connector_set_locked(NULL, 1, true) || talus_connector_presence(NULL, 1, &integer)
                 || talus_gripper_set_on(NULL, 1, true));
    assert_true(talus_connector_peer(NULL, 1) == TALUS_NONE && talus_gripper_held(NULL, 1) == TALUS_NONE);
    assert_true(talus_device(NULL, TALUS_NONE, "eye") == TALUS_NONE && talus_device_read(NULL, 1, &number, 1) == -1);
    assert_false(talus_device_enable(NULL, 1, 32) || talus_device_switch(NULL, 1, true)
                 || talus_device_is_on(NULL, 1, &flag));
    assert_false(talus_signal_set(NULL, 1, true, 0, true) || talus_signal_get(NULL, 1, true, 0, &flag));
    assert_false(talus_plugin_start(NULL, NULL) || talus_plugin_stop(NULL) || talus_plugin_send(NULL, "x", 1));
    assert_null(talus_plugin_receive(NULL, 0, &size));
    assert_true(talus_contacts(NULL, contacts, 1) == 0 && talus_contact_forces(NULL, forces, 1) == 0
                && talus_statistics(NULL).solids == 0);
}

// What is needed and NULL fails, and the diagnostics say what it was.
static void without_what_is_needed(void **state)
{
    (void)state;
    TalusWorld *world = load();
    TalusNode bot = talus_find(world, "BOT");
    bool flag;
    int before = talus_diagnostic_total(world, TALUS_ERROR), calls = 0;
    assert_true(talus_find(world, NULL) == TALUS_NONE), calls++;
    assert_true(talus_find_below(world, TALUS_ROOT, NULL) == TALUS_NONE), calls++;
    assert_false(talus_get_bool(world, bot, NULL, &flag)), calls++;
    assert_null(talus_get_string(world, bot, NULL)), calls++;
    assert_int_equal(talus_get_numbers(world, bot, NULL, NULL, 0), -1), calls++;
    assert_false(talus_set_bool(world, bot, NULL, true)), calls++;
    assert_false(talus_set_string(world, bot, "name", NULL)), calls++;
    assert_false(talus_set_numbers(world, bot, "translation", NULL, 3)), calls++;
    assert_true(talus_insert(world, TALUS_ROOT, NULL, -1, "Solid { }") == TALUS_NONE), calls++;
    assert_true(talus_insert(world, TALUS_ROOT, "children", -1, NULL) == TALUS_NONE), calls++;
    assert_true(talus_device(world, TALUS_NONE, NULL) == TALUS_NONE), calls++;
    assert_false(talus_snapshot_restore(world, NULL)), calls++;
    assert_false(talus_snapshot_write(world, NULL)), calls++;
    assert_false(talus_snapshot_read(world, NULL)), calls++;
    assert_false(talus_save(world, NULL)), calls++;
    talus_snapshot_take(world, NULL), calls++;
    assert_false(talus_plugin_send(world, NULL, 4)), calls++;
    assert_int_equal(talus_diagnostic_total(world, TALUS_ERROR) - before, calls);
    assert_false(talus_step(world, -1));
    assert_true(talus_step(world, 0) && talus_steps(world) == 0);
    talus_free(world);
}

// Results that nobody wants.
static void without_places_for_results(void **state)
{
    (void)state;
    TalusWorld *world = load();
    TalusNode bot = talus_find(world, "BOT"), hinge = talus_find(world, "HINGE"), eye = talus_device(world, bot, "eye");
    assert_true(talus_device_enable(world, eye, 32) && talus_step(world, 20));
    assert_true(talus_get_bool(world, bot, "selfCollision", NULL) && talus_get_vector(world, bot, "translation", NULL));
    assert_true(talus_get_double(world, bot, "cpuConsumption", NULL)
                && talus_get_numbers(world, bot, "rotation", NULL, 4) == 4);
    assert_true(talus_solids(world, NULL, 100) > 2 && talus_pose(world, bot, NULL)
                && talus_velocity(world, bot, NULL, NULL) && talus_mass(world, bot, NULL, NULL));
    assert_true(talus_joint_position(world, hinge, 0, NULL) && talus_joint_velocity(world, hinge, 0, NULL)
                && talus_motor_feedback(world, hinge, 0, NULL));
    assert_true(talus_connector_presence(world, talus_find(world, "HOOK"), NULL));
    assert_int_equal(talus_device_read(world, eye, NULL, 8), 1);
    assert_true(talus_contacts(world, NULL, 10) > 0);
    talus_contact_forces(world, NULL, 10);
    assert_true(talus_step(world, 1) && talus_contact_forces(world, NULL, 10) > 0);
    assert_null(talus_plugin_receive(world, 0, NULL));
    assert_false(talus_diagnostic_at(world, 10000, NULL));
    talus_free(world);
}

// The strings of the options are gone when the world is built anew for a reset.
static void options_are_copied(void **state)
{
    (void)state;
    char *stepper = strdup("ode-exact"), *folder = strdup("/nowhere");
    const char **paths = calloc(2, sizeof *paths);
    paths[0] = folder;
    TalusOptions options = { .stepper = stepper, .search_paths = paths };
    TalusWorld *world = talus_load_text("null.wbt", text, strlen(text), &options);
    assert_non_null(world);
    memset(stepper, 'x', strlen(stepper));
    memset(folder, 'x', strlen(folder));
    free(stepper);
    free(folder);
    free(paths);
    uint64_t hash = talus_hash(world);
    assert_true(talus_insert(world, TALUS_ROOT, "children", -1, "Solid { name \"more\" }") != TALUS_NONE);
    assert_true(talus_step(world, 5) && talus_reset(world));
    assert_true(talus_hash(world) == hash && talus_step(world, 5));
    talus_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_world),
        cmocka_unit_test(without_what_is_needed),
        cmocka_unit_test(without_places_for_results),
        cmocka_unit_test(options_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
