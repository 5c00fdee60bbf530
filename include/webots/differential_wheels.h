/* differential_wheels.h - robots with two wheels, as worlds up to 2020 had them. */
#ifndef WEBOTS_DIFFERENTIAL_WHEELS_H
#define WEBOTS_DIFFERENTIAL_WHEELS_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

void wb_differential_wheels_set_speed(double left, double right);
double wb_differential_wheels_get_left_speed(void);
double wb_differential_wheels_get_right_speed(void);
void wb_differential_wheels_enable_encoders(int sampling_period);
void wb_differential_wheels_disable_encoders(void);
int wb_differential_wheels_get_encoders_sampling_period(void);
double wb_differential_wheels_get_left_encoder(void);
double wb_differential_wheels_get_right_encoder(void);
void wb_differential_wheels_set_encoders(double left, double right);
double wb_differential_wheels_get_max_speed(void);
double wb_differential_wheels_get_speed_unit(void);

#ifdef __cplusplus
}
#endif

#endif
