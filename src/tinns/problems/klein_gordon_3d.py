"""u_tt - Δu + u² = f on [-1, 1]³ x [0, 10], with u = (x + y + z) cos 2t + xyz sin 2t."""

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial, initial_velocity
from tinns.problem.reference import exact


class KleinGordon3D(Problem):
    """Klein-Gordon in 3+1 dimensions, forced to oscillate for three periods [TINN, Appendix B.8].

    Recipe `paper`: the points of 2+1 dimensions and the initial weight by the paper's rule, 1 over
    the mean of the smallest 60 % of |u(x, y, z, 0)|; neither is printed.
    """

    name = "klein-gordon-3d"
    domain = Box(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 10))

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
