"""Recipes for KleinGordon."""

from tinns.geometry import Counts
from tinns.nn import MLP, Layerwise, TimeInduced
from tinns.recipes.presets import ACCURATE, PAPER, TUNED
from tinns.solvers import Stop

# The solution swings in time and is a polynomial in space.
_FIELD = TimeInduced(MLP((20, 20)), Layerwise(MLP((10, 10), "sin")), scaled=False)

RECIPES = {
    "fast": TUNED.replace(
        points=Counts(2_500, 400, 800),
        validation=Counts(2_500, 400, 800),
        field=_FIELD,
        weights={"equation": 0.3, "initial": 3.0},
    ),
    "accurate": ACCURATE.replace(
        field=_FIELD,
        points=Counts(10_000, 2_000, 4_000),
        validation=Counts(5_000, 1_000, 2_000),
        weights={"equation": 0.3, "initial": 3.0},
    ),
    "paper": PAPER.replace(
        points=Counts(15_000, 4_000, 8_000),
        validation=Counts(12_000, 3_000, 4_800),
        weights={"initial": 3.0, "initial_velocity": 1.0, "boundary": 2.0},
        stop=Stop(iterations=10_000),
    ),
}
