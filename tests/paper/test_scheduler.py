"""Scheduling: only missing cells run, and finished cells are kept whatever happens next."""

import io
import json
from dataclasses import replace

import pytest
from bench_records import PAPER, cell, failed, made_up
from rich.console import Console

from tinns.paper.cell_runner import run_cell
from tinns.paper.display import Display
from tinns.paper.scheduler import run_missing


class Runner:
    """Makes records up instead of training, and remembers for which cells."""

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
        return run_missing(cells, PAPER, store, display, run=runner, **options)

    return run


CELLS = [cell(m, "fast", seed) for m in ("tinn", "mlp") for seed in (0, 1)]


def test_only_missing_cells_run(go, store, shown):
    first = Runner()
    assert go(CELLS[:3], first).ran == 3
    second = Runner()
    tally = go(CELLS, second)
    assert second.ran == CELLS[3:]
    assert (tally.ran, tally.kept) == (1, 3)
    assert "3 of 4 cells are already recorded" in shown.getvalue()
    assert {p.name for p in store.folder.iterdir()} == {f"{c.name}.json" for c in CELLS}
    everything = Runner()
    go(CELLS, everything, again=True)
    assert everything.ran == CELLS


def test_a_cell_of_several_tables_runs_once(go):
    runner = Runner()
    go([*CELLS, *CELLS], runner)
    assert runner.ran == CELLS


def test_a_failure_does_not_stop_the_rest_and_runs_again_only_on_request(go, shown):
    runner = Runner({"tinn": failed})
    tally = go(CELLS, runner)
    assert runner.ran == CELLS
    assert (tally.ran, tally.failed) == (4, 2)
    assert "failed: out of memory" in shown.getvalue()
    without_retry = Runner()
    assert go(CELLS, without_retry).failed == 2
    assert without_retry.ran == []
    retrying = Runner()
    assert go(CELLS, retrying, retry=True).failed == 0
    assert retrying.ran == CELLS[:2]


@pytest.mark.parametrize("outcome", [None, KeyboardInterrupt()], ids=["stopped", "raised"])
def test_an_interruption_keeps_finished_cells(go, store, outcome):
    runner = Runner({"mlp": outcome})
    tally = go(CELLS, runner)
    assert tally.interrupted
    assert tally.ran == 2
    assert runner.ran == CELLS[:3]
    assert len(list(store.folder.iterdir())) == 2
    later = Runner()
    assert not go(CELLS, later).interrupted
    assert later.ran == CELLS[2:]


def test_changed_settings_make_a_cell_stale(go, store, shown):
    go(CELLS, Runner())
    record = store.read(CELLS[0])
    changed = {**record.settings, "keep": "something else"}
    store.write(CELLS[0], replace(record, settings=changed))
    runner = Runner()
    go(CELLS, runner)
    assert runner.ran == CELLS[:1]
    assert "settings have changed" in shown.getvalue()


def test_a_cell_whose_method_did_not_exist_runs_once_it_does(go, store):
    store.write(CELLS[0], failed(CELLS[0], settings=None))
    runner = Runner()
    go(CELLS[:1], runner)
    assert runner.ran == CELLS[:1]


def test_no_cell_starts_after_the_time_limit(go):
    runner = Runner()
    tally = go(CELLS, runner, time_limit=1e-9)
    assert runner.ran == []
    assert tally.left_out == 4


@pytest.mark.long
def test_parallel_cells_are_stored_as_those_run_in_turn(go, store):
    unknown = [cell("no-such-method", "fast", seed) for seed in (0, 1)]
    tally = go(unknown, run_cell, jobs=2)
    assert (tally.ran, tally.failed, tally.interrupted) == (2, 2, False)
    for asked in unknown:
        data = json.loads(store.path(asked).read_text())
        assert data["reason"].startswith("there is no method called no-such-method")
        assert data["seed"] == asked.seed
