"""Heat flow of periodic kinks: the closed-form part of a solution whose initial data has corners.

A function that is smooth on [-1, 1] but whose odd derivatives do not vanish at the ends is, seen
periodically, kinked there. Its Fourier series then converges slowly, and the solution is not
smooth at the corner t = 0. Subtracting exponentials exp(-a |y|), y the distance to the kink,
whose odd derivatives jump by the same amounts, leaves a remainder that Fourier series resolve.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special

# Round-off at the corner grows like 1/sqrt(tau); this shift of the heat-flow time bounds it,
# and changes the kink by less than 1e-14.
TAU_SHIFT = 1e-16

# Decay rates of the exponentials: fast enough for two periods to be far apart, slow enough
# for the sum's coefficients to stay of order one.
DECAY_RATES = np.array([16.0, 24.0, 32.0, 40.0])


@dataclass(frozen=True)
class PeriodicKink:
    """sum_i c_i exp(-a_i |y|), repeated with period 2 around odd x, under heat flow."""

    amplitudes: np.ndarray
    rates: np.ndarray

    def __call__(
        self, x: Any, tau: Any, xp: ModuleType = np, special: ModuleType = scipy.special
    ) -> Any:
        """The kinks at x after the time tau of w_tau = w_xx; `xp` is NumPy or jax.numpy."""
        distance = xp.mod(x, 2) - 1
        tau = tau + TAU_SHIFT
        total = 0.0
        for amplitude, rate in zip(self.amplitudes, self.rates, strict=True):
            for image in (-2, 0, 2):
                profile = _diffused_exponential(distance - image, tau, rate, xp, special)
                total = total + amplitude * profile
        return total


def matching_kink(odd_derivatives: list[float]) -> PeriodicKink:
    """The kink whose first, third, ... derivatives at x = 1 from the left are those given."""
    rates = DECAY_RATES[: len(odd_derivatives)]
    # From the left, |y| = 1 - x and the n-th derivative of exp(-a |y|) is a^n.
    orders = 2 * np.arange(len(odd_derivatives)) + 1
    amplitudes = np.linalg.solve(rates[None, :] ** orders[:, None], np.array(odd_derivatives))
    return PeriodicKink(amplitudes, rates)


def _diffused_exponential(
    y: Any, tau: Any, rate: float, xp: ModuleType, special: ModuleType
) -> Any:
    """exp(-a |y|) after the heat-flow time tau, as two one-sided halves."""
    width = 2 * xp.sqrt(tau)
    spread = rate * rate * tau
    right = xp.exp(spread - rate * y) * special.erfc((2 * rate * tau - y) / width)
    left = xp.exp(spread + rate * y) * special.erfc((2 * rate * tau + y) / width)
    return (right + left) / 2
