// registry.c - the kinds of devices, from the list in registry.h.
#include "devices/devices_internal.h"

#define ROW(name) &name##_device,
const DeviceKind *const device_kinds[] = { DEVICE_KINDS(ROW) NULL };
