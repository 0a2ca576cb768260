"""What documents and pictures read of results/: runs, means over seeds, the paper's figures.

A group is all seeds of one method and recipe on one problem and one kind of device. Of several
records of a seed the longest counts. Runs that were cut off much earlier than the longest of their
group, and runs with settings older than the group's latest, are left out.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tinns.paper.cells import DONE
from tinns.paper.curves import passes_for_good, shared_curve
from tinns.paper.published import published
from tinns.solvers.stopping import TIME_IS_UP

ROOT = Path(__file__).resolve().parent.parent
OURS = ("fast", "accurate")  # recipes of our own, beside the paper's
CUT_OFF = (TIME_IS_UP, "iterations done", "interrupted")  # ends that say nothing of the run
SHORTEST = 0.5  # of the seconds of the longest run in its group

Record = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """Comparable runs of one method and recipe on one problem and device, one for each seed."""

    problem: str
    method: str
    recipe: str
    device: str
    runs: tuple[Record, ...]

    @property
    def seeds(self) -> int:
        return len(self.runs)

    @property
    def is_scored(self) -> bool:
        """Whether an error is known; it is not where a problem has no reference."""
        return all(run["relative_l2"] is not None for run in self.runs)

    def mean(self, name: str) -> float:
        return float(np.mean([run[name] for run in self.runs]))

    @property
    def pace(self) -> float:
        """Milliseconds per iteration."""
        return 1e3 * self.mean("seconds") / self.mean("iterations")

    def curve(self, over: Callable[..., Any] = np.mean) -> tuple[np.ndarray, np.ndarray]:
        """Seconds, and the mean (or another function) over seeds of the error at that time.

        It spans the seconds that all seeds have in common; between its measurements a seed's
        curve is straight in logarithms.
        """
        return shared_curve([run["curve"] for run in self.runs], over=over)

    def seconds_to(self, error: float) -> float | None:
        """When the mean curve passes an error for good; None where it does not, or is unknown."""
        if not all(run["curve"] for run in self.runs):
            return None
        return passes_for_good(*self.curve(), error)


def read_records(folder: Path = ROOT / "results/runs") -> list[Record]:
    """What was recorded, each with the name of its file, less the ending, as `stem`."""
    paths = sorted(folder.glob("*.json"))
    return [json.loads(path.read_text()) | {"stem": path.stem} for path in paths]


def read_cells(recipes: Sequence[str], folder: Path = ROOT / "results/bench/cells") -> list[Record]:
    """What the tables' runs of TINN by these recipes gave, in the form of the other records."""
    return [
        cell["result"] | {"curve": cell["curve"], "stem": cell["stem"]}
        for cell in read_records(folder)
        if cell["status"] == DONE
        and cell["cell"]["method"] == "tinn"
        and cell["cell"]["recipe"] in recipes
    ]


def groups(records: Iterable[Record]) -> list[Group]:
    found: dict[tuple[str, str, str, str], list[Record]] = {}
    for record in records:
        key = (record["problem"], record["method"], record["recipe"], record["device"])
        found.setdefault(key, []).append(record)
    return [Group(*key, runs=_comparable(runs)) for key, runs in found.items()]


def _comparable(records: list[Record]) -> tuple[Record, ...]:
    latest = _settings(max(records, key=lambda r: r.get("finished", "")))
    longest: dict[int, Record] = {}
    for record in records:
        known = longest.get(record["seed"])
        longer = known is None or record["seconds"] > known["seconds"]
        if longer and _settings(record) == latest:
            longest[record["seed"]] = record
    enough = SHORTEST * max(record["seconds"] for record in longest.values())
    return tuple(
        longest[seed]
        for seed in sorted(longest)
        if longest[seed]["seconds"] >= enough or longest[seed]["stop_reason"] not in CUT_OFF
    )


def _settings(record: Record) -> Any:
    """All settings but when to stop."""
    return {name: value for name, value in record.get("settings", {}).items() if name != "stop"}


def find(
    found: Iterable[Group], problem: str, recipes: Sequence[str], method: str = "tinn"
) -> Group | None:
    """Of the groups of these recipes the one of lowest mean error; None where there is none."""
    fitting = [
        g
        for g in found
        if (g.problem, g.method) == (problem, method) and g.recipe in recipes and g.is_scored
    ]
    return min(fitting, key=lambda g: g.mean("relative_l2"), default=None)


def main_device(found: Iterable[Group]) -> str:
    """The device with most runs: seconds of different devices do not belong into one table."""
    counts: dict[str, int] = {}
    for group in found:
        counts[group.device] = counts.get(group.device, 0) + group.seeds
    return max(counts, key=lambda device: counts[device], default="")


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def paper() -> dict[str, dict[str, Any]]:
    """The paper's own figures of TINN by problem, as far as it states them.

    Other methods are named only where the paper compares with nothing else.
    """
    found = {}
    for name in ("main", "extended", "transport"):
        for problem, rows in published()[name].items():
            if isinstance(rows, dict):  # and no fact about the table
                found[problem] = _figures(rows["TINN"])
    others = published()["transport"]["transport"]
    found["transport"]["methods"] = {n: e["error"] for n, e in others.items() if n != "TINN"}
    return found


def _figures(entry: dict[str, Any]) -> dict[str, Any]:
    """A row's error under the name that records use, its hours and where it stands."""
    kept = {
        name: entry[name] for name in ("hours", "coefficient_errors", "source") if name in entry
    }
    return ({"relative_l2": entry["error"]} if "error" in entry else {}) | kept


def papers_table() -> dict[str, dict[str, Any]]:
    """Of the paper's figures those of its main table, which states errors and hours."""
    return {problem: figures for problem, figures in paper().items() if "hours" in figures}


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """The lines of a Markdown table."""
    header = list(header)
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def write_or_check(path: Path, text: str) -> int:
    """Write a generated document; with --check exit code 1 says that it is out of date."""
    if "--check" in sys.argv:
        return int(not path.exists() or path.read_text() != text)
    path.write_text(text)
    return 0
