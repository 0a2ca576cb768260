"""Stores: cells in files, and whether their settings are current."""

import json
from dataclasses import replace

import pytest
from bench_records import PAPER, SMOKE, cell, failed, made_up, put

from tinns import UserError
from tinns.paper.profiles import profile_named
from tinns.paper.records import Status


def test_a_cell_is_read_as_it_was_written(store):
    path = store.write(cell(), made_up(cell()))
    assert path == store.path(cell())
    assert path.name == "burgers_tinn_paper_paper_seed0.json"
    assert store.read(cell()) == made_up(cell())
    assert store.read(cell(seed=1)) is None


def test_the_status_compares_settings_except_limits(store):
    done, stale, unsuccessful, missing = (cell(seed=seed) for seed in range(4))
    put(store, done)
    put(store, stale, settings={"old": True})
    store.write(unsuccessful, failed(unsuccessful))
    found = store.statuses([done, stale, unsuccessful, missing, done], PAPER)
    assert found == {
        done: Status.DONE,
        stale: Status.STALE,
        unsuccessful: Status.FAILED,
        missing: Status.MISSING,
    }
    longer = replace(made_up(done), settings={**made_up(done).settings, "stop": {"seconds": 3}})
    store.write(done, longer)
    assert store.status(done, PAPER) == Status.DONE


@pytest.mark.parametrize("text", ["{", json.dumps({"a": 1}), "[]", "3"])
def test_a_file_that_is_not_a_record_is_named(store, text):
    store.path(cell()).write_text(text)
    with pytest.raises(UserError, match=rf"{cell().name}.*delete it to run it again"):
        store.read(cell())


def test_seeds_are_in_numerical_order(store):
    for seed in (10, 2):
        put(store, cell(seed=seed))
    put(store, cell(seed=3, recipe="fast"))
    assert [record.seed for record in store.seeds(cell())] == [2, 10]


def test_profiles_are_those_of_all_cells_except_smoke_runs(store):
    minute = profile_named("equal-time", 60.0)
    put(store, cell(budget="smoke"), profile=SMOKE)
    put(store, cell(budget=minute.budget), profile=minute)
    put(store, cell())
    put(store, cell(seed=1))
    assert store.profiles() == [PAPER, minute]
