// vehicle.c - the driver library: cars made from the library's Car PROTO, whose customData says what they are and whose
// motors, sensors, brakes and lights have the names below. Positive angles steer to the right, speeds are in km/h.
#include "core.h"

#include <webots/brake.h>
#include <webots/led.h>
#include <webots/motor.h>
#include <webots/position_sensor.h>
#include <webots/robot.h>
#include <webots/vehicle/car.h>
#include <webots/vehicle/driver.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GEARS_MAX = 32, LIGHTS_MAX = 4 };

typedef enum Light {
    LIGHT_DIPPED,
    LIGHT_ANTIFOG,
    LIGHT_BRAKE,
    LIGHT_BACKWARDS,
    LIGHT_RIGHT,
    LIGHT_LEFT,
    LIGHT_COUNT
} Light;

static const char *const light_names[LIGHT_COUNT][LIGHTS_MAX] = {
    [LIGHT_DIPPED] = { "front_lights", "rear_lights" },
    [LIGHT_ANTIFOG] = { "antifog_lights" },
    [LIGHT_BRAKE] = { "brake_lights" },
    [LIGHT_BACKWARDS] = { "backwards_lights" },
    [LIGHT_RIGHT] = { "right_indicators", "interior_right_indicators" },
    [LIGHT_LEFT] = { "left_indicators", "interior_left_indicators" },
};

// In the order of WbuCarWheelIndex.
static const char *const wheel_names[WBU_CAR_WHEEL_NB] = { "right_front", "left_front", "right_rear", "left_rear" };

typedef struct Vehicle {
    bool is_ready;
    // What it is.
    double wheelbase, track_front, track_rear, radius_front, radius_rear, brake_coefficient;
    char engine;
    double max_torque, max_power, min_rpm, max_rpm, coefficients[3], split_ratio, split_rpm;
    double gears[GEARS_MAX];
    int gear_count;
    WbDeviceTag steer[2];  // right, left
    WbDeviceTag motors[WBU_CAR_WHEEL_NB], sensors[WBU_CAR_WHEEL_NB], brakes[WBU_CAR_WHEEL_NB];
    WbDeviceTag lights[LIGHT_COUNT][LIGHTS_MAX];
    WbDeviceTag wipers[2], steering_wheel;
    // What it does.
    WbuDriverControlMode mode;
    double steering, angles[2], cruising, throttle, brake;
    int gear;
    double angles_seen[WBU_CAR_WHEEL_NB], speeds[WBU_CAR_WHEEL_NB], seen_at;
    WbuDriverIndicatorState indicator;
    bool hazard, dipped, antifog, backwards, brake_light, auto_disabling, limited_slip;
    double indicator_period, blinks_since, furthest_steering;
    WbuDriverWiperMode wiper_mode;
} Vehicle;

static Vehicle car;

// A device that a car may have or not: no message when it has not.
static WbDeviceTag find(const char *name)
{
    for (int i = 0; name && i < wb_robot_get_number_of_devices(); i++)
        if (!strcmp(core.devices[i + 1].name, name))
            return (WbDeviceTag)(i + 1);
    return 0;
}

static WbDeviceTag find_wheel(int wheel, const char *what)
{
    assert(wheel >= 0 && wheel < COUNT_OF(wheel_names));
    char name[64];
    snprintf(name, sizeof name, "%s_%s", wheel_names[wheel], what);
    return find(name);
}

// The figures of the Car PROTO: see its template.
static bool read_figures(const char *text)
{
    double damping, reference;
    int gears, sound, used = 0;
    if (!text
        || sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %c %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %d %d%n",
                  &car.wheelbase, &car.track_front, &car.track_rear, &car.radius_front, &car.radius_rear,
                  &car.brake_coefficient, &damping, &car.engine, &car.max_torque, &car.max_power, &car.min_rpm,
                  &car.max_rpm, &car.coefficients[0], &car.coefficients[1], &car.coefficients[2], &car.split_ratio,
                  &car.split_rpm, &reference, &gears, &sound, &used)
               != 20)
        return false;
    for (text += used; car.gear_count < gears && car.gear_count < GEARS_MAX; car.gear_count++) {
        char *end;
        car.gears[car.gear_count] = strtod(text, &end);
        if (end == text)
            return false;
        text = end;
    }
    if (!(car.radius_front > 0.0))
        car.radius_front = 0.4;
    if (!(car.radius_rear > 0.0))
        car.radius_rear = 0.4;
    return car.wheelbase > 0.0 && car.track_front > 0.0 && car.track_rear > 0.0;
}

bool wbu_driver_initialization_is_possible(void)
{
    wb_robot_init();
    Vehicle before = car;
    bool is_possible = find("left_steer") && find("right_steer") && read_figures(wb_robot_get_custom_data());
    car = before;
    return is_possible;
}

// Devices are found by the names that the Car PROTO gives them; what a vehicle lacks (wipers, lights, brakes) stays
// 0 and is passed over later.
void wbu_driver_init(void)
{
    wb_robot_init();
    if (car.is_ready)
        return;
    car = (Vehicle){ .indicator_period = 1.0, .auto_disabling = true, .limited_slip = true };
    car.steer[0] = find("right_steer");
    car.steer[1] = find("left_steer");
    if (!car.steer[0] || !car.steer[1] || !read_figures(wb_robot_get_custom_data())) {
        fprintf(stderr, "Error: wbu_driver_init(): '%s' is no vehicle of the Car PROTO\n", wb_robot_get_name());
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++) {
        car.motors[i] = find_wheel(i, "wheel");
        car.sensors[i] = find_wheel(i, "sensor");
        car.brakes[i] = find_wheel(i, "brake");
        if (car.sensors[i])
            wb_position_sensor_enable(car.sensors[i], (int)wb_robot_get_basic_time_step());
        if (car.motors[i]) {
            wb_motor_set_position(car.motors[i], INFINITY);
            wb_motor_set_velocity(car.motors[i], 0.0);
        }
    }
    for (int i = 0; i < LIGHT_COUNT; i++)
        for (int k = 0; k < LIGHTS_MAX; k++)
            car.lights[i][k] = find(light_names[i][k]);
    car.wipers[0] = find("right_wiper_motor");
    car.wipers[1] = find("left_wiper_motor");
    car.steering_wheel = find("steering_wheel_motor");
    car.is_ready = true;
}

void wbu_driver_cleanup(void)
{
    car.is_ready = false;
    wb_robot_cleanup();
}

static bool is_ready(const char *who)
{
    if (!car.is_ready)
        core_warn(who, "wbu_driver_init() comes first");
    return car.is_ready;
}
#define READY is_ready(__func__)

// ---- lights ----

static void switch_light(Light light, bool is_on)
{
    assert((int)light >= 0 && (int)light < LIGHT_COUNT);
    for (int i = 0; i < LIGHTS_MAX; i++)
        if (car.lights[light][i])
            wb_led_set(car.lights[light][i], is_on);
}

static void blink(void)
{
    double since = wb_robot_get_time() - car.blinks_since;
    bool is_on = car.indicator_period > 0.0 && fmod(since, car.indicator_period) < 0.5 * car.indicator_period;
    switch_light(LIGHT_RIGHT, is_on && (car.hazard || car.indicator == RIGHT));
    switch_light(LIGHT_LEFT, is_on && (car.hazard || car.indicator == LEFT));
}

// An indicator goes out when the wheel comes back after a turn to its side.
static void watch_turn(void)
{
    double side = car.indicator == RIGHT ? 1.0 : -1.0, turned = side * car.steering;
    if (!car.auto_disabling || car.indicator == OFF)
        return;
    car.furthest_steering = fmax(car.furthest_steering, turned);
    if (car.furthest_steering > 0.1 && turned < 0.5 * car.furthest_steering)
        wbu_driver_set_indicator(OFF);
}

void wbu_driver_set_indicator(WbuDriverIndicatorState state)
{
    if (!READY || state > LEFT)
        return;
    car.indicator = state;
    car.blinks_since = wb_robot_get_time();
    car.furthest_steering = 0.0;
    blink();
}

WbuDriverIndicatorState wbu_driver_get_indicator(void) { return car.indicator; }

void wbu_driver_set_hazard_flashers(bool state)
{
    if (!READY)
        return;
    car.hazard = state;
    car.blinks_since = wb_robot_get_time();
    blink();
}

void wbu_driver_set_indicator_warning(bool state) { wbu_driver_set_hazard_flashers(state); }

bool wbu_driver_get_hazard_flashers(void) { return car.hazard; }

void wbu_driver_set_dipped_beams(bool state)
{
    if (!READY)
        return;
    car.dipped = state;
    switch_light(LIGHT_DIPPED, state);
}

bool wbu_driver_get_dipped_beams(void) { return car.dipped; }

void wbu_driver_set_antifog_lights(bool state)
{
    if (!READY)
        return;
    car.antifog = state;
    switch_light(LIGHT_ANTIFOG, state);
}

bool wbu_driver_get_antifog_lights(void) { return car.antifog; }

void wbu_car_set_indicator_period(double period)
{
    if (READY && period > 0.0)
        car.indicator_period = period;
}

double wbu_car_get_indicator_period(void) { return car.indicator_period; }

bool wbu_car_get_backwards_lights(void) { return car.backwards; }

bool wbu_car_get_brake_lights(void) { return car.brake_light; }

void wbu_car_enable_indicator_auto_disabling(bool enable) { car.auto_disabling = enable; }

// ---- steering ----

static void apply_steering(void)
{
    assert_debug(car.is_ready);
    for (int i = 0; i < 2; i++)
        wb_motor_set_position(car.steer[i], car.angles[i]);
    if (car.steering_wheel)
        wb_motor_set_position(car.steering_wheel, -10.0 * car.steering);
}

// Both wheels turn about one point on the line of the rear axle.
void wbu_driver_set_steering_angle(double angle)
{
    if (!READY || !isfinite(angle))
        return;
    car.steering = angle;
    double half = 0.5 * car.track_front / car.wheelbase;
    bool is_straight = fabs(angle) < 1e-9;
    car.angles[0] = is_straight ? 0.0 : atan(1.0 / (1.0 / tan(angle) - half));
    car.angles[1] = is_straight ? 0.0 : atan(1.0 / (1.0 / tan(angle) + half));
    apply_steering();
    watch_turn();
}

double wbu_driver_get_steering_angle(void) { return car.steering; }

void wbu_car_set_right_steering_angle(double angle)
{
    if (!READY || !isfinite(angle))
        return;
    car.angles[0] = angle;
    apply_steering();
}

double wbu_car_get_right_steering_angle(void) { return car.angles[0]; }

void wbu_car_set_left_steering_angle(double angle)
{
    if (!READY || !isfinite(angle))
        return;
    car.angles[1] = angle;
    apply_steering();
}

double wbu_car_get_left_steering_angle(void) { return car.angles[1]; }

// ---- speed ----

static bool is_front(int wheel) { return wheel < WBU_CAR_WHEEL_REAR_RIGHT; }

static double radius_of(int wheel)
{
    assert_debug(wheel >= 0 && wheel < WBU_CAR_WHEEL_NB && car.radius_front > 0.0 && car.radius_rear > 0.0);
    return is_front(wheel) ? car.radius_front : car.radius_rear;
}

// How much faster than the middle of the car a wheel rolls in the present turn.
static double turn_factor(int wheel)
{
    assert(wheel >= 0 && wheel < WBU_CAR_WHEEL_NB);
    double curvature = tan(car.steering) / car.wheelbase;  // to the right
    bool is_right = wheel == WBU_CAR_WHEEL_FRONT_RIGHT || wheel == WBU_CAR_WHEEL_REAR_RIGHT;
    double track = is_front(wheel) ? car.track_front : car.track_rear;
    double lateral = 1.0 - (is_right ? 0.5 : -0.5) * track * curvature;
    return is_front(wheel) ? hypot(lateral, car.wheelbase * curvature) : lateral;
}

static void apply_speed(void)
{
    assert_debug(car.is_ready && car.mode == SPEED);
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++)
        if (car.motors[i]) {
            double max = wb_motor_get_max_velocity(car.motors[i]),
                   speed = car.cruising / 3.6 / radius_of(i) * turn_factor(i);
            wb_motor_set_velocity(car.motors[i], fmin(fmax(speed, -max), max));
        }
    car.backwards = car.cruising < 0.0;
    switch_light(LIGHT_BACKWARDS, car.backwards);
}

void wbu_driver_set_cruising_speed(double speed)
{
    if (!READY || !isfinite(speed))
        return;
    if (car.mode != SPEED)
        for (int i = 0; i < WBU_CAR_WHEEL_NB; i++)
            if (car.motors[i])
                wb_motor_set_position(car.motors[i], INFINITY);
    car.mode = SPEED;
    car.cruising = speed;
    apply_speed();
}

double wbu_driver_get_target_cruising_speed(void) { return car.cruising; }

static double mean_speed(bool driven_alone)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++)
        if (!driven_alone || car.motors[i]) {
            sum += driven_alone ? car.speeds[i] : car.speeds[i] * radius_of(i);
            count++;
        }
    return count ? sum / count : 0.0;
}

double wbu_driver_get_current_speed(void)
{
    if (!READY)
        return NAN;
    return car.seen_at > 0.0 ? 3.6 * mean_speed(false) : NAN;
}

static void apply_brake(void)
{
    assert_debug(car.brake >= 0.0 && car.brake <= 1.0);
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++) {
        if (car.brakes[i])
            wb_brake_set_damping_constant(car.brakes[i], car.brake * car.brake_coefficient);
        // A motor that holds a speed would win against any brake.
        if (car.motors[i] && car.mode == SPEED)
            wb_motor_set_available_torque(car.motors[i],
                                          car.brake > 0.0 ? 0.0 : wb_motor_get_max_torque(car.motors[i]));
    }
    car.brake_light = car.brake > 0.0;
    switch_light(LIGHT_BRAKE, car.brake_light);
}

void wbu_driver_set_brake_intensity(double intensity)
{
    if (!READY || isnan(intensity))
        return;
    if (intensity < 0.0 || intensity > 1.0)
        core_warn(__func__, "the intensity must be between 0 and 1");
    car.brake = fmin(fmax(intensity, 0.0), 1.0);
    apply_brake();
}

double wbu_driver_get_brake_intensity(void) { return car.brake; }

void wbu_driver_set_brake(double brake) { wbu_driver_set_brake_intensity(brake); }

double wbu_driver_get_brake(void) { return car.brake; }

// ---- engine ----

static double gear_ratio(void)
{
    assert_debug(car.gear >= -1 && car.gear_count <= GEARS_MAX);
    int index = car.gear < 0 ? 0 : car.gear;
    return car.gear == 0 || index >= car.gear_count ? 0.0 : car.gears[index];
}

double wbu_driver_get_rpm(void)
{
    if (!READY)
        return NAN;
    double rpm = fabs(mean_speed(true) * gear_ratio()) * 60.0 / (2.0 * M_PI);
    return car.engine == 'E' ? rpm : fmax(rpm, car.min_rpm);
}

static double combustion_torque(double rpm)
{
    return rpm > car.max_rpm ? 0.0 : car.coefficients[0] + car.coefficients[1] * rpm + car.coefficients[2] * rpm * rpm;
}

static double electric_torque(double rpm)
{
    return rpm > 0.0 ? fmin(car.max_torque, car.max_power * 60.0 / (2.0 * M_PI * rpm)) : car.max_torque;
}

static double engine_torque(double rpm)
{
    switch (car.engine) {
    case 'E': return electric_torque(rpm);
    case 'P': return combustion_torque(rpm) + electric_torque(rpm);
    case 'S':
        return rpm < car.split_rpm ? electric_torque(rpm)
                                   : (1.0 - car.split_ratio) * combustion_torque(rpm) + electric_torque(rpm);
    default: return combustion_torque(rpm);
    }
}

// The engine's torque reaches the driven wheels in equal parts; a limited slip differential gives more to the slower
// one.
static void apply_torque(void)
{
    assert_debug(car.throttle >= 0.0 && car.throttle <= 1.0);
    assert_debug(car.mode == TORQUE);
    int driven = 0;
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++)
        driven += car.motors[i] != 0;
    double torque = driven ? car.throttle * engine_torque(wbu_driver_get_rpm()) * gear_ratio() / driven : 0.0;
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++) {
        if (!car.motors[i])
            continue;
        int twin = i ^ 1;
        double share = 1.0;
        if (car.limited_slip && car.motors[twin]) {
            double mine = fabs(car.speeds[i]), other = fabs(car.speeds[twin]);
            share = mine + other > 1e-3 ? 2.0 * (other + 0.1) / (mine + other + 0.2) : 1.0;
        }
        wb_motor_set_torque(car.motors[i], torque * share);
    }
    car.backwards = car.gear < 0;
    switch_light(LIGHT_BACKWARDS, car.backwards);
}

static void drive_by_torque(void)
{
    if (car.mode == TORQUE)
        return;
    car.mode = TORQUE;
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++)
        if (car.motors[i])
            wb_motor_set_available_torque(car.motors[i], wb_motor_get_max_torque(car.motors[i]));
}

void wbu_driver_set_throttle(double throttle)
{
    if (!READY || isnan(throttle))
        return;
    if (throttle < 0.0 || throttle > 1.0)
        core_warn(__func__, "the throttle must be between 0 and 1");
    drive_by_torque();
    car.throttle = fmin(fmax(throttle, 0.0), 1.0);
    apply_torque();
}

double wbu_driver_get_throttle(void) { return car.throttle; }

int wbu_driver_get_gear_number(void) { return car.gear_count; }

int wbu_driver_get_gear(void) { return car.gear; }

void wbu_driver_set_gear(int gear)
{
    if (!READY)
        return;
    if (gear < -1 || gear >= car.gear_count || (gear == -1 && !(car.gears[0] < 0.0))) {
        core_warn(__func__, "the car has no gear %d", gear);
        return;
    }
    drive_by_torque();
    car.gear = gear;
    apply_torque();
}

WbuDriverControlMode wbu_driver_get_control_mode(void) { return car.mode; }

// ---- wipers ----

static void wipe(void)
{
    static const double frequencies[] = { [DOWN] = 0.0, [SLOW] = 0.5, [NORMAL] = 0.75, [FAST] = 1.25 };
    assert((int)car.wiper_mode >= 0 && (int)car.wiper_mode < COUNT_OF(frequencies));
    double phase = fmod(wb_robot_get_time() * frequencies[car.wiper_mode], 1.0);
    for (int i = 0; i < 2; i++)
        if (car.wipers[i])
            wb_motor_set_position(
                car.wipers[i], car.wiper_mode != DOWN && phase < 0.5 ? wb_motor_get_max_position(car.wipers[i]) : 0.0);
}

void wbu_driver_set_wiper_mode(WbuDriverWiperMode mode)
{
    if (!READY || mode > FAST)
        return;
    car.wiper_mode = mode;
    wipe();
}

WbuDriverWiperMode wbu_driver_get_wiper_mode(void) { return car.wiper_mode; }

void wbu_driver_set_wipers_mode(WbuDriverWiperMode mode) { wbu_driver_set_wiper_mode(mode); }

WbuDriverWiperMode wbu_driver_get_wipers_mode(void) { return car.wiper_mode; }

// ---- step ----

static void read_wheels(void)
{
    double now = wb_robot_get_time(), passed = now - car.seen_at;
    for (int i = 0; i < WBU_CAR_WHEEL_NB; i++) {
        double angle = car.sensors[i] ? wb_position_sensor_get_value(car.sensors[i]) : NAN;
        if (isnan(angle))
            continue;
        car.speeds[i] = passed > 0.0 ? (angle - car.angles_seen[i]) / passed : 0.0;
        car.angles_seen[i] = angle;
    }
    car.seen_at = now;
}

int wbu_driver_step(void)
{
    if (!READY)
        return -1;
    int result = wb_robot_step((int)wb_robot_get_basic_time_step());
    if (result < 0)
        return result;
    read_wheels();
    if (car.mode == TORQUE)
        apply_torque();
    else
        apply_speed();
    if (car.hazard || car.indicator != OFF)
        blink();
    if (car.wiper_mode != DOWN)
        wipe();
    return result;
}

// ---- facts of the car ----

void wbu_car_init(void) { wbu_driver_init(); }

void wbu_car_cleanup(void) { wbu_driver_cleanup(); }

WbuCarType wbu_car_get_type(void)
{
    bool front = car.motors[WBU_CAR_WHEEL_FRONT_RIGHT] != 0, rear = car.motors[WBU_CAR_WHEEL_REAR_RIGHT] != 0;
    return front && rear ? WBU_CAR_FOUR_BY_FOUR : rear ? WBU_CAR_PROPULSION : WBU_CAR_TRACTION;
}

WbuCarEngineType wbu_car_get_engine_type(void)
{
    switch (car.engine) {
    case 'E': return WBU_CAR_ELECTRIC_ENGINE;
    case 'P': return WBU_CAR_PARALLEL_HYBRID_ENGINE;
    case 'S': return WBU_CAR_POWER_SPLIT_HYBRID_ENGINE;
    default: return WBU_CAR_COMBUSTION_ENGINE;
    }
}

double wbu_car_get_track_front(void) { return car.track_front; }

double wbu_car_get_track_rear(void) { return car.track_rear; }

double wbu_car_get_wheelbase(void) { return car.wheelbase; }

double wbu_car_get_front_wheel_radius(void) { return car.radius_front; }

double wbu_car_get_rear_wheel_radius(void) { return car.radius_rear; }

double wbu_car_get_wheel_encoder(WbuCarWheelIndex wheel)
{
    return READY && wheel < WBU_CAR_WHEEL_NB && car.sensors[wheel] ? wb_position_sensor_get_value(car.sensors[wheel])
                                                                   : NAN;
}

double wbu_car_get_wheel_speed(WbuCarWheelIndex wheel)
{
    return READY && wheel < WBU_CAR_WHEEL_NB ? car.speeds[wheel] : NAN;
}

void wbu_car_enable_limited_slip_differential(bool enable) { car.limited_slip = enable; }
