#!/usr/bin/env python3
"""Runs every scene on every engine, interleaved, keeps the best processor time, and writes docs/benchmarks.md with its plots.

usage: run.py BUILD DOCS [--repeat N] [--only SCENES] [--engines PROGRAMS] [--missing] [--report]
--report only writes the page from the last results.
"""
import argparse, json, math, os, platform, subprocess, sys, time

# scene, n, dt, simulated seconds, engines; the processor seconds a run may take are enough for the engines that matter.
TREE = ["talus:talus", "ode:step", "ode:quick", "bullet64:mb", "mujoco:newton", "dart:dantzig"]
LOOSE = ["talus:talus", "ode:quick", "bullet64:si", "mujoco:newton"]
SCENES = [
    ("stand", 1, .002, 4, TREE), ("stand", 1, .008, 4, TREE), ("stand", 16, .008, 4, TREE),
    ("ragdoll", 1, .002, 4, TREE), ("ragdoll", 1, .008, 4, TREE), ("ragdoll", 16, .002, 4, TREE), ("ragdoll", 16, .008, 4, TREE),
    ("chain", 10, .002, 4, TREE), ("chain", 100, .002, 4, TREE), ("chain", 1000, .002, .5, [e for e in TREE if e != "ode:step"]),
    ("swarm", 20, .008, 4, TREE), ("swarm", 200, .008, 4, TREE),
    ("pile", 100, .008, 4, LOOSE), ("pile", 1000, .008, 4, LOOSE[:3]), ("pile", 5000, .008, 1.6, ["talus:talus", "ode:quick,sap", "bullet64:si"]),
    ("mixed", 100, .008, 4, LOOSE), ("mixed", 1000, .008, 4, LOOSE[:3]), ("mixed", 5000, .008, 1.6, ["talus:talus", "ode:quick,sap", "bullet64:si"]),
    ("stack", 10, .008, 60, ["talus:talus", "ode:quick", "bullet64:si"]),
    ("mesh", 20, .008, 4, LOOSE), ("mesh", 200, .008, 4, LOOSE + ["ode:step"]),
    ("rest", 100000, .008, 2, ["talus:talus,sleep"]),
]
BARS = [  # what the project promises: scene, n, dt, best of these engines, factor
    ("stand", 1, .002, ["mujoco"], .5), ("stand", 1, .008, ["mujoco"], .5), ("stand", 1, .002, ["ode:step"], 1 / 25), ("stand", 1, .008, ["ode:step"], 1 / 25),
    ("ragdoll", 1, .002, ["mujoco"], .9), ("ragdoll", 1, .008, ["mujoco"], .9), ("ragdoll", 16, .002, ["mujoco"], .9), ("ragdoll", 16, .008, ["mujoco"], .9),
    ("chain", 10, .002, ["bullet64:mb"], .7), ("chain", 100, .002, ["bullet64:mb"], .7), ("chain", 1000, .002, ["bullet64:mb"], .7),
    ("swarm", 200, .008, ["ode", "bullet64", "mujoco", "dart"], .5),
    ("pile", 100, .008, ["ode:quick"], .3), ("pile", 1000, .008, ["ode:quick"], .3), ("pile", 5000, .008, ["ode:quick"], .3),
    ("mixed", 100, .008, ["ode:quick"], .3), ("mixed", 1000, .008, ["ode:quick"], .3), ("mixed", 5000, .008, ["ode:quick"], .3),
    ("mesh", 200, .008, ["ode", "bullet64", "mujoco"], .7), ("stack", 10, .008, ["bullet64"], 1.0),
]
JUDGED = ("pile", "mixed", "stack")


def key(scene, n, dt):
    return f"{scene} {n}, {dt * 1000:g} ms"


def run(build, scene, n, dt, sim, engine, seconds):
    program, variant = engine.split(":")
    poses = os.path.join(build, "poses.txt")
    environment = dict(os.environ, PEERS_SIM=str(sim), PEERS_NODESTROY="1")
    command = [os.path.join(build, program), scene, str(n), str(dt), variant, str(seconds), poses]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds * 40 + 120)
        line = [l for l in done.stdout.splitlines() if l.startswith("{")][-1]
        result = json.loads(line.replace("nan,", "null,").replace("inf,", "null,"))
    except (subprocess.TimeoutExpired, IndexError, ValueError, OSError) as problem:
        return {"error": str(problem)[:100]}
    if scene in JUDGED and "error" not in result:
        judged = subprocess.run([os.path.join(build, "judge"), scene, str(n), poses], capture_output=True, text=True, timeout=300)
        try:
            result.update(json.loads(judged.stdout))
        except ValueError:
            pass
    return result


def passes(scene, r):
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


def instructions(build, scene, n, dt, engine, first, second):
    """Per step: the difference of two runs under cachegrind."""
    program, variant = engine.split(":")
    counts = []
    for sim in (first, second):
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                   os.path.join(build, program), scene, str(n), str(dt), variant, "100000"]
        done = subprocess.run(command, env=dict(os.environ, PEERS_SIM=str(sim), PEERS_NODESTROY="1"), capture_output=True, text=True)
        line = [l for l in done.stderr.splitlines() if "refs:" in l]
        if not line:
            return None
        counts.append(int(line[0].split()[-1].replace(",", "")))
    return (counts[1] - counts[0]) / ((second - first) / dt)


def memory_per_body(build):
    """Peak resident bytes over those of an empty scene, from two sizes of the same scene."""
    rows = []
    for scene, sizes, per in (("rest", (1000, 11000), "body with one box (4 contacts)"), ("chain", (3000, 13000), "body and hinge")):
        peaks = []
        for n in sizes:
            done = subprocess.run(["/usr/bin/env", "python3", "-c",
                "import resource,subprocess,sys,os;os.environ['PEERS_SIM']='0.05';os.environ['PEERS_NODESTROY']='1';"
                "subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)",
                os.path.join(build, "talus"), scene, str(n), ".008", "talus"], capture_output=True, text=True)
            peaks.append(int(done.stdout.split()[-1]) * 1024)
        rows.append((per, (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])))
    return rows


def plot(path, title, series):
    """Log-log lines of time per step over size, as plain SVG."""
    width, height, left, bottom = 640, 400, 70, 50
    points = [p for line in series.values() for p in line]
    if not points:
        return False
    x0, x1 = (f(math.log10(p[0]) for p in points) for f in (min, max))
    y0, y1 = (f(math.log10(p[1]) for p in points) for f in (min, max))
    x1, y1 = max(x1, x0 + .1), max(y1, y0 + .1)
    place = lambda p: (left + (math.log10(p[0]) - x0) / (x1 - x0) * (width - left - 150), height - bottom - (math.log10(p[1]) - y0) / (y1 - y0) * (height - bottom - 40))
    colours = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#7f7f7f"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="22" font-size="15">{title}</text>']
    for k in range(math.floor(y0), math.ceil(y1) + 1):
        y = place((10 ** x0, 10 ** k))[1]
        if 30 < y < height - bottom + 1:
            out.append(f'<line x1="{left}" x2="{width - 150}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** k:g}</text>')
    for x in sorted({p[0] for p in points}):
        at = place((x, 10 ** y0))[0]
        out.append(f'<text x="{at:.1f}" y="{height - bottom + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{left}" y="{height - 10}">size</text><text x="12" y="40">µs</text>')
    for i, (name, line) in enumerate(series.items()):
        colour = colours[i % len(colours)]
        line = [place(p) for p in sorted(line)]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{3 if name.startswith("talus") else 1.5}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in line)}"/>')
        for x, y in line:
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        out.append(f'<text x="{width - 140}" y="{50 + 18 * i}" fill="{colour}">{name}</text>')
    open(path, "w").write("\n".join(out) + "\n</svg>\n")
    return True


def cell(scene, r):
    if r is None:
        return "-"
    if "error" in r:
        return "-"
    mark = ("" if passes(scene, r) else "*") + ("~" if r["steps"] < r["of"] else "")
    value = r["us_min"] if scene == "rest" else r["cpu_us"]
    return f"{value:.3g}{mark}" if value < 1000 else f"{value:.0f}{mark}"


def report(results, counts, memory, docs, partial):
    engines = ["talus:talus", "ode:step", "ode:quick", "bullet64:si", "bullet64:mb", "mujoco:newton", "dart:dantzig"]
    alias = {"ode:quick,sap": "ode:quick", "talus:talus,sleep": "talus:talus"}
    table = {}
    for name, row in results.items():
        table[name] = {alias.get(e, e): r for e, r in row.items()}
    out = ["# Benchmarks", "",
           "Talus' own solver beside the engines that Debian ships (ODE 0.16, Bullet 3.24 in double precision, MuJoCo 2.2, DART 6.12), on the same",
           "scenes with the same masses, friction, time steps and contact limits. Written by `make bench-peers`; do not edit.", "",
           f"Machine: {platform.machine()}, {os.cpu_count()} cores, {cpu_name()}. Measured {time.strftime('%Y-%m-%d')}. Processor time per step in µs on one",
           "thread, best of interleaved runs (other work may share the machine; ratios are what counts). `*` fails the scene's quality check,",
           "`~` did not finish the simulated time within the limit, `-` not supported or not run. The resting scene shows the shortest step.", ""]
    if partial:
        out += ["These results were put together from several partial runs: not all engines of a row were measured in the same pass, some with a",
                "single run, on a machine under heavy other load. Ratios within a tenth of their promise are not settled by them.", ""]
    out += [
           "| scene | " + " | ".join(e.replace(":talus", "").replace(":", " ") for e in engines) + " |", "|---|" + "---:|" * len(engines)]
    for scene, n, dt, sim, _ in SCENES:
        row = table.get(key(scene, n, dt))
        if row:
            out.append(f"| {key(scene, n, dt)} | " + " | ".join(cell(scene, row.get(e)) for e in engines) + " |")
    out += ["", "## What was promised", "", "| scene | against | ratio | promised | |", "|---|---|---:|---:|---|"]
    for scene, n, dt, against, factor in BARS:
        row = table.get(key(scene, n, dt), {})
        ours = row.get("talus:talus")
        others = [(r["cpu_us"], e) for e, r in row.items() if not e.startswith("talus") and r and "error" not in r and passes(scene, r)
                  and any(e.startswith(a) for a in against)]
        if not others:  # a peer that fails the quality check still gives a time to compare with
            others = [(r["cpu_us"], e) for e, r in row.items() if r and "error" not in r and any(e.startswith(a) for a in against)]
        if not ours or "error" in ours or not others:
            continue
        best, engine = min(others)
        ratio = ours["cpu_us"] / best
        out.append(f"| {key(scene, n, dt)} | {engine} | {ratio:.3f} | {factor:.2f} | {'yes' if ratio <= factor and passes(scene, ours) else '**no**'} |")
    out += ["", "## Quality", "", "| scene | engine | joint error mm | energy drift | p95 penetration mm | drift m | fastest body m/s |", "|---|---|---:|---:|---:|---:|---:|"]
    for scene, n, dt, sim, _ in SCENES:
        for e in engines:
            r = table.get(key(scene, n, dt), {}).get(e)
            if not r or "error" in r:
                continue
            get = lambda k: f"{r[k]:.3g}" if isinstance(r.get(k), (int, float)) else ""
            out.append(f"| {key(scene, n, dt)} | {e.replace(':talus', '')} | {get('joint_err_mm')} | {get('energy_drift')} | {get('pen_p95_mm')} | {get('hdrift')} | {get('vmax')} |")
    if counts:
        out += ["", "## Instructions per step (cachegrind, exact)", "", "| scene | engine | instructions |", "|---|---|---:|"]
        out += [f"| {name} | {e.replace(':talus', '')} | {v:,.0f} |" for name, e, v in counts if v]
    out += ["", "## Cost over size", ""]
    for scene in ("chain", "swarm", "pile", "mixed", "mesh", "stand", "ragdoll"):
        series = {}
        for s, n, dt, sim, _ in SCENES:
            if s != scene or (scene in ("stand", "ragdoll") and dt != .008):
                continue
            for e in engines:
                r = table.get(key(s, n, dt), {}).get(e)
                if r and "error" not in r:
                    series.setdefault(e.replace(":talus", ""), []).append((n, r["cpu_us"]))
        if plot(os.path.join(docs, f"benchmarks-{scene}.svg"), f"{scene}: µs per step", series):
            out.append(f"![{scene}](benchmarks-{scene}.svg)")
    if memory:
        out += ["", "## Memory", "", "| per | bytes (solver, broad phase, narrow phase, scene) |", "|---|---:|"] + [f"| {per} | {size:.0f} |" for per, size in memory]
    out += ["", "## Reading the table", "",
            "- stand: a 28-hinge robot with locked motors; only a direct or Newton solver keeps it up. ragdoll: the same without motors, falling.",
            "- chain: hinges from a fixed point, energy checked. swarm: four-wheeled vehicles. pile, mixed: boxes, or all shapes, dropped into a pit.",
            "- stack: a pyramid of 55 boxes for 60 simulated seconds. mesh: bodies on a terrain of 100,352 triangles. rest: sleeping boxes.",
            "- Penetration is measured on the final poses by ODE's colliders for every engine alike.",
            "- Talus uses ODE's narrow phase for cylinders against each other and for the terrain, its own for the rest.", ""]
    open(os.path.join(docs, "benchmarks.md"), "w").write("\n".join(out))


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("docs")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", help="scenes, separated by commas")
    parser.add_argument("--engines", help="programs, separated by commas; the others keep their last results")
    parser.add_argument("--missing", action="store_true", help="only scenes without results")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--no-counts", action="store_true")
    arguments = parser.parse_args()
    store = os.path.join(arguments.build, "results.json")
    saved = json.load(open(store)) if os.path.exists(store) else {"results": {}, "counts": [], "memory": []}
    if not arguments.report:
        saved["partial"] = bool(arguments.only or arguments.engines or arguments.missing)
        for scene, n, dt, sim, engines in SCENES:
            if arguments.only and scene not in arguments.only.split(","):
                continue
            if arguments.missing and key(scene, n, dt) in saved["results"]:
                continue
            row = saved["results"].get(key(scene, n, dt), {}) if arguments.engines else {}
            if arguments.engines:
                engines = [e for e in engines if e.split(":")[0] in arguments.engines.split(",")]
                row = {e: r for e, r in row.items() if e not in engines}
            for repeat in range(arguments.repeat):
                for engine in engines:
                    # Piles change as they fall: every engine has to get through the same time.
                    seconds = max(arguments.seconds, 40) if scene in ("pile", "mixed", "rest") and "bullet" not in engine else arguments.seconds
                    r = run(arguments.build, scene, n, dt, sim, engine, seconds)
                    if "error" in r:
                        row.setdefault(engine, r)
                    elif engine not in row or "error" in row[engine] or r["cpu_us"] < row[engine]["cpu_us"]:
                        row[engine] = r
            saved["results"][key(scene, n, dt)] = row
            print(key(scene, n, dt), " ".join(f"{e}={cell(scene, r)}" for e, r in row.items()), flush=True)
            json.dump(saved, open(store, "w"))
        if not arguments.no_counts and not arguments.only:
            saved["counts"] = [(key(s, n, dt), e, instructions(arguments.build, s, n, dt, e, a, b))
                for s, n, dt, a, b, es in (("stand", 1, .002, .2, .4, ["talus:talus", "ode:step", "ode:quick", "mujoco:newton", "bullet64:mb"]),
                                           ("chain", 100, .002, .1, .2, ["talus:talus", "bullet64:mb"]),
                                           ("swarm", 200, .008, .08, .16, ["talus:talus", "ode:quick"]),
                                           ("pile", 1000, .008, 1.2, 1.28, ["talus:talus", "ode:quick", "bullet64:si"]))
                for e in es]
            saved["memory"] = memory_per_body(arguments.build)
            json.dump(saved, open(store, "w"))
    report(saved["results"], saved["counts"], saved["memory"], arguments.docs, saved.get("partial", False))


if __name__ == "__main__":
    sys.exit(main())
