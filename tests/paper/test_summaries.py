"""The sentence about a table is true of its records."""

import pytest
from bench_records import PAPER, cell, failed, put

from tinns.paper.lines import lines_of
from tinns.paper.published import printed, published
from tinns.paper.summaries import summary_of
from tinns.paper.tables import TABLES


def summary(name, store):
    return summary_of(TABLES[name], lines_of(TABLES[name], PAPER, store), PAPER)


def test_winners_and_large_differences_from_the_paper_are_named(store):
    tinn, linear = (printed("trajectory-forms", "burgers", row).error for row in ("TINN", "linear"))
    put(store, cell(), 3 * tinn)
    put(store, cell("tinn-linear"), linear / 4)
    text = summary("trajectory-forms", store)
    winner = "linear" if linear / 4 < 3 * tinn else "layer-wise (TINN)"
    assert f"Lowest error: {winner} (burgers [2 of 3 run])." in text
    assert "In the paper: TINN (burgers)." in text
    assert "At least twice the paper's error: layer-wise (TINN) (burgers ×3)." in text
    assert "At most half the paper's error: linear (burgers ÷4)." in text
    store.write(cell("tinn-one-neuron"), failed(cell("tinn-one-neuron")))
    assert f"Lowest error: {winner} (burgers)." in summary("trajectory-forms", store)


def test_errors_that_are_reached_are_counted(store):
    put(store, cell(), 1e-6)
    put(store, cell("piratenet", None), 2e-6)
    text = summary("convergence", store)
    # The paper's three errors and our PirateNet's are all above 1e-6.
    assert "TINN, Algorithm 1: 4 of 4, the last after 6.85 s" in text
    assert "TINN, accelerated: 0 of 4" in text
    speed = summary("speed", store)
    assert "TINN, Algorithm 1 on burgers: 2;" in speed
    assert "10.55 on burgers, 2.3 on allen-cahn" in speed


def test_shares_are_compared_in_percentage_points(store):
    papers = published()["singular-values"].problems["kdv"]
    shares = {
        name: {"whole": figures.share - 0.02, "centred": figures.share + 0.01}
        for name, figures in papers.items()
    }
    put(store, cell("rank-one", None, problem="kdv"), relative_l2=None, shares=shares, curve=())
    text = summary("singular-values", store)
    assert "2.0 percentage points without" in text
    assert "1.0 with the mean" in text


@pytest.mark.parametrize("name", TABLES)
def test_sentences_are_complete_also_without_results(name, store):
    assert "{" not in summary(name, store)
    row, problem = TABLES[name].rows[0], TABLES[name].problems[0]
    one = cell(row.method, row.recipe, problem=problem)
    store.write(one, failed(one))
    assert "{" not in summary(name, store)
