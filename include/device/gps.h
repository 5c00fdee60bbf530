/* device/gps.h - the names that releases before 6 had. */
#ifndef DEVICE_GPS_H
#define DEVICE_GPS_H

#include <device/types.h>
#include <webots/gps.h>

#define gps_enable wb_gps_enable
#define gps_disable wb_gps_disable
#define gps_get_sampling_period wb_gps_get_sampling_period
#define gps_get_values wb_gps_get_values
#define gps_get_speed wb_gps_get_speed
#define gps_get_speed_vector wb_gps_get_speed_vector
#define gps_get_coordinate_system wb_gps_get_coordinate_system
#define gps_convert_to_degrees_minutes_seconds wb_gps_convert_to_degrees_minutes_seconds

#endif
