"""Cells: one method on one problem with one seed, run for as long as a profile says."""

from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TypeVar

from tinns._runtime.describe import settings_of
from tinns._runtime.errors import UserError
from tinns._runtime.precision import Precision
from tinns._solve import resolve_recipe
from tinns.geometry import Counts, TensorGrid, spans_grids
from tinns.paper.diagnostics import DIAGNOSTICS
from tinns.paper.diagnostics.rank_one import POINTS, TIMES
from tinns.paper.profiles import Profile
from tinns.paper.records import Settings, comparable, plain
from tinns.paper.tables import Row, Table
from tinns.problems import problem_named
from tinns.recipes.recipe import Recipe

SMOKE_POINTS = Counts(64, 16, 16)
SMOKE_PER_AXIS = 8
SMOKE_WINDOWS = 2
SMOKE_LAYERS = 2
SMOKE_TIMES, SMOKE_FIT_POINTS = 3, 64

Network = TypeVar("Network")


@dataclass(frozen=True)
class Cell:
    """What identifies a run; several tables may share it."""

    problem: str
    method: str
    recipe: str | None
    precision: Precision | None
    seed: int
    budget: str

    @property
    def name(self) -> str:
        """The name of the cell and of its file."""
        return f"{self.group}_seed{self.seed}"

    @property
    def group(self) -> str:
        """The part of the name that all seeds share."""
        parts = (self.problem, self.method, self.recipe, self.precision, self.budget)
        return "_".join(part for part in parts if part)


def cell_of(row: Row, problem: str, seed: int, profile: Profile) -> Cell:
    """The cell of a row; a precision that the method uses anyway is left out of its name."""
    cell = Cell(problem, row.method, row.recipe, None, seed, profile.budget)
    if row.precision is None:
        return cell
    with suppress(UserError):  # an unknown method fails when it is run
        if recipe_of(cell, profile)[1].precision == row.precision:
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


def current_settings(cell: Cell, profile: Profile) -> Settings | None:
    """The settings of a cell now, except when to stop; None if it has no recipe."""
    if cell.method in DIAGNOSTICS:
        times, points = fit_sizes(profile)
        return {"times": times, "points": points}
    try:
        _, recipe = recipe_of(cell, profile)
    except UserError:
        return None
    return comparable(plain(settings_of(recipe)))


def recipe_of(cell: Cell, profile: Profile) -> tuple[str, Recipe]:
    """The name of the recipe of a cell, and the recipe."""
    name, recipe = resolve_recipe(
        problem_named(cell.problem),
        cell.recipe,
        cell.method,
        profile.iterations,
        profile.seconds,
        precision=cell.precision,
    )
    return name, shrunk(recipe) if profile.small else recipe


def fit_sizes(profile: Profile) -> tuple[int, int]:
    """The numbers of times and of points in the rank-one diagnostic."""
    return (SMOKE_TIMES, SMOKE_FIT_POINTS) if profile.small else (TIMES, POINTS)


def shrunk(recipe: Recipe) -> Recipe:
    """The same recipe with few layers, points and time windows."""
    few = SMOKE_POINTS
    on_grid = spans_grids(recipe.sampler)
    return recipe.replace(
        field=shallow(recipe.field),
        points=few,
        validation=few,
        windows=SMOKE_WINDOWS if recipe.windows != 1 else 1,
        sampler=TensorGrid(SMOKE_PER_AXIS) if on_grid else recipe.sampler,
        # A program is compiled for each number of points.
        redraw=recipe.redraw and replace(recipe.redraw, ladder=(1,)),
    )


def shallow(network: Network) -> Network:
    """The same network with at most two hidden layers, or one block, in each of its parts."""
    if not is_dataclass(network) or isinstance(network, type):
        return network
    parts = {field.name: shallow(getattr(network, field.name)) for field in fields(network)}
    if isinstance(parts.get("hidden"), tuple):
        parts["hidden"] = parts["hidden"][:SMOKE_LAYERS]
    if "blocks" in parts:
        parts["blocks"] = 1
    return type(network)(**parts)
