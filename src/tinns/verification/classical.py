"""The error of a solution, estimated by solving the problem once more by spectral collocation.

The network's own derivatives enter the equation at the collocation points, and its error is
integrated there: relative accuracy of the error is enough, whatever its size. A crude solution
without the network guards against what the first one may overlook, and takes its place where the
network is so wrong that its grid does not resolve the solution.
"""

import time
from collections.abc import Callable

import jax
import numpy as np

from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns.nn import Field
from tinns.objective.blocks import Psi
from tinns.problem.base import Problem
from tinns.verification.classical_runs import Interrupted, Run, Runs
from tinns.verification.collocation import Axis, Grid
from tinns.verification.comparison import AGREEMENT, stated
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.network_jets import NetworkJets
from tinns.verification.posed import Posed, posed
from tinns.verification.refusals import Breakdown, NotApplicable
from tinns.verification.resolution import resolving
from tinns.verification.starting import initial_state

__all__ = ["Breakdown", "NotApplicable", "classical_estimate"]

LEAST_POINTS, MOST_POINTS = 32, {1: 640, 2: 32}
GROWTH = 1.5  # of the number of points from one resolution to the next
COARSEST, FINEST = 1e-2, 1e-4  # tolerances in time for the error of the network
PLAIN, PLAIN_FINEST = 1e-4, 1e-6  # without the network
FINER = 4.0  # tolerances from one resolution to the next: a smaller step is part of a comparison
FIRST_SHARE = 0.6  # of the budget, for the first attempt
FAR = 1e-2  # relative error at which a crude solution without the network is enough
SAME_TIME = 0.02  # of the time to a breakdown: two grids agree on it

Solve = Callable[[Grid, float], Run]


def classical_estimate(
    problem: Problem, field: Field, psi: Psi, *, budget: float = 5.0, dimensions: int = 1
) -> ErrorEstimate:
    """The error of a field with parameters ψ, from a spectral solution of the same problem.

    It takes about `budget` seconds at most and attempts up to `dimensions` space dimensions. Raises
    NotApplicable for problems that it does not cover, and Breakdown where the problem has no
    solution or an ill-posed one.
    """
    started = time.monotonic()
    # Matrices are small: more threads would cost more than they save on a machine in use.
    one_thread = single_threaded_blas()
    with one_thread, computing_in("float64"), jax.default_device(jax.devices("cpu")[0]):
        given = posed(problem, dimensions)
        check = _Check(given, NetworkJets(given, field, psi), started, budget)
        runs, guard = check.runs()
        return stated(problem.unknowns, runs, guard, check.solutions.times, started)


class _Check:
    """The classical solutions from which an estimate is made, within a budget."""

    def __init__(self, given: Posed, network: NetworkJets, started: float, budget: float) -> None:
        self.given, self.box, self.network = given, given.box, network
        self.started, self.deadline = started, started + budget
        self.solutions = Runs(given, network, self.deadline)
        self.most = MOST_POINTS[len(given.box.space)]

    def runs(self) -> tuple[list[Run], Run | None]:
        """Runs of one kind with growing resolution, and one of the other kind as their guard."""
        with_network, grid = self.solutions.with_network, self._grid(None)
        try:
            with self.solutions.until(self.started + FIRST_SHARE * (self.deadline - self.started)):
                runs = self._refined(with_network, grid, COARSEST, FINEST)
        except Interrupted:
            first = self._resolved_without_network(grid)
        else:
            return runs, self._guard(runs)
        plain = self._refined_without_network(first) if _relative(first) > FAR else None
        if plain and _agree(plain):
            return plain, None
        try:
            return self._refined(with_network, first.grid, COARSEST, FINEST), first
        except Interrupted:
            return plain or self._refined_without_network(first), None

    def _refined_without_network(self, first: Run) -> list[Run]:
        return self._refined(self.solutions.without_network, first.grid, PLAIN, PLAIN_FINEST, first)

    def _refined(
        self, solve: Solve, grid: Grid, rtol: float, finest: float, first: Run | None = None
    ) -> list[Run]:
        """Runs on finer grids and with smaller steps until two agree, or no more are possible.

        Raises Interrupted if the first one is, unless it is given.
        """
        runs = [first or solve(grid, rtol)]
        while rtol / FINER >= finest and not self._is_finest(grid):
            if not self._has_time_for(1.5 * runs[-1].seconds):
                break
            grid, rtol = self._finer(grid, GROWTH), rtol / FINER
            try:
                runs.append(solve(grid, rtol))
            except Interrupted:
                break
            if _agree(runs):
                break
        return runs

    def _guard(self, runs: list[Run]) -> Run | None:
        """A crude solution that does not know the network, if there is time for one.

        A finer one follows where the two do not agree, because the first may be too crude.
        """
        best = runs[-1]
        found: Run | None = None
        for rtol in (PLAIN, PLAIN_FINEST):
            if not self._has_time_for(best.seconds):
                break
            try:
                found = self.solutions.without_network(best.grid, rtol)
            except Interrupted:
                break
            if found.apart(best) < max(3e-3, AGREEMENT * _relative(best)):
                break
        return found

    def _resolved_without_network(self, grid: Grid) -> Run:
        """A crude solution of the problem itself, on a grid found by trying.

        Raises Breakdown where the solution ceases to exist, at a time on which two grids agree.
        """
        before: float | None = None
        while True:
            try:
                return self.solutions.without_network(grid, PLAIN)
            except Interrupted as stop:
                if stop.reason == "time":
                    raise NotApplicable(
                        "time", "its time was not enough for a classical solution"
                    ) from None
                ends = stop.watcher.blow_up_time()
                if ends is not None and ends < self.box.end:
                    self._check_blow_up(ends, before)
                    before = ends
                    if not self._is_finest(grid):
                        grid = self._finer(grid, GROWTH)
                        continue
                if self._is_finest(grid):
                    raise NotApplicable(
                        "resolution",
                        f"the solution is not resolved by {self.most} points along an axis from "
                        f"t = {stop.time:.4g} on; it may be discontinuous there",
                    ) from None
                finer = self._grid(stop)
                same = finer.count < GROWTH * grid.count and _layers(finer) == _layers(grid)
                grid = self._finer(grid, GROWTH) if same else finer

    def _check_blow_up(self, ends: float, before: float | None) -> None:
        """Breakdown if a coarser grid found the same time."""
        start = self.box.start
        if before is not None and abs(ends - before) < SAME_TIME * (ends - start):
            raise Breakdown(
                "blow-up",
                f"the solution grows ever faster and becomes infinite near t = {ends:.4g}",
                ends,
            )

    def _grid(self, stop: Interrupted | None) -> Grid:
        """A grid that resolves the network and the initial state, or what a run had found."""
        axes = []
        for number, name in enumerate(self.box.space):
            interval, periodic = self.box.interval(name), name in self.box.periodic

            def sample(axis: Axis, number: int = number) -> np.ndarray:
                known = self._along(number, axis)
                return (
                    known if stop is None else np.concatenate([known, _found(stop, number, axis)])
                )

            layer, count = resolving(interval, periodic, sample)
            least = LEAST_POINTS if stop is None else GROWTH * LEAST_POINTS
            count = _even(np.clip(count, least, self.most / GROWTH))
            axes.append(Axis(interval, count, periodic, layer))
        return Grid(self.box.space, tuple(axes))

    def _along(self, number: int, axis: Axis) -> np.ndarray:
        """The network at some times and the initial state, on a line through the middle."""
        lines = [np.array([sum(self.box.interval(name)) / 2]) for name in self.box.space]
        lines[number] = axis.points
        mesh = np.meshgrid(*lines, indexing="ij")
        points = np.stack([column.ravel() for column in mesh], axis=-1)
        times = np.linspace(self.box.start, self.box.end, 9)
        values = self.network.over(points, times)[:, self.given.values]
        first = initial_state(self.given, points)[self.given.values]
        return _scaled(np.concatenate([values, first[None]]))

    def _finer(self, grid: Grid, growth: float) -> Grid:
        return Grid(
            grid.names,
            tuple(
                Axis(a.interval, _even(min(growth * a.count, self.most)), a.periodic, a.layer)
                for a in grid.axes
            ),
        )

    def _is_finest(self, grid: Grid) -> bool:
        return min(grid.shape) >= self.most

    def _has_time_for(self, seconds: float) -> bool:
        return time.monotonic() + seconds < self.solutions.deadline


def _found(stop: Interrupted, number: int, axis: Axis) -> np.ndarray:
    """What a run had found, at the points of an axis: the last states, which are the steepest."""
    grid = stop.grid
    boxes = stop.solution[-5:].reshape(-1, len(stop.solution[0]), *grid.shape)
    values = np.moveaxis(boxes, number + 2, -1) @ grid.axes[number].onto(axis.points).T
    values = values.reshape(*values.shape[:2], -1, axis.count)
    largest = np.abs(values).max(axis=-1).sum(axis=(0, 1))
    return _scaled(values[:, :, int(np.argmax(largest))])


def _scaled(values: np.ndarray) -> np.ndarray:
    """(times, unknowns, points), each unknown divided by its typical size."""
    typical = np.sqrt(np.mean(values**2, axis=(0, 2), keepdims=True))
    return values / np.maximum(typical, 1e-300)


def _agree(runs: list[Run]) -> bool:
    """Whether the last two resolutions give the same error."""
    return len(runs) > 1 and runs[-1].apart(runs[-2]) < AGREEMENT * _relative(runs[-1])


def _relative(run: Run) -> float:
    return run.relative(run.error)


def _layers(grid: Grid) -> list[object]:
    return [axis.layer for axis in grid.axes]


def _even(count: float) -> int:
    return 2 * round(count / 2)
