"""Programs are repeated as often as they should be, on as many rows as asked for."""

import json
import time

import numpy as np
import pytest

import measuring
import tinns
from tinns.paper.sheet import sheet_of


@pytest.mark.parametrize("rows", [20, 1000, 10_900, 64_001])
def test_points_give_the_requested_rows(rows):
    counts = measuring.counts_of(rows, tinns.Counts(10_000, 500, 400))
    assert counts.interior + counts.initial + counts.boundary == rows


@pytest.mark.usefixtures("float64")
def test_a_program_repeats_its_function():
    result = measuring.repeated(lambda x: x + 1, 3, np.zeros(4))()
    np.testing.assert_array_equal(result, np.ones(4))  # the nudges are below round-off


@pytest.mark.usefixtures("float64")
def test_every_repetition_depends_on_the_one_before(monkeypatch):
    monkeypatch.setattr(measuring, "NUDGE", 1.0)
    result = measuring.repeated(lambda x: 2 * x, 3, np.ones(1))()
    np.testing.assert_array_equal(result, 2 * np.array([(1.0 + 0.0 + 2.0) + 6.0]))


def test_the_quickest_of_several_calls_counts(monkeypatch):
    durations = [0.5, 3.0, 2.0, 4.0, 5.0]  # the first call warms up
    ends = iter(np.cumsum(durations))
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    spent = measuring.quickest({"call": lambda: now.__setitem__(0, next(ends))})
    assert spent == {"call": 2000.0}


def test_measurements_say_where_and_when_they_were_made(tmp_path):
    found = measuring.circumstances()
    assert found["cores"]
    assert "tinns" in found["versions"]
    assert found["finished"].endswith("Z")
    path = measuring.write({**found, "rows": 3}, "parts", tmp_path / "new")
    assert path.name == "parts-cpu.json"
    assert json.loads(path.read_text()) == {**found, "rows": 3}


def test_tables_are_printed(capsys):
    measuring.show(sheet_of(["part", "ms"], [["Jacobian", "72.6"]], "Parts"))
    printed = capsys.readouterr().out
    assert "# Parts" in printed
    assert "| Jacobian | 72.6 |" in printed
