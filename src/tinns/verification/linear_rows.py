"""The rows of one condition at some points, linearised: their residuals, and how they change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import jax
import numpy as np

from tinns.geometry import Batch, Domain, MultiIndex
from tinns.problem.base import Condition

Points = Mapping[str, np.ndarray]  # equally long coordinates by axis name

UNIFORM = 0.5  # share of points that are chosen whatever their residuals


class Functions(Protocol):
    """Functions of space and time with derivatives, such as `Features` and `Polynomials`."""

    @property
    def count(self) -> int: ...

    def derivatives(
        self, domain: Domain, points: Points, indices: tuple[MultiIndex, ...]
    ) -> Mapping[MultiIndex, np.ndarray]:
        """∂^k of all functions, each of shape (points, functions)."""
        ...


@dataclass(frozen=True)
class Rows:
    """Rows of one condition at some points, (points, rows), times `weight` each.

    A row may use the unknowns at several places, such as both ends of an axis. `values` and
    `slopes` have one array for each of them: the derivatives of the unknowns there, and those of
    the rows by them. With `target` the values there are what the unknowns should be.
    """

    condition: Condition
    indices: tuple[MultiIndex, ...]
    batch: Batch
    places: tuple[Points, ...]
    values: tuple[np.ndarray, ...]  # (points, indices, unknowns)
    target: tuple[np.ndarray, ...] | None
    coefficients: np.ndarray  # the trainable ones
    weight: np.ndarray  # (points, rows)
    residual: np.ndarray  # (points, rows)
    slopes: tuple[np.ndarray, ...]  # (points, rows, indices, unknowns)
    by_coefficient: np.ndarray  # (points, rows, coefficients)

    @property
    def vector(self) -> np.ndarray:
        """The residuals with their weights, points of one kind of row together."""
        return (self.weight * self.residual).T.reshape(-1)

    def columns(self, domain: Domain, functions: Functions) -> np.ndarray:
        """The weighted changes of the rows by each function: (rows, unknowns · functions)."""
        points, kinds = self.residual.shape
        unknowns = self.slopes[0].shape[-1]
        found = np.zeros((kinds, points, unknowns, functions.count))
        for place, slopes in zip(self.places, self.slopes, strict=True):
            values = functions.derivatives(domain, place, self.indices)
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

    def chosen(self, count: int, random: np.random.Generator) -> "Rows":
        """`count` of the points, half of them in proportion to their residuals.

        Weights are such that weighted sums of squares stay the same in the mean.
        """
        total = len(self.residual)
        if count >= total:
            return self
        sizes = np.linalg.norm(self.weight * self.residual, axis=1)
        share = np.full(total, 1 / total)
        if sizes.any():
            share = UNIFORM * share + (1 - UNIFORM) * sizes / sizes.sum()
        # Systematic sampling: it keeps the even distribution of quasi-random points.
        where = (np.arange(count) + random.uniform()) / count * share.sum()
        order = np.minimum(np.searchsorted(np.cumsum(share), where), total - 1)
        found = self._at(order)
        return replace(found, weight=found.weight / np.sqrt(count * share[order])[:, None])

    def _at(self, order: np.ndarray) -> "Rows":
        """The rows at the points numbered `order`."""

        def taken(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
            return tuple(array[order] for array in arrays)

        return replace(
            self,
            batch=jax.tree.map(lambda column: column[order], self.batch),
            places=tuple({a: c[order] for a, c in place.items()} for place in self.places),
            values=taken(self.values),
            target=None if self.target is None else taken(self.target),
            weight=self.weight[order],
            residual=self.residual[order],
            slopes=taken(self.slopes),
            by_coefficient=self.by_coefficient[order],
        )
