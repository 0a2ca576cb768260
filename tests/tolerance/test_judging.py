"""Judgements: what earlier states of a run say about its error."""

import numpy as np
import pytest

from tinns.paper.untuned_problems import Heat
from tinns.tolerance.judging import Judge, Judgement, Snapshot
from tinns.verification import ErrorEstimate

TIMES = np.linspace(0, 1, 5)
NOW = np.ones((100, 1))


def rough(error, factor=10.0):
    return ErrorEstimate(error, "network", {"u": error}, TIMES, error + 0 * TIMES, factor, "how")


def state(error, loss):
    """A state of a run that ends at u = 1, with this error and validation loss."""
    snapshot = Snapshot(Heat(), None, None, None, loss)
    snapshot.values = (1 + error) * NOW
    return snapshot


def judged(estimate, *snapshots, loss=1e-8):
    judge = Judge(Heat(), 0, 1.0)
    judge.snapshots = list(snapshots)
    return judge.with_distances(estimate, state(0.0, loss))


def test_errors_fall_as_the_roots_of_losses():
    """A state with an error of 1e-2 and 10,000 times the loss: 1e-4 is left now."""
    found = judged(rough(2e-5), state(1e-2, 1e-4))
    assert found.relative_l2 == pytest.approx(1e-4, rel=0.02)
    assert found.per_unknown["u"] == pytest.approx(1e-4, rel=0.02)
    np.testing.assert_allclose(found.over_time, 1e-4, rtol=0.02)
    assert found.factor == 3
    assert "1 earlier states" in found.how
    assert (Judgement(found, found.factor).share(1e-3) <= 1) is True  # a bool of Python, for JSON


def test_an_estimate_is_never_made_smaller():
    found = judged(rough(5e-4), state(1e-2, 1e-4))
    assert (found.relative_l2, found.factor) == (5e-4, 3)


@pytest.mark.parametrize(
    "snapshots",
    [(), (state(1e-2, 5e-8),), (state(0.5, 1e-2),)],
    ids=["none", "too close", "too far"],
)
def test_other_states_say_nothing(snapshots):
    estimate = rough(2e-5)
    assert judged(estimate, *snapshots) is estimate


def test_a_sure_estimate_stays_as_it_is():
    estimate = rough(2e-5, 3.0)
    assert judged(estimate, state(1e-2, 1e-4)) is estimate
