/* emitter.h - emitter: sends packets to receivers on its channel. */
#ifndef WEBOTS_EMITTER_H
#define WEBOTS_EMITTER_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_CHANNEL_BROADCAST -1
int wb_emitter_send(WbDeviceTag tag, const void *data, int size);
void wb_emitter_set_channel(WbDeviceTag tag, int channel);
int wb_emitter_get_channel(WbDeviceTag tag);
void wb_emitter_set_range(WbDeviceTag tag, double range);
double wb_emitter_get_range(WbDeviceTag tag);
int wb_emitter_get_buffer_size(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
