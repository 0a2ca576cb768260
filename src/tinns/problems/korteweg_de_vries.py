"""u_t + u u_x + δ² u_xxx = 0, u(x, 0) = cos(πx), periodic on [-1, 1] x [0, 1]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns import reference
from tinns.conditions import initial
from tinns.domain import Box
from tinns.fields import sine_induced
from tinns.problem import Problem
from tinns.recipe import ACCURATE, PAPER, Recipe, Stop
from tinns.sampling import Counts


class KortewegDeVries(Problem):
    """Korteweg-de Vries: a cosine breaks up into a train of solitons [TINN, Appendix B.4]."""

    dispersion: float = 0.022**2
    name = "kdv"
    domain = Box(x=(-1, 1), t=(0, 1), periodic="x")
    recipes = {
        "fast": Recipe(field=sine_induced((16, 16, 16, 16)), weights={"equation": 0.1}),
        "accurate": ACCURATE.but(field=sine_induced((24, 24, 24)), weights={"equation": 0.1}),
        "paper": PAPER.but(
            points=Counts(10_000, 500),
            validation=Counts(5_000, 250),
            weights={"initial": 2.0},
            stop=Stop(iterations=25_000),
        ),
    }

    def equation(self, u, x, t):
        return u.t + u * u.x + self.dispersion * u.xxx

    def conditions(self):
        return [initial(lambda x: jnp.cos(pi * x))]

    def reference(self):
        return reference.korteweg_de_vries(self.dispersion)

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 512), "t": np.linspace(0, 1, 201)}
