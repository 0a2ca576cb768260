"""A field in time windows: each window has its own parameters, and a time from 0 to 1."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from tinns.geometry import TIME, Domain, MultiIndex
from tinns.nn.fields import Derivatives, Field


@dataclass(frozen=True)
class Windowed:
    """u(x, t) = u_k(x, (t - t_k)/(t_k+1 - t_k)) for t in [t_k, t_k+1), the last window closed."""

    inner: Field
    edges: tuple[float, ...]

    def init(self, key: Array, domain: Domain, outputs: int) -> list[PyTree]:
        keys = [jax.random.fold_in(key, number) for number in range(len(self.edges) - 1)]
        return [self.inner.init(each, domain.over(0, 1), outputs) for each in keys]

    def derivatives(
        self,
        psi: list[PyTree],
        domain: Domain,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        wanted = tuple(indices)
        number = jnp.searchsorted(jnp.asarray(self.edges[1:-1]), point[TIME], side="right")
        # Evaluate all windows, then choose: branches would copy ψ for every point of a batch.
        everywhere = [
            InWindow(self.inner, start, end - start).derivatives(
                parameters, domain, outputs, point, wanted
            )
            for parameters, (start, end) in zip(psi, itertools.pairwise(self.edges), strict=True)
        ]
        return {k: jnp.stack([values[k] for values in everywhere])[number] for k in wanted}

    def window(self, number: int) -> "InWindow":
        """The field of one window, whose parameters are psi[number]."""
        start, end = self.edges[number : number + 2]
        return InWindow(self.inner, start, end - start)


@dataclass(frozen=True)
class InWindow:
    """A field over one time window, whose own time runs from 0 to 1 there."""

    inner: Field
    start: Array | float
    length: Array | float

    def init(self, key: Array, domain: Domain, outputs: int) -> PyTree:
        return self.inner.init(key, domain.over(0, 1), outputs)

    def derivatives(
        self,
        psi: PyTree,
        domain: Domain,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        own = point | {TIME: (point[TIME] - self.start) / self.length}
        values = self.inner.derivatives(psi, domain.over(0, 1), outputs, own, indices)
        return {k: value / self.length ** k[-1] for k, value in values.items()}


@runtime_checkable
class HasWindows(Protocol):
    """A field in time windows, which can be taken one by one."""

    def window(self, number: int) -> Field: ...


@runtime_checkable
class Windowable(Protocol):
    """A field that knows how to be restricted to a time window."""

    def in_window(self, start: Array | float, length: Array | float) -> Field: ...


def in_window(field: Field, start: Array | float, length: Array | float) -> Field:
    """The field over [start, start + length], with its own time from 0 to 1."""
    return (
        field.in_window(start, length)
        if isinstance(field, Windowable)
        else InWindow(field, start, length)
    )


def windowed(field: Field, edges: tuple[float, ...]) -> Field:
    """The field with separate parameters for each window between the edges."""
    joined = getattr(field, "windowed", None)
    return Windowed(field, edges) if joined is None else joined(edges)
