"""Methods: named changes to a problem's recipe."""

from collections.abc import Callable

from tinns.errors import unknown_name
from tinns.fields import (
    MLP,
    Hypernetwork,
    Linear,
    OneNeuron,
    RandomFeatures,
    SpaceTime,
    TimeInduced,
)
from tinns.fields.embeddings import embedded_width
from tinns.optimizers import LBFGS, Adam
from tinns.problem import Problem
from tinns.recipe import Recipe
from tinns.separation import Separation

# Widths are those with which the paper matches parameter counts [TINN, Tables 2 and 5].
METHODS: dict[str, tuple[str, Callable[[Problem, Recipe], Recipe]]] = {
    "tinn": ("time-induced network, Levenberg-Marquardt", lambda problem, recipe: recipe),
    "tinn-adam": (
        "time-induced network, Adam with warm-up and decay",
        lambda problem, recipe: recipe.but(optimizer=Adam()),
    ),
    "tinn-lbfgs": (
        "time-induced network, L-BFGS",
        lambda problem, recipe: recipe.but(optimizer=LBFGS()),
    ),
    "tinn-linear": (
        "every weight linear in time",
        lambda problem, recipe: recipe.but(field=TimeInduced(MLP((22, 22)), Linear())),
    ),
    "tinn-one-neuron": (
        "every weight one neuron of time",
        lambda problem, recipe: recipe.but(field=TimeInduced(MLP((18, 18)), OneNeuron())),
    ),
    "hypernetwork": (
        "all weights from one time network",
        lambda problem, recipe: recipe.but(
            field=TimeInduced(MLP((20, 20)), Hypernetwork(MLP((50, 2))))
        ),
    ),
    "mlp": (
        "plain network of (x, t), Levenberg-Marquardt",
        lambda problem, recipe: recipe.but(field=SpaceTime(MLP(_matched(problem)))),
    ),
    "separation": (
        "frozen random features in space, an ODE in time",
        lambda problem, recipe: recipe.but(field=RandomFeatures(), optimizer=Separation()),
    ),
}


def apply_method(name: str, problem: Problem, recipe: Recipe) -> Recipe:
    """The recipe for a problem as the method called `name` would have it."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name][1](problem, recipe)


def _matched(problem: Problem) -> tuple[int, int]:
    """The widths of a plain network with about as many parameters as the time-induced one."""
    inputs = embedded_width(problem.domain) + 1
    return (20, 50) if inputs == 2 else (20, 51)
