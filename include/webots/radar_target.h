/* radar_target.h - one target of a radar. */
#ifndef WEBOTS_RADAR_TARGET_H
#define WEBOTS_RADAR_TARGET_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double distance;
    double received_power;
    double speed;
    double azimuth;
} WbRadarTarget;

#ifdef __cplusplus
}
#endif

#endif
