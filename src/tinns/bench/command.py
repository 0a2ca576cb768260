"""`tinns bench`: run what a table needs, show it, and write it in four formats."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from tinns.bench import formats
from tinns.bench.cells import Cell, Profile, Record, cells_of, profile_named, run
from tinns.bench.display import Display
from tinns.bench.picture import picture_of
from tinns.bench.runner import Tally, outstanding, run_missing
from tinns.bench.sheets import Sheet, sheet_of
from tinns.bench.store import Store
from tinns.bench.summary import Group, groups_of
from tinns.bench.tables import TABLES, Row, Table, table_named
from tinns.errors import UserError, unknown_name
from tinns.files import prepared_folder, write_whole
from tinns.recipe import check_seed

ALL = "all"
HARDER = "extended"  # of which a smoke run takes every problem once, by the first row
OUT = Path("runs/bench")
PAPERS_SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line, checked."""

    tables: tuple[Table, ...]
    profile: Profile
    seeds: tuple[int, ...]
    problems: tuple[str, ...] = ()  # none: all
    methods: tuple[str, ...] = ()  # none: all; `tinn` or, with a recipe, `tinn:paper`
    out: Path = OUT
    time_limit: float | None = None
    retry: bool = False
    again: bool = False
    jobs: int = 1

    def cells(self) -> list[Cell]:
        """All cells that were asked for; those that tables share, once."""
        cells = (
            cell
            for table in self.tables
            for cell in cells_of(self._to_run(table), self.seeds, self.profile)
        )
        return list(dict.fromkeys(cells))

    def stored(self, table: Table) -> Table:
        """The table that is written: whole, with all that is stored, but in a smoke run."""
        return replace(table, problems=self._problems(table)) if self.profile.small else table

    def shows(self, table: Table, group: Group) -> bool:
        """Whether a line was asked for; other kinds of table compare all of their rows."""
        chosen = table.kind != "errors" or not self.methods or self._asks_for(group.row)
        return chosen and group.problem in self._problems(table)

    def _to_run(self, table: Table) -> Table:
        rows = tuple(row for row in table.rows if not self.methods or self._asks_for(row))
        if self.profile.small and table.name == HARDER and not (self.problems or self.methods):
            rows = rows[:1]
        return replace(table, problems=self._problems(table), rows=rows)

    def _problems(self, table: Table) -> tuple[str, ...]:
        """Those asked for; else all, of which a smoke run takes the first in other tables."""
        if self.problems:
            return tuple(name for name in table.problems if name in self.problems)
        return table.problems[: 1 if self.profile.small and table.name != HARDER else None]

    def _asks_for(self, row: Row) -> bool:
        return row.method in self.methods or f"{row.method}:{row.recipe}" in self.methods


def wish(
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
) -> Wish:
    """Check everything before anything is run."""
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
    return Wish(
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
    asked: Wish,
    console: Console,
    quiet: bool = False,
    run_cell: Callable[[Cell, Profile], Record | None] = run,
) -> Tally:
    """Run the cells that are missing; show and write the tables, also where it was interrupted.

    The files hold all that is stored, whoever ran it; the terminal shows what was asked for.
    """
    store = Store(prepared_folder(prepared_folder(asked.out) / "cells"))
    display = Display(console, asked.profile.seconds, quiet)
    for table in asked.tables:  # a file that cannot be read is told before work is spent
        groups_of(asked.stored(table), asked.profile, store)
    tally = run_missing(
        asked.cells(),
        asked.profile,
        store,
        display,
        asked.retry,
        asked.again,
        asked.time_limit,
        run_cell,
        asked.jobs,
    )
    for table in asked.tables:
        groups = groups_of(asked.stored(table), asked.profile, store)
        sheet = sheet_of(table, groups, asked.profile)
        figure = picture_of(table, groups, sheet)
        if not quiet:
            shown = [group for group in groups if asked.shows(table, group)]
            _show(sheet_of(table, shown, asked.profile), console)
        for path in write_table(sheet, figure, asked.out, f"{table.name}-{asked.profile.budget}"):
            display.says(f"wrote {path}")
    display.says(told(tally, store.folder))
    return tally


def foretell(asked: Wish, console: Console) -> None:
    """Say what would be run; nothing is written."""
    standings = Store(asked.out / "cells").standings(asked.cells(), asked.profile)
    waiting = outstanding(standings, asked.retry, asked.again)
    for cell in waiting:
        console.print(f"{cell.name}: {standings[cell]}", soft_wrap=True, highlight=False)
    kept = len(standings) - len(waiting)
    seconds = asked.profile.seconds
    length = timedelta(seconds=round(seconds * len(waiting))) if seconds else None
    told = f" ({length} of training, and compilation besides)" if length else ""
    console.print(f"cells to run: {len(waiting)}{told}, found: {kept}", highlight=False)


def write_table(sheet: Sheet, figure: Any, folder: Path, name: str) -> list[Path]:
    """NAME.md, .csv, .tex and .png."""
    texts = {
        "md": formats.markdown(sheet),
        "csv": formats.comma_separated(sheet),
        "tex": formats.latex(sheet),
    }
    written = [
        write_whole(folder / f"{name}.{end}", lambda path, t=text: path.write_text(t, "utf-8"))
        for end, text in texts.items()
    ]
    picture = write_whole(folder / f"{name}.png", lambda path: figure.savefig(path, dpi=140))
    return [*written, picture]


def told(tally: Tally, folder: Path) -> str:
    """What became of the cells, in a line."""
    parts = [f"cells run: {tally.ran}, found: {tally.kept}"]
    if tally.failed:
        parts.append(f"failed: {tally.failed} (run again with --retry)")
    if tally.left_out:
        parts.append(f"left out for lack of time: {tally.left_out}")
    return f"{', '.join(parts)}; all in {folder}"


def kept_line(out: Path) -> str:
    """What an interruption leaves behind."""
    return (
        f"interrupted: cells that ended are kept in {out / 'cells'}, the one under way is not; the "
        "same command goes on from there"
    )


def _show(sheet: Sheet, console: Console) -> None:
    if not console.is_terminal:  # a file has room for all columns
        console.print(formats.markdown(sheet), soft_wrap=True, highlight=False, markup=False)
        return
    table, left_out = formats.on_terminal(sheet, console.width)
    console.print(table)
    if left_out:
        console.print(f"(in the files also: {', '.join(left_out)})", highlight=False)
    for note in sheet.notes:
        console.print(note, highlight=False, markup=False)


def _jobs(given: int | None, profile: Profile, time_limit: float | None) -> int:
    """As asked; else one, for cells at once spoil each other's seconds, which smoke runs may."""
    if given is not None and given < 1:
        raise UserError(f"--jobs {given}: expected a whole number >= 1")
    if time_limit is not None:
        if given not in (None, 1):
            raise UserError(f"--jobs {given}: with --time-limit cells are run one by one")
        return 1
    return given or (os.cpu_count() or 1 if profile.small else 1)


def _names(given: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",") if part.strip()) if given else ()


def _seeds(given: str | None, profile: Profile) -> tuple[int, ...]:
    """`0,1,2`; the paper's five where none are given, and one for a smoke run."""
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
