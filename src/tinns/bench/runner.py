"""Run the cells that are missing; each is stored as soon as it ends."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass

from tinns.bench.cells import DONE, FAILED, Cell, Profile, Record, run
from tinns.bench.display import Display
from tinns.bench.store import STALE, Standing, Store
from tinns.errors import UserError

RunCell = Callable[[Cell, Profile], Record | None]
Outcome = tuple[Cell, Record | None]


@dataclass
class Tally:
    """What became of the cells that were asked for."""

    kept: int = 0  # were there already
    ran: int = 0
    failed: int = 0  # of both
    left_out: int = 0  # for lack of time
    interrupted: bool = False


def run_missing(
    cells: Sequence[Cell],
    profile: Profile,
    store: Store,
    display: Display,
    retry: bool = False,
    again: bool = False,
    time_limit: float | None = None,
    run_cell: RunCell = run,
    jobs: int = 1,
) -> Tally:
    """Run what is not stored or stale; with `retry` also what failed, with `again` everything."""
    tally = Tally()
    standings = store.standings(cells, profile)
    waiting = outstanding(standings, retry, again)
    for cell, standing in standings.items():
        if cell not in waiting:
            tally.kept += 1
            tally.failed += standing == FAILED
        elif standing == STALE:
            display.says(f"{cell.name}: settings have changed since it was stored; run again")
    with display.showing(len(waiting), tally.kept):
        at_once = min(jobs, len(waiting))
        outcomes = (
            _several_at_once(waiting, profile, run_cell, at_once, display)
            if at_once > 1
            else _one_by_one(waiting, profile, run_cell, display, time_limit)
        )
        for cell, record in outcomes:
            if record is None:
                tally.interrupted = True
                break
            store.write(cell, record)
            tally.ran += 1
            tally.failed += record["status"] == FAILED
            display.ended(cell, record)
        else:
            tally.left_out = len(waiting) - tally.ran
    return tally


def outstanding(
    standings: Mapping[Cell, Standing], retry: bool = False, again: bool = False
) -> list[Cell]:
    """The cells that have to be run."""
    return [
        cell
        for cell, standing in standings.items()
        if again or standing not in (DONE, FAILED) or (retry and standing == FAILED)
    ]


def _one_by_one(
    cells: Sequence[Cell],
    profile: Profile,
    run_cell: RunCell,
    display: Display,
    time_limit: float | None,
) -> Iterator[Outcome]:
    """Cells in this process; a record of None says that the user wants no more."""
    began = time.perf_counter()
    for cell in cells:
        if time_limit is not None and time.perf_counter() - began >= time_limit:
            return
        display.begins(cell)
        record = None
        with suppress(KeyboardInterrupt):
            record = run_cell(cell, profile)
        yield cell, record


def _several_at_once(
    cells: Sequence[Cell], profile: Profile, run_cell: RunCell, jobs: int, display: Display
) -> Iterator[Outcome]:
    """Cells in processes of their own, in the order in which they end."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        futures = {pool.submit(run_cell, cell, profile): cell for cell in cells}
        display.begins(cells[0])
        try:
            for future in as_completed(futures):
                record = future.result()
                if record is None:
                    pool.shutdown(wait=False, cancel_futures=True)
                yield futures[future], record
        except BrokenProcessPool:
            raise UserError(
                "a process that ran a cell was killed, perhaps for lack of memory; cells that "
                "ended are kept: run the rest one by one, with --jobs 1"
            ) from None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            yield cells[0], None
