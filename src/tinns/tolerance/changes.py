"""What to change when training will not reach the tolerance, by signals measured in the run."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tinns._runtime.errors import UserError
from tinns.geometry import Counts, Initial
from tinns.nn import MLP, Added, Field, Growth, TimeInduced, Wider, sine_induced
from tinns.objective.constraints import can_be_built_in
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe
from tinns.solvers import StopReason
from tinns.tolerance.attempt import Attempt
from tinns.tolerance.judging import Judgement

GROWS = 8.0  # the error late over that early: time windows
LARGE = 0.1  # an error that is not small at all
FROM_THE_START = 0.5  # the error at the initial time over that of all: a better start
HEAVIER = 5.0
OVERFIT = 2.0
USUAL = 20  # neurons in a layer: smaller networks are grown without further questions
WIDE = 30  # neurons in a layer: an added network pays better than still wider layers
FEWEST, MOST = 3, 12  # time windows
ENDED = (StopReason.STAGNATED, StopReason.CONVERGED, StopReason.PRECISION_FLOOR)


@dataclass(frozen=True)
class Change:
    """A new recipe, what grows in it if anything does, and a sentence that says why."""

    recipe: Recipe
    reason: str
    growth: Growth | None = None


def windows_for(problem: Problem, judgement: Judgement) -> int | None:
    """How many time windows would help: None unless the error grows in time or is large."""
    if problem.trainable:
        return None
    growth = judgement.estimate.growth
    if growth >= GROWS:
        return int(np.clip(round(2 * np.log10(growth)), FEWEST, MOST))
    return 5 if judgement.estimate.relative_l2 > LARGE else None


def early_growth(attempt: Attempt) -> Change | None:
    """A wider network and more points, while the network is still small."""
    recipe, network = attempt.recipe, _network(attempt.recipe.field)
    if network is None or max(network.hidden) >= USUAL:
        return None
    growth = Wider(1.5)
    larger = recipe.replace(
        field=growth.applied(recipe.field),
        points=_more(recipe.points, 1.5),
        validation=_more(recipe.validation, 1.5),
    )
    return Change(larger, "a small network is too slow: 1.5 times the neurons and points", growth)


def changes(problem: Problem, attempt: Attempt, judgement: Judgement | None) -> Iterator[Change]:
    """Possible changes in a single time window, the most promising first."""
    recipe = attempt.recipe
    if judgement is not None:
        start = _better_start(problem, recipe, judgement)
        if start is not None:
            yield start
    if attempt.overfit > OVERFIT:
        more = recipe.replace(
            points=_more(recipe.points, 2), validation=_more(recipe.validation, 2)
        )
        yield Change(more, f"validation is {attempt.overfit:.0f} times training: twice the points")
    stands = "the loss no longer falls" if attempt.reason in ENDED else "the loss falls too slowly"
    for growth, words in _growths(recipe.field):
        try:
            larger = growth.applied(recipe.field)
        except UserError:
            continue
        yield Change(recipe.replace(field=larger), f"{stands}: {words}", growth)


def _better_start(problem: Problem, recipe: Recipe, judgement: Judgement) -> Change | None:
    """Initial values built in, or heavier ones, if half of the error is there from the start."""
    estimate = judgement.estimate
    given = {c.name: c.weight for c in problem.all_conditions() if isinstance(c.region, Initial)}
    if not given or not len(estimate.over_time) or given.keys() & {*recipe.weights, *recipe.hard}:
        return None
    if not estimate.over_time[0] > FROM_THE_START * estimate.relative_l2:
        return None
    reason = f"the error is {estimate.over_time[0]:.1e} at the initial time already: "
    names = tuple(given)
    if can_be_built_in(problem, recipe.field, names):
        hard = recipe.replace(hard=names)
        return Change(hard, f"{reason}{', '.join(names)} built into the field")
    heavier = {name: HEAVIER * weight for name, weight in given.items()}
    changed = recipe.replace(weights=dict(recipe.weights) | heavier)
    return Change(changed, f"{reason}{', '.join(names)} weighted {HEAVIER:g} times as much")


def _growths(field: Field) -> Iterator[tuple[Growth, str]]:
    """A wider network and an added one; those of many neurons are added to first."""
    wider = Wider(1.5), "1.5 times as many neurons in each layer"
    added = Added(_other(field)), "another network added"
    network = _network(field)
    is_wide = network is not None and max(network.hidden) >= WIDE
    yield from (added, wider) if is_wide else (wider, added)


def _other(field: Field) -> Field:
    """A field of the other activation."""
    network = _network(field)
    is_sine = network is not None and network.activation == "sin"
    return TimeInduced(MLP((20, 20))) if is_sine else sine_induced((20, 20))


def _network(field: Field) -> MLP | None:
    """The network in space, if it is an MLP."""
    network = field.backbone if isinstance(field, TimeInduced) else None
    return network if isinstance(network, MLP) else None


def _more(counts: Counts, factor: float) -> Counts:
    interior, initial, boundary = (
        round(factor * count) for count in (counts.interior, counts.initial, counts.boundary)
    )
    return Counts(interior, initial, boundary)
