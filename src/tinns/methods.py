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
from tinns.optimizers import LBFGS, Adam
from tinns.recipe import Recipe
from tinns.separation import Separation

# Widths are those with which the paper matches parameter counts [TINN, Tables 2 and 5].
METHODS: dict[str, tuple[str, Callable[[Recipe], Recipe]]] = {
    "tinn": ("time-induced network, Levenberg-Marquardt", lambda recipe: recipe),
    "tinn-adam": (
        "time-induced network, Adam with warm-up and decay",
        lambda recipe: recipe.but(optimizer=Adam()),
    ),
    "tinn-lbfgs": (
        "time-induced network, L-BFGS",
        lambda recipe: recipe.but(optimizer=LBFGS()),
    ),
    "tinn-linear": (
        "every weight linear in time",
        lambda recipe: recipe.but(field=TimeInduced(MLP((22, 22)), Linear())),
    ),
    "tinn-one-neuron": (
        "every weight one neuron of time",
        lambda recipe: recipe.but(field=TimeInduced(MLP((18, 18)), OneNeuron())),
    ),
    "hypernetwork": (
        "all weights from one time network",
        lambda recipe: recipe.but(field=TimeInduced(MLP((20, 20)), Hypernetwork(MLP((50, 2))))),
    ),
    "mlp": (
        "plain network of (x, t), Levenberg-Marquardt",
        lambda recipe: recipe.but(field=SpaceTime(MLP((20, 50)))),
    ),
    "separation": (
        "frozen random features in space, an ODE in time",
        lambda recipe: recipe.but(field=RandomFeatures(), optimizer=Separation()),
    ),
}


def apply_method(name: str, recipe: Recipe) -> Recipe:
    """The recipe as the method called `name` would have it."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name][1](recipe)
