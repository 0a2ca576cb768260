"""u_t + a u u_x + b u_xx + g u_xxxx = 0, periodic, from u0 = cos(x) (1 + sin(x)).

u0 is odd about x = pi/2, and the equation keeps that: u = sum_k c_k(t) sin(k y), y = x - pi/2,
with c_k' = (b k^2 - g k^4) c_k + (a k / 2) (u^2)_k and (u^2)_k the cosine coefficients of u^2.

The equation is chaotic: with the paper's coefficients a small change of u grows some thousand
times until t = 0.8 and ten thousand until t = 1, and so does round-off. The series is therefore
computed in the extended precision of x86 processors, and only then rounded. A shorter time asks
for no parameter of its own: the solution of c a, c b, c g at the time t is that of a, b, g at
the time c t.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.fft import dct, idst

from tinns._runtime.errors import UserError
from tinns.problem.reference import Reference
from tinns.problems.references.spectral_collocation import (
    DOUBLE,
    Nonlinear,
    PanelSeries,
    integrate_adaptively,
)
from tinns.problems.references.stored_series import StoredSeries, first_resolved

MODE_COUNTS = (256, 384, 512)

# Long double is worth using where it is the processor's 80-bit format. Elsewhere it is double
# itself (Windows, macOS on ARM) or emulated, which takes minutes.
EXTENDED = np.finfo(np.longdouble).nmant == 63
PRECISION = np.dtype(np.longdouble) if EXTENDED else DOUBLE
BITS = np.finfo(PRECISION).nmant

# What round-off may grow to until t = 1 within the limits below. With the paper's coefficients
# it is 4e-15 in extended and 5e-12 in double precision.
ACCURACY = 1e-13 if EXTENDED else 1e-10
LARGEST_ALPHA, LARGEST_GAMMA, LARGEST_GROWTH = 20.0, 1.0, 25.0


def kuramoto_sivashinsky(alpha: float, beta: float, gamma: float) -> Reference:
    """Kuramoto-Sivashinsky from cos(x) (1 + sin(x)), periodic on [0, 2 pi], for t in [0, 1]."""
    _check_coefficients(alpha, beta, gamma)
    stored = StoredSeries(
        problem="kuramoto-sivashinsky",
        # The bits keep a file of one precision from being read where another is promised.
        parameters={"alpha": alpha, "beta": beta, "gamma": gamma, "bits": BITS},
        compute=lambda: solve_with_enough_modes(alpha, beta, gamma),
    )

    def formula(x: jax.Array, t: jax.Array) -> jax.Array:
        modes = stored.modes(t)
        return modes @ jnp.sin((x - np.pi / 2) * np.arange(1, len(modes) + 1))

    def grid(**axes: np.ndarray) -> np.ndarray:
        x, t = axes["x"], axes["t"]
        modes = stored.series.at(t)
        values = np.sin(np.outer(x - np.pi / 2, np.arange(1, modes.shape[1] + 1))) @ modes.T
        return values if tuple(axes) == ("x", "t") else values.T

    return Reference(
        formula=formula,
        grid=grid,
        accuracy=ACCURACY,
        source="sine series about pi/2, Radau collocation of high order in time"
        + (", in extended precision" if EXTENDED else ", in double precision"),
    )


def kuramoto_sivashinsky_problem(
    alpha: float, beta: float, gamma: float, modes: int, precision: np.dtype = PRECISION
) -> tuple[np.ndarray, Nonlinear, np.ndarray]:
    """The linear symbol, the nonlinear term and the initial coefficients c_k, k >= 1."""
    # More than three halves of a point a mode: the product of two modes never aliases onto a
    # kept one. This many, for the numbers of modes above, make transforms quick.
    points = 25 * modes // 16
    wavenumber = np.arange(1, modes + 1).astype(precision)

    def nonlinear(times: np.ndarray, states: np.ndarray) -> np.ndarray:
        padded = np.zeros((*states.shape[:-1], points), precision)
        padded[..., :modes] = points * states
        values = np.asarray(idst(padded, axis=-1))
        square = np.asarray(dct(values**2, axis=-1))[..., 1 : modes + 1] / points
        return alpha / 2 * wavenumber * square

    start = np.zeros(modes, precision)
    start[:2] = -1, -0.5  # cos(x) + sin(2 x) / 2 = -sin(y) - sin(2 y) / 2
    return beta * wavenumber**2 - gamma * wavenumber**4, nonlinear, start


def solve_kuramoto_sivashinsky(
    alpha: float,
    beta: float,
    gamma: float,
    modes: int,
    stages: int = 24,
    precision: np.dtype = PRECISION,
    guess: PanelSeries | None = None,
) -> PanelSeries:
    """The sine coefficients c_k(t), k >= 1, on [0, 1]."""
    problem = kuramoto_sivashinsky_problem(alpha, beta, gamma, modes, precision)
    tolerance = 64 * float(np.finfo(precision).eps)
    return integrate_adaptively(*problem, stages=stages, tolerance=tolerance, guess=guess)


def solve_with_enough_modes(alpha: float, beta: float, gamma: float) -> PanelSeries:
    """The series in the best precision; double precision finds the number of its modes."""
    solve = partial(solve_kuramoto_sivashinsky, alpha, beta, gamma)
    # Modes left out early grow like any other change, so they must be far below round-off.
    rough = first_resolved(partial(solve, precision=DOUBLE), MODE_COUNTS, resolved=1e-18)
    return solve(rough.coefficients.shape[2], guess=rough) if EXTENDED else rough


def _check_coefficients(alpha: float, beta: float, gamma: float) -> None:
    if not (0 <= alpha <= LARGEST_ALPHA and beta >= 0 and 0 < gamma <= LARGEST_GAMMA):
        raise UserError(
            "The Kuramoto-Sivashinsky reference is verified for alpha from 0 to "
            f"{LARGEST_ALPHA:g}, beta from 0 and gamma above 0 up to {LARGEST_GAMMA:g}, but got "
            f"alpha={alpha!r}, beta={beta!r}, gamma={gamma!r}."
        )
    growth = beta**2 / (4 * gamma)
    # A weak nonlinear term lets the waves, and round-off with them, grow until late.
    limit = LARGEST_GROWTH * min(1, alpha)
    if not growth <= limit * (1 + 1e-12):
        raise UserError(
            "The Kuramoto-Sivashinsky reference is verified where the fastest growing wave has a "
            f"rate beta^2 / (4 gamma) of at most {LARGEST_GROWTH:g} min(1, alpha), here {limit:g}, "
            f"but beta={beta!r} and gamma={gamma!r} give {growth:g}. Beyond it chaos takes the "
            "digits away: make gamma larger, or beta smaller."
        )
