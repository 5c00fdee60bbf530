/* gyro.h - gyro: angular velocity in rad/s in the frame of the sensor, three numbers. */
#ifndef WEBOTS_GYRO_H
#define WEBOTS_GYRO_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_gyro_enable(WbDeviceTag tag, int sampling_period);
void wb_gyro_disable(WbDeviceTag tag);
int wb_gyro_get_sampling_period(WbDeviceTag tag);
const double *wb_gyro_get_values(WbDeviceTag tag);
int wb_gyro_get_lookup_table_size(WbDeviceTag tag);
const double *wb_gyro_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
