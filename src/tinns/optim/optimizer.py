"""What the training loop calls: an optimiser's step, whichever optimiser it is."""

from typing import NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import PyTree

from tinns.objective import Objective, Psi

OptimizerState = PyTree  # any tree of arrays


class Clock(NamedTuple):
    """What a step may know about the run.

    Unless `changed`, points and weights are those of the last step, which led to this ψ, and what
    that step found out about ψ still holds.
    """

    spent: Array | float = 0.0  # the share of the budget that is used up, from 0 to 1
    changed: Array | bool = True


FRESH = Clock()  # the start of a run


# Columns of a history that more than their writer reads.
STEP_NORM = "step_norm"
PREDICTED_REDUCTION = "predicted_reduction"
DAMPING = "damping"
FAILURES = "failures"  # of factorisations


class Report(NamedTuple):
    """What a step saw: the losses before it, and how far it went."""

    loss: Array  # ‖r‖²
    losses: Array  # ‖r‖² by kind of row
    step_norm: Array  # 0 where no step was taken
    predicted: Array | None = None  # the share of the loss that the linear model would remove
    columns: dict[str, Array] = {}  # further columns of the history

    def as_columns(self) -> dict[str, Array]:
        """Everything but the split of the loss, by the name that it has in a history."""
        known = {"loss": self.loss, STEP_NORM: self.step_norm, **self.columns}
        predicted = {} if self.predicted is None else {PREDICTED_REDUCTION: self.predicted}
        return known | predicted


@runtime_checkable
class Optimizer(Protocol):
    """One step on the sum of squares: a pure function of ψ and a state.

    An optimiser of your own is a frozen dataclass with these members; a recipe takes it as
    `optimizer=`.
    """

    @property
    def restarts_on_redraw(self) -> bool:
        """Whether the state must be reset when the points change."""
        ...

    @property
    def forms_jacobian(self) -> bool:
        """Whether a step holds Jacobians and JᵀJ, which decides what fits into memory."""
        ...

    @property
    def counters(self) -> tuple[str, ...]:
        """Those of the reported columns that count up from the start of a run."""
        ...

    def init(self, psi: Psi, kinds: int = 1) -> OptimizerState:
        """The first state, for rows of `kinds` kinds."""
        ...

    def step(
        self, objective: Objective, psi: Psi, state: OptimizerState, clock: Clock = FRESH
    ) -> tuple[Psi, OptimizerState, Report]:
        """The next ψ and state, and what the step saw."""
        ...


@runtime_checkable
class MultiProgram(Optimizer, Protocol):
    """An optimiser that comes as several programs, which take turns between iterations."""

    def should_switch(self, state: OptimizerState) -> Array:
        """Whether another program should take the next step from this state."""
        ...

    def program_for(self, state: OptimizerState) -> Optimizer:
        """The program that should take the next step from this state."""
        ...


def program_for(optimizer: Optimizer, state: OptimizerState) -> Optimizer:
    """The program of an optimiser for a state: itself, unless it has several."""
    return optimizer.program_for(state) if isinstance(optimizer, MultiProgram) else optimizer


def should_switch(optimizer: Optimizer, state: OptimizerState) -> Array:
    """Whether another program should take the next step; never where there is one alone."""
    several = isinstance(optimizer, MultiProgram)
    return optimizer.should_switch(state) if several else jnp.asarray(False)


def apply_updates(
    psi: Psi, updates: Psi, state: OptimizerState, loss: Array, losses: Array, rate: Array
) -> tuple[Psi, OptimizerState, Report]:
    """What a step along a gradient returns: ψ after the updates, its state and its report."""
    report = Report(loss, losses, optax.tree.norm(updates), columns={"learning_rate": rate})
    return optax.apply_updates(psi, updates), state, report
