"""Fields that satisfy initial values, initial velocities and values on faces for every ψ."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import factorial, prod

import jax.numpy as jnp
from jax import Array

from tinns.geometry import TIME, Domain, Face, MultiIndex
from tinns.nn.backbones import Params
from tinns.nn.fields import Derivatives, Field
from tinns.nn.formula import Formula
from tinns.nn.series import Series, closure, concatenate
from tinns.nn.windowed import Windowed, in_window, windowed

Point = dict[str, Array]
Prescription = Callable[[Point], Array]  # a number at a point


@dataclass(frozen=True)
class Exact:
    """What one output satisfies: u = initial, u_t = velocity at the initial time, u = g on faces.

    A velocity needs an initial value. Where two conditions meet, they must agree.
    """

    initial: Prescription | None = None
    velocity: Prescription | None = None
    faces: tuple[tuple[Face, Prescription], ...] = ()


@dataclass(frozen=True)
class Constrained:
    """u = G + D·[N(x, t) − N(x, t0) − (t − t0) ∂_t N(x, t0)], with N the inner field.

    G continues the prescribed values into the box, and D(x) vanishes on the faces. The term in
    N(x, t0) is there for an initial value, that in ∂_t N for a velocity; each output has its own.
    """

    inner: Field
    exact: tuple[Exact, ...]  # one for every output
    names: tuple[str, ...] = ()  # of the conditions, for records

    def init(self, key: Array, domain: Domain, outputs: int) -> Params:
        return self.inner.init(key, domain, outputs)

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        wanted = tuple(indices)
        basis = closure(wanted)
        vanishing = self._vanishing_at_start(psi, domain, point, basis)
        vanishing = vanishing * self._distance(domain, point, basis)
        continued = Formula(lambda **coordinates: self.continuation(domain, coordinates))
        known = continued.derivatives((), domain, outputs, point, wanted)
        return {k: known[k] + vanishing.derivative(k) for k in wanted}

    def in_window(self, start: Array | float, length: Array | float) -> "Constrained":
        """Prescribed values keep their own time; only the inner field is restricted."""
        return replace(self, inner=in_window(self.inner, start, length))

    def windowed(self, edges: tuple[float, ...]) -> "Constrained":
        return replace(self, inner=windowed(self.inner, edges))

    def window(self, number: int) -> "Constrained":
        return replace(self, inner=_windows_of(self.inner).window(number))

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the time windows, if the inner field has any."""
        return _windows_of(self.inner).edges

    def continuation(self, domain: Domain, point: Point) -> Array:
        """G at a point: the prescribed values continued into the box, without any network."""
        inside = point | {axis: _wrapped(domain, axis, point[axis]) for axis in domain.periodic}
        return jnp.stack([_continued(exact, domain)(inside) for exact in self.exact])

    def _vanishing_at_start(
        self, psi: Params, domain: Domain, point: Point, basis: tuple[MultiIndex, ...]
    ) -> Series:
        """N(x, t) − N(x, t0) − (t − t0) ∂_t N(x, t0), each term for the outputs that need it."""
        network = partial(self.inner.derivatives, psi, domain, len(self.exact))
        value = _series(network(point, basis), basis)
        has_initial = [float(exact.initial is not None) for exact in self.exact]
        has_velocity = [float(exact.velocity is not None) for exact in self.exact]
        if not any(has_initial):
            return value
        in_space = [k for k in basis if k[-1] == 0]
        in_time = {k: (*k[:-1], 1) for k in in_space} if any(has_velocity) else {}
        start = network(_at(point, TIME, domain.start), [*in_space, *in_time.values()])
        value -= _series({k: start[k] for k in in_space}, basis) * jnp.asarray(has_initial)
        if in_time:
            velocity = _series({k: start[in_time[k]] for k in in_space}, basis)
            elapsed = Series.variable(point[TIME] - domain.start, len(domain.space), basis)
            value -= velocity * jnp.asarray(has_velocity) * elapsed
        return value

    def _distance(
        self, domain: Domain, point: Point, basis: tuple[MultiIndex, ...]
    ) -> Array | Series:
        """D(x) of every output: 4 (x−a)(b−x)/(b−a)² along an axis with both faces, and so on."""
        products: list[Series | float] = []
        for exact in self.exact:
            product: Series | float = 1.0
            for face, _ in exact.faces:
                lower, upper = domain.interval(face.axis)
                slope = -face.outward * len(_on_axis(exact, face.axis)) / (upper - lower)
                x = Series.variable(point[face.axis], domain.axes.index(face.axis), basis)
                product = (x - face.value) * slope * product
            products.append(product)
        return concatenate(products)


def _windows_of(field: Field) -> Windowed:
    if not isinstance(field, Windowed):
        raise AttributeError("this field has no time windows")
    return field


def _continued(exact: Exact, domain: Domain) -> Prescription:
    """G of one output: the start continued in time, then corrected on the faces axis by axis."""

    def from_start(point: Point) -> Array:
        start = _at(point, TIME, domain.start)
        value = exact.initial(start) if exact.initial else jnp.zeros_like(point[TIME])
        if exact.velocity:
            value = value + (point[TIME] - domain.start) * exact.velocity(start)
        return value

    continuation = from_start
    for axis in domain.space:
        faces = _on_axis(exact, axis)
        if faces:
            continuation = _corrected(continuation, faces, domain.interval(axis))
    return continuation


def _corrected(
    function: Prescription,
    faces: list[tuple[Face, Prescription]],
    interval: tuple[float, float],
) -> Prescription:
    """The function, changed to take the given values on one or both faces of an axis."""
    length = interval[1] - interval[0]

    def corrected(point: Point) -> Array:
        value = function(point)
        for face, prescribed in faces:
            there = _at(point, face.axis, face.value)
            inwards = -face.outward * (point[face.axis] - face.value) / length
            share = 1 - inwards if len(faces) == 2 else 1.0
            value = value + share * (prescribed(there) - function(there))
        return value

    return corrected


def _on_axis(exact: Exact, axis: str) -> list[tuple[Face, Prescription]]:
    return [(face, prescribed) for face, prescribed in exact.faces if face.axis == axis]


def _at(point: Point, axis: str, value: float) -> Point:
    """The point moved along one axis."""
    return point | {axis: jnp.full_like(point[axis], value)}


def _wrapped(domain: Domain, axis: str, value: Array) -> Array:
    """The coordinate of a periodic axis brought into its interval."""
    lower, upper = domain.interval(axis)
    return value - (upper - lower) * jnp.floor((value - lower) / (upper - lower))


def _series(derivatives: Derivatives, basis: tuple[MultiIndex, ...]) -> Series:
    """The Taylor series with the given derivatives."""
    return Series(
        {k: d / prod(factorial(n) for n in k) for k, d in derivatives.items()},
        basis,
    )
