"""A small evolution strategy in NumPy: each world of a batch tries one set of weights; mirrored pairs, ranks in place of returns, Adam."""
import time

import numpy as np


class Policy:
    """Layers of tanh, one set of weights for each world: actions of all worlds in one go."""

    def __init__(self, *sizes):
        self.shapes = list(zip(sizes[:-1], sizes[1:]))
        self.size = sum((n + 1) * m for n, m in self.shapes)

    def __call__(self, weights, inputs):
        at, x = 0, inputs
        for n, m in self.shapes:
            w = weights[:, at:at + n * m].reshape(-1, n, m)
            b = weights[:, at + n * m:at + (n + 1) * m]
            x = np.tanh(np.einsum("ki,kij->kj", x, w) + b)
            at += (n + 1) * m
        return x


def train(episode, size, worlds, generations, sigma=0.1, rate=0.05, seed=1, goal=None, say=print):
    """Improves `size` weights; episode(weights of all worlds) returns one number for each. Gives the weights and the curve."""
    random = np.random.default_rng(seed)
    mean, m, v = np.zeros(size), np.zeros(size), np.zeros(size)
    ranks = np.linspace(-0.5, 0.5, worlds)
    curve, start = [], time.perf_counter()
    for generation in range(1, generations + 1):
        half = random.normal(size=(worlds // 2, size))
        noise = np.concatenate([half, -half])
        returns = episode(mean + sigma * noise)
        score = np.empty(worlds)
        score[np.argsort(returns, kind="stable")] = ranks
        gradient = score @ noise / (worlds * sigma)
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
        mean = mean + rate * (m / (1 - 0.9**generation)) / (np.sqrt(v / (1 - 0.99**generation)) + 1e-8)
        curve.append((returns.mean(), returns.max()))
        if generation % 10 == 0 or generation == 1:
            say(f"generation {generation:4d}: mean {returns.mean():8.2f}, best {returns.max():8.2f}, {time.perf_counter() - start:5.1f} s")
        if goal is not None and returns.mean() >= goal:
            break
    return mean, np.array(curve)


def write_curve(path, curve, title):
    """The return over generations as an SVG file: mean and best."""
    width, height, left, bottom = 640, 320, 60, 40
    low, high = curve.min(), max(curve.max(), curve.min() + 1e-9)
    x = left + (width - left - 20) * np.arange(len(curve)) / max(1, len(curve) - 1)
    y = 30 + (height - bottom - 30) * (high - curve) / (high - low)
    lines = "".join(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="'
                    + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y[:, k])) + '"/>\n'
                    for k, color in enumerate(("#1f77b4", "#ff7f0e")))
    ticks = "".join(f'<text x="{left - 6}" y="{30 + (height - bottom - 30) * i / 4 + 4:.1f}" text-anchor="end">{high - (high - low) * i / 4:.3g}</text>\n'
                    for i in range(5))
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">\n'
                   f'<rect width="{width}" height="{height}" fill="white"/>\n{ticks}{lines}'
                   f'<text x="{left}" y="18">{title}: mean (blue) and best (orange) return</text>\n'
                   f'<text x="{width // 2}" y="{height - 10}" text-anchor="middle">{len(curve)} generations</text>\n</svg>\n')
