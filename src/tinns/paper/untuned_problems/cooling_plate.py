"""u_t = k (u_xx + u_yy) on a square: insulated but for one side, which loses heat (Robin)."""

from math import pi, tan

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, exact, initial, neumann, on_boundary


class CoolingPlate(Problem):
    """u_t = k (u_xx + u_yy) on a square: insulated but for one side, which loses heat (Robin)."""

    k: float = 0.1
    wavenumber: float = 1.0  # along x; the heat loss is chosen to fit
    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))

    def temperature(self, x, y, t):
        along_x = jnp.exp(-self.k * self.wavenumber**2 * t) * jnp.cos(self.wavenumber * x)
        return along_x * (1 + jnp.exp(-self.k * pi**2 * t) * jnp.cos(pi * y))

    def equation(self, u, x, y, t):
        return u.t - self.k * (u.xx + u.yy)

    def conditions(self):
        loss = self.wavenumber * tan(self.wavenumber)
        return [
            initial(lambda x, y: self.temperature(x, y, 0.0)),
            neumann(0.0, on=("x-", "y-", "y+")),
            on_boundary(lambda u, x, y, t: u.x + loss * u, on="x+", name="heat_loss"),
        ]

    def reference(self):
        return exact(self.temperature)
