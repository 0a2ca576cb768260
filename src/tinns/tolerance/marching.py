"""Time windows whose lengths follow the convergence of the training in them."""

from dataclasses import dataclass

import numpy as np

from tinns._runtime.interruption import Interruption
from tinns.recipes.recipe import Recipe
from tinns.solvers import RunState, Stage, Stop, StopReason, Trained
from tinns.solvers.history import LOSS, VALIDATION_LOSS, History
from tinns.solvers.least_squares.training import Training
from tinns.solvers.windows import WindowReporter, check_windows, joined
from tinns.tolerance.attempt import RECENT, Case

HALVINGS = 4  # of windows that do not converge, at most in all
POOR = 1e3  # a window that ends with a loss so far above the target is halved
EASY, LONGER = (
    0.4,
    1.5,
)  # a window that took so small a part of its time is followed by a longer one


@dataclass(frozen=True)
class Marched:
    """The solution over all windows, or None if it was interrupted, and the seconds spent."""

    trained: Trained | None
    edges: tuple[float, ...]
    seconds: float
    halvings: int


class March:
    """Solves in one window after another, all by one compiled program.

    A window has its share of the remaining time. One that is far from converged after it is halved
    and solved again, and one that converges early is followed by a longer one.
    """

    def __init__(self, case: Case, recipe: Recipe, windows: int) -> None:
        check_windows(case.problem, recipe.hard)
        self.case, self.recipe, self.windows = case, recipe, windows
        self.task = case.task(recipe, windows)
        self.training = Training(recipe.least_squares(), self.task, in_windows=True)

    def run(self, seconds: float, target: float) -> Marched:
        """March through time; windows end at a validation loss of `target`."""
        domain = self.case.domain
        span = (domain.end - domain.start) / self.windows
        length, spent, halvings = span, 0.0, 0
        edges, parts, stages = (domain.start,), [], []
        with Interruption() as interruption:
            while edges[-1] < domain.end:
                rest = domain.end - edges[-1]
                length = rest if rest < 1.25 * length else length
                stage = self._stage(stages, parts, edges[-1], edges[-1] + length, domain.end)
                self._report(parts, rest / length)
                share = max(seconds - spent, 0.05 * seconds) * length / rest
                state, reason = self._solved(stage, share, target, interruption)
                spent += state.seconds
                if reason is StopReason.INTERRUPTED:
                    return Marched(None, edges, spent, halvings)
                poor = not _loss(state.history) <= POOR * target
                if poor and halvings < HALVINGS and spent + share < seconds:
                    length, halvings = length / 2, halvings + 1
                    continue
                parts.append(self.training.finish(state, reason))
                stages.append(stage)
                edges = (*edges, stage.end)
                if state.seconds < EASY * share:
                    length *= LONGER
        if len(parts) == 1:
            return Marched(None, edges, spent, halvings)
        return Marched(joined(parts, edges, self.task), edges, spent, halvings)

    def _solved(
        self, stage: Stage, share: float, target: float, interruption: Interruption
    ) -> tuple[RunState, StopReason]:
        """The state at which a window ends, and why."""
        training, stop = self.training, Stop(seconds=share, patience=self.recipe.stop.patience)
        state = training.start(stage)
        while True:
            reason = training.reason(state, stop, interruption.requested)
            if reason is None and state.iterations >= RECENT and _loss(state.history) <= target:
                reason = StopReason.TARGET
            if reason is not None:
                return state, reason
            state = training.advance(state, stop)

    def _stage(
        self, stages: list[Stage], parts: list[Trained], start: float, end: float, last: float
    ) -> Stage:
        before = None
        if stages:
            done = stages[-1]
            before = Stage(done.number, done.start, done.end, False)
        trained = parts[-1] if parts else None
        return Stage(len(parts), start, end, end >= last, before, trained)

    def _report(self, parts: list[Trained], left: float) -> None:
        count = len(parts) + max(1, round(left))
        self.training.report_to(WindowReporter.after(parts, count, self.case.reporter))


def _loss(history: History) -> float:
    column = history[VALIDATION_LOSS] if VALIDATION_LOSS in history else history[LOSS]
    return float(np.median(column[-RECENT:])) if len(history) else np.inf
