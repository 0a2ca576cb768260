"""The page on performance: numbers of the records and of the timings."""

from pathlib import Path

import numpy as np
import pytest
from bench_records import cell, made_up

from tinns.paper.grouping import groups_of
from tinns.paper.pages.checkout import Checkout
from tinns.paper.pages.performance_page import (
    COLUMNS,
    errors_section,
    performance_page,
    span,
    untuned_section,
)
from tinns.solvers import StopReason

CHECKOUT = Checkout(Path(__file__).parents[3])


def rows(text):
    """The rows of the tables in a text, without their headings."""
    lines = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines]


def test_a_row_states_means_and_compares_with_the_paper():
    runs = [
        made_up(cell(recipe="fast", seed=0), 1e-7),
        made_up(cell(recipe="fast", seed=1), 3e-7, seconds=12.0),
        made_up(cell("mlp", "fast"), 1e-9),  # another method
        made_up(cell(recipe="fast", problem="wave"), relative_l2=None, curve=()),  # unknown error
    ]
    _, _, found = rows(errors_section(runs))
    assert found == [
        "burgers",
        "`fast`",
        "GPU",
        "2.00e-07",
        "2",
        "10 to 12",
        "11.00",
        "1145",
        "6.89e-07",
        "0.75",
        "3.45",
        "2.9",
    ]
    assert float(found[-1]) == pytest.approx(2e-6 / 6.89e-7, rel=1e-2)  # the mean is 2e-6 / seconds


def test_figures_that_nobody_states_are_dashes():
    runs = [
        made_up(cell(recipe="fast", problem=name), 1e-3, curve=())
        for name in ("inverse-burgers", "kuramoto-sivashinsky")
    ]
    _, _, without_hours, without_error = rows(errors_section(runs))
    assert without_hours[8:] == ["8.58e-03", "–", "8.58", "–"]
    assert without_error[8:] == ["–", "–", "–", "–"]


def test_recorded_errors_of_this_repository_are_on_the_page():
    """Each row agrees with the files of its problem, recipe and device."""
    wanted = {}
    for record in CHECKOUT.runs:
        if record.method == "tinn":
            key = (record.problem, f"`{record.recipe}`", record.device)
            wanted.setdefault(key, []).append(record)
    found = [
        row
        for row in rows((CHECKOUT.root / "docs/performance.md").read_text())
        if len(row) == len(COLUMNS) and row[0] not in ("problem", "---")
    ]
    assert len(found) > 20
    for problem, recipe, device, error, seeds, _, _, parameters, *_ in found:
        records = wanted[problem, recipe, device]
        errors = [record.relative_l2 for record in records]
        assert int(seeds) <= len(records)
        assert parameters in {str(record.parameters) for record in records}
        if len(records) == int(seeds):
            assert float(error) == pytest.approx(np.mean(errors), rel=5e-3)
        assert 0.99 * min(errors) <= float(error) <= 1.01 * max(errors)


def test_problems_without_recipes_have_a_section_of_their_own():
    assert untuned_section([made_up(cell())]) == ""
    text = untuned_section([made_up(cell(problem="heat", recipe="default"), 1e-7)])
    assert rows(text)[-1] == ["heat", "GPU", "1.00e-07", "1", "10", "1145", "1"]
    assert "seconds to 1e-6" in text


def test_the_range_of_seconds_is_that_of_comparable_runs():
    def timed(seed, seconds):
        stop = StopReason.SECONDS.value
        return made_up(cell(seed=seed), seconds=seconds, stop_reason=stop)

    (group,) = groups_of([timed(0, 28.4), timed(1, 45.0), timed(2, 3.0)])
    assert span(group) == "28 to 45"
    (group,) = groups_of([timed(0, 28.4), timed(1, 28.1)])
    assert span(group) == "28"


def test_the_section_on_optimisers_needs_its_picture(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "README.md").write_text("")
    assert "## Optimisers" not in performance_page(Checkout(tmp_path))
    picture = tmp_path / "docs/images/optimizers.png"
    picture.parent.mkdir(parents=True)
    picture.write_text("")
    assert "(images/optimizers.png)" in performance_page(Checkout(tmp_path))
