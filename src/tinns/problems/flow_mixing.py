"""u_t - ω y u_x + ω x u_y = 0 on [-4, 4]² x [0, 4], where ω(r) = sech²(r) tanh(r) / (0.385 r)."""

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import dirichlet, initial
from tinns.problem.reference import exact

# tanh(r)/r in powers of r², which converges for r < π/2.
_SERIES = (
    1,
    -1 / 3,
    2 / 15,
    -17 / 315,
    62 / 2835,
    -1382 / 155925,
    21844 / 6081075,
    -929569 / 638512875,
    6404582 / 10854718875,
)
_SERIES_WITHIN = 0.01  # of r²: nine terms are exact to round-off here, derivatives included


class FlowMixing(Problem):
    """A vortex winds up the front between two fluids [TINN, Appendix B.7].

    The speed ω r is divided by its peak, rounded to 0.385 in the solution and coefficients alike.
    Recipe `paper`: points as for Klein-Gordon and the initial weight by the paper's rule, 1 over
    the mean of the smallest 60 % of |u(x, y, 0)|; neither is printed.
    """

    peak_speed: float = 0.385
    domain = Box(x=(-4, 4), y=(-4, 4), t=(0, 4))

    def angular_velocity(self, x, y):
        """ω = sech²(r) tanh(r) / (r · peak speed), smooth at r = 0, where it is 1 / peak speed."""
        return _turning(x**2 + y**2) / self.peak_speed

    def equation(self, u, x, y, t):
        turning = self.angular_velocity(x, y)
        return u.t - turning * y * u.x + turning * x * u.y

    def conditions(self):
        return [initial(lambda x, y: -jnp.tanh(y / 2)), dirichlet(self.wound_up)]

    def wound_up(self, x, y, t):
        """u = -tanh(½ (y cos ωt - x sin ωt)): every circle turns at a rate of its own."""
        angle = self.angular_velocity(x, y) * t
        return -jnp.tanh((y * jnp.cos(angle) - x * jnp.sin(angle)) / 2)

    def reference(self):
        return exact(self.wound_up)

    def test_grid(self):
        side = np.linspace(-4, 4, 101)
        return {"x": side, "y": side, "t": np.linspace(0, 4, 81)}


def _turning(square):
    """sech²(r) tanh(r) / r of r². The root is taken only away from 0, where it is smooth."""
    near = square < _SERIES_WITHIN
    root = jnp.sqrt(jnp.where(near, 1.0, square))
    small = jnp.where(near, square, 0.0)
    slope = jnp.polyval(jnp.asarray(_SERIES[::-1]), small)  # tanh(r)/r, and sech² = 1 - tanh²
    far = jnp.tanh(root) / (root * jnp.cosh(root) ** 2)
    return jnp.where(near, slope * (1 - small * slope**2), far)
