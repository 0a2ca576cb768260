"""Time-dependent PDEs solved by time-induced neural networks, u(x, t) = u_θ(t)(x)."""

from tinns.conditions import (
    at_start,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    on_boundary,
    periodic,
)
from tinns.domain import Box
from tinns.errors import UserError
from tinns.fields import (
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
    Separable,
    SeparableSpace,
    SpaceTime,
    TimeInduced,
    sine_induced,
)
from tinns.least_squares import AcceleratedLM, Algorithm1, ColumnScaling, LevenbergMarquardt
from tinns.observations import read_observations, simulate_observations, write_observations
from tinns.optimizers import LBFGS, SOAP, Adam, Schedule, SelfScaledBroyden
from tinns.problem import Condition, Problem, Unknown, observed
from tinns.recipe import Recipe, Stop
from tinns.reference import Reference, exact
from tinns.sampling import Counts, QuasiRandom, TensorGrid, Uniform
from tinns.separation import Separation
from tinns.solution import Solution
from tinns.solve import solve
from tinns.storage import load
from tinns.strategies import (
    Balance,
    Causal,
    Difficulty,
    GradientNorms,
    Redraw,
    TangentKernel,
)
from tinns.uncertainty import Estimate
from tinns.version import __version__

__all__ = [
    "LBFGS",
    "MLP",
    "SOAP",
    "AcceleratedLM",
    "Adam",
    "Algorithm1",
    "Balance",
    "Box",
    "Causal",
    "ColumnScaling",
    "Condition",
    "Counts",
    "Difficulty",
    "Estimate",
    "FourierFeatures",
    "GradientNorms",
    "Hypernetwork",
    "Layerwise",
    "LevenbergMarquardt",
    "Linear",
    "ModifiedMLP",
    "OneNeuron",
    "PirateNet",
    "Problem",
    "QuasiRandom",
    "RandomFeatures",
    "Recipe",
    "Redraw",
    "Reference",
    "ResNet",
    "Schedule",
    "SelfScaledBroyden",
    "Separable",
    "SeparableSpace",
    "Separation",
    "Solution",
    "SpaceTime",
    "Stop",
    "TangentKernel",
    "TensorGrid",
    "TimeInduced",
    "Uniform",
    "Unknown",
    "UserError",
    "__version__",
    "at_start",
    "dirichlet",
    "exact",
    "initial",
    "initial_velocity",
    "load",
    "neumann",
    "observed",
    "on_boundary",
    "periodic",
    "read_observations",
    "simulate_observations",
    "sine_induced",
    "solve",
    "write_observations",
]
