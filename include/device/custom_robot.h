/* device/custom_robot.h - robots that are no differential wheels: nothing beyond robot.h is left of them. */
#ifndef DEVICE_CUSTOM_ROBOT_H
#define DEVICE_CUSTOM_ROBOT_H

#include <device/robot.h>

#endif
