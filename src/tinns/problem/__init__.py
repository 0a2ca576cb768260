"""What a problem is: an equation on a domain, conditions, data, and what is known of u."""

from tinns.problem.base import Condition, Problem, Trainable, observed
from tinns.problem.conditions import (
    at_start,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    on_boundary,
    periodic,
)
from tinns.problem.observations import (
    read_observations,
    simulate_observations,
    write_observations,
)
from tinns.problem.reference import Reference, exact

__all__ = [
    "Condition",
    "Problem",
    "Reference",
    "Trainable",
    "at_start",
    "dirichlet",
    "exact",
    "initial",
    "initial_velocity",
    "neumann",
    "observed",
    "on_boundary",
    "periodic",
    "read_observations",
    "simulate_observations",
    "write_observations",
]
