"""When a run ends, and why: one reason, with a usable result whichever it is."""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tinns._runtime.errors import UserError
from tinns.optim.optimizer import FAILURES, PREDICTED_REDUCTION, STEP_NORM
from tinns.solvers.history import LOSS, SECONDS, VALIDATION_LOSS, History

FLOOR_ITERATIONS = 8  # iterations in a row in which no trial step lowered the loss
CONVERGED_ITERATIONS = 10  # iterations in a row with next to no predicted reduction
CONVERGED_REDUCTION = 1e-10  # of the loss


@dataclass(frozen=True)
class Stop:
    """When to stop: whichever comes first; None means never for that reason.

    Stagnation: the best validation loss of the last `patience` iterations is not below 99 % of the
    best before them.
    """

    iterations: int | None = None
    seconds: float | None = None
    target_loss: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            whole = name in ("iterations", "patience")
            kind = "whole number" if whole else "number"
            good = isinstance(limit, int if whole else int | float) and 0 < limit < math.inf
            if limit is not None and not good:
                raise UserError(f"{name}: expected a positive {kind}, got {limit!r}")
        if self.iterations is None and self.seconds is None:
            raise UserError("a run needs a limit: give iterations or seconds")

    def share(self, iterations: int, seconds: float, parts: int) -> "Stop":
        """The limits of the next of `parts` parts, when so much has been used up."""
        most, longest = self.iterations, self.seconds
        if most is not None:
            most = max(1, (most - iterations) // parts)
        if longest is not None:
            longest = max(1e-3, (longest - seconds) / parts)
        return replace(self, iterations=most, seconds=longest)


class StopReason(StrEnum):
    """Why a run ended. The value is what records hold; `sentence` is for people."""

    TARGET = "target loss reached"
    ITERATIONS = "iterations done"
    SECONDS = "time is up"
    CONVERGED = "converged"
    PRECISION_FLOOR = "precision floor"
    STAGNATED = "stagnated"
    REACHED_END = "reached the end"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    NO_STEP = "no step was accepted"
    FACTORISATION = "every factorisation failed"

    @property
    def sentence(self) -> str:
        """What it means."""
        return SENTENCES[self]

    @property
    def is_failure(self) -> bool:
        """Whether the result is not worth using."""
        return self in (StopReason.DIVERGED, StopReason.NO_STEP, StopReason.FACTORISATION)

    @property
    def is_limit(self) -> bool:
        """Whether the run was cut off: more time might have helped."""
        return self in (StopReason.SECONDS, StopReason.ITERATIONS, StopReason.INTERRUPTED)


SENTENCES = {
    StopReason.TARGET: "The loss fell to the target.",
    StopReason.ITERATIONS: "All iterations were done.",
    StopReason.SECONDS: "The time was used up.",
    StopReason.CONVERGED: "The linear model predicts next to no further reduction of the loss.",
    StopReason.PRECISION_FLOOR: "No step lowers the loss any more: rounding errors limit it.",
    StopReason.STAGNATED: "The validation loss no longer falls.",
    StopReason.REACHED_END: "The end of the time interval was reached.",
    StopReason.INTERRUPTED: "The user stopped the run.",
    StopReason.DIVERGED: "The loss is not finite.",
    StopReason.NO_STEP: "No step was ever accepted: the result is the random start.",
    StopReason.FACTORISATION: (
        "The factorisation failed at every iteration: the result is the random start."
    ),
}


def stop_reason(stop: Stop, history: History, interrupted: bool = False) -> StopReason | None:
    """The reason to stop now, or None."""
    if interrupted:
        return StopReason.INTERRUPTED
    if not len(history):
        return None
    loss = history[LOSS][-1]
    if not np.isfinite(loss):
        return StopReason.DIVERGED
    if stop.target_loss is not None and loss <= stop.target_loss:
        return StopReason.TARGET
    never_moved = _unmoved(history, len(history))
    if never_moved and len(history) >= FLOOR_ITERATIONS:
        return _failure(history)
    if stop.iterations is not None and len(history) >= stop.iterations:
        return _failure(history) if never_moved else StopReason.ITERATIONS
    if stop.seconds is not None and history[SECONDS][-1] >= stop.seconds:
        return _failure(history) if never_moved else StopReason.SECONDS
    if _unmoved(history, FLOOR_ITERATIONS):
        return StopReason.PRECISION_FLOOR
    if _converged(history):
        return StopReason.CONVERGED
    if stop.patience is not None and _stagnated(history[VALIDATION_LOSS], stop.patience):
        return StopReason.STAGNATED
    return None


def _failure(history: History) -> StopReason:
    """The reason of a run that never moved: no step, or no factorisation, was possible."""
    attempts = len(history)
    if FAILURES in history and history[FAILURES][-1] >= attempts:
        return StopReason.FACTORISATION
    return StopReason.NO_STEP


def _unmoved(history: History, count: int) -> bool:
    """Whether the last `count` iterations took no step; one that is not finite is none."""
    if STEP_NORM not in history or len(history) < count:
        return False
    return not np.any(history[STEP_NORM][-count:] > 0)


def _converged(history: History) -> bool:
    if PREDICTED_REDUCTION not in history or len(history) < CONVERGED_ITERATIONS:
        return False
    last = history[PREDICTED_REDUCTION][-CONVERGED_ITERATIONS:]
    return bool(np.all(last <= CONVERGED_REDUCTION))


def _stagnated(losses: np.ndarray, patience: int) -> bool:
    if len(losses) <= 2 * patience:
        return False
    return bool(np.nanmin(losses[-patience:]) > 0.99 * np.nanmin(losses[:-patience]))
