"""u_t + c u_x = 0, a wave that crosses a periodic interval almost five times."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, exact, initial


class Convection(Problem):
    """u_t + c u_x = 0, a wave that crosses a periodic interval almost five times."""

    c: float = 30.0
    domain = Box(x=(0, 2 * pi), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t + self.c * u.x

    def conditions(self):
        return [initial(jnp.sin)]

    def reference(self):
        return exact(lambda x, t: jnp.sin(x - self.c * t))
