"""u_t - D u_xx + k (u³ - u) = 0, u(x, 0) = x² cos(3πx) + x², periodic on [-1, 1] x [0, 1]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import initial
from tinns.problems import references


class AllenCahn(Problem):
    """Allen-Cahn: phases separate and their interfaces sharpen [TINN, Appendix B.2]."""

    diffusion: float = 1e-4
    rate: float = 5.0
    domain = Box(x=(-1, 1), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t - self.diffusion * u.xx + self.rate * (u**3 - u)

    def conditions(self):
        return [initial(lambda x: x**2 * jnp.cos(3 * pi * x) + x**2)]

    def reference(self):
        return references.allen_cahn(self.diffusion, self.rate)

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 512), "t": np.linspace(0, 1, 201)}
