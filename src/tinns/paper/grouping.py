"""Groups: runs that differ in the seed alone, and their means."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tinns.paper.curves import Along, Statistic, shared_curve, stays_below
from tinns.paper.records import Record, Shares
from tinns.solvers import StopReason

UNKNOWN_FUNCTION = "u"
SHORTEST = 0.5  # of the seconds of the longest run: shorter ones are not averaged with it
Measured = Literal["relative_l2", "seconds", "iterations", "parameters"]


@dataclass(frozen=True)
class Spread:
    """A mean over seeds and its standard deviation; None for a single seed."""

    mean: float
    deviation: float | None = None


def spread(values: Sequence[float]) -> Spread:
    """The mean and the sample standard deviation (n - 1) of at least one value."""
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation)


@dataclass(frozen=True)
class Group:
    """Runs of one method on one problem, one for each seed; perhaps none."""

    records: tuple[Record, ...] = ()

    @property
    def first(self) -> Record:
        """The run of the lowest seed that is done; it stands for what all runs share."""
        return self.done[0]

    @property
    def done(self) -> list[Record]:
        """Runs that ended with a result."""
        return [record for record in self.records if record.is_done]

    @property
    def seeds(self) -> int:
        """The number of runs that ended with a result."""
        return len(self.done)

    @property
    def reasons(self) -> list[str]:
        """Why runs failed."""
        return [str(record.reason) for record in self.records if not record.is_done]

    @property
    def is_scored(self) -> bool:
        """Whether the error of every run is known; it is not if a problem has no reference."""
        return bool(self.done) and all(r.relative_l2 is not None for r in self.done)

    @property
    def error(self) -> float | None:
        """The mean relative L2 error of u."""
        return self._mean("relative_l2")

    @property
    def seconds(self) -> float | None:
        """The mean training time."""
        return self._mean("seconds")

    @property
    def iterations(self) -> float | None:
        """The mean number of iterations."""
        return self._mean("iterations")

    @property
    def parameters(self) -> float | None:
        """The number of parameters."""
        return self._mean("parameters")

    @property
    def pace(self) -> float | None:
        """Milliseconds per iteration."""
        seconds, iterations = self.seconds, self.iterations
        return 1e3 * seconds / iterations if seconds is not None and iterations else None

    def errors(self) -> dict[str, Spread]:
        """The error of u, or the errors of the problem's coefficients or named quantities."""
        found = [_errors(record) for record in self.done]
        names = list(dict.fromkeys(name for errors in found for name in errors))
        return {name: spread([e[name] for e in found if name in e]) for name in names}

    def shares(self, matrix: str) -> list[Shares]:
        """The shares of a matrix in the rank-one diagnostic, run by run."""
        return [record.shares[matrix] for record in self.done if matrix in record.shares]

    def curve(
        self, along: Along = "seconds", statistic: Statistic = "mean"
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The error over seconds or iterations; None if some run has no measurements."""
        curves = [record.curve for record in self.done]
        return shared_curve(curves, along, statistic) if curves and all(curves) else None

    def reaches(self, error: float | None, along: Along = "seconds") -> float | None:
        """Seconds or iterations after which the mean error stays below `error`."""
        curve = self.curve(along)
        return None if curve is None or error is None else stays_below(*curve, error)

    def _mean(self, name: Measured) -> float | None:
        values = [getattr(record, name) for record in self.done]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known else None


def absolute(coefficient: str) -> str:
    """The name of a coefficient's error in a table."""
    return f"{coefficient} (absolute)"


def _errors(record: Record) -> dict[str, float]:
    if record.coefficient_errors:
        return {absolute(name): abs(e) for name, e in record.coefficient_errors.items()}
    if record.errors:
        return dict(record.errors)
    return {} if record.relative_l2 is None else {UNKNOWN_FUNCTION: record.relative_l2}


def with_latest_settings(records: Sequence[Record]) -> tuple[Record, ...]:
    """The records whose settings are those of the run that finished last."""
    done = [record for record in records if record.is_done]
    if not done:
        return tuple(records)
    latest = max(done, key=lambda record: record.finished).comparable_settings
    return tuple(record for record in records if record.comparable_settings == latest)


def groups_of(records: Iterable[Record]) -> list[Group]:
    """Runs by problem, method, recipe and device.

    Of several runs of a seed the longest counts. Runs with older settings are left out, and so are
    runs that were cut off much earlier than the longest of their group.
    """
    found: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in records:
        if record.is_done:
            key = (record.problem, record.method, record.recipe, record.device)
            found.setdefault(key, []).append(record)
    return [_group(group) for group in found.values()]


def _group(records: list[Record]) -> Group:
    longest: dict[int, Record] = {}
    for record in with_latest_settings(records):
        known = longest.get(record.seed)
        if known is None or _seconds(record) > _seconds(known):
            longest[record.seed] = record
    enough = SHORTEST * max(_seconds(record) for record in longest.values())
    runs = (longest[seed] for seed in sorted(longest))
    return Group(tuple(r for r in runs if _seconds(r) >= enough or not was_cut_off(r)))


def was_cut_off(record: Record) -> bool:
    """Whether a limit ended the run, so that more time might have lowered the error."""
    return record.stop_reason is not None and StopReason(record.stop_reason).is_limit


def _seconds(record: Record) -> float:
    return record.seconds or 0.0


def lowest(
    groups: Iterable[Group], problem: str, recipes: Iterable[str], method: str = "tinn"
) -> Group | None:
    """The group of these recipes with the lowest mean error; None if there is none."""
    wanted = {(problem, method, recipe) for recipe in recipes}
    fitting = [g for g in groups if g.is_scored and identity(g) in wanted]
    return min(fitting, key=lambda group: group.error or 0.0, default=None)


def identity(group: Group) -> tuple[str, str, str]:
    """The problem, method and recipe of a group."""
    return group.first.problem, group.first.method, group.first.recipe


def main_device(groups: Iterable[Group]) -> str:
    """The device with most runs: seconds on different devices are not compared in one table."""
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.first.device] = counts.get(group.first.device, 0) + group.seeds
    return max(counts, key=lambda device: counts[device], default="")
