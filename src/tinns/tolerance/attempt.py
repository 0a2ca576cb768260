"""A recipe being run, advanced in pieces; it may continue from the parameters of another run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.interruption import Interruption
from tinns.geometry import Domain
from tinns.nn import Growth
from tinns.objective import Psi
from tinns.optim.lm.accelerated import AcceleratedState
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe
from tinns.solution.monitor import Monitor
from tinns.solvers import RunState, Stop, StopReason, Task, Trained
from tinns.solvers.history import ITERATION, LOSS, SECONDS, VALIDATION_LOSS, History
from tinns.solvers.least_squares.training import Training
from tinns.solvers.progress import Reporter
from tinns.solvers.solver import Measure

RECENT = 5  # iterations over which a loss is smoothed
LEAST_RECORD = 12  # iterations that a rate needs


@dataclass(frozen=True)
class Case:
    """What all attempts share."""

    problem: Problem
    seed: int
    reporter: Reporter
    measure: Measure | None = None

    @property
    def domain(self) -> Domain:
        return self.problem.domain

    def task(self, recipe: Recipe, windows: int = 1) -> Task:
        measure = self.measure
        if measure is not None and windows > 1:
            measure = Monitor(self.problem, windows)
        return recipe.task(self.problem, self.seed, measure, self.reporter, windows)


@dataclass(frozen=True)
class Origin:
    """Where an attempt continues: the state of another one, and how its network grew since."""

    state: RunState
    growth: Growth | None = None


class Attempt:
    """A run of a recipe in a single time window."""

    def __init__(self, case: Case, recipe: Recipe, origin: Origin | None = None) -> None:
        self.case, self.recipe = case, recipe
        self.task = case.task(recipe)
        self.training = Training(recipe.least_squares(), self.task)
        state = self.training.start()
        self.state: RunState = state if origin is None else self._continued(state, origin)
        self.reason: StopReason | None = None

    @property
    def seconds(self) -> float:
        """Seconds of training in this attempt."""
        return self.state.seconds

    @property
    def iterations(self) -> int:
        return self.state.iterations

    @property
    def parameters(self) -> int:
        return sum(np.size(leaf) for leaf in jax.tree.leaves(self.state.loop.psi))

    def advance(
        self, seconds: float, target: float | None = None, iterations: int | None = None
    ) -> StopReason:
        """Train for so many seconds or iterations more; end at a validation loss of `target`."""
        most = None if iterations is None else self.iterations + iterations
        stop = Stop(most, self.seconds + seconds, patience=self.recipe.stop.patience)
        training, began = self.training, self.iterations
        with Interruption() as interruption:
            while True:
                reason = training.reason(self.state, stop, interruption.requested)
                if reason is None and target is not None and self.iterations >= began + RECENT:
                    reason = StopReason.TARGET if self.loss <= target else None
                if reason is not None:
                    self.reason = reason
                    return reason
                self.state = training.advance(self.state, stop)

    @property
    def loss(self) -> float:
        """The validation loss of the last iterations."""
        return self.loss_at(np.inf)

    def loss_at(self, seconds: float) -> float:
        """The validation loss of the last iterations before a time; infinite if it is not known."""
        history = self.state.history
        if not len(history):
            return np.inf
        last = max(np.searchsorted(history[SECONDS], seconds, side="right"), 1)
        loss = float(np.median(history[VALIDATION_LOSS][:last][-RECENT:]))
        return np.inf if np.isnan(loss) else loss

    @property
    def overfit(self) -> float:
        """The validation loss relative to the training loss, in the last iterations."""
        history = self.state.history
        if not len(history):
            return 1.0
        return self.loss / max(float(np.median(history[LOSS][-RECENT:])), 1e-300)

    def rate(self) -> float:
        """Powers of ten by which the validation loss falls per second, lately."""
        history = self.state.history
        seconds, losses = history[SECONDS], history[VALIDATION_LOSS]
        recent = max(len(seconds) // 2, LEAST_RECORD)
        seconds, losses = seconds[-recent:], np.maximum(losses[-recent:], 1e-300)
        finite = np.isfinite(losses)
        if np.count_nonzero(finite) < 3:
            return 0.0
        return float(-np.polyfit(seconds[finite], np.log10(losses[finite]), 1)[0])

    def time_to(self, loss: float) -> float:
        """Seconds until the validation loss is so low, if it goes on falling as it does."""
        if self.loss <= loss:
            return 0.0
        rate = self.rate()
        return float(np.log10(self.loss / loss) / rate) if rate > 0 else np.inf

    def trained(self) -> Trained:
        """The outcome so far."""
        return self.training.finish(self.state, self.reason or StopReason.SECONDS)

    def _continued(self, state: RunState, origin: Origin) -> RunState:
        """The first state with the parameters, and the damping, of the other run."""
        before, own = origin.state.loop, state.loop
        psi: Psi = before.psi
        if origin.growth is not None:
            grown = origin.growth.continued(psi["field"], own.psi["field"])
            psi = psi | {"field": grown}
        psi = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)), psi)
        loop = self.training.runner.first_loop_state(psi)
        if isinstance(before.optimizer, AcceleratedState):
            optimizer = cast(AcceleratedState, loop.optimizer)
            mu = jnp.asarray(np.asarray(before.optimizer.mu))
            loop = loop._replace(optimizer=optimizer._replace(mu=mu))
        return replace(state, loop=loop)


def one_history(parts: Sequence[tuple[float, History]]) -> History:
    """Histories one after the other, each begun after so many seconds of training in all."""
    whole = History()
    for seconds, part in parts:
        if not len(part):
            continue
        moved = {
            ITERATION: part[ITERATION] + len(whole),
            SECONDS: part[SECONDS] + seconds,
        }
        whole = whole.extended(part.columns | moved)
    return whole
