"""The equation on a grid: an implicit system F(t, y, y') = 0, boundary conditions among its rows.

y holds the unknowns, and their time derivatives below the highest, at the points of the grid. At a
point next to the boundary, conditions take the place of the equation. All rows are evaluated with
the derivatives of y by differentiation matrices, plus those of a base: with a network as the base,
y is its error.
"""

from dataclasses import dataclass

import numpy as np

from tinns.verification.collocation import Grid
from tinns.verification.posed import Posed, solved_for_slopes
from tinns.verification.refusals import NotApplicable
from tinns.verification.rows import coordinates_of, in_chunks
from tinns.verification.slots import Slot, chosen_slots


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
        self._mix = np.eye(len(given.orders))
        self._slots: list[Slot] = []
        at = np.array([time])
        _, local = self.residual(at, state[None], 0 * state[None], None)
        self._mix = solved_for_slopes(given, local.equation[0])
        self._slots = chosen_slots(given, grid, [slopes[0] for slopes in local.faces])
        self.local = local

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

    def residual(
        self, t: np.ndarray, y: np.ndarray, slope: np.ndarray, base: np.ndarray | None
    ) -> tuple[np.ndarray, Local]:
        """F at several times, and the derivatives of its rows in the jets."""
        jets = self.jets(y, slope)
        jets = (jets if base is None else jets + base).swapaxes(1, 2)
        where = coordinates_of(self.given.box, self.grid.points, t)
        names = jets.shape[-1]

        def at(function, nodes: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
            some, places = jets[:, nodes], where[:, nodes]
            values, slopes = in_chunks(
                function, some.reshape(-1, names), places.reshape(-1, places.shape[-1])
            )
            shape = some.shape[:2]
            return values.reshape(*shape, -1), slopes.reshape(*shape, -1, names)

        rows, slopes = at(self.given.equation, slice(None))
        result = np.empty_like(y)
        square = rows.shape[-1] == len(self._mix)
        if square:
            rows, slopes = rows @ self._mix.T, np.einsum("ij,tpjn->tpin", self._mix, slopes)
        for number, (unknown, order) in enumerate(self.levels):
            top = order + 1 == self.given.orders[unknown]
            if not top:
                result[:, number] = slope[:, number] - y[:, number + 1]
            elif square:
                result[:, number] = rows[..., unknown]
        on_faces = [
            at(f, nodes) for f, nodes in zip(self.given.boundary, self._on_faces, strict=True)
        ]
        for s in self._slots:
            result[:, s.level, s.node] = on_faces[s.face][0][:, s.point, s.row]
        return result, Local(slopes, [slope for _, slope in on_faces])

    def jacobians(self, local: Local, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """∂F/∂y and ∂F/∂y', as matrices."""
        levels, points = len(self.levels), self.grid.count
        shape = (levels, points, levels, points)
        by_state, by_slope = np.zeros(shape), np.zeros(shape)
        nodes = np.arange(points)
        for number, (unknown, order) in enumerate(self.levels):
            if order + 1 < self.given.orders[unknown]:
                by_slope[number, nodes, number, nodes] = 1.0
                by_state[number, nodes, number + 1, nodes] = -1.0
                continue
            for n, (other, index) in enumerate(self.given.names):
                factor = local.equation[stage, :, unknown, n]
                if not factor.any():
                    continue
                target, level = self._source(by_state, by_slope, other, index[-1])
                if any(index[:-1]):
                    matrix = self.grid.derivative(index[:-1])
                    target[number, :, level, :] += factor[:, None] * matrix
                else:
                    target[number, nodes, level, nodes] += factor
        for s in self._slots:
            by_state[s.level, s.node] = 0.0
            by_slope[s.level, s.node] = 0.0
            point = self._on_faces[s.face][s.point]
            for n, (other, index) in enumerate(self.given.names):
                factor = local.faces[s.face][stage, s.point, s.row, n]
                if factor:
                    target, level = self._source(by_state, by_slope, other, index[-1])
                    target[s.level, s.node, level] += (
                        factor * self.grid.derivative(index[:-1])[point]
                    )
        size = levels * points
        return by_state.reshape(size, size), by_slope.reshape(size, size)

    def consistent(self, t: float, y: np.ndarray, base: np.ndarray | None) -> np.ndarray:
        """y with its values at the slots changed so that the boundary conditions hold."""
        if not self._slots:
            return y
        rows = np.array([s.level * self.grid.count + s.node for s in self._slots])
        y, time = y.copy(), np.array([t])
        for _ in range(8):
            value, local = self.residual(time, y[None], 0 * y[None], base)
            by_state, _ = self.jacobians(local, 0)
            algebraic = by_state[np.ix_(rows, rows)]
            used = np.abs(algebraic).max(axis=1) > 0  # the others contain y' alone
            change = np.linalg.lstsq(
                algebraic[np.ix_(used, used)], -value.ravel()[rows[used]], rcond=1e-13
            )[0]
            if not np.isfinite(change).all():
                raise NotApplicable(
                    "form", "the boundary conditions cannot be solved at the initial time"
                )
            y.reshape(-1)[rows[used]] += change
            if np.abs(change).max() <= 1e-12 * max(np.abs(y).max(), 1e-300):
                break
        return y
