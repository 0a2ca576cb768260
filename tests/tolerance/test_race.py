"""The race of fields, on losses that are given as functions of seconds."""

from collections.abc import Callable
from math import exp, inf

import pytest

from tinns import MLP, TimeInduced
from tinns.paper.untuned_problems import Heat
from tinns.recipes.recipe import Recipe
from tinns.solvers import StopReason
from tinns.solvers.progress import Silent
from tinns.tolerance import race as racing
from tinns.tolerance.attempt import Case

SECONDS, TARGET = 100.0, 1e-8
Losses = Callable[[float], float]
BUILT_IN = "initial values built in"


class Run:
    """Has given losses, ten iterations a second."""

    def __init__(self, recipe: Recipe, losses: Losses) -> None:
        self.recipe, self.loss_at = recipe, losses
        self.seconds, self.reason = 0.0, StopReason.SECONDS

    def advance(self, seconds: float, target: float, iterations: int | None = None) -> StopReason:
        self.seconds += seconds
        self.reason = StopReason.TARGET if self.loss <= target else StopReason.SECONDS
        return self.reason

    @property
    def iterations(self) -> int:
        return round(10 * self.seconds)

    @property
    def loss(self) -> float:
        return self.loss_at(self.seconds)

    def time_to(self, loss: float) -> float:
        return inf


@pytest.fixture
def race(monkeypatch) -> Callable[[dict[str, Losses]], racing.Raced]:
    """Races fields with given losses; that of BUILT_IN is the best one's with initial values."""

    def raced(losses: dict[str, Losses]) -> racing.Raced:
        names = dict(enumerate(losses, start=5))  # by the width of a network

        def run(case: Case, recipe: Recipe) -> Run:
            name = BUILT_IN if recipe.hard else names[recipe.field.backbone.hidden[0]]
            return Run(recipe, losses.get(name, lambda seconds: 1.0))

        monkeypatch.setattr(racing, "Attempt", run)
        recipes = {
            name: Recipe(field=TimeInduced(MLP((width,))))
            for width, name in names.items()
            if name != BUILT_IN
        }
        return racing.race(Case(Heat(), 0, Silent()), recipes, SECONDS, TARGET)

    return raced


def falling(first: float, rate: float) -> Losses:
    return lambda seconds: first * exp(-rate * seconds)


def test_a_field_that_starts_late_may_win(race):
    """It is behind after the first round, but not so far that it drops out."""
    early, late = falling(0.1, 0.1), falling(1.0, 0.6)
    behind = late(racing.FIRST * SECONDS) / early(racing.FIRST * SECONDS)
    assert 1 < behind < racing.BEHIND[0]
    raced = race({"early": early, "late": late})
    assert raced.name == "late"
    assert raced.losses["late"] < raced.losses["early"]


def test_fields_that_stay_behind_cost_no_more_time(race):
    raced = race({"good": falling(1e-2, 0.5), "bad": lambda s: 0.5, "worse": lambda s: 5.0})
    assert raced.name == "good"
    tried = 3 + 1  # one of them with initial values built in
    assert raced.seconds <= (tried * racing.FIRST + len(racing.BEHIND) * racing.LATER) * SECONDS


def test_a_field_at_the_target_wins_at_once(race):
    raced = race({"slow": lambda s: 1.0, "done": lambda s: 1e-9, "other": lambda s: 1e-12})
    assert raced.name == "done"
    assert raced.reason is StopReason.TARGET
    assert "other" not in raced.losses


def test_initial_values_are_built_in_where_that_lowers_the_loss(race):
    plain = {"one": falling(1.0, 0.1), "two": lambda s: 5.0}
    better = race(plain | {BUILT_IN: lambda s: 0.1})
    assert better.winner.recipe.hard == ("initial",)
    assert better.name == "one with initial built in"
    hardly = race(plain | {BUILT_IN: lambda s: 0.5})
    assert hardly.winner.recipe.hard == ()


def test_losses_at_the_same_time_are_compared(race):
    """The best field was trained for longer than the one with initial values built in."""
    best = falling(1.0, 1.0)
    raced = race({"best": best, "close": falling(1.1, 1.0), BUILT_IN: falling(0.2, 1.0)})
    assert raced.losses["best with initial built in"] > raced.losses["best"]
    assert raced.winner.recipe.hard == ("initial",)


def test_seconds_are_those_of_all_fields(race):
    raced = race({"one": lambda s: 1.0, "two": lambda s: 1.0, "three": lambda s: 1.0})
    rounds = racing.FIRST + len(racing.BEHIND) * racing.LATER
    assert raced.seconds == pytest.approx((3 * rounds + racing.FIRST) * SECONDS)
