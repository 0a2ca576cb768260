"""The Navier-Stokes equations in velocities and pressure: a decaying array of vortices."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class TaylorGreen(Problem):
    """The Navier-Stokes equations in velocities and pressure: a decaying array of vortices."""

    viscosity: float = 0.05
    domain = Box(x=(0, 2 * pi), y=(0, 2 * pi), t=(0, 2))

    def flow(self, x, y, t):
        decay = jnp.exp(-2 * self.viscosity * t)
        u, v = jnp.sin(x) * jnp.cos(y) * decay, -jnp.cos(x) * jnp.sin(y) * decay
        return jnp.stack([u, v, (jnp.cos(2 * x) + jnp.cos(2 * y)) * decay**2 / 4])

    def equation(self, u, v, p, x, y, t):
        return (
            u.t + u * u.x + v * u.y + p.x - self.viscosity * (u.xx + u.yy),
            v.t + u * v.x + v * v.y + p.y - self.viscosity * (v.xx + v.yy),
            u.x + v.y,
        )

    def conditions(self):
        start = initial(lambda x, y: list(self.flow(x, y, 0.0)))
        return [start, dirichlet(lambda x, y, t: list(self.flow(x, y, t)))]

    def reference(self):
        return exact(self.flow)
