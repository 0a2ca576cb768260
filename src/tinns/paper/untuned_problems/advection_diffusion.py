"""u_t + c u_x = D u_xx at a Péclet number of 200: a narrow peak moves and spreads."""

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class AdvectionDiffusion(Problem):
    """u_t + c u_x = D u_xx at a Péclet number of 200: a narrow peak moves and spreads."""

    c: float = 1.0
    D: float = 0.005
    width: float = 0.05
    domain = Box(x=(0, 1), t=(0, 0.5))

    def peak(self, x, t):
        square = self.width**2 + 2 * self.D * t
        distance = x - 0.25 - self.c * t
        return self.width / jnp.sqrt(square) * jnp.exp(-(distance**2) / (2 * square))

    def equation(self, u, x, t):
        return u.t + self.c * u.x - self.D * u.xx

    def conditions(self):
        return [initial(lambda x: self.peak(x, 0.0)), dirichlet(self.peak)]

    def reference(self):
        return exact(self.peak)
