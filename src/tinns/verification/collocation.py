"""Collocation grids on a box: points, differentiation matrices, quadrature, resolution."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from scipy.fft import dct


@dataclass(frozen=True)
class Layer:
    """Where points are needed on [-1, 1]: around `centre`, `strength` times more densely.

    The map is that of A. Bayliss and E. Turkel (1992), x = centre + tan(λ(s - μ))/strength, which
    takes [-1, 1] onto itself and keeps the accuracy of Chebyshev points.
    """

    centre: float
    strength: float

    @property
    def _shift_and_scale(self) -> tuple[float, float]:
        """μ and λ."""
        right = float(np.arctan(self.strength * (1 - self.centre)))
        left = float(np.arctan(self.strength * (1 + self.centre)))
        shift = (left - right) / (left + right)
        return shift, right / (1 - shift)

    def points(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x(s) and x'(s)."""
        shift, scale = self._shift_and_scale
        angle = scale * (s - shift)
        return (
            self.centre + np.tan(angle) / self.strength,
            scale / (self.strength * np.cos(angle) ** 2),
        )

    def parameters(self, x: np.ndarray) -> np.ndarray:
        """s with x(s) = x."""
        shift, scale = self._shift_and_scale
        return shift + np.arctan(self.strength * (x - self.centre)) / scale


@dataclass(frozen=True)
class Axis:
    """Points of one axis: equally spaced ones (Fourier) or Chebyshev points with both ends."""

    interval: tuple[float, float]
    count: int
    periodic: bool = False
    layer: Layer | None = None

    @property
    def length(self) -> float:
        return self.interval[1] - self.interval[0]

    @cached_property
    def parameters(self) -> np.ndarray:
        """s in [-1, 1], ascending; equally spaced or Chebyshev points."""
        number = np.arange(self.count)
        if self.periodic:
            return -1 + 2 * number / self.count
        return -np.cos(np.pi * number / (self.count - 1))

    @cached_property
    def _mapped(self) -> tuple[np.ndarray, np.ndarray]:
        s = self.parameters
        unit, slope = (s, np.ones_like(s)) if self.layer is None else self.layer.points(s)
        if not self.periodic:  # no round-off at the ends
            unit = np.concatenate([[-1.0], unit[1:-1], [1.0]])
        return self.interval[0] + (unit + 1) / 2 * self.length, slope * self.length / 2

    @property
    def points(self) -> np.ndarray:
        return self._mapped[0]

    @cached_property
    def weights(self) -> np.ndarray:
        """Quadrature weights: the trapezoidal rule, or that of Clenshaw and Curtis."""
        if self.periodic:
            return np.full(self.count, self.length / self.count)
        last = self.count - 1
        even = np.arange(0, last + 1, 2)
        moments = np.where(even % 2 == 0, 2 / (1 - even.astype(float) ** 2), 0.0)
        moments = moments * np.where((even == 0) | (even == last), 0.5, 1.0)
        angle = np.pi * np.arange(self.count) / last
        weights = 2 / last * np.cos(np.outer(angle, even)) @ moments
        weights[[0, -1]] /= 2
        return weights * self._mapped[1]

    def derivative(self, order: int) -> np.ndarray:
        """The matrix of the derivative of this order."""
        if order == 0:
            return np.eye(self.count)
        if self.periodic:
            return self._fourier(order)
        return np.linalg.matrix_power(self._first, order)

    def _fourier(self, order: int) -> np.ndarray:
        waves = 2j * np.pi / self.length * np.fft.fftfreq(self.count, 1 / self.count)
        symbol = waves**order
        if order % 2 and self.count % 2 == 0:  # the shortest wave has no odd derivative
            symbol[self.count // 2] = 0
        return np.fft.ifft(symbol[:, None] * np.fft.fft(np.eye(self.count), axis=0), axis=0).real

    @cached_property
    def _first(self) -> np.ndarray:
        """Chebyshev differentiation; the diagonal makes the derivative of a constant zero."""
        angle = np.pi * np.arange(self.count) / (self.count - 1)
        sums, differences = np.add.outer(angle, angle), np.subtract.outer(angle, angle)
        gaps = 2 * np.sin(sums / 2) * np.sin(differences / 2)  # s_i - s_j without cancellation
        signs = (-1.0) ** np.arange(self.count)
        signs[[0, -1]] *= 2
        matrix = np.outer(signs, 1 / signs) / (gaps + np.eye(self.count))
        matrix -= np.diag(matrix.sum(axis=1))
        return matrix / self._mapped[1][:, None]

    def onto(self, points: np.ndarray) -> np.ndarray:
        """The matrix that interpolates to other points of the axis."""
        unit = 2 * (points - self.interval[0]) / self.length - 1
        if self.periodic:
            gaps = np.pi * np.subtract.outer(unit, self.parameters)
            total = np.ones_like(gaps)
            for wave in range(1, (self.count - 1) // 2 + 1):
                total += 2 * np.cos(wave * gaps)
            if self.count % 2 == 0:
                total += np.cos(self.count / 2 * gaps)
            return total / self.count
        return self._interpolation(unit if self.layer is None else self.layer.parameters(unit))

    def resampling(self, lost: int) -> np.ndarray:
        """The matrix that interpolates to `lost` points fewer, none of them at an end."""
        if lost == 0:
            return np.eye(self.count)
        number = np.arange(self.count - lost)
        return self._interpolation(-np.cos(np.pi * (number + 0.5) / (self.count - lost)))

    def _interpolation(self, target: np.ndarray) -> np.ndarray:
        """Barycentric interpolation of values at the Chebyshev points to other parameters."""
        weights = (-1.0) ** np.arange(self.count)
        weights[[0, -1]] /= 2
        gaps = np.subtract.outer(target, self.parameters)
        same = np.abs(gaps) < 1e-14
        matrix = weights / np.where(same, 1.0, gaps)
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        return np.where(same.any(axis=1, keepdims=True), same.astype(float), matrix)

    def wanted(self, values: np.ndarray, tolerance: float) -> int:
        """How many points represent functions, given by their values along the last axis.

        What is left out of each of them is at most `tolerance` of the largest of them.
        """
        power = self._power(values)
        beyond = np.cumsum(power[:, ::-1], axis=1)[:, ::-1]
        small = (beyond <= tolerance**2 * power.sum(axis=1).max()).all(axis=0)
        modes = int(np.argmax(small)) if small.any() else len(small)
        return 2 * modes if self.periodic else modes

    def unresolved(self, values: np.ndarray) -> float:
        """The share of the last third of the modes in functions along the last axis."""
        power = self._power(values).sum(axis=0)
        return float(np.sqrt(power[2 * len(power) // 3 :].sum() / max(power.sum(), 1e-300)))

    def _power(self, values: np.ndarray) -> np.ndarray:
        """Squares of the coefficients, (functions, modes)."""
        if self.periodic:
            spectrum = np.abs(np.fft.rfft(values, axis=-1))
        else:
            spectrum = np.abs(np.asarray(dct(values, type=1, axis=-1)))
        return spectrum.reshape(-1, spectrum.shape[-1]) ** 2


@dataclass(frozen=True)
class Grid:
    """The tensor grid of some axes; its points are numbered with the last axis fastest."""

    names: tuple[str, ...]
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.count for axis in self.axes)

    @property
    def count(self) -> int:
        return int(np.prod(self.shape))

    @cached_property
    def points(self) -> np.ndarray:
        """(points, axes)."""
        mesh = np.meshgrid(*(axis.points for axis in self.axes), indexing="ij")
        return np.stack([column.ravel() for column in mesh], axis=-1)

    @cached_property
    def weights(self) -> np.ndarray:
        return reduce(np.kron, [axis.weights for axis in self.axes])

    @cached_property
    def _matrices(self) -> dict[tuple[int, ...], np.ndarray]:
        return {}

    def derivative(self, orders: Sequence[int]) -> np.ndarray:
        """The matrix of a derivative, by its order along each axis."""
        key = tuple(orders)
        if key not in self._matrices:
            each = [axis.derivative(order) for axis, order in zip(self.axes, key, strict=True)]
            self._matrices[key] = reduce(np.kron, each)
        return self._matrices[key]

    def face(self, axis: str, upper: bool, depth: int = 0) -> np.ndarray:
        """The numbers of the points on a face, or of those `depth` points inside of it."""
        number = self.names.index(axis)
        place = self.axes[number].count - 1 - depth if upper else depth
        numbers = np.arange(self.count).reshape(self.shape)
        return np.take(numbers, place, axis=number).ravel()

    def resampling(self, lost: Sequence[int]) -> np.ndarray | None:
        """The matrix that interpolates to so many points fewer along each axis; None for none."""
        if not any(lost):
            return None
        each = [axis.resampling(n) for axis, n in zip(self.axes, lost, strict=True)]
        return reduce(np.kron, each)

    def resampling_of_face(self, number: int, lost: Sequence[int]) -> np.ndarray | None:
        """The same for the points of a face of an axis; edges belong to the first axis there."""
        if not any(lost[:number]):
            return None
        each = [
            a.resampling(n if k < number else 0)
            for k, (a, n) in enumerate(zip(self.axes, lost, strict=True))
        ]
        return reduce(np.kron, each[:number] + each[number + 1 :])

    def unresolved(self, values: np.ndarray) -> float:
        """The largest share of the last third of the modes along any axis, (functions, points)."""
        boxes = values.reshape(-1, *self.shape)
        return max(
            axis.unresolved(np.moveaxis(boxes, number + 1, -1))
            for number, axis in enumerate(self.axes)
        )

    def onto(self, other: "Grid") -> np.ndarray:
        """The matrix that interpolates to the points of another grid."""
        each = [a.onto(b.points) for a, b in zip(self.axes, other.axes, strict=True)]
        return reduce(np.kron, each)
