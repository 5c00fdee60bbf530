// Poses of solids and positions of joints are computed when somebody asks: a world that is asked after every step and
// one that is asked at the end say the same to the last bit, and are in the same state, whatever happens between.
#include "world.h"

#include "physics/joints/motor.h"

#include <math.h>

// Hinges in every mode of a motor, one that turns by most of half a turn in a step, springs, stops, several axes; what
// falls, sleeps and is woken.
#define MECHANISMS                                                                                                                                                          \
    "WorldInfo { basicTimeStep 16 physicsDisableTime 0.3 }\n"                                                                                                               \
    "Solid { name \"floor\" boundingObject Plane { size 50 50 } }\n"                                                                                                        \
    "Solid { name \"box\" translation 3 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n"                                                              \
    "Robot { name \"bench\" translation 0 0 3 controller \"<none>\" children [\n"                                                                                           \
    " HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } endPoint Solid { name \"swing\" translation 0.4 0 0\n"                                               \
    "  boundingObject Sphere { radius 0.1 } physics Physics { } children [ Solid { name \"eye\" translation 0 0.1 0 } ] } }\n"                                              \
    " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device RotationalMotor { name \"fast\" maxVelocity 160 maxTorque 1000 }\n"                           \
    "  endPoint Solid { name \"wheel\" translation 0 0 1 boundingObject Sphere { radius 0.1 } physics Physics { } } }\n"                                                    \
    " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 minStop -1 maxStop 1 } device [ RotationalMotor { name \"aims\" maxTorque 50 } PositionSensor { } ]\n" \
    "  endPoint Solid { name \"arm\" translation 0.3 1 0 boundingObject Box { size 0.4 0.1 0.1 } physics Physics { } } }\n"                                                 \
    " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device RotationalMotor { name \"pushes\" maxTorque 50 }\n"                                           \
    "  endPoint Solid { name \"vane\" translation 0.3 -1 0 boundingObject Box { size 0.4 0.1 0.1 } physics Physics { } } }\n"                                               \
    " SliderJoint { jointParameters JointParameters { axis 0 0 1 springConstant 100 dampingConstant 1 }\n"                                                                  \
    "  endPoint Solid { name \"spring\" translation -1 0 0 boundingObject Sphere { radius 0.1 } physics Physics { } } }\n"                                                  \
    " BallJoint { endPoint Solid { name \"ball\" translation -2 0 0.3 boundingObject Sphere { radius 0.1 } physics Physics { } } }\n"                                       \
    " Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 } jointParameters2 JointParameters { axis 0 1 0 }\n"                                                  \
    "  endPoint Solid { name \"knuckle\" translation -3 0 0 boundingObject Sphere { radius 0.1 } physics Physics { } } }\n"                                                 \
    "] }\n"

// A kinematic end point on a body: its pose goes into joints and shapes.
#define RIDER                                                                                                                                  \
    "Robot { name \"cart\" translation 0 6 0.1 controller \"<none>\" boundingObject Box { size 0.4 0.4 0.2 } physics Physics { } children [\n" \
    " HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } device RotationalMotor { name \"turret\" maxVelocity 3 }\n"             \
    "  endPoint Solid { name \"rider\" translation 0 0 0.3 boundingObject Box { size 0.1 0.1 0.1 } } } ] }\n"

static int joint_at(const World *world, const char *label)
{
    return physics_solid_joint(world->physics, world_solid(world, label));
}

// What happens at a step, from outside.
static void disturb(World *world, int step)
{
    Physics *physics = world->physics;
    int wheel = joint_at(world, "wheel"), arm = joint_at(world, "arm"), vane = joint_at(world, "vane");
    switch (step) {
    case 0:
        physics_motor_set_position(physics, wheel, 0, INFINITY);
        physics_motor_set_velocity(physics, wheel, 0, 150.0);  // 2.4 rad in a step
        physics_motor_set_position(physics, arm, 0, 0.7);
        physics_motor_set_force(physics, vane, 0, 2.0);
        break;
    case 60: physics_motor_set_velocity(physics, wheel, 0, 3.0); break;
    case 80: physics_motor_set_position(physics, vane, 0, -2.0); break;
    case 100: physics_solid_add_force(physics, world_solid(world, "box"), vec3(40, 0, 0)); break;
    case 120: physics_joint_set_position(physics, joint_at(world, "swing"), 0, 0.5); break;
    case 140: physics_motor_want_feedback(physics, arm, true); break;
    case 160: physics_solid_set_velocity(physics, world_solid(world, "ball"), vec3(0, 1, 0), vec3(1, 2, 3)); break;
    case 180: physics_motor_set_force(physics, arm, 0, -50.0); break;
    case 200:
        physics_solid_set_pose(physics, world_solid(world, "bench"), (Pose){ { 0, 0, 4 }, { 1, 0, 0, 0 } });
        break;
    default: break;
    }
}

typedef struct Asked {
    double position, velocity;
} Asked;

// Everything there is to ask for, summed so that nothing is left out.
static void ask(const World *world, Pose *poses, Asked *joints)
{
    physics_solid_poses(world->physics, poses);
    for (int i = 0; i < physics_joint_count(world->physics); i++)
        for (int k = 0; k < PHYSICS_JOINT_AXES; k++)
            joints[i * PHYSICS_JOINT_AXES + k] = (Asked){ physics_joint_position(world->physics, i, k),
                                                          physics_joint_velocity(world->physics, i, k) };
}

enum { STEPS = 300, SOLIDS = 32, AXES = 32 * PHYSICS_JOINT_AXES };

// A copy for another thread has the same poses, and taking it is no question: the world goes on without them.
static void compare_copy(const Physics *physics, PhysicsPoses *copy, const Pose *poses)
{
    physics_poses_take(physics, copy);
    physics_poses_make(copy);
    assert_int_equal(copy->solid_count, physics_solid_count(physics));
    assert_memory_equal(copy->solids, poses, (size_t)copy->solid_count * sizeof *poses);
}

static void run_both(const char *nodes, int threads, bool sleeps)
{
    SimOptions options = { .physics.threads = threads };
    World asked = world_open_with(nodes, &options), alone = world_open_with(nodes, &options);
    Pose poses[2][SOLIDS] = { 0 };
    Asked joints[2][AXES] = { 0 };
    assert_in_range(physics_solid_count(asked.physics), 1, SOLIDS);
    assert_in_range(physics_joint_count(asked.physics), 1, AXES / PHYSICS_JOINT_AXES);
    bool has_slept = false;
    PhysicsPoses copy = { 0 };
    for (int step = 0; step < STEPS; step++) {
        disturb(&asked, step);
        disturb(&alone, step);
        world_step(&asked, 1);
        world_step(&alone, 1);
        ask(&asked, poses[0], joints[0]);
        compare_copy(alone.physics, &copy, poses[0]);
        has_slept |= physics_solid_is_idle(alone.physics, world_solid(&alone, "box"));
        if (step % 97 != 96 && step != STEPS - 1)
            continue;
        ask(&alone, poses[1], joints[1]);
        assert_memory_equal(poses[0], poses[1], sizeof poses[0]);
        assert_memory_equal(joints[0], joints[1], sizeof joints[0]);
        assert_int_equal(sim_hash(asked.sim), sim_hash(alone.sim));
    }
    assert_int_equal(has_slept, sleeps);
    int wheel = joint_at(&asked, "wheel");
    assert_true(physics_joint_position(asked.physics, wheel, 0) > 60 * 1.5);  // many whole turns, none was lost
    physics_poses_deinit(&copy);
    world_close(&asked);
    world_close(&alone);
}

static void asking_changes_nothing(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        run_both(MECHANISMS, threads, true);
        run_both(MECHANISMS RIDER, threads, false);  // whose shape is moved in every step, which wakes all
    }
}

// A single question in the middle, each of them, is answered as by the world that is always asked.
static void each_question_is_answered(void **state)
{
    (void)state;
    World asked = world_open(MECHANISMS), alone = world_open(MECHANISMS);
    int swing = world_solid(&asked, "swing"), eye = world_solid(&asked, "eye");
    for (int question = 0; question < 6; question++) {
        for (int i = 0; i < 7; i++) {
            world_step(&asked, 1);
            physics_solid_pose(asked.physics, swing);
            world_step(&alone, 1);
        }
        World *worlds[2] = { &asked, &alone };
        Vec3 answers[2];
        for (int i = 0; i < 2; i++) {
            const Physics *physics = worlds[i]->physics;
            answers[i] = question == 0   ? physics_solid_pose(physics, eye).t
                         : question == 1 ? physics_solid_linear_velocity(physics, eye)
                         : question == 2 ? physics_solid_center_of_mass(physics, swing)
                         : question == 3 ? physics_shape(physics, physics_shape_count(physics) - 1).world.t
                         : question == 4 ? vec3(physics_joint_position(physics, joint_at(worlds[i], "swing"), 0), 0, 0)
                                         : vec3(physics_joint_velocity(physics, joint_at(worlds[i], "swing"), 0), 0, 0);
        }
        assert_memory_equal(&answers[0], &answers[1], sizeof answers[0]);
        assert_true(vec3_length2(answers[0]) > 0.0);
    }
    world_close(&asked);
    world_close(&alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(asking_changes_nothing),
                                        cmocka_unit_test(each_question_is_answered) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
