"""A cell: one method on one problem with one seed, run for as long as a profile says."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

import jax
import numpy as np

from tinns.bench.curves import thinned_curve
from tinns.bench.tables import Row, Table
from tinns.diagnostics import DIAGNOSTICS, Request
from tinns.diagnostics.rank_one import POINTS, TIMES, rank_one_shares
from tinns.errors import UserError
from tinns.methods import METHODS
from tinns.precision import Precision
from tinns.problems import problem_named
from tinns.recipe import Recipe, settings_of
from tinns.sampling import Counts, TensorGrid
from tinns.solve import choose_recipe, circumstances, solve

Record = dict[str, Any]
DONE, FAILED = "done", "failed"
SMOKE_POINTS = Counts(64, 16, 16)
SMOKE_PER_AXIS = 8
SMOKE_WINDOWS = 2
SMOKE_LAYERS = 2
SMOKE_TIMES, SMOKE_FIT_POINTS = 3, 64


@dataclass(frozen=True)
class Profile:
    """How long cells are run; `small` also shrinks their points, to see that everything runs."""

    name: str
    seconds: float | None = None
    iterations: int | None = None
    small: bool = False

    @property
    def budget(self) -> str:
        """The profile's name in files: cells of different budgets are different cells."""
        return self.name if self.seconds is None else f"{self.name}-{self.seconds:g}s"


def profile_named(name: str, seconds: float | None = None) -> Profile:
    """paper: as long as each recipe says; equal-time: so many seconds each; smoke: two steps."""
    if name not in ("paper", "equal-time", "smoke"):
        raise UserError(f"profile '{name}': expected paper, equal-time (with --seconds) or smoke")
    if name == "equal-time":
        if seconds is None:
            raise UserError("profile equal-time: say how long each method may train, --seconds 60")
        if not 0 < seconds < math.inf:
            raise UserError(f"--seconds {seconds:g}: expected a number above 0")
        return Profile(name, seconds=seconds)
    if seconds is not None:
        raise UserError(f"--seconds {seconds:g}: only profile equal-time takes it, not {name}")
    return Profile(name, iterations=2, small=True) if name == "smoke" else Profile(name)


@dataclass(frozen=True)
class Cell:
    """What identifies a run; the same cell may stand in several tables."""

    problem: str
    method: str
    recipe: str | None
    precision: Precision | None
    seed: int
    budget: str

    @property
    def name(self) -> str:
        """The name of its file, and of the cell."""
        return f"{self.group}_seed{self.seed}"

    @property
    def group(self) -> str:
        """What all its seeds have in common."""
        parts = (self.problem, self.method, self.recipe, self.precision, self.budget)
        return "_".join(part for part in parts if part)


def cell_of(row: Row, problem: str, seed: int, profile: Profile) -> Cell:
    """The cell of a row; a precision that the method has anyway is left out, to share the cell."""
    cell = Cell(problem, row.method, row.recipe, None, seed, profile.budget)
    if row.precision is None:
        return cell
    with suppress(UserError):  # a method that is not there fails when it is run
        if chosen(cell, profile)[1].precision == row.precision:
            return cell
    return replace(cell, precision=row.precision)


def cells_of(table: Table, seeds: tuple[int, ...], profile: Profile) -> list[Cell]:
    """All cells of a table, problem by problem."""
    return [
        cell_of(row, problem, seed, profile)
        for problem in table.problems
        for row in table.rows_of(problem)
        for seed in seeds
    ]


def settings(cell: Cell, profile: Profile) -> dict[str, Any] | None:
    """What the recipe says now, but for when to stop; None where there is no such recipe."""
    if cell.method in DIAGNOSTICS:
        times, points = _fits(profile)
        return {"times": times, "points": points}
    try:
        _, recipe = chosen(cell, profile)
    except UserError:
        return None
    return comparable(settings_of(recipe))


def comparable(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain(stored).items() if name != "stop"}


def chosen(cell: Cell, profile: Profile) -> tuple[str, Recipe]:
    """The recipe that the cell is run by, and its name."""
    name, recipe = choose_recipe(
        problem_named(cell.problem),
        cell.recipe,
        cell.method,
        profile.iterations,
        profile.seconds,
        precision=cell.precision,
    )
    return name, shrunk(recipe) if profile.small else recipe


def shrunk(recipe: Recipe) -> Recipe:
    """The same with few layers, on few points and in few windows of time."""
    windows = SMOKE_WINDOWS if recipe.windows != 1 else 1
    on_grid = isinstance(recipe.sampler, TensorGrid)
    redraw = recipe.redraw and replace(recipe.redraw, ladder=(1,))  # each count is a program
    few = SMOKE_POINTS
    return recipe.but(
        field=shallow(recipe.field),
        points=few,
        validation=few,
        windows=windows,
        sampler=TensorGrid(SMOKE_PER_AXIS) if on_grid else recipe.sampler,
        redraw=redraw,
    )


def shallow(network: Any) -> Any:
    """The same network with no more than two hidden layers, or one block, in each of its parts."""
    if not is_dataclass(network) or isinstance(network, type):
        return network
    parts = {field.name: shallow(getattr(network, field.name)) for field in fields(network)}
    if "hidden" in parts and isinstance(parts["hidden"], tuple):
        parts["hidden"] = parts["hidden"][:SMOKE_LAYERS]
    if "blocks" in parts:
        parts["blocks"] = 1
    return type(network)(**parts)


def run(cell: Cell, profile: Profile) -> Record | None:
    """The record of a cell, failed or done; None if it was interrupted."""
    record: Record = {
        "cell": asdict(cell),
        "profile": asdict(profile),
        "status": FAILED,
        "reason": None,
        "settings": None,
        "result": {},
        "curve": [],
    }
    try:
        record["settings"] = settings(cell, profile)
        with _compiled_quickly(profile.small):
            outcome = _diagnosed if cell.method in DIAGNOSTICS else _solved
            record |= outcome(cell, profile)
    except KeyboardInterrupt:
        return None
    except UserError as error:
        record["reason"] = str(error)
    except Exception as error:  # whatever ails one cell, the others go on
        first = (str(error).strip().splitlines() or [""])[0]
        record["reason"] = f"{type(error).__name__}: {first}"
    if record["result"].get("stop_reason") == "interrupted":
        return None
    return plain(record)


def _solved(cell: Cell, profile: Profile) -> Record:
    """A solve, and whether its outcome is one."""
    if cell.method not in METHODS:
        raise UserError(f"there is no method called {cell.method}")
    name, recipe = chosen(cell, profile)
    solution = solve(cell.problem, recipe, seed=cell.seed, progress=False)
    # The recipe went in as an object, with the method already applied: the names are the cell's.
    result: dict[str, Any] = dict(solution.result) | {"method": cell.method, "recipe": name}
    error = result["relative_l2"]
    if result["stop_reason"] == "diverged" or (error is not None and not math.isfinite(error)):
        return {"result": result, "reason": "diverged"}
    return {"status": DONE, "result": result, "curve": thinned_curve(solution.history)}


def _diagnosed(cell: Cell, profile: Profile) -> Record:
    """The rank-one diagnostic, the one that makes a table of the paper."""
    times, points = _fits(profile)
    request = Request(profile.seconds, profile.iterations, cell.seed, progress=False)
    began = time.perf_counter()
    data = rank_one_shares(request, times, points).data
    facts = {
        "problem": cell.problem,
        "method": cell.method,
        "seconds": time.perf_counter() - began,
        "iterations": sum(data["fit_iterations"]),
        **circumstances(),
    }
    return {"status": DONE, "result": data | facts}


def _fits(profile: Profile) -> tuple[int, int]:
    """How many times are fitted, on how many points."""
    return (SMOKE_TIMES, SMOKE_FIT_POINTS) if profile.small else (TIMES, POINTS)


@contextmanager
def _compiled_quickly(wanted: bool) -> Iterator[None]:
    """Programs that run twice are compiled quickly, not well."""
    name = "jax_disable_most_optimizations"
    before = bool(getattr(jax.config, "values", {}).get(name))
    jax.config.update(name, before or wanted)
    try:
        yield
    finally:
        jax.config.update(name, before)


def plain(value: Any) -> Any:
    """Data that JSON can hold: numbers that are none become null."""
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return getattr(value, "__name__", None) or repr(value)
