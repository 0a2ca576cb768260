"""Verdicts: the gravest finding decides, and every finding has its words."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from tinns.verification import (
    Check,
    Compatibility,
    Contradiction,
    Determinacy,
    ErrorEstimate,
    Finding,
    Undetermined,
    Verdict,
    Verification,
)
from tinns.verification.inspection import Inspection, Misfit

TIMES = np.linspace(0, 1, 5)
UNNOTICED = Undetermined(("p",), "constant", ("the value of p",), "p is not determined")
CORNER = Contradiction(
    ("initial", "boundary"), "u", (1.0, 0.0), ({"x": 0.0, "t": 0.0}, {"x": 0.0, "t": 0.0}), 1.0
)


def estimated(error, factor=1.5, by="classical", **unknowns):
    per_unknown = unknowns or {"u": error}
    return ErrorEstimate(error, by, per_unknown, TIMES, error + 0 * TIMES, factor, "how")


def misfit(rms):
    return Inspection((Misfit("equation", rms, 3 * rms, {"x": 0.5, "t": 1.0}),))


def test_the_gravest_finding_decides_and_comes_first():
    good, bad, worse = (Finding(s, s, f"against {s}") for s in ("trusted", "doubtful", "failed"))
    verdict = Verdict.of([good, worse, bad, good])
    assert verdict.status == "failed"
    assert verdict.reasons == ("failed", "doubtful", "trusted")
    assert verdict.suggestions == ("against failed", "against doubtful", "against trusted")
    assert Verdict.from_data(verdict.as_data()) == verdict
    assert Verdict.of([good]).is_trusted
    assert Verdict.of([]).status == "doubtful"


@pytest.mark.parametrize(
    ("error", "factor", "status"),
    [
        (1e-8, 3.0, "trusted"),
        (3e-3, 3.0, "trusted"),
        (5e-3, 3.0, "doubtful"),
        (0.09, 1.2, "doubtful"),
        (0.2, 1.2, "failed"),
        (inf, 1.2, "failed"),
    ],
)
def test_an_error_is_judged_by_its_upper_bound(error, factor, status):
    verdict = Verdict.of(Verification(estimate=estimated(error, factor)).findings)
    assert verdict.status == status
    assert "estimated" in verdict.reasons[0]


def test_the_worst_unknown_decides():
    """u is right; v, which is small beside it, is not."""
    found = Verification(estimate=estimated(1e-5, u=1e-5, v=0.99))
    verdict = Verdict.of(found.findings)
    assert verdict.status == "failed"
    assert "error of v is 9.9e-01" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        (Verification(breakdown="u becomes infinite near t = 1"), "failed", "infinite"),
        (Verification(determinacy=Determinacy(0.0, (UNNOTICED,))), "failed", "p is not determined"),
        (Verification(compatibility=Compatibility((CORNER,), 1.0)), "doubtful", "'initial' gives"),
        (Verification(undone=("the error was not estimated",)), "doubtful", "not estimated"),
        (Verification(misfit(0.5)), "doubtful", "equation: residuals of 5.0e-01"),
        (Verification(misfit(0.5), estimate=estimated(1e-4)), "trusted", "error is 1.0e-04"),
        (Verification(misfit(1e-4), estimate=estimated(1e-4, by="network")), "trusted", "1.0e-04"),
        (
            Verification(misfit(0.5), estimate=estimated(1e-4, by="network")),
            "doubtful",
            "residuals of 5.0e-01",
        ),
    ],
)
def test_what_each_check_means(found, status, words):
    verdict = Verdict.of(found.findings)
    assert verdict.status == status
    assert words in verdict.reasons[0]


def test_advice_follows_from_what_is_missing():
    found = Verification(determinacy=Determinacy(0.0, (UNNOTICED,)))
    assert Verdict.of(found.findings).suggestions == ("give the value of p",)


def test_a_check_costs_at_most_a_fifth_of_a_long_run(monkeypatch):
    monkeypatch.undo()
    assert Check(network_seconds=4.0).network_seconds == 4.0
    found = estimated(1e-3, 3.0)
    assert found.bounds == pytest.approx((1e-3 / 3, 3e-3))


def test_estimates_survive_as_plain_data():
    found = ErrorEstimate(
        1e-3, "network", {"u": 1e-3, "v": inf}, TIMES, np.array([inf, 1, 2, 3, 4.0]), 10.0, "how"
    )
    data = found.as_data()
    assert data["over_time"][0] is None
    again = ErrorEstimate.from_data(data)
    assert again.per_unknown == found.per_unknown
    np.testing.assert_array_equal(again.over_time, found.over_time)
    assert again.worst == (1e-3, "u")


@pytest.mark.parametrize("growth", [1.0, 30.0, 1e4])
def test_the_growth_of_an_error_is_that_of_an_exponential(growth):
    """The median of the first quarter is at t = 0.1, the largest of the last one at t = 1."""
    times = np.linspace(0, 1, 21)
    grown = ErrorEstimate(1e-3, "network", {"u": 1e-3}, times, growth**times, 3.0, "")
    assert grown.growth == pytest.approx(growth ** (1 - 0.1), rel=1e-6)
    # Where the solution decays as quickly, its relative error grows without any growth.
    decaying = replace(grown, sizes=growth**-times)
    assert decaying.growth == pytest.approx(1.0)
    assert ErrorEstimate.from_data(decaying.as_data()).growth == pytest.approx(1.0)
    assert estimated(1.0).growth == pytest.approx(1.0)
