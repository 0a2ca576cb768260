"""Estimate two coefficients of Burgers' equation from 400 noisy measurements, with intervals."""

import tempfile
from math import pi
from pathlib import Path

import tinns
from tinns.problems.references import burgers


class NoisyBurgers(tinns.Problem):
    """u_t + c u u_x - ν u_xx = 0 with trainable c and ν; the true values are 1 and 0.05/π."""

    c: float | tinns.Trainable = tinns.Trainable(0.0)
    viscosity: float | tinns.Trainable = tinns.Trainable(0.0)
    domain = tinns.Box(x=(-1, 1), t=(0, 1))
    truth = {"c": 1.0, "viscosity": 0.05 / pi}

    def equation(self, u, x, t):
        return u.t + self.c * u * u.x - self.viscosity * u.xx

    def reference(self):
        return burgers(self.truth["viscosity"])


def main(iterations: int = 200) -> tinns.Solution:
    with tempfile.TemporaryDirectory() as folder:
        # In practice this is your own file: a header line x,t,u, then one observation per line.
        file = Path(folder) / "obs.csv"
        measured = tinns.simulate_observations(NoisyBurgers(), 400, noise=0.01)
        tinns.write_observations(file, measured)
        problem = NoisyBurgers().observing(tinns.read_observations(file), simulated=True)

    solution = tinns.solve(problem, iterations=iterations)
    for name, estimate in solution.estimates.items():
        print(f"{name} = {estimate.value:.5f} (true {estimate.true:.5f})", end=", ")
        if estimate.interval is None:
            print("not determined by the data")
        else:
            lower, upper = estimate.interval
            print(f"standard error {estimate.standard_error:.1e}, 95 % {lower:.5f} to {upper:.5f}")
    print(f"relative L2 error of u {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
