// The published state of nine rolling and spinning balls after 200 steps (reference: rolling_friction). It pins the
// whole chain of contact surface, axis-dependent rolling friction, bounce and the exact step.
#include "physics/world.h"

static const struct {
    double x, y, z, rho, rho2, rho_n, spin_x, spin_z;
} balls[] = {
    { -31, -3, 3.1, 0, 0, 0, 0, 0 },    { -31, 0, 3.1, 0.04, 0, 0, 0, 0 },     { -31, 3, 3.1, 0.08, 0, 0, 0, 0 },
    { -16, -8, 1.5, 0, 0, 0, 0, 25 },   { -14, -8, 1.5, 0, 0, 0.03, 0, 25 },   { -12, -8, 1.5, 0, 0, 0.06, 0, 25 },
    { -31, -50, 3.1, 0, 0, 0, -25, 0 }, { -31, -28, 3.1, 0, 0.05, 0, -25, 0 }, { -31, -18, 3.1, 0, 0.1, 0, -25, 0 },
};

static const struct {
    Vec3 position, linear, angular;
} published[] = {
    { { -5.822856, -3, 0.498430 }, { 5.957204, 0, 0 }, { 0, 11.951927, 0 } },
    { { -14.564553, 0, 0.498392 }, { 4.164077, 0, 0.000304 }, { 0, 8.355176, 0 } },
    { { -25.145860, 3, 1.942235 }, { 1.817242, 0, -0.368373 }, { 0, 3.719816, 0 } },
    { { -16, -8, 1.498430 }, { 0, 0, 0 }, { 0, 0, 25 } },
    { { -14, -8, 1.498430 }, { 0, 0, 0 }, { 0, 0, 6.164800 } },
    { { -12, -8, 1.498430 }, { 0, 0, 0 }, { 0, 0, 0 } },
    { { -5.822856, -27.511330, 0.498430 }, { 5.957204, 3.686891, 0 }, { -7.397003, 11.951927, -3.446233 } },
    { { 1.171054, -19.324655, 0.498430 }, { 7.029157, 0, 0 }, { 0, 0, -4.455340 } },
    { { 1.171054, -13.936790, 0.498430 }, { 7.029157, 0, 0 }, { 0, 0, -4.867729 } },
};

static void box(Text *text, const char *name, const char *material, const char *pose, const char *size)
{
    text_printf(text, "Solid { %s name \"%s\" contactMaterial \"%s\" boundingObject Box { size %s } }\n", pose, name,
                material, size);
}

static void build(Text *text)
{
    text_add_string(text, "WorldInfo { basicTimeStep 32 contactProperties [\n");
    for (int i = 0; i < COUNT_OF(balls); i++)
        text_printf(text, "ContactProperties { material1 \"%s\" material2 \"ball%d\" rollingFriction %g %g %g }\n",
                    i >= 3 && i < 6 ? "box" : "ramp", i + 1, balls[i].rho, balls[i].rho2, balls[i].rho_n);
    text_add_string(text, "] }\n");
    box(text, "a", "ramp", "translation -25 0 1.2 rotation 0 1 0 0.2", "14 10 0.4");
    box(text, "b", "ramp", "translation 30 0 -0.2", "100 10 0.4");
    box(text, "c", "ramp", "translation -25 -31 1.2 rotation 0 1 0 0.2", "14 40 0.4");
    box(text, "d", "ramp", "translation 30 -31 -0.2", "100 40 0.4");
    box(text, "e", "box", "translation -14 -8 0 rotation 1 0 0 1.5707963267948966", "8 2 5");
    for (int i = 0; i < COUNT_OF(balls); i++)
        text_printf(
            text,
            "DEF BALL_%d Solid { translation %g %g %g name \"ball %d\" contactMaterial \"ball%d\" angularVelocity %g 0 %g "
            "boundingObject Sphere { radius 0.5 } physics Physics { density -1 mass 1 } }\n",
            i + 1, balls[i].x, balls[i].y, balls[i].z, i + 1, i + 1, balls[i].spin_x, balls[i].spin_z);
}

static void near_vector(Vec3 actual, Vec3 expected, const char *name)
{
    CHECK_NEAR(actual.x, expected.x, 1e-6, name);
    CHECK_NEAR(actual.y, expected.y, 1e-6, name);
    CHECK_NEAR(actual.z, expected.z, 1e-6, name);
}

static void balls_roll_as_published(void **state)
{
    Text text = { 0 };
    build(&text);
    World world = world_open_with(text.data, &(SimOptions){ .physics.stepper = *state });
    text_free(&text);
    world_step(&world, 200);
    for (int i = 0; i < COUNT_OF(published); i++) {
        char name[32];
        snprintf(name, sizeof(name), "BALL_%d", i + 1);
        near_vector(world_position(&world, name), published[i].position, name);
        near_vector(world_velocity(&world, name), published[i].linear, name);
        near_vector(world_spin(&world, name), published[i].angular, name);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "balls_roll_as_published (talus)", balls_roll_as_published, NULL, NULL, "talus" },
        { "balls_roll_as_published (ode-exact)", balls_roll_as_published, NULL, NULL, "ode-exact" },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
