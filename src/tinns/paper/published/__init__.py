"""The paper's own figures, as data: what its tables and its text state."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

TINN = "TINN"


@dataclass(frozen=True)
class Figures:
    """What the paper states about one row of a table; None where it states nothing."""

    error: float | None = None
    deviation: float | None = None  # over seeds
    hours: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    parameters: int | None = None
    neurons: int | None = None
    share: float | None = None  # of the leading singular value
    factor: float | None = None  # how many times faster
    coefficient_errors: Mapping[str, float] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper: its title, where it is printed, and figures by problem and row."""

    title: str
    where: str
    problems: Mapping[str, Mapping[str, Figures]]


@cache
def published() -> dict[str, PublishedTable]:
    """All tables of the paper, by name."""
    text = files("tinns.paper.published").joinpath("paper.toml").read_text("utf-8")
    return {
        name: PublishedTable(
            table["title"],
            table["where"],
            {
                problem: {row: Figures(**entry) for row, entry in rows.items()}
                for problem, rows in table.items()
                if problem not in ("title", "where")
            },
        )
        for name, table in tomllib.loads(text).items()
    }


def printed(table: str, problem: str, row: str | None) -> Figures:
    """What the paper states about one row; empty where it has no such row."""
    if row is None or table not in published():
        return Figures()
    return published()[table].problems.get(problem, {}).get(row, Figures())


@cache
def tinn_figures() -> dict[str, Figures]:
    """The paper's figures of TINN for every problem on which it states any."""
    tables = (published()[name] for name in ("main", "extended", "transport"))
    return {problem: rows[TINN] for table in tables for problem, rows in table.problems.items()}


@cache
def main_figures() -> dict[str, Figures]:
    """The figures of TINN in the paper's main table, which states errors and hours."""
    return {problem: rows[TINN] for problem, rows in published()["main"].problems.items()}


def separation_errors(problem: str) -> dict[str, float]:
    """The errors of methods that the paper compares with TINN outside its main tables."""
    rows = published()["transport"].problems.get(problem, {})
    return {name: row.error for name, row in rows.items() if name != TINN and row.error is not None}


__all__ = [
    "Figures",
    "PublishedTable",
    "main_figures",
    "printed",
    "published",
    "separation_errors",
    "tinn_figures",
]
