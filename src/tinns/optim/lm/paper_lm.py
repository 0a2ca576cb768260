"""The paper's Levenberg-Marquardt: ψ ← ψ - (JᵀJ + μI)⁻¹ Jᵀr, every step taken."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from tinns.objective import Objective, Psi
from tinns.optim.lm.paper_damping import DampingState, PaperDamping
from tinns.optim.optimizer import DAMPING, FAILURES, FRESH, Clock, Report


class LMState(NamedTuple):
    """The damping, the last ψ whose loss was finite, and how many steps could not be computed."""

    damping: DampingState
    safe: Psi
    failures: Array


@dataclass(frozen=True)
class PaperLM:
    """Damped Gauss-Newton steps on the rows, always taken, with the damping of [TINN, Alg. 1]."""

    damping: PaperDamping = PaperDamping()
    restarts_on_redraw = False
    forms_jacobian = True
    counters = (FAILURES,)

    def init(self, psi: Psi, kinds: int = 1) -> LMState:
        return LMState(self.damping.init(), psi, jnp.asarray(0))

    def step(
        self, objective: Objective, psi: Psi, state: LMState, clock: Clock = FRESH
    ) -> tuple[Psi, LMState, Report]:
        flat, unravel = ravel_pytree(psi)
        safe, _ = ravel_pytree(state.safe)
        model = objective.linearise(psi)
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
        columns = {DAMPING: mu, FAILURES: failures}
        report = Report(square, split, jnp.linalg.norm(delta), columns=columns)
        return unravel(flat - delta), LMState(damping, unravel(new_safe), failures), report


def solve_damped(
    gram: Float[Array, "P P"], gradient: Float[Array, " P"], mu: Float[Array, ""]
) -> Float[Array, " P"]:
    """(JᵀJ + μI)⁻¹ Jᵀr by Cholesky; not finite where the factorisation fails."""
    matrix = gram + mu * jnp.eye(gram.shape[0], dtype=gram.dtype)
    factor = jax.scipy.linalg.cho_factor(matrix, lower=True)
    return jax.scipy.linalg.cho_solve(factor, gradient)
