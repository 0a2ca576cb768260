"""Conditions, points and a field become the weighted rows of one least-squares problem."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError, unknown_name
from tinns.geometry import (
    TIME,
    Batch,
    Counts,
    Domain,
    HasEdges,
    Initial,
    Region,
    Sampler,
    Span,
    graded,
    spans_grids,
)
from tinns.nn import Field, Sizable
from tinns.objective.blocks import Block, Psi
from tinns.objective.constraints import constrained
from tinns.objective.evaluation import as_numbers, evaluate_at, traced
from tinns.objective.grids import grid_of, lies_on_grids
from tinns.objective.scales import Scales
from tinns.problem.base import Condition, Evaluate, Problem


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Window:
    """A time window with its own parameters, and the window before it."""

    start: Array
    length: Array
    is_first: Array
    before: Psi  # ψ of the window before; arbitrary for the first
    start_before: Array
    length_before: Array
    observed: tuple[Batch | None, ...]  # by block: the observations inside the window


@dataclass(frozen=True)
class System:
    """A problem represented by a field: all conditions as blocks of rows, one block per region.

    In time windows the field's time runs from 0 to 1 on `domain`, and points drawn for a window
    hold true times. One system serves all windows, and so do the programs compiled for it.
    """

    problem: Problem
    field: Field
    domain: Domain
    regions: tuple[Region, ...]
    blocks: tuple[Block, ...]
    units: Mapping[str, float] = dataclass_field(default_factory=dict)  # of coefficients in ψ

    def init(self, key: Array) -> Psi:
        """The first ψ: the field's parameters and the trainable coefficients in their units."""
        first = {n: jnp.asarray(c, float) for n, c in self.problem.trainable.items()}
        return {
            "field": self.field.init(key, self.domain, len(self.problem.unknowns)),
            "coefficients": {
                n: c / self.units[n] if n in self.units else c for n, c in first.items()
            },
        }

    def plain(self, psi: Psi) -> Psi:
        """ψ with its coefficients as the problem states them."""
        return psi | {"coefficients": _times(psi["coefficients"], self.units)}

    def draw(
        self,
        key: Array,
        counts: Counts,
        sampler: Sampler,
        window: Window | None = None,
        crowded: bool = False,
    ) -> tuple[Batch, ...]:
        """Points for every block; for a block on a grid, the points of its axes.

        With `crowded` half of the points crowd towards the initial time and the faces, and all are
        weighted accordingly.
        """
        batches = []
        for number, (block, region) in enumerate(zip(self.blocks, self.regions, strict=True)):
            if block.grid is not None:
                batches.append(Batch(sampler.axes(key, self.domain)))  # pyright: ignore[reportFunctionMemberAccess]
                continue
            own_key = jax.random.fold_in(key, number)
            batch = region.draw(own_key, self.domain, counts, sampler)
            if crowded and isinstance(region, HasEdges):
                batch = graded(batch, region.edges(self.domain))
            if window is not None:
                batch = _in_window(block, region, batch, window, window.observed[number])
            batches.append(batch)
        return tuple(batches)

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
    in_windows: bool = False,
    scales: Scales | None = None,
) -> System:
    """Group the conditions by region and trace which derivatives each region needs.

    Conditions named in `hard` are built into the field and give no rows; their weights are void.
    A `sampler` of tensor grids makes blocks that are evaluated on whole grids. With `in_windows`
    the field's time runs from 0 to 1. With `scales` the rows, the field's outputs and the
    coefficients in ψ are dimensionless.
    """
    problem.unknowns  # noqa: B018  # errors in the equation or the domain are reported first
    conditions = _reweighted(problem.all_conditions(), weights or {})
    regions: dict[Region, list[_Scaled]] = {}
    for number, condition in enumerate(conditions):
        if condition.name in hard:
            traced(problem, condition.region, [condition])  # reports errors in its code
        else:
            factors = scales.factors[number] if scales else None
            regions.setdefault(condition.region, []).append(_Scaled(condition, factors))
    if scales is not None and isinstance(field, Sizable):
        field = field.with_sizes(scales.sizes)
    field = constrained(problem, field, hard)
    on_grid = sampler is not None and spans_grids(sampler)
    units = scales.coefficients if scales else {}
    blocks = tuple(
        _block(problem, field, region, group, on_grid, units) for region, group in regions.items()
    )
    domain = problem.domain.over(0, 1) if in_windows else problem.domain
    return System(problem, field, domain, tuple(regions), blocks, units)


@dataclass(frozen=True)
class _Scaled:
    """A condition with a factor on each of its rows, if there are any."""

    condition: Condition
    factors: tuple[float, ...] | None


def _in_window(
    block: Block, region: Region, batch: Batch, window: Window, observed: Batch | None
) -> Batch:
    """Points drawn for a time from 0 to 1, moved into a window.

    A condition O(u) = g at the initial time becomes O(u) = O(u before): its residual less the
    residual that the window before leaves at the same points, whatever g is.
    """
    if observed is not None:
        each = jnp.ones_like(observed[TIME])
        return replace(observed, window=Span(window.start * each, window.length * each))
    moved = batch.in_window(window.start, window.length)
    if not isinstance(region, Initial):
        return moved
    each = jnp.ones(moved.count)
    span = Span(window.start_before * each, window.length_before * each)
    there = replace(moved, window=span, weight=None)
    rows = jax.vmap(block.rows, in_axes=(None, 0))(window.before, there)
    return replace(moved, offset=jnp.where(window.is_first, 0.0, rows))


def _reweighted(conditions: list[Condition], weights: Mapping[str, float]) -> list[Condition]:
    known = {condition.name for condition in conditions}
    for name, weight in weights.items():
        if name not in known:
            raise unknown_name("condition to weight", name, known)
        if not weight >= 0:
            raise UserError(f"weight of {name}: expected a number >= 0, got {weight}")
    return [replace(c, weight=weights.get(c.name, c.weight)) for c in conditions]


def _times(coefficients: dict[str, Array], units: Mapping[str, float]) -> dict[str, Array]:
    return {n: c * units[n] if n in units else c for n, c in coefficients.items()}


def _block(
    problem: Problem,
    field: Field,
    region: Region,
    scaled: list[_Scaled],
    on_grid: bool,
    units: Mapping[str, float],
) -> Block:
    group = [each.condition for each in scaled]
    indices, counts = traced(problem, region, group)
    weights = [
        each.condition.weight * factor
        for each, count in zip(scaled, counts, strict=True)
        for factor in each.factors or (1.0,) * count
    ]
    names = [
        c.name if count == 1 else f"{c.name}_{number + 1}"
        for c, count in zip(group, counts, strict=True)
        for number in range(count)
    ]

    def weighted(psi: Psi, evaluate: Evaluate, point: Batch) -> Array:
        posed = problem.with_coefficients(_times(psi["coefficients"], units))
        values = [v for c in group for v in as_numbers(c.name, c.residual(posed, evaluate, point))]
        return jnp.stack([jnp.asarray(v) for v in values]) * jnp.asarray(weights, float)

    def rows(psi: Psi, point: Batch) -> Array:
        values = weighted(psi, evaluate_at(problem, field, psi, indices), point)
        values = values if point.offset is None else values - point.offset
        return values if point.weight is None else values * point.weight

    grid = None
    if on_grid and lies_on_grids(region):
        grid = grid_of(problem, field, region, indices, weighted)
    return Block(region.name, tuple(names), rows, grid)
