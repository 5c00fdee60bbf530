// The traps of Choreonoid's bodies that show in motion, through the library's public interface. Where every trap is
// tested:
//
//   1  mass absent: 1 kg, identity       formats/body_test mass_without_data_is_one_kilogram
//   2  joint_type absent: fixed          formats/body_test joint_type_absent_means_fixed
//   3  keys of extra joints              formats/body_test extra_joints_take_all_spellings
//   4  IMU and Imu                       formats/body_test both_names_of_the_imu_are_known
//   5  max_joint_velocity wins           formats/body_test one_velocity_limit_wins
//   6  units of displacements            formats/body_test displacements_follow_units
//   7  begin_cap                         formats/body_test caps_and_transparency
//   8  transparency                      formats/body_test caps_and_transparency
//   9  yaw_range is total, step 1 rad    formats/body_test range_sensors_sweep_in_total
//  10  Camera without format             formats/body_test cameras_need_a_format
//  11  ranges and efforts                here: limits_hold
//  12  unknown nodes and keys            formats/body_test unknown_nodes_and_keys_are_said
//  13  duplicate anchors, shared aliases formats/yaml_test, here: anchors_may_come_twice
//  14  tabs, blanks before colons        here: tabs_and_blanks_are_read
//  15  free links below the root         formats/body_test free_links_below_the_root
//  16  true primitives                   here: a_ball_is_round
//  17  position control, acceleration,   here: joints_follow_positions, angles_do_not_wrap;
//      rotor inertia, angles             sim/body_device_test gyros_ride_a_turntable;
//                                        sim/body_formula_test rotor_slows_a_pendulum
//  18  force sensors under position and  here: sensors_read_in_every_mode
//      velocity control
//  19  runs repeat bit for bit           here: runs_repeat
#include "talus/talus.h"

#include "base/text.h"
#include "support/support.h"

#include <math.h>

#define HEADER "format: ChoreonoidBody\nformat_version: 2.0\nname: B\n"
#define INERTIA "inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ]"
#define FLOOR                                                                                                          \
    "  - { name: FLOOR, parent: R, material: Ground, elements: { Shape: { translation: [ 0, 0, -0.5 ], geometry: { type: Box, size: [ 40, 40, 1 ] } } } }\n"
static const double g = 9.80665;

static TalusWorld *open_body(const char *text)
{
    TalusWorld *world = talus_load_text("test.body", text, strlen(text), NULL);
    CHECK(world != NULL && talus_diagnostic_total(world, TALUS_ERROR) == 0, text);
    return world;
}

static double position(TalusWorld *world, const char *link)
{
    double value = NAN;
    CHECK(talus_joint_position(world, talus_find(world, link), 0, &value), link);
    return value;
}

// A joint stops at its range, and its effort ends at max_joint_effort.
static void limits_hold(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n"
        "  - { name: P, parent: R, joint_type: revolute, joint_axis: Z, joint_range: [ -20, 30 ], mass: 1, " INERTIA
        " }\n"
        "  - { name: E, parent: R, joint_type: revolute, joint_axis: Z, max_joint_effort: 0.5, actuation_mode: joint_effort, mass: 1, " INERTIA
        " }\n");
    CHECK(talus_motor_set_force(world, talus_find(world, "P"), 0, 1.0)
              && talus_motor_set_force(world, talus_find(world, "E"), 0, 50.0),
          "torques");
    CHECK(talus_step(world, 1000), "step");
    CHECK_NEAR(position(world, "P"), 30.0 * 3.14159265358979323846 / 180.0, 2e-3, "range");
    double speed;
    CHECK(talus_joint_velocity(world, talus_find(world, "E"), 0, &speed), "speed");
    CHECK_NEAR(speed, 0.5 / 0.1, 1e-3, "0.5 N m on 0.1 kg m^2 for a second");
    talus_free(world);
}

static void anchors_may_come_twice(void **state)
{
    (void)state;
    TalusWorld *world = open_body(HEADER "A: &M 1\nB: &M 3\nlinks:\n  - { name: R, joint_type: free, mass: *M, " INERTIA
                                         " }\n");
    double mass;
    TalusVector center;
    CHECK(talus_mass(world, talus_find(world, "B"), &mass, &center) && mass == 3.0, "the last one counts");
    CHECK(talus_diagnostic_total(world, TALUS_WARNING) > 0, "said");
    talus_free(world);
}

static void tabs_and_blanks_are_read(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        "format: ChoreonoidBody\nformat_version : 2.0\nname : B\nlinks :\n  -\n    name : R\n    joint_type : free\n    mass : 2\n"
        "    translation : [ 1,\t2,\n\t3 ]\n    inertia: [ 1,\t0, 0,\n\t\t0, 1, 0, 0, 0, 1 ]\n");
    TalusPose pose;
    CHECK(talus_pose(world, talus_find(world, "B"), &pose) && pose.position.y == 2.0 && pose.position.z == 3.0, "read");
    talus_free(world);
}

// Choreonoid's ball of 20 by 20 triangles rolls away from where it was dropped; a sphere stays.
static void a_ball_is_round(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n" FLOOR
        "  - { name: BALL, material: Ball, parent: R, joint_type: free, translation: [ 0, 0, 1 ], mass: 1, " INERTIA
        ", elements: { Shape: { geometry: { type: Sphere, radius: 0.1 } } } }\n");
    CHECK(talus_step(world, 5000), "step");
    TalusPose pose;
    CHECK(talus_pose(world, talus_find(world, "BALL"), &pose), "ball");
    CHECK_NEAR(hypot(pose.position.x, pose.position.y), 0.0, 1e-9, "in place");
    talus_free(world);
}

static void joints_follow_positions(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n"
        "  - { name: P, parent: R, joint_type: revolute, joint_axis: Y, joint_displacement: 10, actuation_mode: joint_displacement, mass: 3, center_of_mass: [ 0.5, 0, 0 ], " INERTIA
        " }\n");
    CHECK(talus_step(world, 200), "step");
    CHECK_NEAR(position(world, "P"), 10.0 * 3.14159265358979323846 / 180.0, 1e-6, "holds its start against gravity");
    CHECK(talus_motor_set_position(world, talus_find(world, "P"), 0, -0.4) && talus_step(world, 300), "command");
    CHECK_NEAR(position(world, "P"), -0.4, 1e-6, "follows");
    talus_free(world);
}

static void angles_do_not_wrap(void **state)
{
    (void)state;
    TalusWorld *world = open_body(
        HEADER
        "links:\n  - { name: R }\n  - { name: P, parent: R, joint_type: revolute, joint_axis: Z, actuation_mode: joint_velocity, mass: 3, " INERTIA
        " }\n");
    CHECK(talus_motor_set_velocity(world, talus_find(world, "P"), 0, 10.0) && talus_step(world, 2000), "step");
    CHECK_NEAR(position(world, "P"), 20.0, 0.02, "three turns and more");
    talus_free(world);
}

// A link of 4 kg that hangs on its joint: -4 g in the sensor, whatever drives the joint; at rest +g in the
// accelerometer, and what a driven joint adds to it.
static void sensors_read_in_every_mode(void **state)
{
    (void)state;
    static const char *const modes[] = { "joint_effort", "joint_displacement", "joint_velocity" };
    for (int i = 0; i < COUNT_OF(modes); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            HEADER
            "links:\n  - { name: R }\n  - { name: P, parent: R, joint_type: prismatic, joint_axis: Z, actuation_mode: %s, joint_range: [ 0, 1 ], mass: 4, " INERTIA
            ","
            " elements: [ { type: ForceSensor, name: F }, { type: AccelerationSensor, name: A } ] }\n",
            modes[i]);
        TalusWorld *world = open_body(text.data);
        double force[6], acceleration[3], start[3];
        TalusNode f = talus_device(world, TALUS_NONE, "F"), a = talus_device(world, TALUS_NONE, "A");
        CHECK(talus_device_enable(world, f, 1) && talus_device_enable(world, a, 1) && talus_step(world, 500), "step");
        CHECK(talus_device_read(world, f, force, 6) == 6 && talus_device_read(world, a, acceleration, 3) == 3,
              "readings");
        CHECK_NEAR(force[2], -4.0 * g, 1e-2, modes[i]);
        CHECK_NEAR(acceleration[2], g, 1e-3, modes[i]);
        if (i == 2) {
            CHECK(talus_motor_set_velocity(world, talus_find(world, "P"), 0, 0.001) && talus_step(world, 1)
                      && talus_device_read(world, a, start, 3) == 3,
                  "start");
            CHECK_NEAR(start[2], g + 1.0, 1e-3, "1 mm/s in 1 ms");
            CHECK(talus_device_read(world, f, force, 6) == 6, "reading");
            CHECK_NEAR(force[2], -4.0 * (g + 1.0), 1e-2, "and what it takes");
        }
        talus_free(world);
        text_free(&text);
    }
}

static void runs_repeat(void **state)
{
    (void)state;
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        TalusWorld *world = open_body(
            HEADER
            "links:\n  - { name: R }\n" FLOOR
            "  - { name: X, parent: R, joint_type: free, translation: [ 0, 0, 0.6 ], rotation: [ 1, 1, 0, 20 ], mass: 1, " INERTIA
            ", elements: &E { Shape: { geometry: { type: Box, size: [ 0.4, 0.3, 0.2 ] } } } }\n"
            "  - { name: Y, parent: R, joint_type: free, translation: [ 0.1, 0, 1.0 ], rotation: [ 1, 0, 1, 40 ], mass: 1, " INERTIA
            ", elements: *E }\n"
            "  - { name: Z, parent: Y, joint_type: revolute, joint_axis: X, translation: [ 0, 0, 0.3 ], mass: 1, " INERTIA
            ", elements: *E }\n");
        CHECK(talus_step(world, 3000), "step");
        hashes[i] = talus_hash(world);
        talus_free(world);
    }
    CHECK(hashes[0] == hashes[1], "the same bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(anchors_may_come_twice),
        cmocka_unit_test(tabs_and_blanks_are_read),
        cmocka_unit_test(a_ball_is_round),
        cmocka_unit_test(joints_follow_positions),
        cmocka_unit_test(angles_do_not_wrap),
        cmocka_unit_test(sensors_read_in_every_mode),
        cmocka_unit_test(runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
