"""Conditions at one point: which derivatives they use, what they evaluate to, faults told."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from tinns.errors import UserError
from tinns.fields.field import Field
from tinns.fields.jets import Jet, Recorder, jets_of
from tinns.fields.series import MultiIndex
from tinns.fields.windowed import derivatives_in_window
from tinns.problem import Condition, Evaluate, Problem
from tinns.sampling import Counts, Points, Region

Psi = dict[str, Any]

# Columns of points in a time window: where it begins and how long it is.
START, LENGTH = "start of window", "length of window"


def evaluate_at(problem: Problem, field: Field, psi: Psi, indices: set[MultiIndex]) -> Evaluate:
    """point -> the jets of all unknowns, with the derivatives in `indices`."""
    domain, unknowns = problem.domain, problem.unknowns

    def evaluate(point: Points) -> list[Jet]:
        coordinates = {axis: point[axis] for axis in domain.axes}
        common = (psi["field"], domain, len(unknowns), coordinates, indices)
        if START in point:
            values = derivatives_in_window(field, *common, point[START], point[LENGTH])
        else:
            values = field.derivatives(*common)
        return jets_of(values, domain, unknowns)

    return evaluate


def traced(
    problem: Problem, region: Region, group: list[Condition]
) -> tuple[set[MultiIndex], list[int]]:
    """Run each residual once on recording jets: the derivatives used, the rows each gives."""
    recorder = Recorder(problem.domain, problem.unknowns)
    posed = problem.with_coefficients({name: jnp.zeros(()) for name in problem.sought})
    example = region.draw(jax.random.key(0), problem.domain, Counts(2, 2, 2), _first_corner)
    point = {name: column[0] for name, column in example.items()}
    counts = []
    for condition in group:
        shapes = _shapes(problem, condition, posed, recorder, point)
        for shape in shapes:
            if shape.shape != ():
                raise UserError(
                    f"{problem.name}: a residual of '{condition.name}' has shape {shape.shape}; "
                    "expected one number per residual at one point"
                )
        counts.append(len(shapes))
    return recorder.indices, counts


def _shapes(
    problem: Problem, condition: Condition, posed: Problem, recorder: Recorder, point: Points
) -> list[Any]:
    """The shapes of a condition's residuals."""
    with faults_told(problem, condition.name):
        return jax.eval_shape(
            lambda p: as_numbers(
                condition.name, condition.residual(posed, lambda _: recorder.jets(), p)
            ),
            point,
        )


@contextmanager
def faults_told(problem: Problem, name: str) -> Iterator[None]:
    """Any fault in the code of a user's function is told in one line."""
    try:
        yield
    except UserError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        told = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"{problem.name}: '{name}' cannot be evaluated ({told}); it must return "
            "numbers, use jnp (not np or if) on coordinates and unknowns, and coefficients must be "
            "annotated (k: float = 0.1)"
        ) from error


def _first_corner(key: Array, count: int, dimension: int) -> Array:
    return jnp.zeros((count, dimension))


def as_numbers(name: str, residual: Any) -> list[Any]:
    """What a user's function returned at one point, as a list."""
    values = residual if isinstance(residual, tuple | list) else [residual]
    if any(v is None for v in values):
        raise UserError(f"'{name}' returned None at a point; did its equation forget to return?")
    return [v.value if isinstance(v, Jet) else jnp.asarray(v) for v in values]
