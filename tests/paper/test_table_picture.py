"""Pictures of tables: the curves and bars are those of the records."""

from dataclasses import replace

import numpy as np
import pytest
from bench_records import PAPER, cell, put

from tinns.paper.lines import lines_of
from tinns.paper.published import printed
from tinns.paper.table_picture import picture_of
from tinns.paper.table_sheets import table_sheet
from tinns.paper.tables import ACCELERATED, ALGORITHM_1, TABLES

MAIN = replace(TABLES["main"], problems=("burgers", "wave"))


def picture(table, store):
    lines = lines_of(table, PAPER, store)
    return picture_of(table, lines, table_sheet(table, lines, PAPER))


def labelled(axes):
    return {line.get_label(): line for line in axes.lines if line.get_label()[0] != "_"}


def test_each_problem_has_a_panel_and_each_row_a_line(full):
    figure = picture(MAIN, full)
    burgers, wave = figure.axes
    assert (burgers.get_title(), wave.get_title()) == ("burgers", "wave")
    assert burgers.get_xscale() == burgers.get_yscale() == "log"
    assert set(labelled(burgers)) == {"PINN", ALGORITHM_1, ACCELERATED}
    tinn = labelled(burgers)[ALGORITHM_1]
    np.testing.assert_allclose(tinn.get_ydata(), 2e-5 / np.asarray(tinn.get_xdata()))
    assert [text.get_text() for text in wave.texts] == ["no curve yet"]


def test_the_papers_errors_are_dotted_once(full):
    burgers = picture(MAIN, full).axes[0]
    dotted = [line.get_ydata()[0] for line in burgers.lines if line.get_linestyle() == ":"]
    # Both kinds of TINN correspond to one row of the paper, and CoPINN* failed.
    assert sorted(dotted) == sorted(printed("main", "burgers", r).error for r in ("PINN", "TINN"))


def test_shares_are_bars(store):
    shares = {g: {"whole": 0.9, "centred": 0.5} for g in ("W1", "b1", "W2", "b2", "W3")}
    put(store, cell("rank-one", None, 0, "kdv"), shares=shares, relative_l2=None, curve=())
    (axes,) = picture(TABLES["singular-values"], store).axes
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]
    assert heights[:2] == [[0.9] * 5, [0.5] * 5]
    assert heights[2] == [0.95, 0.87, 0.93, 0.89, 0.99]  # the paper's
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [f"{g}(t)" for g in shares]


@pytest.mark.parametrize("name", TABLES)
def test_without_records_no_curve_is_drawn(name, store):
    table = TABLES[name]
    figure = picture(table, store)
    if table.kind == "shares":
        assert all(bar.get_height() == 0 for bar in figure.axes[0].containers[0])
        return
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == list(table.problems)
    assert all(axes.texts[0].get_text() == "no curve yet" for axes in shown)
