"""@: keeps the pole upright by pushing the sled, and the sled near the middle of its rail."""
from controller import Robot

robot = Robot()
step = int(robot.getBasicTimeStep())
dt = step / 1000.0
# A motor has the name of its joint; its sensor that name and _sensor.
sled, place, tilt = (robot.getDevice(name) for name in ("SLED", "SLED_sensor", "POLE_sensor"))
place.enable(step)
tilt.enable(step)

old, seconds = None, 0
while robot.step(step) != -1:
    x, angle = place.getValue(), tilt.getValue()
    speed, rate = ((x - old[0]) / dt, (angle - old[1]) / dt) if old else (0.0, 0.0)
    old = x, angle
    force = 40.0 * angle + 6.0 * rate + 4.0 * x + 6.0 * speed
    sled.setForce(min(max(force, -100.0), 100.0))
    if robot.getTime() >= seconds + 1:
        seconds += 1
        print(f"{seconds} s: the pole leans {angle:.3f} rad, the sled is at {x:.2f} m")
