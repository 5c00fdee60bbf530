/* device/accelerometer.h - the names that releases before 6 had. */
#ifndef DEVICE_ACCELEROMETER_H
#define DEVICE_ACCELEROMETER_H

#include <device/types.h>
#include <webots/accelerometer.h>

#define accelerometer_enable wb_accelerometer_enable
#define accelerometer_disable wb_accelerometer_disable
#define accelerometer_get_sampling_period wb_accelerometer_get_sampling_period
#define accelerometer_get_values wb_accelerometer_get_values
#define accelerometer_get_lookup_table_size wb_accelerometer_get_lookup_table_size
#define accelerometer_get_lookup_table wb_accelerometer_get_lookup_table

#endif
