"""y' = L y + N(t, y) with diagonal L: Radau collocation on adaptive panels, dense in time.

On each panel the solution is a polynomial of degree s in t that satisfies the equation at the s
Radau points. These are the stages of the Radau IIA method: order 2s - 1 at the panels' ends and
stable for any stiff L. With s near 20 a panel is spectrally accurate, and the polynomial itself
is the answer at every time between. All of it runs in the precision of the initial value, which
may be NumPy's long double.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev, legendre
from scipy.special import roots_jacobi

Nonlinear = Callable[[np.ndarray, np.ndarray], np.ndarray]

DOUBLE = np.dtype(np.float64)
MAX_SWEEPS = 80
SMALLEST_PANEL = 2.0**-20


@dataclass(frozen=True)
class PanelSeries:
    """y(t) as Chebyshev coefficients [panel, degree, mode] between consecutive `edges`."""

    edges: np.ndarray
    coefficients: np.ndarray

    def at(self, times: np.ndarray) -> np.ndarray:
        """The modes at each of the times, one row a time; NaN outside [0, 1]."""
        panels = np.searchsorted(self.edges, times, side="right") - 1
        panels = np.clip(panels, 0, len(self.edges) - 2)
        left, right = self.edges[panels], self.edges[panels + 1]
        local = 2 * (times - left) / (right - left) - 1
        local = np.where((times >= 0) & (times <= 1), local, np.nan)
        powers = chebyshev.chebvander(local, self.coefficients.shape[1] - 1)
        modes = np.empty((len(times), self.coefficients.shape[2]), self.coefficients.dtype)
        for panel in np.unique(panels):  # one matrix product a panel, not one a time
            rows = panels == panel
            modes[rows] = powers[rows] @ self.coefficients[panel]
        return modes


@dataclass(frozen=True)
class RadauRule:
    """The s Radau points of (0, 1] and the two matrices that collocation there needs."""

    stages: int
    precision: np.dtype = DOUBLE

    @cached_property
    def points(self) -> np.ndarray:
        """(1 + z) / 2 for the zeros z of P_s - P_(s-1), Legendre polynomials; the last z is 1."""
        inner = roots_jacobi(self.stages - 1, 1, 0)[0] if self.stages > 1 else np.empty(0)
        zeros = np.append(inner, 1.0).astype(self.precision)
        polynomial = np.zeros(self.stages + 1, self.precision)
        polynomial[-2:] = -1, 1
        slope = legendre.legder(polynomial)
        for _ in range(2):  # Newton's steps: SciPy's zeros are known to double precision only
            zeros -= legendre.legval(zeros, polynomial) / legendre.legval(zeros, slope)
        zeros[-1] = 1
        return (zeros + 1) / 2

    @cached_property
    def integration(self) -> np.ndarray:
        """A[i, j]: the integral from 0 to point i of the j-th Lagrange polynomial."""
        local = 2 * self.points - 1
        values = chebyshev.chebvander(local, self.stages - 1)
        primitives = chebyshev.chebint(np.eye(self.stages, dtype=self.precision), lbnd=-1)
        integrals = chebyshev.chebvander(local, self.stages) @ primitives
        return integrals @ inverse(values) / 2

    @cached_property
    def to_chebyshev(self) -> np.ndarray:
        """From the values at 0 and at the points to the Chebyshev coefficients on the panel."""
        local = 2 * np.append(0.0, self.points) - 1
        return inverse(chebyshev.chebvander(local, self.stages))


def integrate_adaptively(
    linear: np.ndarray,
    nonlinear: Nonlinear,
    start: np.ndarray,
    *,
    stages: int = 20,
    tolerance: float = 1e-14,
    first_panel: float = 2.0**-6,
    guess: PanelSeries | None = None,
) -> PanelSeries:
    """y on [0, 1], halving or doubling panels until the last Chebyshev terms are negligible.

    `nonlinear(times, states)` gets one state a row. Panel lengths are powers of two, so that
    only a few distinct linear systems are ever factorised. A `guess` saves sweeps. It must be of
    lower precision: the first sweeps of one as good as round-off look like the last.
    """
    rule = RadauRule(stages, real_precision(start))
    scale = np.linalg.norm(start)
    length, time, state = first_panel, 0.0, start
    edges, pieces = [0.0], []
    systems: dict[float, StageSystem] = {}
    while time < 1.0:
        if length not in systems:
            systems[length] = StageSystem.factorise(rule, linear, length)
        values = solve_panel(rule, systems[length], nonlinear, time, state, guess)
        tail, piece = np.inf, np.zeros(0)
        if values is not None:
            piece = rule.to_chebyshev @ np.concatenate([state[None], values])
            scale = max(scale, np.linalg.norm(values[-1]))
            tail = np.linalg.norm(piece[-2:], axis=1).max() / scale
        if values is None or not tail <= tolerance:
            length /= 2
            if length < SMALLEST_PANEL:
                raise ArithmeticError(
                    f"No time panel is short enough at t = {time:g}: the solution is not "
                    "resolved in space, or changes too quickly."
                )
            continue
        time, state = time + length, values[-1]
        edges.append(time)
        pieces.append(piece)
        # Where half the degree was enough, twice the length is, too. It must also keep the edges
        # on multiples of the panel's own length.
        upper_half = np.linalg.norm(piece[stages // 2 :], axis=1).max() / scale
        if upper_half <= tolerance and (time / (2 * length)).is_integer() and time < 1.0:
            length *= 2
    return PanelSeries(np.array(edges), np.stack(pieces))


def integrate_uniformly(
    linear: np.ndarray, nonlinear: Nonlinear, start: np.ndarray, edges: np.ndarray, stages: int
) -> np.ndarray:
    """y at the last of equidistant edges by a Radau IIA method with few or many stages."""
    rule = RadauRule(stages, real_precision(start))
    length = float(edges[1] - edges[0])
    system = StageSystem.factorise(rule, linear, length)
    state = start
    for left in edges[:-1]:
        values = solve_panel(rule, system, nonlinear, float(left), state)
        if values is None:
            raise ArithmeticError(f"The stage equations did not converge at t = {left:g}.")
        state = values[-1]
    return state


@dataclass(frozen=True)
class StageSystem:
    """U = propagator y0 + response N(U): the stage equations with L already solved for."""

    length: float
    propagator: np.ndarray
    response: np.ndarray

    @classmethod
    def factorise(cls, rule: RadauRule, linear: np.ndarray, length: float) -> StageSystem:
        """From U = y0 + h A (L U + N), mode by mode: the factor (I - h L A)^-1 is small."""
        identity = np.eye(rule.stages)
        factor = inverse(identity - length * linear[:, None, None] * rule.integration)
        # One matrix a mode and nothing else inside the sweeps: small products of many modes at
        # once would start BLAS threads, which is slow on a busy runner.
        return cls(length, factor.sum(axis=2), length * factor @ rule.integration)


def solve_panel(
    rule: RadauRule,
    system: StageSystem,
    nonlinear: Nonlinear,
    time: float,
    state: np.ndarray,
    guess: PanelSeries | None = None,
) -> np.ndarray | None:
    """The stage values U on [time, time + h] by fixed-point sweeps, or None if they diverge.

    L is solved exactly, so the sweeps contract like those of a Volterra equation with the
    non-stiff N alone. They stop when a sweep changes nothing but round-off.
    """
    epsilon = np.finfo(rule.precision).eps
    times = time + system.length * rule.points
    free = (system.propagator * state[:, None]).T
    values = np.broadcast_to(state, free.shape) if guess is None else guess.at(times)
    previous = np.inf
    for _ in range(MAX_SWEEPS):
        forcing = nonlinear(times, values).T[:, :, None]
        update = free + np.matmul(system.response, forcing)[:, :, 0].T
        size = np.abs(update).max()
        if not np.isfinite(size) or size > 1e6 * (1 + np.abs(state).max()):
            return None
        change = np.abs(update - values).max() / max(size, 1e-300)
        values = update
        if change < 4 * epsilon or (change < 400 * epsilon and change >= previous):
            return values
        previous = change
    return None


def real_precision(values: np.ndarray) -> np.dtype:
    """The type of the real numbers that the values, real or complex, are made of."""
    return np.finfo(values.dtype).dtype


def inverse(matrices: np.ndarray) -> np.ndarray:
    """The inverses in the precision of the matrices themselves, which LAPACK may not know."""
    if real_precision(matrices) == DOUBLE:
        return np.linalg.inv(matrices)
    in_double = matrices.astype(complex if np.iscomplexobj(matrices) else float)
    result = np.linalg.inv(in_double).astype(matrices.dtype)
    identity = np.eye(matrices.shape[-1], dtype=matrices.dtype)
    for _ in range(2):  # each of Newton's steps doubles the number of correct digits
        result = result + result @ (identity - matrices @ result)
    return result
