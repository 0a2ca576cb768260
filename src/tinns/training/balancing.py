"""Weights between conditions that move during a run, so that none is left behind."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Float

from tinns.least_squares.layout import Layout, count_of
from tinns.least_squares.rows import Block, Data, Grid, Psi, linearise, loss_and_gradient
from tinns.strategies import Balance, GradientNorms, TangentKernel

EXTREME = 1e3  # a condition this far from the mean pulls no harder
SMALLEST_SHARE = 1e-5  # of the mean, added to every norm or kernel that is divided by
KERNEL_BATCH = 64  # data whose gradients are held at once


def balanced(
    balance: Balance, factors: Float[Array, " kinds"], split: Float[Array, " kinds"]
) -> Float[Array, " kinds"]:
    """The factors on the weights after a step that saw the losses `split`."""
    mean = jnp.mean(split)
    ratio = jnp.clip(mean / jnp.maximum(split, mean / EXTREME), 1 / EXTREME, EXTREME)
    factors = factors * jnp.where(jnp.isfinite(ratio), ratio, 1.0) ** balance.rate
    factors = factors / jnp.exp(jnp.mean(jnp.log(factors)))
    return jnp.clip(factors, 1 / balance.limit, balance.limit)


def equalised(
    rule: GradientNorms | TangentKernel,
    factors: Float[Array, " kinds"],
    blocks: Sequence[Block],
    psi: Psi,
    data: Sequence[Data],
    layout: Layout,
) -> Float[Array, " kinds"]:
    """The factors on the rows after one update of the weights w = factors²."""
    measure = gradient_norms if isinstance(rule, GradientNorms) else kernel_diagonals
    sizes = measure(blocks, psi, data, layout)
    mean = jnp.mean(sizes)
    wanted = mean / (sizes + SMALLEST_SHARE * mean)
    weights = rule.momentum * factors**2 + (1 - rule.momentum) * wanted
    return jnp.sqrt(jnp.where(jnp.isfinite(weights), weights, factors**2))


def gradient_norms(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], layout: Layout
) -> Float[Array, " kinds"]:
    """‖∇ of the mean square‖ for every kind of row."""
    kinds = sum(len(block.row_names) for block in blocks)

    def norm(only: Array) -> Array:
        _, gradient, _ = loss_and_gradient(reweighted(blocks, only), psi, data, layout)
        return optax.tree.norm(gradient)

    return jax.lax.map(norm, jnp.eye(kinds))


def kernel_diagonals(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], layout: Layout
) -> Float[Array, " kinds"]:
    """The mean of ‖∂r/∂ψ‖² over the data, weighed as the losses are, for every kind of row."""
    means = []
    for block, d in zip(blocks, data, strict=True):
        points = block.points(d)

        def squares(point: Data, block: Block = block) -> Array:
            return jnp.sum(linearise(block.rows, psi, point)[1] ** 2, axis=1)

        diagonal = jax.lax.map(squares, points, batch_size=min(KERNEL_BATCH, count_of(points)))
        if block.emphasis is not None:
            diagonal = diagonal * block.emphasis(psi, d, block.all_rows(psi, d))
        means.append(jnp.sum(diagonal, axis=0) / (layout.shards * block.count(d)))
    return layout.total(jnp.concatenate(means))


def reweighted(blocks: Sequence[Block], factors: Float[Array, " kinds"]) -> list[Block]:
    """The same blocks with every kind of row multiplied by its factor."""
    changed, first = [], 0
    for block in blocks:
        mine = factors[first : first + len(block.row_names)]
        first += len(block.row_names)
        changed.append(_times(block, mine))
    return changed


def _times(block: Block, factors: Float[Array, " kinds"]) -> Block:
    grid, emphasis = block.grid, block.emphasis
    if emphasis is not None:  # it must see the rows as they are
        return replace(block, emphasis=lambda psi, data, r: factors**2 * emphasis(psi, data, r))
    return replace(
        block,
        rows=lambda psi, datum: factors * block.rows(psi, datum),
        grid=grid and Grid(lambda psi, axes: factors * grid.rows(psi, axes), grid.points),
    )
