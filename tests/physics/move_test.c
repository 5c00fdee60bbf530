// Bodies that are moved by hand while forces hold them a little out of place: joints and welds keep the shape that the
// scene gives them, however often that happens. And shapes that are carried wake what they meet.
#include "physics/joints/motor.h"
#include "world.h"

#include <math.h>

// A carrier with one child on each kind of joint and one sensor welded to it, in free space.
#define CHILD(name, place)                                                                                             \
    "Solid { name \"" name "\" translation " place " boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }"
static const char carrier[] =
    "WorldInfo { basicTimeStep 16 gravity 0 physicsDisableTime 0 }\n"
    "Robot { name \"carrier\" controller \"<none>\" boundingObject Box { size 0.4 0.4 0.1 } physics Physics { } children [\n"
    "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.5 0 0 } endPoint " CHILD(
        "hinge",
        "0.6 0 0") " }\n"
                   "  HingeJoint { jointParameters HingeJointParameters { position 0.4 axis 0 0 1 anchor 0 0.5 0 suspensionSpringConstant 300\n"
                   "    suspensionDampingConstant 30 suspensionAxis 0 0 1 } endPoint " CHILD(
                       "sprung",
                       "0 0.6 0") " }\n"
                                  "  Hinge2Joint { jointParameters HingeJointParameters { position 0.2 axis 0 0 1 anchor -0.5 0 0 suspensionSpringConstant 300\n"
                                  "    suspensionDampingConstant 30 suspensionAxis 0 0 1 } jointParameters2 JointParameters { position -0.3 axis 1 0 0 }\n"
                                  "    endPoint " CHILD(
                                      "hinge2",
                                      "-0.6 0 0") " }\n"
                                                  "  SliderJoint { jointParameters JointParameters { axis 0 0 1 springConstant 300 dampingConstant 30 } endPoint " CHILD(
                                                      "slider",
                                                      "0 0 0.3") " }\n"
                                                                 "  BallJoint { jointParameters BallJointParameters { anchor 0 -0.5 0 } endPoint " CHILD(
                                                                     "ball",
                                                                     "0 -0.6 0") " }\n"
                                                                                 "  TouchSensor { name \"sensor\" translation 0 0 -0.3 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }\n"
                                                                                 "] }\n";

// A point of each child, in its frame, and where it belongs in the carrier's.
static const struct {
    const char *name;
    Vec3 in_child, in_carrier;
} ties[] = {
    { "hinge", { -0.1, 0, 0 }, { 0.5, 0, 0 } },  { "hinge", { -0.1, 1, 0 }, { 0.5, 1, 0 } },  // its axis
    { "sprung", { 0, -0.1, 0 }, { 0, 0.5, 0 } }, { "sprung", { 0, -0.1, 1 }, { 0, 0.5, 1 } },
    { "hinge2", { 0.1, 0, 0 }, { -0.5, 0, 0 } }, { "slider", { 0, 0, 0 }, { 0, 0, 0.3 } },
    { "slider", { 1, 0, 0 }, { 1, 0, 0.3 } },    { "ball", { 0, 0.1, 0 }, { 0, -0.5, 0 } },
    { "sensor", { 0, 0, 0 }, { 0, 0, -0.3 } },   { "sensor", { 1, 0, 0 }, { 1, 0, -0.3 } },
};

static double worst_tie(const World *world)
{
    Pose frame = physics_solid_pose(world->physics, world_solid(world, "carrier"));
    double worst = 0.0;
    for (int i = 0; i < COUNT_OF(ties); i++) {
        Pose child = physics_solid_pose(world->physics, world_solid(world, ties[i].name));
        Vec3 at = pose_apply(pose_mul(pose_inverse(frame), child), ties[i].in_child);
        worst = fmax(worst, vec3_distance(at, ties[i].in_carrier));
    }
    return worst;
}

// Pulls the children off their places.
static void disturb(World *world, int nth)
{
    for (int i = 0; i < COUNT_OF(ties); i++) {
        int solid = world_solid(world, ties[i].name);
        Vec3 pull = vec3(sin(nth * 0.7 + i), cos(nth * 1.3 + i), sin(nth * 2.1 - i));
        physics_solid_add_force(world->physics, solid, vec3_scale(pull, 20.0));
        physics_solid_add_torque(world->physics, solid, vec3_scale(pull, 2.0));
    }
    world_step(world, 1);
}

static void set_field(World *world, SceneNode *node, const char *field)
{
    Scene *scene = sim_scene(world->sim);
    if (!strcmp(field, "translation"))
        scene_set_vec3(scene, node, field, VEC3_ZERO);
    else
        scene_set_rotation(scene, node, field, quat_to_rotation(QUAT_IDENTITY));
    physics_field_changed(world->physics, node, field);
}

// Springs let go of what they hold as motion; what turns pulls its joints open, so it is stopped again.
static void settle(World *world)
{
    for (int i = 0; i < 4; i++) {
        physics_solid_reset(world->physics, world_solid(world, "carrier"));
        world_step(world, 300);
    }
}

enum { MOVE_SOLID, MOVE_FIELDS, MOVE_BRAKE, MOVE_PARAMETER, MOVE_IMPORT, MOVE_COUNT };

static void move_once(World *world, int how, int nth)
{
    int top = world_solid(world, "carrier"), joint = physics_solid_joint(world->physics, world_solid(world, "hinge"));
    Scene *scene = sim_scene(world->sim);
    SceneNode *node = physics_solid_node(world->physics, top),
              *parameters = scene_child(physics_joint_node(world->physics, joint), "jointParameters");
    Quat turn = quat_from_axis_angle(vec3_normalized(vec3(1, 2, 3)), 0.01 * (nth % 7));
    switch (how) {
    case MOVE_SOLID: physics_solid_set_pose(world->physics, top, (Pose){ vec3(nth % 5, 0, 0), turn }); break;
    case MOVE_FIELDS:
        physics_sync_scene(world->physics);
        set_field(world, node, "translation");
        set_field(world, node, "rotation");
        break;
    case MOVE_BRAKE: physics_brake_set_damping(world->physics, joint, 0, 0.01 * (nth % 2)); break;
    case MOVE_PARAMETER:
        scene_set_float(scene, parameters, "staticFriction", 1e-6 * (nth % 2));
        physics_field_changed(world->physics, parameters, "staticFriction");
        break;
    case MOVE_IMPORT:
        physics_sync_scene(world->physics);
        physics_node_added(world->physics, scene_child(physics_joint_node(world->physics, joint), "endPoint"));
        break;
    }
}

// Once nothing pulls any more, everything is where the scene has it, to rounding. Anchors that took over the error of
// even one move would stay off by it.
static void joints_keep_their_shape(void **state)
{
    (void)state;
    static const struct {
        int how, moves;
        const char *name;
    } cases[] = {
        { MOVE_SOLID, 100000, "set pose" },
        { MOVE_FIELDS, 2000, "translation and rotation" },
        { MOVE_BRAKE, 2000, "brake" },
        { MOVE_PARAMETER, 2000, "joint parameter" },
        { MOVE_IMPORT, 500, "a tree built anew" },
    };
    static_assert(COUNT_OF(cases) == MOVE_COUNT, "each way to move once");
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = world_open(carrier);
        double pulled = 0.0;
        for (int nth = 0; nth < cases[i].moves; nth++) {
            if (nth % 20 == 0) {
                disturb(&world, nth);
                pulled = fmax(pulled, worst_tie(&world));
            }
            move_once(&world, cases[i].how, nth);
            if (nth % 100 == 99)
                physics_solid_reset(world.physics, world_solid(&world, "carrier"));
        }
        settle(&world);
        double left = worst_tie(&world);
        printf("%s: pulled off by %.2g m, %.2g m after %d moves\n", cases[i].name, pulled, left, cases[i].moves);
        CHECK(pulled > 1e-5, cases[i].name);
        CHECK(left < 1e-9, cases[i].name);
        world_close(&world);
    }
}

// The wheel of a robot that stands on blocks hangs low on its suspension; moved there it still turns round its axle.
static void suspended_wheels_stay_round(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 16 }\n"
        "Solid { name \"block\" translation 0 0 0.5 boundingObject Box { size 4 0.2 1 } }\n"
        "Robot { name \"robot\" controller \"<none>\" translation 0 0 1.1 boundingObject Box { size 1 0.5 0.2 } physics Physics { density -1 mass 100 } children [\n"
        "  HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0.4 0 suspensionSpringConstant 1000\n"
        "    suspensionDampingConstant 100 suspensionAxis 0 0 1 } device RotationalMotor { maxVelocity 10 }\n"
        "    endPoint Solid { name \"wheel\" translation 0 0.4 0 boundingObject Sphere { radius 0.1 } physics Physics { density -1 mass 10 } } }\n"
        "  Solid { name \"weight\" translation 0 -0.4 0 boundingObject Sphere { radius 0.1 } physics Physics { density -1 mass 10 } }\n"
        "] }\n");
    int robot = world_solid(&world, "robot"), wheel = world_solid(&world, "wheel"),
        joint = physics_solid_joint(world.physics, wheel);
    physics_motor_set_position(world.physics, joint, 0, INFINITY);
    physics_motor_set_velocity(world.physics, joint, 0, 3.0);
    world_step(&world, 100);
    for (int move = 0; move < 3; move++) {
        Pose pose = physics_solid_pose(world.physics, robot);
        pose.t.x += 0.1;
        physics_solid_set_pose(world.physics, robot, pose);
        double low = 1.0, high = -1.0;
        for (int i = 0; i < 250; i++) {
            world_step(&world, 1);
            double x = physics_solid_pose(world.physics, wheel).t.x - physics_solid_pose(world.physics, robot).t.x;
            low = i < 100 ? low : fmin(low, x);
            high = i < 100 ? high : fmax(high, x);
        }
        CHECK(high - low < 1e-3, "the wheel swings fore and aft");
    }
    double sag = physics_solid_pose(world.physics, robot).t.z - physics_solid_pose(world.physics, wheel).t.z;
    CHECK(fabs(sag - 10 * 9.81 / 1000.0) < 2e-3, "its weight against its spring");
    world_close(&world);
}

// An end point that is put somewhere by hand belongs there from then on, at the position that the joint has.
static void end_points_are_put(void **state)
{
    (void)state;
    World world = world_open(carrier);
    int child = world_solid(&world, "hinge");
    SceneNode *node = physics_solid_node(world.physics, child);
    scene_set_vec3(sim_scene(world.sim), node, "translation", vec3(0.6, 0, 0.2));
    physics_field_changed(world.physics, node, "translation");
    world_step(&world, 500);
    Pose frame = physics_solid_pose(world.physics, world_solid(&world, "carrier"));
    Vec3 at = pose_apply(pose_inverse(frame), physics_solid_pose(world.physics, child).t);
    CHECK(vec3_distance(at, vec3(0.6, 0, 0.2)) < 1e-9, "it stays where it was put");
    CHECK(fabs(physics_joint_position(world.physics, physics_solid_joint(world.physics, child), 0)) < 1e-9,
          "and the joint did not turn");
    world_close(&world);
}

// A finger without physics on a body that moves pushes a box that sleeps, as far as one that cannot sleep.
static void carried_shapes_wake_sleepers(void **state)
{
    (void)state;
    static const char *const times[] = { "0", "0.2" };
    double ends[COUNT_OF(times)];
    for (int i = 0; i < COUNT_OF(times); i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "WorldInfo { basicTimeStep 8 physicsDisableTime %s }\n"
            "Solid { name \"floor\" boundingObject Plane { size 10 10 } }\n"
            "Robot { name \"robot\" controller \"<none>\" children [ SliderJoint { jointParameters JointParameters { axis 1 0 0 }\n"
            "  device LinearMotor { maxForce 1000 maxVelocity 1 } endPoint Solid { name \"arm\" translation 0 0 0.4 boundingObject Box { size 0.1 0.1 0.1 }\n"
            "    physics Physics { } children [ Solid { name \"finger\" translation 0 0 -0.3 boundingObject Box { size 0.05 0.05 0.15 } } ] } } ] }\n"
            "Solid { name \"box\" translation 0.4 0 0.1 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } }\n",
            times[i]);
        World world = world_open(text);
        int box = world_solid(&world, "box"), joint = physics_solid_joint(world.physics, world_solid(&world, "arm"));
        world_step(&world, 125);
        CHECK(physics_solid_is_idle(world.physics, box) == (i > 0), "the box sleeps when it may");
        physics_motor_set_position(world.physics, joint, 0, 0.6);
        physics_motor_set_velocity(world.physics, joint, 0, 0.5);
        world_step(&world, 250);
        ends[i] = world_position(&world, "box").x;
        world_close(&world);
    }
    CHECK(ends[0] > 0.7, "it is pushed");
    CHECK(fabs(ends[0] - ends[1]) < 1e-3, "asleep or not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_keep_their_shape),
        cmocka_unit_test(suspended_wheels_stay_round),
        cmocka_unit_test(end_points_are_put),
        cmocka_unit_test(carried_shapes_wake_sleepers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
