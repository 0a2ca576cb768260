"""u_tt - Δu + u² = f on [-1, 1]² x [0, 10], with u = (x + y) cos 2t + xy sin 2t."""

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial, initial_velocity
from tinns.problem.reference import exact


class KleinGordon(Problem):
    """Klein-Gordon in 2+1 dimensions, forced to oscillate for three periods [TINN, Appendix B.3].

    Recipe `paper`: the published program divides the boundary rows by the square root of a quarter
    of their number, which quadruples their share of the loss: hence 2 for the printed 1.
    """

    domain = Box(x=(-1, 1), y=(-1, 1), t=(0, 10))

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
