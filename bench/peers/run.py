#!/usr/bin/env python3
"""Runs every scene on every engine, interleaved, and writes docs/benchmarks.md with its plots.

usage: run.py BUILD DOCS [--minutes M] [--passes N] [--only SCENES] [--small] [--report] [--whole]

The first pass goes through everything once; then threads, memory and instruction counts are measured; then further
passes repeat the timings, those with a promise first, until M minutes are over. The best time of each engine counts.
"""
import argparse, concurrent.futures, json, os, subprocess, sys, tempfile, time
import page
from scenes import *

UNFINISHED = 2.0     # processor seconds after which a run without a promise stops
PROMISED = 40.0      # ... and one that has to get through the same simulated time as ours


def command(build, scene, n, dt, engine, seconds):
    program, variant = engine.split(":")
    return [os.path.join(build, program), scene, str(n), str(dt), variant, str(seconds)]


def environment(sim, **more):
    return dict(os.environ, PEERS_SIM=f"{sim:.9g}", PEERS_NODESTROY="1", **more)


def parse(text):
    line = [l for l in text.splitlines() if l.startswith("{")][-1]
    return json.loads(line.replace("nan,", "null,").replace("inf,", "null,"))


def judge(build, scene, n, poses):
    done = subprocess.run([os.path.join(build, "judge"), scene, str(n), poses], capture_output=True, text=True, timeout=300)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {}


def run(build, scene, n, dt, sim, engine, seconds, judged=True, poses=None, **more):
    poses = poses or os.path.join(build, "poses.txt")
    try:
        done = subprocess.run(command(build, scene, n, dt, engine, seconds) + [poses], env=environment(sim, **more), capture_output=True, text=True,
                              timeout=4 * seconds + 60)
        result = parse(done.stdout)
        if judged and scene in JUDGED and "error" not in result:
            result.update(judge(build, scene, n, poses))
        return result
    except (subprocess.TimeoutExpired, IndexError, ValueError, OSError) as problem:
        return {"error": str(problem)[:100]}


def is_promised(scene, n, dt, engine):
    name = ALIASES.get(engine, engine)
    return name.startswith("talus") or any((s, m, t) == (scene, n, dt) and any(name.startswith(a) for a in against) for s, m, t, against, _ in BARS)


def limit(scene, n, dt, engine):
    """Piles change as they fall: whoever a promise compares with us has to get through the same time."""
    return PROMISED if scene in ("pile", "mixed", "stack", "rest") and is_promised(scene, n, dt, engine) else UNFINISHED


def available(build, engines):
    return [e for e in engines if os.access(os.path.join(build, e.split(":")[0]), os.X_OK)]


def keep(results, name, engine, r):
    """The best run stays; the time of every run is remembered in order, so that those of one pass can be compared."""
    row = results.setdefault(name, {})
    old = row.get(engine)
    times = (old or {}).get("times", [])
    if "error" not in r:
        times = times + [r["cpu_us"]]
    if not old or "error" in old or ("error" not in r and r["cpu_us"] < old["cpu_us"]):
        row[engine] = r
    row[engine]["times"] = times


def measure(build, results, scenes, engines_of, deadline):
    for scene, n, dt, sim, engines in scenes:
        if time.time() > deadline:
            return False
        started, name = time.time(), key(scene, n, dt)
        for engine in engines_of(scene, n, dt, available(build, engines)):
            keep(results, name, engine, run(build, scene, n, dt, sim, engine, limit(scene, n, dt, engine)))
        print(f"{name}: " + " ".join(f"{e}={page.cell(scene, r)}" for e, r in results.get(name, {}).items()) + f"  ({time.time() - started:.0f} s)", flush=True)
    return True


def count_instructions(build, scene, n, dt, first, steps, engine):
    """Per step, exactly; callgrind counts inside the step function only."""
    tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no", "--callgrind-out-file=/dev/null"]
    try:
        done = subprocess.run(tool + command(build, scene, n, dt, engine, 100000), capture_output=True, text=True, timeout=150,
                              env=environment((first + steps) * dt, PEERS_COUNT_FROM=str(first)))
    except (subprocess.TimeoutExpired, OSError):
        return None
    line = [l for l in done.stderr.splitlines() if "Collected :" in l]
    return int(line[0].split()[-1]) / steps if line else None


def count_all(build, rows):
    jobs = [(row, engine) for row in rows for engine in available(build, row[5])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda job: count_instructions(build, *job[0][:5], job[1]), jobs)
    return [(key(*row[:3]), engine, value) for (row, engine), value in zip(jobs, found)]


def count_whole(build, rows):
    """Instructions of the engine alone and of whole steps, and their ratio."""
    if not available(build, [WHOLE]):
        return []
    jobs = [(row, engine) for row in rows for engine in (ALONE, WHOLE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(lambda job: count_instructions(build, *job[0], job[1]), jobs))
    out = [(key(*row[:3]), found[2 * i], found[2 * i + 1]) for i, row in enumerate(rows)]
    for name, alone, whole in out:
        if alone and whole:
            print(f"{name}: engine alone {alone / 1000:.1f}, whole step {whole / 1000:.1f} thousand instructions, whole / alone {whole / alone:.2f}", flush=True)
    return out


def measure_threads(build, rows, passes):
    """Wall time per step, interleaved; and whether all thread counts end in the same bits.

    A scene does the same work in its step i every time, so each step's best time over the passes is taken: what else the
    machine did in between drops out.
    """
    out = []
    for scene, n, dt, sim in rows:
        best, poses = {}, set()
        for turn in range(passes):
            for threads in THREADS if turn == 0 else (1, 2):
                with tempfile.NamedTemporaryFile("r") as pose_file, tempfile.NamedTemporaryFile("r") as time_file:
                    r = run(build, scene, n, dt, sim, f"talus:talus,t{threads}", PROMISED, False, pose_file.name, PEERS_TIMES=time_file.name)
                    poses.add(pose_file.read())
                    times = [float(line) for line in time_file]
                if "error" not in r:
                    best[threads] = [min(pair) for pair in zip(best.get(threads, times), times)]
        means = {threads: sum(times) / len(times) for threads, times in best.items() if times}
        out.append((key(scene, n, dt), means, len(poses) == 1))
        print(f"threads, {key(scene, n, dt)}:", " ".join(f"{t}={v:.0f}" for t, v in means.items()), "same bits" if len(poses) == 1 else "DIFFERENT BITS", flush=True)
    return out


def whole_steps(build, is_small):
    """What two threads bring to a whole step of the program: the table that build/bench/threads_bench prints."""
    program = os.path.join(os.path.dirname(build.rstrip("/")), "bench", "threads_bench")
    if not os.path.exists(program):
        return []
    done = subprocess.run([program] + (["pile 1000", "1"] if is_small else ["all", "4"]), capture_output=True, text=True)
    print(done.stdout, flush=True)
    return done.stdout.splitlines()


def heap(build, scene, n, sim, engine):
    done = subprocess.run(command(build, scene, n, .008, engine, 1000), env=environment(sim), capture_output=True, text=True)
    try:
        return parse(done.stdout)
    except (IndexError, ValueError):
        return {}


def measure_memory(build):
    """Heap bytes, from differences between sizes: boxes in the air, boxes at rest, chains."""
    rows = []
    sizes = (1000, 3000)
    for engine in available(build, ["talus:talus", "ode:quick"]):   # the others work in arenas of a size given beforehand
        air = [heap(build, "pile", n, .008, engine) for n in sizes]
        rest = heap(build, "rest", sizes[1], .2, engine), heap(build, "rest", sizes[0], .2, engine)
        chain = [heap(build, "chain", n, .008, engine) for n in sizes]
        try:
            body = (air[1]["heap"] - air[0]["heap"]) / (sizes[1] - sizes[0])
            contacts = rest[0]["contacts_last"] - rest[1]["contacts_last"]
            contact = (rest[0]["heap"] - rest[1]["heap"] - body * (sizes[1] - sizes[0])) / contacts if contacts else None
            joint = (chain[1]["heap"] - chain[0]["heap"]) / (sizes[1] - sizes[0]) - body
            rows.append((engine, body, joint, contact))
        except (KeyError, TypeError):
            rows.append((engine, None, None, None))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("docs")
    parser.add_argument("--minutes", type=float, default=13.0, help="when no further pass is started")
    parser.add_argument("--passes", type=int, default=5, help="most passes over the scenes")
    parser.add_argument("--only", help="scenes, separated by commas; the page is not written")
    parser.add_argument("--small", action="store_true", help="a few small scenes only, to see that everything works; the page is not written")
    parser.add_argument("--report", action="store_true", help="only write the page from the last whole run")
    parser.add_argument("--whole", action="store_true", help="only count whole steps beside the engine, and write that table")
    parser.add_argument("--no-counts", action="store_true")
    arguments = parser.parse_args()
    build, partial = arguments.build, bool(arguments.only or arguments.small)
    store = os.path.join(build, "partial.json" if partial else "results.json")
    if arguments.report:
        page.write(json.load(open(store)), arguments.docs)
        return 0
    if arguments.whole:
        page.write_whole(count_whole(build, WHOLE_STEPS), arguments.docs)
        return 0
    missing = [name for program, name in PROGRAMS.items() if not available(build, [program + ":"])]
    for name in missing:
        print(f"bench-peers: {name} is not installed or does not build here: its columns stay empty", flush=True)
    if not available(build, ["talus:"]):
        return 1
    begin = time.time()
    deadline = begin + 60 * arguments.minutes
    chosen = SMALL if arguments.small else [s for s in SCENES if not arguments.only or s[0] in arguments.only.split(",")]
    names = {s[0] for s in chosen}
    few = lambda rows: [r for r in rows if r[0] in names and (not arguments.small or r[1] <= 20)]
    saved = {"results": {}, "counts": [], "memory": [], "threads": [], "missing": missing, "date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0]}
    every = lambda scene, n, dt, engines: engines
    measure(build, saved["results"], chosen, every, begin + 3600)
    saved["threads"] = measure_threads(build, few(THREADED) if not arguments.small else [("swarm", 20, .008, 1), ("pile", 100, .008, 2)], 4)
    saved["whole_steps"] = whole_steps(build, arguments.small)
    saved["memory"] = measure_memory(build)
    if not arguments.no_counts:
        saved["counts"] = count_all(build, few(COUNTED))
        saved["whole"] = count_whole(build, few(WHOLE_STEPS))
        print(f"instructions counted ({time.time() - begin:.0f} s since the start)", flush=True)
    promised = [s for s in chosen if any(b[:3] == s[:3] for b in BARS)]
    compared = lambda scene, n, dt, engines: [e for e in engines if is_promised(scene, n, dt, e)]
    for turn in range(1, arguments.passes):
        if not measure(build, saved["results"], promised, compared, deadline):
            break
    saved["minutes"] = (time.time() - begin) / 60
    json.dump(saved, open(store, "w"))
    if partial:
        print(page.text(saved, None))
    else:
        page.write(saved, arguments.docs)
    print(f"bench-peers: {saved['minutes']:.1f} minutes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
