"""Every function of include/talus/*.h, as the headers declare it, with arguments that are NULL, stale, foreign or out of range, one at a
time and several at once: none faults, and one that fails says why. A function that is added is called by construction; a type that is not
known here fails the test.

usage: arguments.py LIBRARY HEADER..."""
import ctypes
import os
import random
import re
import sys
import tempfile
import threading

TEXT = b"""#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 10 contactProperties [ ContactProperties { } ] }
Viewpoint { position -3 0 1 }
DEF FLOOR Solid { name "floor" boundingObject Plane { size 4 4 } children [ Shape { geometry Plane { size 4 4 } } ] }
DEF BOT Robot { name "bot" controller "<none>" translation 0 0 0.2 boundingObject Box { size 0.2 0.2 0.2 } physics Physics { } children [
  DEF EYE DistanceSensor { name "eye" } Camera { name "camera" width 4 height 4 } DEF HOOK Connector { name "hook" }
  DEF HINGE HingeJoint { device [ RotationalMotor { name "motor" } PositionSensor { name "angle" } ]
    endPoint DEF ARM Solid { name "arm" translation 0.3 0 0 physics Physics { mass 1 density -1 } } } ] }
"""
OTHER = b"""#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 7 }
DEF BOT Solid { name "lone" translation 0 0 1 boundingObject Sphere { radius 0.1 } physics Physics { } }
"""

library = ctypes.CDLL(sys.argv[1])
NONE = 0xFFFFFFFF


def read_headers(paths):
    """Prototypes as (result, name, [(type, name), ...]), structures by name with their fields, and enumerations."""
    text = "\n".join(re.sub(r"/\*.*?\*/", " ", open(path).read(), flags=re.S) for path in paths)
    enums = set(re.findall(r"typedef enum (\w+)", text))
    structs = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\}\s*(\w+);", text, flags=re.S):
        structs[name] = [part.strip() for part in body.split(";") if part.strip()]
    functions = []
    for result, name, arguments in re.findall(r"TALUS_API\s+([\w ]+?[ *]+)(talus_\w+)\(([^;]*)\);", text, flags=re.S):
        found = []
        for argument in " ".join(arguments.split()).split(","):
            if argument.strip() != "void":
                kind, _, last = re.match(r"\s*(.*?)((\w+))\s*$", argument).groups()
                found.append((kind.replace(" *", "*").strip(), last))
        functions.append((result.replace(" *", "*").strip(), name, found))
    return functions, structs, enums


functions, structs, enums = read_headers(sys.argv[2:])
BASIC = {"bool": ctypes.c_bool, "int": ctypes.c_int, "double": ctypes.c_double, "size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64,
         "uint64_t": ctypes.c_uint64, "uint8_t": ctypes.c_uint8, "TalusNode": ctypes.c_uint32, "unsigned": ctypes.c_uint, "char": ctypes.c_char}
made = {}


def type_of(kind):
    """The ctypes type of a C type of the headers."""
    kind = kind.replace("const", "").replace(" ", "")
    if kind.endswith("*"):
        return ctypes.c_char_p if kind == "char*" else ctypes.c_void_p
    if kind in BASIC:
        return BASIC[kind]
    if kind in enums:
        return ctypes.c_int
    if kind in structs:
        if kind not in made:
            fields = []
            for line in structs[kind]:
                if "(*" in line:
                    fields.append((re.search(r"\(\*(\w+)\)", line).group(1), ctypes.c_void_p))
                    continue
                base, names = re.match(r"((?:const )?\w+)\s*(.*)", line).groups()
                for name in names.split(","):
                    stars, word, size = re.match(r"\s*((?:\*|const|\s)*)(\w+)(?:\[(\d+)\])?", name).groups()
                    inner = type_of(base + "*" * stars.count("*")) if base != "TalusDiagnosticHandler" else ctypes.c_void_p
                    fields.append((word, inner * int(size) if size else inner))
            made[kind] = type(kind, (ctypes.Structure,), {"_fields_": fields})
        return made[kind]
    raise SystemExit(f"arguments.py does not know the type '{kind}': teach it how to make one")


calls = {}
for result, name, arguments in functions:
    function = getattr(library, name)
    function.restype = None if result == "void" else type_of(result)
    function.argtypes = [type_of(kind) for kind, _ in arguments]
    calls[name] = function

folder = tempfile.mkdtemp()


class Stage:
    """A world, a clone of it, a world of another file, a batch, a view and a snapshot, made anew for each round."""

    def __init__(self):
        self.world = calls["talus_load_text"](b"a.wbt", TEXT, len(TEXT), None)
        self.clone = calls["talus_clone"](self.world)
        self.other = calls["talus_load_text"](b"b.wbt", OTHER, len(OTHER), None)
        self.batch = calls["talus_batch_create"](self.world, 2, 2)
        self.snapshot = calls["talus_snapshot_create"]()
        calls["talus_snapshot_take"](self.other, self.snapshot)
        self.view = self.view_of(self.world, [b"joint_position HINGE", b"position BOT", b"sensor angle"])
        self.foreign_view = self.view_of(self.other, [b"position BOT"])
        motor = calls["talus_find"](self.clone, b"HINGE")
        calls["talus_remove"](self.clone, motor)
        self.stale = motor
        self.nodes = [calls["talus_find"](self.world, name) for name in (b"BOT", b"HINGE", b"EYE", b"HOOK", b"FLOOR", b"ARM")]
        assert self.world and self.clone and self.other and self.batch and self.view and self.foreign_view and NONE not in self.nodes

    @staticmethod
    def view_of(world, items):
        return calls["talus_view_create"](world, ctypes.cast((ctypes.c_char_p * len(items))(*items), ctypes.c_void_p), len(items))

    def free(self):
        for view in (self.view, self.foreign_view):
            calls["talus_view_free"](view)
        calls["talus_snapshot_free"](self.snapshot)
        calls["talus_batch_free"](self.batch)
        for world in (self.other, self.clone, self.world):
            calls["talus_free"](world)


keep = []  # buffers of the calls of a round


def buffer(size, fill=0):
    data = (ctypes.c_uint8 * size)(*([fill] * size)) if fill else (ctypes.c_uint8 * size)()
    keep.append(data)
    return ctypes.cast(data, ctypes.c_void_p)


def texts(*items):
    array = (ctypes.c_char_p * (len(items) + 1))(*items, None)
    keep.append(array)
    return ctypes.cast(array, ctypes.c_void_p)


WORDS = [None, b"", b"BOT", b"HINGE", b"eye", b"translation", b"name", b"children", b"no such thing", b"BOT.translation[0]", b"position BOT",
         b"joint_position HINGE", b"Solid { }", b"Solid {", b"*", b"\xff\xfe", b"a" * 5000, b"%s%n", b"position", b"..", b"[0]"]
MANY = 4096  # items that a place for results has room for


def values_of(stage, kind, name):
    """What an argument can be: the first is sound."""
    kind = kind.replace("const", "").replace(" ", "")
    if kind == "TalusWorld*":
        return [stage.world, None, stage.clone, stage.other]
    if kind == "TalusWorld**":
        return [None]  # an array that owns what it is given: talus_clone_many is called by itself
    if kind == "TalusBatch*":
        return [stage.batch, None]
    if kind == "TalusView*":
        return [stage.view, None, stage.foreign_view]
    if kind == "TalusSnapshot*":
        return [stage.snapshot, None]
    if kind == "TalusNode":
        return [*stage.nodes, 0, NONE, stage.stale, NONE - 1, 100000]
    if kind == "char*":
        paths = [os.path.join(folder, name).encode() for name in ("x.png", "x.talus", "x.html", "x.wbt")]
        return [*paths, b"/nowhere/x.wbt", *WORDS] if name == "path" else WORDS
    if kind == "char**":
        return [texts(b"position BOT"), None, texts(b"nothing NOBODY"), texts(b"sensor *", b"joint_position *"), texts()]
    if kind == "int":
        if name in ("count", "capacity", "width", "height", "threads", "steps"):
            return [1, 0, -1, 3, -2**31] + ([2**31 - 1] if name != "steps" else [])
        return [0, -1, 1, 2**31 - 1, -2**31]
    if kind in ("int64_t", "size_t", "uint64_t"):
        return [1, 0, 8]
    if kind == "double":
        return [0.5, 0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e300]
    if kind == "bool":
        return [True, False]
    if kind in enums:
        return [0, 1, 2, -1, 99]
    if kind in structs and not kind.endswith("*"):
        sound, bad = type_of(kind)(), type_of(kind)()
        ctypes.memset(ctypes.byref(bad), 0xFF, ctypes.sizeof(bad))  # NaN in every double
        return [sound, bad]
    if kind.endswith("Options*"):
        return [None, buffer(512)]
    if kind.endswith("*"):
        return [buffer(MANY * 64), None]
    raise SystemExit(f"arguments.py does not know the type '{kind}': teach it how to make one")


# Freed by the stage alone, waiting for people or processes, or given room by the caller that is checked in a test of its own.
LEFT_OUT = {"talus_free", "talus_batch_free", "talus_view_free", "talus_snapshot_free", "talus_view_start"}
FREE = {"TalusWorld*": "talus_free", "TalusBatch*": "talus_batch_free", "TalusView*": "talus_view_free", "TalusSnapshot*": "talus_snapshot_free"}


def is_bounded(name, arguments):
    """Numbers of things that the call would make or write: as many as there is room for."""
    for (kind, word), value in zip(functions_by_name[name], arguments):
        if word in ("count", "capacity", "width", "height", "threads", "steps") and isinstance(value, int) and value > 64:
            makes = name in ("talus_batch_create", "talus_clone_many", "talus_picture", "talus_picture_write", "talus_step")
            has_room = name in ("talus_view_create", "talus_rays", "talus_set_numbers", "talus_batch_set_actions", "talus_batch_set_observations")
            if makes or has_room:
                return False
            if kind.startswith("int"):
                return word == "capacity"
    return True


functions_by_name = {name: arguments for _, name, arguments in functions}
FAILURES = {"bool": False, "TalusWorld*": None, "TalusBatch*": None, "TalusView*": None}


def call(stage, result, name, arguments):
    if not is_bounded(name, arguments):
        return 0
    sound_length = name in ("talus_load_text", "talus_plugin_send")
    if sound_length:
        arguments = [min(value, 8) if kind == "size_t" else b"#VRML_SIM" if kind == "const char*" and word == "text" and value is not None else value
                     for (kind, word), value in zip(functions_by_name[name], arguments)]
    if os.environ.get("TALUS_ARGUMENTS_TRACE"):
        print(name, arguments, file=sys.stderr, flush=True)
    got = calls[name](*arguments)
    kind = result.replace("const", "").strip()
    if kind in FREE and got and name not in ("talus_batch_world", "talus_batch_action_view", "talus_batch_observation_view"):
        calls[FREE[kind]](got)
    if name.startswith(("talus_plugin_start", "talus_controllers_start")):
        calls[name.replace("_start", "_stop")](arguments[0])
    return 1


def check(result, name, arguments, chance, several):
    stage = Stage()
    count = 0
    places = [values_of(stage, kind, word) for kind, word in arguments]
    count += call(stage, result, name, [place[0] for place in places])
    for i, place in enumerate(places):
        for value in place[1:]:
            count += call(stage, result, name, [value if k == i else other[0] for k, other in enumerate(places)])
    for _ in range(several):
        count += call(stage, result, name, [chance.choice(place) for place in places])
    stage.free()
    keep.clear()
    return count


def says_why(result, name, arguments):
    """A world or batch that is NULL: false, NULL, -1 or TALUS_NONE, and words."""
    stage = Stage()
    places = [values_of(stage, kind, word)[0] for kind, word in arguments]
    kind = arguments[0][0].replace("const", "").replace(" ", "") if arguments else ""
    wrong = ""
    if kind in ("TalusWorld*", "TalusBatch*") and result == "bool":
        got = calls[name](None, *places[1:])
        is_question = re.match(r"talus_(is_|node_exists|diagnostic_at)", name)
        if got:
            wrong = f"{name}(NULL, ...) gives {got!r}"
        elif not is_question and not calls["talus_last_error"]():
            wrong = f"{name}(NULL, ...) does not say why"
    stage.free()
    keep.clear()
    return wrong


def main():
    total, wrong = 0, []
    seed = int(os.environ.get("TALUS_ARGUMENTS_SEED", "1"))
    several = int(os.environ.get("TALUS_ARGUMENTS_ROUNDS", "12"))
    for result, name, arguments in functions:
        if name in LEFT_OUT:
            continue
        wrong.append(says_why(result, name, arguments))
        total += check(result, name, arguments, random.Random(f"{seed} {name}"), several)
    # The same worlds from another thread, one at a time; and frees of nothing.
    thread = threading.Thread(target=lambda: [check(r, n, a, random.Random(2), 1) for r, n, a in functions if n in ("talus_step", "talus_pose", "talus_batch_step")])
    thread.start()
    thread.join()
    for name in FREE.values():
        calls[name](None)
    wrong = list(filter(None, wrong))
    print(f"{len(functions)} functions, {total} calls (seed {seed})")
    for line in wrong:
        print(line)
    declared = sum(len(re.findall(r"^TALUS_API ", open(path).read(), flags=re.M)) for path in sys.argv[2:])
    if declared != len(functions):
        print(f"the headers declare {declared} functions")
    return bool(wrong) or declared != len(functions)


sys.exit(main())
