"""Watching a solution while it is integrated: whether it blows up, and whether it is resolved."""

from collections.abc import Sequence
from math import log10

import numpy as np

from tinns.verification.collocation import Grid
from tinns.verification.radau import Reason

DECADES = 5.0  # that a solution has to grow, ever faster, before it counts as unbounded
QUICKER = 0.6  # a decade must take at most this share of the time that the one before took
UNRESOLVED = 0.02  # share of the shortest third of the waves at which a grid is too coarse


class Watcher:
    """What is seen of a solution after each step: its largest value, and its shortest waves."""

    def __init__(self, grid: Grid, values: Sequence[int], names: Sequence[int]) -> None:
        self.grid, self.values, self.names = grid, list(values), list(names)
        self.times: list[float] = []
        self.sizes: list[float] = []
        self._typical = np.full(len(self.values), 1e-300)
        self._allowed = UNRESOLVED

    def __call__(self, t: float, y: np.ndarray, jets: np.ndarray | None) -> Reason | None:
        u = y[self.values]
        if jets is not None:
            u = u + jets[-1, self.names]
        size = float(np.abs(u).max())
        if not np.isfinite(size):
            return "growth"
        self.times.append(t)
        self.sizes.append(size)
        self._typical = np.maximum(self._typical, np.sqrt(np.mean(u**2, axis=1)))
        share = self.grid.unresolved(u / self._typical[:, None])
        if len(self.times) == 1:  # a jump in the initial state is not the grid's fault
            self._allowed = max(UNRESOLVED, 2 * share)
        if size > 10**DECADES * self.sizes[0] and self.blow_up_time() is not None:
            return "growth"
        return "resolution" if share > self._allowed else None

    def blow_up_time(self, decades: float = DECADES) -> float | None:
        """When the solution becomes infinite, if it grew by so many decades ever faster.

        Where u ~ (T - t)^-p, each decade of growth takes the same share of the time of the one
        before it, and the time that is left follows as a geometric series.
        """
        times, sizes = np.array(self.times), np.array(self.sizes)
        if len(sizes) < 3 or not sizes[0] > 0 or np.argmax(sizes) < len(sizes) - 2:
            return None
        levels = np.log10(np.maximum.accumulate(sizes))
        first, last = levels[0], levels[-1]
        count = int(last - first - log10(2.0))  # whole decades after the first factor of two
        if last - first < decades or count < 3:
            return None
        passed = np.interp(last - np.arange(count, -1, -1), levels, times)
        spans = np.diff(passed)
        if (spans <= 0).any() or (spans[1:] > QUICKER * spans[:-1]).any():
            return None
        share = spans[-1] / spans[-2]
        return float(times[-1] + spans[-1] * share / (1 - share))
