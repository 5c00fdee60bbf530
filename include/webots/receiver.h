/* receiver.h - receiver: a queue of packets. */
#ifndef WEBOTS_RECEIVER_H
#define WEBOTS_RECEIVER_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_receiver_enable(WbDeviceTag tag, int sampling_period);
void wb_receiver_disable(WbDeviceTag tag);
int wb_receiver_get_sampling_period(WbDeviceTag tag);
int wb_receiver_get_queue_length(WbDeviceTag tag);
void wb_receiver_next_packet(WbDeviceTag tag);
const void *wb_receiver_get_data(WbDeviceTag tag);
int wb_receiver_get_data_size(WbDeviceTag tag);
double wb_receiver_get_signal_strength(WbDeviceTag tag);
const double *wb_receiver_get_emitter_direction(WbDeviceTag tag);
void wb_receiver_set_channel(WbDeviceTag tag, int channel);
int wb_receiver_get_channel(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
