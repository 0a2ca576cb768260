"""Resuming: only what is missing is run, and what ended is kept whatever happens next."""

import io
import json

import pytest
from bench_records import PAPER, cell, failed, made_up
from rich.console import Console

from tinns import UserError
from tinns.paper.cell_runner import run_missing
from tinns.paper.cells import run
from tinns.paper.display import Display, shortened
from tinns.paper.store import latest_alone


class Runner:
    """Runs cells by making them up, and remembers which."""

    def __init__(self, outcomes=None):
        self.ran, self.outcomes = [], outcomes or {}

    def __call__(self, asked, profile):
        self.ran.append(asked)
        outcome = self.outcomes.get(asked.method, made_up)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome(asked) if callable(outcome) else outcome


@pytest.fixture
def shown():
    return io.StringIO()


@pytest.fixture
def go(store, shown):
    def run(cells, runner, **options):
        display = Display(Console(file=shown, width=200))
        return run_missing(cells, PAPER, store, display, run_cell=runner, **options)

    return run


CELLS = [cell(m, "fast", seed) for m in ("tinn", "mlp") for seed in (0, 1)]


def test_only_what_is_missing_is_run(go, store):
    first = Runner()
    assert go(CELLS[:3], first).ran == 3
    second = Runner()
    tally = go(CELLS, second)
    assert second.ran == CELLS[3:]
    assert (tally.ran, tally.kept) == (1, 3)
    assert {p.name for p in store.folder.iterdir()} == {f"{c.name}.json" for c in CELLS}
    everything = Runner()
    go(CELLS, everything, again=True)
    assert everything.ran == CELLS


def test_cells_that_tables_share_are_run_once(go):
    runner = Runner()
    go([*CELLS, *CELLS], runner)
    assert runner.ran == CELLS


def test_a_failure_does_not_stop_the_rest_and_is_tried_again_only_when_asked(go, shown):
    runner = Runner({"tinn": failed})
    tally = go(CELLS, runner)
    assert runner.ran == CELLS
    assert (tally.ran, tally.failed) == (4, 2)
    assert "failed: out of memory" in shown.getvalue()
    patient = Runner()
    assert go(CELLS, patient).failed == 2
    assert patient.ran == []
    retrying = Runner()
    assert go(CELLS, retrying, retry=True).failed == 0
    assert retrying.ran == CELLS[:2]


@pytest.mark.parametrize("outcome", [None, KeyboardInterrupt()], ids=["stopped", "raised"])
def test_an_interruption_keeps_the_cells_before_it(go, store, outcome):
    runner = Runner({"mlp": outcome})
    tally = go(CELLS, runner)
    assert tally.interrupted
    assert tally.ran == 2
    assert runner.ran == CELLS[:3]
    assert len(list(store.folder.iterdir())) == 2
    later = Runner()
    go(CELLS, later)
    assert later.ran == CELLS[2:]


def test_changed_settings_make_a_cell_stale(go, store, shown):
    go(CELLS, Runner())
    record = store.read(CELLS[0])
    record["settings"]["keep"] = "something else"
    store.write(CELLS[0], record)
    runner = Runner()
    go(CELLS, runner)
    assert runner.ran == CELLS[:1]
    assert "settings have changed" in shown.getvalue()


def test_a_failed_method_that_has_come_into_being_is_run(go, store):
    record = failed(CELLS[0]) | {"settings": None}  # as a method that was not there leaves it
    store.write(CELLS[0], record)
    runner = Runner()
    go(CELLS[:1], runner)
    assert runner.ran == CELLS[:1]


def test_no_cell_is_started_after_the_time_limit(go, shown):
    runner = Runner()
    tally = go(CELLS, runner, time_limit=1e-9)
    assert runner.ran == []
    assert tally.left_out == 4


def test_time_left_is_the_median_times_the_cells_that_are_left(shown):
    times = iter((0.0, 1.0, 4.0, 54.0))  # shown, and three ends
    display = Display(Console(file=shown), seconds=100.0, clock=lambda: next(times))
    with display.showing(4, kept=0):
        assert display.left() == 400.0
        for _ in range(3):
            display.ended(cell(), made_up(cell()))
        assert display.left() == 3.0
    assert len(shown.getvalue().splitlines()) == 3  # a line for each cell, no bar


def test_a_bar_is_drawn_on_a_terminal(shown):
    times = iter((0.0, 12.0))  # shown, and one end
    console = Console(file=shown, force_terminal=True, width=150)
    display = Display(console, clock=lambda: next(times))
    with display.showing(2, 1):
        display.begins(cell())
        display.ended(cell(), made_up(cell()))
        display.begins(cell(seed=1))
    assert "1/2 cells" in shown.getvalue()
    assert "about 0:00:12 left" in shown.getvalue()


def test_files_that_are_no_cells_are_named(store):
    for text in ("{", json.dumps({"a": 1})):
        store.path(cell()).write_text(text)
        with pytest.raises(UserError, match=cell().name):
            store.read(cell())


def test_seeds_are_read_in_their_order_and_old_settings_are_left_out(store):
    for seed in (10, 2):
        store.write(cell(seed=seed), made_up(cell(seed=seed)))
    records = store.seeds(cell())
    assert [r["cell"]["seed"] for r in records] == [2, 10]
    old = made_up(cell(seed=3), result={"finished": "2020"}, settings={})
    assert latest_alone([*records, old]) == records


def test_long_reasons_are_cut():
    assert shortened("a  b\nc") == "a b c"
    assert len(shortened("x" * 500)) == 60
    assert shortened(None)


def test_cells_run_at_once_are_stored_as_those_run_one_by_one(go, store):
    nowhere = [cell("no-such-method", "fast", seed) for seed in (0, 1)]
    tally = go(nowhere, run, jobs=2)
    assert (tally.ran, tally.failed, tally.interrupted) == (2, 2, False)
    for missing in nowhere:
        record = json.loads((store.folder / f"{missing.name}.json").read_text())
        assert record["reason"] == "there is no method called no-such-method"
        assert record["cell"]["seed"] == missing.seed
