"""Where conditions are enforced, and how points are drawn there.

A region turns numbers in the unit cube into points of the box; a sampler supplies the numbers.
Points are a dict of equally long arrays by axis name. Drawing is a pure JAX function of a key,
so a compiled training loop can redraw without leaving the device.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Key

from tinns.domain import TIME, Box, Face
from tinns.errors import UserError

Points = dict[str, Array]
ROW_SHARE = "share of a row"  # a column that multiplies rows, where there is one
Sampler = Callable[[Array, int, int], Array]  # key, count, dimension -> (count, dimension)


@dataclass(frozen=True)
class Uniform:
    """Independent uniform points."""

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        return jax.random.uniform(key, (count, dimension))


@dataclass(frozen=True)
class QuasiRandom:
    """A randomly shifted additive recurrence: frac(shift + i·a), a_j = g^-j, g^(d+1) = g + 1.

    With the generalised golden ratio g this is the R_d sequence (M. Roberts, 2018); its
    discrepancy is close to that of Sobol points, at any count.
    """

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        ratio = 2.0
        for _ in range(60):
            ratio = (1 + ratio) ** (1 / (dimension + 1))
        steps = jnp.asarray(ratio ** -np.arange(1.0, dimension + 1))
        shift = jax.random.uniform(key, (dimension,))
        return (shift + jnp.arange(count)[:, None] * steps) % 1.0


@dataclass(frozen=True)
class TensorGrid:
    """`per_axis` uniform points on every axis, and all points of the grid that they span.

    For separable fields, which are cheap on grids. Regions that are no grids get single points.
    """

    per_axis: int = 256

    def __post_init__(self) -> None:
        if not isinstance(self.per_axis, int) or self.per_axis < 1:
            raise UserError(f"TensorGrid: per_axis={self.per_axis!r}; expected a whole number >= 1")

    def axes(self, key: Key[Array, ""], domain: Box) -> Points:
        """The points of each axis."""
        return _in_box(domain, Uniform()(key, self.per_axis, len(domain.axes)))

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        return Uniform()(key, count, dimension)


@dataclass(frozen=True)
class Counts:
    """How many points each kind of region gets; `boundary` is the total over all faces."""

    interior: int
    initial: int = 0
    boundary: int = 0

    def times(self, factor: int) -> "Counts":
        return Counts(factor * self.interior, factor * self.initial, factor * self.boundary)

    def __post_init__(self) -> None:
        for name, count in vars(self).items():
            if count < 0 or int(count) != count:
                raise UserError(f"{name} points: expected a whole number >= 0, got {count}")


class Region(Protocol):
    """A part of the space-time box."""

    @property
    def name(self) -> str: ...

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points: ...


@dataclass(frozen=True)
class Interior:
    """The whole box."""

    name: str = "interior"

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points:
        return _in_box(domain, sampler(key, counts.interior, len(domain.axes)))


@dataclass(frozen=True)
class Initial:
    """The slice at the initial time, or its part `within` some intervals."""

    within: tuple[tuple[str, Any], ...] = ()  # axes and their intervals
    name: str = "initial"

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points:
        part = domain.within(**dict(self.within))
        points = _in_box(part, sampler(key, counts.initial, len(domain.space)))
        return points | {TIME: jnp.full(counts.initial, domain.start)}


@dataclass(frozen=True)
class Boundary:
    """Faces of the box (all of them by default), with their outward normals.

    One draw serves every face: its points are moved onto each face in turn.
    """

    faces: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return " ".join(["boundary", *self.faces])

    def on(self, domain: Box) -> tuple[Face, ...]:
        """The faces themselves."""
        faces = tuple(domain.face(name) for name in self.faces) or domain.faces
        if not faces:
            raise UserError("a boundary condition on a box whose space axes are all periodic")
        return faces

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points:
        faces = self.on(domain)
        each = max(1, counts.boundary // len(domain.faces))
        base = _in_box(domain, sampler(key, each, len(domain.axes)))
        moved = [
            base
            | {face.axis: jnp.full(each, face.value)}
            | {
                normal(axis): jnp.full(each, float(face.outward * (axis == face.axis)))
                for axis in domain.space
            }
            for face in faces
        ]
        return {name: jnp.concatenate([points[name] for points in moved]) for name in moved[0]}


@dataclass(frozen=True)
class LowerFace:
    """The lower face of one axis, for conditions that compare it with the upper one."""

    axis: str

    @property
    def name(self) -> str:
        return f"ends of {self.axis}"

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points:
        each = max(1, counts.boundary // 2)
        points = _in_box(domain, sampler(key, each, len(domain.axes)))
        return points | {self.axis: jnp.full(each, domain.interval(self.axis)[0])}


@dataclass(frozen=True, eq=False)
class Observations:
    """Given points with given values: never redrawn."""

    columns: Mapping[str, np.ndarray]
    name: str = "observed"

    def draw(self, key: Array, domain: Box, counts: Counts, sampler: Sampler) -> Points:
        return {name: jnp.asarray(column) for name, column in self.columns.items()}


def mesh(domain: Box, axes: Points) -> Points:
    """All points of the grid of some points of each axis, the last axis fastest."""
    columns = jnp.meshgrid(*(axes[axis] for axis in domain.axes), indexing="ij")
    return {axis: column.reshape(-1) for axis, column in zip(domain.axes, columns, strict=True)}


def normal(axis: str) -> str:
    """The column that holds the outward normal's component along `axis`."""
    return f"normal_{axis}"


def _in_box(domain: Box, unit: Array) -> Points:
    """Unit-cube numbers to coordinates of the first axes of the box.

    A zero is moved up by a rounding error: on an axis that starts at 0 no point lies at its end,
    where ln x or 1/x would not be finite.
    """
    unit = jnp.maximum(unit, jnp.finfo(unit.dtype).eps / 2)
    points = {}
    for number in range(unit.shape[1]):
        lower, upper = domain.interval(domain.axes[number])
        points[domain.axes[number]] = lower + (upper - lower) * unit[:, number]
    return points
