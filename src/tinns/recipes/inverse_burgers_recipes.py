"""Recipes for InverseBurgers."""

from tinns.geometry import Counts
from tinns.nn import TimeInduced
from tinns.recipes.presets import PAPER, TUNED

RECIPES = {
    "fast": TUNED.replace(field=TimeInduced(scaled=False), weights={"observed": 10.0}),
    # A heavy weight would have the network follow the noise instead of the equation.
    "noisy": TUNED.replace(field=TimeInduced(scaled=False), weights={"observed": 1.0}),
    "paper": PAPER.replace(
        points=Counts(10_000), validation=Counts(5_000), weights={"observed": 10.0}
    ),
}
