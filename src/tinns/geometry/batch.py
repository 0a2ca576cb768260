"""Points and what belongs to them: the data of one block of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jax import Array

from tinns.geometry.domain import TIME, Coordinates


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Span:
    """The time window that a point belongs to: where it starts, and how long it is."""

    start: Array
    length: Array


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Batch:
    """Points by axis name, with what a condition or a solver attaches to each of them.

    Every entry has one leading axis over the points; inside `vmap` a batch is a single point.
    `batch["x"]` is a coordinate.
    """

    coordinates: Coordinates
    normals: Coordinates | None = None  # outward normals, by space axis
    values: Coordinates | None = None  # observed values, by unknown
    weight: Array | None = None  # multiplies the rows of a point
    offset: Array | None = None  # is subtracted from the rows: what the window before left
    window: Span | None = None

    def __getitem__(self, axis: str) -> Array:
        return self.coordinates[axis]

    @property
    def count(self) -> int:
        """The number of points."""
        return next(iter(self.coordinates.values())).shape[0]

    def at(self, **coordinates: Array) -> Batch:
        """The same with some coordinates replaced."""
        return replace(self, coordinates=self.coordinates | coordinates)

    def take(self, order: Array) -> Batch:
        """The points numbered `order`."""
        return jax.tree.map(lambda column: column[order], self)

    def in_window(self, start: Array, length: Array) -> Batch:
        """Points whose time runs from 0 to 1, moved to the times of a window."""
        time = start + length * self.coordinates[TIME]
        each = jnp.ones_like(time)
        return replace(self.at(**{TIME: time}), window=Span(start * each, length * each))

    def padded(self, count: int) -> Batch:
        """`count` points: the surplus repeats points with a weight of zero.

        A mean over `count` rows counts the true ones in full, so these are weighted up.
        """
        if count == self.count:
            return self
        order = jnp.arange(count)
        present = jnp.where(order < self.count, jnp.sqrt(count / self.count), 0.0)
        repeated = self.take(order % self.count)
        weight = present if repeated.weight is None else present * repeated.weight
        return replace(repeated, weight=weight)


def mesh(order: tuple[str, ...], axes: Coordinates) -> Coordinates:
    """All points of the tensor grid of some points of each axis, the last axis fastest.

    `order` is that of the axes: a dict that went through a compiled function has lost its own.
    """
    columns = jnp.meshgrid(*(axes[axis] for axis in order), indexing="ij")
    return {axis: column.reshape(-1) for axis, column in zip(order, columns, strict=True)}
