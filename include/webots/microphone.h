/* microphone.h - microphone (experimental). */
#ifndef WEBOTS_MICROPHONE_H
#define WEBOTS_MICROPHONE_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_microphone_enable(WbDeviceTag tag, int sampling_period);
void wb_microphone_disable(WbDeviceTag tag);
int wb_microphone_get_sampling_period(WbDeviceTag tag);
const void *wb_microphone_get_sample_data(WbDeviceTag tag);
int wb_microphone_get_sample_size(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
