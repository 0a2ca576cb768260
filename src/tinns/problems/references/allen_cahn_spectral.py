"""u_t = d u_xx + r (u - u^3), periodic, from u0 = x^2 cos(3 pi x) + x^2, to round-off.

The periodic extension of u0 is only twice differentiable: u0''' jumps by 108 pi^2 at x = 1. Its
Fourier coefficients fall like k^-4, and u is not smooth at the corner t = 0. So u = w + v where
w = exp(r t) (heat flow of a kink with the same jumps) is known in closed form, and v, which is
smooth, is even in x and expanded in cosines: v_t = d v_xx + r v - r (v + w)^3.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from scipy.fft import dct, idct

from tinns._runtime.errors import UserError
from tinns.problem.reference import Reference
from tinns.problems.references.kink import PeriodicKink, matching_kink
from tinns.problems.references.spectral_collocation import (
    Nonlinear,
    PanelSeries,
    integrate_adaptively,
)
from tinns.problems.references.stored_series import StoredSeries, first_resolved

MODE_COUNTS = (512, 1024, 2048)

# Within these the kink's images and its growth exp(r t) cost no accuracy.
DIFFUSION_RANGE = (1e-5, 0.05)
RATE_RANGE = (0.0, 6.0)


def allen_cahn(diffusion: float = 1e-4, rate: float = 5.0) -> Reference:
    """Allen-Cahn from x^2 cos(3 pi x) + x^2, periodic on [-1, 1], for t in [0, 1]."""
    _check_range("diffusion", diffusion, DIFFUSION_RANGE)
    _check_range("rate", rate, RATE_RANGE)
    kink = initial_kink()
    stored = StoredSeries(
        problem="allen-cahn",
        parameters={"diffusion": diffusion, "rate": rate},
        compute=lambda: first_resolved(partial(solve_smooth_part, diffusion, rate), MODE_COUNTS),
    )

    def formula(x: jax.Array, t: jax.Array) -> jax.Array:
        modes = stored.modes(t)
        cosines = jnp.cos(jnp.pi * x * np.arange(len(modes)))
        corner = kink(x, diffusion * t, jnp, jax.scipy.special)
        return modes @ cosines + jnp.exp(rate * t) * corner

    def grid(**axes: np.ndarray) -> np.ndarray:
        x, t = axes["x"], axes["t"]
        modes = stored.series.at(t)
        cosines = np.cos(np.pi * np.outer(x, np.arange(modes.shape[1])))
        corner = kink(x[:, None], diffusion * np.maximum(t, 0))
        values = cosines @ modes.T + np.exp(rate * t) * corner
        return values if tuple(axes) == ("x", "t") else values.T

    return Reference(
        formula=formula,
        grid=grid,
        accuracy=1e-13,
        source="cosine series plus closed-form kink, Radau collocation of high order in time",
    )


def initial_value(x: np.ndarray) -> np.ndarray:
    """u0 = x^2 cos(3 pi x) + x^2."""
    return x**2 * np.cos(3 * np.pi * x) + x**2


def initial_kink() -> PeriodicKink:
    """The kink with the odd derivatives of u0 at x = 1, up to the seventh."""
    third, fifth, seventh = 54 * np.pi**2, -810 * np.pi**4, 14 * (3 * np.pi) ** 6
    return matching_kink([0.0, third, fifth, seventh])


def smooth_part_problem(
    diffusion: float, rate: float, modes: int
) -> tuple[np.ndarray, Nonlinear, np.ndarray]:
    """The linear symbol, the nonlinear term and the initial cosine coefficients of v."""
    kink = initial_kink()
    # Twice as many points as modes: no product of three modes is aliased onto a kept one.
    points = 2 * modes
    x = (np.arange(points) + 0.5) / points

    def to_modes(values: np.ndarray) -> np.ndarray:
        coefficients = np.asarray(dct(values, axis=-1))[..., :modes] / points
        coefficients[..., 0] /= 2
        return coefficients

    def to_values(coefficients: np.ndarray) -> np.ndarray:
        padded = np.zeros((*coefficients.shape[:-1], points))
        padded[..., :modes] = points * coefficients
        padded[..., 0] *= 2
        return np.asarray(idct(padded, axis=-1))

    corners: dict[bytes, np.ndarray] = {}

    def nonlinear(times: np.ndarray, states: np.ndarray) -> np.ndarray:
        # The sweeps of one panel all ask for the same times.
        if times.tobytes() not in corners:
            corners.clear()
            growth = np.exp(rate * times)[:, None]
            corners[times.tobytes()] = growth * kink(x, diffusion * times[:, None])
        return -rate * to_modes((to_values(states) + corners[times.tobytes()]) ** 3)

    linear = rate - diffusion * (np.pi * np.arange(modes)) ** 2
    return linear, nonlinear, to_modes(initial_value(x) - kink(x, 0.0))


def solve_smooth_part(diffusion: float, rate: float, modes: int, stages: int = 24) -> PanelSeries:
    """The cosine coefficients of v on [0, 1]."""
    return integrate_adaptively(*smooth_part_problem(diffusion, rate, modes), stages=stages)


def _check_range(name: str, value: float, allowed: tuple[float, float]) -> None:
    low, high = allowed
    if not low <= value <= high:
        raise UserError(
            f"The Allen-Cahn reference is verified for a {name} from {low:g} to {high:g}, "
            f"but got {value!r}."
        )
