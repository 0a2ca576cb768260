"""How far error estimates are from true errors, at three moments of many runs.

    python benchmarks/effectivity.py train --seconds 12 --seeds 0 1 2 --out runs/effectivity
    python benchmarks/effectivity.py estimate runs/effectivity

`train` solves the paper's eleven problems by recipe `fast`, and problems without recipes by the
default one; it saves solutions after a quarter, a half and all of the time. `estimate` estimates
their errors without their references, and writes results/effectivity.json.
"""

import argparse
import contextlib
import time
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

from tinns import Problem, Solution, Stop, UserError
from tinns._runtime.compilation import kept_on_disk
from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns._solve import resolve_recipe
from tinns.paper.untuned_problems import UNTUNED
from tinns.problems import PROBLEMS
from tinns.solvers import window_edges

MOMENTS = (0.25, 0.5, 1.0)  # of the training time


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    training.add_argument("--problems", nargs="*", default=[*PROBLEMS, *UNTUNED])
    training.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    training.add_argument("--seconds", type=float, default=12.0)
    training.add_argument("--out", type=Path, default=Path("runs/effectivity"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.problems:
        for seed in given.seeds:
            with contextlib.suppress(UserError):
                train(name, seed, given.seconds, given.out)


if __name__ == "__main__":
    main()
