"""Conditions, points and a field become the weighted rows of one least-squares problem."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from tinns.constraints import constrained
from tinns.domain import TIME
from tinns.errors import UserError, unknown_name
from tinns.fields.field import Field
from tinns.least_squares.rows import Block
from tinns.problem import Condition, Evaluate, Problem
from tinns.residuals.evaluation import LENGTH, START, Psi, as_numbers, evaluate_at, traced
from tinns.residuals.grid import grid_of, lies_on_grids
from tinns.sampling import ROW_SHARE, Counts, Initial, Points, Region, Sampler, TensorGrid

# A column of points at the start of a window: the rows that the window before leaves at its end,
# which are those that this one must have.
CARRIED = "rows carried over"


class Window(NamedTuple):
    """A stretch of time with parameters of its own, and the window before it."""

    start: Any
    length: Any
    is_first: Any
    before: Psi  # ψ of the window before; of the first, any
    start_before: Any
    length_before: Any


@dataclass(frozen=True)
class System:
    """A problem represented by a field: all conditions as blocks of rows, one block per region.

    In time windows its domain's time runs from 0 to 1, and points drawn for a window hold true
    times. One system serves all windows, and so do the programs compiled for it.
    """

    problem: Problem
    field: Field
    regions: tuple[Region, ...]
    blocks: tuple[Block, ...]

    def init(self, key: Array) -> Psi:
        """The first ψ: the field's parameters and the coefficients that are sought."""
        problem = self.problem
        return {
            "field": self.field.init(key, problem.domain, len(problem.unknowns)),
            "coefficients": {n: jnp.asarray(c, float) for n, c in problem.sought.items()},
        }

    def draw(
        self, key: Array, counts: Counts, sampler: Sampler, window: Window | None = None
    ) -> tuple[Points, ...]:
        """Points for every block; for one on a grid, the points of its axes."""
        domain = self.problem.domain
        points = tuple(
            sampler.axes(key, domain)
            if block.grid is not None and isinstance(sampler, TensorGrid)
            else region.draw(jax.random.fold_in(key, number), domain, counts, sampler)
            for number, (block, region) in enumerate(zip(self.blocks, self.regions, strict=True))
        )
        if window is None:
            return points
        return tuple(
            _in_window(block, isinstance(region, Initial), own, window)
            for block, region, own in zip(self.blocks, self.regions, points, strict=True)
        )

    @property
    def row_names(self) -> tuple[str, ...]:
        """A name for every kind of row, `equation`, `initial`, ..., in the order of the blocks."""
        names: list[str] = []
        for name in (name for block in self.blocks for name in block.row_names):
            same = sum(known == name or known.startswith(f"{name} ") for known in names)
            names.append(f"{name} {same + 1}" if same else name)
        return tuple(names)


def assemble(
    problem: Problem,
    field: Field,
    weights: Mapping[str, float] | None = None,
    hard: tuple[str, ...] = (),
    sampler: Sampler | None = None,
) -> System:
    """Group the conditions by region and trace which derivatives each region needs.

    Conditions named in `hard` are built into the field and give no rows; their weights are void.
    A `sampler` of tensor grids makes blocks that are evaluated on whole grids.
    """
    problem.unknowns  # noqa: B018  # an equation or domain that is amiss is reported first
    conditions = _reweighted(problem.all_conditions(), weights or {})
    regions: dict[Region, list[Condition]] = {}
    for condition in conditions:
        if condition.name in hard:
            traced(problem, condition.region, [condition])  # a fault in its code is told as ever
        else:
            regions.setdefault(condition.region, []).append(condition)
    field = constrained(problem, field, hard)
    on_grid = isinstance(sampler, TensorGrid)
    blocks = tuple(
        _block(problem, field, region, group, on_grid) for region, group in regions.items()
    )
    return System(problem, field, tuple(regions), blocks)


def _in_window(block: Block, is_initial: bool, points: Points, window: Window) -> Points:
    """Points drawn on a box whose time runs from 0 to 1, moved into a window.

    A condition O(u) = g at the initial time becomes O(u) = O(u before): its residual less the
    residual that the window before leaves at the same points, whatever g is.
    """
    time = window.start + window.length * points[TIME]
    each = jnp.ones_like(time)
    moved = points | {TIME: time, START: window.start * each, LENGTH: window.length * each}
    if not is_initial:
        return moved
    before = {START: window.start_before * each, LENGTH: window.length_before * each}
    rows = jax.vmap(block.rows, in_axes=(None, 0))(window.before, moved | before)
    return moved | {CARRIED: jnp.where(window.is_first, 0.0, rows)}


def _reweighted(conditions: list[Condition], weights: Mapping[str, float]) -> list[Condition]:
    known = {condition.name for condition in conditions}
    for name, weight in weights.items():
        if name not in known:
            raise unknown_name("condition to weight", name, known)
        if not weight >= 0:
            raise UserError(f"weight of {name}: expected a number >= 0, got {weight}")
    return [replace(c, weight=weights.get(c.name, c.weight)) for c in conditions]


def _block(
    problem: Problem, field: Field, region: Region, group: list[Condition], on_grid: bool
) -> Block:
    indices, counts = traced(problem, region, group)
    weights = [c.weight for c, count in zip(group, counts, strict=True) for _ in range(count)]
    names = [
        c.name if count == 1 else f"{c.name}_{number + 1}"
        for c, count in zip(group, counts, strict=True)
        for number in range(count)
    ]

    def weighted(psi: Psi, evaluate: Evaluate, point: Points) -> Array:
        posed = problem.with_coefficients(psi["coefficients"])
        values = [v for c in group for v in as_numbers(c.name, c.residual(posed, evaluate, point))]
        return jnp.stack([jnp.asarray(v) for v in values]) * jnp.asarray(weights, float)

    def rows(psi: Psi, point: Points) -> Array:
        values = weighted(psi, evaluate_at(problem, field, psi, indices), point)
        values = values - point[CARRIED] if CARRIED in point else values
        return values * point[ROW_SHARE] if ROW_SHARE in point else values

    grid = None
    if on_grid and lies_on_grids(region):
        grid = grid_of(problem, field, region, indices, weighted)
    return Block(region.name, tuple(names), rows, grid)
