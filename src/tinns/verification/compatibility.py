"""Whether the conditions of a problem contradict each other, and where.

Where conditions meet, such as the initial value and the boundary values at a corner, no values and
derivatives of the unknowns may satisfy all of them. A condition is differentiated along the place
where it holds as far as the others contain such derivatives: u(x, 0) = f gives u_x = f', which a
Neumann condition may contradict. Higher derivatives that do not fit only make a solution less
smooth; they are not looked at.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from tinns._runtime.precision import computing_in
from tinns.objective.scales import Scales, find_scales, lengths_of
from tinns.problem.base import Problem
from tinns.verification.joint_rows import Conflict, JointRows
from tinns.verification.meetings import Meetings

TOLERANCE = 1e-3  # relative to the size of an unknown
ROUND_OFF = 1e-9  # of a value, relative to another


@dataclass(frozen=True)
class Contradiction:
    """Two conditions that give different values to a quantity at the same place.

    `gap` is the difference relative to the size of the unknown. Along a periodic axis the places
    are its two ends.
    """

    conditions: tuple[str, str]
    quantity: str
    values: tuple[float, float]
    places: tuple[Mapping[str, float], Mapping[str, float]]
    gap: float

    @property
    def sentence(self) -> str:
        (first, second), quantity = self.conditions, self.quantity
        least = ROUND_OFF * max(map(abs, self.values))
        one, two = (f"{value if abs(value) > least else 0:.4g}" for value in self.values)
        here, there = (", ".join(f"{a} = {v:.4g}" for a, v in p.items()) for p in self.places)
        start = f"the conditions contradict each other at {here}"
        if here == there:
            return f"{start}: '{first}' gives {quantity} = {one}, but '{second}' {quantity} = {two}"
        ends = f"{start} and {there}, which are one place"
        return f"{ends}: '{first}' gives {quantity} = {one} and {two}"


@dataclass(frozen=True)
class Compatibility:
    """The contradictions between the conditions of a problem, the largest first.

    `largest_gap` is also that of differences too small to be called contradictions.
    """

    contradictions: tuple[Contradiction, ...] = ()
    largest_gap: float = 0.0
    seconds: float = 0.0

    @property
    def compatible(self) -> bool:
        return not self.contradictions

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(each.sentence for each in self.contradictions)

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives the result back."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Compatibility":
        found = [
            Contradiction(
                tuple(c["conditions"]),
                c["quantity"],
                tuple(c["values"]),
                tuple(c["places"]),
                c["gap"],
            )
            for c in data["contradictions"]
        ]
        return cls(tuple(found), data["largest_gap"], data["seconds"])


def check_compatibility(
    problem: Problem, *, scales: Scales | None = None, tolerance: float = TOLERANCE
) -> Compatibility:
    """Whether conditions contradict each other by more than `tolerance`, relative to the unknowns.

    Observations are not compared: they may be noisy. Conditions that compare the unknowns at
    different points are, if they are `periodic`.
    """
    started = time.monotonic()
    with computing_in("float64"), jax.default_device(jax.devices("cpu")[0]):
        scales = scales or find_scales(problem)
        sizes = np.array(scales.sizes)
        problem = problem.with_coefficients(problem.trainable)
        lengths = lengths_of(problem.domain)
        found: dict[object, Contradiction] = {}
        for demands in Meetings(problem).demands():
            for conflict in JointRows(demands, lengths, sizes).conflicts():
                each = _contradiction(problem, conflict)
                key = (frozenset(each.conditions), each.quantity)
                if key not in found or found[key].gap < each.gap:
                    found[key] = each
    ordered = sorted(found.values(), key=lambda each: -each.gap)
    large = tuple(each for each in ordered if each.gap > tolerance)
    largest = max((each.gap for each in ordered), default=0.0)
    return Compatibility(large, largest, time.monotonic() - started)


def _contradiction(problem: Problem, conflict: Conflict) -> Contradiction:
    here, there = (
        {axis: float(demand.points[axis][conflict.point]) for axis in problem.domain.axes}
        for demand in conflict.demands
    )
    return Contradiction(
        conflict.names,
        _quantity(problem, conflict),
        conflict.values,
        (here, there),
        conflict.gap,
    )


def _quantity(problem: Problem, conflict: Conflict) -> str:
    """A sum of derivatives, such as `u_x + 2 u`; of unknowns at both ends of an axis, if it is."""
    several = len({place for _, place, _, _ in conflict.quantity}) > 1
    terms = []
    for coefficient, place, index, unknown in conflict.quantity:
        letters = "".join(a * n for a, n in zip(problem.domain.axes, index, strict=True))
        name = problem.unknowns[unknown] + (f"_{letters}" if letters else "")
        if several:
            name += f" (at the {'upper' if place else 'lower'} end)"
        size = "" if abs(abs(coefficient) - 1) < 1e-6 else f"{abs(coefficient):.4g} "
        terms += ["-" if coefficient < 0 else "+", size + name]
    return " ".join(terms).removeprefix("+ ")
