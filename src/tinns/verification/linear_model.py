"""The rows of a problem, linearised at an approximate solution.

For a change e of the unknowns, a row becomes r + Σ a_kα ∂^α e_k with a = ∂row/∂(∂^α u_k) at u. Rows
are dimensionless (`find_scales`), and the squares of those of a condition sum to their mean.
Points are new ones. Half of them are dense near the initial time and the faces, and weighted so
that sums are still those of evenly distributed points.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from tinns.verification.features import Basis, Points

Numbers = Array | np.ndarray

HELD = 4  # one in so many observations is kept for the hold-out set


@dataclass(frozen=True)
class Rows:
    """Rows of one condition at some points: (points, rows), times `weight` each.

    A row may use the unknowns at several places, such as both ends of an axis.
    """

    condition: Condition
    indices: tuple[MultiIndex, ...]
    weight: np.ndarray  # (points, rows)
    residual: np.ndarray  # (points, rows)
    places: tuple[Points, ...]
    slopes: tuple[np.ndarray, ...]  # by place: (points, rows, indices, unknowns)
    by_coefficient: np.ndarray  # (points, rows, coefficients)

    @property
    def vector(self) -> np.ndarray:
        """The residuals with their weights, points of one kind of row together."""
        return (self.weight * self.residual).T.reshape(-1)

    def columns(self, domain: Domain, features: Basis) -> np.ndarray:
        """The weighted changes of the rows by each feature: (rows, unknowns · features)."""
        points, kinds = self.residual.shape
        unknowns = self.slopes[0].shape[-1]
        found = np.zeros((kinds, points, unknowns, features.count))
        for place, slopes in zip(self.places, self.slopes, strict=True):
            values = features.derivatives(domain, place, self.indices)
            weighted = slopes * self.weight[:, :, None, None]
            for number, index in enumerate(self.indices):
                for kind in range(kinds):
                    for unknown in range(unknowns):
                        factor = weighted[:, kind, number, unknown]
                        if factor.any():
                            found[kind, :, unknown] += factor[:, None] * values[index]
        return found.reshape(kinds * points, -1)

    def coefficient_columns(self) -> np.ndarray:
        """The weighted changes of the rows by each trainable coefficient."""
        kinds_first = np.swapaxes(self.by_coefficient * self.weight[:, :, None], 0, 1)
        return kinds_first.reshape(self.residual.size, kinds_first.shape[-1])


class Linearisation:
    """Linearises a problem around a field. One program serves all draws and time windows."""

    def __init__(
        self, problem: Problem, field: Field, counts: Counts, scales: Scales | None = None
    ) -> None:
        self.problem, self.domain, self.counts = problem, problem.domain, counts
        self.field, self.edges = _without_windows(field, self.domain)
        self.unknowns = problem.unknowns
        self.scales = scales or find_scales(problem, self.windows)
        self.conditions = problem.all_conditions()
        self.indices = [tuple(sorted(traced(problem, c.region, [c])[0])) for c in self.conditions]
        value: MultiIndex = (0,) * len(self.domain.axes)
        self.all_indices = tuple(sorted({value, *(k for own in self.indices for k in own)}))
        self._program = jitted(self._linearised)

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

    def derivatives(
        self, psi: Psi, window: int, points: Points, indices: tuple[MultiIndex, ...]
    ) -> np.ndarray:
        """∂^k of all unknowns, (points, indices, unknowns)."""
        columns = {axis: np.asarray(points[axis], float) for axis in self.domain.axes}
        count = len(columns[TIME])
        order = np.arange(1024 * -(-count // 1024)) % count  # few shapes, and few compilations
        padded = {axis: column[order] for axis, column in columns.items()}
        given = {"field": self.parameters(psi, window)}
        program = partial(_derivatives, self.field, self.problem, indices, self.windows > 1)
        return np.asarray(program(given, np.array(self.span(window)), padded))[:count]

    def rows(self, psi: Psi, window: int, seed: int, held: bool = False) -> list[Rows]:
        """All conditions at new points."""
        coefficients = {
            n: np.asarray(psi["coefficients"][n], float) for n in self.problem.trainable
        }
        given = {"field": self.parameters(psi, window), "coefficients": coefficients}
        span = np.array(self.span(window))
        found = jax.tree.map(np.asarray, self._program(given, span, np.uint32(seed), held))
        rows = []
        for number, (density, residual, places, slopes, by_coefficient) in enumerate(found):
            factors = np.array(self.scales.of(number))
            weight = np.sqrt(density / max(density.sum(), 1e-300))[:, None] * factors
            columns = [by_coefficient[name] for name in coefficients]
            by_name = np.stack(columns, -1) if columns else np.zeros((*residual.shape, 0))
            condition = self.conditions[number]
            if window and isinstance(condition.region, Initial):
                residual = self._jump(psi, window, self.indices[number], places, slopes)
            parts = (weight, residual, places, slopes, by_name)
            rows.append(Rows(self.conditions[number], self.indices[number], *parts))
        return rows

    def _jump(
        self,
        psi: Psi,
        window: int,
        indices: tuple[MultiIndex, ...],
        places: Sequence[Points],
        slopes: Sequence[np.ndarray],
    ) -> np.ndarray:
        """What initial conditions become at the start of a later window: (points, rows).

        There the data are the values of the window before.
        """
        found = np.zeros(slopes[0].shape[:2])
        for place, own in zip(places, slopes, strict=True):
            after, before = (self.derivatives(psi, w, place, indices) for w in (window, window - 1))
            found += np.einsum("prku,pku->pr", own, after - before)
        return found

    def _linearised(
        self, psi: Psi, span: Numbers, seed: Array | np.uint32, held: Array | bool
    ) -> list[Any]:
        """For each condition: densities, residuals, places, slopes, slopes by coefficients."""
        key = jax.random.key(seed)
        drawn = [
            self._points(c, span, jax.random.fold_in(key, number), held)
            for number, c in enumerate(self.conditions)
        ]
        places = [self._places(c, b) for c, (b, _) in zip(self.conditions, drawn, strict=True)]
        everywhere = [place for own in places for place in own]
        joined = jax.tree.map(lambda *columns: jnp.concatenate(columns), *everywhere)
        values = at_points(
            self.field, self.problem, self.all_indices, self.windows > 1, psi, span, joined
        )
        counts = [place[TIME].shape[0] for place in everywhere]
        parts = iter(jnp.split(values, np.cumsum(counts)[:-1]))
        found = []
        for number, (batch, density) in enumerate(drawn):
            chosen = np.array([self.all_indices.index(k) for k in self.indices[number]])
            own = tuple(next(parts)[:, chosen] for _ in places[number])
            rows = self._rows_at(number, own, batch, psi["coefficients"])
            residual, slopes, by_coefficient = jax.tree.map(
                lambda a, d=density: jnp.where(d.reshape(-1, *[1] * (a.ndim - 1)) > 0, a, 0.0), rows
            )
            found.append((density, residual, places[number], slopes, by_coefficient))
        return found

    def _rows_at(
        self, number: int, values: Sequence[Array], batch: Batch, coefficients: Any
    ) -> tuple[Array, Sequence[Array], dict[str, Array]]:
        """Rows of a condition, and their slopes by derivatives of the unknowns and coefficients."""
        problem, condition, indices = self.problem, self.conditions[number], self.indices[number]

        def rows(values: Sequence[Array], coefficients: dict[str, Array], point: Batch) -> Array:
            remaining = iter(values)

            def evaluate(_: Batch) -> list[Jet]:
                own = next(remaining)
                named = {k: own[n] for n, k in enumerate(indices)}
                return jets_of(named, problem.domain, problem.unknowns)

            posed = problem.with_coefficients(coefficients)
            found = as_numbers(condition.name, condition.residual(posed, evaluate, point))
            return jnp.stack([jnp.asarray(v, float) for v in found])

        def at(values: Sequence[Array], point: Batch) -> Any:
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
        density = jnp.ones(batch.count)
        if isinstance(region, HasEdges) and not isinstance(region, Initial):
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


_derivatives = jitted(at_points, static_argnums=(0, 1, 2, 3))


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
