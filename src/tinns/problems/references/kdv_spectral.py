"""u_t + u u_x + d u_xxx = 0, periodic, from u0 = cos(pi x), to round-off.

u = sum_k c_k(t) exp(i pi k x) turns the equation into c_k' = i d (pi k)^3 c_k - (i pi k / 2)
(u^2)_k: a stiff diagonal linear term, solved exactly inside each collocation panel, and a mild
nonlinear one, formed on a grid fine enough that no product is aliased.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.fft import irfft, rfft

from tinns._runtime.errors import UserError
from tinns.problem.reference import Reference
from tinns.problems.references.spectral_collocation import (
    Nonlinear,
    PanelSeries,
    integrate_adaptively,
)
from tinns.problems.references.stored_series import StoredSeries, first_resolved

MODE_COUNTS = (256, 512, 1024)

# Less dispersion makes thinner waves than these modes resolve; more makes them oscillate faster
# than panels of a useful length.
DISPERSION_RANGE = (2e-5, 1.0)


def korteweg_de_vries(dispersion: float = 0.022**2) -> Reference:
    """Korteweg-de Vries from cos(pi x), periodic on [-1, 1], for t in [0, 1]."""
    low, high = DISPERSION_RANGE
    if not low <= dispersion <= high:
        raise UserError(
            f"The KdV reference is verified for a dispersion from {low:g} to {high:g}, "
            f"but got {dispersion!r}."
        )
    stored = StoredSeries(
        problem="korteweg-de-vries",
        parameters={"dispersion": dispersion},
        compute=lambda: _as_real(first_resolved(partial(solve_kdv, dispersion), MODE_COUNTS)),
    )

    def formula(x: jax.Array, t: jax.Array) -> jax.Array:
        modes = stored.modes(t)
        phases = jnp.pi * x * np.arange(len(modes) // 2)
        return modes @ jnp.concatenate([jnp.cos(phases), jnp.sin(phases)])

    def grid(**axes: np.ndarray) -> np.ndarray:
        x, t = axes["x"], axes["t"]
        modes = stored.series.at(t)
        phases = np.pi * np.outer(x, np.arange(modes.shape[1] // 2))
        values = np.concatenate([np.cos(phases), np.sin(phases)], axis=1) @ modes.T
        return values if tuple(axes) == ("x", "t") else values.T

    return Reference(
        formula=formula,
        grid=grid,
        accuracy=1e-13,
        source="Fourier series in space, Radau collocation of high order in time",
    )


def kdv_problem(dispersion: float, modes: int) -> tuple[np.ndarray, Nonlinear, np.ndarray]:
    """The linear symbol, the nonlinear term and the initial coefficients c_k, k >= 0."""
    # Three points a mode: the product of two modes never aliases onto a kept one.
    points = 3 * modes
    wavenumber = np.pi * np.arange(modes)

    def nonlinear(times: np.ndarray, states: np.ndarray) -> np.ndarray:
        values = irfft(states, n=points, axis=-1, norm="forward")
        square = rfft(values**2, axis=-1, norm="forward")[..., :modes]
        return -0.5j * wavenumber * square

    start = np.zeros(modes, dtype=complex)
    start[1] = 0.5  # cos(pi x)
    return 1j * dispersion * wavenumber**3, nonlinear, start


def solve_kdv(dispersion: float, modes: int, stages: int = 24) -> PanelSeries:
    """The Fourier coefficients c_k(t), k >= 0, on [0, 1]."""
    return integrate_adaptively(*kdv_problem(dispersion, modes), stages=stages, first_panel=2.0**-5)


def _as_real(series: PanelSeries) -> PanelSeries:
    """From c_k, k >= 0, to the coefficients of cos(pi k x), then those of sin(pi k x)."""
    doubled = 2 * series.coefficients
    doubled[..., 0] /= 2
    return PanelSeries(series.edges, np.concatenate([np.real(doubled), -np.imag(doubled)], axis=2))
