"""What is measured: scenes and sizes, what is promised, what counts as good physics."""

# Engines that know joints, engines for loose bodies. "program:variant".
TREE = ["talus:talus", "ode:step", "ode:quick", "bullet64:mb", "mujoco:newton", "dart:dantzig"]
LOOSE = ["talus:talus", "ode:quick", "bullet64:si", "mujoco:newton"]
FEW = ["talus:talus", "ode:quick", "bullet64:si"]
LARGE = ["talus:talus", "ode:quick,sap", "bullet64:si"]
COLUMNS = ["talus:talus", "ode:step", "ode:quick", "bullet64:si", "bullet64:mb", "mujoco:newton", "dart:dantzig"]
ALIASES = {"ode:quick,sap": "ode:quick", "talus:talus,sleep": "talus:talus"}
PROGRAMS = {"talus": "Talus", "ode": "ODE", "bullet64": "Bullet", "mujoco": "MuJoCo", "dart": "DART"}

# scene, n, time step, simulated seconds, engines
SCENES = [
    ("stand", 1, .002, 4, TREE), ("stand", 1, .008, 4, TREE), ("stand", 4, .008, 4, TREE), ("stand", 16, .008, 4, TREE),
    ("ragdoll", 1, .002, 4, TREE), ("ragdoll", 1, .008, 4, TREE), ("ragdoll", 4, .008, 4, TREE),
    ("ragdoll", 16, .002, 4, TREE), ("ragdoll", 16, .008, 4, TREE),
    ("chain", 10, .002, 4, TREE), ("chain", 100, .002, 4, TREE), ("chain", 1000, .002, .5, ["talus:talus", "ode:quick", "bullet64:mb"]),
    ("swarm", 20, .008, 4, TREE), ("swarm", 60, .008, 4, TREE), ("swarm", 200, .008, 4, TREE),
    ("pile", 100, .008, 4, LOOSE), ("pile", 1000, .008, 4, FEW), ("pile", 5000, .008, 1.6, LARGE),
    ("mixed", 100, .008, 4, LOOSE), ("mixed", 1000, .008, 4, FEW), ("mixed", 5000, .008, 1.6, LARGE),
    ("stack", 5, .008, 60, FEW), ("stack", 10, .008, 60, FEW), ("stack", 18, .008, 20, FEW),
    ("mesh", 20, .008, 4, LOOSE), ("mesh", 60, .008, 4, LOOSE), ("mesh", 200, .008, 4, LOOSE + ["ode:step", "dart:dantzig"]),
    ("rest", 1000, .008, 2, ["talus:talus,sleep"]), ("rest", 10000, .008, 2, ["talus:talus,sleep"]), ("rest", 100000, .008, 2, ["talus:talus,sleep"]),
]
SMALL = [s for s in SCENES if (s[0], s[1]) in (("stand", 1), ("chain", 10), ("swarm", 20), ("pile", 100), ("mesh", 20), ("rest", 1000))]

# What the project promises: scene, n, time step, best of these engines, factor.
BARS = [
    ("stand", 1, .002, ["mujoco"], .5), ("stand", 1, .008, ["mujoco"], .5), ("stand", 1, .002, ["ode:step"], 1 / 25), ("stand", 1, .008, ["ode:step"], 1 / 25),
    ("ragdoll", 1, .002, ["mujoco"], .9), ("ragdoll", 1, .008, ["mujoco"], .9), ("ragdoll", 16, .002, ["mujoco"], .9), ("ragdoll", 16, .008, ["mujoco"], .9),
    ("chain", 10, .002, ["bullet64:mb"], .7), ("chain", 100, .002, ["bullet64:mb"], .7), ("chain", 1000, .002, ["bullet64:mb"], .7),
    ("swarm", 200, .008, ["ode", "bullet64", "mujoco", "dart"], .5),
    ("pile", 100, .008, ["ode:quick"], .3), ("pile", 1000, .008, ["ode:quick"], .3), ("pile", 5000, .008, ["ode:quick"], .3),
    ("mixed", 100, .008, ["ode:quick"], .3), ("mixed", 1000, .008, ["ode:quick"], .3), ("mixed", 5000, .008, ["ode:quick"], .3),
    ("mesh", 200, .008, ["ode", "bullet64", "mujoco", "dart"], .7), ("stack", 10, .008, ["bullet64"], 1.0),
]
RESTING = ("rest", 100000, .008, 100)   # boxes asleep: microseconds that a step stays under

# scene, n, time step, first counted step, steps, engines
COUNTED = [
    ("stand", 1, .002, 100, 40, ["talus:talus", "ode:step", "ode:quick", "bullet64:mb", "mujoco:newton", "dart:dantzig"]),
    ("stand", 1, .008, 100, 40, ["talus:talus", "mujoco:newton"]),
    ("ragdoll", 1, .002, 1000, 40, ["talus:talus", "mujoco:newton"]),
    ("ragdoll", 1, .008, 250, 40, ["talus:talus", "mujoco:newton"]),
    ("ragdoll", 16, .008, 150, 10, ["talus:talus", "mujoco:newton"]),
    ("chain", 10, .002, 100, 100, ["talus:talus", "bullet64:mb", "mujoco:newton"]),
    ("chain", 100, .002, 20, 20, ["talus:talus", "bullet64:mb", "dart:dantzig"]),
    ("chain", 1000, .002, 5, 5, ["talus:talus", "bullet64:mb"]),
    ("swarm", 200, .008, 20, 5, ["talus:talus", "ode:quick", "mujoco:newton"]),
    ("pile", 100, .008, 200, 20, ["talus:talus", "ode:quick", "bullet64:si"]),
    ("pile", 1000, .008, 100, 5, ["talus:talus", "ode:quick", "bullet64:si"]),
    ("mixed", 1000, .008, 100, 5, ["talus:talus", "ode:quick", "bullet64:si"]),
    ("stack", 10, .008, 100, 20, ["talus:talus", "ode:quick", "bullet64:si"]),
    ("mesh", 200, .008, 100, 5, ["talus:talus", "ode:quick", "bullet64:si"]),
]

# A whole step of the same scene as a world, through the library, beside solver, broad phase and narrow phase alone:
# scene, n, time step, first counted step, steps.
ALONE, WHOLE, WHOLE_FACTOR = "talus:talus", "world:whole", 1.15
WHOLE_STEPS = [
    ("stand", 1, .002, 100, 40), ("ragdoll", 1, .008, 250, 40), ("chain", 10, .002, 100, 100), ("chain", 100, .002, 20, 20), ("chain", 1000, .002, 5, 5),
    ("swarm", 200, .008, 20, 5), ("pile", 10, .008, 200, 20), ("pile", 100, .008, 200, 20), ("pile", 1000, .008, 100, 5),
    ("mixed", 1000, .008, 100, 5), ("stack", 10, .008, 100, 20), ("mesh", 200, .008, 100, 5),
]

# scene, n, time step, simulated seconds; two threads have to give 1.5 times the steps a second
THREADED = [("swarm", 200, .008, 2), ("ragdoll", 16, .008, 4), ("pile", 5000, .008, 1.6), ("mixed", 5000, .008, 1.6)]
THREADS = (1, 2, 4, 8)
THREAD_FACTOR = 1.5

JUDGED = ("pile", "mixed", "stack", "mesh")   # penetration of the final poses is measured


def key(scene, n, dt):
    return f"{scene} {n}, {dt * 1000:g} ms"


def passes(scene, r):
    """Whether the physics of a run is good enough for its time to count."""
    if r.get("nan", 1) or r.get("vmax", 1e9) > 50:
        return False
    if scene in ("stand", "stack") and (r["ztop"] < .93 * r["ztop0"] or r["hdrift"] > (.05 if scene == "stand" else .3)):
        return False
    if scene == "chain" and (r["energy_drift"] > .05 or r["joint_err_mm"] > 5):
        return False
    if scene == "ragdoll" and r["joint_err_mm"] > 30:
        return False
    if scene == "swarm" and r["steps"] == r["of"] and r["drive_min"] < .8 * r["drive_mean"]:
        return False
    if scene in ("pile", "mixed") and r.get("pen_p95_mm", 0) > 15:
        return False
    return not (scene == "mesh" and r["below"] > .3)
