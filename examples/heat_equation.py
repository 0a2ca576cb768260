"""Your own PDE in a dozen lines: the heat equation, compared with its exact solution."""

from math import pi

import jax.numpy as jnp

import tinns


class Heat(tinns.Problem):
    """u_t = D u_xx, u = 0 at both ends."""

    D: float = 0.1
    domain = tinns.Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.D * u.xx

    def conditions(self):
        return [tinns.initial(lambda x: jnp.sin(pi * x)), tinns.dirichlet(0.0)]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.sin(pi * x) * jnp.exp(-self.D * pi**2 * t))


def main(iterations: int = 200) -> tinns.Solution:
    solution = tinns.solve(Heat(), iterations=iterations)
    print(f"u(0.5, 1) = {solution(x=0.5, t=1.0):.8f}")
    print(f"relative L2 error {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
