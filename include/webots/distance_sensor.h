/* distance_sensor.h - distance sensor: generic, infra-red, sonar or laser. */
#ifndef WEBOTS_DISTANCE_SENSOR_H
#define WEBOTS_DISTANCE_SENSOR_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    WB_DISTANCE_SENSOR_GENERIC = 0,
    WB_DISTANCE_SENSOR_INFRA_RED,
    WB_DISTANCE_SENSOR_SONAR,
    WB_DISTANCE_SENSOR_LASER
} WbDistanceSensorType;

void wb_distance_sensor_enable(WbDeviceTag tag, int sampling_period);
void wb_distance_sensor_disable(WbDeviceTag tag);
int wb_distance_sensor_get_sampling_period(WbDeviceTag tag);
double wb_distance_sensor_get_value(WbDeviceTag tag);
double wb_distance_sensor_get_max_value(WbDeviceTag tag);
double wb_distance_sensor_get_min_value(WbDeviceTag tag);
double wb_distance_sensor_get_aperture(WbDeviceTag tag);
WbDistanceSensorType wb_distance_sensor_get_type(WbDeviceTag tag);
int wb_distance_sensor_get_lookup_table_size(WbDeviceTag tag);
const double *wb_distance_sensor_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
