"""Trajectories t -> θ(t) in the parameter space of a backbone [TINN, Section 3.2].

Each trajectory is a description without parameters: `init` draws ψ for a given backbone, and
`__call__` gives the tree θ(t). Affine trajectories return `Moving` leaves, which multiply as
W(t) z = φ(t)·(A z) + B z, so that no weight matrix is ever formed per point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from tinns.nn.activations import activation
from tinns.nn.backbones import MLP, Backbone, Params, Theta, glorot_uniform
from tinns.nn.series import Series, concatenate

TimeEmbedding = Callable[[Array | Series], Array | Series]  # t -> the time network's input


def _time_itself(t: Array | Series) -> Array | Series:
    return concatenate([t])


class Trajectory(Protocol):
    """θ(t), shaped like the parameters of a backbone (`template` holds those shapes)."""

    def init(self, key: Array, backbone: Backbone, inputs: int, outputs: int) -> Params: ...

    def __call__(self, psi: Params, t: Array | Series, template: Theta) -> Theta: ...

    def advanced(self, psi: Params, start: Array, end: Array) -> Params:
        """ψ whose path from `start` on continues that of this ψ from `end` on."""
        ...


@runtime_checkable
class HasTemporalCode(Trajectory, Protocol):
    """A trajectory with a temporal code, whose time network may see features of time.

    `init` then also takes the number of these features as `time_inputs`, and all other methods take
    the features as `embed`.
    """

    def phi(self, psi: Params, t: Array | Series, embed: TimeEmbedding = ...) -> Array | Series:
        """The temporal code Φ(t), one entry per parameter group."""
        ...


@runtime_checkable
class Affine(Trajectory, Protocol):
    """A trajectory φ(t)·slope + offset: its ψ has `slope` and `offset`, shaped like θ."""

    @property
    def is_affine(self) -> bool: ...


@dataclass(frozen=True)
class Moving:
    """One parameter group on an affine path, φ(t)·slope + offset."""

    slope: Array
    offset: Array
    phi: Array | Series

    def __matmul__(self, z: Array | Series) -> Array | Series:
        return (self.slope @ z) * self.phi + self.offset @ z

    def __radd__(self, z: Array | Series) -> Array | Series:
        return z + (self.phi * self.slope + self.offset)

    def __mul__(self, z: Array | Series) -> Array | Series:
        """A gate, or one scale for every entry of z."""
        return (self.phi * self.slope + self.offset) * z

    # Arrays on the left of `+` must not try to broadcast over this object.
    __array_priority__ = 1000


@dataclass(frozen=True)
class Formed:
    """One parameter group whose every entry follows its own path: the formed array θ_g(t)."""

    values: Array | Series

    def __matmul__(self, z: Array | Series) -> Array | Series:
        if isinstance(self.values, Series):
            return self.values.bilinear(z, jnp.matmul)
        return self.values @ z

    def __radd__(self, z: Array | Series) -> Array | Series:
        return z + self.values

    def __mul__(self, z: Array | Series) -> Array | Series:
        return self.values * z

    __array_priority__ = 1000


@dataclass(frozen=True)
class Layerwise:
    """θ_g(t) = a_g Φ_g(t) + b_g with Φ(t) = (1-α) t + α ⊙ N(t), one Φ_g per weight or bias group.

    [TINN, Eq. 5]. Starts as published: α = 1, slopes zero for weights and Glorot for biases,
    offsets Glorot for weights and zero for biases, so that time first enters through the biases.
    """

    network: MLP = MLP((10, 10))
    is_affine: ClassVar[bool] = True

    def init(
        self, key: Array, backbone: Backbone, inputs: int, outputs: int, time_inputs: int = 1
    ) -> dict[str, Params]:
        time_key, offset_key, slope_key = jax.random.split(key, 3)
        offset = backbone.init(offset_key, inputs, outputs)
        groups = len(jax.tree.leaves(offset))
        return {
            "network": self.network.init(time_key, time_inputs, groups),
            "alpha": jnp.ones(groups),
            "slope": _bias_slopes(slope_key, offset),
            "offset": offset,
        }

    def phi(
        self, psi: dict[str, Params], t: Array | Series, embed: TimeEmbedding = _time_itself
    ) -> Array | Series:
        """The temporal code Φ(t), one entry per parameter group in the order W1, b1, W2, ..."""
        alpha = psi["alpha"]
        return (1 - alpha) * t + alpha * self.network(psi["network"], embed(t))

    def __call__(
        self,
        psi: dict[str, Params],
        t: Array | Series,
        template: Theta,
        embed: TimeEmbedding = _time_itself,
    ) -> Theta:
        phi = self.phi(psi, t, embed)
        offsets, tree = jax.tree.flatten(psi["offset"])
        slopes = jax.tree.leaves(psi["slope"])
        groups = [
            Moving(a, b, phi[g]) for g, (a, b) in enumerate(zip(slopes, offsets, strict=True))
        ]
        return jax.tree.unflatten(tree, groups)

    def advanced(
        self, psi: dict[str, Params], start: Array, end: Array, embed: TimeEmbedding = _time_itself
    ) -> dict[str, Params]:
        moved = self.phi(psi, end, embed) - self.phi(psi, start, embed)
        slopes, tree = jax.tree.flatten(psi["slope"])
        offsets = jax.tree.leaves(psi["offset"])
        shifted = [b + a * moved[g] for g, (a, b) in enumerate(zip(slopes, offsets, strict=True))]
        return psi | {"offset": jax.tree.unflatten(tree, shifted)}

    def widened(self, factor: float) -> "Layerwise":
        return replace(self, network=self.network.widened(factor))


@dataclass(frozen=True)
class Linear:
    """θ(t) = w t + b entrywise; starts with w as `Layerwise` starts its slopes."""

    is_affine: ClassVar[bool] = True

    def init(self, key: Array, backbone: Backbone, inputs: int, outputs: int) -> dict[str, Params]:
        offset_key, slope_key = jax.random.split(key)
        offset = backbone.init(offset_key, inputs, outputs)
        return {"slope": _bias_slopes(slope_key, offset), "offset": offset}

    def __call__(self, psi: dict[str, Params], t: Array | Series, template: Theta) -> Theta:
        return jax.tree.map(lambda a, b: Moving(a, b, t), psi["slope"], psi["offset"])

    def advanced(self, psi: dict[str, Params], start: Array, end: Array) -> dict[str, Params]:
        moved = end - start
        return psi | {
            "offset": jax.tree.map(lambda a, b: b + a * moved, psi["slope"], psi["offset"])
        }

    def widened(self, factor: float) -> "Linear":
        """The same: it has no neurons of its own."""
        return self


@dataclass(frozen=True)
class OneNeuron:
    """θ(t) = w2 σ(w1 t + b) entrywise; starts with b = 1 and small w1, nearly constant in time."""

    activation: str = "tanh"

    def init(self, key: Array, backbone: Backbone, inputs: int, outputs: int) -> dict[str, Params]:
        outer_key, inner_key, bias_key = jax.random.split(key, 3)
        theta = backbone.init(outer_key, inputs, outputs)
        biases = _bias_slopes(bias_key, theta)
        inner_leaves = [
            0.1 * jax.random.normal(jax.random.fold_in(inner_key, g), leaf.shape)
            for g, leaf in enumerate(jax.tree.leaves(theta))
        ]
        return {
            "outer": jax.tree.map(jnp.add, theta, biases),
            "inner": jax.tree.unflatten(jax.tree.structure(theta), inner_leaves),
            "shift": jax.tree.map(jnp.ones_like, theta),
        }

    def __call__(self, psi: dict[str, Params], t: Array | Series, template: Theta) -> Theta:
        sigma = activation(self.activation)
        return jax.tree.map(
            lambda outer, inner, shift: Formed(outer * sigma(inner * t + shift)),
            psi["outer"],
            psi["inner"],
            psi["shift"],
        )

    def advanced(self, psi: dict[str, Params], start: Array, end: Array) -> dict[str, Params]:
        """Neurons continue from their last values: w1 t + b is shifted in time."""
        moved = end - start
        return psi | {"shift": jax.tree.map(lambda w, b: b + w * moved, psi["inner"], psi["shift"])}


@dataclass(frozen=True)
class Hypernetwork:
    """θ(t) = the flat output of a time network as wide as the whole backbone [TINN, Appendix]."""

    network: MLP = MLP((10, 10))

    def init(self, key: Array, backbone: Backbone, inputs: int, outputs: int) -> dict[str, Params]:
        """Glorot-uniform, with the last layer scaled so that θ has about Glorot's variance."""
        template = parameter_shapes(backbone, inputs, outputs)
        theta = self.network.init(key, 1, sum(_sizes(template)))
        scale = jnp.concatenate(
            [
                jnp.full(leaf.size, sum(leaf.shape) ** -0.5 if leaf.ndim == 2 else 0.1)
                for leaf in jax.tree.leaves(template)
            ]
        )
        weight = jax.random.normal(jax.random.fold_in(key, 1), theta[-1][0].shape)
        last = (weight * scale[:, None], *theta[-1][1:])
        return {"network": (*theta[:-1], last)}

    def __call__(self, psi: dict[str, Params], t: Array | Series, template: Theta) -> Theta:
        flat = self.network(psi["network"], concatenate([t]))
        leaves, tree = jax.tree.flatten(template)
        ends = list(accumulate(_sizes(template)))
        groups = [
            Formed(_reshape(flat[end - leaf.size : end], leaf.shape))
            for leaf, end in zip(leaves, ends, strict=True)
        ]
        return jax.tree.unflatten(tree, groups)

    def advanced(self, psi: dict[str, Params], start: Array, end: Array) -> dict[str, Params]:
        """The first layer's neurons continue from their last values."""
        (weight, bias), *later = psi["network"]
        return psi | {"network": ((weight, bias + weight[:, 0] * (end - start)), *later)}


def parameter_shapes(backbone: Backbone, inputs: int, outputs: int) -> Theta:
    """The tree of shapes of a backbone's parameters."""
    return jax.eval_shape(lambda: backbone.init(jax.random.key(0), inputs, outputs))


def _sizes(template: Theta) -> list[int]:
    return [leaf.size for leaf in jax.tree.leaves(template)]


def _reshape(values: Array | Series, shape: tuple[int, ...]) -> Array | Series:
    if isinstance(values, Series):
        return values.map_linear(lambda c: c.reshape(shape))
    return values.reshape(shape)


def _bias_slopes(key: Array, theta: Theta) -> Theta:
    """Slopes as published: zero for weight matrices, Glorot-uniform (fan 1 to width) for biases.

    Gates start with slope zero; a vector of scales, which looks like a bias, starts like one.
    """
    leaves, tree = jax.tree.flatten(theta)
    slopes = [
        glorot_uniform(jax.random.fold_in(key, g), (1, leaf.size))[0]
        if leaf.ndim == 1
        else jnp.zeros_like(leaf)
        for g, leaf in enumerate(leaves)
    ]
    return jax.tree.unflatten(tree, slopes)
