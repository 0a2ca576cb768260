"""Which equations on a grid the boundary conditions take rows of.

The equation of each unknown is imposed on as many points fewer as there are conditions that
determine this unknown (T. Driscoll and N. Hale, 2016). Where an equation is of higher order in
time, derivatives of a condition in time do the same for lower levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linear_sum_assignment

from tinns.verification.posed import Posed
from tinns.verification.refusals import NotApplicable

DEPENDENT = 1e-8  # conditions whose matrix has so small a pivot depend on each other
TOO_MANY = 0.01  # weight of conditions beyond half the order of an unknown in space


@dataclass(frozen=True)
class Placed:
    """A boundary condition with the level of the state whose equation it takes rows of."""

    level: int
    face: int
    row: int  # of the conditions on the face and their derivatives in time


def placed(given: Posed, slopes: Sequence[np.ndarray]) -> list[Placed]:
    """All conditions; `slopes` are the derivatives of their rows, (points, rows, names) by face."""
    found = []
    for number, own in enumerate(slopes):
        rows = own.shape[1] // max(given.orders)  # derivatives in time follow them
        for row, unknown in enumerate(_unknowns(given, number, own[:, :rows])):
            orders = [
                index[-1]
                for n, (k, index) in enumerate(given.names)
                if k == unknown and own[:, row, n].any()
            ]
            highest = given.orders[unknown]
            copies = max(1, highest - max(orders, default=0))
            for copy in range(copies):
                level = given.levels.index((unknown, highest - copies + copy))
                found.append(Placed(level, number, copy * rows + row))
    return found


def _unknowns(given: Posed, number: int, slopes: np.ndarray) -> list[int]:
    """For each condition on a face the unknown that it determines."""
    face, _ = given.faces[number]
    axis = given.box.space.index(face.axis)
    lower, upper = given.box.interval(face.axis)
    duration = given.box.end - given.box.start
    sizes = [(upper - lower) ** -i[axis] * duration ** -i[-1] for _, i in given.names]
    matrix = slopes[len(slopes) // 2] * np.array(sizes)
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    rows, unknowns = len(matrix), len(given.orders)
    upper_factor, _ = cast(tuple[np.ndarray, np.ndarray], qr(matrix, mode="r", pivoting=True))
    pivots = np.abs(np.diag(upper_factor))
    if len(pivots) < rows or pivots[-1] < DEPENDENT:
        raise NotApplicable(
            "form",
            f"the boundary conditions at {face.name} depend on each other or do not contain the "
            "solution",
        )
    weights = np.zeros((rows, unknowns, rows))  # each unknown may take several conditions
    for n, (unknown, _) in enumerate(given.names):
        weights[:, unknown] = np.maximum(weights[:, unknown], np.abs(matrix[:, n, None]))
    for unknown in range(unknowns):
        weights[:, unknown, max(1, (given.spatial_order(unknown, axis) + 1) // 2) :] *= TOO_MANY
    _, columns = linear_sum_assignment(-weights.reshape(rows, -1))
    return [int(column) // rows for column in columns]
