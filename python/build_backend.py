"""Builds the package `talus` for pip with Python's own library alone, so that `pip install ./python` needs no network, with build isolation
and without it. The extension is linked with libtalus, which is looked for in TALUS_LIBRARY, in ../build, and by pkg-config."""
import base64
import glob
import hashlib
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
SUMMARY = "Robot worlds of Webots and Choreonoid, simulated headless, many at a time"


def _version():
    with open(os.path.join(HERE, "pyproject.toml")) as file:
        return re.search(r'^version = "(.*)"', file.read(), re.M).group(1)


def _headers(folder):
    """Beside this folder, or where the library is: a tree that was built, PREFIX/lib, PREFIX/lib/MACHINE."""
    tops = [TOP, os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))]
    for include in (os.path.join(top, "include") for top in tops):
        if os.path.exists(os.path.join(include, "talus", "batch.h")):
            return include
    raise SystemExit("the headers of Talus are not there: talus/batch.h is in no folder `include` at or above " + folder)


def _flags():
    """Where headers and the library are: flags for the compiler and the linker."""
    folders = [os.environ.get("TALUS_LIBRARY"), os.path.join(TOP, "build")]
    for folder in filter(None, folders):
        if glob.glob(os.path.join(folder, "libtalus.so*")):
            folder = os.path.abspath(folder)
            return ["-I" + _headers(folder)], ["-L" + folder, "-ltalus", "-Wl,-rpath," + folder]
    try:
        said = [subprocess.run(["pkg-config", option, "talus"], capture_output=True, text=True, check=True).stdout
                for option in ("--cflags", "--libs", "--variable=libdir")]
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("libtalus is not there: build it (`make`), install it (`make install`), or name its folder in TALUS_LIBRARY")
    return shlex.split(said[0]), shlex.split(said[1]) + ["-Wl,-rpath," + said[2].strip()]


def compile_extension(target):
    """talus/_talus.c as a module on the stable ABI."""
    includes, libraries = _flags()
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-std=c11", "-O2", "-shared", "-fPIC", "-DPy_LIMITED_API=0x030b0000",
               "-I" + sysconfig.get_paths()["include"], *includes, os.path.join(HERE, "talus", "_talus.c"), "-o", target, *libraries]
    if subprocess.run(command).returncode:
        raise SystemExit("the extension does not compile; are the headers of Python there (python3-dev)?")


def _files():
    folder = os.path.join(HERE, "talus")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith((".py", ".pyi", ".typed")))


def _metadata():
    return (f"Metadata-Version: 2.1\nName: talus\nVersion: {_version()}\nSummary: {SUMMARY}\n"
            "Requires-Python: >=3.11\nRequires-Dist: numpy\n")


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "cp311-abi3-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    name = f"talus-{_version()}-{tag}.whl"
    extension = os.path.join(wheel_directory, "_talus.abi3.so")
    compile_extension(extension)
    info = f"talus-{_version()}.dist-info/"
    contents = {"talus/" + os.path.basename(path): open(path, "rb").read() for path in [*_files(), extension]}
    os.unlink(extension)
    contents[info + "METADATA"] = _metadata().encode()
    contents[info + "WHEEL"] = f"Wheel-Version: 1.0\nGenerator: talus\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents.items():
            wheel.writestr(path, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = f"talus-{_version()}"
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as archive:
        for path in ["pyproject.toml", "build_backend.py", "talus"]:
            archive.add(os.path.join(HERE, path), f"{name}/{path}")
    return name + ".tar.gz"


if __name__ == "__main__":
    compile_extension(sys.argv[1])
