"""Validation points that are renewed during a run and include the worst places."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Counts, Sampler, spans_grids
from tinns.objective import Block, Layout, Objective, Psi, System, Window

if TYPE_CHECKING:
    from tinns.solvers.least_squares.settings import LeastSquares


@dataclass(frozen=True)
class Renewal:
    """New validation points after every `every` iterations, so that no place stays unseen.

    They are chosen from `candidates` times as many, half of which crowd towards the initial time
    and the faces: those of the largest residuals, a share `worst` of the points, and others at
    random. Points are weighted so that the loss estimates that of all candidates. Validation on
    tensor grids is not renewed.
    """

    every: int = 50
    candidates: int = 4
    worst: float = 0.25

    def __post_init__(self) -> None:
        counts = (self.every, self.candidates)
        if any(not isinstance(n, int) or n < 1 for n in counts) or not 0 <= self.worst < 1:
            raise UserError(
                f"Renewal: every={self.every!r}, candidates={self.candidates!r}, "
                f"worst={self.worst!r}; expected whole numbers >= 1 and a share from 0 to below 1"
            )

    def fitting(self, settings: "LeastSquares") -> "Renewal | None":
        """The renewal for these settings: before a validation, and never on tensor grids."""
        if spans_grids(settings.sampler):
            return None
        return replace(self, every=-(-self.every // settings.validate) * settings.validate)

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
        """Validation points for every block."""
        wanted = jax.eval_shape(lambda k: system.draw(k, counts, sampler, window), key)
        more = counts.times(self.candidates)
        pools = system.draw(key, more, sampler, window, crowded=True)
        chosen = []
        for number, (block, pool, kept) in enumerate(
            zip(system.blocks, pools, wanted, strict=True)
        ):
            own_key = jax.random.fold_in(key, number)
            is_given = kept.count == pool.count  # such as observations
            chosen.append(
                pool if is_given else self._chosen(block, pool, kept.count, own_key, psi, chunk)
            )
        return tuple(chosen)

    def _chosen(
        self, block: Block, pool: Batch, count: int, key: Array, psi: Psi, chunk: int
    ) -> Batch:
        """The worst points of a pool, and others that stand for the rest of it."""
        (rows,) = Objective((block,), (pool,), Layout(chunk)).residuals(psi)
        squares = jnp.sum(rows**2, axis=1)
        squares = jnp.where(jnp.isfinite(squares), squares, jnp.inf)
        worst = int(self.worst * count)
        first = jax.lax.top_k(squares, worst)[1]
        noise = jax.random.uniform(key, squares.shape).at[first].set(-1.0)
        others = jax.lax.top_k(noise, count - worst)[1]
        chosen = pool.take(jnp.concatenate([first, others]))
        rest = (pool.count - worst) / (count - worst)
        share = jnp.where(jnp.arange(count) < worst, 1.0, rest)
        factor = jnp.sqrt(share * count / pool.count)
        weight = factor if chosen.weight is None else factor * chosen.weight
        return replace(chosen, weight=weight)
