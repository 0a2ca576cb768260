"""Recipes for KuramotoSivashinsky."""

from tinns.geometry import Counts
from tinns.nn import MLP, Layerwise, TimeInduced
from tinns.recipes.presets import PAPER, TUNED

# The shapes that give the paper's 3329 parameters a window; the printed ones are exchanged.
_FIELD = TimeInduced(MLP((20, 20, 20, 20)), Layerwise(MLP((20, 20))))

RECIPES = {
    "fast": TUNED.replace(
        field=_FIELD,
        windows=10,
        weights={"initial": 20.0},
    ),
    "paper": PAPER.replace(
        field=_FIELD,
        windows=10,
        points=Counts(10_000, 500),
        validation=Counts(5_000, 250),
        weights={"initial": 3.0},
    ),
}
