"""Recipes for Burgers."""

from tinns.geometry import Counts
from tinns.nn import MLP, TimeInduced
from tinns.recipes.presets import ACCURATE, PAPER, TUNED

RECIPES = {
    "fast": TUNED.replace(field=TimeInduced(scaled=False), weights={"initial": 2.0}),
    "accurate": ACCURATE.replace(
        field=TimeInduced(MLP((30, 30)), scaled=False),
        points=Counts(12_000, 600, 400),
        weights={"initial": 2.0},
    ),
    "paper": PAPER.replace(
        points=Counts(10_000, 500, 400),
        validation=Counts(5_000, 250, 200),
        weights={"initial": 2.0, "boundary": 1.0},
    ),
}
