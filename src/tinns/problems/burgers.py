"""u_t + u u_x - ν u_xx = 0, u(x, 0) = -sin(πx), u(±1, t) = 0 on [-1, 1] x [0, 1]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns import reference
from tinns.conditions import dirichlet, initial
from tinns.domain import Box
from tinns.fields import MLP, TimeInduced
from tinns.problem import Problem
from tinns.recipe import ACCURATE, PAPER, Recipe
from tinns.sampling import Counts


class Burgers(Problem):
    """Viscous Burgers: a smooth wave steepens into a thin layer at x = 0 [TINN, Appendix B.1]."""

    viscosity: float = 0.01 / pi
    domain = Box(x=(-1, 1), t=(0, 1))
    recipes = {
        "fast": Recipe(field=TimeInduced(), weights={"initial": 2.0}),
        "accurate": ACCURATE.but(
            field=TimeInduced(MLP((30, 30))),
            points=Counts(12_000, 600, 400),
            weights={"initial": 2.0},
        ),
        "paper": PAPER.but(
            points=Counts(10_000, 500, 400),
            validation=Counts(5_000, 250, 200),
            weights={"initial": 2.0, "boundary": 1.0},
        ),
    }

    def equation(self, u, x, t):
        return u.t + u * u.x - self.viscosity * u.xx

    def conditions(self):
        return [initial(lambda x: -jnp.sin(pi * x)), dirichlet(0.0)]

    def reference(self):
        return reference.burgers(self.viscosity)

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 256), "t": np.arange(100) / 100}
