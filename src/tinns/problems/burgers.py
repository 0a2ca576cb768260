"""u_t + u u_x - ν u_xx = 0, u(x, 0) = -sin(πx), u(±1, t) = 0 on [-1, 1] x [0, 1]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial
from tinns.problems import references


class Burgers(Problem):
    """Viscous Burgers: a smooth wave steepens into a thin layer at x = 0 [TINN, Appendix B.1]."""

    viscosity: float = 0.01 / pi
    domain = Box(x=(-1, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t + u * u.x - self.viscosity * u.xx

    def conditions(self):
        return [initial(lambda x: -jnp.sin(pi * x)), dirichlet(0.0)]

    def reference(self):
        return references.burgers(self.viscosity)

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 256), "t": np.arange(100) / 100}
