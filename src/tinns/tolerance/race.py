"""A short race of several fields: those whose validation loss falls least drop out."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from tinns.recipes.recipe import Recipe
from tinns.solvers import StopReason
from tinns.tolerance.attempt import Attempt, Case

FIRST, SECOND = 0.035, 0.045  # shares of all seconds for each field in both rounds
LEAST_ITERATIONS = 10  # in the first round, in at most twice its time
CLEAR = 30.0  # a loss that is lower by this factor wins the first round
FAR_AHEAD = 100.0  # and by this factor ends the race
LONGEST = 0.3  # of all seconds, after which no other field begins
SOON = 0.15  # of all seconds: a field that will reach the target so soon wins at once,
NEAR = 1e4  # if its loss is within this factor of the target


@dataclass(frozen=True)
class Raced:
    """The winner, what it cost to find it, and how the others did."""

    name: str
    winner: Attempt
    seconds: float  # of all fields together
    losses: Mapping[str, float]
    reason: StopReason


def race(case: Case, recipes: Mapping[str, Recipe], seconds: float, target: float) -> Raced:
    """Train all fields for a short time, the better two for longer, and keep the best.

    A field that reaches the target validation loss, or will do so soon, wins at once. `seconds` are
    those of the whole search.
    """
    attempts: dict[str, Attempt] = {}
    reason = StopReason.SECONDS
    for name, recipe in recipes.items():
        if sum(attempt.seconds for attempt in attempts.values()) > LONGEST * seconds:
            break
        case.reporter.status(f"trying {name}")
        attempt = attempts[name] = Attempt(case, recipe)
        reason = attempt.advance(FIRST * seconds, target)
        lacking = LEAST_ITERATIONS - attempt.iterations
        if reason is StopReason.SECONDS and lacking > 0:
            reason = attempt.advance(FIRST * seconds, target, lacking)
        is_decided = reason in (StopReason.TARGET, StopReason.INTERRUPTED)
        is_near = attempt.loss < NEAR * target and attempt.time_to(target) < SOON * seconds
        if is_decided or is_near:
            return _won(name, attempts, reason)
        if len(attempts) > 1 and FAR_AHEAD < _lead(attempts) < inf:
            break
    first, *others = ranked = sorted(attempts, key=lambda name: attempts[name].loss)
    if others and attempts[others[0]].loss < CLEAR * attempts[first].loss:
        for name in ranked[:2]:
            reason = attempts[name].advance(SECOND * seconds, target)
            if reason in (StopReason.TARGET, StopReason.INTERRUPTED):
                return _won(name, attempts, reason)
    best = min(ranked[:2], key=lambda name: attempts[name].loss)
    return _won(best, attempts, attempts[best].reason or reason)


def _lead(attempts: Mapping[str, Attempt]) -> float:
    """The second lowest loss over the lowest one."""
    best, second, *_ = sorted(attempt.loss for attempt in attempts.values())
    return second / max(best, 1e-300)


def _won(name: str, attempts: Mapping[str, Attempt], reason: StopReason) -> Raced:
    return Raced(
        name,
        attempts[name],
        sum(attempt.seconds for attempt in attempts.values()),
        {each: attempt.loss for each, attempt in attempts.items()},
        reason,
    )
