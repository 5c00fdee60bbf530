# A viewed world whose robot has a program.
import os
import struct
import subprocess
import sys

from viewer_client import LIMIT, Run, check, hash_of

WORLD, LOG = sys.argv[1:]


def printed(client):
    return [push["text"] for push in client.pushes if push["is"] == "print" and push["from"] == "seen"]


def wait_printed(client, text, times=1):
    client.until(lambda: printed(client).count(text) >= times)


def at_step(client, step):
    client.until(lambda: client.frames and client.frames[-1].step >= step)


# Asks for steps and waits until the last of them is seen: what is asked next falls between two steps, not into these.
def step(client, count=1):
    client.asked = getattr(client, "asked", 0) + count
    client.do("step", n=count)
    at_step(client, client.asked)


def robots_are_heard(run):
    client = run.client()
    step(client, 5)
    wait_printed(client, "started")
    wait_printed(client, "key -1 after 0 steps")
    client.until(lambda: any(push["is"] == "label" for push in client.pushes))
    label = next(push for push in client.pushes if push["is"] == "label")
    check(label["id"] == 7 and label["text"] == "hello <b>world</b>" and label["color"].startswith("#ff8000"), str(label))
    late = run.client("look")
    late.until(lambda: any(push["is"] == "label" for push in late.pushes))
    wait_printed(late, "started")  # those who come later are told
    late.close()
    return client


def screens_told(client):
    return [frame.sections["SCRN"] for frame in client.frames if "SCRN" in frame.sections]


# The light of the one lamp, each time that a frame tells it.
def lamp_lights(client):
    return [struct.unpack("<Ifff", frame.sections["GLOW"])[1:] for frame in client.frames if "GLOW" in frame.sections]


def keys_reach_them(run, client):
    client.do("key", codes=[ord("A")])
    step(client, 10)
    client.until(lambda: any(text.startswith("key 65 ") for text in printed(client)))
    client.do("key", codes=[])
    step(client, 5)
    client.until(lambda: sum(text.startswith("key -1 ") for text in printed(client)) == 2)
    client.until(lambda: len(lamp_lights(client)) >= 3)
    lights = lamp_lights(client)
    check(lights == [(0, 0, 0), (0, 0.25, 1), (0, 0, 0)], f"the lamp is told when it changes: {lights}")
    late = run.client("look")
    late.until(lambda: lamp_lights(late) == [(0, 0, 0)])
    for one in (client, late):
        one.until(lambda: screens_told(one) and screens_told(one)[-1][4:] == struct.pack("<HH", 8, 4) + b"\0\xff\0" * 32)
    check(len(screens_told(late)) == 1, "the green screen is told once")
    late.close()
    client.refused("key", codes="A")
    client.refused("key", codes=[-1])
    wheel = next(i for i, solid in enumerate(client.welcome["meta"]["solids"]) if solid.get("name") == "WHEEL")
    check(abs(client.poses[wheel][1]) > 0.05, "the wheel has turned")


def cameras_are_seen(client):
    robot = next(node for node in client.do("children", node=0)["nodes"] if node.get("def") == "ROBOT")
    camera = next(node for node in client.do("children", node=robot["node"])["nodes"] if node.get("def") == "CAMERA")
    client.do("watch", what=f"device:{camera['node']}")
    step(client)
    client.until(lambda: client.pictures)
    tag, node, width, height, kind = struct.unpack_from("<4sIHHB", client.pictures[0])
    check((tag, node, width, height, kind) == (b"PICT", camera["node"], 32, 16, 0), "a picture of the camera")
    check(len(client.pictures[0]) == 13 + 4 * width * height, "with its pixels")
    client.do("watch", what=f"device:{camera['node']}", on=False)


# What is under water of the float, and that of a world without a plugin nothing is drawn: told while it is watched, the drawing once.
def the_float_is_in_water(client):
    solid = next(i for i, one in enumerate(client.welcome["meta"]["solids"]) if one.get("def") == "FLOAT")
    del client.frames[:]
    client.do("watch", what="buoyancy")
    client.do("watch", what="drawing")
    client.until(lambda: any("DRAW" in frame.sections for frame in client.frames))
    which, x, y, z, mass = struct.unpack("<Hffff", client.frames[-1].sections["BUOY"])
    bottom = client.poses[solid][2] - 0.2
    check(which == solid and abs(z - (bottom - 0.5) / 2) < 0.01 and abs(mass - 160 * (-0.5 - bottom)) < 1, f"{which} {x} {y} {z} {mass} kg")
    check([frame.sections["DRAW"] for frame in client.frames if "DRAW" in frame.sections] == [b""], "nothing is drawn")
    del client.frames[:]
    step(client, 2)
    check(all("DRAW" not in frame.sections for frame in client.frames), "which is told once")
    client.do("watch", what="buoyancy", on=False)
    client.do("watch", what="drawing", on=False)
    del client.frames[:]
    step(client)
    check("BUOY" not in client.frames[-1].sections, "told while it is watched")


def device_named(client, name):
    return next(device for device in client.welcome["meta"]["devices"] if device.get("name") == name)


def devices_are_told(client):
    kinds = {device["kind"] for device in client.welcome["meta"]["devices"]}
    check(kinds == {"DistanceSensor", "Lidar", "Display", "Connector", "Pen", "LightSensor", "PointLight", "Skin", "TouchSensor"}, str(kinds))
    eye, lidar, screen = (device_named(client, name) for name in ("eye", "lidar", "screen"))
    check(eye["lookupTable"] == [0, 0, 0, 2, 2000, 0] and eye["solid"] >= 0, str(eye))
    del client.pictures[:]
    for device in (eye, lidar, screen):
        client.do("watch", what=f"device:{device['node']}")
    step(client, 3)
    client.until(lambda: any(push.get("name") == f"device:{eye['node']}" for push in client.pushes))
    reading = next(push for push in client.pushes if push.get("name") == f"device:{eye['node']}")["v"][0]
    check(0 < reading <= 2000, f"what the sensor reads: {reading}")

    def picture_of(device):
        return next((data for data in client.pictures if struct.unpack_from("<I", data, 4)[0] == device["node"]), None)

    client.until(lambda: picture_of(screen) and picture_of(lidar))
    check(picture_of(screen)[8:13] == struct.pack("<HHB", 8, 4, 0), "the screen has 8 x 4 pixels")
    check(picture_of(screen)[13:17] == b"\0\xff\0\xff", "that are green")
    check(picture_of(lidar)[8:13] == struct.pack("<HHB", 32, 2, 1), "two layers of distances")
    for device in (eye, lidar, screen):
        client.do("watch", what=f"device:{device['node']}", on=False)


# A finger that rests on the bumper is felt in every step; a tap between two steps in the next one, once.
def the_bumper_is_touched(client):
    bumper = next(i for i, solid in enumerate(client.welcome["meta"]["solids"]) if solid.get("def") == "BUMPER")
    wheel = next(i for i, solid in enumerate(client.welcome["meta"]["solids"]) if solid.get("def") == "WHEEL")

    def told():
        return [text for text in printed(client) if text.startswith("bumper")]

    def steps_between():
        return [int(told()[i + 1].split()[3]) - int(told()[i].split()[3]) for i in range(0, len(told()), 2)]

    check("bumper" in client.refused("touch", solid=wheel), "a wheel is no bumper")
    for message in ({}, {"solid": 99}, {"solid": "x"}, {"solid": -1}):
        client.refused("touch", **message)
    client.do("touch", solid=bumper)
    step(client, 5)
    client.until(lambda: len(told()) == 1)
    client.do("release")
    step(client, 3)
    client.until(lambda: len(told()) == 2)
    client.do("touch", solid=bumper)
    client.do("release")
    step(client, 3)
    client.until(lambda: len(told()) == 4)
    check(steps_between() == [5, 1], f"a finger is felt while it rests, a tap once: {told()}")


def joints_are_put(client):
    joint = client.welcome["meta"]["joints"][0]
    check((joint["min"], joint["max"]) == (-3, 3), str(joint))
    client.do("pause")
    client.do("watch", what="joints")

    def position():
        return struct.unpack_from("<HHf", client.frames[-1].sections.get("JNTS", b"\0" * 8))[2]

    client.until(lambda: "JNTS" in client.frames[-1].sections)
    before = position()
    for place in (0.5, 0.7, 0.9):
        client.do("joint", node=joint["node"], position=place, hold=place > 0.5)
    client.until(lambda: abs(position() - 0.9) < 1e-5)
    client.do("undo")
    client.until(lambda: abs(position() - before) < 1e-5)
    client.do("redo")
    client.until(lambda: abs(position() - 0.9) < 1e-5)
    for message in ({"node": 0, "position": 1}, {"node": joint["node"]}, {"node": joint["node"], "position": "x"},
                    {"node": joint["node"], "axis": 1, "position": 0}, {"position": 1}):
        client.refused("joint", **message)
    client.do("watch", what="joints", on=False)


def they_pause_the_world(client):
    client.do("key", codes=[ord("P")])
    client.do("play")
    start = len(client.pushes)
    client.until(lambda: any(push["is"] == "state" and not push["running"] for push in client.pushes[start:]))
    client.do("key", codes=[])
    step = client.frames[-1].step
    client.do("play")
    client.until(lambda: client.frames[-1].step > step + 2)
    client.do("pause")


def reset_starts_them_again(client):
    client.do("reset")
    client.do("step", n=3)
    wait_printed(client, "started", 2)
    client.do("set", node=1, field="title", text="\"x\"")


def log_repeats_keys():
    run = Run(WORLD, "--log", LOG, "--hash", "--steps", "150", "--mode", "fast")
    client = run.client()
    bumper = next(i for i, solid in enumerate(client.welcome["meta"]["solids"]) if solid.get("def") == "BUMPER")
    for k in range(6):
        client.do("key", codes=[ord("A")] if k % 2 == 0 else [ord("B")])
        client.do("step", n=7 + k)
        client.do("touch" if k % 2 == 0 else "release", **({"solid": bumper} if k % 2 == 0 else {}))
    client.do("joint", node=client.welcome["meta"]["joints"][0]["node"], position=0.25)
    client.do("step", n=5)
    client.do("reset")
    client.do("step", n=5)
    client.do("joint", node=client.welcome["meta"]["joints"][0]["node"], position=-0.5)
    client.do("key", codes=[ord("A")])
    client.do("play")
    client.read_to_end()
    code, text = run.wait()
    check(code == 0, text)
    again = subprocess.run([os.environ["TALUS_PROGRAM"], "run", WORLD, "--steps", "150", "--hash", "--quiet", "--input", LOG],
                           capture_output=True, text=True, timeout=LIMIT)
    check(again.returncode == 0 and hash_of(again.stdout) == hash_of(text), "keys of the log: " + again.stdout + again.stderr)
    alone = subprocess.run([os.environ["TALUS_PROGRAM"], "run", WORLD, "--steps", "150", "--hash", "--quiet"],
                           capture_output=True, text=True, timeout=LIMIT)
    check(hash_of(alone.stdout) != hash_of(text), "the keys matter")


if __name__ == "__main__":
    shown = Run(WORLD)
    controller = robots_are_heard(shown)
    keys_reach_them(shown, controller)
    cameras_are_seen(controller)
    the_float_is_in_water(controller)
    devices_are_told(controller)
    the_bumper_is_touched(controller)
    joints_are_put(controller)
    they_pause_the_world(controller)
    reset_starts_them_again(controller)
    code, text = shown.end()
    check(code in (0, 130), f"{code} {text}")
    log_repeats_keys()
    print("viewer: robots are heard and seen, keys reach them, a log repeats them")
