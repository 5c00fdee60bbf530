// Bodies in motion against formulas.
#include "formats/body/body.h"
#include "physics/joints/motor.h"
#include "sim/sim.h"

#include "support/support.h"

#include <math.h>

#define HEADER "format: ChoreonoidBody\nformat_version: 2.0\nname: B\n"
static const double g = 9.80665, pi = 3.14159265358979323846;

typedef struct World {
    Sim *sim;
    Physics *physics;
    DiagSink *diags;
} World;

static World open_body(const char *text)
{
    World world = { .diags = diag_create() };
    world.sim = sim_load_text("test.body", text, strlen(text), NULL, world.diags);
    if (!world.sim || diag_has_errors(world.diags)) {
        diag_print(world.diags, stdout, 0, DIAG_NOTE);
        fail_msg("the body does not load");
    }
    world.physics = sim_physics(world.sim);
    return world;
}

static void close_body(World *world)
{
    sim_destroy(world->sim);
    diag_destroy(world->diags);
}

static void run(World *world, int steps)
{
    for (int i = 0; i < steps; i++)
        CHECK(sim_step(world->sim), "step");
}

static int solid_named(const World *world, const char *name)
{
    const SceneNode *node = scene_find_solid(sim_scene(world->sim), name);
    CHECK(node != NULL, name);
    return physics_solid_of(world->physics, node);
}

static int joint_of(const World *world, const char *link)
{
    return physics_solid_joint(world->physics, solid_named(world, link));
}

// Small swings: period 2 pi sqrt((I + m l^2 + J) / (m g l)), J = gear^2 * rotor.
static void rotor_slows_a_pendulum(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        double rotor;
    } cases[] = { { "rotor_inertia: 0", 0.0 },
                  { "rotor_inertia: 0.001, gear_ratio: 20", 0.4 },
                  { "joint_axis_inertia: 0.2, rotor_inertia: 9", 0.2 } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            HEADER
            "links:\n  - { name: R }\n  - { name: P, parent: R, joint_type: revolute, joint_axis: X, joint_displacement: 2, mass: 2, center_of_mass: [ 0, 0, -0.5 ],"
            " inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ], %s }\n",
            cases[i].keys);
        World world = open_body(text.data);
        int joint = joint_of(&world, "P"), crossings = 0;
        double expected = 2.0 * pi * sqrt((0.1 + 2 * 0.25 + cases[i].rotor) / (2 * g * 0.5)), last = 1.0,
               first_time = 0.0, last_time = 0.0;
        for (int step = 0; step < 10000; step++) {
            run(&world, 1);
            double q = physics_joint_position(world.physics, joint, 0);
            if (last > 0.0 && q <= 0.0) {
                last_time = sim_time(world.sim) - 0.001 * (-q) / (last - q);
                if (crossings++ == 0)
                    first_time = last_time;
            }
            last = q;
        }
        CHECK(crossings > 3, "swings");
        // 2 degrees of swing lengthen the period by 8e-5 of it.
        CHECK_NEAR((last_time - first_time) / (crossings - 1), expected, 3e-4 * expected, cases[i].keys);
        close_body(&world);
        text_free(&text);
    }
}

static void a_slide_falls(void **state)
{
    (void)state;
    World world = open_body(
        HEADER
        "links:\n  - { name: R }\n  - { name: S, parent: R, joint_type: prismatic, joint_axis: [ 0, 0, 1 ], joint_range: [ -3, 1 ], mass: 3, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }\n");
    int joint = joint_of(&world, "S");
    run(&world, 500);
    CHECK_NEAR(physics_joint_velocity(world.physics, joint, 0), -g * 0.5, 1e-6, "velocity");
    CHECK_NEAR(physics_joint_position(world.physics, joint, 0), -0.5 * g * 0.25, 0.003, "way");
    run(&world, 2500);
    CHECK_NEAR(physics_joint_position(world.physics, joint, 0), -3.0, 1e-3, "the range holds it");
    close_body(&world);
}

// Four bars of a parallelogram with one driven by gravity: the loop stays closed.
static void four_bars_stay_closed(void **state)
{
    (void)state;
    World world = open_body(
        HEADER
        "links:\n  - { name: R }\n"
        "  - { name: A, parent: R, joint_type: revolute, joint_axis: Y, joint_displacement: 60, mass: 1, center_of_mass: [ 0, 0, 0.5 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "  - { name: C, parent: A, translation: [ 0, 0, 1 ], joint_type: revolute, joint_axis: Y, joint_displacement: -60, mass: 1, center_of_mass: [ 1, 0, 0 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "  - { name: D, parent: R, translation: [ 2, 0, 0 ], joint_type: revolute, joint_axis: Y, joint_displacement: 60, mass: 1, center_of_mass: [ 0, 0, 0.5 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "extra_joints:\n  - { link1_name: C, link2_name: D, joint_type: hinge, axis: [ 0, 1, 0 ], translation_in_link1: [ 2, 0, 0 ], translation_in_link2: [ 0, 0, 1 ] }\n");
    double worst = 0.0;
    for (int i = 0; i < 5000; i++) {
        run(&world, 1);
        Pose c = physics_solid_pose(world.physics, solid_named(&world, "C")),
             b = physics_solid_pose(world.physics, solid_named(&world, "D"));
        worst = fmax(worst, vec3_distance(pose_apply(c, vec3(2, 0, 0)), pose_apply(b, vec3(0, 0, 1))));
    }
    printf("four bars: %.1e m\n", worst);
    CHECK(worst < 1e-4, "closed");
    close_body(&world);
}

static const char floor_and_robot[] = HEADER
    "links:\n  - { name: FLOOR, material: Ground, elements: { Shape: { translation: [ 0, 0, -0.5 ], geometry: { type: Box, size: [ 40, 40, 1 ] } } } }\n";

static void tracks_reach_their_speed(void **state)
{
    (void)state;
    Text text = { 0 };
    text_printf(
        &text,
        "%s  - { name: CAR, parent: FLOOR, joint_type: free, translation: [ 0, 0, 0.1 ], mass: 10, inertia: [ 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5 ] }\n"
        "  - { name: L, parent: CAR, translation: [ 0, 0.3, 0 ], joint_type: pseudo_continuous_track, joint_axis: Y, mass: 1, inertia: [ 0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.02 ],"
        " elements: &T { Shape: { geometry: { type: Box, size: [ 0.6, 0.1, 0.2 ] } } } }\n"
        "  - { name: M, parent: CAR, translation: [ 0, -0.3, 0 ], joint_type: pseudo_continuous_track, joint_axis: Y, mass: 1, inertia: [ 0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.02 ], elements: *T }\n",
        floor_and_robot);
    World world = open_body(text.data);
    const SceneNode *left = scene_find_solid(sim_scene(world.sim), "L"),
                    *right = scene_find_solid(sim_scene(world.sim), "M");
    int joint, axis;
    const SceneNode *const tracks[] = { left, right };
    for (int i = 0; i < 2; i++) {
        CHECK(physics_axis_of(world.physics, scene_list_node(scene_list(tracks[i], "device"), 0), &joint, &axis),
              "motor");
        physics_motor_set_velocity(world.physics, joint, axis, 1.0);
    }
    int car = solid_named(&world, "CAR");
    run(&world, 100);
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, car).x, 0.5 * g * 0.1, 0.02, "friction 0.5 pulls it");
    run(&world, 900);
    CHECK_NEAR(physics_solid_linear_velocity(world.physics, car).x, 1.0, 1e-3, "the speed of the surface, towards +x");
    close_body(&world);
    text_free(&text);
}

// A load of 5 kg on a foot of 2 kg that stands: the sensor in the foot feels the load, upwards, also when it is turned.
static void force_sensors_feel_the_load(void **state)
{
    (void)state;
    static const struct {
        const char *rotation;
        Vec3 force;
    } cases[] = {
        { "[ 1, 0, 0, 0 ]", { 0, 0, 5 } },
        { "[ 1, 0, 0, 90 ]", { 0, 5, 0 } },
        { "[ 1, 0, 0, 180 ]", { 0, 0, -5 } },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "%s  - { name: LOAD, parent: FLOOR, joint_type: free, translation: [ 0, 0, 0.5 ], mass: 5, inertia: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ] }\n"
            "  - { name: FOOT, parent: LOAD, translation: [ 0, 0, -0.4 ], joint_type: prismatic, joint_axis: X, joint_range: [ 0, 0 ], mass: 2, inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ],"
            " elements: [ { type: Shape, geometry: { type: Box, size: [ 1, 1, 0.2 ] } }, { type: ForceSensor, name: F, rotation: %s } ] }\n",
            floor_and_robot, cases[i].rotation);
        World world = open_body(text.data);
        run(&world, 2000);
        Vec3 force, torque;
        CHECK(physics_force_sensor(world.physics, solid_named(&world, "F"), &force, &torque), "sensor");
        CHECK_NEAR(force.x, cases[i].force.x * g, 0.2, cases[i].rotation);
        CHECK_NEAR(force.y, cases[i].force.y * g, 0.2, cases[i].rotation);
        CHECK_NEAR(force.z, cases[i].force.z * g, 0.2, cases[i].rotation);
        CHECK_NEAR(vec3_length(torque), 0.0, 0.2, cases[i].rotation);
        close_body(&world);
        text_free(&text);
    }
}

// Friction and restitution follow the pair of materials.
static void materials_meet_in_pairs(void **state)
{
    (void)state;
    static const struct {
        const char *material;
        double friction, restitution;
    } cases[] = {
        { "Default", 0.5, 0.0 },
        { "Sole", 1.0, 0.0 },
        { "Slider", 0.0, 0.0 },
        { "Ball", 0.5, 0.8 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "%s  - { name: BOX, material: %s, parent: FLOOR, joint_type: free, translation: [ 0, 0, 0.1 ], mass: 1, inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ],"
            " elements: { Shape: { geometry: { type: Box, size: [ 0.5, 0.5, 0.2 ] } } } }\n",
            floor_and_robot, cases[i].material);
        World world = open_body(text.data);
        int box = solid_named(&world, "BOX");
        physics_solid_set_velocity(world.physics, box, vec3(3, 0, 0), VEC3_ZERO);
        run(&world, 200);
        double expected = fmax(0.0, 3.0 - cases[i].friction * g * 0.2);
        CHECK_NEAR(physics_solid_linear_velocity(world.physics, box).x, expected, 0.05, cases[i].material);
        close_body(&world);
        text_clear(&text);
        text_printf(
            &text,
            "%s  - { name: BALL, material: %s, parent: FLOOR, joint_type: free, translation: [ 0, 0, 1.1 ], mass: 1, inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ],"
            " elements: { Shape: { geometry: { type: Sphere, radius: 0.1 } } } }\n",
            floor_and_robot, cases[i].material);
        world = open_body(text.data);
        int ball = solid_named(&world, "BALL");
        double highest = 0.0;
        for (int step = 0; step < 1500; step++) {
            run(&world, 1);
            if (step > 460)
                highest = fmax(highest, physics_solid_pose(world.physics, ball).t.z - 0.1);
        }
        CHECK_NEAR(highest, cases[i].restitution * cases[i].restitution, 0.03, cases[i].material);
        close_body(&world);
        text_free(&text);
    }
}

// A box on a moving surface that stays where it is: a track about +y and a conveyor along +x carry it to +x.
static void surfaces_carry_a_box(void **state)
{
    (void)state;
    static const struct {
        const char *belt;
        bool is_track;
    } cases[] = {
        { "joint_type: pseudo_continuous_track, joint_axis: Y", true },
        { "elements: [ { type: Conveyor, axis: [ 1, 0, 0 ], speed: 0.5 }, { type: Shape, geometry: { type: Box, size: [ 8, 2, 0.2 ] } } ]",
          false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        for (int order = 0; order < 2; order++) {
            const char *box =
                "  - { name: BOX, parent: R, joint_type: free, translation: [ 0, 0, 0.2 ], mass: 1, inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ],"
                " elements: { Shape: { geometry: { type: Box, size: [ 0.2, 0.2, 0.2 ] } } } }\n";
            Text text = { 0 };
            text_printf(&text, HEADER "links:\n  - { name: R }\n%s  - { name: BELT, parent: R, %s%s }\n%s",
                        order ? box : "", cases[i].belt,
                        cases[i].is_track ? ", elements: { Shape: { geometry: { type: Box, size: [ 8, 2, 0.2 ] } } }"
                                          : "",
                        order ? "" : box);
            World world = open_body(text.data);
            if (cases[i].is_track) {
                int joint, axis;
                const SceneNode *belt = scene_find_solid(sim_scene(world.sim), "BELT");
                CHECK(physics_axis_of(world.physics, scene_list_node(scene_list(belt, "device"), 0), &joint, &axis),
                      "motor");
                physics_motor_set_velocity(world.physics, joint, axis, 0.5);
            }
            run(&world, 1000);
            CHECK_NEAR(physics_solid_linear_velocity(world.physics, solid_named(&world, "BOX")).x, 0.5, 1e-3,
                       cases[i].belt);
            close_body(&world);
            text_free(&text);
        }
    }
}

// Two free boxes in one another's way: they collide unless a rule says otherwise.
static void rules_keep_links_apart(void **state)
{
    (void)state;
    static const struct {
        const char *rules;
        bool touches;
    } cases[] = {
        { "", true },
        { "collision_detection_rules: [ { disabled_link_group: [ FLOOR, BOX ] } ]\n", false },
        { "collision_detection_rules: [ { disabled_link_group: [ FLOOR, BOX ] }, { enabled_link_group: [ BOX, FLOOR ] } ]\n",
          true },
        { "collision_detection_rules: [ { disabled_link_chain_level: 1 } ]\n", true },  // a free link is no neighbour
        { "collision_detection_rules: [ { disabled_links: [ BOX ] } ]\n", false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_printf(
            &text,
            "%s  - { name: BOX, parent: FLOOR, joint_type: free, translation: [ 0, 0, 0.2 ], mass: 1, inertia: [ 0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01 ],"
            " elements: { Shape: { geometry: { type: Box, size: [ 0.2, 0.2, 0.2 ] } } } }\n%s",
            floor_and_robot, cases[i].rules);
        World world = open_body(text.data);
        run(&world, 500);
        double height = physics_solid_pose(world.physics, solid_named(&world, "BOX")).t.z;
        CHECK(cases[i].touches ? fabs(height - 0.1) < 0.01 : height < -0.5, cases[i].rules);
        close_body(&world);
        text_free(&text);
    }
}

// A world that was saved on its way has its bodies where they were, joints included.
static void saving_keeps_joints(void **state)
{
    (void)state;
    char body[4096], saved[4096], path[4096];
    const char *folder = support_scratch("body_saved");
    snprintf(body, sizeof body, "%s/arm.body", folder);
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    snprintf(saved, sizeof saved, "%s/saved.wbt", folder);
    support_write(
        body, HEADER
        "links:\n  - { name: R }\n  - { name: P, parent: R, joint_type: revolute, joint_axis: X, joint_id: 0, mass: 2, center_of_mass: [ 0, 0.5, 0 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n");
    support_write(
        path,
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 2 }\nViewpoint { }\nBody { url \"arm.body\" translation 1 0 0 }\n");
    World world = { .diags = diag_create() };
    world.sim = sim_load(path, NULL, world.diags);
    CHECK(world.sim != NULL, path);
    world.physics = sim_physics(world.sim);
    run(&world, 100);
    double q = physics_joint_position(world.physics, joint_of(&world, "P"), 0);
    CHECK(q < -0.1 && sim_save(world.sim, saved), "swung and saved");
    close_body(&world);
    world = (World){ .diags = diag_create() };
    world.sim = sim_load(saved, NULL, world.diags);
    CHECK(world.sim && !diag_has_errors(world.diags), saved);
    world.physics = sim_physics(world.sim);
    CHECK_NEAR(physics_joint_position(world.physics, joint_of(&world, "P"), 0), q, 1e-12, "joint");
    close_body(&world);
}

// A world that was saved in mid-flight goes on where it was: velocities, links without an id, free links, several turns
// of a joint.
static void saved_worlds_go_on(void **state)
{
    (void)state;
    char body[4096], saved[4096], path[4096];
    const char *folder = support_scratch("body_goes_on");
    snprintf(body, sizeof body, "%s/toy.body", folder);
    snprintf(path, sizeof path, "%s/world.wbt", folder);
    snprintf(saved, sizeof saved, "%s/saved.wbt", folder);
    support_write(
        body, HEADER
        "links:\n  - { name: R, joint_type: free, mass: 2, inertia: [ 0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3 ] }\n"
        "  - { name: P, parent: R, joint_type: revolute, joint_axis: X, joint_id: 0, mass: 2, center_of_mass: [ 0, 0.5, 0 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "  - { name: Q, parent: P, joint_type: revolute, joint_axis: Y, translation: [ 0, 1, 0 ], mass: 1, center_of_mass: [ 0.1, 0.2, 0 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "  - { name: S, parent: P, joint_type: prismatic, joint_axis: Z, mass: 1, inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n"
        "  - { name: F, parent: Q, joint_type: free, translation: [ 0, 3, 1 ], mass: 1, inertia: [ 0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.1 ] }\n");
    support_write(
        path,
        "#VRML_SIM R2025a utf8\nWorldInfo { basicTimeStep 2 }\nViewpoint { }\nBody { url \"toy.body\" translation 1 0 9 }\n");
    static const char *const links[] = { "P", "Q", "S", "F", "B" };
    Pose expected[COUNT_OF(links)];
    World world = { .diags = diag_create() };
    world.sim = sim_load(path, NULL, world.diags);
    CHECK(world.sim != NULL, path);
    world.physics = sim_physics(world.sim);
    physics_solid_set_velocity(world.physics, solid_named(&world, "B"), vec3(1, 2, 3), vec3(1, 2, 1));
    physics_solid_set_velocity(world.physics, solid_named(&world, "P"), vec3(0, 0, 1), vec3(8, 0, 0));
    physics_solid_set_velocity(world.physics, solid_named(&world, "F"), vec3(0, 1, 4), vec3(0, 3, 1));
    run(&world, 600);
    CHECK(sim_save(world.sim, saved), saved);
    run(&world, 100);
    for (int i = 0; i < COUNT_OF(links); i++)
        expected[i] = physics_solid_pose(world.physics, solid_named(&world, links[i]));
    double q = physics_joint_position(world.physics, joint_of(&world, "P"), 0);
    close_body(&world);
    world = (World){ .diags = diag_create() };
    world.sim = sim_load(saved, NULL, world.diags);
    CHECK(world.sim && diag_total(world.diags, DIAG_WARNING) == 0 && !diag_has_errors(world.diags), saved);
    world.physics = sim_physics(world.sim);
    run(&world, 100);
    // Joints are made anew where their links are: the micrometres by which they had drifted apart are no error to them
    // any more.
    for (int i = 0; i < COUNT_OF(links); i++) {
        Pose pose = physics_solid_pose(world.physics, solid_named(&world, links[i]));
        printf("saved and opened again: %s %.1e m\n", links[i], vec3_distance(pose.t, expected[i].t));
        CHECK(vec3_distance(pose.t, expected[i].t) < (strcmp(links[i], "F") ? 2e-5 : 1e-12), links[i]);
    }
    CHECK_NEAR(physics_joint_position(world.physics, joint_of(&world, "P"), 0), q, 2e-5, "turns are counted");
    close_body(&world);
}

// Links without mass stay finite, and so does all that hangs on them.
static void massless_links_stay_finite(void **state)
{
    (void)state;
    World world = open_body(
        HEADER
        "links:\n  - { name: R }\n  - { name: A, parent: R, joint_type: revolute, joint_axis: X, mass: 0, inertia: [ 0, 0, 0, 0, 0, 0 ], translation: [ 0, 0, 1 ] }\n"
        "  - { name: C, parent: A, joint_type: revolute, joint_axis: Y, joint_displacement: 60, mass: 1, center_of_mass: [ 0, 0, 0.3 ], inertia: [ 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1 ] }\n");
    run(&world, 2000);
    Pose pose = physics_solid_pose(world.physics, solid_named(&world, "C"));
    CHECK(pose_is_finite(pose), "finite");
    CHECK_NEAR(vec3_distance(pose.t, vec3(0, 0, 1)), 0.0, 1e-3, "in its place");
    close_body(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotor_slows_a_pendulum),      cmocka_unit_test(a_slide_falls),
        cmocka_unit_test(four_bars_stay_closed),       cmocka_unit_test(tracks_reach_their_speed),
        cmocka_unit_test(force_sensors_feel_the_load), cmocka_unit_test(materials_meet_in_pairs),
        cmocka_unit_test(rules_keep_links_apart),      cmocka_unit_test(surfaces_carry_a_box),
        cmocka_unit_test(massless_links_stay_finite),  cmocka_unit_test(saving_keeps_joints),
        cmocka_unit_test(saved_worlds_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
