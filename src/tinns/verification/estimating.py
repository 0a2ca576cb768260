"""The error of a solution: by a classical solution where there is one, else from the network."""

from dataclasses import replace

from tinns.nn import Field
from tinns.objective import Psi, Scales
from tinns.problem import Problem
from tinns.verification.classical import NotApplicable, classical_estimate
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.from_network import network_estimate


def estimate_error(
    problem: Problem,
    field: Field,
    psi: Psi,
    *,
    scales: Scales | None = None,
    dimensions: int = 1,
    budget: float = 5.0,
    seed: int = 0,
) -> ErrorEstimate:
    """The error of a field with parameters ψ, without a reference, in about `budget` seconds.

    Problems of up to `dimensions` space dimensions are solved once more by spectral collocation, if
    they have the form that it needs; the estimate of others comes from the network alone. Raises
    `Breakdown` where the problem is ill-posed or has no solution until its end.
    """
    try:
        return classical_estimate(problem, field, psi, budget=budget, dimensions=dimensions)
    except NotApplicable as lack:
        found = network_estimate(problem, field, psi, scales=scales, budget=budget, seed=seed)
        return replace(found, how=f"{found.how}; no classical solution: {lack}")
