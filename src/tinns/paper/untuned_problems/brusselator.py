"""u_t = D u_xx + a + u²v - (b + 1) u, v_t = D v_xx + b u - u²v: a chemical oscillator."""

from math import pi

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.paper.reaction_diffusion_reference import brusselator
from tinns.problem import Problem, initial, neumann


class Brusselator(Problem):
    """u_t = D u_xx + a + u²v - (b + 1) u, v_t = D v_xx + b u - u²v: a chemical oscillator."""

    D: float = 0.02
    a: float = 1.0
    b: float = 3.0
    domain = Box(x=(0, 1), t=(0, 10))

    def equation(self, u, v, x, t):
        made = u**2 * v
        return (
            u.t - self.D * u.xx - self.a - made + (self.b + 1) * u,
            v.t - self.D * v.xx - self.b * u + made,
        )

    def conditions(self):
        return [
            initial(lambda x: 1 + jnp.cos(pi * x) / 2, of="u"),
            initial(3.0, of="v"),
            neumann(0.0),
        ]

    def reference(self):
        return brusselator(self.D, self.a, self.b).reference()
