"""Whether tolerances are met: the paper's eleven problems, as if nothing were known of them.

    python benchmarks/tolerance.py --tolerance 1e-3 --seconds 180
    python benchmarks/tolerance.py --tolerance 1e-6 --seconds 120 --problems kdv wave
    python benchmarks/tolerance.py --summary

Each problem is solved by `reach_tolerance`, which uses neither its recipes nor its reference; true
errors are computed afterwards. Runs are written to runs/tolerance, one file each, and all of them
to results/tolerance.json. On an interrupted machine the same command goes on with `--missing`.
With `--jobs` several run at once and take turns at training, so that no device waits for compilers.
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from recorded import gathered
from tinns import Problem, Solution
from tinns._solve import circumstances
from tinns.paper.untuned_problems import UNTUNED
from tinns.problems import PROBLEMS
from tinns.solvers.progress import Snapshot
from tinns.tolerance import Reached, reach_tolerance
from turns import in_processes

RUNS, RESULTS = Path("runs/tolerance"), Path("results/tolerance.json")
IDENTITY = ("problem", "device", "tolerance", "budget", "seed")  # of a record
EXCESS = 3.0  # the most by which a true error may exceed a tolerance that is said to be met


@dataclass(frozen=True)
class Printing:
    """A reporter that prints decisions."""

    name: str

    def status(self, activity: str) -> None:
        pass

    def notice(self, fact: str) -> None:
        print(f"    {self.name}: {fact}", flush=True)

    def update(self, snapshot: Snapshot) -> None:
        pass


def solved(problem: Problem, reached: Reached) -> Solution:
    trained = reached.trained
    posed = problem
    if trained.domain != problem.domain:
        posed = problem.with_domain(trained.domain)
    psi = jax.tree.map(np.asarray, trained.psi)
    return Solution(posed.domain, posed.unknowns, trained.field, psi, "float64", posed)


def record(name: str, tolerance: float, seconds: float, seed: int, jobs: int) -> dict[str, Any]:
    """Solve one problem to a tolerance: the record of it, as plain data."""
    problem = (PROBLEMS | UNTUNED)[name]()
    started, worked = time.perf_counter(), time.process_time()
    reached = reach_tolerance(
        problem, tolerance, seconds=seconds, seed=seed, reporter=Printing(name)
    )
    wall, cpu = time.perf_counter() - started, time.process_time() - worked
    solution, estimate = solved(problem, reached), reached.estimate
    return {
        "problem": name,
        "tolerance": tolerance,
        "seed": seed,
        "budget": seconds,
        "seconds": reached.trained.seconds,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "jobs": jobs,
        "met": reached.met,
        "estimate": None if estimate is None else estimate.as_data(),
        "relative_l2": solution.relative_l2(),
        "coefficients": solution.coefficients,
        "parameters": solution.parameters,
        "iterations": reached.trained.iterations,
        "decisions": [decision.as_data() for decision in reached.decisions],
        **circumstances(),
    }


def run(path: Path, *what: Any) -> None:
    """Solve one problem, and write the record."""
    made = record(*what)
    path.write_text(json.dumps(made, indent=1))
    print(line(made), flush=True)


def line(run: dict[str, Any]) -> str:
    """One row of the table."""
    found = (run["estimate"] or {}).get("relative_l2")
    estimate = float("nan") if found is None else found
    kept = run["relative_l2"] <= EXCESS * run["tolerance"]
    verdict = ("met" if kept else "SAID TO BE MET, BUT IS NOT") if run["met"] else "not met"
    return (
        f"{run['problem']:24s} {run['device']:14.14s} {run['tolerance']:7.0e} "
        f"{run['seed']:4d} {run['seconds']:7.1f} {run['wall_seconds']:7.0f} "
        f"{estimate:9.1e} {run['relative_l2']:9.1e}  {verdict}"
    )


def summarise(runs: list[dict[str, Any]]) -> None:
    """Print all runs, and how many tolerances were met on each device."""
    print(
        f"{'problem':24s} {'device':14s} {'tol.':>7s} {'seed':>4s} {'seconds':>7s} {'wall':>7s} "
        f"{'estimate':>9s} {'error':>9s}"
    )
    ordered = sorted(runs, key=lambda run: (run["device"], run["tolerance"], run["problem"]))
    for run in ordered:
        print(line(run))
    for device, tolerance in sorted({(run["device"], run["tolerance"]) for run in runs}):
        own = [r for r in runs if (r["device"], r["tolerance"]) == (device, tolerance)]
        met = [r for r in own if r["met"]]
        broken = [r for r in met if r["relative_l2"] > EXCESS * tolerance]
        print(
            f"{device}, {tolerance:.0e}: met in {len(met)} of {len(own)} runs; true error above "
            f"{EXCESS:g} times the tolerance in {len(broken)} of these"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--missing", action="store_true", help="skip runs that are recorded")
    parser.add_argument("--summary", action="store_true", help="only print what is recorded")
    parser.add_argument("--out", type=Path, default=RUNS)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once, in turns")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    calls = []
    for name in () if given.summary else given.problems:
        for seed in given.seeds:
            backend = jax.default_backend()
            path = given.out / f"{name}-{backend}-{given.tolerance:.0e}-s{seed}.json"
            if not (given.missing and path.exists()):
                calls.append((path, name, given.tolerance, given.seconds, seed, given.jobs))
    if given.jobs > 1:
        in_processes(given.jobs, run, calls)
    else:
        for call in calls:
            run(*call)
    summarise(gathered(given.out, RESULTS, IDENTITY))


if __name__ == "__main__":
    main()
