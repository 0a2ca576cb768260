"""u_tt + u_xxxx = 0, an elastic beam that is simply supported at both ends."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial, initial_velocity, on_boundary


class Beam(Problem):
    """u_tt + u_xxxx = 0, an elastic beam that is simply supported at both ends."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.tt + u.xxxx

    def conditions(self):
        return [
            initial(lambda x: jnp.sin(pi * x)),
            initial_velocity(0.0),
            dirichlet(0.0),
            on_boundary(lambda u, x, t: u.xx, name="no_moment"),
        ]

    def reference(self):
        return exact(lambda x, t: jnp.sin(pi * x) * jnp.cos(pi**2 * t))
