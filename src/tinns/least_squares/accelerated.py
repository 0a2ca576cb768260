"""Levenberg-Marquardt that looks before it steps: gain ratio, rejection, geodesic acceleration.

Damping after H. B. Nielsen, "Damping parameter in Marquardt's method" (1999); acceleration after
M. K. Transtrum and J. P. Sethna, "Improvements to the Levenberg-Marquardt algorithm" (2012).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from tinns.least_squares.linearised import Linearised
from tinns.least_squares.rows import Block, Data, Psi, losses
from tinns.least_squares.solves import Cholesky, CholeskyQR2, solve


class AcceleratedState(NamedTuple):
    """The damping, its growth factor at the next rejection, and counts of what happened."""

    mu: Array
    growth: Array
    rejected: Array
    accelerated: Array
    failures: Array  # steps whose factorisation failed, rejected like any other


class Trial(NamedTuple):
    """A step that was tried at one damping."""

    state: AcceleratedState
    step: Array
    accepted: Array
    tries: Array


@dataclass(frozen=True)
class AcceleratedLM:
    """Steps are taken only if ‖r‖² falls, μ follows the gain ratio, steps bend along geodesics."""

    mu0: float = 1.0
    mu_min: float = 1e-14
    mu_max: float = 1e10
    bend: float = 0.5  # longest acceleration taken, relative to the step
    tries: int = 4  # dampings tried per Jacobian before it is computed again
    stable_below: float = 0.1  # μ, in units of round-off · trace(JᵀJ), that calls for CholeskyQR2
    restarts_on_redraw = False

    def init(self, psi: Psi) -> AcceleratedState:
        zero = jnp.asarray(0)
        mu, growth = jnp.asarray(self.mu0, float), jnp.asarray(2.0, float)
        return AcceleratedState(mu, growth, zero, zero, zero)

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: AcceleratedState,
        chunk: int,
    ) -> tuple[Psi, AcceleratedState, dict[str, Array]]:
        flat, unravel = ravel_pytree(psi)
        model = Linearised(blocks, psi, data, chunk)
        gram, gradient, split = model.gram(), model.transposed(model.rows), model.split()
        square = jnp.sum(split)
        floor = self.stable_below * jnp.finfo(gram.dtype).eps * jnp.trace(gram)

        def attempt(last: Trial) -> Trial:
            state = last.state
            factor = jax.lax.cond(
                state.mu < floor,
                lambda mu: CholeskyQR2().factor(model, gram, mu),
                lambda mu: Cholesky().factor(model, gram, mu),
                state.mu,
            )
            velocity = -solve(model, factor, model.rows)
            bend = -solve(model, factor, model.curvature(unravel(velocity))) / 2
            bends = jnp.linalg.norm(bend) <= self.bend * jnp.linalg.norm(velocity)
            step = velocity + jnp.where(bends, bend, 0.0)
            trial_square = jnp.sum(losses(blocks, unravel(flat + step), data, chunk))
            predicted = velocity @ (state.mu * velocity - gradient)
            gain = (square - trial_square) / predicted
            accepted = jnp.isfinite(gain) & (gain > 0)
            shrink = jnp.maximum(1 / 3, 1 - (2 * jnp.minimum(gain, 1.5) - 1) ** 3)
            mu = state.mu * jnp.where(accepted, shrink, state.growth)
            moved = AcceleratedState(
                jnp.clip(mu, self.mu_min, self.mu_max),
                jnp.where(accepted, 2.0, jnp.minimum(2 * state.growth, 1e6)),
                state.rejected + ~accepted,
                state.accelerated + (accepted & bends),
                state.failures + ~jnp.all(jnp.isfinite(velocity)),
            )
            return Trial(moved, jnp.where(accepted, step, 0.0), accepted, last.tries + 1)

        first = Trial(state, jnp.zeros_like(flat), jnp.asarray(False), jnp.asarray(0))
        trial = jax.lax.while_loop(
            lambda trial: ~trial.accepted & (trial.tries < self.tries), attempt, first
        )
        report = {
            "loss": square,
            "losses": split,
            "damping": state.mu,
            "stable": (state.mu < floor).astype(square.dtype),
            "step_norm": jnp.linalg.norm(trial.step),
            "rejected": trial.state.rejected,
            "accelerated": trial.state.accelerated,
            "failures": trial.state.failures,
        }
        return unravel(flat + trial.step), trial.state, report
