"""Rows of several conditions at one place: whether any values and derivatives satisfy them all."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from tinns.geometry import MultiIndex
from tinns.verification.strata import Columns
from tinns.verification.tangential import TangentialRows

NEGLIGIBLE = 1e-10  # of a term of a row, relative to the largest
RANK = 1e-9  # of singular values, relative to the largest
ITERATIONS = 8  # of Gauss and Newton; linear rows need one
CONVERGED = 1e-8
ROUND_OFF = 1e-10  # of a residual, relative to the largest term
SMALL = 1e-6  # of a term of a quantity, relative to all


@dataclass(frozen=True)
class Demand:
    """A condition at some points, with the places of its jets among those of the joint rows."""

    rows: TangentialRows
    points: Columns
    normals: Columns
    places: tuple[int, ...]
    chosen: np.ndarray  # (orders, rows): those that are compared

    def name(self, kinds: Collection[int]) -> str:
        """What some of its rows are called."""
        name = self.rows.condition.name
        return f"{name}_{min(kinds) + 1}" if len(kinds) == 1 < self.rows.kinds else name


@dataclass(frozen=True)
class Conflict:
    """Demands that no jets satisfy: what one of them says of a quantity, and what others say.

    The quantity is a sum of (coefficient, place, index, unknown). The gap between the two values
    is relative to that of a quantity of unknowns of their size.
    """

    demands: tuple[Demand, Demand]
    names: tuple[str, str]
    quantity: tuple[tuple[float, int, MultiIndex, int], ...]
    values: tuple[float, float]
    gap: float
    point: int  # of those at which the rows are


@dataclass(frozen=True)
class _Nearest:
    """Jets with the least residuals at each point, relative to their units."""

    jets: np.ndarray  # (points, jets)
    residual: np.ndarray  # (points, rows), relative to their largest terms
    slopes: np.ndarray  # (points, rows, jets)
    found: np.ndarray  # where the iteration has converged


class JointRows:
    """Rows of some demands as functions of the jets at one or more places, (places, jets)."""

    def __init__(
        self, demands: Sequence[Demand], lengths: Mapping[str, float], sizes: np.ndarray
    ) -> None:
        self.demands = demands
        self.indices = tuple(sorted({k for d in demands for k in d.rows.indices}))
        places = 1 + max(place for d in demands for place in d.places)
        rates = [1 / lengths[axis] for axis in demands[0].rows.problem.domain.axes]
        units = np.prod(np.power(rates, self.indices), axis=1)
        shape = (places, len(self.indices), len(sizes))
        self.scale = np.broadcast_to(np.outer(units, sizes), shape)
        owners = [np.full(int(d.chosen.sum()), n) for n, d in enumerate(demands)]
        self.owners = np.concatenate(owners)
        self.kinds = np.concatenate([np.argwhere(d.chosen)[:, 1] for d in demands])

    def conflicts(self) -> list[Conflict]:
        """The largest conflict of each group of rows that are connected by what they contain."""
        nearest = self._nearest(np.ones(len(self.owners), bool))
        occurs = (nearest.slopes[nearest.found] != 0).any(axis=0)
        graph = csr_array(occurs.astype(int) @ occurs.T.astype(int))
        groups = connected_components(graph, directed=False)[1]
        found = []
        for own in (groups == number for number in range(groups.max() + 1)):
            sizes = np.linalg.norm(nearest.residual[:, own], axis=1)
            worst = int(np.argmax(np.where(nearest.found, sizes, 0.0)))
            if nearest.found[worst] and sizes[worst] > ROUND_OFF and own.sum() > 1:
                found += self._explained(own, worst, nearest)
        return found

    def _explained(self, own: np.ndarray, point: int, nearest: _Nearest) -> list[Conflict]:
        """The residual r at the best jets is orthogonal to the slopes A: rᵀA = 0.

        The parts of r that belong to two sides, times their parts of A, are one quantity.
        """
        r = np.where(own, nearest.residual[point], 0.0)
        r = r / np.linalg.norm(r)
        first = self._first_side(r, nearest.slopes[point])
        weights = r[first] @ nearest.slopes[point, first]
        size = float(np.linalg.norm(weights))
        if size < SMALL:
            return []
        terms = [int(n) for n in np.flatnonzero(np.abs(weights) > SMALL * size)]
        terms.sort(key=self._in_words)
        physical, main = weights / self.scale.reshape(-1), int(np.argmax(np.abs(weights)))
        unit = abs(physical[main]) * np.sign(physical[terms[0]])
        quantity = [(float(physical[n] / unit), *self._name(n)) for n in terms]
        sides = [own & first, own & ~first]
        demands, names = zip(*(self._main_demand(np.where(s, r, 0.0)) for s in sides), strict=True)
        jets = [self._nearest(side, nearest.jets).jets[point] for side in sides]
        one, two = (float(weights @ own / unit) for own in jets)
        gap = float(abs(weights @ (jets[0] - jets[1]))) / size
        return [Conflict(demands, names, tuple(quantity), (one, two), gap, point)]

    def _first_side(self, r: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """The rows of the demand whose quantity has the most terms, or one row of the only one."""
        involved = [
            n for n in range(len(self.demands)) if np.linalg.norm(r[self.owners == n]) > SMALL
        ]
        if len(involved) == 1:
            return np.arange(len(r)) == int(np.argmax(np.abs(r)))

        def terms(number: int) -> int:
            weights = r[self.owners == number] @ slopes[self.owners == number]
            return int((np.abs(weights) > SMALL * np.abs(weights).max()).sum())

        return self.owners == max(involved, key=terms)

    def _nearest(self, rows: np.ndarray, start: np.ndarray | None = None) -> _Nearest:
        """Jets at which these rows are as small as possible, by the method of Gauss and Newton."""
        count = len(next(iter(self.demands[0].points.values())))
        random = np.random.default_rng(0).uniform(0.5, 1.5, (count, self.scale.size))
        jets = random if start is None else start
        residual, slopes = self._linearised(jets)
        finite = _finite(residual, slopes)
        size = np.where(finite[:, None], np.abs(slopes).max(axis=2), 0.0).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        found = np.zeros(count, bool)
        for _ in range(ITERATIONS):
            residual, slopes = residual / size, slopes / size[:, None]
            slopes = np.where(np.abs(slopes) > NEGLIGIBLE, slopes, 0.0)
            step = _least_squares(slopes[:, rows], residual[:, rows])
            found = np.linalg.norm(step, axis=1) <= CONVERGED * np.linalg.norm(jets, axis=1)
            if (found | ~finite).all():
                break
            jets = jets - step
            residual, slopes = self._linearised(jets)
        return _Nearest(jets, residual, slopes, found & finite)

    def _linearised(self, jets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All rows (points, rows), and their slopes by the relative jets, (points, rows, jets)."""
        values = jets.reshape(-1, *self.scale.shape) * self.scale
        residuals, slopes = [], []
        for demand in self.demands:
            own = np.array([self.indices.index(k) for k in demand.rows.indices])
            at = np.ix_(np.arange(len(values)), np.array(demand.places), own)
            rows, by_jet = demand.rows(values[at], demand.points, demand.normals)
            full = np.zeros((*rows.shape, *self.scale.shape))
            full[..., np.array(demand.places)[:, None], own, :] = by_jet
            residuals.append(rows[:, demand.chosen])
            slopes.append((full * self.scale)[:, demand.chosen])
        together = np.concatenate(slopes, axis=1)
        return np.concatenate(residuals, axis=1), together.reshape(*together.shape[:2], -1)

    def _main_demand(self, r: np.ndarray) -> tuple[Demand, str]:
        """The demand with the largest part of a residual, and what its rows are called."""
        owner = self.owners[int(np.argmax(np.abs(r)))]
        involved = (self.owners == owner) & (np.abs(r) > SMALL)
        demand = self.demands[owner]
        return demand, demand.name({int(kind) for kind in self.kinds[involved]})

    def _in_words(self, column: int) -> tuple[object, ...]:
        """By place and unknown, x before y."""
        place, index, unknown = self._name(column)
        return place, unknown, tuple(-n for n in index)

    def _name(self, column: int) -> tuple[int, MultiIndex, int]:
        place, index, unknown = np.unravel_index(column, self.scale.shape)
        return int(place), self.indices[index], int(unknown)


def _finite(residual: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """The points at which all rows and slopes are finite."""
    return np.array(np.isfinite(residual).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2)))


def _least_squares(slopes: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """The smallest steps that minimise |slopes · step - residual|; NaN where it is not finite."""
    finite = _finite(residual, slopes)
    a = np.where(finite[:, None, None], slopes, 0.0)
    b = np.where(finite[:, None], residual, np.nan)
    columns = np.linalg.norm(a, axis=1)
    columns = np.where(columns > 0, columns, 1.0)
    inverse = np.linalg.pinv(a / columns[:, None], rcond=RANK)
    return (inverse @ b[..., None])[..., 0] / columns
