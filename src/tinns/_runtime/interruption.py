"""Ctrl-C as a request to stop, so that a run can keep its result."""

import _thread
import gc
import signal
import threading
from collections.abc import Callable
from types import FrameType

LATER = 0.02  # seconds


class Interruption:
    """Turns the first Ctrl-C into a request to stop at the next look-up; the second one raises.

    With `immediate` the first one raises too. Where Python would discard the exception, it is
    raised slightly later; if it was discarded anyway, a nested `Interruption` raises on entry.
    Only the main thread receives signals; elsewhere `requested` stays False.
    """

    def __init__(self, immediate: bool = False) -> None:
        self.immediate = immediate
        self.requested = False
        self._previous: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            outer = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
            if isinstance(outer, Interruption) and outer.requested:
                raise KeyboardInterrupt
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        raises = self.requested or self.immediate
        self.requested = True
        if raises and _drops_exceptions(frame):
            threading.Timer(LATER, _interrupt_main_thread).start()
        elif raises:
            raise KeyboardInterrupt

    def __exit__(self, *exception: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)


def _interrupt_main_thread() -> None:
    """Ctrl-C again, also for a main thread that is waiting in a system call."""
    if hasattr(signal, "pthread_kill"):
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _drops_exceptions(frame: FrameType | None) -> bool:
    """Whether this is a callback of the garbage collector, such as JAX's, or of a weakref."""
    codes = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in codes or frame.f_globals.get("__name__") == "weakref":
            return True
        frame = frame.f_back
    return False
