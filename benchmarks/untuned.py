"""Problems without recipes of their own, defined as in a user's program, by the default recipe.

    python benchmarks/untuned.py --seconds 20

Runs are recorded as by `python -m tinns.paper.record`; their errors appear in docs/performance.md.
"""

import argparse
from math import pi, sqrt
from pathlib import Path

import jax.numpy as jnp

from tinns import Box, Problem, dirichlet, exact, initial, initial_velocity
from tinns.paper.record import RUNS, Run, record_all


class Heat(Problem):
    """u_t = k u_xx."""

    k: float = 0.1
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.k * u.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]

    def reference(self):
        return exact(lambda x, t: jnp.exp(-self.k * pi**2 * t) * jnp.sin(pi * x))


class FisherKPP(Problem):
    """u_t = D u_xx + r u (1 - u), a travelling front (M. Ablowitz and A. Zeppetella, 1979)."""

    D: float = 0.01
    r: float = 5.0
    domain = Box(x=(0, 1), t=(0, 1))

    def front(self, x, t):
        return (1 + jnp.exp(sqrt(self.r / (6 * self.D)) * x - 5 * self.r * t / 6)) ** -2

    def equation(self, u, x, t):
        return u.t - self.D * u.xx - self.r * u * (1 - u)

    def conditions(self):
        return [initial(lambda x: self.front(x, 0.0)), dirichlet(self.front)]

    def reference(self):
        return exact(self.front)


class SineGordon(Problem):
    """u_tt - u_xx + sin u = 0, a breather."""

    omega: float = 0.6
    domain = Box(x=(-6, 6), t=(0, 8))

    def breather(self, x, t):
        decay = sqrt(1 - self.omega**2)
        return 4 * jnp.arctan(decay / self.omega * jnp.cos(self.omega * t) / jnp.cosh(decay * x))

    def equation(self, u, x, t):
        return u.tt - u.xx + jnp.sin(u)

    def conditions(self):
        start = initial(lambda x: self.breather(x, 0.0))
        return [start, initial_velocity(0.0), dirichlet(self.breather)]

    def reference(self):
        return exact(self.breather)


PROBLEMS: list[Problem] = [Heat(), FisherKPP(), SineGordon()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--archive", type=Path, help="also bundle the files as .tgz")
    parser.add_argument("--out", type=Path, default=RUNS)
    given = parser.parse_args()
    runs = [
        Run(problem, seed=seed, iterations=given.iterations, seconds=given.seconds)
        for problem in PROBLEMS
        for seed in given.seeds
    ]
    record_all(runs, given.out, given.archive)


if __name__ == "__main__":
    main()
