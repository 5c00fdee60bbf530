"""Talus from Python: worlds and batches of worlds as NumPy arrays.

    import talus
    world = talus.World("world.wbt")
    world.step(100)
    world.view("position ROBOT", "joint_position *").read()

    batch = talus.Batch(world, 1024, actions=["motor_force *"], observations=["joint_position *"])
    batch.actions[:] = 0.5
    batch.step()
    batch.observations          # the library's own memory, one row for each world

`talus.env` has environments in the shape of gymnasium's, with gymnasium and without it.
"""
from __future__ import annotations

import contextlib as _contextlib
import operator as _operator
import os as _os
import tempfile as _tempfile
from typing import NamedTuple

import numpy as _np

from . import _talus
from ._talus import Error
from ._page import frames_page as _frames_page, inside_page as _inside_page, png as _png

__version__ = _talus.version()
__all__ = ["World", "Batch", "Rollout", "View", "Recorder", "Channel", "Contact", "ContactEvent", "Hit", "Diagnostic", "Error"]

_LISTS = ("solids", "joints", "motors", "robots", "devices", "children")


class Channel(NamedTuple):
    """One number of a view: its name, its unit, and what it can be as far as is known."""
    name: str
    unit: str
    low: float
    high: float


class Contact(NamedTuple):
    """What acted between two solids in the last step; the force is on solids[0], in N."""
    solids: tuple
    point: tuple
    normal: tuple
    force: tuple


class ContactEvent(NamedTuple):
    """Two solids that began (or ceased) to touch in a step."""
    step: int
    solids: tuple
    begins: bool


class Rollout(NamedTuple):
    """Many steps of a batch: float64 of shape count, steps, observations, and bool of shape count, steps."""
    observations: _np.ndarray
    terminated: _np.ndarray
    truncated: _np.ndarray
    failed: _np.ndarray


class Hit(NamedTuple):
    """Where a ray met a bounding object."""
    solid: int
    distance: float
    point: tuple
    normal: tuple


class Diagnostic(NamedTuple):
    """What the library said about a file or a run."""
    severity: str
    file: str
    line: int
    column: int
    message: str
    hint: str | None
    count: int


def _rows(value, shape, what):
    """The value as float64 of exactly this shape, or a clear exception."""
    array = _np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} are numbers, not {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{what} have the shape {shape}, not {array.shape}")
    return _np.ascontiguousarray(array, dtype=_np.float64)


def _items(items) -> list[str]:
    """One item or several as a list."""
    return [items] if isinstance(items, str) else list(items)


def _seed(value) -> int:
    """A seed as the library takes it, or a clear exception."""
    seed = _operator.index(value)
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed is from 0 to 2**64 - 1, not {seed}")
    return seed


class View:
    """A list of numbers of a world, looked up once; see talus_view_create in talus/talus.h for the items."""

    def __init__(self, world: World, items):
        items = _items(items)
        self._world = world
        self._handle = _talus.view_new(world._handle, items)
        self.items = tuple(items)
        self.channels = tuple(Channel(*row) for row in _talus.view_channels(self._handle))

    def __len__(self):
        return len(self.channels)

    def __repr__(self):
        return f"talus.View({', '.join(map(repr, self.items))}: {len(self)} numbers)"

    def read(self, out=None, world: World | None = None):
        """The numbers now, in `out` (float64, contiguous) when it is given; of a clone of the view's world with `world`."""
        out = _np.empty(len(self)) if out is None else out
        _talus.view_move((world or self._world)._handle, self._handle, out, False)
        return out

    def write(self, values, world: World | None = None):
        """Commands and moves: every item of the view must be one that can be written."""
        values = _rows(values, (len(self),), "values")
        _talus.view_move((world or self._world)._handle, self._handle, values, True)


class World:
    """A world that runs: a .wbt, .wbo, .proto or .body file, or the text of one. Everything of talus/talus.h in short."""

    def __init__(self, path=None, *, text=None, name="world.wbt", stepper=None, threads=0, seed=None, search_paths=(),
                 untrusted=False, freeze_on_nan=False):
        if (path is None) == (text is None):
            raise TypeError("a world is loaded from a path or from a text")
        name = _os.fspath(path) if text is None else name
        one = isinstance(search_paths, (str, bytes, _os.PathLike))
        paths = [_os.fspath(item) for item in ([search_paths] if one else search_paths)]
        if threads < 0:
            raise ValueError(f"a world cannot run on {threads} threads")
        seed = None if seed is None else _seed(seed)
        self._handle = _talus.load(name, text, stepper, threads, seed, paths, untrusted, freeze_on_nan)
        self.path = name

    @classmethod
    def _around(cls, handle, path):
        world = cls.__new__(cls)
        world._handle = handle
        world.path = path
        return world

    def __repr__(self):
        return f"talus.World({self.path!r}: {self.time:g} s)"

    def __copy__(self):
        return self.clone()

    def clone(self) -> World:
        """One more of the same world as it is now, in microseconds per body. Its reset comes back to this moment."""
        return World._around(_talus.clone(self._handle), self.path)

    # ---- time ----

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return _talus.state(self._handle)[0]

    @property
    def steps(self) -> int:
        """Steps since load or reset."""
        return _talus.state(self._handle)[1]

    @property
    def time_step(self) -> float:
        """Seconds of one step."""
        return _talus.state(self._handle)[2]

    @property
    def hash(self) -> int:
        """Of everything that the future depends on."""
        return _talus.hash(self._handle)

    @property
    def failure(self) -> str | None:
        """Why the run has failed; None while all is well."""
        return _talus.state(self._handle)[3]

    def step(self, steps: int = 1):
        """Steps; other threads of Python run meanwhile, and Ctrl-C is heard."""
        _talus.step(self._handle, steps)

    def reset(self):
        """The state at load, of the last save, or of a clone's making."""
        _talus.reset(self._handle)

    def save(self, path):
        """The running world as a .wbt file."""
        _talus.save(self._handle, _os.fspath(path))

    def snapshot(self):
        """The state of this moment, for restore(), of this world or of another instance of it."""
        return _talus.snapshot(self._handle)

    def restore(self, snapshot):
        """The state of a snapshot() again, of this world or of another instance of it."""
        _talus.restore(self._handle, snapshot)

    def write_snapshot(self, path):
        """The state of this moment as a file."""
        _talus.snapshot_file(self._handle, _os.fspath(path), False)

    def read_snapshot(self, path):
        """The state that write_snapshot() has left in a file."""
        _talus.snapshot_file(self._handle, _os.fspath(path), True)

    @_contextlib.contextmanager
    def recording(self, path, *, every: int = 0, with_contacts: bool = False):
        """Records the run inside of a `with`: .talus, .html (one page that plays it), .glb, .csv or .mcap."""
        _talus.record_start(self._handle, _os.fspath(path), every, with_contacts)
        try:
            yield self
        finally:
            _talus.record_stop(self._handle)

    def start_controllers(self, quiet: bool = False):
        """The programs that the robots name run from the next step on, in lock step with it."""
        _talus.programs(self._handle, False, True, quiet)

    def stop_controllers(self):
        """Tells them to quit and waits for it."""
        _talus.programs(self._handle, False, False, False)

    def start_plugin(self, quiet: bool = False):
        """Loads the physics plugin that WorldInfo names, if it names one."""
        _talus.programs(self._handle, True, True, quiet)

    def stop_plugin(self):
        """Cleans it up and unloads it."""
        _talus.programs(self._handle, True, False, False)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was said about its file and its run."""
        return [Diagnostic(*row) for row in _talus.diagnostics(self._handle)]

    # ---- nodes ----

    def find(self, name: str) -> int:
        """The node of this DEF name, DEF path or Solid's name. KeyError when there is none."""
        node = _talus.find(self._handle, name)
        if node is None:
            raise KeyError(name)
        return node

    def device(self, name: str, robot: int | None = None) -> int:
        """A device of a robot by its name, of the first robot that has one. KeyError when there is none."""
        node = _talus.device(self._handle, robot, name)
        if node is None:
            raise KeyError(name)
        return node

    def _list(self, what, node=None):
        return _talus.list(self._handle, _LISTS.index(what), node)

    @property
    def solids(self) -> list[int]:
        """All solids, in file order."""
        return self._list("solids")

    @property
    def joints(self) -> list[int]:
        """All joints with an axis, in file order."""
        return self._list("joints")

    @property
    def motors(self) -> list[int]:
        """All motors, in file order."""
        return self._list("motors")

    @property
    def robots(self) -> list[int]:
        """All robots, in file order."""
        return self._list("robots")

    def devices(self, robot: int | None = None) -> list[int]:
        """The devices of a robot, or of all; their names are in the field "name"."""
        return self._list("devices", robot)

    def children(self, node: int = 0) -> list[int]:
        """The nodes in all fields of a node; those at the top without one."""
        return self._list("children", node)

    def node_type(self, node: int) -> str:
        """"HingeJoint", for example."""
        return _talus.describe(self._handle, node)[0]

    def node_def(self, node: int) -> str | None:
        """The DEF name of a node; None when it has none."""
        return _talus.describe(self._handle, node)[1]

    def label(self, node: int) -> str | None:
        """The unique name of a solid."""
        return _talus.describe(self._handle, node)[2]

    def parent(self, node: int) -> int | None:
        """The node that a node stands in; None at the root."""
        return _talus.describe(self._handle, node)[3]

    def get(self, node: int, field: str):
        """A field: bool, int, float, str, a node, or a list of floats."""
        return _talus.get_field(self._handle, node, field)

    def set(self, node: int, field: str, value):
        """Writes a field; it acts at once."""
        _talus.set_field(self._handle, node, field, value)

    def __getitem__(self, path: str) -> float:
        """A number by its path: world["ARM.physics.mass"]."""
        return _talus.get_path(self._handle, path)

    def __setitem__(self, path: str, value: float):
        _talus.set_path(self._handle, path, value)

    def insert(self, text: str, parent: int = 0, field: str = "children", index: int = -1) -> int:
        """Puts a node, written as in a world file, into a field of another."""
        return _talus.insert(self._handle, parent, field, index, text)

    def remove(self, node: int):
        """Takes a node and all below it out."""
        _talus.remove(self._handle, node)

    # ---- numbers, contacts, rays, pictures ----

    def view(self, *items) -> View:
        """Numbers in bulk: world.view("position ROBOT", "joint_position *").read()"""
        return View(self, items)

    @property
    def contacts(self) -> list[Contact]:
        """Contacts with their forces in the last step; forces are computed from the first call on."""
        return [Contact((a, b), point, normal, force) for a, b, point, normal, force in _talus.contacts(self._handle)]

    def contact_events(self) -> list[ContactEvent]:
        """Pairs of solids that began or ceased to touch since the last call; listening begins with the first."""
        return [ContactEvent(step, (a, b), begins) for step, a, b, begins in _talus.contact_events(self._handle)]

    def ray(self, origin, direction, range: float = float("inf")) -> Hit | None:
        """The first bounding object on the way."""
        hit = _talus.ray(self._handle, tuple(map(float, origin)), tuple(map(float, direction)), range)
        return Hit(*hit) if hit else None

    def render(self, width: int = 320, height: int = 240, camera: int | str | None = None):
        """What the Viewpoint or a Camera (node, or name of the device) sees: uint8 of shape height, width, 4 (red, green, blue, 255)."""
        camera = self.device(camera) if isinstance(camera, str) else camera
        pixels = _np.zeros((max(height, 0), max(width, 0), 4), _np.uint8)
        _talus.picture(self._handle, camera, width, height, pixels)
        return pixels

    def _repr_png_(self):
        return _png(self.render())


class Recorder:
    """Rows of a view, one for each step that it makes: `run = Recorder(world, "position BALL"); run.step(100); run.data`.

    In a notebook it shows itself as the replay page of the run with `replay`, which ends that recording; with `frames` as the pictures
    that it took, so many at most."""

    def __init__(self, world: World, *items, every: int = 1, frames: int = 0, size=(320, 240), camera=None, replay: bool = False):
        if every < 1:
            raise ValueError("a recorder looks at every step, or every second one, ...")
        self._replay = _contextlib.ExitStack()
        self._folder = self._html = None
        if replay:
            self._folder = _tempfile.TemporaryDirectory()
            self._replay.enter_context(world.recording(_os.path.join(self._folder.name, "run.html")))
        self.world, self.every = world, every
        self.view = world.view("time", *items)
        self._rows, self._pictures = [], []
        self._frames, self._size, self._camera, self._since = frames, size, camera, 0
        self._look()

    def _look(self):
        self._rows.append(self.view.read())
        if len(self._pictures) < self._frames:
            self._pictures.append(self.world.render(*self._size, self._camera))

    def step(self, steps: int = 1):
        """Steps the world and looks at it after every `every` of them, counted from the first."""
        while steps > 0:
            some = min(steps, self.every - self._since)
            self.world.step(some)
            steps -= some
            self._since = (self._since + some) % self.every
            if self._since == 0:
                self._look()

    @property
    def names(self) -> list[str]:
        """Of the columns of `data`."""
        return [channel.name for channel in self.view.channels]

    @property
    def data(self):
        """One row for each look, one column for each name; the first column is time in s."""
        return _np.array(self._rows)

    @property
    def pictures(self):
        """uint8 of shape frames, height, width, 4."""
        return _np.array(self._pictures)

    def save(self, path):
        """.csv, or .npz with one array for each name."""
        path = _os.fspath(path)
        if path.endswith(".csv"):
            header = ",".join(f'"{name}"' for name in self.names)
            _np.savetxt(path, self.data, delimiter=",", header=header, comments="", fmt="%.17g")
        elif path.endswith(".npz"):
            _np.savez_compressed(path, **dict(zip(self.names, self.data.T)))
        else:
            raise ValueError(f"{path}: a recording is saved as .csv or .npz")

    @property
    def page(self) -> str:
        """The replay page of the run so far, a whole HTML file; the recording behind it ends here."""
        if self._folder is None:
            raise ValueError("there is no replay page: Recorder(world, ..., replay=True) makes one")
        if self._html is None:
            self._replay.close()
            with open(_os.path.join(self._folder.name, "run.html"), encoding="utf-8") as file:
                self._html = file.read()
        return self._html

    def _repr_html_(self):
        if self._folder is not None:
            return _inside_page(self.page)
        return _frames_page(self._pictures, 1000.0 * self.every * self.world.time_step)


class Batch:
    """Clones of a world stepped together over threads. `actions` and `observations` are arrays of the library's own memory, one row for
    each world; `terminated`, `truncated`, `failed` and `episode_steps` have one item for each. World i does the same for any number of
    worlds and threads.

    terminate: {item: (low, high)}. randomise: {field path or item: (low, high)} or (change, spread, a, b) with change "set", "add" or
    "scale" and spread "uniform", "normal" or "log_uniform". autoreset: "never", "same_step" or "next_step"."""

    _AUTORESET = ("never", "same_step", "next_step")
    _CHANGES = ("set", "add", "scale")
    _SPREADS = ("uniform", "normal", "log_uniform")

    def __init__(self, world, count: int, *, actions=(), observations=(), threads: int = 0, repeat: int = 1,
                 limit: int = 0, autoreset: str = "never", seed: int = 0, terminate=None, randomise=None):
        world = world if isinstance(world, World) else World(world)
        self._handle = _talus.batch_new(world._handle, count, threads)
        self.count = count
        self.path = world.path
        self.time_step = world.time_step * repeat
        if autoreset not in self._AUTORESET:
            raise ValueError(f"autoreset is one of {', '.join(self._AUTORESET)}, not {autoreset!r}")
        self.action_channels = tuple(Channel(*row) for row in _talus.batch_items(self._handle, _items(actions), True))
        self.observation_channels = tuple(
            Channel(*row) for row in _talus.batch_items(self._handle, _items(observations), False))
        _talus.batch_rules(self._handle, self._AUTORESET.index(autoreset), repeat, limit, _seed(seed))
        for item, bounds in (terminate or {}).items():
            if _np.shape(bounds) != (2,):
                raise ValueError(f"terminate: {item!r} wants (low, high), not {bounds!r}")
            _talus.batch_terminate(self._handle, item, *bounds)
        for what, how in (randomise or {}).items():
            self._randomise(what, how)
        for name in ("actions", "observations", "final_observations", "terminated", "truncated", "failed",
                     "episode_steps"):
            array = _np.asarray(_talus.batch_block(self._handle, name))
            if name != "actions":
                array.flags.writeable = False
            setattr(self, "_" + name, array)

    def _randomise(self, what, how):
        if not isinstance(how, (tuple, list)) or len(how) not in (2, 4):
            raise ValueError(f"randomise: {what!r} wants (low, high) or (change, spread, a, b), not {how!r}")
        change, spread, a, b = ("set", "uniform", *how) if len(how) == 2 else how
        if change not in self._CHANGES or spread not in self._SPREADS:
            raise ValueError(f"{what}: {change!r} is one of {self._CHANGES}, {spread!r} one of {self._SPREADS}")
        _talus.batch_randomise(self._handle, what, self._CHANGES.index(change), self._SPREADS.index(spread), a, b)

    def __len__(self):
        return self.count

    def __repr__(self):
        return f"talus.Batch({self.path!r}: {self.count} worlds on {self.threads} threads)"

    @property
    def threads(self) -> int:
        """How many threads step the worlds."""
        return _talus.batch_about(self._handle, 0)[0]

    @property
    def actions(self):
        """float64 of shape count, actions: what the worlds are told before each step. Assigning checks shape and type."""
        return self._actions

    @actions.setter
    def actions(self, value):
        self._actions[:] = _rows(value, self._actions.shape, "actions")

    @property
    def observations(self):
        """float64 of shape count, observations; read-only, the same memory after each step."""
        return self._observations

    @property
    def final_observations(self):
        """Of worlds that were reset in the step in which they ended: the last row of their episode."""
        return self._final_observations

    @property
    def terminated(self):
        """bool, one for each world: an item of `terminate` left its range in the last step, or the world failed."""
        return self._terminated

    @property
    def truncated(self):
        """bool, one for each world: the limit of steps was reached in the last one."""
        return self._truncated

    @property
    def failed(self):
        """Whose state became not finite, and which were reset; failure(i) says why."""
        return self._failed

    @property
    def episode_steps(self):
        """uint64, one for each world: steps of the batch since its reset."""
        return self._episode_steps

    def _about(self, index):
        if not 0 <= index < self.count:
            raise IndexError(f"a batch of {self.count} has no world {index}")
        return _talus.batch_about(self._handle, index)

    def failure(self, index: int) -> str:
        """Why world `index` failed in the last step; "" when it did not."""
        return self._about(index)[2]

    def seed(self, index: int) -> int:
        """Of the episode that world `index` is in."""
        return self._about(index)[1]

    def step(self, actions=None):
        """One step of all worlds, with these actions or those in the block. Other threads of Python run meanwhile."""
        if actions is not None:
            self.actions = actions
        _talus.batch_step(self._handle)
        return self._observations

    def rollout(self, actions) -> Rollout:
        """Many steps with actions that are known before, of shape count, steps, actions: what step() does with one after the other, to the
        last bit, but each world makes its steps by itself, which is faster. The block of actions stays as it is."""
        actions = _np.asarray(actions)
        if actions.ndim != 3:
            raise ValueError(f"actions of a rollout have the shape (count, steps, actions), not {actions.shape}")
        steps = actions.shape[1]
        actions = _rows(actions, (self.count, steps, len(self.action_channels)), "actions")
        if _np.isnan(actions).any():
            world, step, column = (int(i) for i in _np.argwhere(_np.isnan(actions))[0])
            raise Error(f"action '{self.action_channels[column].name}' of world {world} in step {step} is not a number; "
                        "nothing was stepped")
        shape = self.count, steps
        rollout = Rollout(_np.empty((*shape, len(self.observation_channels))),
                          *(_np.empty(shape, dtype=_np.bool_) for _ in range(3)))
        _talus.batch_rollout(self._handle, steps, actions, *rollout)
        return rollout

    def reset(self, mask=None, seeds=None, seed: int | None = None):
        """A new episode for all, or for those in `mask`; drawn from one seed for each world, or from one for all: the same seeds begin the
        same episodes."""
        if mask is not None:
            mask = _np.ascontiguousarray(mask)
            if mask.dtype != _np.bool_ or mask.shape != (self.count,):
                raise ValueError(f"a mask has {self.count} bools, not {mask.dtype} of shape {mask.shape}")
        if seeds is not None:
            if _np.shape(seeds) != (self.count,):
                raise ValueError(f"there is one seed for each of {self.count} worlds, not {_np.shape(seeds)}")
            seeds = _np.array([_seed(item) for item in seeds], dtype=_np.uint64)
        if seed is not None:
            _talus.batch_seed(self._handle, _seed(seed))
        _talus.batch_reset(self._handle, mask, seeds)
        return self._observations

    def world(self, index: int) -> World:
        """One of the worlds, to look at or to change between steps."""
        return World._around(_talus.batch_world(self._handle, index), self.path)

    def _repr_png_(self):
        return self.world(0)._repr_png_()
