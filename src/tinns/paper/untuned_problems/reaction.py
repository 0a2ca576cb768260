"""u_t = r u (1 - u) on a periodic interval: a Gaussian grows until it is a plateau."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, exact, initial


class Reaction(Problem):
    """u_t = r u (1 - u) on a periodic interval: a Gaussian grows until it is a plateau.

    The Gaussian is so narrow that it vanishes at the ends, where a wider one would have a kink.
    """

    r: float = 5.0
    width: float = 0.4
    domain = Box(x=(0, 2 * pi), t=(0, 1), periodic="x")

    def start(self, x):
        return jnp.exp(-((x - pi) ** 2) / (2 * self.width**2))

    def equation(self, u, x, t):
        return u.t - self.r * u * (1 - u)

    def conditions(self):
        return [initial(self.start)]

    def reference(self):
        def grown(x, t):
            start = self.start(x)
            return start / (start + (1 - start) * jnp.exp(-self.r * t))

        return exact(grown)
