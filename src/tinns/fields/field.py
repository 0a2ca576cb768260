"""Fields: what a residual sees. Space and time in, the unknowns u and their derivatives out.

A field is a description; its parameters ψ are drawn by `init` and passed to every call.
Coordinates are a dict by axis name, of numbers or of series.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from tinns.domain import TIME, Box
from tinns.fields.backbones import MLP, Backbone
from tinns.fields.embeddings import Coordinates, embed_space, embedded_width, scale
from tinns.fields.series import MultiIndex, Series, closure, concatenate
from tinns.fields.trajectory import Layerwise, Trajectory, parameter_shapes

Derivatives = dict[MultiIndex, Array]


@runtime_checkable
class Field(Protocol):
    """(x, t) -> u in R^outputs, with the derivatives that are asked for."""

    def init(self, key: Array, domain: Box, outputs: int) -> Any: ...

    def derivatives(
        self,
        psi: Any,
        domain: Box,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k u at one point, each of shape (outputs,), for k in `indices` over `domain.axes`."""
        ...


@runtime_checkable
class Advancing(Protocol):
    """A field whose parameters can be carried on to the next window of time."""

    def advanced(self, psi: Any, domain: Box) -> Any:
        """ψ that gives at the start of time what this ψ gives at its end."""
        ...


@runtime_checkable
class OnGrids(Protocol):
    """A field that is cheaper on a tensor grid than point by point."""

    def derivatives_on_grid(
        self,
        psi: Any,
        domain: Box,
        outputs: int,
        axes: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k u on the grid of the given points of each axis: (len(x), ..., len(t), outputs)."""
        ...


@runtime_checkable
class LinearOutput(Protocol):
    """A field that is linear in the weights of its last layer, which can be fitted to data."""

    def output_weights(self, psi: Any) -> Array:
        """The weights in which u is linear, whatever the rest of ψ is."""
        ...

    def with_output_weights(self, psi: Any, weights: Array) -> Any:
        """ψ with these weights in place of its own; a bias of the last layer becomes zero."""
        ...


@dataclass(frozen=True)
class TimeInduced:
    """u(x, t) = u_θ(t)(x): a backbone in space whose parameters move along a trajectory."""

    backbone: Backbone = MLP((20, 20))
    trajectory: Trajectory = Layerwise()
    scaled: bool = False  # coordinates mapped to [-1, 1] first

    def init(self, key: Array, domain: Box, outputs: int) -> Any:
        return self.trajectory.init(key, self.backbone, embedded_width(domain), outputs)

    def __call__(
        self, psi: Any, domain: Box, outputs: int, coordinates: Coordinates
    ) -> Array | Series:
        template = parameter_shapes(self.backbone, embedded_width(domain), outputs)
        t = coordinates[TIME]
        theta = self.trajectory(psi, scale(domain, TIME, t) if self.scaled else t, template)
        return self.backbone(theta, embed_space(domain, coordinates, self.scaled))

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        return _taylor(self, psi, domain, outputs, point, indices)

    def advanced(self, psi: Any, domain: Box) -> Any:
        times = [jnp.asarray(time, float) for time in (domain.start, domain.end)]
        if self.scaled:
            times = [jnp.asarray(scale(domain, TIME, time)) for time in times]
        return self.trajectory.advanced(psi, *times)


def sine_induced(hidden: tuple[int, ...] = (20, 20), gain: float = 3.0) -> TimeInduced:
    """A time-induced network of sines, in space and in time, for solutions made of waves.

    Glorot weights keep sines in their nearly linear part; the first layer starts `gain` times
    larger, so that the network begins with waves of several lengths.
    """
    return TimeInduced(MLP(hidden, "sin", input_gain=gain), Layerwise(MLP((10, 10), "sin")))


@dataclass(frozen=True)
class SpaceTime:
    """u(x, t) = network(x, t): time is one more input, as in a plain PINN."""

    network: Backbone = MLP((20, 50))
    scaled: bool = False

    def init(self, key: Array, domain: Box, outputs: int) -> Any:
        return self.network.init(key, embedded_width(domain) + 1, outputs)

    def __call__(
        self, psi: Any, domain: Box, outputs: int, coordinates: Coordinates
    ) -> Array | Series:
        t = coordinates[TIME]
        space = embed_space(domain, coordinates, self.scaled)
        time = scale(domain, TIME, t) if self.scaled else t
        entries = [space[i] for i in range(embedded_width(domain))]
        return self.network(psi, concatenate([*entries, time]))

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        return _taylor(self, psi, domain, outputs, point, indices)


@dataclass(frozen=True)
class Formula:
    """u(x, t) given by any JAX function of the coordinates by name; it has no parameters."""

    function: Callable[..., Array]

    def init(self, key: Array, domain: Box, outputs: int) -> tuple[()]:
        return ()

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        def value(*coordinates: Array) -> Array:
            u = self.function(**dict(zip(domain.axes, coordinates, strict=True)))
            return jnp.reshape(jnp.stack(u) if isinstance(u, tuple | list) else u, (outputs,))

        coordinates = [jnp.asarray(point[axis]) for axis in domain.axes]
        return {k: _nested(value, k)(*coordinates) for k in indices}


def _taylor(
    field: TimeInduced | SpaceTime,
    psi: Any,
    domain: Box,
    outputs: int,
    point: dict[str, Array],
    indices: Iterable[MultiIndex],
) -> Derivatives:
    """All derivatives in one sweep of truncated Taylor series."""
    wanted = tuple(indices)
    basis = closure(wanted)
    variables: Coordinates = {
        axis: Series.variable(point[axis], number, basis) for number, axis in enumerate(domain.axes)
    }
    u = field(psi, domain, outputs, variables)
    assert isinstance(u, Series)
    return {k: u.derivative(k) for k in wanted}


def _nested(function: Callable[..., Array], index: MultiIndex) -> Callable[..., Array]:
    """∂^index of a function of scalars, by forward mode inside forward mode."""
    for axis, order in enumerate(index):
        for _ in range(order):
            function = _partial(function, axis)
    return function


def _partial(function: Callable[..., Array], axis: int) -> Callable[..., Array]:
    def partial(*coordinates: Array) -> Array:
        along = [
            jnp.ones_like(c) if i == axis else jnp.zeros_like(c) for i, c in enumerate(coordinates)
        ]
        return jax.jvp(function, coordinates, tuple(along))[1]

    return partial
