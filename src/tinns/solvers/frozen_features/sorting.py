"""What space-time separation reads from a problem: its order in time, its start, its boundary."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import (
    Batch,
    Boundary,
    Coordinates,
    Counts,
    Domain,
    Initial,
    LowerFace,
    MultiIndex,
    QuasiRandom,
)
from tinns.objective.evaluation import as_numbers, traced
from tinns.problem.base import Condition, Evaluate, Problem

METHOD = "space-time separation"


@dataclass(frozen=True)
class Posed:
    """A problem sorted: the equation, what is given at the start, and what holds on the faces."""

    problem: Problem
    equation: Condition
    indices: tuple[MultiIndex, ...]  # the derivatives that the equation uses
    order: int  # in time, 1 or 2
    starts: tuple[Condition, ...]
    faces: tuple[Condition, ...]

    def initial(self, velocity: bool = False) -> Callable[[Coordinates], Array]:
        """u, or u_t, of every unknown at a point of the initial slice."""
        kind = "velocity" if velocity else "value"

        def at(point: Coordinates) -> Array:
            given = {}
            for condition in self.starts:
                if condition.prescribes is not None and condition.prescribes.kind == kind:
                    given |= condition.prescribes.targets(self.problem, point)
            return jnp.stack([jnp.asarray(given[n], float) for n in sorted(given)])

        return at


def sorted_conditions(problem: Problem) -> Posed:
    """The problem's parts, or an error that names what the method cannot handle."""
    if problem.trainable:
        raise UserError(
            f"{METHOD} cannot estimate coefficients: {', '.join(problem.trainable)} of "
            f"{problem.name} is Trainable; give a number, or choose another method"
        )
    equation, *others = problem.all_conditions()
    starts = [c for c in others if isinstance(c.region, Initial) and c.prescribes]
    faces = [c for c in others if isinstance(c.region, Boundary | LowerFace)]
    strange = [c.name for c in others if c not in starts and c not in faces]
    if strange:
        raise UserError(
            f"{METHOD} cannot handle the condition '{strange[0]}' of {problem.name}; it takes "
            "initial values and velocities, and linear conditions on faces. Choose another method"
        )
    indices = tuple(sorted(derivatives_of(problem, equation)))
    order = max(k[-1] for k in indices)
    _check_order(problem, indices, order)
    posed = Posed(problem, equation, indices, order, tuple(starts), tuple(faces))
    _check_starts(posed)
    for condition in faces:
        if any(k[-1] for k in derivatives_of(problem, condition)):
            raise UserError(
                f"{METHOD} cannot handle '{condition.name}' of {problem.name}, which has a "
                "derivative in time on a face; choose another method"
            )
    return posed


def derivatives_of(problem: Problem, condition: Condition) -> set[MultiIndex]:
    """The derivatives that a condition asks for."""
    return traced(problem, condition.region, [condition])[0]


def face_points(domain: Domain, condition: Condition, count: int, key: Array) -> Batch:
    """Points of a condition, `count` over all faces; an interval has its two ends."""
    total = count if len(domain.space) > 1 else 2
    counts, sampler = Counts(0, 0, total), QuasiRandom()
    return jax.jit(lambda key: condition.region.draw(key, domain, counts, sampler))(key)


def _check_order(problem: Problem, indices: tuple[MultiIndex, ...], order: int) -> None:
    axes = problem.domain.axes
    if order not in (1, 2):
        raise UserError(
            f"{METHOD} needs an equation of first or second order in time; that of {problem.name} "
            f"is of order {order}. Choose another method"
        )
    for k in indices:
        if k[-1] == order and any(k[:-1]):
            name = "".join(axis * n for axis, n in zip(axes, k, strict=True))
            raise UserError(
                f"{METHOD} cannot solve for the highest derivative in time of {problem.name}, "
                f"because it also appears as u.{name}; choose another method"
            )


def _check_starts(posed: Posed) -> None:
    problem = posed.problem
    middle = {a: jnp.asarray(sum(problem.domain.interval(a)) / 2) for a in problem.domain.axes}
    for velocity in range(posed.order):
        kind = ("value", "velocity")[velocity]
        given = {
            n
            for c in posed.starts
            if c.prescribes and c.prescribes.kind == kind
            for n in c.prescribes.targets(problem, middle)
        }
        missing = [u for n, u in enumerate(problem.unknowns) if n not in given]
        if missing:
            name = ("initial", "initial_velocity")[velocity]
            raise UserError(
                f"{METHOD} needs the {name.replace('_', ' ')} of {missing[0]} in {problem.name}: "
                f"add {name}(...) to its conditions"
            )


def residuals(condition: Condition, problem: Problem, evaluate: Evaluate, point: Batch) -> Array:
    """What must vanish at a point, as one vector."""
    return jnp.stack(as_numbers(condition.name, condition.residual(problem, evaluate, point)))
