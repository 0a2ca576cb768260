"""u_t + λ₁ u u_x - λ₂ u_xx = 0 on [-1, 1] x [0, 1]: λ₁ and λ₂ from 2000 observations of u."""

from functools import cache
from math import pi

import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem, Trainable, observed
from tinns.problem.observations import Columns, simulate_observations
from tinns.problems import references

OBSERVATIONS = 2000


class InverseBurgers(Problem):
    """Both coefficients of Burgers' equation, from values of u alone [TINN, Appendix B].

    Neither initial nor boundary values are given. The observations are of the exact solution with
    convection λ₁ = 1 and viscosity λ₂ = 0.01/π; `observing` puts others in their place.
    """

    convection: float | Trainable = Trainable(0.0)
    viscosity: float | Trainable = Trainable(0.0)
    domain = Box(x=(-1, 1), t=(0, 1))
    truth = {"convection": 1.0, "viscosity": 0.01 / pi}

    def equation(self, u, x, t):
        return u.t + self.convection * u * u.x - self.viscosity * u.xx

    def conditions(self):
        return [observed(1.0, **_exact_observations())]

    def reference(self):
        return references.burgers(self.truth["viscosity"])

    def test_grid(self):
        return {"x": np.linspace(-1, 1, 256), "t": np.arange(100) / 100}


@cache
def _exact_observations() -> Columns:
    """The same 2000 values for every run."""
    return simulate_observations(InverseBurgers(), OBSERVATIONS)
