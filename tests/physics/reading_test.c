// What a fast hinge reads, by the release of its file: up to R2023a the sum of its rates, since R2023b where its bodies
// stand.
#include "world.h"

#include "physics/joints/motor.h"

#include <math.h>

static const struct {
    const char *release;
    bool reads_rates;
} releases[] = {
    { "R2021a", true }, { "R2022b", true }, { "R2023a", true }, { "R2023b", false }, { "R2025a", false },
};

static double reading(const char *release, double target, int steps, double *turned)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "#VRML_SIM %s utf8\nWorldInfo { basicTimeStep 32 }\nRobot { controller \"<none>\" children [ HingeJoint { jointParameters HingeJointParameters { axis 0 0 1 }\n"
        "device RotationalMotor { maxVelocity 100 maxTorque 10000 } endPoint Solid { name \"wheel\" boundingObject Sphere { radius 0.1 } physics Physics { } } } ] }\n",
        release);
    World world = { .diags = diag_create() };
    world.sim = sim_load_text("reading.wbt", text, strlen(text), NULL, world.diags);
    assert_non_null(world.sim);
    world.physics = sim_physics(world.sim);
    int wheel = world_solid(&world, "wheel"), joint = physics_solid_joint(world.physics, wheel);
    physics_motor_set_position(world.physics, joint, 0, target);
    physics_motor_set_velocity(world.physics, joint, 0, 10.0);
    world_step(&world, steps);
    double position = physics_joint_position(world.physics, joint, 0);
    Quat q = physics_solid_pose(world.physics, wheel).q;
    *turned = 2.0 * atan2(q.z, q.w);
    *turned += 2.0 * M_PI * round((position - *turned) / (2.0 * M_PI));
    world_close(&world);
    return position;
}

static void the_release_decides(void **state)
{
    (void)state;
    double sum = 10.0 * 0.032 * 100, stands = 2.0 * atan(10.0 * 0.032 / 2.0) * 100, turned;
    for (int i = 0; i < COUNT_OF(releases); i++) {
        double position = reading(releases[i].release, INFINITY, 100, &turned);
        CHECK_NEAR(turned, stands, 1e-3, releases[i].release);  // the motion is the same
        CHECK_NEAR(position, releases[i].reads_rates ? sum : stands, 1e-3, releases[i].release);
        // Told a position, every release reads where it stands.
        position = reading(releases[i].release, 2.0, 100, &turned);
        CHECK_NEAR(position, turned, 1e-9, releases[i].release);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_release_decides) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
