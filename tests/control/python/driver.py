import math
import sys

from controller import Robot

robot = Robot()
step = int(robot.getBasicTimeStep())
assert sys.argv[1:] == ['an argument'], sys.argv
assert robot.getName() == 'driver' and robot.getNumberOfDevices() == 5
motor = robot.getDevice('motor')
sensor = motor.getPositionSensor()
assert type(motor).__name__ == 'Motor' and sensor.getName() == 'sensor' and sensor.getMotor() is motor
assert robot.getDevice('nothing') is None
gps = robot.getDevice('gps')
distance = robot.getDevice('distance sensor')
emitter = robot.getDevice('emitter')
for device in (sensor, gps, distance):
    device.enable(step)
assert math.isnan(sensor.getValue())
assert sensor.getSamplingPeriod() == step
motor.setPosition(float('inf'))
motor.setVelocity(2.0)
for i in range(20):
    assert robot.step(step) == 0
    emitter.send('number %d' % i)
assert abs(sensor.getValue() - 2.0 * 0.032 * 20) < 0.01, sensor.getValue()
assert abs(sensor.value - sensor.getValue()) == 0
assert [round(x, 6) for x in gps.getValues()] == [0, 0, 1]
assert abs(distance.getValue() - 0.65) < 1e-6, distance.getValue()
assert distance.getLookupTable() == [0, 0, 0, 10, 10, 0]
assert abs(robot.getTime() - 0.64) < 1e-9
print('PASS')
