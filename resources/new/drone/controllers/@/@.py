"""@: climbs to one metre and flies over the four pads.

Each loop turns an error into what the next one should reach: place -> velocity -> tilt -> torque -> thrust of each rotor.
"""
from math import inf, sqrt

from controller import Robot

HEIGHT = 1.0  # m
PERIOD = 4.0  # s from pad to pad
WEIGHT = 9.81
THRUST_CONSTANT = 0.0002  # of the Propellers: thrust = constant x velocity^2
PADS = [(0, 0), (1, 0), (1, 1), (0, 1)]
# Name, place and direction of turning: two go the other way round, so that their torques about the vertical cancel.
ROTORS = [("front left", 1, 1, 1), ("front right", 1, -1, -1), ("rear left", -1, 1, -1), ("rear right", -1, -1, 1)]


def clamp(value, limit):
    return min(max(value, -limit), limit)


robot = Robot()
step = int(robot.getBasicTimeStep())
unit, gyro, gps = (robot.getDevice(name) for name in ("inertial unit", "gyro", "gps"))
for sensor in (unit, gyro, gps):
    sensor.enable(step)
motors = [robot.getDevice(rotor[0]) for rotor in ROTORS]
for motor in motors:
    motor.setPosition(inf)
    motor.setVelocity(0.0)

seconds = 0
while robot.step(step) != -1:
    angles, rates = unit.getRollPitchYaw(), gyro.getValues()
    at, speed = gps.getValues(), gps.getSpeedVector()
    pad = PADS[int(robot.getTime() / PERIOD) % 4]

    forward = clamp(1.2 * (pad[0] - at[0]), 0.8) - speed[0]
    leftward = clamp(1.2 * (pad[1] - at[1]), 0.8) - speed[1]
    pitch = 4.0 * (clamp(0.25 * forward, 0.25) - angles[1]) - 0.6 * rates[1]  # nose down: forward
    roll = 4.0 * (clamp(-0.25 * leftward, 0.25) - angles[0]) - 0.6 * rates[0]
    yaw = -0.5 * angles[2] - 0.3 * rates[2]
    lift = WEIGHT + clamp(4.0 * (HEIGHT - at[2]) - 4.0 * speed[2], 6.0)
    for motor, (_, x, y, spin) in zip(motors, ROTORS):
        thrust = 0.25 * lift + y * roll - x * pitch - spin * yaw
        motor.setVelocity(spin * sqrt(min(max(thrust, 0.0), 20.0) / THRUST_CONSTANT))
    if robot.getTime() >= seconds + 1:
        seconds += 1
        print(f"{seconds} s: at {at[0]:.2f} {at[1]:.2f}, height {at[2]:.2f} m")
