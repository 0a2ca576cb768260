"""Recipes for KortewegDeVries."""

from tinns.geometry import Counts
from tinns.nn import sine_induced
from tinns.recipes.presets import ACCURATE, PAPER, TUNED
from tinns.solvers import Stop

RECIPES = {
    "fast": TUNED.replace(
        field=sine_induced((16, 16, 16, 16), scaled=False), weights={"equation": 0.1}
    ),
    "accurate": ACCURATE.replace(
        field=sine_induced((24, 24, 24), scaled=False), weights={"equation": 0.1}
    ),
    "paper": PAPER.replace(
        points=Counts(10_000, 500),
        validation=Counts(5_000, 250),
        weights={"initial": 2.0},
        stop=Stop(iterations=25_000),
    ),
}
