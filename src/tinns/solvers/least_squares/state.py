"""The state of a run: one value that holds everything the run is."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from tinns.geometry import Batch
from tinns.objective import Psi, System, Window
from tinns.optim import Optimizer, OptimizerState
from tinns.solvers.history import History


class LoopState(NamedTuple):
    """What one iteration of the compiled program hands to the next."""

    psi: Psi
    optimizer: OptimizerState
    factors: Array  # on the weights, by kind of row
    validation: Array  # the validation loss by kind of row, when it was last computed
    changed: Array  # whether points or weights differ from those of the last step
    overfitted: Array  # whether the points should change before the next step
    switching: Array  # whether another program of the optimiser should take the next step
    best: Psi  # the ψ of lowest validation loss so far
    best_validation_loss: Array
    best_iteration: Array  # the number of steps that led to it


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class RunState:
    """Everything a run is: a run continued from it repeats the uninterrupted one exactly."""

    loop: LoopState
    points: tuple[Batch, ...]
    validation: tuple[Batch, ...]
    window: Window | None
    redraw_key: Array  # for the next redrawn points
    batch_key: Array  # for points redrawn inside the compiled program
    rung: int  # on the ladder of point counts
    since: int  # the iteration at which the present points were drawn
    redraws: int
    seconds: float  # of training
    shown: float  # the seconds at the last look-up
    pace: float  # seconds per iteration, in the last call
    history: History

    @property
    def iterations(self) -> int:
        return len(self.history)


def first_loop_state(system: System, optimizer: Optimizer, psi: Psi) -> LoopState:
    kinds = len(system.row_names)
    return LoopState(
        psi,
        optimizer.init(psi, kinds),
        jnp.ones(kinds),
        jnp.full(kinds, jnp.inf),
        jnp.asarray(True),
        jnp.asarray(False),
        jnp.asarray(False),
        psi,
        jnp.asarray(jnp.inf, float),
        jnp.asarray(0),
    )
