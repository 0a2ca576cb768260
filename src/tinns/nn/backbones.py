"""Backbones: networks of space only, written once for numbers and for series.

A backbone is a description without parameters. `init` draws a parameter tree θ; `__call__`
evaluates any tree of the same shape, whose leaves may be arrays or the moving weights of a
trajectory: all a backbone asks of a weight is `weight @ z`, of a bias `z + bias` and of a gate or
a scale `gate * z`.
"""

import itertools
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.nn.activations import activation
from tinns.nn.series import Series

Theta = tuple[Any, ...]  # layers, or groups of layers


class Backbone(Protocol):
    """A network u_θ: R^inputs -> R^outputs with its parameters passed in."""

    def init(self, key: Array, inputs: int, outputs: int) -> Theta: ...

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series: ...


@runtime_checkable
class LinearEnd(Protocol):
    """A backbone that ends with a layer W h, in whose W its output is linear."""

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
    input_gain: float = 1.0  # the first layer's weights start so many times larger
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


def dense(layer: tuple[Any, ...], z: Array | Series) -> Array | Series:
    """W z + b, or W z for a layer without bias."""
    weight, *bias = layer
    z = weight @ z
    return z + bias[0] if bias else z


def draw_dense(key: Array, fan_in: int, fan_out: int, bias: bool = True) -> tuple[Array, ...]:
    """A layer with a Glorot-normal weight and, with `bias`, a bias of zeros."""
    weight = glorot_normal(key, (fan_out, fan_in))
    return (weight, jnp.zeros(fan_out)) if bias else (weight,)


def linear_end(backbone: Backbone) -> LinearEnd:
    """The backbone, if it can tell its last weight."""
    if not isinstance(backbone, LinearEnd):
        raise UserError(
            f"{type(backbone).__name__} tells no last weight to fit; give it last_weight and "
            "with_last_weight, or use MLP(...)"
        )
    return backbone


def with_last_layer(theta: Theta, weight: Array) -> Theta:
    """θ whose last layer is W h, and a bias of zeros where it has one."""
    *earlier, (_, *bias) = theta
    return (*earlier, (weight, *map(jnp.zeros_like, bias)))


def checked_widths(owner: str, hidden: Any) -> tuple[int, ...]:
    """The widths of hidden layers as a tuple, given as one or as a single number."""
    widths = hidden if isinstance(hidden, tuple | list) else (hidden,)
    if not widths or any(not isinstance(width, int) or width < 1 for width in widths):
        raise UserError(f"{owner}: hidden={hidden!r}; expected widths such as (20, 20)")
    return tuple(widths)


def check_counts(owner: str, **counts: Any) -> None:
    """Refuse what is no whole number from 1 on."""
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
