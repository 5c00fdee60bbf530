"""Learns to balance a pole, to walk on four legs, or to hold a Choreonoid arm up, from nothing, in seconds to minutes:

    python3 examples/learning/learn.py cart_pole
    python3 examples/learning/learn.py quadruped --generations 60
    python3 examples/learning/learn.py reacher --curve reacher.svg
"""
import argparse
import os

import numpy as np
import talus
from strategy import Policy, train, write_curve

HERE = os.path.dirname(os.path.abspath(__file__))


class CartPole:
    """A pole on a cart that is pushed: the longer it stands, the better."""
    title, worlds, generations, goal, steps = "cart and pole", 64, 60, 380.0, 400

    def __init__(self, threads):
        self.batch = talus.Batch(
            os.path.join(HERE, "worlds", "cart_pole.wbt"), self.worlds, threads=threads, actions=["motor_force push"],
            observations=["joint_position SLIDE", "joint_velocity SLIDE", "joint_position HINGE", "joint_velocity HINGE"],
            terminate={"joint_position HINGE": (-0.5, 0.5), "joint_position SLIDE": (-2.4, 2.4)},
            randomise={"joint_position HINGE": (-0.1, 0.1)})
        self.policy = Policy(4, 1)

    def episode(self, weights):
        batch = self.batch
        batch.reset()
        returns = np.zeros(self.worlds)
        for _ in range(self.steps):
            batch.step(20.0 * self.policy(weights, batch.observations * [1.0, 0.5, 5.0, 1.0]))
            returns += ~batch.terminated
            if batch.terminated.all():
                break
        return returns


class Quadruped:
    """Four legs with hip and knee, driven by a rhythm: the farther forward within four seconds, the better."""
    title, worlds, generations, goal, steps = "quadruped", 64, 40, None, 100

    def __init__(self, threads):
        self.batch = talus.Batch(
            os.path.join(HERE, "..", "quadruped", "worlds", "quadruped.wbt"), self.worlds, threads=threads, repeat=5,
            actions=["motor_position QUADRUPED.*"],
            observations=["position QUADRUPED", "orientation QUADRUPED", "linear_velocity QUADRUPED", "joint_position QUADRUPED.*"],
            terminate={"touching QUADRUPED": (0.0, 0.5)})
        self.policy = Policy(4 + 8, 8)

    def episode(self, weights):
        batch = self.batch
        batch.reset()
        start, alive = batch.observations[:, 0].copy(), np.zeros(self.worlds)
        last = start.copy()
        inputs = np.zeros((self.worlds, 12))
        for step in range(self.steps):
            phase = 2 * np.pi * 2.0 * step * batch.time_step
            inputs[:, :4] = np.sin(phase), np.cos(phase), np.sin(2 * phase), 1.0
            inputs[:, 4:] = batch.observations[:, 10:18]
            batch.step(0.7 * self.policy(weights, inputs))
            alive += ~batch.terminated
            last = np.where(batch.terminated, last, batch.observations[:, 0])
        return 10.0 * (last - start) + 0.02 * alive


class Reacher:
    """A Choreonoid body: two links that hang down are to be swung up and held there by small torques."""
    title, worlds, generations, goal, steps = "reacher (Choreonoid)", 64, 80, None, 150

    def __init__(self, threads):
        self.batch = talus.Batch(
            os.path.join(HERE, "models", "reacher.body"), self.worlds, threads=threads, repeat=4,
            actions=["motor_force *"], observations=["joint_position *", "joint_velocity *", "position ELBOW"])
        self.policy = Policy(6, 8, 2)

    def episode(self, weights):
        batch = self.batch
        batch.reset()
        returns = np.zeros(self.worlds)
        for _ in range(self.steps):
            angle, speed = batch.observations[:, :2], batch.observations[:, 2:4]
            inputs = np.concatenate([np.sin(angle), np.cos(angle), 0.2 * speed], axis=1)
            batch.step([12.0, 6.0] * self.policy(weights, inputs))
            returns += batch.observations[:, 6] - 0.001 * (speed**2).sum(axis=1)
        return returns / self.steps


TASKS = {"cart_pole": CartPole, "quadruped": Quadruped, "reacher": Reacher}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--generations", type=int)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--curve", help="an SVG file for the return over generations")
    options = parser.parse_args()
    task = TASKS[options.task](options.threads)
    weights, curve = train(task.episode, task.policy.size, task.worlds, options.generations or task.generations, goal=task.goal)
    print(f"{task.title}: mean return {curve[0, 0]:.2f} at first, {curve[-1, 0]:.2f} after {len(curve)} generations")
    if options.curve:
        write_curve(options.curve, curve, task.title)


if __name__ == "__main__":
    main()
