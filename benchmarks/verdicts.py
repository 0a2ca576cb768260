"""What verdicts say of full runs: the paper's eleven problems, and two that are easily got wrong.

    python benchmarks/verdicts.py
    python benchmarks/verdicts.py --problems burgers gray-scott --missing

The paper's problems are solved by recipe `fast` for as long as it lasts; Gray-Scott and Brusselator
by the default recipe for two minutes. References are used for the true errors alone. Runs are
written to runs/verdicts, one file each, and all of them to results/verdicts.json.
"""

import argparse
import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

import tinns
from recorded import gathered
from tinns._solve import circumstances
from tinns.paper.untuned_problems import UNTUNED
from tinns.problems import PROBLEMS

RUNS, RESULTS = Path("runs/verdicts"), Path("results/verdicts.json")
SECONDS = 120.0  # of training, without a recipe
WITHOUT_RECIPE = ("gray-scott", "brusselator")
IDENTITY = ("problem", "device", "seed")  # of a record


def record(name: str, seed: int) -> dict[str, Any]:
    """Solve one problem and state its verdict beside the true error, as plain data."""
    problem = (PROBLEMS | UNTUNED)[name]()
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of failed runs, which are recorded
        solution = tinns.solve(
            problem.without_truth(),
            seconds=None if name in PROBLEMS else SECONDS,
            seed=seed,
            progress=False,
        )
    wall = time.perf_counter() - started
    result, known = solution.result, replace(solution, problem=problem)
    return {
        "problem": name,
        "recipe": result["recipe"],
        "seed": seed,
        "seconds": result["seconds"],
        "compile_seconds": result["compile_seconds"],
        "check_seconds": result["checks"]["seconds"],
        "wall_seconds": wall,
        "relative_l2": known.relative_l2(),
        "per_unknown": known.relative_l2_per_unknown(),
        "loss": result["loss"],
        "validation_loss": result["validation_loss"],
        "estimate": result["estimate"],
        "verdict": result["verdict"],
        **circumstances(),
    }


def line(run: dict[str, Any]) -> str:
    """One row of the table."""
    estimate, verdict = run["estimate"] or {}, run["verdict"]
    found = estimate.get("relative_l2")
    return (
        f"{run['problem']:24s} {run['seconds']:6.1f} {run['check_seconds']:6.1f} "
        f"{run['relative_l2']:9.1e} {max(run['per_unknown'].values()):9.1e} "
        f"{float('nan') if found is None else found:9.1e}  {verdict['status']:9s} "
        f"{verdict['reasons'][0]}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=[*PROBLEMS, *WITHOUT_RECIPE])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--missing", action="store_true", help="skip runs that are recorded")
    parser.add_argument("--out", type=Path, default=RUNS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.problems:
        path = given.out / f"{name}-{jax.default_backend()}-s{given.seed}.json"
        if given.missing and path.exists():
            continue
        run = record(name, given.seed)
        path.write_text(json.dumps(run, indent=1, default=float))
        print(line(run), flush=True)
    print(
        f"\n{'problem':24s} {'train':>6s} {'check':>6s} {'error':>9s} {'worst':>9s} "
        f"{'estimate':>9s}  verdict"
    )
    for run in gathered(given.out, RESULTS, IDENTITY):
        print(line(run))


if __name__ == "__main__":
    main()
