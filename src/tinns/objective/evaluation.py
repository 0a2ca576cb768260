"""Conditions at one point: which derivatives they use, and what they evaluate to."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Counts, Domain, MultiIndex, Region
from tinns.nn import Field
from tinns.nn.windowed import in_window
from tinns.objective.blocks import Psi
from tinns.problem.base import Condition, Evaluate, Problem
from tinns.problem.jets import Jet, Numbers, Recorder, jets_of


def evaluate_at(
    problem: Problem,
    field: Field,
    psi: Psi,
    indices: set[MultiIndex],
    domain: Domain | None = None,
) -> Evaluate:
    """point -> the jets of all unknowns, with the derivatives in `indices`.

    `domain` is what the field is defined on, by default that of the problem.
    """
    domain, unknowns = domain or problem.domain, problem.unknowns

    def evaluate(point: Batch) -> list[Jet]:
        span = point.window
        own = field if span is None else in_window(field, span.start, span.length)
        values = own.derivatives(psi["field"], domain, len(unknowns), point.coordinates, indices)
        return jets_of(values, domain, unknowns)

    return evaluate


def traced(
    problem: Problem, region: Region, group: list[Condition]
) -> tuple[set[MultiIndex], list[int]]:
    """Run each residual once on recording jets: the derivatives used, and the rows of each."""
    recorder = Recorder(problem.domain, problem.unknowns)
    posed = problem.with_coefficients({name: jnp.zeros(()) for name in problem.trainable})
    example = region.draw(jax.random.key(0), problem.domain, Counts(2, 2, 2), _first_corner)
    point = jax.tree.map(lambda column: column[0], example)
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
    problem: Problem, condition: Condition, posed: Problem, recorder: Recorder, point: Batch
) -> list[jax.ShapeDtypeStruct]:
    """The shapes of a condition's residuals."""
    with describing_errors(problem, condition.name):
        return jax.eval_shape(
            lambda p: as_numbers(
                condition.name, condition.residual(posed, lambda _: recorder.jets(), p)
            ),
            point,
        )


@contextmanager
def describing_errors(problem: Problem, name: str) -> Iterator[None]:
    """Report any error in the code of a user's function in one line."""
    try:
        yield
    except UserError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        cause = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"{problem.name}: '{name}' cannot be evaluated ({cause}); it must return "
            "numbers, use jnp (not np or if) on coordinates and unknowns, and coefficients must be "
            "annotated (k: float = 0.1)"
        ) from error


def _first_corner(key: Array, count: int, dimension: int) -> Array:
    return jnp.zeros((count, dimension))


def as_numbers(name: str, residual: Numbers) -> list[Array]:
    """What a user's function returned at one point, as a list."""
    values = residual if isinstance(residual, tuple | list) else [residual]
    if any(v is None for v in values):
        raise UserError(f"'{name}' returned None at a point; did its equation forget to return?")
    return [v.value if isinstance(v, Jet) else jnp.asarray(v) for v in values]
