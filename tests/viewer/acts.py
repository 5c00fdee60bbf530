# Acts of people in `talus view`: time, hands, looking back, edits of the tree; and that a run which is given their log, or is only
# looked at, ends in the same state to the last bit.
import json
import os
import struct
import subprocess

from viewer_client import LIMIT, Run, check, hash_of

FOLDER = os.path.join(os.environ["TALUS_BUILD_DIR"], "scratch", "viewer_acts")
os.makedirs(FOLDER, exist_ok=True)
WORLD = os.path.join(FOLDER, "acts.wbt")
LOG = os.path.join(FOLDER, "acts.log")
STEP = 0.008

with open(WORLD, "w") as file:
    file.write("""#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 8 dragForceScale 20 dragTorqueScale 3 gravity 9.81 }
Viewpoint { position -3 0 1 }
Background { skyColor [ 0.4 0.6 0.8 ] }
DEF FLOOR Solid {
  locked TRUE
  name "floor"
  children [ DEF S Shape { geometry Plane { size 20 20 } } ]
  boundingObject USE S
}
DEF BOX Solid {
  translation 0 0 0.1
  name "box"
  children [ DEF B Shape { appearance PBRAppearance { baseColor 1 0 0 } geometry Box { size 0.2 0.2 0.2 } } ]
  boundingObject USE B
  physics Physics { density -1 mass 2 }
}
DEF FREE Solid {
  translation 2 0 5
  name "free <script>alert(1)</script>"
  children [ DEF C Shape { geometry Sphere { radius 0.1 } } ]
  boundingObject USE C
  physics Physics { density -1 mass 0.5 }
}
DEF SWING Robot {
  translation 0 2 1
  name "swing"
  children [
    HingeJoint {
      jointParameters HingeJointParameters { axis 0 1 0 anchor 0 0 0 position 0.5 }
      endPoint Solid { translation 0 0 -0.3 name "bob" boundingObject Sphere { radius 0.05 } physics Physics { density -1 mass 1 } }
    }
  ]
}
""")


def program(*arguments):
    result = subprocess.run([os.environ["TALUS_PROGRAM"], *arguments], capture_output=True, text=True, timeout=LIMIT)
    check(result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def pose(client, solid):
    return client.poses[solid]


def solid_named(client, name):
    return next(i for i, solid in enumerate(client.welcome["meta"]["solids"]) if solid.get("name") == name)


def at_step(client, step):
    client.until(lambda: client.frames and client.frames[-1].step == step)
    return client.frames[-1]


def top(client, name):
    return next(node for node in client.do("children", node=0)["nodes"] if node.get("def") == name)


def row(client, node, field):
    return next(row for row in client.do("fields", node=node)["rows"] if row["field"] == field)


# ---- time ----

def time_is_handled(client):
    check(client.wait_frame().step == 0, "a view starts paused")
    client.do("step", n=3)
    at_step(client, 3)
    check(client.refused("step", n=0), "0 steps are none")
    client.do("speed", factor=0)
    client.do("play")
    client.wait_frame(lambda frame: frame.step > 200)
    client.do("pause")
    client.wait_push("state", running=False)
    client.do("reset")
    at_step(client, 0)
    check(abs(pose(client, solid_named(client, "FREE"))[2] - 5.0) < 1e-5, "reset brings the ball back")
    # Acts may come faster than steps are made: steps that were asked for add up, and a reset forgets those that were not made.
    for count in (3, 4):
        client.send({"do": "step", "n": count})
    at_step(client, 7)
    client.send({"do": "step", "n": 1000000})
    client.send({"do": "reset"})
    client.do("step", n=5)
    client.wait_push("state", running=False, step=5)
    client.do("reset")
    at_step(client, 0)


def past_is_kept(client):
    ball = solid_named(client, "FREE")
    for step in range(1, 6):
        client.do("step")
        at_step(client, step)
    here = pose(client, ball)[2]
    answer = client.do("seek", time=2 * STEP)
    check(answer["step"] == 2, f"the moment of step 2 is kept: {answer}")
    frame = at_step(client, 2)
    check(frame.is_key and frame.step == 2 and frame.poses[ball][2] > here, "the ball was higher then")
    client.do("live")
    at_step(client, 5)
    client.do("seek", time=3 * STEP)
    at_step(client, 3)
    check(client.do("resume")["step"] == 3, "the world goes on from where one looks")
    at_step(client, 3)
    check(client.do("stepback")["step"] == 2, "a step back")
    client.do("step", n=3)
    at_step(client, 5)
    check(abs(pose(client, ball)[2] - here) < 1e-4, "the same motion again")
    client.do("reset")
    check(client.refused("stepback"), "before the start is nothing")


# ---- hands ----

def things_are_moved(client):
    box, floor, bob = solid_named(client, "BOX"), solid_named(client, "FLOOR"), solid_named(client, "bob")
    for message in ({"solid": floor, "position": [0, 0, 1]}, {"solid": 99, "position": [0, 0, 1]}, {"solid": -1},
                    {"solid": box, "position": [0, 0]}, {"solid": box, "position": [1e300, 0, 0]}, {"solid": "x"},
                    {"solid": box, "rotation": [1, 2]}, {"solid": bob, "position": [0, 0, 1]}):
        client.refused("move", **message)
    check("locked" in client.refused("force", solid=floor, at=[0, 0, 0], to=[0, 0, 1]), "locked is said")
    client.do("move", solid=box, position=[1, 0, 0.5], rotation=[0, 0, 0, 1])
    client.until(lambda: abs(pose(client, box)[0] - 1) < 1e-4)
    for height in (0.6, 0.7, 0.8):
        client.do("move", solid=box, position=[1, 0, height], hold=True)
    client.do("step", n=20)
    at_step(client, 20)
    check(abs(pose(client, box)[2] - 0.8) < 1e-3, "what is held does not fall")
    client.do("release")
    client.do("undo")
    client.until(lambda: abs(pose(client, box)[2] - 0.5) < 1e-3)
    client.do("undo")
    client.until(lambda: abs(pose(client, box)[0]) < 1e-3)
    client.do("redo")
    client.until(lambda: abs(pose(client, box)[0] - 1) < 1e-3)
    client.do("reset")
    check(client.refused("undo"), "after a reset nothing is to be undone")


def forces_follow_their_rule(client):
    ball = solid_named(client, "FREE")
    at_step(client, 0)
    client.do("force", solid=ball, at=[0, 0, 0], to=[2.5, 0, 5])
    client.do("release")  # drawn while paused: acts in the next step, once
    client.do("step")
    at_step(client, 1)
    moved = pose(client, ball)[0] - 2.0
    wanted = 20 * 0.5 ** 3 * STEP ** 2  # scale * |d|^3, mass cancels
    check(abs(moved - wanted) < 3e-5, f"the force of a drag moves by {wanted}, not {moved}")
    client.do("step")
    at_step(client, 2)
    check(abs(pose(client, ball)[0] - 2.0 - 2 * wanted) < 5e-5, "and acts once")
    check("no physics" in client.refused("force", solid=solid_named(client, "SWING"), at=[0, 0, 0], to=[0, 0, 1]),
          "a solid without physics is not pushed")
    client.do("torque", solid=ball, vector=[0, 0, 0.4])
    client.do("step", n=2)
    at_step(client, 4)
    client.do("release")
    client.do("pull", solid=ball, at=[0, 0, 0], to=[3, 1, 5])
    client.do("step", n=150)
    at_step(client, 154)
    client.do("release")
    check(abs(pose(client, ball)[0] - 3) < 0.05 and abs(pose(client, ball)[1] - 1) < 0.05, "the string pulls it there")
    check(4.8 < pose(client, ball)[2] < 5.01, "where it hangs, a little below for its weight")
    client.do("reset")


# ---- the tree ----

def tree_is_edited(client):
    nodes = client.do("children", node=0)["nodes"]
    check([node["type"] for node in nodes[:3]] == ["WorldInfo", "Viewpoint", "Background"], "nodes in their order")
    free, box = top(client, "FREE"), top(client, "BOX")
    check(free["name"] == "free <script>alert(1)</script>", "names are text")
    height = row(client, box["node"], "translation")
    check(height["text"] == "0 0 0.1" and height["unit"] == "m" and height["line"] > 0 and height["live"], str(height))
    check(client.do("set", node=box["node"], field="translation", text="0 0 0.4")["text"] == "0 0 0.4", "set")
    for text in ("1 2", "x", "0 0 0 } Solid {", "0 0 0 name \"y\"", ""):
        client.refused("set", node=box["node"], field="translation", text=text)
    client.refused("set", node=box["node"], field="children", text="[]")
    client.refused("set", node=box["node"], field="none", text="1")
    client.refused("set", node=99999, field="name", text="1")
    shape = client.do("children", node=box["node"])["nodes"][0]
    appearance = next(n for n in client.do("children", node=shape["node"])["nodes"] if n["field"] == "appearance")
    words = client.refused("set", node=appearance["node"], field="roughness", text="7")
    check("roughness 7 is outside of [0,1]" in words and "using" not in words, f"the range is said: {words}")
    client.do("set", node=appearance["node"], field="baseColor", text="0 1 0")
    client.until(lambda: len(client.scenes) >= 2)
    check(client.scenes[-1][8:12] == b"glTF", "a new scene follows")
    client.do("undo")
    check(row(client, appearance["node"], "baseColor")["text"] == "1 0 0", "colours are undone")
    text = "Solid { translation 0 0 2 name \"new\" children [ Shape { geometry Box { size 0.1 0.1 0.1 } } ] " \
           "boundingObject Box { size 0.1 0.1 0.1 } physics Physics { } }"
    made = client.do("insert", node=0, field="children", index=-1, text=text)["node"]
    client.refused("insert", node=0, field="children", text="Solid { ")
    client.refused("insert", node=0, field="children", text="Nonsense { }")
    client.refused("insert", node=0, field="nothing", text="Solid { }")
    copy = client.do("duplicate", node=made)
    check(copy["name"] == "new(1)", f"a name of its own: {copy}")
    check(client.do("duplicate", node=made)["name"] == "new(2)", "and the next")
    client.do("step", n=3)
    client.do("delete", node=copy["node"])
    client.refused("delete", node=copy["node"])
    client.refused("delete", node=nodes[0]["node"])
    count = len(client.do("children", node=0)["nodes"])
    client.do("undo")
    check(len(client.do("children", node=0)["nodes"]) == count + 1, "what was deleted comes back")
    client.do("redo")
    check(len(client.do("children", node=0)["nodes"]) == count, "and goes again")
    client.refused("save", path="/tmp/x.wbt")
    client.refused("save", path="../x.wbt")
    client.refused("save", path="x.txt")
    client.do("save", path="saved.wbt")
    saved = open(os.path.join(FOLDER, "saved.wbt")).read()
    check('"new"' in saved and '"new(2)"' in saved and '"new(1)"' not in saved, "the saved world has what was made")
    return made


def lifted_by_contacts(frame):
    contacts = frame.sections.get("CONT", b"")
    return sum(struct.unpack_from("<HH9f", contacts, 40 * i)[10] for i in range(len(contacts) // 40))


def things_are_watched(client):
    ball, box = solid_named(client, "FREE"), top(client, "BOX")
    for what in ("contacts", "states", "joints", "info", f"value:{box['node']}.translation"):
        client.do("watch", what=what, on=True)
    for what in ("nothing", "device:", "device:99999", "value:1", "joint:x", "value:1.nothing"):
        client.refused("watch", what=what, on=True)
    client.do("reset")
    at_step(client, 0)
    client.do("step", n=100)
    client.until(lambda: lifted_by_contacts(client.frames[-1]) != 0.0)
    frame = client.frames[-1]
    check(set(frame.sections) == {"CONT", "STAT", "JNTS", "INFO"}, f"sections: {set(frame.sections)}")
    check(json.loads(frame.sections["INFO"])["bodies"] >= 3, "counts")
    client.until(lambda: any(push["is"] == "value" for push in client.pushes))
    value = next(push for push in client.pushes if push["is"] == "value")
    check(value["name"] == f"value:{box['node']}.translation", "values have names")
    check(len(value["v"]) == 3, str(value))
    for what in ("contacts", "states", "joints", "info", f"value:{box['node']}.translation"):
        client.do("watch", what=what, on=False)
    at_step(client, 100)
    client.do("step", n=1)
    at_step(client, 101)
    check(client.frames[-1].sections == {}, "what nobody watches is not sent")
    check(ball in client.poses, "poses go on")


# ---- the same run again ----

def log_repeats_the_run():
    run = Run(WORLD, "--hash", "--log", LOG, "--steps", "400", "--mode", "fast")
    client = run.client()
    box, ball = solid_named(client, "BOX"), solid_named(client, "FREE")
    swing = solid_named(client, "bob")
    client.do("step", n=10)
    at_step(client, 10)
    for k in range(20):
        client.do("force", solid=box, at=[0.05, 0, 0.1], to=[0.5 + 0.01 * k, 0.3, 0.8])
        client.do("step", n=3)
        at_step(client, 13 + 3 * k)
    client.do("release")
    client.do("move", solid=ball, position=[0.1, 0.2, 1.5], rotation=[0, 0.6, 0, 0.8], hold=True)
    client.do("speed", factor=0.01)  # so slow that nothing but the pause ends it
    client.do("play")
    client.wait_frame(lambda frame: frame.step > 71)
    client.do("release")
    client.do("pause")
    client.do("speed", factor=0)
    client.do("pull", solid=swing, at=[0, 0, 0], to=[0.5, 2, 1.2])
    client.do("step", n=20)
    client.do("stepback")
    client.do("set", node=top(client, "BOX")["node"], field="translation", text="0.3 0 0.9")
    made = client.do("insert", node=0, field="children", index=-1,
                     text="Solid { translation 0.3 0 2 name \"late\" boundingObject Sphere { radius 0.1 } physics Physics { } }")
    client.do("duplicate", node=made["node"])
    client.do("step", n=5)
    client.do("undo")
    client.do("undo")
    client.do("undo")
    client.do("redo")
    client.do("play")
    client.read_to_end()
    code, text = run.wait()
    check(code == 0, text)
    acts = [json.loads(line) for line in open(LOG)]
    kinds = {act["act"]["do"] for act in acts}
    check({"force", "move", "pull", "release", "resume", "set", "insert", "duplicate", "undo", "redo"} <= kinds, str(kinds))
    for threads in ("1", "3"):
        again = program("run", WORLD, "--steps", "400", "--hash", "--quiet", "--input", LOG, "--threads", threads)
        check(hash_of(again) == hash_of(text), f"the log repeats the run with {threads} thread(s)")
    check(hash_of(program("run", WORLD, "--steps", "400", "--hash", "--quiet")) != hash_of(text), "the acts matter")


def looking_changes_nothing():
    alone = hash_of(program("run", WORLD, "--steps", "3000", "--hash", "--quiet"))
    for viewers in (1, 3):
        run = Run(WORLD, "--hash", "--steps", "3000", "--mode", "fast")
        clients = [run.client() for _ in range(viewers)]
        for client in clients:
            client.do("watch", what="contacts", on=True)
            client.do("watch", what="states", on=True)
            client.do("fields", node=top(client, "BOX")["node"])
        clients[0].do("play")
        for client in clients:
            client.read_to_end()
        code, text = run.wait()
        check(code == 0 and hash_of(text) == alone, f"{viewers} viewer(s) change nothing:\n{text}")


def reload_reads_the_file_again():
    run = Run(WORLD)
    client, other = run.client(), run.client("look")
    client.do("step", n=2)
    at_step(client, 2)
    client.send({"do": "reload"})
    for one in (client, other):
        check(one.wait_push("scene")["revision"] > 1, "a new scene")
        one.until(lambda: one.frames and one.frames[-1].revision > 1)
        check(one.frames[-1].step == 0, "from the start")
    client.do("step")
    at_step(client, 1)
    code, text = run.end()
    check(code in (0, 130), f"{code} {text}")


def bad_logs_are_said():
    bad = os.path.join(FOLDER, "bad.log")
    for text, words in (('{"step":1}\n', "wants to be"), ('{"step":1,"act":{"do":"fly"}}\n', "no such act"),
                        ('{"step":1,"act":{"do":"play"}}\n', "no such act"), ('{"step":-1,"act":{"do":"reset"}}\n', "wants to be"),
                        ('{"step":1,"act":{"do":"reset"}}\n{\n', "in quotes")):
        with open(bad, "w") as log:
            log.write(text)
        result = subprocess.run([os.environ["TALUS_PROGRAM"], "run", WORLD, "--steps", "3", "--input", bad],
                                capture_output=True, text=True, timeout=LIMIT)
        check(result.returncode == 3 and words in result.stderr and "bad.log:" in result.stderr, text + result.stderr)


if __name__ == "__main__":
    shown = Run(WORLD)
    controller = shown.client()
    time_is_handled(controller)
    past_is_kept(controller)
    things_are_moved(controller)
    forces_follow_their_rule(controller)
    tree_is_edited(controller)
    things_are_watched(controller)
    code, text = shown.end()
    check(code in (0, 130), f"an interrupted view ends: {code} {text}")
    reload_reads_the_file_again()
    log_repeats_the_run()
    looking_changes_nothing()
    bad_logs_are_said()
    print("viewer: time, hands, the past, the tree; a log repeats a run; looking changes nothing")
