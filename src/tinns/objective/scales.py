"""Scales that make a problem dimensionless: the sizes of unknowns, and a factor for each row.

All of them follow from the data and the equations alone, and change with the units as the
quantities themselves do: the same problem in other units has the same dimensionless rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.geometry import (
    TIME,
    Batch,
    Counts,
    Domain,
    Interior,
    MultiIndex,
    Observations,
    QuasiRandom,
)
from tinns.objective.evaluation import as_numbers, traced
from tinns.problem.base import Condition, Problem
from tinns.problem.jets import Jet, jets_of

SAMPLES = Counts(256, 64, 64)  # points at which the rows of a condition are examined

Lengths = Mapping[str, float]  # by axis
Values = dict[MultiIndex, Array]  # derivatives of all unknowns


@dataclass(frozen=True)
class Scales:
    """The size of each unknown, for each condition a factor on each of its rows, and the size of
    each trainable coefficient.
    """

    sizes: tuple[float, ...]
    factors: tuple[tuple[float, ...], ...]
    coefficients: Mapping[str, float] = dataclass_field(default_factory=dict)

    def of(self, number: int) -> tuple[float, ...]:
        """The factors of the condition with this number in `Problem.all_conditions`."""
        return self.factors[number]

    def of_rows_and_unknowns(self) -> "Scales":
        """The same, but with coefficients as the problem states them."""
        return replace(self, coefficients={})


def lengths_of(domain: Domain, windows: int = 1) -> dict[str, float]:
    """Half of each space axis' interval, and the time of one window."""
    lengths = {a: (domain.interval(a)[1] - domain.interval(a)[0]) / 2 for a in domain.space}
    return lengths | {TIME: (domain.end - domain.start) / windows}


def find_scales(problem: Problem, windows: int = 1) -> Scales:
    """The scales of a problem, solved in a number of time windows of about equal length.

    An unknown is as large as the data that are given for it: values, or else slopes times lengths,
    velocities times the time span, forcings times its square. A row is divided by its largest term,
    for unknowns of these sizes that vary over the lengths of the domain and over the time span, or
    over the time in which the other terms of the equation balance the time derivative. A trainable
    coefficient is as large as its first value, or, where that is zero, as would change a row by as
    much as its largest term.
    """
    lengths = lengths_of(problem.domain, windows)
    with jax.enable_x64(True):
        probes = [_Probe(problem, c, lengths) for c in problem.all_conditions()]
        sizes = _sizes(probes, len(problem.unknowns))
        quickness = min(probe.quickness(sizes) for probe in probes)
        factors = tuple(probe.factors(sizes, quickness) for probe in probes)
        felt = [p.felt(sizes, own) for p, own in zip(probes, factors, strict=True)]
    changes = {name: max(each[name] for each in felt) for name in problem.trainable}
    coefficients = {
        name: abs(first) or (1 / changes[name] if changes[name] > 0 else 1.0)
        for name, first in problem.trainable.items()
    }
    return Scales(tuple(sizes.tolist()), factors, coefficients)


class _Probe:
    """The rows of one condition as functions of the derivatives of the unknowns."""

    def __init__(self, problem: Problem, condition: Condition, lengths: Lengths) -> None:
        self.problem, self.condition = problem, condition
        found, _ = traced(problem, condition.region, [condition])
        self.indices = tuple(sorted(found))
        self.units = np.array([_unit(problem.domain, k, lengths) for k in self.indices])
        self.value: MultiIndex = (0,) * len(problem.domain.axes)
        self.orders_in_time = np.array([float(k[-1]) for k in self.indices])
        points = condition.region.draw(jax.random.key(0), problem.domain, SAMPLES, QuasiRandom())
        self.points = jax.tree.map(lambda c: jnp.asarray(np.asarray(c, float)), points)
        self.coefficients = {n: jnp.asarray(c, float) for n, c in problem.trainable.items()}

        def at(values: Array, point: Batch) -> tuple[Array, Array, dict[str, Array]]:
            slopes, felt = jax.jacfwd(self.rows, (0, 1))(values, self.coefficients, point)
            return self.rows(values, self.coefficients, point), slopes, felt

        self._program = jax.jit(jax.vmap(at, in_axes=(None, 0)))

    def rows(self, values: Array, coefficients: dict[str, Array], point: Batch) -> Array:
        """The rows at a point for derivatives of shape (indices, unknowns)."""
        problem = self.problem
        posed = problem.with_coefficients(coefficients)
        named = {k: values[n] for n, k in enumerate(self.indices)}

        def evaluate(_: Batch) -> list[Jet]:
            return jets_of(named, problem.domain, problem.unknowns)

        found = as_numbers(self.condition.name, self.condition.residual(posed, evaluate, point))
        return jnp.stack([jnp.asarray(v, float) for v in found])

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """How large the data make each unknown: by values, and by anything else; 0 if not at all.

        A row that is R0 where all unknowns vanish asks for changes of this size.
        """
        if isinstance(self.condition.region, Observations):
            values = self.points.values or {}
            given = [np.abs(values[u]).max() if u in values else 0 for u in self.problem.unknowns]
            return np.asarray(given, float), np.zeros(len(given))
        none = np.zeros((len(self.indices), len(self.problem.unknowns)))
        at_zero, slopes = self._linearised(none)
        changes = np.abs(slopes) * self.units[:, None]
        asked = _ratio(np.abs(at_zero)[..., None], changes.max(axis=2)).max(axis=(0, 1))
        zeroth = np.abs(slopes[:, :, self.indices.index(self.value)])
        by_value = _ratio(np.abs(at_zero)[..., None], zeroth).max(axis=(0, 1))
        if isinstance(self.condition.region, Interior):
            by_value = np.zeros_like(by_value)
        return by_value, np.where(by_value > 0, 0.0, asked)

    def follows(self, sizes: np.ndarray) -> np.ndarray:
        """The sizes of unknowns without data (size 0) that balance those of the others."""
        units = self.units[:, None]
        _, slopes = self._linearised(units * sizes)
        given = np.abs(slopes * units * sizes).max(axis=(2, 3))  # (points, rows)
        free = np.abs(slopes * units).max(axis=2)  # (points, rows, unknowns)
        return _ratio(given[..., None], free).max(axis=(0, 1))

    def quickness(self, sizes: np.ndarray) -> float:
        """The shortest time in which the other terms of a row balance its time derivatives.

        It is a share of the time span, at most 1.
        """
        changes, shares = self._changes(sizes), [1.0]
        orders, is_interior = self.orders_in_time, isinstance(self.condition.region, Interior)
        for row in changes if is_interior and orders.max() > 0 else ():
            moving = row[orders == orders.max()].max()
            other = row[orders == 0].max()
            if 0 < moving < other:
                shares.append(float((moving / other) ** (1 / orders.max())))
        return min(shares)

    def factors(self, sizes: np.ndarray, quickness: float) -> tuple[float, ...]:
        """1 / the size of each row, for unknowns of these sizes that change so quickly."""
        changes = self._changes(sizes) * quickness ** -self.orders_in_time[:, None]
        largest = changes.max(axis=(1, 2))
        return tuple(float(1 / size) if size > 0 else 1.0 for size in largest)

    def felt(self, sizes: np.ndarray, factors: tuple[float, ...]) -> dict[str, float]:
        """The largest change of a dimensionless row per change of each trainable coefficient."""
        _, _, slopes = self._program(self.units[:, None] * sizes, self.points)
        means = {n: np.abs(np.nan_to_num(s)).mean(axis=0) for n, s in slopes.items()}
        return {n: float((mean * factors).max()) for n, mean in means.items()}

    def _changes(self, sizes: np.ndarray) -> np.ndarray:
        """The mean change of each row by each derivative, (rows, indices, unknowns)."""
        units = self.units[:, None] * sizes
        _, slopes = self._linearised(units)
        changes = np.abs(slopes) * units
        return np.where(np.isfinite(changes), changes, 0.0).mean(axis=0)

    def _linearised(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (points, rows) and their slopes (points, rows, indices, unknowns)."""
        rows, slopes, _ = self._program(values, self.points)
        return np.asarray(rows), np.asarray(slopes)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below, and 0 where that is not finite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(above / below)
    return np.where(np.isfinite(ratio), ratio, 0.0)


def _unit(domain: Domain, index: MultiIndex, lengths: Lengths) -> float:
    """The size of a derivative of an unknown of size one."""
    return prod(lengths[a] ** -order for a, order in zip(domain.axes, index, strict=True))


def _sizes(probes: list[_Probe], unknowns: int) -> np.ndarray:
    """The largest value given for each unknown, or else the largest that other data ask for.

    Unknowns without data follow from the others by the rows that contain both.
    """
    found = [probe.data() for probe in probes]
    values = np.max([by_value for by_value, _ in found], axis=0)
    others = np.max([by_other for _, by_other in found], axis=0)
    sizes = np.where(values > 0, values, others)
    for _ in range(unknowns):
        if (sizes > 0).all() or not sizes.any():
            break
        follows = np.max([probe.follows(sizes) for probe in probes], axis=0)
        sizes = np.where(sizes > 0, sizes, follows)
    return np.where(sizes > 0, sizes, 1.0)
