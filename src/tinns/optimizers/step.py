"""What the training loop calls: an optimiser's step, whichever optimiser it is."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import optax
from jax import Array

from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block, Data, Psi


@runtime_checkable
class Step(Protocol):
    """A pure function ψ -> ψ with a state, on the rows of one least-squares problem.

    The report holds at least `loss` (‖r‖² before the step) and `losses` (its split by kind of
    row); every other entry, such as the damping, becomes a column of the history.
    """

    @property
    def restarts_on_redraw(self) -> bool:
        """Whether the state must be forgotten when the points change."""
        ...

    @property
    def forms_jacobian(self) -> bool:
        """Whether a step holds Jacobians and JᵀJ, which decides what fits into memory."""
        ...

    def init(self, psi: Psi, kinds: int = 1) -> Any:
        """The first state, for rows of so many kinds."""
        ...

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: Any,
        layout: Layout,
        spent: Array | float = 0.0,
        changed: Array | bool = True,
    ) -> tuple[Psi, Any, dict[str, Array]]:
        """One step; `spent` is the share of the run's budget, from 0 to 1, that is used up.

        Unless `changed`, points and weights are those of the last step, which led to this ψ: what
        it found out about ψ still holds.
        """
        ...


@runtime_checkable
class Relay(Step, Protocol):
    """A step that comes as several programs, which hand over to each other between iterations."""

    def hands_over(self, state: Any) -> Array:
        """Whether another program should go on from this state."""
        ...

    def successor(self, state: Any) -> Step:
        """The step that should go on from this state."""
        ...


def moved(
    psi: Psi, updates: Psi, state: Any, loss: Array, losses: Array, rate: Array
) -> tuple[Psi, Any, dict[str, Array]]:
    """What a step along a gradient returns: ψ after the updates, its state and its report."""
    report = {
        "loss": loss,
        "losses": losses,
        "learning_rate": rate,
        "step_norm": optax.tree.norm(updates),
    }
    return optax.apply_updates(psi, updates), state, report
