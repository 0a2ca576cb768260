"""u_tt - Δu + u² = f on [-1, 1]² x [0, 10], with u = (x + y) cos 2t + xy sin 2t."""

import jax.numpy as jnp
import numpy as np

from tinns.conditions import dirichlet, initial, initial_velocity
from tinns.domain import Box
from tinns.fields import MLP, Layerwise, TimeInduced
from tinns.problem import Problem
from tinns.recipe import ACCURATE, PAPER, Recipe, Stop
from tinns.reference import exact
from tinns.sampling import Counts

# The solution swings in time and is a polynomial in space.
_FIELD = TimeInduced(MLP((20, 20)), Layerwise(MLP((10, 10), "sin")))


class KleinGordon(Problem):
    """Klein-Gordon in 2+1 dimensions, forced to oscillate for three periods [TINN, Appendix B.3].

    Recipe `paper`: the published program divides the boundary rows by the square root of a quarter
    of their number, which quadruples their share of the loss: hence 2 for the printed 1.
    """

    domain = Box(x=(-1, 1), y=(-1, 1), t=(0, 10))
    recipes = {
        "fast": Recipe(
            points=Counts(2_500, 400, 800),
            validation=Counts(2_500, 400, 800),
            field=_FIELD,
            weights={"equation": 0.3, "initial": 3.0},
        ),
        "accurate": ACCURATE.but(
            field=_FIELD,
            points=Counts(10_000, 2_000, 4_000),
            validation=Counts(5_000, 1_000, 2_000),
            weights={"equation": 0.3, "initial": 3.0},
        ),
        "paper": PAPER.but(
            points=Counts(15_000, 4_000, 8_000),
            validation=Counts(12_000, 3_000, 4_800),
            weights={"initial": 3.0, "initial_velocity": 1.0, "boundary": 2.0},
            stop=Stop(iterations=10_000),
        ),
    }

    def equation(self, u, x, y, t):
        exact = _oscillation(x, y, t)
        forcing = exact**2 - 4 * exact
        return u.tt - u.xx - u.yy + u**2 - forcing

    def conditions(self):
        return [
            initial(lambda x, y: x + y),
            initial_velocity(lambda x, y: 2 * x * y),
            dirichlet(_oscillation),
        ]

    def reference(self):
        return exact(_oscillation)

    def test_grid(self):
        side = np.linspace(-1, 1, 101)
        return {"x": side, "y": side, "t": np.linspace(0, 10, 201)}


def _oscillation(x, y, t):
    return (x + y) * jnp.cos(2 * t) + x * y * jnp.sin(2 * t)
