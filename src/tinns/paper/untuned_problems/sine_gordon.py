"""u_tt - u_xx + sin u = 0, a breather."""

from math import sqrt

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial, initial_velocity


class SineGordon(Problem):
    """u_tt - u_xx + sin u = 0, a breather."""

    omega: float = 0.6
    domain = Box(x=(-6, 6), t=(0, 8))

    def breather(self, x, t):
        decay = sqrt(1 - self.omega**2)
        return 4 * jnp.arctan(decay / self.omega * jnp.cos(self.omega * t) / jnp.cosh(decay * x))

    def equation(self, u, x, t):
        return u.tt - u.xx + jnp.sin(u)

    def conditions(self):
        start = initial(lambda x: self.breather(x, 0.0))
        return [start, initial_velocity(0.0), dirichlet(self.breather)]

    def reference(self):
        return exact(self.breather)
