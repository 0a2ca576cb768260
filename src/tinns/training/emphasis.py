"""Weights between the points of the equation: early times first, or easy points first."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.domain import TIME
from tinns.least_squares.rows import Block, Data, Psi
from tinns.sampling import Interior, Region
from tinns.strategies import Causal, Difficulty, Emphasis


def emphasised(
    blocks: Sequence[Block],
    regions: Sequence[Region],
    emphasis: Emphasis,
    spent: Array | float,
) -> list[Block]:
    """The same blocks, with the squares of the equation's rows weighed."""
    changed = []
    for block, region in zip(blocks, regions, strict=True):
        if isinstance(region, Interior):
            if isinstance(emphasis, Causal):
                rule = partial(causal_weights, emphasis, block)
            else:
                rule = partial(difficulty_weights, emphasis, spent, block)
            block = replace(block, emphasis=rule)
        changed.append(block)
    return changed


def causal_weights(
    causal: Causal, block: Block, psi: Psi, data: Data, rows: Float[Array, "N rows"]
) -> Float[Array, "N rows"]:
    """exp(-ε · Σ of the mean squares of all earlier chunks of time), constant in ψ."""
    times = block.points(data)[TIME]
    count = times.shape[0]
    order = jnp.argsort(times)
    chunk = jnp.arange(count) * causal.chunks // count  # of the points in order of time
    squares = jax.lax.stop_gradient(rows[order]) ** 2
    sums = jax.ops.segment_sum(squares, chunk, causal.chunks, indices_are_sorted=True)
    sizes = jax.ops.segment_sum(jnp.ones(count), chunk, causal.chunks, indices_are_sorted=True)
    means = sums / jnp.maximum(sizes, 1)[:, None]
    before = jnp.cumsum(means, axis=0) - means
    weights = jnp.exp(-causal.tolerance * before)
    return jnp.zeros_like(rows).at[order].set(weights[chunk])


def difficulty_weights(
    difficulty: Difficulty,
    spent: Array | float,
    block: Block,
    psi: Psi,
    axes: Data,
    rows: Float[Array, "N rows"],
) -> Float[Array, "N rows"]:
    """V = 1 - s - β(1 - 2s)·D, with D the scaled length of ∂(mean r²)/∂(points of the axes)."""

    def loss(points: Data) -> Array:
        return jnp.mean(jnp.sum(block.all_rows(psi, points) ** 2, axis=1))

    slopes = block.points(jax.grad(loss)(axes))  # spread over the grid as the points are
    square = sum((slope**2 for slope in slopes.values()), start=jnp.zeros(()))
    lengths = jnp.sqrt(square + jnp.finfo(rows.dtype).tiny).reshape(-1, 1)
    low, high = jnp.min(lengths), jnp.max(lengths)
    scaled = (lengths - low) / jnp.maximum(high - low, jnp.finfo(rows.dtype).tiny)
    gamma = difficulty.strength * (1 - 2 * spent)
    return jnp.broadcast_to(1 - spent - gamma * scaled, rows.shape)
