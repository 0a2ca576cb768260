"""One problem, one network, one time limit: Levenberg-Marquardt against Adam and L-BFGS."""

from math import inf

import tinns
from tinns.problems import Burgers

OPTIMIZERS = {
    "Levenberg-Marquardt": tinns.PaperLM(),
    "L-BFGS": tinns.LBFGS(),
    "Adam": tinns.Adam(learning_rate=1e-2, warmup=50, decay_steps=500),
}


def main(iterations: int | None = None, seconds: float | None = 20.0) -> tinns.Solution:
    """Each optimiser trains for `seconds`, or for `iterations` if given."""
    limits = {"iterations": iterations} if iterations else {"seconds": seconds}
    field = tinns.TimeInduced(tinns.MLP((20,)), tinns.Layerwise(tinns.MLP((5,))))
    best, lowest = None, inf
    print(f"{'optimizer':<20} {'iterations':>10} {'seconds':>8} {'loss':>9} {'error':>9}")
    for name, optimizer in OPTIMIZERS.items():
        recipe = tinns.Recipe(field, optimizer, weights={"initial": 2.0})
        solution = tinns.solve(Burgers(viscosity=0.05), recipe, progress=False, **limits)
        r = solution.result
        print(
            f"{name:<20} {r['iterations']:>10} {r['seconds']:>8.1f} "
            f"{r['loss']:>9.1e} {r['relative_l2']:>9.1e}"
        )
        if r["relative_l2"] < lowest:
            best, lowest = solution, r["relative_l2"]
    return best


if __name__ == "__main__":
    main()
