#include "check.h"

#include <webots/device.h>

int main(void)
{
    wb_robot_init();
    static const struct {
        const char *name;
        WbNodeType type;
    } devices[] = {
        { "first", WB_NODE_ACCELEROMETER },
        { "second", WB_NODE_COMPASS },
        { "third", WB_NODE_LED },
        { "fourth", WB_NODE_GPS },
    };
    CHECK(wb_robot_get_number_of_devices() == 4);
    for (int i = 0; i < 4; i++) {
        WbDeviceTag tag = wb_robot_get_device_by_index(i);
        CHECK_TEXT(wb_device_get_name(tag), devices[i].name);
        CHECK(wb_device_get_node_type(tag) == devices[i].type && wb_robot_get_device(devices[i].name) == tag);
    }
    CHECK_TEXT(wb_device_get_model(1), "acc-1");
    CHECK_TEXT(wb_node_get_name(WB_NODE_GPS), "GPS");
    CHECK(wb_robot_get_device("own") == 0);  // of the robot inside
    check_steps(10);
    return check_done();
}
