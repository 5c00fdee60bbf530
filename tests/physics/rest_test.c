// What stands comes to rest and stays there, with any mass, softness and time step, without the help of sleep.
#include "physics/world.h"

#include <math.h>

typedef struct Stack {
    const char *name;
    double mass, soft_cfm;
    int time_step_ms, rows;
    bool is_tower, has_flap, resists_rolling;
    int more;  // of the same beside it
} Stack;

// Hangs at the side of a box: its island has a joint then.
static const char flap[] =
    "HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0.11 0 } endPoint Solid { translation 0 0.13 -0.05 "
    "boundingObject Box { size 0.02 0.02 0.1 } physics Physics { density 100 } } }";

static int stack_write(Text *text, const Stack *stack)
{
    int count = 0;
    text_printf(
        text,
        "WorldInfo { basicTimeStep %d physicsDisableTime 0 contactProperties [ ContactProperties { softCFM %g %s } ] }\n"
        "Solid { name \"floor\" boundingObject Plane { } }\n",
        stack->time_step_ms, stack->soft_cfm, stack->resists_rolling ? "rollingFriction 0.001 0 0" : "");
    for (int copy = 0; copy <= stack->more; copy++)
        for (int row = 0; row < stack->rows; row++)
            for (int i = 0; i < (stack->is_tower ? 1 : stack->rows - row); i++, count++)
                text_printf(text,
                            "DEF B%d Solid { name \"b%d\" translation %g %g %g boundingObject Box { size 0.2 0.2 0.2 } "
                            "physics Physics { density -1 mass %g } children [ %s ] }\n",
                            count, count, stack->is_tower ? 0.0 : 0.204 * i + 0.102 * row, 0.5 * copy, 0.1 + 0.2 * row,
                            stack->mass, stack->has_flap && count == 0 ? flap : "");
    return count;
}

// The fastest of the boxes; `moved` becomes the farthest that one has come from its place in `start`, which is filled
// first.
static double fastest(const World *world, int count, Vec3 *start, double *moved)
{
    double speed = 0.0;
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "B%d", i);
        Vec3 at = world_position(world, name);
        speed = fmax(speed, vec3_length(world_velocity(world, name)));
        if (!moved)
            start[i] = at;
        else
            *moved = fmax(*moved, vec3_distance(at, start[i]));
    }
    return speed;
}

// Two seconds to settle; then no box is faster than half the speed below which bodies fall asleep by default (10 mm/s),
// and none creeps farther than a two-hundredth of its edge in three seconds.
static void hard_and_light_stacks_lie_still(void **state)
{
    (void)state;
    enum { MOST = 600 };
    static const Stack stacks[] = {
        { "tower of five, hard", 1.0, 1e-5, 8, 5, true },
        { "tower of five, harder", 1.0, 1e-7, 8, 5, true },
        { "tower of ten, hard", 1.0, 1e-4, 8, 10, true },
        { "tower of five, light", 0.02, 1e-3, 8, 5, true },
        { "pyramid of five, hard", 1.0, 1e-5, 8, 5, false },
        { "pyramid of five, light", 0.02, 1e-3, 8, 5, false },
        { "pyramid of five, 16 ms", 1.0, 1e-5, 16, 5, false },
        { "pyramid of five, 32 ms", 1.0, 1e-5, 32, 5, false },
        { "pyramid of ten, hard", 1.0, 1e-5, 8, 10, false },
        { "pyramid of eighteen, hard", 1.0, 1e-5, 8, 18, false },
        { "pyramid of ten, soft", 1.0, 1e-3, 8, 10, false },
        { "pyramid of five, joint, 16 ms", 1.0, 1e-5, 16, 5, .has_flap = true },
        { "pyramid of five, joint, 32 ms", 1.0, 1e-5, 32, 5, .has_flap = true },
        { "pyramid of five, joint, light, 32 ms", 0.02, 1e-3, 32, 5, .has_flap = true },
        { "pyramid of ten, joint", 1.0, 1e-5, 8, 10, .has_flap = true },
        { "tower of six, rolling", 1.0, 1e-5, 8, 6, true, .resists_rolling = true },
        { "tower of six, rolling, 16 ms", 1.0, 1e-5, 16, 6, true, .resists_rolling = true },
        { "pyramid of five, rolling, 32 ms", 1.0, 1e-5, 32, 5, .resists_rolling = true },
        { "pyramid of five, rolling, light, 32 ms", 0.02, 1e-3, 32, 5, .resists_rolling = true },
        { "pyramid of ten, rolling", 1.0, 1e-5, 8, 10, .resists_rolling = true },
        { "tower of five, 64 ms", 1.0, 1e-3, 64, 5, true },
        { "70 towers of seven, 16 ms", 1.0, 1e-3, 16, 7, true, .more = 69 },
        { "120 towers of five, 32 ms", 1.0, 1e-3, 32, 5, true, .more = 119 },
    };
    for (int i = 0; i < COUNT_OF(stacks); i++) {
        Text text = { 0 };
        Vec3 start[MOST];
        int count = stack_write(&text, &stacks[i]);
        World world = world_open(text.data);
        text_free(&text);
        int second = 1000 / stacks[i].time_step_ms;
        double moved = 0.0, speed = 0.0;
        world_step(&world, 2 * second);
        fastest(&world, count, start, NULL);
        for (int k = 0; k < 30; k++) {
            world_step(&world, second / 10);
            speed = fmax(speed, fastest(&world, count, start, &moved));
        }
        CHECK(speed < 5e-3, stacks[i].name);
        CHECK(moved < 1e-3, stacks[i].name);
        world_close(&world);
    }
}

static bool is_iterated(const World *world)
{
    Text text = { 0 };
    physics_explain_solver(world->physics, &text);
    bool is = strstr(text.data, ": iterative\n") != NULL;
    CHECK(is || strstr(text.data, ": direct\n") != NULL, text.data);
    text_free(&text);
    return is;
}

// A few boxes fall and hit exactly, in the first step too; when they lie still they are iterated as a pile is, and lie
// as deep as the softness of their contacts says: 1 mm/s of push (softERP 0.2 of 0.04 mm in 8 ms) for each 1 N s on
// four points of cfm 0.001.
static void few_boxes_are_exact_until_they_lie(void **state)
{
    (void)state;
    static const struct {
        int count;
        bool ends_iterated;
    } cases[] = { { 1, false }, { 2, true }, { 3, true } };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        Text text = { 0 };
        text_add_string(
            &text,
            "WorldInfo { basicTimeStep 8 physicsDisableTime 0 }\nSolid { name \"floor\" boundingObject Plane { } }\n");
        for (int k = 0; k < cases[i].count; k++)
            text_printf(
                &text,
                "DEF B%d Solid { name \"b%d\" translation 0 0 %g boundingObject Box { size 0.2 0.2 0.2 } physics "
                "Physics { density -1 mass 1 } }\n",
                k, k, 0.2 + 0.2 * k);
        World world = world_open(text.data);
        text_free(&text);
        for (int step = 0; step < 15; step++) {
            world_step(&world, 1);
            CHECK(!is_iterated(&world), "in the air");
        }
        world_step(&world, 250);
        CHECK(is_iterated(&world) == cases[i].ends_iterated, "at rest");
        double depth = 0.1 - world_position(&world, "B0").z,
               expected = 9.81 * cases[i].count * 0.25 * 1e-3 * 0.008 / 0.2;
        CHECK_NEAR(depth, expected, 0.02 * expected, "as deep as its contacts are soft");
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hard_and_light_stacks_lie_still),
                                        cmocka_unit_test(few_boxes_are_exact_until_they_lie) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
