"""New training points in the middle of a run, where the residual asks for them."""

import jax
import jax.numpy as jnp
from jax import Array

from tinns.least_squares.rows import Block, Data, count_of, residuals
from tinns.recipe import Recipe, Redraw
from tinns.residuals import Psi, System
from tinns.sampling import Points


def drawn(system: System, recipe: Recipe, key: Array, psi: Psi) -> tuple[Points, ...]:
    """Points for every block; with candidates, denser where the residual is large."""
    redraw = recipe.redraw or Redraw()
    if redraw.candidates == 1:
        return system.draw(key, recipe.points, recipe.sampler)
    wanted = jax.eval_shape(lambda k: system.draw(k, recipe.points, recipe.sampler), key)
    pools = system.draw(key, recipe.points.times(redraw.candidates), recipe.sampler)
    chosen = []
    for number, (block, pool, kept) in enumerate(zip(system.blocks, pools, wanted, strict=True)):
        count = count_of(kept)
        if count == count_of(pool):  # given points have no candidates
            chosen.append(pool)
            continue
        density = _density(block, pool, psi, redraw.uniform, recipe.chunk)
        # Gumbel noise on log-densities: the largest `count` are a sample without replacement.
        noise = jax.random.gumbel(jax.random.fold_in(key, number), density.shape)
        order = jax.lax.top_k(jnp.log(density) + noise, count)[1]
        chosen.append({name: column[order] for name, column in pool.items()})
    return tuple(chosen)


def _density(block: Block, pool: Data, psi: Psi, uniform: float, chunk: int) -> Array:
    """uniform/N + (1 - uniform)·|r|/Σ|r| over the N candidates."""
    (rows,) = residuals([block], psi, [pool], chunk)
    size = jnp.linalg.norm(rows, axis=1)
    size = jnp.where(jnp.isfinite(size), size, 0.0)
    share = size / jnp.maximum(jnp.sum(size), jnp.finfo(size.dtype).tiny)
    return uniform / size.size + (1 - uniform) * share
