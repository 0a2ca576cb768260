"""Classical solutions of a problem, and what they say about the error of a network."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np

from tinns.verification.blow_up import Watcher
from tinns.verification.collocation import Grid
from tinns.verification.network_jets import NetworkJets
from tinns.verification.posed import Posed
from tinns.verification.radau import Control, Stopped, integrate
from tinns.verification.semidiscrete import Semidiscrete
from tinns.verification.starting import initial_state
from tinns.verification.symbols import check_well_posed

OUTPUTS = 81  # times at which errors are compared
ROUND_OFF = 1e-13  # errors of a step below this share of the network's size do not matter
PLAIN_FLOOR = 1e-3  # the same for errors of a solution without the network
PLAIN_STEPS = 13.0  # at least, without the network


@dataclass(frozen=True)
class Run:
    """A classical solution: u* and u_net - u* on a grid at the output times."""

    grid: Grid
    solution: np.ndarray  # (times, unknowns, points)
    error: np.ndarray
    seconds: float

    def norms(self, values: np.ndarray) -> np.ndarray:
        """L2 norms over space, (times, unknowns)."""
        return np.sqrt(np.maximum((values**2) @ self.grid.weights, 0.0))

    def relative(self, values: np.ndarray) -> float:
        """The L2 norm over space, time and all unknowns, relative to that of u*."""
        return total(self.norms(values)) / max(total(self.norms(self.solution)), 1e-300)

    def apart(self, other: "Run") -> float:
        """The difference to the error that another run found, relative to u*."""
        if other.grid != self.grid:
            moved = other.error @ other.grid.onto(self.grid).T
        else:
            moved = other.error
        return self.relative(moved - self.error)


def total(norms: np.ndarray) -> float:
    """The norm over time (trapezoidal) and unknowns, from norms over space."""
    weights = np.ones(len(norms))
    weights[[0, -1]] = 0.5
    return sqrt(float(weights @ (norms**2).sum(axis=1)) / weights.sum())


class Interrupted(Exception):
    """A run that stopped: how, what it had found, and what was seen on the way."""

    def __init__(self, stop: Stopped, grid: Grid, solution: np.ndarray, watcher: Watcher) -> None:
        super().__init__(stop.reason)
        self.reason, self.time = stop.reason, stop.time
        self.grid, self.solution, self.watcher = grid, solution, watcher


class Runs:
    """Classical solutions of one problem on grids of any kind, until the deadline."""

    def __init__(self, given: Posed, network: NetworkJets, deadline: float) -> None:
        self.given, self.network, self.deadline = given, network, deadline
        self.times = np.linspace(given.box.start, given.box.end, OUTPUTS)

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """An earlier deadline for some runs."""
        before, self.deadline = self.deadline, deadline
        try:
            yield
        finally:
            self.deadline = before

    def without_network(self, grid: Grid, rtol: float) -> Run:
        """The problem as it is; the error is the difference from its solution."""
        started = time.monotonic()
        system, start = self._system(grid)
        net = self.network.over(grid.points, self.times)
        box, values = self.given.box, self.given.values
        y = system.consistent(box.start, start, None)
        sizes = np.maximum(_sizes(net), _sizes(y[None]))
        watcher = self._watcher(grid)
        watcher(box.start, y, None)
        control = self._control(rtol, PLAIN_FLOOR * sizes, PLAIN_STEPS, watcher)
        try:
            found, _ = integrate(system, None, (box.start, box.end), y, self.times, control)
        except Stopped as stop:
            raise Interrupted(stop, grid, stop.found[:, values], watcher) from None
        solution = found[:, values]
        seconds = time.monotonic() - started
        return Run(grid, solution, net[:, values] - solution, seconds)

    def with_network(self, grid: Grid, rtol: float) -> Run:
        """The error itself is integrated, which needs relative accuracy only."""
        started = time.monotonic()
        system, start = self._system(grid)
        network, points, edges = self.network, grid.points, self.network.edges
        net, values = network.over(points, self.times), self.given.values
        y = start - network.state(0, points, np.array(edges[:1]))[0]
        watcher = self._watcher(grid)
        # Runs that are compared do not share their steps.
        control = self._control(rtol, ROUND_OFF / rtol * _sizes(net), 30 + 0.05 / rtol, watcher)
        parts: list[np.ndarray] = []
        for window, (left, right) in enumerate(pairwise(edges)):

            def base(times: np.ndarray, window: int = window) -> np.ndarray:
                return network.jets(window, points, times)

            at = np.array([left])
            if window:  # u_net jumps where windows meet, u* does not
                y = y + network.state(window - 1, points, at)[0]
                y = y - network.state(window, points, at)[0]
            jets = base(at)
            y = system.consistent(left, y, jets)
            watcher(left, y, jets)
            last = window == len(edges) - 2
            here = self.times[(self.times >= left) & ((self.times < right) | last)]
            try:
                found, y = integrate(system, base, (left, right), y, here, control)
            except Stopped as stop:
                found = np.concatenate([*parts, stop.found])[:, values]
                also = network.over(points, np.append(self.times[: len(found) - 1], stop.time))
                raise Interrupted(stop, grid, found + also[:, values], watcher) from None
            parts.append(found)
        error = -np.concatenate(parts)[:, values]
        return Run(grid, net[:, values] - error, error, time.monotonic() - started)

    def _system(self, grid: Grid) -> tuple[Semidiscrete, np.ndarray]:
        start = initial_state(self.given, grid.points)
        system = Semidiscrete(self.given, grid, start, self.given.box.start)
        check_well_posed(system)
        return system, start

    def _watcher(self, grid: Grid) -> Watcher:
        given = self.given
        names = [given.names.index((k, given.in_time(0))) for k in range(len(given.orders))]
        return Watcher(grid, given.values, names)

    def _control(self, rtol: float, floor: np.ndarray, steps: float, watcher: Watcher) -> Control:
        """Tolerances for at least so many steps in all."""
        span = self.given.box.end - self.given.box.start
        first = 1e-4 * min(np.diff(self.network.edges))
        return Control(rtol, floor, span / steps, first, self.deadline, watcher)


def _sizes(states: np.ndarray | Sequence[np.ndarray]) -> np.ndarray:
    """The root mean square of each component of a state over time and space."""
    return np.sqrt(np.mean(np.asarray(states) ** 2, axis=(0, 2)))
