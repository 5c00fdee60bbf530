// Every robot of the library moves each of its joints once: wheels turn at a fifth of their speed for a second, all
// other joints go a little way up and back, one joint after the other. Nothing falls over, nothing passes through the
// floor, no message comes.
#include "base/diag.h"
#include "base/text.h"
#include "physics/joints/motor.h"
#include "place.h"
#include "sim/sim.h"
#include "support/support.h"

#include <math.h>

enum { STEP_MS = 8, STEPS_OF_ONE = 40 };

// What they do not do, and why.
static const struct Exception {
    const char *name, *why;
    bool may_fall, has_servos;
} exceptions[] = {
    { "Blimp", "floats by its physics plugin alone", true },
    { "BB-8", "a ball that rolls its own body", true },
    { "Yamor", "one module of a snake: its lever tips it", true },
    { "Khr2hv", "its servos have no limits and are no wheels", .has_servos = true },
    { "QRIO", "its servos have no limits and are no wheels", .has_servos = true },
};

// Postures of published demos: all motors whose name ends so go there in two seconds and back in two more.
static const struct Posture {
    const char *name, *motor;
    double target;
} postures[] = {
    { "Spot", "left shoulder abduction motor", -0.4 },
    { "Spot", "right shoulder abduction motor", 0.4 },
    { "Spot", "shoulder rotation motor", -0.99 },
    { "Spot", "elbow motor", 1.59 },  // lies down and stands up
    { "Pr2", "_finger_gripper_motor::l_finger", 0.5 },
    { "Pr2", "_shoulder_lift_joint", 1.35 },  // opens both hands, lowers both arms
    { "GhostDog", "spine", 0.2 },
    { "Youbot", "arm2", -0.5 },
    { "Nao", "ShoulderPitch", 1.0 },
    { "Nao", "HeadYaw", 1.0 },
};

typedef struct Trial {
    const char *name;
    Sim *sim;
    SceneNode *robot;
    bool has_servos;    // joints without limits are no wheels
    double sunk, tilt;  // lowest centre of mass and tilt so far
} Trial;

static bool find_lowest(SceneNode *node, void *context)
{
    Trial *trial = context;
    Physics *physics = sim_physics(trial->sim);
    int solid = scene_node_is(node, "Solid") ? physics_solid_of(physics, node) : -1;
    if (solid >= 0)
        trial->sunk = fmin(trial->sunk, physics_solid_center_of_mass(physics, solid).z);
    return true;
}

static void look(Trial *trial)
{
    Physics *physics = sim_physics(trial->sim);
    int solid = physics_solid_of(physics, trial->robot);
    scene_walk(trial->robot, false, find_lowest, trial);
    double up = quat_rotate(physics_solid_pose(physics, solid).q, vec3(0, 0, 1)).z;
    trial->tilt = fmax(trial->tilt, acos(fmin(fmax(up, -1.0), 1.0)));
}

static void run(Trial *trial, int steps)
{
    for (int i = 0; i < steps && sim_step(trial->sim); i++)
        if (i % 10 == 9)
            look(trial);
}

// Three degrees or a tenth of the range, whichever is less, upwards if there is room.
static double small_target(const PhysicsMotor *motor, double position, bool is_linear)
{
    double range = motor->max_position - motor->min_position, way = fmin(is_linear ? 0.02 : 0.05, 0.1 * range);
    return position + way <= motor->max_position ? position + way : position - way;
}

static void move_joint(Trial *trial, int joint, int axis)
{
    Physics *physics = sim_physics(trial->sim);
    PhysicsMotor motor = physics_motor(physics, joint, axis);
    if (motor.max_velocity <= 0.0)
        return;
    double position = physics_joint_position(physics, joint, axis);
    bool has_limits = motor.min_position != motor.max_position,
         is_linear = physics_joint_kind(physics, joint) == PHYSICS_JOINT_SLIDER;
    if (!has_limits && !trial->has_servos)
        return;
    if (!has_limits)
        motor.min_position = -1.0, motor.max_position = 1.0;
    physics_motor_set_velocity(physics, joint, axis, fmin(motor.max_velocity, is_linear ? 0.1 : 0.25));
    physics_motor_set_position(physics, joint, axis, small_target(&motor, position, is_linear));
    run(trial, STEPS_OF_ONE);
    physics_motor_set_position(physics, joint, axis, position);
    run(trial, STEPS_OF_ONE);
}

static void turn_wheels(Trial *trial, double share)
{
    Physics *physics = sim_physics(trial->sim);
    for (int joint = 0; joint < physics_joint_count(physics); joint++)
        for (int axis = 0; physics_joint_exists(physics, joint) && axis < physics_joint_axis_count(physics, joint);
             axis++) {
            PhysicsMotor motor = physics_motor(physics, joint, axis);
            if (motor.max_velocity <= 0.0 || motor.min_position != motor.max_position)
                continue;
            physics_motor_set_position(physics, joint, axis, INFINITY);
            physics_motor_set_velocity(physics, joint, axis, share * fmin(motor.max_velocity, 20.0));
        }
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && !strcmp(text + length - of_end, end);
}

typedef struct Posing {
    Trial *trial;
    double share;
    int count;
} Posing;

static bool pose_motor(SceneNode *node, void *context)
{
    Posing *posing = context;
    Physics *physics = sim_physics(posing->trial->sim);
    int joint, axis;
    if (!scene_node_is(node, "Motor") || !physics_axis_of(physics, node, &joint, &axis))
        return true;
    for (int i = 0; i < COUNT_OF(postures); i++) {
        if (strcmp(postures[i].name, posing->trial->name) || !ends_with(scene_string(node, "name"), postures[i].motor))
            continue;
        physics_motor_set_velocity(physics, joint, axis, physics_motor(physics, joint, axis).max_velocity);
        CHECK(!physics_motor_set_position(physics, joint, axis, posing->share * postures[i].target), postures[i].motor);
        posing->count++;
    }
    return true;
}

// Sends the motors of the robot's postures to a share of their targets. Returns how many.
static int take_posture(Trial *trial, double share)
{
    Posing posing = { trial, share, 0 };
    scene_walk(trial->robot, false, pose_motor, &posing);
    return posing.count;
}

static void act_demo(Trial *trial)
{
    enum { STEPS = 250 };
    bool has_demo = false;
    for (int i = 0; i < COUNT_OF(postures); i++)
        has_demo |= !strcmp(postures[i].name, trial->name);
    for (int i = 1; has_demo && i <= 2 * STEPS; i++) {
        CHECK(take_posture(trial, (i <= STEPS ? i : 2 * STEPS - i) / (double)STEPS) > 0, trial->name);
        run(trial, 1);
        if (i % 10 == 0)
            look(trial);
    }
}

static const struct Exception *exception_of(const char *name)
{
    for (int i = 0; i < COUNT_OF(exceptions); i++)
        if (!strcmp(exceptions[i].name, name))
            return &exceptions[i];
    return NULL;
}

static int moved_count, failed_count;

static void move(Trial *trial)
{
    Physics *physics = sim_physics(trial->sim);
    run(trial, 125);
    trial->tilt = 0.0;
    for (int joint = 0; joint < physics_joint_count(physics); joint++)
        for (int axis = 0; physics_joint_exists(physics, joint) && axis < physics_joint_axis_count(physics, joint);
             axis++)
            move_joint(trial, joint, axis);
    act_demo(trial);
    if (trial->has_servos)
        return;
    turn_wheels(trial, 0.2);
    run(trial, 125);
    turn_wheels(trial, 0.0);
    run(trial, 125);
}

static void write_world(Text *world, const char *name, double height)
{
    text_clear(world);
    text_printf(
        world,
        "#VRML_SIM R2025a utf8\nEXTERNPROTO \"webots://projects/p/protos/Floor.proto\"\nEXTERNPROTO \"webots://projects/p/protos/%s.proto\"\n"
        "WorldInfo { basicTimeStep %d contactProperties [ ContactProperties { softCFM 1e-5 } ] }\nViewpoint { }\nFloor { size 50 50 }\n"
        "%s { translation 0 0 %.6f controller \"<none>\" }\n",
        name, STEP_MS, name, height);
}

static void try_robot(const char *name, const Text *world)
{
    DiagSink *diags = diag_create();
    Trial trial = { .name = name, .sim = sim_load_text("motion.wbt", world->data, world->length, NULL, diags) };
    CHECK(trial.sim, name);
    trial.robot = place_find_robot(sim_scene(trial.sim));
    if (physics_joint_count(sim_physics(trial.sim)) > 0) {
        const struct Exception *exception = exception_of(name);
        trial.has_servos = exception && exception->has_servos;
        move(&trial);
        bool falls = trial.tilt > 0.5 && !(exception && exception->may_fall), sinks = trial.sunk < -0.02,
             fails = sim_failure(trial.sim) != NULL;
        if (falls || sinks || fails || diag_total(diags, DIAG_ERROR) > 0) {
            printf("%-24s tilt %.3f rad, lowest %.3f m, %s\n", name, trial.tilt, trial.sunk,
                   fails ? sim_failure(trial.sim) : "");
            diag_print(diags, stdout, 3, DIAG_ERROR);
            failed_count++;
        }
        moved_count++;
    }
    sim_destroy(trial.sim);
    diag_destroy(diags);
}

static void try_proto(const char *path, void *context)
{
    (void)context;
    char name[128];
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    *strrchr(name, '.') = '\0';
    Text world = { 0 };
    write_world(&world, name, 0.0);
    DiagSink *diags = diag_create();
    Scene *scene = formats_load_text("motion.wbt", world.data, world.length, NULL, diags);
    bool is_robot = scene && place_find_robot(scene);
    scene_destroy(scene);
    if (is_robot) {
        write_world(&world, name, place_height(world.data, world.length, name));
        try_robot(name, &world);
    }
    diag_destroy(diags);
    text_free(&world);
}

static void test_robots_move(void **state)
{
    (void)state;
    support_each_file("library/protos/robots", ".proto", try_proto, NULL);
    printf("%d robots moved\n", moved_count);
    assert_int_equal(failed_count, 0);
    assert_true(moved_count > 60);
}

typedef struct Grip {
    Sim *sim;
    double share;         // of the motors' way
    double nearest;       // of the pads to the middle
    double highest_tilt;  // of the pads
    int pad_count;
} Grip;

static bool drive(SceneNode *node, void *context)
{
    Grip *grip = context;
    Physics *physics = sim_physics(grip->sim);
    int joint, axis;
    if (scene_node_is(node, "Motor") && physics_axis_of(physics, node, &joint, &axis))
        physics_motor_set_position(physics, joint, axis,
                                   grip->share * physics_motor(physics, joint, axis).max_position);
    return true;
}

static bool measure(SceneNode *node, void *context)
{
    Grip *grip = context;
    if (!scene_node_is(node, "Solid") || !ends_with(scene_string(node, "name"), "inner finger pad"))
        return true;
    Pose pose = physics_solid_pose(sim_physics(grip->sim), physics_solid_of(sim_physics(grip->sim), node));
    grip->nearest = fmin(grip->nearest, fabs(pose.t.y));
    grip->highest_tilt = fmax(grip->highest_tilt, acos(fmin(quat_rotate(pose.q, vec3(0, 0, 1)).z, 1.0)));
    grip->pad_count++;
    return true;
}

// The pads of a two-finger gripper stay upright on their parallelograms and meet in the middle; half of the published
// opening on each side at the start.
static void test_grippers_close(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double open, closed;  // m, from the middle of a pad to that of the gripper
    } grippers[] = { { "Robotiq2f85Gripper", 0.0462, 0.0039 }, { "Robotiq2f140Gripper", 0.068, 0.0037 } };
    for (int i = 0; i < COUNT_OF(grippers); i++) {
        Text world = { 0 };
        text_printf(
            &world,
            "#VRML_SIM R2025a utf8\nEXTERNPROTO \"webots://projects/p/protos/%s.proto\"\nWorldInfo { basicTimeStep %d }\n"
            "Viewpoint { }\nDEF R Robot { children [ %s { } ] controller \"<none>\" }\n",
            grippers[i].name, STEP_MS, grippers[i].name);
        DiagSink *diags = diag_create();
        Sim *sim = sim_load_text("grip.wbt", world.data, world.length, NULL, diags);
        CHECK(sim && diag_total(diags, DIAG_WARNING) == 0, grippers[i].name);
        SceneNode *robot = scene_actual(scene_find_def(sim_scene(sim), "R"));
        for (int share = 0; share <= 1; share++) {
            Grip grip = { .sim = sim, .share = share, .nearest = 1.0 };
            scene_walk(robot, false, drive, &grip);
            for (int step = 0; step < 150; step++)
                sim_step(sim);
            scene_walk(robot, false, measure, &grip);
            CHECK_NEAR(grip.nearest, share ? grippers[i].closed : grippers[i].open, 0.001, grippers[i].name);
            CHECK(grip.pad_count == 2 && grip.highest_tilt < 0.05, grippers[i].name);
        }
        sim_destroy(sim);
        diag_destroy(diags);
        text_free(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_robots_move), cmocka_unit_test(test_grippers_close) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
