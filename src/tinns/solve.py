"""`solve`: from a problem to a solution in one call."""

import dataclasses
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import jax
import numpy as np

from tinns.constraints import conditions_to_build_in
from tinns.errors import UserError
from tinns.least_squares.host_blas import single_threaded_blas
from tinns.marching import march
from tinns.methods import apply_method
from tinns.problem import Problem
from tinns.problems import problem_named
from tinns.recipe import Recipe, settings_of
from tinns.residuals import Psi, System, assemble
from tinns.separation import Separation
from tinns.solution import Solution
from tinns.training import Trained, train
from tinns.training.compilation import kept_on_disk
from tinns.training.progress import watching
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
) -> Solution:
    """Solve a problem (by name, or one of your own) and return u(x, t).

    The recipe gives all settings; `iterations`, `seconds` and `target_loss` replace its limits, and
    `hard` the names of conditions that are built into the network, such as ("initial", "boundary").
    """
    posed = problem_named(problem) if isinstance(problem, str) else problem
    if not isinstance(posed, Problem):
        raise UserError(
            f"solve: {posed!r} is no problem; give a name such as 'burgers' or an object of your "
            "class, with brackets: solve(Heat())"
        )
    if not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise UserError(f"seed: expected a whole number from 0 to {2**32 - 1}, got {seed!r}")
    name, chosen = choose_recipe(posed, recipe, method, iterations, seconds, target_loss, hard)
    with kept_on_disk():
        with jax.enable_x64(chosen.precision == "float64"):
            system = assemble(posed, chosen.field, chosen.weights, chosen.hard)
            with watching(chosen.stop, progress) as watcher, single_threaded_blas():
                watcher.says("preparing the reference")
                measure = _monitor(system)
                if isinstance(chosen.optimizer, Separation):
                    system, trained = march(system, chosen, seed, measure, watcher)
                else:
                    trained = train(system, chosen, seed, measure, watcher)
        solution = Solution(
            posed.domain,
            posed.unknowns,
            system.field,
            jax.tree.map(np.asarray, trained.psi),
            chosen.precision,
            posed,
            trained.history,
        )
        result = _result(solution, trained, name, method, seed, chosen)
    return dataclasses.replace(solution, result=result)


def choose_recipe(
    problem: Problem,
    recipe: str | Recipe | None,
    method: str,
    iterations: int | None = None,
    seconds: float | None = None,
    target_loss: float | None = None,
    hard: tuple[str, ...] | None = None,
) -> tuple[str, Recipe]:
    """The settings that `solve` would use, and a name for them."""
    if isinstance(recipe, Recipe):
        name, chosen = "custom", recipe
    elif recipe is None and DEFAULT_RECIPE not in problem.recipes:
        name, chosen = "default", Recipe()
    else:
        name = recipe or DEFAULT_RECIPE
        chosen = problem.recipe(name)
    chosen = apply_method(method, chosen if hard is None else chosen.but(hard=hard))
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


def _monitor(system: System) -> Callable[[Psi], float] | None:
    """The error on a thinned test grid, for look-ups during training."""
    problem = system.problem
    reference = problem.known_solution()
    if reference is None:
        return None
    grid = problem.test_grid()
    size = np.prod([len(points) for points in grid.values()])
    stride = max(1, round((size / MONITOR_POINTS) ** (1 / len(grid))))
    thinned = {axis: points[::stride] for axis, points in grid.items()}
    known = reference.on_grid(**thinned)
    mesh = np.meshgrid(*thinned.values(), indexing="ij")
    points = dict(zip(thinned, (m.reshape(-1) for m in mesh), strict=True))
    values = known.reshape(points[problem.domain.axes[0]].size, -1)
    zero, outputs, domain = (0,) * len(grid), len(problem.unknowns), problem.domain

    @jax.jit
    def measure(psi: Psi) -> Any:
        def at(point: Any) -> Any:
            return system.field.derivatives(psi["field"], domain, outputs, point, [zero])[zero]

        difference = jax.vmap(at)(points)[:, : values.shape[1]] - values
        return jax.numpy.linalg.norm(difference) / np.linalg.norm(values)

    return measure


def _result(
    solution: Solution, trained: Trained, recipe_name: str, method: str, seed: int, recipe: Recipe
) -> dict[str, Any]:
    """What is worth recording of a run, as plain data."""
    problem = solution.problem
    assert problem is not None
    has_reference = problem.known_solution() is not None
    counts = {
        n: int(trained.history[n][-1])
        for n in ("redraws", "failures", "accepted", "rejected", "accelerated")
        if n in trained.history
    }
    return {
        "problem": problem.name,
        "method": method,
        "recipe": recipe_name,
        "seed": seed,
        "parameters": solution.parameters,
        "iterations": trained.iterations,
        "seconds": trained.seconds,
        "compile_seconds": trained.compile_seconds,
        "relative_l2": solution.relative_l2() if has_reference else None,
        "loss": trained.loss,
        "validation_loss": trained.validation_loss,
        "stop_reason": trained.stop_reason,
        "kept_iteration": trained.kept_iteration,
        "coefficients": solution.coefficients,
        "precision": recipe.precision,
        "settings": settings_of(recipe),
        **counts,
        "device": device_name(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("jax", "jaxlib", "numpy", "optax")},
            "tinns": __version__,
        },
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def device_name() -> str:
    device = jax.devices()[0]
    if device.platform == "cpu":
        return f"CPU ({platform.machine()})"
    return device.device_kind
