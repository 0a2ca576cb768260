"""u_t = k u_xx."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class Heat(Problem):
    """u_t = k u_xx."""

    k: float = 0.1
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.k * u.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]

    def reference(self):
        return exact(lambda x, t: jnp.exp(-self.k * pi**2 * t) * jnp.sin(pi * x))
