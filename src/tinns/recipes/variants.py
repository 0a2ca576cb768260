"""Methods that change one thing of a problem's recipe: its network, or its optimiser."""

from dataclasses import replace
from typing import Any

from tinns.nn import (
    MLP,
    FourierFeatures,
    Hypernetwork,
    Linear,
    ModifiedMLP,
    OneNeuron,
    PirateNet,
    RandomFeatures,
    ResNet,
    SeparableMLP,
    SpaceTime,
    TimeInduced,
)
from tinns.nn.backbones import Backbone
from tinns.nn.embeddings import embedded_width
from tinns.optim import LBFGS, SOAP, Adam, Optimizer, SelfScaledBroyden
from tinns.optim.lm import PaperLM
from tinns.problem.base import Problem
from tinns.recipes.baseline_settings import settings_for
from tinns.recipes.method import Change, Method
from tinns.recipes.recipe import Recipe, Stop
from tinns.solvers import FrozenFeatures

# Of small networks the paper prints no schedule: a thousand steps up and fifty decays in all.
_SCHEDULE: dict[str, Any] = {"warmup": 1_000, "decay_steps": 2_000, "over": 100_000}


def _trained_by(optimizer: Optimizer) -> Change:
    return lambda problem, recipe: recipe.replace(optimizer=optimizer)


def _with_backbone(backbone: Backbone) -> Change:
    """The recipe's own trajectory, on another backbone."""

    def change(problem: Problem, recipe: Recipe) -> Recipe:
        field = recipe.field if isinstance(recipe.field, TimeInduced) else TimeInduced()
        return recipe.replace(field=replace(field, backbone=backbone))

    return change


def _piratenet(problem: Problem, recipe: Recipe) -> Recipe:
    """A PirateNet keeps the width of its input, so it is given features of space."""
    fourier = FourierFeatures(8, settings_for(problem).frequency, trained=False)
    changed = _with_backbone(PirateNet(width=8, blocks=2))(problem, recipe)
    assert isinstance(changed.field, TimeInduced)
    return changed.replace(field=replace(changed.field, fourier=fourier))


def _plain(problem: Problem, recipe: Recipe) -> Recipe:
    """About as many parameters as the time-induced network has; by Algorithm 1, more steps."""
    inputs = embedded_width(problem.domain) + 1
    changed = recipe.replace(field=SpaceTime(MLP((20, 50) if inputs == 2 else (20, 51))))
    if not isinstance(recipe.optimizer, PaperLM):
        return changed
    return changed.replace(stop=Stop(iterations=settings_for(problem).mlp_iterations))


def _same_backbone(problem: Problem, recipe: Recipe) -> Recipe:
    """The same widths; by Algorithm 1, more steps and a higher lowest damping."""
    optimizer, settings = recipe.optimizer, settings_for(problem)
    changed = recipe.replace(field=SpaceTime(MLP((20, 20))))
    if not isinstance(optimizer, PaperLM):
        return changed
    damping = replace(optimizer.damping, mu_min=settings.submlp_damping)
    return changed.replace(
        optimizer=replace(optimizer, damping=damping),
        stop=Stop(iterations=settings.submlp_iterations),
    )


def _small_piratenet(problem: Problem, recipe: Recipe) -> Recipe:
    fourier = FourierFeatures(8, settings_for(problem).frequency, trained=False)
    return recipe.replace(field=SpaceTime(PirateNet(width=11, blocks=3), fourier=fourier))


def _separation(problem: Problem, recipe: Recipe) -> Recipe:
    return recipe.replace(field=RandomFeatures(), solver=FrozenFeatures())


# Widths are those with which the paper matches parameter counts [TINN, Tables 1, 4 and 6].
VARIANTS: dict[str, Method] = {
    "tinn": Method("time-induced network, Levenberg-Marquardt", lambda problem, recipe: recipe),
    "tinn-adam": Method(
        "time-induced network, Adam with warm-up and decay", _trained_by(Adam(**_SCHEDULE))
    ),
    "tinn-lbfgs": Method("time-induced network, L-BFGS", _trained_by(LBFGS())),
    "tinn-soap": Method("time-induced network, SOAP", _trained_by(SOAP(**_SCHEDULE))),
    "tinn-broyden": Method(
        "time-induced network, self-scaled Broyden", _trained_by(SelfScaledBroyden())
    ),
    "tinn-linear": Method(
        "every weight linear in time",
        lambda problem, recipe: recipe.replace(field=TimeInduced(MLP((22, 22)), Linear())),
    ),
    "tinn-one-neuron": Method(
        "every weight one neuron of time",
        lambda problem, recipe: recipe.replace(field=TimeInduced(MLP((18, 18)), OneNeuron())),
    ),
    "hypernetwork": Method(
        "all weights from one time network",
        lambda problem, recipe: recipe.replace(
            field=TimeInduced(MLP((20, 20)), Hypernetwork(MLP((50, 2))))
        ),
    ),
    "tinn-resnet": Method("time-induced residual network", _with_backbone(ResNet())),
    "tinn-modified-mlp": Method("time-induced modified MLP", _with_backbone(ModifiedMLP((20, 20)))),
    "tinn-piratenet": Method("time-induced PirateNet", _piratenet),
    "tinn-separable": Method(
        "time-induced product of networks of x and of y", _with_backbone(SeparableMLP())
    ),
    "mlp": Method("plain network of (x, t) of the same size", _plain),
    "submlp": Method("plain network of (x, t) with the same backbone", _same_backbone),
    "piratenet-small": Method("a PirateNet of 1190 parameters", _small_piratenet),
    "separation": Method("frozen random features in space, an ODE in time", _separation),
}
