"""Changes of the unknowns and coefficients, and the rows that notice them.

A change is a sum of polynomials of space and time. Its coordinates are relative to the sizes of
the unknowns, and the rows relative to their largest terms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tinns.geometry import TIME, Counts, Domain, Initial, Interior
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales, lengths_of
from tinns.problem.base import Problem
from tinns.verification.linear_model import Linearisation
from tinns.verification.linear_rows import Rows
from tinns.verification.polynomials import polynomials_up_to

COUNTS = {1: Counts(1000, 200, 200), 2: Counts(1000, 400, 800), 3: Counts(800, 600, 1800)}
HIGHEST = 20  # degree of polynomials
LEAST_TERM = 0.1  # of an unknown in an equation, relative to the largest


class Changes:
    """The rows of a problem for changes of a solution: `matrix` is (rows, coordinates).

    The coordinates of a change are those of each unknown in turn, in the functions of `basis`, and
    then those of the trainable coefficients.
    """

    def __init__(
        self, problem: Problem, field: Field, psi: Psi, scales: Scales | None, seed: int, count: int
    ) -> None:
        self.problem, self.domain, self.unknowns = problem, problem.domain, problem.unknowns
        self._model = Linearisation(problem, field, COUNTS[len(self.domain.space)], scales)
        # Later windows are determined as the first one is, unless there are observations.
        self._windows = self._model.windows if problem.has_observations else 1
        self._psi, self._seed = psi, seed
        self.span = (self._model.span(0)[0], self._model.span(self._windows - 1)[1])
        self.lengths = lengths_of(self.domain) | {TIME: self.span[1] - self.span[0]}
        functions = count // len(self.unknowns)
        self.basis = polynomials_up_to(self.domain, functions, self.span, HIGHEST)
        self.rows = self._rows(seed)
        self.interior = [r for r in self.rows if isinstance(r.condition.region, Interior)]
        self.sizes = self._balanced()
        self._factors = [self._factor(each) for each in self.rows]
        self._coefficient_sizes = self._sizes_of_coefficients()
        self.matrix = self._matrix(self.rows)

    @property
    def equations(self) -> int:
        return sum(rows.residual.shape[1] for rows in self.interior)

    def at_other_points(self) -> np.ndarray:
        """The rows at points that `matrix` does not have."""
        return self._matrix(self._rows(self._seed + 1))

    def order(self, unknown: int, axis: str) -> int:
        """The highest derivative of an unknown along an axis in the equation."""
        number = self.domain.axes.index(axis)
        orders = [
            index[number]
            for rows in self.interior
            for n, index in enumerate(rows.indices)
            if any(slopes[:, :, n, unknown].any() for slopes in rows.slopes)
        ]
        return max(orders, default=0)

    def _rows(self, seed: int) -> list[Rows]:
        """The rows of the first windows; the initial conditions belong to the first one."""
        return [
            replace(rows, weight=rows.weight / np.sqrt(self._windows))
            for window in range(self._windows)
            for rows in self._model.rows(self._psi, window, seed)
            if window == 0 or not isinstance(rows.condition.region, Initial)
        ]

    def _balanced(self) -> np.ndarray:
        """The sizes of the unknowns.

        Data do not always say how large an unknown becomes, such as one that is zero at first: it
        is large enough to matter in one of the equations that contain it.
        """
        found = np.array(self._model.scales.sizes, float)
        terms = np.concatenate([_terms(r, self.domain, self.lengths) for r in self.interior])
        for _ in range(len(found)):
            with np.errstate(divide="ignore", invalid="ignore"):
                wanted = LEAST_TERM * (terms * found).max(axis=1, keepdims=True) / terms
            wanted = np.where(terms > 0, wanted, np.inf).min(axis=0)
            found = np.maximum(found, np.where(np.isfinite(wanted), wanted, 0.0))
        return found

    def _factor(self, rows: Rows) -> np.ndarray:
        """1 / the largest term of each kind of row."""
        largest = (_terms(rows, self.domain, self.lengths) * self.sizes).max(axis=1)
        return 1 / np.where(largest > 0, largest, 1.0)

    def _matrix(self, rows: Sequence[Rows]) -> np.ndarray:
        """The changes of all rows by the functions, for unknowns of size one, and coefficients."""
        parts = []
        for each, factor in zip(rows, self._factors, strict=True):
            scaled = replace(each, weight=each.weight * factor)
            own = scaled.columns(self.domain, self.basis) * np.repeat(self.sizes, self.basis.count)
            parts.append(np.hstack([own, scaled.coefficient_columns() * self._coefficient_sizes]))
        return np.concatenate(parts)

    def _sizes_of_coefficients(self) -> np.ndarray:
        """The value of each coefficient; for one that is zero, what changes rows by one."""
        known = self._psi["coefficients"]
        values = np.array([abs(float(known[n])) for n in self.problem.trainable])
        effects = np.sqrt(sum((r.coefficient_columns() ** 2).sum(axis=0) for r in self.rows))
        return np.where(values > 0, values, 1 / np.where(effects > 0, effects, 1.0))


def smallest_ratios(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stationary values of ‖A c‖ / ‖c‖ in ascending order, and the unit vectors c.

    Columns of very different size, as of derivatives of high degree, cost no accuracy: the smallest
    values are accurate although A has columns 10^10 times as large.
    """
    shrunk = 1 / np.maximum(np.linalg.norm(matrix, axis=0), 1.0)
    upper = np.linalg.qr(matrix * shrunk, mode="r")
    _, sizes, turned = np.linalg.svd(upper, full_matrices=True)
    sizes = np.append(sizes, np.zeros(matrix.shape[1] - len(sizes)))
    sizes = np.maximum(sizes, 1e-16 * sizes[0])
    changes, inverse, _ = np.linalg.svd((shrunk[:, None] * turned.T) / sizes)
    return 1 / inverse, changes


def _terms(rows: Rows, domain: Domain, lengths: Mapping[str, float]) -> np.ndarray:
    """The largest mean change of each row by each unknown of size one: (rows, unknowns)."""
    units = [
        np.prod([lengths[a] ** -order for a, order in zip(domain.axes, k, strict=True)])
        for k in rows.indices
    ]
    mean = sum(
        np.sqrt(((slopes * rows.weight[:, :, None, None]) ** 2).sum(axis=0))
        for slopes in rows.slopes
    )
    return (mean * np.array(units)[None, :, None]).max(axis=1)
