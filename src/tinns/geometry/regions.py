"""Where conditions hold: the interior, the initial time, the boundary, given points."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.geometry.batch import Batch
from tinns.geometry.box import Box
from tinns.geometry.domain import TIME, Domain, Sampler
from tinns.geometry.grading import Edge
from tinns.geometry.samplers import Counts


@runtime_checkable
class Region(Protocol):
    """A part of a domain, where points are drawn for a condition."""

    @property
    def name(self) -> str: ...

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch: ...


@runtime_checkable
class HasEdges(Protocol):
    """A region whose points fill the domain up to edges where solutions can have layers."""

    def edges(self, domain: Domain) -> tuple[Edge, ...]: ...


@dataclass(frozen=True)
class Interior:
    """The whole domain."""

    name: str = "interior"

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch:
        return Batch(domain.draw_interior(key, counts.interior, sampler))

    def edges(self, domain: Domain) -> tuple[Edge, ...]:
        return (_start_of(domain), *_faces_of(domain))


@dataclass(frozen=True)
class Initial:
    """The domain at the initial time, or the part of it `within` some intervals."""

    within: tuple[tuple[str, tuple[float, float]], ...] = ()  # axes and their intervals
    name: str = "initial"

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch:
        return Batch(domain.draw_initial(key, counts.initial, sampler, dict(self.within)))

    def edges(self, domain: Domain) -> tuple[Edge, ...]:
        return () if self.within else _faces_of(domain)


@dataclass(frozen=True)
class Boundary:
    """The boundary, or the named parts of it (faces of a box), with outward normals."""

    faces: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(["boundary", *self.faces])

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch:
        points, normals = domain.draw_boundary(key, counts.boundary, sampler, self.faces)
        return Batch(points, normals)

    def edges(self, domain: Domain) -> tuple[Edge, ...]:
        return (_start_of(domain),)


@dataclass(frozen=True)
class LowerFace:
    """The lower end of one axis, for conditions that compare it with the upper end."""

    axis: str

    @property
    def name(self) -> str:
        return f"ends of {self.axis}"

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch:
        each = max(1, counts.boundary // 2)
        points = domain.draw_interior(key, each, sampler)
        return Batch(points | {self.axis: jnp.full(each, domain.interval(self.axis)[0])})

    def edges(self, domain: Domain) -> tuple[Edge, ...]:
        return (_start_of(domain),)


@dataclass(frozen=True, eq=False)
class Observations:
    """Given points with given values: never redrawn."""

    columns: Mapping[str, np.ndarray]  # coordinates by axis and values by unknown
    name: str = "observed"

    def draw(self, key: Array, domain: Domain, counts: Counts, sampler: Sampler) -> Batch:
        columns = {name: jnp.asarray(column) for name, column in self.columns.items()}
        return Batch(
            {axis: columns[axis] for axis in domain.axes if axis in columns},
            values={name: c for name, c in columns.items() if name not in domain.axes},
        )

    def between(self, start: float, end: float, last: bool) -> np.ndarray:
        """Which observations lie in a time window; the last window includes its end."""
        times = self.columns[TIME]
        return np.flatnonzero((times >= start) & ((times <= end) if last else (times < end)))


def _start_of(domain: Domain) -> Edge:
    return Edge(TIME, domain.start, domain.end - domain.start)


def _faces_of(domain: Domain) -> tuple[Edge, ...]:
    """The faces of a box; another geometry has none that are planes."""
    if not isinstance(domain, Box):
        return ()
    lengths = {a: domain.interval(a)[1] - domain.interval(a)[0] for a in domain.space}
    return tuple(Edge(f.axis, f.value, -f.outward * lengths[f.axis]) for f in domain.faces)
