"""The linear model r + J δ at one ψ: J is stored if it fits, else recomputed in chunks.

Everything a step needs of J is a sum over rows: JᵀJ, Jᵀv, products with a whitened J. `fold` is
that sum. Vectors over rows are tuples with one array (count, rows per datum) for each block.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from tinns._runtime.host_blas import host_gram, host_product
from tinns.geometry import Batch
from tinns.objective.blocks import Block, Psi, accumulate, linearise
from tinns.objective.layout import Layout

RowVector = tuple[Array, ...]
Sum = TypeVar("Sum")  # a tree of arrays
ALIGNMENT = 8  # columns: products of matrices with odd widths are slower on a GPU


class Linearised:
    """The rows r and their Jacobian J at ψ, columns in the order of `ravel_pytree`.

    J has `width` columns, those after the parameters' own being zero; `flat` is ψ as a vector of
    that length and `unravel` the way back.
    """

    def __init__(
        self, blocks: Sequence[Block], psi: Psi, data: Sequence[Batch], layout: Layout
    ) -> None:
        self.blocks, self.psi, self.data, self.layout = tuple(blocks), psi, tuple(data), layout
        flat, self._unravel = ravel_pytree(psi)
        self.size = flat.size
        self.width = -(-self.size // ALIGNMENT) * ALIGNMENT
        self.flat = jnp.pad(flat, (0, self.width - self.size))
        self.held: Array | None = None
        if sum(d.count * len(b.row_names) for b, d in self._pairs()) <= layout.chunk:
            parts = [self._linearised(b, d, layout.shards * d.count) for b, d in self._pairs()]
            self.rows: RowVector = tuple(r for r, _ in parts)
            self.held = jnp.concatenate([_as_matrix(jacobian) for _, jacobian in parts])
        else:
            self.rows = tuple(self._residuals(psi))

    def unravel(self, vector: Float[Array, " width"]) -> Psi:
        """A vector of parameters as a tree like ψ."""
        return self._unravel(vector[: self.size])

    def split(self) -> Float[Array, " kinds"]:
        """‖r‖² by kind of row."""
        return self.layout.total(jnp.concatenate([jnp.sum(r**2, axis=0) for r in self.rows]))

    def fold(self, function: Callable[[Array, Array], Sum], vector: RowVector) -> Sum:
        """Σ over pieces of function(J piece, vector piece)."""
        if self.held is not None:
            return self.layout.total(function(self.held, self.flattened(vector)))
        parts = []
        for block, d, v in zip(self.blocks, self.data, vector, strict=True):
            count = self.layout.shards * d.count

            def piece(
                block: Block, piece: tuple[Batch, Array], mask: Array | None, count: int = count
            ) -> Sum:
                data, part = piece
                _, jacobian = self._linearised(block, data, count)
                if mask is not None:
                    jacobian = jacobian * mask[:, None, None]
                return function(_as_matrix(jacobian), part.reshape(-1))

            parts.append(accumulate(piece, block, (d, v), self.layout))
        sums = jax.tree.map(lambda *terms: sum(terms[1:], start=terms[0]), *parts)
        return self.layout.total(sums)

    @staticmethod
    def flattened(vector: RowVector) -> Float[Array, " N"]:
        """The entries in the order of the rows of a held J."""
        return jnp.concatenate([v.reshape(-1) for v in vector])

    def normal_equations(self) -> tuple[Float[Array, "width width"], Float[Array, " width"]]:
        """JᵀJ and Jᵀr."""
        return self.fold(lambda jacobian, r: (gram_of(jacobian), r @ jacobian), self.rows)

    def curvature(self, direction: Psi) -> RowVector:
        """d²/ds² r(ψ + s·direction) at s = 0."""

        def velocity(p: Psi) -> list[Array]:
            return jax.jvp(self._residuals, (p,), (direction,))[1]

        return tuple(jax.jvp(velocity, (self.psi,), (direction,))[1])

    def _pairs(self) -> list[tuple[Block, Batch]]:
        return list(zip(self.blocks, self.data, strict=True))

    def _residuals(self, psi: Psi) -> list[Array]:
        """All rows, scaled by 1/sqrt(count)."""
        return [
            b.in_batches(psi, d, self.layout) / jnp.sqrt(1.0 * self.layout.shards * b.count(d))
            for b, d in self._pairs()
        ]

    def _linearised(self, block: Block, data: Batch, count: int) -> tuple[Array, Array]:
        """The rows at some of `count` points and their Jacobian, scaled by 1/sqrt(count)."""

        def rows(psi: Psi, point: Batch) -> Array:
            return block.rows(psi, point) / jnp.sqrt(1.0 * count)

        return jax.vmap(lambda point: linearise(rows, self.psi, point, self.width))(data)


def gram_of(matrix: Float[Array, "N P"]) -> Float[Array, "P P"]:
    """MᵀM."""
    if matrix.dtype != jnp.float64:
        return matrix.T @ matrix
    return jax.lax.platform_dependent(matrix, cpu=host_gram, default=lambda m: m.T @ m)


def product_of(matrix: Float[Array, "N P"], factor: Float[Array, "P Q"]) -> Float[Array, "N Q"]:
    """M W."""
    if matrix.dtype != jnp.float64:
        return matrix @ factor
    return jax.lax.platform_dependent(matrix, factor, cpu=host_product, default=lambda m, w: m @ w)


def _as_matrix(jacobian: Array) -> Array:
    return jacobian.reshape(-1, jacobian.shape[-1])
