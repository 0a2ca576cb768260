"""Backbones: networks of space only, written once for numbers and for series.

A backbone is a description without parameters. `init` draws a parameter tree θ; `__call__`
evaluates any tree of the same shape, whose leaves may be arrays or the moving weights of a
trajectory: all a backbone asks of a weight is `weight @ z` and of a bias `z + bias`.
"""

import itertools
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax import Array

from tinns.errors import UserError
from tinns.fields.activations import activation
from tinns.fields.series import Series

Theta = tuple[tuple[Any, ...], ...]


class Backbone(Protocol):
    """A network u_θ: R^inputs -> R^outputs with its parameters passed in."""

    def init(self, key: Array, inputs: int, outputs: int) -> Theta: ...

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series: ...


@dataclass(frozen=True)
class MLP:
    """W_L σ(... σ(W_1 x + b_1) ...) (+ b_L), with one hidden layer per entry of `hidden`."""

    hidden: tuple[int, ...] = (20, 20)
    activation: str = "tanh"
    output_bias: bool = False
    input_gain: float = 1.0  # the first layer's weights start so many times larger

    def __post_init__(self) -> None:
        widths = self.hidden if isinstance(self.hidden, tuple | list) else (self.hidden,)
        if not widths or any(not isinstance(width, int) or width < 1 for width in widths):
            raise UserError(f"MLP: hidden={self.hidden!r}; expected widths such as (20, 20)")
        object.__setattr__(self, "hidden", tuple(widths))
        activation(self.activation)

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        """Glorot-uniform weights, zero biases."""
        widths = (inputs, *self.hidden, outputs)
        layers = []
        for index, (fan_in, fan_out) in enumerate(itertools.pairwise(widths)):
            weight = glorot_uniform(jax.random.fold_in(key, index), (fan_out, fan_in))
            weight = weight * self.input_gain if index == 0 else weight
            has_bias = index < len(self.hidden) or self.output_bias
            layers.append((weight, jnp.zeros(fan_out)) if has_bias else (weight,))
        return tuple(layers)

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        sigma = activation(self.activation)
        for layer in theta[:-1]:
            z = sigma(dense(layer, z))
        return dense(theta[-1], z)


def dense(layer: tuple[Any, ...], z: Array | Series) -> Array | Series:
    """W z + b, or W z for a layer without bias."""
    weight, *bias = layer
    z = weight @ z
    return z + bias[0] if bias else z


def glorot_uniform(key: Array, shape: tuple[int, int]) -> Array:
    """Uniform in ±sqrt(6 / (fan_in + fan_out)), for a (fan_out, fan_in) matrix."""
    limit = jnp.sqrt(6.0 / sum(shape))
    return jax.random.uniform(key, shape, minval=-limit, maxval=limit)
