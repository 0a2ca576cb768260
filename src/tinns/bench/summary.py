"""From cells to lines of a table: means over seeds beside the paper's figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinns.bench.cells import DONE, Profile, Record, cell_of
from tinns.bench.curves import passes_for_good, shared_curve
from tinns.bench.store import Store, is_current, latest_alone
from tinns.bench.tables import Row, Table
from tinns.published import printed

UNKNOWN_FUNCTION = "u"


@dataclass(frozen=True)
class Spread:
    """A mean over seeds and its standard deviation, where there is one."""

    mean: float
    deviation: float | None = None


def spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation (of a sample: n - 1) of at least one value."""
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), deviation)


@dataclass(frozen=True)
class Group:
    """All stored seeds of one row on one problem."""

    problem: str
    row: Row
    records: tuple[Record, ...]
    printed: dict[str, Any]

    @property
    def done(self) -> list[Record]:
        return [record for record in self.records if record["status"] == DONE]

    @property
    def reasons(self) -> list[str]:
        """Why seeds failed."""
        return [str(record["reason"]) for record in self.records if record["status"] != DONE]

    def mean(self, name: str) -> float | None:
        values = [r["result"][name] for r in self.done if r["result"].get(name) is not None]
        return float(np.mean(values)) if values else None

    @property
    def pace(self) -> float | None:
        """Milliseconds per iteration."""
        seconds, iterations = self.mean("seconds"), self.mean("iterations")
        return 1e3 * seconds / iterations if seconds is not None and iterations else None

    def errors(self) -> dict[str, Spread]:
        """The error of u, or those of the problem's coefficients or quantities."""
        found = [_errors(record["result"]) for record in self.done]
        names = list(dict.fromkeys(name for errors in found for name in errors))
        return {name: spread([e[name] for e in found if name in e]) for name in names}

    def error(self) -> float | None:
        """The mean error of u."""
        return self.mean("relative_l2")

    def printed_error(self, quantity: str) -> Spread | None:
        """What the paper states; where it does not say of what, of the first quantity."""
        stated = {_absolute(n): e for n, e in self.printed.get("coefficient_errors", {}).items()}
        names = list(self.errors() or stated or [UNKNOWN_FUNCTION])
        if "error" in self.printed and quantity == names[0]:
            return Spread(self.printed["error"], self.printed.get("deviation"))
        return Spread(stated[quantity]) if quantity in stated else None

    @property
    def quantities(self) -> list[str]:
        """Of what errors are known, here or in the paper."""
        stated = [_absolute(name) for name in self.printed.get("coefficient_errors", {})]
        return list(self.errors()) or stated or [UNKNOWN_FUNCTION]

    def curve(self, along: str = "seconds") -> tuple[np.ndarray, np.ndarray] | None:
        """The mean error over seeds along seconds or iterations; None where none was measured."""
        curves = [record["curve"] for record in self.done]
        return shared_curve(curves, along) if curves and all(curves) else None

    def reaches(self, error: float | None, along: str) -> float | None:
        """Seconds or iterations after which the mean error stays below `error`."""
        curve = self.curve(along)
        return None if curve is None or error is None else passes_for_good(*curve, error)


def groups_of(
    table: Table, profile: Profile, store: Store, only_current: bool = True
) -> list[Group]:
    """The lines of a table. Old settings are left out: those of today count, or the last ones."""
    groups = []
    for problem in table.problems:
        for row in table.rows_of(problem):
            cell = cell_of(row, problem, 0, profile)
            records = store.seeds(cell)
            if only_current:
                records = [record for record in records if is_current(record, cell, profile)]
            # The lines of other kinds of table are those of the main one, whose cells they use.
            source = table.name if table.kind == "errors" else "main"
            figures = printed(source, problem, row.printed)
            groups.append(Group(problem, row, tuple(latest_alone(records)), figures))
    return groups


def rows_run(groups: Sequence[Group]) -> dict[str, tuple[int, int]]:
    """Of how many rows something is stored, and how many there are, for every problem."""
    by_problem: dict[str, list[bool]] = {}
    for group in groups:
        by_problem.setdefault(group.problem, []).append(bool(group.records))
    return {problem: (sum(run), len(run)) for problem, run in by_problem.items()}


def devices(groups: Sequence[Group]) -> list[str]:
    return sorted({r["result"]["device"] for g in groups for r in g.done})


def _errors(result: dict[str, Any]) -> dict[str, float]:
    if result.get("coefficient_errors"):
        return {_absolute(name): abs(e) for name, e in result["coefficient_errors"].items()}
    if result.get("errors"):
        return dict(result["errors"])
    error = result.get("relative_l2")
    return {} if error is None else {UNKNOWN_FUNCTION: error}


def _absolute(coefficient: str) -> str:
    return f"{coefficient} (absolute)"
