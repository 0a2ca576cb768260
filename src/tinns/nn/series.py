"""Truncated Taylor series in several variables: how a field's derivatives are carried through it.

A `Series` holds the coefficients c_k = ∂^k f / k! of a function around one point, for the
multi-indices k of a downward-closed set. Sums, products and compositions of series are again
series, so a network evaluated on series instead of numbers yields all derivatives in one sweep.
Coefficients known to be zero are absent: Φ(t) has no terms in x, and costs nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import factorial, prod

import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from tinns.geometry import MultiIndex


def closure(indices: Iterable[MultiIndex]) -> tuple[MultiIndex, ...]:
    """All multi-indices below the given ones, lowest total order first."""
    below = {k for top in indices for k in product(*(range(n + 1) for n in top))}
    return tuple(sorted(below, key=lambda k: (sum(k), k)))


class Series:
    """Σ_k c_k h^k over the multi-indices of `basis`; `terms` holds those not known to be zero."""

    # NumPy and JAX arrays on the left of an operator hand over to the methods below.
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, terms: Mapping[MultiIndex, Array], basis: tuple[MultiIndex, ...]) -> None:
        self.terms = dict(terms)
        self.basis = basis

    @classmethod
    def variable(cls, value: ArrayLike, axis: int, basis: tuple[MultiIndex, ...]) -> Series:
        """The coordinate number `axis` itself, around `value`."""
        value = jnp.asarray(value)
        zero = basis[0]
        unit = tuple(int(i == axis) for i in range(len(zero)))
        terms = {zero: value}
        if unit in basis:
            terms[unit] = jnp.ones_like(value)
        return cls(terms, basis)

    @property
    def value(self) -> Array:
        return self.terms[self.basis[0]]

    @property
    def order(self) -> int:
        return max(sum(k) for k in self.basis)

    def derivative(self, index: MultiIndex) -> Array:
        """∂^index of the function at the point."""
        if index not in self.terms:
            return jnp.zeros_like(self.value)
        return prod(factorial(n) for n in index) * self.terms[index]

    def map_linear(self, function: Callable[[Array], Array]) -> Series:
        """Apply a linear map to every coefficient."""
        return Series({k: function(c) for k, c in self.terms.items()}, self.basis)

    def __getitem__(self, item) -> Series:
        return self.map_linear(lambda c: c[item])

    def __neg__(self) -> Series:
        return self.map_linear(jnp.negative)

    def __add__(self, other: Series | ArrayLike) -> Series:
        if not isinstance(other, Series | Array | np.ndarray | float | int):
            return NotImplemented  # a moving bias knows how to add itself
        terms = dict(self.terms)
        added = other.terms if isinstance(other, Series) else {self.basis[0]: jnp.asarray(other)}
        for k, c in added.items():
            terms[k] = terms[k] + c if k in terms else c
        return Series(terms, self.basis)

    __radd__ = __add__

    def __sub__(self, other: Series | ArrayLike) -> Series:
        return self + (-other if isinstance(other, Series) else jnp.negative(other))

    def __rsub__(self, other: ArrayLike) -> Series:
        return -self + other

    def __mul__(self, other: Series | ArrayLike) -> Series:
        return self.bilinear(other, jnp.multiply)

    __rmul__ = __mul__

    def bilinear(
        self, other: Series | ArrayLike, multiply: Callable[[Array, Array], Array]
    ) -> Series:
        """The product of two series under a bilinear `multiply` (Cauchy product)."""
        if not isinstance(other, Series):
            other = Series({self.basis[0]: jnp.asarray(other)}, self.basis)
        allowed = set(self.basis)
        terms: dict[MultiIndex, Array] = {}
        for i, a in self.terms.items():
            for j, b in other.terms.items():
                k = tuple(map(sum, zip(i, j, strict=True)))
                if k in allowed:
                    c = multiply(a, b)
                    terms[k] = terms[k] + c if k in terms else c
        return Series(terms, self.basis)

    def __rmatmul__(self, matrix: Array) -> Series:
        """matrix @ self, all coefficients in one product."""
        stacked = jnp.stack(list(self.terms.values())) @ matrix.T
        return Series(dict(zip(self.terms, stacked, strict=True)), self.basis)

    def compose(self, coefficients: Callable[[Array, int], Sequence[Array]]) -> Series:
        """σ(self), from σ's own Taylor coefficients at a value, `coefficients(value, order)`."""
        c = coefficients(self.value, self.order)
        increment = Series({k: v for k, v in self.terms.items() if k != self.basis[0]}, self.basis)
        result = Series({self.basis[0]: c[-1]}, self.basis)
        for lower in reversed(c[:-1]):  # Horner in the increment, truncated at every product
            result = result * increment + lower
        return result


def concatenate(parts: Sequence[ArrayLike | Series]) -> Array | Series:
    """Join scalars (numbers or series) into one vector."""
    return _put_together(parts, jnp.stack)


def joined(parts: Sequence[Array | Series]) -> Array | Series:
    """Join vectors (of numbers or of series) into one vector."""
    return _put_together(parts, jnp.concatenate)


def _put_together(
    parts: Sequence[ArrayLike | Series], together: Callable[[list[Array]], Array]
) -> Array | Series:
    series = [p for p in parts if isinstance(p, Series)]
    if not series:
        return together([jnp.asarray(p) for p in parts])
    basis = series[0].basis
    lifted = [
        p if isinstance(p, Series) else Series({basis[0]: jnp.asarray(p)}, basis) for p in parts
    ]
    present = [k for k in basis if any(k in p.terms for p in lifted)]
    return Series(
        {k: together([p.terms.get(k, jnp.zeros_like(p.value)) for p in lifted]) for k in present},
        basis,
    )
