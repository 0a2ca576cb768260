"""Sheets of tables: their numbers are those of the records and of the paper."""

from dataclasses import replace

import numpy as np
import pytest
from bench_records import PAPER, cell, made_up, put

from tinns.paper.grouping import Spread
from tinns.paper.lines import lines_of, rows_run
from tinns.paper.profiles import profile_named
from tinns.paper.published import printed
from tinns.paper.table_sheets import shortened, table_sheet
from tinns.paper.tables import ACCELERATED, ALGORITHM_1, TABLES, table_named

PAPERS = printed("main", "burgers", "TINN")
MAIN = replace(table_named("main"), problems=("burgers", "wave"))


def column(sheet, heading):
    (number,) = [n for n, c in enumerate(sheet.columns) if c.heading == heading]
    return [row[number] for row in sheet.rows]


def sheet_of(table, store):
    return table_sheet(table, lines_of(table, PAPER, store), PAPER)


def test_a_row_has_means_over_seeds_and_the_papers_figures(full):
    found = sheet_of(MAIN, full)
    row = column(found, "method").index(ALGORITHM_1)
    assert column(found, "error")[row] == Spread(2e-6, pytest.approx(np.sqrt(2) * 1e-6))
    assert column(found, "seeds")[row] == 2
    assert column(found, "seconds")[row] == 10.0
    assert column(found, "ms per iteration")[row] == pytest.approx(10.0)
    assert column(found, "paper's error")[row] == Spread(PAPERS.error, PAPERS.deviation)
    assert column(found, "paper's hours")[row] == PAPERS.hours
    assert column(found, "paper's error / ours")[row] == pytest.approx(PAPERS.error / 2e-6)


def test_errors_are_divided_by_that_of_algorithm_1_as_in_the_paper(full):
    found = sheet_of(MAIN, full)
    labels, ratios = column(found, "method"), column(found, "error / TINN's")
    assert ratios[labels.index("PINN")] == pytest.approx(50)
    assert ratios[labels.index(ACCELERATED)] == pytest.approx(1 / 200)
    assert ratios[labels.index(ALGORITHM_1)] is None
    optimizers = sheet_of(TABLES["optimizers"], full)
    assert "error / TINN's" not in [c.heading for c in optimizers.columns]


def test_the_lowest_error_is_emphasised_and_failures_are_stated(full):
    found = sheet_of(MAIN, full)
    ((row, number),) = found.best
    assert found.rows[row][1] == ACCELERATED
    assert found.columns[number].heading == "error"
    labels, errors = column(found, "method"), column(found, "error")
    assert errors[labels.index("CoPINN*")] == "failed: needs | a <grid>"
    assert any("PINN: 1 of 3 seeds failed (out of memory)" in note for note in found.notes)
    assert column(found, "problem")[5:] == ["wave"] * 5
    assert errors[5:] == [None] * 5


def test_stale_cells_and_cells_of_other_profiles_are_left_out(full):
    put(full, cell(seed=2), 1.0, settings={"old": True})
    put(full, cell(seed=3, budget="smoke"), 1.0)
    found = sheet_of(MAIN, full)
    assert column(found, "seeds")[column(found, "method").index(ALGORITHM_1)] == 2


def test_of_stale_cells_the_latest_can_be_shown(store):
    put(store, cell(), 1.0, settings={"old": 1}, finished="2024-01-01T00:00:00Z")
    put(store, cell(seed=1), 2.0, settings={"old": 2}, finished="2025-01-01T00:00:00Z")
    lines = lines_of(MAIN, PAPER, store, only_current=False)
    line = next(line for line in lines if line.row.label == ALGORITHM_1)
    assert line.group.error == 2.0
    assert rows_run(lines) == {"burgers": (1, 5), "wave": (0, 5)}
    assert rows_run(lines_of(MAIN, PAPER, store))["burgers"] == (0, 5)


def test_coefficients_and_named_quantities_have_rows(store):
    table = replace(TABLES["extended"], problems=("navier-stokes-3d", "inverse-burgers"))
    errors = {"velocity": 1e-4, "vorticity": 2e-4}
    put(store, cell(problem="navier-stokes-3d"), errors=errors)
    missed = {"convection": -2e-9, "viscosity": 1e-9}
    put(store, cell(problem="inverse-burgers"), coefficient_errors=missed)
    found = sheet_of(table, store)
    stated = {
        (row[0], row[2]): (row[3].mean, row[9] and row[9].mean)
        for row in found.rows
        if isinstance(row[3], Spread)
    }
    assert stated == {
        ("navier-stokes-3d", "velocity"): (1e-4, 4.05e-4),
        ("navier-stokes-3d", "vorticity"): (2e-4, None),
        ("inverse-burgers", "convection (absolute)"): (2e-9, 9.25e-9),
        ("inverse-burgers", "viscosity (absolute)"): (1e-9, 7.72e-9),
    }
    assert "quantity" not in [c.heading for c in sheet_of(MAIN, store).columns]


def test_convergence_is_computed_from_the_curves(store):
    # The made-up error is 10 error / seconds, at 100 iterations per second.
    put(store, cell(), 1e-6)
    put(store, cell(recipe="fast"), 1e-7)
    put(store, cell("pinn", None), 4e-6)
    found = sheet_of(TABLES["convergence"], store)
    pinn = {row[2]: row for row in found.rows if row[1] == "PINN"}
    assert pinn["ours"][3:8] == pytest.approx((4e-6, 250, 2.5, 100, 1.0))
    assert pinn["ours"][8:] == (None, None)
    assert pinn["paper"][3] == printed("convergence", "burgers", "PINN").error
    assert pinn["paper"][8:] == (211, 28.2)
    pirate = {row[2]: row for row in found.rows if row[1] == "PirateNet SOAP"}
    assert pirate["ours"][3:] == (None,) * 7
    assert pirate["paper"][5] == pytest.approx(1e-5 / 1.46e-6)


def test_speed_is_relative_to_the_time_of_piratenet(store):
    put(store, cell(), 1e-6)
    put(store, cell("piratenet", None), 2e-6)
    found = sheet_of(TABLES["speed"], store)
    ours = next(row for row in found.rows if row[:3] == ("burgers", 2e-6, "ours"))
    assert ours[3:6] == pytest.approx((10.0, 5.0, 2.0))
    assert ours[6:8] == (None, None)
    papers = next(row for row in found.rows if row[0] == "burgers" and row[2] == "paper")
    assert papers[-3:] == (1.70, 0.16, 10.55)
    assert papers[3] is None  # our PirateNet does not reach that error
    assert papers[4] == pytest.approx(1e-5 / 1.46e-6)


def test_shares_are_means_over_seeds_with_the_papers(store):
    for seed, whole in ((0, 0.9), (1, 0.8)):
        shares = {g: {"whole": whole, "centred": 0.5} for g in ("W1", "b1", "W2", "b2", "W3")}
        put(store, cell("rank-one", None, seed, "kdv"), shares=shares, relative_l2=None, curve=())
    first = sheet_of(TABLES["singular-values"], store).rows[0]
    assert first[1] == "W1(t)"
    assert first[2].mean == pytest.approx(0.85)
    assert first[3:] == (Spread(0.5, pytest.approx(0.0)), 2, 0.95)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_records_has_rows_and_remarks_but_no_notes(name, store):
    table = TABLES[name]
    empty = sheet_of(table, store)
    assert {row[0] for row in empty.rows} == set(table.problems)
    assert not empty.best
    assert empty.notes == ()
    assert empty.remarks == table.notes


@pytest.mark.parametrize("name", [t.name for t in TABLES.values() if t.kind == "errors"])
def test_a_table_with_all_records_has_all_errors(name, store):
    table = TABLES[name]
    lines = lines_of(table, PAPER, store)
    lines = [
        replace(line, group=replace(line.group, records=(made_up(cell(), 10.0 ** -(1 + n)),)))
        for n, line in enumerate(lines)
    ]
    found = table_sheet(table, lines, PAPER)
    known = {
        (row[0], row[1]): error
        for row, error in zip(found.rows, column(found, "error"), strict=True)
    }
    assert known == {
        (line.problem, line.row.label): Spread(10.0 ** -(1 + n)) for n, line in enumerate(lines)
    }
    best = {found.rows[row][0]: found.rows[row][1] for row, _ in found.best}
    assert best == {p: table.rows_of(p)[-1].label for p in table.problems if len(table.rows) > 1}


def test_different_numbers_of_seeds_are_noted(full):
    note = "The number of seeds differs between rows."
    assert note in sheet_of(MAIN, full).notes[0]
    alone = [line for line in lines_of(MAIN, PAPER, full) if line.row.label == ALGORITHM_1]
    assert note not in table_sheet(MAIN, alone, PAPER).notes[0]


def test_the_length_of_training_and_the_devices_are_noted(store):
    minute = profile_named("equal-time", 60)
    put(store, cell(budget=minute.budget), profile=minute)
    (note, *_) = table_sheet(MAIN, lines_of(MAIN, minute, store), minute).notes
    assert note.startswith("Each method was trained for 60 seconds on GPU.")
    assert "not comparable" not in note
    put(store, cell())
    put(store, cell("pinn", None), device="CPU")
    (note,) = sheet_of(MAIN, store).notes
    assert note.startswith("Each method was trained for as long as its recipe says on CPU and GPU.")
    assert "Seconds on different devices are not comparable." in note


def test_runs_that_stopped_before_the_time_limit_are_noted(store):
    profile = profile_named("equal-time", 60)
    for seed, stop in enumerate(("time is up", "stagnated", "precision floor")):
        put(store, cell("tinn", "fast", seed, budget=profile.budget), stop_reason=stop)
    put(store, cell("pinn", None, budget=profile.budget), stop_reason="time is up")
    notes = table_sheet(MAIN, lines_of(MAIN, profile, store), profile).notes
    assert notes[1] == (
        "Runs that stopped before the time limit: "
        f"{ACCELERATED} on burgers (2 of 3: precision floor, stagnated)."
    )


def test_long_reasons_are_shortened():
    assert shortened("a  b\nc") == "a b c"
    assert shortened("x" * 500) == "x" * 59 + "…"
    assert shortened(None) == "reason unknown"
