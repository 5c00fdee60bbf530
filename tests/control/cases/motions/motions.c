#include "check.h"

#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/supervisor.h>
#include <webots/utils/motion.h>

static WbDeviceTag left, right;

int main(void)
{
    wb_robot_init();
    left = wb_robot_get_device("left sensor");
    right = wb_robot_get_device("right sensor");
    wb_position_sensor_enable(left, 20);
    wb_position_sensor_enable(right, 20);
    CHECK(wbu_motion_new("none.motion") == NULL);
    WbMotionRef motion = wbu_motion_new("wave.motion");
    CHECK(motion != NULL);
    CHECK(wbu_motion_get_duration(motion) == 1000);
    wbu_motion_play(motion);
    CHECK(!wbu_motion_is_over(motion));
    check_steps(1);  // it begins with this one
    for (int step = 1; step < 27; step++) {
        CHECK_NEAR(wbu_motion_get_time(motion), 20 * (step - 1), 0);  // to the millisecond
        check_steps(1);
    }
    CHECK_NEAR(wb_position_sensor_get_value(left), 1, 0.2);
    check_steps(40);
    CHECK(wbu_motion_is_over(motion));
    CHECK_NEAR(wb_position_sensor_get_value(left), 0, 0.02);
    CHECK_NEAR(wb_position_sensor_get_value(right), -1, 0.02);
    wbu_motion_set_reverse(motion, true);
    wbu_motion_play(motion);
    check_steps(80);
    CHECK_NEAR(wb_position_sensor_get_value(right), 0, 0.02);
    wbu_motion_set_reverse(motion, false);
    wbu_motion_set_loop(motion, true);
    wbu_motion_set_time(motion, 0);
    wbu_motion_play(motion);
    check_steps(77);  // half way through the second turn
    CHECK(!wbu_motion_is_over(motion));
    CHECK_NEAR(wb_position_sensor_get_value(left), 1, 0.3);
    wbu_motion_stop(motion);
    double stopped = wbu_motion_get_time(motion);
    check_steps(5);
    CHECK(wbu_motion_get_time(motion) == stopped);
    wbu_motion_set_time(motion, 100);
    wbu_motion_play(motion);
    check_steps(1);
    wb_supervisor_simulation_reset();  // the clock goes back; the motion goes on from where it is
    check_steps(1);
    double before = wbu_motion_get_time(motion);
    CHECK(before >= 100);
    check_steps(5);
    CHECK_NEAR(wbu_motion_get_time(motion), before + 100, 20);  // the step of the reset has no length
    wbu_motion_delete(motion);
    return check_done();
}
