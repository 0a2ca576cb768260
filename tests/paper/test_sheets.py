"""Numbers in a table are those of the records, in every format."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from bench_records import PAPER, cell, failed, made_up
from rich.console import Console

from tinns.paper import formats
from tinns.paper.cells import profile_named
from tinns.paper.picture import picture_of
from tinns.paper.published import printed
from tinns.paper.sheets import sheet_of
from tinns.paper.summary import Spread, groups_of, spread
from tinns.paper.tables import ACCELERATED, ALGORITHM_1, TABLES, table_named

PAPERS = printed("main", "burgers", "TINN")
MAIN = replace(table_named("main"), problems=("burgers", "wave"))


def put(store, *records):
    for record in records:
        named = cell(**{k: v for k, v in record["cell"].items()})
        store.write(named, record)


def column(sheet, heading):
    (number,) = [n for n, c in enumerate(sheet.columns) if c.heading == heading]
    return [row[number] for row in sheet.rows]


def sheet(table, store):
    return sheet_of(table, groups_of(table, PAPER, store), PAPER)


@pytest.fixture
def full(store):
    """Two seeds of TINN, three of PINN of which one failed, a CoPINN* that failed."""
    put(store, made_up(cell(seed=0), 1e-6), made_up(cell(seed=1), 3e-6))
    put(store, made_up(cell(recipe="fast"), 1e-8))
    put(store, *(made_up(cell("pinn", None, s), 1e-4) for s in (0, 1)))
    put(store, failed(cell("pinn", None, 2)), failed(cell("copinn", None), "needs | a <grid>"))
    return store


def test_mean_and_deviation_are_those_by_hand():
    assert spread([1.0]) == Spread(1.0, None)
    assert spread([1.0, 3.0]) == Spread(2.0, pytest.approx(np.sqrt(2)))
    assert spread([1.0, 2.0, 6.0]).deviation == pytest.approx(np.sqrt((4 + 1 + 9) / 2))


def test_a_line_holds_the_means_over_seeds_beside_the_papers(full):
    found = sheet(MAIN, full)
    row = column(found, "method").index(ALGORITHM_1)
    assert column(found, "error")[row] == Spread(2e-6, pytest.approx(np.sqrt(2) * 1e-6))
    assert column(found, "seeds")[row] == 2
    assert column(found, "ms per iteration")[row] == pytest.approx(10.0)
    assert column(found, "paper's error")[row] == Spread(PAPERS["error"], PAPERS["deviation"])
    assert column(found, "paper's hours")[row] == PAPERS["hours"]
    assert column(found, "paper's error / ours")[row] == pytest.approx(PAPERS["error"] / 2e-6)


def test_errors_are_also_measured_by_tinns_as_in_the_paper(full):
    found = sheet(MAIN, full)
    labels, ratios = column(found, "method"), column(found, "error / TINN's")
    assert ratios[labels.index("PINN")] == pytest.approx(50)
    assert ratios[labels.index(ACCELERATED)] == pytest.approx(1 / 200)
    assert ratios[labels.index(ALGORITHM_1)] is None
    assert "error / TINN's" not in [c.heading for c in sheet(TABLES["optimizers"], full).columns]


def test_the_best_of_a_problem_is_marked_and_failures_are_told(full):
    found = sheet(MAIN, full)
    ((row, number),) = found.best
    assert found.rows[row][1] == ACCELERATED
    assert found.columns[number].heading == "error"
    labels, errors = column(found, "method"), column(found, "error")
    assert errors[labels.index("CoPINN*")] == "failed: needs | a <grid>"
    assert any("PINN: 1 of 3 seeds failed (out of memory)" in note for note in found.notes)
    assert all(value is None for value in errors[len(labels) // 2 :])  # wave: nothing yet


def test_stale_and_foreign_cells_are_left_out(full):
    put(full, made_up(cell(seed=2), 1.0, settings={"old": True}))
    put(full, made_up(cell(seed=3, budget="smoke"), 1.0))
    found = sheet(MAIN, full)
    assert column(found, "seeds")[column(found, "method").index(ALGORITHM_1)] == 2


def test_coefficients_and_quantities_have_lines_of_their_own(store):
    table = replace(TABLES["extended"], problems=("navier-stokes-3d", "inverse-burgers"))
    flow, inverse = cell(problem="navier-stokes-3d"), cell(problem="inverse-burgers")
    errors = {"velocity": 1e-4, "vorticity": 2e-4}
    put(store, made_up(flow, result={"errors": errors}))
    missed = {"convection": -2e-9, "viscosity": 1e-9}
    put(store, made_up(inverse, result={"coefficient_errors": missed}))
    found = sheet(table, store)
    told = {
        (row[0], row[2]): (row[3].mean, row[9] and row[9].mean)
        for row in found.rows
        if isinstance(row[3], Spread)
    }
    assert told[("navier-stokes-3d", "velocity")] == (1e-4, 4.05e-4)
    assert told[("navier-stokes-3d", "vorticity")] == (2e-4, None)
    assert told[("inverse-burgers", "convection (absolute)")] == (2e-9, 9.25e-9)
    assert told[("inverse-burgers", "viscosity (absolute)")] == (1e-9, 7.72e-9)
    assert "quantity" not in [c.heading for c in sheet(MAIN, store).columns]


def test_convergence_is_read_off_the_curves(store):
    # The made-up error is 10 error / seconds, at 100 iterations a second.
    put(store, made_up(cell(), 1e-6), made_up(cell(recipe="fast"), 1e-7))
    put(store, made_up(cell("pinn", None), 4e-6))
    found = sheet(TABLES["convergence"], store)
    pinn = {row[2]: row for row in found.rows if row[1] == "PINN"}
    assert pinn["ours"][3:8] == pytest.approx((4e-6, 250, 2.5, 100, 1.0))
    assert pinn["ours"][8:] == (None, None)
    assert pinn["paper"][3] == printed("convergence", "burgers", "PINN")["error"]
    assert pinn["paper"][8:] == (211, 28.2)
    pirate = {row[2]: row for row in found.rows if row[1] == "PirateNet SOAP"}
    assert pirate["ours"][3:] == (None,) * 7
    assert pirate["paper"][5] == pytest.approx(1e-5 / 1.46e-6)


def test_speed_compares_with_piratenets_time(store):
    put(store, made_up(cell(), 1e-6), made_up(cell("piratenet", None), 2e-6))
    found = sheet(TABLES["speed"], store)
    ours = next(row for row in found.rows if row[:3] == ("burgers", 2e-6, "ours"))
    assert ours[3:6] == pytest.approx((10.0, 5.0, 2.0))
    assert ours[6:8] == (None, None)
    papers = next(row for row in found.rows if row[0] == "burgers" and row[2] == "paper")
    assert papers[-3:] == (1.70, 0.16, 10.55)
    assert papers[3] is None  # our PirateNet does not get there
    assert papers[4] == pytest.approx(1e-5 / 1.46e-6)


def test_shares_stand_beside_the_papers(store):
    shares = {g: {"whole": 0.9, "centred": 0.5} for g in ("W1", "b1", "W2", "b2", "W3")}
    for seed, whole in ((0, 0.9), (1, 0.8)):
        fits = cell("rank-one", None, seed, "kdv")
        told = {g: s | {"whole": whole} for g, s in shares.items()}
        put(store, made_up(fits, result={"shares": told, "relative_l2": None}, curve=[]))
    found = sheet(TABLES["singular-values"], store)
    first = found.rows[0]
    assert first[1] == "W1(t)"
    assert first[2].mean == pytest.approx(0.85)
    assert first[3:] == (Spread(0.5, pytest.approx(0.0)), 2, 0.95)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_made_also_of_nothing(name, store, tmp_path):
    table = TABLES[name]
    groups = groups_of(table, PAPER, store)
    empty = sheet_of(table, groups, PAPER)
    assert empty.rows
    assert empty.notes == ()
    picture_of(table, groups, empty).savefig(tmp_path / "a.png", dpi=40)
    page = formats.markdown(empty)
    assert page.startswith(f"# {table.title}")
    assert all(f"- {note}" in page for note in table.notes)


def test_comma_separated_numbers_have_all_digits(full):
    found = sheet(MAIN, full)
    rows = list(csv.DictReader(io.StringIO(formats.comma_separated(found))))
    assert len(rows) == len(found.rows)
    row = next(r for r in rows if r["method"] == ALGORITHM_1 and r["problem"] == "burgers")
    assert float(row["error"]) == 2e-6
    assert float(row["error: deviation"]) == pytest.approx(np.sqrt(2) * 1e-6, rel=1e-14)
    assert float(row["paper's error: deviation"]) == PAPERS["deviation"]
    assert rows[-1]["error"] == ""
    assert (row["iterations"], row["parameters"]) == ("1000", "1145")


def test_lines_of_unequal_seeds_are_told(full):
    told = "Lines differ in how many seeds were run."
    assert told in sheet(MAIN, full).notes[0]
    alone = [group for group in groups_of(MAIN, PAPER, full) if group.row.label == ALGORITHM_1]
    assert told not in sheet_of(MAIN, alone, PAPER).notes[0]


def test_runs_that_ended_before_their_time_are_told(store):
    profile = profile_named("equal-time", 60)
    for seed, stop in enumerate(("time is up", "stagnated", "precision floor")):
        run = cell("tinn", "fast", seed, budget=profile.budget)
        put(store, made_up(run, profile=profile, result={"stop_reason": stop}))
    run = cell("pinn", None, budget=profile.budget)
    put(store, made_up(run, profile=profile, result={"stop_reason": "time is up"}))
    notes = sheet_of(MAIN, groups_of(MAIN, profile, store), profile).notes
    told = f"before that: {ACCELERATED} on burgers (2 of 3: precision floor, stagnated)."
    assert told in notes[1]


def test_markdown_has_as_many_cells_in_every_row(full):
    lines = formats.markdown_table(sheet(MAIN, full))
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert counts == {len(sheet(MAIN, full).columns) + 1}
    assert "**1.00e-08**" in "\n".join(lines)
    assert "2.00e-06 ± 1.41e-06" in "\n".join(lines)
    assert "failed: needs \\| a <grid>" in "\n".join(lines)


def test_latex_rows_end_and_have_their_columns(full):
    text = formats.latex(sheet(MAIN, full))
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(sheet(MAIN, full).rows) + 1
    columns = len(sheet(MAIN, full).columns)
    assert {row.count(" & ") for row in rows} == {columns - 1}
    assert text.count("\\midrule") == 2  # below the head, and between two problems
    assert r"\textbf{\boldmath $1.00\times10^{-8}$}" in text
    assert r"$2.00\times10^{-6}$ $\pm$ $1.41\times10^{-6}$" in text
    body = text[: text.index("\\bottomrule")]
    assert "$<$grid$>$" in body
    assert all(ord(letter) < 128 for line in rows for letter in line)


def test_a_narrow_terminal_gets_the_columns_that_matter(full):
    found = sheet(MAIN, full)
    for width in (80, 120, 300):
        out = io.StringIO()
        table, left_out = formats.on_terminal(found, width)
        Console(file=out, width=width).print(table)
        assert max(len(line) for line in out.getvalue().splitlines()) <= width
        assert "error" not in left_out
        for kept in (ALGORITHM_1, "2.00e-06 ± 1.41e-06", "burgers"):
            assert kept in out.getvalue()
    assert left_out == []


def test_the_picture_has_a_panel_a_problem_and_a_line_a_row(full):
    groups = groups_of(MAIN, PAPER, full)
    figure = picture_of(MAIN, groups, sheet(MAIN, full))
    burgers, wave = figure.axes
    assert (burgers.get_title(), wave.get_title()) == ("burgers", "wave")
    assert burgers.get_xscale() == burgers.get_yscale() == "log"
    labelled = [line for line in burgers.lines if not line.get_label().startswith("_")]
    assert {line.get_label() for line in labelled} == {"PINN", ALGORITHM_1, ACCELERATED}
    tinn = next(line for line in labelled if line.get_label() == ALGORITHM_1)
    np.testing.assert_allclose(tinn.get_ydata(), 2e-5 / np.asarray(tinn.get_xdata()))
    dotted = {"PINN", "TINN"}  # the paper's errors of what was run here, both kinds of TINN once
    assert len(burgers.lines) - len(labelled) == len(dotted)
