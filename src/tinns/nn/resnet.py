"""Residual networks: blocks that add to their input, which passes through a gate."""

import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from tinns.nn.activations import activation
from tinns.nn.backbones import (
    Theta,
    check_counts,
    checked_widths,
    dense,
    draw_dense,
    with_last_layer,
)
from tinns.nn.series import Series


@dataclass(frozen=True)
class ResNet:
    """z ← σ(F(z) + α z) in every block, F = W_n σ(... σ(W_1 z + b_1) ...) + b_n; then u = W z.

    F has one hidden layer for every entry of `hidden`: two of them make the bottleneck of three
    layers. The first layer z = σ(W_0 x + b_0) has `width` units; with `width=None` there is none,
    and the blocks act on the input. With `activated=False` a block returns F(z) + α z, so that
    `ResNet((h,), width=None, activated=False)` holds U(w x + b) + α x [TINN, Appendix].
    Gates α are numbers, one for each block, and start at 1.
    """

    hidden: tuple[int, ...] = (20, 20)
    blocks: int = 1
    width: int | None = 20
    activation: str = "tanh"
    activated: bool = True
    output_bias: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", checked_widths("ResNet", self.hidden))
        check_counts("ResNet", blocks=self.blocks)
        if self.width is not None:
            check_counts("ResNet", width=self.width)
        activation(self.activation)

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        """Glorot-normal weights, zero biases; (first layer, blocks of layers and α, output)."""
        first_key, last_key, *block_keys = jax.random.split(key, self.blocks + 2)
        width = self.width or inputs
        first = draw_dense(first_key, inputs, width) if self.width else ()
        blocks = tuple(self._block(each, width) for each in block_keys)
        return (first, blocks, draw_dense(last_key, width, outputs, self.output_bias))

    def _block(self, key: Array, width: int) -> tuple[tuple[tuple[Array, ...], ...], Array]:
        fans = list(itertools.pairwise((width, *self.hidden, width)))
        keys = jax.random.split(key, len(fans))
        layers = tuple(draw_dense(each, *fan) for each, fan in zip(keys, fans, strict=True))
        return (layers, jnp.ones(()))

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        sigma = activation(self.activation)
        first, blocks, last = theta
        if first:
            z = sigma(dense(first, z))
        for (*inner, outer), gate in blocks:
            added = z
            for layer in inner:
                added = sigma(dense(layer, added))
            z = dense(outer, added) + gate * z
            z = sigma(z) if self.activated else z
        return dense(last, z)

    def last_weight(self, theta: Theta) -> Array:
        return theta[-1][0]

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        return with_last_layer(theta, weight)
