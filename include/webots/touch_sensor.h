/* touch_sensor.h - touch sensor: bumper, force or three forces. */
#ifndef WEBOTS_TOUCH_SENSOR_H
#define WEBOTS_TOUCH_SENSOR_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { WB_TOUCH_SENSOR_BUMPER = 0, WB_TOUCH_SENSOR_FORCE, WB_TOUCH_SENSOR_FORCE3D } WbTouchSensorType;

void wb_touch_sensor_enable(WbDeviceTag tag, int sampling_period);
void wb_touch_sensor_disable(WbDeviceTag tag);
int wb_touch_sensor_get_sampling_period(WbDeviceTag tag);
double wb_touch_sensor_get_value(WbDeviceTag tag);
const double *wb_touch_sensor_get_values(WbDeviceTag tag);
WbTouchSensorType wb_touch_sensor_get_type(WbDeviceTag tag);
int wb_touch_sensor_get_lookup_table_size(WbDeviceTag tag);
const double *wb_touch_sensor_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
