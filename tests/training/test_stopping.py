import gc
import os
import signal
import time
from contextlib import suppress

import numpy as np
import pytest

from tinns import Stop, UserError
from tinns.training import History
from tinns.training.progress import Snapshot, remaining
from tinns.training.stopping import Interruption, stop_reason


def run_of(losses):
    count = len(losses)
    columns = {"loss": np.array(losses), "validation_loss": np.array(losses)}
    return History({**columns, "seconds": np.arange(1.0, count + 1)})


def test_a_run_that_still_improves_goes_on():
    stop = Stop(iterations=100, seconds=100, target_loss=1e-9, patience=3)
    assert stop_reason(stop, run_of(np.geomspace(1, 1e-3, 20)), 1e-3, False) is None


def test_a_run_that_no_longer_improves_has_stagnated():
    stop = Stop(iterations=100, patience=3)
    assert stop_reason(stop, run_of([5, 4, 3, 2, 1.999, 1.998, 1.997]), 1.997, False) == "stagnated"
    assert stop_reason(stop, run_of([5, 4, 3, 2, 1.9, 1.8, 1.7]), 1.7, False) is None


def test_refused_steps_are_the_precision_floor_and_empty_promises_convergence():
    stop, losses = Stop(iterations=100), np.ones(12)
    for name, ending, why in (
        ("step_norm", [0.0] * 8, "precision floor"),
        ("step_norm", [1e-30] + [0.0] * 7, None),
        ("promise", [1e-11] * 10, "converged"),
        ("promise", [1e-3] + [1e-11] * 9, None),
    ):
        history = run_of(losses)
        history.columns[name] = np.array([1.0] * (12 - len(ending)) + ending)
        assert stop_reason(stop, history, 1.0, False) == why


def test_what_the_user_asked_comes_first():
    assert stop_reason(Stop(iterations=1), run_of([np.nan]), np.nan, True) == "interrupted"


def test_the_second_interruption_raises():
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interruption_in_a_callback_of_the_garbage_collector_is_raised_after_it():
    pressed = []

    def callback(phase, info):
        if not pressed:
            pressed.append(phase)
            os.kill(os.getpid(), signal.SIGINT)

    def collects_and_sleeps():
        with Interruption(at_once=True):
            gc.collect()
            time.sleep(10)

    gc.callbacks.append(callback)
    try:
        with pytest.raises(KeyboardInterrupt):
            collects_and_sleeps()
    finally:
        gc.callbacks.remove(callback)


def test_an_interruption_that_was_dropped_is_raised_when_the_next_part_begins():
    before = signal.getsignal(signal.SIGINT)
    with Interruption(at_once=True) as whole:
        with Interruption():  # nothing was asked yet
            pass
        with suppress(KeyboardInterrupt):  # as in a callback of the garbage collector
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the signal did not raise")
        assert whole.asked
        with pytest.raises(KeyboardInterrupt), Interruption():
            pytest.fail("the next part began")
    assert signal.getsignal(signal.SIGINT) is before


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
