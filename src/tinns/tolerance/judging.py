"""Whether a solution meets a tolerance: its estimated error, and how far that may be off."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import jax
import numpy as np

from tinns.nn import Field
from tinns.objective import Psi, Scales
from tinns.problem import Problem
from tinns.solvers import Trained
from tinns.tolerance.distance import distance, values_of
from tinns.verification import (
    Breakdown,
    ErrorEstimate,
    NotApplicable,
    classical_estimate,
    estimate_error,
    network_estimate,
)

EXCESS = 3.0  # the error may exceed a tolerance that is met by this factor at most
CONVERGED = 3.0  # a snapshot that is farther away than so many errors shows its own error
LINEAR = 0.2  # estimates above are too rough to be compared
ROUGH = 5.0  # factors of doubt above are too large if the run itself can tell more
USUAL = 3.0  # the factor of doubt then
FARTHER = 10.0  # times the loss of now, at least, of a snapshot that tells how errors and losses go
CLOSE, CLOSER = 3.0, 4.0  # shares of the tolerance up to which estimates take more time, how much
PLANE_BUDGET = 20.0  # seconds for a classical solution in two dimensions
COEFFICIENTS = 3.0  # by how much more than the tolerance coefficients may still move


@dataclass(frozen=True)
class Judgement:
    """An estimate, and the factor by which the true error may exceed it."""

    estimate: ErrorEstimate
    doubt: float
    moved: float = 0.0  # how far the coefficients moved since the snapshot before, relatively

    def share(self, tolerance: float) -> float:
        """The error relative to what is allowed; at most 1 if the tolerance is met."""
        error = self.estimate.relative_l2
        share = max(error, error * self.doubt / EXCESS, self.moved / COEFFICIENTS) / tolerance
        return float(share) if np.isfinite(share) else np.inf


@dataclass
class Snapshot:
    """A solution on the way; its estimate and its values are computed when they are needed."""

    problem: Problem
    field: Field
    psi: Psi
    scales: Scales | None
    loss: float  # that of validation
    estimate: float | None = None

    @cached_property
    def values(self) -> np.ndarray:
        return values_of(self.problem, self.field, self.psi)

    def estimated(self, budget: float, seed: int) -> float:
        """The error by the network alone."""
        if self.estimate is None:
            given = self.problem, self.field, self.psi
            found = network_estimate(*given, scales=self.scales, budget=budget, seed=seed)
            self.estimate = found.relative_l2
        return self.estimate


class Judge:
    """Estimates errors, and compares estimates with how far solutions are apart.

    A classical estimate is taken as it is. One from the network alone must be confirmed: by a
    second one with other functions and points, by a classical solution where there is one in two
    dimensions, and by earlier snapshots, whose distance to the present solution is their error.
    """

    def __init__(self, problem: Problem, seed: int, budget: float) -> None:
        self.problem, self.seed, self.budget = problem, seed, budget
        self.snapshots: list[Snapshot] = []
        self.seconds = 0.0  # that the last judgement took

    def remember(self, trained: Trained, scales: Scales | None) -> None:
        """Keep a solution, for comparison with later ones."""
        self.snapshots.append(self._snapshot(trained, scales))

    def __call__(self, trained: Trained, scales: Scales | None, tolerance: float) -> Judgement:
        """The judgement of a solution. Raises Breakdown where the problem has no solution."""
        psi = jax.tree.map(np.asarray, trained.psi)
        given = self.problem, trained.field, psi
        found = estimate_error(*given, scales=scales, budget=self.budget, seed=self.seed)
        self.seconds = found.seconds
        if found.by == "classical":
            return Judgement(found, found.factor)
        now, budget = self._snapshot(trained, scales), self.budget
        if 1 < Judgement(found, USUAL).share(tolerance) <= CLOSE:
            budget *= CLOSER
            found = network_estimate(*given, scales=scales, budget=budget, seed=self.seed)
        found = self.with_distances(found, now)
        now.estimate = found.relative_l2
        judgement = Judgement(found, found.factor, self._moved(psi))
        if judgement.share(tolerance) <= 1:
            judgement = self._confirmed(judgement, now, budget)
        self.snapshots.append(now)
        self.seconds = judgement.estimate.seconds
        return judgement

    def _confirmed(self, judgement: Judgement, now: Snapshot, budget: float) -> Judgement:
        """The same after all comparisons; `budget` is that of the estimate."""
        first = judgement.estimate
        given = self.problem, now.field, now.psi
        second = network_estimate(*given, scales=now.scales, budget=budget, seed=self.seed + 1)
        second = self.with_distances(second, now)
        larger = max(first, second, key=lambda each: each.relative_l2)
        both = replace(larger, how=f"{larger.how}; the larger of two such estimates")
        now.estimate = both.relative_l2
        doubt = both.factor * self._calibration(now)
        if len(self.problem.domain.space) == 2:
            with contextlib.suppress(NotApplicable, Breakdown):
                plane = classical_estimate(*given, budget=PLANE_BUDGET, dimensions=2)
                return replace(judgement, estimate=plane, doubt=plane.factor)
        return replace(judgement, estimate=both, doubt=doubt)

    def with_distances(self, found: ErrorEstimate, now: Snapshot) -> ErrorEstimate:
        """A rough estimate made surer by the errors of snapshots, their distances to now.

        In a run that converges errors fall as the square roots of losses do.
        """
        if found.factor < ROUGH or found.relative_l2 > LINEAR or now.loss <= 0:
            return found
        errors = [
            apart * np.sqrt(now.loss / snapshot.loss)
            for snapshot in self.snapshots
            if snapshot.loss > FARTHER * now.loss
            and (apart := distance(snapshot.values, now.values)) < LINEAR
        ]
        if not errors:
            return found
        raised = max(1.0, float(max(errors)) / max(found.relative_l2, 1e-300))
        how = f"{found.how}; surer by the distances to {len(errors)} earlier states of the run"
        return replace(found.times_as_large(raised), factor=USUAL, how=how)

    def _calibration(self, now: Snapshot) -> float:
        """By how much estimates of earlier snapshots were below their distance to this one."""
        error, found = now.estimated(self.budget, self.seed), [1.0]
        for snapshot in self.snapshots[-3:]:
            estimate = snapshot.estimated(self.budget / 2, self.seed)
            apart = distance(snapshot.values, now.values)
            if estimate < LINEAR and apart > CONVERGED * error:
                found.append(apart / max(estimate, 1e-300))
        return max(found)

    def _snapshot(self, trained: Trained, scales: Scales | None) -> Snapshot:
        psi = jax.tree.map(np.asarray, trained.psi)
        given = self.problem, trained.field, psi, scales
        return Snapshot(*given, trained.validation_loss)

    def _moved(self, psi: Psi) -> float:
        """How far the coefficients are from those of the last snapshot, relative to their size."""
        if not self.problem.trainable or not self.snapshots:
            return 0.0
        before: Mapping[str, np.ndarray] = self.snapshots[-1].psi["coefficients"]
        return max(
            abs(float(value) - float(before[name])) / max(abs(float(value)), 1e-300)
            for name, value in psi["coefficients"].items()
        )
