"""Run the cells that are missing, one by one or in several processes, and store each of them."""

import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass

from tinns._runtime.errors import UserError
from tinns.paper.cell_runner import RunCell, run_cell
from tinns.paper.cells import Cell
from tinns.paper.display import Display
from tinns.paper.profiles import Profile
from tinns.paper.records import Record, Status
from tinns.paper.store import Store

Outcome = tuple[Cell, Record | None]


@dataclass
class Tally:
    """What happened to the requested cells."""

    kept: int = 0  # were already recorded
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
    run: RunCell = run_cell,
    jobs: int = 1,
) -> Tally:
    """Run missing and stale cells; with `retry` also failed ones, with `again` all of them."""
    tally = Tally()
    statuses = store.statuses(cells, profile)
    waiting = outstanding(statuses, retry, again)
    for cell, status in statuses.items():
        if cell not in waiting:
            tally.kept += 1
            tally.failed += status == Status.FAILED
        elif status == Status.STALE:
            display.status(f"{cell.name}: settings have changed since it was recorded; run again")
    with display.showing(len(waiting), tally.kept):
        at_once = min(jobs, len(waiting))
        outcomes = (
            _in_parallel(waiting, profile, run, at_once, display)
            if at_once > 1
            else _in_turn(waiting, profile, run, display, time_limit)
        )
        for cell, record in outcomes:
            if record is None:
                tally.interrupted = True
                break
            store.write(cell, record)
            tally.ran += 1
            tally.failed += record.status == Status.FAILED
            display.end(cell, record)
        else:
            tally.left_out = len(waiting) - tally.ran
    return tally


def outstanding(
    statuses: Mapping[Cell, Status], retry: bool = False, again: bool = False
) -> list[Cell]:
    """The cells that have to be run."""
    kept = (Status.DONE,) if retry else (Status.DONE, Status.FAILED)
    return [cell for cell, status in statuses.items() if again or status not in kept]


def _in_turn(
    cells: Sequence[Cell],
    profile: Profile,
    run: RunCell,
    display: Display,
    time_limit: float | None,
) -> Iterator[Outcome]:
    """Run cells in this process; a record of None means that the user interrupted the run."""
    began = time.perf_counter()
    for cell in cells:
        if time_limit is not None and time.perf_counter() - began >= time_limit:
            return
        display.start(cell)
        record = None
        with suppress(KeyboardInterrupt):
            record = run(cell, profile)
        yield cell, record


def _in_parallel(
    cells: Sequence[Cell], profile: Profile, run: RunCell, jobs: int, display: Display
) -> Iterator[Outcome]:
    """Run cells in processes of their own; they are returned in the order in which they end."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        futures = {pool.submit(run, cell, profile): cell for cell in cells}
        display.start(cells[0])
        try:
            for future in as_completed(futures):
                record = future.result()
                if record is None:
                    pool.shutdown(wait=False, cancel_futures=True)
                yield futures[future], record
        except BrokenProcessPool:
            raise UserError(
                "a process that ran a cell was killed, perhaps for lack of memory; finished cells "
                "are kept: run the rest one by one with --jobs 1"
            ) from None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            yield cells[0], None
