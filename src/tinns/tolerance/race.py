"""A short race of several fields: those whose validation loss stays behind drop out."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from tinns.geometry import Initial
from tinns.objective.constraints import can_be_built_in
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe
from tinns.solvers import StopReason
from tinns.tolerance.attempt import Attempt, Case

FIRST, LATER = 0.035, 0.012  # shares of all seconds for each field, in the first and later rounds
BEHIND = (30.0, 10.0, 5.0, 3.0)  # a field with so many times the lowest loss drops out of a round
LEAST_ITERATIONS = 10  # in the first round, in at most twice its time
FAR_AHEAD = 100.0  # a loss that is lower by this factor ends the first round
LONGEST = 0.3  # of all seconds, after which no other field begins
SOON = 0.05  # of all seconds: a field that will reach the target so soon wins at once,
NEAR = 100.0  # if its loss is within this factor of the target: early rates do not last
GAIN = 3.0  # by how much initial values that are built in must lower the loss
DECIDED = (StopReason.TARGET, StopReason.INTERRUPTED)


@dataclass(frozen=True)
class Raced:
    """The winner, what it cost to find it, and how the others did."""

    name: str
    winner: Attempt
    seconds: float  # of all fields together
    losses: Mapping[str, float]

    @property
    def reason(self) -> StopReason:
        """Why the winner stopped."""
        return self.winner.reason or StopReason.SECONDS


def race(case: Case, recipes: Mapping[str, Recipe], seconds: float, target: float) -> Raced:
    """Train all fields for a short time, the better ones for longer, and keep the best.

    A field that reaches the target validation loss, or will do so soon, wins at once. `seconds` are
    those of the whole search.
    """
    attempts: dict[str, Attempt] = {}
    for name, recipe in recipes.items():
        if _spent(attempts) > LONGEST * seconds:
            break
        attempt = _begun(case, name, recipe, attempts)
        _first_round(attempt, FIRST * seconds, target)
        if attempt.reason in DECIDED or _is_near(attempt, seconds, target):
            return _won(name, attempts)
        if len(attempts) > 1 and FAR_AHEAD < _lead(attempts) < inf:
            break
    best = _best(attempts)
    for factor in BEHIND:
        racing = [n for n, a in attempts.items() if a.loss <= factor * attempts[best].loss]
        if len(racing) < 2:
            break
        for name in racing:
            if attempts[name].advance(LATER * seconds, target) in DECIDED:
                return _won(name, attempts)
        best = _best({name: attempts[name] for name in racing})
    hard = _initial_names(case.problem, attempts[best].recipe)
    if hard and not _is_near(attempts[best], seconds, target):
        name = f"{best} with {', '.join(hard)} built in"
        attempt = _begun(case, name, attempts[best].recipe.replace(hard=hard), attempts)
        _first_round(attempt, min(FIRST * seconds, attempts[best].seconds), target)
        before = attempts[best].loss_at(attempt.seconds)
        if attempt.reason in DECIDED or GAIN * attempt.loss < before:
            best = name
    return _won(best, attempts)


def _begun(case: Case, name: str, recipe: Recipe, attempts: dict[str, Attempt]) -> Attempt:
    case.reporter.status(f"trying {name}")
    attempts[name] = Attempt(case, recipe)
    return attempts[name]


def _first_round(attempt: Attempt, seconds: float, target: float) -> None:
    reason = attempt.advance(seconds, target)
    lacking = LEAST_ITERATIONS - attempt.iterations
    if reason is StopReason.SECONDS and lacking > 0:
        attempt.advance(seconds, target, lacking)


def _initial_names(problem: Problem, recipe: Recipe) -> tuple[str, ...]:
    """The initial conditions, if they can be built into the field."""
    found = (c.name for c in problem.all_conditions() if isinstance(c.region, Initial))
    names = tuple(dict.fromkeys(found))
    return names if can_be_built_in(problem, recipe.field, names) else ()


def _is_near(attempt: Attempt, seconds: float, target: float) -> bool:
    return attempt.loss < NEAR * target and attempt.time_to(target) < SOON * seconds


def _best(attempts: Mapping[str, Attempt]) -> str:
    return min(attempts, key=lambda name: attempts[name].loss)


def _lead(attempts: Mapping[str, Attempt]) -> float:
    """The second lowest loss over the lowest one."""
    best, second, *_ = sorted(attempt.loss for attempt in attempts.values())
    return second / max(best, 1e-300)


def _spent(attempts: Mapping[str, Attempt]) -> float:
    return sum(attempt.seconds for attempt in attempts.values())


def _won(name: str, attempts: Mapping[str, Attempt]) -> Raced:
    losses = {each: attempt.loss for each, attempt in attempts.items()}
    return Raced(name, attempts[name], _spent(attempts), losses)
