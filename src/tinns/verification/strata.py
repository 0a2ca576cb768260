"""Where conditions hold, and the points where such places meet: corners, edges, whole faces."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import jax
import numpy as np

from tinns.geometry import (
    TIME,
    Boundary,
    Box,
    Counts,
    Domain,
    Initial,
    Interior,
    QuasiRandom,
    Region,
)

POINTS = 48  # at which conditions are compared, besides the corners of a box

Columns = dict[str, np.ndarray]  # equally long coordinates by axis


@dataclass(frozen=True)
class Stratum:
    """A part of the domain on which some coordinates are fixed.

    On the boundary of a domain that is not a box only the time is free to vary: `drawn` has points
    of it and their normals.
    """

    axes: tuple[str, ...]
    fixed: Mapping[str, float] = field(default_factory=dict)
    within: tuple[tuple[str, tuple[float, float]], ...] = ()
    normals: Mapping[str, float] = field(default_factory=dict)
    part: tuple[str, ...] | None = None  # the name of a part of such a boundary
    drawn: tuple[Columns, Columns] | None = None

    @property
    def tangential(self) -> tuple[str, ...]:
        """Axes along which one can move without leaving it."""
        free = self.axes if self.drawn is None else (TIME,)
        return tuple(axis for axis in free if axis not in self.fixed)

    @property
    def key(self) -> object:
        """The same for strata that are one and the same place."""
        return tuple(sorted(self.fixed.items())), self.part, self.within

    def restrict(self, points: Columns) -> Columns:
        """Points moved onto this stratum."""
        moved = points | {
            axis: np.full_like(points[axis], value) for axis, value in self.fixed.items()
        }
        for axis, (lower, upper) in self.within:
            if axis not in self.fixed:
                moved[axis] = np.clip(moved[axis], lower, upper)
        return moved

    def contains(self, points: Columns) -> bool:
        """Whether all of these points lie on it."""
        fixed = all((points[axis] == value).all() for axis, value in self.fixed.items())
        inside = all(
            ((points[axis] >= lower) & (points[axis] <= upper)).all()
            for axis, (lower, upper) in self.within
        )
        return fixed and inside

    def normals_at(self, points: Columns) -> Columns:
        """The outward normals, zero where there are none."""
        if self.drawn is not None:
            return self.drawn[1]
        space = [axis for axis in self.axes if axis != TIME]
        return {axis: np.full_like(points[axis], self.normals.get(axis, 0.0)) for axis in space}


def strata_of(domain: Domain, region: Region) -> list[Stratum]:
    """The strata of which a region consists; none for one of another kind."""
    if isinstance(region, Interior):
        return [Stratum(domain.axes)]
    if isinstance(region, Initial):
        return [Stratum(domain.axes, {TIME: domain.start}, region.within)]
    if not isinstance(region, Boundary):
        return []
    if isinstance(domain, Box):
        return [
            Stratum(domain.axes, {face.axis: face.value}, (), {face.axis: float(face.outward)})
            for face in domain.on(region.faces)
        ]
    batch = region.draw(jax.random.key(0), domain, Counts(0, 0, POINTS), QuasiRandom())
    drawn = tuple(_columns(columns or {}) for columns in (batch.coordinates, batch.normals))
    return [Stratum(domain.axes, part=region.faces, drawn=(drawn[0], drawn[1]))]


def points_in(domain: Domain) -> Columns:
    """Points of a domain, and the corners of a box."""
    drawn = _columns(domain.draw_interior(jax.random.key(0), POINTS, QuasiRandom()))
    if not isinstance(domain, Box):
        return drawn
    ends = np.meshgrid(*(domain.interval(axis) for axis in domain.axes), indexing="ij")
    return {
        axis: np.concatenate([drawn[axis], corners.ravel()])
        for axis, corners in zip(domain.axes, ends, strict=True)
    }


def meeting(points: Columns, strata: list[Stratum]) -> Columns | None:
    """Points that lie on all of these strata; None if there are none."""
    for axis in {axis for stratum in strata for axis, _ in stratum.within}:
        intervals = [dict(s.within)[axis] for s in strata if axis in dict(s.within)]
        if max(lower for lower, _ in intervals) >= min(upper for _, upper in intervals):
            return None
    boundaries = [s for s in strata if s.drawn is not None]
    if len({s.part for s in boundaries}) > 1:
        return None  # whether such parts meet is not known
    if boundaries and boundaries[0].drawn is not None:
        points = boundaries[0].drawn[0]
    for stratum in strata:
        points = stratum.restrict(points)
    return points if all(stratum.contains(points) for stratum in strata) else None


def _columns(columns: Mapping[str, object]) -> Columns:
    return {axis: np.asarray(column, float) for axis, column in columns.items()}
