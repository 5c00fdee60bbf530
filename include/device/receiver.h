/* device/receiver.h - the names that releases before 6 had. */
#ifndef DEVICE_RECEIVER_H
#define DEVICE_RECEIVER_H

#include <device/types.h>
#include <webots/receiver.h>

#define receiver_enable wb_receiver_enable
#define receiver_disable wb_receiver_disable
#define receiver_get_sampling_period wb_receiver_get_sampling_period
#define receiver_get_queue_length wb_receiver_get_queue_length
#define receiver_next_packet wb_receiver_next_packet
#define receiver_get_data wb_receiver_get_data
#define receiver_get_data_size wb_receiver_get_data_size
#define receiver_get_signal_strength wb_receiver_get_signal_strength
#define receiver_get_emitter_direction wb_receiver_get_emitter_direction
#define receiver_set_channel wb_receiver_set_channel
#define receiver_get_channel wb_receiver_get_channel

#endif
