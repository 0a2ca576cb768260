"""The paper's figures are complete and agree with each other where it prints them twice."""

import pytest

from tinns.paper.published import printed, published
from tinns.paper.tables import TABLES

STATED = [
    (table, problem, row)
    for table in TABLES.values()
    for problem in table.problems
    for row in table.rows_of(problem)
    if row.printed and table.kind == "errors"
]


@pytest.mark.parametrize(
    ("table", "problem", "row"), STATED, ids=[f"{t.name}-{p}-{r.label}" for t, p, r in STATED]
)
def test_every_row_of_the_paper_has_its_figures(table, problem, row):
    entry = printed(table.name, problem, row.printed)
    assert "error" in entry or "coefficient_errors" in entry
    if "error" in entry:
        assert 0 < entry["error"] < 1


def test_every_figure_of_the_paper_stands_in_a_table():
    for name, table in published().items():
        assert {"title", "where"} <= set(table)
        if name == "spatial-derivative":  # a diagnostic, not a table
            continue
        rows = {row.printed for row in TABLES[name].rows}
        for problem, entries in table.items():
            if isinstance(entries, dict):
                assert problem in TABLES[name].problems
                if TABLES[name].kind == "errors":
                    assert set(entries) <= rows


def test_rows_without_figures_are_marked_as_such():
    unstated = {(t.name, r.label) for t in TABLES.values() for r in t.rows if r.printed is None}
    assert {table for table, _ in unstated} == {"optimizers", "singular-values", "backbones"}


def test_tables_that_print_the_same_run_agree():
    for name, row in (("hyperpinn", "TINN"), ("lm-ablation", "TINN"), ("optimizers", "TINN + LM")):
        for problem in TABLES[name].problems:
            main, other = printed("main", problem, "TINN"), printed(name, problem, row)
            assert main["error"] == other["error"]
            assert main["deviation"] == other["deviation"]
            assert main["parameters"] == other["parameters"]


def test_improvements_are_those_that_the_paper_prints():
    def factor(problem, row):
        return printed("main", problem, row)["error"] / printed("main", problem, "TINN")["error"]

    assert factor("burgers", "PINN") == pytest.approx(318, rel=0.01)
    assert factor("klein-gordon", "CoPINN*") == pytest.approx(1.4, rel=0.05)
    assert factor("wave", "PirateNet SOAP") == pytest.approx(4.3, rel=0.01)
    for problem in TABLES["speed"].problems:
        pirate, tinn = (printed("speed", problem, row) for row in ("PirateNet SOAP", "TINN"))
        assert pirate["hours"] / tinn["hours"] == pytest.approx(tinn["factor"], rel=0.05)


def test_speed_convergence_and_precision_speak_of_the_same_pirate():
    burgers = printed("speed", "burgers", "PirateNet SOAP")
    assert burgers["error"] == printed("convergence", "burgers", "PirateNet SOAP")["error"]
    assert burgers["error"] == printed("precision", "burgers", "PirateNet (SOAP; SP)")["error"]
    seconds = printed("convergence", "burgers", "PirateNet SOAP")["seconds"]
    assert seconds / 3600 == pytest.approx(printed("speed", "burgers", "TINN")["hours"], rel=0.3)


def test_what_the_paper_does_not_print_is_empty():
    assert printed("main", "burgers", None) == {}
    assert printed("backbones", "burgers", "MLP") == {}
