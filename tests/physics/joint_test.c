// Joints and motors against formulas. dt is 1 ms unless a case says otherwise; ODE integrates semi-implicitly, so a
// position after n steps may differ from the formula by about one step's motion, and tolerances follow from that.
#include "physics/fittings/fittings.h"
#include "physics/joints/motor.h"
#include "physics/physics.h"

#include "formats/formats.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>

typedef struct World {
    DiagSink *diags;
    Scene *scene;
    Physics *physics;
    uint64_t step;
} World;

static World open_world(const char *info, const char *nodes)
{
    World world = { .diags = diag_create() };
    char *text = NULL;
    if (asprintf(&text, "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 1 %s }\nViewpoint { }\n%s", info, nodes) < 0)
        abort();
    world.scene = formats_load_text("test.wbt", text, strlen(text), NULL, world.diags);
    free(text);
    world.physics = physics_create(world.scene, &(PhysicsOptions){ .stepper = getenv("TALUS_TEST_STEPPER") },
                                   world.diags);
    physics_collide(world.physics);
    diag_print(world.diags, stdout, 0, DIAG_WARNING);
    return world;
}

static void close_world(World *world)
{
    physics_destroy(world->physics);
    scene_destroy(world->scene);
    diag_destroy(world->diags);
}

static void run(World *world, int steps)
{
    for (int i = 0; i < steps; i++) {
        physics_begin_step(world->physics, world->step++);
        physics_prestep(world->physics);
        physics_fluids(world->physics);
        physics_advance(world->physics);
        physics_collide(world->physics);
        physics_poststep(world->physics);
    }
}

static int solid(const World *world, const char *def)
{
    return physics_solid_of(world->physics, scene_find_def(world->scene, def));
}

static int joint_at(const World *world, const char *def)
{
    return physics_solid_joint(world->physics, solid(world, def));
}

#define BOB "physics Physics { density -1 mass 2 centerOfMass [ 0 0 0 ] inertiaMatrix [ 0.01 0.01 0.01, 0 0 0 ] }"

// A physical pendulum swings with T = 2 pi sqrt((I + m l^2) / (m g l)) for small angles, with a static parent and, the
// same, with a dynamic one that is far heavier and welded.
static void pendulum_has_its_period(void **state)
{
    (void)state;
    static const char *const parents[] = {
        "", "physics Physics { density -1 mass 100 } boundingObject Box { size 0.1 0.1 0.1 }"
    };
    for (int i = 0; i < COUNT_OF(parents); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "Solid { name \"base\" children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } "
                 "endPoint DEF BOB Solid { translation 0.017452406 0 -0.9998477 name \"bob\" " BOB " } } ] %s }",
                 parents[i]);
        // A free heavy base would fall, so the second case hangs it in a Solid without physics: it is welded.
        char welded[1200];
        snprintf(welded, sizeof welded, "Solid { children [ %s ] }", text);
        World world = open_world("", i ? welded : text);
        int joint = joint_at(&world, "BOB");
        assert_true(joint >= 0);
        double previous = -1.0;
        int crossings = 0;
        double first = 0.0, last = 0.0;
        for (int step = 1; step < 7000; step++) {
            run(&world, 1);
            double x = physics_solid_pose(world.physics, solid(&world, "BOB")).t.x;
            if (previous < 0.0 && x >= 0.0 && step > 10) {
                last = step * 1e-3;
                if (crossings++ == 0)
                    first = last;
            }
            previous = x;
        }
        double period = (last - first) / (crossings - 1);
        double expected = 2.0 * M_PI * sqrt((0.01 + 2.0) / (2.0 * 9.81));
        CHECK_NEAR(period, expected, 2e-3, parents[i]);
        close_world(&world);
    }
}

// Motor in velocity mode: reaches its speed, position counts on beyond a turn, feedback balances gravity.
static void velocity_mode_turns_for_ever(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ "
        "DEF M RotationalMotor { maxVelocity 20 maxTorque 100 } ] endPoint DEF ARM Solid { name \"arm\" " BOB
        " } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    assert_null(physics_motor_set_position(world.physics, joint, axis, INFINITY));
    assert_null(physics_motor_set_velocity(world.physics, joint, axis, 10.0));
    run(&world, 2000);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 10.0, 1e-6, "speed");
    CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 20.0, 0.02, "angle");
    Vec3 w = physics_solid_angular_velocity(world.physics, solid(&world, "ARM"));
    CHECK_NEAR(w.z, 10.0, 1e-6, "positive about the axis");
    assert_non_null(physics_motor_set_velocity(world.physics, joint, axis, 30.0));
    run(&world, 100);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 20.0, 1e-6, "clipped to maxVelocity");
    close_world(&world);
}

// Position mode holds a horizontal arm; the torque it needs is m g l. Both with and without a parent body.
static void position_mode_holds_a_load(void **state)
{
    (void)state;
    static const char arm[] =
        "HingeJoint { jointParameters HingeJointParameters { axis 0 -1 0 } device [ DEF M RotationalMotor { maxTorque 100 } ] "
        "endPoint DEF ARM Solid { translation 0.5 0 0 name \"arm\" " BOB " } }";
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 i ? "Solid { children [ Solid { name \"base\" " BOB " children [ %s ] } ] }"
                   : "Solid { children [ %s ] }",
                 arm);
        World world = open_world("", text);
        int joint, axis;
        assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
        physics_motor_want_feedback(world.physics, joint, true);
        run(&world, 1000);
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 0.0, 1e-3, "held");
        CHECK_NEAR(physics_motor(world.physics, joint, 0).feedback, 2.0 * 9.81 * 0.5, 0.02,
                   "torque about the axis lifts the arm");
        assert_null(physics_motor_set_position(world.physics, joint, axis, 1.0));
        run(&world, 3000);
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 1.0, 2e-3, "moved");
        Vec3 at = physics_solid_pose(world.physics, solid(&world, "ARM")).t;
        CHECK_NEAR(at.z, 0.5 * sin(1.0), 2e-3, "a positive angle about -y lifts +x");
        close_world(&world);
    }
}

// Acceleration limit: v = a t until maxVelocity.
static void acceleration_is_limited(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Solid { children [ SliderJoint { jointParameters JointParameters { axis 1 0 0 } device [ DEF M LinearMotor { "
        "maxVelocity 2 maxForce 1000 acceleration 4 } ] endPoint DEF CART Solid { name \"cart\" " BOB " } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    physics_motor_set_position(world.physics, joint, axis, INFINITY);
    physics_motor_set_velocity(world.physics, joint, axis, 2.0);
    run(&world, 250);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 1.0, 1e-3,
               "after 0.25 s");  // the world's CFM gives way by F * CFM = 8e-5 m/s
    CHECK_NEAR(physics_solid_pose(world.physics, solid(&world, "CART")).t.x, 0.125, 1e-3, "moved along +x");
    run(&world, 1000);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 2.0, 1e-6, "full speed");
    close_world(&world);
}

// Force mode: a = F / m; torque mode: alpha = T / I. The parent gets the reaction.
static void forces_accelerate(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "DEF BASE Solid { name \"base\" " BOB
        " children [ SliderJoint { jointParameters JointParameters { axis 1 0 0 } "
        "device [ DEF M LinearMotor { maxForce 100 } ] endPoint DEF CART Solid { name \"cart\" translation 0.3 0 0 " BOB
        " } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    assert_null(physics_motor_set_force(world.physics, joint, axis, 4.0));
    run(&world, 500);
    Vec3 cart = physics_solid_linear_velocity(world.physics, solid(&world, "CART")),
         base = physics_solid_linear_velocity(world.physics, solid(&world, "BASE"));
    CHECK(cart.x > 0.9 && base.x < -0.9, "pushed apart");
    CHECK_NEAR(cart.x * 2.0 + base.x * 2.0, 0.0, 1e-6, "momentum kept");
    assert_non_null(physics_motor_set_force(world.physics, joint, axis, 200.0));
    close_world(&world);

    world = open_world(
        "gravity 0",
        "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ DEF M RotationalMotor { "
        "maxTorque 1 } ] endPoint DEF ARM Solid { name \"arm\" " BOB " } } ] }");
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    physics_motor_set_force(world.physics, joint, axis, 0.02);
    run(&world, 1000);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 2.0, 0.01, "alpha = 2 rad/s2 for 1 s");
    close_world(&world);
}

// A spring and damper: x(t) of the damped oscillator, for a slider and a hinge, sprung inside and beside a motor.
static void springs_swing_and_die_down(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        double inertia;
    } cases[] = {
        { "slider",
          "Solid { children [ SliderJoint { jointParameters JointParameters { position 0.1 axis 1 0 0 springConstant 50 dampingConstant 2 } "
          "endPoint DEF END Solid { translation 0.1 0 0 " BOB " } } ] }",
          2.0 },
        { "slider with a limp motor",
          "Solid { children [ SliderJoint { jointParameters JointParameters { position 0.1 axis 1 0 0 springConstant 50 "
          "dampingConstant 2 } device [ LinearMotor { maxForce 0 } ] endPoint DEF END Solid { translation 0.1 0 0 " BOB
          " } } ] }",
          2.0 },
        { "hinge",
          "Solid { children [ HingeJoint { jointParameters HingeJointParameters { position 0.1 axis 0 0 1 springConstant 0.25 dampingConstant 0.01 } "
          "endPoint DEF END Solid { rotation 0 0 1 0.1 " BOB " } } ] }",
          0.01 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = open_world("gravity 0 physicsDisableTime 0", cases[i].text);
        int joint = joint_at(&world, "END");
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 0.1, 1e-12, cases[i].name);
        run(&world, 400);
        double w0 = 5.0, zeta = i == 2 ? 0.01 / (2.0 * sqrt(0.25 * 0.01)) : 2.0 / (2.0 * sqrt(50.0 * 2.0));
        double wd = w0 * sqrt(1.0 - zeta * zeta), t = 0.4;
        double expected = 0.1 * exp(-zeta * w0 * t) * (cos(wd * t) + zeta / sqrt(1.0 - zeta * zeta) * sin(wd * t));
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), expected, 1e-3, cases[i].name);
        run(&world, 15000);  // the envelope is 0.1 exp(-0.5 t): below 1e-4
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 0.0, 1e-3, cases[i].name);
        close_world(&world);
    }
}

// Stops hold for slider, hinge, hinge-2 and near half a turn, from both sides.
static void stops_hold(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        double stop;
    } cases[] = {
        { "hinge",
          "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 minStop -0.5 maxStop 0.4 } "
          "endPoint DEF END Solid { translation 0.5 0 0 " BOB " } } ] }",
          0.4 },
        { "hinge, other way",
          "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 -1 0 minStop -0.5 maxStop 0.4 } "
          "endPoint DEF END Solid { translation 0.5 0 0 " BOB " } } ] }",
          -0.5 },
        { "slider",
          "Solid { children [ SliderJoint { jointParameters JointParameters { axis 0 0 -1 minStop -0.2 maxStop 0.3 } "
          "endPoint DEF END Solid { " BOB " } } ] }",
          0.3 },
        { "half a turn",
          "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 position 3 minStop 0 maxStop 3.14159 } "
          "endPoint DEF END Solid { translation 0.5 0 0 " BOB " } } ] }",
          3.14159 },
        { "hinge-2, first axis",
          "Solid { children [ Solid { name \"base\" " BOB
          " children [ Hinge2Joint { jointParameters HingeJointParameters { axis 0 1 0 maxStop 0.4 } "
          "jointParameters2 JointParameters { axis 0 0 1 } endPoint DEF END Solid { translation 0.5 0 0 " BOB
          " } } ] } ] }",
          0.4 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = open_world("", cases[i].text);
        int joint = joint_at(&world, "END");
        run(&world, 4000);
        CHECK_NEAR(physics_joint_position(world.physics, joint, 0), cases[i].stop, 0.01, cases[i].name);
        close_world(&world);
    }
}

// Both axes of a hinge-2 turn as told, whatever the other one does.
static void two_axes_turn(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Solid { children [ Solid { name \"base\" " BOB
        " children [ Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.2 0 0 } "
        "jointParameters2 JointParameters { axis 0 1 0 } device [ DEF A RotationalMotor { maxTorque 50 } ] device2 [ DEF B RotationalMotor { maxTorque 50 } ] "
        "endPoint DEF END Solid { translation 0.2 0 0 " BOB " } } ] } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "B"), &joint, &axis));
    assert_int_equal(axis, 1);
    physics_motor_set_position(world.physics, joint, 0, 0.5);
    physics_motor_set_position(world.physics, joint, 1, INFINITY);
    physics_motor_set_velocity(world.physics, joint, 1, 6.0);
    run(&world, 3000);
    CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 0.5, 1e-3, "steered");
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 1), 6.0, 1e-3, "driven");
    CHECK_NEAR(physics_joint_position(world.physics, joint, 1), 18.0, 0.05, "counted beyond a turn");
    Vec3 w = physics_solid_angular_velocity(world.physics, solid(&world, "END"));
    CHECK_NEAR(w.x, -6.0 * sin(0.5), 1e-2, "the second axis is carried by the first");
    CHECK_NEAR(w.y, 6.0 * cos(0.5), 1e-2, "the second axis is carried by the first");
    CHECK_NEAR(vec3_distance(physics_solid_pose(world.physics, solid(&world, "END")).t, vec3(0.2, 0, 0)), 0.0, 1e-4,
               "anchored");
    close_world(&world);
}

// A ball joint with three motors reaches three angles; chained hinges with the same angles end at the same pose.
static void three_axes_turn(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Solid { children [ BallJoint { jointParameters BallJointParameters { anchor 0 0 0 } "
        "device [ DEF A RotationalMotor { maxTorque 50 } ] device2 [ DEF B RotationalMotor { maxTorque 50 } ] device3 [ DEF C RotationalMotor { maxTorque 50 } ] "
        "endPoint DEF END Solid { translation 0.3 0.1 0.2 " BOB " } } ] }");
    int joint = joint_at(&world, "END");
    static const double angles[3] = { 0.7, -0.4, 1.1 };
    for (int i = 0; i < 3; i++)
        assert_null(physics_motor_set_position(world.physics, joint, i, angles[i]));
    run(&world, 3000);
    Quat turn = QUAT_IDENTITY;
    static const double axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(physics_joint_position(world.physics, joint, i), angles[i], 2e-3, "angle");
        turn = quat_mul(turn, quat_from_axis_angle(vec3(axes[i][0], axes[i][1], axes[i][2]), angles[i]));
    }
    Vec3 expected = quat_rotate(turn, vec3(0.3, 0.1, 0.2));
    CHECK_NEAR(vec3_distance(physics_solid_pose(world.physics, solid(&world, "END")).t, expected), 0.0, 2e-3, "pose");
    close_world(&world);
}

// A car wheel on a suspension sinks by m g / k and comes to rest; along an oblique axis too.
static void suspension_gives_way(void **state)
{
    (void)state;
    static const struct {
        const char *name, *axis;
        double dx, dz;
    } cases[] = {
        { "upright", "0 0 1", 0.0, 1.0 },
        { "oblique", "0.6 0 0.8", 0.6, 0.8 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 suspensionSpringConstant 1000 "
            "suspensionDampingConstant 60 suspensionAxis %s } endPoint DEF END Solid { " BOB " } } ] }",
            cases[i].axis);
        World world = open_world("", text);
        run(&world, 4000);
        double sag = 2.0 * 9.81 * cases[i].dz / 1000.0;  // gravity along the axis over the spring
        Vec3 at = physics_solid_pose(world.physics, solid(&world, "END")).t;
        CHECK_NEAR(at.z, -sag * cases[i].dz, 1e-4, cases[i].name);
        CHECK_NEAR(at.x, -sag * cases[i].dx, 1e-4, cases[i].name);
        close_world(&world);
    }
}

static void brake_and_friction_stop(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ DEF B Brake { } ] "
        "endPoint DEF END Solid { angularVelocity 0 0 10 " BOB " } } ] }");
    int joint = joint_at(&world, "END");
    physics_brake_set_damping(world.physics, joint, 0, 0.02);
    run(&world, 500);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 10.0 * exp(-0.02 / 0.01 * 0.5), 0.02,
               "w = w0 exp(-d t / I)");
    close_world(&world);
    world = open_world(
        "gravity 0",
        "Solid { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 staticFriction 0.05 } "
        "endPoint DEF END Solid { angularVelocity 0 0 10 " BOB " } } ] }");
    joint = joint_at(&world, "END");
    run(&world, 1000);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), 5.0, 0.02, "w = w0 - M t / I");
    close_world(&world);
}

static void kinematic_joint_moves_without_mass(void **state)
{
    (void)state;
    World world = open_world(
        "",
        "Robot { children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.1 0 0 } device [ DEF M RotationalMotor { "
        "maxVelocity 1 } ] endPoint DEF END Solid { translation 0.5 0 0 } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    physics_motor_set_position(world.physics, joint, axis, M_PI / 2.0);
    run(&world, 1000);
    CHECK_NEAR(physics_joint_position(world.physics, joint, 0), 1.0, 1e-6, "one radian after a second");
    run(&world, 1000);
    Vec3 at = physics_solid_pose(world.physics, solid(&world, "END")).t;
    CHECK_NEAR(vec3_distance(at, vec3(0.1, 0.4, 0)), 0.0, 1e-6, "turned about its anchor");
    close_world(&world);
}

static void coupled_motors_follow(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Robot { children [ "
        "HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ DEF A RotationalMotor { name \"m::a\" maxVelocity 4 } ] endPoint DEF E1 Solid { name \"1\" " BOB
        " } } "
        "HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device [ DEF B RotationalMotor { name \"m::b\" multiplier -2 maxVelocity 8 } ] endPoint DEF E2 Solid { name \"2\" " BOB
        " } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "A"), &joint, &axis));
    physics_motor_set_position(world.physics, joint, axis, 0.5);
    run(&world, 3000);
    CHECK_NEAR(physics_joint_position(world.physics, joint_at(&world, "E1"), 0), 0.5, 1e-4, "leader");
    CHECK_NEAR(physics_joint_position(world.physics, joint_at(&world, "E2"), 0), -1.0, 1e-4,
               "follower, times its multiplier");
    close_world(&world);
}

// Positions and velocities continue after a snapshot exactly as without.
static void snapshots_hold_joints(void **state)
{
    (void)state;
    World world = open_world(
        "",
        "Solid { children [ BallJoint { jointParameters BallJointParameters { springConstant 1 dampingConstant 0.1 } endPoint DEF A Solid { translation 0.3 0 0 " BOB
        " children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 minStop -1 maxStop 1 } device [ DEF M RotationalMotor { } ] endPoint DEF B Solid { translation 0.3 0 0 " BOB
        " } } ] } } ] }");
    run(&world, 300);
    size_t size = physics_snapshot_size(world.physics);
    void *buffer = malloc(size);
    physics_snapshot(world.physics, buffer);
    run(&world, 300);
    uint64_t first = physics_state_hash(world.physics);
    uint64_t step = world.step;
    assert_true(physics_restore(world.physics, buffer, size));
    world.step = step - 300;
    run(&world, 300);
    assert_true(physics_state_hash(world.physics) == first);
    free(buffer);
    close_world(&world);
}

// Two links without any device: one swings, one spins for many turns, at rates on both sides of where joints may wait
// to be read.
static void joints_read_late_read_the_same(void **state)
{
    (void)state;
    static const char nodes[] =
        "Solid { name \"base\" children ["
        " HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0 2 }"
        "  endPoint Solid { translation 0.5 0 2 name \"swing\" boundingObject Box { size 0.2 0.05 0.05 }"
        "   physics Physics { density -1 mass 1 } } }"
        " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0 0 1 }"
        "  endPoint Solid { translation 0.5 0 1 name \"spin\" boundingObject Box { size 0.2 0.05 0.05 }"
        "   physics Physics { density -1 mass 1 } } }"
        " SliderJoint { jointParameters JointParameters { axis 1 0 0 }"
        "  endPoint Solid { translation 0 3 0 name \"slide\" boundingObject Box { size 0.1 0.1 0.1 }"
        "   physics Physics { density -1 mass 1 } } } ] }";
    static const double rates[] = { 3.0, 40.0, 300.0 };
    for (int k = 0; k < COUNT_OF(rates); k++) {
        World often = open_world("", nodes), rarely = open_world("", nodes);
        World *const worlds[2] = { &often, &rarely };
        for (int w = 0; w < 2; w++) {
            Physics *physics = worlds[w]->physics;
            for (int i = 0; i < physics_solid_count(physics); i++) {
                if (!strcmp(physics_solid_label(physics, i), "spin"))
                    physics_solid_set_velocity(physics, i, vec3(0, 0.5 * rates[k], 0), vec3(0, 0, rates[k]));
                if (!strcmp(physics_solid_label(physics, i), "slide"))
                    physics_solid_set_velocity(physics, i, vec3(0.3, 0, 0), VEC3_ZERO);
            }
        }
        for (int step = 1; step <= 1000; step++) {
            run(&often, 1);
            run(&rarely, 1);
            for (int joint = 0; joint < physics_joint_count(often.physics); joint++) {
                double position = physics_joint_position(often.physics, joint, 0),
                       velocity = physics_joint_velocity(often.physics, joint, 0);
                if (step % 137 != 0)
                    continue;
                assert_true(position == physics_joint_position(rarely.physics, joint, 0));
                assert_true(velocity == physics_joint_velocity(rarely.physics, joint, 0));
            }
        }
        assert_true(physics_state_hash(often.physics) == physics_state_hash(rarely.physics));
        // A second of it, many turns; a third of a radian a step, cut into corners, loses much of its speed.
        double turned = fabs(physics_joint_position(rarely.physics, 1, 0));
        if (turned < 0.3 * rates[k] || turned > rates[k] + 1e-6)
            fail_msg("at %g rad/s it turned by %g rad in a second", rates[k], turned);
        close_world(&often);
        close_world(&rarely);
    }
}

static void propeller_lifts(void **state)
{
    (void)state;
    World world = open_world(
        "",
        "DEF DRONE Robot { " BOB
        " children [ Propeller { shaftAxis 0 0 1 thrustConstants 0.01 0 torqueConstants 0 0 device DEF M RotationalMotor { "
        "maxVelocity 100 maxTorque 10 } } ] }");
    int joint, axis;
    assert_true(physics_axis_of(world.physics, scene_find_def(world.scene, "M"), &joint, &axis));
    physics_motor_set_position(world.physics, joint, axis, INFINITY);
    physics_motor_set_velocity(world.physics, joint, axis, sqrt(2.0 * 9.81 / 0.01));
    run(&world, 1000);
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, solid(&world, "DRONE")).z, 0.0, 0.02,
               "thrust k w^2 carries the weight");
    close_world(&world);
}

static void connectors_lock_and_let_go(void **state)
{
    (void)state;
    World world = open_world(
        "gravity 0",
        "Robot { name \"a\" children [ DEF CA Connector { rotation 0 0 1 0 } ] " BOB " } "
        "DEF B Robot { name \"b\" translation 0.005 0 0 children [ DEF CB Connector { rotation 0 0 1 3.1 tensileStrength -1 } ] " BOB
        " }");
    int a = solid(&world, "CA"), b = solid(&world, "CB");
    assert_int_equal(physics_connector_presence(world.physics, a), 1);
    physics_connector_lock(world.physics, a);
    assert_int_equal(physics_connector_peer(world.physics, a), b);
    run(&world, 2000);
    Pose pa = physics_solid_pose(world.physics, a), pb = physics_solid_pose(world.physics, b);
    CHECK_NEAR(vec3_distance(pa.t, pb.t), 0.0, 1e-4, "snapped together");
    CHECK_NEAR(vec3_dot(quat_rotate(pa.q, vec3(1, 0, 0)), quat_rotate(pb.q, vec3(1, 0, 0))), -1.0, 1e-5,
               "face to face");
    physics_connector_unlock(world.physics, a);
    assert_int_equal(physics_connector_peer(world.physics, a), -1);
    physics_solid_add_force(world.physics, solid(&world, "B"), vec3(200, 0, 0));
    run(&world, 1000);
    CHECK(vec3_distance(physics_solid_pose(world.physics, a).t, physics_solid_pose(world.physics, b).t) > 0.02,
          "apart");
    assert_int_equal(physics_connector_presence(world.physics, a), 0);
    close_world(&world);
}

// A body floats where it displaces its own mass, and sinks with the speed at which drag carries its weight.
static void bodies_float_and_sink(void **state)
{
    (void)state;
    World world = open_world(
        "physicsDisableTime 0",
        "Fluid { translation 0 0 -5 boundingObject Box { size 20 20 10 } } "
        "DEF RAFT Solid { translation 0 0 0.1 boundingObject Box { size 2 2 0.5 } physics Physics { density 400 } immersionProperties [ ImmersionProperties { "
        "fluidName \"fluid\" dragForceCoefficients 1 0 0 viscousResistanceForceCoefficient 3000000 } ] }");
    run(&world, 20000);
    CHECK_NEAR(physics_solid_pose(world.physics, solid(&world, "RAFT")).t.z, 0.05, 1e-3,
               "0.4 of the raft is below the surface");
    close_world(&world);
    world = open_world(
        "",
        "Fluid { translation 0 0 -500 boundingObject Box { size 20 20 1000 } } "
        "DEF BALL Solid { translation 0 0 -1 boundingObject Sphere { radius 0.1 } physics Physics { density 3000 } immersionProperties [ ImmersionProperties { "
        "fluidName \"fluid\" dragForceCoefficients 0.5 0 0 } ] }");
    run(&world, 4000);
    double volume = 4.0 / 3.0 * M_PI * 1e-3, area = 4.0 * M_PI * 0.01;
    double terminal = sqrt(2000.0 * volume * 9.81 / (1000.0 * 0.5 * area));
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, solid(&world, "BALL")).z, -terminal, 1e-3,
               "terminal velocity");
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_has_its_period),
        cmocka_unit_test(velocity_mode_turns_for_ever),
        cmocka_unit_test(position_mode_holds_a_load),
        cmocka_unit_test(acceleration_is_limited),
        cmocka_unit_test(forces_accelerate),
        cmocka_unit_test(springs_swing_and_die_down),
        cmocka_unit_test(stops_hold),
        cmocka_unit_test(two_axes_turn),
        cmocka_unit_test(three_axes_turn),
        cmocka_unit_test(suspension_gives_way),
        cmocka_unit_test(brake_and_friction_stop),
        cmocka_unit_test(kinematic_joint_moves_without_mass),
        cmocka_unit_test(coupled_motors_follow),
        cmocka_unit_test(snapshots_hold_joints),
        cmocka_unit_test(joints_read_late_read_the_same),
        cmocka_unit_test(propeller_lifts),
        cmocka_unit_test(connectors_lock_and_let_go),
        cmocka_unit_test(bodies_float_and_sink),
    };
    return cmocka_run_group_tests_name("physics.joint", tests, NULL, NULL);
}
