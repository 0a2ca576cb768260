"""Find two coefficients of the Burgers equation from 200 measured values of its solution."""

from math import pi

import numpy as np

import tinns
from tinns.reference import burgers

TRUE_VISCOSITY = 0.05 / pi


class InverseBurgers(tinns.Problem):
    """u_t + c u u_x - ν u_xx = 0 with c and ν unknown; the true ones are 1 and 0.05/π."""

    c: float | tinns.Unknown = tinns.Unknown(0.5)
    viscosity: float | tinns.Unknown = tinns.Unknown(0.1)
    domain = tinns.Box(x=(-1, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t + self.c * u * u.x - self.viscosity * u.xx

    def conditions(self):
        random = np.random.default_rng(0)
        x, t = random.uniform(-1, 1, 200), random.uniform(0, 1, 200)
        return [tinns.observed(x=x, t=t, u=self.reference()(x=x, t=t))]

    def reference(self):
        return burgers(TRUE_VISCOSITY)


def main(iterations: int = 300) -> tinns.Solution:
    recipe = tinns.Recipe(optimizer=tinns.AcceleratedLM())
    solution = tinns.solve(InverseBurgers(), recipe, iterations=iterations)
    c, viscosity = solution.coefficients["c"], solution.coefficients["viscosity"]
    print(f"c = {c:.6f} (true 1)")
    print(f"viscosity = {viscosity:.6f} (true {TRUE_VISCOSITY:.6f})")
    print(f"relative L2 error {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
