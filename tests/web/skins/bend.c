// bend.c - after five steps one worm is bent by its bones, the other by the joint that carries them; at 40 the first is
// straight again.
#include <webots/motor.h>
#include <webots/robot.h>
#include <webots/skin.h>

#include <math.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag skin = wb_robot_get_device("free");
    for (int step = 0; wb_robot_step((int)wb_robot_get_basic_time_step()) != -1; step++) {
        if (step == 5)
            wb_skin_set_bone_orientation(skin, 1, (const double[4]){ 1, 0, 0, -acos(0.0) }, false);
        if (step == 5)
            wb_motor_set_position(wb_robot_get_device("motor"), acos(0.0));
        if (step == 40)
            wb_skin_set_bone_orientation(skin, 1, (const double[4]){ 1, 0, 0, 0 }, false);
    }
    wb_robot_cleanup();
    return 0;
}
