"""i h_t = -h_xx / 2 + x² h / 2 with h = u + iv: a coherent state, which swings to and fro."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class HarmonicOscillator(Problem):
    """i h_t = -h_xx / 2 + x² h / 2 with h = u + iv: a coherent state, which swings to and fro."""

    displacement: float = 2.0
    domain = Box(x=(-6, 6), t=(0, pi))

    def state(self, x, t):
        a = self.displacement
        size = pi**-0.25 * jnp.exp(-((x - a * jnp.cos(t)) ** 2) / 2)
        phase = -t / 2 - a * x * jnp.sin(t) + a**2 * jnp.sin(2 * t) / 4
        return size * jnp.stack([jnp.cos(phase), jnp.sin(phase)])

    def equation(self, u, v, x, t):
        return u.t + v.xx / 2 - x**2 * v / 2, v.t - u.xx / 2 + x**2 * u / 2

    def conditions(self):
        start = initial(lambda x: list(self.state(x, 0.0)))
        return [start, dirichlet(lambda x, t: list(self.state(x, t)))]

    def reference(self):
        return exact(self.state)
