"""Recipes for InverseBurgers."""

from tinns.geometry import Counts
from tinns.nn import TimeInduced
from tinns.recipes.presets import PAPER
from tinns.recipes.recipe import Recipe

RECIPES = {
    "fast": Recipe(field=TimeInduced(), weights={"observed": 10.0}),
    # A heavy weight would have the network follow the noise instead of the equation.
    "noisy": Recipe(field=TimeInduced(), weights={"observed": 1.0}),
    "paper": PAPER.replace(
        points=Counts(10_000), validation=Counts(5_000), weights={"observed": 10.0}
    ),
}
