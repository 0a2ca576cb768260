"""What a user sees while cells run: a line for each finished cell and, on a terminal, a bar."""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tinns.paper.cells import Cell
from tinns.paper.records import Record
from tinns.paper.table_sheets import shortened


class Display:
    """Prints the progress of a bench."""

    def __init__(
        self,
        console: Console,
        seconds: float | None = None,
        quiet: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.console = console
        self.quiet = quiet
        self.expected = seconds  # of a cell, if the profile fixes them
        self.clock = clock
        self.before = 0.0  # when the last cell ended, or the first one began
        self.spent: list[float] = []  # between the ends of cells, however many run at once
        self.total = self.done = 0
        self._progress: Progress | None = None
        self._task = None

    @contextmanager
    def showing(self, total: int, kept: int) -> Iterator[None]:
        """Show a bar until the bench ends, if the console is a terminal."""
        self.total, self.done, self.before = total, 0, self.clock()
        if kept:
            self.status(f"{kept} of {kept + total} cells are already recorded")
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

    def status(self, message: str) -> None:
        """Print one line."""
        if not self.quiet:
            self.console.print(escape(message), soft_wrap=True, highlight=False)

    def start(self, cell: Cell) -> None:
        """A cell has started."""
        if self._progress is not None and self._task is not None:
            left = self.left()
            remaining = "" if left is None else f"  about {timedelta(seconds=round(left))} left"
            self._progress.update(self._task, description=f"{escape(cell.name)}{remaining}")

    def end(self, cell: Cell, record: Record) -> None:
        """A cell has ended."""
        self.done += 1
        now = self.clock()
        self.spent.append(now - self.before)
        self.before = now
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=self.done)
        self.status(f"{self.done}/{self.total} {cell.name}: {outcome_line(record)}")

    def left(self) -> float | None:
        """Estimated seconds for the remaining cells, by the median of those that ended."""
        each = statistics.median(self.spent) if self.spent else self.expected
        return None if each is None else each * (self.total - self.done)


def outcome_line(record: Record) -> str:
    """The outcome of a run in one line."""
    if not record.is_done:
        return f"failed: {shortened(record.reason, 200)}"
    error = "" if record.relative_l2 is None else f"error {record.relative_l2:.2e}, "
    return f"{error}{record.seconds or 0:.1f} s, {record.iterations} iterations"
