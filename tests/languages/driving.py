"""driving.py - a car is driven, in Python; see driving.c. Half of it by methods, half by properties."""
from vehicle import Car, Driver

car = Car()


def drive(label, steps):
    for _ in range(steps):
        car.step()
    values = (car.current_speed, car.steering_angle, car.getThrottle(), car.brake_intensity, car.rpm, car.gear, car.getWheelEncoder(Car.WHEEL_REAR_LEFT),
              car.getWheelSpeed(Car.WHEEL_FRONT_RIGHT), car.left_steering_angle, car.getRightSteeringAngle(), car.brake_lights, car.getBackwardsLights())
    print('say', label, *('%.17g' % value for value in values))


car.setCruisingSpeed(20)
drive('cruising', 40)
car.steering_angle = 0.2
car.indicator = Driver.INDICATOR_RIGHT
drive('turning', 30)
car.brake_intensity = 0.6
drive('braking', 20)
car.setBrakeIntensity(0)
car.setThrottle(0.4)
car.gear = 1
drive('by throttle', 30)
car.setGear(-1)
drive('backwards', 20)
print('say done 1')
