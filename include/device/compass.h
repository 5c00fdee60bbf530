/* device/compass.h - the names that releases before 6 had. */
#ifndef DEVICE_COMPASS_H
#define DEVICE_COMPASS_H

#include <device/types.h>
#include <webots/compass.h>

#define compass_enable wb_compass_enable
#define compass_disable wb_compass_disable
#define compass_get_sampling_period wb_compass_get_sampling_period
#define compass_get_values wb_compass_get_values
#define compass_get_lookup_table_size wb_compass_get_lookup_table_size
#define compass_get_lookup_table wb_compass_get_lookup_table

#endif
