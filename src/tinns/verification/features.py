"""Functions of space and time with all derivatives in closed form, to represent a change of u.

Most are ridge functions tanh(w·z + b) and sin(w·z + b) of coordinates scaled to [-1, 1], with
frequencies w over a range of scales. Along a periodic axis they are waves of whole numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import pi

import numpy as np

from tinns.geometry import TIME, Domain, MultiIndex
from tinns.verification.linear_rows import Points


@dataclass(frozen=True)
class Features:
    """f_j = σ_j(W_j·z + b_j) cos(N_j·z + c_j), with σ_j tanh or sin, in scaled coordinates z.

    `centres` and `rates` define z = (coordinate - centre) · rate. N is zero on all axes except the
    periodic ones, on which W of a tanh is zero: no axis has derivatives of both factors.
    """

    centres: np.ndarray  # by axis
    rates: np.ndarray
    is_tanh: np.ndarray  # by feature; those that are comes first
    slopes: np.ndarray  # W, (features, axes)
    shifts: np.ndarray  # b
    waves: np.ndarray  # N, of the tanh features
    phases: np.ndarray  # c

    @property
    def count(self) -> int:
        return len(self.shifts)

    def derivatives(
        self, domain: Domain, points: Points, indices: tuple[MultiIndex, ...]
    ) -> dict[MultiIndex, np.ndarray]:
        """∂^k of all features, each of shape (points, features)."""
        columns = np.stack([np.asarray(points[axis], float) for axis in domain.axes], axis=1)
        z = (columns - self.centres) * self.rates
        steps = int(self.is_tanh.sum())
        ridge = z @ self.slopes.T + self.shifts
        is_periodic = np.array([axis in domain.periodic for axis in domain.axes])
        own = {k: np.asarray(k) * ~is_periodic for k in indices}
        orders = sorted({sum(k) for k in indices} | {int(k.sum()) for k in own.values()})
        parts = {m: np.empty_like(ridge) for m in orders}
        _tanh_derivatives(ridge[:, :steps], {m: p[:, :steps] for m, p in parts.items()})
        for m, part in parts.items():
            np.sin(ridge[:, steps:] + m * pi / 2, out=part[:, steps:])
        return self._with_waves(domain, z, indices, parts, steps)

    def _with_waves(
        self,
        domain: Domain,
        z: np.ndarray,
        indices: tuple[MultiIndex, ...],
        parts: dict[int, np.ndarray],
        steps: int,
    ) -> dict[MultiIndex, np.ndarray]:
        """The derivatives of the ridge functions times those of the waves."""
        is_periodic = np.array([axis in domain.periodic for axis in domain.axes])
        angle = z @ self.waves.T + self.phases if is_periodic.any() else None
        found = {}
        for k in indices:
            orders = np.asarray(k)
            scale = np.prod(self.rates**orders) * np.prod(self.slopes**orders, axis=1)
            if angle is None:
                found[k] = parts[sum(k)] * scale
                continue
            own, wave = orders * ~is_periodic, orders * is_periodic
            values = np.empty_like(parts[sum(k)])
            values[:, steps:] = parts[sum(k)][:, steps:] * scale[steps:]
            factor = np.prod(self.slopes[:steps] ** own * self.waves**wave, axis=1)
            factor *= np.prod(self.rates**orders)
            first = parts.get(int(own.sum()))
            if first is None:  # an order that no index has in all
                first = np.empty_like(values)
                _tanh_derivatives(
                    z @ self.slopes[:steps].T + self.shifts[:steps],
                    {int(own.sum()): first[:, :steps]},
                )
            values[:, :steps] = first[:, :steps] * np.cos(angle + wave.sum() * pi / 2) * factor
            found[k] = values
        return found


def draw_features(
    domain: Domain,
    count: int,
    seed: int,
    steepest: float = 20.0,
    quickest: float = 20.0,
    span: tuple[float, float] | None = None,
) -> Features:
    """Random features, half of them steps and half of them waves, and a constant.

    Frequencies are log-uniform and differ from axis to axis; about a quarter of them are zero, so
    that there are functions of time alone and of space alone. `span` is the time interval.
    """
    random = np.random.default_rng(seed)
    axes = domain.axes
    bounds = np.array([span if a == TIME and span else domain.interval(a) for a in axes], float)
    is_periodic = np.array([axis in domain.periodic for axis in axes])
    centres = bounds.mean(axis=1)
    rates = np.where(is_periodic, 2 * pi, 2.0) / (bounds[:, 1] - bounds[:, 0])
    steps = count // 2
    is_tanh = np.arange(count) < steps
    top = np.where(is_tanh, steepest, quickest)[:, None]
    dimensions = len(axes)
    sizes = np.exp(random.uniform(np.log(0.3), np.log(top), (count, dimensions)))
    slopes = sizes * random.choice([-1.0, 1.0], (count, dimensions))
    slopes *= random.uniform(size=(count, dimensions)) < 0.75
    whole = np.sign(slopes) * np.floor(np.abs(slopes) ** 0.85 + random.uniform(size=slopes.shape))
    waves = (whole * is_periodic)[:steps]
    slopes = np.where(is_periodic, np.where(is_tanh[:, None], 0.0, whole), slopes)
    places = random.uniform(-1.05, 1.05, (count, dimensions))
    shifts = np.where(is_tanh, -(slopes * places).sum(axis=1), random.uniform(0, 2 * pi, count))
    slopes[-1], shifts[-1] = 0.0, pi / 2  # the constant
    phases = random.uniform(0, 2 * pi, steps)
    return Features(centres, rates, is_tanh, slopes, shifts, waves, phases)


@cache
def _tanh_polynomial(order: int) -> np.ndarray:
    """The coefficients of p with tanh^(order) = p(tanh), lowest power first."""
    if order == 0:
        return np.array([0.0, 1.0])
    before = np.polynomial.Polynomial(_tanh_polynomial(order - 1))
    return (before.deriv() * np.polynomial.Polynomial([1.0, 0.0, -1.0])).coef


def _tanh_derivatives(ridge: np.ndarray, into: Mapping[int, np.ndarray]) -> None:
    """tanh^(m) at many places, written into the arrays given for each m."""
    y = np.tanh(ridge)
    for order, part in into.items():
        coefficients = _tanh_polynomial(order)
        part[:] = coefficients[-1]
        for coefficient in coefficients[-2::-1]:
            part *= y
            part += coefficient
