# Handles that resize: what of a solid has a size, every kind of form made larger, masses that follow, undo, `locked`; and that a log of it
# ends in the same state to the last bit.
import json
import math
import os
import subprocess
import sys

from viewer_client import LIMIT, Run, check, hash_of

WORLD = sys.argv[1]
FOLDER = os.path.join(os.environ["TALUS_BUILD_DIR"], "scratch", "viewer_resize")
os.makedirs(FOLDER, exist_ok=True)
LOG = os.path.join(FOLDER, "resize.log")

# Of each solid: type, what for, handles, size, then the new size and the fields that it gives.
FORMS = {
    "BOX": [("Box", "both", "xyz", [0.4, 0.4, 0.4], [0.8, 0.4, 0.2], {"size": "0.8 0.4 0.2"})],
    "POST": [("Cylinder", "seen", "round", [0.3, 0.3, 1], [0.4, 0.4, 0.5], {"radius": "0.2", "height": "0.5"}),
             ("Capsule", "bounding", "round", [0.3, 0.3, 1], [0.2, 0.2, 0.5], {"radius": "0.1", "height": "0.3"})],
    "BALL": [("Sphere", "seen", "all", [0.4, 0.4, 0.4], [1, 1, 1], {"radius": "0.5"}),
             ("Transform", "seen", "xyz", [1, 2, 1], [2, 2, 3], {"scale": "2 2 3"}),
             ("Cone", "seen", "round", [0.2, 0.2, 0.3], [0.5, 0.5, 0.6], {"bottomRadius": "0.25", "height": "0.6"})],
    "HILL": [("ElevationGrid", "seen", "xyz", [0.8, 0.8, 0.3], [1.6, 0.4, 0.6],
              {"xSpacing": "0.8", "ySpacing": "0.2", "height": "[ 0 0 0 0 0.6 0 0 0 0 ]"})],
    "WEDGE": [("IndexedFaceSet", "seen", "xyz", [0.5, 0.5, 0.5], [1, 0.5, 0.25],
               {"point": "[ 0 0 0 1 0 0 0 0.5 0 0 0 0.25 ]"})],
}


def node_of(client, name):
    return next(node for node in client.do("children", node=0)["nodes"] if node.get("def") == name)["node"]


def fields(client, node):
    return {row["field"]: " ".join(row["text"].replace(",", " ").split()) for row in client.do("fields", node=node)["rows"]}


def mass(client, name):
    return next(solid["mass"] for solid in client.pushes[-1]["meta"]["solids"] if solid.get("def") == name)


def every_form_is_resized(client):
    for name, wanted in FORMS.items():
        sizes = client.do("sizes", node=node_of(client, name))["sizes"]
        check([(one["type"], one["for"], one["handles"]) for one in sizes] == [row[:3] for row in wanted], f"{name}: {sizes}")
        for one, (kind, _, _, size, new, texts) in zip(sizes, wanted):
            check(all(math.isclose(a, b) for a, b in zip(one["size"], size)), f"{name} {kind}: {one['size']}, not {size}")
            before = fields(client, one["node"])
            answer = client.do("resize", node=one["node"], size=new)["size"]
            check(all(math.isclose(a, b) for a, b in zip(answer, new)), f"{name} {kind}: {answer}, not {new}")
            after = fields(client, one["node"])
            check(all(after[field] == text for field, text in texts.items()), f"{name} {kind}: {after}")
            client.do("undo")
            check(fields(client, one["node"]) == before, f"{name} {kind} is undone exactly")
            client.do("redo")
            check(fields(client, one["node"]) == after, f"{name} {kind} is done again exactly")
    hat = client.do("sizes", node=node_of(client, "BALL"))["sizes"][2]
    check(hat["position"] == [0, 0, 0.5], f"where it stands in its solid: {hat}")


def masses_follow(client):
    client.do("reset")
    node = client.do("sizes", node=node_of(client, "BOX"))["sizes"][0]["node"]
    client.do("resize", node=node, size=[0.4, 0.4, 0.4])
    client.wait_push("scene")
    client.do("resize", node=node, size=[0.8, 0.4, 0.4])
    client.until(lambda: client.pushes[-1]["is"] == "scene" and abs(mass(client, "BOX") - 128) < 1e-6)
    client.do("undo")
    client.until(lambda: client.pushes[-1]["is"] == "scene" and abs(mass(client, "BOX") - 64) < 1e-6)


def a_drag_is_one_step(client):
    node = client.do("sizes", node=node_of(client, "BOX"))["sizes"][0]["node"]
    before = fields(client, node)
    for width in (0.5, 0.6, 0.7):
        client.do("resize", node=node, size=[width, 0.4, 0.4], hold=True)
    client.do("release")
    client.do("resize", node=node, size=[0.9, 0.4, 0.4], hold=True)
    client.do("release")
    client.do("undo")
    check(fields(client, node)["size"] == "0.7 0.4 0.4", "another drag is another step")
    client.do("undo")
    check(fields(client, node) == before, "a drag is one step")


def nonsense_is_refused(client):
    box = client.do("sizes", node=node_of(client, "BOX"))["sizes"][0]["node"]
    capsule = client.do("sizes", node=node_of(client, "POST"))["sizes"][1]["node"]
    for message in ({"size": [0, 1, 1]}, {"size": [1, 1]}, {"size": [-1, 1, 1]}, {"size": [1e300, 1, 1]}, {"size": "large"}, {},
                    {"fields": {}}, {"fields": {"size": "x"}}, {"fields": {"size": "1 1 1 } Solid {"}}, {"fields": {"size": 3}}, {"fields": 7}):
        client.refused("resize", node=box, **message)
    check(fields(client, box)["size"] == "0.4 0.4 0.4", "nothing was changed")
    client.refused("resize", node=capsule, size=[1, 1, 1])  # no height is left beside the caps
    check(fields(client, capsule)["radius"] == "0.15", "nor half of it")
    for node in (0, 99999, node_of(client, "BOX")):
        client.refused("resize", node=node, size=[1, 1, 1])
    for node in (0, 99999, box):
        client.refused("sizes", node=node)
    for name in ("FLOOR", "NAILED"):
        form = client.do("sizes", node=node_of(client, name))["sizes"][0]["node"]
        check("locked" in client.refused("resize", node=form, size=[1, 1, 1]), f"{name} is locked")


def spectators_only_look(run):
    client = run.client("look")
    node = client.do("sizes", node=node_of(client, "BOX"))["sizes"][0]["node"]
    client.refused("resize", node=node, size=[1, 1, 1])
    client.close()


def log_repeats_it():
    run = Run(WORLD, "--hash", "--log", LOG, "--steps", "300", "--mode", "fast")
    client = run.client()
    client.do("step", n=5)
    for name, wanted in FORMS.items():
        for one, row in zip(client.do("sizes", node=node_of(client, name))["sizes"], wanted):
            for part in (0.3, 0.7, 1.0):
                size = [a + part * (b - a) for a, b in zip(row[3], row[4])]
                client.do("resize", node=one["node"], size=size, hold=True)
                client.do("step", n=3)
            client.do("release")
    client.do("undo")
    client.do("undo")
    client.do("redo")
    client.do("play")
    client.read_to_end()
    code, text = run.wait()
    check(code == 0, text)
    check("resize" in {json.loads(line)["act"]["do"] for line in open(LOG)}, "it is in the log")

    def again(*more):
        result = subprocess.run([os.environ["TALUS_PROGRAM"], "run", WORLD, "--steps", "300", "--hash", "--quiet", *more],
                                capture_output=True, text=True, timeout=LIMIT)
        check(result.returncode == 0, result.stdout + result.stderr)
        return hash_of(result.stdout)

    for threads in ("1", "3"):
        check(again("--input", LOG, "--threads", threads) == hash_of(text), f"the log repeats the run with {threads} thread(s)")
    check(again() != hash_of(text), "the acts matter")


if __name__ == "__main__":
    shown = Run(WORLD)
    controller = shown.client()
    every_form_is_resized(controller)
    masses_follow(controller)
    a_drag_is_one_step(controller)
    nonsense_is_refused(controller)
    spectators_only_look(shown)
    code, text = shown.end()
    check(code in (0, 130), f"an interrupted view ends: {code} {text}")
    log_repeats_it()
    print("viewer: forms are resized, undone, refused where locked; a log repeats it")
