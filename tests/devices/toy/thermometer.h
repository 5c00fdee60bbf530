/* thermometer.h - a toy sensor's functions. */
#ifndef WEBOTS_THERMOMETER_H
#define WEBOTS_THERMOMETER_H

#include <webots/types.h>

void wb_thermometer_enable(WbDeviceTag tag, int sampling_period);
void wb_thermometer_disable(WbDeviceTag tag);
int wb_thermometer_get_sampling_period(WbDeviceTag tag);
double wb_thermometer_get_value(WbDeviceTag tag);
int wb_thermometer_get_lookup_table_size(WbDeviceTag tag);
const double *wb_thermometer_get_lookup_table(WbDeviceTag tag);

#endif
