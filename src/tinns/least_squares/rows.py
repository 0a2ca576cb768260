"""Rows of a least-squares problem, linearised point by point and accumulated in chunks.

A block is one row function applied to many data: ½‖r‖² sums, over blocks, the mean over data of
the squares of the rows. Jacobians are taken row by row in reverse mode: the rows of different
data do not share work, and the Jacobian of the whole vector would need gigabytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

Psi = Any  # a tree of parameter arrays
Data = Any  # a tree of arrays with one leading axis: the data of a block


@dataclass(frozen=True)
class Block:
    """`rows(psi, datum)` gives the residuals at one datum, one for each of `row_names`."""

    name: str
    row_names: tuple[str, ...]
    rows: Callable[[Psi, Any], Array]


class NormalEquations(NamedTuple):
    """JᵀJ, Jᵀr, and ‖r‖² split by kind of row (in the order of the blocks' row names)."""

    gram: Float[Array, "P P"]
    gradient: Float[Array, " P"]
    losses: Float[Array, " kinds"]


def residuals(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], chunk: int | None = None
) -> list[Float[Array, "N rows"]]:
    """All rows of each block, scaled by 1/sqrt(count): shape (count, rows per datum)."""
    return [
        jax.lax.map(lambda datum, b=block: b.rows(psi, datum), d, batch_size=chunk or count_of(d))
        / jnp.sqrt(1.0 * count_of(d))
        for block, d in zip(blocks, data, strict=True)
    ]


def losses(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], chunk: int
) -> Float[Array, " kinds"]:
    """The mean square of each kind of row."""

    def sums(block: Block, d: Data, mask: Array | None) -> Array:
        r = jax.vmap(block.rows, in_axes=(None, 0))(psi, d)
        return jnp.sum(_masked(r, mask) ** 2, axis=0)

    return jnp.concatenate(
        [accumulate(sums, b, d, chunk) / count_of(d) for b, d in zip(blocks, data, strict=True)]
    )


def loss_and_gradient(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], chunk: int
) -> tuple[Float[Array, ""], Psi, Float[Array, " kinds"]]:
    """‖r‖², its gradient as a tree like ψ, and the split of ‖r‖² by kind of row."""

    def value(block: Block, d: Data, mask: Array | None) -> tuple[Psi, Array]:
        def total(p: Psi) -> tuple[Array, Array]:
            r = jax.vmap(block.rows, in_axes=(None, 0))(p, d)
            split = jnp.sum(_masked(r, mask) ** 2, axis=0)
            return jnp.sum(split), split

        gradient, split = jax.grad(total, has_aux=True)(psi)
        return gradient, split

    parts = []
    for block, d in zip(blocks, data, strict=True):
        count = count_of(d)
        parts.append(jax.tree.map(lambda s, n=count: s / n, accumulate(value, block, d, chunk)))
    gradient = jax.tree.map(lambda *g: sum(g), *(g for g, _ in parts))
    split = jnp.concatenate([s for _, s in parts])
    return jnp.sum(split), gradient, split


def normal_equations(
    blocks: Sequence[Block], psi: Psi, data: Sequence[Data], chunk: int
) -> NormalEquations:
    """JᵀJ and Jᵀr of the scaled rows, never holding more than `chunk` data's Jacobian at once."""

    def parts(block: Block, d: Data, mask: Array | None) -> NormalEquations:
        r, jacobian = jax.vmap(lambda datum: linearise(block.rows, psi, datum))(d)
        r = _masked(r, mask)
        if mask is not None:
            jacobian = jacobian * mask[:, None, None]
        matrix = jacobian.reshape(-1, jacobian.shape[-1])
        return NormalEquations(gram_of(matrix), matrix.T @ r.reshape(-1), jnp.sum(r**2, axis=0))

    sums = []
    for block, d in zip(blocks, data, strict=True):
        count = count_of(d)
        total = accumulate(parts, block, d, chunk)
        sums.append(NormalEquations(*(part / count for part in total)))
    gram, gradient, split = sums[0]
    for more in sums[1:]:
        gram, gradient = gram + more.gram, gradient + more.gradient
        split = jnp.concatenate([split, more.losses])
    return NormalEquations(gram, gradient, split)


def gram_of(matrix: Float[Array, "N P"]) -> Float[Array, "P P"]:
    """MᵀM. On a CPU its lower left quarter is copied, not computed, which saves a quarter."""

    def by_halves(m: Array) -> Array:
        half = m.shape[1] // 2
        top = m[:, :half].T @ m
        corner = m[:, half:].T @ m[:, half:]
        return jnp.concatenate([top, jnp.concatenate([top[:, half:].T, corner], axis=1)])

    return jax.lax.platform_dependent(matrix, cpu=by_halves, default=lambda m: m.T @ m)


def linearise(
    rows: Callable[[Psi, Any], Array], psi: Psi, datum: Any
) -> tuple[Float[Array, " rows"], Float[Array, "rows P"]]:
    """The rows at one datum and their Jacobian (rows, parameters), columns as in `ravel_pytree`."""
    r, pullback = jax.vjp(lambda p: rows(p, datum), psi)
    (jacobian,) = jax.vmap(pullback)(jnp.eye(r.size, dtype=r.dtype))
    return r, jnp.concatenate(
        [leaf.reshape(r.size, -1) for leaf in jax.tree.leaves(jacobian)], axis=1
    )


def accumulate(
    function: Callable[[Block, Data, Array | None], Any], block: Block, data: Data, chunk: int
) -> Any:
    """Σ over chunks of function(block, chunk of data, mask); the mask blanks the padding."""
    count = count_of(data)
    pieces = -(-count // chunk)
    if pieces == 1:
        return function(block, data, None)
    size = -(-count // pieces)
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


def count_of(data: Data) -> int:
    return jax.tree.leaves(data)[0].shape[0]
