"""The space-time box: named axes, periodic axes, faces."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry.domain import TIME, Coordinates, Sampler


@dataclass(frozen=True)
class Face:
    """One side of the box: the points where a space axis takes one of its end values."""

    axis: str
    value: float
    outward: int  # +1 at the upper end, -1 at the lower end

    @property
    def name(self) -> str:
        return f"{self.axis}{'+' if self.outward > 0 else '-'}"

    def normal(self, axis: str) -> float:
        """The component of the outward normal along an axis."""
        return float(self.outward * (axis == self.axis))


@dataclass(frozen=True, init=False)
class Box:
    """Ω x [t0, t1] with 1 to 3 named space axes; space first, time last.

    `Box(x=(-1, 1), t=(0, 1), periodic="x")`. Axis names are single lower-case letters, because
    `u.xxt` names a derivative letter by letter.
    """

    bounds: tuple[tuple[str, tuple[float, float]], ...]
    periodic: tuple[str, ...]

    def __init__(self, periodic: str | Iterable[str] = (), **bounds: tuple[float, float]) -> None:
        checked = {name: _interval(name, interval) for name, interval in bounds.items()}
        if TIME not in checked:
            raise UserError("the box has no time axis: add t=(start, end)")
        space = [name for name in checked if name != TIME]
        if not 1 <= len(space) <= 3:
            raise UserError(
                f"the box has {len(space)} space axes ({', '.join(space) or 'none'}): give 1 to 3, "
                "as in Box(x=(-1, 1), t=(0, 1))"
            )
        periodic = tuple(periodic)
        for name in periodic:
            if name not in space:
                raise UserError(
                    f"periodic axis '{name}' is not a space axis of the box ({', '.join(space)})"
                )
        ordered = tuple((name, checked[name]) for name in [*space, TIME])
        object.__setattr__(self, "bounds", ordered)
        object.__setattr__(self, "periodic", periodic)

    @property
    def axes(self) -> tuple[str, ...]:
        """All axis names, space first and t last."""
        return tuple(name for name, _ in self.bounds)

    @property
    def space(self) -> tuple[str, ...]:
        return self.axes[:-1]

    def interval(self, axis: str) -> tuple[float, float]:
        if axis not in self.axes:
            raise UserError(f"the box has no axis '{axis}'; its axes are {', '.join(self.axes)}")
        return dict(self.bounds)[axis]

    @property
    def start(self) -> float:
        """The initial time."""
        return self.interval(TIME)[0]

    @property
    def end(self) -> float:
        """The final time."""
        return self.interval(TIME)[1]

    def over(self, start: float, end: float) -> "Box":
        """The same space over another stretch of time."""
        bounds = dict(self.bounds) | {TIME: (start, end)}
        return Box(periodic=self.periodic, **bounds)

    def within(self, **bounds: tuple[float, float]) -> "Box":
        """The part of the box between the given bounds of some of its axes."""
        part = Box(periodic=self.periodic, **(dict(self.bounds) | bounds))
        for axis in bounds:
            (lower, upper), (least, most) = part.interval(axis), self.interval(axis)
            if not least <= lower < upper <= most:
                raise UserError(
                    f"within: {axis} = ({lower:g}, {upper:g}) is not inside the domain's "
                    f"({least:g}, {most:g})"
                )
        return part

    @property
    def faces(self) -> tuple[Face, ...]:
        """The faces that carry boundary conditions: two per space axis that is not periodic."""
        return tuple(
            Face(axis, end, outward)
            for axis in self.space
            if axis not in self.periodic
            for end, outward in zip(self.interval(axis), (-1, 1), strict=True)
        )

    def face(self, name: str) -> Face:
        """The face called `x-`, `x+`, `y-`, ..."""
        for face in self.faces:
            if face.name == name:
                return face
        known = ", ".join(face.name for face in self.faces) or "none, all axes are periodic"
        raise UserError(f"the box has no face '{name}'; its faces are {known}")

    def on(self, names: tuple[str, ...]) -> tuple[Face, ...]:
        """The faces of these names, or all of them."""
        faces = tuple(self.face(name) for name in names) or self.faces
        if not faces:
            raise UserError("a boundary condition on a box whose space axes are all periodic")
        return faces

    def draw_interior(self, key: Array, count: int, sampler: Sampler) -> Coordinates:
        return self._scaled(sampler(key, count, len(self.axes)))

    def draw_initial(
        self, key: Array, count: int, sampler: Sampler, within: Mapping[str, tuple[float, float]]
    ) -> Coordinates:
        points = self.within(**within)._scaled(sampler(key, count, len(self.space)))
        return points | {TIME: jnp.full(count, self.start)}

    def draw_boundary(
        self, key: Array, count: int, sampler: Sampler, parts: tuple[str, ...]
    ) -> tuple[Coordinates, Coordinates]:
        """One draw serves every face: its points are moved onto each face in turn."""
        faces = self.on(parts)
        each = max(1, count // len(self.faces))
        base = self._scaled(sampler(key, each, len(self.axes)))
        moved = [base | {face.axis: jnp.full(each, face.value)} for face in faces]
        points = {a: jnp.concatenate([points[a] for points in moved]) for a in self.axes}
        normals = {
            axis: jnp.concatenate([jnp.full(each, face.normal(axis)) for face in faces])
            for axis in self.space
        }
        return points, normals

    def contains(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        inside = [
            (lower <= points[axis]) & (points[axis] <= upper)
            for axis, (lower, upper) in self.bounds
        ]
        return np.logical_and.reduce(np.broadcast_arrays(*inside))

    def _scaled(self, unit: Array) -> Coordinates:
        """Unit-cube numbers to coordinates of the first axes of the box.

        Zero is moved up by a rounding error: on an axis that starts at 0 no point lies at its
        end, where ln x or 1/x would not be finite.
        """
        unit = jnp.maximum(unit, jnp.finfo(unit.dtype).eps / 2)
        points = {}
        for number in range(unit.shape[1]):
            lower, upper = self.interval(self.axes[number])
            points[self.axes[number]] = lower + (upper - lower) * unit[:, number]
        return points


def _interval(name: str, interval: tuple[float, float]) -> tuple[float, float]:
    if not (len(name) == 1 and name.isalpha() and name.islower() and name.isascii()):
        raise UserError(f"axis name '{name}' must be one lower-case letter, such as x or t")
    try:
        lower, upper = (float(end) for end in interval)
    except (TypeError, ValueError):
        raise UserError(f"axis {name}: expected (lower, upper), got {interval!r}") from None
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        fault = "runs backwards" if upper < lower else "is empty or not finite"
        raise UserError(
            f"axis {name}: the interval ({lower:g}, {upper:g}) {fault}; expected finite numbers "
            "(lower, upper) with lower < upper"
        )
    return lower, upper
