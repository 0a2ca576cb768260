"""u_t + 6 u u_x + u_xxx = 0, where a fast soliton overtakes a slow one (R. Hirota, 1971)."""

import jax
import jax.numpy as jnp

from tinns.geometry import Box
from tinns.problem import Problem, dirichlet, exact, initial, neumann


class TwoSolitons(Problem):
    """u_t + 6 u u_x + u_xxx = 0, where a fast soliton overtakes a slow one (R. Hirota, 1971)."""

    slow: float = 1.0
    fast: float = 1.5
    domain = Box(x=(-10, 15), t=(0, 6))

    def solitons(self, x, t):
        """u = 2 (ln F)_xx, where F is a sum of four exponentials of x: twice a variance."""
        a, b = self.slow, self.fast
        first, second = a * x - a**3 * t, b * (x + 4) - b**3 * t
        both = first + second + 2 * jnp.log(jnp.abs((a - b) / (a + b)))
        weights = jax.nn.softmax(jnp.stack([jnp.zeros_like(first), first, second, both]))
        slopes = jnp.asarray([0.0, a, b, a + b])
        return 2 * weights @ (slopes - weights @ slopes) ** 2

    def slope(self, x, t):
        return jax.grad(self.solitons)(x, t)

    def equation(self, u, x, t):
        return u.t + 6 * u * u.x + u.xxx

    def conditions(self):
        start = initial(lambda x: self.solitons(x, 0.0))
        return [start, dirichlet(self.solitons), neumann(self.slope, on="x+")]

    def reference(self):
        return exact(self.solitons)
