// utils.c - small helpers of the API: system, text, robot window, and the experimental radio.
#include "core.h"

#include <webots/radio.h>
#include <webots/utils/default_robot_window.h>
#include <webots/utils/string.h>
#include <webots/utils/system.h>

#include <stdlib.h>
#include <string.h>

const char *wbu_system_getenv(const char *variable) { return getenv(variable); }

const char *wbu_system_short_path(const char *path) { return path; }

const char *wbu_system_tmpdir(void)
{
    const char *path = getenv("WEBOTS_TMPDIR");
    if (!path)
        path = getenv("TMPDIR");
    return path ? path : "/tmp";
}

const char *wbu_system_webots_instance_path(bool refresh)
{
    (void)refresh;
    const char *path = getenv("WEBOTS_INSTANCE_PATH");
    return path ? path : wbu_system_tmpdir();
}

char *wbu_string_strsep(char **stringp, const char *delim) { return strsep(stringp, delim); }

char *wbu_string_replace(char *value, char *before, char *after)
{
    size_t from = strlen(before), to = strlen(after), count = 0;
    if (!from)
        return strdup(value);
    for (const char *at = value; (at = strstr(at, before)); at += from)
        count++;
    char *result = malloc(strlen(value) + count * to + 1), *place = result;
    for (const char *at; (at = strstr(value, before)); value = (char *)at + from) {
        memcpy(place, value, (size_t)(at - value));
        place += at - value;
        memcpy(place, after, to);
        place += to;
    }
    strcpy(place, value);
    return result;
}

void wbu_default_robot_window_configure(void) {}

void wbu_default_robot_window_update(void) {}

// ---- radio: settings are kept, nothing is carried ----

typedef struct RadioMemory {
    char address[64];
    double frequency, sensitivity, power;
    int channel, bitrate;
} RadioMemory;

static RadioMemory *radio(WbDeviceTag tag, const char *who)
{
    CoreDevice *device = core_device(tag, (const WbNodeType[]){ WB_NODE_RADIO, WB_NODE_NO_NODE }, who);
    if (device && !device->own) {
        RadioMemory *fresh = calloc(1, sizeof *fresh);
        *fresh = (RadioMemory){ "", 2400000000.0, -100.0, 5.0, 0, 1000000 };
        device->own = fresh;
    }
    return device ? device->own : NULL;
}

WbRadioMessage wb_radio_message_new(int length, const char *body, const char *destination)
{
    (void)destination;
    char *copy = length > 0 && body ? malloc((size_t)length) : NULL;
    if (copy)
        memcpy(copy, body, (size_t)length);
    return copy;
}

void wb_radio_message_delete(WbRadioMessage message) { free(message); }

void wb_radio_enable(WbDeviceTag tag, int sampling_period) { (void)radio(tag, __func__), (void)sampling_period; }

void wb_radio_disable(WbDeviceTag tag) { (void)radio(tag, __func__); }

void wb_radio_set_address(WbDeviceTag tag, const char *address)
{
    RadioMemory *memory = radio(tag, __func__);
    if (memory && address)
        strncpy(memory->address, address, sizeof memory->address - 1);
}

const char *wb_radio_get_address(WbDeviceTag tag)
{
    RadioMemory *memory = radio(tag, __func__);
    return memory ? memory->address : NULL;
}

#define RADIO_SETTING(name, type, member)                                                                              \
    void wb_radio_set_##name(WbDeviceTag tag, type value)                                                              \
    {                                                                                                                  \
        RadioMemory *memory = radio(tag, __func__);                                                                    \
        if (memory)                                                                                                    \
            memory->member = value;                                                                                    \
    }                                                                                                                  \
    type wb_radio_get_##name(WbDeviceTag tag)                                                                          \
    {                                                                                                                  \
        RadioMemory *memory = radio(tag, __func__);                                                                    \
        return memory ? memory->member : 0;                                                                            \
    }
RADIO_SETTING(frequency, double, frequency)
RADIO_SETTING(channel, int, channel)
RADIO_SETTING(bitrate, int, bitrate)
RADIO_SETTING(rx_sensitivity, double, sensitivity)
RADIO_SETTING(tx_power, double, power)

void wb_radio_set_callback(WbDeviceTag tag, void (*callback)(const WbRadioEvent event))
{
    (void)radio(tag, __func__), (void)callback;
}

WbDeviceTag wb_radio_event_get_radio(const WbRadioEvent event)
{
    (void)event;
    return 0;
}

char *wb_radio_event_get_data(const WbRadioEvent event)
{
    (void)event;
    return NULL;
}

int wb_radio_event_get_data_size(const WbRadioEvent event)
{
    (void)event;
    return 0;
}

char *wb_radio_event_get_emitter(const WbRadioEvent event)
{
    (void)event;
    return NULL;
}

double wb_radio_event_get_rssi(const WbRadioEvent event)
{
    (void)event;
    return 0.0;
}

void wb_radio_send(WbDeviceTag tag, const WbRadioMessage message, double delay)
{
    (void)radio(tag, __func__), (void)message, (void)delay;
}
