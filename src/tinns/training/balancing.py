"""Weights that follow the losses, so that no condition is left behind."""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.least_squares.rows import Block
from tinns.recipe import Balance

EXTREME = 1e3  # a condition this far from the mean pulls no harder


def balanced(
    balance: Balance, factors: Float[Array, " kinds"], split: Float[Array, " kinds"]
) -> Float[Array, " kinds"]:
    """The factors on the weights after a step that saw the losses `split`."""
    mean = jnp.mean(split)
    ratio = jnp.clip(mean / jnp.maximum(split, mean / EXTREME), 1 / EXTREME, EXTREME)
    factors = factors * jnp.where(jnp.isfinite(ratio), ratio, 1.0) ** balance.rate
    factors = factors / jnp.exp(jnp.mean(jnp.log(factors)))
    return jnp.clip(factors, 1 / balance.limit, balance.limit)


def reweighted(blocks: Sequence[Block], factors: Float[Array, " kinds"]) -> list[Block]:
    """The same blocks with every kind of row multiplied by its factor."""
    changed, first = [], 0
    for block in blocks:
        mine = factors[first : first + len(block.row_names)]
        first += len(block.row_names)
        changed.append(
            Block(
                block.name,
                block.row_names,
                lambda psi, datum, rows=block.rows, mine=mine: mine * rows(psi, datum),
            )
        )
    return changed
