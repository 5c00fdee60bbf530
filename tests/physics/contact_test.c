// Which pairs touch, what their contacts are made of, and who sleeps.
#include "physics/joints/motor.h"
#include "physics/world.h"

#include <math.h>

#define FLOOR "Solid { name \"floor\" boundingObject Plane { } }\n"
#define BALL(name, place, extra)                                                                                       \
    "DEF " name " Solid { name \"" name "\" translation " place " " extra                                              \
    " boundingObject Sphere { radius 0.5 } physics Physics { density -1 mass 1 } }\n"
#define HINGED(anchor, axis, child)                                                                                    \
    "HingeJoint { jointParameters HingeJointParameters { anchor " anchor " axis " axis " } endPoint " child " }"

static int contacts_between(const World *world, const char *a, const char *b)
{
    int count, found = 0;
    const PhysicsContact *contacts = physics_contacts(world->physics, &count);
    int s = world_solid(world, a), t = world_solid(world, b);
    for (int i = 0; i < count; i++)
        found += (physics_contact_solid(world->physics, &contacts[i], 0) == s
                  && physics_contact_solid(world->physics, &contacts[i], 1) == t)
                 || (physics_contact_solid(world->physics, &contacts[i], 0) == t
                     && physics_contact_solid(world->physics, &contacts[i], 1) == s);
    return found;
}

static void excluded_pairs_do_not_touch(void **state)
{
    (void)state;
    static const struct {
        const char *name, *world;
        bool touches;
    } cases[] = {
        { "two bodies", BALL("A", "0 0 0", "") BALL("B", "0.5 0 0", ""), true },
        { "body and static shape", BALL("A", "0 0 0", "") "DEF B Solid { name \"b\" boundingObject Box { } }", true },
        { "no boundingObject", BALL("A", "0 0 0", "") "DEF B Solid { name \"b\" }", false },
        { "static and static",
          "DEF A Solid { name \"a\" boundingObject Box { } } DEF B Solid { name \"b\" boundingObject Box { } }",
          false },
        { "one robot",
          "Robot { name \"r\" children [ DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } } "
          "DEF B Solid { name \"b\" boundingObject Box { } physics Physics { } } ] }",
          false },
        { "one robot that allows it",
          "Robot { selfCollision TRUE name \"r\" boundingObject Box { } physics Physics { } children [ " HINGED(
              "0 0 0", "1 0 0",
              "DEF A Solid { name \"a\" translation 0 0 1.5 boundingObject Sphere { radius 0.5 } physics Physics { } }") " " HINGED("0 1 0",
                                                                                                                                    "1 0 0",
                                                                                                                                    "DEF B Solid { name \"b\" translation 0 0.5 1.5 boundingObject Sphere { radius 0.5 } physics Physics { } }") " ] }",
          true },
        { "joined by a joint",
          "DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } children [ " HINGED(
              "0 0 0", "1 0 0",
              "DEF B Solid { name \"b\" translation 0 0 1 boundingObject Sphere { } physics Physics { } }") " ] }",
          false },
        { "two hinges at one anchor",
          "DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } children [ " HINGED(
              "0 0 0", "1 0 0",
              "Solid { name \"m\" boundingObject Sphere { radius 0.1 } physics Physics { } children [ " HINGED(
                  "0 0 0", "0 1 0",
                  "DEF B Solid { name \"b\" translation 0 0 1 boundingObject Sphere { } physics Physics { } }") " ] }") " ] }",
          false },
        { "two hinges at two anchors",
          "DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } children [ " HINGED(
              "0 0 0", "1 0 0",
              "Solid { name \"m\" boundingObject Sphere { radius 0.1 } physics Physics { } children [ " HINGED(
                  "0 0 0.2", "0 1 0",
                  "DEF B Solid { name \"b\" translation 0 0 1 boundingObject Sphere { } physics Physics { } }") " ] }") " ] }",
          true },
        { "hung on the static world",
          "Solid { name \"post\" children [ " HINGED(
              "0 0 0", "1 0 0",
              "DEF A Solid { name \"a\" boundingObject Sphere { } physics Physics { } }") " ] } DEF B Solid { name \"b\" boundingObject Box { } }",
          false },
        { "welded to the static world",
          "Robot { name \"r\" children [ DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } } ] } "
          "DEF B Solid { name \"b\" boundingObject Box { } }",
          false },
        { "merged into one body",
          "DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } children [ "
          "DEF B Solid { name \"b\" boundingObject Sphere { } physics Physics { } } ] }",
          false },
        { "a child without physics on its parent",
          "DEF A Solid { name \"a\" boundingObject Box { } physics Physics { } children [ "
          "DEF B Solid { name \"b\" boundingObject Sphere { } } ] }",
          false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        snprintf(text, sizeof(text), "WorldInfo { gravity 0 } %s", cases[i].world);
        World world = world_open(text);
        CHECK((contacts_between(&world, "A", "B") > 0) == cases[i].touches, cases[i].name);
        world_step(&world, 1);
        world_close(&world);
    }
}

static void the_first_fitting_properties_count(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        int expected;
        double friction;
    } cases[] = {
        { "ice", "steel", 0, 0.1 },       { "steel", "ice", 0, 0.1 }, { "ice", "ice", 2, 0.3 },
        { "default", "default", 3, 0.4 }, { "ice", "wood", -1, 1.0 }, { "default", "steel", -1, 1.0 },
        { "inf", "ice", 4, INFINITY },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        snprintf(
            text, sizeof(text),
            "WorldInfo { contactProperties [ ContactProperties { material1 \"ice\" material2 \"steel\" coulombFriction 0.1 } "
            "ContactProperties { material1 \"steel\" material2 \"ice\" coulombFriction 0.2 } ContactProperties { material1 \"ice\" material2 \"ice\" coulombFriction 0.3 } "
            "ContactProperties { coulombFriction 0.4 } ContactProperties { material1 \"ice\" material2 \"inf\" coulombFriction -1 } ] } "
            "Solid { name \"floor\" contactMaterial \"%s\" boundingObject Plane { } } "
            "Solid { name \"ball\" contactMaterial \"%s\" translation 0 0 0.49 boundingObject Sphere { radius 0.5 } physics Physics { } }",
            cases[i].a, cases[i].b);
        World world = world_open(text);
        int count;
        const PhysicsContact *contacts = physics_contacts(world.physics, &count);
        CHECK(count == 1, cases[i].a);
        CHECK(physics_contact_properties(&contacts[0]) == cases[i].expected
                  && physics_contact_surface(world.physics, 0)->mu == cases[i].friction,
              cases[i].b);
        Text out = { 0 };
        physics_explain_materials(world.physics, &out);
        physics_explain_contacts(world.physics, &out);
        CHECK(strstr(out.data, "'ice' on 'steel': ContactProperties 0 (test.wbt:"), "explained");
        text_free(&out);
        world_close(&world);
    }
}

static void contact_forces_carry_the_weight(void **state)
{
    (void)state;
    for (const char *const *stepper = physics_stepper_names(); *stepper; stepper++) {
        World world = world_open_with("WorldInfo { basicTimeStep 4 } " FLOOR
                                      "DEF B Solid { translation 0 0 0.1 boundingObject Box { size 0.5 0.5 0.2 } "
                                      "physics Physics { density -1 mass 3 } }",
                                      &(SimOptions){ .physics.stepper = *stepper });
        physics_want_contact_forces(world.physics, true);
        world_step(&world, 150);
        int count, box = world_solid(&world, "B");
        const PhysicsContactForce *forces = physics_contact_forces(world.physics, &count);
        Vec3 sum = VEC3_ZERO;
        for (int i = 0; i < count; i++)
            sum = forces[i].solid[0] == box ? vec3_add(sum, forces[i].force) : vec3_sub(sum, forces[i].force);
        CHECK(count == 4, *stepper);
        CHECK_NEAR(sum.z, 3 * 9.81, 0.02 * 3 * 9.81, *stepper);
        CHECK_NEAR(sum.x, 0, 0.1, *stepper);
        // Asleep it still weighs on the floor, and the force reads as in the last step that was solved.
        world_step(&world, 400);
        CHECK(physics_solid_is_idle(world.physics, box), "asleep");
        forces = physics_contact_forces(world.physics, &count);
        double weight = 0.0;
        for (int i = 0; i < count; i++)
            weight += forces[i].solid[0] == box ? forces[i].force.z : -forces[i].force.z;
        CHECK(count == 4, "points of a sleeping pair");
        CHECK_NEAR(weight, 3 * 9.81, 0.02 * 3 * 9.81, "weight of a sleeper");
        world_close(&world);
    }
}

static void resting_bodies_sleep_and_wake(void **state)
{
    (void)state;
    World world = world_open("WorldInfo { basicTimeStep 8 physicsDisableTime 0.5 } " FLOOR BALL("A", "0 0 0.5", "")
                                 BALL("B", "0.001 0 1.5", "") BALL("FAR", "5 0 0.5", "") BALL("FREE", "9 0 400", ""));
    int a = world_solid(&world, "A"), far = world_solid(&world, "FAR"), free_ball = world_solid(&world, "FREE");
    physics_solid_set_velocity(world.physics, free_ball, VEC3_ZERO, VEC3_ZERO);
    world_step(&world, 200);
    CHECK(physics_solid_is_idle(world.physics, far), "asleep after half a second");
    CHECK(!physics_solid_is_idle(world.physics, free_ball), "nothing sleeps in mid-air");
    int count;
    const PhysicsContact *contacts = physics_contacts(world.physics, &count);
    bool is_kept = false;
    for (int i = 0; i < count; i++)
        is_kept |= contacts[i].is_asleep
                   && (physics_contact_solid(world.physics, &contacts[i], 0) == far
                       || physics_contact_solid(world.physics, &contacts[i], 1) == far);
    CHECK(is_kept, "its contact is kept");
    CHECK(physics_solid_is_colliding(world.physics, far), "and it counts as touching");
    physics_solid_add_force(world.physics, far, vec3(0, 0, 1));
    CHECK(!physics_solid_is_idle(world.physics, far), "a force wakes");
    world_step(&world, 200);
    CHECK(physics_solid_is_idle(world.physics, far), "asleep again");
    // Something that strikes wakes at once, and the neighbour with it.
    physics_solid_set_pose(world.physics, free_ball, (Pose){ vec3(5, 0, 1.45), QUAT_IDENTITY });
    physics_solid_set_velocity(world.physics, free_ball, vec3(0, 0, -1), VEC3_ZERO);
    world_step(&world, 2);
    CHECK(!physics_solid_is_idle(world.physics, far), "struck");
    (void)a;
    world_close(&world);
}

// A world in which everything sleeps does nothing, yet every kind of command starts it again.
static void push(World *world, int solid) { physics_solid_add_force(world->physics, solid, vec3(500, 0, 0)); }
static void throw_up(World *world, int solid)
{
    physics_solid_set_velocity(world->physics, solid, vec3(0, 0, 2), VEC3_ZERO);
}
static void turn(World *world, int solid) { physics_solid_add_torque(world->physics, solid, vec3(0, 50, 0)); }
static void lift(World *world, int solid)
{
    physics_solid_set_pose(world->physics, solid, (Pose){ vec3(0, 0, 3), QUAT_IDENTITY });
}
static void command(World *world, int solid)
{
    int joint = physics_solid_joint(world->physics, world_solid(world, "TIP"));
    (void)solid;
    physics_motor_set_position(world->physics, joint, 0, 1.0);
}
static void weigh(World *world, int solid)
{
    (void)solid;
    SceneNode *info = scene_list_node(scene_list(scene_root(sim_scene(world->sim)), "children"), 0);
    scene_set_float(sim_scene(world->sim), info, "gravity", 0.5);
    sim_field_changed(world->sim, info, "gravity");
    physics_solid_add_force(world->physics, world_solid(world, "A"), vec3(0, 0, 30));
}

static void a_world_at_rest_starts_again(void **state)
{
    (void)state;
    static const struct {
        const char *name, *moved;
        void (*act)(World *world, int solid);
    } cases[] = {
        { "force", "A", push }, { "velocity", "A", throw_up }, { "torque", "A", turn },
        { "pose", "A", lift },  { "motor", "TIP", command },   { "gravity", "A", weigh },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        World world = world_open("WorldInfo { basicTimeStep 8 physicsDisableTime 0.2 } " FLOOR BALL(
            "A", "0 0 0.5",
            "") "Robot { name \"r\" translation 5 0 0.5 boundingObject Box { size 1 1 1 } physics Physics { density -1 mass 5 } children [ HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } "
                "device RotationalMotor { maxTorque 1000 } endPoint DEF TIP Solid { name \"tip\" translation 0 0 0.8 boundingObject Box { size 0.1 0.1 0.1 } physics Physics { density -1 mass 0.1 } } } ] }");
        world_step(&world, 500);
        CHECK(physics_statistics(world.physics).bodies_awake == 0, "all asleep");
        uint64_t hash = physics_state_hash(world.physics);
        world_step(&world, 10);
        CHECK(physics_state_hash(world.physics) == hash, "nothing changes");
        Pose before = physics_solid_pose(world.physics, world_solid(&world, cases[i].moved));
        cases[i].act(&world, world_solid(&world, "A"));
        world_step(&world, 20);
        Pose after = physics_solid_pose(world.physics, world_solid(&world, cases[i].moved));
        CHECK(vec3_distance(before.t, after.t) > 1e-3, cases[i].name);
        world_close(&world);
    }
}

static void time_zero_means_never_asleep(void **state)
{
    (void)state;
    World world = world_open("WorldInfo { basicTimeStep 8 physicsDisableTime 0 } " FLOOR BALL("A", "0 0 0.5", ""));
    world_step(&world, 500);
    CHECK(!physics_solid_is_idle(world.physics, world_solid(&world, "A")), "awake");
    world_close(&world);
}

// The support of a sleeping body is taken away by hand: it falls.
static void moving_a_static_solid_wakes(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0.2 } DEF TABLE Solid { name \"table\" boundingObject Box { size 2 2 1 } } " BALL(
            "A", "0 0 1", ""));
    world_step(&world, 200);
    int a = world_solid(&world, "A");
    CHECK(physics_solid_is_idle(world.physics, a), "asleep");
    double z = world_position(&world, "A").z;
    physics_solid_set_pose(world.physics, world_solid(&world, "TABLE"), (Pose){ vec3(20, 0, 0), QUAT_IDENTITY });
    world_step(&world, 50);
    CHECK(world_position(&world, "A").z < z - 0.3, "falls");
    world_close(&world);
}

// A lift that goes down under its own velocity takes a sleeping load along, and leaves others asleep.
static void a_moving_floor_wakes_its_load_alone(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 physicsDisableTime 0.2 } " FLOOR
        "DEF LIFT Solid { name \"lift\" translation 0 0 2 boundingObject Box { size 2 2 1 } } " BALL(
            "LOAD", "0 0 3", "") BALL("OTHER", "9 0 0.5", ""));
    world_step(&world, 200);
    int load = world_solid(&world, "LOAD"), other = world_solid(&world, "OTHER");
    CHECK(physics_solid_is_idle(world.physics, load) && physics_solid_is_idle(world.physics, other), "asleep");
    physics_solid_set_velocity(world.physics, world_solid(&world, "LIFT"), vec3(0, 0, -0.5), VEC3_ZERO);
    world_step(&world, 100);
    CHECK_NEAR(world_position(&world, "LIFT").z, 1.6, 1e-9, "lift");
    CHECK_NEAR(world_position(&world, "LOAD").z, 2.6, 0.08, "load, with a little bouncing");
    CHECK(physics_solid_is_idle(world.physics, other), "the other sleeps on");
    world_close(&world);
}

// Bodies that rest on grids of heights, level and turned about the vertical, flat and sloped.
static void grids_of_heights_hold(void **state)
{
    (void)state;
    static const struct {
        const char *pose, *ball;
        double height;
    } cases[] = {
        { "", "1.5 1.5 2", 1 },
        { "rotation 0 0 1 1.5707963267948966", "-1.5 1.5 2", 1 },
        { "translation 10 0 3", "11.5 1.5 5", 4 },
        { "rotation 0 0 1 0.7", "0 2.1 2", 1 },
        { "rotation 1 0 0 0.05", "1.5 1.4 2", 1.07 },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(
            text, sizeof(text),
            "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { bounce 0 rollingFriction 0.2 0 0 } } "
            "Solid { name \"g\" %s boundingObject ElevationGrid { xDimension 4 yDimension 4 height [ 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 ] thickness 1 } } "
            "DEF B Solid { name \"b\" translation %s boundingObject Sphere { radius 0.3 } physics Physics { density -1 mass 1 } }",
            cases[i].pose, cases[i].ball);
        World world = world_open(text);
        world_step(&world, 300);
        CHECK_NEAR(world_position(&world, "B").z, cases[i].height + 0.3, 0.01, cases[i].pose);
        world_close(&world);
    }
    // Heights stand where the field says: a step up along x.
    World world = world_open(
        "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { bounce 0 } } Solid { name \"g\" boundingObject ElevationGrid { xDimension 4 yDimension 3 ySpacing 2 "
        "height [ 0 0 1 1 0 0 1 1 0 0 3 3 ] } } " BALL("LOW", "0.5 2 2", "") BALL("HIGH", "2.5 1 3", ""));
    world_step(&world, 90);
    CHECK_NEAR(world_position(&world, "LOW").z, 0.5, 0.02, "low");
    CHECK_NEAR(world_position(&world, "HIGH").z, 1.5, 0.02, "high");
    world_close(&world);
}

// A long bench whose two ends are full of contact points (C41): with at most ten joints both ends must hold. Our
// kernel finds few points to begin with; of ODE's the rest is left out, and counted.
static void separate_regions_both_hold(void **state)
{
    (void)state;
    Text text = { 0 };
    text_add_string(
        &text,
        "WorldInfo { basicTimeStep 8 contactProperties ContactProperties { maxContactJoints 10 } } " FLOOR
        "DEF B Solid { translation 0 0 0.11 rotation 0 1 0 0.004 boundingObject IndexedFaceSet { coord Coordinate { point [\n");
    // Two feet, each a fan of 24 corners on the ground, under one beam.
    const int corners = 24;
    for (int foot = 0; foot < 2; foot++)
        for (int ring = 0; ring < 2; ring++)
            for (int i = 0; i < corners; i++)
                text_printf(&text, "%g %g %g,\n", (foot ? 2.0 : -2.0) + 0.1 * cos(2 * M_PI * i / corners),
                            0.1 * sin(2 * M_PI * i / corners), ring ? 0.1 : -0.1);
    text_add_string(&text, "] } coordIndex [\n");
    for (int foot = 0; foot < 2; foot++) {
        int low = foot * 2 * corners, high = low + corners;
        for (int i = 0; i < corners; i++) {
            int next = (i + 1) % corners;
            text_printf(&text, "%d %d %d %d -1\n", low + i, low + next, high + next, high + i);
        }
        for (int i = corners - 1; i >= 0; i--)
            text_printf(&text, "%d ", low + i);
        text_add_string(&text, "-1\n");
        for (int i = 0; i < corners; i++)
            text_printf(&text, "%d ", high + i);
        text_add_string(&text, "-1\n");
    }
    text_add_string(&text, "] } physics Physics { density -1 mass 2 } }");
    static const char *const steppers[] = { "talus", "ode-exact" };
    for (int s = 0; s < COUNT_OF(steppers); s++) {
        World world = world_open_with(text.data, &(SimOptions){ .physics.stepper = steppers[s] });
        world_step(&world, 250);
        Pose pose = physics_solid_pose(world.physics, world_solid(&world, "B"));
        CHECK_NEAR(pose.t.z, 0.1, 0.005, "height");
        CHECK_NEAR(quat_rotate(pose.q, vec3(1, 0, 0)).z, 0, 0.003, "level");
        bool has_left = false, has_right = false;
        int count;
        const PhysicsContact *contacts = physics_contacts(world.physics, &count);
        for (int i = 0; i < count; i++) {
            has_left |= contacts[i].point.x < -1;
            has_right |= contacts[i].point.x > 1;
        }
        CHECK(has_left && has_right && count <= 10, "both feet, ten points at most");
        CHECK((physics_statistics(world.physics).contacts_dropped > 0) == (s == 1), "the rest is counted");
        world_close(&world);
    }
    text_free(&text);
}

static void impacts_and_speeds_are_told(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 2 } " FLOOR
        "DEF B Solid { translation 0 0 0.6 linearVelocity 1 0 -3 boundingObject Sphere { radius 0.5 } physics Physics { density -1 mass 2 } }");
    double energy = 0;
    for (int k = 0; k < 60 && energy == 0; k++) {
        world_step(&world, 1);
        int count;
        physics_contacts(world.physics, &count);
        for (int i = 0; i < count; i++) {
            PhysicsContactMotion motion = physics_contact_motion(world.physics, i);
            energy = motion.impact_energy;
            CHECK_NEAR(motion.sliding_speed, 1, 1e-9, "slides as it strikes");
            CHECK_NEAR(motion.rolling_speed, 0, 1e-9, "does not roll yet");
        }
    }
    CHECK_NEAR(energy, 0.5 * 2 * (9 + 2 * 9.81 * 0.1), 0.1, "energy of the approach");
    world_close(&world);
}

// Wheels of a track turn as far as the belt has run: those inside it forwards, those outside against it.
static void wheels_turn_with_their_track(void **state)
{
    (void)state;
    World world = world_open(
        "WorldInfo { basicTimeStep 8 } Robot { controller \"<none>\" name \"r\" boundingObject Box { size 1 1 0.1 } physics Physics { } translation 0 0 5 "
        "children DEF T Track { boundingObject Box { size 1 0.1 0.1 } physics Physics { } device LinearMotor { name \"m\" } children [ "
        "DEF IN TrackWheel { position 0.3 0.1 radius 0.2 } DEF OUT TrackWheel { radius 0.1 inner FALSE } ] } }");
    Scene *scene = sim_scene(world.sim);
    int joint = physics_joint_of(world.physics, scene_find_def(scene, "T"));
    physics_motor_set_position(world.physics, joint, 0, INFINITY);
    physics_motor_set_velocity(world.physics, joint, 0, 0.5);
    Quat rest = quat_from_rotation(scene_rotation(scene_find_def(scene, "IN"), "rotation"));
    for (int round = 1; round <= 5; round++) {
        if (round == 5) {  // a reset that takes a node away builds physics anew
            physics_motor_set_position(world.physics, joint, 0, INFINITY);
            physics_motor_set_velocity(world.physics, joint, 0, 0.5);
            world_step(&world, 25);
            sim_sync_scene(world.sim);
            static const char more[] = "Solid { name \"more\" }";
            CHECK(sim_insert(world.sim, scene_root(scene), "children", -1, more, sizeof more - 1), "a node more");
        }
        if (round >= 4) {
            CHECK(sim_reset(world.sim), "reset");
            world.physics = sim_physics(world.sim);
            joint = physics_joint_of(world.physics, scene_find_def(scene, "T"));
            sim_sync_scene(world.sim);
        } else {
            world_step(&world, 25);
            sim_sync_scene(world.sim);
        }
        double run = physics_joint_position(world.physics, joint, 0);
        CHECK_NEAR(run, round >= 4 ? 0.0 : 0.1 * round, 1e-9, "travelled");
        static const struct {
            const char *name;
            double radius;
        } wheels[] = { { "IN", 0.2 }, { "OUT", -0.1 } };
        for (int i = 0; i < COUNT_OF(wheels); i++) {
            const SceneNode *wheel = scene_find_def(scene, wheels[i].name);
            Quat expected = quat_mul(quat_from_axis_angle(vec3(0, 1, 0), run / wheels[i].radius), rest);
            Quat turned = quat_from_rotation(scene_rotation(wheel, "rotation"));
            CHECK_NEAR(
                fabs(turned.w * expected.w + turned.x * expected.x + turned.y * expected.y + turned.z * expected.z), 1,
                1e-12, wheels[i].name);
        }
    }
    CHECK_NEAR(scene_pose(scene_find_def(scene, "IN")).t.x, 0.3, 0, "place of a wheel");
    CHECK_NEAR(scene_pose(scene_find_def(scene, "IN")).t.z, 0.1, 0, "place of a wheel");
    world_close(&world);
}

// Coefficients of both solids are added, those of the second turned into the directions of the first; slip alike.
static void coefficients_follow_directions(void **state)
{
    (void)state;
    static const struct {
        const char *values;
        double m[4];
        int count;
    } lists[] = {
        { "0.3", { 0.3 }, 1 },
        { "0.3 0.5", { 0.3, 0.5 }, 2 },
        { "0.3 0.5 0.2", { 0.3, 0.5, 0.2 }, 3 },
        { "0.3 0.5 0.2 0.1", { 0.3, 0.5, 0.2, 0.1 }, 4 },
    };
    static const double turns[] = { 0.0, 0.4, 1.2, 1.5707963267948966, 2.5 };
    for (int i = 0; i < COUNT_OF(lists); i++)
        for (int k = 0; k < COUNT_OF(turns); k++) {
            char text[1024];
            snprintf(
                text, sizeof text,
                "WorldInfo { contactProperties [ ContactProperties { material1 \"box\" material2 \"floor\" coulombFriction [ %s ] forceDependentSlip [ %s ] } ] } "
                "Solid { name \"floor\" contactMaterial \"floor\" boundingObject Plane { } } "
                "Solid { name \"b\" contactMaterial \"box\" translation 0 0 0.099 rotation 0 0 1 %.17g boundingObject Box { size 0.4 0.3 0.2 } physics Physics { } }",
                lists[i].values, lists[i].values, turns[k]);
            World world = world_open(text);
            int count;
            physics_contacts(world.physics, &count);
            CHECK(count == 4, "points of a box on a plane");
            const double *m = lists[i].m, r1 = fabs(cos(turns[k])), r2 = fabs(sin(turns[k]));
            double along[] = { m[0], m[0] + m[0] * r1 + m[1] * r2, m[0] + m[2], m[0] + m[2] * r1 + m[3] * r2 };
            double across[] = { m[0], m[1] + m[0] * r2 + m[1] * r1, m[1] + m[2], m[1] + m[2] * r2 + m[3] * r1 };
            const PhysicsSurface *surface = physics_contact_surface(world.physics, 0);
            CHECK_NEAR(surface->mu, along[i], 1e-7, lists[i].values);
            CHECK_NEAR(surface->mu2, across[i], 1e-7, lists[i].values);
            CHECK_NEAR(surface->slip1, along[i], 1e-7, lists[i].values);
            CHECK_NEAR(surface->slip2, across[i], 1e-7, lists[i].values);
            if (i > 0)
                CHECK_NEAR(fabs(surface->fdir1.x * cos(turns[k]) + surface->fdir1.y * sin(turns[k])), 1, 1e-12,
                           "along the box's x");
            world_close(&world);
        }
}

// Which axis of a shape its first coefficient follows: x on flat faces, else the shape's z; shapes without axes have
// one friction.
static void faces_have_directions(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *pose;
        Vec3 direction;
        bool has_one;
    } cases[] = {
        { "Box { size 0.2 0.2 0.2 }",
          "translation 0 0 0.099 rotation 0 0 1 0.5",
          { 0.87758256189037276, 0.47942553860420301, 0 },
          true },
        { "Box { size 0.2 0.2 0.2 }", "translation 0 0 0.099 rotation 0 1 0 1.5707963267948966", { 1, 0, 0 }, true },
        { "Box { size 0.2 0.2 0.2 }", "translation 0 0 0.099 rotation 1 0 0 1.5707963267948966", { 0, 1, 0 }, true },
        { "Cylinder { height 0.2 radius 0.1 }", "translation 0 0 0.099", { 1, 0, 0 }, true },
        { "Cylinder { height 0.2 radius 0.1 }",
          "translation 0 0 0.099 rotation 0 1 0 1.5707963267948966",
          { 1, 0, 0 },
          true },
        { "Sphere { radius 0.1 }", "translation 0 0 0.099", { 0, 0, 0 }, false },
        { "Capsule { height 0.2 radius 0.1 }",
          "translation 0 0 0.099 rotation 0 1 0 1.5707963267948966",
          { 0, 0, 0 },
          false },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "WorldInfo { contactProperties [ ContactProperties { material1 \"thing\" material2 \"floor\" coulombFriction [ 0.3 0.5 ] } ] } "
            "Solid { name \"floor\" contactMaterial \"floor\" boundingObject Plane { } } "
            "Solid { name \"b\" contactMaterial \"thing\" %s boundingObject %s physics Physics { } }",
            cases[i].pose, cases[i].shape);
        World world = world_open(text);
        int count;
        physics_contacts(world.physics, &count);
        CHECK(count > 0, "touches");
        const PhysicsSurface *surface = physics_contact_surface(world.physics, 0);
        if (cases[i].has_one)
            CHECK_NEAR(fabs(vec3_dot(surface->fdir1, cases[i].direction)), 1, 1e-9, cases[i].shape);
        else
            CHECK(surface->mu == 0.3 && surface->mu2 == 0.3 && vec3_length(surface->fdir1) == 0, cases[i].shape);
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(excluded_pairs_do_not_touch),     cmocka_unit_test(the_first_fitting_properties_count),
        cmocka_unit_test(contact_forces_carry_the_weight), cmocka_unit_test(resting_bodies_sleep_and_wake),
        cmocka_unit_test(a_world_at_rest_starts_again),    cmocka_unit_test(time_zero_means_never_asleep),
        cmocka_unit_test(moving_a_static_solid_wakes),     cmocka_unit_test(a_moving_floor_wakes_its_load_alone),
        cmocka_unit_test(grids_of_heights_hold),           cmocka_unit_test(separate_regions_both_hold),
        cmocka_unit_test(impacts_and_speeds_are_told),     cmocka_unit_test(wheels_turn_with_their_track),
        cmocka_unit_test(coefficients_follow_directions),  cmocka_unit_test(faces_have_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
