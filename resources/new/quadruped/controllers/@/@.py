"""@: a trot. The feet of one diagonal swing forward while those of the other push back."""
from math import acos, atan2, fmod, hypot, pi, sin

from controller import Robot

LINK = 0.2  # m: thigh and shank are equally long
STANCE = 0.35  # m from hip to foot
STRIDE = 0.06  # m that a foot goes before and behind its hip
LIFT = 0.06  # m that a foot is lifted
FREQUENCY = 1.5  # strides a second
LEGS = {"front left": 0.0, "front right": 0.5, "rear left": 0.5, "rear right": 0.0}


def solve(x, z):
    """Angles of hip and knee that bring the foot to a place relative to the hip."""
    knee = 2.0 * acos(min(hypot(x, z) / (2.0 * LINK), 1.0))
    return atan2(-x, -z) - 0.5 * knee, knee


robot = Robot()
step = int(robot.getBasicTimeStep())
legs = [(robot.getDevice(f"{name} hip"), robot.getDevice(f"{name} knee"), phase) for name, phase in LEGS.items()]
gps = robot.getDevice("gps")
gps.enable(step)

seconds = 0
while robot.step(step) != -1:
    time = robot.getTime()
    start = min(time, 1.0)  # small strides first
    for hip, knee, offset in legs:
        phase = fmod(FREQUENCY * time + offset, 1.0)
        if phase < 0.5:  # on the ground, backwards
            x, z = start * STRIDE * (1.0 - 4.0 * phase), -STANCE
        else:  # in the air, forwards
            x, z = start * STRIDE * (4.0 * phase - 3.0), start * LIFT * sin(2.0 * pi * (phase - 0.5)) - STANCE
        for motor, angle in zip((hip, knee), solve(x, z)):
            motor.setPosition(angle)
    if time >= seconds + 1:
        seconds += 1
        x, _, z = gps.getValues()
        print(f"{seconds} s: walked {x:.2f} m, back {z:.2f} m above the floor")
