"""L-BFGS: BFGS from the last few steps, without a stored matrix.

The direction comes from the compact form of R. H. Byrd, J. Nocedal and R. B. Schnabel (1994), a few
products of matrices, where the usual recursion takes two steps for each pair, one after another.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.objective import Psi
from tinns.optim.optimizer import OptimizerState
from tinns.optim.quasi_newton import QuasiNewton, curvature_pair


def compact_product(
    steps: Float[Array, "m n"], changes: Float[Array, "m n"], gradient: Float[Array, " n"]
) -> Float[Array, " n"]:
    """H g, with H the BFGS updates of γ I by the pairs (s, y), newest last; empty ones are zero.

    Pairs are scaled so that sᵀy = 1, which does not change H. γ = sᵀy/yᵀy of the newest pair,
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
    """The last pairs, and the start of the last step, from which the next pair is formed."""

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

    A step of zero length, a gradient that is not finite, and a direction that is not one of descent
    empty the memory; a step without positive curvature is not stored. While the memory is empty,
    the norm of the result is at most 1.
    """
    if not (isinstance(memory, int) and memory >= 1):
        raise UserError(f"LBFGS: memory={memory!r}; expected a whole number >= 1, such as 50")

    def init(params: Psi) -> Memory:
        position = ravel_pytree(params)[0]
        zero = jnp.zeros_like(position)
        none = jnp.zeros((memory, position.size), position.dtype)
        return Memory(none, none, jnp.asarray(False), zero, zero)

    def transform(
        updates: Psi,
        state: OptimizerState,
        params: Psi | None = None,
        *,
        arrived: Psi | None = None,
        **_: object,
    ) -> tuple[Psi, Memory]:
        gradient, unravel = ravel_pytree(updates)
        position, s, y, moved, learns = curvature_pair(state, gradient, params, arrived)
        root = jnp.sqrt(jnp.where(learns, y @ s, 1))

        def remembered(pairs: Array, newest: Array) -> Array:
            shifted = jnp.concatenate([pairs[1:], newest[None] / root])
            return jnp.where(learns, shifted, jnp.where(moved, pairs, 0))

        steps, changes = remembered(state.steps, s), remembered(state.changes, y)
        direction = compact_product(steps, changes, gradient)
        descends = direction @ gradient > 0  # also false for NaN
        steps, changes = (jnp.where(descends, pairs, 0) for pairs in (steps, changes))
        learned = Memory(steps, changes, jnp.ones_like(state.begun), position, gradient)
        shortened = gradient / jnp.maximum(jnp.linalg.norm(gradient), 1)
        return unravel(jnp.where(learned.unscaled, shortened, direction)), learned

    return optax.GradientTransformationExtraArgs(init, transform)


@dataclass(frozen=True)
class LBFGS(QuasiNewton):
    """Limited-memory BFGS with a strong Wolfe line search; it restarts when points change."""

    memory: int = 50
    restarts_on_redraw = True  # curvature pairs from other points would be misleading

    def _transformation(self) -> optax.GradientTransformationExtraArgs:
        return scale_by_compact_lbfgs(self.memory)
