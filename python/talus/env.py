"""Environments in the shape of gymnasium's Env and VectorEnv: of gymnasium itself when it is installed, else with spaces of our own.

    env = talus.env.VectorEnv("world.wbt", 64, actions=[...], observations=[...], reward=lambda o, a: o[:, 0])
    observations, info = env.reset(seed=1)
    observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())

`reward` gets observations and actions, one row for each world, and returns one number for each."""
from __future__ import annotations

import numpy as np

from . import Batch, World

try:
    import gymnasium as _gym
    from gymnasium.spaces import Box
    from gymnasium.vector.utils import batch_space as _batch_space
    _Env, _VectorEnv = _gym.Env, _gym.vector.VectorEnv
    _AutoresetMode = getattr(_gym.vector, "AutoresetMode", None)
except ImportError:
    _gym = _AutoresetMode = None
    _Env = _VectorEnv = object

    class Box:
        """Numbers between bounds, with gymnasium's names."""

        def __init__(self, low, high, shape=None, dtype=np.float64, seed=None):
            shape = np.shape(low) if shape is None else shape
            self.low = np.broadcast_to(np.asarray(low, dtype), shape).copy()
            self.high = np.broadcast_to(np.asarray(high, dtype), shape).copy()
            self.shape, self.dtype = tuple(shape), np.dtype(dtype)
            self._random = np.random.default_rng(seed)

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)

        def sample(self):
            """Uniform between two bounds, exponential beside one, normal without any."""
            low, high = np.isfinite(self.low), np.isfinite(self.high)
            value = self._random.normal(size=self.shape)
            tail = self._random.exponential(size=self.shape)
            value = np.where(low & ~high, np.where(low, self.low, 0) + tail, value)
            value = np.where(high & ~low, np.where(high, self.high, 0) - tail, value)
            both = low & high
            span = self._random.random(self.shape)
            inside = np.where(both, self.low, 0) + span * (np.where(both, self.high, 0) - np.where(both, self.low, 0))
            return np.where(both, inside, value).astype(self.dtype)

        def contains(self, value):
            value = np.asarray(value)
            return value.shape == self.shape and bool(np.all(value >= self.low) and np.all(value <= self.high))

        __contains__ = contains

        def __repr__(self):
            return f"Box({self.low.min(initial=np.inf):g}, {self.high.max(initial=-np.inf):g}, {self.shape}, {self.dtype})"

    def _batch_space(space, count):
        return Box(np.tile(space.low, (count, 1)), np.tile(space.high, (count, 1)), dtype=space.dtype)


def _space(channels):
    return Box(np.array([c.low for c in channels]), np.array([c.high for c in channels]), dtype=np.float64)


def _no_reward(observations, actions):
    return np.zeros(len(observations))


class VectorEnv(_VectorEnv):
    """Many worlds as one environment. Keywords are those of talus.Batch, and `reward`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    render_mode = "rgb_array"

    def __init__(self, world, num_envs: int, *, reward=_no_reward, autoreset: str = "next_step", **options):
        self.batch = Batch(world, num_envs, autoreset=autoreset, **options)
        self.num_envs = num_envs
        self.reward = reward
        self.single_observation_space = _space(self.batch.observation_channels)
        self.single_action_space = _space(self.batch.action_channels)
        self.observation_space = _batch_space(self.single_observation_space, num_envs)
        self.action_space = _batch_space(self.single_action_space, num_envs)
        mode = {"never": "DISABLED", "same_step": "SAME_STEP", "next_step": "NEXT_STEP"}[autoreset]
        self.metadata = dict(self.metadata, autoreset_mode=getattr(_AutoresetMode, mode) if _AutoresetMode else mode)
        self._autoreset = autoreset
        self.closed = False

    def reset(self, *, seed=None, options=None):
        """A new episode for all; for those in options["reset_mask"] when it is there. `seed`: one, or one for each."""
        mask = (options or {}).get("reset_mask")
        many = seed is not None and np.ndim(seed) > 0
        self.batch.reset(mask=mask, seeds=seed if many else None, seed=None if many else seed)
        return self.batch.observations.copy(), {}

    def step(self, actions):
        """Observations, rewards, terminated, truncated, info. A row that was reset in this step has reward 0 with next_step, and with
        same_step its last observation in info["final_obs"]."""
        if actions is None:
            raise TypeError("a step wants actions, one row for each world")
        batch = self.batch
        before = batch.episode_steps.copy()
        batch.step(actions)
        over = batch.terminated | batch.truncated
        observations = batch.observations.copy()
        last = observations
        info = {}
        if self._autoreset == "same_step" and over.any():
            last = np.where(over[:, None], batch.final_observations, observations)
            info = {"final_obs": last.copy(), "_final_obs": over.copy()}
        if batch.failed.any():
            info["failure"] = [batch.failure(i) if bad else "" for i, bad in enumerate(batch.failed)]
        rewards = np.array(self.reward(last, batch.actions), dtype=np.float64)
        if rewards.shape != (self.num_envs,):
            raise ValueError(f"reward gave the shape {rewards.shape}, not one number for each of {self.num_envs} worlds")
        rewards[batch.failed] = 0.0
        if self._autoreset == "next_step":
            rewards[(batch.episode_steps == 0) & (before > 0) & ~over] = 0.0
        return observations, rewards, batch.terminated.copy(), batch.truncated.copy(), info

    def render(self):
        """Pictures of the worlds, as many as 9 of them."""
        return tuple(self.batch.world(i).render()[:, :, :3] for i in range(min(9, self.num_envs)))

    def close(self, **_):
        """No step follows."""
        self.closed = True


class Env(_Env):
    """One world as an environment. Keywords are those of talus.Batch, and `reward`, which gets rows of one world."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    render_mode = "rgb_array"

    def __init__(self, world, *, reward=_no_reward, **options):
        self._many = VectorEnv(world, 1, reward=reward, autoreset="never", threads=1, **options)
        self.observation_space = self._many.single_observation_space
        self.action_space = self._many.single_action_space

    @property
    def world(self) -> World:
        """The world itself, to look at."""
        return self._many.batch.world(0)

    def reset(self, *, seed=None, options=None):
        """A new episode; the same seed begins the same one."""
        if _gym:
            super().reset(seed=seed)
        observations, info = self._many.reset(seed=None if seed is None else [seed])
        return observations[0], info

    def step(self, action):
        """Observation, reward, terminated, truncated, info."""
        action = np.asarray(action, dtype=np.float64)
        if action.shape != self.action_space.shape:
            raise ValueError(f"an action has the shape {self.action_space.shape}, not {action.shape}")
        observations, rewards, terminated, truncated, info = self._many.step(action[None])
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self):
        """What the Viewpoint sees, as an array."""
        return self.world.render()[:, :, :3]

    def close(self):
        """Nothing is held that is not freed with the environment."""
