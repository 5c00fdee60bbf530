/* types.h - plain types that every header of the API uses. */
#ifndef WEBOTS_TYPES_H
#define WEBOTS_TYPES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef unsigned short WbDeviceTag; /* 0: none, or the robot itself */

typedef struct WbImageStructPrivate *WbImageRef;
typedef struct WbMotionStructPrivate *WbMotionRef;
typedef struct WbNodeStructPrivate *WbNodeRef;
typedef struct WbFieldStructPrivate *WbFieldRef;
typedef struct WbProtoInfoStructPrivate *WbProtoRef;
typedef struct WbMutexStructPrivate *WbMutexRef;

typedef enum { WB_ROTATIONAL = 0, WB_LINEAR = 1 } WbJointType;
#define WB_ANGULAR WB_ROTATIONAL

#endif
