"""What is minimised: the sum of squares of all rows at given points."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.geometry import Batch
from tinns.objective.blocks import Block, Psi, accumulate
from tinns.objective.layout import Layout
from tinns.objective.linearised import Linearised


@dataclass(frozen=True)
class Objective:
    """‖r(ψ)‖², with r the rows of all blocks at their points, each scaled by 1/sqrt(count).

    Blocks are functions and a layout is static; the data may be traced, so an objective is built
    inside a compiled program from the points that the program is given.
    """

    blocks: tuple[Block, ...]
    data: tuple[Batch, ...]
    layout: Layout = Layout()

    @classmethod
    def of(
        cls, blocks: Sequence[Block], data: Sequence[Batch], layout: Layout | None = None
    ) -> "Objective":
        return cls(tuple(blocks), tuple(data), layout or Layout())

    @property
    def kinds(self) -> int:
        """The number of kinds of row."""
        return sum(len(block.row_names) for block in self.blocks)

    def counts(self) -> list[int]:
        """The number of points of each block, on all devices together."""
        pairs = zip(self.blocks, self.data, strict=True)
        return [self.layout.shards * block.count(data) for block, data in pairs]

    def residuals(self, psi: Psi) -> list[Float[Array, "N rows"]]:
        """All rows, block by block, of shape (points, rows per point)."""
        return [
            block.in_batches(psi, data, self.layout) / jnp.sqrt(1.0 * count)
            for block, data, count in self._parts()
        ]

    def losses(self, psi: Psi) -> Float[Array, " kinds"]:
        """The mean square of each kind of row."""

        def sums(block: Block, data: Batch, mask: Array | None) -> Array:
            return jnp.sum(_masked(block.squares(psi, data), mask), axis=0)

        return self.layout.total(
            jnp.concatenate(
                [
                    accumulate(sums, block, data, self.layout) / count
                    for block, data, count in self._parts()
                ]
            )
        )

    def loss_and_gradient(self, psi: Psi) -> tuple[Float[Array, ""], Psi, Float[Array, " kinds"]]:
        """‖r‖², its gradient as a tree like ψ, and ‖r‖² split by kind of row."""

        def value(block: Block, data: Batch, mask: Array | None) -> tuple[Psi, Array]:
            def total(p: Psi) -> tuple[Array, Array]:
                split = jnp.sum(_masked(block.squares(p, data), mask), axis=0)
                return jnp.sum(split), split

            gradient, split = jax.grad(total, has_aux=True)(psi)
            return gradient, split

        parts = []
        for block, data, count in self._parts():
            sums = accumulate(value, block, data, self.layout)
            parts.append(jax.tree.map(lambda s, n=count: s / n, sums))
        gradient = self.layout.total(jax.tree.map(lambda *g: sum(g), *(g for g, _ in parts)))
        split = self.layout.total(jnp.concatenate([s for _, s in parts]))
        return jnp.sum(split), gradient, split

    def linearise(self, psi: Psi) -> Linearised:
        """The linear model r + J δ at ψ."""
        return Linearised(self.blocks, psi, self.data, self.layout)

    def reweighted(self, factors: Float[Array, " kinds"]) -> "Objective":
        """The same with every kind of row multiplied by its factor."""
        return Objective(reweighted(self.blocks, factors), self.data, self.layout)

    def _parts(self) -> list[tuple[Block, Batch, int]]:
        return list(zip(self.blocks, self.data, self.counts(), strict=True))


def reweighted(blocks: Sequence[Block], factors: Float[Array, " kinds"]) -> tuple[Block, ...]:
    """The same blocks with every kind of row multiplied by its factor."""
    changed, first = [], 0
    for block in blocks:
        last = first + len(block.row_names)
        changed.append(block.times(factors[first:last]))
        first = last
    return tuple(changed)


def _masked(squares: Array, mask: Array | None) -> Array:
    return squares if mask is None else squares * mask[:, None]
