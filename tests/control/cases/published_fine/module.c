// api/connector: two modules that lock by themselves at rest on a post; unlocked, the outer one falls.
#include "check.h"

#include <webots/connector.h>

int main(void)
{
    wb_robot_init();
    WbDeviceTag rear = wb_robot_get_device("rear");
    wb_connector_enable_presence(rear, 32);
    CHECK(wb_connector_is_locked(rear));
    for (int step = 0; step < 34; step++)
        wb_robot_step(32);
    CHECK(wb_connector_get_presence(rear) == 1);
    wb_connector_unlock(rear);
    CHECK(!wb_connector_is_locked(rear));
    for (int step = 34; step < 38; step++)
        wb_robot_step(32);
    CHECK(wb_connector_get_presence(rear) == 0);
    wb_connector_lock(rear);
    wb_robot_step(32);
    CHECK(wb_connector_is_locked(rear));
    wb_connector_unlock(rear);
    wb_robot_step(32);
    CHECK(!wb_connector_is_locked(rear));
    return check_done();
}
