"""A problem on frozen features becomes an ODE for their coefficients.

At every collocation point the equation, affine in its highest derivative in time, gives that
derivative, p = -M⁻¹ R. The coefficients' derivative is the least-squares fit of p by the features,
with a row for every condition on a face: h = 0 there becomes ḣ = -κ h (or ḧ = -2κ ḣ - κ² h), which
holds h at zero and brings it back.

With K = U S Vᵀ the weighted features and face rows, the state is a = S Vᵀ c: U has orthonormal
columns, so that a is as large as u, whatever the size of c.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.domain import TIME
from tinns.errors import UserError
from tinns.fields import RandomFeatures
from tinns.fields.jets import jets_of
from tinns.fields.random_features import constant_path
from tinns.fields.series import MultiIndex
from tinns.marching.collocation import Collocation
from tinns.marching.conditions import METHOD, Posed, face_points, residuals, traced
from tinns.problem import Condition, Evaluate
from tinns.residuals import evaluate_at
from tinns.sampling import Points
from tinns.separation import Separation

ROUND_OFF = 1e-8  # how far from affine a residual may seem, relative to its size

Data = dict[str, Any]  # the arrays that the rate works on, handed to compiled functions
Rate = Callable[[Array, Array, Data], Array]


@dataclass(frozen=True)
class Semidiscrete:
    """ẏ = rate(t, y, data) with y of shape (order, rank), from `start` at the initial time."""

    rate: Rate
    data: Data
    start: np.ndarray
    coefficients: np.ndarray  # c = coefficients @ a, of shape (width + 1, outputs, rank)


def semidiscrete(
    posed: Posed,
    field: RandomFeatures,
    settings: Separation,
    hidden: dict[str, Array],
    places: Collocation,
    key: Array,
) -> Semidiscrete:
    """The ODE of a problem, and where it starts."""
    domain, outputs = posed.problem.domain, len(posed.problem.unknowns)
    size = (field.width + 1) * outputs
    in_space = tuple(sorted({(*k[:-1], 0) for k in posed.indices}))
    tables = jax.jit(jax.vmap(lambda p: field.features(hidden, domain, p, in_space)))(places.points)
    phi = np.asarray(tables[in_space[0]])
    roots = np.sqrt(places.shares)[:, None]
    blocks = [np.kron(roots * phi, np.eye(outputs))]  # columns in the order (feature, output)
    faces = []
    for number, condition in enumerate(posed.faces):
        count = settings.boundary_points or field.width
        points = face_points(posed, condition, count, jax.random.fold_in(key, number))
        rows = _face_rows(posed, field, hidden, condition, points)
        weight = settings.boundary_weight / np.sqrt(len(points[TIME]))
        faces.append((condition, points, weight))
        blocks.append(weight * rows)
    stacked = np.concatenate(blocks)
    u, s, vt = np.linalg.svd(stacked, full_matrices=False)
    rank = int(np.count_nonzero(s > settings.cutoff * s[0]))
    u, back = u[:, :rank], (vt[:rank] / s[:rank, None]).T
    cube = back.reshape(field.width + 1, outputs, rank)
    data = {
        "tables": {k: jnp.einsum("mw,wor->mor", tables[k], cube) for k in in_space},
        "points": {axis: places.points[axis] for axis in domain.space},
        "roots": jnp.asarray(roots[:, 0]),
        "projection": jnp.asarray(u.T),
        "faces": [
            (points, jnp.asarray(rows))
            for (_, points, _), rows in zip(faces, (b @ back for b in blocks[1:]), strict=True)
        ],
    }
    assert size == stacked.shape[1]
    _check_affine(posed, places, key)
    conditions = [(condition, weight) for condition, _, weight in faces]
    rate = _rate(posed, conditions, settings)
    start = _start(posed, conditions, places, data)
    return Semidiscrete(rate, data, start, cube)


def _rate(posed: Posed, faces: list[tuple[Condition, float]], settings: Separation) -> Rate:
    domain, order = posed.problem.domain, posed.order
    duration = domain.interval(TIME)[1] - domain.start
    kappa = settings.relaxation / duration

    def rate(t: Array, y: Array, data: Data) -> Array:
        values = {
            k: data["tables"][(*k[:-1], 0)] @ y[k[-1]] for k in posed.indices if k[-1] < order
        }
        points = data["points"] | {TIME: jnp.full_like(data["roots"], t)}
        p = jax.vmap(lambda v, point: _highest(posed, v, point))(values, points)
        rows = [(data["roots"][:, None] * p).reshape(-1)]
        for (condition, weight), (places, matrix) in zip(faces, data["faces"], strict=True):
            h, h1, h2 = _given(posed, condition, places, t, order)
            held = matrix @ y[0] + weight * h
            if order == 1:
                rows.append(-weight * h1 - kappa * held)
            else:
                moved = matrix @ y[1] + weight * h1
                rows.append(-weight * h2 - 2 * kappa * moved - kappa**2 * held)
        top = data["projection"] @ jnp.concatenate(rows)
        return jnp.concatenate([y[1:], top[None]])

    return rate


def _start(
    posed: Posed, faces: list[tuple[Condition, float]], places: Collocation, data: Data
) -> np.ndarray:
    """The features' fit of the initial value (and velocity), with the face conditions at once."""
    outputs = len(posed.problem.unknowns)
    roots = np.asarray(data["roots"])[:, None]
    rows = []
    for n in range(posed.order):
        given = places.targets[:, n * outputs : (n + 1) * outputs]
        parts = [(roots * given).reshape(-1)]
        for (condition, weight), (points, _) in zip(faces, data["faces"], strict=True):
            start = jnp.asarray(posed.problem.domain.start)
            parts.append(-weight * np.asarray(_given(posed, condition, points, start, n)[n]))
        rows.append(np.asarray(data["projection"]) @ np.concatenate(parts))
    return np.stack(rows)


def _highest(posed: Posed, values: dict[MultiIndex, Array], point: Points) -> Array:
    """p = -M⁻¹ R: the highest derivative in time of every unknown at a point."""
    outputs = len(posed.problem.unknowns)
    residual = _residual_of(posed, values, point)
    zero = jnp.zeros(outputs)
    rest, matrix = residual(zero), jax.jacfwd(residual)(zero)
    if outputs == 1:
        return -rest / matrix[0]
    return -jnp.linalg.solve(matrix, rest)


def _residual_of(posed: Posed, values: dict[MultiIndex, Array], point: Points) -> Callable:
    """The equation's residual as a function of the highest derivative in time."""
    problem = posed.problem
    top = (*(0,) * len(problem.domain.space), posed.order)

    def residual(p: Array) -> Array:
        jets = jets_of(values | {top: p}, problem.domain, problem.unknowns)
        return residuals(posed.equation, problem, lambda _: jets, point)

    return residual


def _given(posed: Posed, condition: Condition, points: Points, t: Array, order: int) -> list[Array]:
    """h of zero functions on a face and its derivatives in time, [h, ḣ, ḧ] up to `order`."""
    problem = posed.problem
    zeros = {k: jnp.zeros(len(problem.unknowns)) for k in traced(problem, condition)}
    jets = jets_of(zeros, problem.domain, problem.unknowns)

    def h(time: Array) -> Array:
        def at(point: Points) -> Array:
            return residuals(condition, problem, lambda _: jets, point | {TIME: time})

        return jax.vmap(at)(points).reshape(-1)

    def rate_of(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda time: jax.jvp(function, (time,), (jnp.ones_like(time),))[1]

    functions = [h, rate_of(h), rate_of(rate_of(h))]
    return [f(t) if n <= order else jnp.zeros(()) for n, f in enumerate(functions)]


def _face_rows(
    posed: Posed, field: RandomFeatures, hidden: Any, condition: Condition, points: Points
) -> np.ndarray:
    """The matrix of a linear condition: ∂h/∂c, of shape (rows, (width + 1) * outputs)."""
    problem = posed.problem
    indices = traced(problem, condition)
    outputs = len(problem.unknowns)

    def h(c: Array, point: Points) -> Array:
        psi = {"field": constant_path(hidden, c), "coefficients": {}}
        evaluate: Evaluate = evaluate_at(problem, field, psi, indices)
        return residuals(condition, problem, evaluate, point)

    zero = jnp.zeros((field.width + 1, outputs))
    columns = jax.jit(jax.vmap(jax.jacrev(h), (None, 0)))
    matrix = columns(zero, points)
    rows = np.asarray(matrix).reshape(-1, zero.size)
    other = jnp.asarray(np.random.default_rng(0).normal(size=zero.shape))
    later = points | {TIME: problem.domain.interval(TIME)[1] + 0 * points[TIME]}
    if not np.allclose(np.asarray(columns(other, later)).reshape(rows.shape), rows, 1e-8, 1e-8):
        raise UserError(
            f"{METHOD} needs conditions on faces that are linear, with coefficients constant in "
            f"time; '{condition.name}' of {problem.name} is not. Choose another method"
        )
    return rows


def _check_affine(posed: Posed, places: Collocation, key: Array) -> None:
    """R(p) must be affine in p, and M must have an inverse."""
    problem = posed.problem
    outputs = len(problem.unknowns)
    keys = jax.random.split(key, len(posed.indices) + 1)
    count = min(16, len(places.shares))
    values = {k: jax.random.normal(n, (count, outputs)) for k, n in zip(posed.indices, keys[1:])}
    p = jax.random.normal(keys[0], (count, outputs))
    points = {
        name: column[:: len(column) // count][:count] for name, column in places.points.items()
    }

    def at(v: Any, point: Points, p: Array) -> tuple[Array, Array, Array]:
        residual = _residual_of(posed, v, point)
        return residual(0 * p), residual(p) - residual(0 * p), jax.jacfwd(residual)(0 * p) @ p

    rest, change, linear = (np.asarray(a) for a in jax.vmap(at)(values, points, p))
    size = np.abs(rest).max() + np.abs(change).max()
    name = f"u.{TIME * posed.order}"
    if change.shape[1] != outputs:
        raise UserError(
            f"{METHOD} needs as many equations as unknowns; {problem.name} has {change.shape[1]} "
            f"for {outputs}. Choose another method"
        )
    if not np.abs(change - linear).max() <= ROUND_OFF * size:
        raise UserError(
            f"{METHOD} needs an equation that is affine in {name}; that of {problem.name} is not. "
            "Choose another method"
        )
    matrices = np.asarray(
        jax.vmap(lambda v, x: jax.jacfwd(_residual_of(posed, v, x))(jnp.zeros(outputs)))(
            values, points
        )
    )
    if not (np.linalg.cond(matrices) < 1 / ROUND_OFF).all():
        raise UserError(
            f"{METHOD} cannot solve the equation of {problem.name} for {name} of every unknown: "
            "at some points, or for some unknown, it does not appear. Choose another method"
        )
