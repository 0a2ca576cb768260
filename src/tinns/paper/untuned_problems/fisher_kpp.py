"""u_t = D u_xx + r u (1 - u), a travelling front (M. Ablowitz and A. Zeppetella, 1979)."""

from math import sqrt

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class FisherKPP(Problem):
    """u_t = D u_xx + r u (1 - u), a travelling front (M. Ablowitz and A. Zeppetella, 1979)."""

    D: float = 0.01
    r: float = 5.0
    domain = Box(x=(0, 1), t=(0, 1))

    def front(self, x, t):
        return (1 + jnp.exp(sqrt(self.r / (6 * self.D)) * x - 5 * self.r * t / 6)) ** -2

    def equation(self, u, x, t):
        return u.t - self.D * u.xx - self.r * u * (1 - u)

    def conditions(self):
        return [initial(lambda x: self.front(x, 0.0)), dirichlet(self.front)]

    def reference(self):
        return exact(self.front)
