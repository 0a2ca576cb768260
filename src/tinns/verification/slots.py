"""Which rows of a system of equations on a grid its boundary conditions take.

A condition on a face takes the place of the equation of one unknown at a point on the face, or next
to it where there are several. Where an equation is of higher order in time, the derivatives of the
condition in time take the places of lower levels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import qr
from scipy.optimize import linear_sum_assignment

from tinns.verification.collocation import Grid
from tinns.verification.posed import Posed
from tinns.verification.refusals import NotApplicable

DEPTH_PENALTY = 0.03  # points on the boundary are preferred to those next to it
DEPENDENT = 1e-8  # conditions whose matrix has so small a pivot depend on each other


@dataclass(frozen=True)
class Slot:
    """A row of the system that a boundary condition takes."""

    level: int
    node: int  # whose equation is replaced
    face: int
    row: int  # of the conditions on the face and their derivatives in time
    point: int  # where the condition is evaluated, among the points of the face


def chosen_slots(given: Posed, grid: Grid, slopes: Sequence[np.ndarray]) -> list[Slot]:
    """The slots of all conditions, each place once: where faces meet, the first one has it.

    `slopes` are the derivatives of the rows on each face in the jets, (points, rows, names).
    """
    slots: dict[tuple[int, int], Slot] = {}
    for number, own in enumerate(slopes):
        for slot in _slots_of(given, grid, number, own):
            slots.setdefault((slot.level, slot.node), slot)
    return list(slots.values())


def _slots_of(given: Posed, grid: Grid, number: int, slopes: np.ndarray) -> list[Slot]:
    face, _ = given.faces[number]
    rows = slopes.shape[1] // max(given.orders)  # derivatives in time follow them
    layers = [grid.face(face.axis, face.outward > 0, depth) for depth in range(rows)]
    slots = []
    for row, (unknown, depth) in _assigned(given, grid, number, slopes[:, :rows], layers):
        orders = [
            index[-1]
            for n, (k, index) in enumerate(given.names)
            if k == unknown and slopes[:, row, n].any()
        ]
        highest = given.orders[unknown]
        copies = max(1, highest - max(orders, default=0))
        for copy in range(copies):
            level = given.levels.index((unknown, highest - copies + copy))
            slots += [
                Slot(level, int(node), number, copy * rows + row, point)
                for point, node in enumerate(layers[depth])
            ]
    return slots


def _assigned(
    given: Posed, grid: Grid, number: int, slopes: np.ndarray, layers: Sequence[np.ndarray]
) -> list[tuple[int, tuple[int, int]]]:
    """For each condition an unknown and a depth: values that the conditions determine well."""
    middle, rows = len(slopes) // 2, slopes.shape[1]
    candidates = [(k, depth) for k in range(len(given.orders)) for depth in range(rows)]
    matrix = np.zeros((rows, len(candidates)))
    for n, (unknown, index) in enumerate(given.names):
        derivative = grid.derivative(index[:-1])[layers[0][middle]]
        for depth in range(rows):
            weight = derivative[layers[depth][middle]] * DEPTH_PENALTY**depth
            matrix[:, candidates.index((unknown, depth))] += slopes[middle, :, n] * weight
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    upper, order = cast(tuple[np.ndarray, np.ndarray], qr(matrix, mode="r", pivoting=True))
    diagonal = np.abs(np.diag(upper))
    if len(diagonal) < rows or diagonal[-1] < DEPENDENT:
        face, _ = given.faces[number]
        raise NotApplicable(
            "form",
            f"the boundary conditions at {face.name} depend on each other or do not contain the "
            "solution",
        )
    chosen = order[:rows]
    pairs = zip(*linear_sum_assignment(-np.abs(matrix[:, chosen])), strict=True)
    return [(int(row), candidates[chosen[column]]) for row, column in pairs]
