"""Recipes for FlowMixing."""

from tinns.geometry import Counts
from tinns.nn import MLP, TimeInduced
from tinns.recipes.presets import PAPER, TUNED
from tinns.solvers import Stop

RECIPES = {
    "fast": TUNED.replace(
        field=TimeInduced(
            MLP((30, 30)), scaled=False
        ),  # wider than the paper's: a spiral is much to hold
        points=Counts(4_000, 500, 400),
        validation=Counts(4_000, 500, 400),
    ),
    "paper": PAPER.replace(
        points=Counts(15_000, 4_000, 8_000),
        validation=Counts(12_000, 3_000, 4_800),
        weights={"initial": 2.0},
        stop=Stop(iterations=1_250),
    ),
}
