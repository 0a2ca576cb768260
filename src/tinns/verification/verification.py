"""All checks of a solution: its residuals, its conditions, and an estimate of its error."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeVar

from tinns._runtime.errors import UserError
from tinns.geometry import Counts
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales
from tinns.problem import Problem
from tinns.verification.classical import Breakdown, NotApplicable, classical_estimate
from tinns.verification.compatibility import Compatibility, check_compatibility
from tinns.verification.determinacy import Determinacy, check_determinacy
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.from_network import network_estimate
from tinns.verification.inspection import COUNTS, Inspection, inspect_residuals
from tinns.verification.verdict import Finding

TRUSTED = 1e-2  # the largest relative error, by the upper bound of its estimate
FAILED = 0.1  # the relative error from which on a solution has failed
LARGE_MISFIT = 0.1  # of a row's terms
SHARE = 0.2  # of the training time that the estimate from the network may take
LEAST_SECONDS, MOST_SECONDS = 1.0, 4.0  # of it in any case

Found = TypeVar("Found")


@dataclass(frozen=True)
class Check:
    """How thoroughly a solution is verified.

    Boxes of up to `dimensions` space dimensions are solved once more by a classical method, if the
    problem has the form that it needs, in about `classical_seconds`; other errors are estimated
    from the network in about `network_seconds`. Residuals are looked at in `points`.
    """

    dimensions: int = 1
    classical_seconds: float = 5.0
    network_seconds: float = MOST_SECONDS
    points: Counts = COUNTS
    seed: int = 0

    @classmethod
    def after_training(cls, seconds: float, dimensions: int = 1) -> "Check":
        """The check at the end of a run: its cost is a small part of the run's."""
        allowed = min(max(SHARE * seconds, LEAST_SECONDS), MOST_SECONDS)
        return cls(dimensions, network_seconds=allowed)

    @classmethod
    def thorough(cls, seed: int = 1) -> "Check":
        """A check on finer sets of points, and by classical solutions in two dimensions too."""
        return cls(2, 60.0, 20.0, COUNTS.times(8), seed)


@dataclass(frozen=True)
class Verification:
    """What the checks of a solution found.

    `determinacy` is None where a classical solution shows that there is one, and `estimate` where
    there is no solution to compare with; `breakdown` says why. `undone` are sentences about checks
    that were not made.
    """

    residuals: Inspection | None = None
    compatibility: Compatibility | None = None
    determinacy: Determinacy | None = None
    estimate: ErrorEstimate | None = None
    breakdown: str = ""
    undone: tuple[str, ...] = ()
    seconds: float = 0.0

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record, without the estimate."""
        return {
            "residuals": self.residuals and self.residuals.as_data(),
            "compatibility": self.compatibility and self.compatibility.as_data(),
            "determinacy": self.determinacy and self.determinacy.as_data(),
            "seconds": self.seconds,
        }

    @property
    def findings(self) -> list[Finding]:
        """What a verdict is made of."""
        found = [Finding("doubtful", sentence) for sentence in self.undone]
        if self.breakdown:
            found.append(Finding("failed", self.breakdown))
        if self.compatibility is not None:
            advice = (
                "change conditions that contradict each other, so that they agree where they meet"
            )
            found += [Finding("doubtful", each, advice) for each in self.compatibility.sentences]
        if self.determinacy is not None:
            for each in self.determinacy.undetermined:
                missing = ", ".join(each.missing)
                advice = f"give {missing}" if missing else ""
                found.append(Finding("failed", each.sentence, advice))
        if self.estimate is not None:
            found.append(self._about_error(self.estimate))
            found.append(Finding("trusted", f"how it was estimated: {self.estimate.how}"))
        if self.residuals is not None:
            worst = self.residuals.worst
            is_bad = worst.rms > LARGE_MISFIT and not self._is_compared
            found.append(Finding("doubtful" if is_bad else "trusted", worst.sentence))
        return found

    @property
    def _is_compared(self) -> bool:
        """Whether the error is known from a solution by other means."""
        return self.estimate is not None and self.estimate.by == "classical"

    def _about_error(self, estimate: ErrorEstimate) -> Finding:
        worst, name = estimate.worst
        if not isfinite(worst):
            return Finding("failed", "the estimated error is not finite")
        status = "trusted"
        if worst * estimate.factor > TRUSTED:
            status = "failed" if worst > FAILED else "doubtful"
        whose = f" of {name}" if len(estimate.per_unknown) > 1 else ""
        lower, upper = worst / estimate.factor, worst * estimate.factor
        return Finding(
            status,
            f"the estimated relative L2 error{whose} is {worst:.1e}, expected between "
            f"{lower:.1e} and {upper:.1e}",
        )


def verify(
    problem: Problem,
    field: Field,
    psi: Psi,
    check: Check = Check(),
    *,
    scales: Scales | None = None,
    status: Callable[[str], None] = lambda activity: None,
    estimate: ErrorEstimate | None = None,
) -> Verification:
    """Make all checks of a field with parameters ψ; the error is not estimated again if it was.

    A check that fails for a reason of its own is reported as not made: it costs no result.
    """
    started = time.monotonic()
    found = Verification(estimate=estimate)
    status("checking residuals at new points")
    found = _tried(
        found,
        "the residuals at new points were not checked",
        lambda: replace(
            found,
            residuals=inspect_residuals(
                problem, field, psi, scales=scales, counts=check.points, seed=check.seed
            ),
        ),
    )
    status("comparing conditions")
    found = _tried(
        found,
        "whether conditions contradict each other was not checked",
        lambda: replace(found, compatibility=check_compatibility(problem, scales=scales)),
    )
    if estimate is not None and estimate.by == "classical":
        return replace(found, seconds=time.monotonic() - started)
    status("estimating the error")
    found = _tried(
        found,
        "the error was not estimated",
        lambda: _estimated(found, problem, field, psi, check, scales),
    )
    return replace(found, seconds=time.monotonic() - started)


def _tried(before: Verification, undone: str, made: Callable[[], Verification]) -> Verification:
    try:
        return made()
    except UserError:
        raise
    except Exception as error:  # whatever goes wrong, the solution is there and must not be lost
        cause = (
            f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        )
        return replace(before, undone=(*before.undone, f"{undone} ({cause})"))


def _estimated(
    found: Verification,
    problem: Problem,
    field: Field,
    psi: Psi,
    check: Check,
    scales: Scales | None,
) -> Verification:
    """With the error by a classical solution, or else from the network if there is one solution.

    An estimate from the network that was made before is replaced by a classical one alone.
    """
    why = ""
    if found.estimate is None or check.dimensions > 1:
        try:
            estimate = classical_estimate(
                problem, field, psi, budget=check.classical_seconds, dimensions=check.dimensions
            )
            return replace(found, estimate=estimate)
        except Breakdown as breakdown:
            return replace(found, breakdown=str(breakdown))
        except NotApplicable as lack:
            why = str(lack)
    determinacy = check_determinacy(problem, field, psi, scales=scales, seed=check.seed)
    found = replace(found, determinacy=determinacy)
    if found.estimate is not None or not determinacy.determined:
        return found
    estimate = network_estimate(
        problem, field, psi, scales=scales, budget=check.network_seconds, seed=check.seed
    )
    return replace(
        found, estimate=replace(estimate, how=f"{estimate.how}; no classical solution: {why}")
    )
