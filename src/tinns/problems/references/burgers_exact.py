"""u_t + u u_x = nu u_xx with u(x, 0) = -sin(pi x), solved exactly by the Cole-Hopf transform.

With s = sqrt(4 nu t) and z a standard variable of weight exp(-z^2),

    u(x, t) = - int sin(pi (x - s z)) w(z) dz / int w(z) dz,
    log w(z) = -z^2 - cos(pi (x - s z)) / (2 pi nu).

The integrands are entire, so the trapezoidal rule converges faster than any power of its step.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.errors import UserError
from tinns.problem.reference import Reference

TAYLOR_TERMS = 10


def burgers(viscosity: float) -> Reference:
    """Burgers' equation from -sin(pi x) on [-1, 1] x [0, 1] with zero boundary values."""
    nu = float(viscosity)
    if not (math.isfinite(nu) and nu > 0):
        raise UserError(
            f"The viscosity must be a positive number, but got {viscosity!r}. "
            "Without viscosity this solution breaks into a shock at t = 1/pi."
        )
    nodes = quadrature_nodes(nu)
    taylor = initial_taylor_series(nu, TAYLOR_TERMS)
    # The quadrature depends on t through sqrt(t), so its automatic t-derivative is 0/0 at t = 0
    # and loses digits nearby. There the Taylor series in t takes over: its terms fall at least
    # by 1/100 each within this range.
    switch = 1e-3 / (1 + 100 * nu)

    def formula(x: jax.Array, t: jax.Array) -> jax.Array:
        # Each branch sees only times it is made for: a NaN in the branch not taken would
        # still reach the derivatives.
        is_early = t < switch
        early = taylor_sum(taylor, x, jnp.where(is_early, t, switch))
        late = cole_hopf_quotient(nodes, nu, x, jnp.where(is_early, switch, t))
        value = jnp.where(is_early, early, late)
        return jnp.where(t < 0, jnp.nan, value)

    return Reference(
        formula=formula,
        accuracy=5e-15,
        source="Cole-Hopf integral by the trapezoidal rule, exact to round-off",
    )


def quadrature_nodes(viscosity: float) -> np.ndarray:
    """Symmetric equidistant nodes z that integrate the Cole-Hopf weight to round-off."""
    # exp(-cos/(2 pi nu)) spans exp(1/(pi nu)), about e^100 at nu = 0.01/pi, and can lift the
    # far tail of the Gaussian above its centre. Both must be beaten, with e^-45 to spare.
    reach = math.sqrt(1 / (math.pi * viscosity) + 45)
    # At t = 1 the weight's curvature is at most that of exp(-(1 + pi) z^2) whatever nu is, and
    # one period of its cosine is 1/sqrt(nu) long in z.
    step = min(0.1, 0.1 / math.sqrt(viscosity))
    count = math.ceil(reach / step)
    return step * np.arange(-count, count + 1)


def initial_taylor_series(viscosity: float, terms: int) -> np.ndarray:
    """a[n, k] with u(x, t) = sum_n t^n sum_k a[n, k] sin(k pi x), exact term by term.

    Inserting the series into the equation gives
    (n + 1) u_(n+1) = nu u_n'' - 1/2 (sum_i u_i u_(n-i))', all trigonometric polynomials.
    """
    # Coefficients of exp(i pi k x) for k = -terms..terms; u_n holds |k| <= n + 1 only.
    wavenumber = np.pi * np.arange(-terms, terms + 1)
    series = np.zeros((terms, 2 * terms + 1), dtype=complex)
    series[0, terms - 1], series[0, terms + 1] = -0.5j, 0.5j  # -sin(pi x)
    for n in range(terms - 1):
        square = sum(np.convolve(series[i], series[n - i], mode="same") for i in range(n + 1))
        rate = -viscosity * wavenumber**2 * series[n] - 0.5j * wavenumber * square
        series[n + 1] = rate / (n + 1)
    return -2 * np.imag(series[:, terms:])


def taylor_sum(taylor: np.ndarray, x: jax.Array, t: jax.Array) -> jax.Array:
    """sum_n t^n sum_k taylor[n, k] sin(k pi x), by Horner's rule in t."""
    sines = jnp.sin(jnp.pi * x * np.arange(taylor.shape[1]))
    total = jnp.zeros_like(x * t)
    for coefficients in taylor[::-1]:
        total = total * t + jnp.dot(jnp.asarray(coefficients), sines)
    return total


def cole_hopf_quotient(
    nodes: np.ndarray, viscosity: float, x: jax.Array, t: jax.Array
) -> jax.Array:
    """The quotient of the two Cole-Hopf integrals, both by the trapezoidal rule."""
    angle = jnp.pi * (x - jnp.sqrt(4 * viscosity * t) * nodes)
    log_weight = -(nodes**2) - jnp.cos(angle) / (2 * jnp.pi * viscosity)
    # Only ratios of weights matter: the largest is scaled to one, so that none overflows.
    weight = jnp.exp(log_weight - jax.lax.stop_gradient(jnp.max(log_weight)))
    return -jnp.sum(jnp.sin(angle) * weight) / jnp.sum(weight)
