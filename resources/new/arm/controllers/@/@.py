"""@: moves the tip of the arm from one mark to the next, by inverse kinematics."""
from math import acos, atan2, dist, hypot

from controller import Robot

SHOULDER_HEIGHT = 0.25  # m above the floor
LINK = 0.4  # m: the upper arm is as long as the forearm
PERIOD = 3.0  # s for each mark
MARKS = [
    ("red", (0.55, 0.2, 0.25)),
    ("green", (0.45, -0.35, 0.45)),
    ("blue", (0.3, 0.35, 0.65)),
]


def solve(x, y, z):
    """Angles of waist, shoulder and elbow that bring the tip to a place: a triangle of two equal sides."""
    out, up = hypot(x, y), z - SHOULDER_HEIGHT
    bend = 2.0 * acos(min(hypot(out, up) / (2.0 * LINK), 1.0))
    return atan2(y, x), atan2(up, out) + 0.5 * bend, -bend


robot = Robot()
step = int(robot.getBasicTimeStep())
motors = [robot.getDevice(name) for name in ("waist", "shoulder", "elbow")]
tip = robot.getDevice("tip")
tip.enable(step)

reached = 0
angles = solve(*MARKS[0][1])
while robot.step(step) != -1:
    for motor, angle in zip(motors, angles):
        motor.setPosition(angle)
    if robot.getTime() < PERIOD * (reached + 1):
        continue
    name, place = MARKS[reached % len(MARKS)]
    print(f"{name}: {1000.0 * dist(tip.getValues(), place):.1f} mm from the mark")
    reached += 1
    angles = solve(*MARKS[reached % len(MARKS)][1])
