/* device/touch_sensor.h - the names that releases before 6 had. */
#ifndef DEVICE_TOUCH_SENSOR_H
#define DEVICE_TOUCH_SENSOR_H

#include <device/types.h>
#include <webots/touch_sensor.h>

#define touch_sensor_enable wb_touch_sensor_enable
#define touch_sensor_disable wb_touch_sensor_disable
#define touch_sensor_get_sampling_period wb_touch_sensor_get_sampling_period
#define touch_sensor_get_value wb_touch_sensor_get_value
#define touch_sensor_get_values wb_touch_sensor_get_values
#define touch_sensor_get_type wb_touch_sensor_get_type
#define touch_sensor_get_lookup_table_size wb_touch_sensor_get_lookup_table_size
#define touch_sensor_get_lookup_table wb_touch_sensor_get_lookup_table

#endif
