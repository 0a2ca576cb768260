"""`solve`: from a problem to a solution in one call."""

import dataclasses
import itertools
import platform
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from tinns.compilation import jitted, kept_on_disk
from tinns.constraints import conditions_to_build_in
from tinns.domain import TIME
from tinns.errors import UserError
from tinns.fields import Field, Windowed
from tinns.least_squares.host_blas import single_threaded_blas
from tinns.marching import march
from tinns.methods import BASELINES, apply_method
from tinns.precision import Precision, computing_in
from tinns.problem import Problem
from tinns.problems import problem_named
from tinns.quantities import quantity_shapes, reference_field
from tinns.recipe import Recipe, check_seed, settings_of
from tinns.residuals import Psi, System, assemble
from tinns.sampling import TensorGrid
from tinns.separation import Separation
from tinns.solution import Solution
from tinns.training import Trained, train
from tinns.training.progress import Watcher, watching
from tinns.training.stopping import Interruption
from tinns.training.windows import COUNTERS, check_windows, train_in_windows, window_edges
from tinns.uncertainty import estimates
from tinns.version import __version__

DEFAULT_RECIPE = "fast"
MONITOR_POINTS = 5000  # about how many points the error shown during a run is measured on


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
) -> Solution:
    """Solve a problem (by name, or one of your own) and return u(x, t).

    The recipe gives all settings; `iterations`, `seconds` and `target_loss` replace its limits,
    `hard` the names of conditions that are built into the network, such as ("initial", "boundary"),
    `windows` the time windows solved in turn, their number or their edges, and `precision` that of
    the numbers, "float64" or "float32".
    """
    posed = problem_named(problem) if isinstance(problem, str) else problem
    if not isinstance(posed, Problem):
        raise UserError(
            f"solve: {posed!r} is no problem; give a name such as 'burgers' or an object of your "
            "class, with brackets: solve(Heat())"
        )
    check_seed(seed)
    name, chosen = choose_recipe(
        posed, recipe, method, iterations, seconds, target_loss, hard, windows, precision
    )
    with Interruption(at_once=True), kept_on_disk():
        with (
            computing_in(chosen.precision),
            watching(chosen.stop, progress) as watcher,
            single_threaded_blas(),
        ):
            system, trained = _trained(posed, chosen, seed, watcher)
        posed, field = _reached(posed, system, chosen, trained)
        solution = Solution(
            posed.domain,
            posed.unknowns,
            field,
            jax.tree.map(np.asarray, trained.psi),
            chosen.precision,
            posed,
            trained.history,
        )
        result = _result(solution, trained, name, method, seed, chosen)
        if posed.sought:
            result |= _found(system, trained)
    return dataclasses.replace(solution, result=result)


def _trained(
    problem: Problem, recipe: Recipe, seed: int, watcher: Watcher
) -> tuple[System, Trained]:
    """The system of rows, whose time runs from 0 to 1 if there are windows, and its training."""
    edges = window_edges(recipe.windows, problem.domain)
    in_windows = len(edges) > 2
    posed = problem.reposed(problem.domain.over(0, 1)) if in_windows else problem
    system = assemble(posed, recipe.field, recipe.weights, recipe.hard, recipe.sampler)
    quantity_shapes(posed)  # a fault in their code is told before the training
    watcher.says("preparing the reference")
    measures = _monitors(problem, system, edges)
    if in_windows:
        return system, train_in_windows(system, recipe, seed, edges, measures, watcher)
    if isinstance(recipe.optimizer, Separation):
        return march(system, recipe, seed, measures[0], watcher)
    return system, train(system, recipe, seed, measures[0], watcher)


def _reached(
    problem: Problem, system: System, recipe: Recipe, trained: Trained
) -> tuple[Problem, Field]:
    """The problem as far as it was solved, and the field that represents u."""
    if not trained.windows:
        return problem, system.field
    edges = window_edges(recipe.windows, problem.domain)
    reached = edges[: len(trained.windows) + 1]
    if reached != edges:  # interrupted
        problem = problem.reposed(problem.domain.over(reached[0], reached[-1]))
    return problem, Windowed(system.field, reached)


def choose_recipe(
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
    """The settings that `solve` would use, and a name for them."""
    if isinstance(recipe, Recipe):
        name, chosen = "custom", recipe
    elif recipe is None and DEFAULT_RECIPE not in problem.recipes:
        name, chosen = "default", Recipe()
    else:
        name = recipe or DEFAULT_RECIPE
        chosen = problem.recipe(name)
    _require_data(problem)
    if method in BASELINES:
        if recipe is not None:
            given = "one of yours" if isinstance(recipe, Recipe) else f"recipe '{recipe}'"
            raise UserError(
                f"method '{method}' is a recipe of its own and would take nothing of {given}; "
                "leave `recipe` out, or take the method's by tinns.methods.apply_method and "
                "change it"
            )
        name = method
    chosen = apply_method(method, problem, chosen)
    if hard is not None:
        chosen = chosen.but(hard=hard)
    if windows is not None:
        chosen = chosen.but(windows=windows)
    if precision is not None:
        chosen = chosen.but(precision=precision)
    check_windows(problem, chosen)
    if problem.sought and isinstance(chosen.sampler, TensorGrid):
        raise UserError(
            f"{problem.name}: {', '.join(problem.sought)} cannot be found with "
            "sampler=TensorGrid(...); use QuasiRandom() or Uniform(), or another method"
        )
    if chosen.hard:
        conditions_to_build_in(problem, chosen.hard)  # names that cannot be are told at once
    return name, _limited(chosen, iterations, seconds, target_loss)


def _limited(
    recipe: Recipe, iterations: int | None, seconds: float | None, target_loss: float | None
) -> Recipe:
    """A given limit takes the place of the recipe's iterations and seconds, both of them."""
    stop = recipe.stop
    if iterations is not None or seconds is not None:
        stop = dataclasses.replace(stop, iterations=iterations, seconds=seconds)
    if target_loss is not None:
        stop = dataclasses.replace(stop, target_loss=target_loss)
    return recipe.but(stop=stop)


def _monitors(
    problem: Problem, system: System, edges: Sequence[float]
) -> list[Callable[[Psi], float] | None]:
    """For each stretch of time the error on a thinned test grid, for look-ups during training."""
    spans = list(itertools.pairwise(edges))
    reference = problem.known_solution()
    if reference is None:
        return [None] * len(spans)
    grid = problem.test_grid()
    size = np.prod([len(points) for points in grid.values()])
    stride = max(1, round((size / MONITOR_POINTS) ** (1 / len(grid))))
    thinned = {axis: points[::stride] for axis, points in grid.items()}
    if len(spans) > 1:  # as many times in each, so that one program serves them all
        thinned[TIME] = np.linspace(0, 1, max(3, len(thinned[TIME]) // len(spans) + 1))
    mesh = np.meshgrid(*thinned.values(), indexing="ij")
    points = dict(zip(thinned, (m.reshape(-1) for m in mesh), strict=True))
    zero, outputs, domain = (0,) * len(grid), len(problem.unknowns), system.problem.domain

    @jitted
    def measure(psi: Psi, values: Any) -> Any:
        def at(point: Any) -> Any:
            return system.field.derivatives(psi["field"], domain, outputs, point, [zero])[zero]

        difference = jax.vmap(at)(points)[:, : values.shape[1]] - values
        return jax.numpy.linalg.norm(difference) / jax.numpy.linalg.norm(values)

    def over(start: float, end: float) -> Callable[[Psi], float]:
        times = thinned[TIME] if len(spans) == 1 else start + (end - start) * thinned[TIME]
        known = reference.on_grid(**(thinned | {TIME: times}))
        return partial(measure, values=known.reshape(mesh[0].size, -1))

    return [over(*span) for span in spans]


def _windows(solution: Solution, trained: Trained) -> list[dict[str, Any]]:
    """What is worth recording of each window."""
    assert isinstance(solution.field, Windowed)
    jumps, spans = solution.jumps(), itertools.pairwise(solution.field.edges)
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
            "stop_reason": part.stop_reason,
        }
        for number, ((start, end), part) in enumerate(zip(spans, trained.windows, strict=True))
    ]


def _last(values: np.ndarray) -> float | None:
    return float(values[-1]) if len(values) else None


def _result(
    solution: Solution, trained: Trained, recipe_name: str, method: str, seed: int, recipe: Recipe
) -> dict[str, Any]:
    """What is worth recording of a run, as plain data."""
    problem = solution.problem
    assert problem is not None
    reference = problem.known_solution()
    scores_quantities = reference is not None and reference_field(problem, reference) is not None
    counts = {n: int(trained.history[n][-1]) for n in sorted(COUNTERS) if n in trained.history}
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
        "stop_reason": trained.stop_reason,
        "kept_iteration": trained.kept_iteration,
        "coefficients": solution.coefficients,
        "precision": recipe.precision,
        "settings": settings_of(recipe),
        **counts,
        **({"windows": _windows(solution, trained)} if trained.windows else {}),
        **circumstances(),
    }


def circumstances() -> dict[str, Any]:
    """Where, by which versions and when something was computed, as plain data."""
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
    """Coefficients can only be found from observations."""
    if problem.sought and not problem.has_observations:
        raise UserError(
            f"{problem.name}: {', '.join(problem.sought)} cannot be found without observations; "
            "add observed(x=..., t=..., u=...) to its conditions, use problem.observing(columns), "
            "or on the command line --data obs.csv"
        )


def _found(system: System, trained: Trained) -> dict[str, Any]:
    """What is recorded of coefficients that were sought."""
    found = estimates(system, trained.psi, trained.blocks, trained.points)
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
