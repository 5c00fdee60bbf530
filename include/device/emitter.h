/* device/emitter.h - the names that releases before 6 had. */
#ifndef DEVICE_EMITTER_H
#define DEVICE_EMITTER_H

#include <device/types.h>
#include <webots/emitter.h>

#define emitter_send wb_emitter_send
#define emitter_set_channel wb_emitter_set_channel
#define emitter_get_channel wb_emitter_get_channel
#define emitter_set_range wb_emitter_set_range
#define emitter_get_range wb_emitter_get_range
#define emitter_get_buffer_size wb_emitter_get_buffer_size

#endif
