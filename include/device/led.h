/* device/led.h - the names that releases before 6 had. */
#ifndef DEVICE_LED_H
#define DEVICE_LED_H

#include <device/types.h>
#include <webots/led.h>

#define led_set wb_led_set
#define led_get wb_led_get

#endif
