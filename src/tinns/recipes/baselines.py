"""Other methods of the field, each as a whole recipe: its network, points, weights, optimiser.

A baseline takes nothing of a problem's recipe but its counts of points; its budget is that of the
paper, and its learning rates are stretched over whatever budget it is given instead.
"""

from math import sqrt

from tinns.geometry import Box, TensorGrid, Uniform
from tinns.nn import (
    MLP,
    Field,
    FourierFeatures,
    Layerwise,
    ModifiedMLP,
    PirateNet,
    SeparableField,
    SpaceTime,
    TimeInduced,
)
from tinns.optim import SOAP, Adam
from tinns.problem.base import Problem
from tinns.recipes.baseline_settings import settings_for
from tinns.recipes.method import Change, Method
from tinns.recipes.named import recipes_for
from tinns.recipes.presets import TUNED
from tinns.recipes.recipe import Recipe, Stop
from tinns.solvers import Causal, Difficulty, GradientNorms, Redraw

LOOKS = 100  # iterations between validations, where nothing depends on them
SAME_ITERATIONS = 100_000  # of the same-strategy table, which prints none

# Bases of SOAP by Cholesky: on a GPU their QR would take most of a step, one matrix after another.
_SOAP = SOAP(1e-3, 0.9, 5_000, 2_000, 100_000, orthonormalisation="cholesky")
_ADAM = Adam(1e-3, 0.9, 5_000, 2_000, 100_000)


def _first_order(problem: Problem, recipe: Recipe) -> Recipe:
    """What all baselines share: single precision, uniform points, conditions weighed alike."""
    counts = recipes_for(problem).get("paper", recipe)
    return TUNED.replace(
        optimizer=Adam(),
        points=counts.points,
        validation=counts.validation,
        sampler=Uniform(),
        redraw=Redraw(5.0),
        precision="float32",
        keep="last",
    )


def pinn(problem: Problem, recipe: Recipe) -> Recipe:
    iterations = settings_for(problem).pinn_iterations
    return _first_order(problem, recipe).replace(
        field=SpaceTime(MLP((320,) * 4)),
        optimizer=Adam(1e-3, 0.9, 10_000, iterations / 50, iterations),
        windows=recipe.windows,
        stop=Stop(iterations=iterations),
    )


def spinn(problem: Problem, recipe: Recipe) -> Recipe:
    return _on_grids(problem, recipe, 64).replace(
        field=_separable(64, 4),
        optimizer=Adam(1e-3, 1.0, 0, 1),
        stop=Stop(iterations=50_000),
    )


def copinn(problem: Problem, recipe: Recipe) -> Recipe:
    settings = settings_for(problem)
    iterations = settings.copinn_iterations
    return _on_grids(problem, recipe, 256).replace(
        field=_separable(settings.copinn_width, 5),
        optimizer=Adam(1e-3, 0.9, 10_000, iterations / 50, iterations),
        emphasis=Difficulty(settings.difficulty),
        stop=Stop(iterations=iterations),
    )


def _separable(width: int, layers: int) -> SeparableField:
    network = ModifiedMLP((width,) * layers, first="layer", output_bias=True)
    return SeparableField(network, rank=32)


def _on_grids(problem: Problem, recipe: Recipe, per_axis: int) -> Recipe:
    """Fresh axes every 100 iterations; the mean squares of the faces are added up."""
    faces = len(problem.domain.faces) if isinstance(problem.domain, Box) else 1
    weighed = {c.name for c in problem.all_conditions()} & {"boundary"}
    return _first_order(problem, recipe).replace(
        sampler=TensorGrid(per_axis),
        redraw=Redraw(None, every=100),
        weights={name: sqrt(faces) for name in weighed},
        validate=LOOKS,
    )


def _piratenet(optimizer: SOAP | Adam) -> Change:
    def change(problem: Problem, recipe: Recipe) -> Recipe:
        settings = settings_for(problem)
        network = PirateNet(settings.piratenet_width, 3, factorised=True, output_bias=True)
        return _causal(problem, recipe, renewal=1000).replace(
            field=SpaceTime(network, fourier=FourierFeatures(256, settings.frequency)),
            optimizer=optimizer,
            stop=Stop(iterations=100_000),
        )

    return change


def tinn_large(problem: Problem, recipe: Recipe) -> Recipe:
    settings = settings_for(problem)
    features = FourierFeatures(settings.large_features, settings.frequency)
    hidden = MLP(settings.large_hidden)
    in_time = features if len(problem.domain.space) > 1 else None
    iterations = settings.large_iterations
    return _causal(problem, recipe, renewal=1500).replace(
        field=TimeInduced(hidden, Layerwise(hidden), fourier=features, fourier_time=in_time),
        optimizer=Adam(1e-3, 0.9, 10_000, 2_000, iterations),
        stop=Stop(iterations=iterations),
    )


def _causal(problem: Problem, recipe: Recipe, renewal: int) -> Recipe:
    """A fresh batch at every step, early times first, gradients of conditions equally long."""
    settings = settings_for(problem)
    return _first_order(problem, recipe).replace(
        points=settings.piratenet_points,
        redraw=Redraw(None, every=1),
        emphasis=Causal(settings.tolerance, settings.chunks),
        balance=GradientNorms(renewal),
        fit_initial_layer=True,
        validate=LOOKS,
    )


def _same_strategy(field: Field, on_grids: bool = False) -> Change:
    """Adam, one schedule for all; the paper prints neither it nor the iterations."""

    def change(problem: Problem, recipe: Recipe) -> Recipe:
        settings = settings_for(problem)
        common = _on_grids(problem, recipe, settings.plain_per_axis) if on_grids else None
        return (common or _first_order(problem, recipe)).replace(
            field=_at_frequency(field, settings.frequency),
            optimizer=Adam(1e-3, 0.9, 5_000, SAME_ITERATIONS / 50, SAME_ITERATIONS),
            stop=Stop(iterations=SAME_ITERATIONS),
        )

    return change


def _at_frequency(field: Field, frequency: float) -> Field:
    """The same field, with fixed Fourier features of a frequency where it can have them."""
    features = FourierFeatures(256, frequency, trained=False)
    if isinstance(field, SpaceTime):
        return SpaceTime(field.network, fourier=features)
    if isinstance(field, TimeInduced):
        return TimeInduced(field.backbone, field.trajectory, fourier=features)
    return field


BASELINES: dict[str, Method] = {
    "pinn": Method("plain network of four layers of 320, Adam", pinn),
    "spinn": Method("separable network on tensor grids, Adam", spinn),
    "copinn": Method("CoPINN*: separable network, easy points first, Adam", copinn),
    "piratenet": Method("PirateNet, causal weights, SOAP", _piratenet(_SOAP)),
    "piratenet-adam": Method("PirateNet, causal weights, Adam", _piratenet(_ADAM)),
    "tinn-large": Method("large time-induced network, causal weights, Adam", tinn_large),
    "mlp-fourier": Method(
        "same strategy: network of Fourier features, Adam",
        _same_strategy(SpaceTime(MLP((305,) * 6))),
    ),
    "spinn-plain": Method(
        "same strategy: separable network, Adam",
        _same_strategy(
            SeparableField(MLP((195,) * 5, output_bias=True), rank=128, split_periodic=True),
            on_grids=True,
        ),
    ),
    "piratenet-plain": Method(
        "same strategy: PirateNet, Adam", _same_strategy(SpaceTime(PirateNet(200, 3)))
    ),
    "tinn-fourier": Method(
        "same strategy: time-induced network of Fourier features, Adam",
        _same_strategy(TimeInduced(MLP((100,) * 5), Layerwise(MLP((100, 100))))),
    ),
}
