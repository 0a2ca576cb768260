"""Fields: functions of space and time that give the unknowns u and their derivatives.

A field is a description; its parameters ψ are drawn by `init` and passed to every call.
Coordinates are a dict by axis name, of numbers or of series.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Domain, MultiIndex
from tinns.nn.backbones import MLP, Backbone, LinearEnd, Params, linear_end
from tinns.nn.embeddings import (
    Coordinates,
    FourierFeatures,
    embed_space,
    embedded_width,
    embedded_widths,
    scale,
)
from tinns.nn.separable_mlp import SeparableMLP
from tinns.nn.series import Series, closure, concatenate, joined
from tinns.nn.trajectories import (
    Affine,
    HasTemporalCode,
    Layerwise,
    TimeEmbedding,
    Trajectory,
    parameter_shapes,
)
from tinns.nn.widening import widened

Derivatives = dict[MultiIndex, Array]


@runtime_checkable
class Field(Protocol):
    """(x, t) -> u in R^outputs, with the requested derivatives."""

    def init(self, key: Array, domain: Domain, outputs: int) -> Params: ...

    def derivatives(
        self,
        psi: Params,
        domain: Domain,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k u at one point, each of shape (outputs,), for k in `indices` over `domain.axes`."""
        ...


@runtime_checkable
class Advancing(Protocol):
    """A field whose parameters can be continued into the next time window."""

    def advanced(self, psi: Params, domain: Domain) -> Params:
        """ψ that gives at `domain.start` what this ψ gives at `domain.end`."""
        ...


@runtime_checkable
class OnGrids(Protocol):
    """A field that is cheaper on a tensor grid than point by point."""

    def derivatives_on_grid(
        self,
        psi: Params,
        domain: Domain,
        outputs: int,
        axes: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k u on the grid of the given points of each axis: (len(x), ..., len(t), outputs)."""
        ...


@runtime_checkable
class LinearOutput(Protocol):
    """A field that is linear in the weights of its last layer, which can be fitted to data."""

    def output_weights(self, psi: Params) -> Array:
        """The weights in which u is linear while the rest of ψ is fixed."""
        ...

    def with_output_weights(self, psi: Params, weights: Array) -> Params:
        """ψ with these weights in place of its own; a bias of the last layer becomes zero."""
        ...


@runtime_checkable
class Sizable(Protocol):
    """A field whose outputs can be multiplied by the sizes of the unknowns."""

    def with_sizes(self, sizes: tuple[float, ...]) -> Field: ...


@dataclass(frozen=True)
class TimeInduced:
    """u(x, t) = u_θ(t)(x): a backbone in space whose parameters move along a trajectory.

    With `fourier` the backbone sees Fourier features of space, and with `fourier_time` the
    trajectory's network those of time; their kernels are constant.
    """

    backbone: Backbone = MLP((20, 20))
    trajectory: Trajectory = Layerwise()
    scaled: bool = True  # coordinates mapped to [-1, 1] first
    fourier: FourierFeatures | None = None
    fourier_time: FourierFeatures | None = None
    sizes: tuple[float, ...] = ()  # of the unknowns, multiplied to the outputs; (): 1

    def __post_init__(self) -> None:
        _check_network("TimeInduced: backbone", self.backbone)
        if self.fourier_time is not None and not isinstance(self.trajectory, HasTemporalCode):
            raise UserError(
                f"TimeInduced: fourier_time with {type(self.trajectory).__name__}; Fourier "
                "features of time enter the time network of Layerwise(...) only"
            )
        _refuse_to_mix(self.backbone, self.fourier)

    def init(self, key: Array, domain: Domain, outputs: int) -> Params:
        backbone, inputs = self._backbone(domain), self._inputs(domain)
        if not self._embeds:
            return self.trajectory.init(key, backbone, inputs, outputs)
        key, space_key, time_key = jax.random.split(key, 3)
        fourier, time = self.fourier, self.fourier_time
        more = {} if time is None else {"time_inputs": time.features}
        return {
            "path": self.trajectory.init(key, backbone, inputs, outputs, **more),
            "fourier": fourier.init(space_key, embedded_width(domain)) if fourier else (),
            "fourier_time": time.init(time_key, 1) if time else (),
        }

    def __call__(
        self, psi: Params, domain: Domain, outputs: int, coordinates: Coordinates
    ) -> Array | Series:
        backbone = self._backbone(domain)
        template = parameter_shapes(backbone, self._inputs(domain), outputs)
        time = self._time(domain, coordinates[TIME])
        theta = self.trajectory(self.path(psi), time, template, **self._embedding(psi))
        space = embed_space(domain, coordinates, self.scaled)
        z = self.fourier(psi["fourier"], space) if self.fourier else space
        return sized(backbone(theta, z), self.sizes)

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        return taylor_derivatives(self, psi, domain, outputs, point, indices)

    def advanced(self, psi: Params, domain: Domain) -> Params:
        start, end = (
            jnp.asarray(self._time(domain, jnp.asarray(t, float)))
            for t in (domain.start, domain.end)
        )
        path = self.trajectory.advanced(self.path(psi), start, end, **self._embedding(psi))
        return self._with_path(psi, path)

    def with_sizes(self, sizes: tuple[float, ...]) -> "TimeInduced":
        """The same with its outputs multiplied by the sizes of the unknowns."""
        return replace(self, sizes=sizes)

    def widened(self, factor: float) -> "TimeInduced":
        """With more neurons in space, and in time if its trajectory has any."""
        backbone, trajectory = (widened(part, factor) for part in (self.backbone, self.trajectory))
        return replace(self, backbone=backbone, trajectory=trajectory)

    def path(self, psi: Params) -> Params:
        """The part of ψ that belongs to the trajectory."""
        return psi["path"] if self._embeds else psi

    @property
    def has_temporal_code(self) -> bool:
        """Whether the trajectory has a code Φ(t), with one entry per parameter group."""
        return isinstance(self.trajectory, HasTemporalCode)

    def temporal_code(self, psi: Params, domain: Domain, t: Array) -> Array:
        """Φ(t) of the trajectory, one entry per parameter group."""
        if not isinstance(self.trajectory, HasTemporalCode):
            raise UserError(
                f"{type(self.trajectory).__name__} has no code Φ(t); Layerwise(...) has"
            )
        time = self._time(domain, t)
        return jnp.asarray(self.trajectory.phi(self.path(psi), time, **self._embedding(psi)))

    def output_weights(self, psi: Params) -> Array:
        """The constant part of the last layer's weight."""
        return self._linear_end().last_weight(self.path(psi)["offset"])

    def with_output_weights(self, psi: Params, weights: Array) -> Params:
        """ψ whose last layer has these weights at all times: its slopes become zero."""
        end, path = self._linear_end(), self.path(psi)
        rest = {
            "offset": end.with_last_weight(path["offset"], weights),
            "slope": end.with_last_weight(path["slope"], jnp.zeros_like(weights)),
        }
        return self._with_path(psi, path | rest)

    @property
    def _embeds(self) -> bool:
        """Whether ψ has more than the trajectory's parameters."""
        return self.fourier is not None or self.fourier_time is not None

    def _with_path(self, psi: Params, path: Params) -> Params:
        return psi | {"path": path} if self._embeds else path

    def _backbone(self, domain: Domain) -> Backbone:
        return _fitted(self.backbone, embedded_widths(domain))

    def _inputs(self, domain: Domain) -> int:
        return self.fourier.features if self.fourier else embedded_width(domain)

    def _time(self, domain: Domain, t: Array | Series) -> Array | Series:
        return scale(domain, TIME, t) if self.scaled else t

    def _embedding(self, psi: Params) -> dict[str, TimeEmbedding]:
        """Further arguments of the trajectory: how time enters its network."""
        features = self.fourier_time
        if features is None:
            return {}
        return {"embed": lambda t: features(psi["fourier_time"], concatenate([t]))}

    def _linear_end(self) -> LinearEnd:
        if not isinstance(self.trajectory, Affine):
            raise UserError(
                f"{type(self.trajectory).__name__}: u is not linear in weights of the last layer "
                "that can be fitted; use Layerwise(...) or Linear()"
            )
        return linear_end(self.backbone)


def sine_induced(
    hidden: tuple[int, ...] = (20, 20), gain: float = 3.0, scaled: bool = True
) -> TimeInduced:
    """A time-induced network of sines, in space and in time, for solutions made of waves.

    Glorot weights keep sines in their nearly linear part; the first layer starts `gain` times
    larger, so that the network begins with waves of several lengths.
    """
    backbone, in_time = MLP(hidden, "sin", input_gain=gain), Layerwise(MLP((10, 10), "sin"))
    return TimeInduced(backbone, in_time, scaled)


def sized(outputs: Array | Series, sizes: tuple[float, ...]) -> Array | Series:
    """Outputs multiplied by the sizes of the unknowns."""
    return outputs * jnp.asarray(sizes, float) if sizes else outputs


@dataclass(frozen=True)
class SpaceTime:
    """u(x, t) = network(x, t): time is one more input, as in a plain PINN.

    With `fourier` the network sees Fourier features of (x, t).
    """

    network: Backbone = MLP((20, 50))
    scaled: bool = True
    fourier: FourierFeatures | None = None
    sizes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _check_network("SpaceTime: network", self.network)
        _refuse_to_mix(self.network, self.fourier)

    def init(self, key: Array, domain: Domain, outputs: int) -> Params:
        inputs = embedded_width(domain) + 1
        if self.fourier is None:
            return self._network(domain).init(key, inputs, outputs)
        network_key, fourier_key = jax.random.split(key)
        return {
            "network": self.network.init(network_key, self.fourier.features, outputs),
            "fourier": self.fourier.init(fourier_key, inputs),
        }

    def __call__(
        self, psi: Params, domain: Domain, outputs: int, coordinates: Coordinates
    ) -> Array | Series:
        t = coordinates[TIME]
        space = embed_space(domain, coordinates, self.scaled)
        time = scale(domain, TIME, t) if self.scaled else t
        z = joined([space, concatenate([time])])
        if self.fourier is None:
            return sized(self._network(domain)(psi, z), self.sizes)
        return sized(self.network(psi["network"], self.fourier(psi["fourier"], z)), self.sizes)

    def with_sizes(self, sizes: tuple[float, ...]) -> "SpaceTime":
        return replace(self, sizes=sizes)

    def widened(self, factor: float) -> "SpaceTime":
        return replace(self, network=widened(self.network, factor))

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        return taylor_derivatives(self, psi, domain, outputs, point, indices)

    def output_weights(self, psi: Params) -> Array:
        theta = psi if self.fourier is None else psi["network"]
        return linear_end(self.network).last_weight(theta)

    def with_output_weights(self, psi: Params, weights: Array) -> Params:
        end = linear_end(self.network)
        if self.fourier is None:
            return end.with_last_weight(psi, weights)
        return psi | {"network": end.with_last_weight(psi["network"], weights)}

    def _network(self, domain: Domain) -> Backbone:
        return _fitted(self.network, (*embedded_widths(domain), 1))


def _fitted(backbone: Backbone, widths: tuple[int, ...]) -> Backbone:
    """The backbone for coordinates of these widths, which a separable one needs to know."""
    return backbone.over(widths) if isinstance(backbone, SeparableMLP) else backbone


def _refuse_to_mix(backbone: Backbone, fourier: FourierFeatures | None) -> None:
    if isinstance(backbone, SeparableMLP) and fourier is not None:
        raise UserError(
            "SeparableMLP with fourier features, which mix the coordinates it keeps apart; leave "
            "fourier out, or use MLP(...)"
        )


class Evaluated(Protocol):
    """A field that is evaluated on numbers and on series alike."""

    def __call__(
        self, psi: Params, domain: Domain, outputs: int, coordinates: Coordinates
    ) -> Array | Series: ...


def taylor_derivatives(
    field: Evaluated,
    psi: Params,
    domain: Domain,
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


def _check_network(what: str, network: object) -> None:
    """Refuse anything but a network of one vector, such as a whole field."""
    is_network = callable(network) and hasattr(network, "init") and not isinstance(network, type)
    if isinstance(network, Field) or not is_network:
        raise UserError(
            f"{what}={network!r}; expected a network of one vector such as MLP((20, 20)), "
            "PirateNet(...) or, of space, SeparableMLP(...)"
        )
