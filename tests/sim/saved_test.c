// A running world that is saved and opened again goes on as the one that was not: joints with their gaps, springs and
// motors.
#include "physics/joints/motor.h"
#include "physics/world.h"

#include <math.h>

#define LINK(def, place)                                                                                               \
    "endPoint DEF " def " Solid { name \"" def "\" translation " place                                                 \
    " boundingObject Box { size 0.3 0.1 0.1 } physics Physics { density 500 } "
#define CARRIER                                                                                                        \
    "DEF CARRIER Robot { name \"carrier\" controller \"<none>\" translation 0 0 5 linearVelocity 1 0.5 2 angularVelocity 3 2 4 boundingObject Box { size 0.4 0.4 0.4 } physics Physics { density 800 } children [ "

static const struct {
    const char *name, *nodes;
    int drives;
} cases[] = {
    { "fast hinge",
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0 0 } " LINK(
          "A", "0.4 0 0") "angularVelocity 0 20 0 } }",
      0 },
    { "hinges on hinges",
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0 0 } " LINK("A", "0.4 0 0") "children HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.2 0 0 springConstant 20 dampingConstant 0.1 } " LINK(
          "B", "0.4 0 0") "} } } }",
      0 },
    { "slider with a spring",
      "SliderJoint { jointParameters JointParameters { axis 1 0 0 springConstant 200 dampingConstant 2 } " LINK(
          "A", "0.5 0 0") "} }",
      0 },
    { "free slider",
      "SliderJoint { jointParameters JointParameters { axis 1 0 0 maxStop 0.5 minStop -0.01 } " LINK("A",
                                                                                                     "0.5 0 0") "} }",
      0 },
    { "ball", "BallJoint { jointParameters BallJointParameters { anchor 0.2 0 0 } " LINK("A", "0.4 0 0") "} }", 0 },
    { "sprung ball",
      "BallJoint { jointParameters BallJointParameters { anchor 0.2 0 0 springConstant 30 dampingConstant 0.2 } " LINK(
          "A", "0.4 0 0") "} }",
      0 },
    { "suspended hinge 2",
      "Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.3 0 0 suspensionSpringConstant 2000 suspensionDampingConstant 20 suspensionAxis 0 0 1 } "
      "jointParameters2 JointParameters { axis 1 0 0 } " LINK("A", "0.4 0 0") "} }",
      0 },
    { "suspended hinge",
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.3 0 0 suspensionSpringConstant 2000 suspensionDampingConstant 20 suspensionAxis 0 0 1 } " LINK(
          "A", "0.4 0 0") "} }",
      0 },
    { "driven hinge",
      "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0 0 } device [ RotationalMotor { controlPID 8 2 0.1 acceleration 20 maxTorque 50 } Brake { } ] " LINK(
          "A", "0.4 0 0") "} }",
      1 },
    { "driven hinge 2",
      "Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.3 0 0 } jointParameters2 JointParameters { axis 1 0 0 } "
      "device RotationalMotor { name \"m1\" maxTorque 50 } device2 RotationalMotor { name \"m2\" maxTorque 50 } " LINK(
          "A", "0.4 0 0") "} }",
      2 },
    { "driven ball",
      "BallJoint { jointParameters BallJointParameters { anchor 0.2 0 0 } jointParameters2 JointParameters { axis 1 0 0 } jointParameters3 JointParameters { axis 0 0 1 } "
      "device RotationalMotor { name \"m1\" maxTorque 50 } device2 RotationalMotor { name \"m2\" maxTorque 50 } device3 RotationalMotor { name \"m3\" maxTorque 50 } " LINK(
          "A", "0.4 0 0") "} }",
      3 },
};

static void command(World *world, int drives)
{
    for (int axis = 0; axis < drives; axis++) {
        physics_motor_set_position(world->physics, 0, axis, axis == 1 ? INFINITY : 0.8);
        physics_motor_set_velocity(world->physics, 0, axis, 3.0 - axis);
    }
    if (drives == 1)
        physics_brake_set_damping(world->physics, 0, 0, 0.5);
}

// The farthest that anything is apart, in metres.
static double apart(const World *a, const World *b)
{
    double worst = 0.0;
    for (int i = 0; i < physics_solid_count(a->physics); i++)
        worst = fmax(worst, vec3_distance(physics_solid_pose(a->physics, i).t,
                                          world_position(b, physics_solid_label(a->physics, i))));
    return worst;
}

static World reopened(World *world, const char *path)
{
    CHECK(sim_save(world->sim, path), path);
    World again = { .diags = diag_create() };
    SimOptions options = { .physics = { .stepper = physics_stepper_name(world->physics) } };
    again.sim = sim_load(path, &options, again.diags);
    CHECK(again.sim && diag_total(again.diags, DIAG_WARNING) == 0 && !diag_has_errors(again.diags), path);
    again.physics = sim_physics(again.sim);
    return again;
}

static void joints_go_on(void **state)
{
    char path[4096], text[4096];
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("saved_joints"));
    for (int i = 0; i < COUNT_OF(cases); i++) {
        snprintf(text, sizeof text, "WorldInfo { basicTimeStep 16 } " CARRIER "%s ] }", cases[i].nodes);
        World world = world_open_with(text, &(SimOptions){ .physics = { .stepper = *state } });
        command(&world, cases[i].drives);
        world_step(&world, 23);
        World again = reopened(&world, path);
        world_step(&world, 50);
        world_step(&again, 50);
        double gap = apart(&world, &again);
        print_message("%s, %s: %.1e m apart after 50 steps\n", cases[i].name, (const char *)*state, gap);
        CHECK_NEAR(gap, 0, 1e-9, cases[i].name);
        CHECK(world_velocity(&world, "A").x != 0 && fabs(physics_joint_position(world.physics, 0, 0)) > 1e-6,
              "it does move");
        world_close(&again);
        world_close(&world);
    }
}

// Whoever moves a solid in the file means the new place: what was kept counts no more.
static void edited_files_start_anew(void **state)
{
    (void)state;
    char path[4096], text[4096];
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("saved_edited"));
    snprintf(text, sizeof text, "WorldInfo { basicTimeStep 16 } " CARRIER "%s ] }", cases[8].nodes);
    World world = world_open(text);
    command(&world, 1);
    world_step(&world, 23);
    double position = physics_joint_position(world.physics, 0, 0);
    CHECK(sim_save(world.sim, path), path);
    SceneNode *link = scene_find_def(sim_scene(world.sim), "A");
    scene_set_vec3(sim_scene(world.sim), link, "translation",
                   vec3_add(scene_vec3(link, "translation"), vec3(0.1, 0, 0)));
    Text saved = { 0 };
    formats_write(sim_scene(world.sim), &saved);
    World again = { .diags = diag_create() };
    again.sim = sim_load_text("edited.wbt", saved.data, saved.length, NULL, again.diags);
    CHECK(again.sim != NULL, "edited");
    again.physics = sim_physics(again.sim);
    CHECK_NEAR(physics_joint_position(again.physics, 0, 0), position, 0, "position");
    CHECK_NEAR(physics_motor(again.physics, 0, 0).target_position, position, 0,
               "a motor holds its place until it is told");
    world_step(&again, 10);
    text_free(&saved);
    world_close(&again);
    world_close(&world);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

// check_saved_hidden_parameters: what moves inside of an instance is where it was, and as fast, however often it is
// saved and opened.
static void instances_keep_what_moves_inside(void **state)
{
    (void)state;
    char proto[4096], path[4096];
    const char *folder = support_scratch("saved_instance");
    snprintf(proto, sizeof proto, "%s/Arm.proto", folder);
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    write_text(
        proto,
        "#VRML_SIM R2025a utf8\nPROTO Arm [ field SFVec3f translation 0 0 0 ] { Robot { translation IS translation controller \"<none>\" boundingObject Box { size 0.4 0.4 0.4 } "
        "physics Physics { } children HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0.2 0 0 } " LINK("A", "0.4 0 0") "children Hinge2Joint { jointParameters HingeJointParameters { axis 0 0 1 anchor 0.2 0 0 } jointParameters2 JointParameters { axis 0 1 0 } " LINK(
            "B", "0.4 0 0") "} } } } } }\n");
    write_text(
        path,
        "#VRML_SIM R2025a utf8\nEXTERNPROTO \"Arm.proto\"\nWorldInfo { basicTimeStep 16 }\nViewpoint { }\nSolid { name \"floor\" boundingObject Plane { } }\nDEF ARM Arm { translation 0 0 1 }\n");
    World world = { .diags = diag_create() };
    world.sim = sim_load(path, NULL, world.diags);
    CHECK(world.sim && !diag_has_errors(world.diags), path);
    world.physics = sim_physics(world.sim);
    for (int round = 0; round < 3; round++) {
        world_step(&world, 10);
        World again = reopened(&world, path);
        CHECK_NEAR(apart(&world, &again), 0, 1e-12, "place");
        for (int i = 0; i < physics_solid_count(world.physics); i++) {
            const char *label = physics_solid_label(world.physics, i);
            CHECK_NEAR(vec3_distance(physics_solid_linear_velocity(world.physics, i), world_velocity(&again, label)), 0,
                       1e-12, label);
            CHECK_NEAR(vec3_distance(physics_solid_angular_velocity(world.physics, i), world_spin(&again, label)), 0,
                       1e-12, label);
        }
        for (int joint = 0; joint < 2; joint++)
            for (int axis = 0; axis <= joint; axis++)
                CHECK_NEAR(physics_joint_position(again.physics, joint, axis),
                           physics_joint_position(world.physics, joint, axis), 0, "position");
        world_step(&world, 7);
        world_step(&again, 7);
        CHECK_NEAR(apart(&world, &again), 0, 1e-9, "later");
        world_close(&world);
        world = again;
    }
    CHECK(fabs(physics_joint_position(world.physics, 0, 0)) > 0.05
              && fabs(physics_joint_position(world.physics, 1, 1)) > 0.01,
          "they did move");
    world_close(&world);
}

// Numbers that no joint can be at are named and left alone; nothing explodes.
static void bad_numbers_are_named(void **state)
{
    (void)state;
    static const struct {
        int index;
        double value;
    } faults[] = { { 3, 5.0 },      { 14, 1e300 },  { 17, 0.0 },       { 28, 1e300 }, { 31, 5.0 },
                   { 35 + 15, -1 }, { 35 + 16, 7 }, { 35 + 16, -0.5 }, { -1, 0 } };
    char path[4096], text[4096];
    snprintf(path, sizeof path, "%s/saved.wbt", support_scratch("saved_bad"));
    snprintf(text, sizeof text, "WorldInfo { basicTimeStep 16 } " CARRIER "%s ] }", cases[8].nodes);
    for (int i = 0; i < COUNT_OF(faults); i++) {
        World world = world_open(text);
        command(&world, 1);
        world_step(&world, 23);
        CHECK(sim_save(world.sim, path), path);
        SceneNode *joint = scene_parent(scene_find_def(sim_scene(world.sim), "A"));
        FieldList *list = scene_list_edit(sim_scene(world.sim), joint, "motion");
        CHECK(list->count == 35 + 17, "one axis");
        if (faults[i].index < 0)
            list->count--;
        else
            list->numbers[faults[i].index] = faults[i].value;
        Text saved = { 0 };
        formats_write(sim_scene(world.sim), &saved);
        world_close(&world);
        world = (World){ .diags = diag_create() };
        world.sim = sim_load_text("bad.wbt", saved.data, saved.length, NULL, world.diags);
        text_free(&saved);
        CHECK(world.sim != NULL, "it loads");
        world.physics = sim_physics(world.sim);
        CHECK(world_said(&world, "saved motion does not fit") == 1, "named");
        world_step(&world, 5);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "joints_go_on (talus)", joints_go_on, NULL, NULL, "talus" },
        { "joints_go_on (ode-exact)", joints_go_on, NULL, NULL, "ode-exact" },
        cmocka_unit_test(edited_files_start_anew),
        cmocka_unit_test(bad_numbers_are_named),
        cmocka_unit_test(instances_keep_what_moves_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
