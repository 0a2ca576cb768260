"""A breather of the sine-Gordon equation: second order in time, on a wide domain."""

from math import sqrt

import jax.numpy as jnp

import tinns
from tinns import dirichlet, initial, initial_velocity

OMEGA = 0.6
DECAY = sqrt(1 - OMEGA**2)


def breather(x, t):
    return 4 * jnp.arctan(DECAY / OMEGA * jnp.cos(OMEGA * t) / jnp.cosh(DECAY * x))


class SineGordon(tinns.Problem):
    """u_tt - u_xx + sin u = 0."""

    domain = tinns.Box(x=(-6, 6), t=(0, 8))

    def equation(self, u, x, t):
        return u.tt - u.xx + jnp.sin(u)

    def conditions(self):
        return [initial(lambda x: breather(x, 0.0)), initial_velocity(0.0), dirichlet(breather)]

    def reference(self):
        return tinns.exact(breather, "breather")


def main(iterations: int = 120) -> tinns.Solution:
    # The default recipe scales the coordinates, so wide domains need no special treatment.
    solution = tinns.solve(SineGordon(), iterations=iterations)
    print(f"relative L2 error {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
