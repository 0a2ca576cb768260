"""Points that crowd towards edges, where a thin layer would slip between uniform points."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log

import jax.numpy as jnp
from jax import Array

from tinns.geometry.batch import Batch

NEAREST = 1e-6  # distance from an edge, as a share of the axis, below which points are not crowded


@dataclass(frozen=True)
class Edge:
    """The end of an axis at `value`; the other end is at value + `span`."""

    axis: str
    value: float
    span: float

    def share(self, coordinate: Array) -> Array:
        """The distance from the edge, from 0 to 1."""
        return (coordinate - self.value) / self.span

    def at(self, share: Array) -> Array:
        """The coordinate at a distance from the edge."""
        return self.value + self.span * share


def graded(batch: Batch, edges: Sequence[Edge]) -> Batch:
    """Uniform points, of which every second one is moved towards one of the edges.

    Distances from its edge are then distributed evenly in their logarithm. The points are weighted
    so that weighted means of squares are still means over the region: `weight` is the square root
    of the uniform density over that of the points, at most √2.
    """
    if not edges:
        return replace(batch, weight=jnp.ones(batch.count))
    number = jnp.arange(batch.count)
    points = dict(batch.coordinates)
    for n, edge in enumerate(edges):
        coordinate = points[edge.axis]
        moved = edge.at(NEAREST ** (1 - jnp.clip(edge.share(coordinate), 0.0, 1.0)))
        chosen = (number % 2 == 1) & ((number // 2) % len(edges) == n)
        points[edge.axis] = jnp.where(chosen, moved, coordinate)
    densities = [_density(edge.share(points[edge.axis])) for edge in edges]
    density = (1 + sum(densities, start=jnp.zeros(())) / len(edges)) / 2
    return replace(batch, coordinates=points, weight=density**-0.5)


def _density(share: Array) -> Array:
    """The density of distances whose logarithms are distributed evenly on [NEAREST, 1]."""
    return 1 / (jnp.maximum(share, NEAREST) * -log(NEAREST))
