"""The verdict on a solution: what its run, its checks and its reference say together."""

from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from tinns._runtime.errors import UserError
from tinns.objective.scales import Scales
from tinns.solvers import StopReason
from tinns.verification import Check, ErrorEstimate, Finding, Verdict, Verification, verify

if TYPE_CHECKING:
    from tinns.solution.core import Solution

BESIDE = 3.0  # the error by a reference may be so many times the greatest that is expected
GROWING = 30.0  # of the error within the time interval: time windows are worth a try
JUMP = 1e-2  # of u, where two time windows meet
MORE_TIME = 4  # times as much as a run had


def judged(
    solution: "Solution",
    check: Check | None,
    scales: Scales | None = None,
    status: Callable[[str], None] = lambda activity: None,
    estimate: ErrorEstimate | None = None,
) -> "Solution":
    """The solution with the estimate of its error and the verdict in its `result`.

    Without a check the verdict follows from the run alone, and from an `estimate` that was made
    already. Ctrl-C ends the checks, nothing else.
    """
    problem = solution.problem
    found = Verification(estimate=estimate)
    if problem is None:
        raise UserError(
            "a solution without its problem cannot be checked: load it with "
            "tinns.load(path, problem=...)"
        )
    if check is not None and not _has_failed(solution.result):
        try:
            found = verify(
                problem,
                solution.field,
                solution.psi,
                check,
                scales=scales,
                status=status,
                estimate=estimate,
            )
        except KeyboardInterrupt:
            found = replace(found, undone=("Ctrl-C ended the checks",))
    elif estimate is None and not _has_failed(solution.result):
        found = replace(found, undone=("the error was not estimated",))
    findings = [*_about_run(solution.result), *found.findings]
    findings += _about_reference(solution.result, found.estimate)
    verdict = Verdict.of(findings)
    if not verdict.is_trusted:
        helpful = [*verdict.suggestions, *_suggestions(solution.result, found)]
        verdict = replace(verdict, suggestions=tuple(dict.fromkeys(helpful)))
    record = {
        "estimate": found.estimate and found.estimate.as_data(),
        "verdict": verdict.as_data(),
        "checks": found.as_data(),
    }
    return replace(solution, result={**solution.result, **record})


def _reason(result: Any) -> StopReason | None:
    return StopReason(result["stop_reason"]) if result.get("stop_reason") else None


def _has_failed(result: Any) -> bool:
    reason = _reason(result)
    return reason is not None and reason.is_failure


def _about_run(result: Any) -> list[Finding]:
    """What the run itself says."""
    reason, found = _reason(result), []
    if reason is not None and reason.is_failure:
        detail = result.get("stop_detail")
        found.append(
            Finding("failed", f"{reason.sentence} {detail}" if detail else reason.sentence)
        )
    if result.get("solved_until") is not None:
        sentence = (
            f"the run was interrupted: it is solved until t = {result['solved_until']:g} only"
        )
        found.append(Finding("doubtful", sentence))
    asked = result.get("tolerance")
    if asked and not asked["met"]:
        sentence = f"the tolerance {asked['asked']:g} is not met"
        found.append(Finding("doubtful", sentence))
    jumps = [window["jump"] for window in result.get("windows") or ()]
    if jumps and max(jumps) > JUMP:
        sentence = f"u jumps by {max(jumps):.1e} of its size where two time windows meet"
        found.append(Finding("doubtful", sentence))
    return found


def _about_reference(result: Any, estimate: ErrorEstimate | None) -> list[Finding]:
    """Whether the error by the reference is the one that was estimated."""
    error = result.get("relative_l2")
    if error is None:
        return []
    if not isfinite(error):
        return [
            Finding("doubtful", "the error by the reference is not finite: check the reference")
        ]
    if estimate is None or not estimate.is_finite:
        return []
    expected = estimate.bounds[1]
    if error > BESIDE * expected and error > 1e-6:
        return [
            Finding(
                "doubtful",
                f"the reference differs from the solution by {error:.1e}, but at most "
                f"{expected:.1e} is expected: the reference may belong to another problem, or the "
                "solution lies on another branch",
                "check the reference and the equation; compare another seed",
            )
        ]
    return []


def _suggestions(result: Any, found: Verification) -> list[str]:
    """What would help a run whose solution is not trusted."""
    estimate, reason, helpful = found.estimate, _reason(result), []
    if (
        reason is None
        or found.breakdown
        or (found.determinacy and not found.determinacy.determined)
    ):
        return []
    is_chosen = bool(result.get("tolerance"))  # what follows is chosen by the solver already
    grows = estimate is not None and estimate.growth > GROWING
    if grows and not result.get("windows") and not is_chosen:
        helpful.append("the error grows with time: try time windows, windows=5 (--windows 5)")
    if reason.is_limit:
        seconds = max(1.0, MORE_TIME * result.get("seconds", 0.0))
        helpful.append(f"more time: seconds={seconds:.0f} (--seconds {seconds:.0f})")
    elif not is_chosen:
        helpful.append(
            "a larger network, or one of sines, as in Recipe(field=tinns.sine_induced()), and more "
            "points"
        )
    if not is_chosen:
        helpful.append(
            "tolerance=1e-3 (--tolerance 1e-3): the solver then chooses network, points and windows"
        )
    return helpful
