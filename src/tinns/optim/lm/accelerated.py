"""Accelerated Levenberg-Marquardt: gain ratio, rejection, geodesic acceleration.

Damping after H. B. Nielsen, "Damping parameter in Marquardt's method" (1999); acceleration after
M. K. Transtrum and J. P. Sethna, "Improvements to the Levenberg-Marquardt algorithm" (2012).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from tinns.objective import Objective, Psi
from tinns.optim.lm.scaling import ColumnScaling, ScalingState
from tinns.optim.lm.solves import Cholesky, CholeskyQR2, solve, solve_projected
from tinns.optim.optimizer import DAMPING, FAILURES, FRESH, Clock, Report


class AcceleratedState(NamedTuple):
    """The damping and its growth at the next rejection, how steps are solved for, and counts."""

    mu: Array
    growth: Array
    stable: Array  # whether the next step should be solved for by CholeskyQR2
    scaling: ScalingState
    accepted: Array
    rejected: Array
    accelerated: Array
    failures: Array  # steps whose factorisation failed, rejected like any other


class Trial(NamedTuple):
    """A step that was tried at one damping."""

    state: AcceleratedState
    step: Array
    accepted: Array
    tries: Array
    gained: Array  # ln(loss before / loss after), 0 unless accepted
    predicted: Array  # the share of the loss that the linear model would remove


@dataclass(frozen=True)
class AcceleratedLM:
    """Steps are taken only if ‖r‖² falls, μ follows the gain ratio, steps bend along geodesics.

    Steps are solved for by Cholesky until μ nears the round-off of the normal equations, which is
    about ε·trace(JᵀJ). Where a step is rejected below `doubtful` times that, or μ is below
    `hopeless` times that, CholeskyQR2 takes over until μ has risen well above again. The two are
    different programs, which switch between iterations.
    """

    mu0: float = 1.0
    mu_min: float = 1e-18
    mu_max: float = 1e10
    bend: float = 0.5  # longest acceleration taken, relative to the step
    tries: int = 4  # dampings tried per Jacobian before it is computed again
    doubtful: float = 10.0
    hopeless: float = 0.1
    scaling: ColumnScaling | None = ColumnScaling()  # None: plain damping always
    stable: bool = False  # whether this is the program with CholeskyQR2
    restarts_on_redraw = False
    forms_jacobian = True
    counters = ("accepted", "rejected", "accelerated", FAILURES)

    def init(self, psi: Psi, kinds: int = 1) -> AcceleratedState:
        zero = jnp.asarray(0)
        mu, growth = jnp.asarray(self.mu0, float), jnp.asarray(2.0, float)
        scaling = (self.scaling or ColumnScaling()).init()
        stable = jnp.asarray(self.stable)
        return AcceleratedState(mu, growth, stable, scaling, zero, zero, zero, zero)

    def should_switch(self, state: AcceleratedState) -> Array:
        return state.stable != self.stable

    def program_for(self, state: AcceleratedState) -> "AcceleratedLM":
        return replace(self, stable=bool(state.stable))

    def step(
        self, objective: Objective, psi: Psi, state: AcceleratedState, clock: Clock = FRESH
    ) -> tuple[Psi, AcceleratedState, Report]:
        model = objective.linearise(psi)
        gram, gradient = model.normal_equations()
        split = model.split()
        square = jnp.sum(split)
        metric = self.scaling.metric(state.scaling, gram) if self.scaling else jnp.ones(model.width)
        round_off = jnp.finfo(gram.dtype).eps * jnp.sum(jnp.diagonal(gram) / metric)
        start = state.mu

        def attempt(last: Trial) -> Trial:
            state = last.state
            if self.stable:
                factor = CholeskyQR2().factor(model, gram, state.mu * metric)
                velocity = -solve(model, factor, model.rows)
            else:
                factor = Cholesky().factor(model, gram, state.mu * metric)
                velocity = -solve_projected(factor, gradient)
            bend = -solve(model, factor, model.curvature(model.unravel(velocity))) / 2
            bends = _length(bend, metric) <= self.bend * _length(velocity, metric)
            step = velocity + jnp.where(bends, bend, 0.0)
            trial_square = jnp.sum(objective.losses(model.unravel(model.flat + step)))
            predicted = velocity @ (state.mu * metric * velocity - gradient)
            gain = (square - trial_square) / predicted
            accepted = jnp.isfinite(gain) & (gain > 0)

            shrink = jnp.maximum(1 / 3, 1 - (2 * jnp.minimum(gain, 1.5) - 1) ** 3)
            if self.stable:  # back only once μ is well above
                grows, stable = ~accepted, state.mu < 10 * self.doubtful * round_off
            else:  # a rejection in doubt is tried again at the same μ by CholeskyQR2
                doubted = ~accepted & (state.mu < self.doubtful * round_off)
                grows, stable = ~accepted & ~doubted, doubted
            mu = state.mu * jnp.where(accepted, shrink, jnp.where(grows, state.growth, 1.0))
            mu = jnp.clip(mu, self.mu_min, self.mu_max)
            growth = jnp.where(grows, jnp.minimum(2 * state.growth, 1e6), state.growth)
            moved = AcceleratedState(
                mu,
                jnp.where(accepted, 2.0, growth),
                stable | (mu < self.hopeless * round_off),
                state.scaling,
                state.accepted + accepted,
                state.rejected + ~accepted,
                state.accelerated + (accepted & bends),
                state.failures + ~jnp.all(jnp.isfinite(velocity)),
            )
            gained = jnp.where(accepted, jnp.log(square / trial_square), 0.0)
            taken = jnp.where(accepted, step, 0.0)
            return Trial(moved, taken, accepted, last.tries + 1, gained, predicted / square)

        nothing = jnp.zeros_like(square)
        first = Trial(
            state, jnp.zeros_like(model.flat), jnp.asarray(False), jnp.asarray(0), nothing, nothing
        )

        def keeps_going(trial: Trial) -> Array:
            more = ~trial.accepted & (trial.tries < self.tries) & ~self.should_switch(trial.state)
            return more | (trial.tries == 0)

        trial = jax.lax.while_loop(keeps_going, attempt, first)
        moved = trial.state
        if self.scaling:
            mu, scaling = self.scaling.update(moved.scaling, moved.mu, gram, trial.gained)
            moved = moved._replace(mu=jnp.clip(mu, self.mu_min, self.mu_max), scaling=scaling)
        columns = {
            DAMPING: start,
            "stable": jnp.asarray(self.stable, square.dtype),
            "scaled": state.scaling.on.astype(square.dtype),
            "accepted": moved.accepted,
            "rejected": moved.rejected,
            "accelerated": moved.accelerated,
            FAILURES: moved.failures,
        }
        report = Report(square, split, jnp.linalg.norm(trial.step), trial.predicted, columns)
        return model.unravel(model.flat + trial.step), moved, report


def _length(vector: Array, metric: Array) -> Array:
    return jnp.sqrt(jnp.sum(metric * vector**2))
