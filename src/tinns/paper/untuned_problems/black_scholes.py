"""v_t = σ² s² v_ss / 2 + r s v_s - r v: a European call at the price s, with time t left."""

import jax.numpy as jnp
from jax.scipy.stats import norm

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial


class BlackScholes(Problem):
    """v_t = σ² s² v_ss / 2 + r s v_s - r v: a European call at the price s, with time t left.

    Time runs from a quarter of a year before expiry, where the payoff has become smooth.
    """

    sigma: float = 0.2
    r: float = 0.05
    strike: float = 100.0
    domain = Box(s=(50, 150), t=(0.25, 1.25))

    def value(self, s, t):
        spread = self.sigma * jnp.sqrt(t)
        upper = (jnp.log(s / self.strike) + (self.r + self.sigma**2 / 2) * t) / spread
        discounted = self.strike * jnp.exp(-self.r * t)
        return s * norm.cdf(upper) - discounted * norm.cdf(upper - spread)

    def equation(self, v, s, t):
        return v.t - self.sigma**2 * s**2 * v.ss / 2 - self.r * s * v.s + self.r * v

    def conditions(self):
        return [initial(lambda s: self.value(s, 0.25)), dirichlet(self.value)]

    def reference(self):
        return exact(self.value)
