"""The rows of a problem, linearised at an approximate solution.

For a change e of the unknowns, a row becomes r + Σ a_kα ∂^α e_k with a = ∂row/∂(∂^α u_k) at u. Rows
are dimensionless (`find_scales`), and the squares of those of a condition sum to their mean.
Points are new ones. Half of them are dense near the initial time and the faces, and weighted so
that sums are still those of evenly distributed points.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.compilation import jitted
from tinns.geometry import (
    TIME,
    Batch,
    Counts,
    Domain,
    HasEdges,
    Initial,
    MultiIndex,
    Observations,
    QuasiRandom,
    graded,
)
from tinns.geometry.batch import Span
from tinns.nn import Constrained, Field
from tinns.nn.windowed import Windowed
from tinns.objective import Psi
from tinns.objective.evaluation import as_numbers, evaluate_at, traced
from tinns.objective.scales import Scales, find_scales
from tinns.problem.base import Condition, Problem
from tinns.problem.jets import Jet, jets_of
from tinns.verification.linear_rows import Points, Rows

PIECE = 2048  # points at which the unknowns are evaluated at once
HELD = 4  # one in so many observations is kept for the hold-out set

Numbers = Array | np.ndarray
Values = Callable[[Points], np.ndarray]  # all derivatives of the unknowns at points


class Linearisation:
    """Linearises a problem around a field. The same programs serve all draws and time windows."""

    def __init__(
        self, problem: Problem, field: Field, counts: Counts, scales: Scales | None = None
    ) -> None:
        self.problem, self.domain, self.counts = problem, problem.domain, counts
        self.field, self.edges = _without_windows(field, self.domain)
        self.unknowns = problem.unknowns
        self.scales = scales or find_scales(problem, self.windows)
        self.conditions = problem.all_conditions()
        self.indices = [tuple(sorted(traced(problem, c.region, [c])[0])) for c in self.conditions]
        self.zero: MultiIndex = (0,) * len(self.domain.axes)
        self.all_indices = tuple(sorted({self.zero, *(k for own in self.indices for k in own)}))
        self.value = self.all_indices.index(self.zero)
        self._draw = jitted(self._drawn)
        self._rows = [jitted(partial(self._rows_at, n)) for n in range(len(self.conditions))]

    @property
    def windows(self) -> int:
        return len(self.edges) - 1

    def span(self, window: int) -> tuple[float, float]:
        start, end = self.edges[window : window + 2]
        return start, end

    def parameters(self, psi: Psi, window: int) -> Any:
        """The field's parameters in a window."""
        own = psi["field"][window] if self.windows > 1 else psi["field"]
        return jax.tree.map(lambda leaf: np.asarray(leaf, float), own)

    def coefficients(self, psi: Psi) -> np.ndarray:
        """The values of the trainable coefficients."""
        return np.array([float(psi["coefficients"][name]) for name in self.problem.trainable])

    def derivatives(self, psi: Psi, window: int, points: Points) -> np.ndarray:
        """∂^k of all unknowns for `all_indices`, (points, indices, unknowns)."""
        given = {"field": self.parameters(psi, window)}
        return self._in_pieces(partial(_derivatives, *self._settings, given), window, points)

    def changes(self, psi: Psi, window: int, points: Points, direction: Any) -> np.ndarray:
        """How these derivatives change if the field's parameters change in a direction."""
        given = {"field": self.parameters(psi, window)}
        program = partial(_changes, *self._settings, given, {"field": direction})
        return self._in_pieces(program, window, points)

    def rows(
        self, psi: Psi, window: int, seed: int, held: bool = False, before: Values | None = None
    ) -> list[Rows]:
        """All conditions at new points.

        At the start of a later window the unknowns should be as `before` says: if it is not given,
        what they are in the window before.
        """
        coefficients = self.coefficients(psi)
        if window and before is None:
            before = partial(self.derivatives, psi, window - 1)
        span = np.array(self.span(window))
        drawn = jax.tree.map(np.asarray, self._draw(span, np.uint32(seed), held))
        everywhere = [place for _, _, places in drawn for place in places]
        joined = {a: np.concatenate([p[a] for p in everywhere]) for a in self.domain.axes}
        counts = np.cumsum([len(place[TIME]) for place in everywhere])
        jets = iter(np.split(self.derivatives(psi, window, joined), counts[:-1]))
        found = []
        for number, (batch, density, places) in enumerate(drawn):
            condition, chosen = self.conditions[number], self._chosen(number)
            values = tuple(next(jets)[:, chosen] for _ in places)
            target = None
            if before is not None and isinstance(condition.region, Initial):
                target = tuple(before(place)[:, chosen] for place in places)
            weight = np.sqrt(density / max(density.sum(), 1e-300))[:, None]
            weight = weight * np.array(self.scales.of(number))
            nothing = np.zeros((0, 0))
            rows = Rows(
                condition,
                self.indices[number],
                batch,
                places,
                values,
                target,
                coefficients,
                weight,
                nothing,
                (),
                nothing,
            )
            found.append(self.linearised(number, rows, values, coefficients))
        return found

    def linearised(
        self, number: int, rows: Rows, values: Sequence[np.ndarray], coefficients: np.ndarray
    ) -> Rows:
        """The rows of a condition, linearised at other values of the unknowns and coefficients."""
        own = self._rows[number](tuple(values), rows.batch, coefficients)
        residual, slopes, by_coefficient = jax.tree.map(np.asarray, own)
        if rows.target is not None:
            pairs = zip(slopes, values, rows.target, strict=True)
            residual = sum(np.einsum("prku,pku->pr", s, v - t) for s, v, t in pairs)
        keep = (rows.weight > 0).any(axis=1)

        def masked(array: np.ndarray) -> np.ndarray:
            return np.where(keep.reshape(-1, *[1] * (array.ndim - 1)), array, 0.0)

        return replace(
            rows,
            values=tuple(values),
            coefficients=coefficients,
            residual=masked(np.asarray(residual)),
            slopes=tuple(masked(s) for s in slopes),
            by_coefficient=masked(by_coefficient),
        )

    @property
    def _settings(self) -> tuple[Field, Problem, tuple[MultiIndex, ...], bool]:
        return self.field, self.problem, self.all_indices, self.windows > 1

    def _chosen(self, number: int) -> np.ndarray:
        """Which of `all_indices` a condition uses."""
        return np.array([self.all_indices.index(k) for k in self.indices[number]])

    def _in_pieces(self, program: Callable[..., Array], window: int, points: Points) -> np.ndarray:
        """A compiled function of points, called with a fixed number of them at a time."""
        columns = {axis: np.asarray(points[axis], float) for axis in self.domain.axes}
        count, span, found = len(columns[TIME]), np.array(self.span(window)), []
        for first in range(0, max(count, 1), PIECE):
            order = np.arange(first, first + PIECE) % max(count, 1)
            part = program(span, {axis: column[order] for axis, column in columns.items()})
            found.append(np.asarray(part)[: count - first])
        return np.concatenate(found)

    def _drawn(
        self, span: Numbers, seed: Array | np.uint32, held: Array | bool
    ) -> list[tuple[Batch, Array, tuple[dict[str, Array], ...]]]:
        """For each condition: points, their densities, and the places that it uses."""
        key = jax.random.key(seed)
        found = []
        for number, condition in enumerate(self.conditions):
            batch, density = self._points(condition, span, jax.random.fold_in(key, number), held)
            found.append((batch, density, self._places(condition, batch)))
        return found

    def _rows_at(
        self, number: int, values: Sequence[Numbers], batch: Batch, coefficients: Numbers
    ) -> tuple[Array, tuple[Array, ...], Array]:
        """Rows of a condition, and their slopes by derivatives of the unknowns and coefficients."""
        problem, condition, indices = self.problem, self.conditions[number], self.indices[number]

        def rows(values: Sequence[Numbers], coefficients: Numbers, point: Batch) -> Array:
            remaining = iter(values)

            def evaluate(_: Batch) -> list[Jet]:
                own = next(remaining)
                named = {k: own[n] for n, k in enumerate(indices)}
                return jets_of(named, problem.domain, problem.unknowns)

            named = {name: coefficients[n] for n, name in enumerate(problem.trainable)}
            posed = problem.with_coefficients(named)
            found = as_numbers(condition.name, condition.residual(posed, evaluate, point))
            return jnp.stack([jnp.asarray(v, float) for v in found])

        def at(values: Sequence[Numbers], point: Batch) -> tuple[Array, tuple[Array, ...], Array]:
            slopes = jax.jacrev(rows, argnums=(0, 1))(values, coefficients, point)
            return rows(values, coefficients, point), *slopes

        return jax.vmap(at)(tuple(values), batch)

    def _places(self, condition: Condition, batch: Batch) -> tuple[dict[str, Array], ...]:
        """Where a condition evaluates the unknowns, for each of its points."""
        posed = self.problem.with_coefficients(
            {name: jnp.asarray(value) for name, value in self.problem.trainable.items()}
        )

        def asked(point: Batch) -> tuple[dict[str, Array], ...]:
            found: list[dict[str, Array]] = []

            def evaluate(place: Batch) -> list[Jet]:
                found.append(place.coordinates)
                return [Jet(jnp.ones(()), lambda _: jnp.ones(())) for _ in self.unknowns]

            condition.residual(posed, evaluate, point)
            return tuple(found)

        return jax.vmap(asked)(batch)

    def _points(
        self, condition: Condition, span: Numbers, key: Array, held: Array | bool
    ) -> tuple[Batch, Array]:
        """Points of a condition in a window, and the weights of their squares."""
        region, domain = condition.region, self.domain.over(0, 1)
        batch = region.draw(key, domain, self.counts, QuasiRandom())
        if isinstance(region, Observations):
            times, number = batch[TIME], jnp.arange(batch.count)
            within = (times >= span[0]) & (times <= span[1])
            return batch, jnp.where(within & ((number % HELD == HELD - 1) == held), 1.0, 0.0)
        if isinstance(region, HasEdges):
            batch = graded(batch, region.edges(domain))
        density = jnp.ones(batch.count) if batch.weight is None else batch.weight**2
        return batch.at(**{TIME: span[0] + (span[1] - span[0]) * batch[TIME]}), density


def at_points(
    field: Field,
    problem: Problem,
    indices: tuple[MultiIndex, ...],
    in_windows: bool,
    psi: Psi,
    span: Numbers,
    points: Mapping[str, Numbers],
) -> Array:
    """∂^k of all unknowns, (points, indices, unknowns)."""

    def at(coordinates: dict[str, Array]) -> Array:
        window = Span(span[0], span[1] - span[0]) if in_windows else None
        jets = evaluate_at(problem, field, psi, set(indices))(Batch(coordinates, window=window))
        values = [[_entry(jet, problem.domain, k) for jet in jets] for k in indices]
        return jnp.stack([jnp.stack(own) for own in values])

    return jax.vmap(at)(jax.tree.map(jnp.asarray, dict(points)))


def _changes_at_points(
    field: Field,
    problem: Problem,
    indices: tuple[MultiIndex, ...],
    in_windows: bool,
    psi: Psi,
    direction: Psi,
    span: Numbers,
    points: Mapping[str, Numbers],
) -> Array:
    def values(psi: Psi) -> Array:
        return at_points(field, problem, indices, in_windows, psi, span, points)

    return jax.jvp(values, (psi,), (direction,))[1]


_derivatives = jitted(at_points, static_argnums=(0, 1, 2, 3))
_changes = jitted(_changes_at_points, static_argnums=(0, 1, 2, 3))


def _entry(jet: Jet, domain: Domain, index: MultiIndex) -> Array:
    name = "".join(axis * order for axis, order in zip(domain.axes, index, strict=True))
    return getattr(jet, name) if name else jet.value


def _without_windows(field: Field, domain: Domain) -> tuple[Field, tuple[float, ...]]:
    """The field of one window, and the edges of the windows."""
    if isinstance(field, Windowed):
        return field.inner, tuple(field.edges)
    if isinstance(field, Constrained) and isinstance(field.inner, Windowed):
        return replace(field, inner=field.inner.inner), tuple(field.inner.edges)
    return field, (domain.start, domain.end)
