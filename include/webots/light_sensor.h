/* light_sensor.h - light sensor: irradiance. */
#ifndef WEBOTS_LIGHT_SENSOR_H
#define WEBOTS_LIGHT_SENSOR_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_light_sensor_enable(WbDeviceTag tag, int sampling_period);
void wb_light_sensor_disable(WbDeviceTag tag);
int wb_light_sensor_get_sampling_period(WbDeviceTag tag);
double wb_light_sensor_get_value(WbDeviceTag tag);
int wb_light_sensor_get_lookup_table_size(WbDeviceTag tag);
const double *wb_light_sensor_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
