// Any number of threads gives the same bytes of state: large piles, robots and both together, with sleep, and with
// nodes that come and go while they run; and so where part of a loop is left to one thread: motors that push, motors
// without physics, shapes that ride on bodies, fluids, contacts beyond the limit, contact joints.
#include "physics/joints/motor.h"
#include "physics/world.h"

// Loose bodies of every kind of kernel; every eighth has two shapes, so that pairs of bodies come in no order; every
// fifth rolls with friction, which the iterative method keeps as plain rows.
static void add_pile(Text *out, int count)
{
    static const char *const shapes[] = { "Box { size 0.4 0.3 0.2 }", "Sphere { radius 0.2 }",
                                          "Capsule { radius 0.12 height 0.3 }", "Box { size 0.3 0.3 0.3 }" };
    for (int i = 0; i < count; i++) {
        const char *shape =
            i % 8 == 7
                ? "Group { children [ Box { size 0.4 0.2 0.2 } Pose { translation 0 0.1 0.1 children Box { size 0.2 0.2 0.2 } } ] }"
                : shapes[i % 4];
        text_printf(
            out,
            "DEF S%d Solid { name \"s%d\" translation %g %g %g rotation 1 %g 0 %g contactMaterial \"%s\" boundingObject %s physics Physics { density 500 } }\n",
            i, i, 0.42 * (i % 6) + 0.01 * (i % 7), 0.45 * (i / 6 % 6) + 0.02 * (i % 5), 0.3 + 0.4 * (i / 36),
            0.1 * (i % 9), 0.2 * i, i % 5 == 4 ? "roll" : "default", shape);
    }
}

static void add_robots(Text *out, int count)
{
    for (int i = 0; i < count; i++) {
        text_printf(
            out,
            "Robot { name \"r%d\" translation %g %g 0.25 controller \"<none>\" boundingObject Box { size 0.5 0.3 0.1 } physics Physics { } children [\n",
            i, 4.0 + 0.9 * (i % 4), 0.8 * (i / 4));
        for (int k = 0; k < 4; k++) {
            double x = k % 2 ? 0.2 : -0.2, y = k / 2 ? 0.22 : -0.22;
            text_printf(
                out,
                "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor %g %g -0.1 } "
                "endPoint Solid { name \"w%d\" translation %g %g -0.1 boundingObject Sphere { radius 0.1 } physics Physics { } } }\n",
                x, y, k, x, y);
        }
        text_add_string(out, "] }\n");
    }
}

// Vehicles in water with a bumper that has no mass; a mast turns without physics on some.
static void add_boats(Text *out, int count)
{
    text_add_string(
        out,
        "Fluid { name \"water\" density 500 boundingObject Pose { translation 0 -10 -0.5 children Box { size 40 16 2 } } }\n");
    for (int i = 0; i < count; i++) {
        text_printf(
            out,
            "Robot { name \"boat%d\" translation %g %g 0.3 controller \"<none>\" boundingObject Box { size 0.5 0.3 0.1 } physics Physics { } "
            "immersionProperties ImmersionProperties { fluidName \"water\" } children [\n",
            i, 0.7 * (i % 12), -5 - 0.6 * (i / 12));
        for (int k = 0; k < 4; k++) {
            double x = k % 2 ? 0.2 : -0.2, y = k / 2 ? 0.22 : -0.22;
            text_printf(
                out,
                "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor %g %g -0.1 } device RotationalMotor { name \"m%d\" } "
                "endPoint Solid { name \"w%d\" translation %g %g -0.1 contactMaterial \"few\" boundingObject Box { size 0.2 0.1 0.2 } physics Physics { } } }\n",
                x, y, k, k, x, y);
        }
        text_printf(out,
                    "Solid { name \"bumper\" translation 0.3 0 0 boundingObject Box { size 0.1 0.3 0.05 } }\n] }\n");
    }
}

static void add_mast(Text *out)
{
    text_add_string(
        out,
        "Robot { name \"mast\" translation 0 -5 2 controller \"<none>\" children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 } "
        "device RotationalMotor { name \"turn\" } endPoint Solid { name \"arm\" translation 0.5 0 -1.8 boundingObject Box { size 1 0.1 0.1 } } } ] }\n");
}

typedef struct Case {
    const char *name;
    int pile, robots;
    bool sleeps;
    int boats;
    bool has_mast, wants_forces;
} Case;

static World open_case(const Case *test, int threads)
{
    Text out = { 0 };
    text_printf(
        &out,
        "WorldInfo { basicTimeStep 8 physicsDisableTime %g physicsDisableLinearThreshold 0.3 physicsDisableAngularThreshold 0.5 contactProperties "
        "[ ContactProperties { material1 \"roll\" rollingFriction 0.01 0.01 0.01 } ContactProperties { material1 \"few\" maxContactJoints 2 } ] }\nSolid { name \"floor\" boundingObject Plane { } }\n",
        test->sleeps ? 0.1 : 0.0);
    add_pile(&out, test->pile);
    add_robots(&out, test->robots);
    if (test->boats > 0)
        add_boats(&out, test->boats);
    if (test->has_mast)
        add_mast(&out);
    World world = world_open_with(out.data, &(SimOptions){ .physics.threads = threads });
    text_free(&out);
    for (int i = 0; i < physics_joint_count(world.physics) && test->boats > 0; i++) {
        if (i % 3 == 0) {
            physics_motor_set_force(world.physics, i, 0, 0.5 + 0.01 * i);
            continue;
        }
        physics_motor_want_feedback(world.physics, i, i % 3 == 1);
        physics_motor_set_position(world.physics, i, 0, INFINITY);
        physics_motor_set_velocity(world.physics, i, 0, 3.0 - 0.1 * i);
    }
    if (test->wants_forces)
        physics_want_contact_forces(world.physics, true);
    return world;
}

static void insert(World *world, int number, double x, double z)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "DEF N%d Solid { name \"n%d\" translation %g 0.3 %g boundingObject Box { size 0.5 0.5 0.2 } physics Physics { density 900 } }",
        number, number, x, z);
    CHECK(sim_insert(world->sim, scene_root(sim_scene(world->sim)), "children", -1, text, strlen(text)) != NULL,
          "insert");
}

#ifdef __SANITIZE_THREAD__
enum { MOST_THREADS = 2 };  // enough to race; more only take long there
#else
enum { MOST_THREADS = 8 };
#endif
enum { MOMENTS = 6, STEPS_BETWEEN = 30 };

static void run_case(const Case *test, int threads, uint64_t hashes[MOMENTS], int *slept)
{
    World world = open_case(test, threads);
    for (int i = 0; i < MOMENTS; i++) {
        world_step(&world, STEPS_BETWEEN);
        hashes[i] = sim_hash(world.sim);
        PhysicsStatistics now = physics_statistics(world.physics);
        *slept = int_max(*slept, now.bodies - now.bodies_awake);
        if (i == 1 && test->pile > 40) {
            CHECK(sim_remove(world.sim, scene_find_def(sim_scene(world.sim), "S7")), "remove");
            CHECK(sim_remove(world.sim, scene_find_def(sim_scene(world.sim), "S40")), "remove");
        }
        if (i == 2 || i == 3)
            insert(&world, i, i == 2 ? 0.8 : 4.5, 3.0);
    }
    world_close(&world);
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const Case cases[] = {
        { "pile", 250, 0, false },
        { "pile that falls asleep", 120, 0, true },
        { "robots", 0, 24, false },
        { "pile and robots", 150, 12, true },
        { "boats", 0, 0, false, 36, false, false },
        { "boats and a mast", 40, 0, false, 36, true, false },
        { "pile and boats whose forces are wanted", 60, 0, true, 24, false, true },
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        uint64_t one[MOMENTS], several[MOMENTS];
        int slept = 0;
        run_case(&cases[i], 1, one, &slept);
        CHECK(!cases[i].sleeps || slept > 0, "something falls asleep in this test");
        for (int threads = 2; threads <= MOST_THREADS; threads *= 2) {
            run_case(&cases[i], threads, several, &slept);
            for (int k = 0; k < MOMENTS; k++)
                if (one[k] != several[k])
                    fail_msg("%s: %d threads differ after %d steps", cases[i].name, threads, (k + 1) * STEPS_BETWEEN);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_number_of_threads_gives_the_same_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
