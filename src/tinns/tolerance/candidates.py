"""The recipes with which a search begins."""

import jax

from tinns.geometry import Counts
from tinns.nn import MLP, Field, Layerwise, TimeInduced, sine_induced
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe
from tinns.solvers import Redraw, Stop


def _sines(*hidden: int) -> TimeInduced:
    return TimeInduced(MLP(hidden, "sin", input_gain=3.0), Layerwise(MLP((8, 8), "sin")))


def _tanh(*hidden: int) -> TimeInduced:
    return TimeInduced(MLP(hidden), Layerwise(MLP((8, 8))))


# Smooth layers and fronts suit tanh, waves suit sines; some problems need more layers. On a CPU the
# time of a step grows with the size of the network: small ones begin, and grow.
SMALL: dict[str, Field] = {
    "tanh": _tanh(14, 14),
    "sine": _sines(14, 14),
    "deep tanh": _tanh(12, 12, 12),
}
MEDIUM: dict[str, Field] = {  # where space has several dimensions
    "tanh": _tanh(20, 20),
    "sine": _sines(20, 20),
    "deep tanh": _tanh(16, 16, 16),
}
LARGE: dict[str, Field] = {
    "tanh": TimeInduced(MLP((30, 30))),
    "sine": sine_induced((24, 24, 24)),
    "deep tanh": TimeInduced(MLP((16, 16, 16, 16))),
    "tanh in space and sine in time": TimeInduced(MLP((24, 24)), Layerwise(MLP((10, 10), "sin"))),
}

POINTS = {1: Counts(1000, 120, 60), 2: Counts(1000, 200, 300), 3: Counts(1000, 250, 400)}
LEAST = 0.4  # of the points, for systems of many equations


def first_recipes(problem: Problem, equations: int) -> dict[str, Recipe]:
    """Recipes that differ in their fields, by name; `equations` is the number of equations."""
    is_small, dimensions = jax.default_backend() == "cpu", len(problem.domain.space)
    counts = POINTS.get(dimensions, POINTS[3]).times(1 if is_small else 2)
    counts = _scaled(counts, max(LEAST, 1 / equations))
    return {
        name: Recipe(
            field=field,
            points=counts,
            validation=counts,
            redraw=Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8), crowded=True),
            stop=Stop(seconds=60.0, patience=500),
        )
        for name, field in _fields(is_small, dimensions).items()
    }


def _fields(is_small: bool, dimensions: int) -> dict[str, Field]:
    if not is_small:
        return LARGE
    return SMALL if dimensions == 1 else MEDIUM


def _scaled(counts: Counts, factor: float) -> Counts:
    interior, initial, boundary = (
        max(1, round(factor * count))
        for count in (counts.interior, counts.initial, counts.boundary)
    )
    return Counts(interior, initial, boundary)
