"""The search for a recipe that meets a tolerance: train, estimate, change, until it is met."""

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tinns._runtime.compilation import kept_on_disk
from tinns._runtime.errors import UserError
from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns.objective import Scales, find_scales
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe, check_seed
from tinns.solvers import StopReason, Trained
from tinns.solvers.history import History
from tinns.solvers.progress import Reporter, Silent
from tinns.solvers.solver import Measure
from tinns.tolerance.attempt import Attempt, Case, Origin, one_history
from tinns.tolerance.candidates import first_recipes
from tinns.tolerance.changes import (
    ENDED,
    Change,
    changes,
    early_growth,
    windows_for,
)
from tinns.tolerance.decisions import Decision, Decisions
from tinns.tolerance.judging import Judge, Judgement
from tinns.tolerance.marching import March
from tinns.tolerance.race import Raced, race
from tinns.verification import Breakdown, ErrorEstimate

AIM = 0.3  # √(validation loss) relative to the tolerance, before anything is estimated
WINDOW_AIM = 0.1  # the same in time windows, where the error grows
SLICE = 0.04  # of all seconds, between two looks at the progress
MIDWAY = 30.0  # times the target loss: a solution to compare the final one with
SELDOM = 0.25  # of all seconds, between two estimates if nothing calls for one
COST = 4.0  # times as long as an estimate takes, at least, between two of them
PATIENT = 80  # iterations before a change for slow convergence,
LEAST, LONG = 20, 0.15  # or fewer, if they take so large a share of all seconds
SLOW = 0.7  # of the remaining time, which convergence would take
NEAR = 5.0  # times the error that is allowed: so close, a run is only changed when it ends
FOR_WINDOWS = 0.3  # of all seconds, which must be left for time windows
CHANGES = 0.1  # and for other changes
MOST_CHANGES = 6
ESTIMATE_BUDGET = 5.0  # seconds for each estimate
WALL = 2.0  # of all seconds, after which nothing new is compiled


@dataclass(frozen=True)
class Reached:
    """The best solution found, its estimate, and how it was found.

    `estimate` is None where none could be made, since the problem has no solution until its end.
    """

    trained: Trained
    recipe: Recipe
    estimate: ErrorEstimate | None
    met: bool
    decisions: tuple[Decision, ...]
    tolerance: float

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record: what was asked, whether it was met, and the decisions."""
        return {
            "asked": self.tolerance,
            "met": self.met,
            "decisions": [decision.as_data() for decision in self.decisions],
        }


def reach_tolerance(
    problem: Problem,
    tolerance: float,
    *,
    seconds: float = 180.0,
    seed: int = 0,
    reporter: Reporter | None = None,
    measure: Measure | None = None,
) -> Reached:
    """Solve a problem to a relative L2 error of `tolerance`, in at most `seconds` of training.

    Network, points, weights and time windows are chosen and changed by what is measured in the run.
    It ends as soon as the estimated error meets the tolerance; otherwise the best solution by its
    estimate is returned. `measure` states true errors for the history and decides nothing.
    """
    check_tolerance(tolerance, seconds)
    check_seed(seed)
    case = Case(problem, seed, reporter or Silent(), measure)
    with kept_on_disk(), computing_in("float64"), single_threaded_blas():
        recipes = first_recipes(problem, equations=len(find_scales(problem).of(0)))
        raced = race(case, recipes, float(seconds), _first_target(tolerance))
        return Search(case, float(tolerance), float(seconds), raced).run()


def check_tolerance(tolerance: float, seconds: float) -> None:
    """Refuse numbers that are no tolerance or no time."""
    for name, value, below in (("tolerance", tolerance, 1.0), ("seconds", seconds, np.inf)):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 < value < below):
            limit = " and below 1, such as 1e-4" if below == 1.0 else ""
            raise UserError(f"{name}={value!r}; expected a number above 0{limit}")


def _first_target(tolerance: float) -> float:
    """The validation loss to train to before anything is estimated."""
    return (AIM * tolerance) ** 2


@dataclass(frozen=True)
class _Judged:
    """A solution with its judgement."""

    trained: Trained
    recipe: Recipe
    judgement: Judgement
    history: History


class Search:
    """The state of a search: what was spent, what was decided, and the best so far."""

    def __init__(self, case: Case, tolerance: float, seconds: float, raced: Raced) -> None:
        self.case, self.tolerance, self.seconds = case, tolerance, seconds
        self.raced, self.attempt = raced, raced.winner
        self.decisions = Decisions(case.reporter)
        self.judge = Judge(case.problem, case.seed, ESTIMATE_BUDGET)
        self.parts: list[tuple[float, History]] = []  # finished attempts of the winner's line
        self.before = raced.seconds - raced.winner.seconds  # spent before the present attempt
        self.marched = 0.0  # seconds spent in time windows
        self.best: _Judged | None = None
        self.target = _first_target(tolerance)  # for the validation loss
        self.judged_at = 0.0
        self.changes = 0
        self.started = time.monotonic()

    @property
    def spent(self) -> float:
        return self.before + self.attempt.seconds + self.marched

    @property
    def left(self) -> float:
        return self.seconds - self.spent

    @property
    def met(self) -> bool:
        return self.best is not None and self.best.judgement.share(self.tolerance) <= 1

    def run(self) -> Reached:
        try:
            self._search()
        except Breakdown as breakdown:
            self.decisions.add(self.spent, f"no solution to estimate: {breakdown}")
            trained = self._whole(self.attempt.trained())
            return Reached(
                trained, self.attempt.recipe, None, False, self.decisions.made, self.tolerance
            )
        best = self.best
        assert best is not None
        estimate = best.judgement.estimate
        if not self.met:
            self.decisions.add(
                self.spent,
                f"the tolerance {self.tolerance:.1e} is not met: the best estimate is "
                f"{estimate.relative_l2:.1e}",
            )
        trained = replace(best.trained, history=best.history, seconds=self.spent)
        return Reached(
            trained, best.recipe, estimate, self.met, self.decisions.made, self.tolerance
        )

    def _search(self) -> None:
        reason = self._begin()
        while not self._is_over(reason):
            stuck = reason is not StopReason.TARGET and self._is_stuck(reason)
            early = early_growth(self.attempt) if stuck and not self._is_near else None
            if early is not None and self._may_change():
                self._continue(early)
            elif self._is_judgement_due(reason, stuck):
                judgement = self._judged()
                changed = stuck and not self.met and self._changed(judgement)
                if self.met or self.marched or (reason in ENDED and not changed):
                    return
            reason = self._train()
        if self.best is None or self.spent > self.judged_at:
            self._judged()

    def _begin(self) -> StopReason:
        """Record what the race found."""
        raced = self.raced
        self.judge.remember(raced.winner.trained(), raced.winner.task.scales)
        losses = ", ".join(f"{name} {loss:.1e}" for name, loss in raced.losses.items())
        self.decisions.add(self.spent, f"field: {raced.name}, by validation loss ({losses})")
        return raced.reason

    def _train(self) -> StopReason:
        """Train until the target, or for a while; a solution on the way is remembered."""
        attempt, midway = self.attempt, MIDWAY * self.target
        pause = max(min(SLICE * self.seconds, self.left), 1e-3)
        if attempt.loss <= midway:
            return attempt.advance(pause, self.target)
        reason = attempt.advance(pause, midway)
        if reason is StopReason.TARGET:
            self.judge.remember(attempt.trained(), attempt.task.scales)
            return StopReason.SECONDS
        return reason

    def _is_over(self, reason: StopReason) -> bool:
        return reason is StopReason.INTERRUPTED or reason.is_failure or self.left <= 0

    def _is_stuck(self, reason: StopReason) -> bool:
        """Whether the present course will not reach the target in time."""
        if reason in ENDED:
            return True
        attempt = self.attempt
        patience = LEAST if attempt.seconds > LONG * self.seconds else PATIENT
        if attempt.iterations < patience:
            return False
        return attempt.time_to(self.target) > SLOW * self.left

    @property
    def _is_near(self) -> bool:
        """Whether the best solution is close to what is asked: little is gained by a change."""
        return self.best is not None and self.best.judgement.share(self.tolerance) <= NEAR

    def _is_judgement_due(self, reason: StopReason, stuck: bool) -> bool:
        """Whether to estimate the error now: at once where a run ended, else not too often."""
        if reason is StopReason.TARGET or reason in ENDED:
            return True
        least = COST * min(self.judge.seconds, ESTIMATE_BUDGET)  # compilation does not count
        pause = least if stuck else max(SELDOM * self.seconds, least)
        return self.spent - self.judged_at >= pause

    def _may_change(self) -> bool:
        """Whether there is time for another program."""
        is_late = time.monotonic() - self.started > WALL * self.seconds
        return self.changes < MOST_CHANGES and not is_late and self.left > CHANGES * self.seconds

    def _judged(self) -> Judgement:
        """The judgement of the present solution, which becomes the best if it is."""
        attempt = self.attempt
        self.case.reporter.status("estimating the error")
        found = self._judge(self._whole(attempt.trained()), attempt.recipe, attempt.task.scales)
        share = found.share(self.tolerance)
        wanted = attempt.loss * (0.7 / max(share, 1e-300)) ** 2
        self.target = min(wanted, attempt.loss / 2)
        return found

    def _judge(self, trained: Trained, recipe: Recipe, scales: Scales | None) -> Judgement:
        judgement = self.judge(trained, scales, self.tolerance)
        self.judged_at = self.spent
        judged = _Judged(trained, recipe, judgement, trained.history)
        best = self.best
        if best is None or judgement.share(self.tolerance) < best.judgement.share(self.tolerance):
            self.best = judged
        estimate = judgement.estimate
        met = judgement.share(self.tolerance) <= 1
        verdict = f"meets {self.tolerance:.1e}" if met else f"not yet {self.tolerance:.1e}"
        self.decisions.add(
            self.spent,
            f"estimated error {estimate.relative_l2:.1e} ({estimate.by}, within a factor of "
            f"{judgement.doubt:.2g}): {verdict}",
        )
        return judgement

    def _changed(self, judgement: Judgement) -> bool:
        """Change something, if there is time: whether anything was.

        A run that is near goes on as it is, but for initial values that can be built in.
        """
        if not self._may_change():
            return False
        goes_on = self._is_near and self.attempt.reason not in ENDED
        windows = windows_for(self.case.problem, judgement)
        if windows is not None and not goes_on and self.left >= FOR_WINDOWS * self.seconds:
            self._march(windows, judgement)
            return True
        recipe = self.attempt.recipe
        change = next(changes(self.case.problem, self.attempt, judgement), None)
        if change is None or (goes_on and change.recipe.hard == recipe.hard):
            return False
        self._continue(change)
        return True

    def _continue(self, change: Change) -> None:
        """Go on with another recipe, from the present parameters."""
        self.changes += 1
        self.decisions.add(self.spent, change.reason)
        former = self.attempt
        self.parts.append((self.before, former.state.history))
        self.before += former.seconds
        self.attempt = Attempt(self.case, change.recipe, Origin(former.state, change.growth))

    def _march(self, windows: int, judgement: Judgement) -> None:
        """Solve once more in time windows, again with more of them if there is time."""
        self.changes += 1
        recipe = self.attempt.recipe.replace(hard=())  # a window starts from the one before
        growth = judgement.estimate.growth
        found = (
            f"the error late is {growth:.0f} times that early"
            if growth >= 2
            else "training over all of time does not converge"
        )
        target = (WINDOW_AIM * self.tolerance) ** 2 / max(growth, 1.0)
        while True:
            self.decisions.add(self.spent, f"{found}: about {windows} time windows")
            march = March(self.case, recipe, windows)
            began = self.spent
            marched = march.run(self.left, target)
            self.marched += marched.seconds
            if marched.trained is None:
                return
            edges = marched.edges
            self.decisions.add(
                self.spent,
                f"{len(edges) - 1} windows were solved, {marched.halvings} times after halving one",
            )
            history = one_history([*self._histories(), (began, marched.trained.history)])
            trained = replace(marched.trained, history=history, iterations=len(history))
            judgement = self._judge(trained, recipe.replace(windows=edges), march.task.scales)
            share = judgement.share(self.tolerance)
            if self.met or self.left < FOR_WINDOWS * self.seconds:
                return
            windows, target = 2 * (len(edges) - 1), target * (0.5 / share) ** 2
            found = "its windows reached their targets, but not the tolerance"

    def _histories(self) -> list[tuple[float, History]]:
        return [*self.parts, (self.before, self.attempt.state.history)]

    def _whole(self, trained: Trained) -> Trained:
        """With the history of all attempts that led to it."""
        history = one_history(self._histories())
        return replace(trained, history=history, iterations=len(history), seconds=self.spent)
