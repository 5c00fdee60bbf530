/* device/light_sensor.h - the names that releases before 6 had. */
#ifndef DEVICE_LIGHT_SENSOR_H
#define DEVICE_LIGHT_SENSOR_H

#include <device/types.h>
#include <webots/light_sensor.h>

#define light_sensor_enable wb_light_sensor_enable
#define light_sensor_disable wb_light_sensor_disable
#define light_sensor_get_sampling_period wb_light_sensor_get_sampling_period
#define light_sensor_get_value wb_light_sensor_get_value
#define light_sensor_get_lookup_table_size wb_light_sensor_get_lookup_table_size
#define light_sensor_get_lookup_table wb_light_sensor_get_lookup_table

#endif
