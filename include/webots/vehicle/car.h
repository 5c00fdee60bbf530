/* vehicle/car.h - facts and details of a car. */
#ifndef WEBOTS_VEHICLE_CAR_H
#define WEBOTS_VEHICLE_CAR_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { WBU_CAR_TRACTION = 0, WBU_CAR_PROPULSION, WBU_CAR_FOUR_BY_FOUR } WbuCarType;
typedef enum {
    WBU_CAR_COMBUSTION_ENGINE = 0,
    WBU_CAR_ELECTRIC_ENGINE,
    WBU_CAR_PARALLEL_HYBRID_ENGINE,
    WBU_CAR_POWER_SPLIT_HYBRID_ENGINE
} WbuCarEngineType;
typedef enum {
    WBU_CAR_WHEEL_FRONT_RIGHT = 0,
    WBU_CAR_WHEEL_FRONT_LEFT,
    WBU_CAR_WHEEL_REAR_RIGHT,
    WBU_CAR_WHEEL_REAR_LEFT,
    WBU_CAR_WHEEL_NB
} WbuCarWheelIndex;

void wbu_car_init(void);
void wbu_car_cleanup(void);
WbuCarType wbu_car_get_type(void);
WbuCarEngineType wbu_car_get_engine_type(void);
void wbu_car_set_indicator_period(double period);
double wbu_car_get_indicator_period(void);
bool wbu_car_get_backwards_lights(void);
bool wbu_car_get_brake_lights(void);
double wbu_car_get_track_front(void);
double wbu_car_get_track_rear(void);
double wbu_car_get_wheelbase(void);
double wbu_car_get_front_wheel_radius(void);
double wbu_car_get_rear_wheel_radius(void);
double wbu_car_get_wheel_encoder(WbuCarWheelIndex wheel);
double wbu_car_get_wheel_speed(WbuCarWheelIndex wheel);
void wbu_car_set_right_steering_angle(double angle);
double wbu_car_get_right_steering_angle(void);
void wbu_car_set_left_steering_angle(double angle);
double wbu_car_get_left_steering_angle(void);
void wbu_car_enable_limited_slip_differential(bool enable);
void wbu_car_enable_indicator_auto_disabling(bool enable);

#ifdef __cplusplus
}
#endif

#endif
