"""Ctrl-C: a request first, an exception next, never lost."""

import gc
import os
import signal
import time
from contextlib import suppress

import pytest

from tinns._runtime.interruption import Interruption


def test_the_second_interruption_raises():
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.requested
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
        with Interruption(immediate=True):
            gc.collect()
            time.sleep(10)

    gc.callbacks.append(callback)
    began = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            collects_and_sleeps()
    finally:
        gc.callbacks.remove(callback)
    assert time.perf_counter() - began < 5  # the sleep was cut short


def test_an_interruption_that_was_dropped_is_raised_when_the_next_part_begins():
    before = signal.getsignal(signal.SIGINT)
    with Interruption(immediate=True) as whole:
        with Interruption():  # nothing was asked yet
            pass
        with suppress(KeyboardInterrupt):  # as in a callback of the garbage collector
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the signal did not raise")
        assert whole.requested
        with pytest.raises(KeyboardInterrupt), Interruption():
            pytest.fail("the next part began")
    assert signal.getsignal(signal.SIGINT) is before
