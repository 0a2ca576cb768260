"""The error of a network, estimated from the network alone, in any number of dimensions.

The equation of the error is solved in each time window. What it does not explain of the residual
is assumed to cause as much error as what it does explain. Where it explains hardly anything, the
largest change that the rows can overlook is looked at too: if that is as large as the solution, it
may be on another branch, and if it is small, a part of it is assumed. The error that is assumed at
the end of a window is where that of the next one begins.
"""

import time
from dataclasses import dataclass, replace
from math import inf, sqrt

import jax
import numpy as np

from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns.geometry import TIME, QuasiRandom
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales
from tinns.problem.base import Problem
from tinns.verification.error_equation import CANDIDATES, ErrorEquation, Size, Solved
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.linear_model import Linearisation
from tinns.verification.linear_rows import Points

TIMES = 41  # at which errors are stated
PLACES = {1: 200, 2: 300, 3: 400}  # at each of them
LEAST_SHARE = 0.05  # of the squared residual that is taken as explained
USUAL, ROUGH = 3.0, 10.0  # factors by which estimates may be off, the second one
FAR = 0.1  # for relative errors from here on, where the problem is not linear
OVERLOOKED = 0.125  # of the largest change that rows overlook is an error, where it is linear;
# this part rises to all of a change as large as the solution


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

    `budget` is the time in seconds that it should take about, without compilation; it sets the
    number of functions that represent the error.
    """
    started = time.monotonic()
    on_host = jax.default_device(jax.devices("cpu")[0])
    with single_threaded_blas(), computing_in("float64"), on_host:
        size = Size.within(budget, problem, len(getattr(field, "edges", (0, 1))) - 1)
        model = Linearisation(problem, field, size.counts.times(CANDIDATES), scales)
        return _stated(problem, _errors(model, psi, size, seed), started)


@dataclass(frozen=True)
class _Errors:
    """The error and the solution at the same places at all times: (times, places, unknowns)."""

    times: np.ndarray
    error: np.ndarray
    solution: np.ndarray
    windows: list[Solved]


def _errors(model: Linearisation, psi: Psi, size: Size, seed: int) -> _Errors:
    domain = model.domain
    times = np.linspace(domain.start, domain.end, TIMES)
    drawn = domain.draw_interior(jax.random.key(seed), PLACES[len(domain.space)], QuasiRandom())
    space = {axis: np.asarray(drawn[axis], float) for axis in domain.space}
    errors, values = [], []
    windows: list[Solved] = []
    carried: Solved | None = None
    for window in range(model.windows):
        solved = ErrorEquation(model, psi, window, size, seed, carried).solved()
        windows.append(solved)
        start, end = model.span(window)
        is_last = window == model.windows - 1
        here = times[(times >= start) & ((times < end) | is_last)]
        points = _at_times(space, np.append(here, end))
        u = model.derivatives(psi, window, points)[:, model.value]
        assumed = _assumed(solved, points, u)
        carried = replace(solved, coefficients=assumed)
        shape = (len(here) + 1, -1, len(model.unknowns))
        errors.append(solved.values(points, assumed).reshape(shape)[:-1])
        found = solved.at_most is None
        solution = u + solved.values(points, solved.coefficients) if found else u
        values.append(solution.reshape(shape)[:-1])
    return _Errors(times, np.concatenate(errors), np.concatenate(values), windows)


def _assumed(solved: Solved, points: Points, u: np.ndarray) -> np.ndarray:
    """The coefficients of the error that is assumed, given the network's values u at points."""
    found = solved.coefficients / sqrt(max(1 - solved.unexplained**2, LEAST_SHARE))
    if solved.at_most is None:
        return found
    error, most = (solved.values(points, each) for each in (found, solved.at_most))
    relative = max(np.linalg.norm(most) / max(np.linalg.norm(u), 1e-300), 1e-300)
    part = OVERLOOKED ** np.clip(np.log(relative) / np.log(FAR), 0, 1) / max(relative, 1)
    is_larger = part * np.linalg.norm(most) > np.linalg.norm(error)
    return part * solved.at_most if is_larger else found


def _stated(problem: Problem, found: _Errors, started: float) -> ErrorEstimate:
    squares, total = (np.mean(a**2, axis=1) for a in (found.error, found.solution))
    weights = np.full(TIMES, 1.0)
    weights[[0, -1]] = 0.5
    relative = _ratio((weights @ squares).sum(), (weights @ total).sum())
    explained = 1 - float(np.mean([s.unexplained**2 for s in found.windows]))
    is_bounded = any(solved.at_most is not None for solved in found.windows)
    basis = found.windows[-1].basis
    how = (
        f"the equation of the error solved by {basis.tangents.count} tangent functions of the "
        f"network and {basis.features.count} random features, which explain {explained:.0%} of the "
        "residual at other points"
    )
    if is_bounded:
        how += "; the solution may be as far away as the rows can overlook"
    return ErrorEstimate(
        relative,
        "network",
        {u: _ratio((weights @ squares)[k], (weights @ total)[k]) for k, u in _named(problem)},
        found.times,
        _over_time(squares.sum(axis=1), total.sum(axis=1)),
        ROUGH if is_bounded or relative > FAR else USUAL,
        how,
        time.monotonic() - started,
        {u: _over_time(squares[:, k], total[:, k]) for k, u in _named(problem)},
        np.sqrt(total.sum(axis=1)),
    )


def _named(problem: Problem) -> list[tuple[int, str]]:
    return list(enumerate(problem.unknowns))


def _ratio(squared: float, total: float) -> float:
    return sqrt(squared / total) if total > 0 else inf


def _over_time(squared: np.ndarray, total: np.ndarray) -> np.ndarray:
    return np.array([_ratio(*both) for both in zip(squared, total, strict=True)])


def _at_times(space: Points, times: np.ndarray) -> Points:
    """All places at each of the times, one time after the other."""
    count = len(next(iter(space.values())))
    points = {axis: np.tile(column, len(times)) for axis, column in space.items()}
    return points | {TIME: np.repeat(times, count)}
