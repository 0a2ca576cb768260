"""The error of a network, estimated from the network alone, in any number of dimensions.

The equation of the error is solved in each time window. What it does not explain of the residual
is assumed to cause as much error as what it does explain.
"""

import time
from dataclasses import dataclass
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
    for window in range(model.windows):
        before = windows[-1] if windows else None
        windows.append(ErrorEquation(model, psi, window, size, seed, before).solved())
        start, end = model.span(window)
        is_last = window == model.windows - 1
        here = times[(times >= start) & ((times < end) | is_last)]
        if len(here):
            points = _at_times(space, here)
            shape = (len(here), -1, len(model.unknowns))
            error = windows[-1].derivatives(points)[:, model.value].reshape(shape)
            u = model.derivatives(psi, window, points)[:, model.value].reshape(shape)
            share = 1 - windows[-1].unexplained ** 2
            errors.append(error / sqrt(max(share, LEAST_SHARE)))
            values.append(u + error)
    return _Errors(times, np.concatenate(errors), np.concatenate(values), windows)


def _stated(problem: Problem, found: _Errors, started: float) -> ErrorEstimate:
    squares, total = (np.mean(a**2, axis=1) for a in (found.error, found.solution))
    weights = np.full(TIMES, 1.0)
    weights[[0, -1]] = 0.5
    relative = _ratio((weights @ squares).sum(), (weights @ total).sum())
    explained = 1 - float(np.mean([s.unexplained**2 for s in found.windows]))
    factor = 10.0 if explained < 0.5 or relative > 0.3 else 3.0
    basis = found.windows[-1].basis
    how = (
        f"the equation of the error solved by {basis.tangents.count} tangent functions of the "
        f"network and {basis.features.count} random features, which explain {explained:.0%} of the "
        "residual at other points"
    )
    return ErrorEstimate(
        relative,
        "network",
        {u: _ratio((weights @ squares)[k], (weights @ total)[k]) for k, u in _named(problem)},
        found.times,
        _over_time(squares.sum(axis=1), total.sum(axis=1)),
        factor,
        how,
        time.monotonic() - started,
        {u: _over_time(squares[:, k], total[:, k]) for k, u in _named(problem)},
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
