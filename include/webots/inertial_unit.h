/* inertial_unit.h - inertial unit: roll, pitch and yaw. */
#ifndef WEBOTS_INERTIAL_UNIT_H
#define WEBOTS_INERTIAL_UNIT_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_inertial_unit_enable(WbDeviceTag tag, int sampling_period);
void wb_inertial_unit_disable(WbDeviceTag tag);
int wb_inertial_unit_get_sampling_period(WbDeviceTag tag);
const double *wb_inertial_unit_get_roll_pitch_yaw(WbDeviceTag tag);
const double *wb_inertial_unit_get_quaternion(WbDeviceTag tag); /* x y z w */
double wb_inertial_unit_get_noise(WbDeviceTag tag);
int wb_inertial_unit_get_lookup_table_size(WbDeviceTag tag);
const double *wb_inertial_unit_get_lookup_table(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
