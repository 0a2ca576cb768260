"""u_tt - Δu + u² = f on [-1, 1]³ x [0, 10], with u = (x + y + z) cos 2t + xyz sin 2t."""

import jax.numpy as jnp
import numpy as np

from tinns.conditions import dirichlet, initial, initial_velocity
from tinns.domain import Box
from tinns.fields import MLP, Layerwise, TimeInduced
from tinns.problem import Problem
from tinns.recipe import PAPER, Recipe, Stop
from tinns.reference import exact
from tinns.sampling import Counts


class KleinGordon3D(Problem):
    """Klein-Gordon in 3+1 dimensions, forced to oscillate for three periods [TINN, Appendix B.8].

    Recipe `paper`: the points of 2+1 dimensions and the initial weight by the paper's rule, 1 over
    the mean of the smallest 60 % of |u(x, y, z, 0)|; neither is printed.
    """

    name = "klein-gordon-3d"
    domain = Box(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 10))
    recipes = {
        "fast": Recipe(
            field=TimeInduced(MLP((20, 20)), Layerwise(MLP((10, 10), "sin"))),
            points=Counts(2_500, 400, 900),
            validation=Counts(2_500, 400, 900),
            weights={"equation": 0.3, "initial": 3.0},
        ),
        "paper": PAPER.but(
            points=Counts(15_000, 4_000, 8_000),
            validation=Counts(12_000, 3_000, 4_800),
            weights={"initial": 2.0},
            stop=Stop(iterations=10_000),
        ),
    }

    def equation(self, u, x, y, z, t):
        exact = _oscillation(x, y, z, t)
        forcing = exact**2 - 4 * exact
        return u.tt - u.xx - u.yy - u.zz + u**2 - forcing

    def conditions(self):
        return [
            initial(lambda x, y, z: x + y + z),
            initial_velocity(lambda x, y, z: 2 * x * y * z),
            dirichlet(_oscillation),
        ]

    def reference(self):
        return exact(_oscillation)

    def test_grid(self):
        side = np.linspace(-1, 1, 21)
        return {"x": side, "y": side, "z": side, "t": np.linspace(0, 10, 101)}


def _oscillation(x, y, z, t):
    return (x + y + z) * jnp.cos(2 * t) + x * y * z * jnp.sin(2 * t)
