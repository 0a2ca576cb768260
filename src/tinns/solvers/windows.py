"""Time windows: one run after another, each from the state and the parameters of the last."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import numpy as np

from tinns._runtime.errors import UserError
from tinns.geometry import Domain, Initial
from tinns.nn.windowed import windowed
from tinns.problem import Problem
from tinns.solvers.checkpoint import Arrays, unpack
from tinns.solvers.history import ITERATION, SECONDS, History
from tinns.solvers.progress import Reporter, Snapshot
from tinns.solvers.solver import Run, Solver, Stage, State, Task, Trained
from tinns.solvers.stopping import Stop, StopReason

WINDOW = "window"  # a column of the history: the number of the window, from 1


def window_edges(windows: int | Sequence[float], domain: Domain) -> tuple[float, ...]:
    """The edges of the windows: of a number of windows of equal length, or as given."""
    if isinstance(windows, int | np.integer) and not isinstance(windows, bool) and windows >= 1:
        return tuple(np.linspace(domain.start, domain.end, int(windows) + 1).tolist())
    edges: tuple[float, ...] = ()
    if isinstance(windows, Sequence | np.ndarray) and not isinstance(windows, str):
        try:
            edges = tuple(float(edge) for edge in windows)
        except (TypeError, ValueError):
            edges = ()
    rises = all(a < b for a, b in itertools.pairwise(edges))
    if len(edges) < 2 or not rises or (edges[0], edges[-1]) != (domain.start, domain.end):
        raise UserError(
            f"windows={windows!r}; expected a whole number >= 1, or rising times from "
            f"{domain.start:g} to {domain.end:g}"
        )
    return edges


@dataclass(frozen=True)
class Windows:
    """Solve on one time window after another, each by the inner solver.

    The start of a window is the end of the one before. Iterations and seconds are those of all
    windows together; what a window leaves over is shared by those after it. After an interruption
    the windows that were begun are returned.
    """

    inner: Solver
    edges: tuple[float, ...]

    def prepare(self, task: Task, in_windows: bool = False) -> "WindowsRun":
        if in_windows:
            raise _nested()
        check_windows(task.problem, task.hard)
        return WindowsRun(self.inner.prepare(task, in_windows=True), task, self.edges)


def _nested() -> UserError:
    return UserError("solver: Windows(...) inside Windows(...); give all edges to one of them")


def check_windows(problem: Problem, hard: tuple[str, ...]) -> None:
    """Refuse what windows that are solved in turn cannot give."""
    if problem.trainable:
        raise UserError(
            f"{problem.name} cannot be solved in time windows: {', '.join(problem.trainable)} "
            "belongs to all of time, while windows solved in turn would each estimate it from "
            "their own data alone; use windows=1"
        )
    named = [c for c in problem.all_conditions() if c.name in hard]
    if any(isinstance(c.region, Initial) for c in named):
        raise UserError(
            f"{problem.name}: hard={hard!r} in time windows: a window starts from the end of the "
            "one before, so every later network would contain all earlier ones; "
            "leave the initial conditions out of hard (boundary values can stay), or use windows=1"
        )


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class WindowsState:
    """The finished windows, and the state of the current one."""

    finished: tuple[Trained, ...]
    current: State


class WindowsRun:
    """A run of `Windows`."""

    def __init__(self, inner: Run, task: Task, edges: tuple[float, ...]) -> None:
        self.inner, self.task, self.edges = inner, task, edges
        self.reporter = task.reporter

    def start(self, stage: Stage | None = None) -> WindowsState:
        return self._begin(())

    def restore(self, arrays: Arrays, stage: Stage | None = None, prefix: str = "") -> WindowsState:
        below = f"{prefix}/" if prefix else ""
        finished: tuple[Trained, ...] = ()
        while any(name.startswith(f"{below}finished/{len(finished)}/") for name in arrays):
            outline = self.inner.outline(self._stage(finished))
            restored = unpack(arrays, outline, f"{below}finished/{len(finished)}")
            finished = (*finished, restored)
        self._report_window(finished)
        current = self.inner.restore(arrays, self._stage(finished), f"{below}current")
        return WindowsState(finished, current)

    def advance(self, state: WindowsState, stop: Stop) -> WindowsState:
        own = self._stop(state, stop)
        reason = self.inner.reason(state.current, own)
        if reason is None:
            return replace(state, current=self.inner.advance(state.current, own))
        # What only the last window needs is not kept of the others.
        trained = replace(self.inner.finish(state.current, reason), blocks=(), points=())
        return self._begin((*state.finished, trained))

    def reason(
        self, state: WindowsState, stop: Stop, interrupted: bool = False
    ) -> StopReason | None:
        """Why all windows end: the reason of the last one, or of one that failed."""
        if interrupted:
            return StopReason.INTERRUPTED
        reason = self.inner.reason(state.current, self._stop(state, stop))
        is_last = len(state.finished) == len(self.edges) - 2
        return reason if is_last or (reason is not None and reason.is_failure) else None

    def finish(self, state: WindowsState, reason: StopReason) -> Trained:
        """All windows as one outcome; its losses are means over the windows."""
        parts = (*state.finished, self.inner.finish(state.current, reason))
        return joined(parts, self.edges[: len(parts) + 1], self.task)

    def outline(self, stage: Stage | None = None) -> Trained:
        raise _nested()

    def report_to(self, reporter: Reporter) -> None:
        self.reporter = reporter

    def _begin(self, finished: tuple[Trained, ...]) -> WindowsState:
        self._report_window(finished)
        return WindowsState(finished, self.inner.start(self._stage(finished)))

    def _report_window(self, finished: tuple[Trained, ...]) -> None:
        """Let the inner run report as the window after the finished ones."""
        count = len(self.edges) - 1
        self.inner.report_to(WindowReporter.after(finished, count, self.reporter))

    def _stage(self, finished: tuple[Trained, ...]) -> Stage:
        """The window after the finished ones."""
        number, count = len(finished), len(self.edges) - 1
        before = None
        if finished:
            before = Stage(number - 1, self.edges[number - 1], self.edges[number], False)
        start, end = self.edges[number : number + 2]
        trained = finished[-1] if finished else None
        return Stage(number, start, end, number == count - 1, before, trained)

    def _stop(self, state: WindowsState, stop: Stop) -> Stop:
        done = state.finished
        left = len(self.edges) - 1 - len(done)
        return stop.share(sum(t.iterations for t in done), sum(t.seconds for t in done), left)


def joined(parts: Sequence[Trained], edges: tuple[float, ...], task: Task) -> Trained:
    """All windows as one run."""
    history = History()
    iterations, seconds = 0, 0.0
    for number, part in enumerate(parts):
        columns = dict(part.history.columns)
        columns[ITERATION] = columns[ITERATION] + iterations
        columns[SECONDS] = columns[SECONDS] + seconds
        columns[WINDOW] = np.full(part.iterations, number + 1.0)
        for name in set(part.counters) & columns.keys() & history.columns.keys():
            columns[name] = columns[name] + history[name][-1]
        history = history.extended(columns)
        iterations, seconds = iterations + part.iterations, seconds + part.seconds
    last, psis = parts[-1], [part.psi["field"] for part in parts]
    field, align = last.field, getattr(last.field, "aligned", None)
    if align is not None:
        field, psis = align(psis)
    failed = next((part for part in parts if part.stop_reason.is_failure), last)
    shown = last if last.stop_reason is StopReason.INTERRUPTED else failed
    return replace(
        last,
        psi={"field": psis, "coefficients": {}},
        field=windowed(field, edges),
        domain=task.problem.domain.over(edges[0], edges[-1]),
        loss=float(np.mean([part.loss for part in parts])),
        validation_loss=float(np.mean([part.validation_loss for part in parts])),
        iterations=iterations,
        seconds=seconds,
        stop_reason=shown.stop_reason,
        stop_detail=shown.stop_detail,
        kept_iteration=iterations - last.iterations + last.kept_iteration,
        history=history,
        windows=tuple(parts),
    )


@dataclass(frozen=True)
class WindowReporter:
    """A reporter that counts over all windows and names the one being solved."""

    inner: Reporter
    label: str
    iterations: int
    seconds: float

    @classmethod
    def after(cls, done: Sequence[Trained], count: int, inner: Reporter) -> "WindowReporter":
        """The reporter of the window that follows `done`."""
        iterations, seconds = sum(t.iterations for t in done), sum(t.seconds for t in done)
        return cls(inner, f"window {len(done) + 1} of {count}", iterations, seconds)

    def status(self, activity: str) -> None:
        self.inner.status(f"{self.label}: {activity}")

    def notice(self, fact: str) -> None:
        self.inner.notice(fact)

    def update(self, snapshot: Snapshot) -> None:
        self.inner.update(
            replace(
                snapshot,
                iteration=snapshot.iteration + self.iterations,
                seconds=snapshot.seconds + self.seconds,
                label=self.label,
            )
        )
