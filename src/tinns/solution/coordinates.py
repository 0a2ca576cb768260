"""Coordinates as a user gives them: by name, of every axis, inside the domain, broadcast."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from tinns._runtime.errors import UserError, unknown_name
from tinns.geometry import Domain

Columns = Mapping[str, np.ndarray]  # points: equally long coordinates by axis name


def as_columns(
    domain: Domain, coordinates: Mapping[str, ArrayLike], extrapolate: bool
) -> tuple[tuple[int, ...], Columns]:
    """The shape to which coordinates broadcast, and one long column for each."""
    checked = checked_coordinates(domain, coordinates, extrapolate)
    try:
        arrays = np.broadcast_arrays(*(checked[axis] for axis in domain.axes))
    except ValueError:
        shapes = ", ".join(f"{axis} {checked[axis].shape}" for axis in domain.axes)
        raise UserError(f"coordinates do not broadcast together: {shapes}") from None
    columns = {axis: array.reshape(-1) for axis, array in zip(domain.axes, arrays, strict=True)}
    return arrays[0].shape, columns


def checked_coordinates(
    domain: Domain, coordinates: Mapping[str, ArrayLike], extrapolate: bool
) -> dict[str, np.ndarray]:
    """Coordinates as arrays, if they are those of all axes, and inside the domain."""
    for name in coordinates:
        if name not in domain.axes:
            raise unknown_name("coordinate", name, domain.axes)
    missing = [axis for axis in domain.axes if axis not in coordinates]
    if missing:
        raise UserError(f"coordinate {missing[0]} is missing: give all of {', '.join(domain.axes)}")
    arrays = {}
    for axis in domain.axes:
        try:
            array = np.asarray(coordinates[axis], dtype=float)
        except (TypeError, ValueError):
            raise UserError(f"{axis}: expected numbers, got {coordinates[axis]!r}") from None
        lower, upper = domain.interval(axis)
        slack = 1e-9 * (upper - lower)
        outside = ~((array >= lower - slack) & (array <= upper + slack))
        if not extrapolate and axis not in domain.periodic and outside.any():
            raise UserError(
                f"{axis} = {array[outside].flat[0]:g} is outside the domain "
                f"[{lower:g}, {upper:g}]; pass extrapolate=True to evaluate there anyway"
            )
        arrays[axis] = array
    return arrays
