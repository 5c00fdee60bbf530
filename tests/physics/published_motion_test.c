// Published numbers of joints that are carried away, turn without end, follow each other, or come out of a sleep.
#include "physics/published.h"

#define FLOOR_NUE "Solid { name \"floor\" rotation 1 0 0 -1.5707963267948966 boundingObject Plane { } } "
#define ROUND                                                                                                          \
    "boundingObject Pose { rotation 0 1 0 1.5707963267948966 children Cylinder { height 0.02 radius 0.05 } } physics Physics { } "

static double apart(TalusVector a, TalusVector b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

// How far a solid is from the point of another one where the file puts it.
static double astray(const Scenery *scenery, const char *part, const char *whole, TalusVector place)
{
    TalusVector origin = scenery_position(scenery, whole), at = scenery_turned(scenery, whole, place);
    return apart(scenery_position(scenery, part), (TalusVector){ origin.x + at.x, origin.y + at.y, origin.z + at.z });
}

static void carry(Scenery *scenery, const char *def, TalusVector where)
{
    TalusPose pose = scenery_pose(scenery, def);
    pose.position = where;
    assert_true(talus_set_pose(scenery->world, scenery_node(scenery, def), pose));
}

// ---- move_hinge_2_joint ----

#define STEERED(number, x, z)                                                                                          \
    "Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor " x " 0 " z                                \
    " } jointParameters2 JointParameters { axis 1 0 0 } "                                                              \
    "  device DEF STEER" number " RotationalMotor { name \"steer" number "\" } device2 DEF DRIVE" number               \
    " RotationalMotor { name \"drive" number "\" } "                                                                   \
    "  endPoint DEF WHEEL" number " Solid { name \"wheel" number "\" translation " x " 0 " z " " ROUND "} } "

// A vehicle of three wheels steers and drives, and is put somewhere else while it runs: anchors and axes come along.
static void steered_wheels_stay_with_a_moved_vehicle(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 16 coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF CAR Robot { controller \"<none>\" translation 0 0.05 0 boundingObject Box { size 0.2 0.04 0.3 } physics Physics { } children [ " STEERED(
            "1", "0.15", "0.1") STEERED("2", "-0.15", "0.1") STEERED("3", "0", "-0.25") "] }");
    static const char *const steers[] = { "STEER1", "STEER2" }, *const drives[] = { "DRIVE1", "DRIVE2", "DRIVE3" };
    static const char *const wheels[] = { "WHEEL1", "WHEEL2", "WHEEL3" };
    static const TalusVector places[] = { { 0.15, 0, 0.1 }, { -0.15, 0, 0.1 }, { 0, 0, -0.25 } };
    for (int i = 0; i < 3; i++) {
        talus_motor_set_position(s.world, scenery_node(&s, drives[i]), 0, INFINITY);
        talus_motor_set_velocity(s.world, scenery_node(&s, drives[i]), 0, 4.0);
    }
    for (int i = 0; i < 2; i++)
        talus_motor_set_position(s.world, scenery_node(&s, steers[i]), 0, 0.234);
    scenery_step(&s, 100);
    TalusVector before = scenery_position(&s, "CAR");
    CHECK(apart(before, (TalusVector){ 0, 0.05, 0 }) > 0.1, "it drives");
    double worst = 0.0, turned = 0.0;
    carry(&s, "CAR", (TalusVector){ before.x - 2, before.y, before.z });
    for (int step = 0; step < 100; step++) {
        scenery_step(&s, 1);
        for (int i = 0; i < 3; i++)
            worst = fmax(worst, astray(&s, wheels[i], "CAR", places[i]));
        for (int i = 0; i < 2; i++)
            turned = fmax(turned, fabs(scenery_joint(&s, steers[i], 0) - 0.234));
    }
    PUBLISHED(&s, "move_hinge_2_joint, wheels astray", worst, 0.0, 0.001);
    PUBLISHED(&s, "move_hinge_2_joint, steering astray", turned, 0.0, 0.01);
    CHECK(apart(scenery_position(&s, "CAR"), (TalusVector){ before.x - 2, before.y, before.z }) > 0.1, "it drives on");
    CHECK(scenery_position(&s, "CAR").x < before.x - 1.5, "from where it was put");
    scenery_close(&s);
}

// move_hinge_2_joint_with_suspension: a wheel on a spring does not swing out when its robot is put one metre higher.
static void suspended_wheels_stay_with_a_moved_robot(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 16 coordinateSystem \"NUE\" gravity 0 } "
        "DEF ROBOT Robot { controller \"<none>\" translation 0 0.01 0 boundingObject Box { size 0.2 0.04 0.3 } physics Physics { } children [ "
        "Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0 0 suspensionSpringConstant 1000 suspensionDampingConstant 10 suspensionAxis 0 1 0 } "
        "  jointParameters2 JointParameters { axis 1 0 0 } device2 DEF DRIVE RotationalMotor { } "
        "  endPoint DEF WHEEL Solid { name \"wheel\" translation 0.2 0 0 " ROUND "} } ] }");
    talus_motor_set_position(s.world, scenery_node(&s, "DRIVE"), 0, INFINITY);
    talus_motor_set_velocity(s.world, scenery_node(&s, "DRIVE"), 0, 2.0);
    scenery_step(&s, 10);
    carry(&s, "ROBOT", (TalusVector){ 0, 1.01, 0 });
    double worst = 0.0;
    for (int step = 0; step < 55; step++) {
        scenery_step(&s, 1);
        worst = fmax(worst, astray(&s, "WHEEL", "ROBOT", (TalusVector){ 0.2, 0, 0 }));
    }
    PUBLISHED(&s, "move_hinge_2_joint_with_suspension, wheel astray", worst, 0.0, 0.001);
    CHECK_NEAR(scenery_position(&s, "WHEEL").y, 1.01, 0.01, "the wheel came along");
    scenery_close(&s);
}

// ---- motor2_velocity, motor3_velocity ----

// By which angle the end is turned in its robot, about an axis of that one's frame.
static double angle_about(const Scenery *scenery, int axis)
{
    TalusQuaternion r = scenery_pose(scenery, "ROBOT").orientation, e = scenery_pose(scenery, "END").orientation;
    double w = r.w * e.w + r.x * e.x + r.y * e.y + r.z * e.z;
    double x = r.w * e.x - r.x * e.w - r.y * e.z + r.z * e.y, y = r.w * e.y - r.y * e.w - r.z * e.x + r.x * e.z;
    return 2 * atan2(axis ? y : x, w);
}

// An axis in velocity mode counts its turns, agrees with what the orientation shows, comes back when told to, and
// stands still there.
static void counts_turns(void **state, const char *what, const char *joint, const char *driven, int axis,
                         int frame_axis)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } " FLOOR_NUE
        "DEF ROBOT Robot { controller \"<none>\" translation 0 0.1 0 boundingObject Box { size 0.4 0.2 0.4 } physics Physics { density -1 mass 50 } children %s "
        "  %s DEF MOTOR RotationalMotor { maxTorque 100 maxVelocity 10 } "
        "  endPoint DEF END Solid { name \"end\" translation 0 0.5 0 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 1 } } } }",
        joint, driven);
    Scenery s = scenery_open(state, "R2025a", text);
    TalusNode motor = scenery_node(&s, "MOTOR");
    talus_motor_set_position(s.world, motor, 0, INFINITY);
    double furthest = 0.0, worst = 0.0;
    for (int step = 0; step < 100; step++) {
        talus_motor_set_velocity(s.world, motor, 0, 10 * fabs(cos(0.1 * step)));
        scenery_step(&s, 1);
        double position = scenery_joint(&s, "END", axis);
        furthest = fmax(furthest, fabs(position));
        worst = fmax(worst, fabs(remainder(position - angle_about(&s, frame_axis), 2 * M_PI)));
    }
    CHECK(furthest > 2 * M_PI, "more than one turn");
    PUBLISHED(&s, what, worst, 0.0, 0.01);
    talus_motor_set_position(s.world, motor, 0, 0.0);
    talus_motor_set_velocity(s.world, motor, 0, 10.0);
    scenery_step(&s, 400);
    PUBLISHED(&s, what, scenery_joint(&s, "END", axis), 0.0, 0.01);
    double before = scenery_joint(&s, "END", axis);
    scenery_step(&s, 1);
    CHECK_NEAR(scenery_joint(&s, "END", axis), before, 1e-6, "it stands");
    scenery_close(&s);
}

static void second_axes_count_turns(void **state)
{
    counts_turns(
        state, "motor2_velocity, second axis of a Hinge2Joint",
        "Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0.5 0 } jointParameters2 JointParameters { axis 1 0 0 } "
        "device RotationalMotor { name \"hold\" maxTorque 100 }",
        "device2", 1, 0);
    counts_turns(
        state, "motor2_velocity, first axis of a BallJoint",
        "BallJoint { jointParameters BallJointParameters { anchor 0 0.5 0 } jointParameters2 JointParameters { axis 1 0 0 } "
        "jointParameters3 JointParameters { axis 0 1 0 } device2 RotationalMotor { name \"hold2\" maxTorque 100 } device3 RotationalMotor { name \"hold3\" maxTorque 100 }",
        "device", 0, 0);
}

static void third_axes_count_turns(void **state)
{
    counts_turns(
        state, "motor3_velocity, third axis of a BallJoint",
        "BallJoint { jointParameters BallJointParameters { anchor 0 0.5 0 } jointParameters2 JointParameters { axis 1 0 0 } "
        "jointParameters3 JointParameters { axis 0 1 0 } device RotationalMotor { name \"hold\" maxTorque 100 } device2 RotationalMotor { name \"hold2\" maxTorque 100 }",
        "device3", 2, 1);
}

// ---- physics/coupled_motor ----

static const double factors[] = { 1, 0.5, 4, -0.5, -4 };
static const char *const coupled[] = { "M0", "M1", "M2", "M3", "M4" };

static Scenery open_coupled(void **state)
{
    char text[8192];
    int length = snprintf(text, sizeof text,
                          "WorldInfo { basicTimeStep 16 gravity 0 } Robot { controller \"<none>\" children [ ");
    for (int i = 0; i < COUNT_OF(factors); i++)
        length += snprintf(
            text + length, sizeof text - (size_t)length,
            "Pose { translation %d 0 0 children HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } "
            "  device DEF M%d RotationalMotor { name \"motor::%d\" multiplier %g minPosition -2 maxPosition 3 maxVelocity %g maxTorque 1000 } "
            "  endPoint Solid { name \"arm %d\" boundingObject Box { size 0.2 0.2 0.2 } physics Physics { density -1 mass 1 } } } } ",
            i, i, i, factors[i], i ? 7.0 : 2.0, i);
    snprintf(text + length, sizeof text - (size_t)length, "] }");
    return scenery_open(state, "R2025a", text);
}

// How far the others are from their multiple of the first.
static double uncoupled(const Scenery *scenery, bool rates)
{
    double worst = 0.0, values[COUNT_OF(factors)];
    for (int i = 0; i < COUNT_OF(factors); i++) {
        TalusNode motor = scenery_node(scenery, coupled[i]);
        assert_true(rates ? talus_joint_velocity(scenery->world, motor, 0, &values[i])
                          : talus_joint_position(scenery->world, motor, 0, &values[i]));
        worst = fmax(worst, fabs(values[i] - factors[i] * values[0]));
    }
    CHECK(fabs(values[0]) > 1e-3, "they do move");
    return worst;
}

static void coupled_motors_keep_their_ratios(void **state)
{
    Scenery s = open_coupled(state);
    TalusNode first = scenery_node(&s, "M0");
    // Limits follow those of the first motor.
    for (int i = 0; i < COUNT_OF(factors); i++) {
        static const char *const fields[] = { "minPosition", "maxPosition", "maxVelocity" };
        double expected[] = { factors[i] > 0 ? -2 * factors[i] : 3 * factors[i],
                              factors[i] > 0 ? 3 * factors[i] : -2 * factors[i], 2 * fabs(factors[i]) },
               actual;
        for (int field = 0; field < 3; field++) {
            assert_true(talus_get_double(s.world, scenery_node(&s, coupled[i]), fields[field], &actual));
            CHECK_NEAR(actual, expected[field], 1e-12, fields[field]);
        }
    }
    double worst = 0.0;
    talus_motor_set_position(s.world, first, 0, INFINITY);
    talus_motor_set_velocity(s.world, first, 0, 0.5);
    for (int step = 0; step < 250; step++) {
        scenery_step(&s, 1);
        worst = fmax(worst, uncoupled(&s, true));
    }
    PUBLISHED(&s, "physics/coupled_motor, velocity control", worst, 0.0, 1e-10);
    scenery_close(&s);
    s = open_coupled(state);
    static const double targets[] = { 0.2, 0.4, 0.25 };
    for (int round = 0; round < COUNT_OF(targets); round++) {
        talus_motor_set_position(s.world, scenery_node(&s, "M0"), 0, targets[round]);
        scenery_step(&s, 100);
        CHECK_NEAR(scenery_joint(&s, "M0", 0), targets[round], 1e-7, "reached");
        PUBLISHED(&s, "physics/coupled_motor, position control", uncoupled(&s, false), 0.0, 1e-7);
    }
    scenery_close(&s);
    s = open_coupled(state);
    talus_motor_set_force(s.world, scenery_node(&s, "M0"), 0, 0.01);
    scenery_step(&s, 100);
    PUBLISHED(&s, "physics/coupled_motor, torque control", uncoupled(&s, true), 0.0, 1e-6);
    scenery_close(&s);
}

// ---- connector ----

#define MODULE(number, x, turn, connector)                                                                             \
    "DEF MODULE" number " Robot { name \"module " number "\" controller \"<none>\" translation " x                     \
    " 0 0.05 rotation 0 0 1 " turn " boundingObject Box { size 0.1 0.1 0.1 } "                                         \
    "  physics Physics { density -1 mass 1 } children DEF CONNECTOR" number                                            \
    " Connector { translation 0.05 0 0 type \"symmetric\" " connector " } } "

// Two modules that hold each other fall asleep; presence is known all the same, and ends when one of them lets go.
static void sleeping_connectors_know_their_peer(void **state)
{
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 physicsDisableTime 0.5 } Solid { name \"floor\" boundingObject Plane { } } " MODULE(
            "1", "0", "0", "isLocked TRUE autoLock TRUE")
            MODULE("2", "0.1", "3.141592653589793", "isLocked TRUE autoLock TRUE"));
    int presence;
    TalusNode connectors[] = { scenery_node(&s, "CONNECTOR1"), scenery_node(&s, "CONNECTOR2") };
    scenery_step(&s, 34);
    for (int i = 0; i < 2; i++) {
        bool locked;
        CHECK(talus_is_idle(s.world, scenery_node(&s, i ? "MODULE2" : "MODULE1")), "asleep");
        assert_true(talus_connector_presence(s.world, connectors[i], &presence));
        assert_int_equal(presence, 1);
        assert_true(talus_get_bool(s.world, connectors[i], "isLocked", &locked) && locked);
        CHECK(talus_connector_peer(s.world, connectors[i]) == connectors[1 - i], "peer");
    }
    assert_true(talus_connector_set_locked(s.world, connectors[0], false));
    assert_true(talus_connector_set_locked(s.world, connectors[1], false));
    scenery_step(&s, 1);
    CHECK(talus_connector_peer(s.world, connectors[0]) == TALUS_NONE, "parted");
    TalusPose away = scenery_pose(&s, "MODULE2");
    away.position.x += 0.05;
    assert_true(talus_set_pose(s.world, scenery_node(&s, "MODULE2"), away));
    scenery_step(&s, 3);
    for (int i = 0; i < 2; i++) {
        bool locked;
        assert_true(talus_connector_presence(s.world, connectors[i], &presence));
        assert_int_equal(presence, 0);
        assert_true(talus_get_bool(s.world, connectors[i], "isLocked", &locked) && !locked);
    }
    scenery_close(&s);
}

// ---- hinge_joint_slot ----

#define DOOR                                                                                                           \
    "DEF DOOR Solid { name \"door\" translation 0 0.55 -0.6 boundingObject Box { size 0.2 0.1 1 } physics Physics { density -1 mass 1 } } "

// The door of hinge_joint_damping, hung through a pair of Slots, falls in the same time.
static void doors_hang_in_slots(void **state)
{
    static const char *const ends[] = { DOOR, "Slot { type \"door\" endPoint " DOOR " } ",
                                        "Slot { type \"a+\" endPoint Slot { type \"a-\" endPoint " DOOR "} } " };
    for (int i = 0; i < COUNT_OF(ends); i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "WorldInfo { basicTimeStep 32 coordinateSystem \"NUE\" } Robot { controller \"<none>\" selfCollision TRUE boundingObject Box { size 0.2 1 0.2 } children [ "
            "  DEF BUMPER TouchSensor { translation 0 -0.45 -0.106 type \"bumper\" boundingObject Box { size 0.1 0.1 0.01 } physics Physics { } } "
            "  HingeJoint { jointParameters HingeJointParameters { axis -1 0 0 anchor 0 0.5 -0.1 } endPoint %s } ] }",
            ends[i]);
        Scenery s = scenery_open(state, "R2025a", text);
        int first = 0;
        for (int step = 1; step <= 40 && !first; step++) {
            scenery_step(&s, 1);
            first = talus_is_colliding(s.world, scenery_node(&s, "BUMPER")) ? step : 0;
        }
        PUBLISHED(&s, "hinge_joint_slot, first contact", first * 0.032, 0.48, 1e-9);
        scenery_close(&s);
    }
}

// ---- hidden_parameter_single ----

// Joint positions that a file saved are there at load, exactly.
static void saved_joint_positions_are_exact(void **state)
{
#define SAVED(joint, def)                                                                                              \
    joint " endPoint DEF " def " Solid { name \"" def                                                                  \
          "\" boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } } } "
    Scenery s = scenery_open(
        state, "R2025a",
        "WorldInfo { basicTimeStep 32 gravity 0 } Robot { controller \"<none>\" boundingObject Box { size 1 1 1 } physics Physics { } children [ " SAVED(
            "HingeJoint { jointParameters HingeJointParameters { position 0.111 }", "HINGE")
            SAVED("SliderJoint { jointParameters JointParameters { position 0.222 }", "SLIDER") SAVED(
                "Hinge2Joint { jointParameters HingeJointParameters { position 0.333 } jointParameters2 JointParameters { axis 0 0 1 position 0.444 }",
                "HINGE2")
                SAVED(
                    "BallJoint { jointParameters BallJointParameters { position 0.555 } jointParameters2 JointParameters { position 0.666 } jointParameters3 JointParameters { position 0.777 }",
                    "BALL") "] }");
    static const struct {
        const char *def;
        int axis;
        double position;
    } joints[] = {
        { "HINGE", 0, 0.111 }, { "SLIDER", 0, 0.222 }, { "HINGE2", 0, 0.333 }, { "HINGE2", 1, 0.444 },
        { "BALL", 0, 0.555 },  { "BALL", 1, 0.666 },   { "BALL", 2, 0.777 },
    };
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT_OF(joints); i++)
            CHECK_NEAR(scenery_joint(&s, joints[i].def, joints[i].axis), joints[i].position, 1e-10, joints[i].def);
        scenery_step(&s, 1);
    }
    scenery_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH_STEPPER(steered_wheels_stay_with_a_moved_vehicle),
        EACH_STEPPER(suspended_wheels_stay_with_a_moved_robot),
        EACH_STEPPER(second_axes_count_turns),
        EACH_STEPPER(third_axes_count_turns),
        EACH_STEPPER(coupled_motors_keep_their_ratios),
        EACH_STEPPER(sleeping_connectors_know_their_peer),
        EACH_STEPPER(doors_hang_in_slots),
        EACH_STEPPER(saved_joint_positions_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
