// Published numbers of joints, motors, brakes, springs and connectors.
#include "physics/published.h"

#define FLOOR_NUE "Solid { name \"floor\" rotation 1 0 0 -1.5707963267948966 boundingObject Plane { } } "

// ---- hinge_2_joint_damping ----

#define WHEEL(number, x)                                                                                               \
    "Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor " x "6 0 0 } "                             \
    "  jointParameters2 DEF DAMPING" number " JointParameters { axis 1 0 0 } "                                         \
    "  device RotationalMotor { name \"steer" number "\" } device2 DEF WHEEL" number                                   \
    " RotationalMotor { name \"drive" number "\" } "                                                                   \
    "  endPoint Solid { name \"wheel" number "\" translation " x "55 0 0 physics Physics { } "                         \
    "    boundingObject Pose { rotation -0.57735 -0.57735 0.57735 2.0944 children Cylinder { height 0.005 radius 0.04 } } } } "

// Two wheels turn a robot on the spot; damping on the driven axis halves what the motors reach.
static void damped_wheels_turn_a_robot(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 16 coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF ROBOT Robot { controller \"<none>\" translation 0 0.04 0 boundingObject Box { size 0.1 0.05 0.05 } physics Physics { } children [ " WHEEL(
            "1", "0.0") WHEEL("2", "-0.0") "] }");
    static const char *const wheels[] = { "WHEEL1", "WHEEL2" }, *const parameters[] = { "DAMPING1", "DAMPING2" };
    static const struct {
        double damping, rate;
    } phases[] = { { 0, 0.696 }, { 20, 0.348 }, { 50, 0.139 } };
    for (int i = 0; i < 2; i++) {
        talus_motor_set_position(s.world, scenery_node(&s, wheels[i]), 0, INFINITY);
        talus_motor_set_velocity(s.world, scenery_node(&s, wheels[i]), 0, i ? 1.0 : -1.0);
    }
    for (int phase = 0; phase < COUNT_OF(phases); phase++) {
        for (int i = 0; i < 2; i++)
            assert_true(
                talus_set_double(s.world, scenery_node(&s, parameters[i]), "dampingConstant", phases[phase].damping));
        for (int step = 0; step < 10; step++) {
            scenery_step(&s, 4);
            TalusVector spin = scenery_spin(&s, "ROBOT");
            TalusVector up = scenery_turned(&s, "ROBOT", (TalusVector){ 0, 1, 0 });
            PUBLISHED(&s, "hinge_2_joint_damping, rate", spin.x * up.x + spin.y * up.y + spin.z * up.z,
                      phases[phase].rate, 0.01);
        }
    }
    scenery_close(&s);
}

// ---- hinge_2_joint_damping_axis ----

#define SHAFT(number, x, turner)                                                                                                               \
    "Solid { name \"base" number "\" translation " x                                                                                           \
    " 0 0 boundingObject Box { size 1 1 0.1 } physics Physics { } children "                                                                   \
    "  Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0 2 } jointParameters2 JointParameters { axis 1 0 0 } " turner \
    "    device2 [ Brake { name \"brake" number "\" } DEF DRIVE" number " RotationalMotor { name \"drive" number                               \
    "\" maxVelocity 6.28 maxTorque 137 } ] "                                                                                                   \
    "    endPoint DEF SHAFT" number " Solid { name \"shaft" number "\" translation 0 0 2 physics Physics { } "                                 \
    "      boundingObject Pose { rotation 0 1 0 1.5701 children Box { size 1 1 0.215 } } } } } "

// The brake on the second axis acts alike wherever the first axis stands.
static void brakes_do_not_care_for_the_first_axis(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { } Solid { name \"floor\" boundingObject Plane { } } DEF ROBOT Robot { controller \"<none>\" translation 0 0 0.06 children [ " SHAFT(
            "1", "-1", "")
            SHAFT("2", "1",
                  "device DEF TURN RotationalMotor { name \"turn\" maxPosition 1.5707 maxTorque 10000 }") "] }");
    TalusNode drives[] = { scenery_node(&s, "DRIVE1"), scenery_node(&s, "DRIVE2") };
    for (int i = 0; i < 2; i++) {
        talus_motor_set_position(s.world, drives[i], 1, INFINITY);
        talus_motor_set_velocity(s.world, drives[i], 1, 0.0);
        assert_true(talus_brake_set_damping(s.world, drives[i], 1, 28.0));
    }
    talus_motor_set_position(s.world, scenery_node(&s, "TURN"), 0, 1.57);
    scenery_step(&s, 33);
    CHECK_NEAR(scenery_joint(&s, "SHAFT2", 0), 1.57, 0.01, "turned");
    for (int phase = 0; phase < 2; phase++) {
        for (int i = 0; i < 2; i++) {
            talus_motor_set_velocity(s.world, drives[i], 1, phase ? 0.0 : 6.28);
            if (phase)
                talus_motor_set_available_force(s.world, drives[i], 1, 0.0);
        }
        double fastest = 0.0, slowest = 1e9;
        for (int step = 0; step < 32; step++) {
            scenery_step(&s, 1);
            TalusVector a = scenery_spin(&s, "SHAFT1"), b = scenery_spin(&s, "SHAFT2");
            double speeds[] = { sqrt(a.x * a.x + a.y * a.y + a.z * a.z), sqrt(b.x * b.x + b.y * b.y + b.z * b.z) };
            CHECK_NEAR(speeds[1], speeds[0], 0.001, "hinge_2_joint_damping_axis, speeds");
            fastest = fmax(fastest, speeds[0]);
            slowest = fmin(slowest, speeds[0]);
        }
        CHECK(phase ? slowest < 0.9 * fastest : fastest > 2.0, "they do turn, and slow down");
    }
    scenery_close(&s);
}

// ---- connectors ----

#define FRAME(def, body, facing, connector)                                                                              \
    "HingeJoint { jointParameters HingeJointParameters { position -1.57 anchor 0 0.06 0 } endPoint Solid { name \"" body \
    "\" "                                                                                                                \
    "  translation 0 0.06 0 rotation " facing " physics Physics { density -1 mass 0.05 } children DEF " def              \
    " Connector { "                                                                                                      \
    "    name \"" body " connector\" translation 0 0.055 0 model \"magnetic\" tensileStrength 1 " connector " } "        \
    "  boundingObject Group { children [ Pose { translation 0.049 0.025 0 children Box { size 0.008 0.05 0.015 } } "     \
    "    Pose { translation -0.049 0.025 0 children Box { size 0.008 0.05 0.015 } } "                                    \
    "    Pose { translation 0 0.05 0 children Box { size 0.12 0.01 0.04 } } ] } } } "
#define POT                                                                                                            \
    "boundingObject Pose { translation 0 0.0415 0 rotation 1 0 0 -1.5708 children Cylinder { height 0.08 radius 0.045 } } "

// A force that grows by 0.1 N a step pulls two connectors of 1 N each apart in the step in which it reaches 2.1 N.
static void connectors_part_when_pulled(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF ACTIVE Robot { controller \"<none>\" name \"a\" translation 0.10186764 0 0.004082181 rotation 0 1 0 -1.57 physics Physics { density -1 mass 0.05 } " POT
        "children " FRAME(
            "PULLER", "fa", "1 0 0 1.5707963",
            "type \"active\" autoLock TRUE rotation 0.70710678 0.70710678 0 -3.14159") "} "
                                                                                       "DEF PASSIVE Solid { name \"p\" translation -0.0081323259 0 0.0038990259 rotation 0 1 0 -1.57 physics Physics { density -1 mass 0.5 } " POT
                                                                                       "children " FRAME(
                                                                                           "HELD", "fp", "-1 0 0 1.57",
                                                                                           "type \"passive\" rotation 0 0 -1 -1.5708") "} ");
    TalusNode puller = scenery_node(&s, "PULLER");
    int presence = 0, parted = 0;
    double force = 0.0, distance = 0.0;
    for (int step = 1; step <= 30 && !parted; step++) {
        if (step >= 3)
            scenery_push(&s, "ACTIVE", (TalusVector){ 0, 0, -(force += 0.1) });
        scenery_step(&s, 1);
        assert_true(talus_connector_presence(s.world, puller, &presence));
        if (step == 1) {
            CHECK(presence == 1, "a peer is there at the start");
            distance = scenery_position(&s, "ACTIVE").x - scenery_position(&s, "PASSIVE").x;
            assert_true(talus_connector_set_locked(s.world, puller, true));
            assert_true(talus_connector_peer(s.world, puller) == scenery_node(&s, "HELD"));
        } else if (!presence) {
            parted = step;
        }
    }
    PUBLISHED(&s, "connector_detach, s", parted * 0.032, 0.736, 1e-9);
    CHECK(scenery_position(&s, "ACTIVE").x - scenery_position(&s, "PASSIVE").x > distance + 0.01,
          "then they are apart");
    scenery_close(&s);
}

// A falling ball is caught by a connector of the static world and drawn to it.
static void static_connectors_catch(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 8 coordinateSystem \"NUE\" } "
        "Robot { controller \"<none>\" name \"wall\" translation 0.1 0 0 rotation 0 1 0 -1.57 boundingObject Pose { translation 0 0.25 -0.25 children Box { size 0.5 0.5 0.1 } } "
        "  children Connector { isLocked TRUE autoLock TRUE distanceTolerance 0.1 axisTolerance 0.4 rotationTolerance 0.6 translation 0 0.2 -0.2 "
        "    rotation 0.57735093 0.57734994 0.57734994 -2.094395307179586 } } "
        "DEF SOLID Solid { name \"ball\" translation 0.247 0.2 0 boundingObject Sphere { radius 0.05 } physics Physics { } "
        "  children Connector { isLocked TRUE name \"c\" autoLock TRUE distanceTolerance 0.1 translation 0.05 0 0 rotation 1 0 0 -1.5708 } }");
    scenery_step(&s, 102 * 4);
    TalusVector at = scenery_position(&s, "SOLID");
    PUBLISHED(&s, "connector_static_autolock, x", at.x, 0.25, 0.005);
    PUBLISHED(&s, "connector_static_autolock, y", at.y, 0.2, 0.005);
    PUBLISHED(&s, "connector_static_autolock, z", at.z, 0.0, 0.005);
    scenery_close(&s);
}

// ---- ball joints ----

#define BALL_PARAMETERS                                                                                                \
    "jointParameters BallJointParameters { anchor 0 0.15 0 } jointParameters2 JointParameters { axis 1 0 1 } "         \
    "jointParameters3 JointParameters { axis 0 1 0 } "
#define TURNER(def, name) "DEF " def " RotationalMotor { name \"" name "\" maxVelocity 1 } "
#define TURNER2(def, name)                                                                                             \
    "DEF " def " RotationalMotor { name \"" name                                                                       \
    "\" maxVelocity 1 minPosition -1.5707963267948966 maxPosition 1.5707963267948966 } "
#define ROD(def)                                                                                                       \
    "children DEF " def                                                                                                \
    " Solid { name \"marker\" translation 0.03 0.07 0 } boundingObject Pose { rotation 1 0 0 -1.5708 children Cylinder { height 0.2 radius 0.02 } } "
#define BASE "boundingObject Pose { translation 0 0.05 0 children Box { size 0.1 0.1 0.1 } } "
#define BALL_ROBOT(def, place, mass)                                                                                   \
    "DEF " def " Robot { controller \"<none>\" name \"" def "\" translation " place " " BASE mass                      \
    " children BallJoint { " BALL_PARAMETERS "  device " TURNER(def "1", "m1") " device2 " TURNER2(                    \
        def "2", "m2") " device3 " TURNER(def "3", "m3") "  endPoint Solid { name \"rod\" translation 0 0.15 0 " mass  \
                                                         " " ROD(def "_MARKER") "} } } "
#define HINGE_ROBOT(def, place, mass)                                                                                  \
    "DEF " def " Robot { controller \"<none>\" name \"" def "\" translation " place " " BASE mass                      \
    " children HingeJoint { "                                                                                          \
    "  jointParameters HingeJointParameters { axis 1 0 1 anchor 0 0.15 0 } device " TURNER(                            \
        def "1",                                                                                                       \
        "m1") "  endPoint Solid { name \"first\" translation 0 0.15 0 boundingObject Sphere { radius 0.01 } " mass     \
              " children HingeJoint { "                                                                                \
              "    jointParameters HingeJointParameters { axis 1 0 -1 } device " TURNER(                               \
                  def "2", "m2") "    endPoint Solid { name \"second\" boundingObject Sphere { radius 0.01 } " mass    \
                                 " children HingeJoint { "                                                             \
                                 "      jointParameters HingeJointParameters { axis 0 1 0 } device " TURNER(           \
                                     def "3", "m3") "      endPoint Solid { name \"rod\" " mass                        \
                                                    " " ROD(def "_MARKER") "} } } } } } } "

static const char *const turners[] = { "BALL", "BALL_K", "HINGE", "HINGE_K" };
#define TURNER_COUNT 4

// One after the other the three axes of each robot go to their targets.
static void drive_turner(Scenery *s, const char *robot, int *stage)
{
    static const double targets[] = { 1.01, 0.6, -2.45 };
    char name[32];
    if (*stage >= 0 && *stage < 3) {
        snprintf(name, sizeof name, "%s%d", robot, *stage + 1);
        if (fabs(scenery_joint(s, name, *stage) - targets[*stage]) > 0.01)
            return;
    }
    if (++*stage < 3) {
        snprintf(name, sizeof name, "%s%d", robot, *stage + 1);
        talus_motor_set_position(s->world, scenery_node(s, name), 0, targets[*stage]);
    }
}

static TalusVector marker_offset(Scenery *s, const char *robot)
{
    char name[32];
    snprintf(name, sizeof name, "%s_MARKER", robot);
    TalusVector marker = scenery_position(s, name), base = scenery_position(s, robot);
    return (TalusVector){ marker.x - base.x, marker.y - base.y, marker.z - base.z };
}

// A ball joint with three motors moves its end point as three hinges do, with and without physics.
static void ball_joints_turn_as_three_hinges(void **state)
{
    Scenery s = scenery_open(state, "R2025a",
                             "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE BALL_ROBOT(
                                 "BALL", "0.15 0 0.15", "physics Physics { }") BALL_ROBOT("BALL_K", "0.15 0 -0.15", "")
                                 HINGE_ROBOT("HINGE", "-0.15 0 -0.15", "physics Physics { }")
                                     HINGE_ROBOT("HINGE_K", "-0.15 0 0.15", ""));
    int stages[TURNER_COUNT] = { -1, -1, -1, -1 };
    double worst = 0.0;
    for (int step = 0; step < 188; step++) {
        scenery_step(&s, 1);
        TalusVector reference = marker_offset(&s, turners[2]);
        for (int i = 0; i < TURNER_COUNT; i++) {
            TalusVector offset = marker_offset(&s, turners[i]);
            worst = fmax(worst, fmax(fabs(offset.x - reference.x),
                                     fmax(fabs(offset.y - reference.y), fabs(offset.z - reference.z))));
            drive_turner(&s, turners[i], &stages[i]);
        }
    }
    PUBLISHED(&s, "ball_joint_vs_hinge_joints, largest difference", worst, 0.0, 0.02);
    TalusVector last = scenery_position(&s, "BALL_MARKER");
    PUBLISHED(&s, "ball_joint_vs_hinge_joints, x", last.x, 0.129531, 0.001);
    PUBLISHED(&s, "ball_joint_vs_hinge_joints, y", last.y, 0.155783, 0.001);
    PUBLISHED(&s, "ball_joint_vs_hinge_joints, z", last.z, 0.223086, 0.001);
    scenery_close(&s);
}

// ball_joint_reset: the end point of a ball joint without physics is where it was, after a reset as before.
static void ball_joints_reset(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { coordinateSystem \"NUE\" } Robot { controller \"<none>\" children BallJoint { jointParameters BallJointParameters { position 1 } "
        "  jointParameters2 JointParameters { position 2 } jointParameters3 JointParameters { position 1 axis 1 0 0 } "
        "  endPoint DEF END Solid { rotation 0.06288823946284747 0.9406150471981956 -0.333599164150032 2.611508937346137 } } }");
    scenery_step(&s, 1);
    double before[7], after[7];
    assert_int_equal(talus_get_numbers(s.world, scenery_node(&s, "END"), "translation", before, 3), 3);
    TalusPose first = scenery_pose(&s, "END");
    scenery_step(&s, 2);
    assert_true(talus_reset(s.world));
    scenery_step(&s, 2);
    TalusPose again = scenery_pose(&s, "END");
    assert_int_equal(talus_get_numbers(s.world, scenery_node(&s, "END"), "translation", after, 3), 3);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(after[i], before[i], 1e-10, "translation");
    CHECK_NEAR(again.position.x, first.position.x, 1e-10, "x");
    CHECK_NEAR(again.position.y, first.position.y, 1e-10, "y");
    CHECK_NEAR(again.position.z, first.position.z, 1e-10, "z");
    CHECK_NEAR(again.orientation.w, first.orientation.w, 1e-10, "w");
    CHECK_NEAR(again.orientation.x, first.orientation.x, 1e-10, "qx");
    CHECK_NEAR(again.orientation.y, first.orientation.y, 1e-10, "qy");
    CHECK_NEAR(again.orientation.z, first.orientation.z, 1e-10, "qz");
    // The pose that the file gives belongs to the positions it gives: 2.6115 rad about the axis above.
    CHECK_NEAR(2 * acos(fabs(first.orientation.w)), 2.611508937346137, 1e-9, "as in the file");
    scenery_close(&s);
}

// ---- stops ----

#define BLOCK(def, place)                                                                                              \
    "endPoint DEF " def " Solid { name \"" def "\" " place                                                             \
    " boundingObject Box { size 0.4 0.2 0.3 } physics Physics { density 100 } } "

// Motors push three joints against their stops; the robot is moved; the stops still hold.
static void stops_hold_after_a_move(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF ROBOT Robot { controller \"<none>\" translation 0 1.05 0 boundingObject Pose { translation 0 -1 0 children Box { size 3 0.1 2 } } physics Physics { density 100 } children [ "
        "  HingeJoint { jointParameters HingeJointParameters { position 0.1 minStop -0.1 maxStop 0.4 } device RotationalMotor { name \"h\" } " BLOCK(
            "HINGE",
            "rotation 1 0 0 0.1") "} "
                                  "  Hinge2Joint { jointParameters HingeJointParameters { anchor -1 0 0 minStop -0.1 maxStop 0.4 } jointParameters2 JointParameters { minStop -0.1 maxStop 0.4 } "
                                  "    device RotationalMotor { name \"h1\" } device2 RotationalMotor { name \"h2\" } " BLOCK(
                                      "HINGE2",
                                      "translation -1 0 0") "} "
                                                            "  SliderJoint { jointParameters JointParameters { minStop -0.1 maxStop 0.4 } device LinearMotor { name \"s\" } " BLOCK(
                                                                "SLIDER", "translation 1.18 0 0") "} ] }");
    static const char *const joints[] = { "HINGE", "HINGE2", "SLIDER" };
    for (int i = 0; i < 3; i++) {
        talus_motor_set_position(s.world, scenery_node(&s, joints[i]), 0, INFINITY);
        talus_motor_set_velocity(s.world, scenery_node(&s, joints[i]), 0, i == 2 ? 2.0 : 1.0);
    }
    for (int round = 0; round < 2; round++) {
        scenery_step(&s, 60);
        for (int i = 0; i < 3; i++)
            PUBLISHED(&s, joints[i], scenery_joint(&s, joints[i], 0), 0.4, 0.01);
        TalusPose pose = scenery_pose(&s, "ROBOT");
        pose.position.z = -0.5;
        assert_true(talus_set_pose(s.world, scenery_node(&s, "ROBOT"), pose));
    }
    scenery_close(&s);
}

// joints_motor_min_max_position: a position outside the motor's range at load widens the range.
static void ranges_hold_the_first_position(void **state)
{
    static const struct {
        const char *joint, *parameters;
        int axes;
    } cases[] = {
        { "SliderJoint", "jointParameters JointParameters { position %g }", 1 },
        { "HingeJoint", "jointParameters HingeJointParameters { position %g }", 1 },
        { "Hinge2Joint",
          "jointParameters HingeJointParameters { position %g } jointParameters2 JointParameters { position %g }", 2 },
        { "BallJoint",
          "jointParameters BallJointParameters { position %g } jointParameters2 JointParameters { position %g } jointParameters3 JointParameters { position %g }",
          3 },
    };
    static const char *const devices[] = { "device", "device2", "device3" };
    for (int i = 0; i < COUNT_OF(cases); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            char text[2048], parameters[512];
            snprintf(parameters, sizeof parameters, cases[i].parameters, sign * 0.2, sign * 0.3, sign * 0.4);
            int length = snprintf(text, sizeof text, "WorldInfo { } Robot { controller \"<none>\" children %s { %s ",
                                  cases[i].joint, parameters);
            for (int axis = 0; axis < cases[i].axes; axis++)
                length += snprintf(text + length, sizeof text - (size_t)length,
                                   "%s DEF M%d %s { name \"m%d\" minPosition -0.1 maxPosition 0.1 } ", devices[axis],
                                   axis, i ? "RotationalMotor" : "LinearMotor", axis);
            snprintf(text + length, sizeof text - (size_t)length, "endPoint Solid { } } }");
            Scenery s = scenery_open(state, "R2025a", text);
            scenery_step(&s, 1);
            for (int axis = 0; axis < cases[i].axes; axis++) {
                char name[16];
                snprintf(name, sizeof name, "M%d", axis);
                double low, high, expected = sign * (0.2 + 0.1 * axis);
                assert_true(talus_get_double(s.world, scenery_node(&s, name), "minPosition", &low));
                assert_true(talus_get_double(s.world, scenery_node(&s, name), "maxPosition", &high));
                CHECK_NEAR(low, sign < 0 ? expected : -0.1, 1e-12, cases[i].joint);
                CHECK_NEAR(high, sign < 0 ? 0.1 : expected, 1e-12, cases[i].joint);
            }
            scenery_close(&s);
        }
}

// ---- springs ----

#define SPRUNG(number, place, box, mass, joint, end)                                                                   \
    "Solid { name \"parent" number "\" " place " boundingObject Box { size " box " } " mass " children " joint         \
    "  endPoint DEF END" number " Solid { name \"end" number "\" " end                                                 \
    " boundingObject Sphere { radius 0.05 } physics Physics { } } } } "
#define SPRUNG_SLIDER                                                                                                  \
    "SliderJoint { jointParameters JointParameters { axis 1 0 0 springConstant 5 dampingConstant 1.75 } "
#define SPRUNG_HINGE                                                                                                   \
    "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 springConstant 10 dampingConstant 0.5 } "
#define SPRUNG_BALL "BallJoint { jointParameters BallJointParameters { anchor 0 0.2 0 springConstant 2 } "
#define TILTED "translation 0 0.43 0 rotation -0.22788387792605758 -0.8906845228737892 0.393382789270797 4.92295"

// A spring does the same on a parent that is fixed and on one that rests on the floor, and brings the joint back.
static void springs_act_alike_on_any_parent(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { coordinateSystem \"NUE\" } " FLOOR_NUE SPRUNG("1", "translation 0 0.05 0 rotation 0 -1 0 4.18879",
                                                                   "0.2 0.1 0.7", "", SPRUNG_SLIDER,
                                                                   "translation 0.25 0.05 0 rotation 0 1 0 0.5236")
            SPRUNG("2", "translation 0 0.05 0.86 rotation 0 1 0 5.75959", "0.2 0.1 0.7",
                   "physics Physics { density 100 }", SPRUNG_SLIDER,
                   "translation 0.25 0.05 0 rotation 1 1.73445e-06 6.97981e-07 4.71239")
                SPRUNG(
                    "3", "translation -0.7 0.05 0 rotation 0 -1 0 4.97418", "0.2 0.1 0.2", "", SPRUNG_HINGE,
                    "translation 0.25 0.05 0 rotation -0.5773502691896258 0.5773502691896258 -0.5773502691896258 2.0944")
                    SPRUNG("4", "translation -0.687018 0.05 0.807395 rotation 0 1 0 3.927", "0.2 0.1 0.2",
                           "physics Physics { }", SPRUNG_HINGE,
                           "translation 0.25 0.05 0 rotation 0 -1 0 6.2831806143783")
                        SPRUNG("5", "translation -1.68 0.02 0 rotation 0 -1 0 5.75958", "0.2 0.1 0.7", "", SPRUNG_BALL,
                               TILTED) SPRUNG("6", "translation -1.68 0.05 0.9 rotation 0 1 0 5.23599", "0.2 0.1 0.7",
                                              "physics Physics { density 100 }", SPRUNG_BALL, TILTED));
    static const struct {
        const char *def;
        TalusVector force;
    } pushes[] = {
        { "END1", { 0.2, 0, 0 } }, { "END2", { 0.2, 0, 0 } }, { "END3", { 0, 5, 0 } },
        { "END4", { 0, 0, -5 } },  { "END5", { 1, 0, 0.5 } }, { "END6", { 1, 0, 0.5 } },
    };
    double worst = 0.0, moved = 0.0;
    for (int step = 1; step <= 60; step++) {
        for (int i = 0; i < COUNT_OF(pushes) && step <= 20; i++)
            scenery_push(&s, pushes[i].def, pushes[i].force);
        scenery_step(&s, 1);
        for (int i = 0; i < COUNT_OF(pushes); i += 2) {
            if (i < 4)
                worst = fmax(worst,
                             fabs(scenery_joint(&s, pushes[i].def, 0) - scenery_joint(&s, pushes[i + 1].def, 0)));
            moved = fmax(moved, fabs(scenery_joint(&s, pushes[i].def, 0)));
            TalusVector a, b;
            assert_true(talus_get_vector(s.world, scenery_node(&s, pushes[i].def), "translation", &a));
            assert_true(talus_get_vector(s.world, scenery_node(&s, pushes[i + 1].def), "translation", &b));
            worst = fmax(worst, fmax(fabs(a.x - b.x), fmax(fabs(a.y - b.y), fabs(a.z - b.z))));
        }
    }
    CHECK(moved > 0.02, "the pushes moved something");
    PUBLISHED(&s, "spring_damping_force, largest difference", worst, 0.0, 0.01);
    scenery_step(&s, 10);
    for (int i = 0; i < 4; i++)
        PUBLISHED(&s, "spring_damping_force, back", scenery_joint(&s, pushes[i].def, 0), 0.0, 0.01);
    scenery_close(&s);
}

// ---- motors ----

// A motor with PID gains and limited acceleration on its way to its greatest position.
static void a_motor_reaches_its_published_place(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE
        "Robot { controller \"<none>\" translation 0 0.025 0 physics Physics { density -1 mass 20 } "
        "  boundingObject Pose { rotation 1 0 0 -1.57079632679 children Cylinder { height 0.05 radius 0.05 } } "
        "  children HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } "
        "    device DEF MOTOR RotationalMotor { acceleration 5 maxVelocity 20 minPosition -1.63 maxPosition 1.51 maxTorque 100 } "
        "    endPoint Solid { name \"hand\" physics Physics { density -1 mass 1 } boundingObject Group { children [ "
        "      Pose { translation 0 0.05 -0.1 rotation 1 0 0 0.000003673189128 children Cylinder { height 0.3 radius 0.005 } } "
        "      Pose { translation 0 0.05 0 rotation 1 0 0 -1.57079632679 children Cylinder { height 0.05 radius 0.02 } } ] } } } }");
    TalusNode motor = scenery_node(&s, "MOTOR");
    scenery_step(&s, 1);
    double feedback;
    talus_motor_feedback(s.world, motor, 0, &feedback);
    talus_motor_set_gains(s.world, motor, 0, 15, 5, 1);
    talus_motor_set_available_force(s.world, motor, 0, 50);
    talus_motor_set_position(s.world, motor, 0, 100);
    scenery_step(&s, 21);
    PUBLISHED(&s, "motor, position", scenery_joint(&s, "MOTOR", 0), 1.18212, 0.001);
    talus_motor_feedback(s.world, motor, 0, &feedback);
    PUBLISHED(&s, "motor, torque feedback", feedback, 0.0268543, 0.001);
    scenery_close(&s);
}

// A weak motor on the second axis of a Hinge2Joint.
static void a_second_motor_reaches_its_published_place(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE
        "Robot { controller \"<none>\" translation -0.25 0.025 0 physics Physics { density -1 mass 20 } "
        "  boundingObject Pose { rotation 1 0 0 -1.57079632679 children Cylinder { height 0.05 radius 0.05 } } "
        "  children Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0.06 0 minStop -1.5 maxStop 1.5 } "
        "    jointParameters2 JointParameters { minStop -1.5 maxStop 1.5 } device RotationalMotor { } "
        "    device2 DEF MOTOR RotationalMotor { name \"m2\" minPosition -1.53 maxPosition 1.58 maxTorque 100 } "
        "    endPoint Solid { name \"end\" translation 0 0.06 0 boundingObject Pose { rotation 1 0 0 -1.57079632679 children Cylinder { height 0.05 radius 0.02 } } "
        "      physics Physics { density -1 mass 1 centerOfMass [ 0 0 0 ] inertiaMatrix [ 1 1 1 0 0 0 ] } } } }");
    TalusNode motor = scenery_node(&s, "MOTOR");
    scenery_step(&s, 1);
    double feedback;
    talus_motor_feedback(s.world, motor, 0, &feedback);
    talus_motor_set_gains(s.world, motor, 0, 15, 5, 1);
    talus_motor_set_available_force(s.world, motor, 0, 0.5);
    talus_motor_set_acceleration(s.world, motor, 0, 5);
    talus_motor_set_position(s.world, motor, 0, 1.5707963267948966);
    // The published place is the one 21 steps after the command.
    scenery_step(&s, 21);
    PUBLISHED(&s, "motor2, position", scenery_joint(&s, "MOTOR", 0), 0.137485, 0.001);
    talus_motor_feedback(s.world, motor, 0, &feedback);
    PUBLISHED(&s, "motor2, torque feedback", feedback, 0.500022, 1e-4);
    scenery_step(&s, 1);
    talus_motor_set_force(s.world, motor, 0, 0.5);
    scenery_step(&s, 20);
    talus_motor_feedback(s.world, motor, 0, &feedback);
    PUBLISHED(&s, "motor2, feedback in torque mode", feedback, 1.15779e-07, 1e-4);
    scenery_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_STEPPER(damped_wheels_turn_a_robot),
        EACH_STEPPER(brakes_do_not_care_for_the_first_axis),
        EACH_STEPPER(connectors_part_when_pulled),
        EACH_STEPPER(static_connectors_catch),
        EACH_STEPPER(ball_joints_turn_as_three_hinges),
        EACH_STEPPER(ball_joints_reset),
        EACH_STEPPER(stops_hold_after_a_move),
        EACH_STEPPER(ranges_hold_the_first_position),
        EACH_STEPPER(springs_act_alike_on_any_parent),
        EACH_STEPPER(a_motor_reaches_its_published_place),
        EACH_STEPPER(a_second_motor_reaches_its_published_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
