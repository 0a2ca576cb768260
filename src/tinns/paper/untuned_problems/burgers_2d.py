"""u_t + u (u_x + u_y) = ν (u_xx + u_yy), a front that moves along the diagonal."""

import jax

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class Burgers2D(Problem):
    """u_t + u (u_x + u_y) = ν (u_xx + u_yy), a front that moves along the diagonal."""

    viscosity: float = 0.05
    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))
    name = "burgers-2d"

    def front(self, x, y, t):
        return jax.nn.sigmoid((t - x - y) / (2 * self.viscosity))

    def equation(self, u, x, y, t):
        return u.t + u * (u.x + u.y) - self.viscosity * (u.xx + u.yy)

    def conditions(self):
        return [initial(lambda x, y: self.front(x, y, 0.0)), dirichlet(self.front)]

    def reference(self):
        return exact(self.front)
