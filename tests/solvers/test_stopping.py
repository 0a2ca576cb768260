import numpy as np
import pytest

from tinns import Stop, StopReason, UserError
from tinns.solvers import History
from tinns.solvers.progress import Snapshot, remaining
from tinns.solvers.stopping import stop_reason


def run_of(losses):
    count = len(losses)
    columns = {"loss": np.array(losses), "validation_loss": np.array(losses)}
    return History({**columns, "seconds": np.arange(1.0, count + 1)})


def test_a_run_that_still_improves_goes_on():
    stop = Stop(iterations=100, seconds=100, target_loss=1e-9, patience=3)
    assert stop_reason(stop, run_of(np.geomspace(1, 1e-3, 20))) is None


def test_a_run_that_no_longer_improves_has_stagnated():
    stop = Stop(iterations=100, patience=3)
    assert stop_reason(stop, run_of([5, 4, 3, 2, 1.999, 1.998, 1.997])) == "stagnated"
    assert stop_reason(stop, run_of([5, 4, 3, 2, 1.9, 1.8, 1.7])) is None


def test_refused_steps_are_the_precision_floor_and_empty_promises_convergence():
    stop, losses = Stop(iterations=100), np.ones(12)
    for name, ending, why in (
        ("step_norm", [0.0] * 8, "precision floor"),
        ("step_norm", [1e-30] + [0.0] * 7, None),
        ("predicted_reduction", [1e-11] * 10, "converged"),
        ("predicted_reduction", [1e-3] + [1e-11] * 9, None),
    ):
        history = run_of(losses)
        history.columns[name] = np.array([1.0] * (12 - len(ending)) + ending)
        assert stop_reason(stop, history) == why


def test_a_run_that_never_moved_has_a_reason_of_its_own():
    history = run_of(np.ones(9))
    history.columns["step_norm"] = np.zeros(9)
    assert stop_reason(Stop(iterations=9), history) is StopReason.NO_STEP
    history.columns["failures"] = np.arange(1.0, 10)
    assert stop_reason(Stop(iterations=9), history) is StopReason.FACTORISATION
    assert StopReason.FACTORISATION.is_failure
    history.columns["step_norm"][0] = 1.0
    assert stop_reason(Stop(iterations=9), history) is StopReason.ITERATIONS


def test_every_reason_has_a_sentence():
    assert all(reason.sentence.endswith(".") for reason in StopReason)
    assert StopReason("time is up") is StopReason.SECONDS


def test_what_the_user_asked_comes_first():
    assert stop_reason(Stop(iterations=1), run_of([np.nan]), interrupted=True) == "interrupted"


@pytest.mark.parametrize(
    "limits",
    [
        {"iterations": 0},
        {"seconds": -1.0},
        {"iterations": 5, "target_loss": 0},
        {"seconds": float("nan")},
    ],
)
def test_impossible_limits_are_refused_by_name(limits):
    name, value = list(limits.items())[-1]
    with pytest.raises(UserError, match=f"{name}.*{value}"):
        Stop(**limits)


def test_a_run_without_an_end_is_refused():
    with pytest.raises(UserError, match="iterations or seconds"):
        Stop(target_loss=1e-3)


def test_remaining_time_follows_the_tighter_limit():
    now = Snapshot(10, 20.0, 1.0, 1.0, None, None)
    assert remaining(now, Stop(iterations=40, seconds=400.0)) == (0.25, 60.0)
