"""Conditions, points and a field become the weighted rows of one least-squares problem."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from tinns.constraints import constrained
from tinns.domain import TIME
from tinns.errors import UserError, unknown_name
from tinns.fields.field import Field
from tinns.fields.jets import Jet, Recorder, jets_of
from tinns.fields.series import MultiIndex
from tinns.fields.windowed import derivatives_in_window
from tinns.least_squares.rows import Block
from tinns.problem import Condition, Evaluate, Problem
from tinns.sampling import ROW_SHARE, Counts, Initial, Points, Region, Sampler

Psi = dict[str, Any]

# Columns of points in a time window: where it begins, how long it is, and the rows that the window
# before leaves at its end, which are those that this one must have at its start.
START, LENGTH, CARRIED = "start of window", "length of window", "rows carried over"


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
        """Points for every block."""
        points = tuple(
            region.draw(jax.random.fold_in(key, number), self.problem.domain, counts, sampler)
            for number, region in enumerate(self.regions)
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
) -> System:
    """Group the conditions by region and trace which derivatives each region needs.

    Conditions named in `hard` are built into the field and give no rows; their weights are void.
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
    blocks = tuple(_block(problem, field, region, group) for region, group in regions.items())
    return System(problem, field, tuple(regions), blocks)


def evaluate_at(problem: Problem, field: Field, psi: Psi, indices: set[MultiIndex]) -> Evaluate:
    """point -> the jets of all unknowns, with the derivatives in `indices`."""
    domain, unknowns = problem.domain, problem.unknowns

    def evaluate(point: Points) -> list[Jet]:
        coordinates = {axis: point[axis] for axis in domain.axes}
        common = (psi["field"], domain, len(unknowns), coordinates, indices)
        if START in point:
            values = derivatives_in_window(field, *common, point[START], point[LENGTH])
        else:
            values = field.derivatives(*common)
        return jets_of(values, domain, unknowns)

    return evaluate


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


def _block(problem: Problem, field: Field, region: Region, group: list[Condition]) -> Block:
    indices, counts = traced(problem, region, group)
    weights = [c.weight for c, count in zip(group, counts, strict=True) for _ in range(count)]
    names = [
        c.name if count == 1 else f"{c.name}_{number + 1}"
        for c, count in zip(group, counts, strict=True)
        for number in range(count)
    ]

    def rows(psi: Psi, point: Points) -> Array:
        posed = problem.with_coefficients(psi["coefficients"])
        evaluate = evaluate_at(problem, field, psi, indices)
        values = [v for c in group for v in as_numbers(c.name, c.residual(posed, evaluate, point))]
        weighted = jnp.stack([jnp.asarray(v) for v in values]) * jnp.asarray(weights, float)
        weighted = weighted - point[CARRIED] if CARRIED in point else weighted
        return weighted * point[ROW_SHARE] if ROW_SHARE in point else weighted

    return Block(region.name, tuple(names), rows)


def traced(
    problem: Problem, region: Region, group: list[Condition]
) -> tuple[set[MultiIndex], list[int]]:
    """Run each residual once on recording jets: the derivatives used, the rows each gives."""
    recorder = Recorder(problem.domain, problem.unknowns)
    posed = problem.with_coefficients({name: jnp.zeros(()) for name in problem.sought})
    example = region.draw(jax.random.key(0), problem.domain, Counts(2, 2, 2), _first_corner)
    point = {name: column[0] for name, column in example.items()}
    counts = []
    for condition in group:
        shapes = _shapes(problem, condition, posed, recorder, point)
        for shape in shapes:
            if shape.shape != ():
                raise UserError(
                    f"{problem.name}: a residual of '{condition.name}' has shape {shape.shape}; "
                    "expected one number per residual at one point"
                )
        counts.append(len(shapes))
    return recorder.indices, counts


def _shapes(
    problem: Problem, condition: Condition, posed: Problem, recorder: Recorder, point: Points
) -> list[Any]:
    """The shapes of a condition's residuals."""
    with faults_told(problem, condition.name):
        return jax.eval_shape(
            lambda p: as_numbers(
                condition.name, condition.residual(posed, lambda _: recorder.jets(), p)
            ),
            point,
        )


@contextmanager
def faults_told(problem: Problem, name: str) -> Iterator[None]:
    """Any fault in the code of a user's function is told in one line."""
    try:
        yield
    except UserError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        told = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"{problem.name}: '{name}' cannot be evaluated ({told}); it must return "
            "numbers, use jnp (not np or if) on coordinates and unknowns, and coefficients must be "
            "annotated (k: float = 0.1)"
        ) from error


def _first_corner(key: Array, count: int, dimension: int) -> Array:
    return jnp.zeros((count, dimension))


def as_numbers(name: str, residual: Any) -> list[Any]:
    """What a user's function returned at one point, as a list."""
    values = residual if isinstance(residual, tuple | list) else [residual]
    if any(v is None for v in values):
        raise UserError(f"'{name}' returned None at a point; did its equation forget to return?")
    return [v.value if isinstance(v, Jet) else jnp.asarray(v) for v in values]
