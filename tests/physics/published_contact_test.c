// Published numbers of contacts, tracks, grippers and shapes that change at run time.
#include "physics/published.h"

#define FLOOR_NUE "Solid { name \"floor\" rotation 1 0 0 -1.5707963267948966 boundingObject Plane { } } "
#define UPRIGHT "rotation 1 0 0 -1.5707963267948966 "

// ---- center_of_mass_and_contact_points ----

#define LEG(x, z) "Pose { translation " x " -0.05 " z " " UPRIGHT "children Cylinder { height 0.05 radius 0.015 } } "

static int points_of(const Scenery *s, const char *def)
{
    TalusContact contacts[64];
    int count = talus_contacts(s->world, contacts, 64), mine = 0;
    TalusNode node = scenery_node(s, def);
    for (int i = 0; i < count; i++)
        mine += contacts[i].solid[0] == node || contacts[i].solid[1] == node;
    return mine;
}

// A box on four cylinders, a fifth one merged into it: four points each.
static void legs_stand_on_four_points_each(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF TABLE Robot { controller \"<none>\" translation 0 0.074888 0 physics Physics { centerOfMass [ 0 -0.00619306 0 ] } boundingObject Group { children [ " LEG(
            "0.025", "0.025") LEG("-0.025", "0.025") LEG("-0.025", "-0.025")
            LEG("0.025", "-0.025") " Box { size 0.1 0.1 0.1 } ] } "
                                   "children DEF FIFTH Solid { name \"fifth\" physics Physics { } boundingObject " LEG(
                                       "0", "0") "} }");
    scenery_step(&s, 1);
    double masses[2];
    TalusVector centers[2];
    assert_true(talus_mass(s.world, scenery_node(&s, "TABLE"), &masses[0], &centers[0]));
    assert_true(talus_mass(s.world, scenery_node(&s, "FIFTH"), &masses[1], &centers[1]));
    double total = masses[0] + masses[1];
    PUBLISHED(&s, "center_of_mass_and_contact_points, y", (masses[0] * centers[0].y + masses[1] * centers[1].y) / total,
              0.067383, 1e-5);
    PUBLISHED(&s, "center_of_mass_and_contact_points, x", (masses[0] * centers[0].x + masses[1] * centers[1].x) / total,
              0.0, 1e-5);
    PUBLISHED(&s, "contact points", points_of(&s, "TABLE"), 16, 0);
    PUBLISHED(&s, "contact points with descendants", points_of(&s, "TABLE") + points_of(&s, "FIFTH"), 20, 0);
    scenery_close(&s);
}

// ---- asymmetric_friction ----

#define SLIDING(def, pose)                                                                                             \
    "DEF " def " Solid { name \"" def "\" " pose " boundingObject Box { size 0.3 0.3 0.3 } physics Physics { } } "

// Boxes on a slanted plane with friction that differs by direction.
static void friction_has_directions(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { coordinateSystem \"NUE\" contactProperties [ ContactProperties { coulombFriction [ 0.01, 0.23 ] frictionRotation 0.1 0 } ] } " SLIDING(
            "BOX1",
            "translation 0.121931 -0.9 1.17269 rotation -0.8570712869942254 0.38584912920333886 0.3413931143170397 1.86553")
            SLIDING(
                "BOX2",
                "translation -0.8 -0.9 0.7 rotation -0.27484395543776663 0.7249438824601457 0.6315988975947736 2.68309") "Solid { name \"ramp\" translation 0 -1.16 0 rotation -0.7931261333066688 0.45791307696489164 0.40158006749657943 1.92612 boundingObject Plane { size 4 4 } }");
    scenery_step(&s, 80);
    TalusVector a = scenery_position(&s, "BOX1"), b = scenery_position(&s, "BOX2");
    PUBLISHED(&s, "asymmetric_friction, box 1 x", a.x, 1.353466, 0.001);
    PUBLISHED(&s, "asymmetric_friction, box 1 y", a.y, -1.088782, 0.001);
    PUBLISHED(&s, "asymmetric_friction, box 1 z", a.z, -0.527743, 0.001);
    PUBLISHED(&s, "asymmetric_friction, box 2 x", b.x, -0.798742, 0.001);
    PUBLISHED(&s, "asymmetric_friction, box 2 y", b.y, -0.927224, 0.001);
    PUBLISHED(&s, "asymmetric_friction, box 2 z", b.z, 0.699450, 0.001);
    scenery_close(&s);
}

// ---- track ----

// A box on one track, pushed by the motor's force, then braked.
static void a_track_is_pushed_and_braked(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 8 coordinateSystem \"NUE\" contactProperties [ ContactProperties { material1 \"belt\" coulombFriction [ 1000 ] } ] } " FLOOR_NUE
        "DEF ROBOT Robot { controller \"<none>\" translation 0 0.07 0.5 boundingObject Box { size 0.2 0.04 0.1 } physics Physics { density -1 mass 5 } "
        "  children Track { translation 0 -0.045 0 rotation 1 0 0 -1.5707953071795862 contactMaterial \"belt\" boundingObject Box { size 0.3 0.1 0.05 } physics Physics { } "
        "    device [ Brake { } DEF MOTOR LinearMotor { maxForce 20 } ] } }");
    scenery_step(&s, 4 * 4);
    talus_motor_set_force(s.world, scenery_node(&s, "MOTOR"), 0, 20);
    static const struct {
        double damping, place;
    } phases[] = { { 0, 0.031310 }, { 0, 0.062818 }, { 500, 0.082369 } };
    for (int i = 0; i < COUNT_OF(phases); i++) {
        talus_brake_set_damping(s.world, scenery_node(&s, "MOTOR"), 0, phases[i].damping);
        scenery_step(&s, 40 * 4);
        PUBLISHED(&s, "track, pushed, x", scenery_position(&s, "ROBOT").x, phases[i].place, 1e-5);
    }
    scenery_close(&s);
}

#define BELT(def, z)                                                                                                   \
    "DEF " def " Track { name \"" def "\" translation 0 0 " z                                                          \
    " rotation 1 0 0 -1.5707953071795862 contactMaterial \"belt\" physics Physics { density 500 } "                    \
    "  boundingObject Box { size 0.4 0.03 0.11 } device DEF " def "_MOTOR LinearMotor { name \"" def " motor\" } } "

// Two tracks under position control go as far as published; under velocity control they turn the robot on the spot.
static void tracks_drive_a_robot(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 8 coordinateSystem \"NUE\" contactProperties [ ContactProperties { material1 \"belt\" coulombFriction [ 1000 ] } ] } " FLOOR_NUE
        "DEF ROBOT Robot { controller \"<none>\" translation 0 0.0555 0 boundingObject Box { size 0.2 0.08 0.1 } physics Physics { density -1 mass 10 } children [ " BELT(
            "LEFT", "-0.07") BELT("RIGHT", "0.07") "] }");
    static const char *const motors[] = { "LEFT_MOTOR", "RIGHT_MOTOR" };
    scenery_step(&s, 4);
    for (int i = 1; i <= 20; i++) {
        for (int k = 0; k < 2; k++)
            talus_motor_set_position(s.world, scenery_node(&s, motors[k]), 0, 0.01 * i);
        scenery_step(&s, 4);
    }
    double gone[2];
    for (int k = 0; k < 2; k++)
        PUBLISHED(&s, "track, sensor", gone[k] = scenery_joint(&s, motors[k], 0), 0.174772, 1e-5);
    PUBLISHED(&s, "track, driven, x", scenery_position(&s, "ROBOT").x, 0.172570, 1e-4);
    CHECK_NEAR(scenery_position(&s, "ROBOT").z, 0.0, 1e-4, "straight");
    for (int k = 0; k < 2; k++) {
        talus_motor_set_position(s.world, scenery_node(&s, motors[k]), 0, INFINITY);
        talus_motor_set_velocity(s.world, scenery_node(&s, motors[k]), 0, k ? -0.2 : 0.2);
    }
    scenery_step(&s, 400);
    PUBLISHED(&s, "track, left", scenery_joint(&s, "LEFT_MOTOR", 0), gone[0] + 0.64, 1e-5);
    PUBLISHED(&s, "track, right", scenery_joint(&s, "RIGHT_MOTOR", 0), gone[1] - 0.64, 1e-5);
    TalusQuaternion q = scenery_pose(&s, "ROBOT").orientation;
    double angle = 2 * atan2(q.y, q.w);
    CHECK(angle < -0.5 && fabs(q.x) < 0.02 && fabs(q.z) < 0.02, "turned on the spot, to the right");
    scenery_close(&s);
}

// ---- vacuum_gripper ----

static void a_gripper_lifts_only_when_on(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 } Solid { name \"floor\" boundingObject Plane { } } "
        "Robot { controller \"<none>\" translation 0 0 0.5 children SliderJoint { jointParameters JointParameters { axis 0 0 1 } device DEF LIFT LinearMotor { maxVelocity 0.1 } "
        "  endPoint Solid { name \"arm\" translation 0 0 -0.2 boundingObject Box { size 0.05 0.05 0.1 } physics Physics { } "
        "    children DEF CUP VacuumGripper { translation 0 0 -0.1 rotation 0 1 0 1.5707963267948966 boundingObject Box { size 0.1 0.05 0.05 } physics Physics { } } } } } "
        "DEF LOAD Solid { name \"load\" translation 0 0 0.075 boundingObject Box { size 0.15 0.15 0.15 } physics Physics { density -1 mass 0.5 } }");
    TalusNode lift = scenery_node(&s, "LIFT"), cup = scenery_node(&s, "CUP");
    scenery_step(&s, 20);
    double start = scenery_position(&s, "LOAD").z;
    talus_motor_set_position(s.world, lift, 0, 0.1);
    scenery_step(&s, 50);
    PUBLISHED(&s, "vacuum_gripper, off", scenery_position(&s, "LOAD").z - start, 0.0, 0.002);
    talus_motor_set_position(s.world, lift, 0, -0.002);
    scenery_step(&s, 60);
    assert_true(talus_gripper_set_on(s.world, cup, true));
    scenery_step(&s, 1);
    CHECK(talus_gripper_held(s.world, cup) == scenery_node(&s, "LOAD"), "held after one step");
    double held = scenery_position(&s, "LOAD").z;
    talus_motor_set_position(s.world, lift, 0, 0.098);
    scenery_step(&s, 50);
    PUBLISHED(&s, "vacuum_gripper, lifted", scenery_position(&s, "LOAD").z - held, 0.1, 0.002);
    assert_true(talus_gripper_set_on(s.world, cup, false));
    scenery_step(&s, 1);
    CHECK(talus_gripper_held(s.world, cup) == TALUS_NONE, "let go");
    scenery_step(&s, 30);
    PUBLISHED(&s, "vacuum_gripper, down again", scenery_position(&s, "LOAD").z - start, 0.0, 0.002);
    CHECK(!talus_gripper_set_on(s.world, lift, true) && talus_gripper_held(s.world, lift) == TALUS_NONE,
          "a motor is no gripper");
    scenery_close(&s);
}

// ---- touch sensors ----

// touch_sensor_bumper: nothing after five steps of fall, touching 20 steps later.
static void a_bumper_feels_the_floor(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 16 } Solid { name \"floor\" boundingObject Plane { } } "
        "Robot { controller \"<none>\" translation 0 0 0.25 physics Physics { density -1 mass 1 } boundingObject Box { size 0.1 0.1 0.1 } "
        "  children DEF BUMPER TouchSensor { type \"bumper\" translation 0 0 -0.06 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.1 } } }");
    scenery_step(&s, 5);
    CHECK(!talus_is_colliding(s.world, scenery_node(&s, "BUMPER")), "in flight");
    scenery_step(&s, 20);
    CHECK(talus_is_colliding(s.world, scenery_node(&s, "BUMPER")), "landed");
    scenery_close(&s);
}

// ---- shapes that change ----

#define FALLING(def, place)                                                                                            \
    "DEF " def " Solid { name \"" def "\" translation " place                                                          \
    " boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } } "

// runtime_geom_update: five static shapes grow below five falling boxes, which then do not pass them.
static void grown_shapes_catch_what_falls(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 8 coordinateSystem \"NUE\" } "
        "Solid { name \"s1\" boundingObject DEF BOX Box { size 0.1 0.1 0.1 } } " FALLING(
            "F1",
            "-0.45 0.2 0") "Solid { name \"s2\" translation 0 0 5 " UPRIGHT
                           "boundingObject DEF CYLINDER Cylinder { height 0.1 radius 0.05 } } " FALLING("F2", "-0.45 0.2 5") "Solid { name \"s3\" translation 5 0 0 boundingObject DEF SPHERE Sphere { radius 0.05 } } " FALLING(
                               "F3",
                               "5 0.55 0.01") "Solid { name \"s4\" translation 5.5 0 4.95 rotation 0 1 0 1.5707963267948966 boundingObject DEF CAPSULE Capsule { height 0.2 radius 0.05 } } "
                                              "Solid { name \"s4b\" translation 5.5 0 5.05 rotation 0 1 0 1.5707963267948966 boundingObject USE CAPSULE } " FALLING(
                                                  "F4",
                                                  "5 0.2 5") "Solid { name \"s5\" translation 0 0 10 rotation 0 0 1 3.1415 boundingObject IndexedFaceSet { coord DEF CORNERS Coordinate { point [ "
                                                             "  -0.0866 -0.05 -0.0866 -0.0866 -0.05 0.0866 0.0866 -0.05 0 0 0.1 0 ] } coordIndex [ 0 1 3 -1 1 2 3 -1 2 0 3 -1 1 0 2 -1 ] } } " FALLING(
                                                                 "F5", "-0.45 0.2 10"));
    scenery_step(&s, 2);
    assert_true(talus_set_vector(s.world, scenery_node(&s, "BOX"), "size", (TalusVector){ 1, 0.1, 0.1 }));
    assert_true(talus_set_double(s.world, scenery_node(&s, "CYLINDER"), "radius", 0.5));
    assert_true(talus_set_double(s.world, scenery_node(&s, "SPHERE"), "radius", 0.35));
    assert_true(talus_set_double(s.world, scenery_node(&s, "CAPSULE"), "height", 1.5));
    static const double corners[] = { -0.0866, -0.05, -0.0866, -0.0866, -0.05, 0.0866, 1, -0.05, 0, 0, 0.1, 0 };
    assert_true(talus_set_numbers(s.world, scenery_node(&s, "CORNERS"), "point", corners, COUNT_OF(corners)));
    scenery_step(&s, 122);
    static const char *const falling[] = { "F1", "F2", "F3", "F4", "F5" };
    for (int i = 0; i < COUNT_OF(falling); i++)
        CHECK(scenery_position(&s, falling[i]).y > -0.5, falling[i]);
    scenery_close(&s);
}

// contact_points: a cone of many triangles on a slanted box keeps its side up: more than ten points are found and the
// deepest kept.
static void a_cone_stays_on_its_ramp(void **state)
{
    char text[16384];
    int length = snprintf(
        text, sizeof text,
        "WorldInfo { basicTimeStep 2 physicsDisableLinearThreshold 0 physicsDisableAngularThreshold 0 contactProperties [ ContactProperties { material1 \"cone\" material2 \"ramp\" "
        "  coulombFriction [ 0.2 ] bounce 0 softERP 0.0138 softCFM 1e-05 } ] } "
        "Solid { name \"ramp\" contactMaterial \"ramp\" boundingObject Pose { translation -5.92 -4.45461 0.883074 rotation -1 0 0 0.611 children Box { size 0.597 0.819 0.1 } } } "
        "DEF CONE Solid { name \"cone\" contactMaterial \"cone\" translation -5.95194 -4.39265 1.06023 rotation 1 0 0 -2.4870996938995744 "
        "  physics Physics { density -1 mass 0.653 centerOfMass [ 0 0 0.096 ] inertiaMatrix [ 0.00736 0.00736 0.003744 0 0 0 ] } "
        "  boundingObject IndexedFaceSet { coord Coordinate { point [ 0 0 0 0 0 0.32 ");
    enum { SIDES = 48 };
    for (int i = 0; i < SIDES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%.6f %.6f 0 ",
                           0.14 * cos(2 * M_PI * i / SIDES), 0.14 * sin(2 * M_PI * i / SIDES));
    length += snprintf(text + length, sizeof text - (size_t)length, "] } coordIndex [ ");
    for (int i = 0; i < SIDES; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "0 %d %d -1 1 %d %d -1 ", 2 + (i + 1) % SIDES,
                           2 + i, 2 + i, 2 + (i + 1) % SIDES);
    snprintf(text + length, sizeof text - (size_t)length, "] } }");
    Scenery s = scenery_open(state, "R2025a", text);
    scenery_step(&s, 46);
    TalusPose pose = scenery_pose(&s, "CONE");
    double angle = 2 * acos(fmin(1.0, fabs(pose.orientation.w)));
    print_message("contact_points, %s: published angle > 2.44, here %.4f; height > 1.018, here %.4f\n", s.stepper,
                  angle, pose.position.z);
    CHECK(angle > 2.44 && pose.position.z > 1.018, "contact_points");
    scenery_close(&s);
}

// elevation_grid_rotation: bodies at rest on a grid of heights that is turned about all axes stay.
static void turned_grids_hold_bodies(void **state)
{
    char text[8192];
    int length = snprintf(text, sizeof text, "WorldInfo { basicTimeStep 64 } ");
    static const char *const shapes[] = { "Box { size 0.4 0.4 0.4 }", "Box { size 0.6 0.3 0.4 }" };
    for (int grid = 0; grid < 8; grid++) {
        length += snprintf(
            text + length, sizeof text - (size_t)length,
            "Solid { name \"grid%d\" translation %d 0 0 rotation %g %g 1 %g boundingObject Pose { translation -2 -2 0 children ElevationGrid { xDimension 9 yDimension 9 xSpacing 0.5 ySpacing 0.5 height [ ",
            grid, 10 * grid, 0.05 * (grid % 3), 0.04 * (grid % 2), 0.8 * grid);
        for (int i = 0; i < 81; i++)
            length += snprintf(text + length, sizeof text - (size_t)length, "%g ",
                               i % 9 == 0 || i % 9 == 8 || i / 9 == 0 || i / 9 == 8 ? 0.3 : 0.0);
        length += snprintf(
            text + length, sizeof text - (size_t)length,
            "] } } } DEF B%d Solid { name \"b%d\" translation %d 0 0.25 boundingObject %s physics Physics { } } ", grid,
            grid, 10 * grid, shapes[grid % 2]);
    }
    Scenery s = scenery_open(state, "R2025a", text);
    scenery_step(&s, 40);
    double before[8];
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "B%d", i);
        before[i] = scenery_position(&s, name).z;
        CHECK(before[i] > 0.1, "on the grid");
    }
    scenery_step(&s, 100);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "B%d", i);
        CHECK_NEAR(scenery_position(&s, name).z, before[i], 0.01, "elevation_grid_rotation");
    }
    scenery_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_STEPPER(legs_stand_on_four_points_each), EACH_STEPPER(friction_has_directions),
        EACH_STEPPER(a_track_is_pushed_and_braked),   EACH_STEPPER(tracks_drive_a_robot),
        EACH_STEPPER(a_gripper_lifts_only_when_on),   EACH_STEPPER(a_bumper_feels_the_floor),
        EACH_STEPPER(grown_shapes_catch_what_falls),  EACH_STEPPER(a_cone_stays_on_its_ramp),
        EACH_STEPPER(turned_grids_hold_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
