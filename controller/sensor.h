// sensor.h - the functions that sensors with one channel of numbers have in common: enabling, periods, values, lookup
// tables.
#ifndef TALUS_CONTROLLER_SENSOR_H
#define TALUS_CONTROLLER_SENSOR_H

#include "core.h"

#include <math.h>

static inline void sensor_enable(CoreDevice *device, WbDeviceTag tag, int period, const char *who)
{
    if (!device)
        return;
    if (period < 0)
        core_warn(who, "the sampling period %d is negative", period);
    else
        core_enable(tag, 0, period);
}

#define SENSOR(prefix, type)                                                                                           \
    void prefix##_enable(WbDeviceTag tag, int sampling_period)                                                         \
    {                                                                                                                  \
        sensor_enable(CORE_DEVICE(tag, type), tag, sampling_period, __func__);                                         \
    }                                                                                                                  \
    void prefix##_disable(WbDeviceTag tag) { sensor_enable(CORE_DEVICE(tag, type), tag, 0, __func__); }                \
    int prefix##_get_sampling_period(WbDeviceTag tag)                                                                  \
    {                                                                                                                  \
        const CoreDevice *device = CORE_DEVICE(tag, type);                                                             \
        return device ? device->channels[0].period : 0;                                                                \
    }

#define VALUE(prefix, type)                                                                                            \
    double prefix##_get_value(WbDeviceTag tag)                                                                         \
    {                                                                                                                  \
        const CoreDevice *device = CORE_DEVICE(tag, type);                                                             \
        if (device && device->channels[0].period == 0 && device->channels[0].serial == 0)                              \
            core_warn(__func__, "the device '%s' is not enabled", device->name);                                       \
        return core_value(device, 0);                                                                                  \
    }

// Three numbers, NaN before the first reading.
static inline const double *sensor_vector(const CoreDevice *device)
{
    static const double none[3] = { NAN, NAN, NAN };
    const double *reading = core_reading(device, 0, NULL);
    return reading ? reading : none;
}

#define VECTOR(prefix, type)                                                                                           \
    const double *prefix##_get_values(WbDeviceTag tag) { return sensor_vector(CORE_DEVICE(tag, type)); }

// The lookup table is the end of the constants, from `first` on.
#define TABLE(prefix, type, first)                                                                                     \
    int prefix##_get_lookup_table_size(WbDeviceTag tag)                                                                \
    {                                                                                                                  \
        const CoreDevice *device = CORE_DEVICE(tag, type);                                                             \
        return device && device->constant_count > (first) ? (device->constant_count - (first)) / 3 : 0;                \
    }                                                                                                                  \
    const double *prefix##_get_lookup_table(WbDeviceTag tag)                                                           \
    {                                                                                                                  \
        const CoreDevice *device = CORE_DEVICE(tag, type);                                                             \
        return device && device->constant_count > (first) ? device->constants + (first) : NULL;                        \
    }

#endif
