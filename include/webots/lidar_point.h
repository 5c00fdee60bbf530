/* lidar_point.h - one point of a lidar cloud. */
#ifndef WEBOTS_LIDAR_POINT_H
#define WEBOTS_LIDAR_POINT_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    float x;
    float y;
    float z;
    int layer_id;
    float time;
} WbLidarPoint;

#ifdef __cplusplus
}
#endif

#endif
