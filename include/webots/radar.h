/* radar.h - radar. */
#ifndef WEBOTS_RADAR_H
#define WEBOTS_RADAR_H

#include <webots/types.h>
#include <webots/radar_target.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_radar_enable(WbDeviceTag tag, int sampling_period);
void wb_radar_disable(WbDeviceTag tag);
int wb_radar_get_sampling_period(WbDeviceTag tag);
double wb_radar_get_min_range(WbDeviceTag tag);
double wb_radar_get_max_range(WbDeviceTag tag);
double wb_radar_get_horizontal_fov(WbDeviceTag tag);
double wb_radar_get_vertical_fov(WbDeviceTag tag);
int wb_radar_get_number_of_targets(WbDeviceTag tag);
const WbRadarTarget *wb_radar_get_targets(WbDeviceTag tag);

#ifdef __cplusplus
}
#endif

#endif
