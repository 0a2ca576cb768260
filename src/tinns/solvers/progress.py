"""What a user sees while a run is on: one line that moves."""

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from tinns.solvers.stopping import Stop


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at a look-up."""

    iteration: int
    seconds: float
    loss: float
    validation_loss: float
    damping: float | None
    relative_l2: float | None
    label: str = ""  # which part of the run this is


class Reporter(Protocol):
    """Told what a run is doing; nothing comes back from it."""

    def status(self, activity: str) -> None: ...

    def notice(self, fact: str) -> None: ...

    def update(self, snapshot: Snapshot) -> None: ...


class Silent:
    """A reporter that shows nothing."""

    def status(self, activity: str) -> None:
        pass

    def notice(self, fact: str) -> None:
        pass

    def update(self, snapshot: Snapshot) -> None:
        pass


class ProgressLine:
    """A reporter that draws a rich progress line."""

    def __init__(self, progress: Progress, stop: Stop) -> None:
        self.progress = progress
        self.stop = stop
        self.task = progress.add_task("starting", total=None)

    def status(self, activity: str) -> None:
        self.progress.update(self.task, description=activity)

    def notice(self, fact: str) -> None:
        self.progress.console.print(fact)

    def update(self, snapshot: Snapshot) -> None:
        done, left = remaining(snapshot, self.stop)
        parts = [snapshot.label] if snapshot.label else []
        parts += [f"it {snapshot.iteration}", f"loss {snapshot.loss:.2e}"]
        parts.append(f"val/train {snapshot.validation_loss / max(snapshot.loss, 1e-300):.2f}")
        if snapshot.damping is not None:
            parts.append(f"μ {snapshot.damping:.1e}")
        if snapshot.relative_l2 is not None:
            parts.append(f"error {snapshot.relative_l2:.2e}")
        parts.append(f"{snapshot.seconds:.0f} s, {left:.0f} s left")
        self.progress.update(self.task, total=1.0, completed=done, description="  ".join(parts))


def remaining(snapshot: Snapshot, stop: Stop) -> tuple[float, float]:
    """The share of the budget used, and the seconds left at the present pace."""
    shares = [0.0]
    if stop.iterations:
        shares.append(snapshot.iteration / stop.iterations)
    if stop.seconds:
        shares.append(snapshot.seconds / stop.seconds)
    done = min(max(shares), 1.0)
    left = snapshot.seconds * (1 - done) / done if done > 0 else math.nan
    return done, left


@contextmanager
def reporting(stop: Stop, shown: bool, console: Console | None = None):
    """A reporter for the length of a run: a progress line, or silence."""
    if not shown:
        yield Silent()
        return
    console = console or Console(stderr=True)
    bar = [BarColumn(bar_width=20)] if console.width >= 110 else []  # the numbers come first
    columns = (SpinnerColumn(), *bar, TextColumn("{task.description}"))
    with Progress(*columns, console=console) as progress:
        yield ProgressLine(progress, stop)
