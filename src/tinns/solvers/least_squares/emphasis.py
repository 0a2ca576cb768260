"""Weights between the points of the equation: early times first, or easy points first."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Batch, Interior
from tinns.objective import Block, Psi, System


@runtime_checkable
class Emphasis(Protocol):
    """Weights on the squares of the equation's rows, against each other."""

    @property
    def needs_grids(self) -> bool:
        """Whether the points must form tensor grids."""
        ...

    @property
    def moves(self) -> bool:
        """Whether the weights change with the spent share of the budget."""
        ...

    def weights(
        self, spent: Array | float, block: Block, psi: Psi, data: Batch, rows: Array
    ) -> Array:
        """One weight for every row."""
        ...


@dataclass(frozen=True)
class Causal:
    """Early times first: the equation's rows count as exp(-tolerance · Σ losses before them).

    Points are sorted by time and divided into `chunks`; the losses are the chunks' mean squares
    (S. Wang, S. Sankaran, P. Perdikaris, 2024). Off by default. The authors' repository declares
    this algorithm patented and free for non-commercial use only: ask them before other uses.
    """

    tolerance: float = 1.0
    chunks: int = 32
    needs_grids: ClassVar[bool] = False
    moves: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (self.tolerance > 0 and isinstance(self.chunks, int) and self.chunks >= 1):
            raise UserError(
                f"Causal: tolerance={self.tolerance!r} must be positive, chunks={self.chunks!r} a "
                "whole number >= 1"
            )

    def weights(
        self,
        spent: Array | float,
        block: Block,
        psi: Psi,
        data: Batch,
        rows: Float[Array, "N rows"],
    ) -> Float[Array, "N rows"]:
        """exp(-ε · Σ of the mean squares of all earlier chunks of time), constant in ψ."""
        times = block.points(data)[TIME]
        count = times.shape[0]
        order = jnp.argsort(times)
        chunk = jnp.arange(count) * self.chunks // count  # of the points in order of time
        squares = jax.lax.stop_gradient(rows[order]) ** 2
        sums = jax.ops.segment_sum(squares, chunk, self.chunks, indices_are_sorted=True)
        sizes = jax.ops.segment_sum(jnp.ones(count), chunk, self.chunks, indices_are_sorted=True)
        means = sums / jnp.maximum(sizes, 1)[:, None]
        before = jnp.cumsum(means, axis=0) - means
        weights = jnp.exp(-self.tolerance * before)
        return jnp.zeros_like(rows).at[order].set(weights[chunk])


@dataclass(frozen=True)
class Difficulty:
    """Easy points first, hard ones later: weights 1 - s - β(1 - 2s)·D on the equation's squares.

    s is the spent share of the budget, and D in [0, 1] the normalised length of the gradient of the
    loss with respect to the axes' points [CoPINN]. It needs tensor grids. As published, the weights
    are differentiated too, and all of them fade to at most β towards the end.
    """

    strength: float = 0.001  # β
    needs_grids: ClassVar[bool] = True
    moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.strength <= 1:
            raise UserError(f"Difficulty: strength={self.strength!r}; expected 0 to 1")

    def weights(
        self,
        spent: Array | float,
        block: Block,
        psi: Psi,
        data: Batch,
        rows: Float[Array, "N rows"],
    ) -> Float[Array, "N rows"]:
        """V = 1 - s - β(1 - 2s)·D, with D the scaled length of ∂(mean r²)/∂(points of the axes)."""

        def loss(axes: Batch) -> Array:
            return jnp.mean(jnp.sum(block.all_rows(psi, axes) ** 2, axis=1))

        slopes = block.points(jax.grad(loss)(data))  # spread over the grid as the points are
        square = sum((slope**2 for slope in slopes.values()), start=jnp.zeros(()))
        lengths = jnp.sqrt(square + jnp.finfo(rows.dtype).tiny).reshape(-1, 1)
        low, high = jnp.min(lengths), jnp.max(lengths)
        scaled = (lengths - low) / jnp.maximum(high - low, jnp.finfo(rows.dtype).tiny)
        gamma = self.strength * (1 - 2 * spent)
        return jnp.broadcast_to(1 - spent - gamma * scaled, rows.shape)


def emphasised(
    system: System, emphasis: Emphasis | None, spent: Array | float
) -> tuple[Block, ...]:
    """The blocks of a system with the squares of the equation's rows weighted."""
    if emphasis is None:
        return system.blocks
    weights = partial(emphasis.weights, spent)
    return tuple(
        replace(block, emphasis=weights) if isinstance(region, Interior) else block
        for block, region in zip(system.blocks, system.regions, strict=True)
    )
