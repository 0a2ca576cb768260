"""The recipes with which a search begins."""

from tinns.geometry import Counts
from tinns.nn import MLP, Field, Layerwise, TimeInduced, sine_induced
from tinns.problem import Problem
from tinns.recipes.recipe import Recipe
from tinns.solvers import Redraw, Stop

LOW = 1e-4  # tolerances from here on need small networks only

# Smooth layers and fronts suit tanh, waves suit sines; some problems need more layers.
SMALL: dict[str, Field] = {
    "tanh": TimeInduced(MLP((20, 20))),
    "sine": sine_induced((20, 20)),
    "deep tanh": TimeInduced(MLP((14, 14, 14)), Layerwise(MLP((10, 10), "sin"))),
}
LARGE: dict[str, Field] = {
    "tanh": TimeInduced(MLP((30, 30))),
    "sine": sine_induced((24, 24, 24)),
    "deep tanh": TimeInduced(MLP((16, 16, 16, 16))),
    "tanh in space and sine in time": TimeInduced(MLP((24, 24)), Layerwise(MLP((10, 10), "sin"))),
}

POINTS = {1: Counts(2000, 200, 100), 2: Counts(2000, 400, 600), 3: Counts(2000, 400, 800)}
LEAST = 0.3  # of the points, for systems of many equations


def first_recipes(problem: Problem, tolerance: float, equations: int) -> dict[str, Recipe]:
    """Recipes that differ in their fields, by name; `equations` is the number of equations."""
    counts = POINTS.get(len(problem.domain.space), POINTS[3])
    counts = _scaled(counts, max(LEAST, 1 / equations))
    fields = SMALL if tolerance >= LOW else LARGE
    return {
        name: Recipe(
            field=field,
            points=counts,
            validation=counts,
            redraw=Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8), crowded=True),
            stop=Stop(seconds=60.0, patience=500),
        )
        for name, field in fields.items()
    }


def _scaled(counts: Counts, factor: float) -> Counts:
    interior, initial, boundary = (
        max(1, round(factor * count))
        for count in (counts.interior, counts.initial, counts.boundary)
    )
    return Counts(interior, initial, boundary)
