"""Reads a URDF back: a tree with names of their own, whose tip is where the simulation had it. Arguments: URDF, log."""
import math
import re
import sys
import xml.etree.ElementTree as tree


def turn(axis, angle):
    length = math.sqrt(sum(a * a for a in axis))
    x, y, z = (a / length for a in axis)
    c, s, t = math.cos(angle), math.sin(angle), 1 - math.cos(angle)
    return [[t * x * x + c, t * x * y - s * z, t * x * z + s * y], [t * x * y + s * z, t * y * y + c, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, t * z * z + c]]


def times(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]


def matrix(rotation, place):
    return [rotation[i] + [place[i]] for i in range(3)] + [[0, 0, 0, 1]]


def numbers(text):
    return [float(word) for word in text.split()]


def origin(node):
    roll, pitch, yaw = numbers(node.find("origin").get("rpy"))
    rotation = times(times(turn([0, 0, 1], yaw), turn([0, 1, 0], pitch)), turn([1, 0, 0], roll))
    return matrix(rotation, numbers(node.find("origin").get("xyz")))


robot = tree.parse(sys.argv[1]).getroot()
log = open(sys.argv[2]).read()
assert robot.tag == "robot" and robot.get("name") == "arm & <co>", robot.get("name")
links = {link.get("name"): link for link in robot.findall("link")}
joints = {joint.get("name"): joint for joint in robot.findall("joint")}
assert len(links) == len(robot.findall("link")) and len(joints) == len(robot.findall("joint")), "names are not unique"
parents = {joint.find("child").get("link"): joint for joint in joints.values()}
assert len(parents) == len(links) - 1 and all(joint.find("parent").get("link") in links for joint in joints.values())
assert set(links) == {"x_base_link", "x_part", "x_part_1", "x_carriage", "x_tip axis 1", "x_tip"}, set(links)
positions = {name: float(value) for name, value in re.findall(r"joint (\S+) (\S+)", log)}
pose = matrix(turn([0, 0, 1], 0), [0, 0, 0])
chain, at = [], "x_tip"
while at in parents:
    chain.insert(0, parents[at])
    at = parents[at].find("parent").get("link")
assert at == "x_base_link"
for joint in chain:
    pose = times(pose, origin(joint))
    axis, value = numbers(joint.find("axis").get("xyz")), positions[joint.get("name")]
    if joint.get("type") == "prismatic":
        pose = times(pose, matrix(turn([0, 0, 1], 0), [a * value for a in axis]))
    else:
        pose = times(pose, matrix(turn(axis, value), [0, 0, 0]))
collision = links["x_tip"].find("collision")  # its box lies in the middle of the solid
pose = times(pose, origin(collision))
seen = numbers(re.search(r"tip (.*)", log).group(1))
worst = max(abs(pose[i][j] - seen[4 * i + j]) for i in range(4) for j in range(4))
assert worst < 1e-5, (worst, pose, seen)
limit = joints["x_shoulder"].find("limit")
assert [float(limit.get(key)) for key in ("lower", "upper", "effort", "velocity")] == [-1, 1.5, 20, 3]
assert joints["x_shoulder"].get("type") == "revolute" and joints["x_pan"].get("type") == "continuous"
assert float(joints["x_shoulder"].find("dynamics").get("damping")) == 0.5
assert joints["x_lift"].get("type") == "prismatic" and float(joints["x_lift"].find("limit").get("effort")) == 7
# Two solids that are one body: its mass is given once, with the upper one.
assert float(links["x_part"].find("inertial/mass").get("value")) == 3 and links["x_part_1"].find("inertial") is None
box = links["x_tip"].find("inertial/inertia")
assert abs(float(box.get("ixx")) - 0.5 * 0.02 / 12) < 1e-12 and float(box.get("ixy")) == 0
assert links["x_base_link"].find("visual/geometry/cylinder").get("length") == "0.2"
assert len(links["x_base_link"].findall("visual/geometry/sphere")) == 2
assert numbers(links["x_base_link"].find("visual/material/color").get("rgba")) == [1, 0.5, 0, 0.75]
assert links["x_tip"].find("visual/geometry/mesh").get("filename") == "https://example.org/tip.obj"
print("parsed back, worst difference %g" % worst)
