"""‖r‖² as the function of ψ that a line search asks for."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import Array

from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block, Data, Psi, loss_and_gradient, losses


def differentiable_loss(
    blocks: Sequence[Block], data: Sequence[Data], layout: Layout
) -> Callable[[Psi], Array]:
    """‖r‖² with its gradient from `loss_and_gradient`: in chunks, and over all devices."""

    @jax.custom_vjp
    def loss(psi: Psi) -> Array:
        return jnp.sum(losses(blocks, psi, data, layout))

    def forward(psi: Psi) -> tuple[Array, Psi]:
        value, gradient, _ = loss_and_gradient(blocks, psi, data, layout)
        return value, gradient

    def backward(gradient: Psi, cotangent: Array) -> tuple[Psi]:
        return (jax.tree.map(lambda g: cotangent * g, gradient),)

    loss.defvjp(forward, backward)
    return loss
