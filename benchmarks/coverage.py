"""How often 95 % intervals contain the true value: repeated fits of inverse Burgers to new noise.

    python benchmarks/coverage.py --repetitions 40 --seconds 20

Every repetition simulates 2000 observations with new noise at new points and solves the problem
anew. The result is written to OUT/coverage-DEVICE.json after each, so it can be interrupted.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import tinns
from measuring import circumstances, show, write
from tinns.paper.sheet import Column, sheet_of
from tinns.problems import InverseBurgers
from tinns.recipes import recipe_for
from tinns.solution.uncertainty import LEVEL


def main() -> None:
    arguments = _arguments()
    measured = circumstances() | {
        "recipe": arguments.recipe,
        "observations": arguments.observations,
        "limits": {"seconds": arguments.seconds, "iterations": arguments.iterations},
    }
    runs: list[dict[str, Any]] = []
    path = None
    for repetition in range(arguments.repetitions):
        for noise in arguments.noise:
            runs.append(fitted(noise, repetition, arguments))
            path = write(
                measured | {"coverage": table(runs), "runs": runs}, "coverage", arguments.out
            )
    _show(table(runs))
    print(f"wrote {path}")


def fitted(noise: float, repetition: int, settings: argparse.Namespace) -> dict[str, Any]:
    """The estimates of one solve of data simulated with its own seed."""
    problem = InverseBurgers()
    data = tinns.simulate_observations(problem, settings.observations, noise, seed=1 + repetition)
    solution = tinns.solve(
        problem.observing(data, simulated=True),
        recipe_for(problem, settings.recipe),
        seed=repetition,
        iterations=settings.iterations,
        seconds=settings.seconds,
        progress=False,
    )
    result = solution.result
    kept = ("relative_l2", "loss", "iterations", "seconds", "stop_reason", "estimates")
    return {"noise": noise, "seed": repetition, **{name: result[name] for name in kept}}


def table(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Coverage by noise and coefficient, with the range that a binomial distribution allows.

    `ratio` is the mean standard error over the true root-mean-square error: 1 if they agree.
    """
    rows = []
    for noise in sorted({run["noise"] for run in runs}):
        chosen = [run["estimates"] for run in runs if run["noise"] == noise]
        for name in chosen[0]:
            own = [e[name] for e in chosen if e[name]["interval"] is not None]
            covered = [e["interval"][0] <= e["true"] <= e["interval"][1] for e in own]
            errors = np.array([e["value"] - e["true"] for e in own])
            stated = np.array([e["standard_error"] for e in own])
            spread = float(np.sqrt(np.mean(errors**2))) if own else None
            rows.append(
                {
                    "noise": noise,
                    "coefficient": name,
                    "repetitions": len(chosen),
                    "covered": int(sum(covered)),
                    "least_likely": int(binom.ppf(0.025, len(chosen), LEVEL)),
                    "mean_error": float(errors.mean()) if own else None,
                    "root_mean_square_error": spread,
                    "mean_standard_error": float(stated.mean()) if own else None,
                    "ratio": float(stated.mean()) / spread if spread else None,
                }
            )
    return rows


def _show(rows: list[dict[str, Any]]) -> None:
    columns = [
        Column("coefficient"),
        Column("noise", ".0%"),
        Column("covered"),
        Column("bias", ".1e"),
        Column("rms", ".1e"),
        Column("stated", ".1e"),
        Column("ratio", ".2f"),
    ]
    numbers = ("mean_error", "root_mean_square_error", "mean_standard_error", "ratio")
    lines = [
        [
            row["coefficient"],
            row["noise"],
            f"{row['covered']}/{row['repetitions']} (>= {row['least_likely']})",
            *(row[name] for name in numbers),
        ]
        for row in rows
    ]
    title = "Inverse Burgers: how often 95 % intervals contain the true value"
    show(sheet_of(columns, lines, title))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=40)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.01, 0.05])
    parser.add_argument("--observations", type=int, default=2000)
    parser.add_argument("--recipe", default="noisy")
    parser.add_argument("--seconds", type=float, help="of each solve; by default the recipe's")
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
