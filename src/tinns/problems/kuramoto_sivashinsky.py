"""u_t + α u u_x + β u_xx + γ u_xxxx = 0, u(x, 0) = cos x (1 + sin x), periodic on [0, 2π]."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import initial
from tinns.problems import references


class KuramotoSivashinsky(Problem):
    """Kuramoto-Sivashinsky until t = 0.8, on its way into chaos [TINN, Appendix B.6].

    Recipe `paper`: points as for KdV and the initial weight by the paper's rule, 1 over the mean
    of the smallest 60 % of |u(x, 0)|; neither is printed.
    """

    alpha: float = 100 / 16
    beta: float = 100 / 16**2
    gamma: float = 100 / 16**4
    domain = Box(x=(0, 2 * pi), t=(0, 0.8), periodic="x")

    def equation(self, u, x, t):
        return u.t + self.alpha * u * u.x + self.beta * u.xx + self.gamma * u.xxxx

    def conditions(self):
        return [initial(lambda x: jnp.cos(x) * (1 + jnp.sin(x)))]

    def reference(self):
        return references.kuramoto_sivashinsky(self.alpha, self.beta, self.gamma)

    def test_grid(self):
        return {"x": np.linspace(0, 2 * pi, 512), "t": np.linspace(0, 0.8, 161)}
