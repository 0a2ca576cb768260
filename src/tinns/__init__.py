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
    Hypernetwork,
    Layerwise,
    Linear,
    OneNeuron,
    RandomFeatures,
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
from tinns.sampling import Counts, QuasiRandom, Uniform
from tinns.separation import Separation
from tinns.solution import Solution
from tinns.solve import solve
from tinns.storage import load
from tinns.strategies import Balance, Redraw
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
    "ColumnScaling",
    "Condition",
    "Counts",
    "Estimate",
    "Hypernetwork",
    "Layerwise",
    "LevenbergMarquardt",
    "Linear",
    "OneNeuron",
    "Problem",
    "QuasiRandom",
    "RandomFeatures",
    "Recipe",
    "Redraw",
    "Reference",
    "Schedule",
    "SelfScaledBroyden",
    "Separation",
    "Solution",
    "SpaceTime",
    "Stop",
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
