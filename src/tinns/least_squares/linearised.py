"""The linear model r + J δ at one ψ: J held whole where it fits, else computed again in chunks.

Everything a step needs of J is a sum over rows: JᵀJ, Jᵀv, products with a whitened J. `fold` is
that sum. Vectors over rows are tuples with one array (count, rows per datum) for each block.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.least_squares.rows import (
    Block,
    Data,
    Psi,
    accumulate,
    count_of,
    gram_of,
    linearise,
    residuals,
)

RowVector = tuple[Array, ...]


class Linearised:
    """The rows r and their Jacobian J at ψ, columns in the order of `ravel_pytree`."""

    def __init__(self, blocks: Sequence[Block], psi: Psi, data: Sequence[Data], chunk: int) -> None:
        self.blocks, self.psi, self.data, self.chunk = tuple(blocks), psi, tuple(data), chunk
        self.held: Array | None = None
        if all(count_of(d) <= chunk for d in data):
            values, jacobians = zip(*map(self._linearised, self.blocks, self.data), strict=True)
            self.rows: RowVector = values
            self.held = jnp.concatenate([_as_matrix(j) for j in jacobians])
        else:
            self.rows = tuple(residuals(blocks, psi, data, chunk))

    def _linearised(self, block: Block, d: Data) -> tuple[Array, Array]:
        r, jacobian = jax.vmap(lambda datum: linearise(block.rows, self.psi, datum))(d)
        scale = jnp.sqrt(1.0 * count_of(d))
        return r / scale, jacobian / scale

    def split(self) -> Float[Array, " kinds"]:
        """‖r‖² by kind of row."""
        return jnp.concatenate([jnp.sum(r**2, axis=0) for r in self.rows])

    def fold(self, function: Callable[[Array, Array], Any], vector: RowVector) -> Any:
        """Σ over pieces of function(J piece, vector piece)."""
        if self.held is not None:
            return function(self.held, self.flattened(vector))
        parts = []
        for block, d, v in zip(self.blocks, self.data, vector, strict=True):
            scale = jnp.sqrt(1.0 * count_of(d))

            def piece(block: Block, piece: Any, mask: Array | None, scale: Array = scale) -> Any:
                data, part = piece
                _, jacobian = jax.vmap(lambda datum: linearise(block.rows, self.psi, datum))(data)
                if mask is not None:
                    jacobian = jacobian * mask[:, None, None]
                return function(_as_matrix(jacobian) / scale, part.reshape(-1))

            parts.append(accumulate(piece, block, (d, v), self.chunk))
        return jax.tree.map(lambda *terms: sum(terms[1:], start=terms[0]), *parts)

    @staticmethod
    def flattened(vector: RowVector) -> Float[Array, " N"]:
        """The entries in the order of the rows of a held J."""
        return jnp.concatenate([v.reshape(-1) for v in vector])

    def gram(self) -> Float[Array, "P P"]:
        """JᵀJ."""
        return self.fold(lambda jacobian, _: gram_of(jacobian), self.rows)

    def transposed(self, vector: RowVector) -> Float[Array, " P"]:
        """Jᵀ v."""
        return self.fold(lambda jacobian, v: jacobian.T @ v, vector)

    def curvature(self, direction: Psi) -> RowVector:
        """d²/ds² r(ψ + s·direction) at s = 0."""

        def velocity(p: Psi) -> list[Array]:
            def rows(q: Psi) -> list[Array]:
                return residuals(self.blocks, q, self.data, self.chunk)

            return jax.jvp(rows, (p,), (direction,))[1]

        return tuple(jax.jvp(velocity, (self.psi,), (direction,))[1])


def _as_matrix(jacobian: Array) -> Array:
    return jacobian.reshape(-1, jacobian.shape[-1])
