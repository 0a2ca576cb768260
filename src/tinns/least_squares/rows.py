"""Rows of a least-squares problem, linearised point by point and accumulated in chunks.

A block is one row function applied to many data: ½‖r‖² sums, over blocks, the mean over data of
the squares of the rows. Jacobians are taken row by row in reverse mode: the rows of different
data do not share work, and the Jacobian of the whole vector would need gigabytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.least_squares.layout import Layout, count_of

Psi = Any  # a tree of parameter arrays
Data = Any  # a tree of arrays with one leading axis: the data of a block


@dataclass(frozen=True)
class Grid:
    """How a block is evaluated where its data are the axes of a tensor grid: all rows at once."""

    rows: Callable[[Psi, Data], Array]  # (points, rows per datum)
    points: Callable[[Data], Data]  # the points of the grid in the same order, one column per axis


@dataclass(frozen=True)
class Block:
    """`rows(psi, datum)` gives the residuals at one datum, one for each of `row_names`.

    An `emphasis` weighs the squares of all rows: (ψ, data, rows of all data) -> weights.
    """

    name: str
    row_names: tuple[str, ...]
    rows: Callable[[Psi, Any], Array]
    grid: Grid | None = None
    emphasis: Callable[[Psi, Data, Array], Array] | None = None

    def points(self, data: Data) -> Data:
        """One entry for every datum, also where the data are the axes of a grid."""
        return data if self.grid is None else self.grid.points(data)

    def count(self, data: Data) -> int:
        """How many data there are, in this device's share."""
        return count_of(jax.eval_shape(self.points, data))

    def all_rows(self, psi: Psi, data: Data) -> Float[Array, "N rows"]:
        """The residuals at all data."""
        if self.grid is not None:
            return self.grid.rows(psi, data)
        return jax.vmap(self.rows, in_axes=(None, 0))(psi, data)

    def squares(self, psi: Psi, data: Data) -> Float[Array, "N rows"]:
        """The squares of the residuals at all data, weighed if there is an emphasis."""
        r = self.all_rows(psi, data)
        return r**2 if self.emphasis is None else self.emphasis(psi, data, r) * r**2


def residuals(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], layout: Layout
) -> list[Float[Array, "N rows"]]:
    """All rows of each block, scaled by 1/sqrt(count): shape (count, rows per datum)."""
    return [
        _in_batches(block, psi, d, layout) / jnp.sqrt(1.0 * _count(block, d, layout))
        for block, d in zip(blocks, data, strict=True)
    ]


def losses(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], layout: Layout
) -> Float[Array, " kinds"]:
    """The mean square of each kind of row."""

    def sums(block: Block, d: Data, mask: Array | None) -> Array:
        return jnp.sum(_masked(block.squares(psi, d), mask), axis=0)

    return layout.total(
        jnp.concatenate(
            [
                accumulate(sums, b, d, layout) / _count(b, d, layout)
                for b, d in zip(blocks, data, strict=True)
            ]
        )
    )


def loss_and_gradient(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], layout: Layout
) -> tuple[Float[Array, ""], Psi, Float[Array, " kinds"]]:
    """‖r‖², its gradient as a tree like ψ, and the split of ‖r‖² by kind of row."""

    def value(block: Block, d: Data, mask: Array | None) -> tuple[Psi, Array]:
        def total(p: Psi) -> tuple[Array, Array]:
            split = jnp.sum(_masked(block.squares(p, d), mask), axis=0)
            return jnp.sum(split), split

        gradient, split = jax.grad(total, has_aux=True)(psi)
        return gradient, split

    parts = []
    for block, d in zip(blocks, data, strict=True):
        count = _count(block, d, layout)
        parts.append(jax.tree.map(lambda s, n=count: s / n, accumulate(value, block, d, layout)))
    gradient = layout.total(jax.tree.map(lambda *g: sum(g), *(g for g, _ in parts)))
    split = layout.total(jnp.concatenate([s for _, s in parts]))
    return jnp.sum(split), gradient, split


def linearise(
    rows: Callable[[Psi, Any], Array], psi: Psi, datum: Any, width: int = 0
) -> tuple[Float[Array, " rows"], Float[Array, "rows P"]]:
    """The rows at one datum and their Jacobian, columns as in `ravel_pytree`.

    Columns of zeros fill it up to `width`.
    """
    r, pullback = jax.vjp(lambda p: rows(p, datum), psi)
    (jacobian,) = jax.vmap(pullback)(jnp.eye(r.size, dtype=r.dtype))
    columns = [leaf.reshape(r.size, -1) for leaf in jax.tree.leaves(jacobian)]
    missing = width - sum(part.shape[1] for part in columns)
    padding = [jnp.zeros((r.size, missing), r.dtype)] if missing > 0 else []
    return r, jnp.concatenate(columns + padding, axis=1)


def accumulate(
    function: Callable[[Block, Data, Array | None], Any], block: Block, data: Data, layout: Layout
) -> Any:
    """Σ over chunks of function(block, chunk of data, mask); the mask blanks the padding.

    A grid, and data whose rows are weighed against each other, are never cut.
    """
    if block.grid is not None or block.emphasis is not None:
        return function(block, data, None)
    count = count_of(data)
    pieces = -(-count * len(block.row_names) // layout.chunk)
    if pieces == 1:
        return function(block, data, None)
    size = -(-count // pieces)
    pieces = -(-count // size)
    order = jnp.arange(pieces * size)
    mask = (order < count).astype(jax.tree.leaves(data)[0].dtype)
    # Padding repeats the first data, so that every row stays finite before it is blanked.
    cut = jax.tree.map(lambda a: a[order % count].reshape(pieces, size, *a.shape[1:]), data)

    def add(total: Any, piece: tuple[Data, Array]) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, function(block, *piece)), None

    masks = mask.reshape(pieces, size)
    start = jax.tree.map(
        lambda s: jnp.zeros(s.shape, s.dtype),
        jax.eval_shape(lambda: function(block, jax.tree.map(lambda a: a[0], cut), masks[0])),
    )
    return jax.lax.scan(add, start, (cut, masks))[0]


def _masked(r: Array, mask: Array | None) -> Array:
    return r if mask is None else r * mask[:, None]


def _count(block: Block, data: Data, layout: Layout) -> int:
    """The number of data on all devices together."""
    return layout.shards * block.count(data)


def _in_batches(block: Block, psi: Psi, data: Data, layout: Layout) -> Array:
    if block.grid is not None:
        return block.all_rows(psi, data)
    size = min(layout.chunk, count_of(data))
    return jax.lax.map(lambda datum: block.rows(psi, datum), data, batch_size=size)
