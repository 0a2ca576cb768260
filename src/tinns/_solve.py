"""`solve`: from a problem to a solution in one call."""

import dataclasses
import itertools
import platform
import time
import warnings
from collections.abc import Mapping
from importlib.metadata import version

import jax
import numpy as np

from tinns._runtime.compilation import kept_on_disk
from tinns._runtime.describe import settings_of
from tinns._runtime.errors import UserError
from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.interruption import Interruption
from tinns._runtime.precision import Precision, computing_in
from tinns._runtime.version import __version__
from tinns.geometry import spans_grids
from tinns.objective.constraints import conditions_to_build_in
from tinns.problem import Problem
from tinns.problem.checked_reference import check_reference
from tinns.problems import problem_named
from tinns.recipes.methods import BASELINES, apply_method
from tinns.recipes.named import recipe_for, recipes_for
from tinns.recipes.recipe import Recipe, check_seed
from tinns.solution.core import Solution
from tinns.solution.judgement import judged
from tinns.solution.monitor import Monitor
from tinns.solution.quantities import quantity_shapes, reference_field
from tinns.solution.uncertainty import estimates
from tinns.solvers import Stop, Trained, solve_task, window_edges
from tinns.solvers.progress import reporting
from tinns.tolerance import check_tolerance, reach_tolerance
from tinns.verification import Check

DEFAULT_RECIPE = "fast"
SECONDS_TO_TOLERANCE = 180.0  # of training, at most


def solve(
    problem: str | Problem,
    recipe: str | Recipe | None = None,
    method: str = "tinn",
    seed: int = 0,
    iterations: int | None = None,
    seconds: float | None = None,
    target_loss: float | None = None,
    progress: bool = True,
    hard: tuple[str, ...] | None = None,
    windows: int | tuple[float, ...] | None = None,
    precision: Precision | None = None,
    tolerance: float | None = None,
    check: bool | Check = True,
) -> Solution:
    """Solve a problem, given by name or as an object of your own class, and return u(x, t).

    The recipe gives all settings. `iterations`, `seconds` and `target_loss` replace its limits,
    `hard` the names of conditions that are built into the network, such as ("initial", "boundary"),
    `windows` the time windows solved in turn, their number or their edges, and `precision` that of
    the numbers, "float64" or "float32".

    With `tolerance` there is no recipe: network, points, windows and conditions to build in are
    chosen, and changed, until the estimated relative L2 error meets the tolerance or `seconds` of
    training (180 if not given) are over. `solution.result["tolerance"]` has the decisions.

    `solution.verdict` says whether to trust the result, by an estimate of its error among others;
    `check=Check.thorough()` looks more closely, and with `check=False` no error is estimated. A
    run that failed returns what it has, with a warning.
    """
    posed = pose(problem)
    chosen_by_user = {
        "recipe": recipe,
        "method": None if method == "tinn" else method,
        "iterations": iterations,
        "target_loss": target_loss,
        "hard": hard,
        "windows": windows,
        "precision": precision,
    }
    if tolerance is not None:
        refuse_beside_tolerance(chosen_by_user)
        solution = solve_to_tolerance(posed, tolerance, seconds, seed, progress, check)
    else:
        name, settings = resolve_recipe(
            posed, recipe, method, iterations, seconds, target_loss, hard, windows, precision
        )
        solution = solve_posed(posed, name, settings, method, seed, progress, check)
    failure = failure_of(solution)
    if failure:
        warnings.warn(f"{posed.name}: {failure}", RuntimeWarning, stacklevel=2)
    return solution


def failure_of(solution: Solution) -> str | None:
    """Why a result is not worth using, and what is at fault; None if the run did not fail."""
    verdict = solution.verdict
    assert verdict is not None
    return f"failed: {verdict.reasons[0]}" if verdict.status == "failed" else None


def pose(problem: str | Problem) -> Problem:
    """The problem of that name, or the given one."""
    posed = problem_named(problem) if isinstance(problem, str) else problem
    if not isinstance(posed, Problem):
        raise UserError(
            f"solve: {posed!r} is not a problem; give a name such as 'burgers' or an object of "
            "your class, with brackets: solve(Heat())"
        )
    posed.unknowns  # noqa: B018  # errors in the domain or the equation are reported first
    return posed


def solve_posed(
    problem: Problem,
    name: str,
    recipe: Recipe,
    method: str,
    seed: int,
    progress: bool = True,
    check: bool | Check = True,
) -> Solution:
    """Solve a problem by a recipe that has been resolved; `name` and `method` are recorded."""
    check_seed(seed)
    edges = window_edges(recipe.windows, problem.domain)
    with (
        Interruption(immediate=True),
        kept_on_disk(),
        computing_in(recipe.precision),
        reporting(recipe.stop, progress) as reporter,
        single_threaded_blas(),
    ):
        reporter.status("preparing")
        quantity_shapes(problem)  # errors in their code are reported before training
        check_reference(problem)
        known = problem.known_solution()
        measure = Monitor(problem, len(edges) - 1) if known is not None else None
        task = recipe.task(problem, seed, measure, reporter, len(edges) - 1)
        trained = solve_task(recipe.build_solver(edges), task)
        solution = _solution(problem, trained, recipe, name, method, seed)
        if check is True:
            check = Check.after_training(trained.seconds)
        return judged(solution, check or None, task.scales, reporter.status)


def refuse_beside_tolerance(given: Mapping[str, object], prefix: str = "") -> None:
    """Refuse settings that a search to a tolerance chooses by itself."""
    named = [f"{prefix}{name}" for name, value in given.items() if value is not None]
    if named:
        raise UserError(
            f"{', '.join(named)} beside {prefix}tolerance: with a tolerance all settings but "
            f"{prefix}seconds and {prefix}seed are chosen by the solver; leave them out"
        )


def solve_to_tolerance(
    problem: Problem,
    tolerance: float,
    seconds: float | None = None,
    seed: int = 0,
    progress: bool = True,
    check: bool | Check = True,
) -> Solution:
    """Solve a problem to a relative L2 error, as far as `seconds` of training allow."""
    seconds = SECONDS_TO_TOLERANCE if seconds is None else seconds
    check_tolerance(tolerance, seconds)
    check_seed(seed)
    _require_data(problem)
    with (
        Interruption(immediate=True),
        kept_on_disk(),
        computing_in("float64"),
        reporting(Stop(seconds=seconds), progress) as reporter,
        single_threaded_blas(),
    ):
        reporter.status("preparing")
        quantity_shapes(problem)
        check_reference(problem)
        reached = reach_tolerance(problem, tolerance, seconds=seconds, seed=seed, reporter=reporter)
        solution = _solution(problem, reached.trained, reached.recipe, "tolerance", "tinn", seed)
        record = {"tolerance": reached.as_data()}
        solution = dataclasses.replace(solution, result={**solution.result, **record})
        if check is True:
            check = Check.after_training(reached.trained.seconds)
        return judged(solution, check or None, None, reporter.status, reached.estimate)


def _solution(
    problem: Problem, trained: Trained, recipe: Recipe, name: str, method: str, seed: int
) -> Solution:
    """The solution of a run with its record, not yet checked."""
    until = None
    if trained.domain != problem.domain:  # interrupted before the last window
        problem = problem.with_domain(trained.domain)
        until = trained.domain.end
    solution = Solution(
        problem.domain,
        problem.unknowns,
        trained.field,
        jax.tree.map(np.asarray, trained.psi),
        recipe.precision,
        problem,
        trained.history,
    )
    result = _result(solution, trained, name, method, seed, recipe)
    if until is not None:
        result["solved_until"] = until
    if problem.trainable:
        result |= _estimates(trained)
    return dataclasses.replace(solution, result=result)


def resolve_recipe(
    problem: Problem,
    recipe: str | Recipe | None,
    method: str,
    iterations: int | None = None,
    seconds: float | None = None,
    target_loss: float | None = None,
    hard: tuple[str, ...] | None = None,
    windows: int | tuple[float, ...] | None = None,
    precision: Precision | None = None,
) -> tuple[str, Recipe]:
    """The settings that `solve` uses, checked against the problem, and a name for them."""
    if isinstance(recipe, Recipe):
        name, chosen = "custom", recipe
    elif recipe is None and DEFAULT_RECIPE not in recipes_for(problem):
        name, chosen = "default", Recipe()
    else:
        name = recipe or DEFAULT_RECIPE
        chosen = recipe_for(problem, name)
    _require_data(problem)
    if method in BASELINES:
        if recipe is not None:
            given = "one of yours" if isinstance(recipe, Recipe) else f"recipe '{recipe}'"
            raise UserError(
                f"method '{method}' is a recipe of its own and would use nothing of {given}; "
                "leave `recipe` out, or take the method's by tinns.recipes.methods.apply_method "
                "and change it"
            )
        name = method
    chosen = apply_method(method, problem, chosen)
    given = {"hard": hard, "windows": windows, "precision": precision}
    chosen = chosen.replace(**{n: value for n, value in given.items() if value is not None})
    if problem.trainable and spans_grids(chosen.sampler):
        raise UserError(
            f"{problem.name}: {', '.join(problem.trainable)} cannot be estimated with "
            "sampler=TensorGrid(...); use QuasiRandom() or Uniform(), or another method"
        )
    if chosen.hard:
        conditions_to_build_in(problem, chosen.hard)  # reports impossible names at once
    return name, _limited(chosen, iterations, seconds, target_loss)


def _limited(
    recipe: Recipe, iterations: int | None, seconds: float | None, target_loss: float | None
) -> Recipe:
    """A given limit replaces both the iterations and the seconds of the recipe."""
    stop = recipe.stop
    if iterations is not None or seconds is not None:
        stop = dataclasses.replace(stop, iterations=iterations, seconds=seconds)
    if target_loss is not None:
        stop = dataclasses.replace(stop, target_loss=target_loss)
    return recipe.replace(stop=stop)


def _windows(solution: Solution, trained: Trained) -> list[dict[str, object]]:
    """The record of each time window, as plain data."""
    jumps, edges = solution.jumps(), solution.window_edges
    return [
        {
            "from": start,
            "to": end,
            "jump": float(jumps[number - 1]) if number else 0.0,
            "iterations": part.iterations,
            "seconds": part.seconds,
            "relative_l2": _last(part.history.measured("relative_l2")[1]),
            "loss": part.loss,
            "validation_loss": part.validation_loss,
            "stop_reason": part.stop_reason.value,
        }
        for number, ((start, end), part) in enumerate(
            zip(itertools.pairwise(edges), trained.windows, strict=True)
        )
    ]


def _last(values: np.ndarray) -> float | None:
    return float(values[-1]) if len(values) else None


def _result(
    solution: Solution, trained: Trained, recipe_name: str, method: str, seed: int, recipe: Recipe
) -> dict[str, object]:
    """The record of a run, as plain data."""
    problem = solution.problem
    assert problem is not None
    reference = problem.known_solution()
    scores_quantities = reference is not None and reference_field(problem, reference) is not None
    history = trained.history
    counts = {n: int(history[n][-1]) for n in sorted(trained.counters) if n in history}
    return {
        "problem": problem.name,
        "method": method,
        "recipe": recipe_name,
        "seed": seed,
        "parameters": solution.parameters,
        "iterations": trained.iterations,
        "seconds": trained.seconds,
        "compile_seconds": trained.compile_seconds,
        "relative_l2": solution.relative_l2() if reference is not None else None,
        "errors": solution.errors() if scores_quantities else {},
        "loss": trained.loss,
        "validation_loss": trained.validation_loss,
        "stop_reason": trained.stop_reason.value,
        **({"stop_detail": trained.stop_detail} if trained.stop_detail else {}),
        "kept_iteration": trained.kept_iteration,
        "coefficients": solution.coefficients,
        "precision": recipe.precision,
        "settings": settings_of(recipe),
        **counts,
        **({"windows": _windows(solution, trained)} if trained.windows else {}),
        **circumstances(),
    }


def circumstances() -> dict[str, object]:
    """Where, with which versions and when something was computed, as plain data."""
    return {
        "device": device_name(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("jax", "jaxlib", "numpy", "optax")},
            "tinns": __version__,
        },
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _require_data(problem: Problem) -> None:
    """Coefficients can only be estimated from observations."""
    if problem.trainable and not problem.has_observations:
        raise UserError(
            f"{problem.name}: {', '.join(problem.trainable)} cannot be estimated without "
            "observations; add observed(x=..., t=..., u=...) to its conditions, use "
            "problem.observing(columns), or on the command line --data obs.csv"
        )


def _estimates(trained: Trained) -> dict[str, object]:
    """The record of estimated coefficients, as plain data."""
    assert trained.system is not None
    found = estimates(trained.system, trained.psi, trained.blocks, trained.points)
    errors = {name: e.error for name, e in found.items() if e.error is not None}
    return {
        "estimates": {name: estimate.as_data() for name, estimate in found.items()},
        "coefficient_errors": errors or None,
    }


def device_name() -> str:
    device = jax.devices()[0]
    if device.platform == "cpu":
        return f"CPU ({platform.machine()})"
    return device.device_kind
