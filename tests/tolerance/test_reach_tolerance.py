"""Solving to a tolerance: what is said to be met is met, and what is not is said too."""

import math
from itertools import pairwise

import jax
import numpy as np
import pytest

import tinns
from tinns.paper.untuned_problems import Heat
from tinns.problem import Problem
from tinns.tolerance import Decision, Reached, reach_tolerance

KEY = jax.random.key(0)


class Notices:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def status(self, activity: str) -> None:
        pass

    def notice(self, fact: str) -> None:
        self.told.append(fact)

    def update(self, snapshot: object) -> None:
        pass


def true_error(problem: Problem, reached: Reached) -> float:
    trained = reached.trained
    psi = jax.tree.map(np.asarray, trained.psi)
    solution = tinns.Solution(
        problem.domain, problem.unknowns, trained.field, psi, "float64", problem
    )
    return solution.relative_l2()


@pytest.fixture(scope="module")
def heat() -> tuple[Reached, Notices]:
    notices = Notices()
    return reach_tolerance(Heat(), 1e-3, seconds=20.0, reporter=notices), notices


def test_a_tolerance_is_met_early_and_truly(heat):
    reached, _ = heat
    assert reached.met
    assert reached.estimate.relative_l2 <= 1e-3
    assert true_error(Heat(), reached) <= 3e-3
    assert reached.trained.seconds < 20.0


def test_every_decision_is_recorded_and_reported(heat):
    reached, notices = heat
    made = reached.decisions
    assert len(notices.told) == len(made) >= 2
    assert all(told.endswith(d.text) for told, d in zip(notices.told, made, strict=True))
    assert all(a.seconds <= b.seconds for a, b in pairwise(made))
    assert all(0 <= d.seconds <= reached.trained.seconds + 0.01 for d in made)
    assert [Decision.from_data(d.as_data()) for d in made] == list(made)


def test_the_history_is_that_of_the_solution(heat):
    trained = heat[0].trained
    seconds = trained.history["seconds"]
    assert len(seconds) == trained.iterations
    assert np.all(np.diff(seconds) > 0)
    assert seconds[-1] <= trained.seconds + 1e-6


def test_the_recipe_describes_the_solution(heat):
    """Its field takes the parameters that were found."""
    reached, problem = heat[0], Heat()
    fresh = jax.eval_shape(lambda key: reached.recipe.field.init(key, problem.domain, 1), KEY)
    found = reached.trained.psi["field"]
    assert jax.tree.map(np.shape, found) == jax.tree.map(np.shape, fresh)


def test_an_impossible_tolerance_ends_at_its_budget():
    notices = Notices()
    reached = reach_tolerance(Heat(), 1e-4, seconds=0.05, reporter=notices)
    assert not reached.met
    assert reached.trained.seconds >= 0.05
    assert reached.trained.iterations < 30
    assert "not met" in notices.told[-1]
    error = true_error(Heat(), reached)
    assert math.isclose(reached.estimate.relative_l2, error, rel_tol=0.5)


@pytest.mark.parametrize("tolerance", [0, -1e-3, 1.0, math.nan, math.inf, "1e-3", None, True])
def test_nonsense_is_refused(tolerance):
    with pytest.raises(tinns.UserError, match="tolerance="):
        reach_tolerance(Heat(), tolerance)


def test_a_budget_must_be_positive():
    with pytest.raises(tinns.UserError, match="seconds=0"):
        reach_tolerance(Heat(), 1e-3, seconds=0)
