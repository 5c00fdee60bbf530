/* connector.h - connector: docks to another one. */
#ifndef WEBOTS_CONNECTOR_H
#define WEBOTS_CONNECTOR_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_connector_enable_presence(WbDeviceTag tag, int sampling_period);
void wb_connector_disable_presence(WbDeviceTag tag);
int wb_connector_get_presence_sampling_period(WbDeviceTag tag);
int wb_connector_get_presence(WbDeviceTag tag);
bool wb_connector_is_locked(WbDeviceTag tag);
void wb_connector_lock(WbDeviceTag tag);
void wb_connector_unlock(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
