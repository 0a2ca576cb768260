"""i h_t + h_xx / 2 + |h|² h = 0 with h = u + iv, a moving bright soliton."""

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class NonlinearSchroedinger(Problem):
    """i h_t + h_xx / 2 + |h|² h = 0 with h = u + iv, a moving bright soliton."""

    amplitude: float = 1.5
    speed: float = 1.0
    domain = Box(x=(-5, 5), t=(0, 2))

    def soliton(self, x, t):
        a, c = self.amplitude, self.speed
        phase = c * x + (a**2 - c**2) * t / 2
        return a / jnp.cosh(a * (x + 1 - c * t)) * jnp.stack([jnp.cos(phase), jnp.sin(phase)])

    def equation(self, u, v, x, t):
        square = u**2 + v**2
        return u.t + v.xx / 2 + square * v, v.t - u.xx / 2 - square * u

    def conditions(self):
        start = initial(lambda x: list(self.soliton(x, 0.0)))
        return [start, dirichlet(lambda x, t: list(self.soliton(x, t)))]

    def reference(self):
        return exact(self.soliton)
