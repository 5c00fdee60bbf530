/* vacuum_gripper.h - vacuum gripper. */
#ifndef WEBOTS_VACUUM_GRIPPER_H
#define WEBOTS_VACUUM_GRIPPER_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_vacuum_gripper_enable_presence(WbDeviceTag tag, int sampling_period);
void wb_vacuum_gripper_disable_presence(WbDeviceTag tag);
int wb_vacuum_gripper_get_presence_sampling_period(WbDeviceTag tag);
bool wb_vacuum_gripper_get_presence(WbDeviceTag tag);
bool wb_vacuum_gripper_is_on(WbDeviceTag tag);
void wb_vacuum_gripper_turn_on(WbDeviceTag tag);
void wb_vacuum_gripper_turn_off(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
