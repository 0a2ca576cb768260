"""New training points in the middle of a run, where the residual asks for them, or more of them."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.least_squares.layout import Layout, count_of
from tinns.least_squares.rows import Block, Data, residuals
from tinns.recipe import Recipe
from tinns.residuals import Psi, System, Window
from tinns.sampling import ROW_SHARE, Counts, Points
from tinns.strategies import Redraw

BUSY = 10_000  # interior points: on a GPU, steps on fewer are hardly faster


@dataclass(frozen=True)
class Ladder:
    """Where a run stands on the ladder of point counts, and since when it has its points."""

    redraw: Redraw
    rung: int = 0
    since: int = 0  # the iteration at which the present points were drawn

    @classmethod
    def first(cls, redraw: Redraw, points: Counts, platform: str) -> "Ladder":
        """The lowest rung on a CPU; elsewhere the lowest that keeps the device busy."""
        if platform == "cpu":
            return cls(redraw)
        enough = [times * points.interior >= BUSY for times in redraw.ladder]
        return cls(redraw, enough.index(True) if any(enough) else len(enough) - 1)

    def after_overfitting(self, iteration: int) -> "Ladder":
        """New points: as many as before, or more if those before did not last."""
        lasted = iteration - self.since
        top = len(self.redraw.ladder) - 1
        climbs = lasted < self.redraw.lasting and self.rung < top
        return Ladder(self.redraw, self.rung + climbs, iteration)

    def counts(self, points: Counts) -> Counts:
        return points.times(self.redraw.ladder[self.rung])


def drawn(
    system: System,
    recipe: Recipe,
    counts: Counts,
    key: Array,
    psi: Psi,
    chunk: int,
    window: Window | None = None,
) -> tuple[Points, ...]:
    """Points for every block; with candidates, denser where the residual is large."""
    redraw = recipe.redraw or Redraw()
    if redraw.candidates == 1:
        return system.draw(key, counts, recipe.sampler, window)
    wanted = jax.eval_shape(lambda k: system.draw(k, counts, recipe.sampler, window), key)
    pools = system.draw(key, counts.times(redraw.candidates), recipe.sampler, window)
    chosen = []
    for number, (block, pool, kept) in enumerate(zip(system.blocks, pools, wanted, strict=True)):
        count = count_of(kept)
        if count == count_of(pool):  # given points have no candidates
            chosen.append(pool)
            continue
        density = _density(block, pool, psi, redraw.uniform, chunk)
        # Gumbel noise on log-densities: the largest `count` are a sample without replacement.
        noise = jax.random.gumbel(jax.random.fold_in(key, number), density.shape)
        order = jax.lax.top_k(jnp.log(density) + noise, count)[1]
        chosen.append({name: column[order] for name, column in pool.items()})
    return tuple(chosen)


def dealt(points: tuple[Points, ...], shards: int) -> tuple[Points, ...]:
    """Points in equal shares for several devices.

    Where the count is no multiple of `shards`, points are repeated with a weight of zero.
    """
    return tuple(_filled_up(block, shards) for block in points)


def _filled_up(points: Points, shards: int) -> Points:
    count = count_of(points)
    padded = -(-count // shards) * shards
    if padded == count:
        return points
    order = np.arange(padded)
    # The mean is taken over `padded` rows: the true ones make up for those that are zero.
    weight = np.where(order < count, np.sqrt(padded / count), 0.0)
    filled = {name: column[order % count] for name, column in points.items()}
    return filled | {ROW_SHARE: jnp.asarray(weight)}


def _density(block: Block, pool: Data, psi: Psi, uniform: float, chunk: int) -> Array:
    """uniform/N + (1 - uniform)·|r|/Σ|r| over the N candidates."""
    (rows,) = residuals([block], psi, [pool], Layout(chunk))
    size = jnp.linalg.norm(rows, axis=1)
    size = jnp.where(jnp.isfinite(size), size, 0.0)
    share = size / jnp.maximum(jnp.sum(size), jnp.finfo(size.dtype).tiny)
    return uniform / size.size + (1 - uniform) * share
