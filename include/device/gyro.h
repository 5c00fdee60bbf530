/* device/gyro.h - the names that releases before 6 had. */
#ifndef DEVICE_GYRO_H
#define DEVICE_GYRO_H

#include <device/types.h>
#include <webots/gyro.h>

#define gyro_enable wb_gyro_enable
#define gyro_disable wb_gyro_disable
#define gyro_get_sampling_period wb_gyro_get_sampling_period
#define gyro_get_values wb_gyro_get_values
#define gyro_get_lookup_table_size wb_gyro_get_lookup_table_size
#define gyro_get_lookup_table wb_gyro_get_lookup_table

#endif
