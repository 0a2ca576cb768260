"""Activation functions with their Taylor coefficients, so that numbers and series both pass."""

from collections.abc import Callable, Sequence
from functools import cache
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.errors import unknown_name
from tinns.nn.series import Series

TaylorCoefficients = Callable[[Array, int], Sequence[Array]]


@cache
def _tanh_polynomials(order: int) -> tuple[tuple[float, ...], ...]:
    """Polynomials p_m with tanh^(m)/m! = p_m(tanh): p_{m+1} = p_m' (1 - y²) / (m+1)."""
    rows = [np.polynomial.Polynomial([0.0, 1.0])]
    slope = np.polynomial.Polynomial([1.0, 0.0, -1.0])
    for m in range(order):
        rows.append(rows[-1].deriv() * slope / (m + 1))
    return tuple(tuple(row.coef) for row in rows)


def _tanh_coefficients(z: Array, order: int) -> list[Array]:
    y = jnp.tanh(z)
    square = y * y
    values = []
    for polynomial in _tanh_polynomials(order):  # each is even or odd: Horner in y²
        odd = len(polynomial) % 2 == 0
        value = polynomial[-1]
        for coefficient in polynomial[-3::-2]:
            value = value * square + coefficient
        values.append(value * y if odd else value)
    return values


def _sine_coefficients(z: Array, order: int) -> list[Array]:
    s, c = jnp.sin(z), jnp.cos(z)
    cycle = (s, c, -s, -c)
    return [cycle[m % 4] / factorial(m) for m in range(order + 1)]


def _cosine_coefficients(z: Array, order: int) -> list[Array]:
    s, c = jnp.sin(z), jnp.cos(z)
    cycle = (c, -s, -c, s)
    return [cycle[m % 4] / factorial(m) for m in range(order + 1)]


def _differentiated(function: Callable[[Array], Array]) -> TaylorCoefficients:
    """Taylor coefficients of any smooth elementwise function, by repeated forward mode."""

    def coefficients(z: Array, order: int) -> list[Array]:
        derivative, values = function, []
        for m in range(order + 1):
            values.append(derivative(z) / factorial(m))
            derivative = _pushed_forward(derivative)
        return values

    return coefficients


def _pushed_forward(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda z: jax.jvp(function, (z,), (jnp.ones_like(z),))[1]


def elementwise(
    function: Callable[[Array], Array], coefficients: TaylorCoefficients | None = None
) -> Callable:
    """σ for arrays and series alike."""
    taylor = coefficients or _differentiated(function)

    def apply(z: Array | Series) -> Array | Series:
        return z.compose(taylor) if isinstance(z, Series) else function(z)

    return apply


sine = elementwise(jnp.sin, _sine_coefficients)
cosine = elementwise(jnp.cos, _cosine_coefficients)

ACTIVATIONS: dict[str, Callable] = {
    "tanh": elementwise(jnp.tanh, _tanh_coefficients),
    "sin": sine,
    "gelu": elementwise(lambda z: jax.nn.gelu(z, approximate=False)),
    "swish": elementwise(jax.nn.swish),
    "softplus": elementwise(jax.nn.softplus),
}


def activation(name: str) -> Callable:
    """The activation called `name`."""
    if name not in ACTIVATIONS:
        raise unknown_name("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]
