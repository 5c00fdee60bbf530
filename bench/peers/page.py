"""The page of results: docs/benchmarks.md and its plots."""
import math, os, platform, statistics
from scenes import *

HEAD = """# Benchmarks

Talus' own solver beside the engines that Debian ships (ODE 0.16, Bullet 3.24 in double precision, MuJoCo 2.2, DART 6.12), on the same
scenes with the same masses, friction, time steps and contact limits. Written by `make bench-peers`; do not edit.
"""
TABLE = """
Processor time per step in µs on one thread, best of interleaved runs. `*` fails the scene's quality check, `~` was stopped before the
end of the simulated time, `-` not supported or not run. The resting scenes show the shortest step.
"""
READING = """
## Reading the tables

- stand: a 28-hinge robot with locked motors; only a direct or Newton solver keeps it up. ragdoll: the same without motors, falling.
- chain: hinges from a fixed point, energy checked. swarm: four-wheeled vehicles. pile, mixed: boxes, or all shapes, dropped into a pit.
- stack: pyramids of 15, 55 and 171 boxes. mesh: bodies on a terrain of 100,352 triangles. rest: sleeping boxes.
- Penetration is measured on the final poses by ODE's colliders for every engine alike.
- Talus' adaptor calls the solver, broad phase and narrow phase that `talus run` calls.
"""
WHOLE_TEXT = """
Thousand instructions of a step on one thread, counted by callgrind over the same steps of the same scene: solver, broad phase and narrow
phase alone (the talus rows of the suite), and a whole step of the scene written as a world and stepped by `talus_step`.
"""
WHOLE_BEGIN, WHOLE_END = "<!-- whole steps: written by make bench-peers -->", "<!-- end of whole steps -->"
BY_HAND = "<!-- what follows is written by hand and stays -->"
COLOURS = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#7f7f7f"]


def label(engine):
    return engine.replace(":talus", "").replace(":", " ")


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def is_result(r):
    return r is not None and "error" not in r


def value(scene, r):
    return r["us_min"] if scene == "rest" else r["cpu_us"]


def cell(scene, r):
    if not is_result(r):
        return "-"
    mark = ("" if passes(scene, r) else "*") + ("~" if r["steps"] < r["of"] else "")
    us = value(scene, r)
    return f"{us:.3g}{mark}" if us < 1000 else f"{us:.0f}{mark}"


def table(head, rows):
    """A table whose first column is text and whose others are numbers."""
    out = ["", "| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "---:" for i in range(len(head))) + "|"]
    return out + ["| " + " | ".join(row) + " |" for row in rows]


def times(rows):
    out = []
    for scene, n, dt, _, _ in SCENES:
        row = rows.get(key(scene, n, dt))
        if row:
            out.append([key(scene, n, dt)] + [cell(scene, row.get(e)) for e in COLUMNS])
    return table(["scene"] + [label(e) for e in COLUMNS], out)


def best_peer(scene, row, against):
    """Of the peers whose physics is good; when none is, a peer that fails the check still gives a time to compare with."""
    fits = [(r["cpu_us"], e) for e, r in row.items() if not e.startswith("talus") and is_result(r) and any(e.startswith(a) for a in against)]
    good = [(us, e) for us, e in fits if passes(scene, row[e])]
    return min(good or fits, default=(None, None))


def penetrates_less(scene, ours, peer):
    return scene not in ("pile", "mixed") or ours.get("pen_p95_mm", 1e9) <= peer.get("pen_p95_mm", 1e9)


def promise(rows, scene, n, dt, against, factor):
    row = rows.get(key(scene, n, dt), {})
    ours = row.get("talus:talus")
    us, peer = best_peer(scene, row, against)
    if not is_result(ours) or us is None:
        return None
    ratio = ours["cpu_us"] / us
    singles = [a / b for a, b in zip(ours.get("times", []), row[peer].get("times", []))]
    spread = f"{statistics.median(singles):.3f} ({min(singles):.3f} to {max(singles):.3f})" if singles else ""
    kept = ratio <= factor and passes(scene, ours) and penetrates_less(scene, ours, row[peer])
    return [key(scene, n, dt), label(peer), f"{ratio:.3f}", spread, f"{factor:.2f}", "yes" if kept else "**no**"]


def promises(rows):
    out = [p for p in (promise(rows, *bar) for bar in BARS) if p]
    scene, n, dt, most = RESTING
    rest = rows.get(key(scene, n, dt), {}).get("talus:talus")
    if is_result(rest):
        out.append([key(scene, n, dt), "microseconds", f"{rest['us_min']:.3g}", "", f"{most}", "yes" if rest["us_min"] < most else "**no**"])
    return table(["scene", "against", "ratio of best times", "of single passes: median (range)", "promised", ""], out)


def threads(found):
    out = []
    for name, best, same in found:
        best = {int(t): v for t, v in best.items()}
        factor = best[1] / best[2] if 1 in best and 2 in best else 0.0
        out.append([name] + [f"{best[t]:.0f}" if t in best else "-" for t in THREADS]
                   + [f"{factor:.2f}", "" if name.startswith("mixed") else "yes" if factor >= THREAD_FACTOR else "**no**", "yes" if same else "**no**"])
    return table(["scene"] + [f"{t} threads" if t > 1 else "1 thread" for t in THREADS] + ["two threads do", f"{THREAD_FACTOR} promised", "same bits"], out)


def quality(rows):
    out = []
    for scene, n, dt, _, _ in SCENES:
        for e in COLUMNS:
            r = rows.get(key(scene, n, dt), {}).get(e)
            if not is_result(r):
                continue
            get = lambda k: f"{r[k]:.3g}" if isinstance(r.get(k), (int, float)) else ""
            out.append([key(scene, n, dt), label(e)] + [get(k) for k in ("joint_err_mm", "energy_drift", "pen_p95_mm", "hdrift", "vmax")])
    return table(["scene", "engine", "joint error mm", "energy drift", "p95 penetration mm", "drift m", "fastest body m/s"], out)


def instructions(counts, rows):
    out = []
    for name, e, count in counts:
        if count:
            r = rows.get(name, {}).get(e)
            out.append([name, label(e), f"{count:,.0f}", cell(name.split()[0], r)])
    return table(["scene", "engine", "instructions", "µs (table above)"], out)


def whole(found):
    out = []
    for name, alone, all_of_it in found:
        if not alone or not all_of_it:
            continue
        ratio = all_of_it / alone
        out.append([name, f"{alone / 1000:,.0f}", f"{all_of_it / 1000:,.0f}", f"{ratio:.2f}", f"{WHOLE_FACTOR}", "yes" if ratio <= WHOLE_FACTOR else "**no**"])
    head = ["scene", "engine alone", "whole step", "whole / alone", "aim", ""]
    return [WHOLE_BEGIN, "", "## Whole steps beside the engine", WHOLE_TEXT.rstrip()] + table(head, out) + ["", WHOLE_END]


def memory(found):
    number = lambda v: f"{v:.0f}" if v is not None else "-"
    return table(["engine", "a body with one box", "a joint", "a contact"], [[label(e)] + [number(v) for v in rest] for e, *rest in found])


def plot(path, title, series):
    """Log-log lines of time per step over size, as plain SVG."""
    width, height, left, bottom, right = 640, 400, 70, 50, 150
    points = [p for line in series.values() for p in line]
    x0, x1 = (f(math.log10(p[0]) for p in points) for f in (min, max))
    y0, y1 = math.floor(min(math.log10(p[1]) for p in points)), math.ceil(max(math.log10(p[1]) for p in points))
    x1, y1 = max(x1, x0 + .1), max(y1, y0 + 1)
    across = lambda x: left + (math.log10(x) - x0) / (x1 - x0) * (width - left - right)
    up = lambda y: height - bottom - (math.log10(y) - y0) / (y1 - y0) * (height - bottom - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="22" font-size="15">{title}</text>']
    for k in range(y0, y1 + 1):
        y = up(10.0 ** k)
        out.append(f'<line x1="{left}" x2="{width - right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/><text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** k:g}</text>')
    for x in sorted({p[0] for p in points}):
        out.append(f'<text x="{across(x):.1f}" y="{height - bottom + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{left}" y="{height - 10}">size</text><text x="12" y="36">µs</text>')
    for i, (name, line) in enumerate(series.items()):
        colour, thick = COLOURS[i % len(COLOURS)], 3 if name == "talus" else 1.5
        at = [(across(x), up(y)) for x, y in sorted(line)]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="{thick}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
        out.append(f'<text x="{width - right + 10}" y="{50 + 18 * i}" fill="{colour}">{name}</text>')
    open(path, "w").write("\n".join(out) + "\n</svg>\n")


def curve(rows, scene):
    dt = .002 if scene == "chain" else .008
    series = {}
    for s, n, t, _, _ in SCENES:
        for e in COLUMNS if (s, t) == (scene, dt) else []:
            r = rows.get(key(s, n, t), {}).get(e)
            if is_result(r):
                series.setdefault(label(e), []).append((r["bodies"], value(scene, r)))
    return series


def growth(series):
    """The exponent of time over size between the ends of our curve: 1 is linear."""
    line = sorted(series.get("talus", []))
    if len(line) < 2:
        return "-"
    return f"{math.log(line[-1][1] / line[0][1]) / math.log(line[-1][0] / line[0][0]):.2f}"


def curves(rows, docs):
    scenes = [s for s in dict.fromkeys(s[0] for s in SCENES) if curve(rows, s)]
    out = []
    for scene in scenes:
        series = curve(rows, scene)
        line = sorted(series.get("talus", []))
        out.append([scene] + [" ".join(f"{n}: {us:.3g}" for n, us in line), growth(series)])
    text = ["", "## Cost over size", "", "Bodies and µs per step of Talus, and the exponent of the cost between the smallest and the largest (1 is linear)."]
    text += table(["scene", "bodies: µs", "exponent"], out)
    for scene in scenes if docs else []:
        plot(os.path.join(docs, f"benchmarks-{scene}.svg"), f"{scene}: µs per step over the number of bodies", curve(rows, scene))
        text += ["", f"![{scene}](benchmarks-{scene}.svg)"]
    return text


def text(saved, docs):
    rows = {name: {ALIASES.get(e, e): r for e, r in row.items()} for name, row in saved["results"].items()}
    out = [HEAD, f"Machine: {platform.machine()}, {os.cpu_count()} cores, {cpu_name()}. Measured {saved['date']} in one run of"
           f" {saved['minutes']:.0f} minutes; load at the start {saved['load']:.1f}."]
    out += [f"Not measured, as it is not installed: {', '.join(saved['missing'])}."] if saved["missing"] else []
    out += ["", "## What was promised"] + promises(rows)
    out += ["", "## Two threads", "", "Wall time per step in µs; of each step the best of interleaved runs, as every run does the same work in it."] + threads(saved["threads"])
    if saved.get("whole_steps"):
        out += ["", "The same for a whole step of `talus run` on worlds of about these scenes (`build/bench/threads_bench`), with the scene, motors and all:", ""] + saved["whole_steps"]
    out += ["", "## Time per step", TABLE.rstrip()] + times(rows)
    if saved["counts"]:
        out += ["", "## Instructions per step", "", "Counted by callgrind inside the step alone, over the steps that the suite names: exact on a noisy machine."] + instructions(saved["counts"], rows)
    if saved.get("whole"):
        out += [""] + whole(saved["whole"])
    out += curves(rows, docs)
    out += ["", "## Memory", "", "Heap bytes, from differences between sizes of the same scene: scene description, collision shapes and solver."] + memory(saved["memory"])
    out += ["", "## Quality"] + quality(rows) + [READING]
    return "\n".join(out)


def page_path(docs):
    return os.path.join(docs, "benchmarks.md")


def write(saved, docs):
    """The page; what people wrote below its mark stays."""
    old = open(page_path(docs)).read() if os.path.exists(page_path(docs)) else ""
    kept = old[old.index(BY_HAND):] if BY_HAND in old else ""
    open(page_path(docs), "w").write(text(saved, docs) + "\n" + kept)


def write_whole(found, docs):
    """Just the table of whole steps, in a page that has one."""
    old = open(page_path(docs)).read()
    before, rest = old.split(WHOLE_BEGIN, 1)
    after = rest.split(WHOLE_END, 1)[1]
    open(page_path(docs), "w").write(before + "\n".join(whole(found)) + after)
