"""Recipes that others start from: the paper's settings, and settings for a GPU."""

from tinns.geometry import Counts, Uniform
from tinns.nn import TimeInduced
from tinns.optim import PaperLM
from tinns.recipes.recipe import Recipe
from tinns.solvers import Redraw, Stop

# What recipes with weights of their own start from: rows as the problem states them.
TUNED = Recipe(
    redraw=Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8)),
    renewal=None,
    dimensionless=False,
)

# What the paper's program does on every problem [TINN, Appendix F]: uniform points, Algorithm 1 as
# published, all points redrawn when validation exceeds five times training.
PAPER = TUNED.replace(
    field=TimeInduced(scaled=False),
    optimizer=PaperLM(),
    sampler=Uniform(),
    redraw=Redraw(5.0),
    stop=Stop(iterations=30_000),
    keep="last",
)

# Made for a GPU: larger networks and more points; a minute is thousands of iterations.
ACCURATE = TUNED.replace(
    points=Counts(10_000, 500, 400),
    validation=Counts(5_000, 250, 200),
    redraw=Redraw(2.0, candidates=4, ladder=(1,)),
    stop=Stop(seconds=120.0, patience=1000),
)
