"""New training points during a run: where the residual is large, or more of them."""

from dataclasses import dataclass, replace
from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Counts, Sampler
from tinns.objective import Block, Layout, Objective, Psi, System, Window

BUSY = 10_000  # interior points: on a GPU, steps on fewer are hardly faster


@dataclass(frozen=True)
class Redraw:
    """Redraw all training points whenever validation exceeds `ratio` times training (None: never).

    In addition, points are redrawn after `every` iterations inside the compiled program: `every=1`
    gives fresh batches. With `candidates` > 1 that many times more points are drawn, and those
    kept are chosen with a density proportional to |residual|, except for a `uniform` share. With
    `crowded` half of the candidates crowd towards the initial time and the faces. Points that
    lasted less than `lasting` iterations are followed by more: `ladder` gives the counts, in
    multiples of the recipe's. A CPU starts on its first rung, other devices with 10,000 points.
    """

    ratio: float | None = 5.0
    candidates: int = 1
    uniform: float = 0.5
    ladder: tuple[int, ...] = (1,)
    lasting: int = 20
    every: int | None = None
    crowded: bool = False

    def __post_init__(self) -> None:
        if self.every is not None and (self.every < 1 or self.candidates > 1):
            raise UserError(
                f"Redraw: every={self.every!r} with candidates={self.candidates!r}; expected a "
                "whole number >= 1 and candidates=1, since batches are drawn uniformly"
            )
        rises = all(a < b for a, b in pairwise(self.ladder))
        if not self.ladder or self.ladder[0] < 1 or not rises:
            raise UserError(
                f"ladder={self.ladder!r}: expected rising whole numbers as in (1, 2, 4)"
            )

    def first_rung(self, points: Counts, platform: str) -> int:
        """The lowest rung on a CPU; elsewhere the lowest that keeps the device busy."""
        if platform == "cpu":
            return 0
        enough = [times * points.interior >= BUSY for times in self.ladder]
        return enough.index(True) if any(enough) else len(enough) - 1

    def next_rung(self, rung: int, lasted: int) -> int:
        """The rung after overfitting: the next one if the points did not last."""
        return rung + (lasted < self.lasting and rung < len(self.ladder) - 1)

    def counts(self, points: Counts, rung: int) -> Counts:
        """How many points a rung has."""
        return points.times(self.ladder[rung])

    def is_due(self, validation_loss: Array, loss: Array) -> Array:
        """Whether the points should change before the next step."""
        if self.ratio is None:
            return jnp.asarray(False)
        return validation_loss > self.ratio * loss

    def draw(
        self,
        system: System,
        counts: Counts,
        sampler: Sampler,
        key: Array,
        psi: Psi,
        chunk: int,
        window: Window | None = None,
    ) -> tuple[Batch, ...]:
        """Points for every block; with candidates, denser where the residual is large."""
        if self.candidates == 1:
            return system.draw(key, counts, sampler, window)
        wanted = jax.eval_shape(lambda k: system.draw(k, counts, sampler, window), key)
        more = counts.times(self.candidates)
        pools = system.draw(key, more, sampler, window, self.crowded)
        chosen = []
        for number, (block, pool, kept) in enumerate(
            zip(system.blocks, pools, wanted, strict=True)
        ):
            if kept.count == pool.count:  # given points have no candidates
                chosen.append(pool)
                continue
            density = self._density(block, pool, psi, chunk)
            # Gumbel noise on log-densities: the largest are a sample without replacement.
            noise = jax.random.gumbel(jax.random.fold_in(key, number), density.shape)
            order = jax.lax.top_k(jnp.log(density) + noise, kept.count)[1]
            chosen.append(replace(pool.take(order), weight=None))
        return tuple(chosen)

    def _density(self, block: Block, pool: Batch, psi: Psi, chunk: int) -> Array:
        """uniform/N + (1 - uniform)·|r|/Σ|r| over the N candidates."""
        (rows,) = Objective((block,), (pool,), Layout(chunk)).residuals(psi)
        size = jnp.linalg.norm(rows, axis=1)
        size = jnp.where(jnp.isfinite(size), size, 0.0)
        if pool.weight is None:
            share = size / jnp.maximum(jnp.sum(size), jnp.finfo(size.dtype).tiny)
            return self.uniform / size.size + (1 - self.uniform) * share
        size = size * pool.weight  # of which the rows have one factor already
        share = size / jnp.maximum(jnp.sum(size), jnp.finfo(size.dtype).tiny)
        return self.uniform * pool.weight**2 / size.size + (1 - self.uniform) * share


NEVER = Redraw(None)


def distribute(points: tuple[Batch, ...], shards: int) -> tuple[Batch, ...]:
    """Points in equal shares for several devices, filled up with points of weight zero."""
    return tuple(batch.padded(-(-batch.count // shards) * shards) for batch in points)
