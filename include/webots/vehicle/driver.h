/* vehicle/driver.h - driving a car: speed, steering, lights, wipers. */
#ifndef WEBOTS_VEHICLE_DRIVER_H
#define WEBOTS_VEHICLE_DRIVER_H

#include <webots/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { OFF = 0, RIGHT, LEFT } WbuDriverIndicatorState;
typedef enum { SPEED = 0, TORQUE } WbuDriverControlMode;
typedef enum { DOWN = 0, SLOW, NORMAL, FAST } WbuDriverWiperMode;
enum { SPEED_CONTROL_MODE = SPEED, TORQUE_CONTROL_MODE = TORQUE };

bool wbu_driver_initialization_is_possible(void);
void wbu_driver_init(void);
void wbu_driver_cleanup(void);
int wbu_driver_step(void);
void wbu_driver_set_steering_angle(double steering_angle);
double wbu_driver_get_steering_angle(void);
void wbu_driver_set_cruising_speed(double speed); /* km/h */
double wbu_driver_get_target_cruising_speed(void);
double wbu_driver_get_current_speed(void); /* km/h */
void wbu_driver_set_throttle(double throttle);
double wbu_driver_get_throttle(void);
void wbu_driver_set_brake_intensity(double intensity);
double wbu_driver_get_brake_intensity(void);
void wbu_driver_set_brake(double brake); /* old */
double wbu_driver_get_brake(void);       /* old */
void wbu_driver_set_indicator(WbuDriverIndicatorState state);
WbuDriverIndicatorState wbu_driver_get_indicator(void);
void wbu_driver_set_hazard_flashers(bool state);
void wbu_driver_set_indicator_warning(bool state); /* its name until R2018 */
bool wbu_driver_get_hazard_flashers(void);
void wbu_driver_set_dipped_beams(bool state);
bool wbu_driver_get_dipped_beams(void);
void wbu_driver_set_antifog_lights(bool state);
bool wbu_driver_get_antifog_lights(void);
void wbu_driver_set_wiper_mode(WbuDriverWiperMode mode);
WbuDriverWiperMode wbu_driver_get_wiper_mode(void);
void wbu_driver_set_wipers_mode(WbuDriverWiperMode mode); /* old */
WbuDriverWiperMode wbu_driver_get_wipers_mode(void);      /* old */
double wbu_driver_get_rpm(void);
int wbu_driver_get_gear(void);
void wbu_driver_set_gear(int gear);
int wbu_driver_get_gear_number(void);
WbuDriverControlMode wbu_driver_get_control_mode(void);

#ifdef __cplusplus
}
#endif

#endif
