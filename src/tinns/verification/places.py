"""What may be given at the initial time and on the faces of a box, as rows of a change."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinns.geometry import TIME, Box
from tinns.verification.changes import Changes
from tinns.verification.wording import derivative, listed

POINTS = 200  # at which an unknown is taken as known


@dataclass(frozen=True)
class Place:
    """A derivative of an unknown along one axis, at the initial or final time or on a face."""

    unknown: int
    axis: str
    value: float
    order: int
    what: str  # is given there
    face: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} at {self.face}" if self.face else self.what


def places_of(changes: Changes) -> list[Place]:
    """Initial values, velocities, ... and values, slopes, ... on the faces of a box.

    As many as the orders of the equation in time and along the axes.
    """
    domain, unknowns, found = changes.domain, changes.unknowns, []
    for number, unknown in enumerate(unknowns):
        for order in range(changes.order(number, TIME)):
            what = f"the initial {derivative('value', 'velocity', order)} of {unknown}"
            found.append(Place(number, TIME, changes.span[0], order, what))
    faces = domain.faces if isinstance(domain, Box) else ()
    highest = max(changes.order(n, a) for n in range(len(unknowns)) for a in domain.space)
    for order in range(highest):
        for number, unknown in enumerate(unknowns):
            for face in faces:
                if order < changes.order(number, face.axis):
                    what = f"the {derivative('value', 'slope', order)} of {unknown}"
                    found.append(Place(number, face.axis, face.value, order, what, face.name))
    return found


def places_at_end(changes: Changes) -> list[Place]:
    """Values, velocities, ... at the final time."""
    return [
        Place(n, TIME, changes.span[1], order, "")
        for n in range(len(changes.unknowns))
        for order in range(changes.order(n, TIME))
    ]


def known_at(changes: Changes, places: Sequence[Place]) -> np.ndarray:
    """Rows that vanish if the unknowns do not change at these places."""
    domain, functions, random = changes.domain, changes.basis.count, np.random.default_rng(0)
    columns = {}
    for axis in domain.axes:
        low, high = changes.span if axis == TIME else domain.interval(axis)
        angles = random.uniform(0, np.pi, POINTS)
        columns[axis] = (low + high - (high - low) * np.cos(angles)) / 2
    found = []
    for place in places:
        points = columns | {place.axis: np.full(POINTS, place.value)}
        index = tuple(place.order * (axis == place.axis) for axis in domain.axes)
        values = changes.basis.derivatives(domain, points, [index])[index]
        block = np.zeros((POINTS, changes.matrix.shape[1]))
        own = slice(place.unknown * functions, (place.unknown + 1) * functions)
        block[:, own] = values * changes.lengths[place.axis] ** place.order / np.sqrt(POINTS)
        found.append(block)
    return np.concatenate(found)


def with_faces(places: Sequence[Place]) -> list[str]:
    """What is given, with all faces at which it is."""
    faces: dict[str, list[str]] = {}
    for place in places:
        faces.setdefault(place.what, []).append(place.face)
    return [f"{w} at {listed(own)}" if any(own) else w for w, own in faces.items()]
