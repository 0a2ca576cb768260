"""PirateNet: gated residual blocks that start as the identity [Wang, Li, Chen, Perdikaris 2024]."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from tinns.nn.activations import activation
from tinns.nn.backbones import Layer, Theta, check_counts, dense, draw_dense, with_last_layer
from tinns.nn.series import Series

# How random weight factorisation starts: scales e^s with s ~ N(mean, deviation²).
LOG_SCALE_MEAN, LOG_SCALE_DEVIATION = 1.0, 0.1


@dataclass(frozen=True)
class PirateNet:
    """z ← α q + (1-α) z in every block, on an input z = e that is already embedded; then u = W z.

    With U = σ(W_U e + b_U) and V = σ(W_V e + b_V) of the given width, f = σ(W_1 z + b_1),
    g = σ(W_2 (f⊙U + (1-f)⊙V) + b_2), q = σ(W_3 (g⊙U + (1-g)⊙V) + b_3), as wide as e. Every α is a
    number that starts at 0, where u = W e is linear in the embedding. With `factorised` every
    weight is a product: a scale for each output unit times a matrix, both trained.
    """

    width: int = 256
    blocks: int = 3
    activation: str = "tanh"
    factorised: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        check_counts("PirateNet", width=self.width, blocks=self.blocks)
        activation(self.activation)

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        """Glorot-normal weights, zero biases: (U, V, blocks of three layers and α, output)."""
        u_key, v_key, last_key, *block_keys = jax.random.split(key, self.blocks + 3)
        blocks = tuple(self._block(each, inputs) for each in block_keys)
        u, v = (self._draw(each, inputs, self.width) for each in (u_key, v_key))
        return (u, v, blocks, self._draw(last_key, inputs, outputs, self.output_bias))

    def _block(self, key: Array, inputs: int) -> Theta:
        fans = ((inputs, self.width), (self.width, self.width), (self.width, inputs))
        keys = jax.random.split(key, 3)
        return (*(self._draw(each, *f) for each, f in zip(keys, fans, strict=True)), jnp.zeros(()))

    def _draw(self, key: Array, fan_in: int, fan_out: int, bias: bool = True) -> tuple[Array, ...]:
        layer = draw_dense(key, fan_in, fan_out, bias)
        return factorised(jax.random.fold_in(key, 1), layer) if self.factorised else layer

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        sigma = activation(self.activation)
        apply = factorised_dense if self.factorised else dense
        to_u, to_v, blocks, last = theta
        u, v = sigma(apply(to_u, z)), sigma(apply(to_v, z))
        difference = u - v
        for first, second, third, gate in blocks:
            mixed = v + sigma(apply(first, z)) * difference  # f⊙U + (1-f)⊙V with one product
            mixed = v + sigma(apply(second, mixed)) * difference
            z = z + gate * (sigma(apply(third, mixed)) - z)
        return apply(last, z)

    def last_weight(self, theta: Theta) -> Array:
        """W, or with `factorised` its matrix V: u is linear in V whatever the scales are."""
        return theta[-1][0]

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        if not self.factorised:
            return with_last_layer(theta, weight)
        *earlier, (_, scales, *bias) = theta
        return (*earlier, (weight, scales, *map(jnp.zeros_like, bias)))


def factorised(key: Array, layer: tuple[Array, ...]) -> tuple[Array, ...]:
    """The same layer with W = g ⊙ V: (V, g) and its bias, g drawn for each output unit."""
    weight, *bias = layer
    normal = jax.random.normal(key, weight.shape[:1])
    scales = jnp.exp(LOG_SCALE_MEAN + LOG_SCALE_DEVIATION * normal)
    return (weight / scales[:, None], scales, *bias)


def factorised_dense(layer: Layer, z: Array | Series) -> Array | Series:
    """g ⊙ (V z) + b, or without bias."""
    weight, scales, *bias = layer
    z = scales * (weight @ z)
    return z + bias[0] if bias else z
