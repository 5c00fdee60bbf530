"""@: drives ahead and turns away from what the three distance sensors see."""
from math import hypot, inf

from controller import Robot

CRUISE = 6.0  # speed of the wheels, rad/s
NEAR = 0.35  # m: closer than this it turns away

robot = Robot()
step = int(robot.getBasicTimeStep())
eyes = [robot.getDevice(name) for name in ("front", "front left", "front right")]
gps = robot.getDevice("gps")
for sensor in (*eyes, gps):
    sensor.enable(step)
wheels = [robot.getDevice(name) for name in ("left motor", "right motor")]
for wheel in wheels:
    wheel.setPosition(inf)  # turn for ever, at the velocity that is set
    wheel.setVelocity(0.0)

turn, travelled, seconds, old = 0.0, 0.0, 0, None
while robot.step(step) != -1:
    ahead, left_side, right_side = (eye.getValue() for eye in eyes)
    nearest = min(ahead, left_side, right_side)
    if nearest > 1.2 * NEAR:
        turn = 0.0
    elif turn == 0.0 and nearest < NEAR:  # keep turning to one side until the way is free
        turn = 4.0 if left_side > right_side else -4.0
    speed = CRUISE if turn == 0.0 else 0.0
    wheels[0].setVelocity(speed - turn)
    wheels[1].setVelocity(speed + turn)

    x, y, _ = gps.getValues()
    if old:
        travelled += hypot(x - old[0], y - old[1])
    old = x, y
    if robot.getTime() >= seconds + 1:
        seconds += 1
        print(f"{seconds} s: travelled {travelled:.2f} m, nearest thing {nearest:.2f} m away")
