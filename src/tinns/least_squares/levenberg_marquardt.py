"""Levenberg-Marquardt: ψ ← ψ - (JᵀJ + μI)⁻¹ Jᵀr, many steps inside one compiled program."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from tinns.least_squares.damping import Algorithm1, DampingState
from tinns.least_squares.layout import Layout
from tinns.least_squares.linearised import Linearised
from tinns.least_squares.rows import Block, Data, Psi


class LMState(NamedTuple):
    """The damping, the last ψ whose loss was finite, and how many steps could not be computed."""

    damping: DampingState
    safe: Psi
    failures: Array


@dataclass(frozen=True)
class LevenbergMarquardt:
    """Damped Gauss-Newton steps on the rows, always taken, with the damping of [TINN, Alg. 1]."""

    damping: Algorithm1 = Algorithm1()
    restarts_on_redraw = False
    forms_jacobian = True

    def init(self, psi: Psi, kinds: int = 1) -> LMState:
        return LMState(self.damping.init(), psi, jnp.asarray(0))

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: LMState,
        layout: Layout,
        spent: Array | float = 0.0,
        changed: Array | bool = True,
    ) -> tuple[Psi, LMState, dict[str, Array]]:
        """One step; also what it saw: the loss before it, the damping used, its length."""
        flat, unravel = ravel_pytree(psi)
        safe, _ = ravel_pytree(state.safe)
        model = Linearised(blocks, psi, data, layout)
        gram, gradient = model.normal_equations()
        split = model.split()
        square = jnp.sum(split)
        mu = state.damping.mu
        delta = solve_damped(gram, gradient, mu)[: flat.size]

        sound = jnp.isfinite(square)
        solved = sound & jnp.all(jnp.isfinite(delta))
        # A failed factorisation leaves ψ where it is; a step into overflow is taken back.
        delta = jnp.where(solved, delta, jnp.where(sound, 0.0, flat - safe))
        damping = jax.tree.map(
            lambda moved, raised: jnp.where(solved, moved, raised),
            self.damping.update(state.damping, square),
            self.damping.raised(state.damping),
        )
        failures = state.failures + (~solved).astype(state.failures.dtype)
        new_safe = jnp.where(sound, flat, safe)
        report = {
            "loss": square,
            "losses": split,
            "damping": mu,
            "step_norm": jnp.linalg.norm(delta),
            "failures": failures,
        }
        return unravel(flat - delta), LMState(damping, unravel(new_safe), failures), report


def solve_damped(
    gram: Float[Array, "P P"], gradient: Float[Array, " P"], mu: Float[Array, ""]
) -> Float[Array, " P"]:
    """(JᵀJ + μI)⁻¹ Jᵀr by Cholesky; not finite where the factorisation fails."""
    matrix = gram + mu * jnp.eye(gram.shape[0], dtype=gram.dtype)
    factor = jax.scipy.linalg.cho_factor(matrix, lower=True)
    return jax.scipy.linalg.cho_solve(factor, gradient)
