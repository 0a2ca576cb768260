"""Curves: thinning, averaging over seeds, and when an error is reached."""

import numpy as np
import pytest

from tinns.paper.curves import CURVE_POINTS, shared_curve, stays_below, thinned_curve
from tinns.solvers import History


def falling(error, times):
    """A curve of error / seconds."""
    return [
        {"iteration": int(100 * t), "seconds": t, "loss": 1.0, "relative_l2": error / t}
        for t in times
    ]


def test_a_curve_has_measured_errors_only():
    errors = np.array([np.nan, 0.5, np.nan, 0.25])
    columns = {"iteration": np.arange(1.0, 5.0), "seconds": np.arange(4.0), "loss": np.ones(4)}
    curve = thinned_curve(History({**columns, "relative_l2": errors}))
    assert [point["relative_l2"] for point in curve] == [0.5, 0.25]
    assert [point["iteration"] for point in curve] == [2, 4]
    assert [point["seconds"] for point in curve] == [1.0, 3.0]


def test_long_curves_are_thinned():
    count = 10 * CURVE_POINTS
    columns = {name: np.arange(1.0, count + 1) for name in ("iteration", "seconds", "loss")}
    curve = thinned_curve(History({**columns, "relative_l2": 1 / columns["iteration"]}))
    assert len(curve) == CURVE_POINTS
    assert all(p["relative_l2"] == 1 / p["iteration"] == 1 / p["seconds"] for p in curve)


def test_curves_are_averaged_over_the_range_that_all_seeds_share():
    one, two = falling(1.0, (1.0, 4.0, 16.0)), falling(3.0, (2.0, 8.0))
    for statistic, factor in (("mean", 2.0), ("min", 1.0), ("max", 3.0), ("median", 2.0)):
        seconds, errors = shared_curve([one, two], statistic=statistic)
        np.testing.assert_array_equal(seconds, [2.0, 4.0, 8.0])
        np.testing.assert_allclose(errors, factor / seconds)  # straight lines in logarithms
    iterations, errors = shared_curve([one, two], "iteration")
    np.testing.assert_allclose(errors, 200 / iterations)


def test_an_error_is_reached_when_the_curve_stays_below_it():
    seconds = np.array([1.0, 2.0, 4.0, 8.0])
    assert stays_below(seconds, 1 / seconds, 1 / 3) == pytest.approx(3.0)
    assert stays_below(seconds, 1 / seconds, 2.0) == 1.0
    assert stays_below(seconds, 1 / seconds, 0.1) is None
    rising_again = np.array([0.1, 1.0, 0.1, 0.01])
    assert stays_below(seconds, rising_again, 0.5) > 2.0
