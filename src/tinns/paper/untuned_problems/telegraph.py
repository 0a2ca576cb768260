"""u_tt + d u_t = c² u_xx, a damped standing wave."""

from math import pi, sqrt

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial, initial_velocity


class Telegraph(Problem):
    """u_tt + d u_t = c² u_xx, a damped standing wave."""

    c: float = 1.0
    d: float = 2.0
    domain = Box(x=(0, 1), t=(0, 2))

    def wave(self, x, t):
        frequency = sqrt((2 * pi * self.c) ** 2 - self.d**2 / 4)
        return jnp.exp(-self.d * t / 2) * jnp.cos(frequency * t) * jnp.sin(2 * pi * x)

    def equation(self, u, x, t):
        return u.tt + self.d * u.t - self.c**2 * u.xx

    def conditions(self):
        return [
            initial(lambda x: self.wave(x, 0.0)),
            initial_velocity(lambda x: -self.d / 2 * self.wave(x, 0.0)),
            dirichlet(0.0),
        ]

    def reference(self):
        return exact(self.wave)
