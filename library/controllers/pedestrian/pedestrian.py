"""The default program of the PROTO Pedestrian: walks along a closed path at a constant speed.

--trajectory="x y, x y, ..."  corners of the path in metres, on the ground ("x z" in worlds whose y is up)
--speed=M_PER_S               0.5 unless given
--step=MS                     time between two moves; the world's own step unless given
"""
import math
import sys

from controller import Supervisor

HEIGHT = 1.27  # of the chest above the ground, in metres
STRIDE = 1.4  # metres in which both legs have stepped once
POSES = 8  # of the limbs in one stride: each is a new form of the PROTO, so there are no more than the eye needs


def option(name, otherwise):
    start = f"--{name}="
    return next((text[len(start):] for text in sys.argv[1:] if text.startswith(start)), otherwise)


def corners_of(text):
    return [tuple(float(number) for number in corner.split()[:2]) for corner in text.strip('"\'').split(",") if corner.strip()]


class Path:
    def __init__(self, corners):
        self.sides = [(a, b, math.dist(a, b)) for a, b in zip(corners, corners[1:] + corners[:1]) if a != b]
        self.length = sum(length for _, _, length in self.sides)

    def at(self, distance):
        """Where one is after a distance, and the direction of walking there."""
        distance %= self.length
        for a, b, length in self.sides:
            if distance <= length:
                break
            distance -= length
        part = min(distance / length, 1.0)
        return [a[i] + part * (b[i] - a[i]) for i in range(2)], (b[0] - a[0], b[1] - a[1])


def limbs_at(pose):
    """Angles of the limbs; arms swing against the legs, and a knee bends while its leg comes forward."""
    swing = math.sin(2 * math.pi * pose / POSES)
    lift = math.cos(2 * math.pi * pose / POSES)
    return {
        "leftLegAngle": -0.45 * swing, "rightLegAngle": 0.45 * swing,
        "leftLowerLegAngle": max(0.0, 0.7 * lift), "rightLowerLegAngle": max(0.0, -0.7 * lift),
        "leftArmAngle": 0.4 * swing, "rightArmAngle": -0.4 * swing,
    }


def main():
    robot = Supervisor()
    corners = corners_of(option("trajectory", ""))
    if len(corners) < 2:
        print("pedestrian: a path needs --trajectory=\"x y, x y, ...\" with two corners or more; nobody walks", file=sys.stderr)
        return
    path, speed = Path(corners), float(option("speed", "0.5"))
    step = int(option("step", "0")) or int(robot.getBasicTimeStep())
    node = robot.getSelf()
    translation, rotation = node.getField("translation"), node.getField("rotation")
    system = robot.getRoot().getField("children").getMFNode(0).getField("coordinateSystem")
    is_y_up = system is not None and system.getSFString() == "NUE"
    fields = {name: node.getField(name) for name in limbs_at(0)}
    last_pose = None
    while robot.step(step) != -1:
        distance = speed * robot.getTime()
        (x, y), (along_x, along_y) = path.at(distance)
        pose = int(distance / STRIDE * POSES) % POSES
        height = HEIGHT + 0.02 * math.cos(4 * math.pi * pose / POSES)
        translation.setSFVec3f([x, height, y] if is_y_up else [x, y, height])
        rotation.setSFRotation([0, 1, 0, math.atan2(along_x, along_y)] if is_y_up else [0, 0, 1, math.atan2(along_y, along_x)])
        if pose != last_pose:
            for name, angle in limbs_at(pose).items():
                if fields[name] is not None:
                    fields[name].setSFFloat(angle)
            last_pose = pose


main()
