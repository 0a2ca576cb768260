"""Conditions at the initial time, on the boundary, and at both ends of an axis."""

import inspect
from collections.abc import Callable, Mapping
from typing import Literal

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from tinns._runtime.errors import UserError, unknown_name
from tinns.geometry import TIME, Batch, Boundary, Coordinates, Domain, Initial, LowerFace, Region
from tinns.problem.base import Condition, Evaluate, Prescribed, Problem
from tinns.problem.jets import Jet, Numbers

Values = ArrayLike | tuple[ArrayLike, ...] | list[ArrayLike]  # of one unknown, or of each
Value = float | Callable[..., Values]


def initial(
    value: Value,
    of: str | None = None,
    weight: float = 1.0,
    within: Mapping[str, tuple[float, float]] | None = None,
) -> Condition:
    """u = value at the initial time. `value` is a number or a function of coordinates by name.

    `within={"x": (0.1, 1)}` restricts it to a part of space, such as away from a singularity.
    """
    if within is not None and (not isinstance(within, Mapping) or TIME in within):
        raise UserError(
            f"initial: within={within!r}; expected intervals of axes of space, such as "
            '{"x": (0.1, 1)}'
        )
    region = Initial(tuple((within or {}).items()))
    return _prescribed("initial", region, value, of, weight, lambda u, _: u.value, "value")


def initial_velocity(value: Value, of: str | None = None, weight: float = 1.0) -> Condition:
    """u_t = value at the initial time."""
    return _prescribed(
        "initial_velocity", Initial(), value, of, weight, lambda u, _: u.t, "velocity"
    )


def dirichlet(
    value: Value, on: str | tuple[str, ...] = (), of: str | None = None, weight: float = 1.0
) -> Condition:
    """u = value on the boundary, or on the faces named in `on`, such as "x-" or ("x-", "y+")."""
    return _prescribed(
        "boundary", Boundary(_names(on)), value, of, weight, lambda u, _: u.value, "value"
    )


def neumann(
    value: Value, on: str | tuple[str, ...] = (), of: str | None = None, weight: float = 1.0
) -> Condition:
    """∂u/∂n = value on the boundary, or on the faces named in `on`; n points outwards."""

    def outward(u: Jet, point: Batch) -> Array:
        normals = point.normals or {}
        return sum((n * getattr(u, axis) for axis, n in normals.items()), start=jnp.zeros(()))

    return _prescribed("neumann", Boundary(_names(on)), value, of, weight, outward)


def at_start(
    function: Callable[..., Numbers], weight: float = 1.0, name: str = "at_start"
) -> Condition:
    """function(u, ..., x, ..., t) = 0 at the initial time.

    The function takes jets and coordinates as `equation` does; it returns one or more residuals.
    """
    return _vanishing(name, Initial(), function, weight)


def on_boundary(
    function: Callable[..., Numbers],
    on: str | tuple[str, ...] = (),
    weight: float = 1.0,
    name: str = "on_boundary",
) -> Condition:
    """function(u, ..., x, ..., t) = 0 on the boundary, or on the faces named in `on`.

    The function takes jets and coordinates as `equation` does; it returns one or more residuals.
    """
    return _vanishing(name, Boundary(_names(on)), function, weight)


def periodic(axis: str, derivatives: int = 1, weight: float = 1.0) -> Condition:
    """u and its first `derivatives` along `axis` agree at both ends, in the least-squares sense.

    `Box(..., periodic=axis)` builds this into the network exactly, and is preferable.
    """

    def residual(problem: Problem, evaluate: Evaluate, point: Batch) -> list[Array]:
        lower = evaluate(point)
        upper = evaluate(point.at(**{axis: jnp.asarray(problem.domain.interval(axis)[1])}))
        rows = []
        for u, v in zip(lower, upper, strict=True):
            rows.append(u.value - v.value)
            rows += [getattr(u, axis * n) - getattr(v, axis * n) for n in range(1, derivatives + 1)]
        return rows

    return Condition("periodic", LowerFace(axis), residual, weight)


def _vanishing(
    name: str, region: Region, function: Callable[..., Numbers], weight: float
) -> Condition:
    """function(jets, coordinates) = 0 on a region."""
    if not callable(function):
        raise UserError(
            f"{name}: {function!r} is not a function; expected one of unknowns and coordinates "
            "that returns what must vanish, such as lambda u, x, t: u.x - u"
        )

    def residual(problem: Problem, evaluate: Evaluate, point: Batch) -> Numbers:
        problem.check_arguments(function, f"{name}: the given function")
        return function(*evaluate(point), *(point[axis] for axis in problem.domain.axes))

    return Condition(name, region, residual, weight)


def _prescribed(
    name: str,
    region: Region,
    value: Value,
    of: str | None,
    weight: float,
    observe: Callable[[Jet, Batch], Array],
    kind: Literal["value", "velocity"] | None = None,
) -> Condition:
    """observe(u) = value for one unknown or for all of them."""

    def targets(problem: Problem, point: Coordinates | Batch) -> dict[int, ArrayLike]:
        if of is not None and of not in problem.unknowns:
            raise unknown_name("function", of, problem.unknowns)
        chosen = [n for n, unknown in enumerate(problem.unknowns) if of in (None, unknown)]
        values = _values(name, value, problem.domain, point, len(chosen))
        return dict(zip(chosen, values, strict=True))

    def residual(problem: Problem, evaluate: Evaluate, point: Batch) -> list[Array]:
        jets = evaluate(point)
        return [observe(jets[n], point) - v for n, v in targets(problem, point).items()]

    return Condition(name, region, residual, weight, Prescribed(kind, targets) if kind else None)


def _values(
    name: str, value: Value, domain: Domain, point: Coordinates | Batch, count: int
) -> list[ArrayLike]:
    """The prescribed values at a point, one for each unknown in the condition."""
    if callable(value):
        wanted = _coordinates_of(value, domain)
        for axis in wanted:
            if axis not in domain.axes:
                raise UserError(
                    f"{name}: the given function takes '{axis}', which is not an axis of the "
                    f"domain ({', '.join(domain.axes)})"
                )
        given: Values = value(*(point[axis] for axis in wanted))
    else:
        given = value
    values = list(given) if isinstance(given, tuple | list) else [given] * count
    if len(values) != count:
        raise UserError(f"{name}: got {len(values)} values for {count} unknown functions")
    return values


def _coordinates_of(value: Callable[..., object], domain: Domain) -> list[str]:
    """The leading arguments of a function, up to the first other one that has a default."""
    wanted = []
    for name, parameter in inspect.signature(value).parameters.items():
        if name not in domain.axes and parameter.default is not inspect.Parameter.empty:
            break
        wanted.append(name)
    return wanted


def _names(on: str | tuple[str, ...]) -> tuple[str, ...]:
    return (on,) if isinstance(on, str) else tuple(on)
