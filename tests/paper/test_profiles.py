"""Profiles: their limits, their names in files, and what is refused."""

import pytest

from tinns import UserError
from tinns.paper.profiles import Profile, profile_named


def test_limits_and_budgets():
    assert profile_named("paper") == Profile("paper")
    assert profile_named("smoke") == Profile("smoke", iterations=2, small=True)
    assert profile_named("equal-time", 2.5) == Profile("equal-time", seconds=2.5)
    assert profile_named("equal-time", 2.5).budget == "equal-time-2.5s"
    assert profile_named("paper").budget == "paper"


@pytest.mark.parametrize(
    ("name", "seconds", "message"),
    [
        ("fast", None, "'fast'.*paper, equal-time"),
        ("equal-time", None, "--seconds 60"),
        ("equal-time", -1.0, "-1"),
        ("equal-time", float("nan"), "nan"),
        ("paper", 5.0, "only profile equal-time"),
    ],
)
def test_wrong_profiles_are_refused(name, seconds, message):
    with pytest.raises(UserError, match=message):
        profile_named(name, seconds)
