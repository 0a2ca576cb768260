"""The paper's figures are complete, and agree where the paper prints them twice."""

import pytest

from tinns.paper.published import (
    Figures,
    main_figures,
    printed,
    published,
    separation_errors,
    tinn_figures,
)
from tinns.paper.tables import TABLES

STATED = [
    (table, problem, row)
    for table in TABLES.values()
    for problem in table.problems
    for row in table.rows_of(problem)
    if row.printed and table.kind == "errors"
]


def error(table, problem, row):
    found = printed(table, problem, row).error
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("table", "problem", "row"), STATED, ids=[f"{t.name}-{p}-{r.label}" for t, p, r in STATED]
)
def test_every_row_that_the_paper_prints_has_an_error(table, problem, row):
    figures = printed(table.name, problem, row.printed)
    errors = [figures.error, *figures.coefficient_errors.values()]
    known = [value for value in errors if value is not None]
    assert known
    assert all(0 < value < 1 for value in known)


@pytest.mark.parametrize("name", published())
def test_every_figure_of_the_paper_belongs_to_a_row(name):
    table = published()[name]
    assert table.title
    assert table.where
    if name == "spatial-derivative":  # a diagnostic, not a table
        assert set(table.problems["burgers"]) == {"mlp", "tinn"}
        return
    assert set(table.problems) <= set(TABLES[name].problems)
    rows = {row.printed for row in TABLES[name].rows}
    if TABLES[name].kind == "errors":
        assert all(set(figures) <= rows for figures in table.problems.values())


def test_tables_with_rows_that_the_paper_does_not_print():
    unstated = {(t.name, r.label) for t in TABLES.values() for r in t.rows if r.printed is None}
    assert {table for table, _ in unstated} == {"optimizers", "singular-values", "backbones"}


@pytest.mark.parametrize(
    ("name", "row"), [("hyperpinn", "TINN"), ("lm-ablation", "TINN"), ("optimizers", "TINN + LM")]
)
def test_tables_that_print_the_same_runs_agree(name, row):
    for problem in TABLES[name].problems:
        main, other = printed("main", problem, "TINN"), printed(name, problem, row)
        assert main.error == other.error
        assert main.deviation == other.deviation
        assert main.parameters == other.parameters


def test_ratios_of_errors_and_hours_are_those_that_the_paper_prints():
    def factor(problem, row):
        return error("main", problem, row) / error("main", problem, "TINN")

    assert factor("burgers", "PINN") == pytest.approx(318, rel=0.01)
    assert factor("klein-gordon", "CoPINN*") == pytest.approx(1.4, rel=0.05)
    assert factor("wave", "PirateNet SOAP") == pytest.approx(4.3, rel=0.01)
    for problem in TABLES["speed"].problems:
        pirate, tinn = (printed("speed", problem, row) for row in ("PirateNet SOAP", "TINN"))
        assert pirate.hours / tinn.hours == pytest.approx(tinn.factor, rel=0.05)


def test_speed_convergence_and_precision_print_the_same_piratenet():
    burgers = error("speed", "burgers", "PirateNet SOAP")
    assert burgers == error("convergence", "burgers", "PirateNet SOAP")
    assert burgers == error("precision", "burgers", "PirateNet (SOAP; SP)")
    seconds = printed("convergence", "burgers", "PirateNet SOAP").seconds
    assert seconds / 3600 == pytest.approx(printed("speed", "burgers", "TINN").hours, rel=0.3)


def test_figures_that_the_paper_does_not_print_are_empty():
    assert printed("main", "burgers", None) == Figures()
    assert printed("backbones", "burgers", "MLP") == Figures()
    assert printed("main", "burgers", "no such row") == Figures()
    assert printed("main", "no-such-problem", "TINN") == Figures()


def test_figures_of_tinn_by_problem():
    assert list(main_figures()) == ["burgers", "allen-cahn", "klein-gordon", "kdv", "wave"]
    assert all(figures.hours and figures.deviation for figures in main_figures().values())
    assert main_figures().items() <= tinn_figures().items()
    assert set(tinn_figures()) == {
        problem for name in ("main", "extended", "transport") for problem in TABLES[name].problems
    }
    for figures in tinn_figures().values():
        assert figures.hours is not None or figures.source is not None
    assert separation_errors("transport") == {
        "separation": error("transport", "transport", "separation")
    }
    assert separation_errors("burgers") == {}
