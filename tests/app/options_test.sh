#!/usr/bin/env bash
# Walks every option of every verb, as --help lists them: a wrong word, a wrong number, a missing value, a value for a flag and a wrong
# name are usage errors that say so; every verb has --quiet and --json, knows --help, and takes -- as the end of options.
set -u
is_sanitized=$(grep -cE '^TALUS_SANITIZE:[A-Z]*=.+' "$TALUS_BUILD_DIR/CMakeCache.txt")
exec python3 - "$TALUS_PROGRAM" "$TALUS_BUILD_DIR/scratch/options" "$is_sanitized" <<'P'
import os, re, shutil, subprocess, sys
talus, work, is_sanitized = sys.argv[1], sys.argv[2], sys.argv[3] != "0"
shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
failures = []

def run(*words):
    return subprocess.run([talus, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, cwd=work)

def refuse(words, said):
    got = run(*words)
    if got.returncode != 2 or not re.search(said, got.stderr):
        failures.append(f"talus {' '.join(words)}: exit {got.returncode}, said {got.stderr.splitlines()[:1]}, not /{said}/")

# The output of `controller` is that of the robot's program, and `replay` serves a page until it is ended: neither has a result.
NO_JSON = {"controller", "replay"}
overview = run("--help").stdout
verbs = re.findall(r"^  ([a-z]+)  ", overview, re.M)
assert {"run", "check", "render", "new", "build", "doctor"} <= set(verbs), verbs
options_seen = 0
for verb in verbs:
    help_text = run("help", verb).stdout
    if help_text != run(verb, "--help").stdout or help_text != run(verb, "-h").stdout:
        failures.append(f"talus help {verb} and talus {verb} --help differ")
    rows = re.findall(r"^  (?:-(\w), )?--([\w-]+)(?: (?!  )(\S.*?))?  +\S", help_text, re.M)
    names = [name for _, name, _ in rows]
    if len(set(names)) != len(names):
        failures.append(f"{verb}: an option is there twice")
    for wanted in ("quiet", "json"):
        if wanted not in names and verb not in NO_JSON:
            failures.append(f"{verb} has no --{wanted}")
    for letter, name, value in rows:
        options_seen += 1
        if name == "help":
            continue
        if value:
            refuse([verb, f"--{name}"], "wants a value")
        if is_sanitized:  # one parser reads all rows: its faults of memory show in one form of each
            continue
        if value:
            refuse([verb, f"--{name}=", "x"], "empty|wants")
        else:
            refuse([verb, f"--{name}=1", "x"], "takes no value")
        if value and "|" in value:
            refuse([verb, f"--{name}", "no-such-word", "x"], "wants one of")
        elif value in ("N", "MS", "X") or value == "SECONDS":
            refuse([verb, f"--{name}", "many", "x"], "wants a (whole )?number")
            refuse([verb, f"--{name}", "1e999", "x"], "wants a (whole )?number")
    refuse([verb, "--no-such-option-at-all"], "there is no option")
    if len(names[0]) > 4 and run(verb, f"--{names[0][:-1]}").returncode != 2:
        failures.append(f"{verb} takes --{names[0][:-1]} for --{names[0]}")
    refuse([verb, f"--{names[0]}x"], f"did you mean --{names[0]}")
if options_seen < 60:
    failures.append(f"only {options_seen} options were found in the help")

# Arguments too many or too few, and combinations in which something would be ignored.
world = os.path.join(os.getcwd(), "scenes/box.wbt")
for words, said in [
    (["doctor", "x"], "not wanted"), (["run"], "give one"), (["run", world, world], "give one"), (["info", world, world], "one file"),
    (["convert", world], "an input and an output"), (["render", world], "a picture"), (["new"], "its name"), (["check"], "which file"),
    (["run", world, "--every", "2"], "--record"), (["run", world, "--columns", "x"], "--record"),
    (["run", world, "--sound-law", "webots"], "--sound"), (["run", world, "--sound", "webots"], "--sound webots,FILE.wav"),
    (["run", world, "--sound", "talus", "--record", "-"], "--sound talus names a law"), (["run", world, "--movie-rate", "2"], "--movie"),
    (["run", world, "--no-controllers", "--controller", "x"], "--no-controllers"), (["run", world, "--no-plugin", "--plugin-timeout", "3"], "--no-plugin"),
    (["run", world, "--steps", "1", "--until", "1"], "not both"), (["info", world, "--json", "--contacts"], "give one"),
    (["render", world, "x.png", "--frames", "3"], "--every"), (["run", world, "--port", "70000"], "65535"), (["run", world, "--threads", "-1"], "--threads"),
    (["fetch", world, "--max-file-mb", "-1"], "negative"), (["runn"], "did you mean 'run'"), (["help", "chekc"], "did you mean 'check'"),
]:
    refuse(words, said)
shutil.copy(world, os.path.join(work, "--quiet"))
if run("check", "--", "--quiet").returncode != 0 or "--quiet:" not in run("check", "--", "--quiet").stdout:
    failures.append("-- does not end the options")

# Where browsers are listened for is a number of this machine, never a name.
for address in "1.2.3", "localhost", "256.1.1.1", "fe80::zz":
    refuse(["view", "--address", address, "x.wbt"], "--address wants an IP number")
    refuse(["replay", "--address", address, "x.talus"], "--address wants an IP number")

# Colours: only where they are wanted.
broken = os.path.join(work, "broken.wbt")
open(broken, "w").write("#VRML_SIM R2025a utf8\nSolid { translation 1 2 }\n")
def colours(**variables):
    got = subprocess.run([talus, "check", broken], capture_output=True, text=True, env={**os.environ, **variables})
    return "\033[" in got.stdout
for variables, wanted in (({}, False), ({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False), ({"CLICOLOR_FORCE": "0"}, False)):
    if colours(**variables) != wanted:
        failures.append(f"colours with {variables}: not {wanted}")
print("\n".join(failures) or f"{options_seen} options of {len(verbs)} verbs are checked")
sys.exit(bool(failures))
P
