"""Time-dependent PDEs solved by time-induced neural networks, u(x, t) = u_θ(t)(x)."""

import warnings

from tinns import nn, optim, problems, recipes, solvers
from tinns._runtime.errors import UserError
from tinns._runtime.former_names import FORMER_NAMES
from tinns._runtime.version import __version__
from tinns._solve import solve
from tinns.geometry import Box, Counts, Domain, QuasiRandom, TensorGrid, Uniform
from tinns.nn import (
    MLP,
    FourierFeatures,
    Hypernetwork,
    Layerwise,
    Linear,
    ModifiedMLP,
    OneNeuron,
    PirateNet,
    RandomFeatures,
    ResNet,
    SeparableField,
    SeparableMLP,
    SpaceTime,
    TimeInduced,
    sine_induced,
)
from tinns.optim import (
    LBFGS,
    SOAP,
    AcceleratedLM,
    Adam,
    ColumnScaling,
    PaperDamping,
    PaperLM,
    Schedule,
    SelfScaledBroyden,
)
from tinns.problem import (
    Condition,
    Problem,
    Reference,
    Trainable,
    at_start,
    dirichlet,
    exact,
    initial,
    initial_velocity,
    neumann,
    observed,
    on_boundary,
    periodic,
    read_observations,
    simulate_observations,
    write_observations,
)
from tinns.recipes import Recipe
from tinns.solution import Estimate, Solution, load
from tinns.solvers import (
    Balance,
    Causal,
    Difficulty,
    FrozenFeatures,
    GradientNorms,
    Redraw,
    Renewal,
    Stop,
    StopReason,
    TangentKernel,
)
from tinns.verification import Check, ErrorEstimate, Verdict

__all__ = [
    "LBFGS",
    "MLP",
    "SOAP",
    "AcceleratedLM",
    "Adam",
    "Balance",
    "Box",
    "Causal",
    "Check",
    "ColumnScaling",
    "Condition",
    "Counts",
    "Difficulty",
    "Domain",
    "ErrorEstimate",
    "Estimate",
    "FourierFeatures",
    "FrozenFeatures",
    "GradientNorms",
    "Hypernetwork",
    "Layerwise",
    "Linear",
    "ModifiedMLP",
    "OneNeuron",
    "PaperDamping",
    "PaperLM",
    "PirateNet",
    "Problem",
    "QuasiRandom",
    "RandomFeatures",
    "Recipe",
    "Redraw",
    "Reference",
    "Renewal",
    "ResNet",
    "Schedule",
    "SelfScaledBroyden",
    "SeparableField",
    "SeparableMLP",
    "Solution",
    "SpaceTime",
    "Stop",
    "StopReason",
    "TangentKernel",
    "TensorGrid",
    "TimeInduced",
    "Trainable",
    "Uniform",
    "UserError",
    "Verdict",
    "__version__",
    "at_start",
    "dirichlet",
    "exact",
    "initial",
    "initial_velocity",
    "load",
    "neumann",
    "nn",
    "observed",
    "on_boundary",
    "optim",
    "periodic",
    "problems",
    "read_observations",
    "recipes",
    "simulate_observations",
    "sine_induced",
    "solve",
    "solvers",
    "write_observations",
]


def __getattr__(name: str) -> object:
    if name not in FORMER_NAMES:
        raise AttributeError(f"module 'tinns' has no attribute '{name}'")
    present = FORMER_NAMES[name]
    warnings.warn(f"tinns.{name} is now called tinns.{present}", DeprecationWarning, stacklevel=2)
    return globals()[present]


def _recipe(problem: Problem, name: str) -> Recipe:
    """The recipe of a problem called `name`."""
    warnings.warn(
        f"problem.recipe('{name}') is now called tinns.recipes.recipe_for(problem, '{name}')",
        DeprecationWarning,
        stacklevel=2,
    )
    return recipes.recipe_for(problem, name)


Problem.recipe = _recipe  # pyright: ignore[reportAttributeAccessIssue]
