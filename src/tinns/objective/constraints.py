"""Conditions built into a field: chosen by name, found to agree, then met for every ψ."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.errors import UserError, unknown_name
from tinns.geometry import (
    TIME,
    Boundary,
    Box,
    Coordinates,
    Counts,
    Domain,
    Face,
    Initial,
    Interior,
    QuasiRandom,
)
from tinns.nn import Constrained, Field
from tinns.nn.constrained import Exact, Point, Prescription
from tinns.problem.base import Condition, Problem

AGREEMENT = 1e-9  # how near prescribed values must be where they meet, relative to their size
MEETING_POINTS = 5


@dataclass(frozen=True)
class _Given:
    """One output's u, or its velocity u_t, prescribed at the initial time or on one face."""

    name: str
    output: int
    is_velocity: bool
    face: Face | None  # None: the initial time
    function: Prescription

    @property
    def axis(self) -> str:
        """The axis along which it fixes the place."""
        return self.face.axis if self.face else TIME

    def moved_there(self, domain: Domain, points: Coordinates) -> Coordinates:
        value = self.face.value if self.face else domain.start
        return points | {self.axis: jnp.full_like(points[self.axis], value)}

    def values(self, points: Coordinates, velocity: bool) -> np.ndarray:
        """u, or u_t, as this prescribes it at many points."""
        along_time = velocity and not self.is_velocity
        return np.asarray(jax.vmap(_rate(self.function) if along_time else self.function)(points))


_Meeting = tuple[
    _Given, Coordinates, _Given, Coordinates
]  # what must agree, each with its own points


def constrained(problem: Problem, field: Field, hard: tuple[str, ...]) -> Field:
    """The field changed so that it meets the conditions named in `hard` for every ψ."""
    if not hard:
        return field
    given = [g for c in conditions_to_build_in(problem, hard) for g in _given(problem, c)]
    by_unknown = {
        unknown: [g for g in given if g.output == output]
        for output, unknown in enumerate(problem.unknowns)
    }
    exact = tuple(_exact(unknown, own) for unknown, own in by_unknown.items())
    with jax.enable_x64(True):  # whatever the precision of the run, data are judged by one measure
        for unknown, own in by_unknown.items():
            _check(problem.domain, unknown, own)
    return Constrained(field, exact, hard)


def can_be_built_in(problem: Problem, field: Field, names: tuple[str, ...]) -> bool:
    """Whether `constrained` accepts these conditions."""
    try:
        constrained(problem, field, names)
    except UserError:
        return False
    return True


def conditions_to_build_in(problem: Problem, hard: tuple[str, ...]) -> list[Condition]:
    """The conditions of these names, all of which must prescribe u or u_t."""
    conditions = problem.all_conditions()
    possible = dict.fromkeys(c.name for c in conditions if c.prescribes)
    for name in hard:
        same = [c for c in conditions if c.name == name]
        if not same:
            raise unknown_name("condition to build in", name, possible)
        if any(isinstance(c.region, Initial) and c.region.within for c in same):
            raise UserError(
                f"hard: '{name}' of {problem.name} is demanded on a part of space only, and cannot "
                f"be built in; leave '{name}' out of hard"
            )
        if any(c.prescribes is None for c in same):
            raise UserError(
                f"hard: '{name}' cannot be built in; of the conditions of {problem.name} "
                f"{', '.join(possible) or 'none'} can. Leave '{name}' out of hard"
            )
    return [c for c in conditions if c.name in hard]


def _given(problem: Problem, condition: Condition) -> list[_Given]:
    """One entry for each output that a condition speaks of, on each face."""
    prescribed, region, domain = condition.prescribes, condition.region, problem.domain
    assert prescribed is not None

    def function_of(output: int) -> Prescription:
        return lambda point: jnp.asarray(prescribed.targets(problem, point)[output], float)

    middle = {axis: jnp.asarray(sum(domain.interval(axis)) / 2) for axis in domain.axes}
    return [
        _Given(condition.name, output, prescribed.kind == "velocity", face, function_of(output))
        for face in (_faces(domain, region) if isinstance(region, Boundary) else (None,))
        for output in prescribed.targets(problem, middle)
    ]


def _faces(domain: Domain, region: Boundary) -> tuple[Face, ...]:
    if not isinstance(domain, Box):
        raise UserError(
            f"hard: boundary values can be built in on a Box, whose faces are planes; got "
            f"{type(domain).__name__}: leave the boundary out of hard"
        )
    return domain.on(region.faces)


def _exact(unknown: str, given: list[_Given]) -> Exact:
    """What one output meets; what is said twice is taken once."""
    initial = next((g.function for g in given if g.face is None and not g.is_velocity), None)
    velocity = next((g.function for g in given if g.is_velocity), None)
    if velocity is not None and initial is None:
        raise UserError(
            f"hard: 'initial_velocity' of {unknown} can only be built in together with its initial "
            "value; add 'initial' to hard, or leave 'initial_velocity' out"
        )
    return Exact(initial, velocity, tuple({g.face: g.function for g in given if g.face}.items()))


def _check(domain: Domain, unknown: str, given: list[_Given]) -> None:
    """What is prescribed for one output agrees wherever two places, or two periodic ends, meet."""
    batch = Interior().draw(jax.random.key(0), domain, Counts(MEETING_POINTS), QuasiRandom())
    points = batch.coordinates
    apart = [g.values(g.moved_there(domain, points), g.is_velocity) for g in given]
    size = max((np.abs(values).max() for values in apart), default=0.0)
    for first, here, second, there in (
        *_crossings(domain, given, points),
        *_seams(domain, given, points),
    ):
        velocity = first.is_velocity or second.is_velocity
        symbol = f"{unknown}_t" if velocity else unknown
        one, two = first.values(here, velocity), second.values(there, velocity)
        worst = int(np.abs(one - two).argmax())
        if not abs(one[worst] - two[worst]) <= AGREEMENT * max(size, np.abs(one).max()):
            raise UserError(
                f"hard: '{first.name}' prescribes {symbol} = {one[worst]:.10g} at "
                f"{_told(here, worst)}, but '{second.name}' {symbol} = {two[worst]:.10g} at "
                f"{_told(there, worst)}; make them agree, or leave one out of hard"
            )


def _crossings(domain: Domain, given: list[_Given], points: Coordinates) -> Iterator[_Meeting]:
    """Points where two prescriptions hold at once: corners, edges, or the same place twice."""
    for first, second in combinations(given, 2):
        alike = (first.face, first.is_velocity) == (second.face, second.is_velocity)
        if alike or first.axis != second.axis:
            there = second.moved_there(domain, first.moved_there(domain, points))
            yield first, there, second, there


def _seams(domain: Domain, given: list[_Given], points: Coordinates) -> Iterator[_Meeting]:
    """Points at both ends of a periodic axis."""
    for prescription in given:
        here = prescription.moved_there(domain, points)
        for axis in domain.periodic:
            lower, upper = (
                here | {axis: jnp.full_like(here[axis], end)} for end in domain.interval(axis)
            )
            yield prescription, lower, prescription, upper


def _rate(function: Prescription) -> Prescription:
    """∂_t of a function of a point."""

    def rate(point: Point) -> Array:
        along = {axis: jnp.full_like(c, axis == TIME) for axis, c in point.items()}
        return jax.jvp(function, (point,), (along,))[1]

    return rate


def _told(points: Coordinates, number: int) -> str:
    return ", ".join(f"{axis} = {float(column[number]):g}" for axis, column in points.items())
