#!/usr/bin/env bash
# The documents are true: links lead somewhere, and every command block (```sh) of README.md and docs/ runs, in a scratch folder of its own
# for each page with talus on the PATH. Comments before a block steer it:
#   <!-- file: NAME -->     the block is the content of that file        <!-- append: NAME -->   it goes behind what is there
#   <!-- setup: COMMAND --> is run before it, for what a reader has      <!-- not run: REASON -->  why it cannot be run here
# A block of commands without the word sh is an error, so that none is overlooked.
set -u
exec python3 - "$TALUS_BUILD_DIR" <<'P'
import glob, os, re, shutil, subprocess, sys
build, root = sys.argv[1], os.getcwd()
failures, runs, skips = [], 0, 0
pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", *sorted(glob.glob("docs/**/*.md", recursive=True)), *sorted(glob.glob("examples/*/README.md"))]

# ---- links ----
def anchors(path):
    titles = re.findall(r"^#+ (.*)$", open(path, encoding="utf-8").read(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}

for page in pages:
    text = re.sub(r"```.*?```", "", open(page, encoding="utf-8").read(), flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(file):
            failures.append(f"{page}: the link to {target} leads nowhere")
        elif anchor and file.endswith(".md") and anchor not in anchors(file):
            failures.append(f"{page}: there is no heading #{anchor} in {file}")

# ---- commands ----
COMMAND = re.compile(r"^\s*(\$ )?(build/)?(talus|make|cmake|cc|gcc|pip|apt-get|sudo|podman|docker) ", re.M)
sanitized = not re.search(r"^TALUS_SANITIZE:STRING=$", open(f"{build}/CMakeCache.txt").read(), re.M)
scratch = f"{build}/scratch/docs"
shutil.rmtree(scratch, ignore_errors=True)
prefix = f"{scratch}/prefix"

def blocks(page):
    lines, steer, at = open(page, encoding="utf-8").read().split("\n"), [], 0
    while at < len(lines):
        note = re.match(r"<!-- (file|append|setup|not run): (.*?) -->$", lines[at])
        fence = re.match(r"```(\w*)$", lines[at])
        if note:
            steer.append(note.groups())
        elif fence:
            begin = at + 1
            at = lines.index("```", begin)
            yield begin, fence.group(1), dict(steer), "\n".join(lines[begin:at]) + "\n"
            steer = []
        elif lines[at].strip():
            steer = []
        at += 1

def environment():
    return {**os.environ, "PATH": f"{scratch}/bin:{os.environ['PATH']}", "HOME": f"{scratch}/home", "TALUS_CACHE": f"{scratch}/cache",
            "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "CMAKE_PREFIX_PATH": prefix, "LD_LIBRARY_PATH": f"{prefix}/lib", "NO_COLOR": "1"}

def built(at, names):
    """What a build has left in the examples; a reader has none of it."""
    return [n for n in names if n == "build" or n.endswith((".o", ".d", ".so")) or (os.path.isfile(f"{at}/{n}") and os.access(f"{at}/{n}", os.X_OK))]

def prepare(folder):
    """What a reader has: the source tree with its build, as links, and examples that may be built in."""
    os.makedirs(folder)
    os.symlink(build, f"{folder}/build")
    for name in ("scenes", "docs"):
        os.symlink(f"{root}/{name}", f"{folder}/{name}")
    shutil.copytree("examples", f"{folder}/examples", ignore=built)

# Pages that play a run want the browser page, which a build without npm lacks.
has_page = "bundled" in subprocess.run([f"{build}/talus", "doctor"], capture_output=True, text=True).stdout
def possible(text):
    return text if has_page else re.sub(r"^.*\.html\b.*\n", "", text, flags=re.M)

def shell(page, line, folder, text):
    text = possible(text)
    got = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    if got.returncode != 0:
        failures.append(f"{page}:{line}: exit code {got.returncode}\n{text}{(got.stdout + got.stderr)[-600:]}")
    return got.returncode == 0

os.makedirs(f"{scratch}/bin"); os.makedirs(f"{scratch}/home")
os.symlink(f"{build}/talus", f"{scratch}/bin/talus")
for page in pages:
    if page.startswith("examples/"):
        continue  # control.examples and plugins.examples run these
    folder = f"{scratch}/{page.replace('/', '_')[:-3]}"
    for line, language, steer, text in blocks(page):
        if language == "sh" or "file" in steer or "append" in steer or "setup" in steer:
            if "not run" in steer:
                skips += 1
                if len(steer["not run"]) < 10:
                    failures.append(f"{page}:{line}: a block is not run without a reason")
                continue
            if sanitized:
                continue
            if not os.path.exists(folder):
                prepare(folder)
            if "pkg-config" in text and not os.path.exists(prefix):
                subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
            if "file" in steer or "append" in steer:
                path = os.path.join(folder, steer.get("file") or steer["append"])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                open(path, "w" if "file" in steer else "a").write(text)
                continue
            if "setup" in steer and not shell(page, line, folder, steer["setup"]):
                break
            runs += 1
            if not shell(page, line, folder, text):
                break
        elif language in ("", "bash", "console", "shell") and COMMAND.search(text) and "not run" not in steer:
            failures.append(f"{page}:{line}: a block of commands is not marked ```sh")
print("\n".join(failures) or f"{len(pages)} pages: links hold, {runs} command blocks run, {skips} have a reason not to")
sys.exit(bool(failures))
P
