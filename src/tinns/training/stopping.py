"""Why a run ends: one stated reason, with a usable result whichever it is."""

import _thread
import gc
import signal
import threading
from types import FrameType
from typing import Any

import numpy as np

from tinns.recipe import Stop
from tinns.training.history import History

FLOOR_ITERATIONS = 8  # iterations in a row of which no try, however damped, lowered the loss
CONVERGED_ITERATIONS = 10  # iterations in a row whose linear model promised next to nothing
CONVERGED_PROMISE = 1e-10  # of the loss
TIME_IS_UP = "time is up"
LATER = 0.02  # seconds


def stop_reason(stop: Stop, history: History, loss: float, interrupted: bool) -> str | None:
    """The reason to stop now, or None."""
    if interrupted:
        return "interrupted"
    if not np.isfinite(loss):
        return "diverged"
    if stop.target_loss is not None and loss <= stop.target_loss:
        return "target loss reached"
    if stop.iterations is not None and len(history) >= stop.iterations:
        return "iterations done"
    if stop.seconds is not None and history["seconds"][-1] >= stop.seconds:
        return TIME_IS_UP
    if _lasts(history, "step_norm", FLOOR_ITERATIONS, 0.0):
        return "precision floor"
    if _lasts(history, "promise", CONVERGED_ITERATIONS, CONVERGED_PROMISE):
        return "converged"
    if stop.patience is not None and _stagnated(history["validation_loss"], stop.patience):
        return "stagnated"
    return None


def _lasts(history: History, name: str, count: int, bound: float) -> bool:
    """Whether a column was at most `bound` for the last `count` iterations."""
    if name not in history or len(history) < count:
        return False
    return bool(np.all(history[name][-count:] <= bound))


def _stagnated(losses: np.ndarray, patience: int) -> bool:
    if len(losses) <= 2 * patience:
        return False
    return bool(np.nanmin(losses[-patience:]) > 0.99 * np.nanmin(losses[:-patience]))


class Interruption:
    """Turns the first Ctrl-C into a request to stop at the next look-up; the second one raises.

    With `at_once` the first one raises too. Where Python would drop the exception, it is raised a
    little later; where it was dropped all the same, an `Interruption` inside raises as it begins.
    Only the main thread receives signals; elsewhere `asked` stays False.
    """

    def __init__(self, at_once: bool = False) -> None:
        self.at_once = at_once
        self.asked = False
        self._previous: Any = None

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            outer = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
            if isinstance(outer, Interruption) and outer.asked:
                raise KeyboardInterrupt
            self._previous = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: FrameType | None) -> None:
        raises = self.asked or self.at_once
        self.asked = True
        if raises and _drops_exceptions(frame):
            threading.Timer(LATER, _thread.interrupt_main).start()
        elif raises:
            raise KeyboardInterrupt

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


def _drops_exceptions(frame: FrameType | None) -> bool:
    """Whether this is a callback of the garbage collector, such as JAX has one, or of a weakref."""
    codes = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in codes or frame.f_globals.get("__name__") == "weakref":
            return True
        frame = frame.f_back
    return False
