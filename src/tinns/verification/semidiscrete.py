"""The equation on a grid: an implicit system F(t, y, y') = 0, boundary conditions among its rows.

y holds the unknowns, and their time derivatives below the highest, at the points of the grid. The
equations are resampled to fewer points, and boundary conditions complete their number. All rows are
evaluated with the derivatives of y by differentiation matrices, plus those of a base: with a
network as the base, y is its error.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tinns.verification.collocation import Grid
from tinns.verification.placement import placed
from tinns.verification.posed import Compiled, Posed, solved_for_slopes
from tinns.verification.refusals import NotApplicable
from tinns.verification.rows import coordinates_of, in_chunks

DEPTH_PENALTY = 0.03  # initial values on the boundary are changed rather than those next to it
CONSISTENT = 1e-12  # change of a state, relative to its size, at which iterations end


@dataclass
class Local:
    """Derivatives of the rows in the jets, (times, points, rows, names)."""

    equation: np.ndarray
    faces: list[np.ndarray]


class Semidiscrete:
    """F(t, y, y') for y of shape (levels, points)."""

    def __init__(self, given: Posed, grid: Grid, state: np.ndarray, time: float) -> None:
        self.given, self.grid = given, grid
        self.levels = given.levels
        self._place = {level: number for number, level in enumerate(self.levels)}
        self._on_faces = [grid.face(face.axis, face.outward > 0) for face, _ in given.faces]
        self.local = self._rows(np.array([time]), self.jets(state[None], 0 * state[None]))[1]
        self._mix = solved_for_slopes(given, self.local.equation[0])
        self._placed = placed(given, [slopes[0] for slopes in self.local.faces])
        lost = [[0] * len(grid.axes) for _ in self.levels]
        for p in self._placed:
            lost[p.level][self._axis(p.face)] += 1
        self._fewer = [grid.resampling(each) for each in lost]
        self._fewer_on_face = [
            grid.resampling_of_face(self._axis(p.face), lost[p.level]) for p in self._placed
        ]

        equations = sum(grid.count if f is None else len(f) for f in self._fewer)
        self._conditions = slice(equations, None)  # among the rows of F

    def _axis(self, face: int) -> int:
        return self.grid.names.index(self.given.faces[face][0].axis)

    def jets(self, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The derivatives named in the problem, (times, names, points)."""
        columns = []
        for unknown, index in self.given.names:
            values, level = self._source(y, slope, unknown, index[-1])
            orders = index[:-1]
            here = values[:, level]
            columns.append(here @ self.grid.derivative(orders).T if any(orders) else here)
        return np.stack(columns, axis=1)

    def _source(
        self, y: np.ndarray, slope: np.ndarray, unknown: int, order: int
    ) -> tuple[np.ndarray, int]:
        top = self.given.orders[unknown]
        if order < top:
            return y, self._place[unknown, order]
        return slope, self._place[unknown, top - 1]

    def _rows(self, t: np.ndarray, jets: np.ndarray) -> tuple[list[np.ndarray], Local]:
        """The equation at all points and the conditions on each face, with their derivatives."""
        where = coordinates_of(self.given.box, self.grid.points, t)
        columns, names = jets.swapaxes(1, 2), jets.shape[1]

        def at(function: Compiled, nodes: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
            some, places = columns[:, nodes], where[:, nodes]
            values, slopes = in_chunks(
                function, some.reshape(-1, names), places.reshape(-1, places.shape[-1])
            )
            shape = some.shape[:2]
            return values.reshape(*shape, -1), slopes.reshape(*shape, -1, names)

        faces = zip(self.given.boundary, self._on_faces, strict=True)
        found = [at(self.given.equation, slice(None)), *(at(f, nodes) for f, nodes in faces)]
        (_, equation), *on_faces = found
        return [value for value, _ in found], Local(equation, [slope for _, slope in on_faces])

    def residual(
        self, t: np.ndarray, y: np.ndarray, slope: np.ndarray, base: np.ndarray | None
    ) -> tuple[np.ndarray, Local]:
        """F at several times, (times, rows), and the derivatives of its rows in the jets."""
        jets = self.jets(y, slope)
        (rows, *on_faces), local = self._rows(t, jets if base is None else jets + base)
        rows = rows @ self._mix.T
        local.equation = np.einsum("ij,tpjn->tpin", self._mix, local.equation)
        parts = []
        for number, (unknown, order) in enumerate(self.levels):
            top = order + 1 == self.given.orders[unknown]
            own = rows[..., unknown] if top else slope[:, number] - y[:, number + 1]
            parts.append(_on_fewer(self._fewer[number], own.T).T)
        for p, fewer in zip(self._placed, self._fewer_on_face, strict=True):
            parts.append(_on_fewer(fewer, on_faces[p.face][..., p.row].T).T)
        return np.concatenate(parts, axis=1), local

    def jacobians(self, local: Local, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """∂F/∂y and ∂F/∂y', as matrices."""
        nodes, parts = np.arange(self.grid.count), []
        for number, (unknown, order) in enumerate(self.levels):
            if order + 1 < self.given.orders[unknown]:
                own = self._definition(number, nodes)
            else:
                own = self._by_jets(local.equation[stage, :, unknown], nodes)
            parts.append(_on_fewer(self._fewer[number], own))
        for p, fewer in zip(self._placed, self._fewer_on_face, strict=True):
            own = self._by_jets(local.faces[p.face][stage, :, p.row], self._on_faces[p.face])
            parts.append(_on_fewer(fewer, own))
        by_state, by_slope = np.concatenate(parts, axis=1)
        return by_state, by_slope

    def _definition(self, number: int, nodes: np.ndarray) -> np.ndarray:
        """The Jacobians of a level's slope minus the next level."""
        found = np.zeros((2, len(nodes), len(self.levels), len(nodes)))
        found[0, nodes, number + 1, nodes] = -1.0
        found[1, nodes, number, nodes] = 1.0
        return found.reshape(2, len(nodes), -1)

    def _by_jets(self, slopes: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The Jacobians of one row at some points, from its derivatives in the jets there."""
        found = np.zeros((2, len(nodes), len(self.levels), self.grid.count))
        for n, (unknown, index) in enumerate(self.given.names):
            factor = slopes[:, n]
            if not factor.any():
                continue
            target, level = self._source(found[0], found[1], unknown, index[-1])
            if any(index[:-1]):
                target[:, level] += factor[:, None] * self.grid.derivative(index[:-1])[nodes]
            else:
                target[np.arange(len(nodes)), level, nodes] += factor
        return found.reshape(2, len(nodes), -1)

    def consistent(self, t: float, y: np.ndarray, base: np.ndarray | None) -> np.ndarray:
        """y with its values next to the boundary changed so that the boundary conditions hold."""
        places, weights = self._next_to_faces
        if not len(places):
            return y
        y, time = y.copy(), np.array([t])
        for _ in range(8):
            value, local = self.residual(time, y[None], 0 * y[None], base)
            by_state, _ = self.jacobians(local, 0)
            algebraic, left = by_state[self._conditions][:, places], value[0, self._conditions]
            used = np.abs(algebraic).max(axis=1) > 0  # the others contain y' alone
            weighted = np.linalg.lstsq(algebraic[used] * weights, -left[used], rcond=1e-13)[0]
            change = weights * weighted
            if not np.isfinite(change).all():
                raise NotApplicable(
                    "form", "the boundary conditions cannot be solved at the initial time"
                )
            y.reshape(-1)[places] += change
            if np.abs(change).max() <= CONSISTENT * max(np.abs(y).max(), 1e-300):
                break
        return y

    @cached_property
    def _next_to_faces(self) -> tuple[np.ndarray, np.ndarray]:
        """Places in y with a weight: as many layers next to a face as conditions there."""
        weights = np.zeros(len(self.levels) * self.grid.count)
        layers: dict[tuple[int, int], int] = {}
        for p in self._placed:
            depth = layers.get((p.level, p.face), 0)
            layers[p.level, p.face] = depth + 1
            face, _ = self.given.faces[p.face]
            nodes = self.grid.face(face.axis, face.outward > 0, depth)
            places = p.level * self.grid.count + nodes
            weights[places] = np.maximum(weights[places], DEPTH_PENALTY**depth)
        places = np.flatnonzero(weights)
        return places, weights[places]


def _on_fewer(resampling: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Rows at all points, resampled to those at which they are imposed."""
    return rows if resampling is None else resampling @ rows
