"""A check of a problem's reference before training, so that no run ends without its errors."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.errors import UserError
from tinns.problem.base import Problem
from tinns.problem.reference import Reference

POINTS = 300  # about how many points of the test grid are looked at


def check_reference(problem: Problem) -> None:
    """Refuse a reference of the wrong shape, or one that is not finite on the test grid.

    A reference gives all unknowns along the last axis, or as a plain number the first one alone.
    It is evaluated at a few hundred points of the test grid that lie in the domain, including the
    corners of the grid.
    """
    reference = problem.known_solution()
    if reference is None:
        return
    if not isinstance(reference, Reference):
        raise UserError(
            f"{problem.name}: reference() returned {reference!r}; expected "
            "tinns.exact(lambda x, t: ...) or another tinns.Reference, or None"
        )
    _check_formula(problem, reference)
    _check_values(problem, reference)


def _check_formula(problem: Problem, reference: Reference) -> None:
    """What the formula returns at one point, which is traced but not computed."""
    middle = {axis: sum(problem.domain.interval(axis)) / 2 for axis in problem.domain.axes}
    signature = inspect.signature(reference.formula)
    try:
        signature.bind(**middle)
    except TypeError:
        raise UserError(
            f"{problem.name}: the reference takes ({', '.join(signature.parameters)}); expected "
            f"the axes of the domain, ({', '.join(middle)})"
        ) from None
    try:
        with jax.enable_x64(True):
            value = jax.eval_shape(lambda point: reference.formula(**point), middle)
    except UserError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        cause = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(
            f"{problem.name}: the reference cannot be evaluated ({cause}); it must return numbers "
            "and use jnp (not np or if) on coordinates"
        ) from error
    unknowns = problem.unknowns
    if not isinstance(value, jax.ShapeDtypeStruct):
        raise UserError(
            f"{problem.name}: the reference returns a {type(value).__name__}; expected an array, "
            f"{_expected(unknowns)}"
        )
    if value.shape not in _shapes(unknowns):
        raise UserError(
            f"{problem.name}: the reference has shape {value.shape} at one point; expected "
            f"{_expected(unknowns)}"
        )
    if jnp.issubdtype(value.dtype, jnp.complexfloating):
        raise UserError(
            f"{problem.name}: the reference is complex; expected real numbers, with real and "
            "imaginary part as two unknown functions"
        )


def _check_values(problem: Problem, reference: Reference) -> None:
    axes = _thinned(problem)
    values = np.asarray(reference.on_grid(**axes))
    sizes, unknowns = tuple(len(points) for points in axes.values()), problem.unknowns
    shapes = [(*sizes, *shape) for shape in _shapes(unknowns)]
    if values.shape not in shapes:
        raise UserError(
            f"{problem.name}: the reference has shape {values.shape} on a grid of "
            f"{' x '.join(map(str, sizes))} points ({', '.join(axes)}); expected "
            f"{' or '.join(map(str, shapes))}"
        )
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    points = dict(zip(axes, mesh, strict=True))
    inside = np.ones(sizes, bool) if problem.domain.periodic else problem.domain.contains(points)
    columns = values.reshape(*sizes, -1)
    wrong = ~np.isfinite(columns) & inside[..., None]
    if wrong.any():
        *place, number = (int(n) for n in np.argwhere(wrong)[0])
        at = ", ".join(f"{axis} = {column[tuple(place)]:g}" for axis, column in points.items())
        count, of = int(wrong.any(axis=-1).sum()), int(inside.sum())
        raise UserError(
            f"{problem.name}: the reference of {unknowns[number]} is "
            f"{columns[(*place, number)]} at {at} (not finite at {count} of {of} points of the "
            "test grid that were tried); expected finite numbers: correct the formula, or define "
            "test_grid(self) without such points"
        )


def _shapes(unknowns: tuple[str, ...]) -> list[tuple[int, ...]]:
    """What a reference may give at one point: the first unknown, or all of them."""
    return [(), (len(unknowns),)]


def _expected(unknowns: tuple[str, ...]) -> str:
    if len(unknowns) == 1:
        return f"one number for {unknowns[0]} at one point"
    names = ", ".join(unknowns)
    return (
        f"shape ({len(unknowns)},) at one point for {names}, as jnp.stack([...]) gives it, or one "
        f"number for {unknowns[0]} alone"
    )


def _thinned(problem: Problem) -> dict[str, np.ndarray]:
    """A few points of each axis of the test grid, always the first and the last."""
    grid, axes = problem.test_grid(), problem.domain.axes
    each = max(2, round(POINTS ** (1 / len(axes))))
    thinned = {}
    for axis in axes:
        given = grid.get(axis, problem.domain.interval(axis))
        points = np.atleast_1d(np.asarray(given, dtype=float))
        chosen = np.unique(np.linspace(0, len(points) - 1, each).round().astype(int))
        thinned[axis] = points[chosen]
    return thinned
