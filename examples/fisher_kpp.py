"""A population spreads: the Fisher-KPP equation, with insulated ends and no known solution."""

import jax.numpy as jnp
import numpy as np

import tinns
from tinns import initial, neumann


class FisherKPP(tinns.Problem):
    """u_t = D u_xx + r u (1 - u) on [0, 1] x [0, 1]."""

    D: float = 0.01
    r: float = 5.0
    domain = tinns.Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.D * u.xx - self.r * u * (1 - u)

    def conditions(self):
        return [initial(lambda x: jnp.exp(-50 * x**2), weight=2.0), neumann(0.0)]


def main(iterations: int = 300) -> tinns.Solution:
    solution = tinns.solve(FisherKPP(), iterations=iterations)
    # Without a reference, the residual of the equation measures the quality of the solution.
    x, t = np.linspace(0, 1, 101)[:, None], np.linspace(0, 1, 101)
    u, u_t, u_xx = (solution.derivative(name, x=x, t=t) for name in ("u", "u_t", "u_xx"))
    residual = u_t - 0.01 * u_xx - 5 * u * (1 - u)
    print(f"error in the equation: {np.abs(residual).max():.1e}, where u_t is {u_t.max():.2f}")
    return solution


if __name__ == "__main__":
    main()
