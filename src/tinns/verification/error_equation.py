"""The error of a network, estimated from the network alone: its linearised problem, solved again.

The error e = u* - u makes all rows vanish: r + A e = 0 to first order, at new points and for the
equation and all conditions together. e is represented by tangent functions of the network and by
random features, with a damping chosen on rows that were held out. What they do not explain of the
residual is assumed to cause as much error as what they do explain.
"""

import time
from dataclasses import dataclass
from math import sqrt

import jax
import numpy as np

from tinns._runtime.precision import computing_in
from tinns.geometry import TIME, Counts, Initial, QuasiRandom
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales
from tinns.problem.base import Problem
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.features import Features, Points, draw_features
from tinns.verification.linear_model import Linearisation, Rows
from tinns.verification.tangents import Tangents

__all__ = ["network_estimate"]

TIMES = 21  # at which errors are stated
DAMPINGS = tuple(10.0**power for power in range(-14, 1))  # squared, relative to the columns
LEAST_SHARE = 0.05  # of the squared residual that is taken as explained


def network_estimate(
    problem: Problem,
    field: Field,
    psi: Psi,
    *,
    scales: Scales | None = None,
    budget: float = 4.0,
    seed: int = 0,
) -> ErrorEstimate:
    """The error of a field with parameters ψ, estimated from its residual at new points.

    `budget` is the time in seconds that it should take about; it sets the number of functions
    that represent the error.
    """
    started = time.monotonic()
    with computing_in("float64"), jax.default_device(jax.devices("cpu")[0]):
        size = _Size.within(budget, problem, len(getattr(field, "edges", (0, 1))) - 1)
        model = Linearisation(problem, field, size.counts, scales)
        return _stated(model, psi, size, seed, started)


@dataclass(frozen=True)
class _Size:
    """How many functions represent the error, and on how many points."""

    tangents: int
    features: int  # for each unknown
    counts: Counts

    @classmethod
    def within(cls, budget: float, problem: Problem, windows: int) -> "_Size":
        unknowns, dimensions = len(problem.unknowns), len(problem.domain.space)
        functions = int(np.clip(600 * sqrt(budget / 4 / max(windows, 1)), 100, 1500))
        tangents = functions // 2
        features = (functions - tangents) // unknowns
        rows = 4 * functions
        interior = rows // 2 // (unknowns if dimensions < 3 else 2 * unknowns)
        return cls(tangents, features, Counts(interior, interior // 3, interior // 2))


class _Basis:
    """Functions that represent the error in one time window: tangents and random features."""

    def __init__(self, model: Linearisation, psi: Psi, window: int, size: _Size, seed: int) -> None:
        self.model, self.domain, self.unknowns = model, model.domain, len(model.unknowns)
        self.tangents = Tangents(model, psi, window, size.tangents, seed)
        self.features: Features = draw_features(
            model.domain, size.features, seed, span=model.span(window)
        )

    def columns(self, rows: list[Rows]) -> np.ndarray:
        """The weighted changes of all rows by each function."""
        return np.concatenate(
            [
                np.concatenate([self.tangents.columns(r), r.columns(self.domain, self.features)], 1)
                for r in rows
            ]
        )

    def values(self, points: Points, coefficients: np.ndarray) -> np.ndarray:
        """Σ c_j φ_j at points: (points, unknowns)."""
        count = self.tangents.count
        found = self.tangents.values(points) @ coefficients[:count]
        zero = (0,) * len(self.domain.axes)
        own = self.features.derivatives(self.domain, points, (zero,))[zero]
        by_unknown = coefficients[count:].reshape(self.unknowns, -1)
        return found + own @ by_unknown.T


@dataclass(frozen=True)
class _Solved:
    """The error equation of one window, solved."""

    basis: _Basis
    coefficients: np.ndarray
    unexplained: float  # share of the residual on the hold-out set, 1 if nothing is explained


def _stated(
    model: Linearisation, psi: Psi, size: _Size, seed: int, started: float
) -> ErrorEstimate:
    problem, domain = model.problem, model.domain
    times = np.linspace(domain.start, domain.end, TIMES)
    space = _places(model, seed)
    errors, values, shares = [], [], []
    every: list[_Solved] = []
    for window in range(model.windows):
        solved = _solve(model, psi, window, size, seed, every[-1] if every else None)
        every.append(solved)
        start, end = model.span(window)
        last = window == model.windows - 1
        here = times[(times >= start) & ((times < end) | last)]
        points = _at_times(space, here)
        shape = (len(here), -1, len(problem.unknowns))
        zero = (0,) * len(domain.axes)
        if len(here):
            factor = 1 / sqrt(max(1 - solved.unexplained**2, LEAST_SHARE))
            errors.append(factor * solved.basis.values(points, solved.coefficients).reshape(shape))
            values.append(model.derivatives(psi, window, points, (zero,))[:, 0].reshape(shape))
        shares.append(solved.unexplained)
    e, u = np.concatenate(errors), np.concatenate(values)
    squared, total = (e**2).mean(axis=1), ((u + e) ** 2).mean(axis=1)
    weights = np.full(TIMES, 1.0)
    weights[[0, -1]] = 0.5
    squared_all, total_all = weights @ squared, weights @ total
    tiny = 1e-300
    relative = sqrt(squared_all.sum() / max(total_all.sum(), tiny))
    per_unknown = {
        name: sqrt(squared_all[k] / max(total_all[k], tiny))
        for k, name in enumerate(problem.unknowns)
    }
    over_time = np.sqrt(squared.sum(axis=1) / np.maximum(total.sum(axis=1), tiny))
    explained = 1 - min(1.0, float(np.mean(np.square(shares))))
    factor = 10.0 if explained < 0.5 or relative > 0.3 else 3.0
    how = (
        f"the linearised problem solved by {every[-1].basis.tangents.count} tangent functions of "
        f"the network and {every[-1].basis.features.count} random features, which explain "
        f"{explained:.0%} of the residual at other points"
    )
    return ErrorEstimate(
        relative,
        "network",
        per_unknown,
        times,
        over_time,
        factor,
        how,
        time.monotonic() - started,
    )


def _solve(
    model: Linearisation, psi: Psi, window: int, size: _Size, seed: int, before: _Solved | None
) -> _Solved:
    """The error in a window, which starts with that at the end of the window before."""
    basis = _Basis(model, psi, window, size, seed)
    systems = []
    for number, held in ((2 * seed + 1, False), (2 * seed + 2, True)):
        rows = model.rows(psi, window, number, held)
        columns = basis.columns(rows)
        coefficients = np.concatenate([r.coefficient_columns() for r in rows])
        systems.append((np.concatenate([columns, coefficients], 1), _residual(rows, before)))
    (matrix, residual), (other, other_residual) = systems
    found, unexplained = damped_solution(matrix, residual, other, other_residual)
    return _Solved(basis, found[: columns.shape[1]], unexplained)


def _residual(rows: list[Rows], before: _Solved | None) -> np.ndarray:
    """The residuals of all rows; those of initial values lack the error of the window before."""
    found = []
    for own in rows:
        vector = own.vector
        if before is not None and isinstance(own.condition.region, Initial):
            vector = vector - before.basis.columns([own]) @ before.coefficients
        found.append(vector)
    return np.concatenate(found)


def damped_solution(
    matrix: np.ndarray, residual: np.ndarray, other: np.ndarray, other_residual: np.ndarray
) -> tuple[np.ndarray, float]:
    """c that makes r + A c small, damped so that it does so for other rows too.

    With it comes the share of the other residual that is left.
    """
    sizes = np.sqrt((matrix**2).sum(axis=0))
    sizes[sizes == 0] = 1.0
    scaled = matrix / sizes
    gram, right = scaled.T @ scaled, -scaled.T @ residual
    best, least = np.zeros(len(sizes)), 1.0
    norm = max(float(np.linalg.norm(other_residual)), 1e-300)
    for damping in DAMPINGS:
        try:
            found = np.linalg.solve(gram + damping * np.eye(len(sizes)), right) / sizes
        except np.linalg.LinAlgError:
            continue
        left = float(np.linalg.norm(other_residual + other @ found)) / norm
        if left < least:
            best, least = found, left
    return best, least


def _places(model: Linearisation, seed: int, count: int = 128) -> Points:
    drawn = model.domain.draw_interior(jax.random.key(seed), count, QuasiRandom())
    return {axis: np.asarray(drawn[axis], float) for axis in model.domain.space}


def _at_times(space: Points, times: np.ndarray) -> Points:
    """All places at each of the times, one time after the other."""
    count = len(next(iter(space.values())))
    points = {axis: np.tile(column, len(times)) for axis, column in space.items()}
    return points | {TIME: np.repeat(times, count)}
