#include "check.h"

#include <webots/connector.h>
#include <webots/touch_sensor.h>
#include <webots/vacuum_gripper.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag connector = wb_robot_get_device("connector"), gripper = wb_robot_get_device("gripper"),
                force = wb_robot_get_device("force");
    wb_connector_enable_presence(connector, 32);
    wb_vacuum_gripper_enable_presence(gripper, 32);
    wb_touch_sensor_enable(force, 32);
    CHECK(wb_connector_get_presence_sampling_period(connector) == 32
          && wb_vacuum_gripper_get_presence_sampling_period(gripper) == 32);
    CHECK(wb_touch_sensor_get_type(force) == WB_TOUCH_SENSOR_FORCE3D
          && wb_touch_sensor_get_sampling_period(force) == 32);
    CHECK(!wb_connector_is_locked(connector) && !wb_vacuum_gripper_is_on(gripper));
    check_steps(1);
    CHECK(wb_connector_get_presence(connector) == 1);
    wb_connector_lock(connector);
    wb_vacuum_gripper_turn_on(gripper);
    check_steps(2);
    CHECK(wb_connector_is_locked(connector) && wb_connector_get_presence(connector) == 1);
    CHECK(wb_vacuum_gripper_is_on(gripper) && !wb_vacuum_gripper_get_presence(gripper));
    CHECK(!isnan(wb_touch_sensor_get_values(force)[0]));
    wb_vacuum_gripper_turn_off(gripper);
    wb_connector_unlock(connector);
    check_steps(2);
    CHECK(!wb_connector_is_locked(connector) && !wb_vacuum_gripper_is_on(gripper));
    wb_connector_disable_presence(connector);
    wb_vacuum_gripper_disable_presence(gripper);
    wb_touch_sensor_disable(force);
    CHECK(wb_touch_sensor_get_sampling_period(force) == 0);
    return check_done();
}
