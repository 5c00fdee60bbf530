// An old world with an old program, in the spelling of version 5.
#include "check.h"

#include <device/differential_wheels.h>
#include <device/gps.h>
#include <device/robot.h>

static DeviceTag gps;
static int turns;

static void reset(void)
{
    gps = robot_get_device("gps");
    gps_enable(gps, 32);
    CHECK_NEAR(differential_wheels_get_speed_unit(), 0.1, 1e-12);
    CHECK_NEAR(differential_wheels_get_max_speed(), 10, 1e-12);
    CHECK(differential_wheels_get_encoders_sampling_period() == 0);
    differential_wheels_enable_encoders(32);
    CHECK_NEAR(differential_wheels_get_left_encoder(), 0, 0);  // before the first reading
    differential_wheels_set_speed(50, 50);                     // 5 rad/s, 0.1 m/s
}

static int run(int ms)
{
    (void)ms;
    if (turns++ == 50) {
        const double *at = gps_get_values(gps);
        CHECK_VECTOR(at, 0, 0, -0.16, 1e-6);  // forward is -z, and its height never changes
        CHECK_NEAR(differential_wheels_get_left_encoder(), 50 * 0.032 * 5 * 100, 1e-3);
        CHECK_NEAR(differential_wheels_get_right_encoder(), 800, 1e-3);
        CHECK_NEAR(differential_wheels_get_left_speed(), 50, 1e-9);
        differential_wheels_set_encoders(0, 0);
        differential_wheels_set_speed(-50, 50);  // to the left on the spot, 2 rad/s
        CHECK_NEAR(differential_wheels_get_left_speed() + differential_wheels_get_right_speed(), 0, 1e-9);
    }
    if (turns == 76) {
        CHECK_VECTOR(gps_get_values(gps), 0, 0, -0.16, 1e-6);
        differential_wheels_set_speed(50, 50);
    }
    if (turns == 101) {
        // 25 steps at 2 rad/s turned it by 1.6 rad, then 25 steps ahead by 0.08 m
        CHECK_VECTOR(gps_get_values(gps), -0.08 * sin(1.6), 0, -0.16 - 0.08 * cos(1.6), 1e-6);
        differential_wheels_disable_encoders();
        printf("%s %s\n", check_mistakes ? "MISTAKES in" : "PASS", robot_get_name());
        return 0;
    }
    return 32;
}

int main(void)
{
    robot_live(reset);
    robot_run(run);
    return check_mistakes;
}
