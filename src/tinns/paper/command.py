"""`tinns bench`: run the cells of a table, show the table, and write it in four formats."""

import os
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from tinns._runtime.errors import UserError, unknown_name
from tinns._runtime.files import prepared_folder, write_whole
from tinns.paper import formats
from tinns.paper.cell_runner import RunCell, run_cell
from tinns.paper.cells import Cell, cells_of
from tinns.paper.display import Display
from tinns.paper.lines import Line, lines_of
from tinns.paper.profiles import Profile, profile_named
from tinns.paper.scheduler import Tally, outstanding, run_missing
from tinns.paper.sheet import Sheet
from tinns.paper.store import Store
from tinns.paper.table_picture import picture_of
from tinns.paper.table_sheets import table_sheet
from tinns.paper.tables import TABLES, Row, Table, table_named
from tinns.recipes.recipe import check_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = "all"
HARDER = "extended"  # a smoke run takes every problem of it, by the first row
OUT = Path("runs/bench")
PAPERS_SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class BenchRequest:
    """The checked options of the command line."""

    tables: tuple[Table, ...]
    profile: Profile
    seeds: tuple[int, ...]
    problems: tuple[str, ...] = ()  # empty: all
    methods: tuple[str, ...] = ()  # empty: all; `tinn` or, with a recipe, `tinn:paper`
    out: Path = OUT
    time_limit: float | None = None
    retry: bool = False
    again: bool = False
    jobs: int = 1

    def cells(self) -> list[Cell]:
        """All requested cells, without duplicates."""
        cells = (
            cell
            for table in self.tables
            for cell in cells_of(self._to_run(table), self.seeds, self.profile)
        )
        return list(dict.fromkeys(cells))

    def stored(self, table: Table) -> Table:
        """The table that is written: all of it, or in a smoke run the problems that were run."""
        return replace(table, problems=self._problems(table)) if self.profile.small else table

    def shows(self, table: Table, line: Line) -> bool:
        """Whether a line was requested; tables of other kinds compare all of their rows."""
        chosen = table.kind != "errors" or not self.methods or self._requests(line.row)
        return chosen and line.problem in self._problems(table)

    def _to_run(self, table: Table) -> Table:
        rows = tuple(row for row in table.rows if not self.methods or self._requests(row))
        if self.profile.small and table.name == HARDER and not (self.problems or self.methods):
            rows = rows[:1]
        return replace(table, problems=self._problems(table), rows=rows)

    def _problems(self, table: Table) -> tuple[str, ...]:
        """The requested problems, or all; a smoke run takes only the first one of most tables."""
        if self.problems:
            return tuple(name for name in table.problems if name in self.problems)
        return table.problems[: 1 if self.profile.small and table.name != HARDER else None]

    def _requests(self, row: Row) -> bool:
        return row.method in self.methods or f"{row.method}:{row.recipe}" in self.methods


def parse_request(
    name: str,
    profile: str | None = None,
    seconds: float | None = None,
    seeds: str | None = None,
    problems: str | None = None,
    methods: str | None = None,
    out: Path = OUT,
    time_limit: float | None = None,
    retry: bool = False,
    again: bool = False,
    jobs: int | None = None,
) -> BenchRequest:
    """Check all options before anything runs."""
    tables = tuple(TABLES.values()) if name == ALL else (table_named(name),)
    chosen = profile_named(profile or ("smoke" if seconds is None else "equal-time"), seconds)
    if time_limit is not None and not time_limit > 0:
        raise UserError(f"--time-limit {time_limit:g}: expected seconds, a number above 0")
    asked_problems, asked_methods = _names(problems), _names(methods)
    rows = [row for table in tables for row in table.rows]
    known = {row.method for row in rows} | {f"{r.method}:{r.recipe}" for r in rows if r.recipe}
    in_tables = dict.fromkeys(problem for table in tables for problem in table.problems)
    for given, names, kind in (
        (asked_problems, in_tables, f"problem of table {name}"),
        (asked_methods, known, f"method of table {name}"),
    ):
        for missing in (one for one in given if one not in names):
            raise unknown_name(kind, missing, names)
    return BenchRequest(
        tables,
        chosen,
        _seeds(seeds, chosen),
        asked_problems,
        asked_methods,
        out,
        time_limit,
        retry,
        again,
        _jobs(jobs, chosen, time_limit),
    )


def bench(
    asked: BenchRequest, console: Console, quiet: bool = False, run: RunCell = run_cell
) -> Tally:
    """Run missing cells, then show and write the tables, also after an interruption.

    The files contain all recorded cells; the terminal shows the requested ones.
    """
    store = Store(prepared_folder(prepared_folder(asked.out) / "cells"))
    display = Display(console, asked.profile.seconds, quiet)
    for table in asked.tables:  # unreadable files are reported before time is spent
        lines_of(asked.stored(table), asked.profile, store)
    tally = run_missing(
        asked.cells(),
        asked.profile,
        store,
        display,
        asked.retry,
        asked.again,
        asked.time_limit,
        run,
        asked.jobs,
    )
    for table in asked.tables:
        lines = lines_of(asked.stored(table), asked.profile, store)
        sheet = table_sheet(table, lines, asked.profile)
        figure = picture_of(table, lines, sheet)
        if not quiet:
            shown = [line for line in lines if asked.shows(table, line)]
            formats.show(table_sheet(table, shown, asked.profile), console)
        for path in write_table(sheet, figure, asked.out, f"{table.name}-{asked.profile.budget}"):
            display.status(f"wrote {path}")
    display.status(tally_line(tally, store.folder))
    return tally


def dry_run(asked: BenchRequest, console: Console) -> None:
    """Print which cells would run; write nothing."""
    statuses = Store(asked.out / "cells").statuses(asked.cells(), asked.profile)
    waiting = outstanding(statuses, asked.retry, asked.again)
    for cell in waiting:
        console.print(f"{cell.name}: {statuses[cell]}", soft_wrap=True, highlight=False)
    kept = len(statuses) - len(waiting)
    seconds = asked.profile.seconds
    length = timedelta(seconds=round(seconds * len(waiting))) if seconds else None
    training = f" ({length} of training, plus compilation)" if length else ""
    console.print(f"cells to run: {len(waiting)}{training}, recorded: {kept}", highlight=False)


def write_table(sheet: Sheet, figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write the table in every format, and NAME.png."""
    texts = {ending: write(sheet) for ending, write in formats.WRITERS.items()}
    written = [
        write_whole(folder / f"{name}.{end}", lambda path, t=text: path.write_text(t, "utf-8"))
        for end, text in texts.items()
    ]
    picture = write_whole(folder / f"{name}.png", lambda path: figure.savefig(path, dpi=140))
    return [*written, picture]


def tally_line(tally: Tally, folder: Path) -> str:
    """What happened to the cells, in one line."""
    parts = [f"cells run: {tally.ran}, already recorded: {tally.kept}"]
    if tally.failed:
        parts.append(f"failed: {tally.failed} (run them again with --retry)")
    if tally.left_out:
        parts.append(f"not started within the time limit: {tally.left_out}")
    return f"{', '.join(parts)}; records in {folder}"


def kept_line(out: Path) -> str:
    """The message after an interruption."""
    return (
        f"interrupted: finished cells are kept in {out / 'cells'}; run the same command again to "
        "continue"
    )


def _jobs(given: int | None, profile: Profile, time_limit: float | None) -> int:
    """The given number, or one: parallel cells slow each other down, except in smoke runs."""
    if given is not None and given < 1:
        raise UserError(f"--jobs {given}: expected a whole number >= 1")
    if time_limit is not None:
        if given not in (None, 1):
            raise UserError(
                f"--jobs {given}: with --time-limit cells run one by one; leave --jobs out"
            )
        return 1
    return given or (os.cpu_count() or 1 if profile.small else 1)


def _names(given: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",") if part.strip()) if given else ()


def _seeds(given: str | None, profile: Profile) -> tuple[int, ...]:
    """Seeds such as `0,1,2`; by default the paper's five, or one for a smoke run."""
    if given is None:
        return PAPERS_SEEDS[:1] if profile.small else PAPERS_SEEDS
    try:
        seeds = tuple(dict.fromkeys(int(part) for part in _names(given)))
    except ValueError:
        raise UserError(f"--seeds {given}: expected whole numbers such as 0,1,2") from None
    if not seeds:
        raise UserError(f"--seeds '{given}': expected whole numbers such as 0,1,2")
    for seed in seeds:
        check_seed(seed)
    return seeds
