"""How far error estimates are from true errors, at three moments of many runs.

    python benchmarks/effectivity.py train --seconds 12 --seeds 0 1 2
    python benchmarks/effectivity.py estimate
    python benchmarks/effectivity.py summary

`train` solves the paper's eleven problems by recipe `fast`, and problems without recipes by the
default one; it saves solutions after a quarter, a half and all of the time in runs/effectivity.
`estimate` estimates their errors without their references, both by a classical solution and from
the network alone, one file each, and gathers all of them in results/effectivity.json. What is there
already is not made again.
"""

import argparse
import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from recorded import gathered
from tinns import Problem, Solution, Stop, UserError
from tinns._runtime.compilation import kept_on_disk
from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns._solve import resolve_recipe
from tinns.paper.effectivity import KINDS, Estimated, summarised
from tinns.paper.untuned_problems import UNTUNED
from tinns.problems import PROBLEMS
from tinns.solution.storage import load
from tinns.solvers import window_edges
from tinns.verification import (
    Breakdown,
    Check,
    ErrorEstimate,
    NotApplicable,
    classical_estimate,
    network_estimate,
)

RUNS, RESULTS = Path("runs/effectivity"), Path("results/effectivity.json")
MOMENTS = (0.25, 0.5, 1.0)  # of the training time
IDENTITY = ("problem", "device", "seed", "moment")  # of a record
KEPT = (
    "problem",
    "recipe",
    "seed",
    "moment",
    "device",
    "seconds",
    "iterations",
    "validation_loss",
    "relative_l2",
)


def problem_called(name: str) -> Problem:
    return (PROBLEMS | UNTUNED)[name]()


def train(name: str, seed: int, seconds: float, out: Path) -> None:
    """Solve one problem and save its solution at the three moments."""
    problem = problem_called(name)
    label, recipe = resolve_recipe(problem, None, "tinn")
    recipe = recipe.replace(stop=Stop(seconds=seconds))
    edges = window_edges(recipe.windows, problem.domain)
    started = time.perf_counter()
    with kept_on_disk(), computing_in(recipe.precision), single_threaded_blas():
        task = recipe.task(problem, seed, windows=len(edges) - 1)
        run = recipe.build_solver(edges).prepare(task)
        in_windows = len(edges) > 2
        for number, moment in enumerate(MOMENTS):
            if number == 0 or in_windows:  # windows share the time they are given at first
                state = run.start()
            stop = Stop(seconds=moment * seconds)
            state, reason = _advanced(run, state, stop)
            trained = run.finish(state, reason)
            solution = Solution(
                problem.domain,
                problem.unknowns,
                trained.field,
                jax.tree.map(np.asarray, trained.psi),
                recipe.precision,
                problem,
            )
            over_time = solution.relative_l2_over_time()
            result = {
                "problem": name,
                "recipe": label,
                "seed": seed,
                "moment": moment,
                "device": jax.default_backend(),
                "seconds": trained.seconds,
                "iterations": trained.iterations,
                "loss": trained.loss,
                "validation_loss": trained.validation_loss,
                "stop_reason": trained.stop_reason.value,
                "relative_l2": solution.relative_l2(),
                "over_time": [float(v) for v in over_time.values],
                "times": [float(t) for t in over_time["t"].values],
            }
            path = out / f"{name}-{jax.default_backend()}-s{seed}-m{number}.safetensors"
            replace(solution, result=result).save(path)
            spent = time.perf_counter() - started
            print(f"{path.stem}  {result['relative_l2']:.2e}  {spent:.0f} s", flush=True)


def _advanced(run, state, stop):
    """The state at which a run stops, and why."""
    while (reason := run.reason(state, stop)) is None:
        state = run.advance(state, stop)
    return state, reason


def estimated(file: Path) -> dict[str, Any]:
    """The estimates of one solution, beside its true error."""
    bare = load(file, problem_called(file.name.split("-cpu-")[0].split("-gpu-")[0]))
    problem, result = bare.problem, bare.result
    check = Check.after_training(result["seconds"])
    given = problem, bare.field, bare.psi

    def classical() -> ErrorEstimate:
        return classical_estimate(*given, budget=check.classical_seconds)

    def network() -> ErrorEstimate:
        return network_estimate(*given, budget=check.network_seconds)

    return {
        **{name: result[name] for name in KEPT},
        "classical": _attempted(classical),
        "network": _attempted(network),
    }


def _attempted(estimate: Callable[[], ErrorEstimate]) -> dict[str, Any]:
    """An estimate, or why there is none, with the seconds that it took."""
    started = time.perf_counter()
    try:
        with kept_on_disk():
            found = estimate()
    except (NotApplicable, Breakdown) as lack:
        return {"estimate": None, "why": str(lack), "seconds": time.perf_counter() - started}
    plain = found.as_data()
    kept = {name: plain[name] for name in ("factor", "how", "seconds")}
    return {"estimate": plain["relative_l2"], **kept}


def line(record: Estimated) -> str:
    """A solution, its error, and the estimates relative to it with their seconds."""
    parts = []
    for kind in ("classical", "network"):
        ratio, seconds = record.effectivity(kind), record.attempt(kind).seconds
        shown = "       -" if ratio is None else f"{ratio:8.2f}"
        parts.append(f"{kind} {shown} in {seconds:5.1f} s")
    own = f"{record.problem:24s} s{record.seed} m{record.moment:<4g}"
    return f"{own} {record.relative_l2:8.1e}  {'  '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=("train", "estimate", "summary"))
    parser.add_argument("--problems", nargs="*", default=[*PROBLEMS, *UNTUNED])
    parser.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--again", action="store_true", help="also what is there already")
    given = parser.parse_args()
    given.runs.mkdir(parents=True, exist_ok=True)
    for name, seed in [(name, seed) for name in given.problems for seed in given.seeds]:
        files = sorted(given.runs.glob(f"{name}-?pu-s{seed}-m?.safetensors"))
        if given.command == "train" and (given.again or len(files) < len(MOMENTS)):
            with contextlib.suppress(UserError):
                train(name, seed, given.seconds, given.runs)
        for file in files if given.command == "estimate" else ():
            record = file.with_suffix(".json")
            if given.again or not record.exists():
                found = estimated(file)
                record.write_text(json.dumps(found, indent=1, default=float))
                print(line(Estimated.from_data(found)), flush=True)
    found = gathered(given.runs, RESULTS, IDENTITY)
    records = [Estimated.from_data(each) for each in found]
    for record in records if given.command == "summary" else ():
        print(line(record))
    for kind in KINDS:
        if (summary := summarised(records, kind)) is not None:
            print(f"{kind}: {summary.sentence}")


if __name__ == "__main__":
    main()
