"""Quantities derived from the unknowns, such as a vorticity: traced once, then evaluated."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.compilation import jitted
from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Coordinates, MultiIndex
from tinns.nn import Field, Formula
from tinns.objective import Psi
from tinns.objective.evaluation import as_numbers, describing_errors, evaluate_at
from tinns.problem.base import Problem
from tinns.problem.jets import Jet, Numbers, Recorder
from tinns.problem.reference import Reference


def quantity_shapes(problem: Problem) -> dict[str, tuple[int, ...]]:
    """The quantities that a problem defines: () for a number at a point, (3,) for three of them."""
    return _trace(problem)[1]


@partial(jitted, static_argnums=(0, 1))
def evaluate_quantities(
    problem: Problem, field: Field, psi: Psi, points: Coordinates
) -> dict[str, Array]:
    """All quantities at many points, each of shape (points, numbers at a point)."""
    indices, _ = _trace(problem)
    posed = problem.with_coefficients(psi["coefficients"])
    evaluate = evaluate_at(problem, field, psi, indices)

    def at(point: Coordinates) -> dict[str, Array]:
        values = _named_values(posed, evaluate(Batch(point)), point)
        return {name: jnp.stack(as_numbers(name, value)) for name, value in values.items()}

    return jax.vmap(at)(points)


def reference_field(problem: Problem, reference: Reference) -> Formula | None:
    """The reference as a field, or None where it does not give all unknowns."""
    middle = {axis: sum(problem.domain.interval(axis)) / 2 for axis in problem.domain.axes}
    value = jax.eval_shape(lambda point: jnp.asarray(reference.formula(**point)), middle)
    return Formula(reference.formula) if value.size == len(problem.unknowns) else None


def _trace(problem: Problem) -> tuple[set[MultiIndex], dict[str, tuple[int, ...]]]:
    """The derivatives that the quantities need, and the shape of each at one point."""
    if type(problem).quantities is Problem.quantities:
        return set(), {}
    problem.check_arguments(problem.quantities, f"{type(problem).__name__}.quantities")
    recorder = Recorder(problem.domain, problem.unknowns)
    posed = problem.with_coefficients({name: jnp.zeros(()) for name in problem.trainable})
    corner = {axis: jnp.asarray(problem.domain.interval(axis)[0]) for axis in problem.domain.axes}
    shapes: dict[str, tuple[int, ...]] = {}

    def note(point: Coordinates) -> dict[str, list[Array]]:
        values = _named_values(posed, recorder.jets(), point)
        for name, value in values.items():
            shapes[name] = (len(value),) if isinstance(value, tuple | list) else ()
        return {name: as_numbers(name, value) for name, value in values.items()}

    with describing_errors(problem, "quantities"):
        traced = jax.eval_shape(note, corner)
    for name, numbers in traced.items():
        if not numbers or any(number.shape != () for number in numbers):
            raise UserError(
                f"{problem.name}: quantity '{name}' has parts of shapes "
                f"{[number.shape for number in numbers]}; expected a number at one point, or a "
                "tuple of numbers"
            )
    return recorder.indices, shapes


def _named_values(problem: Problem, jets: list[Jet], point: Coordinates) -> dict[str, Numbers]:
    values = problem.quantities(*jets, *(point[axis] for axis in problem.domain.axes))
    if not isinstance(values, dict) or any(not isinstance(name, str) for name in values):
        raise UserError(
            f"{type(problem).__name__}.quantities returned {type(values).__name__}; expected a "
            'dict by name, such as {"slope": u.x}'
        )
    return values
