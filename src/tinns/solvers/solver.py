"""What a solver is: from a posed problem to a field that satisfies it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Protocol, runtime_checkable

import jax
from jaxtyping import PyTree

from tinns._runtime.interruption import Interruption
from tinns.geometry import Batch, Counts, Domain, QuasiRandom, Sampler
from tinns.nn import Field
from tinns.objective import Block, Psi, Scales, System
from tinns.problem import Problem
from tinns.solvers.checkpoint import Arrays
from tinns.solvers.history import History
from tinns.solvers.progress import Reporter, Silent
from tinns.solvers.stopping import Stop, StopReason

State = PyTree  # of a run: a registered dataclass with everything that the run is
Measure = Callable[[Field, Psi, float, float], float]  # the error over a time span

STATIC = {"static": True}  # a field of a pytree that is not a leaf


@dataclass(frozen=True)
class Task:
    """What is to be solved: a problem, the field that represents it, and the limits.

    `measure` states the error of ψ at look-ups, over a span of time; its time is not counted as
    training.
    """

    problem: Problem
    field: Field
    stop: Stop
    seed: int = 0
    weights: Mapping[str, float] = dataclass_field(default_factory=dict)
    scales: Scales | None = None  # None: rows and unknowns as the problem states them
    hard: tuple[str, ...] = ()
    precision: str = "float64"
    points: Counts = Counts(2500, 250, 100)  # where losses are stated by a solver that has none
    validation: Counts = Counts(2500, 250, 100)
    sampler: Sampler = QuasiRandom()
    measure: Measure | None = None
    reporter: Reporter = Silent()


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Trained:
    """The outcome of a run: its numbers are the leaves of a pytree, its descriptions are static."""

    psi: Psi
    field: Field = dataclass_field(metadata=STATIC)
    domain: Domain = dataclass_field(metadata=STATIC)  # as far as it was solved
    loss: float
    validation_loss: float
    iterations: int
    seconds: float
    compile_seconds: float
    stop_reason: StopReason
    stop_detail: str  # what is at fault, if anything is
    kept_iteration: int  # the iteration whose ψ this is
    history: History
    # Columns of the history that count up.
    counters: tuple[str, ...] = dataclass_field(default=(), metadata=STATIC)
    system: System | None = dataclass_field(default=None, metadata=STATIC)
    # The rows that were minimised in the end, with their weights, and their points.
    blocks: tuple[Block, ...] = dataclass_field(default=(), metadata=STATIC)
    points: tuple[Batch, ...] = ()
    windows: "tuple[Trained, ...]" = ()  # one for each time window, if there are several


@dataclass(frozen=True)
class Stage:
    """One of several time windows: where it lies, and what the window before it found."""

    number: int
    start: float
    end: float
    is_last: bool
    before: "Stage | None" = None
    trained: Trained | None = None  # of the window before


class Run(Protocol):
    """A task being solved: `advance` takes a state from one look-up to the next.

    A state is one pytree that holds everything a run is. `checkpoint.pack` turns it into named
    arrays and `restore` turns these into a state; a run that continues from it repeats the
    uninterrupted one exactly.
    """

    def start(self, stage: Stage | None = None) -> State:
        """The first state."""
        ...

    def restore(self, arrays: Arrays, stage: Stage | None = None, prefix: str = "") -> State:
        """The state that was packed; `prefix` is its path within what was packed."""
        ...

    def advance(self, state: State, stop: Stop) -> State:
        """The state at the next look-up."""
        ...

    def reason(self, state: State, stop: Stop, interrupted: bool = False) -> StopReason | None:
        """Why the run should end at this state, or None."""
        ...

    def finish(self, state: State, reason: StopReason) -> Trained:
        """The outcome."""
        ...

    def outline(self, stage: Stage | None = None) -> Trained:
        """An outcome with the structure that `finish` gives, whose numbers mean nothing."""
        ...

    def report_to(self, reporter: Reporter) -> None:
        """Report progress to another reporter from now on."""
        ...


@runtime_checkable
class Solver(Protocol):
    """A way to solve a task. `prepare` checks it and compiles what every run needs.

    With `in_windows` the run is one of several time windows and is started with a `Stage`.
    """

    def prepare(self, task: Task, in_windows: bool = False) -> Run: ...


def solve_task(solver: Solver, task: Task) -> Trained:
    """Solve a task to its end. The same seed and number of iterations give the same numbers."""
    run = solver.prepare(task)
    return resume(run, run.start(), task.stop)


def resume(run: Run, state: State, stop: Stop) -> Trained:
    """Continue a run from a state to its end."""
    with Interruption() as interruption:
        reason = run.reason(state, stop)
        while reason is None:
            state = run.advance(state, stop)
            reason = run.reason(state, stop, interruption.requested)
    return run.finish(state, reason)
