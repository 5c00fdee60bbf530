/* device/types.h - types by the names that releases before 6 had. */
#ifndef DEVICE_TYPES_H
#define DEVICE_TYPES_H

#include <webots/types.h>

typedef WbDeviceTag DeviceTag;
typedef WbNodeRef NodeRef;
typedef WbFieldRef FieldRef;
#define SERVO_INFINITY INFINITY

#endif
