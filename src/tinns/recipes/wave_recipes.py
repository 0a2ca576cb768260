"""Recipes for Wave."""

from math import sqrt

from tinns.geometry import Counts
from tinns.nn import sine_induced
from tinns.optim import PaperDamping, PaperLM
from tinns.recipes.presets import ACCURATE, PAPER, TUNED

# u_tt reaches hundreds where u is of order one: without weights the equation drowns the rest.
_WEIGHTS = {"equation": 0.03, "initial_velocity": 0.3, "boundary": 3.0}

RECIPES = {
    "fast": TUNED.replace(field=sine_induced((20, 20), scaled=False), weights=_WEIGHTS),
    "accurate": ACCURATE.replace(field=sine_induced((24, 24, 24), scaled=False), weights=_WEIGHTS),
    "paper": PAPER.replace(
        optimizer=PaperLM(PaperDamping(up=1.27, mu_min=5e-7, eta=2.0)),
        points=Counts(10_000, 500, 400),
        validation=Counts(5_000, 250, 200),
        weights={"initial": 2.0, "initial_velocity": 1.0, "boundary": 10.0 * sqrt(2)},
    ),
}
