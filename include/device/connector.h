/* device/connector.h - the names that releases before 6 had. */
#ifndef DEVICE_CONNECTOR_H
#define DEVICE_CONNECTOR_H

#include <device/types.h>
#include <webots/connector.h>

#define connector_enable_presence wb_connector_enable_presence
#define connector_disable_presence wb_connector_disable_presence
#define connector_get_presence_sampling_period wb_connector_get_presence_sampling_period
#define connector_get_presence wb_connector_get_presence
#define connector_is_locked wb_connector_is_locked
#define connector_lock wb_connector_lock
#define connector_unlock wb_connector_unlock

#endif
