"""u_t - u_x = 0 on [0, 2] x [0, 1], u(x, 0) = ln x, u(2, t) = ln(2 + t), with u = ln(x + t)."""

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial
from tinns.problem.reference import exact

NEAREST = 1 / 128  # to the singular corner that the initial value is demanded


class Transport(Problem):
    """Transport to the left, in through x = 2 and out through x = 0 [TINN, Appendix E.1].

    u = ln(x + t) is singular at the corner (0, 0). The test grid leaves out x = 0 and t = 0; it
    begins one spacing away from each, at x = 1/128 and t = 1/100. The initial value is demanded for
    x >= 1/128: what starts nearer to the corner leaves before t = 1/128.

    Recipe `paper`: points as for Burgers and the initial weight by the paper's rule, 1 over the
    mean of the smallest 60 % of |u(x, 0)|; neither is printed.
    """

    domain = Box(x=(0, 2), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.x

    def conditions(self):
        start = initial(jnp.log, within={"x": (NEAREST, 2)})
        return [start, dirichlet(lambda t: jnp.log(2 + t), on="x+")]

    def reference(self):
        return exact(lambda x, t: jnp.log(x + t))

    def test_grid(self):
        return {"x": np.linspace(0, 2, 257)[1:], "t": np.linspace(0, 1, 101)[1:]}
