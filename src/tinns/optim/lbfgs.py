"""L-BFGS: what BFGS makes of the last few steps, without a matrix.

The direction comes from the compact form of R. H. Byrd, J. Nocedal and R. B. Schnabel (1994), a few
products of matrices, where the usual recursion takes two steps for each pair, one after another.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.optim.quasi_newton import QuasiNewton, curvature_pair


def compact_product(
    steps: Float[Array, "m n"], changes: Float[Array, "m n"], gradient: Float[Array, " n"]
) -> Float[Array, " n"]:
    """H g, where BFGS makes H of γ I by the pairs (s, y), the newest last; empty ones are zero.

    Pairs are scaled so that sᵀy = 1, of which H does not know. γ = sᵀy/yᵀy of the newest pair,
    or 1 if there is none.
    """
    size = changes[-1] @ changes[-1]
    gamma = 1 / jnp.where(size > 0, size, 1)
    crossed = jnp.triu(steps @ changes.T, 1)  # beside its diagonal of ones
    along = solve_triangular(crossed, steps @ gradient, unit_diagonal=True)
    inner = along + gamma * (changes @ (changes.T @ along) - changes @ gradient)
    weights = solve_triangular(crossed, inner, trans=1, unit_diagonal=True)
    return gamma * (gradient - along @ changes) + weights @ steps


class Memory(NamedTuple):
    """The last pairs, and where the last step set out from; the next one learns from it."""

    steps: Array
    changes: Array
    begun: Array  # whether there was a last step
    position: Array
    gradient: Array

    @property
    def unscaled(self) -> Array:
        """Whether there are no pairs: H = I."""
        return ~jnp.any(self.steps[-1] != 0)


def scale_by_compact_lbfgs(memory: int = 50) -> optax.GradientTransformationExtraArgs:
    """H g with the H of L-BFGS; a line search should follow.

    A step of no length, a gradient that is no number, and a direction that does not descend empty
    the memory; a step of no positive curvature is not remembered. While the memory is empty, the
    result is no longer than 1.
    """
    if not (isinstance(memory, int) and memory >= 1):
        raise UserError(f"LBFGS: memory={memory!r}; expected a whole number >= 1, such as 50")

    def init(params: Any) -> Memory:
        position = ravel_pytree(params)[0]
        zero = jnp.zeros_like(position)
        none = jnp.zeros((memory, position.size), position.dtype)
        return Memory(none, none, jnp.asarray(False), zero, zero)

    def transform(
        updates: Any, state: Any, params: Any = None, *, arrived: Any = None, **_: Any
    ) -> tuple[Any, Memory]:
        gradient, unravel = ravel_pytree(updates)
        position, s, y, moved, learns = curvature_pair(state, gradient, params, arrived)
        root = jnp.sqrt(jnp.where(learns, y @ s, 1))

        def remembered(pairs: Array, newest: Array) -> Array:
            shifted = jnp.concatenate([pairs[1:], newest[None] / root])
            return jnp.where(learns, shifted, jnp.where(moved, pairs, 0))

        steps, changes = remembered(state.steps, s), remembered(state.changes, y)
        direction = compact_product(steps, changes, gradient)
        descends = direction @ gradient > 0  # also false where any of it is no number
        steps, changes = (jnp.where(descends, pairs, 0) for pairs in (steps, changes))
        learned = Memory(steps, changes, jnp.ones_like(state.begun), position, gradient)
        shortened = gradient / jnp.maximum(jnp.linalg.norm(gradient), 1)
        return unravel(jnp.where(learned.unscaled, shortened, direction)), learned

    return optax.GradientTransformationExtraArgs(init, transform)


@dataclass(frozen=True)
class LBFGS(QuasiNewton):
    """Limited-memory BFGS with a strong Wolfe line search; it starts anew when points change."""

    memory: int = 50
    restarts_on_redraw = True  # curvature pairs of other points would mislead

    def _transformation(self) -> optax.GradientTransformationExtraArgs:
        return scale_by_compact_lbfgs(self.memory)
