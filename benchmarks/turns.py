"""Several runs on one device: they compile and estimate side by side and take turns at training."""

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from multiprocessing.synchronize import Lock
from typing import Any

from tinns.optim.optimizer import program_for
from tinns.solvers.least_squares.runner import Runner
from tinns.tolerance import search


def in_processes(jobs: int, run: Callable[..., None], calls: list[tuple[Any, ...]]) -> None:
    """`run(*call)` for each call, at most so many at once, in processes of their own."""
    context = get_context("spawn")
    with ProcessPoolExecutor(
        jobs, context, initializer=take_turns, initargs=(context.Lock(),), max_tasks_per_child=1
    ) as pool:
        for future in as_completed([pool.submit(run, *call) for call in calls]):
            future.result()


def take_turns(turn: Lock) -> None:
    """From now on this process trains only in its turn; what it waits is not counted."""
    steps = Runner.steps

    def in_turn(self: Runner, state: Any, call: Any) -> Any:
        self._steps(program_for(self.settings.optimizer, state.loop.optimizer), state, call)
        with turn:
            return steps(self, state, call)

    Runner.steps = in_turn  # type: ignore[method-assign]
    search.WALL = math.inf  # the wall clock says nothing here
