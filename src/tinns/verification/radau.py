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
_REAL = int(np.argmin(np.abs(np.imag(_EIGENVALUES))))
_COMPLEX = int(np.argmax(np.imag(_EIGENVALUES)))
_FROM = np.linalg.inv(_VECTORS)
_TO_POWERS = np.linalg.inv(np.array([0.0, *_NODES])[:, None] ** np.arange(4))

NEWTON_STEPS = 7
LEAST_STEP = 1e-13  # of the interval
LARGEST_CHANGE = 8.0  # of a step from one to the next
KEPT = 1.5  # a step that could grow by less is kept, and its factorisation with it

Reason = Literal["time", "step", "growth", "resolution"]
Watch = Callable[[float, np.ndarray, np.ndarray | None], Reason | None]  # of t, y, jets of the base
Base = Callable[[np.ndarray], np.ndarray]  # times -> jets that are added to those of y


class Implicit(Protocol):
    """F(t, y, y') for y of shape (levels, points), at several times at once: (times, rows)."""

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


def integrate(
    system: Implicit,
    base: Base | None,
    interval: tuple[float, float],
    y: np.ndarray,
    outputs: np.ndarray,
    control: Control,
) -> tuple[np.ndarray, np.ndarray]:
    """y at the `outputs` inside the interval, and at its end."""
    run = _Integration(system, base, interval, y, control)
    found = np.empty((len(outputs), *y.shape))
    found[outputs <= run.t] = y

    def stopped(reason: Reason) -> Stopped:
        return Stopped(reason, run.t, np.append(found[outputs <= run.t], run.y[None], axis=0))

    while run.t < run.end:
        if time.monotonic() > control.deadline:
            raise stopped("time")
        if run.h < LEAST_STEP * (run.end - interval[0]):
            raise stopped("step")
        before, state = run.t, run.y
        step = run.attempt()
        if step is None:
            continue
        inside = (outputs > before) & (outputs <= before + step.h * (1 + 1e-12))
        found[inside] = state + step.at((outputs[inside] - before) / step.h)
        if control.watch and (reason := control.watch(run.t, run.y, run.jets)):
            raise stopped(reason)
    found[outputs >= run.t] = run.y
    return found, run.y


@dataclass(frozen=True)
class _Step:
    """The stages of a step minus its start."""

    h: float
    z: np.ndarray
    local: Any  # derivatives at the stages
    iterations: int
    rate: float  # at which they converged

    def at(self, places: np.ndarray) -> np.ndarray:
        """The collocation polynomial minus the start, at places in units of the step."""
        basis = places[:, None] ** np.arange(4) @ _TO_POWERS
        return np.tensordot(basis[:, 1:], self.z, axes=1)

    def continued(self, h: float) -> np.ndarray:
        """A first guess of the stages of a next step."""
        return self.at(1 + _NODES * h / self.h) - self.z[2]


class _Factors:
    """The factorised matrices of the Newton iterations, for one step size."""

    def __init__(self, jacobians: tuple[np.ndarray, np.ndarray], h: float) -> None:
        by_state, by_slope = jacobians
        self.h = h
        real = np.real(_EIGENVALUES[_REAL]) / h * by_slope + by_state
        pair = _EIGENVALUES[_COMPLEX] / h * by_slope + by_state
        self._real = lu_factor(real, True, check_finite=False)
        self._pair = lu_factor(pair, True, check_finite=False)

    def real(self, right: np.ndarray) -> np.ndarray:
        return lu_solve(self._real, right, check_finite=False)

    def change(self, value: np.ndarray) -> np.ndarray:
        """The Newton correction of the stages, from the value of F at them."""
        rows = -_FROM @ value
        real = self.real(np.real(rows[_REAL]))
        pair = lu_solve(self._pair, rows[_COMPLEX], check_finite=False)
        step = np.outer(np.real(_VECTORS[:, _REAL]), real)
        step += 2 * np.real(np.outer(_VECTORS[:, _COMPLEX], pair))
        return step


class _Integration:
    """Where an integration is: t, y and the next step size; `attempt` tries one step."""

    def __init__(
        self,
        system: Implicit,
        base: Base | None,
        interval: tuple[float, float],
        y: np.ndarray,
        control: Control,
    ) -> None:
        self.system, self.base, self.control = system, base, control
        self.t, self.end = interval
        self.least = LEAST_STEP * (self.end - self.t)
        self.y, self.h = y, min(control.first_step, self.end - self.t)
        self.jets = None if base is None else base(np.array([self.t]))
        self.past = _sizes(y)  # the largest of each level so far
        self.previous: _Step | None = None
        self.careful = True  # at the start and after a rejected step
        self._linearise()

    def attempt(self) -> _Step | None:
        """One step; None if it was rejected, and is to be tried again with another size."""
        h = self.h = self.end - self.t if self.t + self.h > self.end - self.least else self.h
        if self.factors is None or abs(self.factors.h / h - 1) > 1e-12:
            self.factors = _Factors(self.jacobians, h)
        scale = np.maximum(np.maximum(0.1 * self.past, _sizes(self.y)), self.control.floor)
        scale *= self.control.rtol
        times = self.t + h * _NODES
        jets = None if self.base is None else self.base(times)
        step = self._stages(self.factors, times, jets, scale)
        if step is None:
            if self.fresh:
                self._restart(h / 2)
            else:
                self._linearise()
            return None
        after = self.y + step.z[2]
        scale = np.maximum(scale, self.control.rtol * _sizes(after))
        error = self._error(self.factors, step, scale)
        if not np.isfinite(error):
            self.careful = True
            self._restart(h / 4)
            return None
        safety = 0.9 * (2 * NEWTON_STEPS + 1) / (2 * NEWTON_STEPS + step.iterations)
        change = max(0.2, min(LARGEST_CHANGE, safety * max(error, 1e-8) ** -0.25))
        if error > 1:
            self.h, self.careful = h * change, True
            return None
        self.t = self.end if self.t + h >= self.end - self.least else self.t + h
        self.y, self.jets = after, None if jets is None else jets[2:]
        self.previous, self.careful = step, False
        self.past = np.maximum(self.past, _sizes(after))
        self._prepare(step, min(h * change, self.control.max_step))
        return step

    def _prepare(self, step: _Step, wanted: float) -> None:
        """The Jacobians and the size of the step after this one."""
        self.fresh = step.rate > 0.1 or step.iterations > 4
        if self.fresh:
            self.jacobians, self.factors = self.system.jacobians(step.local, 2), None
        if self.fresh or not step.h <= wanted < KEPT * step.h:
            self.h = wanted

    def _linearise(self) -> None:
        """New Jacobians at the present time."""
        y = self.y[None]
        _, local = self.system.residual(np.array([self.t]), y, 0 * y, self.jets)
        self.jacobians, self.fresh = self.system.jacobians(local, 0), True
        self.factors: _Factors | None = None

    def _restart(self, h: float) -> None:
        """A shorter step that does not start from the one before."""
        self.h, self.previous, self.factors = h, None, None

    def _stages(
        self, factors: _Factors, times: np.ndarray, jets: np.ndarray | None, scale: np.ndarray
    ) -> _Step | None:
        """The stages by Newton iterations; None without success."""
        tolerance = max(1e-10, min(0.03, sqrt(self.control.rtol)))
        h, y = factors.h, self.y
        z = np.zeros((3, *y.shape)) if self.previous is None else self.previous.continued(h)
        norm, rate = 0.0, 0.0
        for iteration in range(NEWTON_STEPS):
            slope = np.tensordot(_INVERSE / h, z, axes=1)
            value, local = self.system.residual(times, y + z, slope, jets)
            if not np.isfinite(value).all():
                return None
            change = factors.change(value).reshape(z.shape)
            before, norm = norm, _norm(change, scale)
            if not np.isfinite(norm):
                return None
            if iteration:
                rate = norm / before
                left = NEWTON_STEPS - 1 - iteration
                coming = rate**left / max(1 - rate, 1e-3) * norm
                if norm > tolerance and (rate >= 1 or coming > tolerance):
                    return None
            z = z + change
            done = rate / max(1 - rate, 1e-3) * norm if iteration else norm
            if norm < 1e-3 * tolerance or (iteration and done < tolerance):
                return _Step(h, z, local, iteration + 1, rate)
        return None

    def _error(self, factors: _Factors, step: _Step, scale: np.ndarray) -> float:
        """The estimated error of a step in units of the tolerance."""
        slope = -np.tensordot(_EMBEDDED / step.h, step.z, axes=1)

        def filtered(state: np.ndarray) -> np.ndarray:
            at = np.array([self.t])
            value, _ = self.system.residual(at, state[None], slope[None], self.jets)
            return -factors.real(value.ravel()).reshape(state.shape)

        error = filtered(self.y)
        norm = _norm(error, scale)
        return _norm(filtered(self.y + error), scale) if norm > 1 and self.careful else norm


def _norm(change: np.ndarray, scale: np.ndarray) -> float:
    """The root mean square of changes in units of the scale of each level."""
    return float(np.sqrt(np.mean((change / scale[:, None]) ** 2)))


def _sizes(y: np.ndarray) -> np.ndarray:
    """The root mean square of each level."""
    return np.sqrt(np.mean(y**2, axis=-1))
