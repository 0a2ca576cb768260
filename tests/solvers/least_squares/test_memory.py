"""Forecasts of memory and layouts that fit."""

import jax
import pytest

from tinns import UserError
from tinns.objective.layout import Layout
from tinns.solvers.least_squares.memory import SHARE, fitting_layout, forecast, free_bytes


def test_what_fits_is_held_whole_without_a_word():
    layout, told = fitting_layout(10_900, 1145, 8, 1, 24e9)
    assert layout == Layout(10_900, 1)
    assert told is None


@pytest.mark.parametrize("free", [0.5e9, 3e9, 10e9])
def test_what_does_not_fit_is_cut_into_chunks_that_do(free):
    rows, parameters = 1_000_000, 1145
    layout, told = fitting_layout(rows, parameters, 8, 1, free)
    assert layout.chunk < rows
    assert forecast(rows, parameters, 8, layout) <= SHARE * free
    assert told is not None
    for fact in ("1000000 rows", "1145 parameters", str(layout.chunk)):
        assert fact in told


def test_more_devices_hold_more():
    alone, _ = fitting_layout(1_000_000, 1145, 8, 1, 20e9)
    together, told = fitting_layout(1_000_000, 1145, 8, 8, 20e9)
    assert alone.chunk < 1_000_000
    assert told is None
    assert together.shards == 8


def test_a_network_whose_normal_equations_cannot_fit_is_refused():
    with pytest.raises(UserError, match=r"100000 parameters need 640\.0 GB.*LBFGS"):
        fitting_layout(1000, 100_000, 8, 1, 24e9)


def test_the_machine_says_what_is_free():
    alone = free_bytes(jax.devices()[:1])
    assert 1e8 < alone < 1e14
    assert free_bytes(jax.devices()[:1] * 2) == pytest.approx(alone / 2, rel=0.2)
