/* compass.h - compass: direction of north in the frame of the sensor, three numbers. */
#ifndef WEBOTS_COMPASS_H
#define WEBOTS_COMPASS_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_compass_enable(WbDeviceTag tag, int sampling_period);
void wb_compass_disable(WbDeviceTag tag);
int wb_compass_get_sampling_period(WbDeviceTag tag);
const double *wb_compass_get_values(WbDeviceTag tag);
int wb_compass_get_lookup_table_size(WbDeviceTag tag);
const double *wb_compass_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
