"""Recipes for KleinGordon3D."""

from tinns.geometry import Counts
from tinns.nn import MLP, Layerwise, TimeInduced
from tinns.recipes.presets import PAPER, TUNED
from tinns.solvers import Stop

RECIPES = {
    "fast": TUNED.replace(
        field=TimeInduced(MLP((20, 20)), Layerwise(MLP((10, 10), "sin")), scaled=False),
        points=Counts(2_500, 400, 900),
        validation=Counts(2_500, 400, 900),
        weights={"equation": 0.3, "initial": 3.0},
    ),
    "paper": PAPER.replace(
        points=Counts(15_000, 4_000, 8_000),
        validation=Counts(12_000, 3_000, 4_800),
        weights={"initial": 2.0},
        stop=Stop(iterations=10_000),
    ),
}
