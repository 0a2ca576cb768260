"""Recipes for Transport."""

from tinns.geometry import Counts
from tinns.recipes.presets import PAPER, TUNED

RECIPES = {
    "fast": TUNED.replace(points=Counts(2_500, 400, 200), validation=Counts(2_500, 400, 200)),
    "paper": PAPER.replace(
        points=Counts(10_000, 500, 400),
        validation=Counts(5_000, 250, 200),
        weights={"initial": 3.0},
    ),
}
