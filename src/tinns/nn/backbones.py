"""Backbones: networks of space only, written once for numbers and for series.

A backbone is a description without parameters. `init` draws a parameter tree θ; `__call__`
evaluates any tree of the same shape, whose leaves may be arrays or the moving weights of a
trajectory: a backbone uses a weight only as `weight @ z`, a bias as `z + bias`, and a gate or a
scale as `gate * z`.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import PyTree

from tinns._runtime.errors import UserError
from tinns.nn.activations import activation
from tinns.nn.series import Series

Params = PyTree[Array]  # a tree of parameters: the ψ of a field or a trajectory, or a part of it
Theta = tuple[PyTree, ...]  # the parameters of a backbone: layers, or groups of layers


class Weight(Protocol):
    """A weight, bias or gate: an array, or what a trajectory puts in its place."""

    def __matmul__(self, z: Array | Series, /) -> Array | Series: ...

    def __radd__(self, z: Array | Series, /) -> Array | Series: ...

    def __mul__(self, z: Array | Series, /) -> Array | Series: ...


Layer = tuple[Weight, ...]  # a weight and, in most layers, a bias


class Backbone(Protocol):
    """A network u_θ: R^inputs -> R^outputs with its parameters passed in."""

    def init(self, key: Array, inputs: int, outputs: int) -> Theta: ...

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series: ...


@runtime_checkable
class LinearEnd(Protocol):
    """A backbone whose last layer is W h, so that its output is linear in W."""

    def last_weight(self, theta: Theta) -> Array: ...

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        """θ with this W in its last layer, whose bias becomes zero."""
        ...


@dataclass(frozen=True)
class MLP:
    """W_L σ(... σ(W_1 x + b_1) ...) (+ b_L), with one hidden layer per entry of `hidden`."""

    hidden: tuple[int, ...] = (20, 20)
    activation: str = "tanh"
    output_bias: bool = False
    input_gain: float = 1.0  # a factor on the first layer's initial weights
    glorot: Literal["uniform", "normal"] = "uniform"  # how weights are drawn

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", checked_widths("MLP", self.hidden))
        activation(self.activation)
        if self.glorot not in GLOROT:
            raise UserError(f"MLP: glorot={self.glorot!r}; expected uniform or normal")

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        """Glorot weights, zero biases."""
        draw = GLOROT[self.glorot]
        widths = (inputs, *self.hidden, outputs)
        layers = []
        for index, (fan_in, fan_out) in enumerate(itertools.pairwise(widths)):
            weight = draw(jax.random.fold_in(key, index), (fan_out, fan_in))
            weight = weight * self.input_gain if index == 0 else weight
            has_bias = index < len(self.hidden) or self.output_bias
            layers.append((weight, jnp.zeros(fan_out)) if has_bias else (weight,))
        return tuple(layers)

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        sigma = activation(self.activation)
        for layer in theta[:-1]:
            z = sigma(dense(layer, z))
        return dense(theta[-1], z)

    def last_weight(self, theta: Theta) -> Array:
        return theta[-1][0]

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        return with_last_layer(theta, weight)

    def widened(self, factor: float) -> "MLP":
        """With `factor` times as many neurons in each hidden layer, at least one more."""
        hidden = tuple(max(width + 1, round(factor * width)) for width in self.hidden)
        return replace(self, hidden=hidden)


def dense(layer: Layer, z: Array | Series) -> Array | Series:
    """W z + b, or W z for a layer without bias."""
    weight, *bias = layer
    z = weight @ z
    return z + bias[0] if bias else z


def draw_dense(key: Array, fan_in: int, fan_out: int, bias: bool = True) -> tuple[Array, ...]:
    """A layer with a Glorot-normal weight and, with `bias`, a bias of zeros."""
    weight = glorot_normal(key, (fan_out, fan_in))
    return (weight, jnp.zeros(fan_out)) if bias else (weight,)


def linear_end(backbone: Backbone) -> LinearEnd:
    """The backbone, if its output is linear in its last weight."""
    if not isinstance(backbone, LinearEnd):
        raise UserError(
            f"{type(backbone).__name__} tells no last weight to fit; give it last_weight and "
            "with_last_weight, or use MLP(...)"
        )
    return backbone


def with_last_layer(theta: Theta, weight: Array) -> Theta:
    """θ with this weight in its last layer, whose bias, if there is one, becomes zero."""
    *earlier, (_, *bias) = theta
    return (*earlier, (weight, *map(jnp.zeros_like, bias)))


def checked_widths(owner: str, hidden: int | tuple[int, ...] | list[int]) -> tuple[int, ...]:
    """The widths of hidden layers as a tuple; a single number is the width of one layer."""
    widths = hidden if isinstance(hidden, tuple | list) else (hidden,)
    if not widths or any(not isinstance(width, int) or width < 1 for width in widths):
        raise UserError(f"{owner}: hidden={hidden!r}; expected widths such as (20, 20)")
    return tuple(widths)


def check_counts(owner: str, **counts: object) -> None:
    """Refuse anything but whole numbers >= 1."""
    for name, count in counts.items():
        if not isinstance(count, int) or count < 1:
            raise UserError(f"{owner}: {name}={count!r}; expected a whole number >= 1")


def glorot_uniform(key: Array, shape: tuple[int, int]) -> Array:
    """Uniform in ±sqrt(6 / (fan_in + fan_out)), for a (fan_out, fan_in) matrix."""
    limit = jnp.sqrt(6.0 / sum(shape))
    return jax.random.uniform(key, shape, minval=-limit, maxval=limit)


def glorot_normal(key: Array, shape: tuple[int, int]) -> Array:
    """Normal with variance 2 / (fan_in + fan_out), cut off at two standard deviations."""
    return jax.nn.initializers.glorot_normal()(key, shape, jnp.result_type(float))


GLOROT = {"uniform": glorot_uniform, "normal": glorot_normal}
