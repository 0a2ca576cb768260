"""Recipes for AllenCahn."""

from tinns.geometry import Counts
from tinns.nn import MLP, TimeInduced
from tinns.recipes.presets import ACCURATE, PAPER, TUNED

RECIPES = {
    "fast": TUNED.replace(
        field=TimeInduced(MLP((12,) * 4), scaled=False), weights={"initial": 20.0}
    ),
    "accurate": ACCURATE.replace(
        field=TimeInduced(MLP((16,) * 4), scaled=False), weights={"initial": 20.0}
    ),
    "paper": PAPER.replace(
        points=Counts(10_000, 500),
        validation=Counts(5_000, 250),
        weights={"initial": 20.0},
    ),
}
