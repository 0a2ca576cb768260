"""The equation of the error of a network: r(u + e) = 0 in one time window, solved by least squares.

The error e = u* - u makes all rows vanish: the equation and all conditions together, at new points
of which half are where the residual is large. e is represented by tangent functions of the network
and by random features, and found by Newton's method, each step with a damping that is chosen on
rows that were held out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

import jax
import numpy as np

from tinns.geometry import Counts, Observations, QuasiRandom
from tinns.objective import Psi
from tinns.problem.base import Problem
from tinns.verification.amplification import least_noticed
from tinns.verification.damping import damped_solution
from tinns.verification.features import draw_features
from tinns.verification.linear_model import Linearisation
from tinns.verification.linear_rows import Points, Rows
from tinns.verification.tangents import Tangents

CANDIDATES = 4  # points for each one that is used
FEWEST, MOST = 320, 2000  # functions in a window: fewer do not carry errors from one to the next
NEWTON_STEPS = 3
LINEAR = 0.1  # of the residual may come from what the linearisation leaves out
HARDLY = 0.9  # of the residual is left: the solution may be far away
PARTS = (1.0, 0.5, 0.25, 0.1)  # of a step, which are tried


@dataclass(frozen=True)
class Size:
    """How many functions represent the error in a window, and on how many points."""

    tangents: int
    features: int  # for each unknown
    counts: Counts  # of points

    @classmethod
    def within(cls, budget: float, problem: Problem, windows: int) -> "Size":
        """What takes about `budget` seconds, more where there are many time windows."""
        unknowns, dimensions = len(problem.unknowns), len(problem.domain.space)
        functions = int(np.clip(800 * sqrt(budget / 4 / max(windows, 1)), FEWEST, MOST))
        features = 3 * functions // 8
        interior = 4 * functions // unknowns
        return cls(
            functions - features,
            max(features // unknowns, 2),
            Counts(interior, interior // 4, interior // (4 if dimensions == 1 else 2)),
        )


class Basis:
    """Functions that represent the error in one time window: tangents and random features."""

    def __init__(self, model: Linearisation, psi: Psi, window: int, size: Size, seed: int) -> None:
        self.model, self.domain, self.unknowns = model, model.domain, len(model.unknowns)
        self.tangents = Tangents(model, psi, window, size.tangents, seed)
        self.features = draw_features(model.domain, size.features, seed, span=model.span(window))
        self.count = self.tangents.count + self.unknowns * self.features.count

    def columns(self, rows: Sequence[Rows]) -> np.ndarray:
        """The weighted changes of all rows by each function, and by trainable coefficients."""
        parts = []
        for own in rows:
            by_features = own.columns(self.domain, self.features)
            kinds = (self.tangents.columns(own), by_features, own.coefficient_columns())
            parts.append(np.concatenate(kinds, axis=1))
        return np.concatenate(parts)

    def values(self, points: Points) -> np.ndarray:
        """The unknowns, one after the other, of each function at points; coefficients are none."""
        own = self.features.derivatives(self.domain, points, (self.model.zero,))[self.model.zero]
        by_features = np.kron(np.eye(self.unknowns), own)
        nothing = np.zeros((len(by_features), len(self.model.problem.trainable)))
        return np.concatenate([self.tangents.values(points), by_features, nothing], axis=1)

    def derivatives(self, points: Points, coefficients: np.ndarray) -> np.ndarray:
        """Σ c_j φ_j with all derivatives of the model: (points, indices, unknowns)."""
        count, indices = self.tangents.count, self.model.all_indices
        found = self.tangents.derivatives(points, coefficients[:count])
        by_unknown = coefficients[count : self.count].reshape(self.unknowns, -1)
        own = self.features.derivatives(self.domain, points, indices)
        for number, index in enumerate(indices):
            found[:, number] += own[index] @ by_unknown.T
        return found


@dataclass(frozen=True)
class Solved:
    """The error in one window, and how much of the residual it does not explain.

    `at_most` is the largest change whose rows are as large as the residual; it is None unless the
    error explains hardly anything.
    """

    basis: Basis
    coefficients: np.ndarray
    unexplained: float  # ‖r(u + e)‖ / ‖r(u)‖ at points that were held out, at most 1
    at_most: np.ndarray | None = None  # coefficients

    def derivatives(self, points: Points) -> np.ndarray:
        """The error with all derivatives of the model: (points, indices, unknowns)."""
        return self.basis.derivatives(points, self.coefficients)

    def values(self, points: Points, coefficients: np.ndarray) -> np.ndarray:
        """Σ c_j φ_j alone: (points, unknowns)."""
        return self.basis.derivatives(points, coefficients)[:, self.basis.model.value]


class ErrorEquation:
    """The error equation of one time window; `before` is the solution of the window before."""

    def __init__(
        self,
        model: Linearisation,
        psi: Psi,
        window: int,
        size: Size,
        seed: int,
        before: Solved | None = None,
    ) -> None:
        self.model, self.psi, self.window = model, psi, window
        self.basis = Basis(model, psi, window, size, seed)
        self.base = model.coefficients(psi)
        self.counts = size.counts
        random = np.random.default_rng(seed)
        at_start = None if before is None else partial(_corrected, model, psi, window - 1, before)
        self.sets = []
        for number, held in ((2 * seed + 1, False), (2 * seed + 2, True)):
            rows = model.rows(psi, window, number, held, at_start)
            self.sets.append([self._chosen(own, random) for own in rows])

    def solved(self) -> Solved:
        """The error, by Newton's method from zero."""
        sets = self.sets
        total = np.zeros(self.basis.count + len(self.base))
        first = size = _norm(sets[1])
        noticed: list[np.ndarray] = []  # by the rows at the network
        for _ in range(NEWTON_STEPS):
            own, held = ((self.basis.columns(rows), _residual(rows)) for rows in sets)
            noticed = noticed or [own[0], held[0]]
            change, left = damped_solution(*own, *held)
            step = self._shortened(sets, change, left * size)
            if step.size >= size:
                break
            done = step.size < left * size + LINEAR * first
            sets, size, total = step.sets, step.size, total + step.part * change
            if done:
                break
        unexplained = size / max(first, 1e-300)
        if unexplained <= HARDLY:
            return Solved(self.basis, total, unexplained)
        at_most = first * self._least(np.concatenate(noticed) / sqrt(2))
        return Solved(self.basis, total, unexplained, at_most)

    def _least(self, noticed: np.ndarray) -> np.ndarray:
        """The largest change whose rows have the norm 1."""
        span = self.model.domain.over(*self.model.span(self.window))
        drawn = span.draw_interior(jax.random.key(0), self.basis.count, QuasiRandom())
        points = {axis: np.asarray(drawn[axis], float) for axis in span.axes}
        return least_noticed(noticed, self.basis.values(points))

    def _shortened(
        self, sets: Sequence[Sequence[Rows]], change: np.ndarray, predicted: float
    ) -> "_Step":
        """The part of a step with the smallest residual, the whole one if it is as predicted."""
        jets = [self._jets(rows, change) for rows in sets]
        tried: list[_Step] = []
        for part in PARTS:
            moved = [self._moved(r, j, change, part) for r, j in zip(sets, jets, strict=True)]
            tried.append(_Step(part, moved, _norm(moved[1])))
            if tried[-1].size < 1.2 * predicted:
                break
        return min(tried, key=lambda step: step.size)

    def _chosen(self, rows: Rows, random: np.random.Generator) -> Rows:
        region = rows.condition.region
        if isinstance(region, Observations):
            return rows
        return rows.chosen(-(-len(rows.residual) // CANDIDATES), random)

    def _jets(self, rows: Sequence[Rows], change: np.ndarray) -> list[list[np.ndarray]]:
        """Σ c_j φ_j with its derivatives at all places of the rows."""
        found = []
        for own in rows:
            indices = [self.model.all_indices.index(k) for k in own.indices]
            found.append([self.basis.derivatives(p, change)[:, indices] for p in own.places])
        return found

    def _moved(
        self, rows: Sequence[Rows], jets: list[list[np.ndarray]], change: np.ndarray, part: float
    ) -> list[Rows]:
        """Rows at the solution changed by a part of Σ c_j φ_j."""
        found = []
        for number, (own, added) in enumerate(zip(rows, jets, strict=True)):
            values = [v + part * a for v, a in zip(own.values, added, strict=True)]
            coefficients = own.coefficients + part * change[self.basis.count :]
            found.append(self.model.linearised(number, own, values, coefficients))
        return found


@dataclass(frozen=True)
class _Step:
    """A part of a Newton step, with the rows after it."""

    part: float
    sets: list[list[Rows]]
    size: float  # of the residual at points that were held out


def _corrected(
    model: Linearisation, psi: Psi, window: int, error: Solved, points: Points
) -> np.ndarray:
    """The solution of a window with its error added, with all derivatives of the model."""
    return model.derivatives(psi, window, points) + error.derivatives(points)


def _norm(rows: Sequence[Rows]) -> float:
    return float(np.linalg.norm(_residual(rows)))


def _residual(rows: Sequence[Rows]) -> np.ndarray:
    return np.concatenate([own.vector for own in rows])
