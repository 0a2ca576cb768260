"""u_t + u u_x + δ² u_xxx = 0, u(x, 0) = cos(πx), periodic on [-1, 1] x [0, 1]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import initial
from tinns.problems import references


class KortewegDeVries(Problem):
    """Korteweg-de Vries: a cosine breaks up into a train of solitons [TINN, Appendix B.4]."""

    dispersion: float = 0.022**2
    name = "kdv"
    domain = Box(x=(-1, 1), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t + u * u.x + self.dispersion * u.xxx

    def conditions(self):
        return [initial(lambda x: jnp.cos(pi * x))]

    def reference(self):
        return references.korteweg_de_vries(self.dispersion)

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 512), "t": np.linspace(0, 1, 201)}
