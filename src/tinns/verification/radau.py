"""Radau IIA of order 5 for implicit equations F(t, y, y') = 0 with some algebraic rows.

As in RADAU5 (E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, IV.8): simplified
Newton iterations, one real and one complex factorisation, an embedded error estimate.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal, Protocol

import numpy as np
from scipy.linalg import lu_factor, lu_solve

_ROOT = sqrt(6)
_NODES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
_POWERS = _NODES[:, None] ** np.arange(3)
_A = (_NODES[:, None] ** np.arange(1, 4) / np.arange(1, 4)) @ np.linalg.inv(_POWERS)
_INVERSE = np.linalg.inv(_A)
_EMBEDDED = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3
_EIGENVALUES, _VECTORS = np.linalg.eig(_INVERSE)
_REAL = int(np.argmin(np.abs(_EIGENVALUES.imag)))
_COMPLEX = int(np.argmax(_EIGENVALUES.imag))
_FROM = np.linalg.inv(_VECTORS)
NEWTON_STEPS = 7

Reason = Literal["time", "step", "growth", "resolution"]
Watch = Callable[[float, np.ndarray, np.ndarray | None], Reason | None]  # of t, y, jets of the base
Base = Callable[[np.ndarray], np.ndarray]  # times -> jets that are added to those of y


class Implicit(Protocol):
    """F(t, y, y') for y of shape (levels, points), at several times at once."""

    def residual(
        self, t: np.ndarray, y: np.ndarray, slope: np.ndarray, base: np.ndarray | None
    ) -> tuple[np.ndarray, Any]:
        """F, and what the Jacobians are made of."""
        ...

    def jacobians(self, local: Any, stage: int) -> tuple[np.ndarray, np.ndarray]:
        """∂F/∂y and ∂F/∂y'."""
        ...


class Stopped(Exception):
    """The integration could not go on; `time` is how far it came.

    `found` has y at the outputs until then, and y at that time behind them.
    """

    def __init__(self, reason: Reason, time: float, found: np.ndarray) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.time, self.found = time, found


@dataclass(frozen=True)
class Control:
    """Tolerances: errors of a step stay below `rtol` times the size of each level of y."""

    rtol: float
    floor: np.ndarray  # sizes below which errors do not matter, by level
    max_step: float
    first_step: float
    deadline: float = float("inf")
    watch: Watch | None = None  # called after each step; a reason to stop, or None


@dataclass
class _Factors:
    h: float
    real: Any
    complex: Any


def integrate(
    system: Implicit,
    base: Base | None,
    interval: tuple[float, float],
    y: np.ndarray,
    outputs: np.ndarray,
    control: Control,
) -> tuple[np.ndarray, np.ndarray]:
    """y at the `outputs` inside the interval, and at its end."""
    t, end = interval
    least = 1e-13 * (end - t)
    h = min(control.first_step, end - t)
    found = np.empty((len(outputs), *y.shape))
    found[outputs <= t] = y
    past = np.zeros(len(y))
    jets = None if base is None else base(np.array([t]))
    _, local = system.residual(np.array([t]), y[None], 0 * y[None], jets)
    jacobians = system.jacobians(local, 0)
    factors: _Factors | None = None
    previous: tuple[np.ndarray, float] | None = None
    fresh, rejected = True, True
    while t < end:
        if time.monotonic() > control.deadline:
            raise Stopped("time", t, np.append(found[outputs <= t], y[None], axis=0))
        if h < least:
            raise Stopped("step", t, np.append(found[outputs <= t], y[None], axis=0))
        h = end - t if t + h > end - least else h
        if factors is None or abs(factors.h / h - 1) > 1e-12:
            factors = _factorised(jacobians, h)
        times = t + h * _NODES
        stage_jets = None if base is None else base(times)
        past_now = np.maximum(past, _sizes(y))
        scale = control.rtol * np.maximum(np.maximum(0.1 * past_now, _sizes(y)), control.floor)
        guess = np.zeros((3, *y.shape)) if previous is None else _extrapolated(previous, h)
        outcome = _newton(system, times, y, h, guess, stage_jets, factors, scale, control.rtol)
        if outcome is None:
            if fresh:
                h, previous, factors = h / 2, None, None
            else:
                _, local = system.residual(np.array([t]), y[None], 0 * y[None], jets)
                jacobians, fresh, factors = system.jacobians(local, 0), True, None
            continue
        z, local, iterations, rate = outcome
        after = y + z[2]
        scale = np.maximum(scale, control.rtol * _sizes(after))
        error = _error(system, t, y, h, z, jets, factors, scale, rejected)
        safety = 0.9 * (2 * NEWTON_STEPS + 1) / (2 * NEWTON_STEPS + iterations)
        change = min(8.0, safety * max(error, 1e-8) ** -0.25)
        if not np.isfinite(error):
            h, rejected, previous, factors = h / 4, True, None, None
            continue
        if error > 1:
            h, rejected = h * max(0.2, change), True
            continue
        inside = (outputs > t) & (outputs <= t + h * (1 + 1e-12))
        found[inside] = y + _polynomial(z, (outputs[inside] - t) / h)
        previous, rejected = (z, h), False
        t, y, jets = (end if t + h >= end - least else t + h), after, _last(stage_jets)
        past = np.maximum(past, _sizes(y))
        reason = None if control.watch is None else control.watch(t, y, jets)
        if reason is not None:
            raise Stopped(reason, t, np.append(found[outputs <= t], y[None], axis=0))
        fresh = rate > 0.1 or iterations > 4
        if fresh:
            jacobians, factors = system.jacobians(local, 2), None
        wanted = min(h * max(change, 0.2), control.max_step)
        if fresh or not h <= wanted < 1.5 * h:  # a new factorisation has to pay
            h = wanted
    found[outputs >= t] = y
    return found, y


def _last(jets: np.ndarray | None) -> np.ndarray | None:
    return None if jets is None else jets[2:]


def _sizes(y: np.ndarray) -> np.ndarray:
    """The root mean square of each level."""
    return np.sqrt(np.mean(y**2, axis=-1))


def _factorised(jacobians: tuple[np.ndarray, np.ndarray], h: float) -> _Factors:
    by_state, by_slope = jacobians
    real = _EIGENVALUES[_REAL].real / h * by_slope + by_state
    pair = _EIGENVALUES[_COMPLEX] / h * by_slope + by_state
    return _Factors(
        h, lu_factor(real, True, check_finite=False), lu_factor(pair, True, check_finite=False)
    )


def _newton(
    system: Implicit,
    times: np.ndarray,
    y: np.ndarray,
    h: float,
    z: np.ndarray,
    jets: np.ndarray | None,
    factors: _Factors,
    scale: np.ndarray,
    rtol: float,
) -> tuple[np.ndarray, Any, int, float] | None:
    """The stages minus y, with the number of iterations and their rate; None without success."""
    tolerance = max(1e-10, min(0.03, sqrt(rtol)))
    norm, rate = None, 0.0
    for iteration in range(NEWTON_STEPS):
        slope = np.tensordot(_INVERSE / h, z, axes=1)
        value, local = system.residual(times, y + z, slope, jets)
        if not np.isfinite(value).all():
            return None
        rows = -np.tensordot(_FROM, value.reshape(3, -1), axes=1)
        real = lu_solve(factors.real, rows[_REAL].real, check_finite=False)
        pair = lu_solve(factors.complex, rows[_COMPLEX], check_finite=False)
        step = np.outer(_VECTORS[:, _REAL].real, real)
        step += 2 * np.outer(_VECTORS[:, _COMPLEX], pair).real
        step = step.reshape(z.shape)
        before, norm = norm, float(np.sqrt(np.mean((step / scale[:, None]) ** 2)))
        if not np.isfinite(norm):
            return None
        if before:
            rate = norm / before
            left = NEWTON_STEPS - 1 - iteration
            if norm > tolerance and (
                rate >= 1 or rate**left / max(1 - rate, 1e-3) * norm > tolerance
            ):
                return None
        z = z + step
        done = norm if before is None else rate / max(1 - rate, 1e-3) * norm
        if norm == 0 or norm < 1e-3 * tolerance or (before is not None and done < tolerance):
            return z, local, iteration + 1, rate
    return None


def _error(
    system: Implicit,
    t: float,
    y: np.ndarray,
    h: float,
    z: np.ndarray,
    jets: np.ndarray | None,
    factors: _Factors,
    scale: np.ndarray,
    careful: bool,
) -> float:
    """The estimated error of a step in units of the tolerance; filtered twice where `careful`."""
    slope = -np.tensordot(_EMBEDDED / h, z, axes=1)

    def filtered(state: np.ndarray) -> tuple[np.ndarray, float]:
        value, _ = system.residual(np.array([t]), state[None], slope[None], jets)
        error = -lu_solve(factors.real, value.ravel(), check_finite=False).reshape(y.shape)
        return error, float(np.sqrt(np.mean((error / scale[:, None]) ** 2)))

    error, norm = filtered(y)
    if norm > 1 and careful:
        _, norm = filtered(y + error)
    return norm


def _polynomial(z: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The collocation polynomial of a step, minus its start, at places in units of the step."""
    nodes = np.array([0.0, *_NODES])
    powers = np.linalg.inv(nodes[:, None] ** np.arange(4))
    basis = places[:, None] ** np.arange(4) @ powers
    return np.tensordot(basis[:, 1:], z, axes=1)


def _extrapolated(previous: tuple[np.ndarray, float], h: float) -> np.ndarray:
    """A first guess of the stages from the polynomial of the step before."""
    z, before = previous
    return _polynomial(z, 1 + _NODES * h / before) - z[2]
