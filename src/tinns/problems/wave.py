"""u_tt - c² u_xx = 0, u(x, 0) = sin(πx) + ½ sin(4πx), u_t(x, 0) = 0, u(0, t) = u(1, t) = 0."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial, initial_velocity
from tinns.problem.reference import exact


class Wave(Problem):
    """A string's first and fourth modes, swinging at different speeds [TINN, Appendix B.5].

    Recipe `paper`: the published program divides the boundary rows by the square root of half
    their number, which doubles their share of the loss: hence 10·√2 for the printed 10.
    """

    speed: float = 2.0
    domain = Box(x=(0, 1), t=(0, 1))

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
