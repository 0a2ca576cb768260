"""The modified MLP: hidden layers that choose, unit by unit, between two encoders of the input."""

from dataclasses import dataclass
from typing import Literal

import jax
from jax import Array

from tinns._runtime.errors import UserError
from tinns.nn.activations import activation
from tinns.nn.backbones import Theta, checked_widths, dense, draw_dense, with_last_layer
from tinns.nn.series import Series


@dataclass(frozen=True)
class ModifiedMLP:
    """H ← Z⊙U + (1-Z)⊙V with Z = σ(W H + b), U = σ(W_U x + b_U), V = σ(W_V x + b_V).

    One Z for every entry of `hidden`, all of one width, and a linear layer at the end. With
    `first="input"` the first Z acts on the input, H = x [Wang, Teng, Perdikaris 2021]. With
    `first="layer"` the first entry of `hidden` is a plain layer H = σ(W x + b), and the mixture is
    (1-Z)⊙U + Z⊙V, as in separable networks [SPINN].
    """

    hidden: tuple[int, ...] = (20, 20)
    activation: str = "tanh"
    output_bias: bool = False
    first: Literal["input", "layer"] = "input"

    def __post_init__(self) -> None:
        widths = checked_widths("ModifiedMLP", self.hidden)
        if len(set(widths)) > 1:
            raise UserError(
                f"ModifiedMLP: hidden={self.hidden!r}; expected equal widths such as (20, 20), for "
                "every layer is mixed with the same two encoders"
            )
        if self.first not in ("input", "layer"):
            raise UserError(f"ModifiedMLP: first={self.first!r}; expected input or layer")
        if self.first == "layer" and len(widths) < 2:
            raise UserError(
                f"ModifiedMLP: hidden={self.hidden!r} with first='layer'; expected two widths or "
                "more, for the first layer is not gated"
            )
        object.__setattr__(self, "hidden", widths)
        activation(self.activation)

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        """Glorot-normal weights, zero biases: U, V, the hidden layers, the output."""
        width = self.hidden[0]
        fans = [(inputs, width)] * 3 + [(width, width)] * (len(self.hidden) - 1)
        keys = jax.random.split(key, len(fans) + 1)
        layers = [draw_dense(each, *fan) for each, fan in zip(keys[:-1], fans, strict=True)]
        return (*layers, draw_dense(keys[-1], width, outputs, self.output_bias))

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        sigma = activation(self.activation)
        to_u, to_v, *layers, last = theta
        u, v = sigma(dense(to_u, z)), sigma(dense(to_v, z))
        if self.first == "layer":
            z = sigma(dense(layers.pop(0), z))
            u, v = v, u
        for layer in layers:
            z = v + sigma(dense(layer, z)) * (u - v)  # Z⊙U + (1-Z)⊙V with one product
        return dense(last, z)

    def last_weight(self, theta: Theta) -> Array:
        return theta[-1][0]

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        return with_last_layer(theta, weight)
