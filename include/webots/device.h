/* device.h - what is common to all devices. */
#ifndef WEBOTS_DEVICE_H
#define WEBOTS_DEVICE_H

#include <webots/types.h>
#include <webots/nodes.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *wb_device_get_name(WbDeviceTag tag);
const char *wb_device_get_model(WbDeviceTag tag);
WbNodeType wb_device_get_node_type(WbDeviceTag tag);
WbNodeType wb_device_get_type(WbDeviceTag tag); /* old name */

#ifdef __cplusplus
}
#endif

#endif
