/* led.h - LED. */
#ifndef WEBOTS_LED_H
#define WEBOTS_LED_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_led_set(WbDeviceTag tag, int value);
int wb_led_get(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
