"""u_tt - c² u_xx = 0, u(x, 0) = sin(πx) + ½ sin(4πx), u_t(x, 0) = 0, u(0, t) = u(1, t) = 0."""

from math import pi, sqrt

import jax.numpy as jnp
import numpy as np

from tinns.conditions import dirichlet, initial, initial_velocity
from tinns.domain import Box
from tinns.fields import sine_induced
from tinns.least_squares import Algorithm1, LevenbergMarquardt
from tinns.problem import Problem
from tinns.recipe import ACCURATE, PAPER, Recipe
from tinns.reference import exact
from tinns.sampling import Counts

# u_tt reaches hundreds where u is of order one: without weights the equation drowns the rest.
_WEIGHTS = {"equation": 0.03, "initial_velocity": 0.3, "boundary": 3.0}


class Wave(Problem):
    """A string's first and fourth modes, swinging at different speeds [TINN, Appendix B.5].

    Recipe `paper`: the published program divides the boundary rows by the square root of half
    their number, which doubles their share of the loss: hence 10·√2 for the printed 10.
    """

    speed: float = 2.0
    domain = Box(x=(0, 1), t=(0, 1))
    recipes = {
        "fast": Recipe(field=sine_induced((20, 20)), weights=_WEIGHTS),
        "accurate": ACCURATE.but(field=sine_induced((24, 24, 24)), weights=_WEIGHTS),
        "paper": PAPER.but(
            optimizer=LevenbergMarquardt(Algorithm1(up=1.27, mu_min=5e-7, eta=2.0)),
            points=Counts(10_000, 500, 400),
            validation=Counts(5_000, 250, 200),
            weights={"initial": 2.0, "initial_velocity": 1.0, "boundary": 10.0 * sqrt(2)},
        ),
    }

    def equation(self, u, x, t):
        return u.tt - self.speed**2 * u.xx

    def conditions(self):
        return [initial(_first_shape), initial_velocity(0.0), dirichlet(0.0)]

    def reference(self):
        def standing(x, t):
            swing = self.speed * pi * t
            return jnp.sin(pi * x) * jnp.cos(swing) + jnp.sin(4 * pi * x) * jnp.cos(4 * swing) / 2

        return exact(standing, "two standing waves")

    def test_grid(self):
        return {"x": np.linspace(0, 1, 256), "t": np.linspace(0, 1, 201)}


def _first_shape(x):
    return jnp.sin(pi * x) + jnp.sin(4 * pi * x) / 2
