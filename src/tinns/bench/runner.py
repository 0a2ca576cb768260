"""Run the cells that are missing, one after another; each is stored as soon as it ends."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinns.bench.cells import DONE, FAILED, Cell, Profile, Record, run
from tinns.bench.display import Display
from tinns.bench.store import Store


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
    run_cell: Callable[[Cell, Profile], Record | None] = run,
) -> Tally:
    """Run what is not stored or stale; with `retry` also what failed, with `again` everything."""
    tally, waiting = Tally(), []
    for cell in dict.fromkeys(cells):  # tables share cells
        standing = store.standing(cell, profile)
        if again or standing not in (DONE, FAILED) or (retry and standing == FAILED):
            waiting.append((cell, standing))
        else:
            tally.kept += 1
            tally.failed += standing == FAILED
    began = time.perf_counter()
    with display.showing(len(waiting), tally.kept):
        for number, (cell, standing) in enumerate(waiting):
            if time_limit is not None and time.perf_counter() - began >= time_limit:
                tally.left_out = len(waiting) - number
                break
            if standing == "stale":
                display.says(f"{cell.name}: settings have changed since it was stored; run again")
            display.begins(cell)
            try:
                record = run_cell(cell, profile)
                if record is not None:
                    store.write(cell, record)
            except KeyboardInterrupt:
                record = None
            if record is None:
                tally.interrupted = True
                break
            tally.ran += 1
            tally.failed += record["status"] == FAILED
            display.ended(cell, record)
    return tally
