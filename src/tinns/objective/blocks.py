"""Blocks of rows: one function of the parameters and a point, applied to many points.

½‖r‖² sums, over blocks, the mean over points of the squares of the rows. Jacobians are taken row
by row in reverse mode: rows at different points share no work, and the Jacobian of the whole vector
would need gigabytes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, PyTree

from tinns.geometry import Batch, Coordinates
from tinns.objective.layout import Layout

Psi = PyTree  # parameters: those of the field and the trainable coefficients
Data = TypeVar("Data")  # a tree of arrays with one leading axis
Sum = TypeVar("Sum")  # a tree of arrays


@dataclass(frozen=True)
class Grid:
    """How a block is evaluated where its data are the axes of a tensor grid: all rows at once."""

    rows: Callable[[Psi, Batch], Array]  # (points, rows per point)
    points: Callable[[Batch], Coordinates]  # the points of the grid, in the same order


@runtime_checkable
class RowWeights(Protocol):
    """Weights of the squares of all rows of a block, given the rows themselves."""

    def __call__(self, block: "Block", psi: Psi, data: Batch, rows: Array) -> Array: ...


@dataclass(frozen=True)
class Block:
    """`rows(psi, point)` gives the residuals at one point, one for each of `row_names`.

    `emphasis` weights the squares of the rows against each other, as some training strategies do.
    """

    name: str
    row_names: tuple[str, ...]
    rows: Callable[[Psi, Batch], Array]
    grid: Grid | None = None
    emphasis: RowWeights | None = None

    def points(self, data: Batch) -> Coordinates:
        """The coordinates of all points, also where the data are the axes of a grid."""
        return data.coordinates if self.grid is None else self.grid.points(data)

    def count(self, data: Batch) -> int:
        """How many points there are, in this device's share."""
        return jax.tree.leaves(jax.eval_shape(self.points, data))[0].shape[0]

    def all_rows(self, psi: Psi, data: Batch) -> Float[Array, "N rows"]:
        """The residuals at all points."""
        if self.grid is not None:
            return self.grid.rows(psi, data)
        return jax.vmap(self.rows, in_axes=(None, 0))(psi, data)

    def squares(self, psi: Psi, data: Batch) -> Float[Array, "N rows"]:
        """The squares of the residuals at all points, weighted by the emphasis if there is one."""
        r = self.all_rows(psi, data)
        return r**2 if self.emphasis is None else self.emphasis(self, psi, data, r) * r**2

    def in_batches(self, psi: Psi, data: Batch, layout: Layout) -> Float[Array, "N rows"]:
        """The residuals at all points, evaluated in pieces that fit into memory."""
        if self.grid is not None:
            return self.all_rows(psi, data)
        size = min(layout.chunk, data.count)
        return jax.lax.map(lambda point: self.rows(psi, point), data, batch_size=size)

    def times(self, factors: Float[Array, " kinds"]) -> "Block":
        """The same block with every kind of row multiplied by its factor."""
        grid, emphasis = self.grid, self.emphasis
        if emphasis is not None:  # it needs the rows without factors

            def weights(block: Block, psi: Psi, data: Batch, rows: Array) -> Array:
                return factors**2 * emphasis(block, psi, data, rows)

            return replace(self, emphasis=weights)
        return replace(
            self,
            rows=lambda psi, point: factors * self.rows(psi, point),
            grid=grid and Grid(lambda psi, axes: factors * grid.rows(psi, axes), grid.points),
        )


def linearise(
    rows: Callable[[Psi, Batch], Array], psi: Psi, point: Batch, width: int = 0
) -> tuple[Float[Array, " rows"], Float[Array, "rows P"]]:
    """The rows at one point and their Jacobian, columns as in `ravel_pytree`.

    Columns of zeros fill it up to `width`.
    """
    r, pullback = jax.vjp(lambda p: rows(p, point), psi)
    (jacobian,) = jax.vmap(pullback)(jnp.eye(r.size, dtype=r.dtype))
    columns = [leaf.reshape(r.size, -1) for leaf in jax.tree.leaves(jacobian)]
    missing = width - sum(part.shape[1] for part in columns)
    padding = [jnp.zeros((r.size, missing), r.dtype)] if missing > 0 else []
    return r, jnp.concatenate(columns + padding, axis=1)


def accumulate(
    function: Callable[[Block, Data, Array | None], Sum], block: Block, data: Data, layout: Layout
) -> Sum:
    """Σ over chunks of function(block, chunk of data, mask); the mask blanks the padding.

    `data` is a batch, or another tree of arrays with one leading axis. A grid, and points whose
    rows are weighted against each other, are never divided.
    """
    if block.grid is not None or block.emphasis is not None:
        return function(block, data, None)
    count = jax.tree.leaves(data)[0].shape[0]
    pieces = -(-count * len(block.row_names) // layout.chunk)
    if pieces == 1:
        return function(block, data, None)
    size = -(-count // pieces)
    pieces = -(-count // size)
    order = jnp.arange(pieces * size)
    mask = (order < count).astype(jax.tree.leaves(data)[0].dtype)
    # Padding repeats the first points, so that every row stays finite before it is blanked.
    cut = jax.tree.map(lambda a: a[order % count].reshape(pieces, size, *a.shape[1:]), data)

    def add(total: Sum, piece: tuple[Data, Array]) -> tuple[Sum, None]:
        return jax.tree.map(jnp.add, total, function(block, *piece)), None

    masks = mask.reshape(pieces, size)
    start = jax.tree.map(
        lambda s: jnp.zeros(s.shape, s.dtype),
        jax.eval_shape(lambda: function(block, jax.tree.map(lambda a: a[0], cut), masks[0])),
    )
    return jax.lax.scan(add, start, (cut, masks))[0]
