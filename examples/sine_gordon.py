"""A breather of the sine-Gordon equation: second order in time, on a wide domain."""

from math import sqrt

import jax.numpy as jnp

import tinns
from tinns import dirichlet, initial, initial_velocity


def breather(x, t, omega=0.6):
    height = sqrt(1 - omega**2) / omega
    return 4 * jnp.arctan(height * jnp.cos(omega * t) / jnp.cosh(sqrt(1 - omega**2) * x))


class SineGordon(tinns.Problem):
    """u_tt - u_xx + sin u = 0."""

    domain = tinns.Box(x=(-6, 6), t=(0, 8))

    def equation(self, u, x, t):
        return u.tt - u.xx + jnp.sin(u)

    def conditions(self):
        return [initial(lambda x: breather(x, 0.0)), initial_velocity(0.0), dirichlet(breather)]

    def reference(self):
        return tinns.exact(lambda x, t: breather(x, t), "breather")


def main(iterations: int = 300) -> tinns.Solution:
    # Coordinates far from [-1, 1] would saturate the network: let it see scaled ones.
    recipe = tinns.Recipe(field=tinns.TimeInduced(scaled=True), optimizer=tinns.AcceleratedLM())
    solution = tinns.solve(SineGordon(), recipe, iterations=iterations)
    print(f"relative L2 error {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
