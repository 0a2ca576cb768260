"""What a user sees while cells are run: a line for each that ends and, on a terminal, a bar."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tinns.bench.cells import DONE, Cell, Record

SHORTEST = 60  # characters of a reason


class Display:
    """Told what is run; nothing comes back from it."""

    def __init__(
        self,
        console: Console,
        seconds: float | None = None,
        quiet: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.console = console
        self.quiet = quiet
        self.usual = seconds  # of a cell, where the profile fixes them
        self.clock = clock
        self.before = 0.0  # when the last cell ended, or the first one began
        self.spent: list[float] = []  # from one end to the next, however many run at once
        self.total = self.done = 0
        self._progress: Progress | None = None
        self._task = None

    @contextmanager
    def showing(self, total: int, kept: int) -> Iterator[None]:
        """For the length of a bench."""
        self.total, self.done, self.before = total, 0, self.clock()
        if kept and not self.quiet:
            self.says(f"{kept} of {kept + total} cells are there already")
        if self.quiet or not self.console.is_terminal or not total:
            yield
            return
        columns = (
            SpinnerColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.completed}/{task.total} cells"),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=self.console, transient=True) as self._progress:
            self._task = self._progress.add_task("", total=total)
            yield
        self._progress = None

    def says(self, fact: str) -> None:
        if not self.quiet:
            self.console.print(escape(fact), soft_wrap=True, highlight=False)

    def begins(self, cell: Cell) -> None:
        if self._progress is not None and self._task is not None:
            left = self.left()
            told = "" if left is None else f"  about {timedelta(seconds=round(left))} left"
            self._progress.update(self._task, description=f"{escape(cell.name)}{told}")

    def ended(self, cell: Cell, record: Record) -> None:
        self.done += 1
        now = self.clock()
        self.spent.append(now - self.before)
        self.before = now
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=self.done)
        self.says(f"{self.done}/{self.total} {cell.name}: {_outcome(record)}")

    def left(self) -> float | None:
        """Seconds for the cells that are left: as long as the median of those that ended."""
        usual = statistics.median(self.spent) if self.spent else self.usual
        return None if usual is None else usual * (self.total - self.done)


def shortened(reason: str | None, limit: int = SHORTEST) -> str:
    """A reason in one line that fits a table."""
    text = " ".join((reason or "no reason known").split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _outcome(record: Record) -> str:
    if record["status"] != DONE:
        return f"failed: {shortened(record['reason'], 200)}"
    result = record["result"]
    error = result.get("relative_l2")
    stated = "" if error is None else f"error {error:.2e}, "
    return f"{stated}{result['seconds']:.1f} s, {result['iterations']} iterations"
