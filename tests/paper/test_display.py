"""The progress of a bench: a line for each finished cell, a bar, and the remaining time."""

import io

import pytest
from bench_records import cell, failed, made_up
from rich.console import Console

from tinns.paper.display import Display, outcome_line


@pytest.fixture
def shown():
    return io.StringIO()


def test_the_remaining_time_is_the_median_times_the_number_of_remaining_cells(shown):
    times = iter((0.0, 1.0, 4.0, 54.0))  # the start, and the ends of three cells
    display = Display(Console(file=shown), seconds=100.0, clock=lambda: next(times))
    with display.showing(4, kept=0):
        assert display.left() == 400.0
        for _ in range(3):
            display.end(cell(), made_up(cell()))
        assert display.left() == 3.0
    assert len(shown.getvalue().splitlines()) == 3  # a line for each cell, no bar


def test_a_terminal_shows_a_bar(shown):
    times = iter((0.0, 12.0))  # the start, and the end of one cell
    console = Console(file=shown, force_terminal=True, width=150)
    display = Display(console, clock=lambda: next(times))
    with display.showing(2, 1):
        display.start(cell())
        display.end(cell(), made_up(cell()))
        display.start(cell(seed=1))
    assert "1/2 cells" in shown.getvalue()
    assert "about 0:00:12 left" in shown.getvalue()


def test_a_quiet_display_prints_nothing(shown):
    display = Display(Console(file=shown, force_terminal=True), quiet=True)
    with display.showing(2, 1):
        display.start(cell())
        display.end(cell(), made_up(cell()))
    assert shown.getvalue() == ""


def test_an_outcome_is_one_line():
    assert outcome_line(made_up(cell(), 2e-5)) == "error 2.00e-05, 10.0 s, 1000 iterations"
    assert outcome_line(made_up(cell(), relative_l2=None)) == "10.0 s, 1000 iterations"
    assert outcome_line(failed(cell(), "a\n b")) == "failed: a b"
