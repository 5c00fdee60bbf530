/* altimeter.h - altimeter: height in metres. */
#ifndef WEBOTS_ALTIMETER_H
#define WEBOTS_ALTIMETER_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_altimeter_enable(WbDeviceTag tag, int sampling_period);
void wb_altimeter_disable(WbDeviceTag tag);
int wb_altimeter_get_sampling_period(WbDeviceTag tag);
double wb_altimeter_get_value(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
