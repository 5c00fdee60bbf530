"""The Python package: worlds, views, recordings, pictures, batches and environments."""
import ast
import contextlib
import inspect
import os
import signal
import subprocess
import threading

import numpy as np
import pytest
import talus
import talus.env

TEXT = """#VRML_SIM R2025a utf8
WorldInfo { basicTimeStep 10 }
Viewpoint { position -3 0 1 }
DEF FLOOR Solid { name "floor" translation 0 0 -2 boundingObject Plane { size 20 20 } children [ Shape { geometry Plane { size 20 20 } } ] }
DEF RAIL Robot { name "rail" controller "<none>" children [
  DEF EYE Camera { name "eye" width 8 height 6 }
  DEF SLIDE SliderJoint { jointParameters JointParameters { axis 1 0 0 } device LinearMotor { name "push" maxForce 20 maxVelocity 100 }
    endPoint DEF CART Solid { name "cart" boundingObject Box { size 0.2 0.1 0.1 } physics Physics { density -1 mass 1 }
      children [ Shape { geometry Box { size 0.2 0.1 0.1 } }
        DEF HINGE HingeJoint { jointParameters HingeJointParameters { axis 0 1 0 } device PositionSensor { name "angle" }
          endPoint DEF POLE Solid { name "pole" translation 0 0 0.5 boundingObject Box { size 0.02 0.02 1 } physics Physics { density -1 mass 0.1 } } } ] } } ] }
DEF BALL Solid { name "ball" translation 3 0 0 boundingObject Sphere { radius 0.1 } physics Physics { } }
"""
# A build without npm has no page that plays a run.
HAS_PAGE = "bundled" in subprocess.run([os.environ["TALUS_PROGRAM"], "doctor"], capture_output=True, text=True).stdout
ACTIONS = ["motor_force push"]
OBSERVATIONS = ["joint_position SLIDE", "joint_velocity SLIDE", "joint_position HINGE", "joint_velocity HINGE"]


@pytest.fixture
def ctrl_c():
    """A program in the background may have been started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def world():
    return talus.World(text=TEXT)


def batch(world, count=4, **options):
    return talus.Batch(world, count, actions=ACTIONS, observations=OBSERVATIONS, **options)


def test_a_world_is_loaded_and_stepped(world):
    assert world.steps == 0 and world.time_step == 0.01 and world.failure is None and world.diagnostics == []
    world.step(5)
    assert world.steps == 5 and world.time == 0.05
    first = world.hash
    world.reset()
    world.step(5)
    assert world.hash == first and "world.wbt" in repr(world)


def test_what_cannot_be_loaded_says_why(tmp_path):
    with pytest.raises(talus.Error, match="none.wbt"):
        talus.World(tmp_path / "none.wbt")
    with pytest.raises(TypeError):
        talus.World()
    with pytest.raises(talus.Error, match="stepper"):
        talus.World(text=TEXT, stepper="nobody")
    with pytest.raises(ValueError):
        talus.World(text=TEXT).step(-1)


def test_nodes_are_found_listed_and_changed(world):
    cart = world.find("CART")
    assert world.node_type(cart) == "Solid" and world.node_def(cart) == "CART" and world.label(cart)
    assert world.node_type(world.parent(cart)) == "SliderJoint" and world.parent(0) is None
    assert len(world.joints) == 2 and len(world.motors) == 1 and world.robots == [world.find("RAIL")]
    assert [world.get(d, "name") for d in world.devices()] == ["eye", "push", "angle"]
    assert world.find("RAIL") in world.children()
    with pytest.raises(KeyError):
        world.find("NOBODY")
    with pytest.raises(KeyError):
        world.device("nothing")
    assert world["CART.physics.mass"] == 1.0
    world["CART.physics.mass"] = 2
    assert world["CART.physics.mass"] == 2.0
    with pytest.raises(talus.Error, match="weight"):
        world["CART.physics.weight"]
    ball = world.find("BALL")
    world.set(ball, "translation", [4, 0, 1])
    assert world.get(ball, "translation") == [4, 0, 1] and world.get(ball, "name") == "ball"
    node = world.insert('Solid { name "new" }')
    assert world.find("new") == node
    world.remove(node)
    with pytest.raises(talus.Error):
        world.set(ball, "no such field", 1)
    with pytest.raises(talus.Error):
        world.insert("Nonsense {")


def test_clones_and_snapshots(world, tmp_path):
    world.step(10)
    copy, taken = world.clone(), world.snapshot()
    assert copy.hash == world.hash
    world.step(10)
    copy.step(10)
    assert copy.hash == world.hash
    world.restore(taken)
    assert world.steps == 10
    world.write_snapshot(tmp_path / "a.snap")
    world.step(3)
    world.read_snapshot(tmp_path / "a.snap")
    assert world.steps == 10
    world.save(tmp_path / "saved.wbt")
    assert talus.World(tmp_path / "saved.wbt").find("CART")
    with pytest.raises(TypeError):
        world.restore("no snapshot")


def test_views_read_and_write(world):
    view = world.view("position BALL", "joint_position *", "sensor angle")
    assert [c.name for c in view.channels][:3] == ["position BALL.x", "position BALL.y", "position BALL.z"]
    assert view.read()[0] == 3.0
    out = np.zeros(len(view))
    assert view.read(out) is out
    world.view("motor_force *").write([5.0])
    world.step(10)
    assert view.read()[3] > 0.0
    assert view.read(world=world.clone())[0] == 3.0
    for wrong in ([1, 2], ["a"], np.zeros((1, 1))):
        with pytest.raises((ValueError, TypeError)):
            world.view("motor_force *").write(wrong)
    for wrong in (np.zeros(3), np.zeros(len(view), np.float32), bytes(8 * len(view))):
        with pytest.raises((ValueError, BufferError)):
            view.read(wrong)
    with pytest.raises(talus.Error, match="not a number"):
        world.view("motor_force *").write([np.nan])
    with pytest.raises(talus.Error, match="quantity"):
        world.view("speed BALL")


def test_contacts_and_rays(world):
    world.contact_events()
    world.contacts
    world.step(90)
    events = world.contact_events()
    assert events[0].begins and set(events[0].solids) == {world.find("BALL"), world.find("FLOOR")}
    assert sum(c.force[2] for c in world.contacts) != 0.0
    hit = world.ray((3, 0, 5), (0, 0, -1))
    assert hit.solid == world.find("BALL") and hit.normal[2] > 0.9
    assert world.ray((3, 0, 5), (0, 0, 1)) is None
    with pytest.raises(talus.Error, match="direction"):
        world.ray((0, 0, 0), (0, 0, 0))


def test_pictures_and_recordings(world, tmp_path):
    picture = world.render(32, 24)
    assert picture.shape == (24, 32, 4) and picture.dtype == np.uint8 and picture.std() > 0
    assert world.render(16, 12, "eye").shape == (12, 16, 4)
    assert world._repr_png_().startswith(b"\x89PNG")
    with pytest.raises((talus.Error, ValueError)):
        world.render(0, 5)
    run = talus.Recorder(world, "position BALL", every=2, frames=2, size=(16, 12))
    run.step(10)
    assert run.data.shape == (6, 4) and run.data[-1, 0] == pytest.approx(0.1) and run.pictures.shape == (2, 12, 16, 4)
    run.save(tmp_path / "run.csv")
    run.save(tmp_path / "run.npz")
    assert np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1).shape == (6, 4)
    assert np.load(tmp_path / "run.npz")["time"][-1] == pytest.approx(0.1)
    assert "data:image/png;base64" in run._repr_html_()
    with pytest.raises(ValueError):
        run.save(tmp_path / "run.txt")


def test_blocks_are_the_librarys_memory(world):
    many = batch(world, 3, threads=2)
    observations = many.observations
    assert observations.shape == (3, 4) and not observations.flags.owndata and not observations.flags.writeable
    many.actions[:] = [[1], [2], [3]]
    many.step()
    assert many.observations is observations and (np.diff(observations[:, 1]) > 0).all()
    del many
    assert observations.sum() != 0.0  # the array keeps its batch


def test_a_rollout_is_its_steps_one_by_one(world):
    rules = dict(terminate={"joint_position SLIDE": (-0.2, 0.2)}, limit=30, autoreset="same_step", seed=3,
                 randomise={"joint_position HINGE": (-0.3, 0.3)})
    actions = np.sin(np.arange(5 * 70).reshape(5, 70, 1))
    one, many = batch(world, 5, threads=1, **rules), batch(world, 5, threads=2, **rules)
    rows, ends = [], []
    for k in range(70):
        rows.append(one.step(actions[:, k]).copy())
        ends.append((one.terminated.copy(), one.truncated.copy(), one.failed.copy()))
    rollout = many.rollout(actions)
    assert rollout.observations.shape == (5, 70, 4) and (rollout.observations == np.stack(rows, axis=1)).all()
    for k, flags in enumerate((rollout.terminated, rollout.truncated, rollout.failed)):
        assert flags.shape == (5, 70) and (flags == np.stack([end[k] for end in ends], axis=1)).all()
    assert rollout.truncated.any() and [many.world(i).hash for i in range(5)] == [one.world(i).hash for i in range(5)]
    assert (many.observations == rollout.observations[:, -1]).all() and not many.actions.any()


def test_a_rollout_says_what_is_wrong(world):
    many = batch(world)
    before = many.world(0).hash
    for wrong in (np.zeros((4, 1)), np.zeros((4, 3, 2)), np.zeros((3, 3, 1)), [[["a"]]] * 4):
        with pytest.raises((ValueError, TypeError)):
            many.rollout(wrong)
    actions = np.zeros((4, 9, 1))
    actions[2, 7, 0] = np.nan
    with pytest.raises(talus.Error, match="of world 2 in step 7 is not a number"):
        many.rollout(actions)
    assert many.world(0).hash == before and many.rollout(np.zeros((4, 0, 1))).terminated.shape == (4, 0)
    with pytest.raises(ValueError, match="bytes"):
        talus._talus.batch_rollout(many._handle, 2, *(np.zeros(1) for _ in range(5)))


def test_a_batch_says_what_is_wrong(world):
    many = batch(world)
    before = many.world(0).hash
    for wrong in (np.zeros(4), np.zeros((4, 2)), [["a"]] * 4):
        with pytest.raises((ValueError, TypeError)):
            many.step(wrong)
    with pytest.raises(talus.Error, match="of world 2 is not a number"):
        many.step([[0], [0], [np.nan], [0]])
    assert many.world(0).hash == before
    with pytest.raises(ValueError, match="mask"):
        many.reset(mask=[True])
    with pytest.raises(ValueError):
        many.reset(seeds=[1])
    with pytest.raises(talus.Error):
        batch(world, 0)
    with pytest.raises(talus.Error, match="holds nothing"):
        batch(world, terminate={"time": (1, 0)})
    with pytest.raises(talus.Error, match="weight"):
        batch(world, randomise={"CART.physics.weight": (0, 1)})
    with pytest.raises(ValueError, match="autoreset"):
        batch(world, autoreset="perhaps")
    with pytest.raises(talus.Error):
        many.world(9)


def test_a_batch_refuses_senseless_rules(world):
    assert batch(world, 2, terminate={"time": (0, 1)}).threads >= 1
    assert talus.Batch(world, 2, actions="motor_force push", observations="time").observations.shape == (2, 1)
    many = batch(world)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match="seed"):
            batch(world, seed=seed)
        with pytest.raises(ValueError, match="seed"):
            many.reset(seed=seed)
        with pytest.raises(ValueError, match="seed"):
            talus.World(text=TEXT, seed=seed)
    for seeds in ([1, 2, 3, -1], [[1], [2], [3], [4]], [1, 2]):
        with pytest.raises(ValueError, match="seed"):
            many.reset(seeds=seeds)
    with pytest.raises(TypeError):
        many.reset(seeds=[1.5, 2, 3, 4])
    for rule in (3, (1,), (1, 2, 3)):
        with pytest.raises(ValueError, match="wants"):
            batch(world, terminate={"time": rule})
        with pytest.raises(ValueError, match="wants"):
            batch(world, randomise={"CART.physics.mass": rule})
    for index in (-1, 4):
        for ask in (many.failure, many.seed):
            with pytest.raises(IndexError):
                ask(index)
    with pytest.raises(ValueError, match="threads"):
        talus.World(text=TEXT, threads=-1)


def test_a_world_changed_under_a_batch_is_told_and_put_back(world):
    many = batch(world)
    changed = many.world(2)
    changed.remove(changed.find("HINGE"))
    many.step(np.zeros((4, 1)))
    assert many.failed.tolist() == [False, False, True, False] and "does not fit" in many.failure(2)
    many.step(np.zeros((4, 1)))
    assert not many.failed.any() and many.world(2).find("HINGE")


def test_the_same_seed_begins_the_same_episodes(world):
    def some(many, **how):
        rows = [many.reset(**how).copy()]
        for _ in range(2):
            rows.append(many.reset().copy())
        return np.array(rows)

    rules = dict(randomise={"joint_position HINGE": (-0.1, 0.1)})
    many, other = batch(world, 3, **rules), batch(world, 3, **rules)
    first = some(many, seed=7)
    assert np.array_equal(some(many, seed=7), first) and np.array_equal(some(other, seed=7), first)
    assert len(np.unique(first[:, :, 2])) == 9 and not np.array_equal(some(many, seed=8), first)
    own = some(many, seeds=[5, 6, 5])
    assert np.array_equal(own[:, 0], own[:, 2]) and np.array_equal(some(other, seeds=[5, 6, 5]), own) and many.seed(0) == other.seed(0)


def test_world_i_is_the_same_among_few_and_many(world):
    rules = dict(terminate={"joint_position HINGE": (-0.3, 0.3)}, limit=50, seed=3, autoreset="same_step",
                 randomise={"CART.physics.mass": ("scale", "uniform", 0.5, 2), "joint_position HINGE": (-0.1, 0.1)})
    ends = []
    for count, threads in ((2, 1), (2, 2), (9, 1), (9, 4)):
        many = batch(world, count, threads=threads, **rules)
        many.reset()
        for i in range(80):
            many.step(np.sin(0.1 * i + np.arange(count))[:, None])
        ends.append((many.world(1).hash, many.observations[1].tobytes(), many.seed(1)))
    assert len(set(ends)) == 1


@contextlib.contextmanager
def stepped_by_another_thread(world):
    """That thread steps until the block ends, however long a busy machine lets others wait; what refuses it, it tries again."""
    def run():
        while not over.is_set():
            with contextlib.suppress(talus.Error):
                world.step(1000)

    over = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def wait_until_refused(use):
    while True:
        try:
            use()
        except talus.Error as error:
            assert "another thread" in str(error)
            return


def test_a_handle_is_used_by_one_thread(world):
    with stepped_by_another_thread(world):
        wait_until_refused(lambda: world.hash)
    assert world.hash


def test_worlds_of_a_batch_are_in_use_together(world):
    many = batch(world)
    one, again = many.world(0), many.world(0)
    with stepped_by_another_thread(one):
        wait_until_refused(many.step)
        wait_until_refused(lambda: again.hash)
    many.step()


def test_ctrl_c_ends_a_long_step(world, ctrl_c):
    def interrupt():
        while not started.is_set():
            pass
        os.kill(os.getpid(), signal.SIGINT)

    started = threading.Event()
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        started.set()
        world.step(10**12)
    thread.join()
    assert world.hash  # it can be used again


@pytest.mark.parametrize("act", [lambda many: many.step(), lambda many: many.rollout(np.zeros((16, 1000, 1)))],
                         ids=["steps", "rollouts"])
def test_ctrl_c_ends_a_loop_over_a_batch(world, act, ctrl_c):
    def interrupt():
        while not many.episode_steps[0]:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    many = batch(world, 16)
    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        while True:
            act(many)
    thread.join()
    many.step()


def test_a_recorder_looks_at_every_few_steps(world):
    run = talus.Recorder(world, every=3)
    run.step(10)
    assert world.steps == 10 and run.data[:, 0] == pytest.approx([0, 0.03, 0.06, 0.09])
    run.step(2)
    assert run.data[-1, 0] == pytest.approx(0.12)


def test_a_run_is_recorded_and_shows_itself_as_its_replay_page(world, tmp_path):
    alone = world.clone()
    alone.step(20)
    for ending in ("talus", "glb", "csv", "mcap") + HAS_PAGE * ("html",):
        copy = world.clone()
        with copy.recording(tmp_path / f"run.{ending}"):
            copy.step(20)
            with pytest.raises(talus.Error, match="already"):
                with copy.recording(tmp_path / "second.talus"):
                    pass
        assert (tmp_path / f"run.{ending}").stat().st_size > 100 and copy.hash == alone.hash
    for wrong in ("run.txt", "nowhere/run.html", "nowhere/run.talus"):
        with pytest.raises(talus.Error):
            with world.recording(tmp_path / wrong):
                pass
    if not HAS_PAGE:
        pytest.skip("no browser page in this build")
    run = talus.Recorder(world, "position BALL", replay=True)
    run.step(5)
    assert run.page.lstrip().lower().startswith("<!doctype html") and run._repr_html_().startswith("<iframe")
    run.step(5)
    assert run.data.shape == (11, 4)
    with pytest.raises(ValueError, match="replay"):
        talus.Recorder(world).page


def test_controllers_are_started_from_python(tmp_path, monkeypatch):
    (tmp_path / "worlds").mkdir()
    (tmp_path / "controllers" / "push").mkdir(parents=True)
    (tmp_path / "worlds" / "w.wbt").write_text(TEXT.replace('controller "<none>"', 'controller "push"'))
    (tmp_path / "controllers" / "push" / "push.py").write_text(
        "from controller import Robot\nrobot = Robot()\nmotor = robot.getDevice('push')\n"
        "while robot.step(10) != -1:\n    motor.setForce(5)\n")
    monkeypatch.delenv("PYTHONPATH", raising=False)  # the library knows where its parts are
    world = talus.World(tmp_path / "worlds" / "w.wbt")
    world.start_plugin()
    world.start_controllers(quiet=True)
    world.step(30)
    world.stop_controllers()
    world.stop_plugin()
    assert world.view("joint_position SLIDE").read()[0] > 0.01


def test_stubs_docstrings_and_abi(world):
    folder = os.path.dirname(talus.__file__)
    with open(os.path.join(folder, "_talus.pyi")) as file:
        stubs = {node.name: node for node in ast.parse(file.read()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    public = {name for name in dir(talus._talus) if not name.startswith("_")}
    assert set(stubs) == public
    for name, stub in stubs.items():  # no function takes more or fewer arguments than its stub has
        if isinstance(stub, ast.FunctionDef):
            for count in {len(stub.args.args) - 1, len(stub.args.args) + 1} - {-1}:
                with pytest.raises(TypeError):
                    getattr(talus._talus, name)(*[None] * count)
    for thing in [talus.World, talus.Batch, talus.View, talus.Recorder, talus.env.Env, talus.env.VectorEnv]:
        assert thing.__doc__
        for name, value in vars(thing).items():
            if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{thing.__name__}.{name} has no docstring"
    extension = talus._talus.__file__
    assert extension.endswith(".abi3.so")
    said = subprocess.run(["nm", "-D", "--undefined-only", extension], capture_output=True, text=True)
    private = {line.split()[-1] for line in said.stdout.splitlines() if line.split()[-1].startswith("_Py")}
    assert private <= {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_PyArg_ParseTuple_SizeT",
                       "_Py_BuildValue_SizeT"}


def reward(observations, actions):
    return 1.0 - np.abs(observations[:, 2])


def test_env_has_gymnasiums_shape(world):
    env = talus.env.Env(world, actions=ACTIONS, observations=OBSERVATIONS, reward=reward, limit=20,
                        randomise={"joint_position HINGE": (-0.1, 0.1)})
    assert env.action_space.low[0] == -20 and env.observation_space.shape == (4,)
    first, info = env.reset(seed=5)
    assert first.shape == (4,) and info == {} and env.observation_space.contains(first)
    again, _ = env.reset(seed=5)
    other, _ = env.reset(seed=6)
    assert (first == again).all() and (first != other).any()
    env.action_space.seed(1)
    for i in range(20):
        observation, value, terminated, truncated, info = env.step(env.action_space.sample())
        assert isinstance(value, float) and isinstance(terminated, bool)
    assert truncated and not terminated
    for wrong in 0.5, [0.5, 0.5], [[0.5]]:
        with pytest.raises(ValueError, match=r"an action has the shape \(1,\), not"):
            env.step(wrong)
    assert env.render().shape == (240, 320, 3)
    env.close()


@pytest.mark.parametrize("mode", ["never", "same_step", "next_step"])
def test_vector_env_resets_itself(world, mode):
    env = talus.env.VectorEnv(world, 3, actions=ACTIONS, observations=OBSERVATIONS, reward=reward, limit=4, autoreset=mode)
    observations, _ = env.reset(seed=1)
    start = observations.copy()
    assert env.action_space.shape == (3, 1) and env.observation_space.shape == (3, 4)
    for i in range(4):
        observations, rewards, terminated, truncated, info = env.step(np.full((3, 1), 3.0))
        assert rewards.shape == (3,) and truncated.all() == (i == 3)
    assert np.array_equal(observations, start) == (mode == "same_step") and ("final_obs" in info) == (mode == "same_step")
    observations, rewards, terminated, truncated, info = env.step(np.full((3, 1), 3.0))
    assert np.array_equal(observations, start) == (mode == "next_step")
    assert (rewards == 0).all() == (mode == "next_step")
    env.close()
