"""Recipes for NavierStokes3D."""

from tinns.geometry import Counts
from tinns.nn import sine_induced
from tinns.recipes.presets import PAPER, TUNED
from tinns.solvers import Stop

RECIPES = {
    "fast": TUNED.replace(
        field=sine_induced((20, 20), scaled=False),
        points=Counts(2_500, 500, 1_200),
        validation=Counts(2_500, 500, 1_200),
    ),
    "paper": PAPER.replace(
        points=Counts(15_000, 4_000, 8_000),
        validation=Counts(12_000, 3_000, 4_800),
        weights={"initial": 7.0},
        stop=Stop(iterations=5_000),
    ),
}
