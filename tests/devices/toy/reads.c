// reads.c - reads the toy sensor in C and says what it found.
#include <webots/device.h>
#include <webots/robot.h>
#include <webots/thermometer.h>

#include <stdio.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag tag = wb_robot_get_device("thermometer");
    wb_thermometer_enable(tag, 16);
    wb_robot_step(16);
    wb_robot_step(16);
    printf("%s %.4f every %d ms\n", wb_node_get_name(wb_device_get_node_type(tag)), wb_thermometer_get_value(tag),
           wb_thermometer_get_sampling_period(tag));
    wb_robot_cleanup();
    return 0;
}
