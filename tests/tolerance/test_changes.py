"""Decisions by signals: each follows from what was estimated and measured."""

from types import SimpleNamespace

import numpy as np
import pytest

from tinns import Box
from tinns.nn import MLP, Added, TimeInduced, Wider
from tinns.paper.untuned_problems import Heat
from tinns.problem import Problem, initial
from tinns.problems import InverseBurgers
from tinns.recipes.recipe import Recipe
from tinns.solvers import StopReason
from tinns.tolerance.changes import changes, windows_for
from tinns.tolerance.judging import Judgement
from tinns.verification import ErrorEstimate

TIMES = np.linspace(0, 1, 21)


class Sawtooth(Problem):
    """Initial values that do not fit together at the ends of a periodic axis."""

    domain = Box(x=(0, 1), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t - u.xx

    def conditions(self):
        return [initial(lambda x: x)]


def judged(error: float, over_time=1.0, factor: float = 1.2, doubt: float | None = None):
    errors = error * over_time * np.ones(len(TIMES))
    estimate = ErrorEstimate(error, "classical", {"u": error}, TIMES, errors, factor, "")
    return Judgement(estimate, factor if doubt is None else doubt)


def attempt(reason=StopReason.STAGNATED, overfit: float = 1.0, **recipe):
    return SimpleNamespace(recipe=Recipe(**recipe), reason=reason, overfit=overfit)


def first(problem, attempt, judgement=None):
    return next(changes(problem, attempt, judgement))


def test_windows_where_the_error_grows_or_is_large():
    assert windows_for(Heat(), judged(1e-4)) is None
    few, many = (windows_for(Heat(), judged(1e-4, growth**TIMES)) for growth in (1e2, 1e5))
    assert 3 <= few < many <= 12
    assert windows_for(Heat(), judged(0.5)) == 5
    assert windows_for(InverseBurgers(), judged(0.5)) is None  # its coefficients are of all times


def test_initial_values_that_are_wrong_are_built_in_or_weighted():
    late = judged(1e-3, 10 * TIMES)
    assert not first(Heat(), attempt(), late).recipe.hard
    early = judged(1e-3)
    assert first(Heat(), attempt(), early).recipe.hard == ("initial",)
    again = attempt(hard=("initial",))
    assert first(Heat(), again, early).growth is not None


def test_initial_values_that_do_not_fit_a_periodic_axis_are_weighted():
    change = first(Sawtooth(), attempt(), judged(1e-3))
    assert change.recipe.weights == {"initial": 5.0}
    assert not change.recipe.hard


def test_overfitting_calls_for_points():
    change = first(Heat(), attempt(overfit=5.0), judged(1e-3, 10 * TIMES))
    assert change.recipe.points.interior == 2 * Recipe().points.interior
    assert change.growth is None


def test_stagnation_calls_for_a_larger_network():
    small, large = (
        first(Heat(), attempt(field=TimeInduced(MLP((width, width)))), None).growth
        for width in (20, 40)
    )
    assert isinstance(small, Wider)
    assert isinstance(large, Added)


def test_a_tolerance_is_met_by_the_estimate_and_by_its_doubt():
    assert judged(0.9e-3).share(1e-3) == pytest.approx(0.9)
    assert judged(1.1e-3).share(1e-3) > 1
    assert judged(0.6e-3, doubt=10.0).share(1e-3) == pytest.approx(2)  # at most three times
    assert judged(np.inf).share(1e-3) == np.inf
    assert judged(1e-6, doubt=np.inf).share(1e-3) == np.inf
