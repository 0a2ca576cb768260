"""Orthonormal polynomials of space and time, and waves along periodic axes, with derivatives.

They represent a change of the unknowns. For the mean over the domain's intervals their Gram matrix
is the identity, and functions of time alone or of space alone are spanned by some of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import comb, pi, sqrt

import numpy as np
from numpy.polynomial import legendre

from tinns.geometry import TIME, Domain, MultiIndex
from tinns.verification.linear_rows import Points


@dataclass(frozen=True)
class Polynomials:
    """Products of Legendre polynomials, and of cos and sin along periodic axes.

    `exponents` has the degree of each function along each axis; a wave of number k has 2k - 1
    and 2k. `span` is the time interval.
    """

    exponents: np.ndarray  # (functions, axes)
    span: tuple[float, float]

    @property
    def count(self) -> int:
        return len(self.exponents)

    def among(self, axes: Iterable[str], domain: Domain) -> np.ndarray:
        """Which of the functions depend on no other axes than these."""
        others = [n for n, axis in enumerate(domain.axes) if axis not in set(axes)]
        return (self.exponents[:, others] == 0).all(axis=1)

    def derivatives(
        self, domain: Domain, points: Points, indices: Iterable[MultiIndex]
    ) -> dict[MultiIndex, np.ndarray]:
        """∂^k of all functions, each of shape (points, functions)."""
        wanted = tuple(indices)
        along = []
        for number, axis in enumerate(domain.axes):
            orders = {k[number] for k in wanted}
            degree = int(self.exponents[:, number].max())
            interval = self.span if axis == TIME else domain.interval(axis)
            function = _waves if axis in domain.periodic else _legendre
            values = function(np.asarray(points[axis], float), interval, degree, orders)
            along.append({m: v[:, self.exponents[:, number]] for m, v in values.items()})
        found = {}
        for k in wanted:
            values = along[0][k[0]]
            for own, order in zip(along[1:], k[1:], strict=True):
                values = values * own[order]
            found[k] = values
        return found


def polynomials_up_to(
    domain: Domain, count: int, span: tuple[float, float], highest: int
) -> Polynomials:
    """About `count` functions: all those of a total degree, at most `highest`."""
    axes, degree = len(domain.axes), 1
    while degree < highest and comb(degree + 1 + axes, axes) <= count:
        degree += 1
    exponents = [k for k in product(range(degree + 1), repeat=axes) if sum(k) <= degree]
    return Polynomials(np.array(exponents), span)


def _legendre(
    x: np.ndarray, interval: tuple[float, float], degree: int, orders: set[int]
) -> dict[int, np.ndarray]:
    """Derivatives of the Legendre polynomials whose mean square is 1."""
    lower, upper = interval
    z, rate = (2 * x - lower - upper) / (upper - lower), 2 / (upper - lower)
    norms = np.sqrt(2 * np.arange(degree + 1) + 1)
    coefficients, found = np.eye(degree + 1), {}
    for order in range(max(orders) + 1):
        if order in orders:
            found[order] = legendre.legval(z, coefficients).T * norms * rate**order
        coefficients = legendre.legder(coefficients)
    return found


def _waves(
    x: np.ndarray, interval: tuple[float, float], degree: int, orders: set[int]
) -> dict[int, np.ndarray]:
    """Derivatives of 1, √2 cos, √2 sin, ... of whole waves."""
    lower, upper = interval
    numbers = np.arange(degree + 1)
    frequencies = (numbers + 1) // 2 * 2 * pi / (upper - lower)
    sizes = np.where(numbers == 0, 1.0, sqrt(2))
    angles = np.outer(x - lower, frequencies) - np.where(numbers % 2 == 0, pi / 2, 0.0)
    angles[:, 0] = 0.0
    return {m: sizes * frequencies**m * np.cos(angles + m * pi / 2) for m in orders}
